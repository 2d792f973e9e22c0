"""Phrases as concepts: how they are found, and what that does to matching."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import karat
from karat.citations import short_signature
from karat.matching.concepts import Concepts, concepts_for
from karat.protocol import PRESETS, Matching
from karat.similarity.nearest import nearest_by_letters
from karat.text.normalise import normaliser_of
from karat.vocabulary import Concept, Label, Vocabulary, VocabularyOptions

SVM = Concept("x:svm", (Label("support vector machines", "en"), Label("SVM", "en", "alternative")), ("x:ml",))
ML = Concept("x:ml", (Label("machine learning", "en"), Label("maschinelles Lernen", "de")))
TREE = Concept("x:tree", (Label("decision trees"), Label("tree", kind="hidden")))
SMALL = Vocabulary.of([ML, SVM, TREE], "small")


def mapping(vocabulary: Vocabulary = SMALL, **options: Any) -> Concepts:
    return concepts_for(vocabulary.configured(VocabularyOptions(**options)), Matching())


def found(concepts: Concepts, *phrases: str) -> list[tuple[str | None, str | None]]:
    forms = normaliser_of(Matching()).many(phrases)
    uris = [each.uri for each in concepts.vocabulary.concepts]
    return [(uris[each.concept] if each.how else None, each.how) for each in concepts.find(phrases, forms)]


def test_a_phrase_is_found_as_it_is_written_then_by_its_stems() -> None:
    assert found(
        mapping(), "SVM", "svms", "Support  Vector Machines", "support vector machine", "forest", "", "tree"
    ) == [
        ("x:svm", "exact"),
        ("x:svm", "stem"),
        ("x:svm", "exact"),
        ("x:svm", "stem"),
        (None, None),
        (None, None),
        ("x:tree", "exact"),
    ]


def test_a_hyphen_may_part_the_words_of_a_phrase_or_of_a_label() -> None:
    made = Vocabulary.of([Concept("x:1", (Label("decision making"),)), Concept("x:2", (Label("out-of-print books"),))])
    assert found(mapping(made), "decision-making", "Decision-Makings", "out of print book", "decisionmaking", "-") == [
        ("x:1", "stem"),
        ("x:1", "stem"),
        ("x:2", "stem"),
        (None, None),
        (None, None),
    ]


def test_only_labels_of_the_language_count_and_those_without_one() -> None:
    assert found(mapping(language="de"), "machine learning", "Maschinelles Lernen", "decision tree") == [
        (None, None),
        ("x:ml", "exact"),
        ("x:tree", "stem"),
    ]


def test_a_similar_phrase_is_found_from_the_threshold_on() -> None:
    # One letter of 16 is another: 15/16 = .9375.
    assert found(mapping(similar=0.9375), "machine learnink", "machine laernink") == [("x:ml", "similar"), (None, None)]
    assert found(mapping(similar=0.94), "machine learnink") == [(None, None)]
    [each] = mapping(similar=0.9).find(["machine learnink"], ["machin learnink"])
    assert each.score == 15 / 16


def test_what_is_similar_by_vectors_is_told_by_an_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    class Angles:
        def embed(self, texts: Any) -> Any:
            degrees = {"machine learning": 0, "deep learning": 20, "forest": 90}
            angles = np.radians([degrees.get(text, 180) for text in texts])
            return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    monkeypatch.setattr("karat.matching.concepts.embedder", lambda name: Angles())
    near = mapping(similar=0.9, model="angles")
    assert found(near, "deep learning", "forest") == [("x:ml", "similar"), (None, None)]
    [each] = near.find(["deep learning"], ["deep learn"])
    assert each.score == pytest.approx(np.cos(np.radians(20)), abs=1e-6)


def test_a_label_of_several_concepts_is_that_of_the_first_preferred_ones_first() -> None:
    made = Vocabulary.of(
        [
            Concept("x:1", (Label("mercury (planet)"), Label("mercury", kind="alternative"))),
            Concept("x:2", (Label("Mercury"), Label("quicksilver", kind="alternative"))),
            Concept("x:3", (Label("mercury"), Label("hermes", kind="alternative"))),
            Concept("x:4", (Label("Mercury", "de"),)),
        ]
    )
    concepts = mapping(made)
    assert found(concepts, "mercury", "quicksilver", "hermes", "mercury (planet)") == [
        ("x:2", "exact"),
        ("x:2", "exact"),
        ("x:3", "exact"),
        ("x:1", "exact"),
    ]
    # No two concepts are compared by the same form; one that no phrase can be has its URI.
    assert concepts.forms == ["mercuri ( planet )", "mercuri", "herm", "x:4"]


def test_labels_that_differ_by_their_stems_alone_stay_two_concepts() -> None:
    made = Vocabulary.of([Concept("x:1", (Label("network"),)), Concept("x:2", (Label("networks"),))])
    assert found(mapping(made), "Network", "networks", "networking") == [
        ("x:1", "exact"),
        ("x:2", "exact"),
        ("x:1", "stem"),
    ]
    corpus = [{"id": "1", "keyphrases": ["networks"]}]
    for phrase, hit in (("network", 0.0), ("networks", 1.0)):
        run = [{"id": "1", "keyphrases": [phrase]}]
        assert karat.score(corpus, run, metrics="p@M", vocabulary=made).rows()[0]["value"] == hit


words = st.text("abc ", min_size=1, max_size=8)


@given(
    texts=st.lists(words, max_size=6), entries=st.lists(words, max_size=8), least=st.sampled_from([0.0, 0.5, 0.8, 1.0])
)
@settings(max_examples=150, deadline=None)
def test_the_nearest_by_letters_is_that_of_comparing_all(texts: list[str], entries: list[str], least: float) -> None:
    expected = []
    for text in texts:
        scores = [Levenshtein.normalized_similarity(text, entry) for entry in entries]
        best = max(scores, default=-1.0)
        near = best >= least and (best > 0 or not least)
        expected.append((scores.index(best), best) if scores and near else (-1, 0.0))
    assert nearest_by_letters(texts, entries, least) == expected


# ---------------------------------------------------------------------------------------------- matching


def values(corpus: Any, run: Any, *metrics: str, **options: Any) -> list[float | None]:
    return [row["value"] for row in karat.score(corpus, run, metrics=metrics, **options).rows()]


def test_a_concept_is_present_by_any_of_its_labels() -> None:
    corpus = [{"id": "1", "text": "Kernels of SVMs.", "keyphrases": ["support vector machines", "machine learning"]}]
    run = [{"id": "1", "keyphrases": ["support vector machine", "ML", "maschinelles lernen"]}]
    assert values(corpus, run, "r@M:present", "r@M:absent") == [None, 0.5]
    assert values(corpus, run, "r@M:present", "r@M:absent", "p@M", vocabulary=SMALL) == [1.0, 1.0, 2 / 3]


def test_labels_of_one_concept_are_one_prediction_and_one_reference() -> None:
    corpus = [{"id": "1", "keyphrases": ["SVM", "support vector machine", "forests"]}]
    run = [{"id": "1", "keyphrases": ["support vector machines", "svm", "wood"]}]
    # Strings: 3 references, and 3 predictions of which two are found. Concepts: 1 of 2, and 1 of 2.
    assert values(corpus, run, "p@M", "r@M") == [2 / 3, 2 / 3]
    assert values(corpus, run, "p@M", "r@M", vocabulary=SMALL) == [1 / 2, 1 / 2]
    dropped = SMALL.configured(VocabularyOptions(unmapped="drop"))
    assert values(corpus, run, "p@M", "r@M", vocabulary=dropped) == [1.0, 1.0]


def test_of_variants_one_that_is_a_concept_stands_for_the_reference() -> None:
    corpus = [{"id": "1", "keyphrases": [["kernel machine", "SVM"], ["forest", "wood"]]}]
    run = [{"id": "1", "keyphrases": ["support vector machines", "kernel machines"]}]
    dropped = SMALL.configured(VocabularyOptions(unmapped="drop"))
    assert values(corpus, run, "p@M", "r@M", vocabulary=SMALL) == [1 / 2, 1 / 2]  # found once
    assert values(corpus, run, "p@M", "r@M", vocabulary=dropped) == [1.0, 1.0]


@pytest.mark.parametrize("protocol", sorted(PRESETS))
def test_every_protocol_finds_labels_of_one_concept(protocol: str) -> None:
    corpus = [{"id": "1", "text": "decision trees", "keyphrases": ["decision trees", "support vector machines"]}]
    run = [{"id": "1", "keyphrases": ["decision tree", "svm"]}]
    found = values(corpus, run, "r@M", "r@M:present", "r@M:absent", protocol=protocol, vocabulary=SMALL)
    assert found == [1.0, 1.0, 1.0]


def test_with_a_vocabulary_of_nothing_that_is_predicted_scores_stay_as_they_are() -> None:
    corpus = karat.read(GOLDEN / "synthetic.corpus.jsonl")
    run = karat.read_run(GOLDEN / "synthetic.alpha.jsonl")
    other = Vocabulary.of([Concept("x:0", (Label("zzyzx road"),))])
    metrics = ["f1@5:present", "f1@M:absent", "map:all", "f1@5:R"]
    plain, same = (karat.score(corpus, run, metrics=metrics, vocabulary=each) for each in (None, other))
    for one, two in zip(plain.scores, same.scores, strict=True):
        np.testing.assert_array_equal(one.rows.values, two.rows.values)


GOLDEN = Path(__file__).parent.parent / "golden"


def test_the_signature_names_the_vocabulary_and_can_be_given_back() -> None:
    corpus, run = [{"id": "1", "keyphrases": ["SVM"]}], [{"id": "1", "keyphrases": ["svm"]}]
    results = karat.score(corpus, run, metrics="p@M", vocabulary=SMALL)
    [signature] = results.signatures.values()
    assert f",vocabulary=small:{SMALL.hash}," in signature
    assert short_signature(signature).endswith(f"|vocabulary:small:{SMALL.hash[:4]}")
    assert (
        results.notes[0] == "phrases are compared as concepts of small (3 concepts); those that are none stay strings"
    )
    again = karat.score(corpus, run, metrics="p@M", protocol=signature, vocabulary=SMALL)
    assert again.signatures == results.signatures
    assert again.notes == results.notes
    other = karat.score(corpus, run, metrics="p@M", protocol=signature)
    assert any(f"of other concepts (vocabulary=small:{SMALL.hash})" in note for note in other.notes)


def test_several_processes_and_several_verbs_see_the_concepts() -> None:
    corpus = [{"id": str(n), "text": "SVMs here", "keyphrases": ["support vector machine"]} for n in range(40)]
    run = karat.Run.of([{"id": str(n), "keyphrases": ["svm", "x"]} for n in range(40)], "a")
    other = karat.Run.of([{"id": str(n), "keyphrases": ["SVM" if n % 2 else "y"]} for n in range(40)], "b")
    assert values(corpus, run, "r@M:present", vocabulary=SMALL, jobs=2) == [1.0]
    compared = karat.compare(corpus, run, other, metrics="r@M", vocabulary=SMALL, resamples=50)
    assert [row["difference"] for row in compared.rows()] == [0.5]
    table = karat.table(corpus, run, other, metrics="r@M", vocabulary=SMALL, resamples=50)
    assert [row["value"] for row in table.rows()] == [1.0, 0.5]
    overlap = karat.overlap(corpus, run, other, vocabulary=SMALL)
    assert {row["subset"]: row["common_correct"] for row in overlap.rows()}["present"] == pytest.approx(50.0)
    audit = karat.audit(corpus, run, metric="r@M", vocabulary=SMALL)
    assert {row["value"] for row in audit.rows()} == {1.0}
    page = karat.report(corpus, run, other, vocabulary=SMALL, resamples=50)
    assert all(f"vocabulary=small:{SMALL.hash}" in text for text in page.signatures.values())
    assert f"vocabulary=small:{SMALL.hash}" in page.html()


# ---------------------------------------------------------------------------------------------- runs with concepts

RUN: list[dict[str, Any]] = [
    {"id": "1", "keyphrases": ["SVMs", "kernel", "Machine Learning"], "scores": [0.9, 0.5, 0.1]},
    {"id": "2", "keyphrases": [], "kinds": []},
    {"id": "3", "keyphrases": ["kernel", None, "svm"], "kinds": ["present", "absent", "absent"]},
]


def test_a_run_gets_the_uris_of_its_phrases_and_how_they_were_found() -> None:
    mapped = karat.map_concepts(RUN, vocabulary=SMALL)
    assert [(each.concepts, each.concepts_by) for each in mapped.run] == [
        (["x:svm", None, "x:ml"], ["stem", None, "exact"]),
        ([], []),
        ([None, None, "x:svm"], [None, None, "exact"]),
    ]
    assert [each.keyphrases for each in mapped.run] == [each["keyphrases"] for each in RUN]
    assert mapped.counts() == {
        "exact": {"phrases": 2, "count": 2},
        "stem": {"phrases": 1, "count": 1},
        "similar": {"phrases": 0, "count": 0},
        "none": {"phrases": 1, "count": 2},
    }
    assert mapped.unmapped() == [{"phrase": "kernel", "count": 2}]
    assert mapped.notes == ("run: 2 of 5 phrases are no concepts, kept without a concept",)
    assert [(row["phrase"], row["concept"], row["label"], row["by"]) for row in mapped.rows()] == [
        ("kernel", None, None, None),
        ("Machine Learning", "x:ml", "machine learning", "exact"),
        ("SVMs", "x:svm", "support vector machines", "stem"),
        ("svm", "x:svm", "support vector machines", "exact"),
    ]


def test_phrases_can_be_written_as_preferred_labels_and_others_left_out() -> None:
    dropped = SMALL.configured(VocabularyOptions(unmapped="drop"))
    first, _, third = karat.map_concepts(RUN, vocabulary=dropped, phrases="preferred").run
    assert first.keyphrases == ["support vector machines", "machine learning"]
    assert (first.scores, first.concepts) == ([0.9, 0.1], ["x:svm", "x:ml"])
    assert (third.keyphrases, third.kinds) == (["support vector machines"], ["absent"])


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz", "run.csv", "run.tsv", "run.parquet"])
def test_concepts_survive_writing_and_reading(tmp_path: Path, name: str) -> None:
    made = karat.map_concepts(RUN, vocabulary=SMALL).run
    karat.write(made, tmp_path / name)
    for one, two in zip(made, karat.read_run(tmp_path / name), strict=True):
        assert (one.concepts or None, one.concepts_by or None) == (two.concepts or None, two.concepts_by or None)


def test_a_format_that_cannot_hold_concepts_says_so(tmp_path: Path) -> None:
    made = karat.map_concepts(RUN[:1], vocabulary=SMALL).run
    with pytest.raises(karat.InputError, match=r"cannot hold everything of .*concepts"):
        karat.write(made, tmp_path / "run.txt", format="chan")


def test_reranking_takes_concepts_with_their_phrases() -> None:
    made = karat.map_concepts(RUN[:1], vocabulary=SMALL).run
    turned = [
        {"id": each.id, "keyphrases": each.keyphrases, "concepts": each.concepts, "scores": [1, 2, 3]} for each in made
    ]
    [found] = karat.rerank(turned, by="scores")
    assert list(zip(found.keyphrases or (), found.concepts or (), strict=True)) == [
        ("Machine Learning", "x:ml"),
        ("kernel", None),
        ("SVMs", "x:svm"),
    ]


def test_concepts_are_one_for_each_phrase() -> None:
    with pytest.raises(karat.InputError, match="1 concepts for 2 keyphrases"):
        karat.Run.of([{"id": "1", "keyphrases": ["a", "b"], "concepts": ["x:a"]}])


def test_what_a_model_predicts_has_its_concepts(tmp_path: Path) -> None:
    def model(documents: Any) -> list[list[str]]:
        return [["SVMs", "kernel"] for _ in documents]

    corpus = karat.Corpus.of([{"id": "1", "text": "SVMs with a kernel"}])
    [kept] = karat.predict(corpus, model, vocabulary=SMALL)
    assert (kept.keyphrases, kept.concepts, kept.concepts_by) == (["SVMs", "kernel"], ["x:svm", None], ["stem", None])
    [alone] = karat.predict(corpus, model, vocabulary=SMALL.configured(VocabularyOptions(unmapped="drop")))
    assert (alone.keyphrases, alone.concepts) == (["SVMs"], ["x:svm"])
