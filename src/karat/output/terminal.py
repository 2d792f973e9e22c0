"""Tables on a terminal: as wide as it is, 80 columns in a pipe; what does not fit goes on below."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, groupby

from karat.output.markup import seen
from karat.table import Column, Table, Words, lines_of, plain

WIDTH = 80  # where there is no terminal
HEAD = 20  # heads of columns that are wider, and wider than their cells, are wrapped
TEXTS = (40, 30, 20)  # cells of words that are wider are wrapped: the first width with which all columns fit, or 40


def terminal(tables: Iterable[Table], notes: Iterable[str] = (), width: int | None = None) -> str:
    """The tables and notes as text of a width: by default that of the terminal, COLUMNS, or 80."""
    width = width or shutil.get_terminal_size((WIDTH, 24)).columns
    chunks = [chunk for table in tables for chunk in _chunks(table, width)]
    chunks.append(paragraphs(map(noted, notes), width))
    return "\n\n".join(filter(None, chunks)) + "\n"


def noted(note: str) -> str:
    """A note as a line says it; a warning says itself that it is one."""
    return note if note.startswith("warning: ") else f"note: {note}"


def _chunks(table: Table, width: int) -> Iterator[str]:
    """What stands between empty lines."""
    before = [table.title, *table.about] if table.title else table.about
    if not table.columns:
        yield paragraphs([*before, *table.notes, *table.items], width)
        return
    yield paragraphs(before, width)
    yield from _blocks(table, width)
    yield paragraphs(table.notes, width)
    yield paragraphs(table.items, width)


# ---------------------------------------------------------------------------------------------- text


def size(text: str) -> int:
    """How many columns a text takes on a terminal.

    >>> size("bee"), size("蜂蜜")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int, left: bool) -> str:
    """A text with spaces to a width."""
    spaces = " " * (width - size(text))
    return text + spaces if left else spaces + text


def paragraphs(texts: Iterable[Words], width: int) -> str:
    """Texts in lines of a width, what goes on being indented."""
    said = (seen(plain(text)) for text in texts)
    return "\n".join(line for text in said for line in wrap(text, width, "    " if text.startswith(" ") else "  "))


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """A text in lines of a width, those after the first with an indent; words that are longer are broken.

    >>> wrap("one two three", 8, "  "), wrap("abcdefgh ij", 5)
    (['one two', '  three'], ['abcde', 'fgh', 'ij'])
    """
    lines: list[str] = []
    line, empty = "", True  # whether there is no word in the line yet
    for gap, word in re.findall(r"(\s*)(\S+)", text):
        gap = "" if empty and lines else gap
        while size(line + gap + word) > width:
            room = width - size(line + gap)
            broken = size(word) > width - len(indent)
            if not broken and empty:  # an indent or a gap that leaves no room
                break
            head = _prefix(word, room, at_least=int(empty)) if broken else ""
            lines.append(line + gap + head if head else line)
            line, gap, word, empty = indent, "", word[len(head) :], True
        if word:
            line, empty = line + gap + word, False
    return [*lines, line] if not empty else lines


def _prefix(word: str, room: int, at_least: int) -> str:
    """The longest beginning of a word that fits; one that ends with a comma, where that is at least half as long."""
    end = 0
    while end < len(word) and size(word[: end + 1]) <= room:
        end += 1
    comma = word.rfind(",", 0, end) + 1
    return word[: comma if 2 * comma >= max(end, 1) and end < len(word) else max(end, at_least)]


# ---------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True)
class _Strip:
    """A column as text: its heads, its cells in lines, its width."""

    column: Column
    head: list[str]
    below: list[str]
    cells: list[list[str]]
    width: int

    @property
    def left(self) -> bool:
        """Whether its cells stand to the left."""
        return self.column.kind.side == "left"


def _blocks(table: Table, width: int) -> Iterator[str]:
    """The table, as many columns at a time as fit."""
    lines = [line for group in lines_of(table) for line in group]
    head, names = seen(table.corner), [seen(name) for name, _ in lines]
    beside = [any(cells) for _, cells in lines]  # a name without cells takes the whole line
    most = min(max(map(size, [head, *compress(names, beside)])), width // 2)
    columns = [(column, [seen(plain(cells[i])) for _, cells in lines]) for i, column in enumerate(table.columns)]
    strips = _strips(columns, width - most)
    room = width - sum(2 + strip for strip in _widths(strips))
    if width // 4 <= room < most:  # all columns fit beside names that are wrapped
        most = room
    wrapped = [_name(name, most if short else width) for name, short in zip(names, beside, strict=True)]
    corner = wrap(head, most) or [""]
    most = max(size(line) for lines in (corner, *compress(wrapped, beside)) for line in lines)
    for block in _fitting(strips, width - most):
        yield "\n".join(_block(block, corner, wrapped, most))


def _name(name: str, width: int) -> list[str]:
    """A name in lines of a width, all as far indented as the first."""
    indent = " " * (len(name) - len(name.lstrip(" ")))
    return wrap(name, width, indent if width > 2 * len(indent) else "") or [""]


def _strips(columns: Sequence[tuple[Column, Sequence[str]]], room: int) -> list[_Strip]:
    """The columns, those of words as wide as lets all stand beside each other, or as wide as they may be."""
    tried = ([_strip(*each, max(room - 2, 8), most) for each in columns] for most in TEXTS)
    first = next(tried)
    fitting = (strips for strips in chain([first], tried) if sum(2 + width for width in _widths(strips)) <= room)
    return next(fitting, first)


def _strip(column: Column, texts: Sequence[str], most: int, words: int) -> _Strip:
    if column.kind.side == "left":
        most = min(most, words)
    cells = [wrap(text, most) if size(text) > most else [text] for text in texts]
    body = max((size(line) for lines in cells for line in lines), default=0)
    wide = min(most, max(HEAD, body))
    head, below = wrap(seen(column.name), wide) or [""], wrap(seen(column.below), wide)
    return _Strip(column, head, below, cells, max([body, *map(size, head), *map(size, below)]))


def _fitting(strips: Sequence[_Strip], room: int) -> Iterator[Sequence[_Strip]]:
    """The columns, as many at a time as fit."""
    start = 0
    for stop in range(1, len(strips) + 1):
        more = strips[start : stop + 1]
        if stop == len(strips) or sum(2 + width for width in _widths(more)) > room:
            yield strips[start:stop]
            start = stop


def _above(strips: Sequence[_Strip]) -> Iterator[tuple[str, int, int]]:
    """(what stands above some columns, the first of them, how many there are)."""
    start = 0
    for above, group in groupby(strips, key=lambda strip: strip.column.above):
        count = len(list(group))
        yield seen(above), start, count
        start += count


def _widths(strips: Sequence[_Strip]) -> list[int]:
    """The widths of columns beside each other: what stands above some may widen the last of them."""
    widths = [strip.width for strip in strips]
    for above, start, count in _above(strips):
        span = sum(2 + width for width in widths[start : start + count]) - 2
        wide = max(map(size, wrap(above, max(HEAD, span))), default=0)
        widths[start + count - 1] += max(0, wide - span)
    return widths


def _block(strips: Sequence[_Strip], corner: list[str], names: list[list[str]], most: int) -> Iterator[str]:
    widths = _widths(strips)

    def line(name: str, cells: Iterable[str]) -> str:
        parts = (padded(c, w, s.left) for c, w, s in zip(cells, widths, strips, strict=True))
        return "  ".join([padded(name, most, left=True), *parts]).rstrip()

    yield from _above_lines(strips, widths, most)
    height = max(len(corner), *(len(strip.head) for strip in strips))
    heads = [_bottom(strip.head, height) for strip in strips]
    yield from (line(first, row) for first, *row in zip(_bottom(corner, height), *heads, strict=True))
    for i in range(max(len(strip.below) for strip in strips)):
        yield line("", [strip.below[i] if i < len(strip.below) else "" for strip in strips])
    for row, (*above, last) in enumerate(names):
        yield from above
        for i in range(max(len(strip.cells[row]) for strip in strips)):
            cells = [strip.cells[row][i] if i < len(strip.cells[row]) else "" for strip in strips]
            yield line(last if i == 0 else "", cells)


def _above_lines(strips: Sequence[_Strip], widths: Sequence[int], most: int) -> Iterator[str]:
    """What stands above the heads, over all columns that share it."""
    if not any(strip.column.above for strip in strips):
        return
    spans = [(above, sum(2 + width for width in widths[start : start + n]) - 2) for above, start, n in _above(strips)]
    lines = [wrap(above, span) for above, span in spans]
    height = max(map(len, lines))
    for row in zip(*(_bottom(each, height) for each in lines), strict=True):
        parts = (padded(text, span, left=True) for text, (_, span) in zip(row, spans, strict=True))
        yield "  ".join([" " * most, *parts]).rstrip()


def _bottom(lines: Sequence[str], height: int) -> list[str]:
    """Lines with empty ones above them."""
    return [""] * (height - len(lines)) + list(lines)
