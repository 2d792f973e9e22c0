"""The tables of a comparison: systems with their intervals and letters, pairs with their tests, ranks over corpora."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any

from karat.analyses.compare import NAMES, OVER_SEEDS, Comparison, Pair, Ranking, Standing
from karat.errors import counted
from karat.stats.effects import POWER
from karat.stats.rank_sums import SAMPLES
from karat.table import (
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
    families: dict[tuple[str, str], list[Standing]] = {}
    for each in found.standings:
        families.setdefault((each.corpus, each.protocol), []).append(each)
    for (corpus, protocol), standings in families.items():
        title = f"{corpus}, {found.documents[corpus]:,} documents, protocol {protocol}"
        averages = ", ".join(dict.fromkeys(each.request.average or "" for each in standings))
        about = f"{title}; average: {averages}. {p_legend(found)}."
        yield _system_table(found, standings, title, f"average: {averages}", about)
        own = [pair for pair in found.pairs if (pair.corpus, pair.protocol) == (corpus, protocol)]
        yield _pair_table(found, own, f"Differences on {about}")
    for ranking in found.rankings:
        yield _ranking_table(ranking)
    yield Table(notes=[*_legend(found), f"{p_legend(found)}.", *_bounds(found), *_reached(found)])


def _system_table(found: Comparison, standings: Sequence[Standing], title: str, note: str, caption: str) -> Table:
    """A row a system: its values with intervals and letters."""
    cells = {(each.system, metric_name(each)): _standing_cell(found, each) for each in standings}
    metrics = dict.fromkeys(metric_name(each) for each in standings)
    systems = dict.fromkeys(each.system for each in standings)
    rows = rows_of((system, [cells.get((system, metric)) for metric in metrics]) for system in systems)
    columns = [Column(metric, NUMBER) for metric in metrics]
    return Table(title, "system", columns, rows, notes=[note], caption=caption)


def _standing_cell(found: Comparison, each: Standing) -> Cell:
    sd = f" ± {number(each.sd)}" if each.seeds > 1 else ""
    letters = (" ", Marked(each.letters, "raised")) if each.letters else ()
    return Cell(
        each.value, (sd, with_ends(each.interval), *letters), *(("bold", _best_mark(found)) if each.best else ())
    )


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
    return f"{least:,} documents" if least == most else f"{least:,} to {most:,} documents"


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
    yield Marked("best", "bold", _best_mark(found)), f"; in brackets {level} intervals ({intervals_by(found)})."
    if options.stars:
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


def intervals_by(found: Comparison, of: str = "") -> str:
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


def _bounds(found: Comparison) -> Iterator[str]:
    """What "≤" before a p says, where there is one."""
    if any(pair.used(found.options.test) in pair.at_floor | pair.adjusted_at_floor for pair in found.pairs):
        yield BOUND


def metric_name(each: Standing | Pair | Ranking) -> str:
    """A metric with its options and subset."""
    request = each.request
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label} {request.subset}{options}"


def _best_mark(found: Comparison) -> str:
    """What marks the best system where nothing can be bold: no star where stars mark significance."""
    return "†" if found.options.stars else "*"


def _number(value: Any) -> float | None:
    """A number that is defined."""
    return None if value is None or isinstance(value, bool) or value != value else float(value)


def stars(found: Comparison, pair: Pair) -> str:
    """The stars of a difference, if the options have stars."""
    p = _number(pair.adjusted.get(pair.used(found.options.test)))
    if not found.options.stars or p is None:
        return ""
    return next((marks for marks, most in STARS.items() if p <= most), "")


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
