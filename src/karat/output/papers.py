"""Tables for papers, in LaTeX and in Typst: a result says its tables once, and both are written of them.

What stands before and after a table is its caption; lists, and texts without a table, are text between the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeGuard

from karat.inert import inert
from karat.output.markup import Items, noted, spans
from karat.tabular import Line, Marked, Spans, Style, Table, Words, lines_of, plain, sides_of, spans_of


@dataclass(frozen=True, slots=True)
class Printed:
    """A table for a paper; what its numbers are stands in the caption."""

    caption: str
    heads: Sequence[str]  # the first one is above the names of the rows
    groups: Sequence[Sequence[Line]]  # rows, a rule between the groups
    above: Sequence[Spans] = ()  # what stands above the other heads, the outermost level first
    below: Sequence[str] = ()  # what stands below each of them
    left: Sequence[bool] = ()  # whether each of their columns stands to the left; none without any
    hang: Sequence[bool] = ()  # whether marks in each of their columns hang over; in none without any
    shrink: bool = False  # whether it is made smaller where it is wider than the page

    def sides(self) -> list[str]:
        """Where the cells of each column stand, names first."""
        left = [True, *(self.left or [False] * (len(self.heads) - 1))]
        return ["left" if each else "right" for each in left]

    def width(self) -> int:
        """How wide it is, in letters."""
        lines = [
            self.heads,
            *([name, *map(plain, cells)] for rows in self.groups for name, cells in rows if any(cells)),
        ]
        return sum(2 + max(map(len, column)) for column in zip(*lines, strict=True))


Piece = Printed | Items | Words  # words are a paragraph


def pieces_of(tables: Iterable[Table], notes: Iterable[str] = ()) -> Iterator[Piece]:
    """What LaTeX and Typst are made of: tables with their captions, and texts that no caption says."""
    every = list(tables)
    said = " ".join(_caption(table) for table in every if table.columns)
    for table in every:
        if table.columns:
            yield _printed(table)
        else:
            yield from (text for text in _texts(table) if plain(text).rstrip(".") not in said)
        if table.items:
            yield Items(table.items)
    yield from noted(notes)


def _texts(table: Table) -> Iterator[Words]:
    return (text for texts in ((table.title,), table.about, table.notes) for text in texts if text)


def _caption(table: Table) -> str:
    return table.caption or " ".join(map(_sentence, _texts(table)))


def _printed(table: Table) -> Printed:
    columns = table.columns
    return Printed(
        _caption(table),
        [table.corner, *(column.name for column in columns)],
        list(lines_of(table)),
        spans_of(columns),
        [column.below for column in columns] if any(column.below for column in columns) else [],
        sides_of(table),
        [column.kind.hang for column in columns],
        table.shrink,
    )


def _sentence(words: Words) -> str:
    text = plain(words).strip()
    return text if text.endswith((".", ":", "!", "?")) else f"{text}."


def _groups(table: Printed) -> list[Sequence[Line]]:
    return [rows for rows in table.groups if rows]


def _ends_raised(cell: Words) -> TypeGuard[tuple[str | Marked, ...]]:
    """Whether a cell ends with a raised mark."""
    return not isinstance(cell, str) and bool(cell) and isinstance(cell[-1], Marked) and cell[-1].style == "raised"


def _under(level: Spans) -> list[tuple[int, int]]:
    """(the first column, the one after the last) of each text of a level; names of rows are column 0."""
    ends = list(accumulate((n for _, n in level), initial=1))
    return [(start, end) for (text, _), start, end in zip(level, ends[:-1], ends[1:], strict=True) if text]


# ---------------------------------------------------------------------------------------------- LaTeX

_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "_": r"\_",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "$": r"\$",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "∞": r"$\infty$",
    "→": r"$\rightarrow$",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "�": "?",
}
WIDE = 80  # a table of more letters that may be made smaller spans both columns of a page
_SHRUNK = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"
_TEX_STYLE: dict[Style | None, str] = {
    None: "{}",
    "bold": r"\textbf{{{}}}",
    "code": r"\texttt{{{}}}",
    "struck": r"\emph{{{}}}",
    "raised": r"\textsuperscript{{{}}}",
    "underlined": r"\underline{{{}}}",
}


def latex(pieces: Iterable[Piece]) -> str:
    """A booktabs table for each, and text."""
    return "\n".join(map(_tex_piece, pieces))


def _tex_piece(piece: Piece) -> str:
    match piece:
        case Printed():
            return _booktabs(piece)
        case Items(items):  # braces, or a bracket that begins an item would be its label
            listed = "\n".join(rf"\item {{}}{tex(words)}" for words in items)
            return f"\\begin{{itemize}}\n{listed}\n\\end{{itemize}}\n"
        case _:
            return f"\\noindent {tex(piece)}\n"


def tex(words: Words) -> str:
    r"""Words that LaTeX shows as they are.

    >>> tex("a_b ± 1"), tex("--x")
    ('a\\_b $\\pm$ 1', '-{}-x')
    """
    return "".join(_TEX_STYLE[style].format(_tex_letters(inert(text))) for text, style in spans(words))


def _tex_letters(text: str) -> str:
    r"""The letters of a text; hyphens are kept apart, as two would become a dash, and blocks are as wide as in code.

    >>> _tex_letters("███ 5 %")
    '\\rule{1.5em}{1.5ex} 5 \\%'
    """
    pairs = zip(text, f"{text[1:]} ", strict=True)
    letters = "".join(_TEX.get(a, a) + ("{}" if a == b == "-" else "") for a, b in pairs)
    return re.sub("█+", lambda bar: rf"\rule{{{len(bar[0]) / 2:g}em}}{{1.5ex}}", letters)


def _tex_row(name: str, cells: Sequence[Words], hang: Sequence[bool] = ()) -> str:
    indent = r"\quad " if name.startswith("  ") else ""
    if cells and not any(cells):
        return rf"\multicolumn{{{len(cells) + 1}}}{{l}}{{{indent}{tex(name.strip())}}} \\"
    hung = zip(cells, hang or [False] * len(cells), strict=False)  # a name alone has no cells
    shown = [_tex_hanging(cell) if hangs else tex(cell) for cell, hangs in hung]
    row = indent + " & ".join([tex(name.strip()), *shown]) + r" \\"
    # Braces, or a bracket or a star would be an argument of the \\ or of the rule before.
    return "{}" + row if row.startswith(("[", "*")) else row


def _tex_hanging(cell: Words) -> str:
    """A cell whose last mark, if it ends with one, takes no room."""
    if not _ends_raised(cell):
        return tex(cell)
    return tex(cell[:-1]) + rf"\rlap{{{tex(cell[-1:])}}}"


def _tex_head(table: Printed) -> Iterator[str]:
    """What stands above the rows: each level with rules below its texts, then the names of columns."""
    for level in table.above:
        yield " & " + " & ".join(rf"\multicolumn{{{n}}}{{c}}{{{tex(text)}}}" for text, n in level) + r" \\"
        yield " ".join(rf"\cmidrule(lr){{{start + 1}-{end}}}" for start, end in _under(level))
    yield _tex_row(table.heads[0], table.heads[1:])
    if table.below:
        yield _tex_row("", table.below)


def _booktabs(table: Printed) -> str:
    wide = table.shrink and table.width() > WIDE
    kind = "table*" if wide else "table"
    lines = [
        r"% needs \usepackage{booktabs}" + (r" and \usepackage{graphicx}" if wide else ""),
        rf"\begin{{{kind}}}",
        r"\centering",
        rf"\caption{{{tex(table.caption)}}}",
        *([_SHRUNK] if wide else []),
        rf"\begin{{tabular}}{{{''.join(side[0] for side in table.sides())}}}",
        r"\toprule",
        *_tex_head(table),
    ]
    for rows in _groups(table):
        lines += [r"\midrule", *(_tex_row(*row, table.hang) for row in rows)]
    end = [r"\bottomrule", r"\end{tabular}" + ("}" if wide else ""), rf"\end{{{kind}}}"]
    return "\n".join([*lines, *end]) + "\n"


# ---------------------------------------------------------------------------------------------- Typst

_TYPST_STYLE: dict[Style | None, str] = {
    None: "{}",
    "bold": "strong({})",
    "code": "raw({})",
    "struck": "strike({})",
    "raised": "super({})",
    "underlined": "underline({})",
}
_THIN = "table.hline(stroke: 0.5pt),"
_FITTED = """layout(size => {
    let whole = %s
    let wide = measure(whole).width
    if wide > size.width { scale(size.width / wide * 100%%, reflow: true, whole) } else { whole }
  })"""


def typst(pieces: Iterable[Piece]) -> str:
    """A figure with a table for each, and text."""
    return "\n".join(map(_typst_piece, pieces))


def _typst_piece(piece: Piece) -> str:
    match piece:
        case Printed():
            return _figure(piece)
        case Items(items):
            return f"#list({', '.join(map(_typst, items))})\n"
        case _:
            return f"#par({_typst(piece)})\n"


def literal(text: str) -> str:
    r"""A text as a string of Typst's code, in which nothing is markup.

    >>> literal('#let "x" = \\y')
    '"#let \\"x\\" = \\\\y"'
    """
    return '"' + inert(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _typst(words: Words) -> str:
    """Words as an expression of Typst's code."""
    return " + ".join(_TYPST_STYLE[style].format(literal(text)) for text, style in spans(words)) or '""'


def _typst_row(name: str, cells: Sequence[Words], hang: Sequence[bool] = ()) -> str:
    indent = "h(1em) + " if name.startswith("  ") else ""
    if cells and not any(cells):
        return f"table.cell(colspan: {len(cells) + 1}, {indent}{_typst(name.strip())}),"
    hung = zip(cells, hang or [False] * len(cells), strict=False)  # a name alone has no cells
    shown = [_typst_hanging(cell) if hangs else _typst(cell) for cell, hangs in hung]
    return indent + ", ".join([_typst(name.strip()), *shown]) + ","


def _typst_hanging(cell: Words) -> str:
    """A cell whose last mark, if it ends with one, takes no room."""
    if not _ends_raised(cell):
        return _typst(cell)
    return f"{_typst(cell[:-1])} + box(width: 0pt, align(left, {_typst(cell[-1:])}))"


def _typst_head(table: Printed) -> Iterator[str]:
    for level in table.above:
        over = (f"table.cell(colspan: {n}, align: center, {literal(text)})" for text, n in level)
        yield ", ".join([literal(""), *over]) + ","
        yield " ".join(f"table.hline(start: {start}, end: {end}, stroke: 0.3pt)," for start, end in _under(level))
    yield _typst_row(table.heads[0], table.heads[1:])
    if table.below:
        yield _typst_row("", table.below)


def _figure(table: Printed) -> str:
    """Everything is code: text stands in strings alone."""
    body = [
        f"columns: {len(table.heads)},",
        f"align: ({', '.join(table.sides())}),",
    ]
    body += ["stroke: none,", "table.hline(),", "table.header("]
    body += [f"  {line}" for line in _typst_head(table)] + ["),"]
    for rows in _groups(table):
        body += [_THIN, *(_typst_row(*row, table.hang) for row in rows)]
    body.append("table.hline(),")
    inner = "\n".join(f"    {line}" for line in body)
    written = f"table(\n{inner}\n  )"
    shown = f"kind: table,\n  {_FITTED % written}" if table.shrink and table.width() > WIDE else written
    return f"#figure(\n  caption: {literal(table.caption)},\n  {shown},\n)\n"
