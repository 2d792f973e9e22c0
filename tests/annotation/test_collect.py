"""Answers joined: the newest counts, what is wrong is named, and the files that come of it are read by other verbs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest

import karat
from karat.annotation.study import Study
from karat.errors import InputError
from karat.formats.human import read_judged
from karat.output import render
from tests.annotation.test_sheets import data_of
from tests.forked import command

GOLDEN = Path(__file__).parents[1] / "golden"
CORPUS, ALPHA, BETA = (GOLDEN / f"synthetic.{name}.jsonl" for name in ("corpus", "alpha", "beta"))
NAMES = ("ana", "ben", "cem", "dov")
Answer = Callable[[str, int], Any]


def begun(folder: Path, task: str, **options: Any) -> Study:
    options = {"set": {"scale": "0-4"}, "pair": {"scale": "0-1"}}.get(task, {}) | options
    found = karat.annotation_sheets(CORPUS, ALPHA, BETA, task=task, annotators=",".join(NAMES), **options)  # type: ignore[arg-type]
    found.save(folder / "study")
    return found.study


def saved(folder: Path, study: Study, name: str, answers: dict[int, Any], at: float = 1000, file: str = "") -> Path:
    """A file as a sheet saves it."""
    records = {str(n): {"answer": a, "comment": "", "seconds": 2.5, "at": at} for n, a in answers.items()}
    content = {"karat": "annotations", "version": 1, "study": study.id, "task": study.task, "annotator": name}
    content["token"] = study.token(name)
    path = folder / (file or f"{name}.json")
    path.write_text(json.dumps(content | {"saved": at, "answers": records}))
    return path


def all_saved(folder: Path, study: Study, answer: Answer) -> list[Path]:
    return [
        saved(folder, study, name, {n: answer(name, n) for n in study.annotators[name]}) for name in study.annotators
    ]


# ---------------------------------------------------------------------------------------------- agreement

# Four observers, twelve units, as Krippendorff publishes them ("Computing Krippendorff's Alpha-Reliability", section
# D and E): alpha is .743 nominal, .815 ordinal and .849 interval.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
]


def test_alpha_of_the_published_example(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=12)
    files = [
        saved(tmp_path, study, name, {n + 1: value - 1 for n, value in enumerate(row) if value == value})
        for name, row in zip(NAMES, PUBLISHED, strict=True)
    ]
    found = karat.collect_annotations(tmp_path / "study", *files).agreement()
    assert (found["level"], found["units"]) == ("ordinal", 11)
    assert found["alpha"] == pytest.approx(0.815, abs=5e-4)
    assert found["exact"] == pytest.approx(8 / 11)  # the units 1, 3, 4, 5, 7, 9, 10 and 11; 2, 6 and 8 differ


@pytest.mark.parametrize(
    ("task", "scale", "level"),
    [
        ("set", "0-4", "ordinal"),
        ("set", "0-1", "interval"),
        ("pair", "0-1", "interval"),
        ("pair", "0-4", "ordinal"),
        ("phrase", None, "nominal"),
    ],
)
def test_alpha_is_that_of_the_package_krippendorff(task: str, scale: Any, level: Any, tmp_path: Path) -> None:
    study = begun(tmp_path, task, scale=scale, sample=60, overlap=0.7)
    draw = np.random.default_rng(5)
    steps = [step.value for step in study.answers.steps]
    truth = {item.id: int(draw.integers(len(steps))) for item in study.items}

    def answer(name: str, n: int) -> float:
        return steps[min(max(truth[n] + int(draw.integers(-1, 2)), 0), len(steps) - 1)]

    files = all_saved(tmp_path, study, answer)
    given = {name: json.loads(path.read_text())["answers"] for name, path in zip(NAMES, files, strict=True)}
    table = [[given[name].get(str(item.id), {}).get("answer", nan) for item in study.items] for name in NAMES]
    expected = krippendorff.alpha(reliability_data=np.array(table, dtype=float), level_of_measurement=level)
    assert karat.collect_annotations(tmp_path / "study", *files).agreement()["alpha"] == pytest.approx(expected)


def test_alpha_of_documents_is_over_the_phrases_that_were_offered(tmp_path: Path) -> None:
    study = begun(tmp_path, "reference", sample=6)
    draw = np.random.default_rng(7)
    chosen = {
        name: {i.id: [n for n in range(len(i.predicted)) if draw.random() < 0.4] for i in study.items} for name in NAMES
    }
    files = all_saved(tmp_path, study, lambda name, n: {"chosen": chosen[name][n], "added": ["bees"], "done": True})
    units = [(item.id, n) for item in study.items for n in range(len(item.predicted))]
    table = [[float(n in chosen[name][item]) for item, n in units] for name in NAMES]
    expected = krippendorff.alpha(reliability_data=np.array(table), level_of_measurement="nominal")
    found = karat.collect_annotations(tmp_path / "study", *files).agreement()
    assert (found["alpha"], found["units"]) == (pytest.approx(expected), len(units))


ODD: dict[str, tuple[tuple[str, ...], Answer, str]] = {
    "one annotator": (("ana",), lambda name, n: n % 3, "Krippendorff's alpha is undefined: no item has two answers."),
    "constant": (("ana", "ben"), lambda name, n: 2, "with two answers or more: no two answers differ. All answers are"),
    "two constant": (("ana", "ben"), lambda name, n: NAMES.index(name), "Krippendorff's alpha (ordinal) -."),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_answers_have_one_sentence_and_no_nan(case: str, tmp_path: Path) -> None:
    names, answer, message = ODD[case]
    study = begun(tmp_path, "set", overlap=1.0)
    files = [saved(tmp_path, study, name, {n: answer(name, n) for n in study.annotators[name]}) for name in names]
    found = karat.collect_annotations(tmp_path / "study", *files)
    shown = " ".join(render(found).split())
    assert shown.count(message) == 1, shown
    for form in ("table", "md", "csv", "json", "latex"):
        assert not re.search(r"\bnan\b", render(found, form), re.IGNORECASE), form


def test_alpha_of_two_documents_has_no_interval(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", overlap=1.0)
    some = [item.id for item in study.items if item.document in {study.items[0].document, study.items[-1].document}]
    files = [saved(tmp_path, study, name, {n: (i + j) % 3 for i, n in enumerate(some)}) for j, name in enumerate(NAMES)]
    found = karat.collect_annotations(tmp_path / "study", *files)
    assert found.agreement()["alpha_ci"] == [None, None]
    assert "Alpha has no interval: too few documents" in " ".join(render(found).split())


def test_progress_is_counted_for_each_annotator(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=8)
    own = study.annotators["ana"]
    saved(tmp_path, study, "ana", dict.fromkeys(own, 3))
    saved(tmp_path, study, "ben", dict.fromkeys(own[:4], 3) | {own[4]: 1, own[5]: None})
    found = karat.collect_annotations(tmp_path / "study", tmp_path / "ana.json", tmp_path / "ben.json")
    rows = {row["annotator"]: row for row in found.rows()}
    assert [(name, rows[name]["asked"], rows[name]["answered"]) for name in rows] == [
        ("ana", 8, 8),
        ("ben", 8, 5),
        ("cem", 8, 0),
        ("dov", 8, 0),
    ]
    assert rows["ana"]["seconds"] == 2.5
    assert rows["ana"]["equal"] == rows["ben"]["equal"] == 0.8  # 4 of the 5 that both answered
    assert rows["cem"]["equal"] is None
    assert found.notes == ("cem: no file of answers", "dov: no file of answers")


# ---------------------------------------------------------------------------------------------- several files


def test_the_newest_answer_of_an_item_counts_in_whatever_order_files_are_given(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=3)
    old = saved(tmp_path, study, "ana", {1: 0, 2: 1, 3: 2}, at=1000, file="old.json")
    new = saved(tmp_path, study, "ana", {1: 4, 2: 1}, at=2000, file="new.json")
    for files in ((old, new), (new, old), (old, new, old)):
        found = karat.collect_annotations(tmp_path / "study", *files)
        assert {n: record.answer for n, record in found.joined.records["ana"].items()} == {1: 4, 2: 1, 3: 2}
        assert found.notes[0].startswith("ana: 1 answer replaced by newer ones of the same annotator; the newest")
        assert len(found.scores()) == 3


def test_an_answer_that_was_undone_later_is_none(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=3)
    old = saved(tmp_path, study, "ana", {1: 0, 2: 1}, at=1000, file="old.json")
    new = saved(tmp_path, study, "ana", {1: None}, at=2000, file="new.json")
    found = karat.collect_annotations(tmp_path / "study", old, new)
    assert {n: record.answer for n, record in found.joined.records["ana"].items()} == {2: 1}


def test_different_answers_of_one_moment_are_an_error(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=3)
    one = saved(tmp_path, study, "ana", {1: 0}, file="one.json")
    two = saved(tmp_path, study, "ana", {1: 4}, file="two.json")
    with pytest.raises(InputError, match=r"one.json and .*two.json give annotator 'ana' different answers to item 1"):
        karat.collect_annotations(tmp_path / "study", one, two)


def test_without_files_those_in_the_folder_are_taken_and_the_study_itself_is_none(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=3)
    with pytest.raises(InputError, match="there are no files of answers"):
        karat.collect_annotations(tmp_path / "study")
    saved(tmp_path / "study", study, "ana", {1: 0})
    assert len(karat.collect_annotations(tmp_path / "study").scores()) == 1
    everything = sorted((tmp_path / "study").glob("*.json"))
    assert len(everything) == 2
    assert len(karat.collect_annotations(tmp_path / "study", *everything).scores()) == 1


# ---------------------------------------------------------------------------------------------- errors


def edited(**changes: Any) -> Callable[[dict[str, Any], str], Any]:
    return lambda content, _: content | changes


def answered(number: str | None = None, **record: Any) -> Callable[[dict[str, Any], str], Any]:
    whole = {"answer": 1, "comment": "", "seconds": 1, "at": 5} | record
    return lambda content, own: content | {"answers": {number or own: whole}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            edited(study="0123456789abcdef"),
            "is of the study '0123456789abcdef', not of {study}; give",
        ),
        (edited(annotator="anna"), "unknown annotator 'anna'; did you mean 'ana'? (known: ana, ben, cem, dov)"),
        (edited(annotator="ben"), "is not from the sheet of 'ben', but renamed; give the file as it was saved"),
        (edited(annotator="adjudicator"), "is not from the sheet of 'adjudicator', but renamed; give the file as"),
        (edited(annotator="ben", token=""), "item {own} is not in the sheet of annotator 'ben'"),
        (edited(task="pair"), "has answers to the task 'pair', not to set"),
        (edited(karat="other"), "not a file of answers (Invalid enum value 'other'"),
        (edited(version=2), "not a file of answers (Invalid enum value 2"),
        (answered("99"), "there is no item 99 in the study"),
        (answered("x"), "there is no item 'x' in the study"),
        (answered(answer=5), "item {own}: 5 is no answer on the scale 0-4, which is 0, 1, 2, 3, 4"),
        (answered(answer=2.5), "item {own}: 2.5 is no answer on the scale 0-4"),
        (answered(answer="3"), "not a file of answers (Expected `float | object | null`, got `str`"),
        (answered(at=-1), "not a file of answers (Expected `float` >= 0.0"),
        (lambda *_: 7, "not a file of answers (Expected `object`, got `int`)"),
    ],
)
def test_a_file_that_is_wrong_is_named_in_one_sentence(change: Any, message: str, tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=4, overlap=0)
    [own] = study.annotators["ana"]
    path = saved(tmp_path, study, "ana", {own: 1})
    path.write_text(json.dumps(change(json.loads(path.read_text()), str(own))))
    done = command(tmp_path, "annotate", "collect", "study", "ana.json", "--scores", "scores.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"karat: ana.json: {message.format(own=own, study=study.id)}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "scores.jsonl").exists()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=4)
    path = saved(tmp_path, study, "ana", {1: 1, 2: 2})
    path.write_bytes(path.read_bytes()[:-20])
    done = command(tmp_path, "annotate", "collect", "study", "ana.json")
    assert done.returncode == 2
    assert done.stderr.startswith("karat: ana.json: not a file of answers (Input data was truncated); give the files")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (3, "3 is no answer; it is a list of chosen and added phrases"),
        ({"chosen": [99], "added": [], "done": True}, "there is no candidate 99; there are "),
        ({"chosen": [], "added": [" "], "done": True}, "an added phrase is empty"),
    ],
)
def test_wrong_answers_to_documents_are_named(answer: Any, message: str, tmp_path: Path) -> None:
    study = begun(tmp_path, "reference", sample=2)
    path = saved(tmp_path, study, "ana", {1: answer})
    with pytest.raises(InputError, match=f"item 1: {message}"):
        karat.collect_annotations(tmp_path / "study", path)


# ---------------------------------------------------------------------------------------------- what comes of it


def test_scores_of_sets_are_what_human_reads(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=20)
    all_saved(tmp_path, study, lambda name, n: (n + (name == "dov")) % 5)
    files = [f"{name}.json" for name in NAMES]
    done = command(tmp_path, "annotate", "collect", "study", *files, "--scores", "scores.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    judged = read_judged(tmp_path / "scores.jsonl")
    assert (judged.kind, judged.annotators, judged.values.shape) == ("sets", NAMES, (20, 4))
    people = karat.human(tmp_path / "scores.jsonl", corpus=CORPUS, runs=[ALPHA, BETA], metrics=["f1@M"])
    assert people.rows()[0]["n"] == 20


def test_scores_of_pairs_are_what_human_reads_as_a_table_too(tmp_path: Path) -> None:
    study = begun(tmp_path, "pair", sample=20)
    files = all_saved(tmp_path, study, lambda name, n: (n + (name == "dov")) % 11 / 10)
    found = karat.collect_annotations(tmp_path / "study", *files)
    for name in ("scores.jsonl", "scores.csv"):
        found.save(tmp_path / name)
        judged = read_judged(tmp_path / name)
        assert (judged.kind, judged.annotators, judged.values.shape) == ("pairs", NAMES, (20, 4))
    assert karat.human(tmp_path / "scores.csv", metrics=["kmr"]).rows()[0]["n"] == 20


def test_accepted_phrases_are_references_of_a_score(tmp_path: Path) -> None:
    study = begun(tmp_path, "phrase", sample=12)
    accepted = {item.id: item.id % 3 == 0 for item in study.items}
    files = all_saved(tmp_path, study, lambda name, n: int(accepted[n] if name != "dov" else not accepted[n]))
    found = karat.collect_annotations(tmp_path / "study", *files)
    assert {(row["phrase"], row["accept"]) for row in found.accepted()} == {
        (item.phrase, accepted[item.id]) for item in study.items
    }
    for name in ("accepted.csv", "accepted.jsonl"):
        found.save(tmp_path / name)
        scored = karat.score(CORPUS, ALPHA, metrics=["r@M"], extra_references=tmp_path / name)
        assert any("4 extra references" in note for note in scored.notes), scored.notes


def test_a_tie_is_open_until_somebody_settles_it(tmp_path: Path) -> None:
    study = begun(tmp_path, "phrase", sample=4)
    files = all_saved(tmp_path, study, lambda name, n: int(n == 1 or (n == 2 and name in ("ana", "ben"))))
    found = karat.collect_annotations(tmp_path / "study", *files)
    decided = {row["phrase"]: row["accept"] for row in found.accepted()}
    assert [decided[study.by_id[n].phrase] for n in (1, 2, 3, 4)] == [True, None, False, False]
    assert [each["item"] for each in found.disagreements()] == [2]
    by_votes = karat.collect_annotations(tmp_path / "study", *files, votes=2)
    assert by_votes.disagreements() == []
    assert {row["phrase"]: row["accept"] for row in by_votes.accepted()}[study.by_id[2].phrase] is True
    with pytest.raises(InputError, match="5 votes for a phrase cannot be: there are answers of 4 annotators"):
        karat.collect_annotations(tmp_path / "study", *files, votes=5)
    settled = saved(tmp_path, study, "adjudicator", {2: 0})
    last = karat.collect_annotations(tmp_path / "study", *files, settled)
    assert (last.disagreements(), last.agreement()) == ([], found.agreement())
    assert {row["phrase"]: row["accept"] for row in last.accepted()}[study.by_id[2].phrase] is False


def test_disagreements_are_half_of_the_scale_apart_or_as_far_as_is_said(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=4)
    files = all_saved(tmp_path, study, lambda name, n: n - 1 if name == "ana" else 0)  # apart: 0, 1, 2, 3

    def open_(**options: Any) -> list[int]:
        found = karat.collect_annotations(tmp_path / "study", *files, **options)
        return [each["item"] for each in found.disagreements()]

    assert (open_(), open_(gap=1), open_(gap=3)) == ([3, 4], [2, 3, 4], [4])


def test_an_adjudicator_gets_a_sheet_of_the_disagreements_and_settles_them(tmp_path: Path) -> None:
    study = begun(tmp_path, "set", sample=4)
    files = all_saved(tmp_path, study, lambda name, n: n - 1 if name == "ana" else 0)
    found = karat.collect_annotations(tmp_path / "study", *files)
    assert found.save_adjudication(tmp_path / "settle.html")
    data = data_of(tmp_path / "settle.html")
    assert {item["id"]: item["given"] for item in data["items"]} == {
        3: ["0", "0", "0", "2"],
        4: ["0", "0", "0", "3"],
    }
    assert (data["annotator"], data["study"]) == ("adjudicator", study.id)
    settled = saved(tmp_path, study, "adjudicator", {3: 1, 4: 2})
    last = karat.collect_annotations(tmp_path / "study", *files, settled)
    assert last.adjudication() is None
    assert not last.save_adjudication(tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()
    of_item = {(item.document, item.systems[0]): item.id for item in study.items}
    resolved = {of_item[row["id"], row["system"]]: row["score"] for row in last.resolved()}
    assert resolved == {1: 0, 2: 0, 3: 1, 4: 2}  # the majority's, and the adjudicator's
    assert {row["annotator"] for row in last.scores()} == set(NAMES)


def test_keyphrases_of_documents_are_those_that_most_annotators_choose_or_add(tmp_path: Path) -> None:
    study = begun(tmp_path, "reference", sample=1)
    item = study.by_id[1]
    lists = {
        "ana": ([0, 1], ["Bee  hives"]),
        "ben": ([0, 1], ["bee hives", item.predicted[2].upper()]),
        "cem": ([0], ["bee hives"]),
        "dov": ([0, 2], ["wasps"]),
    }
    files = [
        saved(tmp_path, study, name, {1: {"chosen": chosen, "added": added, "done": True}})
        for name, (chosen, added) in lists.items()
    ]
    found = karat.collect_annotations(tmp_path / "study", *files)
    decided = {row["phrase"]: row["accept"] for row in found.accepted()}
    first = [decided[phrase] for phrase in item.predicted[:4]]
    assert first == [True, None, None, False]  # chosen by 4, 2, 2 and 0 of 4
    assert {phrase: decided[phrase] for phrase in decided if phrase not in item.predicted} == {
        "bee hives": True,
        "wasps": False,
    }
    assert found.save_adjudication(tmp_path / "settle.html")
    [shown] = data_of(tmp_path / "settle.html")["items"]
    assert shown["candidates"][-2:] == [["bee hives", "bee hives"], ["wasps", "wasps"]]
    settled = saved(tmp_path, study, "adjudicator", {1: {"chosen": [1], "added": ["wasps"], "done": True}})
    last = karat.collect_annotations(tmp_path / "study", *files, settled)
    assert [row["phrase"] for row in last.accepted() if row["accept"]] == [item.predicted[1], "wasps"]


def test_a_document_that_is_not_done_is_left_out_and_said(tmp_path: Path) -> None:
    study = begun(tmp_path, "reference", sample=1)
    path = saved(tmp_path, study, "ana", {1: {"chosen": [0], "added": [], "done": False}})
    found = karat.collect_annotations(tmp_path / "study", path)
    assert found.accepted() == []
    assert found.notes[0] == "ana: 1 document begun and not done, left out"
    assert found.rows()[0]["answered"] == 0


def test_what_a_task_does_not_make_is_an_error_that_names_the_other(tmp_path: Path) -> None:
    study = begun(tmp_path, "phrase", sample=1)
    saved(tmp_path, study, "ana", {1: 1})
    done = command(tmp_path, "annotate", "collect", "study", "ana.json", "--scores", "scores.jsonl")
    assert done.returncode == 2
    assert "there are no scores of the task phrase; take --accepted" in done.stderr
