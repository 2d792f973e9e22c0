"""A reproduction as text: each figure beside what it was computed to be, then who gives it, and all differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from karat.analyses.reproduce import ALIKE, Candidate, Reproduced, Reproduction
from karat.output.grids import Row, grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Items, Part, noted
from karat.output.papers import Printed
from karat.table import number

CSV_FIELDS = (
    "corpus",
    "system",
    "metric",
    "options",
    "subset",
    "average",
    "reported",
    "digits",
    "recomputed",
    "difference",
    "low",
    "high",
    "inside",
    "cv",
    "candidate",
    "candidate_average",
    "candidate_value",
    "how",
    "candidates",
)
COLUMNS = ["reported", "recomputed", "apart", "interval", "inside", "CV*"]
SHOWN = 6  # candidates of a figure that are named
WHO = "What gives the printed digits"
APART = "Reported and recomputed apart"
ARROWS = "↓ the recomputed value is lower than the report, ↑ higher."


# ---------------------------------------------------------------------------------------------- words


def heading(found: Reproduction, corpus: str) -> str:
    """What a table is of."""
    return f"{corpus}, {found.documents[corpus]:,} documents, protocol {found.protocol}"


def legend(found: Reproduction) -> Iterator[str]:
    """What the columns are."""
    options = found.options
    averages = ", ".join(dict.fromkeys(figure.request.average or "" for figure in found.figures))
    yield f"average: {averages}."
    yield f"apart: {ARROWS}"
    how = f"{options.interval}, {options.resamples:,} resamples of the documents, seed {options.seed}"
    level = f"{100 * options.level:.4g} %"
    yield f"interval: {level}, of the recomputed value ({how}); inside: whether the report lies in it."
    yield "CV*: coefficient of variation of the two for small samples, in percent (Belz and others 2022)."


def tried(found: Reproduction) -> str:
    """How many protocols were tried."""
    plain, counting, matching = found.tried
    return (
        f"{WHO}, of {sum(found.tried):,} protocols tried ({plain:,} as published, {counting:,} with one option of "
        f"counting changed, {matching:,} with one of matching)"
    )


def givers(found: Reproduction) -> Iterator[str]:
    """For each figure the protocols that give it, or the nearest ones."""
    for figure in found.figures:
        where = f"{figure.corpus}, " if len(found.documents) > 1 else ""
        name = f"{where}{figure.system}, {figure_name(found, figure)}"
        yield f"{name}, {as_reported(figure)}: {_named(figure.candidates)}."
    if any(each.protocol.experimental for figure in found.figures for each in figure.candidates[:SHOWN]):
        yield "* experimental: not yet compared with figures of its script."


def _named(candidates: Sequence[Candidate]) -> str:
    """The first candidates, those that give the figure in one way or are nearest together."""
    if not candidates:
        return "nothing was tried"
    parts = []
    for how, group in groupby(candidates[:SHOWN], key=lambda each: each.how):
        names = ", ".join(f"{_candidate(each)} ({number(each.value)})" for each in group)
        parts.append(names if how == "rounded" else f"{_HOW[how]} {names}")
    more = len(candidates) - SHOWN
    return "; ".join(parts) + (f"; and {more:,} more" if more > 0 else "")


_HOW = {"truncated": "cut off, not rounded:", "nearest": "nothing; nearest:"}


def _candidate(each: Candidate) -> str:
    average = f"/{each.average}" if each.other_average else ""
    return f"{each.protocol}{average}{'*' if each.protocol.experimental else ''}"


def figure_name(found: Reproduction, figure: Reproduced) -> str:
    """A metric with its options and subset, and its average where there are several."""
    request = figure.request
    options = "".join(f",{name}={value}" for name, value in request.options)
    several = len({each.request.average for each in found.figures}) > 1
    return f"{request.label} {request.subset}{f' {request.average}' if several else ''}{options}"


def as_reported(figure: Reproduced) -> str:
    """The figure as it was printed, as a share of 1."""
    text = f"{figure.reported:.{figure.digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


# ---------------------------------------------------------------------------------------------- cells


def figure_rows(found: Reproduction, corpus: str) -> list[Row]:
    """Below each system a row a figure."""
    rows: list[Row] = []
    own = [figure for figure in found.figures if figure.corpus == corpus]
    for system in dict.fromkeys(figure.system for figure in own):
        rows.append((system, [""] * len(COLUMNS)))
        rows += [(f"  {figure_name(found, f)}", _cells(f)) for f in own if f.system == system]
    return rows


def _cells(figure: Reproduced) -> list[str]:
    inside = {True: "yes", False: "no", None: "–"}[figure.inside]
    low, high = figure.interval
    ends = "–" if low != low else f"[{number(low)}, {number(high)}]"
    variation = "–" if figure.variation != figure.variation else f"{figure.variation:.2f}"
    return [as_reported(figure), number(figure.recomputed), _apart(figure, percent=False), ends, inside, variation]


def _apart(figure: Reproduced, percent: bool) -> str:
    """How far apart report and recomputed value are: an arrow for where the latter went."""
    apart = figure.difference
    if apart != apart:
        return "–"
    arrow = "" if abs(apart) <= ALIKE else "↓" if apart > 0 else "↑"
    return arrow + (f"{100 * abs(apart):.1f}" if percent else number(abs(apart)))


def differences(found: Reproduction) -> Iterator[tuple[str, list[str], list[Row]]]:
    """(title, columns, rows) for each metric: corpora down, systems and their subsets across; of one corpus nothing."""
    if len(found.documents) < 2:
        return
    for metric in dict.fromkeys(map(_metric, found.figures)):
        own = [figure for figure in found.figures if _metric(figure) == metric]
        columns = sorted(
            dict.fromkeys((figure.system, figure.request.subset) for figure in own),
            key=lambda column: [figure.system for figure in own].index(column[0]),
        )
        cells = {(f.corpus, f.system, f.request.subset): _apart(f, found.options.percent) for f in own}
        corpora = dict.fromkeys(figure.corpus for figure in own)
        rows: list[Row] = [(name, [cells.get((name, *column), "–") for column in columns]) for name in corpora]
        unit = ", in percent" if found.options.percent else ""
        yield f"{APART}: {metric}, protocol {found.protocol}{unit}", [" ".join(c) for c in columns], rows


def _metric(figure: Reproduced) -> str:
    request = figure.request
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label}{options} ({request.average})"


# ---------------------------------------------------------------------------------------------- formats


def terminal(found: Reproduction) -> str:
    """The tables, at most 80 columns wide."""
    parts: list[str] = []
    for corpus in found.documents:
        parts.append("\n".join(wrap(heading(found, corpus), "  ")))
        parts += grid("figure", COLUMNS, figure_rows(found, corpus))
    parts.append(paragraphs(legend(found)))
    for title, columns, rows in differences(found):
        parts += ["\n".join(wrap(title, "  ")), *grid("corpus", columns, rows)]
    parts += [paragraphs([tried(found) + ":"]), paragraphs(givers(found))]
    if found.notes:
        parts.append(paragraphs(f"note: {note}" for note in found.notes))
    return "\n\n".join(parts) + "\n"


def parts(found: Reproduction) -> Iterator[Part]:
    """Tables, and a list of what gives each figure."""
    for corpus in found.documents:
        yield Heading(heading(found, corpus))
        yield Grid("figure", COLUMNS, figure_rows(found, corpus))
    yield " ".join(legend(found))
    for title, columns, rows in differences(found):
        yield Heading(title)
        yield Grid("corpus", columns, rows)
    yield tried(found) + ":"
    yield Items(list(givers(found)))
    yield from noted(found.notes)


def printed(found: Reproduction) -> Iterator[Printed]:
    """All differences where there are several corpora, else the figures."""
    apart = [Printed(f"{title}. {ARROWS}", ["corpus", *columns], [rows]) for title, columns, rows in differences(found)]
    about = " ".join(legend(found))
    yield from apart or (
        Printed(f"{heading(found, corpus)}. {about}", ["figure", *COLUMNS], [figure_rows(found, corpus)])
        for corpus in found.documents
    )


def csv_rows(found: Reproduction) -> Iterator[dict[str, Any]]:
    """A row a figure, flat, with the first of its candidates and how many there are."""
    for row in found.rows():
        first = row["candidates"][0] if row["candidates"] else dict.fromkeys(("protocol", "average", "value", "how"))
        yield row | {
            "options": ",".join(f"{name}={value}" for name, value in row["options"].items()),
            "low": row["ci"][0],
            "high": row["ci"][1],
            "candidate": first["protocol"],
            "candidate_average": first["average"],
            "candidate_value": first["value"],
            "how": first["how"],
            "candidates": len(row["candidates"]),
        }
