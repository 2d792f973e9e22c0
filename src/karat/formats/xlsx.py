"""Excel files as tables: the first sheet that has rows, with the names of the columns in its first row.

A formula is read as the value that was computed last. Only cells that are there are looked at, whatever size a sheet
claims; what the file unpacks to is bounded before it is opened.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from karat.errors import InputError
from karat.formats.archive import Archive
from karat.formats.base import Record, quoted
from karat.formats.files import read_whole
from karat.formats.output import writing
from karat.formats.xml import check_prolog
from karat.libraries import library
from karat.limits import limits

SUFFIXES = (".xlsx", ".xlsm")
ZIP = b"PK\x03\x04"
MOST_COLUMNS = 1000
BEGUN = datetime(2000, 1, 1)  # stands for the time of writing, so that equal rows are equal files
LONGEST = 32767  # letters of a cell, as Excel counts them


def xlsx_rows(path: str) -> Iterator[tuple[int, Record]]:
    """(number of the row, row) of an Excel file. Raises InputError if it is damaged, encrypted or too large."""
    openpyxl = library("openpyxl", "an Excel file")
    content = read_whole(path)
    try:
        _check(content)
    except InputError as error:
        raise type(error)(f"{path}: {error}") from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        yield from _rows(path, book)
    except InputError:
        raise
    except Exception as error:  # of any kind: the library meets damaged files with whatever comes of it
        said = f"{type(error).__name__}: {str(error)[:100]}"
        raise InputError(f"{path}: this Excel file cannot be read ({said})") from None


def _check(content: bytes) -> None:
    """Raises InputError if the archive is beyond the limits, or if XML in it declares entities."""
    archive = Archive(content, "Excel")
    for name in archive.names:
        if name.endswith((".xml", ".rels")):
            check_prolog(archive.read(name), f"this Excel file, {name[:60]}")


def _rows(path: str, book: Any) -> Iterator[tuple[int, Record]]:
    sheet, names, place = _sheet(path, book)
    for number, row in enumerate(sheet.iter_rows(min_row=place + 1, max_col=len(names), values_only=True), place + 1):
        cells = [_cell(value, path, number) for value in row]
        if any(cell not in (None, "") for cell in cells):
            yield number, dict(zip(names, cells, strict=False))


def _sheet(path: str, book: Any) -> tuple[Any, list[str], int]:
    """(the first sheet with rows, the names of its columns, the number of the row that has them)."""
    for sheet in book.worksheets:
        if not hasattr(sheet, "reset_dimensions"):  # a chart
            continue
        sheet.reset_dimensions()  # a sheet of three cells may claim millions
        for number, row in enumerate(sheet.iter_rows(max_col=MOST_COLUMNS, values_only=True), 1):
            names = [str(cell).strip() if cell is not None else "" for cell in row]
            while names and not names[-1]:
                names.pop()
            if names:
                for name in filter(None, names):
                    if names.count(name) > 1:
                        raise InputError(f"{path}: two columns are named {quoted(name)}")
                return sheet, names, number
    raise InputError(f"{path}: no sheet of this Excel file has rows")


def _cell(value: Any, path: str, number: int) -> Any:
    """A value as the cell of a table: text and numbers as they are, anything else as text."""
    if isinstance(value, str) and len(value) > limits().cell:
        raise limits().exceeded("cell", f"{path}:{number}", "a cell")
    return (
        value if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)) else str(value)
    )


def save_xlsx(path: str, found: Iterable[Record]) -> None:
    """Writes rows on one sheet, below the names of their fields; every cell is text, so that none can be a formula."""
    book_at = library("xlsxwriter", "writing an .xlsx file").Workbook
    held = io.BytesIO()
    book = book_at(held, {"in_memory": True})
    book.set_properties({"created": BEGUN})
    sheet = book.add_worksheet(Path(path).stem.translate(str.maketrans("", "", "[]:*?/\\'"))[:31] or "Sheet1")
    for number, row in enumerate(found, 1):
        if number == 1:
            for column, name in enumerate(row):
                sheet.write_string(0, column, name)
        for column, value in enumerate(row.values()):
            if value not in (None, ""):
                sheet.write_string(number, column, _fitting(str(value)))
    sheet.freeze_panes(1, 1)
    book.close()
    with writing(path) as file:
        file.write(held.getvalue())


def _fitting(text: str) -> str:
    """The text, no longer than a cell may be; the library would take one in `<r>` for markup."""
    text = f"{text} " if text.startswith("<r>") and text.endswith("</r>") else text
    units = text.encode("utf-16-le", "replace")  # letters beyond the first plane count twice
    return text if len(units) <= 2 * LONGEST else units[: 2 * LONGEST].decode("utf-16-le", "ignore")
