"""What the page says of mistakes: counts by hand, near misses as `karat nearmiss` has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import karat
from karat.analyses.report.documents import instructive
from karat.analyses.report.result import Mistake

GOLDEN = Path(__file__).parents[1] / "golden"
SYNTHETIC = [str(GOLDEN / f"synthetic.{name}.jsonl") for name in ("corpus", "alpha", "beta")]

REFERENCES = (
    ["bee hives", "queen bee"],
    ["bee hive", "wax"],
    ["Bee hive", "honey"],
    ["honey"],
    ["pollen"],
    ["nectar"],
)
GIVEN = (
    ["insect", "bee"],
    ["insects", "wax"],
    ["insect", "insects", "honeys"],  # the second is a repeat
    ["honey", "insect"],
    ["insect", "pollen grains"],
    ["wax"],
)


def corpus(references: bool = True) -> karat.Corpus:
    return karat.Corpus.of(
        {"id": f"d{n}", "text": "Of insects.", "keyphrases": own if references else None}
        for n, own in enumerate(REFERENCES)
    )


def run(name: str = "mine", lists: Sequence[Sequence[str]] = GIVEN) -> karat.Run:
    return karat.Run.of(({"id": f"d{n}", "keyphrases": list(own)} for n, own in enumerate(lists)), name)


def test_phrases_are_counted_once_a_document_whatever_their_form() -> None:
    [part] = karat.report(corpus(), run(), resamples=9).parts
    [own] = part.mistakes
    # Wax is wrong once, right once; what is wrong or missed once is no pattern.
    assert own.wrong == (Mistake("insect", 5, 5, (0, 1, 2, 3, 4)),)
    assert own.missed == (Mistake("bee hives", 3, 3, (0, 1, 2)),)
    assert own.generic == (Mistake("insect", 5, 0, (0, 1, 2, 3, 4)),)
    # Bee is a part of two references of d0, pollen grains hold a reference of d4.
    assert {(each.kind, each.count, each.documents) for each in own.near} == {
        ("part-of", 1, (0,)),
        ("include", 1, (4,)),
    }
    assert {example for each in own.near for example in each.examples} == {
        ("bee", "bee hives"),
        ("pollen grains", "pollen"),
    }


def test_outcomes_count_predictions_and_references() -> None:
    [part] = karat.report(corpus(), run(), resamples=9).parts
    [own] = part.outcomes
    assert (own.documents, own.predictions, own.right, own.near, own.wrong) == (6, 11, 3, 2, 6)
    assert (own.references, own.found, own.nearly) == (9, 3, 3)  # bee is near to both references of d0
    assert own.mean(own.right) == 0.5


def test_without_references_frequent_phrases_are_there_and_nothing_is_wrong() -> None:
    [part] = karat.report(corpus(references=False), run(), resamples=9).parts
    [own] = part.mistakes
    assert (own.wrong, own.missed, own.near) == ((), (), ())
    assert [(each.phrase, each.count) for each in own.generic] == [("insect", 5)]


def test_near_misses_are_those_of_nearmiss_and_mistakes_are_the_same_on_two_processes() -> None:
    [part] = karat.report(*SYNTHETIC, resamples=9).parts
    [again] = karat.report(*SYNTHETIC, resamples=9, jobs=2).parts
    assert part.mistakes == again.mistakes
    assert part.outcomes == again.outcomes
    counted = karat.nearmiss(*SYNTHETIC).rows()
    for system, own, ends in zip(part.systems, part.mistakes, part.outcomes, strict=True):
        kinds = {row["class"]: row["pairs"] for row in counted if (row["system"], row["kind"]) == (system, "relation")}
        assert {each.kind: each.count for each in own.near} == {kind: pairs for kind, pairs in kinds.items() if pairs}
        assert sum(each.count for each in own.near) == ends.near


def test_documents_on_which_systems_differ_come_first() -> None:
    right = [list(own) for own in REFERENCES]
    right[3] = ["flower"]  # neither system finds or nears anything of d3
    other = [["flower"] if n in (2, 3) else own for n, own in enumerate(right)]
    [part] = karat.report(corpus(), run("one", right), run("two", other), resamples=9).parts
    assert part.browser is not None
    order = instructive(part.browser.entries)
    assert order == part.browser.instructive
    assert order == (2, 0, 1, 3, 4, 5)  # the others are alike, in the order of the corpus
