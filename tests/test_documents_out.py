"""The values of each document in files: what is written is what the scores are made of."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

import karat
from karat.errors import InputError
from karat.formats import containers
from tests.forked import command

parquet: Any = pytest.importorskip("pyarrow.parquet")

DATA = Path(__file__).parent / "golden"
CORPUS, *RUNS = (str(DATA / f"synthetic.{name}.jsonl") for name in ("corpus", "alpha", "beta"))


@pytest.fixture(scope="module")
def results() -> karat.Results:
    return karat.score(CORPUS, *RUNS, protocol=["karat", "chan2019"])


def test_the_columns_of_a_parquet_file_make_the_numbers_of_the_json_output(tmp_path: Path) -> None:
    metrics = ("p@5:present", "r@M", "f1@5:absent/mean-of-f", "ndcg@10:present")
    asked = [word for metric in metrics for word in ("-m", metric)]
    files = ("-o", "all.json", "--documents-out", "values.parquet")
    done = command(tmp_path, "score", CORPUS, *RUNS, "--protocol", "karat", "--protocol", "ye2021", *asked, *files)
    assert done.returncode == 0, done.stderr
    rows = parquet.read_table(tmp_path / "values.parquet").to_pylist()
    scores = json.loads((tmp_path / "all.json").read_text())["rows"]
    assert len(scores) == 2 * 2 * 4
    for score in scores:
        own = [row for row in rows if (row["system"], row["protocol"]) == (score["system"], score["protocol"])]
        values = [row[f"{score['metric']}:{score['subset']}"] for row in own]
        defined = [value for value in values if value is not None]
        assert len(values) == score["documents"]
        assert len(values) - len(defined) == score["undefined"]
        assert fmean(defined) == pytest.approx(score["value"], rel=1e-12)
    assert [row["id"] for row in rows[: score["documents"]]] == karat.read(CORPUS).ids
    assert {row["corpus"] for row in rows} == {score["corpus"]}


@pytest.mark.parametrize("name", ["v.parquet", "v.jsonl", "v.csv", "v.tsv.gz", "v.parquet.gz"])
def test_every_kind_of_file_holds_the_values_of_the_scores(results: karat.Results, tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    assert results.save_documents(path) == []
    found = [row for _, row in containers.rows(path, containers.container_at(path))]
    assert list(found[0]) == ["corpus", "system", "protocol", "id", *(f"f1@{k}:{s}" for s in
                              ("present", "absent", "all") for k in ("5", "M", "O"))]  # fmt: skip
    for score in results.scores:
        own = [row for row in found if (row["system"], row["protocol"]) == (score.system, score.protocol)]
        values = [row[f"{score.request.label}:{score.request.subset}"] for row in own]
        read = [math.nan if value in (None, "") else float(value) for value in values]
        np.testing.assert_array_equal(read, score.per_document())


def test_averages_are_told_apart_where_there_are_several(tmp_path: Path) -> None:
    found = karat.score(CORPUS, RUNS[0], metrics=["f1@5", "map"], averages=True)
    row = next(iter(found.document_rows()))
    assert list(row)[4:] == ["f1@5:all/mean-of-f", "f1@5:all/f-of-means", "f1@5:all/micro", "map:all/mean"]
    assert row["f1@5:all/mean-of-f"] == row["f1@5:all/f-of-means"] == pytest.approx(row["f1@5:all/micro"])


def test_a_metric_whose_rows_are_not_one_a_document_is_left_out_and_named(tmp_path: Path) -> None:
    found = karat.score(CORPUS, RUNS[0], metrics=["found@5", "p@5:present"])
    [said] = found.save_documents(tmp_path / "v.parquet")
    assert said.endswith("v.parquet: without found@5:all, which has no value for each document")
    assert parquet.read_schema(tmp_path / "v.parquet").names[4:] == ["p@5:present"]
    with pytest.raises(InputError, match=r"w\.parquet: none of the metrics has a value for each document"):
        karat.score(CORPUS, RUNS[0], metrics=["found@5"]).save_documents(tmp_path / "w.parquet")
    assert not (tmp_path / "w.parquet").exists()


def test_corpora_of_other_metrics_have_empty_columns(tmp_path: Path) -> None:
    one = karat.score(karat.read(CORPUS, name="one"), RUNS[0], metrics=["p@5"])
    two = karat.score(karat.read(CORPUS, name="two"), RUNS[0], metrics=["r@5"])
    karat.collect([one, two]).save_documents(tmp_path / "v.parquet")
    table = parquet.read_table(tmp_path / "v.parquet").to_pydict()
    half = len(one.ids)
    assert table["corpus"] == ["one"] * half + ["two"] * half
    assert table["p@5:all"] == [*one.scores[0].per_document().tolist(), *[None] * half]
    assert table["r@5:all"] == [*[None] * half, *two.scores[0].per_document().tolist()]


def test_parquet_is_written_in_groups_also_where_the_first_has_no_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(containers, "ROWS_IN_GROUP", 2)
    documents = [
        {"id": str(n), "text": "deep nets", "keyphrases": ["deep nets" if n > 2 else "bees"]} for n in range(5)
    ]
    run = karat.Run.of([{"id": str(n), "keyphrases": ["deep nets"]} for n in range(5)], "r")
    karat.score(karat.Corpus.of(documents), run, metrics=["r@5:present"]).save_documents(tmp_path / "v.parquet")
    file = parquet.ParquetFile(tmp_path / "v.parquet")
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [2, 2, 1]
    assert file.read().column("r@5:present").to_pylist() == [None, None, None, 1.0, 1.0]


def test_a_failure_leaves_the_old_file(results: karat.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.parquet"
    path.write_bytes(b"old")
    monkeypatch.setattr(containers, "ROWS_IN_GROUP", 1)

    def broken(row: Any) -> Any:
        if row["id"] == results.ids[2]:
            raise InputError("no more")
        return row

    monkeypatch.setattr(containers, "as_row", broken)
    with pytest.raises(InputError, match="no more"):
        results.save_documents(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_overlap_has_the_shares_of_each_document(tmp_path: Path) -> None:
    done = command(tmp_path, "overlap", CORPUS, *RUNS, "--documents-out", "v.parquet", "-o", "v.json")
    assert done.returncode == 0, done.stderr
    rows = parquet.read_table(tmp_path / "v.parquet").to_pylist()
    for pair in json.loads((tmp_path / "v.json").read_text())["rows"]:
        own = [row for row in rows if row["subset"] == pair["subset"]]
        assert [row["id"] for row in own] == karat.read(CORPUS).ids
        for name in ("common_correct", "common_wrong"):
            defined = [row[name] for row in own if row[name] is not None]
            assert fmean(defined) == pytest.approx(pair[name], rel=1e-12)
            assert len(own) - len(defined) == pair["undefined"]


def test_saved_results_give_the_same_values(results: karat.Results, tmp_path: Path) -> None:
    results.save(tmp_path / "r.karat")
    results.save_documents(tmp_path / "a.csv")
    done = command(tmp_path, "results", "merge", "r.karat", "--documents-out", "b.csv", "-f", "json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    with (tmp_path / "b.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 4 * len(results.ids)


def test_one_file_is_not_written_twice(tmp_path: Path) -> None:
    done = command(tmp_path, "score", CORPUS, RUNS[0], "-o", "a.csv", "--documents-out", "a.csv")
    assert done.returncode == 2
    assert done.stderr == "karat: -o and --documents-out are both a.csv: name two files\n"
