"""Consistency of names, with figures that are worked out by hand."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy

import karat
from karat.cli import karat as command
from karat.embed import Vectors
from karat.errors import InputError
from karat.formats.vocabulary import read_vocabulary
from karat.output import render
from karat.text.abbreviations import abbreviates, explanations


def run(*documents: list[str], name: str = "mine") -> karat.Run:
    return karat.Run.of([{"id": str(n), "keyphrases": phrases} for n, phrases in enumerate(documents)], name=name)


# neural networks ×3, neural network ×1 (stem); quality of service ×1, service quality ×2 (order); trees ×1
RUN = run(
    ["Neural networks", "trees"],
    ["neural networks", "service quality"],
    ["neural networks", "quality of service"],
    ["neural network", "service quality"],
)


def level(found: karat.Consistency, by: str) -> dict[str, Any]:
    return next(row for row in found.rows() if row["by"] == by)


def names(found: karat.Consistency) -> list[list[tuple[str, int, str | None]]]:
    return [[(n["name"], n["phrases"], n["by"]) for n in row["names"]] for row in found.worst()]


# ---------------------------------------------------------------------------------------------- figures


def test_the_figures_are_those_of_a_hand_calculation() -> None:
    found = karat.consistency(RUN, near=None)
    stem = level(found, "stem")
    # 5 names, 8 phrases; only neural networks and neural network are one concept: 4 concepts.
    assert (stem["documents"], stem["names"], stem["phrases"], stem["concepts"]) == (4, 5, 8, 4)
    assert stem["names_per_concept"] == 5 / 4
    assert (stem["rival_names"], stem["rival_names_share"]) == (2, 2 / 5)
    assert (stem["rival_phrases"], stem["rival_phrases_share"]) == (4, 4 / 8)
    assert (stem["other_names"], stem["other_names_share"]) == (1, 1 / 8)
    # 4 of 8 phrases are of the concept whose names have 3/4 and 1/4.
    assert stem["entropy"] == pytest.approx(0.5 * (0.75 * log2(4 / 3) + 0.25 * log2(4)))
    order = level(found, "order")
    # The two of service are one concept: 3 concepts, 4 of 5 names and 7 of 8 phrases have a rival.
    assert (order["concepts"], order["rival_names"], order["rival_phrases"], order["other_names"]) == (3, 4, 7, 2)
    assert order["entropy"] == pytest.approx(
        4 / 8 * entropy([3, 1], base=2) + 3 / 8 * entropy([2, 1], base=2) + 1 / 8 * 0
    )


def test_the_worst_concepts_come_first_with_their_names_counted() -> None:
    found = karat.consistency(RUN, run(["a b", "b a"], ["a b"], name="other"), near=None)
    assert names(found) == [
        [("neural networks", 3, None), ("neural network", 1, "stem")],
        [("service quality", 2, None), ("quality of service", 1, "order")],
        [("a b", 2, None), ("b a", 1, "order")],
    ]
    assert [row["system"] for row in found.worst()] == ["mine", "mine", "other"]
    assert len(karat.consistency(RUN, near=None, worst=1).worst()) == 1
    assert len(karat.consistency(RUN, near=None, worst=0).worst()) == 2


def test_a_system_with_one_name_for_each_concept_is_wholly_consistent() -> None:
    row = level(karat.consistency(run(["bees", "wasps"], ["bees"]), near=None), "abbreviation")
    assert (row["names_per_concept"], row["rival_phrases"], row["other_names"], row["entropy"]) == (1.0, 0, 0, 0.0)


def test_a_name_counts_once_a_document_whatever_its_case_and_spaces() -> None:
    found = karat.consistency(run(["Bees", "bees", " BEES ", "the  bees"], ["Bees"]), near=None)
    stem = level(found, "stem")
    assert (stem["names"], stem["phrases"]) == (2, 3)
    assert names(found) == [[("Bees", 2, None), ("the bees", 1, "order")]]


def test_hyphens_part_words_and_other_marks_tell_them_apart() -> None:
    found = level(
        karat.consistency(run(["discrete-time systems", "discrete time system", "c++", "c", "c#"]), near=None), "order"
    )
    assert (found["names"], found["concepts"]) == (5, 4)


def test_a_run_without_phrases_has_no_shares() -> None:
    found = karat.consistency(run([], ["", "--"]))
    assert [row["rival_names_share"] for row in found.rows()] == [None] * 4
    assert [row["entropy"] for row in found.rows()] == [None] * 4
    assert found.notes[:2] == (
        "mine: 2 phrases without a letter or digit left out",
        "mine: the run has no phrase",
    )
    assert "–" in render(found)


# ---------------------------------------------------------------------------------------------- abbreviations


def test_initials_are_an_abbreviation_where_only_one_concept_fits() -> None:
    found = karat.consistency(run(["support vector machines", "SVM"], ["SVM"], ["support vector machine"]), near=None)
    assert names(found) == [
        [
            ("SVM", 2, None),
            ("support vector machine", 1, "abbreviation"),
            ("support vector machines", 1, "abbreviation"),
        ]
    ]
    unclear = karat.consistency(run(["SVM", "support vector machine", "simple vortex model"]), near=None)
    assert names(unclear) == []
    assert unclear.notes == ("mine: abbreviations that fit several concepts and are tied to none: 1",)


def test_particles_may_count_in_initials_or_not() -> None:
    found = karat.consistency(run(["QoS", "quality of service", "gmdh", "group method of data handling"]), near=None)
    assert len(names(found)) == 2


def test_two_letters_are_not_enough_without_a_text_that_explains_them() -> None:
    both = run(["IR", "information retrieval"])
    assert names(karat.consistency(both, near=None)) == []
    corpus = karat.Corpus.of([{"text": "We study information retrieval (IR) here."}])
    found = karat.consistency(both, corpus=corpus, near=None)
    assert names(found) == [[("information retrieval", 1, None), ("IR", 1, "abbreviation")]]


def test_with_a_corpus_only_what_its_texts_explain_is_an_abbreviation() -> None:
    both = run(["SVM", "support vector machine"])
    assert names(karat.consistency(both, corpus=karat.Corpus.of([{"text": "SVM and more"}]), near=None)) == []
    for text in ("Support vector machines (SVMs) work.", "An SVM (support vector machine) works."):
        assert len(names(karat.consistency(both, corpus=karat.Corpus.of([{"title": text}]), near=None))) == 1


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the hidden Markov model (HMM) of", [("HMM", "hidden Markov model")]),
        ("in XML (extensible markup language) files", []),  # its first letter is no initial
        ("extraction of keyphrases (see below)", []),
        ("quality of service (QoS)", [("QoS", "quality of service")]),
        ("deoxyribonucleic acid (DNA)", [("DNA", "deoxyribonucleic acid")]),
        ("(A) and (B)", []),
        ("a kernel method (KM) and KM (1)", [("KM", "kernel method")]),
        ("", []),
    ],
)
def test_explanations_stand_in_parentheses(text: str, wanted: list[tuple[str, str]]) -> None:
    assert list(explanations(text)) == wanted


@pytest.mark.parametrize(
    ("short", "long", "wanted"),
    [
        ("SVM", "support vector machine", True),
        ("SVMs", "support vector machines", True),
        ("SVM", "vector machine", False),
        ("SVM", "very small vector machine", False),
        ("HMM", "hidden Markov", False),
        ("S", "single", False),
    ],
)
def test_an_abbreviation_has_the_letters_of_its_words(short: str, long: str, wanted: bool) -> None:
    assert abbreviates(short, long) is wanted


# ---------------------------------------------------------------------------------------------- vectors


class Angles:
    """An embedder that places words at given angles: the cosine of two is that of the angle between them."""

    name = summary = "angles"

    def __init__(self, **degrees: float) -> None:
        self.degrees = degrees

    def embed(self, texts: Any) -> Vectors:
        angles = np.radians([self.degrees[text.replace(" ", "_")] for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    def tokens(self, texts: Any) -> Any:
        raise NotImplementedError


@pytest.fixture
def angles(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(**degrees: float) -> None:
        monkeypatch.setattr("karat.analyses.consistency.embedder", lambda name: Angles(**degrees))

    return use


def test_near_names_are_one_concept_and_no_chain_leads_further(angles: Any) -> None:
    # cos 20° = .94, cos 40° = .77: cars and autos are near, autos and trucks too, cars and trucks are not.
    angles(cars=0, autos=20, trucks=40, bees=90)
    found = karat.consistency(run(["cars", "autos", "trucks", "bees"], ["cars"], ["cars", "bees"]), near=0.9)
    assert names(found) == [[("cars", 3, None), ("autos", 1, "near")]]
    assert names(karat.consistency(run(["cars", "autos", "trucks", "bees"], ["autos"]), near=0.9)) == [
        [("autos", 2, None), ("cars", 1, "near"), ("trucks", 1, "near")]
    ]
    assert names(karat.consistency(run(["cars", "autos"]), near=0.95)) == []


def test_a_phrase_within_another_and_another_number_are_no_names_of_the_same(angles: Any) -> None:
    angles(image=0, image_search=1, ipv4=50, ipv6=51, picture=90, photo=91)
    found = karat.consistency(run(["image", "image search", "ipv4", "ipv6", "picture", "photo"]), near=0.9)
    assert names(found) == [[("photo", 1, None), ("picture", 1, "near")]]


def test_the_hash_embedder_is_said_to_compare_letters() -> None:
    found = karat.consistency(run(["organization structure of firms", "organizational structure of firms"]))
    assert found.notes == ("near: the embedder hash compares letters, not meanings; --model names another",)
    assert karat.consistency(RUN, near=None).notes == ()


# ---------------------------------------------------------------------------------------------- a vocabulary


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    path = tmp_path / "terms.txt"
    path.write_text("Neural networks\tneural nets\tconnectionism\nService quality\n\nBee\n")
    return path


def test_a_vocabulary_has_a_term_a_line_and_variants_after_tabs(vocabulary: Path) -> None:
    found = read_vocabulary(vocabulary)
    assert [concept.label() for concept in found.concepts] == ["Neural networks", "Service quality", "Bee"]
    assert [(label.text, found.shown(number)) for number, label in found.labels() if label.kind != "preferred"] == [
        ("neural nets", "Neural networks"),
        ("connectionism", "Neural networks"),
    ]


def test_the_share_in_a_vocabulary_and_what_to_fix_first(vocabulary: Path) -> None:
    given = run(
        ["neural networks", "neural network", "bee"],
        ["Connectionism", "servise quality", "bees"],
        ["servise quality", "ants", "quality of the service"],
    )
    [found] = karat.consistency(given, vocabulary=vocabulary, near=None).listed()
    # neural networks and bee are terms, connectionism a variant, neural network and bees are there by stem, quality of
    # the service in another order, two are outside.
    assert found["names"] == {"term": 2, "variant": 1, "stem": 2, "order": 1, "outside": 2}
    assert found["phrases"] == {"term": 2, "variant": 1, "stem": 2, "order": 1, "outside": 3}
    assert (found["names_share"], found["phrases_share"]) == (6 / 8, 6 / 9)
    # servise quality: 1 edit in 15 letters. ants: 7 letters are put in to make `neural nets` of it, which has 11.
    first, second = found["fixes"]
    assert (first["name"], first["phrases"], first["nearest"]) == ("servise quality", 2, "Service quality")
    assert first["score"] == pytest.approx(1 - 1 / 15)
    assert (second["name"], second["nearest"]) == ("ants", "Neural networks")  # by its variant neural nets
    assert second["score"] == pytest.approx(1 - 7 / 11)


def test_the_nearest_entry_by_vectors(vocabulary: Path, angles: Any) -> None:
    angles(hornet=10, neural_networks=90, neural_nets=80, connectionism=70, service_quality=180, bee=0)
    [found] = karat.consistency(run(["hornet"]), vocabulary=vocabulary, near=None, nearest="cosine").listed()
    [fix] = found["fixes"]
    assert fix["nearest"] == "Bee"
    assert fix["score"] == pytest.approx(np.cos(np.radians(10)), abs=1e-6)


def test_a_vocabulary_that_is_empty_or_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("\n\t\n")
    with pytest.raises(InputError, match=r"terms.txt: the vocabulary has no term; write one a line"):
        karat.consistency(RUN, vocabulary=tmp_path / "terms.txt")
    with pytest.raises(InputError, match="there is no such file"):
        karat.consistency(RUN, vocabulary=tmp_path / "nothing.txt")


# ---------------------------------------------------------------------------------------------- the rest


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"near": 0.0}, "near is a number above 0 and up to 1, not 0"),
        ({"near": float("nan")}, "near is a number above 0 and up to 1, not nan"),
        ({"nearest": "levenstein"}, "unknown value of nearest 'levenstein'; did you mean 'levenshtein'"),
        ({"worst": -1}, "worst is a whole number from 0 on, not -1"),
        ({"model": "hsh"}, "unknown embedder 'hsh'"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        karat.consistency(RUN, **options)


def test_runs_of_one_name_and_no_run_at_all_are_refused() -> None:
    with pytest.raises(InputError, match="two runs are named 'mine'"):
        karat.consistency(RUN, RUN)
    with pytest.raises(InputError, match="nothing to look at: give at least one run"):
        karat.consistency()


def test_another_language_has_other_stems() -> None:
    given = run(["réseaux neuronaux", "réseau neuronal"])
    assert level(karat.consistency(given, near=None), "stem")["concepts"] == 2
    assert level(karat.consistency(given, near=None, language="french"), "stem")["concepts"] == 1


def test_every_format_shows_it(vocabulary: Path) -> None:
    found = karat.consistency(run(["bees\x1b[31m", "bee \x1b[31m", "a|b_c", "b_c|a"]), vocabulary=vocabulary)
    for form in ("table", "md", "latex", "csv", "json"):
        assert "mine" in render(found, form)
    assert "\x1b" not in render(found)
    assert render(found, "csv").splitlines()[0].startswith("system,documents,by,names,phrases,concepts")
    assert all(len(line) <= 80 for line in render(found).splitlines())


def test_the_command_prints_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.jsonl").write_text('{"id": "1", "keyphrases": ["bees", "bee"]}\n')
    Path("c.jsonl").write_text('{"id": "1", "text": "bees"}\n')
    words = ["consistency", "new=r.jsonl", "--corpus", "c.jsonl", "--no-near", "-f", "json"]
    command.main(words, standalone_mode=False)
    found = json.loads(capfdbinary.readouterr().out)
    assert list(found) == ["signatures", "rows", "notes", "options", "worst", "vocabulary"]
    assert [row["by"] for row in found["rows"]] == ["stem", "order", "abbreviation"]
    assert found["options"] == {
        "model": "hash",
        "near": None,
        "language": None,
        "nearest": "levenshtein",
        "worst": 10,
        "corpus": "c",
        "level": 0.95,
    }
