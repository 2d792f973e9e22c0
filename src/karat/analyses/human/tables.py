"""The tables of `karat.human`: metrics with their ceiling, subsets, annotators, comparisons, near misses."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import Any

from karat.analyses.human.result import TESTS, Comparison, Correlation, Human
from karat.similarity.classes import CLASSES
from karat.stats.correlation import COEFFICIENTS
from karat.tabular import COUNT, FIXED2, P_BOUND, SIGNED, Cell, Column, Group, Row, Table, interval, number, rows_of

CEILING = "people (ceiling)"
ITEMS = {"sets": "sets of keyphrases", "pairs": "pairs of phrases"}
COLUMNS = (Column("n", COUNT), *map(Column, COEFFICIENTS))
Parts = tuple[str, str, list[Column], list[tuple[str, list[Any]]]]  # what it shows, its corner, columns, rows


def tables_of(found: Human) -> Iterator[Table]:
    """The metrics on all items with the ceiling, the other tables, and how far annotators agree."""
    head = _heading(found)
    own = [row for row in found.correlations if row.subset == "all" or found.kind == "sets"]
    metrics = Group([Row(f"{row.name}{'*' * (row.name in found.best)}", _cells(row)) for row in own])
    ceilings = [Row(CEILING, _cells(c.mean)) for c in found.agreement.ceilings if c.mean.subset == "all"]
    yield Table(head, "metric", COLUMNS, [metrics, Group(ceilings)], notes=list(_legend(found)))
    for what, corner, columns, rows in _others(found):
        yield Table("", corner, columns, rows_of(rows), about=[f"{what}:"], caption=f"{head}: {what}.")
    if found.people:
        yield Table(notes=[_agreement(found)])


# ---------------------------------------------------------------------------------------------- words


def _heading(found: Human) -> str:
    """What the tables are of."""
    count = len(found.names)
    annotators = f"{count} annotators, combined by {found.options.combine}" if count > 1 else "1 annotator"
    protocol = f", protocol {found.options.protocol}" if found.kind == "sets" else ""
    return f"{found.origin}: {found.items:,} {ITEMS[found.kind]}, {annotators}{protocol}"


def _legend(found: Human) -> Iterator[str]:
    """What the brackets, the mark and the last row are."""
    options = found.options
    level = f"{100 * options.level:.4g} %"
    yield f"In brackets: {level} intervals of {options.resamples:,} resamples, seed {options.seed}."
    if found.best:
        yield f"* goes best with people, by {found.coefficient}."
    if found.agreement.ceilings:
        yield f"{CEILING}: one annotator with the others, the mean over annotators."


def _agreement(found: Human) -> str:
    """How far annotators agree."""
    agreement = found.agreement
    equal = [f"at least {s.annotators} on {s.share:.0%} of {s.n:,} items" for s in agreement.exact]
    alpha = f"Krippendorff's alpha ({agreement.level_of_scale}) {number(agreement.alpha)}."
    return f"Agreement: {alpha} Annotators who give the same score: {', '.join(equal)}."


# ---------------------------------------------------------------------------------------------- tables


def _others(found: Human) -> Iterator[Parts]:
    """All tables but the first; those with nothing to show are left out."""
    if len({row.subset for row in found.correlations}) > 1 and found.kind == "pairs":
        yield _subset_table(found)
    if found.people:
        rows = [(each.name if each.name.strip() else "(no name)", _cells(each)) for each in found.people]
        yield "Each annotator with all others", "annotator", list(COLUMNS), rows
    if found.compared:
        what = f"Against {found.compared[0].against}: difference of {found.coefficient}; p of it by bootstrap, and of"
        what += " pearson by Williams' test, each beside its adjustment over the metrics (Holm)"
        floored = any(any((*each.at_floor, *each.adjusted_at_floor)) for each in found.compared)
        what += "; ≤ where the resamples cannot make p smaller" if floored else ""
        tests = [Column(name, P_BOUND) for name in ("p", "Holm", "Williams", "Holm")]
        rows = [(each.name, _comparison(found, each)) for each in found.compared]
        yield what, "metric", [Column("difference", SIGNED), *tests], rows
    if found.means:
        yield _class_table(found)


def _cells(row: Correlation) -> list[Any]:
    return [row.n, *map(_with_interval, row.values, row.intervals)]


def _with_interval(value: float, limits: tuple[float, float]) -> Cell:
    low, high = (round(limit, 2) + 0.0 for limit in limits)  # 0 has no sign
    return Cell(value, f" {interval((low, high), 2)}" if low == low else "")


def _subset_table(found: Human) -> Parts:
    """One coefficient: subsets down, metrics and the ceiling across."""
    which = COEFFICIENTS.index(found.coefficient)
    names = list(dict.fromkeys(row.name for row in found.correlations))
    ceilings = {each.mean.subset: each.mean.values[which] for each in found.agreement.ceilings}
    values: dict[str, list[Any]] = {}
    for row in found.correlations:
        values.setdefault(row.subset, [row.n]).append(row.values[which])
    rows = [(subset, [*own, *([ceilings[subset]] if ceilings else [])]) for subset, own in values.items()]
    columns = [Column("n", COUNT), *map(Column, [*names, *(["people"] if ceilings else [])])]
    return f"{found.coefficient} in each subset", "subset", columns, rows


def _class_table(found: Human) -> Parts:
    """Mean scores: locations down, directions across."""
    means = {(each.location, each.direction): Cell(each.mean, f" ({each.n:,})") for each in found.means}
    directions = [d for d in CLASSES["direction"] if any(direction == d for _, direction in means)]
    locations = [each for each in CLASSES["location"] if any(location == each for location, _ in means)]
    rows = [(each, [means.get((each, d), nan) for d in directions]) for each in locations]
    what = "Mean score (and pairs) by where the shared words are"
    return what, "prediction is", [Column(each, FIXED2) for each in directions], rows


def _comparison(found: Human, row: Comparison) -> list[Any]:
    which, by_williams = TESTS.index(found.coefficient), TESTS.index("williams")
    return [
        _with_interval(row.differences[which], row.intervals[which]),
        *(
            (p[test], floored[test])
            for test in (which, by_williams)
            for p, floored in ((row.p, row.at_floor), (row.adjusted, row.adjusted_at_floor))
        ),
    ]
