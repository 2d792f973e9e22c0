"""Runs of several models that are kept in a folder: what is there is not predicted again, nothing else is touched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread

import pytest

import karat
from karat.cli.shared import runs_of
from karat.corpus import Corpus, Document
from karat.errors import InputError
from karat.formats.output import claimed
from karat.models.run import PredictOptions
from karat.models.several import RECORD, Several, parse_models, plain_name, predict_each

SEEN: list[str] = []  # the documents for which `counting` was asked
FAILING: list[str] = []  # those on which it fails


def counting(documents: list[Document]) -> list[list[str]]:
    for each in documents:
        if each.id in FAILING:
            raise ValueError("out of order")
        SEEN.append(str(each.id))
    return [[(each.text or "").split()[0]] for each in documents]


@pytest.fixture(autouse=True)
def forget() -> None:
    SEEN.clear()
    FAILING.clear()


def corpus(count: int = 3, name: str = "bees") -> Corpus:
    return Corpus.of([{"id": f"d{n}", "text": f"Bees dance {n} times."} for n in range(count)], name=name)


def predicted(folder: Path, given: Corpus | None = None, n: int = 10) -> Several:
    return predict_each(given or corpus(), [counting], PredictOptions(n=n), folder)


def phrases(found: Several) -> list[Sequence[str | None] | None]:
    return [each.keyphrases for each in found.runs[0]]


def test_a_run_that_is_there_is_not_predicted_again(tmp_path: Path) -> None:
    first = predicted(tmp_path / "runs")
    assert SEEN == ["d0", "d1", "d2"]
    again = predicted(tmp_path / "runs")
    assert SEEN == ["d0", "d1", "d2"]
    assert phrases(first) == phrases(again) == [["Bees"]] * 3
    assert again.provenance == ("counting: what was predicted before is taken as it is",)
    assert again.notes == first.notes
    assert sorted(path.name for path in (tmp_path / "runs" / "bees").iterdir()) == [RECORD, "counting.jsonl"]


def test_runs_are_where_other_verbs_find_them(tmp_path: Path) -> None:
    predicted(tmp_path / "runs")
    [path] = runs_of(str(tmp_path / "runs"), "bees")
    assert [each.keyphrases for each in karat.read_run(path)] == [["Bees"]] * 3


@pytest.mark.parametrize("change", ["options", "documents"])
def test_other_documents_or_options_are_predicted_anew(change: str, tmp_path: Path) -> None:
    predicted(tmp_path / "runs")
    found = predicted(tmp_path / "runs", corpus(4)) if change == "documents" else predicted(tmp_path / "runs", n=5)
    assert len(SEEN) == (7 if change == "documents" else 6)
    assert len(phrases(found)) == (4 if change == "documents" else 3)
    back = predicted(tmp_path / "runs")
    assert len(phrases(back)) == 3


def test_what_failed_goes_on_where_it_was(tmp_path: Path) -> None:
    many = corpus(80)
    FAILING.append("d70")
    with pytest.raises(InputError, match="counting fails on document 'd70'"):
        predicted(tmp_path / "runs", many)
    FAILING.clear()
    done = set(SEEN)
    assert {"d0", "d31"} <= done
    SEEN.clear()
    found = predicted(tmp_path / "runs", many)
    assert "d0" not in SEEN
    assert "d70" in SEEN
    assert len(phrases(found)) == 80
    assert any("went on after" in note for note in found.provenance)


def test_a_run_that_is_whole_but_was_not_yet_noted_is_taken(tmp_path: Path) -> None:
    predicted(tmp_path / "runs")
    path = tmp_path / "runs" / "bees" / RECORD
    record = json.loads(path.read_text())
    whole = record["counting.jsonl"]["fingerprint"]
    path.write_text(json.dumps({"counting.jsonl": {"begun": whole}}))  # as before the end of the first prediction
    SEEN.clear()
    predicted(tmp_path / "runs")
    assert SEEN == []
    path.write_text(json.dumps({"counting.jsonl": {"begun": "other work"}}))
    predicted(tmp_path / "runs")
    assert SEEN == ["d0", "d1", "d2"]


def test_a_file_that_somebody_else_wrote_or_changed_is_not_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "runs" / "bees" / "counting.jsonl"
    place.parent.mkdir(parents=True)
    place.write_text("mine\n")
    with pytest.raises(InputError, match=r"counting\.jsonl: is not as it was written by this command"):
        predicted(tmp_path / "runs")
    assert place.read_text() == "mine\n"
    place.unlink()
    predicted(tmp_path / "runs")
    place.write_text(place.read_text() + "\n")
    with pytest.raises(InputError, match="is not overwritten; move it, or name another folder"):
        predicted(tmp_path / "runs", n=4)


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"counting.jsonl": 3}', "\x00"])
def test_a_damaged_record_loses_nothing(damage: str, tmp_path: Path) -> None:
    predicted(tmp_path / "runs")
    (tmp_path / "runs" / "bees" / RECORD).write_text(damage)
    with pytest.raises(InputError, match="the record of the runs here, is damaged, and is not overwritten"):
        predicted(tmp_path / "runs")


def test_a_flipped_bit_in_a_fingerprint_of_the_record_is_damage(tmp_path: Path) -> None:
    predicted(tmp_path / "runs")
    path = tmp_path / "runs" / "bees" / RECORD
    whole = json.loads(path.read_text())["counting.jsonl"]["fingerprint"]
    path.write_text(path.read_text().replace(whole, whole[:-1] + chr(ord(whole[-1]) ^ 1)))
    with pytest.raises(InputError, match="the record of the runs here, is damaged, and is not overwritten"):
        predicted(tmp_path / "runs")


def test_a_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(InputError, match="runs: is a file, and runs are kept in a folder"):
        predicted(tmp_path / "runs")


def test_a_folder_that_another_is_working_in_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs" / "bees").mkdir(parents=True)
    held, done = Event(), Event()

    def hold() -> None:
        with claimed(tmp_path / "runs" / "bees"):
            held.set()
            done.wait()

    thread = Thread(target=hold)
    thread.start()
    held.wait()
    try:
        with pytest.raises(InputError, match="is writing it"):
            predicted(tmp_path / "runs")
    finally:
        done.set()
        thread.join()


def test_names_never_leave_the_folder(tmp_path: Path) -> None:
    predicted(tmp_path / "runs", corpus(name="../../outside"))
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    for name in ("..", "/etc/passwd", ".hidden", "a/../../b", "x" * 999, "\x00", "nul\ud800"):
        safe = plain_name(name)
        assert safe
        assert not {"/", "\x00"} & set(safe)
        assert not safe.startswith(".")
        assert len(safe) <= 60


def test_the_options_of_a_model_are_in_its_name_and_a_directory_is_named_by_itself(tmp_path: Path) -> None:
    named = parse_models(["kpminer,lasf=2,alpha=2", "yake"])
    assert [(each.system, each.file) for each in named] == [
        ("kpminer,lasf=2,alpha=2", "kpminer-lasf-2-alpha-2.jsonl"),
        ("yake", "yake.jsonl"),
    ]
