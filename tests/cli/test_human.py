"""`karat human` as a command: wide tables, the measures of Kim, and weights that are learned into a file."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.test_output import karat

GOLDEN = Path(__file__).parents[1] / "golden"
WIDE = str(GOLDEN / "human.wide.csv")


def refusal(*flags: str, cwd: Path) -> str:
    done = karat("human", *flags, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, b"")
    assert "Traceback" not in done.stderr.decode()
    return done.stderr.decode().splitlines()[-1]


def test_weights_are_learned_into_a_file_and_used_by_scores(tmp_path: Path) -> None:
    done = karat("human", WIDE, "-m", "overlap", "--learn", "weights.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    shown = done.stdout.decode()
    assert "placed (learned)*" in shown
    assert "Weights by place, learned from 240 pairs" in shown
    weights = json.loads((tmp_path / "weights.json").read_text())
    assert weights["kind"] == "weights by place"
    (tmp_path / "corpus.jsonl").write_text('{"id": "1", "keyphrases": ["effective grid"]}\n')
    (tmp_path / "run.jsonl").write_text('{"id": "1", "keyphrases": ["grid"]}\n')
    metric = "soft_f,score=placed:weights.json"
    found = karat("score", "corpus.jsonl", "run.jsonl", "-m", metric, "-f", "json", cwd=tmp_path)
    first = weights["places"][1] * weights["first"]
    assert abs(json.loads(found.stdout)["rows"][0]["value"] - 1 / (1 + first)) < 1e-9


def test_the_output_of_learning_is_checked_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("prediction,reference,ana\na,a b,1\n")
    assert "nowhere: there is no such folder" in refusal("wide.csv", "--learn", "nowhere/w.json", cwd=tmp_path)
    said = refusal("wide.csv", "--learn", "wide.csv", cwd=tmp_path)
    assert "wide.csv" in said
    assert (tmp_path / "wide.csv").read_text().startswith("prediction,reference")
    assert "it takes 10 pairs at least" in refusal("wide.csv", "-m", "overlap", "--learn", "w.json", cwd=tmp_path)
    assert not (tmp_path / "w.json").exists()


def test_bad_scores_are_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("prediction,reference,ana,ben\na,a b,1,x\n")
    assert "wide.csv:2: column 'ben': the score 'x' is not a finite number" in refusal("wide.csv", cwd=tmp_path)
    (tmp_path / "wide.csv").write_text("prediction,reference,ana,ben\na,a b,1,9\n")
    said = refusal("wide.csv", "--scale", "0:4", cwd=tmp_path)
    assert "wide.csv:2: column 'ben': the score 9 is outside the scale, which is from 0 to 4" in said


def test_the_columns_that_are_annotators_can_be_said(tmp_path: Path) -> None:
    text = "prediction,reference,comment,ana,ben\na,a b,fine,1,2\nb c,a b c,,2,3\nc,d c,,0,1\n"
    (tmp_path / "wide.csv").write_text(text)
    flags = ("wide.csv", "--annotators", "ana,ben", "-m", "overlap", "-f", "json")
    found = json.loads(karat("human", *flags, cwd=tmp_path).stdout)
    assert [row["annotator"] for row in found["annotators"]] == ["ana", "ben"]
