"""Predictions as text and as a table for spreadsheets: a document at a time, its phrases in their order."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from karat.libraries import library
from karat.models.run import Entry, Predicted
from karat.output.grids import paragraphs, wrap
from karat.output.markup import Heading, Items, Part, bold, noted
from karat.table import number

WIDEST_PHRASE = 60
NO_PHRASES = "–  no phrases"
BEGUN = datetime(2000, 1, 1)  # stands for the time of writing, so that equal predictions are equal files


def heading(found: Predicted) -> str:
    """What the phrases are of."""
    many = f"{found.documents:,} documents" if found.documents != 1 else "1 document"
    return f"{_plain(found.corpus)}, {many}, {_plain(found.model)}"


def _plain(text: object) -> str:
    """A text on one line, without what could move a terminal's cursor."""
    return "".join(letter if letter.isprintable() else "�" for letter in " ".join(str(text).split()))


def terminal(found: Predicted) -> str:
    """The phrases of each document, at most 80 columns wide."""
    parts = ["\n".join(wrap(heading(found), "  "))]
    phrases = (_plain(phrase) for entry in found.entries for phrase in entry.prediction.keyphrases or ())
    width = min(max(map(len, phrases), default=0), WIDEST_PHRASE)
    parts += ["\n".join(_document(entry, place, width)) for place, entry in enumerate(found.entries, 1)]
    if found.notes:
        parts.append(paragraphs(f"note: {note}" for note in found.notes))
    return "\n\n".join(parts) + "\n"


def _document(entry: Entry, place: int, width: int) -> Iterator[str]:
    """A document's id and title, then its phrases with their scores."""
    identifier = place if entry.prediction.id is None else entry.prediction.id
    title = f": {_plain(entry.title)}" if entry.title else ""
    yield from wrap(f"{_plain(identifier)}{title}", "  ")
    phrases = entry.prediction.keyphrases or []
    scores = entry.prediction.scores or [None] * len(phrases)
    if not phrases:
        yield f"  {NO_PHRASES}"
    for rank, (phrase, score) in enumerate(zip(phrases, scores, strict=True), 1):
        first, *rest = textwrap.wrap(_plain(phrase or ""), width, break_on_hyphens=False) or [""]
        told = "" if score is None else f"{number(score):>10}"
        yield f"{rank:>4}  {first:<{width}}{told}".rstrip()
        yield from (f"{'':6}{part}" for part in rest)


def json_lines(found: Predicted) -> str:
    """The run, a document a line."""
    encode = msgspec.json.Encoder().encode
    return "".join(encode(entry.prediction).decode() + "\n" for entry in found.entries)


def parts(found: Predicted) -> Iterator[Part]:
    """The phrases of each document, a list each."""
    yield Heading(heading(found))
    for place, entry in enumerate(found.entries, 1):
        identifier = place if entry.prediction.id is None else entry.prediction.id
        yield bold(_plain(identifier)), f": {_plain(entry.title)}" if entry.title else ""
        phrases = entry.prediction.keyphrases or []
        scores = entry.prediction.scores or [None] * len(phrases)
        told = ("" if score is None else f" ({number(score)})" for score in scores)
        yield Items(
            [f"{_plain(phrase or '')}{score}" for phrase, score in zip(phrases, told, strict=True)] or [NO_PHRASES]
        )
    yield from noted(found.notes)


# ---------------------------------------------------------------------------------------------- spreadsheets


def columns(found: Predicted) -> list[str]:
    """The names of the columns: id, title, and one for each phrase."""
    most = max((len(entry.prediction.keyphrases or ()) for entry in found.entries), default=0)
    return ["id", "title", *(f"keyphrase {rank}" for rank in range(1, most + 1))]


def spread_rows(found: Predicted) -> Iterator[dict[str, Any]]:
    """One dict a document, by column."""
    names = columns(found)
    for place, entry in enumerate(found.entries, 1):
        identifier = place if entry.prediction.id is None else entry.prediction.id
        cells = [str(identifier), entry.title or "", *(phrase or "" for phrase in entry.prediction.keyphrases or ())]
        yield dict(zip(names, cells + [""] * (len(names) - len(cells)), strict=True))


def writer_of_workbooks() -> Any:
    """The library that writes Excel files; where it is not installed, an error says how to get it."""
    return library("xlsxwriter", "writing an .xlsx file")


def workbook(found: Predicted) -> bytes:
    """The same as an Excel file; every cell is text, so that none can be a formula."""
    content = io.BytesIO()
    book = writer_of_workbooks().Workbook(content, {"in_memory": True})
    book.set_properties({"created": BEGUN})
    sheet = book.add_worksheet("keyphrases")
    bold = book.add_format({"bold": True})
    for column, name in enumerate(columns(found)):
        sheet.write_string(0, column, name, bold)
    for line, row in enumerate(spread_rows(found), 1):
        for column, cell in enumerate(row.values()):
            sheet.write_string(line, column, _cell_text(cell))
    sheet.set_column(0, 0, 16)
    sheet.set_column(1, len(columns(found)) - 1, 28)
    sheet.freeze_panes(1, 1)
    book.close()
    return content.getvalue()


def _cell_text(text: str) -> str:
    """The text without characters that XML cannot hold, and no longer than a cell may be."""
    return "".join(letter for letter in text if letter >= " " or letter in "\t\n")[:32767]
