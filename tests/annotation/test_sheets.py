"""Sheets: which items they have, in which order, and what they say and do not say."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.annotation.sample import balanced, dealt, numbered
from karat.annotation.study import Item, Study, load_study
from karat.annotation.tasks import SCALES, TASKS
from karat.errors import InputError
from karat.output.page.shell import blocks

GOLDEN = Path(__file__).parents[1] / "golden"
CORPUS, ALPHA, BETA = (GOLDEN / f"synthetic.{name}.jsonl" for name in ("corpus", "alpha", "beta"))


def sheets(task: str, **options: Any) -> karat.Sheets:
    return karat.annotation_sheets(CORPUS, ALPHA, BETA, task=task, **options)  # type: ignore[arg-type]


def data_of(path: Path) -> dict[str, Any]:
    """What a sheet holds."""
    block = re.search(r'id="study">([^<]+)</script>', path.read_text())
    assert block is not None
    found: dict[str, Any] = json.loads(zlib.decompress(b64decode(block[1]), -15))
    return found


# ---------------------------------------------------------------------------------------------- samples


def made(systems: int, strata: int, documents: int) -> list[Item]:
    return [
        Item(n, f"d{d}", f"s{(d + s) % strata}", (f"run{s}",))
        for n, (d, s) in enumerate((d, s) for d in range(documents) for s in range(systems))
    ]


def test_every_beginning_of_a_sample_is_balanced_over_systems_and_their_strata() -> None:
    chosen = balanced(made(3, 4, 100), 120, seed=1)
    assert len({item.id for item in chosen}) == 120
    for end in range(1, 121):
        systems = Counter(item.systems[0] for item in chosen[:end])
        assert max(systems.values()) - min(systems[f"run{n}"] for n in range(3)) <= 1
        for system in systems:
            strata = Counter(item.stratum for item in chosen[:end] if item.systems == (system,))
            assert max(strata.values()) - min(strata[f"s{n}"] for n in range(4)) <= 1


def test_where_a_stratum_is_rare_all_of_it_is_taken_and_the_others_fill_up() -> None:
    items = [Item(n, f"d{n}", "rare" if n < 3 else "frequent", ("run",)) for n in range(100)]
    assert Counter(item.stratum for item in balanced(items, 50, seed=1)) == {"rare": 3, "frequent": 47}


def test_an_item_of_several_systems_counts_for_each_and_is_taken_once() -> None:
    items = [Item(n, f"d{n}", "x", ("a", "b") if n % 2 else ("a",)) for n in range(40)]
    chosen = balanced(items, 40, seed=1)
    assert sorted(item.id for item in chosen) == list(range(40))
    first = Counter(system for item in chosen[:20] for system in item.systems)
    assert first["b"] >= 19


def test_documents_are_shared_by_systems_and_spread_over_the_corpus() -> None:
    chosen = balanced(made(2, 1, 100), 40, seed=1)
    assert len({item.document for item in chosen}) == 20
    phrases = [Item(n, f"d{n // 10}", "x", ("a",)) for n in range(1000)]
    assert len({item.document for item in balanced(phrases, 40, seed=1)}) == 40


@pytest.mark.parametrize("overlap", [0.0, 0.25, 0.5, 1.0])
def test_shared_items_are_in_every_sheet_and_each_other_one_in_one(overlap: float) -> None:
    items = numbered(balanced(made(4, 3, 100), 80, seed=2), seed=2)
    own = dealt(items, ["a", "b", "c", "d"], overlap, seed=2)
    seen = Counter(number for ids in own.values() for number in ids)
    assert Counter(seen.values()) == Counter({4: round(80 * overlap), 1: 80 - round(80 * overlap)}) - Counter()
    assert max(map(len, own.values())) - min(map(len, own.values())) <= 1
    system = {item.id: item.systems[0] for item in items}
    for ids in own.values():  # four annotators and four systems: nobody has a system alone
        counts = Counter(system[number] for number in ids)
        assert max(counts.values()) - min(counts[f"run{n}"] for n in range(4)) <= 2


def test_the_order_differs_by_annotator_and_is_the_same_for_the_same_seed() -> None:
    first, again, other = sheets("set"), sheets("set"), sheets("set", seed=2)
    assert first.study == again.study
    assert first.study.id != other.study.id
    orders = list(first.study.annotators.values())
    assert len(set(orders)) == 4
    assert {frozenset(own) for own in orders} == {frozenset(range(1, 201))}


def test_the_id_of_an_item_says_nothing_about_its_system() -> None:
    found = sheets("set").study
    odd = Counter(item.systems[0] for item in found.items if item.id % 2)
    early = Counter(item.systems[0] for item in found.items if item.id <= 100)
    for counts in (odd, early):  # of 100 items of two systems
        assert all(30 <= count <= 70 for count in counts.values())


# ---------------------------------------------------------------------------------------------- tasks


@pytest.mark.parametrize("task", TASKS)
def test_a_sheet_says_what_is_judged_and_not_by_whom_it_is(task: str, tmp_path: Path) -> None:
    found = sheets(task, sample=30, overlap=0.5)
    found.save(tmp_path / "study")
    assert sorted(path.name for path in (tmp_path / "study").iterdir()) == [
        "a1.html",
        "a2.html",
        "a3.html",
        "a4.html",
        "study.json",
    ]
    assert load_study(tmp_path / "study") == found.study
    for name, own in found.study.annotators.items():
        data = data_of(tmp_path / "study" / f"{name}.html")
        assert [item["id"] for item in data["items"]] == list(own)
        fields = {"set": {"predicted", "references"}, "reference": {"candidates"}}.get(task, {"phrases"})
        assert {field for item in data["items"] for field in item} == {"id", "document"} | fields
        whole = (tmp_path / "study" / f"{name}.html").read_text() + json.dumps(data)
        assert "alpha" not in whole
        assert "beta" not in whole
        for item in found.study.items:
            assert item.stratum not in json.dumps(data["items"])


def test_a_set_is_all_that_a_run_predicts_beside_all_references() -> None:
    corpus = karat.Corpus.of(
        [{"id": "d1", "title": "Bees", "text": "Honey bees swarm.", "keyphrases": [["honey bees", "bees"], "swarm"]}]
    )
    run = karat.Run.of([{"id": "d1", "keyphrases": ["Honey Bee", "hives", "wasps"]}], name="mine")
    [item] = karat.annotation_sheets(corpus, run, task="set").study.items
    assert (item.predicted, item.references) == (("Honey Bee", "hives", "wasps"), ("honey bees", "swarm"))
    assert (item.systems, item.stratum, item.document) == (("mine",), "some found", "d1")
    [cut] = karat.annotation_sheets(corpus, run, task="set", cutoff="2").study.items
    assert cut.predicted == ("Honey Bee", "hives")


def test_phrases_are_pooled_over_systems_without_those_that_are_references() -> None:
    corpus = karat.Corpus.of([{"id": "d1", "text": "Honey bees swarm in hives.", "keyphrases": ["honey bees"]}])
    one = karat.Run.of([{"id": "d1", "keyphrases": ["honey bee", "hive", "wasps"]}], name="one")
    two = karat.Run.of([{"id": "d1", "keyphrases": ["hives", "swarm"]}], name="two")

    def asked(**options: Any) -> dict[str, tuple[tuple[str, ...], str]]:
        found = karat.annotation_sheets(corpus, one, two, task="phrase", **options).study
        return {item.phrase: (item.systems, item.stratum) for item in found.items}

    assert asked() == {
        "hive": (("one", "two"), "class P"),
        "wasps": (("one",), "class U"),
        "swarm": (("two",), "class P"),
    }
    assert asked(at_least=2) == {"hive": (("one", "two"), "class P")}
    assert asked(known=True).keys() == {"honey bee", "hive", "wasps", "swarm"}
    assert asked(cutoff="1", known=True).keys() == {"honey bee", "hives"}


def test_pairs_are_the_near_misses_and_their_strata_where_they_differ() -> None:
    corpus = karat.Corpus.of([{"id": "d1", "text": "Grids.", "keyphrases": ["effective grid computing", "bees"]}])
    run = karat.Run.of([{"id": "d1", "keyphrases": ["grid computing", "wasps"]}], name="mine")
    [item] = karat.annotation_sheets(corpus, run, task="pair").study.items
    assert (item.phrase, item.reference, item.stratum) == (
        "grid computing",
        "effective grid computing",
        "head, shorter",
    )


def test_pairs_are_shown_either_way_round() -> None:
    swapped = Counter(item.swapped for item in sheets("pair").study.items)
    assert min(swapped[True], swapped[False]) > 50


def test_documents_are_asked_for_without_runs_too(tmp_path: Path) -> None:
    found = karat.annotation_sheets(CORPUS, task="reference", sample=5)
    assert [item.predicted for item in found.study.items] == [()] * 5
    found.save(tmp_path / "study")
    assert data_of(tmp_path / "study" / "a1.html")["items"][0]["candidates"] == []


def test_the_scales_have_a_level_for_agreement_and_keys_that_differ() -> None:
    levels = {(task, name): scale.level for task, scales in SCALES.items() for name, scale in scales.items()}
    assert levels == {
        ("set", "0-4"): "ordinal",
        ("set", "0-1"): "interval",
        ("pair", "0-1"): "interval",
        ("pair", "0-4"): "ordinal",
        ("phrase", "relevant"): "nominal",
        ("reference", "chosen"): "nominal",
    }
    for scales in SCALES.values():
        for scale in scales.values():
            keys = [step.key for step in scale.steps]
            assert len(set(keys)) == len(keys)
            assert not set(keys) & set("ouscad")  # what other keys do
    assert (sheets("set").study.scale, sheets("pair").study.scale) == ("0-1", "0-4")
    assert sheets("pair", scale="0-1").study.scale == "0-1"


@pytest.mark.parametrize(("package", "name"), [("karat.output.page", "page"), ("karat.annotation", "sheet")])
def test_no_name_of_the_script_of_a_page_is_declared_twice(package: str, name: str) -> None:
    _, script = blocks(package, name)  # a second declaration would be an error, and nothing of the script would run
    names = re.findall(r"^(?:async )?(?:function|const|let|class) ([A-Za-z]\w*)", script, re.M)
    assert "counted" in names
    assert [each for each, count in Counter(names).items() if count > 1] == []


# ---------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"annotators": 0}, "annotators are from 1 to 200, not 0"),
        ({"annotators": "ana,../x"}, r"names of up to 40 letters, digits, - and _, as ana,ben, not '../x'"),
        ({"annotators": "ana,Ana"}, "two annotators have the same name: ana, Ana"),
        ({"annotators": "adjudicator"}, "annotators are a number or names"),
        ({"overlap": 1.5}, "overlap is a number from 0 to 1, not 1.5"),
        ({"task": "sets"}, "unknown value of task 'sets'; did you mean 'set'"),
        ({"task": "phrase", "scale": "0-4"}, "the task phrase has one scale; --scale is for set and pair"),
        ({"task": "phrase", "at_least": 3}, "at least 3 of 2 runs cannot have a phrase"),
        ({"cutoff": "x"}, "the cutoff of items is a number from 1 on, M, O or G, not 'x'"),
        ({"sample": 0}, "sample is a whole number from 1 on, not 0"),
    ],
)
def test_what_cannot_be_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sheets(**{"task": "set", **options})


def test_runs_are_needed_where_predictions_are_judged() -> None:
    with pytest.raises(InputError, match="the task set judges what systems predict; give a run or more"):
        karat.annotation_sheets(CORPUS, task="set")


def test_documents_that_cannot_be_judged_are_left_out_and_counted() -> None:
    corpus = karat.Corpus.of([{"id": "d1", "keyphrases": ["bees"]}, {"id": "d2", "text": "Wasps."}])
    run = karat.Run.of([{"id": "d1", "keyphrases": ["wasps"]}, {"id": "d2", "keyphrases": ["wasps"]}])
    by_set = karat.annotation_sheets(corpus, run, task="set")
    assert [item.document for item in by_set.study.items] == ["d1"]
    assert by_set.notes[0] == "1 document without references left out"
    by_phrase = karat.annotation_sheets(corpus, run, task="phrase")
    assert [item.document for item in by_phrase.study.items] == ["d2"]
    assert by_phrase.notes == (
        "1 document without a title or text left out",
        "1 item to judge, fewer than the 200 of the sample",
    )
    with pytest.raises(InputError, match="there is nothing to judge for the task reference; it takes documents with"):
        karat.annotation_sheets(karat.Corpus.of([{"id": "d1", "keyphrases": ["bees"]}]), task="reference")


def test_a_folder_that_is_there_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is there already and is not an empty folder"):
        sheets("set", sample=4).save(tmp_path / "study")
    assert [path.name for path in tmp_path.rglob("*")] == ["study", "mine.txt"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda study: study | {"items": study["items"][:-1]}, "has items that the study does not"),
        (lambda study: study | {"seed": 99}, "was changed after its sheets were made"),
        (lambda study: study | {"scale": "0-9"}, "there is no scale '0-9' of the task set"),
        (lambda study: study | {"documents": {}}, "the text of document .* is missing"),
        (lambda study: study | {"items": study["items"] * 2}, "two items have the same id"),
        (lambda study: study | {"task": "sets"}, "not a study .*Invalid enum value 'sets'"),
        (lambda study: [study], r"not a study \(Expected `object`"),
    ],
)
def test_a_study_that_was_edited_is_refused(change: Any, message: str, tmp_path: Path) -> None:
    sheets("set", sample=4).save(tmp_path / "study")
    path = tmp_path / "study" / "study.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(InputError, match=message):
        load_study(tmp_path / "study")


def test_a_study_is_found_in_its_folder_or_said_to_be_missing(tmp_path: Path) -> None:
    found = sheets("set", sample=4)
    found.save(tmp_path / "study")
    assert isinstance(load_study(tmp_path / "study" / "study.json"), Study)
    with pytest.raises(InputError, match=r"there is no study\.json here; `karat annotate sheets"):
        load_study(tmp_path)
