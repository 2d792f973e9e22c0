"""Plain tables of a name and some cells a row, for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from karat.table import short

WIDTH = 80  # on a terminal and in a pipe alike
Row = tuple[str, Sequence[str]]  # a name and its cells


def grid(corner: str, columns: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """The table in blocks of at most 80 columns, as many cells at a time as fit; long names have lines of their own."""
    heads = [short(column, 20) for column in columns]
    widths = [max(6, len(head), *(len(cells[i]) for _, cells in rows)) for i, head in enumerate(heads)]
    name_width = min(max(len(corner), *(len(name) for name, _ in rows)), 40)
    start = 0
    while start < len(heads):
        stop = start + 1
        while stop < len(heads) and name_width + sum(2 + width for width in widths[start : stop + 1]) <= WIDTH:
            stop += 1
        part = slice(start, stop)
        block: list[str] = []
        for name, cells in [(corner, heads), *rows]:
            *above, last = wrapped_name(name, name_width)
            block += [*above, line(last, list(cells[part]), name_width, widths[part]).rstrip()]
        yield "\n".join(block)
        start = stop


def wrapped_name(name: str, width: int) -> list[str]:
    """A name in lines of a width, broken at spaces where it has any."""
    return textwrap.wrap(name, width, break_on_hyphens=False) if len(name) > width else [name]


def paragraphs(texts: Iterable[str]) -> str:
    """Texts in lines of at most 80 columns, what goes on being indented."""
    return "\n".join(part for text in texts for part in wrap(text, "    " if text.startswith(" ") else "  "))


def line(name: str, cells: Sequence[str], name_width: int, widths: Sequence[int]) -> str:
    """A line of a table: a name, then right-aligned cells."""
    return f"{name:<{name_width}}" + "".join(f"  {c:>{w}}" for c, w in zip(cells, widths, strict=True))


def wrap(text: str, indent: str) -> list[str]:
    """The lines of a text on a terminal, those after the first with an indent; of a warning not that it is a note."""
    text = text.removeprefix("note: ") if text.startswith("note: warning: ") else text
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=True, break_on_hyphens=False)
