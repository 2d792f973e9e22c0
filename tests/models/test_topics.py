"""Clusters are scipy's, walks are those of a plain power iteration, and a long text is walked as a short one is."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from karat.corpus import Document
from karat.models.base import CommonOptions
from karat.models.extractors import graphs, topics
from karat.models.extractors.candidates import Candidates, candidates_of
from karat.models.extractors.graphs import Graph, walk, word_graph
from tests.examples import examples

WORDS = "abcdefgh"
PHRASES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=2, max_size=30)


@given(PHRASES, st.sampled_from([0.0, 0.25, 0.5, 0.74, 0.9, 1.0]))
@settings(max_examples=examples(40), deadline=None)
def test_clusters_and_their_numbers_are_those_of_scipy(phrases: list[list[str]], threshold: float) -> None:
    held = np.array([[word in phrase for word in WORDS] for phrase in phrases])
    expected = fcluster(linkage(pdist(held, "jaccard"), "average"), threshold, "distance")

    assert topics.cut(topics.chained(topics.near(phrases)), len(phrases), threshold) == (expected - 1).tolist()


def test_one_point_and_none_are_clustered() -> None:
    assert topics.cut(topics.chained([{}]), 1, 0.74) == [0]
    assert topics.cut(topics.chained([]), 0, 0.74) == []


def plain_walk(weights: list[list[float]], jump: list[float], tolerance: float) -> list[float]:
    """PageRank as its definition reads: damping .85, dangling nodes jump, until the change is below n · tolerance."""
    nodes = range(len(weights))
    ranks = [1 / len(weights) for _ in nodes]
    for _ in range(100):
        last = ranks
        lost = sum(last[i] for i in nodes if not any(weights[i]))
        ranks = [
            0.85 * (sum(last[i] * weights[i][j] / sum(weights[i]) for i in nodes if weights[i][j]) + lost * jump[j])
            + 0.15 * jump[j]
            for j in nodes
        ]
        if sum(abs(a - b) for a, b in zip(ranks, last, strict=True)) < len(weights) * tolerance:
            break
    return ranks


@pytest.mark.parametrize("dense", [True, False])
def test_a_walk_is_that_of_a_plain_power_iteration(monkeypatch: pytest.MonkeyPatch, dense: bool) -> None:
    monkeypatch.setattr(graphs, "DENSE", 100 if dense else 0)
    chance = random.Random(5)
    for size in (1, 2, 9):
        weights = [[chance.choice([0, 0, 1.0, 2.5]) if i and i != j else 0 for j in range(size)] for i in range(size)]
        parts = [chance.random() for _ in range(size)]
        jump = [part / sum(parts) for part in parts]
        graph = graphs.of_matrix(np.array(weights, dtype=np.float64))
        for tolerance in (1e-4, 1e-6):
            assert walk(graph, np.array(parts), tolerance).tolist() == pytest.approx(
                plain_walk(weights, jump, tolerance), abs=1e-12
            )
        assert walk(graph).tolist() == pytest.approx(plain_walk(weights, [1 / size] * size, 1e-6), abs=1e-12)


@pytest.mark.parametrize("many", [1, 200])  # nodes few or many for the number of edges
@pytest.mark.parametrize("weighted", [False, True])
def test_the_graph_of_words_counts_what_stands_together(many: int, weighted: bool) -> None:
    chance = random.Random(many)
    stems = [chance.choice("xyz") for _ in range(40)] + [f"w{i}" for i in range(many)]
    valid = [chance.random() < 0.7 for _ in stems]
    counts = np.array([3.0] * 5 + [1.0] * (len(stems) - 5))
    graph, number = word_graph(stems, valid, 4, counts if weighted else None)

    expected: Counter[tuple[str, str]] = Counter()
    for i, one in enumerate(stems):
        for j in range(i + 1, min(i + 4, len(stems))):
            if valid[i] and valid[j] and one != stems[j]:
                weight = counts[i] * counts[j] if weighted else 1
                expected[one, stems[j]] += weight
                expected[stems[j], one] += weight
    names = list(number)
    found = zip(graph.rows.tolist(), graph.columns.tolist(), graph.weights.tolist(), strict=True)
    assert {(names[i], names[j]): weight for i, j, weight in found} == expected


# ------------------------------------------------------------------------------------------------- long texts


def made(seed: int, kind: str) -> Candidates:
    """Candidates of a random text; those that are n-grams overlap."""
    chance = random.Random(seed)
    words = [f"word{chance.randrange(25)}" for _ in range(140)]
    tags = [chance.choice(["NOUN", "ADJ", "VERB"]) for _ in words]
    sentences = [list(zip(words[at : at + 20], tags[at : at + 20], strict=True)) for at in range(0, 140, 20)]
    title = "".join(word for word, _ in sentences[0])
    return candidates_of(Document(title=title, sentences=sentences), CommonOptions(), kind)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["sequences", "ngrams"])
@pytest.mark.parametrize("title_weight", [1.0, 2.5])
def test_a_long_text_is_walked_as_a_short_one_is(
    monkeypatch: pytest.MonkeyPatch, kind: str, title_weight: float
) -> None:
    found = made(3, kind)
    short = topics.multipartite(found, 0.74, 1.1, title_weight)
    groups, ranks = topics.topic_walk(found, 0.74, title_weight)
    monkeypatch.setattr(topics, "MATRIX", 0)
    monkeypatch.setattr(topics, "_BLOCK", 7)
    long_groups, long_ranks = topics.topic_walk(found, 0.74, title_weight)

    assert len(set(np.round(short, 6))) > 5
    assert topics.multipartite(found, 0.74, 1.1, title_weight) == pytest.approx(short, abs=1e-10)
    assert long_groups == groups
    assert long_ranks == pytest.approx(ranks, abs=1e-10)


def test_a_long_text_about_one_thing_has_ranks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "MATRIX", 0)
    found = candidates_of(Document(sentences=[[("net", "NN"), ("is", "VBZ")]] * 3), CommonOptions())

    assert topics.multipartite(found, 0.74, 1.1, 1.0).tolist() == [1.0]
    assert topics.topic_walk(found, 0.74, 1.0)[1].tolist() == [1.0]


def test_two_topics_by_hand() -> None:
    # "deep net" at 0-1, "graph" at 3 and 5: gaps 3 - 1 = 2 and 5 - 1 = 4, so the weight is 1/2 + 1/4.
    tags = {"deep": "JJ", "net": "NN", "graph": "NN"}
    words = ["deep", "net", "of", "graph", "or", "graph"]
    found = candidates_of(Document(sentences=[[(word, tags.get(word, "x")) for word in words]]), CommonOptions())
    places = topics.places_of(found, 1.0)

    assert topics.candidate_weights(places, np.array([0, 1])).tolist() == [[0, 0.75], [0.75, 0]]
    assert topics.topic_weights(places, np.array([0, 1])).tolist() == [[0, 0.75], [0.75, 0]]
    assert topics.candidate_weights(places, np.array([0, 0])).tolist() == [[0, 0], [0, 0]]


def test_no_node_has_no_rank() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert walk(Graph(0, none, none, np.zeros(0))).tolist() == []
