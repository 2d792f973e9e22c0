"""What `karat pairs mine` and `karat homogeneity` say, on standard output and beside it."""

from __future__ import annotations

import json
from pathlib import Path

import click.testing
import pytest

from karat.cli import karat
from karat.errors import KaratError

LISTS = {"d1": ["trees", "graphs"], "d2": ["graphs", "trees", "nets"], "d3": ["bees"], "d4": ["trees", "graphs"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a corpus and a run that predicts the references."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("corpus.jsonl", "Trees and nets."), ("run.jsonl", None)):
        rows = ({"id": i, "keyphrases": each} | ({"text": text} if text else {}) for i, each in LISTS.items())
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("pairs.csv").write_text("a,b\nd1,d2\nd1,d3\n")
    return tmp_path


def call(*arguments: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(karat, arguments)


def failure(*arguments: str) -> str:
    """What is said of bad input."""
    done = call(*arguments)
    assert isinstance(done.exception, KaratError | SystemExit), done
    return str(done.exception) if isinstance(done.exception, KaratError) else done.stderr


@pytest.mark.usefixtures("folder")
def test_pairs_go_to_standard_output_and_what_was_found_beside_it() -> None:
    done = call("pairs", "mine", "corpus.jsonl")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"a": "d1", "b": "d2", "jaccard": 2 / 3},
        {"a": "d2", "b": "d4", "jaccard": 2 / 3},
    ]
    assert done.stderr == (
        "note: 2 pairs over 3 of 4 documents of corpus\nnote: a lower --min gives no more pairs, down to .05\n"
    )
    assert call("pairs", "mine", "corpus.jsonl", "-q").stderr == ""


@pytest.mark.usefixtures("folder")
def test_pairs_that_were_written_can_be_looked_at() -> None:
    assert call("pairs", "mine", "corpus.jsonl", "--identical", "keep", "-o", "p.tsv").stdout == ""
    done = call("homogeneity", "corpus.jsonl", "p.tsv", "run.jsonl", "-f", "json", "--resamples", "99")
    found = json.loads(done.stdout)
    assert list(found)[:3] == ["signatures", "rows", "notes"]
    [row] = found["rows"]
    assert (row["pairs"], row["documents"], row["hooper"]) == (3, 3, pytest.approx((1 + 2 / 3 + 2 / 3) / 3))
    fields = "corpus system protocol pairs documents hooper hooper_ci rodgers rodgers_ci generated"
    assert list(row)[:12] == [*fields.split(), "generated_micro", "generated_mean"]
    fields = "undefined phrases_per_document unrelated_hooper unrelated_pairs components largest_component"
    assert list(row)[-6:] == fields.split()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pairs", "mine", "corpus.jsonl", "--min", "2"), "min is a number above 0 and up to 1, not 2"),
        (("pairs", "mine", "corpus.jsonl", "-o", "no/p.jsonl"), "no: there is no such folder"),
        (("pairs", "mine", "none.jsonl"), "none.jsonl: there is no such file"),
        (("pairs", "mine", "corpus.jsonl", "--by", "embedding", "--model", "bert"), "unknown embedder 'bert'"),
        (("homogeneity", "corpus.jsonl", "none.csv", "run.jsonl"), "none.csv: there is no such file"),
        (("homogeneity", "corpus.jsonl", "pairs.csv", "run.jsonl", "--cutoff", "V"), "not 'V'"),
        (("homogeneity", "corpus.jsonl", "pairs.csv", "run.jsonl", "-o", "x.karat"), "this verb writes no .karat file"),
        (("homogeneity", "corpus.jsonl", "corpus.jsonl", "run.jsonl"), "corpus.jsonl:1: no a (there is id, keyphrases"),
        (("homogeneity", "corpus.jsonl", "pairs.csv"), "Missing argument 'RUN...'"),
        (
            ("homogeneity", "corpus.jsonl", "pairs.csv", "run.jsonl", "-o", "x.csv", "--pairs-out", "x.csv"),
            "-o and --pairs-out are both x.csv: name two files",
        ),
        (
            ("homogeneity", "corpus.jsonl", "pairs.csv", "run.jsonl", "--pairs-out", "run.jsonl"),
            "run.jsonl",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments: tuple[str, ...], said: str) -> None:
    assert said in failure(*arguments)


@pytest.mark.usefixtures("folder")
def test_a_pair_of_an_unknown_document_names_file_and_line() -> None:
    Path("pairs.csv").write_text("a,b\nd1,d2\nd1,d33\n")
    assert failure("homogeneity", "corpus.jsonl", "pairs.csv", "run.jsonl") == (
        "pairs.csv:3: there is no document 'd33' in corpus.jsonl; did you mean 'd3' or 'd1' or 'd2'?"
    )


@pytest.mark.usefixtures("folder")
def test_a_run_without_one_side_is_named() -> None:
    Path("run.jsonl").write_text('{"id": "d1", "keyphrases": ["a"]}\n{"id": "d2", "keyphrases": ["a"]}\n')
    assert failure("homogeneity", "corpus.jsonl", "pairs.csv", "run.jsonl") == (
        "run.jsonl: no predictions for document 'd3' of the pair on line 3 of pairs.csv; take it as empty with "
        "--missing empty, or leave the pair out with --missing skip"
    )
    done = call("homogeneity", "corpus.jsonl", "pairs.csv", "run.jsonl", "--missing", "skip", "--resamples", "99")
    assert "note: run: 1 of 2 pairs left out" in done.stdout


@pytest.mark.usefixtures("folder")
def test_a_second_corpus_is_the_side_b() -> None:
    Path("other.jsonl").write_text('{"id": "p1", "text": "Graphs."}\n')
    Path("run.jsonl").write_text('{"id": "d1", "keyphrases": ["tree"]}\n{"id": "p1", "keyphrases": ["trees"]}\n')
    Path("pairs.csv").write_text("a,b\nd1,p1\n")
    assert "there is no document 'p1' in corpus.jsonl" in failure(
        "homogeneity", "corpus.jsonl", "pairs.csv", "run.jsonl"
    )
    done = call("homogeneity", "corpus.jsonl", "pairs.csv", "run.jsonl", "--reformulations", "other.jsonl", "-f", "csv")
    assert "corpus,system,run,karat,1,2,1.0," in done.stdout
