"""Encoders from local directories: no download, no code of theirs, no pickles; torch loads with the first new text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from karat.embed.base import Tokens, Vectors, distinct
from karat.embed.cache import Cache, cache_of, fingerprint
from karat.embed.model import Model
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.embed.network import Network

VERSION = 2  # to be raised when the vectors of a model change
Value = TypeVar("Value")


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
        pack: Callable[[Value], bytes],
        unpack: Callable[[bytes], Value],
        compute: Callable[[list[str]], Iterator[dict[str, Value]]],
    ) -> dict[str, Value]:
        """What the cache has, and the rest computed and kept batch by batch, so that an interruption loses little."""
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
    def _network(self) -> Network:
        from karat.embed.network import load

        return load(self.model, self.layer)

    def _pooled(self, texts: list[str]) -> Iterator[dict[str, Vectors]]:
        model = self.model
        prompted = [model.prompt + (text.lower() if model.lower else text) for text in texts]
        ids = self._network.ids(prompted, model.longest)
        for batch, vectors in self._network.run(ids):
            pooled = np.concatenate([_pool(group, model) for group in _by_length(ids, batch, vectors)])  # [texts, d]
            yield {texts[place]: vector for place, vector in zip(batch, pooled, strict=True)}

    def _in_context(self, texts: list[str]) -> Iterator[dict[str, Tokens]]:
        ids = self._network.ids([text.strip() for text in texts], None, words=True)
        for batch, vectors in self._network.run(ids):
            counts = ~np.isin(np.concatenate([ids[place] for place in batch]), self._network.ends)  # [tokens]
            ends = list(accumulate(len(ids[place]) for place in batch))
            spans = [slice(start, end) for start, end in pairwise([0, *ends])]
            own = vectors.numpy()
            yield {texts[place]: Tokens(own[s], counts[s]) for place, s in zip(batch, spans, strict=True)}


def _by_length(ids: list[list[int]], batch: list[int], vectors: Any) -> Iterator[Any]:
    """The vectors of a batch, [tokens, d], for texts of one length after the other, [texts, tokens, d]."""
    start = 0
    for length, group in groupby(len(ids[place]) for place in batch):
        texts = len(list(group))
        yield vectors[start : start + texts * length].unflatten(0, (texts, length))
        start += texts * length


def _pool(hidden: Any, model: Model) -> Vectors:
    """The vectors of texts from those of their tokens, [texts, tokens, d] → [texts, d]."""
    import torch

    each = {"mean": lambda: hidden.mean(dim=1), "cls": lambda: hidden[:, 0], "max": lambda: hidden.amax(dim=1)}
    pooled = torch.cat([each[mode]() for mode in model.pooling], dim=-1)
    normalized = torch.nn.functional.normalize(pooled, dim=-1) if model.normalize else pooled
    return np.asarray(normalized.numpy())


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
