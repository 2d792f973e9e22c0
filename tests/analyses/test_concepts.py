"""Scores of concepts, worked out by hand on ten documents and recomputed by scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn import metrics

import karat
from benchmarks.made_corpus import write_corpus
from benchmarks.made_thesaurus import made_thesaurus
from karat.cli import karat as command
from karat.similarity import compare
from karat.vocabulary import Concept, Label, Vocabulary, VocabularyOptions

# animals ─┬─ insects ─┬─ bees ── honey bees        plants ── flowers
#          │           └─ ants
#          └─ birds
LINKS: dict[str, tuple[str, ...]] = {
    "animals": (),
    "insects": ("animals",),
    "birds": ("animals",),
    "bees": ("insects",),
    "ants": ("insects",),
    "honey bees": ("bees",),
    "plants": (),
    "flowers": ("plants",),
}
OTHERS = {"bees": "apis", "honey bees": "apis mellifera", "flowers": "blossom"}
NATURE = Vocabulary.of(
    (
        Concept(
            f"x:{name}", (Label(name), *(Label(OTHERS[n], kind="alternative") for n in (name,) if n in OTHERS)),
            tuple(f"x:{up}" for up in ups),
        )
        for name, ups in LINKS.items()
    ),
    "nature",
)  # fmt: skip

# references; predictions
TEN: list[tuple[list[str], list[str]]] = [
    (["bees"], ["apis"]),  # 1: another label
    (["bees"], ["honey bees"]),  # 2: a narrower one
    (["honey bees"], ["insects"]),  # 3: two steps broader
    (["ants"], ["bees"]),  # 4: a sibling
    (["birds", "bees"], ["Bee", "blossom"]),  # 5
    (["flowers"], ["plants"]),  # 6: a broader one
    (["flowers", "wind"], ["wind", "blossoms"]),  # 7: wind is no concept
    (["birds"], []),  # 8
    (["insects"], ["animals", "insect"]),  # 9: the second is found, the first is broader
    (["ants", "Apis mellifera"], ["honey bee", "honey bees", "ant"]),  # 10: a repeat
]
CORPUS = [{"id": str(n), "keyphrases": references} for n, (references, _) in enumerate(TEN, 1)]
RUN = [{"id": str(n), "keyphrases": predictions} for n, (_, predictions) in enumerate(TEN, 1)]


def rows(*metrics: str, **options: Any) -> list[dict[str, Any]]:
    return karat.score(CORPUS, RUN, metrics=list(metrics), vocabulary=NATURE, **options).rows()


def per_document(metric: str, **options: Any) -> list[float]:
    [score] = karat.score(CORPUS, RUN, metrics=[metric], vocabulary=NATURE, **options).scores
    return [float(value) for value in score.per_document()]


def test_precision_and_recall_of_concepts_on_ten_documents() -> None:
    # hits / predictions: 1/1 0/1 0/1 0/1 1/2 0/1 2/2 – 1/2 2/2 (the repeat of 10 is dropped)
    assert per_document("p@M") == [1, 0, 0, 0, 1 / 2, 0, 1, 0, 1 / 2, 1]
    # hits / references:  1/1 0/1 0/1 0/1 1/2 0/1 2/2 0/1 1/1 2/2
    assert per_document("r@M") == [1, 0, 0, 0, 1 / 2, 0, 1, 0, 1, 1]
    p, r, micro = rows("p@M", "r@M", "f1@M/micro")
    assert p["value"] == pytest.approx(4 / 10)
    assert r["value"] == pytest.approx(4.5 / 10)
    # 7 hits of 13 predictions and 13 references
    assert micro["value"] == pytest.approx(7 / 13)
    # As strings Bee, wind, insect and ant are found, by their stems: 4 of 13 and 13.
    strings = karat.score(CORPUS, RUN, metrics=["f1@M/micro"]).rows()[0]["value"]
    assert strings == pytest.approx(2 * (4 / 13) * (4 / 13) / (8 / 13))


def test_what_is_no_concept_can_be_left_out() -> None:
    dropped = NATURE.configured(VocabularyOptions(unmapped="drop"))
    [micro] = karat.score(CORPUS, RUN, metrics=["f1@M/micro"], vocabulary=dropped).rows()
    assert micro["value"] == pytest.approx(6 / 12)  # without the wind of document 7


def test_hierarchical_scores_on_ten_documents() -> None:
    """The augmented sets, with i insects, a animals, b bees, h honey bees, n ants, B birds, p plants, f flowers."""
    augmented = [  # predictions, references, common
        ("b i a", "b i a", 3),
        ("h b i a", "b i a", 3),
        ("i a", "h b i a", 2),
        ("b i a", "n i a", 2),
        ("b i a f p", "B b i a", 3),
        ("p", "f p", 1),
        ("w f p", "f p w", 3),
        ("", "B a", 0),
        ("a i", "i a", 2),
        ("h b i a n", "n i a h b", 5),
    ]
    for predicted, referred, common in augmented:  # the table above is right
        assert len(set(predicted.split()) & set(referred.split())) == common
    sizes = [(len(p.split()), len(r.split()), c) for p, r, c in augmented]
    assert per_document("hier_p@M") == pytest.approx([c / p if p else 0 for p, _, c in sizes])
    assert per_document("hier_r@M") == pytest.approx([c / r for _, r, c in sizes])
    assert per_document("hier_f@M") == pytest.approx([2 * c / (p + r) for p, r, c in sizes])
    # Kiritchenko et al. 2005: sums over all documents. 24 common, 28 predicted, 31 referred to.
    assert [sum(column) for column in zip(*sizes, strict=True)] == [28, 31, 24]
    p, r, f = rows("hier_p@M/micro", "hier_r@M/micro", "hier_f@M/micro")
    assert (p["value"], r["value"]) == (pytest.approx(24 / 28), pytest.approx(24 / 31))
    assert f["value"] == pytest.approx(2 * 24 / (28 + 31))


def test_the_example_of_kiritchenko_an_instance_of_g_is_taken_for_f() -> None:
    # A is the root; B and C are below it, E is below both, G below E, F below C. The augmented sets are {C, F} and
    # {B, C, E, G}: hP = 1/2, hR = 1/4.
    links = {"a": "", "b": "a", "c": "a", "e": "b c", "f": "c", "g": "e"}
    made = Vocabulary.of(
        Concept(f"x:{name}", (Label(name),), tuple(f"x:{up}" for up in above.split())) for name, above in links.items()
    )
    corpus, run = [{"id": "1", "keyphrases": ["g"]}], [{"id": "1", "keyphrases": ["f"]}]
    scores = karat.score(corpus, run, metrics=["hier_p@M", "hier_r@M", "hier_f@M"], vocabulary=made)
    assert [row["value"] for row in scores.rows()] == pytest.approx([1 / 2, 1 / 4, 1 / 3])


def test_hierarchical_scores_go_by_the_cutoff() -> None:
    # 5: bee alone, {b i a} of {B b i a}; 7: wind alone; 9: animals alone, {a} of {i a}.
    found = per_document("hier_f@1")
    assert found[4] == pytest.approx(2 * 3 / (3 + 4))
    assert found[6] == pytest.approx(2 * 1 / (1 + 3))
    assert found[8] == pytest.approx(2 * 1 / (1 + 2))


def test_a_concept_above_all_others_is_the_root_and_counts_for_nothing() -> None:
    one = Vocabulary.of(
        [
            Concept("x:r", (Label("everything"),)),
            Concept("x:a", (Label("a"),), ("x:r",)),
            Concept("x:b", (Label("b"),), ("x:r",)),
        ]
    )
    corpus, run = [{"id": "1", "keyphrases": ["a"]}], [{"id": "1", "keyphrases": ["b"]}]
    assert one.root == 0
    assert karat.score(corpus, run, metrics="hier_f@M", vocabulary=one).rows()[0]["value"] == 0.0


def test_without_a_hierarchy_hierarchical_scores_are_the_plain_ones() -> None:
    flat = Vocabulary.of([Concept(each.uri, each.labels) for each in NATURE.concepts])
    for name in ("p", "r", "f1"):
        pair = [f"hier_{name[0]}@M/micro", f"{name}@M/micro"]
        one, two = karat.score(CORPUS, RUN, metrics=pair, vocabulary=flat).rows()
        assert one["value"] == pytest.approx(two["value"])


def test_hierarchical_scores_need_a_vocabulary() -> None:
    with pytest.raises(karat.InputError, match="hierarchical scores are of concepts: name a vocabulary"):
        karat.score(CORPUS, RUN, metrics="hF@5")


def test_a_broader_or_narrower_concept_counts_in_part() -> None:
    # 1: 1; 2: one step, .5; 3: two steps, .25; 4: siblings, 0; 5: P (1 + 0)/2, R (0 + 1)/2; 6: .5; 9: P (.5 + 1)/2, R 1
    found = per_document("soft_p,score=concept,threshold=0")
    assert found == pytest.approx([1, 0.5, 0.25, 0, 0.5, 0.5, 1, 0, 0.75, 1])
    assert per_document("soft_r,score=concept,threshold=0") == pytest.approx([1, 0.5, 0.25, 0, 0.5, 0.5, 1, 0, 1, 1])
    thirds = per_document("soft_p,score=concept,threshold=0,credit=0.3")
    assert thirds[:4] == pytest.approx([1, 0.3, 0.09, 0])
    # The threshold of soft scores, .4, leaves one step and no more.
    assert per_document("soft_p,score=concept")[:4] == pytest.approx([1, 0.5, 0, 0])


def test_the_similarity_of_two_phrases_by_a_file(tmp_path: Path) -> None:
    karat.write_vocabulary(NATURE, tmp_path / "nature.ttl")
    name = f"concept,vocabulary={tmp_path / 'nature.ttl'}"
    assert compare(name, "apis", "Bees") == 1.0
    assert compare(name, "honey bee", "insect") == compare(name, "insects", "honey bees") == 0.25
    assert compare(name, "bees", "ants") == 0.0
    assert (compare(name, "wind", "winds"), compare(name, "wind", "bees")) == (1.0, 0.0)
    with pytest.raises(karat.InputError, match="similarity concept needs a vocabulary"):
        compare("concept", "a", "b")
    with pytest.raises(karat.InputError, match="a credit is a number from 0 to 1, not 2"):
        compare(name, "a", "b", credit=2.0)


# ---------------------------------------------------------------------------------------------- each concept


def test_the_table_of_each_concept_on_ten_documents() -> None:
    found = karat.concepts(CORPUS, RUN, vocabulary=NATURE)
    table = {row["label"]: tuple(row[name] for name in ("references", "predictions", "hits")) for row in found.rows()}
    assert table == {
        "bees": (3, 3, 2),  # references of 1, 2, 5; predicted in 1, 4, 5
        "honey bees": (2, 2, 1),  # references of 3, 10; predicted in 2, 10
        "ants": (2, 1, 1),
        "flowers": (2, 2, 1),  # references of 6, 7; predicted in 5, 7
        "birds": (2, 0, 0),
        "insects": (1, 2, 1),
        "animals": (0, 1, 0),
        "plants": (0, 1, 0),
    }
    # Most references first, then most predictions, then as in the vocabulary.
    assert list(table)[:6] == ["bees", "honey bees", "flowers", "ants", "birds", "insects"]
    rows = {row["label"]: row for row in found.rows()}
    assert (rows["bees"]["p"], rows["bees"]["r"]) == (2 / 3, 2 / 3)
    assert (rows["birds"]["p"], rows["birds"]["r"], rows["birds"]["f1"]) == (None, 0.0, 0.0)
    [system] = found.systems()
    # 6 hits of 12 predictions and 12 references
    assert {name: system["micro"][name] for name in ("p", "r", "f1")} == {"p": 1 / 2, "r": 1 / 2, "f1": 1 / 2}
    # bees 2/3, honey bees 1/2, ants 1, flowers 1/2, birds 0, insects 1/2, animals 0, plants 0
    assert system["macro"]["p"] == pytest.approx((2 / 3 + 1 / 2 + 1 + 1 / 2 + 0 + 1 / 2 + 0 + 0) / 8)
    assert system["macro"]["r"] == pytest.approx((2 / 3 + 1 / 2 + 1 / 2 + 1 / 2 + 0 + 1 + 0 + 0) / 8)
    assert (system["referred"], system["assigned"]) == (6, 7)
    assert (system["referred_never_assigned"], system["never_assigned"]) == (1, 1)
    assert found.never_assigned("run") == [{"concept": "x:birds", "label": "birds", "references": 2}]
    assert found.notes == (
        "1 of 13 references are no concepts and are left out here",
        "run: 1 of 13 predictions are no concepts and are left out here",
    )


def test_concepts_go_by_the_cutoff_and_by_what_is_missing() -> None:
    first = karat.concepts(CORPUS, RUN, vocabulary=NATURE, cutoff="1")
    table = {row["label"]: row["predictions"] for row in first.rows()}
    assert table["flowers"] == 0  # it is never the first prediction
    skipped = karat.concepts(CORPUS, RUN[:4], vocabulary=NATURE, missing="skip")
    assert {row["label"]: row["references"] for row in skipped.rows()} == {
        "bees": 2, "honey bees": 1, "ants": 1, "insects": 0,
    }  # fmt: skip


def test_a_vocabulary_has_to_be_named() -> None:
    with pytest.raises(karat.InputError, match="the concepts are those of a vocabulary: name it with --vocab"):
        karat.concepts(CORPUS, RUN)
    with pytest.raises(karat.InputError, match="the cutoff of concepts is a number from 1 on, M, O or G, not 'V'"):
        karat.concepts(CORPUS, RUN, vocabulary=NATURE, cutoff="V")


def test_the_figures_are_those_of_scikit_learn_on_a_made_corpus(tmp_path: Path) -> None:
    made = write_corpus(tmp_path, 300, seed=5)
    vocabulary = made_thesaurus(200, seed=5, corpus=made.corpus)
    dropped = vocabulary.configured(VocabularyOptions(unmapped="drop"))
    found = karat.concepts(made.corpus, made.run, vocabulary=vocabulary)

    # The same by another way: URIs of phrases in 0/1 matrices.
    def matrix(records: Any) -> Any:
        numbered = [{"id": each.id, "keyphrases": list(each.keyphrases or ())} for each in records]
        mapped = karat.map_concepts(numbered, vocabulary=vocabulary).run
        cells = np.zeros((300, len(vocabulary)), dtype=int)
        for row, each in enumerate(mapped):
            cells[row, [vocabulary.numbers[uri] for uri in each.concepts or () if uri]] = 1
        return cells

    right, predicted = matrix(karat.read(made.corpus)), matrix(karat.read_run(made.run))
    p, r, f, support = metrics.precision_recall_fscore_support(right, predicted, zero_division=0)
    [counts] = found.counts
    for one, two in zip((*counts.measures(), counts.references), (p, r, f, support), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)
    assert support.sum() > 300
    [system] = found.systems()
    used = (right.sum(axis=0) > 0) | (predicted.sum(axis=0) > 0)
    for kind in ("micro", "macro"):
        wanted = metrics.precision_recall_fscore_support(
            right[:, used], predicted[:, used], average=kind, zero_division=0
        )[:3]
        assert [system[kind][name] for name in ("p", "r", "f1")] == pytest.approx(wanted)
    # And the micro average of `karat score`, where only concepts count.
    three = karat.score(
        made.corpus, made.run, metrics=["p@M/micro", "r@M/micro", "f1@M/micro"], protocol="karat,empty=zero",
        vocabulary=dropped,
    ).rows()  # fmt: skip
    assert [row["value"] for row in three] == pytest.approx([system["micro"][name] for name in ("p", "r", "f1")])


def test_the_command_maps_shows_and_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    karat.write_vocabulary(NATURE, "nature.ttl")
    karat.write(karat.Corpus.of(CORPUS), "corpus.jsonl")
    karat.write(karat.Run.of(RUN), "run.jsonl")

    def run(*arguments: str, code: int = 0) -> str:
        done = CliRunner().invoke(command, arguments)
        assert done.exit_code == code, done.output
        return done.output

    shown = run("vocabulary", "show", "nature.ttl")
    assert "nature, 8 concepts" in shown
    mapped = run("vocabulary", "map", "run.jsonl", "--vocabulary", "nature.ttl", "-o", "mapped.jsonl", "-f", "csv")
    assert mapped.splitlines()[0] == "system,phrase,count,concept,label,by,score"
    assert [each.concepts for each in karat.read_run("mapped.jsonl")][:2] == [["x:bees"], ["x:honey%20bees"]]
    scored = run("score", "corpus.jsonl", "run.jsonl", "--vocabulary", "nature.ttl,unmapped=drop", "-m", "f1@M/micro")
    assert ".5000" in scored
    assert "those that are none are left out" in " ".join(scored.split())
    assert "micro" in run("concepts", "corpus.jsonl", "run.jsonl", "--vocabulary", "nature.ttl")
    failed = CliRunner().invoke(
        command, ["score", "corpus.jsonl", "run.jsonl", "--vocabulary", "natur.ttl,similar=0.9"]
    )
    assert "natur.ttl: there is no such file; did you mean 'nature.ttl'?" in str(failed.exception)
