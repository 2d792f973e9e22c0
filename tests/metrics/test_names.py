"""Other names of metrics: each stands for one metric, and a note says which."""

from __future__ import annotations

import pytest

import karat
from karat.metrics.base import ALIASES, METRICS, own_names, parse_request, with_own_name

CORPUS = [{"id": "1", "text": "bees make honey", "keyphrases": ["bees", "honey", "wax"]}]
RUN = [{"id": "1", "keyphrases": ["bees", "hive"]}]


@pytest.mark.parametrize(("alias", "own"), sorted(ALIASES.items()))
def test_every_other_name_stands_for_a_metric_and_is_none_itself(alias: str, own: str) -> None:
    assert own in METRICS.load()
    assert alias not in METRICS
    for written in (alias, alias.upper(), alias.replace("_", "-")):
        assert with_own_name(written) == own


@pytest.mark.parametrize(
    ("given", "own"),
    [
        ("recall@5", "r@5"),
        ("precision@10:present", "p@10:present"),
        ("F1@5", "f1@5"),
        ("R@10", "r@10"),
        ("nDCG@5", "ndcg@5"),
        ("f@5:absent/micro", "f1@5:absent/micro"),
        ("F-Score@M", "f1@M"),
        ("alpha-nDCG@5,alpha=0.3", "alpha_ndcg@5,alpha=0.3"),
        ("MAP", "map"),
    ],
)
def test_names_of_the_field_are_understood_with_all_that_follows_them(given: str, own: str) -> None:
    assert parse_request(given) == parse_request(own)
    assert own_names([given, own]) == ([own, own], [f"{given} is called {own} here"])


def test_a_note_says_the_name_that_is_used_and_the_number_is_that_of_the_metric() -> None:
    found = karat.score(CORPUS, RUN, metrics=["recall@5", "Precision@M"])
    assert [(row["metric"], row["value"]) for row in found.rows()] == [("r@5", pytest.approx(1 / 3)), ("p@M", 0.5)]
    assert found.notes[:2] == ("recall@5 is called r@5 here", "Precision@M is called p@M here")
    assert not any("is called" in note for note in karat.score(CORPUS, RUN, metrics=["r@5"]).notes)
    assert karat.audit(CORPUS, RUN, metric="Recall@5", protocol=["chan2019"]).metric == "r@5"


def test_compare_says_it_once() -> None:
    found = karat.compare(CORPUS, {"a": RUN, "b": RUN}, metrics="Recall@5", resamples=9)
    assert [note for note in found.notes if "is called" in note] == ["Recall@5 is called r@5 here"]


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("precison@5", "did you mean 'precision', here 'p'?"),
        ("ndgc@5", "did you mean 'ndcg'"),
    ],
)
def test_a_name_that_is_near_one_is_suggested(given: str, near: str) -> None:
    with pytest.raises(karat.InputError, match="unknown metric") as error:
        parse_request(given)
    assert near in str(error.value)


def test_a_metric_that_is_registered_under_such_a_name_is_that_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "recall", METRICS["p"])
    assert with_own_name("recall@5") == "recall@5"
