"""`karat nearmiss` as a command: the file of pairs, and what it says of bad input."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.test_output import SYNTHETIC, karat

CORPUS = '{"id": "d1", "text": "Bees swarm.", "keyphrases": ["bee swarm", "zoology"]}\n'
RUN = '{"id": "d1", "keyphrases": ["swarm", "swarms of bees", "zoo"]}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "run.jsonl").write_text(RUN)
    (tmp_path / "other.jsonl").write_text('{"id": "d1", "keyphrases": ["swarm", "swarming"]}\n')
    return tmp_path


def refusal(folder: Path, *flags: str) -> str:
    """The last line that answers wrong arguments, where nothing is printed and no file is left."""
    before = sorted(folder.iterdir())
    done = karat("nearmiss", "corpus.jsonl", "run.jsonl", *flags, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert "Traceback" not in done.stderr.decode()
    assert sorted(folder.iterdir()) == before
    return done.stderr.decode().splitlines()[-1]


def test_all_pairs_are_written_once_whichever_runs_have_them(folder: Path) -> None:
    files = ("corpus.jsonl", "run.jsonl", "other.jsonl")
    done = karat("nearmiss", *files, "--all-pairs", "pairs.jsonl", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    pairs = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    assert pairs == [
        {"id": "d1", "prediction": prediction, "reference": "bee swarm"} for prediction in ("swarm", "swarms of bees")
    ]


def test_the_file_of_pairs_is_compressed_if_its_name_says_so(folder: Path) -> None:
    karat("nearmiss", "corpus.jsonl", "run.jsonl", "--all-pairs", "pairs.jsonl.gz", cwd=folder)
    assert len(gzip.decompress((folder / "pairs.jsonl.gz").read_bytes()).splitlines()) == 2


HEADER = "id,prediction,reference,relation,location,direction,complexity,words,similarity"


def test_a_table_of_pairs_has_their_classes(folder: Path) -> None:
    """By hand: bee swarm holds swarm, its head; of swarms of bees, the longer phrase, it holds the head, bees."""
    files = ("corpus.jsonl", "run.jsonl", "other.jsonl")
    done = karat("nearmiss", *files, "--all-pairs", "pairs.csv", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    assert (folder / "pairs.csv").read_text().splitlines() == [
        HEADER,
        "d1,swarm,bee swarm,part-of,head,shorter,simple,noun-noun,0.5",
        "d1,swarms of bees,bee swarm,overlap,head,longer,simple,noun-noun,0.6666666667",
    ]
    karat("nearmiss", *files, "--all-pairs", "pairs.tsv.gz", "-q", cwd=folder)
    tabs = gzip.decompress((folder / "pairs.tsv.gz").read_bytes()).decode().splitlines()
    assert tabs[0] == HEADER.replace(",", "\t")
    assert len(tabs) == 3


def test_only_pairs_of_a_relation_are_counted_and_written(folder: Path) -> None:
    flags = ("--relation", "include,part-of", "--all-pairs", "pairs.csv", "-f", "json")
    found = json.loads(karat("nearmiss", "corpus.jsonl", "run.jsonl", *flags, cwd=folder).stdout)
    [summary] = found["summary"]
    assert (summary["pairs"], summary["near_predictions"], found["options"]["relation"]) == (1, 1, "include,part-of")
    assert [line.split(",")[1] for line in (folder / "pairs.csv").read_text().splitlines()] == ["prediction", "swarm"]
    shown = karat("nearmiss", "corpus.jsonl", "run.jsonl", *flags[:2], cwd=folder).stdout.decode()
    assert "of the relation include or part-of to it; each prediction" in " ".join(shown.split())


def test_the_pairs_that_a_file_scores_are_scored_by_it(folder: Path) -> None:
    scores = [("swarm", 0.25), ("swarms of bees", 1.0)]
    lines = [{"prediction": prediction, "reference": "bee swarm", "score": score} for prediction, score in scores]
    (folder / "judged.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = karat("nearmiss", "corpus.jsonl", "run.jsonl", "--score", "file:judged.jsonl", "-f", "json", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    rows = [row for row in json.loads(done.stdout)["rows"] if row["kind"] == "direction"]
    assert {row["class"]: row["mean_score"] for row in rows} == {"shorter": 0.25, "longer": 1.0}


def test_the_bytes_are_the_same_on_several_processes_and_in_a_file(tmp_path: Path) -> None:
    whole = karat("nearmiss", *SYNTHETIC, "-f", "json").stdout
    assert json.loads(whole)["rows"]
    assert karat("nearmiss", *SYNTHETIC, "-f", "json", "-j", "2", PYTHONHASHSEED="3").stdout == whole
    karat("nearmiss", *SYNTHETIC, "-o", str(tmp_path / "found.json"))
    assert (tmp_path / "found.json").read_bytes() == whole


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--threshold", "2"], "a threshold is a number from 0 to 1, not 2"),
        (["--threshold", "nan"], "a threshold is a number from 0 to 1, not nan"),
        (["--score", "krm"], "unknown similarity 'krm'; did you mean 'kmr'?"),
        (["--score", "file:nothing.jsonl"], "nothing.jsonl"),
        (["--cutoff", "none"], "the cutoff of near misses is a number from 1 on, M, O or G, not 'none'"),
        (["--subset", "presnt"], "'presnt' is not one of 'all', 'present', 'absent'"),
        (["--examples", "-1"], "-1 is not in the range x>=0"),
        (
            ["-o", "x.karat"],
            "-o x.karat: this verb writes no .karat file; choose another suffix (known: .md, .html, .tex",
        ),
        (["-o", "x.doc"], ".doc is the suffix of no format (known: .md, .html, .tex, .typ, .csv, .json, .txt)"),
        (["--relation", "includes"], "unknown relation 'includes'; did you mean 'include'?"),
        (["--relation", "include,"], "unknown relation ''"),
        (["--all-pairs", "pairs.parquet"], "near misses are written as JSON lines, or as a table to .csv or .tsv"),
        (["--all-pairs", "nowhere/pairs.jsonl"], "nowhere: there is no such folder"),
        (["--all-pairs", "."], ".: is a directory, not a file"),
        (["--protocol", "karat,stemer=none"], "did you mean 'stemmer'?"),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_sentence(folder: Path, flags: list[str], said: str) -> None:
    assert said in refusal(folder, *flags)


def test_a_pair_that_a_file_does_not_score_is_named_and_no_half_file_is_left(folder: Path) -> None:
    (folder / "judged.jsonl").write_text('{"prediction": "swarm", "reference": "bee swarm", "score": 0.5}\n')
    said = refusal(folder, "--score", "file:judged.jsonl", "--all-pairs", "pairs.jsonl")
    assert "there is no score for the prediction 'swarms of bees' and the reference 'bee swarm'" in said


def test_a_run_without_documents_is_called_empty(folder: Path) -> None:
    (folder / "run.jsonl").write_text("")
    assert "run.jsonl" in refusal(folder)


def test_no_near_miss_at_all_is_said_so(folder: Path) -> None:
    (folder / "run.jsonl").write_text('{"id": "d1", "keyphrases": ["music"]}\n')
    done = karat("nearmiss", "corpus.jsonl", "run.jsonl", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "note: run, karat: no near miss: no unmatched prediction shares a word" in done.stdout.decode()
