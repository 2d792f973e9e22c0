"""Verbs give the same on one process and on two, in any batches: looks are put together in corpus order."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import karat
from karat import corpus as module
from karat.pairs.mine import By

DRAWN = Random(7)
WORDS = [f"{first}{second}" for first in ("net", "tree", "graph", "bee", "road") for second in ("s", "ing", " flow")]


def drawn(count: int) -> list[str]:
    return DRAWN.sample(WORDS, count)


DOCUMENTS: list[dict[str, Any]] = [
    {"id": f"d{n}", "title": " ".join(drawn(3)), "text": f"{' '.join(drawn(9))}. No {n}.", "keyphrases": drawn(3)}
    for n in range(60)
]
DOCUMENTS[41] |= {"title": DOCUMENTS[5]["title"], "text": DOCUMENTS[5]["text"]}
MADE = [
    {"id": f"{each['id']}~x", "source": each["id"], "method": "x", "text": f"{each['title']} {each['text']}"[n % 9 :]}
    for n, each in enumerate(DOCUMENTS[:30])
]
NAMES = [each["id"] for each in (*DOCUMENTS, *MADE)]
LISTS = {system: {name: drawn(4) for name in NAMES} for system in ("a", "b")}


def corpus() -> karat.Corpus:
    return karat.Corpus.of(DOCUMENTS, name="made")


def run(system: str, names: list[str] | None = None) -> karat.Run:
    wanted = NAMES[: len(DOCUMENTS)] if names is None else names
    return karat.Run.of([{"id": name, "keyphrases": LISTS[system][name]} for name in wanted], name=system)


def ensemble(jobs: int) -> Any:
    made = karat.ensemble(present=run("a"), absent=run("b"), corpus=corpus(), jobs=jobs)
    return [(each.id, each.keyphrases, each.scores, each.kinds) for each in made]


def show(jobs: int) -> Any:
    return karat.show(corpus(), run("a"), run("b"), id="d37", jobs=jobs).as_dict()


def mine(by: By, jobs: int) -> Any:
    found = karat.mine_pairs(corpus(), by=by, min=0.2, text_max=0.9, jobs=jobs)
    return found.rows(), found.notes


def filtered(jobs: int) -> Any:
    return karat.filter_reformulations(corpus(), MADE, jobs=jobs).as_dict()


def homogeneity(jobs: int) -> Any:
    pairs = [{"a": each["source"], "b": each["id"]} for each in MADE]
    kept = karat.Corpus.of([{name: each[name] for name in ("id", "text")} for each in MADE])
    runs = [run(system, NAMES[::-1]) for system in ("a", "b")]
    how: dict[str, Any] = {"similarity": "context", "protocol": ["karat", "karat,stemmer=none"], "resamples": 20}
    return karat.homogeneity(corpus(), pairs, *runs, reformulations=kept, jobs=jobs, **how).as_dict()


def study(jobs: int) -> Any:
    runs = [run(system, NAMES) for system in ("a", "b")]
    return karat.study(corpus(), MADE, *runs, min=0.3, resamples=20, jobs=jobs).as_dict()  # type: ignore[arg-type]


def describe(jobs: int) -> Any:
    training = karat.Corpus.of([*DOCUMENTS[::4], DOCUMENTS[0]], name="training")
    return karat.describe(corpus(), run("a"), train=training, jobs=jobs).as_dict()


def reproduce(jobs: int) -> Any:
    figures = [{"metric": "f1@M", "value": "0.3", "system": "a"}, {"metric": "map", "value": "0.2", "system": "b"}]
    runs = run("a"), run("b")
    return karat.reproduce(corpus(), *runs, reported=figures, budget=40, resamples=20, jobs=jobs).as_dict()


def human(jobs: int) -> Any:
    scores = [{"id": f"d{n}", "system": "a", "score": n % 5} for n in range(40)]
    return karat.human(scores, corpus=corpus(), runs=[run("a")], jobs=jobs).as_dict()


def nearmiss(jobs: int) -> Any:
    return karat.nearmiss(corpus(), run("a"), similarity="context", jobs=jobs).as_dict()


VERBS: dict[str, Callable[[int], Any]] = {
    "ensemble": ensemble,
    "show": show,
    "mine by references": lambda jobs: mine("references", jobs),
    "mine by text": lambda jobs: mine("text", jobs),
    "mine by embedding": lambda jobs: mine("embedding", jobs),
    "filter": filtered,
    "homogeneity": homogeneity,
    "study": study,
    "describe": describe,
    "reproduce": reproduce,
    "human": human,
    "nearmiss": nearmiss,
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_gives_the_same_on_two_processes(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_DOCUMENTS", 7)
    assert VERBS[verb](2) == VERBS[verb](1)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "nearmiss"])  # whose scores are added up in chunks
def test_a_verb_gives_the_same_in_any_batches(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = VERBS[verb](1)
    monkeypatch.setattr(module, "BATCH_DOCUMENTS", 7)
    assert VERBS[verb](1) == whole
