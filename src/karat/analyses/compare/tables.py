"""The tables of a comparison: systems with their intervals and letters, pairs with their tests, ranks over corpora."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan
from typing import Any, Literal

from karat.analyses.compare.measure import Measured
from karat.analyses.compare.options import OVER_SEEDS, CompareOptions
from karat.analyses.compare.result import Comparison, DiscriminativePower, Pair, Ranking, Standing
from karat.errors import counted
from karat.metrics.base import Request
from karat.results import documents_of
from karat.stats.difference import (
    APPROXIMATE,
    NOT_ADJUSTED,
    TEST_NAMES,
    Difference,
    difference_cell,
    family_caption,
    family_legend,
    test_names,
)
from karat.stats.difference import cells as difference_cells
from karat.stats.difference import columns as difference_columns
from karat.stats.effects import POWER
from karat.stats.rank_sums import SAMPLES
from karat.tabular import (
    COUNT,
    FIXED2,
    NUMBER,
    P_APPROXIMATE,
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
EFFECTS = ("d_z", "superiority", "wins", "ties", "losses")


# ---------------------------------------------------------------------------------------------- tables


def tables_of(found: Comparison) -> Iterator[Table]:
    """For each corpus and protocol the systems and their differences, then the ranks, then what it all means."""
    layout = layout_of(found)
    for (corpus, protocol), standings in _by_corpus(found).items():
        title = f"{corpus}, {documents_of(found.common[corpus], found.documents[corpus])}, protocol {protocol}"
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
        same = [each.request for each in found.rankings if each.protocol == ranking.protocol]
        yield _ranking_table(ranking, several_averages(same))
    yield from _power_tables(found)
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
    several = several_averages(metrics)
    systems = dict.fromkeys(each.system for own in metrics.values() for each in own)
    rows = rows_of((system, [cells.get((system, metric)) for metric in metrics]) for system in systems)
    columns = [Column(metric_name(own[0], several), NUMBER) for own in metrics.values()]
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
    apart: Difference  # of the system less the other one


def _beside(found: Comparison, own: Sequence[Standing], pairs: Sequence[Pair]) -> tuple[str, dict[str, _Beside]]:
    """Return (the baseline, or the first system on a metric; the difference of each other one to it).

    The system is "" where none has a value.
    """
    top = found.options.baseline or next((each.system for each in own if each.value == each.value), "")
    differences: dict[str, _Beside] = {}
    for pair in pairs:
        if pair.request != own[0].request or top not in (pair.a, pair.b):
            continue
        if pair.b == top:
            differences[pair.a] = _Beside(pair, pair.apart)
        else:
            differences[pair.b] = _Beside(pair, pair.apart.reversed())
    return top, differences


def _row_table(
    found: Comparison, standings: Sequence[Standing], pairs: Sequence[Pair], title: str, note: str, caption: str
) -> Table:
    """Below each metric a row a system, the best first: its value, its difference to the best or the baseline, p."""
    groups = []
    uneven = _uneven(standings, pairs)
    metrics = _by_metric(standings)
    several = several_averages(metrics)
    for own in metrics.values():
        top, differences = _beside(found, own, pairs)
        rows = [
            Row(each.system, [_standing_cell(found, each), *_beside_cells(found, differences.get(each.system), uneven)])
            for each in own
        ]
        on = _documents([each.pair for each in differences.values()]) if differences else "no documents"
        groups.append(Group(rows, f"{metric_name(own[0], several)}, {on}" + (f", differences to {top}" if top else "")))
    columns = [Column("value", NUMBER), Column("difference", SIGNED), Column("adjusted p", P_APPROXIMATE)]
    if uneven:
        columns += [Column("value", NUMBER, above="on common documents"), Column(UNEVEN[1]), Column("n", COUNT)]
    return Table(title, "system", columns, groups, notes=[note], caption=caption)


UNEVEN = ("value", "other")  # columns of both means on common documents


def _uneven(standings: Sequence[Standing], pairs: Sequence[Pair]) -> bool:
    """Whether a difference is of other documents than the scores beside it, a metric being undefined on some."""
    values = {(each.system, each.protocol, each.request): each.value for each in standings}
    return any(
        abs(own - values.get((name, pair.protocol, pair.request), own)) > NOTHING
        for pair in pairs
        for name, own in ((pair.a, pair.apart.value_a), (pair.b, pair.apart.value_b))
    )


def _beside_cells(found: Comparison, each: _Beside | None, uneven: bool) -> list[Any]:
    """Return the difference with its interval, adjusted p and, where documents differ, both means and n."""
    if each is None:
        return [None] * (5 if uneven else 2)
    apart = each.apart
    both = [_defined(apart.value_a), _defined(apart.value_b), apart.n] if uneven else []
    return [difference_cell(apart, stars(found, each.pair)), (apart.adjusted, apart.adjusted_approximate), *both]


def _defined(value: float) -> float | None:
    return None if isnan(value) else value


def _overview_table(found: Comparison, pairs: Sequence[Pair], caption: str) -> Table:
    """A row a system, a column a metric: the difference to the best or the baseline, with stars."""
    first = pairs[0]
    standings = [e for e in found.standings if (e.corpus, e.protocol) == (first.corpus, first.protocol)]
    metrics = _by_metric(standings)
    several = several_averages(metrics)
    beside = [_beside(found, own, pairs) for own in metrics.values()]
    systems = dict.fromkeys(each.system for own in metrics.values() for each in own)
    rows = []
    for system in systems:
        own_cells = [_starred(found, differences.get(system)) for _, differences in beside]
        if any(cell is not None for cell in own_cells):
            rows.append((system, own_cells))
    columns = [
        Column(metric_name(own[0], several), SIGNED, above=f"− {top}" if top else "")
        for own, (top, _) in zip(metrics.values(), beside, strict=True)
    ]
    return Table("", "difference", columns, rows_of(rows), caption=caption)


def _starred(found: Comparison, each: _Beside | None) -> Cell | None:
    if each is None:
        return None
    marks = _marks(found, each.pair)
    return Cell(_defined(each.apart.value), (Marked(marks, "raised"),) if marks else "")


# ---------------------------------------------------------------------------------------------- differences of all


def _pair_table(found: Comparison, pairs: Sequence[Pair], caption: str) -> Table:
    """Below each metric, with its documents, a row a pair."""
    groups = []
    uneven = _uneven(found.standings, pairs)
    requests = dict.fromkeys(pair.request for pair in pairs)
    several = several_averages(requests)
    for request in requests:
        own = [pair for pair in pairs if pair.request == request]
        rows = [Row(f"{pair.a} − {pair.b}", _pair_cells(found, pair, uneven)) for pair in own]
        groups.append(Group(rows, f"{metric_name(own[0], several)}, {_documents(own)}"))
    planned = found.options.difference
    needed = [] if planned is None else [Column(f"for {number(planned)}", TEXT, above="documents")]
    both = [Column("a", NUMBER), Column("b", NUMBER), Column("n", COUNT)] if uneven else []
    return Table("", "a − b", [*both, *difference_columns(f"{_power()} power"), *needed], groups, caption=caption)


def _documents(pairs: Sequence[Pair]) -> str:
    """On how many documents systems are compared."""
    least, most = min(pair.n for pair in pairs), max(pair.n for pair in pairs)
    return counted(most, "document") if least == most else f"{least:,} to {counted(most, 'document')}"


def _pair_cells(found: Comparison, pair: Pair, uneven: bool) -> list[Any]:
    """Return the cells of a pair: both means and n where documents differ, then those of the difference."""
    apart = pair.apart
    both = [_defined(apart.value_a), _defined(apart.value_b), apart.n] if uneven else []
    planned = [] if found.options.difference is None else [documents_needed(pair, found.options)]
    return [*both, *difference_cells(apart, stars(found, pair)), *planned]


def documents_needed(pair: Pair, options: CompareOptions) -> str:
    """Write how many documents detect the difference of the options with 80 % power, with an interval."""
    needed = pair.needed(options)
    if needed is None:
        return "–"
    count, low, high = (f"{each:,.0f}" if each < inf else "∞" for each in needed)
    return f"{count} [{low}, {high}]" if needed[0] < inf else "∞"


def _ranking_table(ranking: Ranking, several: Collection[Request]) -> Table:
    """A row a system, the best first: its mean rank, and which bars of the critical-difference diagram it is under."""
    order = sorted(range(len(ranking.systems)), key=lambda i: float(ranking.friedman.ranks[i]))
    rows = [
        (system, [ranking.friedman.ranks[i], "".join("|" if system in each else " " for each in ranking.cliques)])
        for i, system in ((i, ranking.systems[i]) for i in order)
    ]
    return Table(
        ranking_title(ranking, several), "system", [Column("rank", FIXED2), Column("alike", TEXT)], rows_of(rows)
    )


def _power_tables(found: Comparison) -> Iterator[Table]:
    """Below each corpus, and below the mean over corpora, a row a metric: how well it discriminates between systems."""
    alpha = f"{found.options.alpha:g}"
    columns = [
        Column("pairs", COUNT),
        Column("number", COUNT, above=f"p ≤ {alpha}"),
        Column("share", FIXED2, above=f"p ≤ {alpha}"),
        Column("number", COUNT, above=f"adjusted p ≤ {alpha}"),
        Column("share", FIXED2, above=f"adjusted p ≤ {alpha}"),
        Column("|d_z|", FIXED2, above="mean"),
        Column("detectable", NUMBER, above="mean"),
    ]
    explained = (
        "pairs: pairs of systems that were tested; number and share: those that differ significantly; detectable: the "
        f"difference that one test at {alpha} alone detects with {_power()} power."
    )
    for protocol in dict.fromkeys(power.protocol for power in found.discriminative_power):
        powers = [power for power in found.discriminative_power if power.protocol == protocol]
        several = several_averages(dict.fromkeys(power.request for power in powers))
        rows: dict[tuple[str, ...], list[Row]] = {}
        for power in powers:
            rows.setdefault(power.corpora, []).append(Row(metric_name(power, several), _power_cells(power)))
        groups = [
            Group(members, corpora[0] if len(corpora) == 1 else f"mean over {len(corpora)} corpora")
            for corpora, members in rows.items()
        ]
        title = f"Discriminative power, protocol {protocol}"
        caption = f"{title}: {explained} {p_legend(found)}."
        yield Table(title, "metric", columns, groups, notes=[explained], caption=caption)


def _power_cells(power: DiscriminativePower) -> list[Any]:
    tested = [power.significant, power.share, power.significant_adjusted, power.share_adjusted]
    return [power.pairs, *tested, power.d_z, power.detectable]


# ---------------------------------------------------------------------------------------------- rows


def flat_row(found: Comparison, pair: Pair) -> dict[str, Any]:
    """The row of the CSV output: of the test that is used."""
    row = pair.as_dict(found.options)
    needed = row.get("documents_needed_ci") or (None, None)
    first = ("corpus", "protocol", "a", "b", "metric")
    tested = ("p", "test", "p_approximate", "p_adjusted", "p_adjusted_by", "p_adjusted_approximate", "family")
    return {
        **{name: row[name] for name in first},
        "options": ",".join(f"{name}={value}" for name, value in row["options"].items()),
        **{name: row[name] for name in ("subset", "average", "value_a", "value_b", "difference")},
        "low": row["ci"][0],
        "high": row["ci"][1],
        **{name: row[name] for name in ("se", "n", *tested)},
        **{name: row["effect"].get(name) for name in EFFECTS},
        "detectable": row["detectable"],
        **(
            {}
            if found.options.difference is None
            else {
                "documents_needed": row["documents_needed"],
                "documents_needed_low": needed[0],
                "documents_needed_high": needed[1],
            }
        ),
        "stars": stars(found, pair),
    }


# ---------------------------------------------------------------------------------------------- words


def _legend(found: Comparison) -> Iterator[Words]:
    """What marks, letters and brackets are."""
    options = found.options
    level = f"{100 * options.level:.4g} %"
    brackets = "" if layout_of(found) == "overview" else f"in brackets {level} intervals ({intervals_by(found)})"
    if any(each.best for each in found.standings):
        yield Marked("best", "bold", _best_mark(found)), f"; {brackets}." if brackets else "."
    elif brackets:
        yield f"I{brackets[1:]}."
    if _has_stars(found):
        yield stars_legend()
    if any(each.letters for each in found.standings):
        yield f"Systems without a letter in common differ: {p_name(found)} at most {options.alpha:g}."
    if options.alternative != "two-sided":
        yield "Intervals are two-sided all the same; one-sided tests ask one way alone, so there are no letters."
    yield from with_seeds(found)


def with_seeds(found: Comparison) -> Iterator[str]:
    """What stands behind ±, where a system has several seeds."""
    if any(each.seeds > 1 for each in found.standings):
        yield "± is the standard deviation over a system's seeds."


def intervals_by(found: Comparison | Measured, of: str = "", *, differences: bool = True) -> str:
    """Name the methods of the intervals of scores and, with `differences`, of differences."""
    options = found.options
    used = {each.interval_by for each in found.standings}
    how = {"t": "t on the logit scale", OVER_SEEDS: TEST_NAMES[OVER_SEEDS]}
    for name in ("bca", "percentile"):
        how[name] = f"{name}, {options.drawn:,} resamples{of}, seed {options.seed}"
    if differences:
        for name in ("t", "bca", "percentile"):
            how[name] += ", of differences jackknife t"
    names = [how[name] for name in (options.interval, OVER_SEEDS) if name in used]
    return "; with several seeds ".join(names)


def is_adjusted(found: Comparison | Measured) -> bool:
    """Whether p is adjusted."""
    return family_words(found) != NOT_ADJUSTED


def p_name(found: Comparison | Measured) -> str:
    """Name the p that letters and marks go by."""
    return "adjusted p" if is_adjusted(found) else "p"


def stars_legend() -> str:
    """What stars are."""
    marks = ", ".join(f"{stars} at most {number(most).rstrip('0')}" for stars, most in reversed(STARS.items()))
    return f"Stars are of adjusted p: {marks}."


def _power() -> str:
    return f"{100 * POWER:g} %"


def detectable_words(found: Comparison, pair: Pair) -> str | None:
    """State which difference could have been detected; None where it is undefined."""
    least = _number(pair.apart.detectable)
    if least is None or least < NOTHING:
        return None
    alone = f" by one test at {found.options.alpha:g} alone" if len(found.pairs) > 1 else ""
    count = counted(pair.n, "document")
    return f"With {_power()} power a difference of {number(least)} could have been detected on these {count}{alone}."


def _reached(found: Comparison) -> Iterator[str]:
    """Explain the column `detectable` on the example of the first difference."""
    for pair in found.pairs:
        words = detectable_words(found, pair)
        if words is not None:
            several = several_averages(
                dict.fromkeys(each.request for each in found.pairs if each.protocol == pair.protocol)
            )
            yield f"detectable ({metric_name(pair, several)}, {pair.a} − {pair.b}): {words[:1].lower()}{words[1:]}"
            break
    if found.options.difference is not None:
        yield (
            f"documents for {number(found.options.difference)}: how many detect that difference with {_power()} power; "
            "in brackets what the sampling error of the standard deviation leaves open."
        )


FAMILIES = {
    "metric": "all pairs of systems on one metric and corpus",
    "corpus": "all pairs of systems on all metrics of a corpus",
    "all": "all tests",
}


def family_words(found: Comparison | Measured) -> str:
    """State how p is adjusted and over which family."""
    return family_caption([pair.apart for pair in found.pairs], _family(found))


def _family(found: Comparison | Measured) -> str:
    """Name the family that p is adjusted over."""
    over = FAMILIES[found.options.family]
    if found.options.baseline is not None:
        over = over.replace("all pairs of systems", f"all systems against {found.options.baseline}")
    return over


def p_legend(found: Comparison) -> str:
    """State which test p is of, and how it is adjusted."""
    options = found.options
    tests = test_names(options.test, (pair.apart.test for pair in found.pairs))
    family = family_legend([pair.apart for pair in found.pairs], _family(found))
    return f"p: {tests}, {SIDES[options.alternative]}; {family}"


def _shown(found: Comparison, layout: Layout) -> str:
    """How many of the comparisons that p is adjusted over are shown, where these are not all."""
    if layout == "pairs" or found.options.baseline is not None:
        return ""
    shown = sum(
        len(_beside(found, own, [pair for pair in found.pairs if (pair.corpus, pair.protocol) == key])[1])
        for key, standings in _by_corpus(found).items()
        for own in _by_metric(standings).values()
    )
    top = "best" if _has_best(found) else "first system of each metric"
    return f"; the {shown:,} differences to the {top} are shown"


def _has_best(found: Comparison) -> bool:
    """Whether each metric on each corpus has a best system."""
    with_best = {(each.corpus, each.protocol, each.request) for each in found.standings if each.best}
    return all((each.corpus, each.protocol, each.request) in with_best for each in found.standings)


def _more(found: Comparison, layout: Layout) -> Iterator[str]:
    """Where the rest is."""
    pairs = "" if found.options.baseline is not None else " --all-pairs,"
    if layout == "rows":
        yield f"p before it is adjusted, d_z and what could have been detected:{pairs} -f csv or json."
    elif layout == "overview":
        yield f"Intervals and p: fewer metrics (-m),{pairs} -f csv or json."


def _bounds(found: Comparison) -> Iterator[str]:
    """Explain "≈" before a p, where there is one."""
    if layout_of(found) != "overview" and any(
        pair.apart.approximate or pair.apart.adjusted_approximate for pair in found.pairs
    ):
        yield APPROXIMATE


def metric_name(each: Standing | Pair | Ranking | DiscriminativePower, several: Collection[Request] = ()) -> str:
    """Name a metric with its options and subset, and with its average if it is one of `several`."""
    request = each.request
    options = "".join(f",{name}={value}" for name, value in request.options)
    average = f" {request.average}" if request in several else ""
    return f"{request.label} {request.subset}{options}{average}"


def several_averages(requests: Collection[Request]) -> list[Request]:
    """Return the requests that differ from another one in their average alone."""
    counts = Counter(replace(request, average=None) for request in requests)
    return [request for request in requests if counts[replace(request, average=None)] > 1]


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
    p = _number(pair.apart.adjusted)
    return "" if p is None else next((marks for marks, most in STARS.items() if p <= most), "")


def ranking_title(ranking: Ranking, several: Collection[Request] = ()) -> str:
    """State what the ranks over all corpora are of, and what comes of them."""
    name, corpora = metric_name(ranking, several), ranking.friedman.corpora
    over = f"{name}, protocol {ranking.protocol}, mean ranks over {corpora} corpora"
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
