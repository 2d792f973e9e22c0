"""A comparison as text: systems with their intervals and letters, pairs with their tests, ranks over corpora."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from karat.comparing import NAMES, OVER_SEEDS, Comparison, Pair, Ranking, Standing
from karat.report.audits import signed
from karat.report.grids import Row, grid, paragraphs
from karat.report.markup import Grid, Heading, Marked, Part, Words, bold, noted
from karat.report.papers import Printed
from karat.report.tables import number, wrap

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
    "test",
)
WHERE = {"bootstrap": "where that does not apply", OVER_SEEDS: "where a system has several seeds"}
PAIR_COLUMNS = ["difference", "p", "adjusted", "d_z"]
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "none"}


# ---------------------------------------------------------------------------------------------- words


def heading(found: Comparison, corpus: str, protocol: str) -> str:
    """What a table is of."""
    return f"{corpus}, {found.documents[corpus]:,} documents, protocol {protocol}"


def legend(found: Comparison, best: str = "* best") -> Iterator[str]:
    """What marks, letters and brackets are."""
    options = found.options
    yield f"{best}; in brackets {100 * options.level:.4g} % intervals ({intervals_by(found)})."
    if any(each.letters for each in found.standings):
        yield f"Systems without a letter in common differ: adjusted p at most {options.alpha:g}."
    yield from with_seeds(found)


def with_seeds(found: Comparison) -> Iterator[str]:
    """What stands behind ±, where a system has several seeds."""
    if any(each.seeds > 1 for each in found.standings):
        yield "± is the standard deviation over a system's seeds."


def intervals_by(found: Comparison, of: str = "") -> str:
    """What intervals are made by: resamples, or where there are several seeds t over these and documents."""
    options = found.options
    how = {OVER_SEEDS: NAMES[OVER_SEEDS]}
    how[options.interval] = f"{options.interval}, {options.resamples:,} resamples{of}, seed {options.seed}"
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


def tested(found: Comparison) -> str:
    """Which test p is of, and how it is adjusted."""
    options = found.options
    count = f"{len(found.pairs):,} comparison{'s' if len(found.pairs) > 1 else ''}"
    over = f"adjusted over {count} ({CORRECTIONS[options.correction]})"
    tests = by_tests(options.test, (pair.used(options.test) for pair in found.pairs))
    return f"p: {tests}, two-sided; {over}"


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
    return f"{number(each.value)}{sd}{'*' if each.best else ''}"


def _interval(ends: tuple[float, float]) -> str:
    return "" if ends[0] != ends[0] else f"[{', '.join(_short(end) for end in ends)}]"


def _short(value: float) -> str:
    """A number with three decimals, without the zero before the point."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _p(value: float | None) -> str:
    return "–" if value is None or value != value else "<.0001" if value < 0.0001 else number(value)


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


def pair_rows(found: Comparison, pairs: Sequence[Pair]) -> list[Row]:
    """Below each metric a row a pair: the difference with its interval, p, adjusted p, effect size, documents."""
    rows: list[Row] = []
    for metric in dict.fromkeys(map(metric_name, pairs)):
        own = [pair for pair in pairs if metric_name(pair) == metric]
        rows.append((f"{metric}, {_documents(own)}", [""] * len(PAIR_COLUMNS)))
        rows += [(f"  {p.a} − {p.b}", _pair_cells(found, p)) for p in own]
    return rows


def _documents(pairs: Sequence[Pair]) -> str:
    """On how many documents systems are compared."""
    least, most = min(pair.n for pair in pairs), max(pair.n for pair in pairs)
    return f"{least:,} documents" if least == most else f"{least:,} to {most:,} documents"


def _pair_cells(found: Comparison, pair: Pair) -> list[str]:
    used = pair.used(found.options.test)
    difference = signed(pair.difference) if pair.difference == pair.difference else "–"
    return [
        f"{difference} {_interval(pair.interval)}".strip(),
        _p(pair.tests.get(used)),
        _p(pair.adjusted.get(used)),
        _effect(pair.effect.get("d_z")),
    ]


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
    f = ranking.friedman
    return (
        f"{metric_name(ranking)}, protocol {ranking.protocol}, mean ranks over {f.corpora} corpora: Friedman p "
        f"{_p(f.p)} (Iman-Davenport {_p(f.f_p)}); ranks within {ranking.critical:.2f} (Nemenyi) share a bar"
    )


# ---------------------------------------------------------------------------------------------- formats


def terminal(found: Comparison) -> str:
    """The tables, at most 80 columns wide."""
    parts: list[str] = []
    for (corpus, protocol), standings in _families(found).items():
        parts.append("\n".join(wrap(heading(found, corpus, protocol), "  ")))
        parts += grid("system", *system_table(standings, lambda e: f"{_value(e)} {e.letters}".strip()))
        parts += grid("interval", *system_table(standings, lambda e: _interval(e.interval)))
        parts.append(f"average: {averages(standings)}")
        own = [pair for pair in found.pairs if (pair.corpus, pair.protocol) == (corpus, protocol)]
        parts += grid("a − b", PAIR_COLUMNS, pair_rows(found, own))
    for ranking in found.rankings:
        parts.append("\n".join(wrap(ranking_title(ranking), "  ")))
        parts += grid("system", ["rank", "alike"], ranking_rows(ranking))
    parts.append(paragraphs([*legend(found), tested(found) + "."]))
    if found.notes:
        parts.append(paragraphs(f"note: {note}" for note in found.notes))
    return "\n\n".join(parts) + "\n"


def parts(found: Comparison) -> Iterator[Part]:
    """Tables, the best in bold."""
    for (corpus, protocol), standings in _families(found).items():
        yield Heading(heading(found, corpus, protocol))
        yield Grid("system", *system_table(standings, _with_interval))
        yield f"Average: {averages(standings)}."
        own = [pair for pair in found.pairs if (pair.corpus, pair.protocol) == (corpus, protocol)]
        yield Grid("a − b", PAIR_COLUMNS, pair_rows(found, own))
    for ranking in found.rankings:
        yield ranking_title(ranking)
        yield Grid("system", ["rank", "alike"], ranking_rows(ranking))
    yield " ".join(legend(found, "Bold: best"))
    yield tested(found) + "."
    yield from noted(found.notes)


def _with_interval(each: Standing) -> Words:
    value = _value(each).removesuffix("*")
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
            "d_z": row["effect"].get("d_z"),
            "superiority": row["effect"].get("superiority"),
            "test": used,
        }
