"""A page of documents alone: models predict, systems are compared, with references where these are."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.analyses.report.agreement import Agreement
from karat.analyses.report.result import Part
from karat.corpus import Document
from karat.errors import InputError

TEXTS = (
    "Honey bees dance. The waggle dance of honey bees tells where food sources are.",
    "Paper wasps build paper nests. Nests of paper wasps hang from roofs.",
    "Leaf ants follow scent trails. Scent trails of leaf ants lead to food sources.",
    "Field moths fly to light traps. Light traps catch field moths at night.",
)


def documents(count: int = 4, referred: Sequence[int] = ()) -> karat.Corpus:
    """Documents of which some have references."""
    return karat.Corpus.of(
        [
            {"id": f"d{n}", "text": TEXTS[n % 4]}
            | ({"keyphrases": [TEXTS[n % 4].split(".")[0].lower()[:10].strip()]} if n in referred else {})
            for n in range(count)
        ],
        name="insects",
    )


def run(name: str, *lists: Sequence[str]) -> karat.Run:
    return karat.Run.of([{"id": f"d{n}", "keyphrases": list(each)} for n, each in enumerate(lists)], name=name)


def agreement_of(part: Part) -> Agreement:
    found = part.found["agreement"]
    assert isinstance(found, Agreement)
    return found


# ---------------------------------------------------------------------------------------------- agreement


def test_agreement_is_what_is_worked_out_by_hand() -> None:
    a = run("a", ["honey bees", "waggle dance"], ["nests"], [], [])
    b = run("b", ["honey bee", "food sources"], ["nest"], ["trails"], [])
    c = run("c", ["Honey Bees", "waggle dances", "food"], ["roofs"], [], [])
    [part] = karat.report(documents(), a, b, c, resamples=9).parts
    found = agreement_of(part)
    # d0: ab 1 of 3, ac 2 of 3, bc 1 of 4; d1: ab 1 of 1, ac 0 of 2, bc 0 of 2; d2: b alone; d3: nothing.
    hoopers = {(row["a"], row["b"]): row["hooper"] for row in found.rows()}
    assert hoopers == pytest.approx({("a", "b"): (1 / 3 + 1 + 0) / 3, ("a", "c"): (2 / 3) / 2, ("b", "c"): 0.25 / 3})
    assert [row["documents"] for row in found.rows()] == [3, 2, 3]
    *known, last = found.per_document().tolist()
    assert known == pytest.approx([(1 / 3 + 2 / 3 + 1 / 4) / 3, 1 / 3, 0.0])
    assert isnan(last)
    assert (found.shared, found.phrases) == pytest.approx((1 / 3, (7 + 3 + 1) / 9))
    shares = {each.system: (each.given, each.by_all, each.by_some, each.alone) for each in found.by_system()}
    assert shares["a"] == pytest.approx((1.0, 1 / 3, 2 / 3, 0.0))
    assert shares["b"] == pytest.approx((4 / 3, 1 / 3, 1 / 3, 2 / 3))
    assert shares["c"] == pytest.approx((4 / 3, 1 / 3, 1 / 3, 2 / 3))


def test_documents_without_references_say_which_other_systems_give_a_phrase() -> None:
    a, b = run("a", ["honey bees", "dance"], [], [], []), run("b", ["food", "honey bee"], [], [], [])
    [part] = karat.report(documents(), a, b, resamples=9).parts
    assert part.browser is not None
    answers = part.browser.entries[0].answers
    assert [[(each.phrase, each.also) for each in answer.predictions] for answer in answers] == [
        [("honey bees", (1,)), ("dance", ())],
        [("food", ()), ("honey bee", (0,))],
    ]


def test_a_document_that_a_run_lacks_and_that_is_left_out_is_none_to_agree_on() -> None:
    a = run("a", ["honey bees"], ["nests"], ["trails"], ["traps"])
    b = karat.Run.of([{"id": "d0", "keyphrases": ["honey bees"]}], name="b")
    [part] = karat.report(documents(), a, b, resamples=9, missing="skip").parts
    [row] = agreement_of(part).rows()
    assert (row["hooper"], row["documents"]) == (1.0, 1)


def test_where_all_documents_have_references_agreement_is_not_on_the_page() -> None:
    a, b = run("a", ["honey bees"], [], [], []), run("b", ["bees"], [], [], [])
    [part] = karat.report(documents(referred=range(4)), a, b, resamples=9).parts
    assert "agreement" not in {**part.found, **part.missing}
    assert part.browser is not None
    assert part.browser.agreement == ()


# ---------------------------------------------------------------------------------------------- references of some


def two_runs() -> list[karat.Run]:
    a = run("a", ["honey bees"], ["paper wasp", "roofs"], ["leaf ants"], ["light"])
    return [a, run("b", ["dance"], ["paper wasps"], ["ants"], ["field moth"])]


@pytest.mark.parametrize("protocol", ["karat", "chan2019", "kpeval2024"])
def test_scores_are_those_of_the_documents_that_have_references(protocol: str) -> None:
    some = documents(referred=[1, 3])
    alone = karat.Corpus.of([each for each in some if each.keyphrases is not None], name="insects")
    few = [karat.Run.of([each for each in one if each.id in ("d1", "d3")], name=one.name) for one in two_runs()]
    [part] = karat.report(some, *two_runs(), protocol=protocol, resamples=9).parts
    assert part.results is not None
    expected = karat.score(alone, *few, protocol=protocol)
    assert part.results.rows() == expected.rows()
    assert part.results.signatures == expected.signatures
    assert (part.documents, part.judged) == (4, 2)


def test_every_other_figure_of_references_is_of_these_documents_too() -> None:
    [part] = karat.report(documents(referred=[1, 3]), *two_runs(), resamples=9).parts
    assert [(each.documents, each.references) for each in part.outcomes] == [(2, 2), (2, 2)]
    assert part.found["overlap"].as_dict()["rows"][0]["documents"] == 2
    assert part.browser is not None
    scores = part.browser.scores[0]
    assert [isnan(value) for value in scores] == [True, False, True, False]
    assert agreement_of(part).given.shape == (4, 2)


def test_an_empty_list_of_references_is_one_and_a_missing_one_is_not() -> None:
    listed: list[dict[str, Any]] = [{"id": f"d{n}", "text": text} for n, text in enumerate(TEXTS)]
    listed[0]["keyphrases"], listed[1]["keyphrases"] = ["honey bees"], []
    [part] = karat.report(karat.Corpus.of(listed), *two_runs(), resamples=9).parts
    assert part.judged == 2


def test_mistakes_lead_to_the_documents_as_the_page_numbers_them() -> None:
    lists = [["insects"] if n in (3, 5) else ["bees"] for n in range(8)]
    [part] = karat.report(documents(8, referred=[3, 5]), run("a", *lists), resamples=9).parts
    [mistake] = part.mistakes[0].wrong
    assert (mistake.phrase, mistake.documents) == ("insects", (3, 5))


# ---------------------------------------------------------------------------------------------- alike documents


def test_documents_with_alike_texts_are_measured_without_pairs_being_given() -> None:
    words = ["bees", "dance", "over", "meadows", "while", "summers", "last", "and", "flowers", "open"]
    texts = [" ".join([*words, f"number{n}", f"place{n}"]) for n in range(6)]
    corpus = karat.Corpus.of([{"id": f"d{n}", "text": text} for n, text in enumerate(texts)], name="alike")
    # Every two texts share 10 of 14 words: 15 pairs, of which those stay that are among the first three of a document.
    same = run("same", *[["bees"]] * 6)
    [part] = karat.report(corpus, same, run("other", *[[f"number{n}"] for n in range(6)]), resamples=50).parts
    rows = {row["system"]: row for row in part.found["homogeneity"].as_dict()["rows"]}
    assert (rows["same"]["hooper"], rows["other"]["hooper"]) == (1.0, 0.0)
    assert rows["same"]["pairs"] >= 10


def test_with_too_few_alike_texts_the_page_says_so() -> None:
    [part] = karat.report(documents(), *two_runs(), resamples=9).parts
    assert part.missing["homogeneity"] == ("There is no pair of documents with alike texts, and it takes 10 pairs.")


# ---------------------------------------------------------------------------------------------- models


def test_without_runs_several_models_predict_what_predict_gives() -> None:
    page = karat.report(documents(), n=3, resamples=9)
    [part] = page.parts
    assert part.systems == ("multipartiterank", "positionrank", "tfidf", "yake")
    expected = [list(each.keyphrases or ()) for each in karat.predict(documents(), "yake", 3)]
    assert part.browser is not None
    shown = [[each.phrase for each in entry.answers[3].predictions] for entry in part.browser.entries]
    assert shown == expected


def test_models_are_named_with_commas_between_and_stand_beside_runs() -> None:
    mine = run("mine", ["bees"], ["wasps"], ["ants"], ["moths"])
    [part] = karat.report(documents(), mine, models="yake,kpminer,lasf=1", resamples=9).parts
    assert part.systems == ("mine", "yake", "kpminer,lasf=1")


def test_functions_are_models_too() -> None:
    def first_word(given: list[Document]) -> list[list[str]]:
        return [[(each.text or "").split()[0]] for each in given]

    [part] = karat.report(documents(), models=[first_word, "yake"], resamples=9).parts
    assert part.systems == ("first_word", "yake")


def test_one_document_has_no_model_that_counts_documents(tmp_path: Path) -> None:
    (tmp_path / "bees.txt").write_text(TEXTS[0])
    [part] = karat.report(tmp_path / "bees.txt", resamples=9).parts
    assert part.systems == ("multipartiterank", "positionrank", "yake")


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ("yak", "unknown model 'yak'"),
        ("yake,yake", "two models are named 'yake'"),
        ("llm:qwen", "llm:qwen: a language model is asked by karat predict; give the run that it writes"),
        (",", "no model is named"),
        ("yake,window=x", "option window of yake"),
    ],
)
def test_a_model_that_cannot_predict_is_an_error(models: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        karat.report(documents(), models=models)


def test_a_run_may_not_have_the_name_of_a_model() -> None:
    with pytest.raises(InputError, match="a run and a model are named 'yake'"):
        karat.report(documents(), run("yake", [], [], [], []), models="yake")


def test_the_scores_of_models_are_no_probabilities() -> None:
    [part] = karat.report(documents(referred=range(4)), models="multipartiterank", resamples=9).parts
    assert "probabilities" in part.missing["confidence"]


# ---------------------------------------------------------------------------------------------- notes


def test_a_note_of_one_of_several_corpora_says_of_which() -> None:
    mine = karat.Run.of([{"id": f"d{n}", "keyphrases": ["bees"]} for n in range(5)], name="mine")
    one, two = documents(referred=range(4)), karat.Corpus.of(list(documents(5, referred=range(5))), name="five")
    notes = karat.report({one: [mine], two: [mine]}, extra="ignore", resamples=9).notes
    [ignored] = [note for note in notes if "ignored" in note]
    assert ignored == "insects: mine: 1 document of the run ignored, not being in insects"
    assert len(set(notes)) == len(notes)
