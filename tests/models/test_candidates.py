"""Candidates: what is selected, under which form, and where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.corpus import Document
from karat.errors import InputError
from karat.models.base import CommonOptions
from karat.models.extractors.candidates import Candidates, Kind, candidates_of, ngrams, phrases, runs, text_of
from karat.text.stoplists import stop_words
from tests.examples import examples

TAGS = {
    "deep": "JJ",
    "fast": "JJ",
    "of": "IN",
    "in": "IN",
    "'s": "POS",
    "'": "POS",
    "(": "-LRB-",
    ")": "-RRB-",
    "learns": "VBZ",
    "and": "CC",
    ".": ".",
}


def tagged(*sentences: str) -> Document:
    """A document whose words are nouns unless they are known."""
    return Document(sentences=[[(word, TAGS.get(word, "NN")) for word in each.split()] for each in sentences])


def forms(*sentences: str, kind: Kind = "sequences", **options: Any) -> list[str]:
    return candidates_of(tagged(*sentences), CommonOptions(), kind, **options).forms


def columns(found: Candidates) -> list[tuple[str, list[int]]]:
    return list(zip(found.forms, found.starts, strict=True))


# ---------------------------------------------------------------------------------------------- sequences


def test_the_longest_sequences_of_nouns_and_adjectives_are_found_in_each_sentence() -> None:
    found = candidates_of(tagged("deep nets of graphs", "graph learns deep", "net"), CommonOptions())

    assert columns(found) == [("deep net", [0]), ("graph", [3, 4]), ("deep", [6]), ("net", [7])]
    assert found.surfaces(1) == ["graphs", "graph"]
    assert found.surface(0) == "deep nets"
    assert (found.stems(0), found.tags(0)) == (["deep", "net"], [["JJ", "NN"]])
    assert [found.sentences(index) for index in range(len(found))] == [[0], [0, 1], [1], [2]]
    assert found.places(1) == [(3, 4), (4, 5)]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("several nets", False),  # a stop word
        ("net", True),
        ("ip", False),  # two letters
        ("ip net", True),
        ("x net", False),  # a word of one letter
        ("a-b net", True),
        ("-- net", False),
        ("c++ net", False),  # a mark other than a hyphen
        ("one-two three-four alpha beta gamma", True),
        ("deep fast red green blue net", False),  # six words
    ],
)
def test_the_filter_of_pke(words: str, kept: bool) -> None:
    assert len(forms(words)) == kept
    assert len(forms(words, filtered=False)) == 1


def test_the_first_occurrence_decides_for_all() -> None:
    # "used" is a stop word, "uses" is not, and their stem is one.
    assert forms("used .", "uses .", kind="ngrams") == []
    found = candidates_of(tagged("uses .", "used ."), CommonOptions(), "ngrams")
    assert columns(found) == [("use", [0, 2])]


def test_adjectives_followed_by_nouns_and_runs_of_given_stems() -> None:
    text = text_of(tagged("net deep fast net graph", "deep net graph"), CommonOptions())

    assert columns(phrases(text, 3)) == [("net", [0]), ("deep net graph", [5])]
    assert columns(runs(text, {"net", "graph"})) == [("net", [0]), ("net graph", [3, 6])]


# ---------------------------------------------------------------------------------------------- n-grams


def test_n_grams_have_no_stop_words_and_stay_in_their_sentence() -> None:
    assert forms("deep nets of big graphs .", "maps", kind="ngrams") == [
        "deep", "deep net", "net", "big", "big graph", "graph", "map",
    ]  # fmt: skip


def plain_ngrams(sentences: Sequence[Sequence[str]], stems: Sequence[Sequence[str]], n: int) -> dict[str, list[int]]:
    """The selection and the filter of pke, as they read: all n-grams, then what is not wanted is taken out."""
    found: dict[str, list[tuple[int, list[str]]]] = {}
    shift = 0
    for words, stemmed in zip(sentences, stems, strict=True):
        for start in range(len(words)):
            for end in range(start + 1, min(start + n, len(words)) + 1):
                found.setdefault(" ".join(stemmed[start:end]), []).append((shift + start, list(words[start:end])))
        shift += len(words)
    stops = stop_words("english")
    kept = {}
    for form, places in found.items():
        first = [word.lower() for word in places[0][1]]
        plain = all(word.replace("-", "").isalnum() and len(word) > 1 and word not in stops for word in first)
        if plain and len("".join(first)) > 2 and len(first) <= 5:
            kept[form] = [at for at, _ in places]
    return kept


ODD = ["used", "uses", "net", "nets", "Deep", "of", ".", "c++", "ip", "x", "a-b", "--", "US", "us"]


@given(st.lists(st.lists(st.sampled_from(ODD), max_size=7), max_size=4), st.integers(1, 5))
@settings(max_examples=examples(40), deadline=None)
def test_n_grams_are_those_that_pke_would_keep(sentences: list[list[str]], n: int) -> None:
    text = text_of(Document(sentences=[[(word, "x") for word in each] for each in sentences]), CommonOptions())
    stems = [text.stems[begin:end] for begin, end in text.spans()]

    assert dict(columns(ngrams(text, n))) == plain_ngrams(sentences, stems, n)


# ---------------------------------------------------------------------------------------------- Kim's rules


def test_the_examples_of_kim() -> None:
    assert forms("deep distributed web-service discovery", kind="nbar") == ["deep distribut web-servic discoveri"]
    assert forms("learns quality of service", kind="nbar-pp") == ["qualiti of servic"]
    assert forms("performance of grid computing learns", kind="nbar-pp") == ["perform of grid comput", "grid comput"]
    assert forms("performance of grid computing learns", kind="nbar") == ["grid comput"]


def test_a_simplex_word_must_stand_twice() -> None:
    assert forms("net learns fast graph", "graphs of nets .", kind="nbar") == ["net", "fast graph"]
    found = candidates_of(tagged("graph learns", "graphs . map"), CommonOptions(), "nbar")
    assert columns(found) == [("graph", [0, 2])]


def test_an_n_bar_ends_in_a_noun_and_a_preposition_joins_within_a_sentence() -> None:
    assert forms("grid net fast", "of map net", kind="nbar-pp") == ["grid net", "map net"]
    assert forms("grid net of map net in city hall", kind="nbar-pp") == [
        "grid net", "grid net of map net", "map net", "map net in citi hall", "citi hall",
    ]  # fmt: skip


def test_possessive_number_and_abbreviation_are_variants_of_one_candidate() -> None:
    found = candidates_of(tagged("agent 's goal learns", "agent goals"), CommonOptions(), "nbar")
    assert columns(found) == [("agent goal", [0, 4])]
    assert found.surfaces(0) == ["agent 's goal", "agent goals"]

    explained = tagged("fast support vector machines ( SVMs ) .", "SVM and SVM kernel", "support vector machine")
    found = candidates_of(explained, CommonOptions(), "nbar")
    assert found.forms == ["fast support vector machin", "support vector machin", "support vector machin kernel"]
    assert found.surfaces(1) == ["SVMs", "SVM", "support vector machine"]
    unexplained = tagged("fast nets ( SVM ) .", "SVM")
    assert candidates_of(unexplained, CommonOptions(), "nbar").forms == ["fast net", "svm"]


def test_an_n_bar_of_marks_is_none() -> None:
    assert forms("% %", "grid % net", kind="nbar") == []


# ---------------------------------------------------------------------------------------------- texts


def test_raw_text_is_tagged_and_its_title_counts_as_text() -> None:
    document = Document(title="Deep networks", text="The networks learn. They learn graphs.")
    found = candidates_of(document, CommonOptions())

    assert columns(found) == [("deep network", [0]), ("network", [3]), ("graph", [8])]
    assert found.text.bounds == [0, 2, 6, 10]
    assert found.counts(2.0) == [2.0, 1.0, 1.0]
    assert found.counts() == [1, 1, 1]


@pytest.mark.usefixtures("no_models")
def test_without_a_tagger_candidates_are_n_grams_in_the_language_s_stems() -> None:
    found = candidates_of(Document(text="Les réseaux de neurones."), CommonOptions(language="french"))

    assert found.forms == ["réseau", "neuron"]
    assert (found.text.tags, found.tags(0)) == ([], [[]])


def test_an_unknown_selection_is_refused() -> None:
    with pytest.raises(InputError, match="unknown candidates 'sequence'; did you mean 'sequences'"):
        candidates_of(Document(), CommonOptions(), "sequence")  # type: ignore[arg-type]
