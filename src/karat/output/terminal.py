"""Tables on a terminal: as wide as it is, 80 columns in a pipe; what does not fit goes on below."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, compress, pairwise

from karat.inert import inert
from karat.tabular import Column, Table, Words, levels_of, lines_of, plain, prefix, size, spans_of

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


def padded(text: str, width: int, left: bool) -> str:
    """A text with spaces to a width."""
    spaces = " " * (width - size(text))
    return text + spaces if left else spaces + text


def paragraphs(texts: Iterable[Words], width: int) -> str:
    """Texts in lines of a width, what goes on being indented."""
    said = (inert(plain(text)) for text in texts)
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
        start, left = 0, size(word)  # where the rest of the word begins, and how wide it is
        while (room := width - size(line + gap)) < left:
            broken = left > width - len(indent)
            if not broken and empty:  # an indent or a gap that leaves no room
                break
            head = _prefix(word, start, room, at_least=int(empty)) if broken else ""
            lines.append(line + gap + head if head else line)
            start, left = start + len(head), left - size(head)
            line, gap, empty = indent, "", True
        if start < len(word):
            line, empty = line + gap + word[start:], False
    return [*lines, line] if not empty else lines


def _prefix(word: str, start: int, room: int, at_least: int) -> str:
    """The longest piece of a word that fits; one that ends with a comma, where that is at least half as long."""
    fitting = prefix(word, room, start)
    comma = fitting.rfind(",") + 1
    if 2 * comma >= max(len(fitting), 1) and start + len(fitting) < len(word):
        return fitting[:comma]
    return fitting or word[start : start + at_least]


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
    head, names = inert(table.corner), [inert(name) for name, _ in lines]
    beside = [any(cells) for _, cells in lines]  # a name without cells takes the whole line
    most = min(max(map(size, [head, *compress(names, beside)])), width // 2)
    columns = [(column, _texts(column, [cells[i] for _, cells in lines])) for i, column in enumerate(table.columns)]
    strips = _strips(columns, width - most)
    room = width - sum(2 + strip for strip in _widths(strips))
    if width // 4 <= room < most:  # all columns fit beside names that are wrapped
        most = room
    wrapped = [_name(name, most if short else width) for name, short in zip(names, beside, strict=True)]
    corner = wrap(head, most) or [""]
    most = max(size(line) for lines in (corner, *compress(wrapped, beside)) for line in lines)
    for block in _fitting(strips, width - most):
        yield "\n".join(_block(block, corner, wrapped, most))


def _texts(column: Column, cells: Sequence[Words]) -> list[str]:
    """The cells of a column as text; where marks hang over, all are followed by as much."""
    texts = [inert(plain(cell)) for cell in cells]
    if not column.kind.hang:
        return texts
    over = [size(inert(plain(cell))) - size(inert(_value(cell))) for cell in cells]
    return [text + " " * (max(over) - own) if text else "" for text, own in zip(texts, over, strict=True)]


def _value(cell: Words) -> str:
    """The first of the words of a cell, without its mark."""
    first = cell if isinstance(cell, str) else next(iter(cell), "")
    return first if isinstance(first, str) else first.text


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
    head, below = wrap(inert(column.name), wide) or [""], wrap(inert(column.below), wide)
    return _Strip(column, head, below, cells, max([body, *map(size, head), *map(size, below)]))


def _fitting(strips: Sequence[_Strip], room: int) -> Iterator[Sequence[_Strip]]:
    """The columns, as many at a time as fit; those below one outermost text of several levels together, if they fit."""
    start = 0
    while start < len(strips):
        stop = start + 1
        while stop < len(strips) and sum(2 + width for width in _widths(strips[start : stop + 1])) <= room:
            stop += 1
        stop = stop if stop == len(strips) else _end_of_group(strips, start, stop)
        yield strips[start:stop]
        start = stop


def _end_of_group(strips: Sequence[_Strip], start: int, stop: int) -> int:
    """The last place up to `stop` where the outermost of several levels changes, or `stop` itself."""
    outermost = [levels_of(strip.column)[:1] if len(levels_of(strip.column)) > 1 else None for strip in strips]
    changes = (i for i in range(stop, start, -1) if outermost[i] != outermost[i - 1])
    return next(changes, stop) if any(outermost) else stop


def _widths(strips: Sequence[_Strip]) -> list[int]:
    """The widths of columns beside each other: what stands above some may widen the last of them."""
    widths = [strip.width for strip in strips]
    for level in reversed(spans_of([strip.column for strip in strips])):
        start = 0
        for text, count in level:
            span = sum(2 + width for width in widths[start : start + count]) - 2
            wide = max(map(size, wrap(inert(text), max(HEAD, span))), default=0)
            widths[start + count - 1] += max(0, wide - span)
            start += count
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
    """What stands above the heads, each text over all columns that share it."""
    for level in spans_of([strip.column for strip in strips]):
        ends = list(accumulate((count for _, count in level), initial=0))
        spans = [sum(2 + width for width in widths[a:b]) - 2 for a, b in pairwise(ends)]
        lines = [wrap(inert(text), span) for (text, _), span in zip(level, spans, strict=True)]
        height = max(map(len, lines))
        for row in zip(*(_bottom(each, height) for each in lines), strict=True):
            parts = (padded(text, span, left=True) for text, span in zip(row, spans, strict=True))
            yield "  ".join([" " * most, *parts]).rstrip()


def _bottom(lines: Sequence[str], height: int) -> list[str]:
    """Lines with empty ones above them."""
    return [""] * (height - len(lines)) + list(lines)
