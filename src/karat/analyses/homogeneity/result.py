"""What `homogeneity` finds, and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat.analyses.homogeneity.genericness import Genericness
from karat.corpus import Corpus
from karat.errors import InputError, unknown
from karat.matching.columns import Cutoff
from karat.metrics.soft import checked_threshold
from karat.options import By, Missing, Progress
from karat.pairs.sets import MEASURES, Measure
from karat.protocol import whole_number
from karat.results import Displayed
from karat.stats.corrections import CORRECTIONS
from karat.stats.resampling import METHODS, RESAMPLES, Method


@dataclass(frozen=True, slots=True)
class Options:
    """How pairs are looked at; the flags of the command say what each means."""

    measure: Measure = "jaccard"
    stem: bool = True
    cutoff: str = "M"
    similarity: str | None = None  # of soft scores, where these are wanted
    threshold: float = 0.4
    reformulations: str | Path | Corpus | None = None
    references: str | None = None
    language: str | None = None
    by: By | None = None
    missing: Missing = "error"
    correction: str = "holm"
    resamples: int = RESAMPLES
    seed: int = 0
    level: float = 0.95
    interval: Method = "bca"
    jobs: int = 1
    progress: Progress | None = None

    def __post_init__(self) -> None:
        """What cannot be chosen is said at once."""
        for name, value, known in (
            ("measure", self.measure, MEASURES),
            ("correction", self.correction, CORRECTIONS),
            ("interval", self.interval, METHODS),
            ("value of missing", self.missing, ("error", "empty", "skip")),
        ):
            if value not in known:
                raise unknown(name, str(value), known)
        checked_threshold(self.threshold)
        if not 0 < self.level < 1:
            raise InputError(f"level is between 0 and 1, not {self.level:g}")
        if self.resamples < 1:
            raise InputError(f"resamples are a whole number from 1 on, not {self.resamples}")
        if self.cutoff != "M" and whole_number(self.cutoff) is None:
            raise InputError(f"the cutoff of homogeneity is a number from 1 on, or M for all, not {self.cutoff!r}")

    def depth(self) -> Cutoff:
        """The cutoff."""
        return Cutoff() if self.cutoff == "M" else Cutoff("k", whole_number(self.cutoff))


# ---------------------------------------------------------------------------------------------- what is found


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its interval, and where it is a correlation the p of its being 0; NaN of too few pairs."""

    value: float
    interval: tuple[float, float]
    p: float = np.nan


@dataclass(frozen=True, slots=True)
class Row:
    """How alike one system, or the references, index the two documents of a pair."""

    system: str
    protocol: str
    pairs: int
    documents: int
    undefined: int
    figures: Mapping[str, Figure]  # hooper, rodgers, soft; pearson and spearman with ROUGE-1
    generated: float = np.nan  # the share of all predictions that are not in their document
    generated_mean: float = np.nan  # the mean of that share over the documents that have predictions

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        found: dict[str, Any] = {
            "system": self.system,
            "protocol": self.protocol,
            "pairs": self.pairs,
            "documents": self.documents,
        }
        for name in ("hooper", "rodgers", "soft"):
            found |= _told(name, self.figures.get(name))
        micro, mean = _or_none(self.generated), _or_none(self.generated_mean)
        found |= {"generated": micro, "generated_micro": micro, "generated_mean": mean}
        for name in ("pearson", "spearman"):
            found |= _told(name, self.figures.get(name), tested=True)
        return found | {"undefined": self.undefined}


@dataclass(frozen=True, slots=True)
class Difference:
    """Two systems compared on one measure: by how much a is higher, and how likely that is by chance."""

    protocol: str
    metric: str
    a: str
    b: str
    value: float
    interval: tuple[float, float]
    tests: Mapping[str, float]
    adjusted: Mapping[str, float]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        return {
            "protocol": self.protocol,
            "metric": self.metric,
            "a": self.a,
            "b": self.b,
            "difference": _or_none(self.value),
            "ci": [_or_none(end) for end in self.interval],
            "tests": {name: _or_none(p) for name, p in self.tests.items()},
            "adjusted": {name: _or_none(p) for name, p in self.adjusted.items()},
        }


@dataclass(frozen=True, slots=True)
class Homogeneity(Displayed):
    """How homogeneous systems are on pairs of documents."""

    corpus: str
    pairs: int
    documents: int  # in a pair
    rouge: Figure  # between the texts of a pair
    options: Options
    systems: tuple[Row, ...]
    ceilings: tuple[Row, ...]  # of the references, and of those that are in their text
    differences: tuple[Difference, ...]
    genericness: tuple[Genericness, ...]
    signatures: Mapping[str, str]
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each system and protocol."""
        return [{"corpus": self.corpus} | self._without_soft(row.as_dict()) for row in self.systems]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, ceilings, differences of systems, genericness."""
        asked = ("measure", "stem", "cutoff", "similarity", "threshold", "resamples", "seed", "level", "interval")
        return {
            "signatures": dict(self.signatures),
            "rows": self.rows(),
            "notes": list(self.notes),
            "options": {name: getattr(self.options, name) for name in asked},
            **_told("rouge", self.rouge),
            "ceilings": [{"corpus": self.corpus} | _of_ceiling(row) for row in self.ceilings],
            "differences": [{"corpus": self.corpus} | each.as_dict() for each in self.differences],
            "genericness": [{"corpus": self.corpus} | each.as_dict() for each in self.genericness],
        }

    def _without_soft(self, row: dict[str, Any]) -> dict[str, Any]:
        if self.options.similarity is not None:
            return row
        return {name: value for name, value in row.items() if not name.startswith("soft")}


def _of_ceiling(row: Row) -> dict[str, Any]:
    fields = ("protocol", "pairs", "documents", "hooper", "hooper_ci", "rodgers", "rodgers_ci", "undefined")
    told = row.as_dict()
    return {"ceiling": row.system} | {name: told[name] for name in fields}


def _told(name: str, figure: Figure | None, tested: bool = False) -> dict[str, Any]:
    ends = (np.nan, np.nan) if figure is None else figure.interval
    found = {
        name: None if figure is None else _or_none(figure.value),
        f"{name}_ci": [_or_none(end) for end in ends],
    }
    return found | ({f"{name}_p": None if figure is None else _or_none(figure.p)} if tested else {})


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
