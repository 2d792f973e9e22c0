"""Table: what a result shows, as values; the writers of `karat.output` make text of it.

A result says its tables once, `tables()`. A table has a title, typed columns, groups of rows of values, and texts
before and after it. How a value is written (four decimals, no zero before the point, p below .0001) is a matter of its
column's kind; how text from files is made harmless is a matter of the writers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, isfinite, isnan
from operator import itemgetter
from typing import Any, Literal

Style = Literal["bold", "code", "struck", "raised", "underlined"]
Better = Literal["higher", "lower"]
NONE = "–"  # what stands for a value that is undefined
MARKS = 32  # characters that one column can hold: letters with marks, and emoji of several parts


@dataclass(frozen=True, slots=True)
class Marked:
    """A text that stands out: by its style, or by marks around it where there are no styles."""

    text: str
    style: Style
    mark: str = ""  # after it, as * for the best on a terminal
    before: str = ""


Words = str | tuple[str | Marked, ...]


def bold(text: str) -> Marked:
    """The text in bold."""
    return Marked(text, "bold")


def code(text: str) -> Marked:
    """The text as it is typed."""
    return Marked(text, "code")


def plain(words: Words) -> str:
    """The text without styles, with its marks.

    >>> plain((Marked("best", "bold", "*"), " of all"))
    'best* of all'
    """
    parts = (words,) if isinstance(words, str) else words
    return "".join(part if isinstance(part, str) else part.before + part.text + part.mark for part in parts)


def size(text: str) -> int:
    """How many columns a text takes on a terminal.

    >>> size("bee"), size("蜂蜜"), size("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def prefix(text: str, room: int, start: int = 0) -> str:
    """The longest beginning of a text, from a place on, that takes so many columns; marks stay with their letters.

    >>> prefix("蜂蜜", 3), prefix("e\u0301e\u0301", 1) == "e\u0301", prefix("abc", 2, 1)
    ('蜂', True, 'bc')
    """
    if text.isascii():
        return text[start : start + max(room, 0)]
    end, most = start, min(len(text), start + MARKS * (room + 1))
    while end < most and size(text[start : end + 1]) <= room:
        end += 1
    while end < most and size(text[end]) == 0:  # marks of a letter
        end += 1
    return text[start:end]


def short(name: str, width: int) -> str:
    """A name cut to a width in its middle: names that begin alike mostly end differently.

    >>> short("model", 8), short("model-large-1", 8), short("蜂蜜" * 4, 8)
    ('model', 'mode…e-1', '蜂蜜…蜜')
    """
    if size(name) <= width:
        return name
    end, least = len(name), max(0, len(name) - MARKS * width)
    while end > least and size(name[end - 1 :]) <= (width - 1) // 2:
        end -= 1
    while end < len(name) and size(name[end]) == 0:  # marks of a letter that is cut off
        end += 1
    return f"{prefix(name, width // 2)}…{name[end:]}"


# ---------------------------------------------------------------------------------------------- kinds of columns


def number(value: float | None, digits: int = 4) -> str:
    """A score with four decimals, without the zero before the point; – where it is undefined.

    >>> number(0.34173), number(1.0), number(3.2), number(float("nan")), number(-0.5), number(None), number(-0.0, 2)
    ('.3417', '1.0000', '3.2000', '–', '-.5000', '–', '.00')
    """
    if value is None or isnan(value):
        return NONE
    text = f"{value + 0.0:.{digits}f}"  # which has no sign of a zero
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def signed(value: float | None) -> str:
    """A difference: with its sign, unless it is 0 when rounded.

    >>> signed(0.0876), signed(-0.009), signed(0.00001), signed(None)
    ('+.0876', '-.0090', '.0000', '–')
    """
    text = number(value)
    if text.strip("-") == ".0000":
        return ".0000"
    return text if text == NONE or text.startswith("-") else f"+{text}"


def p_value(value: float | None, at_floor: bool = False) -> str:
    """A p-value, with "≤" where resamples could not make it smaller; – where it is undefined.

    >>> p_value(0.0123), p_value(1e-7), p_value(1 / 10_001, at_floor=True), p_value(None)
    ('.0123', '<.0001', '≤ .0001', '–')
    """
    if value is None or isnan(value):
        return NONE
    if at_floor:
        return f"≤ {number(ceil(value * 10_000 - 1e-9) / 10_000)}"
    return "<.0001" if value < 0.0001 else number(value)


def approximate_p(value: float | None, approximate: bool) -> str:
    """A p-value, with "≈" where it is that of a distribution, below what resamples can tell.

    >>> approximate_p(0.0123, False), approximate_p(3.2e-7, True), approximate_p(0.0, True), approximate_p(None, False)
    ('.0123', '≈ 3e-07', '≈ 0', '–')
    """
    if value is None or isnan(value) or not approximate:
        return p_value(value)
    return f"≈ {number(value)}" if value >= 0.0001 else f"≈ {value:.0e}" if value > 1e-99 else "≈ 0"


def interval(ends: tuple[float, float], digits: int = 4) -> str:
    """The ends of an interval in brackets; – where it is undefined.

    >>> interval((0.6042, 0.67543)), interval((0.6042, 0.67543), 3), interval((float("nan"), 1.0))
    ('[.6042, .6754]', '[.604, .675]', '–')
    """
    if any(map(isnan, ends)):
        return NONE
    return f"[{', '.join(number(end, digits) for end in ends)}]"


def with_ends(ends: tuple[float, float], digits: int = 3) -> str:
    """What stands after a value that has an interval: nothing where that is undefined.

    >>> with_ends((0.6042, 0.67543)), with_ends((float("nan"), 1.0)), with_ends((13.204, 20.671), 2)
    (' [.604, .675]', '', ' [13.20, 20.67]')
    """
    return "" if any(map(isnan, ends)) else f" {interval(ends, digits)}"


def percent(value: float | None) -> str:
    """A share in percent with one decimal; – where it is undefined.

    >>> percent(0.53333), percent(None)
    ('53.3', '–')
    """
    return fixed(1)(None if value is None else 100 * value)


def count(value: float | None) -> str:
    """A whole number with commas; – where there is none, or no end to it.

    >>> count(12345), count(None), count(float("inf"))
    ('12,345', '–', '–')
    """
    return f"{value:,.0f}" if value is not None and isfinite(value) else NONE


def fixed(digits: int) -> Callable[[float | None], str]:
    """Numbers with so many decimals, and commas.

    >>> fixed(2)(1031.8249)
    '1,031.82'
    """

    def written(value: float | None) -> str:
        return NONE if value is None or isnan(value) else f"{value:,.{digits}f}"

    return written


def text(value: object) -> str:
    """Whatever it is, as it is; nothing for None."""
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Kind:
    """How the values of a column are written, and on which side of it."""

    write: Callable[[Any], str]
    side: Literal["left", "right"] = "right"
    hang: bool = False  # whether marks after values hang over, so that the values stand below each other


NUMBER, SIGNED, P_VALUE, COUNT = Kind(number), Kind(signed), Kind(p_value), Kind(count)
P_APPROXIMATE = Kind(lambda found: approximate_p(*found))  # (p, whether it is an approximation)
INTERVAL = Kind(interval)
FIXED2 = Kind(fixed(2))
PERCENT = Kind(percent)
TEXT = Kind(text, "left")
FIGURE = Kind(text)  # a text that is a number, to the right


# ---------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what stands above and below its name, how its values are written, and what it is."""

    name: str
    kind: Kind = NUMBER
    above: str | tuple[str, ...] = ""  # of one level or several, the outermost first; neighbours share equal ones
    below: str = ""
    better: Better | None = None
    help: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with what stands beside it: marks, an interval, letters; without these a cell is the value itself."""

    value: Any
    after: Words = ""  # as " [.604, .675] a"
    style: Style | None = None  # of the value
    mark: str = ""  # after the value where there are no styles, as * for the best on a terminal


@dataclass(frozen=True, slots=True)
class Row:
    """A name and its cells; a cell that is None is empty, one that is undefined holds NaN."""

    name: str
    cells: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that belong together, below a name of their own where they have one."""

    rows: Sequence[Row]
    name: str = ""
    cells: Sequence[Any] = ()  # beside the name, of the rows as a whole


@dataclass(frozen=True, slots=True)
class Table:
    """A table of values; without columns only its texts."""

    title: Words = ""
    corner: str = ""  # what stands above the names of the rows
    columns: Sequence[Column] = ()
    groups: Sequence[Group] = ()
    about: Sequence[Words] = ()  # paragraphs before it
    notes: Sequence[Words] = ()  # paragraphs after it
    items: Sequence[Words] = ()  # a list after these
    caption: str = ""  # in a paper, in place of title, about and notes
    level: int = 0  # of its title as a heading, where the tables are a document of their own
    shrink: bool = False  # whether it is made smaller in a paper where it is wider than the page


def rows_of(rows: Iterable[tuple[str, Sequence[Any]]]) -> tuple[Group, ...]:
    """One group of rows, from names and cells."""
    return (Group([Row(name, cells) for name, cells in rows]),)


# ---------------------------------------------------------------------------------------------- for the writers

Line = tuple[str, Sequence[Words]]  # a name and its cells; a name that begins with spaces is indented


def lines_of(table: Table) -> Iterator[list[Line]]:
    """The lines of each group: one with its name, if it has one, then its rows, their values written."""
    for group in table.groups:
        head = [(group.name, _written(table.columns, group.cells))] if group.name else []
        indent = "  " if group.name else ""
        yield [*head, *((indent + row.name, _written(table.columns, row.cells)) for row in group.rows)]


def _written(columns: Sequence[Column], cells: Sequence[Any]) -> list[Words]:
    return [_words(column.kind, cell) for column, cell in zip(columns, cells or [None] * len(columns), strict=True)]


def _words(kind: Kind, cell: Any) -> Words:
    """What stands in a cell."""
    if not isinstance(cell, Cell):
        return "" if cell is None else kind.write(cell)
    value = kind.write(cell.value)
    first = Marked(value, cell.style, cell.mark) if cell.style else value + cell.mark
    return (first, *((cell.after,) if isinstance(cell.after, str) else cell.after))


Spans = Sequence[tuple[str, int]]  # texts that stand above columns, and above how many each


def levels_of(column: Column) -> tuple[str, ...]:
    """What stands above the name of a column, the outermost first; nothing where nothing does."""
    given = (column.above,) if isinstance(column.above, str) else column.above
    return given if any(given) else ()


def spans_of(columns: Sequence[Column]) -> list[Spans]:
    """For each level above the names of columns, the outermost first: its texts, and above how many columns each is.

    Neighbours share a text where they share all above it; a column of fewer levels has none in the outer ones.

    >>> spans_of([Column("f", above=("a", "x")), Column("g", above=("a", "x")), Column("f", above=("b", "x"))])
    [[('a', 2), ('b', 1)], [('x', 2), ('x', 1)]]
    """
    levels = list(map(levels_of, columns))
    deepest = max(map(len, levels), default=0)
    padded = [("",) * (deepest - len(own)) + own for own in levels]
    return [
        [(path[-1], len(list(same))) for path, same in groupby(padded, key=itemgetter(slice(to)))]
        for to in range(1, deepest + 1)
    ]


def heads_of(table: Table) -> list[str]:
    """What stands above each column in one line.

    >>> heads_of(Table(columns=[Column("f1@5", above="present", below="micro"), Column("p", above=("bees", "all"))]))
    ['present f1@5 (micro)', 'bees all p']
    """
    return [
        f"{' '.join([*filter(None, levels_of(column)), column.name])}{f' ({column.below})' if column.below else ''}"
        for column in table.columns
    ]


def sides_of(table: Table) -> list[bool]:
    """Whether each column stands to the left."""
    return [column.kind.side == "left" for column in table.columns]
