"""The three tables of a study of homogeneity as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from karat.analyses.homogeneity.result import Figure, Homogeneity, Row
from karat.analyses.study import EXTRACTS, Study, kind_of
from karat.matching.columns import PRMU
from karat.output.grids import Row as Line
from karat.output.grids import grid, paragraphs, wrap
from karat.output.homogeneities import CEILINGS, MARKED, Table, intervals, with_ends
from karat.output.markup import Grid, Heading, Items, Part, noted
from karat.output.papers import Printed
from karat.table import number

ALPHA = 0.05
PRMU_ARE = "P, R, M, U: references that are present, reordered, mixed, unseen; means over documents."
MEASURED = (
    "hooper: phrases that both documents have over those that either has; rodgers: the same of words; "
    f"gen.: share of all predictions that are not in their document (micro; below {EXTRACTS:g}: an extractor); gen./d: "
    "its mean over documents."
)
CORRELATED = f"ROUGE: Pearson's r of hooper with ROUGE-1 of the two texts; * p < {ALPHA:g} by the bootstrap."
CSV_FIELDS = (
    "table",
    "corpus",
    "version",
    "kind",
    "system",
    "pairs",
    "documents",
    *PRMU,
    *(f"{name}{end}" for name in ("hooper", "rodgers", "pearson") for end in ("", "_low", "_high")),
    "pearson_p",
    "generated",
    "generated_mean",
    "undefined",
)


def tables(found: Study) -> Iterator[Table]:
    """The tables that there are."""
    lines = [(each.name, [f"{each.documents:,}", *map(_percent, each.prmu.values())]) for each in found.versions]
    columns = ["documents", *(f"% {name}" for name in PRMU)]
    title = f"1. The documents of {found.corpus}, and the classes of their references"
    about = [PRMU_ARE, *_kept(found), protocol(found)]
    yield Table(title, "version", columns, [lines], about)
    if found.reformulated is not None:
        title = f"2. Homogeneity on {found.reformulated.pairs:,} documents and their reformulations"
        yield _agreement(found.reformulated, title, correlated=True)
    if found.sharing is not None:
        title = (
            f"3. Homogeneity on {found.sharing.pairs:,} pairs of documents that share references "
            f"(Jaccard ≥ {found.mined.options.min:g})"
        )
        yield _agreement(found.sharing, title, correlated=False)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _agreement(found: Homogeneity, title: str, correlated: bool) -> Table:
    """Generators above, extractors below, then the ceilings."""
    groups: dict[str | None, list[Line]] = {"generates": [], "extracts": [], None: []}
    for row in found.systems:
        groups[kind_of(row.generated)].append(_line(row, correlated))
    ceilings = [
        (CEILINGS[row.system], _line(row, correlated)[1][:2] + [""] * (2 + correlated)) for row in found.ceilings
    ]
    columns = ["hooper", "rodgers", "gen.", "gen./d", *(["ROUGE"] if correlated else [])]
    about = [MEASURED, *([CORRELATED] if correlated else []), MARKED, intervals(found)]
    about.append(f"Protocol {', '.join(found.signatures)}.")
    return Table(title, "system", columns, [*(lines for lines in groups.values() if lines), ceilings], about)


def _line(row: Row, correlated: bool) -> tuple[str, list[str]]:
    cells = [with_ends(row.figures[name]) for name in ("hooper", "rodgers")]
    cells += [number(row.generated), number(row.generated_mean)]
    return row.system, [*cells, *([_starred(row.figures.get("pearson"))] if correlated else [])]


def _starred(figure: Figure | None) -> str:
    if figure is None or figure.value != figure.value:
        return "–"
    return f"{figure.value:.2f}".replace("0.", ".", 1) + ("*" if figure.p < ALPHA else " ")


def legend(found: Study) -> Iterator[str]:
    """What the figures are."""
    yield PRMU_ARE
    yield from _kept(found)
    measured = [each for each in (found.reformulated, found.sharing) if each is not None]
    if not measured:
        return
    yield MEASURED
    if found.reformulated is not None:
        yield CORRELATED
    yield MARKED
    options = measured[0].options
    yield (
        f"In brackets {100 * options.level:.4g} % intervals ({options.interval}, {options.resamples:,} resamples of "
        f"documents, seed {options.seed}). {protocol(found)}"
    )


def _kept(found: Study) -> Iterator[str]:
    if found.filtered is not None:
        for row in found.filtered.summary()[-1:]:
            yield (
                f"Of {row['reformulations']:,} reformulations {row['kept']:,} are kept: word error rate "
                f"{_percent(row['wer'])} %, ROUGE-1 {_percent(row['rouge1'])} %."
            )


def protocol(found: Study) -> str:
    """Which protocol it was."""
    return f"Protocol {', '.join(found.signatures)}."


def terminal(found: Study) -> str:
    """Tables of at most 80 columns."""
    parts: list[str] = []
    for table in tables(found):
        parts += ["\n".join(wrap(table.title, "  ")), *grid(table.corner, table.columns, table.rows)]
    parts.append(paragraphs(legend(found)))
    if found.notes:
        parts.append(paragraphs(f"note: {note}" for note in found.notes))
    return "\n\n".join("\n".join(line.rstrip() for line in part.splitlines()) for part in parts) + "\n"


def parts(found: Study) -> Iterator[Part]:
    """Tables, and what their figures are."""
    for table in tables(found):
        yield Heading(table.title)
        yield Grid(table.corner, table.columns, table.rows)
    yield Items(list(legend(found)))
    yield from noted(found.notes)


def printed(found: Study) -> Iterator[Printed]:
    """A table for each, with what its figures are."""
    for table in tables(found):
        caption = " ".join([f"{table.title[3:]}.", *table.about])
        yield Printed(caption, [table.corner, *table.columns], table.groups)


def csv_rows(found: Study) -> Iterator[dict[str, Any]]:
    """One dict a line of the tables."""
    for row in found.rows():
        ends = {
            f"{name}{end}": row[f"{name}_ci"][i]
            for name in ("hooper", "rodgers", "pearson")
            if f"{name}_ci" in row
            for i, end in enumerate(("_low", "_high"))
        }
        yield dict.fromkeys(CSV_FIELDS) | row | ends
