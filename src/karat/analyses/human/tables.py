"""The tables of `karat.human`: metrics with their ceiling, subsets, annotators, comparisons, near misses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

from karat.analyses.human.learn import Learned
from karat.analyses.human.result import Above, Correlation, Human, above
from karat.similarity.classes import CLASSES
from karat.stats.correlation import COEFFICIENTS
from karat.stats.difference import APPROXIMATE, cells, columns, family_legend, test_names
from karat.tabular import (
    COUNT,
    FIXED2,
    PERCENT,
    Cell,
    Column,
    Group,
    Row,
    Table,
    interval,
    number,
    rows_of,
    with_ends,
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
    """Explain the brackets, the mark and the last row."""
    options = found.options
    level = f"{100 * options.level:.4g} %"
    unit = "document" if found.by_document else "item"
    yield f"In brackets: {level} confidence intervals, by jackknife of {unit}s and t on Fisher's z scale."
    if found.best:
        yield f"* correlates best with people, by {found.coefficient}."
    if found.agreement.ceilings:
        yield f"{CEILING}: correlation of one annotator with the others, mean over annotators."


def _agreement(found: Human) -> str:
    """State how far annotators agree."""
    agreement = found.agreement
    equal = [
        f"at least {s.annotators} on {s.share:.0%}{_percent_ends(s.interval)} of {s.n:,} items" for s in agreement.exact
    ]
    value = f"{number(agreement.alpha)}{with_ends(agreement.interval)}"
    alpha = f"Agreement: Krippendorff's alpha ({agreement.level_of_scale}) {value}."
    return f"{alpha} Annotators who give the same score: {', '.join(equal)}." if equal else alpha


def _percent_ends(ends: tuple[float, float]) -> str:
    return "" if isnan(ends[0]) else f" [{100 * ends[0]:.0f}, {100 * ends[1]:.0f}]"


# ---------------------------------------------------------------------------------------------- tables


def _others(found: Human) -> Iterator[Part]:
    """All tables but the first; those with nothing to show are left out."""
    if len({row.subset for row in found.correlations}) > 1 and found.kind == "pairs":
        yield _subset_part(found)
    if found.people:
        groups = [Group([Row(_shown(p.name), _cells(p)) for p in half.people], name) for name, half in found.halves()]
        yield Part("Each annotator with all others", "annotator", COLUMNS, groups)
    for name, half in found.halves():
        if any(each.difference.adjusted == each.difference.adjusted for each in half.compared):
            yield _comparison_part(half, name)
    if found.means:
        yield _class_part(found)
    if found.agreement.relations:
        yield _relation_part(found)
    if found.learned is not None:
        yield _weights_part(found.learned)


def _shown(name: str) -> str:
    return name if name.strip() else "(no name)"


def _comparison_part(half: Human, name: str) -> Part:
    """Compare the other metrics with the best, or with the chosen one."""
    first = half.compared[0].against
    shown = [(each.name, each.difference) for each in half.compared if each.against == first]
    every = [each.difference for each in half.compared]
    over = f"all comparisons with {first}" if half.options.against else "all pairs of metrics"
    what = f"{name.capitalize()}, compared" if name else "Compared"
    what += f" with {first}: difference of {half.coefficient}; p by {test_names('t', ['t'])}"
    what += f", {family_legend(every, over)}"
    kept = [i for i, column in enumerate(columns()) if column.name != "d_z"]
    rows = [(metric, [cells(difference)[i] for i in kept]) for metric, difference in shown]
    marked = any(difference.approximate or difference.adjusted_approximate for _, difference in shown)
    return Part(what, "metric", [columns()[i] for i in kept], rows_of(rows), [APPROXIMATE] if marked else [])


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
    for subset, values in by_subset.items():
        own = ceilings.get(subset)
        people = [] if own is None else [_marked(own.values[which], above(own, ceilings["all"], which))]
        yield subset, [*values, *people]


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
        shares = {share.annotators: _share(share.share, share.interval) for share in each.exact}
        alpha, pairs = _with_interval(each.alpha, each.interval), _share(each.pairs, each.pairs_interval)
        rows.append((each.relation, [each.n, alpha, pairs, *(shares.get(k, nan) for k in most)]))
    columns = [Column("n", COUNT), Column("alpha"), Column("pairs", PERCENT), *(Column(f"≥{k}", PERCENT) for k in most)]
    what = f"Agreement by relation: Krippendorff's alpha ({agreement.level_of_scale}); percent of pairs of annotators"
    return Part(
        f"{what}, and of items with so many annotators, that have the same score", "relation", columns, rows_of(rows)
    )


def _share(value: float, ends: tuple[float, float]) -> Cell:
    return Cell(value, _percent_ends(ends))


def _weights_part(learned: Learned) -> Part:
    """Show the learned weights: places down; the weight and the ends of its interval across."""
    rows = [
        (row["place"], [row["weight"], *(nan if end is None else end for end in row["ci"])]) for row in learned.rows()
    ]
    level = f"{100 * learned.level:.4g} %"
    what = f"Weights by place, learned from {learned.pairs:,} pairs, with {level} confidence intervals by bootstrap"
    said = (
        "placed (learned): each pair by weights learned on other documents and other references, "
        f"{learned.fewest:,} pairs or more."
    )
    return Part(what, "place", [Column(name, FIXED2) for name in ("weight", "low", "high")], rows_of(rows), [said])
