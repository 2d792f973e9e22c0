"""What is found of metrics against people, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from karat.analyses.human.items import HumanOptions
from karat.analyses.human.learn import Learned
from karat.results.displayed import Displayed
from karat.similarity.placed import Weights
from karat.stats.agreement import Scale
from karat.stats.base import ALIKE
from karat.stats.correlation import COEFFICIENTS
from karat.stats.difference import Difference
from karat.tabular import Table

Row = dict[str, Any]
Above = Literal["no", "yes", "clearly"]

ENOUGH_ITEMS = 10  # of which an interval can tell that a subset is clearly above all items


@dataclass(frozen=True, slots=True)
class Correlation:
    """How something goes with people on some items: the three coefficients, each with its interval."""

    name: str  # as in the request; of an annotator the name, of the ceiling nothing
    metric: str
    options: Mapping[str, Any]
    subset: str
    n: int
    values: tuple[float, ...] = ()
    intervals: tuple[tuple[float, float], ...] = ()

    def figures(self) -> Row:
        """n, the coefficients and their intervals; None where undefined."""
        shown = dict(zip(COEFFICIENTS, map(_or_none, self.values), strict=True))
        limits = (list(map(_or_none, each)) for each in self.intervals)
        return {"n": self.n, **shown, "ci": dict(zip(COEFFICIENTS, limits, strict=True))}

    def flat(self, row: str) -> Row:
        """The row of the CSV output, of a metric, a ceiling or an annotator."""
        options = ",".join(f"{name}={value}" for name, value in self.options.items())
        figures = {
            f"{name}{end}": _or_none(value)
            for name, own, limits in zip(COEFFICIENTS, self.values, self.intervals, strict=True)
            for end, value in zip(("", "_low", "_high"), (own, *limits), strict=True)
        }
        name = self.metric or self.name
        return {"row": row, "metric": name, "options": options, "subset": self.subset, "n": self.n, **figures}


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How well one annotator goes with the others, on average."""

    mean: Correlation
    annotators: int
    left_out: int  # annotators for whom it is undefined


@dataclass(frozen=True, slots=True)
class Share:
    """On how many of the items that so many annotators scored at least so many gave the same score."""

    annotators: int
    n: int
    share: float
    interval: tuple[float, float]

    def as_dict(self) -> Row:
        """Return the row of the JSON output."""
        ends = list(map(_or_none, self.interval))
        return {"annotators": self.annotators, "n": self.n, "share": self.share, "ci": ends}


@dataclass(frozen=True, slots=True)
class RelationAgreement:
    """How far annotators agree on the pairs of one relation, or on all, that two or more of them scored."""

    relation: str
    n: int
    alpha: float
    interval: tuple[float, float]
    pairs: float  # the share of pairs of annotators that give the same score
    pairs_interval: tuple[float, float]
    exact: tuple[Share, ...]

    def as_dict(self) -> Row:
        """The row of the JSON output."""
        return {
            "relation": self.relation,
            "n": self.n,
            "alpha": _or_none(self.alpha),
            "ci": list(map(_or_none, self.interval)),
            "pairs": self.pairs,
            "pairs_ci": list(map(_or_none, self.pairs_interval)),
            "exact": [share.as_dict() for share in self.exact],
        }


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far annotators agree: Krippendorff's alpha, equal scores, the ceiling of each subset, and by relation."""

    alpha: float
    interval: tuple[float, float]
    level_of_scale: Scale
    exact: tuple[Share, ...]
    ceilings: tuple[Ceiling, ...]
    relations: tuple[RelationAgreement, ...] = ()  # of pairs, the first of all


@dataclass(frozen=True, slots=True)
class Mean:
    """What people gave to the pairs of one location and direction."""

    location: str
    direction: str
    n: int
    mean: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A metric compared with another: by how much its correlation with people is higher."""

    name: str
    metric: str
    options: Mapping[str, Any]
    subset: str
    against: str
    coefficient: str
    items: int  # on which both are defined
    difference: Difference

    def as_dict(self) -> Row:
        """Return the row of the JSON output; `n` are units: documents, or items where there are no documents."""
        return {
            "metric": self.metric,
            "options": dict(self.options),
            "subset": self.subset,
            "against": self.against,
            "coefficient": self.coefficient,
            "items": self.items,
            **self.difference.as_dict(),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Human(Displayed):
    """Metrics against people: correlations, annotators, classes of near misses, comparisons."""

    kind: Literal["sets", "pairs"]
    origin: str
    items: int
    names: tuple[str, ...]  # of the annotators
    options: HumanOptions
    coefficient: str  # by which metrics are ranked
    best: tuple[str, ...]  # metrics as in the requests, several where they are equal
    correlations: tuple[Correlation, ...]
    people: tuple[Correlation, ...]  # each annotator with the others
    agreement: Agreement
    means: tuple[Mean, ...]
    compared: tuple[Comparison, ...]
    signatures: Mapping[str, str]
    notes: tuple[str, ...]
    further: tuple[Human, ...] = ()  # with both combinations, that of the majority beside this one of the mean
    learned: Learned | None = None
    by_document: bool = False  # whether items of one document are one unit of the inference

    def halves(self) -> list[tuple[str, Human]]:
        """The result by each combination of scores, with its name; nameless where there is but one."""
        return [("", self)] if not self.further else [("mean", self), *(("majority", each) for each in self.further)]

    @property
    def weights(self) -> Weights | None:
        """The weights by place that were learned; `save` writes them to a file."""
        return None if self.learned is None else self.learned.weights

    def above_all(self, row: Correlation) -> Above | None:
        """Whether a metric goes better with people in a subset than on all items; None where that is undefined."""
        which = COEFFICIENTS.index(self.coefficient)
        [whole] = [each for each in self.correlations if each.name == row.name and each.subset == "all"]
        return above(row, whole, which)

    def rows(self) -> list[Row]:
        """One dict a metric and subset, as in the JSON output; with both combinations, for each of them."""
        return [row for name, half in self.halves() for row in half._rows(_combine(name))]

    def _rows(self, combine: Row) -> list[Row]:
        return [
            {
                **combine,
                "metric": each.metric,
                "options": dict(each.options),
                "subset": each.subset,
                **each.figures(),
                **({"above_all": self.above_all(each)} if self.kind == "pairs" and each.subset != "all" else {}),
            }
            for each in self.correlations
        ]

    def annotators(self) -> list[Row]:
        """One dict an annotator: how the scores go with the combination of all others."""
        return [
            {**_combine(name), "annotator": each.name, **each.figures()}
            for name, half in self.halves()
            for each in half.people
        ]

    def classes(self) -> list[Row]:
        """One dict for each location and direction of near misses: how many pairs, and what people gave them."""
        return [{"location": m.location, "direction": m.direction, "n": m.n, "mean": m.mean} for m in self.means]

    def comparisons(self) -> list[Row]:
        """Return one dict for each pair of metrics, those with the best first; with `against` those with that one."""
        return [_combine(name) | each.as_dict() for name, half in self.halves() for each in half.compared]

    def as_dict(self) -> Row:
        """The whole JSON output."""
        relations = self.agreement.relations
        return {
            "signatures": dict(self.signatures),
            "rows": self.rows(),
            "annotators": self.annotators(),
            "agreement": {
                "alpha": _or_none(self.agreement.alpha),
                "ci": list(map(_or_none, self.agreement.interval)),
                "level_of_scale": self.agreement.level_of_scale,
                "exact": [share.as_dict() for share in self.agreement.exact],
                "ceiling": [row for name, half in self.halves() for row in half._ceilings(_combine(name))],
                **({"relations": [each.as_dict() for each in relations]} if relations else {}),
            },
            "classes": self.classes(),
            "comparisons": self.comparisons(),
            **({"weights": self.learned.rows()} if self.learned is not None else {}),
            "notes": list(self.notes),
        }

    def _ceilings(self, combine: Row) -> list[Row]:
        return [
            {**combine, "subset": c.mean.subset, "annotators": c.annotators, "left_out": c.left_out, **c.mean.figures()}
            for c in self.agreement.ceilings
        ]

    def flat_rows(self) -> list[Row]:
        """The rows of the CSV output: the metrics, the ceilings, the annotators."""
        return [row | _combine(name) for name, half in self.halves() for row in half._flat_rows()]

    def _flat_rows(self) -> list[Row]:
        ceilings = [each.mean for each in self.agreement.ceilings]
        kinds = (("metric", self.correlations), ("ceiling", ceilings), ("annotator", self.people))
        return [each.flat(kind) for kind, rows in kinds for each in rows]

    def tables(self) -> Iterator[Table]:
        """The metrics with the ceiling, then subsets, annotators, comparisons and classes, where there are any."""
        from karat.analyses.human.tables import tables_of

        return tables_of(self)


def _combine(name: str) -> Row:
    """By which combination a row is, where there are two."""
    return {"combine": name} if name else {}


def above(row: Correlation, whole: Correlation, which: int) -> Above | None:
    """Whether a coefficient is higher in a subset than on all items: no, yes, or clearly, with its whole interval.

    The interval of few items is not reliable.
    """
    value, limit = row.values[which], whole.values[which]
    if value != value or limit != limit:
        return None
    if value <= limit + ALIKE:
        return "no"
    return "clearly" if row.n >= ENOUGH_ITEMS and row.intervals[which][0] > limit else "yes"


def _or_none(value: float) -> float | None:
    return None if value != value else value
