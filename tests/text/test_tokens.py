"""Each tokenizer cuts as its name says, and piece by piece as it would cut the whole."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from karat.protocol import option_fields
from karat.text.tokens import tokenizer

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

TOKENIZERS: dict[str, Any] = option_fields()["tokenizer"][1].metadata["values"]

SENTENCE = "  State-of-the-art  (deep) nets, e.g. x_1:\tit's 3.5\u00a0% …\n"

EXAMPLES: dict[str, dict[str, list[str]]] = {
    "marks": {
        "": [],
        "   ": [],
        "neural networks": ["neural", "networks"],
        "State-of-the-art (deep) nets.": ["State-of-the-art", "(", "deep", ")", "nets", "."],
        "x-ray -based pre- a--b": ["x-ray", "-", "based", "pre", "-", "a", "-", "-", "b"],
        "it's 3.5%": ["it", "'", "s", "3", ".", "5", "%"],
        "snake_case <unk>": ["snake_case", "<", "unk", ">"],
        "naïve Ångström 数据,挖掘": ["naïve", "Ångström", "数据", ",", "挖掘"],
        "a\u00a0b\u2003c\x1cd": ["a", "b", "c", "d"],
        "...": [".", ".", "."],
    },
    "space": {
        "": [""],
        "   ": [""],
        "neural networks": ["neural", "networks"],
        "  neural  networks ": ["neural", "", "networks"],
        "nets, deep (ones).": ["nets,", "deep", "(ones)."],
        "a\tb c\nd": ["a\tb", "c\nd"],
        "a \t b": ["a", "", "b"],
        "a\u00a0b": ["a\u00a0b"],
    },
    "split": {
        "": [],
        "   ": [],
        "  neural \t\n networks ": ["neural", "networks"],
        "nets, deep (ones).": ["nets,", "deep", "(ones)."],
        "a\u00a0b\u2003c": ["a", "b", "c"],
        "<unk> state-of-the-art": ["<unk>", "state-of-the-art"],
    },
    "split_nopunc": {
        "": [],
        " ... ": [],
        "nets, deep (ones).": ["nets", "deep", "ones"],
        "state-of-the-art": ["state", "of", "the", "art"],
        "it's 3.5%": ["it", "s", "3", "5"],
        "<unk> snake_case": ["unk", "snake_case"],
        "naïve,数据": ["naïve", "数据"],
    },
    "nltk": {
        "": [],
        "neural networks": ["neural", "networks"],
        "It's (very) good, isn't it?": ["It", "'s", "(", "very", ")", "good", ",", "is", "n't", "it", "?"],
        "Bees dance. Scouts stop.": ["Bees", "dance", ".", "Scouts", "stop", "."],
        "Nets, e.g. deep ones, learn. they do": [
            "Nets",
            ",",
            "e.g",
            ".",
            "deep",
            "ones",
            ",",
            "learn",
            ".",
            "they",
            "do",
        ],
        "Mr. Low met J. Doe (p. 3).": ["Mr.", "Low", "met", "J.", "Doe", "(", "p.", "3", ")", "."],
        "state-of-the-art 3.5%": ["state-of-the-art", "3.5", "%"],
    },
    "spacy": {
        "": [],
        "   ": [],
        "neural networks": ["neural", "networks"],
        "It's (very) good, isn't it?": ["It", "'s", "(", "very", ")", "good", ",", "is", "n't", "it", "?"],
        "Bees dance. Scouts stop.": ["Bees", "dance", ".", "Scouts", "stop", "."],
        "state-of-the-art 3.5%": ["state-of-the-art", "3.5", "%"],
        "naïve Ångström -based pre-": ["naïve", "Ångström", "-based", "pre-"],
    },
}


def test_every_tokenizer_of_the_protocols_has_examples() -> None:
    assert EXAMPLES.keys() == TOKENIZERS.keys()


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [(name, text, tokens) for name, cases in EXAMPLES.items() for text, tokens in cases.items()],
)
def test_a_text_is_cut_into_these_tokens(name: str, text: str, tokens: list[str]) -> None:
    assert tokenizer(name)(text) == tokens


def test_case_is_left_as_it_is() -> None:
    for name in TOKENIZERS:
        assert tokenizer(name)("Deep NETS") == ["Deep", "NETS"]


@untimed
@given(st.text())
@example(SENTENCE)
@example("a-\u00adb\u200b-c \x1c-\x85d-\u2028-e \x00-\x00")
def test_marks_piece_by_piece_are_those_of_the_whole_text(text: str) -> None:
    assert tokenizer("marks")(text) == re.findall(r"\w+(?:-\w+)*|[^\w\s]", text)


@untimed
@given(st.text(alphabet="ab-_ .\t\n\u00a0é1"))
def test_marks_piece_by_piece_are_those_of_a_text_full_of_hyphens_and_spaces(text: str) -> None:
    assert tokenizer("marks")(text) == re.findall(r"\w+(?:-\w+)*|[^\w\s]", text)


@untimed
@given(st.text() | st.text(alphabet="ab-_ .\t\n\u00a0é1"))
@example(SENTENCE)
def test_split_nopunc_is_what_stands_between_characters_that_are_not_of_words(text: str) -> None:
    assert tokenizer("split_nopunc")(text) == [token for token in re.split(r"\W", text) if token]


@untimed
@given(st.text() | st.text(alphabet="ab \t\n\u00a0"))
@example(SENTENCE)
def test_split_is_the_split_of_strings(text: str) -> None:
    assert tokenizer("split")(text) == text.split()


@untimed
@given(st.text() | st.text(alphabet="ab \t\n\u00a0"))
@example(SENTENCE)
def test_space_cuts_at_every_single_space(text: str) -> None:
    assert tokenizer("space")(text) == [token.strip() for token in text.strip().split(" ")]


@pytest.mark.parametrize("name", sorted(TOKENIZERS.keys() - {"nltk"}))
@untimed
@given(st.data())
def test_what_stands_beyond_a_space_has_no_say_in_tokens(name: str, data: st.DataObject) -> None:
    words = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)
    left, right = data.draw(words), data.draw(words)
    cut = tokenizer(name)

    assert cut.local
    assert cut(f"{left} {right}") == cut(left) + cut(right)
