"""The tables of `karat.human`: metrics with their ceiling, subsets, annotators, comparisons, near misses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from karat.analyses.human.learn import Learned
from karat.analyses.human.result import TESTS, Above, Comparison, Correlation, Human, above
from karat.similarity.classes import CLASSES
from karat.stats.correlation import COEFFICIENTS
from karat.tabular import (
    COUNT,
    FIXED2,
    P_BOUND,
    PERCENT,
    SIGNED,
    Cell,
    Column,
    Group,
    Row,
    Table,
    interval,
    number,
    rows_of,
)

CEILING = "people (ceiling)"
ITEMS = {"sets": "sets of keyphrases", "pairs": "pairs of phrases"}
COLUMNS = (Column("n", COUNT), *map(Column, COEFFICIENTS))


@dataclass(frozen=True, slots=True)
class Part:
    """One of the further tables: what it shows, and its parts."""

    what: str
    corner: str
    columns: Sequence[Column]
    groups: Sequence[Group]
    notes: Sequence[str] = ()


LEGEND = "+ (or bold): higher than on all items; ++ (or bold with +): of ten items or more, by its whole interval."


def tables_of(found: Human) -> Iterator[Table]:
    """The metrics on all items with the ceiling, the other tables, and how far annotators agree."""
    head = _heading(found)
    groups = [group for name, half in found.halves() for group in _metrics(half, name)]
    yield Table(head, "metric", COLUMNS, groups, notes=list(_legend(found)))
    for part in _others(found):
        about, said = [f"{part.what}:"], "".join(f" {note}" for note in part.notes)
        yield Table(
            "", part.corner, part.columns, part.groups, about, part.notes, caption=f"{head}: {part.what}.{said}"
        )
    if found.people:
        yield Table(notes=[_agreement(found)])


def _metrics(half: Human, name: str) -> list[Group]:
    """The rows of the first table: the metrics, and the ceiling below them."""
    own = [row for row in half.correlations if row.subset == "all" or half.kind == "sets"]
    rows = [Row(f"{row.name}{'*' * (row.name in half.best)}", _cells(row)) for row in own]
    ceilings = [Row(CEILING, _cells(c.mean)) for c in half.agreement.ceilings if c.mean.subset == "all"]
    return [Group([*rows, *ceilings], name)] if name else [Group(rows), Group(ceilings)]


# ---------------------------------------------------------------------------------------------- words


def _heading(found: Human) -> str:
    """What the tables are of."""
    count = len(found.names)
    how = "mean and by majority" if found.further else found.options.combine
    annotators = f"{count} annotators, combined by {how}" if count > 1 else "1 annotator"
    protocol = f", protocol {found.options.protocol}" if found.kind == "sets" else ""
    return f"{found.origin}: {found.items:,} {ITEMS[found.kind]}, {annotators}{protocol}"


def _legend(found: Human) -> Iterator[str]:
    """What the brackets, the mark and the last row are."""
    options = found.options
    level = f"{100 * options.level:.4g} %"
    drawn = " of documents" if found.by_document and found.kind == "pairs" else ""
    yield f"In brackets: {level} intervals of {options.resamples:,} resamples{drawn}, seed {options.seed}."
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


def _others(found: Human) -> Iterator[Part]:
    """All tables but the first; those with nothing to show are left out."""
    if len({row.subset for row in found.correlations}) > 1 and found.kind == "pairs":
        yield _subset_part(found)
    if found.people:
        groups = [Group([Row(_shown(p.name), _cells(p)) for p in half.people], name) for name, half in found.halves()]
        yield Part("Each annotator with all others", "annotator", COLUMNS, groups)
    yield from (_comparison_part(half, name) for name, half in found.halves() if half.compared)
    if found.means:
        yield _class_part(found)
    if found.agreement.relations:
        yield _relation_part(found)
    if found.learned is not None:
        yield _weights_part(found.learned)


def _shown(name: str) -> str:
    return name if name.strip() else "(no name)"


def _comparison_part(half: Human, name: str) -> Part:
    """The other metrics against the best, or against the one that was chosen."""
    what = f"{name.capitalize()}, against" if name else "Against"
    what += f" {half.compared[0].against}: difference of {half.coefficient}; p of it by bootstrap, and of"
    what += " pearson by Williams' test, each beside its adjustment over the metrics (Holm)"
    floored = any(any((*each.at_floor, *each.adjusted_at_floor)) for each in half.compared)
    what += "; ≤ where the resamples cannot make p smaller" if floored else ""
    tests = [Column(test, P_BOUND) for test in ("p", "Holm", "Williams", "Holm")]
    rows = [(each.name, _comparison(half, each)) for each in half.compared]
    return Part(what, "metric", [Column("difference", SIGNED), *tests], rows_of(rows))


def _cells(row: Correlation) -> list[Any]:
    return [row.n, *map(_with_interval, row.values, row.intervals)]


def _with_interval(value: float, limits: tuple[float, float]) -> Cell:
    low, high = (round(limit, 2) + 0.0 for limit in limits)  # 0 has no sign
    return Cell(value, f" {interval((low, high), 2)}" if low == low else "")


def _subset_part(found: Human) -> Part:
    """One coefficient: subsets down, metrics and the ceiling across."""
    names = list(dict.fromkeys(row.name for row in found.correlations))
    ceiling = ["people"] if found.agreement.ceilings else []
    groups = [Group([Row(*row) for row in _subset_rows(half)], name) for name, half in found.halves()]
    columns = [Column("n", COUNT), *map(Column, [*names, *ceiling])]
    marked = any(isinstance(cell, Cell) for group in groups for row in group.rows for cell in row.cells)
    notes = [LEGEND] if marked else []
    return Part(f"{found.coefficient} in each subset", "subset", columns, groups, notes)


def _subset_rows(half: Human) -> Iterator[tuple[str, list[Any]]]:
    which = COEFFICIENTS.index(half.coefficient)
    ceilings = {each.mean.subset: each.mean for each in half.agreement.ceilings}
    by_subset: dict[str, list[Any]] = {}
    for row in half.correlations:
        by_subset.setdefault(row.subset, [row.n]).append(_marked(row.values[which], half.above_all(row)))
    for subset, cells in by_subset.items():
        own = ceilings.get(subset)
        people = [] if own is None else [_marked(own.values[which], above(own, ceilings["all"], which))]
        yield subset, [*cells, *people]


def _marked(value: float, above_all: Above | None) -> Any:
    """The value, in bold and with a mark where it is higher than on all items."""
    if above_all in (None, "no"):
        return value
    return Cell(value, after="+" if above_all == "clearly" else "", style="bold", mark="+")


def _class_part(found: Human) -> Part:
    """Mean scores: locations down, directions across."""
    means = {(each.location, each.direction): Cell(each.mean, f" ({each.n:,})") for each in found.means}
    directions = [d for d in CLASSES["direction"] if any(direction == d for _, direction in means)]
    locations = [each for each in CLASSES["location"] if any(location == each for location, _ in means)]
    rows = [(each, [means.get((each, d), nan) for d in directions]) for each in locations]
    what = "Mean score (and pairs) by where the shared words are"
    return Part(what, "prediction is", [Column(each, FIXED2) for each in directions], rows_of(rows))


def _relation_part(found: Human) -> Part:
    """How far annotators agree: relations down; alpha, equal pairs and shares of equal scores across."""
    agreement = found.agreement
    most = sorted({share.annotators for each in agreement.relations for share in each.exact})
    rows = []
    for each in agreement.relations:
        shares = {share.annotators: share.share for share in each.exact}
        cells = [each.n, _with_interval(each.alpha, each.interval), each.pairs, *(shares.get(k, nan) for k in most)]
        rows.append((each.relation, cells))
    columns = [Column("n", COUNT), Column("alpha"), Column("pairs", PERCENT), *(Column(f"≥{k}", PERCENT) for k in most)]
    what = f"Agreement by relation: Krippendorff's alpha ({agreement.level_of_scale}); percent of pairs of annotators"
    return Part(
        f"{what}, and of items with so many annotators, that have the same score", "relation", columns, rows_of(rows)
    )


def _weights_part(learned: Learned) -> Part:
    """The learned weights: places down; the weight, and the lowest and highest of the folds across."""
    rows = [(row["place"], [row["weight"], row["low"], row["high"]]) for row in learned.rows()]
    what = f"Weights by place, learned from {learned.pairs:,} pairs; lowest and highest of {len(learned.folds)} folds"
    said = (
        "placed (learned): each pair by weights learned on other documents and other references, "
        f"{learned.fewest:,} pairs or more."
    )
    return Part(
        what, "place", [Column(name, FIXED2) for name in ("weight", "lowest", "highest")], rows_of(rows), [said]
    )


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
