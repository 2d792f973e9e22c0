"""Tables as a page has them: heads, and cells with what they say beyond their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from karat.analyses.compare.result import Comparison, Pair, Standing
from karat.analyses.compare.tables import several_averages
from karat.metrics.base import Request
from karat.output.page.words import interval_words, metric_of, pair_of, percent, ranked
from karat.results import documents_of
from karat.stats.effects import POWER
from karat.tabular import approximate_p, number


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell: a text; where it has them its number to sort by, interval and letters."""

    text: str
    value: float | None = None
    interval: str = ""
    letters: str = ""
    best: bool = False
    numeric: bool = True


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above a column, and a second line below it."""

    text: str
    below: str = ""
    numeric: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption; the first cell of a row names it."""

    caption: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def has_intervals(self) -> bool:
        """Whether any cell has one."""
        return any(cell.interval for row in self.rows for cell in row)


def name_cell(text: Any) -> Cell:
    """A cell that is words."""
    return Cell("–" if text is None else str(text), numeric=False)


def figure_cell(value: float | None, ends: Sequence[float | None] | None = None, digits: int = 4) -> Cell:
    """A cell that is a number, with its interval."""
    if value is None or value != value:
        return Cell("–")
    known = [end for end in ends or () if end is not None]
    text = number(value) if digits == 4 else f"{value:,.{digits}f}"
    return Cell(text, value, interval_words((known[0], known[1])) if len(known) == 2 else "")


def count_cell(value: float | None) -> Cell:
    """A cell that is a whole number."""
    return Cell("–") if value is None or value != value else Cell(f"{value:,.0f}", float(value))


def share_cell(value: float | None) -> Cell:
    """A cell that is a share, in percent."""
    return Cell("–") if value is None or value != value else Cell(f"{100 * value:.1f} %", float(value))


def table(caption: str, heads: Sequence[Any], rows: Iterable[Iterable[Cell]]) -> Table:
    """A table whose first column is names; a head is a Head, or the text of one."""
    found = [head if isinstance(head, Head) else Head(head) for head in heads]
    first = Head(found[0].text, found[0].below, numeric=False)
    return Table(caption, (first, *found[1:]), tuple(tuple(row) for row in rows))


# ---------------------------------------------------------------------------------------------- comparisons


def score_tables(found: Comparison, corpus: str, first: Request | None) -> list[Table]:
    """The scores of a corpus, a table for each protocol: best first and in bold, with letters and intervals."""
    own = [each for each in found.standings if each.corpus == corpus]
    order = ranked([each for each in own if each.request == first and each.protocol == own[0].protocol])
    return [
        _score_table(found, corpus, protocol, [each for each in own if each.protocol == protocol], order)
        for protocol in dict.fromkeys(each.protocol for each in own)
    ]


def _score_table(
    found: Comparison, corpus: str, protocol: str, own: Sequence[Standing], order: Sequence[Standing]
) -> Table:
    requests = list(dict.fromkeys(each.request for each in own))
    systems = list(dict.fromkeys(each.system for each in [*order, *own]))
    cells = {(each.system, each.request): standing_cell(each, len(systems) > 1) for each in own}
    averages = ", ".join(dict.fromkeys(request.average or "" for request in requests))
    documents = documents_of(found.common[corpus], found.documents[corpus])
    where = f"{corpus}, {documents}, protocol {protocol}, average {averages}"
    several = several_averages(requests)
    heads = [
        Head(_short(request), f"{request.subset}, {request.average}" if request in several else request.subset)
        for request in requests
    ]
    rows = [
        [name_cell(system), *(cells.get((system, request), Cell("")) for request in requests)] for system in systems
    ]
    return table(where, ["system", *heads], rows)


def _short(request: Request) -> str:
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label}{options}"


def standing_cell(each: Standing, several: bool) -> Cell:
    """A system's value of a metric; the best of several is marked."""
    if each.value != each.value:
        return Cell("–")
    text = number(each.value) + (f" ± {number(each.sd)}" if each.seeds > 1 else "")
    return Cell(text, each.value, interval_words(each.interval), each.letters, each.best and several)


def best_table(found: Comparison, corpus: str, first: Request | None) -> Table | None:
    """How far the best system is ahead of each other one in one metric; None where there is no other."""
    own = [each for each in found.standings if each.corpus == corpus and each.request == first]
    known = ranked([each for each in own if each.protocol == own[0].protocol])
    if len(known) < 2 or first is None:
        return None
    rows = []
    for other in known[1:]:
        pair = pair_of(found, known[0], other)
        if pair is not None:
            turned = 1 if pair.a == known[0].system else -1
            low, high = sorted(turned * end for end in pair.interval)
            difference = figure_cell(turned * pair.difference)
            rows.append(
                [
                    name_cell(other.system),
                    difference,
                    name_cell(interval_words((low, high)) or "–"),
                    *_tested(pair),
                ]
            )
    heads = ["system", "behind by", Head(f"{percent(found.options.level)} interval", numeric=False), "p", "adjusted p"]
    top = f"the best, {known[0].system}" if known[0].best else known[0].system
    return table(f"Against {top}: {metric_of(first)}", heads, rows) if rows else None


MOST_PAIRS = 400  # rows; of more, those of one metric are shown


def pair_table(found: Comparison, corpus: str, first: Request | None) -> Table | None:
    """Every two systems compared on every metric; where these are many, on the first metric alone."""
    own = [pair for pair in found.pairs if pair.corpus == corpus]
    many = len(own) > MOST_PAIRS
    own = [pair for pair in own if not many or pair.request == first]
    several = len({pair.protocol for pair in own}) > 1
    level = percent(found.options.level)
    rows = [
        [
            name_cell(f"{pair.a} − {pair.b}"),
            name_cell(metric_of(pair.request) + (f", {pair.protocol}" if several else "")),
            figure_cell(pair.difference),
            name_cell(interval_words(pair.interval) or "–"),
            *_tested(pair),
            figure_cell(None if pair.apart.effect is None else pair.apart.effect.d_z),
            count_cell(pair.n),
            figure_cell(pair.apart.detectable),
        ]
        for pair in own
    ]
    heads = [
        "systems",
        Head("metric", numeric=False),
        "difference",
        Head(f"{level} interval", numeric=False),
        "p",
        "adjusted p",
        "effect d_z",
        "documents",
        f"detectable with {percent(POWER)} power",
    ]
    rest = f" in {metric_of(own[0].request)}; there are too many to list the other metrics" if many and own else ""
    return table(f"Differences on {corpus}{rest}", heads, rows) if rows else None


def _tested(pair: Pair) -> list[Cell]:
    apart = pair.apart
    return [
        Cell(approximate_p(apart.p, apart.approximate), _defined(apart.p)),
        Cell(approximate_p(apart.adjusted, apart.adjusted_approximate), _defined(apart.adjusted)),
    ]


def _defined(value: float) -> float | None:
    return None if isnan(value) else value
