"""What a system almost got: who is paired with whom, what is counted, what is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.analyses.nearmiss import NearMiss
from karat.errors import InputError
from karat.output import render

DATA = Path(__file__).parents[1] / "golden"
SYNTHETIC = [DATA / f"synthetic.{name}.jsonl" for name in ("corpus", "alpha", "beta")]
EFFECTIVE = "effective grid computing algorithm"

# Of three references one is found; of the four other predictions three share words with the two that are missed.
CORPUS = karat.Corpus.of([{"id": "1", "text": "x", "keyphrases": [EFFECTIVE, "load balancing", "neural network"]}])
RUN = karat.Run.of(
    [
        {
            "id": "1",
            "keyphrases": ["grid computing algorithms", "grid computing", "neural networks", "balancing", "users"],
        }
    ],
    name="mine",
)


def one(references: list[Any], predictions: list[str], **options: Any) -> tuple[karat.NearMisses, list[NearMiss]]:
    """The near misses of one document."""
    pairs: list[NearMiss] = []
    corpus = karat.Corpus.of([{"id": "1", "text": options.pop("text", "x"), "keyphrases": references}])
    run = karat.Run.of([{"id": "1", "keyphrases": predictions}])
    return karat.nearmiss(corpus, run, pairs=pairs.extend, **options), pairs


def texts(pairs: list[NearMiss]) -> list[tuple[str, str]]:
    return [(each.prediction, each.reference) for each in pairs]


def counts(found: karat.NearMisses, kind: str) -> dict[Any, int]:
    return {(row["class"], row["direction"]): row["pairs"] for row in found.rows() if row["kind"] == kind}


# ---------------------------------------------------------------------------------------------- figures by hand


def test_what_was_almost_got_is_counted_on_both_sides() -> None:
    """By hand: 4 of 5 predictions are no hit, `users` alone shares nothing; 2 of 3 references are missed, both near."""
    [row] = karat.nearmiss(CORPUS, RUN).summary()
    assert (row["predictions"], row["unmatched_predictions"], row["near_predictions"]) == (5, 4, 3)
    assert (row["references"], row["unmatched_references"], row["near_references"]) == (3, 2, 2)
    assert (row["near_predictions_share"], row["near_references_share"]) == (0.75, 1.0)


def test_rows_have_counts_shares_and_mean_scores() -> None:
    """Overlap by hand: 3 of 4 words, 2 of 4, 1 of 2. Head twice, (.75 + .5) / 2; middle once."""
    rows = {(row["kind"], row["class"], row["direction"]): row for row in karat.nearmiss(CORPUS, RUN).rows()}
    head, middle = rows["location", "head", "shorter"], rows["location", "middle", "shorter"]
    assert (head["pairs"], head["mean_score"]) == (2, 0.625)
    assert (middle["pairs"], middle["mean_score"]) == (1, 0.5)
    assert [head["share"], middle["share"]] == pytest.approx([2 / 3, 1 / 3])
    assert head["examples"] == [
        {"id": "1", "prediction": "grid computing algorithms", "reference": EFFECTIVE, "score": 0.75},
        {"id": "1", "prediction": "balancing", "reference": "load balancing", "score": 0.5},
    ]
    assert rows["words", "adjective-noun", None]["pairs"] == 2
    assert rows["relation", "part-of", None]["pairs"] == 3
    assert rows["direction", "shorter", None]["pairs"] == 3


def test_the_classes_of_each_kind_add_up_to_all_pairs() -> None:
    found = karat.nearmiss(*SYNTHETIC)
    for summary in found.summary():
        of_system = [row for row in found.rows() if row["system"] == summary["system"]]
        for kind in ("location", "direction", "complexity", "words", "relation"):
            assert sum(row["pairs"] for row in of_system if row["kind"] == kind) == summary["pairs"]
            assert sum(row["share"] for row in of_system if row["kind"] == kind) == pytest.approx(1)


def test_hits_and_near_misses_are_those_of_the_score() -> None:
    """Micro precision and recall are the hits among predictions and references; what is left is unmatched.

    A document without references has predictions all the same, so it is scored as 0 here, not left out.
    """
    metrics = ["p@5:present/micro", "r@5:present/micro"]
    scores = karat.score(*SYNTHETIC, metrics=metrics, protocol="karat,empty=zero").rows()
    found = karat.nearmiss(*SYNTHETIC, subset="present", cutoff="5").summary()
    for row in found:
        p, r = (each["value"] for each in scores if each["system"] == row["system"])
        assert 1 - row["unmatched_predictions"] / row["predictions"] == pytest.approx(p)
        assert 1 - row["unmatched_references"] / row["references"] == pytest.approx(r)


# ---------------------------------------------------------------------------------------------- who is paired


def test_a_prediction_goes_with_its_nearest_reference_and_the_first_of_equals() -> None:
    references = ["deep learning theory", "graph network", "deep tree"]
    _, pairs = one(references, ["deep network"])
    assert texts(pairs) == [("deep network", "graph network")]


def test_every_pair_is_there_on_request() -> None:
    references = ["deep learning theory", "graph network", "deep tree", "music"]
    found, pairs = one(references, ["deep network"], every=True)
    assert texts(pairs) == [("deep network", reference) for reference in references[:3]]
    assert found.found[0].references.near == 3
    assert found.found[0].predictions.near == 1


def test_a_reference_is_almost_found_also_by_a_prediction_that_is_nearer_to_another() -> None:
    found, pairs = one(["graph network", "deep tree"], ["deep network"])
    assert texts(pairs) == [("deep network", "graph network")]
    assert found.found[0].references.near == 2


def test_a_reference_that_is_found_has_no_near_miss() -> None:
    found, pairs = one(["graph network"], ["graph networks", "deep network"])
    assert pairs == []
    assert found.summary()[0]["near_references_share"] is None


def test_phrases_of_different_documents_are_not_paired() -> None:
    corpus = karat.Corpus.of([{"id": "1", "keyphrases": ["deep net"]}, {"id": "2", "keyphrases": ["tree"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["trees of life"]}, {"id": "2", "keyphrases": ["net"]}])
    assert karat.nearmiss(corpus, run).rows() == []


def test_variants_are_one_reference_and_the_nearest_is_shown() -> None:
    found, pairs = one([["graphics processor", "GPU cards"]], ["gpu card memory"], every=True)
    [pair] = pairs
    assert pair.reference == "GPU cards"
    assert pair.score == pytest.approx(2 / 3)
    assert found.found[0].references == karat.analyses.nearmiss.Side(1, 1, 1)


def test_a_second_prediction_of_a_found_reference_is_no_near_miss() -> None:
    found, pairs = one([["graphics processor", "gpu card"], "gpu memory"], ["graphics processor", "gpu card"])
    assert pairs == []
    assert found.found[0].predictions == karat.analyses.nearmiss.Side(2, 0, 0)


def test_a_shared_of_or_bracket_makes_no_near_miss() -> None:
    assert one(["theory of mind (tom)"], ["quality of service (qos)"])[1] == []
    assert one(["theory of mind"], ["mind and body"])[1] != []


def test_words_are_shared_by_their_stems_also_where_the_protocol_has_none() -> None:
    """Without stems `networks` is no hit: the same words in another form, all of them shared."""
    _, pairs = one(["neural network"], ["neural networks"], protocol="karat,stemmer=none")
    assert [(each.classes.relation, each.score) for each in pairs] == [("morph", 1.0)]
    assert one(["neural network"], ["neural networks"])[1] == []


def test_subset_and_cutoff_choose_what_is_looked_at() -> None:
    references, predictions = ["grid computing", "cloud computing"], ["grid", "cloud", "grid storage", "fog computing"]
    text = "A grid for computing, in the cloud."
    assert texts(one(references, predictions, text=text)[1]) == [
        ("grid", "grid computing"),
        ("cloud", "cloud computing"),
        ("grid storage", "grid computing"),
        ("fog computing", "grid computing"),
    ]
    absent = one(references, predictions, text=text, subset="absent")[1]
    assert texts(absent) == [("grid storage", "grid computing"), ("fog computing", "grid computing")]
    assert texts(one(references, predictions, text=text, cutoff="1")[1]) == [("grid", "grid computing")]
    assert one(references, predictions, text=text, subset="present")[1] == []


def test_another_score_and_a_threshold_say_what_is_near() -> None:
    """Overlap of 3 of 4 words is .75: kept by a threshold of .75, not of .76; chrF sees letters, not words."""
    assert len(one([EFFECTIVE], ["grid computing algorithm"], threshold=0.75)[1]) == 1
    assert one([EFFECTIVE], ["grid computing algorithm"], threshold=0.76)[1] == []
    [pair] = one(["microscopy"], ["microscope"], similarity="chrf", threshold=0.4)[1]
    assert pair.score == karat.similarity.compare("chrf", "microscope", "microscopy")
    assert pair.classes.location == "none"
    assert one(["microscopy"], ["microscope"], similarity="chrf")[1] == []


def test_a_threshold_of_zero_pairs_everything() -> None:
    found, pairs = one(["music", "art"], ["trees"], threshold=0.0)
    assert texts(pairs) == [("trees", "music")]
    assert counts(found, "location") == {("none", "equal"): 1}
    assert counts(found, "relation") == {("none", None): 1}


def test_the_context_of_phrases_is_that_of_the_whole_corpus() -> None:
    """Both phrases stand in one sentence and nowhere else, so their bags of words are equal."""
    documents = [
        {"id": "1", "text": "Deep networks are deep models. Trees grow.", "keyphrases": ["deep model"]},
        {"id": "2", "text": "Music is art.", "keyphrases": ["music"]},
    ]
    run = karat.Run.of([{"id": "1", "keyphrases": ["deep network"]}, {"id": "2", "keyphrases": ["art"]}])
    pairs: list[NearMiss] = []
    karat.nearmiss(karat.Corpus.of(documents), run, similarity="context", pairs=pairs.extend)
    [pair] = pairs
    assert pair.id == "1"
    assert pair.score == pytest.approx(1.0)


def test_both_is_a_location_of_its_own_on_request() -> None:
    references, predictions = ["effective grid algorithm"], ["effective algorithm"]
    assert counts(one(references, predictions)[0], "location") == {("head", "shorter"): 1}
    assert counts(one(references, predictions, both=True)[0], "location") == {("both", "shorter"): 1}


# ---------------------------------------------------------------------------------------------- many documents


def test_chunks_and_processes_change_nothing() -> None:
    """2,500 copies of one document are three chunks: every count is 2,500 times that of one."""
    number = 2500
    corpus = karat.Corpus.of([{**_plain(CORPUS), "id": str(n)} for n in range(number)])
    run = karat.Run.of([{**_plain(RUN), "id": str(n)} for n in range(number)], name="mine")
    whole, single = karat.nearmiss(corpus, run), karat.nearmiss(CORPUS, RUN)
    assert [row["pairs"] for row in whole.rows()] == [number * row["pairs"] for row in single.rows()]
    assert [row["mean_score"] for row in whole.rows()] == [row["mean_score"] for row in single.rows()]
    examples = [[each["prediction"] for each in row["examples"]] for row in whole.rows()]
    assert examples == [[each["prediction"] for each in row["examples"]] for row in single.rows()]
    assert karat.nearmiss(corpus, run, jobs=2).as_dict() == whole.as_dict()


def _plain(records: karat.Corpus | karat.Run) -> dict[str, Any]:
    [record] = list(records)
    return {name: getattr(record, name) for name in ("text", "keyphrases") if hasattr(record, name)}


def test_examples_are_different_and_as_many_as_asked_for() -> None:
    references, predictions = ["deep net"], [f"{word} net" for word in ("small", "large", "wide")]
    shown = {n: one(references, predictions, examples=n)[0].rows()[0]["examples"] for n in (0, 2, 9)}
    assert {n: len(examples) for n, examples in shown.items()} == {0: 0, 2: 2, 9: 3}
    assert [each["prediction"] for each in shown[2]] == ["small net", "large net"]


def test_a_document_that_a_run_lacks_counts_as_missed_or_not_at_all() -> None:
    corpus = karat.Corpus.of([{"id": str(n), "keyphrases": ["deep net", "tree"]} for n in (1, 2)])
    run = karat.Run.of([{"id": "2", "keyphrases": ["net"]}])
    missed = {m: karat.nearmiss(corpus, run, missing=m).found[0].references for m in ("empty", "skip")}
    assert missed == {"empty": karat.analyses.nearmiss.Side(4, 4, 1), "skip": karat.analyses.nearmiss.Side(2, 2, 1)}


def test_several_runs_and_protocols_have_rows_of_their_own() -> None:
    found = karat.nearmiss(*SYNTHETIC, protocol=["karat", "chan2019"])
    assert [(each.system, each.protocol) for each in found.found] == [
        (system, protocol) for system in ("synthetic.alpha", "synthetic.beta") for protocol in ("karat", "chan2019")
    ]
    alone = karat.nearmiss(SYNTHETIC[0], SYNTHETIC[2], protocol="chan2019")
    assert [row for row in found.rows() if (row["system"], row["protocol"]) == ("synthetic.beta", "chan2019")] == [
        *alone.rows()
    ]


def test_a_named_reference_set_is_what_is_missed() -> None:
    documents = [{"id": "1", "keyphrases": ["a"], "reference_sets": {"author": ["deep net"], "reader": ["tree"]}}]
    corpus, run = karat.Corpus.of(documents), karat.Run.of([{"id": "1", "keyphrases": ["net"]}])
    found = karat.nearmiss(corpus, run, references="author")
    assert found.found[0].references == karat.analyses.nearmiss.Side(1, 1, 1)
    assert ",set=author," in found.signatures["karat"]
    assert karat.nearmiss(corpus, run, protocol=found.signatures["karat"]).rows() == found.rows()


# ---------------------------------------------------------------------------------------------- what is said


def test_json_has_the_envelope_of_every_verb() -> None:
    found = json.loads(render(karat.nearmiss(CORPUS, RUN), "json"))
    assert list(found) == ["signatures", "rows", "notes", "options", "summary"]
    fields = "corpus system protocol kind class direction pairs share share_ci mean_score mean_score_ci examples"
    assert all(list(row) == fields.split() for row in found["rows"])
    assert found["options"]["similarity"] == "overlap"


@pytest.mark.parametrize("form", ["table", "md", "latex"])
def test_every_table_shows_the_counts_in_words(form: str) -> None:
    text = " ".join(render(karat.nearmiss(CORPUS, RUN), form).replace("\\[", "[").replace("\\]", "]").split())
    assert "4 of 5 predictions are no hit; 3 of these (.7500) are near misses." in text
    assert "2 of 3 references are missed; 2 of these (1.0000 [.025, 1.000]) were almost found." in text


@pytest.mark.parametrize("form", ["table", "md", "latex", "csv", "json"])
def test_without_any_near_miss_it_is_said_so(form: str) -> None:
    found, _ = one(["music"], ["trees"])
    assert found.rows() == []
    assert found.notes == ("run, karat: no near miss: no unmatched prediction shares a word with a missed reference",)
    text = " ".join(render(found, form).split())
    said = {"latex": "no near miss", "csv": "corpus,system,protocol,kind"}.get(form, found.notes[0])
    assert said in text


def test_perfect_and_empty_runs_have_nothing_to_divide_by() -> None:
    perfect, _ = one(["music"], ["music"])
    empty, _ = one(["music"], [])
    assert perfect.summary()[0]["near_predictions_share"] is None
    assert empty.summary()[0]["near_references_share"] == 0
    assert "0 of 1 predictions are no hit; 0 of these are near misses." in render(perfect)


def test_phrases_are_never_markup_nor_formulas_nor_control_characters() -> None:
    found, _ = one(["net | *deep* <b>"], ["=net\x1b[31m _deep_"])
    assert r"\*deep\* \<b\>" in render(found, "md")
    assert "'=net" in render(found, "csv")
    assert all("\x1b" not in render(found, form) for form in ("table", "md", "latex", "csv"))


def test_no_line_of_the_table_is_wider_than_a_terminal() -> None:
    found, _ = one([f"{'very ' * 30}deep net"], ["deep net"])
    assert max(map(len, render(found).splitlines())) <= 80


def test_classes_of_another_language_are_remarked_upon() -> None:
    found, pairs = one(["réseau neuronal"], ["réseau profond"], language="french")
    assert texts(pairs) == [("réseau profond", "réseau neuronal")]
    assert any("made for English" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1.5}, "a threshold is a number from 0 to 1, not 1.5"),
        ({"threshold": float("nan")}, "a threshold is a number from 0 to 1, not nan"),
        ({"similarity": "overlop"}, "unknown similarity 'overlop'; did you mean 'overlap'"),
        ({"subset": "presnt"}, "unknown value of subset 'presnt'; did you mean 'present'"),
        ({"cutoff": "0"}, "the cutoff of near misses is a number from 1 on, M, O or G, not '0'"),
        ({"cutoff": "V"}, "the cutoff of near misses is a number from 1 on, M, O or G, not 'V'"),
        ({"examples": -1}, "examples is a whole number from 0 on, not -1"),
        ({"protocol": "chan2018"}, "unknown protocol 'chan2018'; did you mean 'chan2019'"),
        ({"references": "author"}, "has no reference sets"),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        karat.nearmiss(CORPUS, RUN, **options)
    assert message in str(error.value)


def test_a_run_without_documents_is_an_error() -> None:
    with pytest.raises(InputError, match="memory: ends after 0 lines, before memory does"):
        karat.nearmiss(CORPUS, karat.Run.of([]))
    with pytest.raises(InputError, match="give at least one run"):
        karat.nearmiss(CORPUS)


def test_a_subset_needs_texts() -> None:
    corpus = karat.Corpus.of([{"id": "1", "keyphrases": ["deep net"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["net"]}])
    with pytest.raises(InputError, match="the subset absent needs the documents' title or text, and memory has none"):
        karat.nearmiss(corpus, run, subset="absent")


# ---------------------------------------------------------------------------------------------- by relation


def test_the_nearest_reference_is_chosen_among_those_of_the_relation() -> None:
    """`deep graph network` shares two words with one reference and holds another, which has one word."""
    references = ["deep network", "graph"]
    assert texts(one(references, ["deep graph network"])[1]) == [("deep graph network", "deep network")]
    found, pairs = one(references, ["deep graph network"], relation="include")
    assert texts(pairs) == [("deep graph network", "graph")]
    assert found.found[0].references.near == 1
    assert {row["class"] for row in found.rows() if row["kind"] == "relation"} == {"include"}


def test_relations_add_up_to_all_where_every_pair_counts() -> None:
    whole = karat.nearmiss(*SYNTHETIC[:2], every=True).found[0].pairs
    parts = [
        karat.nearmiss(*SYNTHETIC[:2], every=True, relation=name).found[0].pairs for name in ("include", "overlap")
    ]
    rest = karat.nearmiss(*SYNTHETIC[:2], every=True, relation="exact,morph,part-of,reordered,none").found[0].pairs
    assert sum(parts) + rest == whole
    assert min(parts) > 0
