"""The portrait of a corpus as text: a table for the terminal, a dataset card in Markdown, LaTeX, CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from karat.analyses.describe.result import Description, Side, Texts
from karat.errors import counted
from karat.output.grids import Row, grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Items, Part, code, noted
from karat.output.papers import Printed
from karat.protocol import parse_protocol
from karat.table import number

CSV_FIELDS = (
    "corpus",
    "system",
    "references",
    "protocol",
    "documents",
    "phrases",
    "present",
    "absent",
    "words",
    *"PRMU",
    *(f"{name}_corpus" for name in "PRMU"),
    *(f"position_{n}" for n in range(1, 6)),
    *(f"miss_rate_{n}" for n in range(1, 6)),
    "title_only",
    "text_only",
    "title_and_text",
    "unseen_words",
    "repeats",
    "empty",
    "total",
    "total_present",
    "types",
    "df",
    "df_occurrences",
    "words_types",
    "absent_present_elsewhere",
    "absent_in_other_texts",
    "seen_in_training",
)
NOTHING = "–"
CLASSES = {"P": "present", "R": "reordered", "M": "mixed", "U": "unseen"}
Section = tuple[str, list[Row]]  # a heading, and rows of a name and a cell for each side


# ---------------------------------------------------------------------------------------------- words


def heading(found: Description) -> str:
    """What is described."""
    language = found.texts.language
    of = counted(found.texts.documents, "document")
    told = "" if language == "unknown" else f", {language.capitalize()}"
    return f"{found.corpus}, {of}{told}, protocol {found.protocol}"


def about_texts(found: Description) -> Iterator[str]:
    """What the documents hold, in sentences."""
    texts = found.texts
    if texts.words is not None:
        yield (
            f"A document has {texts.words:,.0f} words ({texts.least:,} to {texts.most:,}); {texts.with_title:,} of "
            f"{texts.documents:,} have a title."
        )
    if found.texts.language == "unknown" and texts.with_text:
        yield "The language could not be told by its common words."
    if found.duplicates is not None and not found.duplicates.equal and not found.duplicates.near:
        yield "No two documents have the same or nearly the same text."
    leaks = found.leaks
    if leaks is not None:
        if not leaks.leaked:
            yield f"No document is in {leaks.corpus} ({counted(leaks.documents, 'document')}) too."
        if leaks.references is not None and leaks.types is not None:
            yield (
                f"{_percent(leaks.references)} of the references are references of {leaks.corpus} too "
                f"({_percent(leaks.types)} of the distinct ones)."
            )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _cells(sides: Sequence[Side], field: str, digits: int | None = None) -> list[str]:
    """A field of every side: shares with four decimals, others with so many."""
    return [_cell(getattr(side.portrait, field), digits) for side in sides]


def _cell(value: float | None, digits: int | None = None) -> str:
    if value is None:
        return NOTHING
    return number(value) if digits is None else f"{value:,.{digits}f}"


def sections(found: Description) -> Iterator[Section]:
    """The facts of all sides, what matters first; facts that no side has are left out."""
    sides = found.sides
    for name, rows in (
        ("phrases", _sizes(sides)),
        ("class, mean over documents", _classes(sides, "classes")),
        ("class, over the corpus", _classes(sides, "classes_corpus")),
        ("present ones first occur in part", _positions(sides)),
        ("present ones stand in", _places(sides)),
        ("missed of part", _missed(sides)),
        ("phrases as a whole", _phrases(sides)),
        ("absent ones are", _absent(sides)),
    ):
        kept = [(row, cells) for row, cells in rows if any(cell not in (NOTHING, "") for cell in cells)]
        if kept:
            yield name, kept


def _sizes(sides: Sequence[Side]) -> list[Row]:
    return [
        ("of a document", _cells(sides, "phrases", 2)),
        ("present ones of a document", _cells(sides, "present", 2)),
        ("absent ones of a document", _cells(sides, "absent", 2)),
        ("words of a phrase", _cells(sides, "words", 2)),
    ]


def _classes(sides: Sequence[Side], field: str) -> list[Row]:
    return [
        (f"{name} {meaning}", [_cell(getattr(side.portrait, field)[n]) for side in sides])
        for n, (name, meaning) in enumerate(CLASSES.items())
    ]


def _positions(sides: Sequence[Side]) -> list[Row]:
    """How many are in each part, and their share."""

    def share(side: Side, n: int) -> str:
        positions = side.portrait.positions
        if not positions or not sum(positions):
            return NOTHING
        return f"{positions[n]:,} ({number(positions[n] / sum(positions))})"

    return [(_part(n), [share(side, n) for side in sides]) for n in range(5)]


def _part(n: int) -> str:
    return f"{n + 1} ({20 * n}-{20 * n + 20} %)"


def _places(sides: Sequence[Side]) -> list[Row]:
    names = ("the title alone", "the text alone", "both")
    return [(name, [_cell((side.portrait.places or (None,) * 3)[n]) for side in sides]) for n, name in enumerate(names)]


def _missed(sides: Sequence[Side]) -> list[Row]:
    def rate(side: Side, n: int) -> str:
        rates = side.looks.miss_rate if side.looks is not None else None
        return ("" if side.system is None else NOTHING) if rates is None else _cell(rates[n])

    return [(_part(n), [rate(side, n) for side in sides]) for n in range(5)]


def _phrases(sides: Sequence[Side]) -> list[Row]:
    return [
        ("in all", _cells(sides, "total", 0)),
        ("distinct", _cells(sides, "types", 0)),
        ("documents of a distinct one", _cells(sides, "df", 2)),
        ("share of words unseen", _cells(sides, "unseen_words")),
        ("share of repeats", _cells(sides, "repeats")),
        ("share seen in training", [_cell(side.seen) for side in sides]),
    ]


def _absent(sides: Sequence[Side]) -> list[Row]:
    def of_references(side: Side, value: float | None) -> str:
        return _cell(value) if side.system is None else ""

    return [
        ("present in another document", [of_references(side, side.absent_present) for side in sides]),
        ("in another document's text", [of_references(side, side.absent_in_texts) for side in sides]),
    ]


def groups(found: Description) -> Iterator[Section]:
    """For each way of grouping: the groups, how many each has, and each system's score."""
    systems = [side for side in found.sides if side.looks is not None]
    scores = {
        (side.system, group.by, group.group): group for side in systems if side.looks for group in side.looks.groups
    }
    kinds = list(dict.fromkeys(by for _, by, _ in scores))
    for by in kinds:
        names = list(dict.fromkeys(name for _, of, name in scores if of == by))
        some = [next(group for (_, of, of_name), group in scores.items() if (of, of_name) == (by, n)) for n in names]
        rows: list[Row] = [
            (each.group, [f"{each.count:,}", *(_score(scores.get((side.system, by, each.group))) for side in systems)])
            for each in some
        ]
        yield f"{some[0].metric} by {by}", rows


def _score(group: Any) -> str:
    return NOTHING if group is None else _cell(group.value)


# ---------------------------------------------------------------------------------------------- formats


def terminal(found: Description) -> str:
    """Warnings, then tables, at most 80 columns wide."""
    parts = ["\n".join(wrap(heading(found), "  "))]
    said = list(about_texts(found))
    if said:
        parts.append(paragraphs(said))
    if found.warnings:
        parts.append(paragraphs(f"warning: {warning}" for warning in found.warnings))
    names = [side.name for side in found.sides]
    if names:
        parts += grid("", names, _indented(sections(found), len(names)))
    systems = [side.name for side in found.sides if side.looks is not None]
    if systems:
        parts += grid("", ["count", *systems], _indented(groups(found), len(systems) + 1))
    if found.remarks:
        parts.append(paragraphs(f"note: {remark}" for remark in found.remarks))
    return "\n\n".join("\n".join(line.rstrip() for line in part.splitlines()) for part in parts) + "\n"


def _indented(given: Iterator[Section], columns: int) -> list[Row]:
    return [
        row for name, rows in given for row in ((name, [""] * columns), *((f"  {of}", cells) for of, cells in rows))
    ]


def parts(found: Description) -> Iterator[Part]:
    """A dataset card: headings, warnings, tables."""
    texts = found.texts
    yield Heading(found.corpus, 1)
    yield Grid("", [""], _facts(texts))
    if said := list(about_texts(found))[1 if texts.words is not None else 0 :]:
        yield Items(said)
    if found.warnings:
        yield Heading("Warnings", 2)
        yield Items(found.warnings)
    if names := [side.name for side in found.sides]:
        yield Heading("Phrases", 2)
        yield from (Grid(name, names, rows) for name, rows in sections(found))
    if systems := [side.name for side in found.sides if side.looks is not None]:
        yield Heading("Where systems look", 2)
        yield f"Average of f1: {parse_protocol(found.protocol).counting.average}."
        yield from (Grid(name, ["count", *systems], rows) for name, rows in groups(found))
    yield Heading("How it was counted", 2)
    yield "Protocol ", code(found.protocol), f". {COUNTED}"
    yield from noted(found.remarks)
    yield from (("Signature: ", code(signature)) for signature in found.signatures.values())


def _facts(texts: Texts) -> list[Row]:
    facts: list[Row] = [
        ("documents", [f"{texts.documents:,}"]),
        ("with a title", [f"{texts.with_title:,}"]),
        ("with a title or a text", [f"{texts.with_text:,}"]),
        ("with references", [f"{texts.with_references:,}"]),
        ("language", [texts.language]),
    ]
    if texts.words is not None:
        facts.append(("words of a document", [f"{texts.words:,.1f} ({texts.least:,} to {texts.most:,})"]))
    return facts


COUNTED = (
    "References are counted as they are given, repeats included; predictions as the protocol keeps them. "
    "P: the phrase stands in the document; R: all its words do, elsewhere or in another order; M: some; U: none. "
    "Parts are fifths of the document's characters; a phrase is in the part where it first occurs."
)


def printed(found: Description) -> Iterator[Printed]:
    """A table of all facts, a rule between them; for systems a second one of their scores by group."""
    names = [side.name for side in found.sides]
    caption = " ".join([heading(found) + ".", *about_texts(found)])
    body = [[(f"{name}: {row}", cells) for row, cells in rows] for name, rows in sections(found)]
    yield Printed(caption, ["", *names], body or [[("nothing", [""] * len(names))]])
    systems = [side.name for side in found.sides if side.looks is not None]
    if systems:
        by_group = [[(f"{name}: {row}", cells) for row, cells in rows] for name, rows in groups(found)]
        average = parse_protocol(found.protocol).counting.average
        yield Printed(f"{heading(found)}; average of f1: {average}.", ["", "count", *systems], by_group)


def csv_rows(found: Description) -> Iterator[dict[str, Any]]:
    """One dict for each reference set and system, parts in columns of their own."""
    for row in found.rows():
        parts = {
            f"{name}_{n + 1}": None if row[f"{field}"] is None else row[field][n]
            for name, field in (("position", "positions"), ("miss_rate", "miss_rate"))
            for n in range(5)
        }
        yield row | parts
