"""The tables of a comparison: systems with their intervals and letters, pairs with their tests, ranks over corpora."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import Any, Literal

from karat.analyses.compare.measure import Measured
from karat.analyses.compare.options import NAMES, OVER_SEEDS
from karat.analyses.compare.result import Comparison, Pair, Ranking, Standing
from karat.errors import counted
from karat.metrics.base import Request
from karat.stats.effects import POWER
from karat.stats.rank_sums import SAMPLES
from karat.tabular import (
    BOUND,
    COUNT,
    FIXED2,
    NUMBER,
    P_BOUND,
    SIGNED,
    TEXT,
    Cell,
    Column,
    Group,
    Marked,
    Row,
    Table,
    Words,
    number,
    p_value,
    rows_of,
    with_ends,
)

Layout = Literal["pairs", "rows", "overview"]
SCREEN = 36  # rows of systems with their differences; more become an overview
WHERE = {"bootstrap": "where that does not apply", OVER_SEEDS: "where a system has several seeds"}
NOTHING = 1e-9  # a difference that is none
STARS = {"***": 0.001, "**": 0.01, "*": 0.05}  # the largest adjusted p that has them
SIDES = {
    "two-sided": "two-sided",
    "greater": "one-sided: whether a − b is above 0",
    "less": "one-sided: whether a − b is below 0",
}
HOW = {
    "exact": "exact",
    "sampled": f"{SAMPLES:,} orders of the ranks",
    "asymptotic": "Iman-Davenport",
}
EFFECTS = ("d_z", "superiority", "detectable", "documents_needed", "documents_defined")
CORRECTION_NAMES = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "none"}


# ---------------------------------------------------------------------------------------------- tables


def tables_of(found: Comparison) -> Iterator[Table]:
    """For each corpus and protocol the systems and their differences, then the ranks, then what it all means."""
    layout = layout_of(found)
    for (corpus, protocol), standings in _by_corpus(found).items():
        title = f"{corpus}, {counted(found.documents[corpus], 'document')}, protocol {protocol}"
        note = f"average: {', '.join(dict.fromkeys(each.request.average or '' for each in standings))}"
        about = f"{title}; {note}. {p_legend(found)}{_shown(found, layout)}."
        pairs = [pair for pair in found.pairs if (pair.corpus, pair.protocol) == (corpus, protocol)]
        if layout == "rows":
            yield _row_table(found, standings, pairs, title, note, about)
            continue
        yield _system_table(found, standings, title, note, about)
        differences = _overview_table if layout == "overview" else _pair_table
        yield differences(found, pairs, f"Differences on {about}")
    for ranking in found.rankings:
        yield _ranking_table(ranking)
    legend = f"{p_legend(found)}{_shown(found, layout)}."
    reached = _reached(found) if layout == "pairs" else ()
    yield Table(notes=[*_legend(found), legend, *_more(found, layout), *_bounds(found), *reached])


def layout_of(found: Comparison) -> Layout:
    """How a comparison is laid out.

    `pairs`: the systems, then every pair that was compared. `rows`: on each metric the systems with their differences
    to one of them. `overview`: where these rows would fill more than a screen, the systems and the differences with a
    column a metric, without intervals. One-sided tests go by the order in which systems are given, so that without a
    baseline all of them are shown.
    """
    options, families = found.options, _by_corpus(found).values()
    every = options.all_pairs or (options.baseline is None and options.alternative != "two-sided")
    if every or all(len({each.system for each in own}) < 3 for own in families):
        return "pairs"
    return "rows" if max(map(len, families)) <= SCREEN else "overview"


def _by_corpus(found: Comparison) -> dict[tuple[str, str], list[Standing]]:
    """The standings on each corpus under each protocol."""
    families: dict[tuple[str, str], list[Standing]] = {}
    for each in found.standings:
        families.setdefault((each.corpus, each.protocol), []).append(each)
    return families


def _best_first(standings: Sequence[Standing]) -> list[Standing]:
    """The systems on one metric, the best first and those without a value last."""
    sign = 1 if standings[0].request.spec.better == "lower" else -1
    return sorted(standings, key=lambda each: (isnan(each.value), sign * each.value))


def _by_metric(standings: Sequence[Standing]) -> dict[Request, list[Standing]]:
    """The systems on each metric, the best first."""
    metrics: dict[Request, list[Standing]] = {}
    for each in standings:
        metrics.setdefault(each.request, []).append(each)
    return {request: _best_first(own) for request, own in metrics.items()}


def _system_table(found: Comparison, standings: Sequence[Standing], title: str, note: str, caption: str) -> Table:
    """A row a system, the best on the first metric first: its values with intervals and letters."""
    cells = {(each.system, each.request): _standing_cell(found, each) for each in standings}
    metrics = _by_metric(standings)
    systems = dict.fromkeys(each.system for own in metrics.values() for each in own)
    rows = rows_of((system, [cells.get((system, metric)) for metric in metrics]) for system in systems)
    columns = [Column(metric_name(own[0]), NUMBER) for own in metrics.values()]
    return Table(title, "system", columns, rows, notes=[note], caption=caption)


def _standing_cell(found: Comparison, each: Standing) -> Cell:
    sd = f" ± {number(each.sd)}" if each.seeds > 1 else ""
    ends = with_ends(each.interval) if layout_of(found) != "overview" else ""
    letters = (" ", Marked(each.letters, "raised")) if each.letters else ()
    return Cell(each.value, (sd, ends, *letters), *(("bold", _best_mark(found)) if each.best else ()))


# ---------------------------------------------------------------------------------------------- differences to one


@dataclass(frozen=True, slots=True)
class _Beside:
    """A pair as the difference of a system to another one, whichever of the two was compared with the other."""

    pair: Pair
    difference: float
    interval: tuple[float, float]


def _beside(found: Comparison, own: Sequence[Standing], pairs: Sequence[Pair]) -> tuple[str, dict[str, _Beside]]:
    """(the baseline, or the best system on a metric; the difference of each other one to it); "" without a best."""
    top = found.options.baseline or next((each.system for each in own if each.best), "")
    differences: dict[str, _Beside] = {}
    for pair in pairs:
        if pair.request != own[0].request or top not in (pair.a, pair.b):
            continue
        if pair.b == top:
            differences[pair.a] = _Beside(pair, pair.difference, pair.interval)
        else:
            low, high = pair.interval
            differences[pair.b] = _Beside(pair, -pair.difference, (-high, -low))
    return top, differences


def _row_table(
    found: Comparison, standings: Sequence[Standing], pairs: Sequence[Pair], title: str, note: str, caption: str
) -> Table:
    """Below each metric a row a system, the best first: its value, its difference to the best or the baseline, p."""
    groups = []
    for own in _by_metric(standings).values():
        top, differences = _beside(found, own, pairs)
        rows = [
            Row(each.system, [_standing_cell(found, each), *_beside_cells(found, differences.get(each.system))])
            for each in own
        ]
        on = _documents([each.pair for each in differences.values()]) if differences else "no documents"
        groups.append(Group(rows, f"{metric_name(own[0])}, {on}" + (f", differences to {top}" if top else "")))
    columns = [Column("value", NUMBER), Column("difference", SIGNED), Column("adjusted p", P_BOUND)]
    return Table(title, "system", columns, groups, notes=[note], caption=caption)


def _beside_cells(found: Comparison, each: _Beside | None) -> list[Any]:
    """The difference with its interval, and adjusted p."""
    if each is None:
        return [None, None]
    used, marks = each.pair.used(found.options.test), stars(found, each.pair)
    after = (*((Marked(marks, "raised"),) if marks else ()), with_ends(each.interval))
    p = each.pair.adjusted.get(used), used in each.pair.adjusted_at_floor
    return [Cell(each.difference, after), p]


def _overview_table(found: Comparison, pairs: Sequence[Pair], caption: str) -> Table:
    """A row a system, a column a metric: the difference to the best or the baseline, with stars."""
    first = pairs[0]
    standings = [e for e in found.standings if (e.corpus, e.protocol) == (first.corpus, first.protocol)]
    metrics = _by_metric(standings)
    beside = [_beside(found, own, pairs) for own in metrics.values()]
    systems = dict.fromkeys(each.system for own in metrics.values() for each in own)
    rows = []
    for system in systems:
        own_cells = [_starred(found, differences.get(system)) for _, differences in beside]
        if any(cell is not None for cell in own_cells):
            rows.append((system, own_cells))
    columns = [
        Column(metric_name(own[0]), SIGNED, above=f"− {top}" if top else "")
        for own, (top, _) in zip(metrics.values(), beside, strict=True)
    ]
    return Table("", "difference", columns, rows_of(rows), caption=caption)


def _starred(found: Comparison, each: _Beside | None) -> Cell | None:
    if each is None:
        return None
    marks = _marks(found, each.pair)
    return Cell(each.difference, (Marked(marks, "raised"),) if marks else "")


# ---------------------------------------------------------------------------------------------- differences of all


def _pair_table(found: Comparison, pairs: Sequence[Pair], caption: str) -> Table:
    """Below each metric, with its documents, a row a pair."""
    groups = []
    for metric in dict.fromkeys(map(metric_name, pairs)):
        own = [pair for pair in pairs if metric_name(pair) == metric]
        rows = [Row(f"{pair.a} − {pair.b}", _pair_cells(found, pair)) for pair in own]
        groups.append(Group(rows, f"{metric}, {_documents(own)}"))
    power = f"{_power()} power"
    columns = [
        Column("difference", SIGNED),
        Column("p", P_BOUND),
        Column("adjusted", P_BOUND),
        Column("d_z", FIXED2),
        Column("detectable", NUMBER, above=power),
        Column("needed", COUNT, above=power),
    ]
    return Table("", "a − b", columns, groups, caption=caption)


def _documents(pairs: Sequence[Pair]) -> str:
    """On how many documents systems are compared."""
    least, most = min(pair.n for pair in pairs), max(pair.n for pair in pairs)
    return counted(most, "document") if least == most else f"{least:,} to {counted(most, 'document')}"


def _pair_cells(found: Comparison, pair: Pair) -> list[Any]:
    """The difference with its interval, p, adjusted p, effect size, and what could have been found."""
    used, marks = pair.used(found.options.test), stars(found, pair)
    effect = pair.effect.get
    return [
        Cell(pair.difference, (*((Marked(marks, "raised"),) if marks else ()), with_ends(pair.interval))),
        (pair.tests.get(used), used in pair.at_floor),
        (pair.adjusted.get(used), used in pair.adjusted_at_floor),
        *(Cell(_number(effect(name))) for name in ("d_z", "detectable", "documents_needed")),
    ]


def _ranking_table(ranking: Ranking) -> Table:
    """A row a system, the best first: its mean rank, and which bars of the critical-difference diagram it is under."""
    order = sorted(range(len(ranking.systems)), key=lambda i: float(ranking.friedman.ranks[i]))
    rows = [
        (system, [ranking.friedman.ranks[i], "".join("|" if system in each else " " for each in ranking.cliques)])
        for i, system in ((i, ranking.systems[i]) for i in order)
    ]
    return Table(ranking_title(ranking), "system", [Column("rank", FIXED2), Column("alike", TEXT)], rows_of(rows))


# ---------------------------------------------------------------------------------------------- rows


def flat_row(found: Comparison, pair: Pair) -> dict[str, Any]:
    """The row of the CSV output: of the test that is used."""
    row, used = pair.as_dict(), pair.used(found.options.test)
    effect = {name: row["effect"].get(name) for name in EFFECTS}
    first = ("corpus", "protocol", "a", "b", "metric")
    return {
        **{name: row[name] for name in first},
        "options": ",".join(f"{name}={value}" for name, value in row["options"].items()),
        **{name: row[name] for name in ("subset", "average", "value_a", "value_b", "difference")},
        "low": row["ci"][0],
        "high": row["ci"][1],
        "p": row["tests"].get(used),
        "p_adjusted": row["adjusted"].get(used),
        "d_z": effect.pop("d_z"),
        "superiority": effect.pop("superiority"),
        "n": pair.n,
        "p_at_floor": used in pair.at_floor,
        "p_adjusted_at_floor": used in pair.adjusted_at_floor,
        "stars": stars(found, pair),
        **effect,
        "test": used,
    }


# ---------------------------------------------------------------------------------------------- words


def _legend(found: Comparison) -> Iterator[Words]:
    """What marks, letters and brackets are."""
    options = found.options
    level = f"{100 * options.level:.4g} %"
    brackets = "" if layout_of(found) == "overview" else f"; in brackets {level} intervals ({intervals_by(found)})"
    yield Marked("best", "bold", _best_mark(found)), f"{brackets}."
    if _has_stars(found):
        yield stars_legend()
    if any(each.letters for each in found.standings):
        yield f"Systems without a letter in common differ: adjusted p at most {options.alpha:g}."
    if options.alternative != "two-sided":
        yield "Intervals are two-sided all the same; one-sided tests ask one way alone, so there are no letters."
    yield from with_seeds(found)


def with_seeds(found: Comparison) -> Iterator[str]:
    """What stands behind ±, where a system has several seeds."""
    if any(each.seeds > 1 for each in found.standings):
        yield "± is the standard deviation over a system's seeds."


def intervals_by(found: Comparison | Measured, of: str = "") -> str:
    """What intervals are made by: resamples, or where there are several seeds t over these and documents."""
    options = found.options
    how = {OVER_SEEDS: NAMES[OVER_SEEDS]}
    how[options.interval] = f"{options.interval}, {options.drawn:,} resamples{of}, seed {options.seed}"
    used = {each.interval_by for each in found.standings} | {pair.interval_by for pair in found.pairs}
    if len(used) > 1:
        how[OVER_SEEDS] = f"{WHERE[OVER_SEEDS]} {how[OVER_SEEDS]}"
    return "; ".join(how[name] for name in (options.interval, OVER_SEEDS) if name in used)


def by_tests(requested: str, used: Iterable[str | None]) -> str:
    """The names of the tests that were used, each but the first with where it stands in for the requested one.

    >>> by_tests("t", ["two_level_t", "t", "two_level_t"])
    'paired t, and where a system has several seeds two-level t over seeds and documents'
    """
    there = set(used)
    first, *others = (name for name in dict.fromkeys((requested, *WHERE)) if name in there)
    return NAMES[first] + "".join(f", and {WHERE[name]} {NAMES[name]}" for name in others)


def stars_legend() -> str:
    """What stars are."""
    marks = ", ".join(f"{stars} at most {number(most).rstrip('0')}" for stars, most in reversed(STARS.items()))
    return f"Stars are of adjusted p: {marks}."


def _power() -> str:
    return f"{100 * POWER:g} %"


def reach(found: Comparison, pair: Pair) -> str | None:
    """What difference could have been found, and how many documents the one that was found takes, in words.

    None where it is undefined, or all documents differ alike, so that there is nothing to go by.
    """
    least, needed = _number(pair.effect.get("detectable")), _number(pair.effect.get("documents_needed"))
    if least is None or least < NOTHING:
        return None
    alone = f" by one test at {found.options.alpha:g} alone" if len(found.pairs) > 1 else ""
    count = counted(int(pair.effect["documents_defined"] or 0), "document")
    could = f"With {_power()} power a difference of {number(least)} could have been found on these {count}{alone}"
    if needed is None:
        return f"{could}."
    if needed == inf:
        return f"{could}; a difference of 0 takes endlessly many."
    of_corpus = _number(pair.effect.get("documents_needed_of_corpus"))
    more = "" if of_corpus in (None, needed) else f", {of_corpus:,.0f} with those on which it is undefined"
    takes = counted(int(needed), "such document")
    return f"{could}; one of {number(abs(pair.difference))}, as found, needs {takes}{more}."


def _reached(found: Comparison) -> Iterator[str]:
    """What two columns of differences are, on the example of the first one."""
    for pair in found.pairs:
        words = reach(found, pair)
        if words is not None:
            yield f"detectable, needed ({metric_name(pair)}, {pair.a} − {pair.b}): {words[:1].lower()}{words[1:]}"
            return


def p_legend(found: Comparison) -> str:
    """Which test p is of, and how it is adjusted."""
    options = found.options
    count = f"{len(found.pairs):,} comparison{'s' if len(found.pairs) > 1 else ''}"
    over = f"adjusted over {count} ({CORRECTION_NAMES[options.correction]})"
    tests = by_tests(options.test, (pair.used(options.test) for pair in found.pairs))
    return f"p: {tests}, {SIDES[options.alternative]}; {over}"


def _shown(found: Comparison, layout: Layout) -> str:
    """How many of the comparisons that p is adjusted over are shown, where these are not all."""
    if layout == "pairs" or found.options.baseline is not None:
        return ""
    shown = sum(
        len(_beside(found, own, [pair for pair in found.pairs if (pair.corpus, pair.protocol) == key])[1])
        for key, standings in _by_corpus(found).items()
        for own in _by_metric(standings).values()
    )
    return f", each two systems on each metric, of which the {shown:,} with the best are shown"


def _more(found: Comparison, layout: Layout) -> Iterator[str]:
    """Where the rest is."""
    pairs = "" if found.options.baseline is not None else " --all-pairs,"
    if layout == "rows":
        yield f"p before it is adjusted, d_z and what could have been found:{pairs} -f csv or json."
    elif layout == "overview":
        yield f"Intervals and p: fewer metrics (-m),{pairs} -f csv or json."


def _bounds(found: Comparison) -> Iterator[str]:
    """What "≤" before a p says, where there is one."""
    if layout_of(found) != "overview" and any(
        pair.used(found.options.test) in pair.at_floor | pair.adjusted_at_floor for pair in found.pairs
    ):
        yield BOUND


def metric_name(each: Standing | Pair | Ranking) -> str:
    """A metric with its options and subset."""
    request = each.request
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label} {request.subset}{options}"


def _best_mark(found: Comparison) -> str:
    """What marks the best system where nothing can be bold: no star where stars mark significance."""
    return "†" if _has_stars(found) else "*"


def _has_stars(found: Comparison) -> bool:
    """Whether differences are marked: by the options, or where there is no other sign of how sure they are."""
    return found.options.stars or layout_of(found) == "overview"


def _number(value: Any) -> float | None:
    """A number that is defined."""
    return None if value is None or isinstance(value, bool) or value != value else float(value)


def stars(found: Comparison, pair: Pair) -> str:
    """The stars of a difference, if the options have stars."""
    return _marks(found, pair) if found.options.stars else ""


def _marks(found: Comparison, pair: Pair) -> str:
    """The stars of a difference, by its adjusted p."""
    p = _number(pair.adjusted.get(pair.used(found.options.test)))
    return "" if p is None else next((marks for marks, most in STARS.items() if p <= most), "")


def ranking_title(ranking: Ranking) -> str:
    """What is found over all corpora."""
    over = f"{metric_name(ranking)}, protocol {ranking.protocol}, mean ranks over {ranking.friedman.corpora} corpora"
    return f"{over}: Friedman p {ranking_p(ranking)}; {separated(ranking)}"


def ranking_p(ranking: Ranking) -> str:
    """The p of Friedman's test that holds, and where it is from."""
    found = ranking.friedman
    return f"{p_value(found.used_p, found.at_floor)} ({HOW[found.how]})"


def separated(ranking: Ranking) -> str:
    """From which distance on two mean ranks differ."""
    if ranking.critical == inf:
        return f"no two ranks over {ranking.friedman.corpora} corpora can be told apart (Nemenyi), so all share a bar"
    return f"ranks less than {ranking.critical:.2f} apart (Nemenyi) share a bar"
