"""Tables in LaTeX, which pdflatex compiles: what stands in a file never is markup."""

from __future__ import annotations

import io
import re
import subprocess
from pathlib import Path

import pypdf
import pytest

import karat
from karat.output.papers import Printed, latex
from tests.output.every import NAMES, every, names_in
from tests.output.nasty import BEE

# A sheet that is wide enough for every table; pdflatex has no letter for some of the names, so it is told one.
DOCUMENT = rf"""\documentclass{{article}}
\usepackage{{booktabs}}
\usepackage{{graphicx}}
\pdfpagewidth=200cm
\pdfpageheight=100cm
\textwidth=190cm
\textheight=90cm
\DeclareUnicodeCharacter{{{ord(BEE):X}}}{{bee}}
\begin{{document}}
%s
\end{{document}}
"""

pytestmark = pytest.mark.latex


def compiled(tables: str, folder: Path) -> str:
    """The text of the pages that pdflatex makes of tables, without spaces: it sets them as it likes."""
    (folder / "paper.tex").write_text(DOCUMENT % tables, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert re.findall(r"^(?:Missing character|LaTeX Warning: (?!Reference)).*", done.stdout, re.M) == []
    pages = pypdf.PdfReader(io.BytesIO((folder / "paper.pdf").read_bytes())).pages
    return "".join("".join(page.extract_text() for page in pages).split())


# How the letters of TeX's first fonts look to a reader of PDFs; an underscore is a line, and no letter there.
LOOKS = str.maketrans(
    {'"': "”", "'": "’", "`": "‘", "^": "ˆ", "~": "˜", "_": "", "−": "-", "…": "...", BEE: "bee", " ": ""}
)


@pytest.mark.parametrize("name", NAMES)
def test_pdflatex_reads_the_tables_of_every_result_as_they_are_meant(name: str, tmp_path: Path) -> None:
    tables = karat.render(every()[name], "latex")
    said = compiled(tables, tmp_path)
    captions = re.findall(r"Table\d+:", said)
    assert captions == [f"Table{n}:" for n in range(1, len(re.findall(r"\\begin\{table\*?\}", tables)) + 1)]
    for each in names_in(name):
        assert each.translate(LOOKS) in said, each


def test_every_sign_is_shown_as_it_is(tmp_path: Path) -> None:
    signs = [*map(chr, range(ord("!"), ord("~") + 1)), "--", "---", *"±≥≤∞→↓↑"]
    table = Printed("Signs.", ["sign", "shown"], [[(f"({sign})", [sign]) for sign in signs]])
    said = compiled(latex([table]), tmp_path)
    lost = [sign for sign in signs if f"({sign})".translate(LOOKS) + sign.translate(LOOKS) not in said]
    assert lost == []
