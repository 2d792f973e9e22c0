"""Label Studio: tasks and a labelling interface that it takes, and its export back."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.annotation.study import load_study
from karat.annotation.tasks import TASKS
from karat.errors import InputError
from tests.annotation.test_sheets import sheets

OBJECTS, CONTROLS = {"Text", "Header"}, {"Choices", "TextArea"}


def exported(folder: Path, answer: Any, **more: Any) -> Path:
    """An export, as the documentation of Label Studio shows one: two annotators, one of them by number alone."""
    tasks = json.loads((folder / "tasks.json").read_text())
    for number, task in enumerate(tasks, 1):
        task |= {"id": number, "created_at": "2026-11-01T10:00:00.000000Z", "project": 7, "predictions": []}
        task["annotations"] = [
            {
                "id": 100 * number + who,
                "result": answer(task["data"], who),
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": "2026-11-02T10:00:00.000000Z",
                "updated_at": "2026-11-02T10:00:00.500000Z",
                "lead_time": 4.288,
                "task": number,
                "completed_by": {"id": 10, "email": "ana@example.org"} if who == 1 else 11,
            }
            | more
            for who in (1, 2)
        ]
    path = folder / "export.json"
    path.write_text(json.dumps(tasks))
    return path


def choice(*values: str) -> list[dict[str, Any]]:
    return [{"from_name": "answer", "to_name": "text", "type": "choices", "id": "x", "value": {"choices": [*values]}}]


def words(name: str, *values: str) -> list[dict[str, Any]]:
    return [{"from_name": name, "to_name": "text", "type": "textarea", "id": "y", "value": {"text": [*values]}}]


@pytest.mark.parametrize("task", TASKS)
def test_the_interface_shows_what_the_tasks_have_and_every_control_names_an_object(task: str, tmp_path: Path) -> None:
    sheets(task, sample=6, format="label-studio").save(tmp_path / "study")
    assert sorted(each.name for each in (tmp_path / "study").iterdir()) == ["labeling.xml", "study.json", "tasks.json"]
    tasks = json.loads((tmp_path / "study" / "tasks.json").read_text())
    study = load_study(tmp_path / "study")
    assert [each["data"]["item"] for each in tasks] == [item.id for item in study.items]
    assert "alpha" not in json.dumps(tasks)
    root = ET.parse(tmp_path / "study" / "labeling.xml").getroot()
    assert root.tag == "View"
    assert {each.tag for each in root} <= OBJECTS | CONTROLS
    shown = {each.get("value", "")[1:] for each in root if each.get("value", "").startswith("$")}
    assert shown <= tasks[0]["data"].keys()
    named = {each.get("name") for each in root if each.tag == "Text"}
    assert {each.get("toName") for each in root if each.tag in CONTROLS} <= named
    names = [each.get("name") for each in root if each.get("name")]
    assert len(set(names)) == len(names)
    if task != "reference":
        aliases = [each.get("alias") for each in root.iter("Choice")]
        assert aliases == [f"{step.value:g}" for step in study.answers.steps]


def test_scores_come_back_from_an_export(tmp_path: Path) -> None:
    sheets("set", scale="0-4", sample=6, format="label-studio").save(tmp_path / "study")

    def answer(data: dict[str, Any], who: int) -> list[dict[str, Any]]:
        return choice(str((data["item"] + who) % 5)) + words("comment", "why not")

    found = karat.collect_annotations(tmp_path / "study", exported(tmp_path / "study", answer))
    assert [(row["annotator"], row["answered"], row["seconds"]) for row in found.rows()][-2:] == [
        ("ana@example.org", 6, 4.288),
        ("user 11", 6, 4.288),
    ]
    of_item = {(item.document, item.systems[0]): item.id for item in found.study.items}
    given = {(of_item[row["id"], row["system"]], row["annotator"]): row["score"] for row in found.scores()}
    assert given == {
        (n, name): (n + who) % 5 for n in range(1, 7) for who, name in ((1, "ana@example.org"), (2, "user 11"))
    }
    assert found.comments()[0]["comment"] == "why not"
    assert not any("no file of answers" in note for note in found.notes)


def test_choices_may_come_back_by_their_text(tmp_path: Path) -> None:
    sheets("phrase", sample=3, format="label-studio").save(tmp_path / "study")
    path = exported(tmp_path / "study", lambda data, who: choice("Relevant" if who == 1 else "Not relevant"))
    assert {row["accept"] for row in karat.collect_annotations(tmp_path / "study", path).accepted()} == {None}
    path = exported(tmp_path / "study", lambda data, who: choice("Relevant"))
    assert {row["accept"] for row in karat.collect_annotations(tmp_path / "study", path).accepted()} == {True}


def test_keyphrases_of_documents_come_back(tmp_path: Path) -> None:
    sheets("reference", sample=2, format="label-studio").save(tmp_path / "study")
    study = load_study(tmp_path / "study")

    def answer(data: dict[str, Any], who: int) -> list[dict[str, Any]]:
        return choice("0", data["candidates"][1]["value"]) + words("added", "honey bees")

    found = karat.collect_annotations(tmp_path / "study", exported(tmp_path / "study", answer))
    accepted = [(row["id"], row["phrase"]) for row in found.accepted() if row["accept"]]
    assert accepted == [
        (item.document, phrase) for item in study.items for phrase in (*item.predicted[:2], "honey bees")
    ]


def test_skipped_annotations_are_none_and_of_two_by_one_user_the_newer_counts(tmp_path: Path) -> None:
    sheets("set", scale="0-4", sample=3, format="label-studio").save(tmp_path / "study")
    path = exported(tmp_path / "study", lambda data, who: choice("3"), was_cancelled=True)
    with_none = karat.collect_annotations(tmp_path / "study", path)
    assert with_none.scores() == []
    path = exported(tmp_path / "study", lambda data, who: choice(str(who)), completed_by=5)
    tasks = json.loads(path.read_text())
    for task in tasks:
        task["annotations"][0]["updated_at"] = "2026-11-03T00:00:00Z"
    path.write_text(json.dumps(tasks))
    found = karat.collect_annotations(tmp_path / "study", path)
    assert [(row["annotator"], row["score"]) for row in found.scores()] == [("user 5", 1.0)] * 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"data": {"study": "x", "item": 1}}]', r"task 1: is of the study 'x', not of "),
        ('[{"data": {"study": "ID", "item": 99}}]', "task 1: there is no item 99 in the study"),
        ('[{"id": 1, "answer": "3"}]', r"not an export of Label Studio .* export as JSON, not as JSON-MIN or CSV"),
        (
            '[{"data": {"study": "ID", "item": 1}, "annotations": [{"updated_at": "soon"}]}]',
            "item 1: 'soon' is no time",
        ),
        (
            '[{"data": {"study": "ID", "item": 1}, "annotations": [{"result": [{"from_name": "answer", '
            '"value": {"choices": ["7"]}}]}]}]',
            "item 1: '7' is no answer on the scale 0-4",
        ),
    ],
)
def test_a_wrong_export_is_named(content: str, message: str, tmp_path: Path) -> None:
    found = sheets("set", scale="0-4", sample=3, format="label-studio")
    found.save(tmp_path / "study")
    path = tmp_path / "export.json"
    path.write_text(content.replace("ID", found.study.id))
    with pytest.raises(InputError, match=message):
        karat.collect_annotations(tmp_path / "study", path)
