"""Running text and tables as Markdown and as HTML: a result says its parts once, and both are written of them.

Text from files never is markup: it stands in strings and spans, and these are made inert and escaped here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

from karat.inert import inert
from karat.tabular import (
    Line,
    Marked,
    Spans,
    Style,
    Table,
    Words,
    bold,
    code,
    heads_of,
    lines_of,
    sides_of,
    spans_of,
)

__all__ = ["Grid", "Heading", "Items", "Line", "Marked", "Part", "Style", "Words", "bold", "code", "html", "markdown"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A line above what follows: bold, or of a level where the text is a document of its own."""

    words: Words
    level: int = 0


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: Sequence[Words]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: the names of its rows below the corner, cells to the right, or to the left where they are words."""

    corner: str
    columns: Sequence[str]
    rows: Sequence[Line]
    wordy: bool | Sequence[bool] = False  # of all columns, or of each
    above: Sequence[Spans] = ()  # what stands above columns, the outermost level first, and is in their names too
    heads: Sequence[str] = ()  # the names of columns without that

    def sides(self) -> list[Literal["left", "right"]]:
        """Where the cells of each column stand."""
        wordy = [self.wordy] * len(self.columns) if isinstance(self.wordy, bool) else self.wordy
        return ["left" if each else "right" for each in wordy]


Part = str | tuple[str | Marked, ...] | Heading | Items | Grid  # a text by itself is a paragraph


def parts_of(tables: Iterable[Table], notes: Iterable[str] = ()) -> Iterator[Part]:
    """What Markdown and HTML are made of: the texts and grids of tables, then the notes of their result."""
    for table in tables:
        if table.title:
            yield Heading(table.title, table.level)
        yield from table.about
        if table.columns:
            rows = [line for group in lines_of(table) for line in group]
            yield _grid(table, rows)
        yield from table.notes
        if table.items:
            yield Items(table.items)
    yield from noted(notes)


def _grid(table: Table, rows: Sequence[Line]) -> Grid:
    inner = replace(table, columns=[replace(column, above="") for column in table.columns])
    return Grid(table.corner, heads_of(table), rows, sides_of(table), spans_of(table.columns), heads_of(inner))


def noted(notes: Iterable[str]) -> Iterator[str]:
    """What a reader should know, a paragraph each; a warning says itself that it is one."""
    return (f"{note[0].upper()}{note[1:]}" if note.startswith("warning: ") else f"Note: {note}" for note in notes)


def spans(words: Words) -> Iterator[tuple[str, Style | None]]:
    """(text, its style) of everything that is said."""
    for span in (words,) if isinstance(words, str) else words:
        text, style = (span, None) if isinstance(span, str) else (span.text, span.style)
        if text:
            yield text, style


# ---------------------------------------------------------------------------------------------- Markdown

_MD = {"bold": "**{}**", "struck": "~~{}~~", "raised": "{}", "underlined": "_{}_"}
# What would begin a list, a rule, a heading, a fence or a comment, in any of the kinds of Markdown.
_BEGINNING = re.compile(r"^(?:(\d+)(?=[.)](?:\s|$))|(?=[-+](?:\s|$)|-\s*-|\+{3}|[:%=^]))")
# Marks; braces, which templates look for; and what would make a link of an address that stands there as text.
_MARKS = re.compile(
    r"[\\|*_`<>\[\]{}$&~#]|:(?=//)|(?<=\bwww)\.|(?<!\w)@(?=\w)|@(?=[\w-]+\.)|(?<=\bmailto):", re.IGNORECASE
)


def markdown(parts: Iterable[Part]) -> str:
    """The parts as Markdown."""
    return "\n\n".join(map(_md_part, parts)) + "\n"


def md(text: str) -> str:
    r"""A text that Markdown shows as it is.

    >>> md("a_b|$x$ &lt;"), md("{{x}} https://a.b f1@5 @who")
    ('a\\_b\\|\\$x\\$ \\&lt;', '\\{\\{x\\}\\} https\\://a.b f1@5 \\@who')
    """
    return _MARKS.sub(r"\\\g<0>", inert(text))


def _md_words(words: Words) -> str:
    return "".join(_md_span(text, style) for text, style in spans(words))


def _md_line(words: Words) -> str:
    """Words that begin a line, and neither a list nor a rule."""
    return _BEGINNING.sub(r"\1\\", _md_words(words).strip(), count=1)


def _md_span(text: str, style: Style | None) -> str:
    if style == "code":
        return f"`{inert(text).replace('`', chr(39))}`"
    return _MD[style].format(md(text)) if style else md(text)


def _md_part(part: Part) -> str:
    match part:
        case Heading(words, level):
            return f"{'#' * level} {_md_words(words)}" if level else f"**{_md_words(words)}**"
        case Items(items):
            return "\n".join(f"* {_md_line(words)}" for words in items)
        case Grid():
            return _pipes(part)
        case _:
            return _md_line(part)


def _pipes(grid: Grid) -> str:
    def cell(words: Words) -> str:  # a bar in code would end the cell
        return re.sub(r"(?<!\\)\|", r"\\|", _md_words(words))

    lines = [
        "| " + " | ".join(map(md, [grid.corner, *grid.columns])) + " |",
        "|:--" + "".join("|:--" if side == "left" else "|--:" for side in grid.sides()) + "|",
        *("| " + " | ".join(map(cell, [name, *cells])) + " |" for name, cells in grid.rows),
    ]
    return "\n".join(lines)


# ---------------------------------------------------------------------------------------------- HTML

_WRAPPED = 'code style="white-space: normal; overflow-wrap: anywhere"'  # signatures are long
_HTML = {"bold": "strong", "code": _WRAPPED, "struck": "del", "raised": "sup", "underlined": "u"}
# No colours, so that it is read on any ground; the classes keep notebooks from taking $ for mathematics.
_AROUND = '<div class="karat tex2jax_ignore mathjax_ignore">\n{}\n</div>\n'


def html(parts: Iterable[Part]) -> str:
    """The parts as HTML to stand within a page: no script, no colours."""
    return _AROUND.format("\n".join(map(_html_part, parts)))


def _html_words(words: Words) -> str:
    shown = ((escape(inert(text)), style) for text, style in spans(words))
    return "".join(f"<{_HTML[style]}>{text}</{_HTML[style].split()[0]}>" if style else text for text, style in shown)


def _html_part(part: Part) -> str:
    match part:
        case Heading(words, level):
            return f"<h{level + 2}>{_html_words(words)}</h{level + 2}>" if level else _bold_line(words)
        case Items(items):
            return "<ul>\n" + "\n".join(f"<li>{_html_words(words)}</li>" for words in items) + "\n</ul>"
        case Grid():
            return _html_table(part)
        case _:
            return f"<p>{_html_words(part)}</p>"


def _bold_line(words: Words) -> str:
    return f"<p><strong>{_html_words(words)}</strong></p>"


def _html_table(grid: Grid) -> str:
    sides = grid.sides()

    def line(tag: str, name: str, cells: Sequence[Words]) -> str:
        indent = "; padding-left: 2em" if name.startswith("  ") else ""
        first = f'<th style="text-align: left{indent}">{_html_words(name.strip())}</th>'
        return f"<tr>{first}{''.join(_html_cell(tag, *each) for each in zip(sides, cells, strict=True))}</tr>"

    rows = "\n".join(line("td", name, cells) for name, cells in grid.rows)
    above = ["".join(f'<th colspan="{n}">{_html_words(text)}</th>' for text, n in level) for level in grid.above]
    names = line("th", grid.corner, grid.heads if grid.above else grid.columns)
    head = "\n".join([*(f"<tr><th></th>{level}</tr>" for level in above), names])
    return f"<table>\n<thead>\n{head}\n</thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _html_cell(tag: str, side: str, cell: Words) -> str:
    return f'<{tag} style="text-align: {side}">{_html_words(cell)}</{tag}>'
