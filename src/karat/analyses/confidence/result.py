"""The options and the result of `karat.confidence`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from karat.analyses.confidence.measures import Bin, CurvePoint, Parts, Threshold
from karat.matching.columns import Subset
from karat.matching.inputs import Development, ProtocolsLike
from karat.metrics.confidence import BINS
from karat.options import (
    MatchOptions,
    WorkOptions,
    group,
    level_option,
    option,
    protocol_option,
)
from karat.protocol import MOST
from karat.results.displayed import Displayed
from karat.tabular import Table

Binning = Literal["width", "mass"]
Calibrate = Literal["temperature", "platt", "isotonic"]
Interval = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class ConfidenceOptions:
    """How `confidence` works."""

    protocol: ProtocolsLike = protocol_option(repeatable=True)
    confidence: str | None = option(
        None,
        "What confidence is made of; `scores` are then taken for probabilities.",
        values=("token_probs", "token_logprobs", "scores"),
        otherwise="the first of these that a document has",
    )
    bins: int = option(BINS, "Bins of ECE.", least=1, most=MOST, metavar="N")
    binning: Binning = option("width", "Bins of one width, or with as many predictions each.", values=("width", "mass"))
    precision: float | None = option(
        None,
        "Find the lowest confidence from which on this share of the predictions is correct.",
        metavar="P",
    )
    calibrate: Calibrate | None = option(
        None,
        "Also show confidences after temperature or Platt scaling, or isotonic regression, fitted on --fit-corpus and "
        "--fit-run.",
        values=("temperature", "platt", "isotonic"),
    )
    fit: Development | None = option(None, "A corpus and its runs, on which the calibration is fitted.", command=False)
    level: float = level_option()
    join: MatchOptions = group(MatchOptions)
    work: WorkOptions = group(WorkOptions)


@dataclass(frozen=True, slots=True)
class Figures:
    """Calibration of some predictions; None where there is no prediction, or where scores are not probabilities."""

    mean_confidence: float | None
    ece: float | None
    ece_debiased: float | None  # None with fewer than two documents
    ece_debiased_ci: Interval
    ece_by_chance: float | None  # about what a perfectly calibrated system would have
    mce: float | None
    brier: float | None
    brier_ci: Interval
    parts: Parts | None
    bins: tuple[Bin, ...]

    def as_dict(self) -> dict[str, Any]:
        """The fields of a row of the JSON output."""
        parts = ("reliability", "resolution", "uncertainty", "within_bins")
        return {
            "mean_confidence": self.mean_confidence,
            "ece": self.ece,
            "ece_debiased": self.ece_debiased,
            "ece_debiased_ci": list(self.ece_debiased_ci),
            "ece_by_chance": self.ece_by_chance,
            "mce": self.mce,
            "brier": self.brier,
            "brier_ci": list(self.brier_ci),
            **{name: getattr(self.parts, name) if self.parts else None for name in parts},
            "bins": [asdict(each) for each in self.bins],
        }


@dataclass(frozen=True, slots=True)
class Rank:
    """The predictions at a place of the run's lists, from 1; the last also holds all later ones."""

    rank: int
    or_later: bool
    n: int
    kpp_median: float | None


@dataclass(frozen=True, slots=True)
class Position:
    """The probabilities of the tokens at a place in the phrase, from 1."""

    position: int
    n: int
    mean: float
    q1: float
    median: float
    q3: float


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The same after a calibration: how it was fitted, on what, and what it gives."""

    method: Calibrate
    numbers: Mapping[str, float]  # temperature; slope and intercept
    corpus: str
    run: str
    itself: bool  # whether it was fitted on what it is judged by
    figures: Figures


@dataclass(frozen=True, slots=True)
class Assessed:
    """How well a system knows when it is right, in one subset under one protocol."""

    system: str
    protocol: str
    subset: Subset
    source: tuple[str, ...]
    probabilities: bool  # whether confidences are probabilities, or scores that only rank predictions
    undefined: int  # documents without a prediction that has a confidence
    predictions: int
    left_out: int
    correct: int
    figures: Figures
    kpp_median: float | None
    histogram: tuple[int, ...]  # predictions by tenths of confidence
    kpp_histogram: tuple[int, ...]  # predictions by KPP in bins of .1 from 1 on, the last holding all that is higher
    ranks: tuple[Rank, ...]
    positions: tuple[Position, ...]
    curve: tuple[CurvePoint, ...]
    aurc: float | None
    threshold: Threshold | None
    calibrated: Calibrated | None

    @property
    def accuracy(self) -> float | None:
        """The share of the predictions that is correct."""
        return self.correct / self.predictions if self.predictions else None


@dataclass(frozen=True, slots=True, repr=False)
class Confidence(Displayed):
    """How well systems know when they are right."""

    csv_fields: ClassVar[tuple[str, ...]] = (
        "corpus",
        "system",
        "protocol",
        "subset",
        "confidence",
        "documents",
        "undefined",
        "predictions",
        "left_out",
        "correct",
        "accuracy",
        "mean_confidence",
        "ece",
        "ece_debiased",
        "ece_debiased_low",
        "ece_debiased_high",
        "ece_by_chance",
        "mce",
        "brier",
        "brier_low",
        "brier_high",
        "reliability",
        "resolution",
        "uncertainty",
        "within_bins",
        "kpp_median",
        "aurc",
        "threshold",
        "kept_share",
        "calibrated_ece",
        "calibrated_ece_debiased",
        "calibrated_ece_debiased_low",
        "calibrated_ece_debiased_high",
        "calibrated_mce",
        "calibrated_brier",
        "bins_n",
        "bins_confidence",
        "bins_accuracy",
    )

    corpus: str
    documents: int
    options: ConfidenceOptions
    found: tuple[Assessed, ...]
    signatures: dict[str, str]
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each system, protocol and subset."""
        return [self._row(each) for each in self.found]

    def _row(self, each: Assessed) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "system": each.system,
            "protocol": each.protocol,
            "subset": each.subset,
            "confidence": ", ".join(each.source) or None,
            "probabilities": each.probabilities,
            "documents": self.documents,
            "undefined": each.undefined,
            "predictions": each.predictions,
            "left_out": each.left_out,
            "correct": each.correct,
            "accuracy": each.accuracy,
            **each.figures.as_dict(),
            "kpp_median": finite(each.kpp_median),
            "histogram": list(each.histogram),
            "kpp_histogram": _to_last(each.kpp_histogram),
            "ranks": [asdict(rank) | {"kpp_median": finite(rank.kpp_median)} for rank in each.ranks],
            "token_positions": [asdict(position) for position in each.positions],
            "aurc": each.aurc,
            "risk_coverage": [asdict(point) for point in each.curve],
            "threshold": None if each.threshold is None else asdict(each.threshold),
            "calibrated": _calibrated(each.calibrated),
        }

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, and the options."""
        names = ("confidence", "bins", "binning", "precision", "calibrate", "level")
        return {
            "signatures": self.signatures,
            "rows": self.rows(),
            "notes": list(self.notes),
            "options": {name: getattr(self.options, name) for name in names},
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output, with the bins in one cell for each of their columns."""
        from karat.analyses.confidence.tables import flat_row

        return [flat_row(row) for row in self.rows()]

    def tables(self) -> Iterator[Table]:
        """For each protocol a table of all systems, then the tables of each system."""
        from karat.analyses.confidence.tables import tables_of

        return tables_of(self)


def _calibrated(each: Calibrated | None) -> dict[str, Any] | None:
    if each is None:
        return None
    numbers = {name: each.numbers.get(name) for name in ("temperature", "slope", "intercept")}
    values = {"method": each.method, **numbers, "corpus": each.corpus, "run": each.run}
    return values | {"itself": each.itself} | each.figures.as_dict()


def _to_last(counts: tuple[int, ...]) -> list[int]:
    """The counts up to the last that is not 0."""
    return list(counts[: max((i + 1 for i, n in enumerate(counts) if n), default=0)])


def finite(value: float | None) -> float | None:
    """The value, or None where it is infinite or there is none: JSON has no infinite numbers."""
    return value if value is not None and math.isfinite(value) else None
