"""A comparison as text: systems with their intervals and letters, pairs with their tests, ranks over corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import inf
from typing import Any

from karat.analyses.compare import NAMES, OVER_SEEDS, Comparison, Pair, Ranking, Standing
from karat.output.grids import Row, grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Marked, Part, Words, bold, noted
from karat.output.papers import Printed
from karat.stats.effects import POWER
from karat.stats.rank_sums import SAMPLES
from karat.table import BOUND, number, p_value, signed

CSV_FIELDS = (
    "corpus",
    "protocol",
    "a",
    "b",
    "metric",
    "options",
    "subset",
    "average",
    "value_a",
    "value_b",
    "difference",
    "low",
    "high",
    "p",
    "p_adjusted",
    "d_z",
    "superiority",
    "n",
    "p_at_floor",
    "p_adjusted_at_floor",
    "stars",
    "detectable",
    "documents_needed",
    "documents_defined",
    "test",
)
WHERE = {"bootstrap": "where that does not apply", OVER_SEEDS: "where a system has several seeds"}
PAIR_COLUMNS = ["difference", "p", "adjusted", "d_z"]
REACH_COLUMNS = ["detectable", "needed"]
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
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "none"}


# ---------------------------------------------------------------------------------------------- words


def heading(found: Comparison, corpus: str, protocol: str) -> str:
    """What a table is of."""
    return f"{corpus}, {found.documents[corpus]:,} documents, protocol {protocol}"


def legend(found: Comparison, best: str | None = None) -> Iterator[str]:
    """What marks, letters and brackets are."""
    options = found.options
    level = f"{100 * options.level:.4g} %"
    yield f"{best or f'{_best_mark(found)} best'}; in brackets {level} intervals ({intervals_by(found)})."
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


def by_tests(asked: str, used: Iterable[str | None]) -> str:
    """The names of the tests that were used, each but the first with where it stands in for the one asked for.

    >>> by_tests("t", ["two_level_t", "t", "two_level_t"])
    'paired t, and where a system has several seeds two-level t over seeds and documents'
    """
    there = set(used)
    first, *others = (name for name in dict.fromkeys((asked, *WHERE)) if name in there)
    return NAMES[first] + "".join(f", and {WHERE[name]} {NAMES[name]}" for name in others)


def stars_legend() -> str:
    """What stars are."""
    marks = ", ".join(f"{stars} at most {number(most).rstrip('0')}" for stars, most in reversed(STARS.items()))
    return f"Stars are of adjusted p: {marks}."


def _best_mark(found: Comparison) -> str:
    """What marks the best system where nothing can be bold: no star where these are asked for."""
    return "†" if found.options.stars else "*"


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
    count = _counted(pair.effect["documents_defined"])
    could = f"With {_power()} power a difference of {number(least)} could have been found on these {count}{alone}"
    if needed is None:
        return f"{could}."
    if needed == inf:
        return f"{could}; a difference of 0 takes endlessly many."
    of_corpus = _number(pair.effect.get("documents_needed_of_corpus"))
    more = "" if of_corpus in (None, needed) else f", {of_corpus:,.0f} with those on which it is undefined"
    return f"{could}; one of {number(abs(pair.difference))}, as found, needs {_counted(needed, 'such ')}{more}."


def _counted(count: Any, kind: str = "") -> str:
    return f"{count:,.0f} {kind}document{'' if count == 1 else 's'}"


def _reached(found: Comparison) -> Iterator[str]:
    """What two columns of differences are, on the example of the first one."""
    for pair in found.pairs:
        words = reach(found, pair)
        if words is not None:
            yield f"detectable, needed ({metric_name(pair)}, {pair.a} − {pair.b}): {words[:1].lower()}{words[1:]}"
            return


def tested(found: Comparison) -> str:
    """Which test p is of, and how it is adjusted."""
    options = found.options
    count = f"{len(found.pairs):,} comparison{'s' if len(found.pairs) > 1 else ''}"
    over = f"adjusted over {count} ({CORRECTIONS[options.correction]})"
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


def averages(standings: Sequence[Standing]) -> str:
    """The averages of a table, said once."""
    return ", ".join(dict.fromkeys(each.request.average or "" for each in standings))


# ---------------------------------------------------------------------------------------------- cells


def _value(each: Standing) -> str:
    sd = f" ± {number(each.sd)}" if each.seeds > 1 else ""
    return f"{number(each.value)}{sd}"


def _interval(ends: tuple[float, float]) -> str:
    return "" if ends[0] != ends[0] else f"[{', '.join(_short(end) for end in ends)}]"


def _short(value: float) -> str:
    """A number with three decimals, without the zero before the point."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _number(value: Any) -> float | None:
    """A number that is defined."""
    return None if value is None or isinstance(value, bool) or value != value else float(value)


def stars(found: Comparison, pair: Pair) -> str:
    """The stars of a difference, where they are asked for."""
    p = _number(pair.adjusted.get(pair.used(found.options.test)))
    if not found.options.stars or p is None:
        return ""
    return next((marks for marks, most in STARS.items() if p <= most), "")


def _families(found: Comparison) -> dict[tuple[str, str], list[Standing]]:
    families: dict[tuple[str, str], list[Standing]] = {}
    for each in found.standings:
        families.setdefault((each.corpus, each.protocol), []).append(each)
    return families


def system_table(standings: Sequence[Standing], cell: Any) -> tuple[list[str], list[Row]]:
    """(metrics, a row a system)."""
    metrics = list(dict.fromkeys(metric_name(each) for each in standings))
    cells = {(each.system, metric_name(each)): cell(each) for each in standings}
    systems = dict.fromkeys(each.system for each in standings)
    return metrics, [(system, [cells.get((system, metric), "") for metric in metrics]) for system in systems]


def pair_rows(pairs: Sequence[Pair], cells: Callable[[Pair], list[str]]) -> list[Row]:
    """Below each metric, with its documents, a row a pair."""
    rows: list[Row] = []
    for metric in dict.fromkeys(map(metric_name, pairs)):
        own = [pair for pair in pairs if metric_name(pair) == metric]
        rows.append((f"{metric}, {_documents(own)}", [""] * len(cells(own[0]))))
        rows += [(f"  {pair.a} − {pair.b}", cells(pair)) for pair in own]
    return rows


def _documents(pairs: Sequence[Pair]) -> str:
    """On how many documents systems are compared."""
    least, most = min(pair.n for pair in pairs), max(pair.n for pair in pairs)
    return f"{least:,} documents" if least == most else f"{least:,} to {most:,} documents"


def _pair_cells(found: Comparison, pair: Pair) -> list[str]:
    """The difference with its interval, p, adjusted p and effect size."""
    used = pair.used(found.options.test)
    difference = signed(pair.difference) if pair.difference == pair.difference else "–"
    return [
        f"{difference}{stars(found, pair)} {_interval(pair.interval)}".strip(),
        p_value(pair.tests.get(used), used in pair.at_floor),
        p_value(pair.adjusted.get(used), used in pair.adjusted_at_floor),
        _effect(pair.effect.get("d_z")),
    ]


def _reach_cells(pair: Pair) -> list[str]:
    """The difference that could have been found, and how many documents the one that was found takes."""
    least = _number(pair.effect.get("detectable"))
    return ["–" if least is None else number(least), needed_text(pair.effect.get("documents_needed"))]


def _all_cells(found: Comparison, pair: Pair) -> list[str]:
    return [*_pair_cells(found, pair), *_reach_cells(pair)]


def needed_text(value: Any) -> str:
    """A number of documents; none finds a difference of 0."""
    needed = _number(value)
    return "–" if needed is None or needed == inf else f"{needed:,.0f}"


def _effect(value: Any) -> str:
    return "–" if value is None or value != value else f"{value:.2f}"


def ranking_rows(ranking: Ranking) -> list[Row]:
    """A row a system, the best first: its mean rank, and which bars of the critical-difference diagram it is under."""
    order = sorted(range(len(ranking.systems)), key=lambda i: float(ranking.friedman.ranks[i]))
    rows: list[Row] = []
    for i in order:
        system = ranking.systems[i]
        bars = "".join("|" if system in clique else " " for clique in ranking.cliques)
        rows.append((system, [f"{ranking.friedman.ranks[i]:.2f}", bars or " "]))
    return rows


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


# ---------------------------------------------------------------------------------------------- formats


def terminal(found: Comparison) -> str:
    """The tables, at most 80 columns wide."""
    parts: list[str] = []
    for (corpus, protocol), standings in _families(found).items():
        parts.append("\n".join(wrap(heading(found, corpus, protocol), "  ")))
        parts += grid("system", *system_table(standings, partial(_plain, _best_mark(found))))
        parts += grid("interval", *system_table(standings, lambda e: _interval(e.interval)))
        parts.append(f"average: {averages(standings)}")
        own = [pair for pair in found.pairs if (pair.corpus, pair.protocol) == (corpus, protocol)]
        parts += grid("a − b", PAIR_COLUMNS, pair_rows(own, partial(_pair_cells, found)))
        parts += grid(f"a − b, {_power()} power", REACH_COLUMNS, pair_rows(own, _reach_cells))
    for ranking in found.rankings:
        parts.append("\n".join(wrap(ranking_title(ranking), "  ")))
        parts += grid("system", ["rank", "alike"], ranking_rows(ranking))
    parts.append(paragraphs([*legend(found), tested(found) + ".", *_bounds(found), *_reached(found)]))
    if found.notes:
        parts.append(paragraphs(f"note: {note}" for note in found.notes))
    return "\n\n".join(parts) + "\n"


def _plain(best: str, each: Standing) -> str:
    return f"{_value(each)}{best if each.best else ''} {each.letters}".strip()


def parts(found: Comparison) -> Iterator[Part]:
    """Tables, the best in bold."""
    for (corpus, protocol), standings in _families(found).items():
        yield Heading(heading(found, corpus, protocol))
        yield Grid("system", *system_table(standings, _with_interval))
        yield f"Average: {averages(standings)}."
        own = [pair for pair in found.pairs if (pair.corpus, pair.protocol) == (corpus, protocol)]
        yield Grid("a − b", [*PAIR_COLUMNS, *REACH_COLUMNS], pair_rows(own, partial(_all_cells, found)))
    for ranking in found.rankings:
        yield ranking_title(ranking)
        yield Grid("system", ["rank", "alike"], ranking_rows(ranking))
    yield " ".join(legend(found, "Bold: best"))
    yield " ".join([tested(found) + ".", *_bounds(found)])
    yield from _reached(found)
    yield from noted(found.notes)


def _with_interval(each: Standing) -> Words:
    value = _value(each)
    beside = f" {_interval(each.interval)} {each.letters}".rstrip()
    return (bold(value) if each.best else value, beside)


def printed(found: Comparison) -> Iterator[Printed]:
    """A table for each corpus and protocol, the best in bold, letters raised."""
    for (corpus, protocol), standings in _families(found).items():
        metrics, rows = system_table(standings, _with_letters)
        caption = f"{heading(found, corpus, protocol)}; average: {averages(standings)}. Best in bold. "
        caption += (
            f"Systems without a letter in common differ (alpha {found.options.alpha:g}). "
            if any(each.letters for each in standings)
            else ""
        )
        caption += "± is the standard deviation over seeds. " if any(each.seeds > 1 for each in standings) else ""
        caption += f"P: {tested(found).removeprefix('p: ')}."
        yield Printed(caption, ["system", *metrics], [rows])
        if found.options.stars:
            yield _starred(found, corpus, protocol)


def _starred(found: Comparison, corpus: str, protocol: str) -> Printed:
    """The differences, stars raised."""
    own = [pair for pair in found.pairs if (pair.corpus, pair.protocol) == (corpus, protocol)]
    metrics = list(dict.fromkeys(map(metric_name, own)))
    cells: dict[tuple[str, str], Words] = {}
    for pair in own:
        marks = stars(found, pair)
        raised = (Marked(marks, "raised"),) if marks else ()
        cells[f"{pair.a} − {pair.b}", metric_name(pair)] = (signed(pair.difference), *raised)
    rows = [(pair, [cells.get((pair, each), "") for each in metrics]) for pair in dict.fromkeys(p for p, _ in cells)]
    caption = f"Differences on {heading(found, corpus, protocol)}. {stars_legend()}"
    return Printed(f"{caption} P: {tested(found).removeprefix('p: ')}.", ["a − b", *metrics], [rows])


def _with_letters(each: Standing) -> Words:
    value = number(each.value)
    sd = f" ± {number(each.sd)}" if each.seeds > 1 else ""
    letters = (Marked(each.letters, "raised"),) if each.letters else ()
    return (bold(value) if each.best else value, sd, *letters)


def csv_rows(found: Comparison) -> Iterator[dict[str, Any]]:
    """A row a pair and metric, flat."""
    for pair in found.pairs:
        row = pair.as_dict()
        used = pair.used(found.options.test)
        yield row | {
            "options": ",".join(f"{name}={value}" for name, value in row["options"].items()),
            "low": row["ci"][0],
            "high": row["ci"][1],
            "p": row["tests"].get(used),
            "p_adjusted": row["adjusted"].get(used),
            "p_at_floor": used in pair.at_floor,
            "p_adjusted_at_floor": used in pair.adjusted_at_floor,
            "stars": stars(found, pair),
            **{name: row["effect"].get(name) for name in EFFECTS},
            "test": used,
        }
