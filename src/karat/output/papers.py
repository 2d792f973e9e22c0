"""Tables for papers, in LaTeX and in Typst: a result says its tables once, and both are written of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from karat.output.markup import Line, Style, Words, seen, spans


@dataclass(frozen=True, slots=True)
class Printed:
    """A table for a paper; what its numbers are stands in the caption."""

    caption: str
    heads: Sequence[str]  # the first one is above the names of the rows
    groups: Sequence[Sequence[Line]]  # rows, a rule between the groups
    above: Sequence[tuple[str, int]] = ()  # what stands above the other heads, and above how many of them
    below: Sequence[str] = ()  # what stands below each of them


def _lines(table: Printed) -> list[list[Line]]:
    return [list(rows) for rows in table.groups if rows]


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
}


def latex(tables: Iterable[Printed]) -> str:
    """A booktabs table for each."""
    return "\n".join(map(_booktabs, tables))


def tex(words: Words) -> str:
    r"""Words that LaTeX shows as they are.

    >>> tex("a_b ± 1"), tex("--x")
    ('a\\_b $\\pm$ 1', '-{}-x')
    """
    return "".join(_TEX_STYLE[style].format(_tex_letters(seen(text))) for text, style in spans(words))


def _tex_letters(text: str) -> str:
    """The letters of a text; hyphens are kept apart, as two would become a dash."""
    return "".join(_TEX.get(a, a) + ("{}" if a == b == "-" else "") for a, b in zip(text, f"{text[1:]} ", strict=True))


def _tex_row(name: str, cells: Sequence[Words]) -> str:
    indent = r"\quad " if name.startswith("  ") else ""
    return indent + " & ".join(map(tex, [name.strip(), *cells])) + r" \\"


def _booktabs(table: Printed) -> str:
    columns = len(table.heads) - 1
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{tex(table.caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * columns}}}",
        r"\toprule",
    ]
    if table.above:
        lines.append(
            " & " + " & ".join(rf"\multicolumn{{{n}}}{{c}}{{{tex(text)}}}" for text, n in table.above) + r" \\"
        )
    lines.append(_tex_row(table.heads[0], table.heads[1:]))
    if table.below:
        lines.append(_tex_row("", table.below))
    for rows in _lines(table):
        lines += [r"\midrule", *(_tex_row(*row) for row in rows)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


# ---------------------------------------------------------------------------------------------- Typst

_TYPST_STYLE: dict[Style | None, str] = {
    None: "{}",
    "bold": "strong({})",
    "code": "raw({})",
    "struck": "strike({})",
    "raised": "super({})",
}
_THIN = "table.hline(stroke: 0.5pt),"


def typst(tables: Iterable[Printed]) -> str:
    """A figure with a table for each."""
    return "\n".join(map(_figure, tables))


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
        f"align: ({'left, ' + 'right, ' * (len(table.heads) - 1)}),".replace(", )", ")"),
    ]
    body += ["stroke: none,", "table.hline(),", "table.header("]
    body += [f"  {line}" for line in _typst_head(table)] + ["),"]
    for rows in _lines(table):
        body += [_THIN, *(_typst_row(*row) for row in rows)]
    body.append("table.hline(),")
    inner = "\n".join(f"    {line}" for line in body)
    return f"#figure(\n  caption: {literal(table.caption)},\n  table(\n{inner}\n  ),\n)\n"
