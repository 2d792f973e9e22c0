"""Back-translation by two translation models of the Marian family in local directories; nothing is downloaded.

A model translates sentence by sentence, as it was trained. Weights are read from safetensors
alone: no pickle is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from karat.embed.cache import fingerprint
from karat.embed.network import _offline_and_quiet
from karat.errors import InputError
from karat.formats.load import load_json
from karat.libraries import library

WEIGHTS = "model.safetensors"
NEEDED = ("config.json", WEIGHTS, "source.spm", "target.spm", "vocab.json")
READ = ("*.json", "*.spm", "*.safetensors")  # what a translation can depend on
AT_ONCE = 16  # sentences
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[]?[A-Z0-9])")

Translate = Callable[[str], str]


def checked(directory: str | Path) -> Path:
    """The directory of a Marian model, if it holds one that can be loaded safely."""
    root = Path(directory).expanduser()
    if not root.is_dir():
        raise InputError(f"{directory}: there is no such directory (karat downloads no models)")
    lacking = [name for name in NEEDED if not (root / name).is_file()]
    if WEIGHTS in lacking and any(root.glob("*.bin")):
        raise InputError(f"{directory}: has its weights as pickles only, which karat does not open; save as {WEIGHTS}")
    if lacking:
        raise InputError(f"{directory}: is not the directory of a Marian model: it has no {lacking[0]}")
    config = load_json(root / "config.json", Any, "is not JSON")
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != "marian":
        raise InputError(f"{directory}: a Marian model is needed, and this is of type {str(kind)[:40]!r}")
    if "transformers_weights" in config or (root / "adapter_config.json").exists():
        raise InputError(f"{directory}: its weights are elsewhere or an adapter's; save the whole model as {WEIGHTS}")
    return root


def name_of(directory: str | Path) -> str:
    """A name for the model as it is: that of its directory and a hash of its files."""
    root = checked(directory)
    files = (path for pattern in READ for path in root.glob(pattern) if path.is_file())
    return f"{root.resolve().name}:{fingerprint(files, root)}"


def translator(directory: str | Path) -> Translate:
    """A function that translates a text by the model in a directory, line by line and sentence by sentence."""
    tokenizer, model = _loaded(checked(directory))

    def translate(text: str) -> str:
        return "\n".join(_line(line, tokenizer, model) for line in text.split("\n"))

    return translate


def _loaded(root: Path) -> tuple[Any, Any]:
    """The tokenizer and the model of a directory, from its files alone."""
    for name in ("sentencepiece", "torch"):  # what the tokenizer and the model stand on
        library(name, "a Marian model")
    transformers = library("transformers", "a Marian model")
    with _offline_and_quiet(transformers):
        try:
            tokenizer = transformers.MarianTokenizer.from_pretrained(str(root), local_files_only=True)
            found: Any = transformers.MarianMTModel.from_pretrained(
                str(root), local_files_only=True, use_safetensors=True, output_loading_info=True
            )
        except Exception as error:  # whatever the libraries make of a damaged directory
            said = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            raise InputError(f"{root}: could not be loaded as a Marian model ({said})") from None
    model, loading = found
    lost = sorted(loading["missing_keys"])
    if lost:
        raise InputError(f"{root}: its weights are not complete: {lost[0]} and {len(lost) - 1} more are missing")
    model.train(mode=False)
    return tokenizer, model


def _line(line: str, tokenizer: Any, model: Any) -> str:
    longest = model.config.max_position_embeddings
    parts = [part for sentence in sentences(line) for part in _fitting(sentence, longest, tokenizer)]
    made: list[str] = []
    for start in range(0, len(parts), AT_ONCE):
        made += _translated(parts[start : start + AT_ONCE], longest, tokenizer, model)
    return " ".join(filter(None, made))


def sentences(line: str) -> list[str]:
    """The sentences of a line.

    >>> sentences("Graphs grow by 0.5 a year. Trees do, too.  ")
    ['Graphs grow by 0.5 a year.', 'Trees do, too.']
    """
    return [found for found in _SENTENCE_END.split(line.strip()) if found]


def _fitting(sentence: str, longest: int, tokenizer: Any) -> Iterator[str]:
    """The sentence, in halves for as long as it has more tokens than the model can read."""
    words = sentence.split()
    if len(tokenizer(sentence).input_ids) <= longest or len(words) < 2:
        yield sentence
        return
    for half in (words[: len(words) // 2], words[len(words) // 2 :]):
        yield from _fitting(" ".join(half), longest, tokenizer)


def _translated(parts: list[str], longest: int, tokenizer: Any, model: Any) -> list[str]:
    import torch

    given = tokenizer(parts, return_tensors="pt", padding=True, truncation=True, max_length=longest)
    with torch.inference_mode():
        made = model.generate(**given, do_sample=False, max_length=longest)  # [parts, tokens]
    found: list[str] = tokenizer.batch_decode(made, skip_special_tokens=True)
    return [text.strip() for text in found]
