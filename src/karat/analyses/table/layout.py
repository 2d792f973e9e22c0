"""How the table of a paper is laid out: its columns and rows, what stands below it, and its rows for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from karat.analyses.compare.families import without_seed
from karat.analyses.compare.tables import SIDES, family_words, intervals_by, p_name
from karat.analyses.table.columns import APART, WORSE
from karat.analyses.table.result import MeanRanks, PaperTable, Value
from karat.citations import short_signatures
from karat.errors import counted
from karat.metrics.base import Request
from karat.results import Results, Tally, corpus_of
from karat.stats.difference import test_names
from karat.tabular import Cell, Column, Group, Kind, Marked, Row, Table, Words, fixed, number

BEST, SECOND = "*", "°"  # what marks the best and the second one where nothing can be bold or underlined
STYLES: tuple[tuple[str, str], ...] = (("bold", BEST), ("underlined", SECOND))
RANK = Kind(fixed(2), hang=True)


# ---------------------------------------------------------------------------------------------- tables


def tables_of(found: PaperTable) -> Iterator[Table]:
    """A table for each protocol."""
    for protocol in dict.fromkeys(value.table for value in found.values):
        values = [value for value in found.values if value.table == protocol]
        ranks = next((each for each in found.ranks if each.protocol == protocol), None)
        yield _table(found, protocol, values, ranks)


def _table(found: PaperTable, protocol: str, values: Sequence[Value], ranks: MeanRanks | None) -> Table:
    places = _columns(found, values)
    cells = {(value.system, value.corpus, value.request): _cell(found, value) for value in values}
    averages = list(dict.fromkeys(value.request.average or "" for value in values))
    columns = [_column(found, corpus, request, len(averages) > 1) for corpus, request in places]
    own = {value.system for value in values}
    groups = [
        Group(
            [Row(found.names.systems[name], [cells.get((name, *place)) for place in places]) for name in members],
            name,
        )
        for name, all_members in found.names.groups.items()
        if (members := [member for member in all_members if member in own])
    ]
    if ranks is not None:
        columns = [*columns, Column("rank", RANK, above=("", ""), better="lower")]
        groups = [_with_ranks(found, group, ranks) for group in groups]
    average = f"; average {averages[0]}" if len(averages) == 1 else ""
    percent = ", in percent" if found.options.percent else ""
    title = f"{counted(len(own), 'system')} under the protocol {protocol}{average}{percent}"
    notes = [*_legend(found, values, ranks), *_facts(found, values)]
    caption = " ".join(map(_sentence, [title, *notes]))
    return Table(title, "system", columns, groups, notes=notes, caption=caption, shrink=True)


def _sentence(words: Words) -> str:
    """A sentence of a caption: where styles are seen, marks are not needed."""
    text = words if isinstance(words, str) else "".join(w if isinstance(w, str) else w.before + w.text for w in words)
    text = f"{text[:1].upper()}{text[1:]}"
    return text if text.endswith(".") else f"{text}."


def _columns(found: PaperTable, values: Sequence[Value]) -> list[tuple[str, Request]]:
    """(corpus, metric) of each column: by corpus, then by subset."""
    requests = list(dict.fromkeys(value.request for value in values))
    subsets = list(dict.fromkeys(request.subset for request in requests))
    ordered = sorted(requests, key=lambda request: subsets.index(request.subset))
    there = {(value.corpus, value.request) for value in values}
    return [(corpus, request) for corpus in found.names.corpora for request in ordered if (corpus, request) in there]


def _column(found: PaperTable, corpus: str, request: Request, several: bool) -> Column:
    options = "".join(f",{name}={value}" for name, value in request.options)
    down = " ↓" if request.spec.better == "lower" else ""
    return Column(
        f"{request.label}{options}{down}",
        Kind(lambda value: _written(found, request, value), hang=True),
        above=(found.names.corpora[corpus], request.subset),
        below=request.average or "" if several else "",
        better=request.spec.better,
    )


def _written(found: PaperTable, request: Request, value: float, fewer: int = 0) -> str:
    """A value in percent or as a fraction; what is no share stays as it is."""
    share = request.spec.bounds == (0.0, 1.0)
    if found.options.percent and not isnan(value):
        digits = 1 if found.options.digits is None else found.options.digits
        return f"{100 * value:.{digits}f}" if share else number(value, max(digits, 2))
    digits = 4 if found.options.digits is None else found.options.digits
    return number(value, max(digits - fewer, 1) if fewer else digits)


def _cell(found: PaperTable, value: Value) -> Cell:
    style, mark = ("bold", BEST) if value.best else ("underlined", SECOND) if value.second else (None, "")
    ends = ""
    if value.interval is not None and not any(map(isnan, value.interval)):
        ends = f" [{', '.join(_written(found, value.request, end, fewer=1) for end in value.interval)}]"
    raised = (Marked(value.mark, "raised"),) if value.mark else ()
    return Cell(value.value, (*raised, *((ends,) if ends else ())), style, mark)  # type: ignore[arg-type]


def _with_ranks(found: PaperTable, group: Group, ranks: MeanRanks) -> Group:
    """The rows of a group with the mean rank of each system."""
    systems = {called: name for name, called in found.names.systems.items()}
    best, second = _best_ranks(ranks)
    rows = []
    for row in group.rows:
        name = systems[row.name]
        style, mark = ("bold", BEST) if name in best else ("underlined", SECOND) if name in second else (None, "")
        rows.append(Row(row.name, [*row.cells, Cell(ranks.ranks.get(name), "", style, mark)]))  # type: ignore[arg-type]
    return Group(rows, group.name)


def _best_ranks(ranks: MeanRanks) -> tuple[list[str], list[str]]:
    """(the systems with the best mean rank, those with the next one)."""
    levels = sorted({round(rank, 9) for rank in ranks.ranks.values()})
    at = [[name for name, rank in ranks.ranks.items() if round(rank, 9) == level] for level in levels[:2]]
    return at[0], at[1] if len(at) > 1 else []


# ---------------------------------------------------------------------------------------------- below a table


def _legend(found: PaperTable, values: Sequence[Value], ranks: MeanRanks | None) -> Iterator[Words]:
    """What styles, marks, brackets and ranks are."""
    if any(value.best for value in values):
        best, second = Marked("bold", "bold", BEST), Marked("underlined", "underlined", SECOND)
        yield best, " is the best value of a column, ", second, " the second one"
    yield from _about_marks(found, values)
    if found.options.intervals and found.measured is not None:
        how = intervals_by(found.measured, differences=False)
        yield f"in brackets {100 * found.options.level:.4g} % intervals ({how})"
    if ranks is not None:
        which = f"all {ranks.columns} columns"
        if len(ranks.corpora) < len(found.names.corpora):
            named = ", ".join(found.names.corpora[name] for name in ranks.corpora)
            which = f"the {ranks.columns} columns of the corpora that all systems have ({named})"
        unranked = [called for name, called in found.names.systems.items() if name not in ranks.ranks]
        left_out = f"; {', '.join(unranked)}: no rank, since a corpus lacks a run" if unranked else ""
        yield f"rank is the mean rank over {which}; ties share their rank{left_out}"


def _about_marks(found: PaperTable, values: Sequence[Value]) -> Iterator[str]:
    """Which values differ significantly from which, and by what."""
    tested = [value for value in values if value.p is not None]
    if found.measured is None or not tested:
        return
    options = found.measured.options
    tests = test_names(options.test, (value.test for value in tested if value.test is not None))
    if options.baseline is None:
        what = f"{APART} differs significantly from the best of its column"
    else:
        name = found.names.systems[options.baseline]
        what = f"{APART} is significantly better than {name}, {WORSE} significantly worse"
    p = f"{p_name(found.measured)} at most {number(options.alpha).rstrip('0')}"
    yield f"{what} ({tests}, {SIDES['two-sided']}; {p}, {family_words(found.measured)})"


def _facts(found: PaperTable, values: Sequence[Value]) -> Iterator[str]:
    """How many documents there are, and the short signatures."""
    corpora = [name for name in found.names.corpora if any(value.corpus == name for value in values)]
    counts = {name: (found.common[name], found.documents[name]) for name in corpora}
    yield "documents: " + ", ".join(
        f"{found.names.corpora[name]} {used:,}{f' of {total:,}' if used < total else ''}"
        for name, (used, total) in counts.items()
    )
    protocols = {value.corpus: value.protocol for value in values}
    signatures = [(found.names.corpora[name], _signature(found, protocols[name], name)) for name in corpora]
    yield f"signature: {short_signatures(signatures)}"


def _signature(found: PaperTable, protocol: str, corpus: str) -> str:
    return found.signatures.get(f"{protocol} on {corpus}") or found.signatures[protocol]


# ---------------------------------------------------------------------------------------------- notes


def notes_on(found: PaperTable, results: Sequence[Results], ranks: Sequence[MeanRanks]) -> Iterator[str]:
    """What a reader should know: runs that are missing, what is not ranked or tested, what was dropped."""
    yield from _missing(found)
    for each in ranks:
        under = f" under {each.protocol}" if len(ranks) > 1 else ""
        if not each.corpora:
            yield f"no corpus has a run of every system{under}, so there are no mean ranks"
        elif not each.columns:
            yield f"no column has a rank for every system{under}, so there are no mean ranks"
    yield from _untested(found)
    yield from _undefined(found)
    several = len(found.names.corpora) > 1
    remarks: dict[str, list[str]] = {}
    for part in results:
        own = [note for tally in part.tallies for note in tally.notes() if "dropped" not in note]
        for remark in (*part.remarks, *own):
            remarks.setdefault(remark, []).append(found.names.corpora[corpus_of(part)])
    yield from (_of_corpora(remark, corpora) if several else remark for remark, corpora in remarks.items())
    yield from _dropped(found, results)
    if found.measured is not None:
        yield from found.measured.notes()


def _of_corpora(remark: str, corpora: Sequence[str]) -> str:
    """A remark with the corpora that it is on."""
    if all(name in remark for name in corpora):
        return remark
    warning = "warning: " if remark.startswith("warning: ") else ""
    return f"{warning}{', '.join(dict.fromkeys(corpora))}: {remark.removeprefix(warning)}"


def _missing(found: PaperTable) -> Iterator[str]:
    """Which systems have no run on which corpora."""
    for protocol in dict.fromkeys(value.table for value in found.values):
        there = {(value.system, value.corpus) for value in found.values if value.table == protocol}
        lacking: dict[tuple[str, ...], list[str]] = {}
        scored = [name for name in found.names.corpora if any(name == corpus for _, corpus in there)]
        for system in found.names.systems:
            without = tuple(name for name in scored if (system, name) not in there)
            if without and any(system == one for one, _ in there):
                lacking.setdefault(without, []).append(system)
        for corpora, systems in lacking.items():
            has = "has" if len(systems) == 1 else "have"
            called = [found.names.systems[name] for name in systems]
            where = ", ".join(found.names.corpora[name] for name in corpora)
            yield f"{', '.join(called)} {has} no run on {where}: these cells are empty"
        unscored = [name for name in found.names.corpora if name not in scored]
        if unscored:
            where = ", ".join(found.names.corpora[name] for name in unscored)
            yield f"there is no score under {protocol} on {where}"


def _untested(found: PaperTable) -> Iterator[str]:
    """On which corpora nothing was tested, since the baseline is not there."""
    baseline = found.options.baseline
    if baseline is not None:
        there = {value.corpus for value in found.values if value.system == baseline}
        without = [name for name in found.names.corpora if name not in there]
        if without:
            where = ", ".join(found.names.corpora[name] for name in without)
            yield f"{found.names.systems[baseline]}, the baseline, has no run on {where}: nothing is tested there"


def _undefined(found: PaperTable) -> Iterator[str]:
    """How many documents the values of each subset leave out."""
    left_out: dict[str, dict[str, int]] = {}
    for value in found.values:
        if value.undefined:
            own = left_out.setdefault(found.names.corpora[value.corpus], {})
            own[value.request.subset] = max(own.get(value.request.subset, 0), value.undefined)
    if left_out:
        each = (f"{name} {', '.join(f'{s} {n:,}' for s, n in subsets.items())}" for name, subsets in left_out.items())
        yield f"documents left out, undefined: {'; '.join(each)}"


def _dropped(found: PaperTable, results: Sequence[Results]) -> Iterator[str]:
    """How much of the runs was dropped, and most of which."""
    tallies = [(corpus_of(part), tally) for part in results for tally in part.tallies]
    shares = [(_share(tally), tally.system, corpus) for corpus, tally in tallies if _share(tally)]
    if shares:
        most, system, corpus = max(shares)
        yield (
            f"invalid and repeated predictions are dropped in {len(shares)} of {len(tallies)} scorings, at most "
            f"{100 * most:.1f} % of a run ({_called(found, system)} on {found.names.corpora[corpus]}); karat score "
            "says how many of each"
        )


def _called(found: PaperTable, run: str) -> str:
    """What the system of a run is called in the table."""
    return found.names.systems.get(without_seed(run), run)


def _share(tally: Tally) -> float:
    return (tally.invalid + tally.repeated) / tally.predictions if tally.predictions else 0.0


# ---------------------------------------------------------------------------------------------- for programs


def rows_of_values(found: PaperTable) -> list[dict[str, Any]]:
    """One dict for each system, corpus and metric, also where a run is missing."""
    groups = {name: group for group, members in found.names.groups.items() for name in members}
    rows = []
    for protocol in dict.fromkeys(value.table for value in found.values):
        own = [value for value in found.values if value.table == protocol]
        cells = {(value.system, value.corpus, value.request): value for value in own}
        systems = [name for name in found.names.systems if any(value.system == name for value in own)]
        protocols = {value.corpus: value.protocol for value in own}
        for system in systems:
            for corpus, request in _columns(found, own):
                about = {
                    "corpus": corpus,
                    "corpus_name": found.names.corpora[corpus],
                    "protocol": protocols[corpus],
                    "group": groups[system],
                    "system": system,
                    "system_name": found.names.systems[system],
                }
                rows.append(about | _row(request, cells.get((system, corpus, request))))
    return rows


def _row(request: Request, value: Value | None) -> dict[str, Any]:
    low, high = value.interval if value is not None and value.interval is not None else (None, None)
    return {
        "metric": request.label,
        "options": dict(request.options),
        "subset": request.subset,
        "average": request.average,
        "missing": value is None,
        "value": None if value is None else _or_none(value.value),
        "low": _or_none(low),
        "high": _or_none(high),
        "seeds": None if value is None else value.seeds,
        "documents": None if value is None else value.documents,
        "undefined": None if value is None else value.undefined,
        "rank": None if value is None else value.rank,
        "best": value is not None and value.best,
        "second": value is not None and value.second,
        "against": [] if value is None else list(value.against),
        "test": None if value is None else value.test,
        "p": None if value is None else _or_none(value.p),
        "p_adjusted": None if value is None else _or_none(value.p_adjusted),
        "p_approximate": value is not None and value.p_approximate,
        "mark": "" if value is None else value.mark,
    }


def _or_none(value: float | None) -> float | None:
    return None if value is None or isnan(value) else value


def tests_of(found: PaperTable) -> Mapping[str, Any] | None:
    """How the differences were tested and the intervals made; None where neither was."""
    if found.measured is None:
        return None
    options = found.measured.options
    return {
        "baseline": options.baseline,
        "test": options.test if found.options.significance else None,
        "alpha": options.alpha,
        "correction": options.correction,
        "family": options.family,
        "comparisons": len(found.measured.pairs),
        "resamples": options.drawn,
        "seed": options.seed,
        "level": options.level,
        "interval": options.interval,
    }
