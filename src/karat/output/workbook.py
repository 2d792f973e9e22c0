"""Rows as an Excel file."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from karat.inert import inert
from karat.libraries import library
from karat.output import names_of

BEGUN = datetime(2000, 1, 1)  # stands for the time of writing, so that equal rows are equal files
LONGEST = 32767  # letters of a cell, as Excel counts them


def writer_of_workbooks() -> Any:
    """The library that writes Excel files; where it is not installed, an error says how to get it."""
    return library("xlsxwriter", "writing an .xlsx file")


def workbook(rows: Sequence[Mapping[str, str]], sheet_name: str) -> bytes:
    """The rows on one sheet, below the names of their fields; every cell is text, so that none can be a formula."""
    content, names = io.BytesIO(), names_of(rows)
    book = writer_of_workbooks().Workbook(content, {"in_memory": True})
    book.set_properties({"created": BEGUN})
    sheet = book.add_worksheet(sheet_name)
    bold = book.add_format({"bold": True})
    for column, name in enumerate(names):
        sheet.write_string(0, column, _cell_text(name), bold)
    for line, row in enumerate(rows, 1):
        for column, name in enumerate(names):
            sheet.write_string(line, column, _cell_text(row.get(name, "")))
    sheet.set_column(0, 0, 16)
    sheet.set_column(1, max(len(names) - 1, 1), 28)
    sheet.freeze_panes(1, 1)
    book.close()
    return content.getvalue()


def _cell_text(text: str) -> str:
    """The text, inert and no longer than a cell may be.

    >>> _cell_text("<r>a</r>"), _cell_text("a\\x0bb"), len(_cell_text("x" * 40000))
    ('<r>a</r> ', 'a b', 32767)
    """
    text = inert(text)
    if text.startswith("<r>") and text.endswith("</r>"):  # the library would write it as it is, for formatted text
        text += " "
    units = text.encode("utf-16-le")  # letters beyond the first plane count twice
    return text if len(units) <= 2 * LONGEST else units[: 2 * LONGEST - 2].decode("utf-16-le", "ignore") + "…"
