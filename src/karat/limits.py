"""How much a file may hold before it is refused: sizes and counts, each with a default that real corpora stay below.

A small compressed file may be terabytes of zeros. Everything that is read is therefore bounded; a sentence names the
limit that was met, and `--limit line=1GB`, or `karat.limit(line="1GB")`, raises it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import Field, dataclass, fields, replace
from typing import Any

from karat.errors import InputError, unknown
from karat.options import about, option

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SHOWN = {"KB": "kB"}
_SIZE = re.compile(r"(\d{1,15})\s*([KMGT]?B|)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits; those of sizes are in bytes, of what is compressed after it is decompressed."""

    line: int = option(64 * 10**6, "Bytes of a line, as of a document in JSON lines.")
    file: int = option(256 * 10**6, "Bytes of a file that is read as a whole: JSON, XML, a text, a model, results.")
    stream: int = option(10**12, "Bytes of a compressed file that is read line by line.")
    pipe: int = option(2 * 10**9, "Bytes of standard input, or of a pipe, which are kept in memory.")
    cell: int = option(16 * 10**6, "Bytes of a cell of CSV or Parquet.")
    text: int = option(8 * 10**6, "Bytes of the title and text of a document, or of its phrases.")
    tokens: int = option(2 * 10**6, "Words and marks of a document, or of its phrases.", metavar="count")
    phrases: int = option(100_000, "Predicted phrases of a document.", metavar="count")
    references: int = option(10_000, "References of a document: those of all sets, with variants.", metavar="count")
    words: int = option(10_000, "Words and marks of a phrase.", metavar="count")
    values: int = option(10**6, "Values of a line, a row, or an item of a list in a JSON file.", metavar="count")
    depth: int = option(64, "Levels of lists and objects in JSON.", metavar="count")
    digits: int = option(100, "Digits of a whole number in JSON.", metavar="count")
    pages: int = option(5000, "Pages of a PDF.", metavar="count")
    drawing: int = option(2 * 10**6, "Bytes that draw the pages of a PDF, where they are more than 50 times its own.")
    members: int = option(10_000, "Files within a docx or Excel file.", metavar="count")
    unpacked: int = option(256 * 10**6, "Bytes of all files within a docx or Excel file.")

    def exceeded(self, name: str, where: str, what: str, most: int | None = None) -> InputError:
        """The error for something that is beyond the limit of that name, or beyond `most` where that is more.

        >>> print(Limits().exceeded("line", "a.jsonl:7", "the line"))
        a.jsonl:7: the line has more than 64 MB; if that is right, raise the limit: --limit line=128MB
        """
        each = _field(name)
        most, unit = most or getattr(self, name), _noun(each)
        written, twice = (f"{most:,} {unit}", f"{2 * most}") if unit else (_size(most), _size(2 * most, space=False))
        said = f"{what} has more than {written}; if that is right, raise the limit: --limit {name}={twice}"
        return InputError(f"{where}: {said}" if where else said)


def _noun(each: Field[Any]) -> str:
    """What a limit that is no size counts, as `pages`; "" of a size."""
    return {"depth": "levels"}.get(each.name, each.name) if about(each).metavar == "count" else ""


def _field(name: str) -> Field[Any]:
    known = {each.name: each for each in fields(Limits)}
    if name not in known:
        raise unknown("limit", name, known)
    return known[name]


def _size(most: int, space: bool = True) -> str:
    """A number of bytes in the largest unit in which it is whole, as people write it or as it is typed."""
    unit = next(unit for unit, size in reversed(_UNITS.items()) if most % size == 0 and unit)
    number = most // _UNITS[unit]
    return f"{number:,} {_SHOWN.get(unit, unit)}" if space else f"{number}{_SHOWN.get(unit, unit)}"


def listed() -> dict[str, dict[str, str]]:
    """What each limit is of, and how much it is by default."""
    own = Limits()
    return {
        each.name: {
            "summary": f"{about(each).help} ({_written(own, each)})",
            "default": _written(own, each),
            "about": about(each).help,
        }
        for each in fields(Limits)
    }


def _written(own: Limits, each: Field[Any]) -> str:
    most = getattr(own, each.name)
    return f"{most:,}" if _noun(each) else _size(most)


_current = Limits()


def limits() -> Limits:
    """The limits in force."""
    return _current


def set_limits(found: Limits) -> None:
    """Puts limits in force for this process."""
    global _current
    _current = found


def parse_limits(texts: tuple[str, ...]) -> Limits:
    """The limits in force with some of them changed, each as `line=64MB`.

    Raises InputError if there is no such limit, or if a value is no number from 1 on.
    """
    changed: dict[str, int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        changed[_field(name.strip()).name] = _parsed(name.strip(), value)
    return replace(_current, **changed)


def _parsed(name: str, value: str | int) -> int:
    """A number, or a size with its unit.

    >>> _parsed("line", "64MB"), _parsed("pages", 10)
    (64000000, 10)
    """
    found = _SIZE.fullmatch(str(value).strip())
    if found is None or not int(found[1]) or (found[2] and _noun(_field(name))):
        example = "10000" if _noun(_field(name)) else "64MB"
        raise InputError(f"the limit {name} is a number from 1 on, as {name}={example}, not {str(value)[:40]!r}")
    return int(found[1]) * _UNITS[found[2].upper()]


@contextmanager
def limit(
    *,
    line: str | int | None = None,
    file: str | int | None = None,
    stream: str | int | None = None,
    pipe: str | int | None = None,
    cell: str | int | None = None,
    text: str | int | None = None,
    tokens: int | None = None,
    phrases: int | None = None,
    references: int | None = None,
    words: int | None = None,
    values: int | None = None,
    depth: int | None = None,
    digits: int | None = None,
    pages: int | None = None,
    drawing: str | int | None = None,
    members: int | None = None,
    unpacked: str | int | None = None,
) -> Iterator[Limits]:
    """Changes limits of this process as long as it is open, as `with karat.limit(line="64MB", pages=10000):`.

    Corpora are read when they are used, so that the verb that reads them has to be called within. Raises InputError if
    a value is no number from 1 on.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    before = _current
    set_limits(parse_limits(tuple(f"{name}={value}" for name, value in given.items())))
    try:
        yield _current
    finally:
        set_limits(before)
