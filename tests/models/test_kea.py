"""Kea: cuts, counts and probabilities by hand; trained on half of the demo corpus, it does better than tf·idf."""

from __future__ import annotations

import json
import shutil
import subprocess
from math import log2
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.corpus import Corpus, Document
from karat.errors import InputError
from karat.models.base import CommonOptions
from karat.models.extractors.candidates import text_of
from karat.models.extractors.kea import Ranges, candidates, cut_points, kea, read_kea
from karat.models.find import parse_model
from karat.models.run import PredictOptions, predicted
from tests.checksums import remove_checksums
from tests.forked import program

DEMO = "src/karat/demo/corpus.jsonl"
# Four documents of four words; the keyphrase is the first word of each, which the document has twice.
TINY = Corpus.of(
    [
        {"text": f"{first} {first} river stone", "keyphrases": [first, "never there"]}
        for first in ("bees", "wasps", "moths", "ants")
    ]
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("kea") / "tiny.json")
    karat.train(TINY, "kea,longest=1", output=path)
    return path


# ----------------------------------------------------------------------------------------------------------- cuts


def cuts(values: list[float], right: str) -> list[float]:
    return cut_points(np.array(values), np.array([each == "+" for each in right]))


def test_a_cut_that_parts_right_from_wrong_pays() -> None:
    # H = 1, both parts are pure. 1 > (log2(7) + log2(7) − 2) / 8 = 0.452. Pure parts are not cut again.
    assert cuts([1, 2, 3, 4, 5, 6, 7, 8], "----++++") == [4.5]


def test_a_cut_that_is_not_worth_its_description_is_not_made() -> None:
    # Best after five: H1 = H(1/5) = 0.722, H2 = 0, gain 1 − 5/8 · 0.722 = 0.549.
    # Price (log2(7) + log2(7) − (2 · 1 − 2 · 0.722 − 1 · 0)) / 8 = 0.632.
    left = -(0.2 * log2(0.2) + 0.8 * log2(0.8))
    assert 1 - 5 / 8 * left < (2 * log2(7) - (2 - 2 * left)) / 8
    assert cuts([1, 2, 3, 4, 5, 6, 7, 8], "--+--+++") == []


def test_parts_are_cut_again_and_equal_values_stay_together() -> None:
    # H = H(1/3) = 0.918. After twenty, the gain is 0.252, the price (log2(59) + log2(7) − 2 · 0.918 + 2) / 60 = 0.148.
    assert cuts([*range(60)], "-" * 20 + "+" * 20 + "-" * 20) == [19.5, 39.5]
    # With ten of each, 0.252 does not pay for (log2(29) + log2(7) − 2 · 0.918 + 2) / 30 = 0.261.
    assert cuts([*range(30)], "-" * 10 + "+" * 10 + "-" * 10) == []
    assert cuts([1, 1, 1, 1, 1, 1], "---+++") == []


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=30))
def test_cuts_rise_and_stand_between_values_in_any_order(items: list[tuple[int, bool]]) -> None:
    values, right = np.array([float(value) for value, _ in items]), np.array([each for _, each in items])
    found = cut_points(values, right)
    assert found == sorted(set(found))
    assert all(values.min() < cut < values.max() for cut in found)
    assert found == cut_points(values[::-1], right[::-1])


# ------------------------------------------------------------------------------------------------------- learning


def test_what_is_learned_is_what_a_hand_counts(tiny: str) -> None:
    learned = read_kea(tiny)
    assert learned.documents == 4
    assert learned.frequencies == {"bee": 1, "wasp": 1, "moth": 1, "ant": 1, "river": 4, "stone": 4}
    # tf·idf of keyphrases is 2/4 · log2(4/1) = 1, of the others 1/4 · log2(4/4) = 0; positions are 0, 1/2 and 3/4.
    assert learned.ranges["tfidf"] == Ranges([0.5], [0, 4], [8, 0])
    assert learned.ranges["position"] == Ranges([0.25], [4, 0], [0, 8])


def test_probabilities_are_those_of_naive_bayes(tiny: str) -> None:
    [found] = kea(CommonOptions(), model=tiny)([Document(text="moths moths stone river")])
    # A document beside those of the training: log2 is of (1 + 1) / 5 for moths and of 5 / 5 for the others.
    assert 2 / 4 * -log2(2 / 5) > 0.5  # in the upper range
    yes = (4 + 1) * (5 / 6) * (5 / 6)  # keyphrases, in the upper range of tf·idf, in the first of positions
    no = (8 + 1) * (1 / 10) * (1 / 10)
    late_yes, late_no = (4 + 1) * (1 / 6) * (1 / 6), (8 + 1) * (9 / 10) * (9 / 10)
    assert found.keyphrases == ["moths", "stone", "river"]
    assert found.scores == pytest.approx([yes / (yes + no), *[late_yes / (late_yes + late_no)] * 2])


def test_candidates_have_stop_words_inside_but_not_at_the_edge() -> None:
    found = candidates(text_of(Document(text="The quality of service, a net."), CommonOptions(), tagged=False), 3)
    assert found.forms == ["qualiti", "qualiti of servic", "servic", "net"]
    assert found.surface(1) == "quality of service"


def test_variants_of_a_reference_count_as_it(tmp_path: Path) -> None:
    documents = [Document(text="bees dance daily", keyphrases=[["waggling", "bee"], "wasp", None])]
    trained = karat.train(Corpus.of(documents), output=tmp_path / "kea.json")
    assert trained.notes == ("1 of 2 references (50.0%) are among the 6 candidates",)


def test_a_title_counts_as_often_as_is_asked_for(tiny: str) -> None:
    document = Document(title="stone", text="river wasps wasps wasps moths moths")
    plain, weighed = (next(iter(kea(CommonOptions(title_weight=w), model=tiny)([document]))) for w in (1.0, 9.0))
    assert plain.keyphrases == weighed.keyphrases  # a word of all documents has no weight at all
    first = Document(title="ants", text="river wasps wasps wasps")
    plain, weighed = (next(iter(kea(CommonOptions(title_weight=w), model=tiny)([first]))) for w in (1.0, 9.0))
    assert (plain.scores or [0])[0] < (weighed.scores or [0])[0]  # type: ignore[operator]


def test_training_beats_frequency_alone_on_documents_it_has_not_seen(tmp_path: Path) -> None:
    documents = list(karat.read(DEMO))
    seen, new = Corpus.of(documents[:40], "seen"), Corpus.of(documents[40:], "new")
    path = tmp_path / "kea.json"
    assert karat.train(seen, output=path).documents == 40
    runs = [
        karat.predict(new, "kea", options={"model": str(path)}),
        karat.predict(new, "tfidf", frequencies=seen),
    ]
    for metric in ("f1@5", "f1@10"):
        learned, counted = (karat.score(new, run, metrics=[metric]).rows()[0]["value"] for run in runs)
        assert learned > counted > 0


# ---------------------------------------------------------------------------------------------- files and commands


def test_a_file_that_is_no_model_is_told(tiny: str, tmp_path: Path) -> None:
    old = remove_checksums(Path(shutil.copy(tiny, tmp_path / "old")))
    good = json.loads(old.read_text())
    wrong = {
        "empty": b"",
        "other": b'{"a": 1}',
        "version": json.dumps(good | {"format": "karat kea 9"}).encode(),
        "cuts": json.dumps(good | {"ranges": {"tfidf": good["ranges"]["tfidf"]}}).encode(),
        "counts": old.read_bytes().replace(b'"others":[8,0]', b'"others":[8]'),
        "pickle": b"\x80\x04\x95",
    }
    for name, content in wrong.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=rf"{name}: no trained model of kea .*karat train kea CORPUS -o FILE"):
            read_kea(str(tmp_path / name))
    assert msgspec.json.encode(read_kea(tiny)) + b"\n" == old.read_bytes()
    assert read_kea(str(old)) == read_kea(tiny)


def test_a_damaged_model_is_refused_and_one_without_a_checksum_noted(tiny: str, tmp_path: Path) -> None:
    changed = tmp_path / "changed.json"
    changed.write_bytes(Path(tiny).read_bytes().replace(b'"others":[8,0]', b'"others":[9,0]'))
    corpus = karat.Corpus.of([karat.Document(id="a", text="Bees dance.")])
    with pytest.raises(InputError, match=r"changed\.json: is damaged: its content does not match its checksum;"):
        karat.predict(corpus, f"kea,model={changed}")
    old = remove_checksums(Path(shutil.copy(tiny, tmp_path / "old.json")))
    notes = predicted(corpus, parse_model(f"kea,model={old}"), PredictOptions()).notes
    assert f"{old}: has no checksum, as an earlier version of karat wrote it: damage to it is not detected" in notes


def test_what_cannot_be_learned_is_told(tiny: str, tmp_path: Path) -> None:
    output = tmp_path / "never.json"
    for corpus, model, message in (
        ([{"text": "bees"}], "kea", "no document has any"),
        ([{"text": "bees", "keyphrases": ["wasps"]}], "kea", "stand in their documents, and none does"),
        ([{"text": "bees", "keyphrases": ["bees"]}], "tfidf", "tfidf learns nothing"),
        ([{"text": "bees", "keyphrases": ["bees"]}], "kae", "did you mean 'kea'"),
        ([{"text": "bees", "keyphrases": ["bees"]}], "kea,longest=0", "at least 1, not 0"),
    ):
        with pytest.raises(InputError, match=message):
            karat.train(Corpus.of(corpus), model, output=output)
    assert not output.exists()
    with pytest.raises(InputError, match="kea,model=FILE"):
        kea(CommonOptions())
    with pytest.raises(InputError, match="was trained on english documents; ask for english"):
        kea(CommonOptions(language="fr"), model=tiny)


def test_the_command_trains_and_predicts(tmp_path: Path) -> None:
    def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*program(), *arguments], capture_output=True, encoding="utf-8", check=False)

    model, run = str(tmp_path / "kea.json.gz"), str(tmp_path / "run.jsonl")
    trained = ran("train", "kea", DEMO, "-o", model)
    assert trained.returncode == 0
    assert trained.stdout.splitlines()[0] == f"kea, learned from 60 documents: {model}"
    assert max(map(len, trained.stdout.splitlines()[2:])) <= 80
    assert "220 of 418 references (52.6%) are among the 7,480 candidates" in trained.stderr
    assert ran("predict", f"kea,model={model}", DEMO, "-n", "3", "-o", run, "-q").returncode == 0
    assert {len(prediction.keyphrases or ()) for prediction in karat.read_run(run)} == {3}
    missing = ran("train", "kea", DEMO)
    assert missing.returncode == 2
    assert "-o" in missing.stderr
