"""Tables in Typst, which Typst itself compiles and reads back: what stands in a file never is markup."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typst
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.inert import inert
from karat.output.markup import Marked, bold
from karat.output.papers import Printed, latex, literal, tex
from karat.output.papers import typst as written
from tests.forked import program
from tests.output.every import NAMES, every, names_in

DATA = Path(__file__).parents[1] / "golden"


def figures(text: str) -> list[dict[str, Any]]:
    """The figures of a document as Typst sees them."""
    found: list[dict[str, Any]] = json.loads(typst.query(text.encode(), "figure"))
    return found


def texts(content: Any) -> Iterator[str]:
    """The texts of a piece of content, in their order."""
    if isinstance(content, list):
        for each in content:
            yield from texts(each)
    elif isinstance(content, dict) and content.get("func") == "text":
        yield content["text"]
    elif isinstance(content, dict):
        yield from texts([content[name] for name in ("body", "children") if name in content])


@pytest.mark.parametrize("name", NAMES)
def test_typst_reads_the_tables_of_every_result_as_they_are_meant(name: str) -> None:
    found = every()[name]
    written_out = karat.render(found, "typst")
    tables = figures(written_out)
    bodies = json.loads(typst.query(written_out.encode(), "table"))  # one that is made smaller stands within a layout
    assert len(bodies) == len(tables) == len(re.findall(r"\\begin\{table\*?\}", karat.render(found, "latex")))
    for table, body in zip(tables, bodies, strict=True):
        [caption], cells = texts(table["caption"]["body"]), list(texts(body))
        assert len(caption) > 20
        assert len(cells) > 4
        assert table["kind"] == "table"
    said = [*texts(bodies), *texts([table["caption"]["body"] for table in tables])]
    said += texts(json.loads(typst.query(written_out.encode(), "par")))
    for each in names_in(name):
        assert any(each in text for text in said), each


def test_groups_have_rules_heads_span_and_the_best_is_bold() -> None:
    table = Printed(
        "Scores.",
        ["system", "f1@5", "f1@M"],
        [[("one", [(bold(".5"), Marked("a", "raised")), ".4"])], [("two", []), ("  of it", [".3", "−.1"])]],
        above=[[("bees", 2)], [("present", 1), ("", 1)]],
        hang=[True, False],
        below=["mean", "micro"],
    )
    [figure] = figures(written([table]))
    rules = [each["func"] for each in figure["body"]["children"]]
    assert rules == ["hline", "header", "hline", *["cell"] * 3, "hline", *["cell"] * 4, "hline"]
    head = figure["body"]["children"][1]["children"]
    assert [list(texts(each)) for each in head[:2]] == [[""], ["bees"]]
    assert head[1]["colspan"] == 2
    assert list(texts(head)) == ["", "bees", "", "present", "", "system", "f1@5", "f1@M", "", "mean", "micro"]
    assert [(each["start"], each["end"]) for each in head if each["func"] == "hline"] == [(1, 3), (1, 2)]
    best = figure["body"]["children"][4]["body"]["children"]
    assert [each["func"] for each in best] == ["strong", "box"]
    assert list(texts(best)) == [".5", "a"]
    assert r"\textbf{.5}\rlap{\textsuperscript{a}} & .4 \\" in latex([table])
    head_of_latex = [
        r" & \multicolumn{2}{c}{bees} \\",
        r"\cmidrule(lr){2-3}",
        r" & \multicolumn{1}{c}{present} & \multicolumn{1}{c}{} \\",
        r"\cmidrule(lr){2-2}",
    ]
    assert "\n".join(head_of_latex) in latex([table])
    assert r"\quad of it & .3 & $-$.1 \\" in latex([table])


@given(st.lists(st.text(max_size=30), min_size=1, max_size=20))
def test_any_text_comes_back_from_typst_as_it_was_given(given: list[str]) -> None:
    shown = [inert(text) for text in given]
    code = f"#metadata(({', '.join(map(literal, given))},)) <said>"
    assert json.loads(typst.query(code.encode(), "<said>", field="value", one=True)) == shown


def test_signs_that_latex_lacks_are_written_as_mathematics() -> None:
    assert tex("Jaccard ≥ .5, ∞, a − b") == r"Jaccard $\geq$ .5, $\infty$, a $-$ b"


def test_the_suffix_typ_chooses_typst_and_notes_go_to_standard_error_where_the_file_alone_holds_them(
    tmp_path: Path,
) -> None:
    runs = ["synthetic.corpus.jsonl", "synthetic.alpha.jsonl", "synthetic.beta.jsonl"]
    asked = [*program(), "score", *runs, "-m", "f1@5", "-m", "f1@M:absent"]
    written_to = tmp_path / "table.typ"
    done = subprocess.run([*asked, "-o", str(written_to)], cwd=DATA, capture_output=True, check=True)
    shown = subprocess.run([*asked, "-f", "typst"], cwd=DATA, capture_output=True, check=True)
    assert written_to.read_bytes() == shown.stdout
    assert shown.stderr == b""
    notes = [line.removeprefix(b"note: ") for line in done.stderr.splitlines()]
    assert notes
    assert [note for note in notes if note not in shown.stdout] == []
    [figure] = figures(written_to.read_text())
    [caption] = texts(figure["caption"]["body"])
    assert caption.startswith("synthetic.corpus, 400 documents, protocol karat, average mean-of-f. Documents left out")


# What the caption of each result must state, so that a table can stand alone in a paper.
STATED = {
    "Results": ("protocol karat", "average mean-of-f, micro"),
    "Audit": ("under each protocol", "Average: mean-of-f under karat"),
    "Comparison": ("protocol karat", "average: mean-of-f", "paired randomisation", "step-down max-T"),
    "Check": ("paired randomisation", "Holm"),
    "Tables": ("protocol karat", "average mean-of-f"),
    "Reproduction": ("protocol karat", "average: mean-of-f", "t on the logit scale"),
    "Description": ("protocol karat",),
    "NearMisses": ("protocol karat",),
    "Confidence": ("protocol karat",),
    "Overlap": ("protocol karat",),
    "Homogeneity": ("protocol karat",),
    "Study": ("Protocol karat",),
    "Filtered": ("protocol karat",),
}


@pytest.mark.parametrize("name", STATED)
def test_every_caption_states_protocol_average_and_tests(name: str) -> None:
    for figure in figures(karat.render(every()[name], "typst")):
        [caption] = texts(figure["caption"]["body"])
        assert [said for said in STATED[name] if said not in caption] == []


def test_the_tests_of_homogeneity_stand_with_the_table_that_has_their_p() -> None:
    tables = figures(karat.render(every()["Homogeneity"], "typst"))
    captions = ["".join(texts(each["caption"]["body"])) for each in tables]
    [compared] = [each for each in captions if each.startswith("Systems compared")]
    assert "t with dyadic standard errors" in compared
    assert "adjusted by step-down max-T over all pairs of systems on one measure" in compared
