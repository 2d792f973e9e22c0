"""KPDrop: present phrases are masked, and become absent ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat
from karat import Corpus, InputError
from karat.corpus import Document
from karat.models.generators.dropping import Drop, dropped
from karat.models.generators.examples import Example, Examples, write_examples
from karat.models.generators.words import (
    DIGIT,
    NULL,
    SPECIAL,
    UNK,
    Stems,
    count_words,
    parted_target,
    source_tokens,
    split_references,
)
from tests.models.generators.made import DOCUMENTS as MADE

OVERLAPPING = Document(
    title="Neural networks",
    text="A neural network is a network of networks; zorbs and a zorb, 3 zorb trees. Deep neural networks learn.",
    keyphrases=[
        "neural network",
        "deep neural networks",
        "zorb",
        "zorb tree",
        "3 zorbs",
        "network",
        "bees",
        "learning",
    ],
)
DOCUMENTS = [OVERLAPPING, *MADE]
WORDS = count_words(DOCUMENTS, read=40, written=28)
STEMS = Stems("english")


@pytest.fixture
def examples(tmp_path: Path) -> Examples:
    how: dict[str, Any] = {"language": "english", "targets": "one2seq", "longest": 60, "places": True}
    write_examples(tmp_path / "e.i32", DOCUMENTS, WORDS, **how)
    return Examples(tmp_path / "e.i32", WORDS.written)


def as_words(numbers: list[int], document: Document) -> list[str]:
    """Numbers for copying as words."""
    own = {number: word for word, number in WORDS.numbered(source_tokens(document)[:60]).own.items()}
    return [WORDS.table[number] if number < WORDS.written else own[number] for number in numbers]


def phrases(example: Example, document: Document) -> tuple[list[list[str]], list[list[str]]]:
    present, absent = parted_target(example.target.tolist())
    return [as_words(each, document) for each in present], [as_words(each, document) for each in absent]


def present_in(example: Example, document: Document, phrase: list[str]) -> bool:
    """Whether a phrase is present in the example's source, as karat sees it when it makes examples."""
    source = as_words(example.copied.tolist(), document)
    there, _ = split_references(Document(keyphrases=[" ".join(phrase)]), source, STEMS)
    return bool(there)


@pytest.mark.parametrize("chance", [0.3, 0.7, 1.0])
def test_a_dropped_phrase_is_absent_and_stands_among_the_absent_targets(chance: float, examples: Examples) -> None:
    random = np.random.default_rng(5)
    moved = unwritable = 0
    for row, document in enumerate(DOCUMENTS):
        example = examples.example(row)
        before, others = phrases(example, document)
        assert len(before) == len(example.places)
        for _ in range(10):
            which = random.random(len(before)) < chance
            found = dropped(example, which, WORDS.written)
            present, absent = phrases(found, document)
            copied = set(found.copied.tolist())
            numbers = parted_target(example.target.tolist())[0]
            assert [each for each in absent if each in others] == [
                each
                for each, own in zip(others, parted_target(example.target.tolist())[1], strict=True)
                if all(number < WORDS.written or number in copied for number in own)
            ]
            for phrase, chosen, own in zip(before, which, numbers, strict=True):
                there = present_in(found, document, phrase)
                assert not (chosen and there)
                writable = all(number < WORDS.written or number in copied for number in own)
                assert (phrase in present) == (there and writable)
                assert (phrase in absent) == (not there and writable and DIGIT not in own)
                moved, unwritable = moved + (phrase in absent), unwritable + (not writable)
    assert moved
    assert unwritable


def test_each_occurrence_is_one_mask_that_cannot_be_copied(examples: Examples) -> None:
    example = examples.example(0)
    before, _ = phrases(example, OVERLAPPING)
    which = np.array([phrase == ["neural", "network"] for phrase in before])
    found = dropped(example, which, WORDS.written)
    source = as_words(found.copied.tolist(), OVERLAPPING)
    assert source[:6] == ["<unk>", "<text>", "a", "<unk>", "is", "a"]
    assert (found.source == NULL).sum() == 3
    assert set(found.copied[found.source == NULL].tolist()) == {UNK}
    present, absent = phrases(found, OVERLAPPING)
    assert ["deep", "neural", "networks"] not in present  # what overlaps is gone, too
    assert ["network"] in present  # it still stands elsewhere
    assert ["neural", "network"] in absent
    for places, phrase in zip(found.places, present, strict=True):
        for at in places:
            assert STEMS(source[at : at + len(phrase)]) == STEMS(phrase)


def test_all_or_nothing(examples: Examples) -> None:
    for row, document in enumerate(DOCUMENTS):
        example = examples.example(row)
        for mode in ("replace", "add"):
            [same] = Drop.of(f"{mode}:0").apply(WORDS.written, 0, 0, example)
            assert same is example
            *first, last = Drop.of(f"{mode}:1").apply(WORDS.written, 0, 0, example)
            assert first == ([example] if mode == "add" else [])
            assert phrases(last, document)[0] == []
            assert not any(present_in(last, document, phrase) for phrase in phrases(example, document)[0])


def test_what_is_dropped_follows_from_seed_epoch_and_document(examples: Examples) -> None:
    drop = Drop.of("replace:.5")

    def made(seed: int, epoch: int) -> list[list[int]]:
        found = [drop.apply(WORDS.written, seed, epoch, examples.example(row)) for row in range(len(examples))]
        return [each.source.tolist() for some in found for each in some]

    assert made(1, 0) == made(1, 0)
    assert made(1, 0) != made(1, 1)
    assert made(1, 0) != made(2, 0)


def test_a_probability_is_published_where_none_is_given() -> None:
    assert Drop.of("add") == Drop("add", 0.7)
    assert Drop.of("replace:.25") == Drop("replace", 0.25)


def test_places_are_kept_only_where_they_are_asked_for(tmp_path: Path) -> None:
    write_examples(tmp_path / "e", DOCUMENTS, WORDS, language="english", targets="one2seq", longest=60)
    assert Examples(tmp_path / "e", WORDS.written).example(0).places == []
    assert len(SPECIAL) < WORDS.written


TINY = "transformer,size=8,heads=2,inner=16,layers=1,read=60,written=30"


@pytest.mark.neural
@pytest.mark.parametrize("model", [TINY, TINY.replace("transformer", "one2set,slots=4,length=3")])
def test_a_training_that_drops_goes_on_to_the_same_bytes(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    from karat.models.generators import loop

    torch.set_num_threads(1)
    corpus = Corpus.of(MADE)
    how: dict[str, Any] = {"steps": 6, "batch": 8, "drop": "add:.6"}
    karat.train(corpus, model, output=tmp_path / "whole", **how)
    monkeypatch.setattr(loop, "SAVED", -1.0)
    step = loop.Training._step

    def cut(training: loop.Training, number: int) -> Any:
        if number == 5:  # in the second epoch
            raise KeyboardInterrupt
        return step(training, number)

    with monkeypatch.context() as patch:
        patch.setattr(loop.Training, "_step", cut)
        with pytest.raises(KeyboardInterrupt):
            karat.train(corpus, model, output=tmp_path / "broken", **how)
    with pytest.raises(InputError, match=r"another drop \(add:.6, not None\)"):
        karat.train(corpus, model, output=tmp_path / "broken", steps=6, batch=8, resume=True)
    karat.train(corpus, model, output=tmp_path / "broken", resume=True, **how)
    bytes_of = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "broken")]
    assert bytes_of[0] == bytes_of[1]
    karat.train(corpus, model, output=tmp_path / "none", steps=6, batch=8, drop="add:0")
    karat.train(corpus, model, output=tmp_path / "without", steps=6, batch=8)
    bytes_of += [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("none", "without")]
    assert bytes_of[2] == bytes_of[3] != bytes_of[0]


@pytest.mark.neural
@pytest.mark.parametrize(
    ("drop", "model", "said"),
    [
        ("both", TINY, "write replace or add, with a probability from 0 to 1"),
        ("add:2", TINY, "write replace or add"),
        ("add:x", TINY, "write replace or add"),
        ("add", f"{TINY},targets=one2one", "targets are one2seq, not one2one"),
    ],
)
def test_what_cannot_be_dropped_is_refused(drop: str, model: str, said: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    with pytest.raises(InputError, match=said):
        karat.train(Corpus.of(MADE), model, output=tmp_path / "m", steps=1, drop=drop)
