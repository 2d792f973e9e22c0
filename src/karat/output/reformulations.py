"""Reformulations as text: what is kept and why not the rest, how far they are from their documents; and a forecast."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import Any

from karat.llm.ask import Forecast
from karat.matching.columns import PRMU
from karat.output.grids import Row, grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Items, Part, noted
from karat.output.papers import Printed
from karat.pairs.filter import REASONS, Filtered, Judged
from karat.table import number, short

EXAMPLES = 5  # rejected reformulations that are shown
CSV_FIELDS = (
    "id",
    "source",
    "method",
    "kept",
    "reasons",
    "lost",
    "words_source",
    "words",
    "wer",
    "rouge1",
    "ceiling",
    *(f"source_{name}" for name in PRMU),
    *PRMU,
)
COUNTS = ("made", "kept", "share", "references", "length")
MEANS = ("WER", "ROUGE-1", "ceiling")
CLASSES = ("documents", *(f"% {name}" for name in PRMU))


# ---------------------------------------------------------------------------------------------- words


def heading(found: Filtered) -> str:
    """What was looked at."""
    many = f"{found.documents:,} documents, {len(found.judged):,} reformulations"
    return f"{found.corpus}, {many}, protocol {', '.join(found.signatures)}"


def meaning(found: Filtered) -> str:
    """When a reformulation is kept."""
    return (
        "Kept: every present reference of the document is present or reordered in the reformulation, and the number of "
        f"words is within {100 * found.length:g} % of the document's."
    )


# What the columns of each table are.
ABOUT = (
    "references, length: how many are rejected for that (some for both).",
    "WER: words to change over words of the document; ROUGE-1: share of its words that are kept; ceiling: Hooper "
    "of the references present in both, which a perfect extractor has.",
    "PRMU: references that are present, reordered, mixed, unseen; means over documents.",
)


def counts(found: Filtered) -> list[Row]:
    """How many are kept, and why not the others, by method."""
    return [
        (
            row["method"],
            [
                f"{row['reformulations']:,}",
                f"{row['kept']:,}",
                _number(row["share"]),
                *(f"{row[f'rejected_{reason}']:,}" for reason in REASONS),
            ],
        )
        for row in found.summary()
    ]


def means(found: Filtered) -> list[Row]:
    """What the kept ones are like, and all of them, by method."""
    names = ("wer", "rouge1", "ceiling")
    return [
        (f"{row['method']}, {which}", [_number(row[name + suffix]) for name in names])
        for row in found.summary()
        for which, suffix in (("kept", ""), ("all", "_of_all"))
    ]


def classes(found: Filtered) -> list[Row]:
    """The classes of references in the documents and in what was made of them."""
    return [
        (
            "original" if row["version"] == "original" else f"{row['method']}, {row['version']}",
            [f"{row['documents']:,}", *(_percent(row[name]) for name in PRMU)],
        )
        for row in found.prmu()
    ]


def _number(value: float | None) -> str:
    return number(nan if value is None else value)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def tables(found: Filtered) -> list[tuple[str, str, tuple[str, ...], list[Row]]]:
    """(title, corner, columns, rows) of each table."""
    return [
        ("Kept and rejected", "method", COUNTS, counts(found)),
        ("How far from the document", "reformulations", MEANS, means(found)),
        ("Classes of the references", "version", CLASSES, classes(found)),
    ]


def examples(found: Filtered) -> Iterator[str]:
    """Why the first of the rejected ones are rejected."""
    rejected = [each for each in found.judged if not each.kept]
    for each in rejected[:EXAMPLES]:
        yield f"{_plain(each.id)}: {'; '.join(_why(each))}"
    if len(rejected) > EXAMPLES:
        yield f"... and {len(rejected) - EXAMPLES:,} more; -f csv and -f json have them all."


def _why(each: Judged) -> Iterator[str]:
    if each.lost:
        yield f"without {', '.join(short(_plain(phrase), 40) for phrase in each.lost)}"
    if "length" in each.reasons:
        yield f"{each.words:,} words for {each.words_source:,}"


def _plain(text: str) -> str:
    """A text on one line, without what could move a terminal's cursor."""
    return "".join(letter if letter.isprintable() else "�" for letter in " ".join(text.split()))


# ---------------------------------------------------------------------------------------------- formats


def terminal(found: Filtered) -> str:
    """Tables of at most 80 columns."""
    parts = ["\n".join([*wrap(heading(found), "  "), *wrap(meaning(found), "  ")])]
    for title, corner, columns, rows in tables(found):
        parts += [title, *grid(corner, columns, rows)]
    parts.append(paragraphs(ABOUT))
    if shown := list(examples(found)):
        parts.append("Rejected:\n" + paragraphs(f"  {text}" for text in shown))
    return _joined(parts, found.notes)


def _joined(parts: list[str], notes: tuple[str, ...]) -> str:
    if notes:
        parts.append(paragraphs(f"note: {note}" for note in notes))
    return "\n\n".join("\n".join(line.rstrip() for line in part.splitlines()) for part in parts) + "\n"


def parts(found: Filtered) -> Iterator[Part]:
    """Tables, what they are, and rejected ones."""
    yield Heading(heading(found))
    yield meaning(found)
    for title, corner, columns, rows in tables(found):
        yield f"{title}:"
        yield Grid(corner, columns, rows)
    yield from ABOUT
    if shown := list(examples(found)):
        yield "Rejected:"
        yield Items(shown)
    yield from noted(found.notes)


def printed(found: Filtered) -> Iterator[Printed]:
    """A table for each."""
    for (title, corner, columns, rows), about in zip(tables(found), ABOUT, strict=True):
        yield Printed(f"{title}: {heading(found)}. {meaning(found)} {about}", [corner, *columns], [rows])


def csv_rows(found: Filtered) -> Iterator[dict[str, Any]]:
    """One dict a reformulation, lists in one cell."""
    for row in found.rows():
        cells = {"reasons": "; ".join(row["reasons"]), "lost": "; ".join(row["lost"])}
        yield row | cells | row["prmu"] | {f"source_{name}": row["source_prmu"][name] for name in PRMU}


# ---------------------------------------------------------------------------------------------- a forecast


def forecast(found: Forecast) -> str:
    """What there is to ask, in a few lines."""
    return _joined([paragraphs(expected(found))], found.notes)


def forecast_parts(found: Forecast) -> Iterator[Part]:
    """The same, a paragraph a line."""
    yield from expected(found)
    yield from noted(found.notes)


def expected(found: Forecast) -> Iterator[str]:
    """How much there is to ask, and what it takes."""
    left = found.requests - found.answered
    yield f"{found.corpus}, {found.documents:,} documents, {found.method}"
    yield f"{found.requests:,} requests, {found.answered:,} of them answered already, {left:,} left"
    yield f"about {found.usage.tokens_in:,} tokens in, {found.usage.tokens_out:,} out"
    if found.cost is not None:
        yield f"about {found.cost:.4g} to pay"
