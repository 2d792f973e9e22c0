"""Encoders from local directories: no download, no code of theirs, no pickles; torch loads with the first new text."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from karat.embed.base import Tokens, Vectors, distinct
from karat.embed.cache import Cache, cache_of, fingerprint
from karat.embed.model import Model
from karat.errors import InputError, missing_extra

BATCH_TOKENS = 192  # measured: larger batches are no faster a text, and more of them is filled up
KEPT_BATCHES = 64  # after as many, what is new goes to the cache, so that an interruption loses little
VERSION = 1  # to be raised when the vectors of a model change
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
Found = TypeVar("Found")


class Encoder:
    """Vectors of a transformer encoder's layer; each text is computed once, and not at all where it is in the cache."""

    def __init__(self, name: str, model: Model, layer: int | None, *, cache: bool = True) -> None:
        self.name, self.model, self.layer = name, model, layer
        self.summary = f"encoder {model.root.name}, {'last layer' if layer is None else f'layer {layer}'}"
        if layer is not None and model.layers is not None and layer > model.layers:
            raise InputError(f"{name}: there is no layer {layer}, the model has {model.layers}")
        self._caching = cache

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text, pooled as the model's directory says; the mean of all tokens where it does not."""
        unique, places = distinct(texts)
        found = self._each("phrase", unique, _pack_vector, _unpack_vector, self._pooled)
        if not found:
            return np.zeros((0, 0), dtype=np.float32)
        return np.asarray(np.stack([found[text] for text in unique])[places])

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, with what the model puts around them."""
        unique, _ = distinct(texts)
        found = self._each("tokens", unique, _pack_tokens, _unpack_tokens, self._in_context)
        return [found[text] for text in texts]

    def _each(
        self,
        kind: str,
        texts: list[str],
        pack: Callable[[Found], bytes],
        unpack: Callable[[bytes], Found],
        compute: Callable[[list[str]], Iterator[dict[str, Found]]],
    ) -> dict[str, Found]:
        """What the cache has, and the rest computed and kept."""
        kept = self._cache.read(kind, texts) if self._cache else {}
        found = {text: unpack(value) for text, value in kept.items()}
        missing = [text for text in texts if text not in found]
        for new in compute(missing) if missing else ():
            found.update(new)
            if self._cache:
                self._cache.write(kind, {text: pack(value) for text, value in new.items()})
        return found

    @cached_property
    def _cache(self) -> Cache | None:
        if not self._caching or cache_of("") is None:
            return None
        return cache_of(fingerprint(self.model.files(), self.model.root, VERSION, self.layer))

    @cached_property
    def _loaded(self) -> _Loaded:
        return load(self.model, self.layer)

    def _pooled(self, texts: list[str]) -> Iterator[dict[str, Vectors]]:
        model, loaded = self.model, self._loaded
        prompted = [model.prompt + (text.lower() if model.lower else text) for text in texts]
        ids = loaded.ids(prompted, model.longest)
        for batches in loaded.run(ids):
            new: dict[str, Vectors] = {}
            for rows, hidden in batches:
                vectors = np.asarray(loaded.pool(hidden, model).numpy())  # [texts, d]
                new.update((texts[row], vector) for row, vector in zip(rows, vectors, strict=True))
            yield new

    def _in_context(self, texts: list[str]) -> Iterator[dict[str, Tokens]]:
        loaded = self._loaded
        ids = loaded.ids([text.strip() for text in texts], None, words=True)
        for batches in loaded.run(ids):
            new: dict[str, Tokens] = {}
            for rows, hidden in batches:
                for row, vectors in zip(rows, np.asarray(hidden.numpy()), strict=True):  # [texts, tokens, d]
                    new[texts[row]] = Tokens(vectors, ~np.isin(ids[row], loaded.ends))
            yield new


def _pack_vector(vector: Vectors) -> bytes:
    return vector.astype("<f4").tobytes()


def _unpack_vector(value: bytes) -> Vectors:
    return np.frombuffer(value, dtype="<f4").astype(np.float32)


def _pack_tokens(tokens: Tokens) -> bytes:
    return len(tokens.counts).to_bytes(4, "little") + tokens.counts.tobytes() + _pack_vector(tokens.vectors)


def _unpack_tokens(value: bytes) -> Tokens:
    count = int.from_bytes(value[:4], "little")
    counts = np.frombuffer(value[4 : 4 + count], dtype=np.bool_)
    return Tokens(_unpack_vector(value[4 + count :]).reshape(count, -1), counts)


# ---------------------------------------------------------------------------------------------- with torch


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A model in memory."""

    torch: Any
    network: Any
    tokenizer: Any
    prefixed: Any  # the tokenizer for single words: where a first word differs from the others, one that makes it equal
    ends: tuple[int, ...]  # ids of the tokens that are put around a text
    limit: int  # tokens
    lowest: bool  # layer 0, what goes into the first layer
    root: Path

    def ids(self, texts: list[str], longest: int | None, *, words: bool = False) -> list[list[int]]:
        """The token ids of each text, with the model's own tokens around them, cut to what the model takes."""
        tokenizer, limit = self.prefixed if words else self.tokenizer, min(longest or self.limit, self.limit)
        encoded = tokenizer(texts, truncation=True, max_length=limit, padding=False, return_attention_mask=False)
        return [list(ids) for ids in encoded["input_ids"]]

    def run(self, ids: list[list[int]]) -> Iterator[list[tuple[list[int], Any]]]:
        """(which texts, their tokens' vectors [texts, tokens, d]) in batches of texts of equal length, some at a time.

        A batch of texts of t tokens always has the same number of rows, filled up by repeating: matrix products choose
        their order of adding by shape, so with one shape a text has the same vector, to the last bit, in any company.
        """
        done = []
        for rows, size in batches_of([len(each) for each in ids]):
            filled = [ids[row] for row in rows] + [ids[rows[0]]] * (size - len(rows))
            done.append((rows, self._hidden(filled)[: len(rows)]))
            if len(done) == KEPT_BATCHES:
                yield done
                done = []
        if done:
            yield done

    def _hidden(self, ids: list[list[int]]) -> Any:
        """The chosen layer's vectors, [texts, tokens, d]."""
        given = self.torch.tensor(ids)
        try:
            with self.torch.inference_mode():
                out = self.network(
                    input_ids=given, attention_mask=self.torch.ones_like(given), output_hidden_states=self.lowest
                )
        except (IndexError, RuntimeError, ValueError) as error:  # as a token that the model has no vector for
            raise InputError(f"{self.root}: the model fails on a text ({_sentence(error)})") from None
        return (out.hidden_states[0] if self.lowest else out.last_hidden_state).float()

    def pool(self, hidden: Any, model: Model) -> Any:
        """The vectors of texts from those of their tokens, [texts, tokens, d] → [texts, d]."""
        each = {"mean": lambda: hidden.mean(dim=1), "cls": lambda: hidden[:, 0], "max": lambda: hidden.amax(dim=1)}
        pooled = self.torch.cat([each[mode]() for mode in model.pooling], dim=-1)
        return self.torch.nn.functional.normalize(pooled, dim=-1) if model.normalize else pooled


def batches_of(lengths: Sequence[int]) -> Iterator[tuple[list[int], int]]:
    """(which texts, rows of the batch): texts of equal length, in batches whose size follows from the length alone.

    >>> list(batches_of([96, 3, 96, 96]))
    [([1], 64), ([0, 2], 2), ([3], 2)]
    """
    buckets: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        buckets.setdefault(length, []).append(place)
    for length, places in sorted(buckets.items()):
        size = max(1, BATCH_TOKENS // max(length, 1))
        for start in range(0, len(places), size):
            yield places[start : start + size], size


def load(model: Model, layer: int | None) -> _Loaded:
    """The model's weights and tokenizer, from its directory alone."""
    try:
        import torch
        import transformers
    except ImportError:
        raise missing_extra(f"the encoder {model.root}", "neural") from None
    path = str(model.encoder.resolve())
    with _offline_and_quiet(transformers), torch.random.fork_rng(devices=[]):
        try:
            config = transformers.AutoConfig.from_pretrained(path, local_files_only=True, trust_remote_code=False)
            _refuse_decoders(config, model)
            if layer is not None:  # the layers above it are not even made
                config.num_hidden_layers = max(layer, 1)
            network, told = transformers.AutoModel.from_pretrained(
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
    lost = sorted(key for key in told["missing_keys"] if "pooler" not in key)
    if lost:
        raise InputError(f"{model.root}: its weights are not complete: {lost[0]} and {len(lost) - 1} more are missing")
    ends = tuple(each for each in (tokenizer.sep_token_id, tokenizer.cls_token_id) if each is not None)
    return _Loaded(torch, network.eval(), tokenizer, prefixed, ends, _limit(config, tokenizer), layer == 0, model.root)


def _sentence(error: Exception) -> str:
    """What a library's error says, in one short line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _tokenizer(path: str, **options: Any) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False, **options)


def _has_prefix_space(tokenizer: Any) -> bool:
    """Whether words are told from the beginnings of texts by a space, as in RoBERTa (not in its multilingual kin)."""
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
    """Nothing is fetched, and nothing printed: what matters is raised."""
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
