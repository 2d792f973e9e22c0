"""What predictions are like and where references are missed, counted by hand and against plain loops."""

from __future__ import annotations

from typing import Any

import pytest

import karat

# The stems "titl one \n a b c d e f g h i j k l m n" have 8 + 3 + 27 = 38 characters; a fifth is 7.6 of them.
DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "1",
        "title": "title one",
        "text": "a b c d e f g h i j k l m n",
        "keyphrases": ["title", "n", "h i", "zoo"],
    },
    {"id": "2", "title": "title two", "text": "a b c d e f g h i j k l m n", "keyphrases": ["title", "two", "n"]},
]
RUN = [
    {"id": "1", "keyphrases": ["titles", "i h", "the big zoos", "b"]},
    {"id": "2", "keyphrases": ["x y", "two", "n"]},
]


def values(*metrics: str, protocol: str = "karat") -> list[Any]:
    results = karat.score(karat.Corpus.of(DOCUMENTS), karat.Run.of(RUN), metrics=list(metrics), protocol=protocol)
    return [row["value"] for row in results.rows()]


def test_the_rate_of_missed_references_goes_by_the_part_they_are_first_met_in() -> None:
    # Part 1: title twice and two (at 5); the first run finds title, the second finds two.
    assert values("miss_rate,part=1", "miss_rate/micro,part=1") == [(0 + 1 / 2) / 2, 1 / 3]
    # n stands at 37, in part 5: missed in the first document; `h i` at 25, in part 4: missed.
    assert values(*(f"miss_rate,part={part}" for part in (2, 3, 4, 5))) == [None, None, 1.0, 0.5]
    # All references: three of four and one of three are missed; of the present ones two of three and one of three.
    assert values("miss_rate", "miss_rate:present", "miss_rate/micro") == pytest.approx(
        [(3 / 4 + 1 / 3) / 2, 0.5, 4 / 7]
    )


def test_a_cutoff_looks_at_the_first_predictions_alone() -> None:
    assert values("miss_rate@1:present,part=5", "miss_rate@2:present,part=5") == [1.0, 0.5]


def test_the_position_is_the_mean_place_of_what_is_present() -> None:
    # title at 0 and b at 13 of 38; two at 5 and n at 37.
    assert values("position") == pytest.approx([((0 + 13) / 2 / 38 + (5 + 37) / 2 / 38) / 2])


def test_words_and_shares_are_of_the_predictions() -> None:
    assert values("words", "words:present", "words@1") == pytest.approx([(7 / 4 + 4 / 3) / 2, 1.0, 1.5])
    assert values("share:present", "share:R", "share:M", "share:U") == pytest.approx(
        [(2 / 4 + 2 / 3) / 2, 1 / 8, 0.0, (1 / 4 + 1 / 3) / 2]
    )


def test_a_raw_length_moves_what_is_late_to_the_front() -> None:
    # As given, the documents have a letter more than their stems.
    assert values("position", protocol="karat,position=raw") == pytest.approx([values("position")[0] * 38 / 39])
    corpus = karat.Corpus.of([{"id": "1", "text": "generalizations " * 9 + "bees", "keyphrases": ["bees"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["bees"]}])
    for rule, place in (("stems", 54 / 57), ("raw", 54 / 148)):
        [row] = karat.score(corpus, run, metrics=["position"], protocol=f"karat,position={rule}").rows()
        assert row["value"] == pytest.approx(place)


def test_a_part_is_a_number_up_to_five() -> None:
    with pytest.raises(karat.InputError, match=r"option part of miss_rate is 0 \(everywhere\) or 1 to 5, not 6"):
        values("miss_rate,part=6")
    with pytest.raises(karat.InputError, match="is a int, not 'first'"):
        values("miss_rate,part=first")
