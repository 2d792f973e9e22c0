"""Alignment against a plain re-telling of karat's rules: lists, loops and NLTK's stemmer."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem import PorterStemmer

import karat
from karat.corpus import Document, Prediction
from karat.matching.align import align, prepare
from karat.matching.columns import Subset
from karat.protocol import KARAT, parse_protocol
from tests.examples import examples

WORDS = ["graph", "graphs", "Graph", "neural", "net-work", "nets", "a", "ai", "train", ",", ".", "<unk>", "", "(x)"]
phrase = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
text = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join)
reference = st.one_of(phrase, st.none(), st.lists(phrase, max_size=3))
document = st.tuples(text, text, st.lists(reference, max_size=5), st.lists(st.one_of(phrase, st.none()), max_size=6))

_stem = PorterStemmer().stem


def stems(phrase: str | None) -> tuple[str, ...]:
    return tuple(_stem(t.lower()) for t in re.findall(r"\w+(?:-\w+)*|[^\w\s]", phrase or ""))


def within(needle: tuple[str, ...], hay: tuple[str, ...]) -> bool:
    return any(hay[i : i + len(needle)] == needle for i in range(len(hay) - len(needle) + 1))


def prmu(phrase: tuple[str, ...], title: tuple[str, ...], body: tuple[str, ...]) -> str:
    if phrase and (within(phrase, title) or within(phrase, body)):
        return "P"
    known = {*title, *body}
    found = sum(stem in known for stem in phrase)
    return "U" if not found else "R" if found == len(phrase) else "M"


def plainly(title: str, body: str, references: list[Any], predictions: list[Any]) -> dict[str, tuple[int, int, int]]:
    """(predictions, references, hits) of each subset of one document."""
    own_title, own_body = stems(title), stems(body)
    kept_references: list[list[tuple[str, ...]]] = []
    for given_reference in references:
        given_variants = given_reference if isinstance(given_reference, list) else [given_reference]
        variants = [stems(v) for v in given_variants if v and v.strip()]
        if variants and variants[0] and variants[0] not in [r[0] for r in kept_references]:
            kept_references.append(variants)
    seen: list[tuple[str, ...]] = []
    kept: list[tuple[str, ...]] = []
    for given_prediction in predictions:
        own = stems(given_prediction)
        readable = re.search(r"[^\W_]", given_prediction or "") and "<unk>" not in (given_prediction or "").lower()
        if own and readable and own not in seen:
            kept.append(own)
        seen.append(own)
    order = "PRMU"
    classes = [min((prmu(v, own_title, own_body) for v in variants), key=order.index) for variants in kept_references]
    counted: dict[str, tuple[int, int, int]] = {}
    for subset in ("all", "present", "absent", *order):
        members = {"all": order, "present": "P", "absent": "RMU"}.get(subset, subset)
        chosen = [p for p in kept if prmu(p, own_title, own_body) in members]
        wanted = [r for r, c in zip(kept_references, classes, strict=True) if c in members]
        left, hits = list(wanted), 0
        for p in chosen:
            found = next((r for r in kept_references if p in r), None)
            if found is not None and any(found is r for r in left):
                left = [r for r in left if r is not found]
                hits += 1
        counted[subset] = len(chosen), len(wanted), hits
    return counted


@settings(max_examples=examples(120), deadline=None)
@given(st.lists(document, min_size=1, max_size=4))
def test_columns_count_what_the_rules_say(documents: list[Any]) -> None:
    corpus = [Document(id=str(i), title=t, text=b, keyphrases=r) for i, (t, b, r, _) in enumerate(documents)]
    run = [Prediction(id=str(i), keyphrases=p) for i, (_, _, _, p) in enumerate(documents)]
    aligned = align(prepare(corpus, KARAT.matching), run, KARAT.counting)
    expected = [plainly(*each) for each in documents]
    subset: Subset
    for subset in ("all", "present", "absent", "P", "R", "M", "U"):
        hits = [0] * len(documents)
        ranked = aligned.ranked(subset)
        for d, gain in zip(ranked.document.tolist(), ranked.gain.tolist(), strict=True):
            hits[d] += gain
        counted = list(
            zip(
                aligned.count_predictions(subset).tolist(),
                aligned.count_references(subset).tolist(),
                hits,
                strict=True,
            )
        )
        assert counted == [each[subset] for each in expected], subset


def test_a_split_phrase_keeps_its_source() -> None:
    matching = parse_protocol("chen2020").matching
    prepared = prepare([Document(id="1", text="a b", keyphrases=["a"])], matching)
    aligned = align(prepared, [Prediction(id="1", keyphrases=["x", "a/b", "c"])], parse_protocol("chen2020").counting)
    assert aligned.predictions.source.tolist() == [0, 1, 1, 2]
    assert [aligned.forms[p] for p in aligned.predictions.phrase] == ["x", "a", "b", "c"]


def test_the_same_stems_joined_by_an_underscore_are_a_repeat_for_chan_and_no_repeat_for_karat() -> None:
    documents = [Document(id="1", text="a", keyphrases=["a"])]
    run = [Prediction(id="1", keyphrases=["deep net", "deep_net"])]
    for name, kept in (("chan2019", 1), ("karat", 2)):
        protocol = parse_protocol(name)
        aligned = align(prepare(documents, protocol.matching), run, protocol.counting)
        assert aligned.predictions.kept.sum() == kept


def test_nothing_after_eos_is_read_under_kpdrop() -> None:
    protocol = parse_protocol("kpdrop2022")
    prepared = prepare([Document(id="1", text="a", keyphrases=["a"])], protocol.matching)
    aligned = align(prepared, [Prediction(id="1", keyphrases=["a <sep> b", "c <eos> d", "e"])], protocol.counting)
    assert [aligned.forms[p] for p in aligned.predictions.phrase] == ["a", "b", "c"]


def test_a_blank_variant_does_not_hide_the_others() -> None:
    prepared = prepare([Document(id="1", text="deep nets", keyphrases=[["", "deep net"], [None], []])], KARAT.matching)
    aligned = align(prepared, [Prediction(id="1", keyphrases=["deep nets"])], KARAT.counting)
    assert aligned.count_references("all").tolist() == [1]
    assert aligned.ranked("present").gain.tolist() == [1]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"kinds": ["present"]}, "1 kinds for 2 keyphrases"),
        ({"kinds": ["present", "maybe"]}, "a kind is `present` or `absent`, not 'maybe'"),
        ({"scores": [0.5]}, "1 scores for 2 keyphrases"),
        ({"scores": [0.5, float("nan")]}, "not a finite number"),
        ({"token_probs": [[0.5]]}, "1 token_probs for 2 keyphrases"),
        ({"token_probs": [[0.5], [float("inf")]]}, "not a finite number"),
        ({"token_logprobs": [[-0.5], [0.0], None]}, "3 token_logprobs for 2 keyphrases"),
    ],
)
def test_what_a_prediction_tells_of_its_phrases_must_make_sense(told: dict[str, Any], message: str) -> None:
    with pytest.raises(karat.InputError, match=message):
        Prediction(id="d7", keyphrases=["a", "b"], **told)
    with pytest.raises(karat.InputError, match=f"prediction 1: {message}|prediction 1: a score"):
        karat.Run.of([{"id": "d7", "keyphrases": ["a", "b"], **told}])
