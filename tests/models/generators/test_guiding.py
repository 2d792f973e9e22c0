"""Guides: phrases of another system before the source, in training and predicting."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat
from karat import Corpus, InputError, Run
from karat.corpus import Document
from karat.models.generators.dropping import dropped
from karat.models.generators.examples import Examples, write_examples
from karat.models.generators.guiding import PHRASES, Guide, guide_of
from karat.models.generators.words import NULL, PEOS, SEP, SPECIAL, UNK, Stems, count_words, parted_target
from tests.models.generators.made import DOCUMENTS

WORDS = count_words(DOCUMENTS, read=60, written=30)
CORPUS = Corpus.of(DOCUMENTS, "made")
TINY = "transformer,size=8,heads=2,inner=16,layers=1,read=60,written=30"


def run_of(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """A run that knows one phrase of each document, and twice one that no document has."""
    return [
        {"id": each.id, "keyphrases": [each.keyphrases[1], "Unheard of", "unheard OF"]}  # type: ignore[index]
        for each in documents
    ]


@pytest.fixture
def run(tmp_path: Path) -> str:
    karat.write(Run.of(run_of(DOCUMENTS)), tmp_path / "run.jsonl")
    return str(tmp_path / "run.jsonl")


def test_a_guide_has_each_phrase_once_by_stems() -> None:
    phrases = ["Deep nets", "bees", "deep net", "", "Bee", "a-b"]
    guide = Guide(lambda documents: [phrases for _ in documents], Stems("english"))
    assert guide([Document()]) == [["deep", "nets", "<sep>", "bees", "<sep>", "a", "-", "b", "<peos>"]]
    many = Guide(lambda documents: [[f"p{n}x" for n in range(30)]], Stems("english"))
    assert many([Document()])[0].count("<sep>") == PHRASES - 1
    none = Guide(lambda documents: [[]], Stems("english"))
    assert none([Document()]) == [["<peos>"]]


def test_extractors_are_guides() -> None:
    guide = guide_of("multipartiterank", "english")
    documents = [Document(id="1", title="Neural networks", text="Neural networks learn deep functions."), Document()]
    found, empty = guide(documents)
    assert found[:2] == ["neural", "networks"]
    assert found[-1] == "<peos>"
    assert empty == ["<peos>"]


def test_examples_have_the_guide_before_the_document_and_targets_of_the_document(tmp_path: Path, run: str) -> None:
    how: dict[str, Any] = {"language": "english", "targets": "one2seq", "longest": 60}
    write_examples(tmp_path / "plain", DOCUMENTS, WORDS, **how)
    write_examples(tmp_path / "guided", DOCUMENTS, WORDS, guide=guide_of(run, "english"), **how)
    plain, guided = (Examples(tmp_path / name, WORDS.written) for name in ("plain", "guided"))
    assert len(plain) == len(guided) == 32
    for row in range(32):
        one, other = plain.example(row), guided.example(row)
        end = other.source.tolist().index(PEOS) + 1
        assert other.source[end:].tolist() == one.source.tolist()
        assert other.copied[end:].tolist() == one.copied.tolist()  # the document's own numbers are as they were
        assert other.target.tolist() == one.target.tolist()
        assert other.source[:end].tolist().count(SEP) == 1
        assert not {SEP, PEOS} & set(other.copied.tolist())  # marks cannot be copied
        own = one.copied[[at for at, word in enumerate(one.copied) if word >= WORDS.written]]
        assert set(other.copied[:end].tolist()) <= {UNK, *range(len(SPECIAL), WORDS.written), *own.tolist()}
        assert other.copied[0] == one.target[one.target.tolist().index(int(other.copied[0]))]  # the phrase that it has


def test_a_dropped_phrase_is_not_in_the_guide_either(tmp_path: Path, run: str) -> None:
    how: dict[str, Any] = {"language": "english", "targets": "one2seq", "longest": 60, "places": True}
    write_examples(tmp_path / "e", DOCUMENTS, WORDS, guide=guide_of(run, "english"), **how)
    examples = Examples(tmp_path / "e", WORDS.written)
    for row in range(32):
        example = examples.example(row)
        present, _ = parted_target(example.target.tolist())
        guided = int(example.copied[0])
        which = np.array([phrase == [guided] for phrase in present])
        assert which.sum() == 1
        found = dropped(example, which, WORDS.written)
        assert found.source[0] == NULL
        assert guided not in found.copied
        assert all(place > found.source.tolist().index(PEOS) for places in found.places for place in places)


@pytest.mark.neural
def test_a_model_guided_by_an_extractor_predicts_by_itself(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from karat.models.generators import checkpoint

    torch.set_num_threads(1)
    how: dict[str, Any] = {"steps": 2, "batch": 8, "guide": "firstphrases"}
    folder = tmp_path / "m"
    karat.train(CORPUS, TINY, output=folder, valid=Corpus.of(DOCUMENTS[:4]), stop="f1@5:4", **how)
    assert checkpoint.read_card(folder).settings["guide"] == "firstphrases"
    found = list(karat.predict(CORPUS, str(folder)))
    assert len(found) == 32
    karat.train(CORPUS, TINY, output=tmp_path / "plain", steps=2, batch=8)
    with pytest.raises(InputError, match="was trained without a guide"):
        karat.predict(CORPUS, f"{tmp_path / 'plain'},guide=firstphrases")
    with pytest.raises(InputError, match=r"another guide \(firstphrases, not None\)"):
        karat.train(CORPUS, TINY, output=folder, steps=2, batch=8, resume=True, stop="f1@5:4", valid=CORPUS)


@pytest.mark.neural
def test_a_run_is_a_guide_that_is_given_again(tmp_path: Path, run: str) -> None:
    torch = pytest.importorskip("torch")
    from karat.models.generators import checkpoint

    torch.set_num_threads(1)
    folder = tmp_path / "m"
    karat.train(CORPUS, TINY, output=folder, steps=2, batch=8, guide=run, augment="60p")
    assert checkpoint.read_card(folder).settings["guide"].startswith("run:run.jsonl:")
    with pytest.raises(InputError, match="guide=RUN"):
        karat.predict(CORPUS, str(folder))
    assert len(list(karat.predict(CORPUS, f"{folder},guide={run}"))) == 32
    assert len(list(karat.predict(CORPUS, f"{folder},guide=firstphrases"))) == 32
    karat.write(Run.of(run_of(DOCUMENTS[:30])), tmp_path / "less.jsonl")
    with pytest.raises(InputError, match="no phrases for document 'd30'"):
        karat.predict(CORPUS, f"{folder},guide={tmp_path / 'less.jsonl'}")
    with pytest.raises(InputError, match="no phrases for document 'd30'"):
        karat.train(CORPUS, TINY, output=tmp_path / "n", steps=1, guide=str(tmp_path / "less.jsonl"))
    again: dict[str, Any] = {"steps": 2, "batch": 8, "augment": "60p", "resume": True}
    karat.train(CORPUS, TINY, output=folder, guide=run, **again)
    with pytest.raises(InputError, match="another guide"):
        karat.train(CORPUS, TINY, output=folder, guide=str(tmp_path / "less.jsonl"), **again)


@pytest.mark.parametrize(
    ("guide", "said"),
    [
        ("tfidf", "needs document frequencies"),
        ("llm:qwen", "needs an endpoint"),
        ("some/run.jsonl", "there is no such file"),
        ("multipartitrank", "did you mean 'multipartiterank'"),
    ],
)
def test_what_can_be_no_guide_is_refused(guide: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        guide_of(guide, "english")
