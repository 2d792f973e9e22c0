"""Tables for papers, in LaTeX and in Typst: a result says its tables once, and both are written of them.

What stands before and after a table is its caption; lists, and texts without a table, are text between the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from karat.output.markup import Items, noted, seen, spans
from karat.table import Line, Style, Table, Words, lines_of, plain, sides_of


@dataclass(frozen=True, slots=True)
class Printed:
    """A table for a paper; what its numbers are stands in the caption."""

    caption: str
    heads: Sequence[str]  # the first one is above the names of the rows
    groups: Sequence[Sequence[Line]]  # rows, a rule between the groups
    above: Sequence[tuple[str, int]] = ()  # what stands above the other heads, and above how many of them
    below: Sequence[str] = ()  # what stands below each of them
    left: Sequence[bool] = ()  # whether each of their columns stands to the left; none without any

    def sides(self) -> list[str]:
        """Where the cells of each column stand, names first."""
        left = [True, *(self.left or [False] * (len(self.heads) - 1))]
        return ["left" if each else "right" for each in left]


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
    above = [(text, len(list(group))) for text, group in groupby(columns, key=lambda column: column.above)]
    return Printed(
        _caption(table),
        [table.corner, *(column.name for column in columns)],
        list(lines_of(table)),
        above if any(column.above for column in columns) else [],
        [column.below for column in columns] if any(column.below for column in columns) else [],
        sides_of(table),
    )


def _sentence(words: Words) -> str:
    text = plain(words).strip()
    return text if text.endswith((".", ":", "!", "?")) else f"{text}."


def _groups(table: Printed) -> list[Sequence[Line]]:
    return [rows for rows in table.groups if rows]


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
    "�": "?",
}
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
    return "".join(_TEX_STYLE[style].format(_tex_letters(seen(text))) for text, style in spans(words))


def _tex_letters(text: str) -> str:
    r"""The letters of a text; hyphens are kept apart, as two would become a dash, and blocks are as wide as in code.

    >>> _tex_letters("███ 5 %")
    '\\rule{1.5em}{1.5ex} 5 \\%'
    """
    pairs = zip(text, f"{text[1:]} ", strict=True)
    letters = "".join(_TEX.get(a, a) + ("{}" if a == b == "-" else "") for a, b in pairs)
    return re.sub("█+", lambda bar: rf"\rule{{{len(bar[0]) / 2:g}em}}{{1.5ex}}", letters)


def _tex_row(name: str, cells: Sequence[Words]) -> str:
    indent = r"\quad " if name.startswith("  ") else ""
    return indent + " & ".join(map(tex, [name.strip(), *cells])) + r" \\"


def _booktabs(table: Printed) -> str:
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{tex(table.caption)}}}",
        rf"\begin{{tabular}}{{{''.join(side[0] for side in table.sides())}}}",
        r"\toprule",
    ]
    if table.above:
        lines.append(
            " & " + " & ".join(rf"\multicolumn{{{n}}}{{c}}{{{tex(text)}}}" for text, n in table.above) + r" \\"
        )
    lines.append(_tex_row(table.heads[0], table.heads[1:]))
    if table.below:
        lines.append(_tex_row("", table.below))
    for rows in _groups(table):
        lines += [r"\midrule", *(_tex_row(*row) for row in rows)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


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
    return '"' + seen(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _typst(words: Words) -> str:
    """Words as an expression of Typst's code."""
    return " + ".join(_TYPST_STYLE[style].format(literal(text)) for text, style in spans(words)) or '""'


def _typst_row(name: str, cells: Sequence[Words]) -> str:
    indent = "h(1em) + " if name.startswith("  ") else ""
    return indent + ", ".join(map(_typst, [name.strip(), *cells])) + ","


def _typst_head(table: Printed) -> Iterator[str]:
    if table.above:
        over = (f"table.cell(colspan: {n}, align: center, {literal(text)})" for text, n in table.above)
        yield ", ".join([literal(""), *over]) + ","
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
        body += [_THIN, *(_typst_row(*row) for row in rows)]
    body.append("table.hline(),")
    inner = "\n".join(f"    {line}" for line in body)
    return f"#figure(\n  caption: {literal(table.caption)},\n  table(\n{inner}\n  ),\n)\n"
