"""What is made of written sequences: phrases of a run."""

from __future__ import annotations

from math import log

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

from karat.corpus import Document, Prediction  # noqa: E402
from karat.models.generators.decoding import Written  # noqa: E402
from karat.models.generators.phrases import prediction_of  # noqa: E402
from karat.models.generators.words import EOS, SEP, SPECIAL, Stems, Words, source_tokens  # noqa: E402

DOCUMENT = Document(id="d1", title="On trees", text="Graphs and trees of graphs.")
WORDS = Words((*SPECIAL, "graph", "graphs", "tree", "queue"), 13)
GRAPH, GRAPHS, TREE, QUEUE = range(len(SPECIAL), len(SPECIAL) + 4)
WRITTEN = [
    Written([GRAPH, SEP, QUEUE, SEP, GRAPHS, SEP, TREE, QUEUE, EOS], [log(each / 10) for each in (*range(1, 9), 9)]),
    Written([QUEUE, SEP, TREE, EOS], [log(0.5)] * 4),
]


def predicted(n: int, **options: bool) -> Prediction:
    source = WORDS.numbered(source_tokens(DOCUMENT))
    return prediction_of(DOCUMENT, source, WRITTEN, WORDS, Stems("english"), n, **options)


def test_a_phrase_is_given_once_by_its_stems() -> None:
    found = predicted(10)
    assert found.keyphrases == ["graph", "queue", "tree queue", "tree"]
    assert found.kinds == ["present", "absent", "absent", "present"]
    assert found.scores == [0.1, 0.3, pytest.approx((0.7 * 0.8) ** 0.5, abs=1e-6), 0.5]
    assert found.token_probs == [[0.1], [0.3], [0.7, 0.8], [0.5]]


def test_repeats_are_given_where_they_are_asked_for() -> None:
    found = predicted(10, repeats=True)
    assert found.keyphrases == ["graph", "queue", "Graphs", "tree queue", "queue", "tree"]
    assert found.scores is not None
    assert found.scores[:3] == [0.1, 0.3, 0.5]
    assert predicted(3, repeats=True).keyphrases == ["graph", "queue", "Graphs"]
