"""Phrases are split where the protocol splits them, and each piece knows where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.corpus import Document, Phrase, Prediction
from karat.matching.align import align, prepare
from karat.protocol import KARAT, change, option_fields
from karat.text.split import split_phrases

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

Lists = Sequence[Sequence[Phrase]]


def values_of(option: str) -> set[str]:
    return set(option_fields()[option][1].metadata["values"])


def split(given: Lists, separators: str = "none", blank: str = "drop") -> list[tuple[int, int, str]]:
    """(document, index in its list, piece) for every piece."""
    phrases, document, source = split_phrases(given, separators, blank)
    return list(zip(document.tolist(), source.tolist(), phrases, strict=True))


def pieces(phrases: Sequence[Phrase], separators: str, blank: str = "drop") -> list[tuple[int, str]]:
    """(index in the list, piece) for every piece of one document."""
    return [(index, piece) for _, index, piece in split([phrases], separators, blank)]


# ---------------------------------------------------------------------------------------------- separators

SEPARATORS: dict[str, list[tuple[list[str], list[tuple[int, str]]]]] = {
    "none": [
        (["a;b", "c/d"], [(0, "a;b"), (1, "c/d")]),
        (["a<sep>b", "c<eos>d", "e"], [(0, "a<sep>b"), (1, "c<eos>d"), (2, "e")]),
    ],
    "semicolon": [
        (["a;b", "c"], [(0, "a"), (0, "b"), (1, "c")]),
        (["a;;b"], [(0, "a"), (0, ""), (0, "b")]),
        (["a; b ;"], [(0, "a"), (0, " b "), (0, "")]),
        (["c/d", "e<sep>f"], [(0, "c/d"), (1, "e<sep>f")]),
        (["a<eos>b;c", "d"], [(0, "a<eos>b"), (0, "c"), (1, "d")]),
    ],
    "slash": [
        (["a;b/c", "d"], [(0, "a"), (0, "b"), (0, "c"), (1, "d")]),
        (["a<p_start>b<a_start>c<p_end>d<a_end>e"], [(0, "a"), (0, "b"), (0, "c"), (0, "d"), (0, "e")]),
        (["a<eokp>", "<blank>b c"], [(0, "a"), (1, "b c")]),
        (["a<sep>b", "c<eos>d", "e"], [(0, "a<sep>b"), (1, "c<eos>d"), (2, "e")]),
    ],
    "sep": [
        (["a;b<sep>c", "d"], [(0, "a"), (0, "b"), (0, "c"), (1, "d")]),
        (["a", "b<eos>c", "d"], [(0, "a"), (1, "b")]),
        (["a;b<eos>c;d", "e;f"], [(0, "a"), (0, "b")]),
        (["c/d"], [(0, "c/d")]),
    ],
}


def test_every_separator_of_the_protocols_has_examples() -> None:
    assert SEPARATORS.keys() == values_of("separators")


@pytest.mark.parametrize(
    ("separators", "phrases", "found"),
    [(name, phrases, found) for name, cases in SEPARATORS.items() for phrases, found in cases],
)
def test_phrases_are_split_into_these_pieces(separators: str, phrases: list[str], found: list[tuple[int, str]]) -> None:
    assert pieces(phrases, separators) == found


def test_the_end_of_one_document_is_not_the_end_of_the_next() -> None:
    assert split([["a<eos>", "b"], ["c", "d"]], "sep") == [(0, 0, "a"), (1, 0, "c"), (1, 1, "d")]


def test_pieces_of_several_documents_stay_apart() -> None:
    given = [["a;b", "c"], [], ["d;e"]]

    assert split(given, "semicolon") == [(0, 0, "a"), (0, 0, "b"), (0, 1, "c"), (2, 0, "d"), (2, 0, "e")]


@pytest.mark.parametrize("separators", SEPARATORS)
def test_a_null_phrase_is_an_empty_one(separators: str) -> None:
    assert pieces([None, "a"], separators) == [(0, ""), (1, "a")]
    assert pieces([None, "a;b"], separators)[0] == (0, "")


@pytest.mark.parametrize("separators", SEPARATORS)
def test_no_documents_have_no_pieces(separators: str) -> None:
    assert split([], separators) == []
    assert split([[], []], separators) == []


@pytest.mark.parametrize("separators", SEPARATORS)
@pytest.mark.parametrize("blank", ["drop", "keep", "inner", "present"])
@pytest.mark.parametrize("beside", [["c"], ["c;d"], [], [""]])
def test_a_null_character_splits_and_ends_nothing(separators: str, blank: str, beside: list[str]) -> None:
    found = split([["a\x00b", "e"], beside], separators, blank)

    assert [entry for entry in found if entry[0] == 0] == [(0, 0, "a\x00b"), (0, 1, "e")]


@pytest.mark.parametrize("separators", SEPARATORS)
@pytest.mark.parametrize("blank", ["drop", "keep", "inner", "present"])
@untimed
@given(data=st.data())
def test_a_document_is_split_alike_beside_any_other(separators: str, blank: str, data: st.DataObject) -> None:
    alphabet = ["a", " ", ";", "/", "<sep>", "<eos>", "<p_start>", "<eokp>"]
    phrase = st.none() | st.lists(st.sampled_from(alphabet), max_size=5).map("".join)
    given = data.draw(st.lists(st.lists(phrase, max_size=3), max_size=4))

    alone = [(d, i, piece) for d, one in enumerate(given) for _, i, piece in split([one], separators, blank)]

    assert split(given, separators, blank) == alone


# ---------------------------------------------------------------------------------------------- blank

# For each value: what is given, and which predictions are left once everything has been split and dropped.
BLANK: dict[str, list[tuple[list[Phrase], list[str]]]] = {
    "drop": [
        ([], []),
        ([""], []),
        (["a", "", "b"], ["a", "b"]),
        (["a;;b"], ["a", "b"]),
        ([None, " ", "a"], ["a"]),
    ],
    "keep": [
        ([], [""]),
        ([""], [""]),
        ([None], [""]),
        (["a", "", "b"], ["a", "", "b"]),
        (["a;;b"], ["a", "", "b"]),
    ],
    "inner": [
        ([], []),
        ([""], []),
        ([None], []),
        ([" "], []),
        (["a", "", "b"], ["a", "", "b"]),
        (["a;"], ["a", ""]),
    ],
    "present": [
        ([], []),
        ([""], [""]),
        ([None], [""]),
        (["a", "", "b"], ["a", "", "b"]),
    ],
}


def test_every_way_to_take_blanks_has_examples() -> None:
    assert BLANK.keys() == values_of("blank")


def predicted(phrases: list[Phrase], blank: str) -> list[str]:
    """The predictions that are kept of one document's, under karat's own rules but for blanks and separators."""
    protocol = change(KARAT, blank=blank, separators="semicolon", invalid="none")
    document = Document(id="d1", text="a b", keyphrases=["a"])
    prepared = prepare([document], protocol.matching)
    aligned = align(prepared, [Prediction(keyphrases=phrases)], protocol.counting)
    columns: Any = aligned.predictions
    return [aligned.forms[phrase] for phrase in columns.phrase[columns.kept].tolist()]


@pytest.mark.parametrize(
    ("blank", "phrases", "left"),
    [(blank, phrases, left) for blank, cases in BLANK.items() for phrases, left in cases],
)
def test_empty_predictions_are_taken_as_the_protocol_says(blank: str, phrases: list[Phrase], left: list[str]) -> None:
    assert predicted(phrases, blank) == left


def test_only_documents_without_any_phrase_are_filled() -> None:
    assert split([["a"], [], ["b"]], blank="keep") == [(0, 0, "a"), (1, 0, ""), (2, 0, "b")]


def test_only_a_blank_that_is_alone_vanishes() -> None:
    assert split([[""], ["a", ""], []], blank="inner") == [(1, 0, "a"), (1, 1, "")]
