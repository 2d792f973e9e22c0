"""Rows as an Excel file."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from karat.libraries import library
from karat.output import names_of

BEGUN = datetime(2000, 1, 1)  # stands for the time of writing, so that equal rows are equal files
LONGEST = 32767  # letters of a cell


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
        sheet.write_string(0, column, name, bold)
    for line, row in enumerate(rows, 1):
        for column, name in enumerate(names):
            sheet.write_string(line, column, _cell_text(row.get(name, "")))
    sheet.set_column(0, 0, 16)
    sheet.set_column(1, max(len(names) - 1, 1), 28)
    sheet.freeze_panes(1, 1)
    book.close()
    return content.getvalue()


def _cell_text(text: str) -> str:
    """The text without characters that XML cannot hold, and no longer than a cell may be."""
    return "".join(letter for letter in text if letter >= " " or letter in "\t\n")[:LONGEST]
