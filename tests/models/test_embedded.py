"""EmbedRank and KeyBERT: figures by hand, and those of the package keybert 0.9.0 from the same vectors."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.corpus import Document
from karat.embed import Vectors
from karat.embed.hashed import Hashed
from karat.errors import InputError
from karat.models.base import CommonOptions
from karat.models.extractors import embedded
from karat.models.extractors.embedded import dropped_first, embedrank, keybert, marginal
from karat.text.stoplists import stop_words

SKY = {"sun": (9, 1, 1), "moon": (8, 3, 0), "star": (8, 2, 2), "tide": (2, 8, 1), "wave": (1, 9, 2)}
SKY |= {"sand": (1, 2, 7), "dune": (2, 1, 8)}
# What keybert._mmr.mmr gives for these vectors, their mean as the document's, and 4 phrases.
PACKAGE = {
    0.0: [("star", 0.8842), ("moon", 0.837), ("sun", 0.785), ("tide", 0.7685)],
    0.5: [("star", 0.8842), ("moon", 0.837), ("wave", 0.7262), ("sand", 0.6866)],
    1.0: [("star", 0.8842), ("moon", 0.837), ("wave", 0.7262), ("dune", 0.6761)],
}


def vectors(path: Path, words: dict[str, Sequence[float]]) -> str:
    path.write_text("".join(f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in words.items()))
    return f"vectors:{path}"


def pairs(predict: Any, **document: Any) -> list[tuple[Any, Any]]:
    [found] = predict([Document(**document)])
    return list(zip(found.keyphrases, found.scores, strict=True))


@pytest.fixture(scope="module")
def sky(tmp_path_factory: pytest.TempPathFactory) -> str:
    return vectors(tmp_path_factory.mktemp("vectors") / "sky.txt", dict(SKY))


@pytest.mark.parametrize("diversity", PACKAGE)
def test_keybert_gives_the_list_of_the_package(sky: str, diversity: float) -> None:
    found = pairs(keybert(CommonOptions(n=4), model=sky, n=1, diversity=diversity), text=" ".join(SKY))
    assert [phrase for phrase, _ in found] == [phrase for phrase, _ in PACKAGE[diversity]]
    assert [score for _, score in found] == pytest.approx([score for _, score in PACKAGE[diversity]], abs=5e-5)


def test_embedrank_can_be_asked_for_the_same(sky: str) -> None:
    common = CommonOptions(n=4)
    options: dict[str, Any] = {"candidates": "ngrams", "n": 1, "document": "text", "mmr": "keybert"}
    found = pairs(embedrank(common, model=sky, diversity=0.5, **options), text=" ".join(SKY))
    assert found == pairs(keybert(common, model=sky, n=1, diversity=0.5), text=" ".join(SKY))


# What scikit-learn 1.9.1 gives: CountVectorizer(ngram_range=(1, 2), stop_words=sorted(stop_words("english"))).
VECTORIZED = {
    "Quality of service in the 3-D tele-conference: a user's view.": [
        "conference",
        "conference user",
        "quality",
        "quality service",
        "service",
        "service tele",
        "tele",
        "tele conference",
        "user",
        "user view",
        "view",
    ],
    "Graph_theory and C++ (R&D), 802.11 and x-rays. The end": [
        "11",
        "11 rays",
        "802",
        "802 11",
        "end",
        "graph_theory",
        "graph_theory 802",
        "rays",
        "rays end",
    ],
    "naïve Bayes' été; of the": ["bayes", "bayes été", "naïve", "naïve bayes", "été"],
    "of the": [],
}


@pytest.mark.parametrize("text", VECTORIZED)
def test_candidates_with_stop_words_dropped_first_are_those_of_scikit_learn(text: str) -> None:
    assert [phrase for phrase, _ in dropped_first(text, 2, stop_words("english"))] == VECTORIZED[text]
    common = CommonOptions(n=99)
    for predict in (
        keybert(common, candidates="countvectorizer", n=2),
        embedrank(common, candidates="countvectorizer", n=2, document="text"),
    ):
        assert sorted(phrase for phrase, _ in pairs(predict, text=text)) == VECTORIZED[text]


def test_a_phrase_goes_over_a_stop_word_only_where_these_are_dropped_first() -> None:
    def phrases(candidates: Any, **common: Any) -> set[str]:
        found = keybert(CommonOptions(n=99, **common), candidates=candidates, n=2)
        return {phrase for phrase, _ in pairs(found, title="Services", text="The quality of services. Users agree.")}

    assert phrases("ngrams") == {"services", "quality", "users", "agree", "users agree"}
    over = {"services quality", "quality services", "services users"}
    assert phrases("countvectorizer") == phrases("ngrams") | over
    assert "qualiti servic" in phrases("countvectorizer", stem=True)


def test_embedrank_weighs_standard_scores_as_the_paper_says(tmp_path: Path) -> None:
    model = vectors(tmp_path / "v.txt", {"sun": (1, 0), "moon": (0, 1), "star": (0.6, 0.8)})
    ways: dict[str, Any] = {"candidates": "ngrams", "n": 1, "document": "text", "model": model}
    found = pairs(embedrank(CommonOptions(), diversity=0.4, **ways), text="sun moon star")
    # The document is (1.6, 1.8) / 3. Cosines with it, and their standard scores around one half:
    length = sqrt(1.6**2 + 1.8**2)
    near = {"sun": 1.6 / length, "moon": 1.8 / length, "star": (0.6 * 1.6 + 0.8 * 1.8) / length}
    worth = {word: 0.5 + (value - fmean(near.values())) / pstdev(near.values()) for word, value in near.items()}
    # The star is nearest. The others have cosines of 0.6 and 0.8 with it: one deviation below and above their mean.
    after = {"sun": 0.6 * worth["sun"] - 0.4 * (0.5 - 1), "moon": 0.6 * worth["moon"] - 0.4 * (0.5 + 1)}
    # Of the sun, star and moon have 0.6 and 0: the moon is one deviation below, which is less than beside the star.
    last = min(after["sun"], 0.6 * worth["moon"] - 0.4 * max(0.5 + 1, 0.5 - 1))
    assert [phrase for phrase, _ in found] == ["star", "sun", "moon"]
    assert [score for _, score in found] == pytest.approx([0.6 * worth["star"], after["sun"], last], abs=1e-6)
    assert [phrase for phrase, _ in pairs(embedrank(CommonOptions(), diversity=0.0, **ways), text="sun moon star")] == [
        "star",
        "moon",
        "sun",
    ]


def test_a_document_is_its_nouns_and_adjectives_or_its_text(tmp_path: Path) -> None:
    model = vectors(tmp_path / "v.txt", {"bees": (1, 0), "flowers": (0, 1), "visit": (0, 9)})
    document = {"sentences": [[("bees", "NNS"), ("bees", "NNS"), ("visit", "VBP"), ("flowers", "NNS")]]}
    assert pairs(embedrank(CommonOptions(n=1), model=model), **document)[0][0] == "bees bees"
    assert pairs(embedrank(CommonOptions(n=1), model=model, document="text"), **document)[0][0] == "flowers"


def test_each_distinct_phrase_is_embedded_once_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Counting(Hashed):
        def embed(self, texts: Sequence[str]) -> Vectors:
            seen.extend(texts)
            return Hashed.embed(self, texts)

    monkeypatch.setattr(embedded, "_kept", lambda name: Counting())
    bees = Document(text="honey bees dance")
    list(keybert(CommonOptions())([bees, Document(text="honey bees sing"), bees]))
    assert seen.count("honey bees") == 1
    assert len(seen) == len(set(seen)) == 9  # two texts, which are phrases too; two pairs and three words more


def test_stems_and_phrases_apart_are_given_on_request() -> None:
    found = [
        phrase for phrase, _ in pairs(keybert(CommonOptions(n=9, redundancy=True, stem=True)), text="honey bees dance")
    ]
    assert found == ["honey bee danc"]


def test_a_document_without_phrases_has_no_predictions() -> None:
    assert [pairs(keybert(CommonOptions()), text=text) for text in ("", "of the")] == [[], []]
    assert pairs(embedrank(CommonOptions()), sentences=[[("of", "IN"), ("the", "DT")]]) == []


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("keybert,diversity=1.5", "diversity is from 0 to 1, not 1.5"),
        ("keybert,n=0", "n is at least 1, not 0"),
        ("keybert,candidates=sequences", "unknown candidates of keybert 'sequences'"),
        ("embedrank,candidates=countvectoriser", "did you mean 'countvectorizer'"),
        ("embedrank,layer=3", "layer 3 of 'hash': one layer, from 0 on, of an encoder"),
        ("embedrank,mmr=keybird", "did you mean 'keybert'"),
        ("embedrank,model=nowhere", "unknown embedder 'nowhere'"),
    ],
)
def test_wrong_options_are_told(model: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        karat.extract("honey bees dance", model)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=7),
    st.sampled_from(["embedrank", "keybert"]),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_every_phrase_is_chosen_once_and_scores_are_finite(rows: list[list[int]], mmr: Any, diversity: float) -> None:
    phrases = embedded._unit(np.array(rows, dtype=np.float32))
    order = list(marginal(phrases, np.array([1.0, 0.0, 0.0]), mmr, diversity))
    assert sorted(index for index, _ in order) == list(range(len(rows)))
    assert np.isfinite([score for _, score in order]).all()
    if mmr == "embedrank":
        assert [score for _, score in order] == sorted((score for _, score in order), reverse=True)
