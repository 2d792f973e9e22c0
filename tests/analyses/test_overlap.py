"""What systems predict alike: percentages by hand and by sets, scores together, reviews and the references they add."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.errors import InputError
from karat.output import render
from karat.protocol import PRESETS
from tests.examples import examples

DATA = Path(__file__).parents[1] / "golden"
SYNTHETIC = [str(DATA / f"synthetic.{name}.jsonl") for name in ("corpus", "alpha", "beta")]

CORPUS = karat.Corpus.of(
    [
        {"id": "1", "text": "Deep nets on graphs.", "keyphrases": ["deep net", "tree"]},
        {"id": "2", "text": "Bees.", "keyphrases": ["bee"]},
        {"id": "3", "text": "A wasp.", "keyphrases": ["wasp"]},
    ]
)


def run(name: str, *lists: Sequence[str]) -> karat.Run:
    return karat.Run.of(({"id": str(n), "keyphrases": list(each)} for n, each in enumerate(lists, 1)), name)


A = run("a", ["deep nets", "graphs", "forests"], [], ["wasps"])
B = run("b", ["deep net", "forest", "trees", "graph"], [], ["hive"])


def by_subset(found: karat.Overlap, *fields: str) -> dict[str, tuple[Any, ...]]:
    return {row["subset"]: tuple(row[field] for field in fields) for row in found.rows()}


# ---------------------------------------------------------------------------------------------- figures by hand


def test_percentages_are_those_worked_out_by_hand() -> None:
    """Document 1, by stems: A has deep net, graph | forest, B the same and | tree.

    Present, of 2: deep net is right, graph wrong: 50, 50. Absent, of 2: forest is wrong: 0, 50. All, of 4: 25, 50.
    Document 2: nothing from either. Document 3: wasp against hive, nothing in common; present, absent and all are 0.
    """
    found = karat.overlap(CORPUS, A, B)
    assert by_subset(found, "common_correct", "common_wrong", "documents", "undefined") == {
        "present": (25.0, 25.0, 3, 1),
        "absent": (0.0, 25.0, 3, 1),
        "all": (12.5, 25.0, 3, 1),
    }


def test_documents_are_counted_by_tenths() -> None:
    histograms = by_subset(karat.overlap(CORPUS, A, B), "histogram")
    assert histograms["present"] == (
        {"correct": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0], "wrong": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0]},
    )
    assert histograms["all"] == ({"correct": [1, 0, 1, 0, 0, 0, 0, 0, 0, 0], "wrong": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0]},)


@pytest.mark.parametrize(("shared", "tenth"), [(0, 0), (1, 1), (3, 3), (7, 7), (9, 9), (10, 9)])
def test_the_lower_end_of_a_tenth_belongs_to_it_and_all_to_the_last(shared: int, tenth: int) -> None:
    words = [f"w{n}" for n in range(10)]
    corpus = karat.Corpus.of([{"id": "1", "text": "x", "keyphrases": words}])
    found = karat.overlap(corpus, run("a", words), run("b", words[:shared]))
    assert by_subset(found, "histogram")["all"][0]["correct"].index(1) == tenth


def test_an_empty_union_is_left_out_or_counts_nothing() -> None:
    zero = karat.overlap(CORPUS, A, B, empty="zero")
    present = by_subset(zero, "common_correct", "undefined", "histogram")["present"]
    assert present[:2] == (pytest.approx(50 / 3), 0)
    assert present[2]["correct"] == [2, 0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_what_is_undefined_everywhere_is_null() -> None:
    found = karat.overlap(CORPUS, run("a", [], [], []), run("b", [], [], []))
    assert by_subset(found, "common_correct", "common_wrong", "undefined")["all"] == (None, None, 3)
    assert "–" in render(found)


def test_the_example_of_thomas_and_vajjala() -> None:
    """Their Table 8: of SetTrans and KPDrop's present phrases, 5 together, 2 are shared and no references.

    Of the absent ones, 3 together, 1 is; so 40 and 33.3 percent are shared and wrong, and nothing is shared and right.
    """
    text = "Sentences of a language: lexical analysis and syntax analysis, then parsing with a context free grammar."
    corpus = karat.Corpus.of(
        [
            {
                "id": "1",
                "text": f"{text} We take Arabic language sentences.",
                "keyphrases": ["lexical analysis", "syntax analysis", "Arabic language parser"],
            }
        ]
    )
    present = ["Lexical analysis", "arabic language sentences", "context free grammar", "parsing"]
    settrans = run("settrans", [*present, "arabic language parsing"])
    others = ["arabic language parsing", "sentence retrieval", "natural language processing"]
    kpdrop = run("kpdrop", ["Parsing", "context free grammar", "arabic language", *others])
    found = karat.overlap(corpus, settrans, kpdrop)
    percentages = by_subset(found, "common_correct", "common_wrong")
    assert percentages["present"] == (0.0, 40.0)
    assert percentages["absent"] == (0.0, pytest.approx(100 / 3))
    assert {row["phrase"] for row in found.review()} == {"parsing", "context free grammar", "arabic language parsing"}


def test_an_empty_phrase_is_no_phrase_whatever_the_protocol_makes_of_it() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "bees", "keyphrases": ["bees"]}])
    found = karat.overlap(corpus, run("a", []), run("b", [""]), protocol="chan2019")
    assert by_subset(found, "common_wrong", "undefined")["all"] == (None, 1)
    assert found.review() == []


def test_a_variant_is_right_too_but_another_phrase() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "x", "keyphrases": [["GPU", "graphics card"], "bus"]}])
    found = karat.overlap(corpus, run("a", ["graphics cards", "gpu"]), run("b", ["graphics card", "bus"]))
    assert by_subset(found, "common_correct", "common_wrong")["all"] == (pytest.approx(100 / 3), 0.0)


def test_every_two_systems_are_a_pair_under_every_protocol() -> None:
    found = karat.overlap(*SYNTHETIC, karat.read_run(SYNTHETIC[1], name="again"), protocol=["karat", "chan2019"])
    names = [("synthetic.alpha", "synthetic.beta"), ("synthetic.alpha", "again"), ("synthetic.beta", "again")]
    wanted = [
        (*pair, protocol, subset)
        for pair in names
        for protocol in ("karat", "chan2019")
        for subset in ("present", "absent", "all")
    ]
    assert [(row["a"], row["b"], row["protocol"], row["subset"]) for row in found.rows()] == wanted
    fields = "corpus a b protocol subset common_correct common_correct_ci common_wrong common_wrong_ci"
    assert list(found.rows()[0]) == [*fields.split(), "documents", "undefined", "histogram"]


def test_present_and_absent_need_a_text() -> None:
    corpus = karat.Corpus.of([{"id": "1", "keyphrases": ["bee"]}])
    found = karat.overlap(corpus, run("a", ["bees"]), run("b", ["bee"]))
    assert by_subset(found, "common_correct") == {"all": (100.0,)}
    assert "no title and no text" in found.notes[-1]


def test_a_document_that_a_run_lacks_can_be_left_out() -> None:
    short = karat.Run.of([{"id": "1", "keyphrases": ["deep nets"]}], name="short")
    with pytest.raises(InputError, match="no predictions for document '2'"):
        karat.overlap(CORPUS, A, short)
    skipped = karat.overlap(CORPUS, A, short, missing="skip", empty="zero")
    assert by_subset(skipped, "common_correct", "undefined")["all"] == (pytest.approx(100 / 3), 2)
    assert {row["undefined"] for row in skipped.complementarity() if row["subset"] == "all"} == {2}
    taken = karat.overlap(CORPUS, A, short, missing="empty", empty="zero")
    assert by_subset(taken, "common_correct", "undefined")["all"] == (pytest.approx(100 / 9), 0)


# ---------------------------------------------------------------------------------------------- any runs

WORDS = ["bee", "wasp", "hive", "nest", "swarm", "queen"]
lists = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=4, max_size=4)
corpora = st.tuples(lists, lists)  # (texts, references)


def corpus_of(found: tuple[list[list[str]], list[list[str]]]) -> karat.Corpus:
    pairs = enumerate(zip(*found, strict=True), 1)
    return karat.Corpus.of(
        # One reference that nobody predicts, so that any corpus can be scored.
        [
            {"id": str(n), "text": f"The {' '.join(text)} .", "keyphrases": [*wanted, "sky"]}
            for n, (text, wanted) in pairs
        ]
    )


@settings(deadline=None)
@given(corpora, lists, lists)
def test_percentages_are_those_of_sets(found: Any, first: list[list[str]], second: list[list[str]]) -> None:
    overlap = karat.overlap(corpus_of(found), run("a", *first), run("b", *second))
    for row in overlap.rows():
        shares = []
        for text, wanted, one, other in zip(*found, first, second, strict=True):
            kind = {"present": set(text), "absent": set(WORDS) - set(text), "all": set(WORDS)}[row["subset"]]
            a, b, g = set(one) & kind, set(other) & kind, set(wanted) & kind
            if a | b:
                shares.append((100 * len(a & b & g) / len(a | b), 100 * len((a & b) - g) / len(a | b)))
        assert row["undefined"] == len(first) - len(shares)
        means = tuple(sum(each) / len(shares) for each in zip(*shares, strict=True)) if shares else (None, None)
        assert (row["common_correct"], row["common_wrong"]) == pytest.approx(means)
        assert sum(row["histogram"]["correct"]) == sum(row["histogram"]["wrong"]) == len(shares)


@settings(deadline=None)
@given(corpora, lists, lists)
def test_it_does_not_matter_which_system_comes_first(found: Any, first: Any, second: Any) -> None:
    corpus, a, b = corpus_of(found), run("a", *first), run("b", *second)
    fields = ("common_correct", "common_wrong", "undefined", "histogram")
    assert by_subset(karat.overlap(corpus, a, b), *fields) == by_subset(karat.overlap(corpus, b, a), *fields)


@settings(deadline=None)
@given(corpora, lists, lists)
def test_right_and_wrong_together_are_at_most_all(found: Any, first: Any, second: Any) -> None:
    overlap = karat.overlap(corpus_of(found), run("a", *first), run("b", *second), empty="zero")
    for pair in overlap.pairs:
        each = pair.per_document()
        assert (each >= 0).all()
        assert (each.sum(axis=1) <= 100 + 1e-9).all()


@settings(deadline=None)
@given(corpora, lists)
def test_a_run_with_itself_is_right_as_often_as_it_is_precise(found: Any, first: Any) -> None:
    protocol = "karat,empty=zero"  # every document counts, as here
    corpus = corpus_of(found)
    overlap = karat.overlap(corpus, run("a", *first), run("b", *first), protocol=protocol, empty="zero")
    metrics = [f"p@M:{subset}" for subset in ("present", "absent", "all")]
    for row, scored in zip(
        overlap.rows(), karat.score(corpus, run("a", *first), metrics=metrics, protocol=protocol).rows(), strict=True
    ):
        assert row["common_correct"] == pytest.approx(100 * scored["value"])
        assert row["common_correct"] + row["common_wrong"] == pytest.approx(
            100 * sum(pair > 0 for pair in overlap.pairs[overlap.rows().index(row)].either) / row["documents"]
        )


# ---------------------------------------------------------------------------------------------- together


def test_the_union_the_intersection_and_the_majority_are_scored() -> None:
    """By hand, references bee, wasp, hive: any of three has bee, wasp, nest, ant; two bee, wasp, nest; all have bee.

    Precision 2/4, 2/3, 1; recall 2/3, 2/3, 1/3.
    """
    corpus = karat.Corpus.of([{"id": "1", "keyphrases": ["bee", "wasp", "hive"]}])
    runs = run("a", ["bees", "wasp", "nest"]), run("b", ["bee", "wasps"]), run("c", ["ant", "nests", "bee"])
    rows = karat.overlap(corpus, *runs).complementarity()
    found = {(row["how"], row["metric"]): row["value"] for row in rows}
    assert [found[how, "p@M"] for how in ("union", "majority", "intersection")] == pytest.approx([1 / 2, 2 / 3, 1])
    assert [found[how, "r@M"] for how in ("union", "majority", "intersection")] == pytest.approx([2 / 3, 2 / 3, 1 / 3])
    assert found["union", "f1@M"] == pytest.approx(2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3))
    assert rows[0]["systems"] == ["a", "b", "c"]
    fields = "corpus how systems protocol metric subset average value value_ci documents undefined"
    assert list(rows[0]) == fields.split()


def test_each_system_alone_has_the_scores_of_score() -> None:
    metrics = [f"{metric}:{subset}" for subset in ("present", "absent", "all") for metric in ("p@M", "r@M", "f1@M")]
    rows = karat.overlap(*SYNTHETIC).alone()
    for row in rows:
        low, high = row.pop("value_ci")
        assert low < row["value"] < high
    assert rows == karat.score(*SYNTHETIC, metrics=metrics).rows()


NASTY = [
    "bee",
    "Bees",
    "wasp nest",
    "wasp_nest",
    "hive",
    "nest;queen",
    "<unk>",
    "",
    " ",
    "a/b",
    "queen <eos> hive",
    ",",
    "sky",
]
nasty = st.lists(st.lists(st.sampled_from(NASTY), max_size=6), min_size=3, max_size=3)


@settings(max_examples=examples(40), deadline=None)
@given(nasty, nasty, nasty, st.sampled_from(sorted(PRESETS)))
def test_systems_together_score_as_their_ensemble_does(
    wanted: list[list[str]], first: list[list[str]], second: list[list[str]], protocol: str
) -> None:
    texts = ["bees nest", "a wasp nest in a hive", ""]
    documents = [
        {"id": str(n), "title": "The sky", "text": text, "keyphrases": [*each, "sky"]}
        for n, (text, each) in enumerate(zip(texts, wanted, strict=True), 1)
    ]
    corpus, a, b = karat.Corpus.of(documents), run("a", *first), run("b", *second)
    found = karat.overlap(corpus, a, b, protocol=protocol).complementarity()
    metrics = [f"{metric}:{subset}" for subset in ("present", "absent", "all") for metric in ("p@M", "r@M", "f1@M")]
    for how, votes in (("union", 1), ("intersection", 2), ("majority", 2)):
        one = karat.ensemble(a, b, at_least=votes, protocol=protocol)
        scored = karat.score(corpus, one, metrics=metrics, protocol=protocol).rows()
        here = [row for row in found if row["how"] == how]
        assert [row["value"] for row in here] == [row["value"] for row in scored]
        assert [row["undefined"] for row in here] == [row["undefined"] for row in scored]


# ---------------------------------------------------------------------------------------------- reviews


def test_a_review_has_what_enough_systems_share_and_no_reference_is() -> None:
    c = run("c", ["forest", "nest"], [], ["hives"])
    assert karat.overlap(CORPUS, A, B, c).review() == [
        {"id": "1", "phrase": "forests", "systems": ["a", "b", "c"], "accept": None},
        {"id": "1", "phrase": "graphs", "systems": ["a", "b"], "accept": None},
        {"id": "3", "phrase": "hive", "systems": ["b", "c"], "accept": None},
    ]
    assert [row["phrase"] for row in karat.overlap(CORPUS, A, B, c, at_least=3).review()] == ["forests"]


def review(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "review.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def values(corpus: Any = CORPUS, *runs: karat.Run, **options: Any) -> list[float]:
    return [row["value"] for row in karat.score(corpus, *(runs or (B,)), metrics=["p@M", "r@M"], **options).rows()]


def test_accepted_phrases_are_references_too(tmp_path: Path) -> None:
    """By hand: B finds 2 of 2 references with 4 predictions in document 1, and nothing elsewhere.

    With graphs as a third reference 3 of 4 predictions are right. Undecided and refused phrases change nothing.
    """
    path = review(
        tmp_path,
        {"id": "1", "phrase": "graphs", "accept": True},
        {"id": "1", "phrase": "forests", "accept": None},
        {"id": 3, "phrase": "hive", "accept": False},
    )
    assert values() == pytest.approx([(2 / 4) / 3, (2 / 2) / 3])
    assert values(extra_references=path) == pytest.approx([(3 / 4) / 3, (3 / 3) / 3])


def test_extra_references_are_named_in_notes_and_signature(tmp_path: Path) -> None:
    path = review(tmp_path, {"id": "1", "phrase": "graphs", "accept": True}, {"id": "1", "phrase": "x", "accept": True})
    plain, more = karat.score(CORPUS, B), karat.score(CORPUS, B, extra_references=path)
    assert f"with 2 extra references for 1 document ({path})" in more.notes
    facts = {name: value for name, _, value in (part.partition("=") for part in more.signatures["karat"].split(","))}
    assert len(facts["extra"]) == 16
    assert more.signatures["karat"].replace(f",extra={facts['extra']}", "") == plain.signatures["karat"]
    other = review(tmp_path, {"id": "1", "phrase": "graph", "accept": True})
    assert facts["extra"] not in karat.score(CORPUS, B, extra_references=other).signatures["karat"]


def test_the_order_of_a_review_does_not_change_its_hash(tmp_path: Path) -> None:
    lines = [{"id": str(n), "phrase": phrase, "accept": True} for n in (1, 2, 3) for phrase in ("x", "y")]
    first = karat.score(CORPUS, B, extra_references=review(tmp_path, *lines)).signatures
    assert karat.score(CORPUS, B, extra_references=review(tmp_path, *reversed(lines))).signatures == first


def test_a_signature_with_extra_references_is_read_back(tmp_path: Path) -> None:
    path = review(tmp_path, {"id": "1", "phrase": "graphs", "accept": True})
    first = karat.score(CORPUS, B, extra_references=path)
    signature = first.signatures["karat"]
    assert karat.score(CORPUS, B, extra_references=path, protocol=signature).as_dict() == first.as_dict()
    assert "--extra-references gives them" in karat.score(CORPUS, B, protocol=signature).notes[0]


def test_a_review_that_accepts_nothing_changes_nothing(tmp_path: Path) -> None:
    path = review(tmp_path, {"id": "1", "phrase": "graphs", "accept": None})
    plain, same = karat.score(CORPUS, B), karat.score(CORPUS, B, extra_references=path)
    assert same.rows() == plain.rows()
    assert same.signatures == plain.signatures
    assert 'no phrase is accepted, so no reference is added; write "accept": true' in same.notes[0]


def test_extra_references_are_added_to_the_chosen_set(tmp_path: Path) -> None:
    sets = {"author": ["deep net"], "reader": ["tree"]}
    corpus = karat.Corpus.of([{"id": "1", "text": "x", "keyphrases": ["y"], "reference_sets": sets}])
    path = review(tmp_path, {"id": "1", "phrase": "graph", "accept": True})
    one = run("b", ["deep net", "graph"])
    assert values(corpus, one, references="author") == [1 / 2, 1.0]
    assert values(corpus, one, references="author", extra_references=path) == [1.0, 1.0]


def test_a_phrase_that_is_a_reference_already_is_not_added_again(tmp_path: Path) -> None:
    path = review(tmp_path, {"id": "1", "phrase": "tree", "accept": True})
    protocol = "karat,reference_duplicates=keep"
    assert values(protocol=protocol, extra_references=path) == values(protocol=protocol)


def test_documents_without_ids_are_named_by_their_line(tmp_path: Path) -> None:
    corpus = karat.Corpus.of([{"text": "x", "keyphrases": ["y"]}, {"text": "x", "keyphrases": ["y"]}])
    one = karat.Run.of([{"keyphrases": ["y"]}, {"keyphrases": ["z"]}], name="one")
    path = review(tmp_path, {"id": "2", "phrase": "z", "accept": True})
    assert values(corpus, one, extra_references=path) == [1.0, 3 / 4]


def test_shards_with_extra_references_are_merged(tmp_path: Path) -> None:
    path = review(tmp_path, *({"id": f"s{n:03}", "phrase": "grammar", "accept": True} for n in range(0, 40, 3)))
    options: dict[str, Any] = {"extra_references": path, "metrics": ["f1@5", "f1@M:absent"]}
    parts = [karat.score(*SYNTHETIC, shard=f"{i}/3", **options) for i in (1, 2, 3)]
    assert karat.merge(parts).as_dict() == karat.score(*SYNTHETIC, **options).as_dict()


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "tsv", "parquet", "jsonl.gz"])
def test_a_written_review_is_read_back_from_every_container(tmp_path: Path, suffix: str) -> None:
    from karat.formats.reviews import read_accepted, write_review

    phrases = ["deep nets", "=1+1", "'=x", "-omics", 'a "b", c', "'tis", "semi; colon"]
    rows = [{"id": "1", "phrase": phrase, "systems": ["a", "=b"], "accept": None} for phrase in phrases]
    path = tmp_path / f"review.{suffix}"
    if suffix in ("csv", "tsv"):
        write_review(path, rows)
        text = path.read_text()
        assert "\n1,=1" not in text
        mark = "\t" if suffix == "tsv" else ","
        header, *lines = text.splitlines()
        assert header.split(mark) == ["id", "phrase", "systems", "accept"]
        assert all(line.endswith(mark) for line in lines)
        path.write_text("\n".join([header, *(line + "yes" for line in lines)]) + "\n")
    else:
        write_review(path, [row | {"accept": True} for row in rows])
    assert read_accepted(path, {"1"}, "corpus").phrases == {"1": tuple(phrases)}


def test_a_review_without_phrases_is_a_table_with_a_header(tmp_path: Path) -> None:
    from karat.formats.reviews import read_accepted, write_review

    write_review(tmp_path / "review.csv", [])
    assert (tmp_path / "review.csv").read_text() == "id,phrase,systems,accept\n"
    assert read_accepted(tmp_path / "review.csv", set(), "corpus").phrases == {}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            '{"id": "1", "phrase": "x", "accept": true}\n{"id": "12", "phrase": "x", "accept": null}',
            ":2: there is no document '12' in memory; did you mean '1'",
        ),
        ('{"id": "1", "phrase": "x", "accept": true}\n{"id": "1", "phrase"', ":2: not JSON"),
        ('{"phrase": "x", "accept": true}', ":1: no id of a document; a line is {"),
        ('{"id": "1", "phrase": " ", "accept": true}', ":1: no phrase; a line is {"),
        ('{"id": "1", "phrase": ["x"], "accept": true}', ":1: no phrase; a line is {"),
        ('{"id": "1", "phrase": "x"}', ":1: no accept; a line is {"),
        ('{"id": "1", "phrase": "x", "accept": "maybe"}', ":1: accept is true, false or empty, not 'maybe'"),
        (
            '{"id": "1", "phrase": "x", "accept": true}\n\n{"id": "1", "phrase": "x", "accept": false}',
            ":3: 'x' is refused for document '1', but accepted on line 1; keep one",
        ),
        ("", "the file is empty"),
    ],
)
def test_what_a_review_cannot_say_is_an_error_with_its_line(tmp_path: Path, lines: str, said: str) -> None:
    path = tmp_path / "review.jsonl"
    path.write_text(lines)
    with pytest.raises(InputError) as error:
        karat.score(CORPUS, B, extra_references=path)
    assert said in str(error.value)


# ---------------------------------------------------------------------------------------------- what cannot be asked


@pytest.mark.parametrize(
    ("runs", "options", "said"),
    [
        ([A], {}, "an overlap is of two runs or more, not of 1"),
        ([A, B], {"empty": "zer"}, "unknown value of empty 'zer'; did you mean 'zero'?"),
        ([A, B], {"at_least": 3}, "at least 3 of 2 runs cannot have a phrase; write a number from 1 to 2"),
        ([A, B], {"k": -1.0}, "k is a number from 0 on, as 60, not -1"),
        ([A, B], {"k": float("nan")}, "k is a number from 0 on, as 60, not nan"),
        ([A, A], {}, "two runs are named 'a'"),
    ],
)
def test_what_cannot_be_asked_is_said(runs: list[karat.Run], options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        karat.overlap(CORPUS, *runs, **options)
    assert said in str(error.value)
