"""Predictions are invalid exactly where the protocol says so."""

from __future__ import annotations

import pytest

from karat.protocol import KARAT, Matching, change, option_fields
from karat.text.normalise import normaliser
from karat.text.valid import valid_rule

# value of `invalid`: tokenizer, predictions that are kept, predictions that are dropped
EXAMPLES: list[tuple[str, str, list[str], list[str]]] = [
    (
        "unreadable",
        "marks",
        ["swarm", "x", "3", "c++", "(nest)", ".net", "unk", "数据", "é", "< 5", "a, b."],
        ["<unk>", "deep <unk> nets", "<UNK>", "nest<unk>", "", " ", "...", "_", "- _ -", "<>", ","],
    ),
    ("none", "space", ["swarm", "<unk>", ",", ".", "", "<peos>", "_"], []),
    (
        "token",
        "space",
        ["swarm", "a,b", "e.g.", "nest<unk>", "unk", "...", "", "; x"],
        ["<unk>", "deep <unk> nets", "<UNK> nets", ",", ".", "deep , nets", "nets ."],
    ),
    (
        "unk",
        "split",
        ["swarm", ",", "nets .", "unk", "", "<peos>"],
        ["<unk>", "deep <unk> nets", "nest<unk>", "<UNK>"],
    ),
    (
        "whole",
        "space",
        ["swarm", "deep <unk> nets", "nets .", ", ,", "", "unk"],
        ["<unk>", ",", ".", "<peos>", " . ", "<UNK>", "<PEOS>"],
    ),
    (
        "surface",
        "split",
        ["swarm", "a,b", "nest<unk>", "<UNK>", "unk", ""],
        ["<unk>", "deep <unk> nets", ",", ".", "nets ."],
    ),
    (
        "surface",
        "split_nopunc",
        ["swarm", "a,b", ",", ".", "nets .", "<UNK>", "unknown"],
        ["<unk>", "deep <unk> nets", "unk", "nest <unk>", "nest-unk"],
    ),
    (
        "leading",
        "space",
        ["swarm", "a,b", "x_1", "nest)", "100%", "unk", "", "-based"],
        ["<unk>", "deep <unk> nets", "<eos>", "nets <eos>", "_x", ", b", "deep (nets", ")", ".net", "'s", "%x"],
    ),
]


def matching_of(invalid: str, tokenizer: str) -> Matching:
    return change(KARAT, invalid=invalid, tokenizer=tokenizer).matching


def is_kept(prediction: str, matching: Matching) -> bool:
    form = normaliser(matching.tokenizer, matching.stemmer, matching.case)(prediction)
    return bool(valid_rule(matching)([prediction], [form])[0])


def test_every_rule_of_the_protocols_has_examples() -> None:
    assert {invalid for invalid, *_ in EXAMPLES} == set(option_fields()["invalid"][1].metadata["values"])


@pytest.mark.parametrize(
    ("invalid", "tokenizer", "prediction"),
    [(invalid, tokenizer, phrase) for invalid, tokenizer, kept, _ in EXAMPLES for phrase in kept],
)
def test_a_valid_prediction_is_kept(invalid: str, tokenizer: str, prediction: str) -> None:
    assert is_kept(prediction, matching_of(invalid, tokenizer))


@pytest.mark.parametrize(
    ("invalid", "tokenizer", "prediction"),
    [(invalid, tokenizer, phrase) for invalid, tokenizer, _, dropped in EXAMPLES for phrase in dropped],
)
def test_an_invalid_prediction_is_dropped(invalid: str, tokenizer: str, prediction: str) -> None:
    assert not is_kept(prediction, matching_of(invalid, tokenizer))


def test_the_rule_on_stems_looks_at_stems_and_the_one_on_the_surface_at_the_surface() -> None:
    on_stems = valid_rule(matching_of("token", "space"))
    on_surface = valid_rule(matching_of("surface", "space"))

    assert on_stems([".", "x"], ["x", "."]).tolist() == [True, False]
    assert on_surface([".", "x"], ["x", "."]).tolist() == [False, True]
