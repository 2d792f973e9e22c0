"""Pairs of alike documents: by references, by words, by vectors; what is left out, and what is written."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.embed import embedder
from karat.errors import InputError
from karat.formats.pairs import read_pairs
from tests.examples import examples


def corpus(*documents: dict[str, Any], name: str = "made") -> karat.Corpus:
    return karat.Corpus.of(({"id": f"d{n}", **each} for n, each in enumerate(documents, 1)), name)


def of_phrases(*lists: Any) -> karat.Corpus:
    return corpus(*({"keyphrases": list(each)} for each in lists))


def pairs(found: karat.Pairs, score: str = "jaccard") -> dict[tuple[str, str], float]:
    return {(row["a"], row["b"]): round(row[score], 4) for row in found.rows()}


# ---------------------------------------------------------------------------------------------- references


def test_pairs_are_those_worked_out_by_hand() -> None:
    """d1 and d2 share 2 of 4 phrases, d1 and d3 one of 4, d2 and d3 one of 4; d4 shares none."""
    made = of_phrases(["a b", "c", "d"], ["A B", "c ", "e"], ["c", "f"], ["g"])
    assert pairs(karat.mine_pairs(made)) == {("d1", "d2"): 0.5}
    assert pairs(karat.mine_pairs(made, min=0.25)) == {("d1", "d2"): 0.5, ("d1", "d3"): 0.25, ("d2", "d3"): 0.25}


def test_the_measure_max_divides_by_the_larger_set() -> None:
    made = of_phrases(["a", "b", "c"], ["a", "b", "d"])
    assert pairs(karat.mine_pairs(made, measure="max"), "max") == {("d1", "d2"): 0.6667}
    assert len(karat.mine_pairs(made, measure="max", min=0.7)) == 0


def test_repeats_count_once_and_case_does_not_count() -> None:
    made = of_phrases(["a", "A", "a ", "b"], ["a", "c"])
    assert pairs(karat.mine_pairs(made, min=0.3)) == {("d1", "d2"): 0.3333}


def test_identity_is_judged_on_the_sets_that_are_compared() -> None:
    """Equal as sets though not as lists; and equal by stems though not as words."""
    made = of_phrases(["tree", "net"], ["Net", "tree", "net"], ["trees", "nets"])
    assert pairs(karat.mine_pairs(made)) == {}
    assert pairs(karat.mine_pairs(made, identical="keep")) == {("d1", "d2"): 1.0}
    assert pairs(karat.mine_pairs(made, stem=True)) == {}
    assert set(pairs(karat.mine_pairs(made, stem=True, identical="keep"))) == {("d1", "d2"), ("d1", "d3"), ("d2", "d3")}


def test_stems_bring_more_together() -> None:
    made = of_phrases(["neural network", "graph", "x"], ["neural networks", "graphs", "y"])
    assert pairs(karat.mine_pairs(made)) == {}
    assert pairs(karat.mine_pairs(made, stem=True)) == {("d1", "d2"): 0.5}


def test_other_languages_have_their_own_stems() -> None:
    made = of_phrases(["réseaux", "x"], ["réseau", "x", "y"])
    assert pairs(karat.mine_pairs(made, min=0.5)) == {}
    assert pairs(karat.mine_pairs(made, min=0.5, language="french")) == {("d1", "d2"): 0.6667}


def test_documents_without_references_are_left_out_and_counted() -> None:
    made = of_phrases(["a"], [], ["a", "b"], ["", None])
    found = karat.mine_pairs(made)
    assert pairs(found) == {("d1", "d3"): 0.5}
    assert found.left_out == 2
    assert found.notes[0] == "1 pair over 2 of 4 documents of made (2 without references left out)"


def test_of_variants_the_first_is_compared() -> None:
    made = of_phrases([["a", "x"], "b"], ["a", ["c", "x"]])
    assert pairs(karat.mine_pairs(made, min=0.1)) == {("d1", "d2"): 0.3333}


def test_a_named_reference_set_is_compared() -> None:
    made = corpus(
        {"keyphrases": ["a"], "reference_sets": {"reader": ["x", "y"]}},
        {"keyphrases": ["b"], "reference_sets": {"reader": ["x", "y", "z"]}},
    )
    assert pairs(karat.mine_pairs(made, references="reader")) == {("d1", "d2"): 0.6667}
    with pytest.raises(InputError, match=r"unknown reference set 'raeder'; did you mean 'reader'\?"):
        karat.mine_pairs(made, references="raeder")


def test_documents_without_ids_are_named_by_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"keyphrases": ["a"]}\n\n{"keyphrases": ["a", "b"]}\n')
    assert pairs(karat.mine_pairs(path)) == {("1", "3"): 0.5}


PHRASES = st.lists(st.lists(st.sampled_from(["a", "B", "b", "c d", "C  d", "e", "f", ""]), max_size=6), max_size=12)


@settings(deadline=None, max_examples=examples(30))
@given(PHRASES, st.sampled_from([0.2, 0.5, 0.6]), st.sampled_from(["jaccard", "max"]), st.booleans())
def test_mining_equals_comparing_every_two_documents(
    lists: list[list[str]], least: float, measure: Any, keep: bool
) -> None:
    sets = [{" ".join(phrase.lower().split()) for phrase in each} - {""} for each in lists]
    expected = {}
    for (i, one), (j, other) in combinations(enumerate(sets, 1), 2):
        below = max(len(one), len(other)) if measure == "max" else len(one | other)
        if one & other and len(one & other) / below >= least - 1e-9 and (keep or one != other):
            expected[f"d{i}", f"d{j}"] = round(len(one & other) / below, 4)
    if not any(sets):
        with pytest.raises(InputError, match="no document has references"):
            karat.mine_pairs(of_phrases(*lists))
        return
    found = karat.mine_pairs(of_phrases(*lists), min=least, measure=measure, identical="keep" if keep else "drop")
    assert pairs(found, measure) == expected
    assert found.documents == len({identifier for pair in expected for identifier in pair})


# ---------------------------------------------------------------------------------------------- texts


TEXTS = corpus(
    {"title": "Bees.", "text": "The bee dances, the bees fly.", "keyphrases": ["bee", "dance"]},
    {"title": "Bee", "text": "the bee dances and flies", "keyphrases": ["bee", "dance", "hive"]},
    {"text": "Tax law in small states", "keyphrases": ["bee", "dance", "tax"]},
    {"keyphrases": ["bee", "dance", "law"]},
)


def test_pairs_whose_texts_are_alike_are_left_out() -> None:
    """d1 has the words bees the bee dances fly, d2 bee the dances and flies: 3 of 7. d1 and d3 share none."""
    found = karat.mine_pairs(TEXTS, text_max=0.4)
    assert ("d1", "d2") not in pairs(found)
    assert pairs(found)["d1", "d3"] == 0.6667
    assert found.notes[1:3] == ("1 pair with texts too alike left out", "3 pairs kept of which a document has no text")
    every = karat.mine_pairs(TEXTS, text_max=3 / 7)
    assert {(row["a"], row["b"]): row["text"] for row in every.rows()}["d1", "d2"] == pytest.approx(3 / 7)
    assert [row["text"] for row in every.rows() if "d4" in row.values()] == [None] * 3


def test_text_max_needs_texts() -> None:
    with pytest.raises(InputError, match="no document has a title or a text, so --text-max cannot compare them"):
        karat.mine_pairs(of_phrases(["a"], ["a", "b"]), text_max=0.5)


def test_words_of_texts_can_be_compared_instead() -> None:
    found = karat.mine_pairs(TEXTS, by="text", min=0.4)
    assert pairs(found) == {("d1", "d2"): 0.4286}
    assert found.left_out == 1
    assert "1 without text left out" in found.notes[0]
    stemmed = karat.mine_pairs(TEXTS, by="text", min=0.4, stem=True)  # bee the danc fli, and the same with `and`
    assert pairs(stemmed) == {("d1", "d2"): 0.8}


def test_identical_texts_are_dropped_unless_they_are_kept() -> None:
    made = corpus({"text": "Bees fly."}, {"text": "bees, fly"}, {"text": "wasps"})
    assert pairs(karat.mine_pairs(made, by="text")) == {}
    assert pairs(karat.mine_pairs(made, by="text", identical="keep")) == {("d1", "d2"): 1.0}


def test_vectors_of_texts_are_compared_by_their_cosine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.pairs.mine.COSINES", 3)  # several blocks
    texts = ["deep neural networks", "neural networks", "network", "tax law", "laws on taxes", "deep neural networks"]
    made = corpus(*({"text": text} for text in texts), {"keyphrases": ["x"]})
    found = karat.mine_pairs(made, by="embedding", min=0.3)
    vectors = embedder("hash").embed(texts).astype(np.float64)
    cosines = vectors @ vectors.T
    expected = {
        (f"d{i + 1}", f"d{j + 1}"): round(float(cosines[i, j]), 4)
        for i, j in combinations(range(len(texts)), 2)
        if cosines[i, j] >= 0.3 and texts[i] != texts[j]
    }
    assert expected
    assert pairs(found, "cosine") == pytest.approx(expected, abs=2e-4)
    assert found.left_out == 1
    assert "compare letters, not meanings" in found.notes[1]
    kept = pairs(karat.mine_pairs(made, by="embedding", min=0.3, identical="keep"), "cosine")
    assert kept["d1", "d6"] == 1.0


def test_only_the_best_pairs_of_a_document_can_be_asked_for() -> None:
    """d1 is nearest to d2; d3 has no better partner than d1, so that pair stays; d2 and d3 is the best of neither."""
    made = of_phrases(["a", "b", "c", "d"], ["a", "b", "c", "e"], ["a", "b", "f", "d"])
    every = {("d1", "d2"): 0.6, ("d1", "d3"): 0.6, ("d2", "d3"): 0.3333}
    assert pairs(karat.mine_pairs(made, min=0.3)) == every
    assert pairs(karat.mine_pairs(made, min=0.3, nearest=1)) == {("d1", "d2"): 0.6, ("d1", "d3"): 0.6}
    assert pairs(karat.mine_pairs(made, min=0.3, nearest=2)) == every


# ---------------------------------------------------------------------------------------------- files and errors


@pytest.mark.parametrize("name", ["p.jsonl", "p.csv", "p.tsv", "p.jsonl.gz", "p.parquet"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    found = karat.mine_pairs(of_phrases(["a", "b"], ["a", "b", "c"], ["c", "b"]), min=0.3)
    found.save(tmp_path / name)
    back = read_pairs(tmp_path / name)
    assert list(zip(back.a, back.b, strict=True)) == [(row["a"], row["b"]) for row in found.rows()]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min": 0}, "min is a number above 0 and up to 1, not 0"),
        ({"min": 1.5}, "min is a number above 0 and up to 1, not 1.5"),
        ({"min": float("nan")}, "min is a number above 0 and up to 1, not nan"),
        ({"text_max": -1}, "text_max is a number from 0 to 1, not -1"),
        ({"nearest": 0}, "nearest is a whole number from 1 on, not 0"),
        ({"measure": "dice"}, "unknown value of measure 'dice' (known: jaccard, max)"),
        ({"identical": "no"}, "unknown value of identical 'no' (known: drop, keep)"),
        ({"by": "texts"}, "unknown value of by 'texts'; did you mean 'text'? (known: embedding, references, text)"),
        ({"by": "embedding", "measure": "max"}, "vectors are compared by their cosine"),
        ({"language": "frensh"}, "unknown language 'frensh'; did you mean 'french'"),
    ],
)
def test_what_cannot_be_chosen_is_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        karat.mine_pairs(of_phrases(["a"]), **options)


@pytest.mark.parametrize("by", ["text", "embedding"])
def test_pairs_by_text_need_texts(by: Any) -> None:
    with pytest.raises(InputError, match=f"no document has a title or a text, so --by {by} cannot compare them"):
        karat.mine_pairs(of_phrases(["a"]), by=by)


def test_ids_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"id": "x", "keyphrases": ["a"]}\n{"id": "x", "keyphrases": ["a"]}\n')
    with pytest.raises(InputError, match=r"c\.jsonl: id 'x' is on line 1 and on line 2"):
        karat.mine_pairs(path)
    path.write_text('{"id": "x", "keyphrases": ["a"]}\n{"keyphrases": ["a"]}\n')
    with pytest.raises(InputError, match=r"c\.jsonl:2: no id, though earlier lines have one"):
        karat.mine_pairs(path)


# ---------------------------------------------------------------------------------------------- lower thresholds


def counted(found: karat.Corpus, least: float, **options: Any) -> int:
    return len(karat.mine_pairs(found, min=least, **options))


def test_fewer_than_ten_pairs_come_with_what_a_lower_threshold_gives() -> None:
    """d1 and d2 share 2 of 4; d3 to d7 share one of 5 with each other, which makes ten pairs of 1/9."""
    lists = [["a", "b", "c"], ["a", "b", "d"], *(["z", *(f"{n}{m}" for m in range(4))] for n in range(5))]
    found = karat.mine_pairs(of_phrases(*lists), min=0.6)
    assert found.lower == ((0.5, 1), (0.1, 11))
    assert found.notes[-1] == "a lower --min gives 1 at .5, 11 at .1"
    assert karat.mine_pairs(of_phrases(*lists), min=0.1).lower == ()
    assert "lower" not in " ".join(karat.mine_pairs(of_phrases(*lists), min=0.1).notes)


def test_where_no_lower_threshold_gives_more_that_is_said() -> None:
    found = karat.mine_pairs(of_phrases(["a"], ["b"]))
    assert (found.lower, found.notes[-1]) == ((), "a lower --min gives no more pairs, down to .05")
    assert len(karat.mine_pairs(of_phrases(["a"], ["b"]), min=0.01).notes) == 1


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=0, max_size=6), min_size=2, max_size=9),
    st.sampled_from([0.95, 0.6, 0.3]),
    st.sampled_from(["jaccard", "max"]),
    st.sampled_from(["keep", "drop"]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([None, 0.3]),
)
def test_counts_at_lower_thresholds_are_those_of_mining_there(
    lists: list[list[str]], least: float, measure: str, identical: str, nearest: int | None, text_max: float | None
) -> None:
    made = corpus(*({"keyphrases": each or ["x"], "text": " ".join(each[:2]) or "y"} for each in lists))
    options: dict[str, Any] = {"measure": measure, "identical": identical, "nearest": nearest, "text_max": text_max}
    found = karat.mine_pairs(made, min=least, **options)
    assert (found.lower == ()) or len(found) < 10
    for lower, count in found.lower:
        assert count == counted(made, lower, **options)


def test_too_large_a_search_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = of_phrases(["a", "b"], ["a", "c"], ["a", "d"])
    assert karat.mine_pairs(made, min=0.6).lower == ((0.3, 3),)
    monkeypatch.setattr("karat.pairs.mine.LOOKED_AT", 2)
    assert karat.mine_pairs(made, min=0.6).lower == ()


def test_cosines_at_a_lower_threshold_are_counted_too() -> None:
    made = corpus(*({"text": text} for text in ("deep neural nets", "deep neural networks", "sour milk", "bees")))
    found = karat.mine_pairs(made, by="embedding", min=0.99)
    assert len(found) == 0
    assert found.lower
    assert all(count == counted(made, lower, by="embedding") for lower, count in found.lower)
