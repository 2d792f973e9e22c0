"""Pretrained networks with an encoder and a decoder in directories: what is loaded of them, and what is refused.

Of a directory its JSON files, its tokenizer and safetensors are read; no code of a directory is loaded, and nothing is
unpickled. `hf:NAME` is fetched once from a hub, as the library of the hub keeps it, and is then a directory.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.embed.model import INDEX, WEIGHTS
from karat.embed.network import _offline_and_quiet, _sentence
from karat.errors import InputError
from karat.formats.load import load_json
from karat.libraries import library
from karat.models.generators.checkpoint import check_numbers
from karat.models.generators.memory import memory_here

if TYPE_CHECKING:
    from karat.models.generators.seq2seq.beams import Marks, Search

HUB = "hf:"
CONFIG, TOKENIZER, GENERATION = "config.json", "tokenizer.json", "generation_config.json"
FETCHED = ("*.json", "*.safetensors", "*.model", "*.txt")
WHOLE = {"ignore_mismatched_sizes": True}  # what does not fit is said by name, not raised without one
SECONDS = 5  # that a hub has to answer
# What `generate` can be told in a directory that changes nothing here, or that is taken over.
TAKEN = ("length_penalty", "early_stopping", "no_repeat_ngram_size", "forced_bos_token_id", "forced_eos_token_id")
PLAIN = {
    "do_sample": False,
    "min_length": 0,
    "min_new_tokens": None,
    "repetition_penalty": 1.0,
    "encoder_repetition_penalty": 1.0,
    "diversity_penalty": 0.0,
    "num_beam_groups": 1,
    "bad_words_ids": None,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
    "encoder_no_repeat_ngram_size": 0,
    "exponential_decay_length_penalty": None,
    "sequence_bias": None,
}


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A network of transformers and its tokenizer."""

    network: Any
    tokenizer: Any

    @property
    def limit(self) -> int | None:
        """The most tokens of a source that it takes; None where its positions are relative."""
        found = getattr(self.network.config, "max_position_embeddings", None)
        return found if isinstance(found, int) and found > 0 else None

    @property
    def pad(self) -> int:
        """The token that fills rows up; it is masked."""
        found = self.tokenizer.pad_token_id
        return int(found if found is not None else self.network.config.pad_token_id or 0)

    def marks(self) -> Marks:
        """The tokens that it begins, ends and has to write."""
        from karat.models.generators.seq2seq.beams import Marks

        told = self.network.generation_config
        start = told.bos_token_id if told.decoder_start_token_id is None else told.decoder_start_token_id
        ends = told.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        if start is None or None in ends or not ends:
            raise InputError("its configuration does not say which tokens begin and end what is written")
        return Marks(int(start), tuple(ends), told.forced_bos_token_id, told.forced_eos_token_id)

    def search(self, beam: int, longest: int, penalty: float | None) -> Search:
        """A search with what the directory says of `generate`, where no option says else."""
        from karat.models.generators.seq2seq.beams import Search

        told = self.network.generation_config
        penalty = penalty if penalty is not None else told.length_penalty
        early = told.early_stopping
        return Search(
            beam,
            longest,
            1.0 if penalty is None else float(penalty),
            early if early in (True, "never") else False,
            int(told.no_repeat_ngram_size or 0),
        )

    def unused(self) -> list[str]:
        """What the directory says of `generate` that is not done here."""
        told = self.network.generation_config
        return [name for name, usual in PLAIN.items() if getattr(told, name, usual) not in (usual, None)]


def directory_of(name: str) -> Path:
    """The directory of `DIR` or `hf:NAME`, the latter fetched if need be. Raises InputError if there is none."""
    if name.startswith(HUB):
        return _fetched(name.removeprefix(HUB))
    root = Path(os.path.expanduser(name))
    if not root.is_dir():
        raise InputError(f"{name}: there is no such directory; write model=DIR, or model=hf:NAME to fetch a model")
    return root


def _fetched(name: str) -> Path:
    """The directory of a model of a hub; `NAME@REVISION` names one of its versions."""
    library("transformers", f"{HUB}{name}")  # which brings the library of the hub
    hub = import_module("huggingface_hub")
    name, _, revision = name.partition("@")
    how: dict[str, Any] = {"revision": revision or None, "allow_patterns": list(FETCHED)}
    try:
        return Path(hub.snapshot_download(name, etag_timeout=SECONDS, **how))
    except Exception as error:  # of the hub, of the network, of a name that is none
        first = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:160]}"
        raise InputError(
            f"{HUB}{name}: could not be fetched from a hub ({first}); give the directory of a model"
        ) from None


def check(root: Path) -> None:
    """Raises InputError unless a directory has a network with an encoder and a decoder that can be loaded safely."""
    if not (root / CONFIG).is_file():
        raise InputError(f"{root}: is not the directory of a pretrained model: it has no {CONFIG}")
    config = load_json(root / CONFIG, dict[str, Any], "is not JSON")
    _optional(root / GENERATION)  # which transformers passes over where it is damaged
    for told in (config, _optional(root / "tokenizer_config.json")):
        if told.get("auto_map"):
            raise InputError(f"{root}: asks for code of its own (auto_map), which karat does not run")
    kind = config.get("model_type")
    if not isinstance(kind, str):
        raise InputError(f"{root / CONFIG}: does not say its model_type")
    if kind not in _kinds():
        raise InputError(f"{root}: a {kind} has no encoder and decoder of text, as BART and T5 have")
    if "transformers_weights" in config or (root / "adapter_config.json").exists():
        raise InputError(f"{root}: its weights are elsewhere or an adapter's; save the whole model as {WEIGHTS}")
    _check_weights(root)
    if not (root / TOKENIZER).is_file():
        raise InputError(f"{root}: has no {TOKENIZER}; copy that of the model there")


def _kinds() -> Mapping[str, Any]:
    library("transformers", "a pretrained model")
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES as NAMES

    return NAMES


def _check_weights(root: Path) -> None:
    if (root / WEIGHTS).is_file():
        return
    if (root / INDEX).is_file():
        shards = load_json(root / INDEX, dict[str, Any], "is not JSON").get("weight_map")
        names = {str(shard) for shard in shards.values()} if isinstance(shards, dict) else set()
        if not names or any(not name.endswith(".safetensors") or Path(name).name != name for name in names):
            raise InputError(f"{root / INDEX}: does not list safetensors files of its directory")
        missing = sorted(name for name in names if not (root / name).is_file())
        if missing:
            raise InputError(f"{root / missing[0]}: there is no such file, but {INDEX} lists it")
        return
    pickles = sorted(each.name for pattern in ("*.bin", "*.pt", "*.pth", "*.ckpt") for each in root.glob(pattern))
    if pickles:
        made = "from transformers import AutoModelForSeq2SeqLM as M; M.from_pretrained('.').save_pretrained('.')"
        raise InputError(
            f"{root}: has its weights as a pickle ({pickles[0]}), which karat does not open; if you trust it, "
            f'write {WEIGHTS} in that directory: python -c "{made}"'
        )
    raise InputError(f"{root}: has no weights ({WEIGHTS})")


def _optional(path: Path) -> dict[str, Any]:
    return load_json(path, dict[str, Any], "is not JSON") if path.is_file() else {}


# ---------------------------------------------------------------------------------------------- loading


def load(root: Path, *, added: str = "", weights: bool = True, numbers: int = 1) -> Pretrained:
    """The network and the tokenizer of a directory; `added` tokens are put behind those of the tokenizer.

    Without `weights` the network has shapes and no content. Raises InputError where the directory is damaged, where its
    parts do not belong together, or where so many `numbers` for each weight do not fit into memory.
    """
    torch, transformers = (library(name, f"{root}: a pretrained model") for name in ("torch", "transformers"))
    path, local = str(root.resolve()), {"local_files_only": True, "trust_remote_code": False}
    with _offline_and_quiet(transformers):
        try:
            config = transformers.AutoConfig.from_pretrained(path, **local)
            with torch.device("meta"):  # where a tensor has a shape and no content
                network = transformers.AutoModelForSeq2SeqLM.from_config(config)
            many = sum(each.numel() for each in network.parameters())
            if 4 * many * numbers > memory_here():
                raise InputError(f"{root}: {many:,} weights do not fit into the memory of this machine")
            tokenizer = _tokenizer(transformers, path, local)
            told: dict[str, Any] = {}
            if weights:
                network, told = transformers.AutoModelForSeq2SeqLM.from_pretrained(
                    path, dtype=torch.float32, use_safetensors=True, output_loading_info=True, **WHOLE, **local
                )
            else:
                network.generation_config = _told(transformers, path, network.generation_config)
        except InputError:
            raise
        except Exception as error:  # whatever the libraries make of a damaged directory
            raise InputError(f"{root}: could not be loaded as a pretrained model ({_sentence(error)})") from None
    _check_whole(root, told)
    if weights:
        check_numbers(dict(network.named_parameters()), root)
    rows = network.get_input_embeddings().num_embeddings
    if len(tokenizer) > rows:
        raise InputError(f"{root}: its tokenizer has {len(tokenizer):,} tokens, and the model {rows:,}")
    tokenizer.add_tokens([each for each in added.split() if each not in tokenizer.get_vocab()])
    if len(tokenizer) > rows:
        with _offline_and_quiet(transformers):
            network.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    found = Pretrained(network, tokenizer)
    try:
        found.marks()
    except InputError as error:
        raise InputError(f"{root}: {error}") from None
    return found


def unlearned(root: Path) -> Any:
    """The network of a directory with new weights, whose place those of a state take. Raises InputError as `load`."""
    torch, transformers = (library(name, f"{root}: a pretrained model") for name in ("torch", "transformers"))
    path = str(root.resolve())
    with _offline_and_quiet(transformers):
        try:
            config = transformers.AutoConfig.from_pretrained(path, local_files_only=True, trust_remote_code=False)
            network = transformers.AutoModelForSeq2SeqLM.from_config(config, dtype=torch.float32)
            network.generation_config = _told(transformers, path, network.generation_config)
        except Exception as error:  # whatever the libraries make of a damaged directory
            raise InputError(f"{root}: its training cannot go on ({_sentence(error)})") from None
    return network


def _tokenizer(transformers: Any, path: str, local: Mapping[str, Any]) -> Any:
    try:
        return transformers.AutoTokenizer.from_pretrained(path, **local)
    except Exception as error:  # whatever the libraries make of a damaged file
        raise InputError(f"{path}: its tokenizer could not be loaded ({_sentence(error)})") from None


def _told(transformers: Any, path: str, otherwise: Any) -> Any:
    """What a directory says of `generate`."""
    if not (Path(path) / GENERATION).is_file():
        return otherwise
    return transformers.GenerationConfig.from_pretrained(path, local_files_only=True)


def _check_whole(root: Path, told: Mapping[str, Any]) -> None:
    lost = sorted(map(str, told.get("missing_keys", ())))
    if lost:
        more = f" and {len(lost) - 1} more are" if len(lost) > 1 else " is"
        raise InputError(f"{root}: its weights are not complete: {lost[0]}{more} missing")
    if told.get("mismatched_keys"):
        name = str(next(iter(told["mismatched_keys"]))[0])
        raise InputError(f"{root}: the weight {name} is of another shape than {CONFIG} says")
