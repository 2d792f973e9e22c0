"""Tokens are found where they stand in the text as it is given, however its characters are spelled."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.protocol import Matching
from karat.text.places import stems_at, token_spans
from karat.text.unicode import composed
from tests.examples import examples

KARAT, AS_IS = Matching(), Matching(unicode="as-is")
texts = st.text(alphabet="aé \u0301\u0323\u00ad\u200b\u200cक़กក.-\n한\u1112\u1161", max_size=14)
in_order = st.text(alphabet="aé \u0301\u00ad\u200b\u200cกក.-\n한", max_size=14)  # none of which changes places


@pytest.mark.parametrize(
    ("text", "stems", "places"),
    [
        ("Neural networks.", ["neural", "network", "."], ["Neural", "networks", "."]),
        ("les re\u0301seaux", ["le", "réseaux"], ["les", "re\u0301seaux"]),
        ("key\u00adphrases, new", ["keyphras", ",", "new"], ["key\u00adphrases", ",", "new"]),
        ("ក\u200bខ", ["ក", "ខ"], ["ក", "ខ"]),
        ("می\u200cخواهم", ["می", "\u200c", "خواهم"], ["می", "\u200c", "خواهم"]),
        ("می\u200cخواهم\u00ad", ["می", "\u200c", "خواهم"], ["می", "\u200c", "خواهم"]),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8 x", ["한국", "x"], ["\u1112\u1161\u11ab\u1100\u116e\u11a8", "x"]),
    ],
)
def test_stems_and_where_they_stand(text: str, stems: list[str], places: list[str]) -> None:
    found, spans = stems_at(text, KARAT)
    assert found == stems
    assert [text[start:end] for start, end in spans] == places


def test_as_they_are_given_parts_of_a_letter_are_tokens() -> None:
    assert [token for token, _ in token_spans("re\u0301", AS_IS)] == ["re", "\u0301"]


@settings(deadline=None, max_examples=examples(200))
@given(text=texts)
def test_every_token_has_a_place_and_places_follow_each_other(text: str) -> None:
    spans = [span for _, span in token_spans(text, KARAT)]
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)


@settings(deadline=None, max_examples=examples(200))
@given(text=in_order)
def test_what_stands_at_a_place_is_the_token(text: str) -> None:
    for token, (start, end) in token_spans(text, KARAT):
        if token != "\u200c":  # which by itself is nothing
            assert composed(text[start:end]) == token


@settings(deadline=None, max_examples=examples(100))
@given(text=texts)
def test_spellings_of_a_text_have_the_same_stems(text: str) -> None:
    assert stems_at(normalize("NFC", text), KARAT)[0] == stems_at(normalize("NFD", text), KARAT)[0]
