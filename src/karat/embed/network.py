"""A model in memory: its tokenizer, its network, and how many texts go through it at a time; needs torch."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from karat.embed.forward import ROWS, forward, kin_of
from karat.embed.model import Model, read_model
from karat.errors import InputError
from karat.libraries import library

BATCH_TOKENS = 1024  # measured: from here on larger batches are no faster
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "sentencepiece.bpe.model")  # one of them is there
Item = TypeVar("Item")
Output = TypeVar("Output")
Ids = list[list[int]]  # the tokens of texts


@dataclass(frozen=True, slots=True)
class Network:
    """A model in memory."""

    tokenizer: Any
    prefixed: Any  # the tokenizer for single words: where a first word differs from the others, one that makes it equal
    ends: tuple[int, ...]  # ids of the tokens that are put around a text
    limit: int  # tokens
    vectors: Callable[[Ids], Any]  # texts by length → the vectors of their tokens, text after text, [tokens, d]
    threads: bool  # whether batches can go side by side
    root: Path

    def ids(self, texts: list[str], longest: int | None, *, words: bool = False) -> Ids:
        """The token ids of each text, with the model's own tokens around them, cut to what the model takes."""
        tokenizer, limit = self.prefixed if words else self.tokenizer, min(longest or self.limit, self.limit)
        unused = {"return_attention_mask": False, "return_token_type_ids": False}
        encoded = tokenizer(texts, truncation=True, max_length=limit, padding=False, **unused)
        return [list(ids) for ids in encoded["input_ids"]]

    def run(self, ids: Ids) -> Iterator[tuple[list[int], Any]]:
        """(which texts, the vectors of their tokens, text after text, [tokens, d]) batch by batch."""
        import torch

        threads = torch.get_num_threads() if self.threads else 1
        batches = list(batches_of([len(each) for each in ids], threads))
        chosen = ([ids[text] for text in batch] for batch in batches)
        found = _side_by_side(self._checked, chosen, threads) if self.threads else map(self._checked, chosen)
        return zip(batches, found, strict=True)

    def _checked(self, ids: Ids) -> Any:
        try:
            return self.vectors(ids)
        except (IndexError, RuntimeError, ValueError) as error:  # as a token that the model has no vector for
            raise InputError(f"{self.root}: the model fails on a text ({_sentence(error)})") from None


def batches_of(lengths: Sequence[int], parts: int = 1) -> Iterator[list[int]]:
    """Which texts go together: the shorter ones first, as many as have BATCH_TOKENS tokens, in some parts if it pays.

    >>> list(batches_of([900, 3, 900, 3]))
    [[1, 3, 0], [2]]
    """
    most = min(BATCH_TOKENS, max(ROWS, -(-sum(lengths) // parts)))
    batch: list[int] = []
    tokens = 0
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and tokens + lengths[place] > most:
            yield batch
            batch, tokens = [], 0
        batch.append(place)
        tokens += lengths[place]
    if batch:
        yield batch


def _side_by_side(work: Callable[[Item], Output], items: Iterable[Item], threads: int) -> Iterator[Output]:
    """What work makes of the items, in order, each of them done by one of some threads.

    A thread of its own for each batch leaves none waiting for another, as torch's own threads do at every step.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    pool, waiting = ThreadPoolExecutor(threads), deque[Future[Output]]()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 2 * threads:  # what is done and not yet taken holds memory
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(before)


# ---------------------------------------------------------------------------------------------- loading


def load(model: Model, layer: int | None) -> Network:
    """The model's weights and tokenizer, from its directory alone."""
    transformers, torch = (library(name, f"the encoder {model.root}") for name in ("transformers", "torch"))
    path = str(model.encoder.resolve())
    with _offline_and_quiet(transformers), torch.random.fork_rng(devices=[]):
        try:
            config = transformers.AutoConfig.from_pretrained(path, local_files_only=True, trust_remote_code=False)
            _refuse_decoders(config, model)
            if layer is not None:  # the layers above it are not even made
                config.num_hidden_layers = max(layer, 1)
            network, loading = transformers.AutoModel.from_pretrained(
                path,
                config=config,
                dtype=torch.float32,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
            )
            tokenizer = _tokenizer(path)
            prefixed = _tokenizer(path, add_prefix_space=True) if _has_prefix_space(tokenizer) else tokenizer
        except InputError:
            raise
        except Exception as error:  # whatever the libraries make of a damaged directory
            raise InputError(f"{model.root}: could not be loaded as an encoder ({_sentence(error)})") from None
    lost = sorted(key for key in loading["missing_keys"] if "pooler" not in key)
    if lost:
        raise InputError(f"{model.root}: its weights are not complete: {lost[0]} and {len(lost) - 1} more are missing")
    ends = tuple(each for each in (tokenizer.sep_token_id, tokenizer.cls_token_id) if each is not None)
    kin = kin_of(network.eval(), config.num_hidden_layers if layer != 0 else 0)
    vectors = partial(_padless, network, layer == 0) if kin is None else partial(forward, kin)
    return Network(tokenizer, prefixed, ends, _limit(config, tokenizer), vectors, kin is not None, model.root)


def tokenizer_at(directory: str) -> Any:
    """The tokenizer in a model's directory, from its files alone. Raises InputError if there is none."""
    transformers = library("transformers", f"the tokenizer of {directory}")
    path = read_model(directory).encoder.resolve()
    if not any((path / name).is_file() for name in TOKENIZERS):
        raise InputError(f"{directory}: has no tokenizer ({', '.join(TOKENIZERS)}); copy that of the model there")
    with _offline_and_quiet(transformers):
        try:
            return _tokenizer(str(path))
        except Exception as error:  # whatever the libraries make of a damaged file
            raise InputError(f"{directory}: its tokenizer could not be loaded ({_sentence(error)})") from None


def _padless(network: Any, lowest: bool, ids: Ids) -> Any:
    """The vectors of all tokens, text after text, from a network of any kind, or what goes into its first layer.

    Texts of t tokens go through it in batches of always the same number, filled up by repeating: matrix products may
    choose their order of adding by shape.
    """
    import torch

    found = []
    for length, group in groupby(ids, key=len):
        texts, size = list(group), max(1, ROWS // max(length, 1))
        for start in range(0, len(texts), size):
            some = texts[start : start + size]
            given = torch.tensor(some + [some[0]] * (size - len(some)))  # [size, length]
            with torch.inference_mode():
                out = network(input_ids=given, attention_mask=torch.ones_like(given), output_hidden_states=lowest)
                vectors = out.hidden_states[0] if lowest else out.last_hidden_state  # [size, length, d]
                found.append(vectors[: len(some)].flatten(0, 1).float())
    return torch.cat(found)


def _sentence(error: Exception) -> str:
    """What a library's error says, in one short line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _tokenizer(path: str, **options: Any) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False, **options)


def _has_prefix_space(tokenizer: Any) -> bool:
    """Whether the tokens of a word depend on a space before it, as in RoBERTa (not in its multilingual kin)."""
    from transformers import GPT2Tokenizer, RobertaTokenizer

    return isinstance(tokenizer, GPT2Tokenizer | RobertaTokenizer)


def _refuse_decoders(config: Any, model: Model) -> None:
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES as ENCODERS

    if config.is_encoder_decoder or config.model_type not in ENCODERS:
        raise InputError(f"{model.root}: a {config.model_type} is not an encoder of text, as BERT is")


def _limit(config: Any, tokenizer: Any) -> int:
    """The most tokens that the model takes."""
    positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:
        positions = 512
    elif any(kin in config.model_type for kin in ("roberta", "camembert", "mpnet", "xmod", "data2vec", "longformer")):
        positions -= (config.pad_token_id or 0) + 1  # their positions begin behind that of padding
    return int(min(positions, tokenizer.model_max_length))


@contextmanager
def _offline_and_quiet(transformers: Any) -> Iterator[None]:
    """A context in which nothing is fetched or printed; what matters is raised."""
    before = {name: os.environ.get(name) for name in OFFLINE}
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    os.environ.update(OFFLINE)
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
