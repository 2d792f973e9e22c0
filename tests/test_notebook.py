"""The notebook of the documentation shows what its cells give.

Its code cells are run in their order in one namespace, as Jupyter does: what is printed is a stream, what the last line
of a cell gives is shown in every form it has. With KARAT_REWRITE=1 the outputs are written anew.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
REWRITE = bool(os.environ.get("KARAT_REWRITE"))
FORMS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}
DRAWN = "image/svg+xml"  # letters are as wide as the fonts of a computer are, so pictures are not compared


def run(source: str, names: dict[str, Any], place: str) -> tuple[str, Any]:
    """What a cell prints, and what its last line gives."""
    tree = ast.parse(source, place)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, place, "exec"), names)
        given = eval(compile(ast.Expression(last.value), place, "eval"), names) if isinstance(last, ast.Expr) else None
    return printed.getvalue(), given


def shown(given: Any) -> dict[str, list[str]]:
    """A value in every form in which a notebook can show it."""
    if hasattr(given, "_repr_mimebundle_"):
        forms = given._repr_mimebundle_()
    else:
        forms = {form: getattr(given, name)() for form, name in FORMS.items() if hasattr(given, name)}
        forms["text/plain"] = str(given) if hasattr(given, "_repr_pretty_") else repr(given)
    return {form: text.splitlines(keepends=True) for form, text in forms.items() if text}


def outputs(cell: dict[str, Any], count: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a code cell, as a notebook holds them."""
    printed, given = run("".join(cell["source"]), names, f"{NOTEBOOK.name}, cell {cell['id']}")
    found: list[dict[str, Any]] = []
    if printed:
        found.append({"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)})
    if given is not None:
        found.append({"data": shown(given), "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return found


def without_pictures(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each | {"data": {k: v for k, v in each.get("data", {}).items() if k != DRAWN}} for each in found]


def written(notebook: dict[str, Any]) -> str:
    """The one way in which a notebook is written."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(NOTEBOOK.read_text())
    return found


def test_every_cell_gives_what_the_notebook_shows(
    notebook: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(cells, 1):
        found = outputs(cell, count, names)
        if REWRITE:
            cell["outputs"], cell["execution_count"] = found, count
        assert cell["execution_count"] == count, cell["id"]
        assert without_pictures(cell["outputs"]) == without_pictures(found), cell["id"]
    if REWRITE:
        NOTEBOOK.write_text(written(notebook))
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_the_notebook_is_the_same_bytes_wherever_it_is_made(notebook: dict[str, Any]) -> None:
    assert NOTEBOOK.read_text() == written(notebook)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(
        set(cell) <= {"cell_type", "execution_count", "id", "metadata", "outputs", "source"}
        for cell in notebook["cells"]
    )
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    assert str(ROOT) not in NOTEBOOK.read_text()


def test_its_links_lead_to_pages_of_the_documentation(notebook: dict[str, Any]) -> None:
    text = "".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert links
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
