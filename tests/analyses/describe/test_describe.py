"""The portrait of small corpora, every figure of which is counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

import karat
import karat.corpus
from karat.protocol import PRESETS

# Stems: "bee swarm \n bee fli to the hive ." has 9 characters before the wall of 3, and 21 after it: 33 in all.
DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "a",
        "title": "Bee swarms",
        "text": "Bees fly to the hive.",
        "keyphrases": ["bee swarm", "bees", "hives", "hive", "fly bees", "bee keeping", "zoology"],
        "reference_sets": {"author": ["bees", "zoology"], "reader": ["hive"]},
    },
    {
        "id": "b",
        "title": "On zoology",
        "text": "Ants keep aphids.",
        "keyphrases": ["zoology", "ants", "bee swarm", "honey"],
        "reference_sets": {"author": ["ants"]},
    },
]
RUN = [
    {"id": "a", "keyphrases": ["bee", "bees", "honey bees", "wasps"]},
    {"id": "b", "keyphrases": ["aphid", "honey", "ants"]},
]


@pytest.fixture(scope="module")
def found() -> karat.Description:
    return karat.describe(karat.Corpus.of(DOCUMENTS), karat.Run.of(RUN))


@pytest.fixture(scope="module")
def rows(found: karat.Description) -> dict[str, dict[str, Any]]:
    return {row["system"] or row["references"]: row for row in found.rows()}


def test_references_are_counted_as_they_are_given(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["keyphrases"]
    assert (row["documents"], row["total"], row["phrases"]) == (2, 11, 5.5)
    # Present: bee swarm, bees, hives, hive; zoology, ants. `hive` repeats `hives`.
    assert (row["total_present"], row["present"], row["absent"]) == (6, 3.0, 2.5)
    assert row["repeats"] == 1 / 11
    assert row["words"] == 15 / 11
    # a: P 4, R fly bees, M bee keeping, U zoology; b: P 2, U bee swarm and honey.
    assert [row[name] for name in "PRMU"] == pytest.approx([(4 / 7 + 2 / 4) / 2, 1 / 14, 1 / 14, (1 / 7 + 2 / 4) / 2])
    assert [row[f"{name}_corpus"] for name in "PRMU"] == pytest.approx([6 / 11, 1 / 11, 1 / 11, 3 / 11])
    # Stems: 10 of a, of which keep and zoolog are unseen; 5 of b, of which bee, swarm and honey are.
    assert row["unseen_words"] == 5 / 15


def test_positions_are_fifths_of_the_stemmed_document(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["keyphrases"]
    # a: bee swarm 0, bee 0, hive 27 of 33, twice; b "on zoolog \n ant keep aphid ." zoolog 3, ant 12 of 28.
    assert row["positions"] == [3, 0, 1, 0, 2]
    assert [n for n, count in enumerate(row["curve"]) if count] == [0, 20 * 3 // 28, 20 * 12 // 28, 20 * 27 // 33]
    assert sum(row["curve"]) == 6
    assert (row["title_only"], row["text_only"], row["title_and_text"]) == (2 / 6, 3 / 6, 1 / 6)


def test_absent_references_are_looked_for_elsewhere(rows: dict[str, dict[str, Any]]) -> None:
    # Absent: fly bees, bee keeping, zoology; bee swarm, honey. zoology and bee swarm are present in the other one.
    assert rows["keyphrases"]["absent_present_elsewhere"] == 2 / 5
    assert rows["keyphrases"]["absent_in_other_texts"] == 2 / 5
    assert rows["keyphrases"]["types"] == 8
    assert rows["keyphrases"]["df"] == 10 / 8  # zoology and bee swarm are of both documents
    assert rows["keyphrases"]["df_occurrences"] == (4 * 2 + 7) / 11


def test_reference_sets_stand_side_by_side(rows: dict[str, dict[str, Any]]) -> None:
    assert list(rows) == ["keyphrases", "author", "reader", "run"]
    assert (rows["author"]["phrases"], rows["author"]["P_corpus"]) == (1.5, 2 / 3)
    assert (rows["reader"]["phrases"], rows["reader"]["empty"]) == (0.5, 1)


def test_a_run_is_described_and_compared_as_score_does(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["run"]
    assert (row["phrases"], row["present"], row["absent"], row["repeats"]) == (3.0, 1.5, 1.5, 1 / 7)
    # aphid stands at 21 of 28, ant at 12: the fourth part and the third.
    assert row["positions"] == [1, 0, 1, 1, 0]
    # Part 1: bee swarm, bees of a, zoology of b, of which bees is found; part 3: ants; part 5: hives, once.
    assert row["miss_rate"] == [pytest.approx(2 / 3), None, 0.0, None, 1.0]
    groups = {(group["by"], group["group"]): (group["count"], group["value"]) for group in row["groups"]}
    assert groups["words of a reference", "1"] == (6, 3 / 6)  # bees; ants, honey of bees, hives, zoology twice
    assert groups["words of a reference", "2"] == (4, 0.0)
    assert groups["class of a reference", "P"] == (5, 2 / 5)
    assert groups["class of a reference", "U"] == (3, 1 / 3)
    scores = karat.score(karat.Corpus.of(DOCUMENTS), karat.Run.of(RUN), metrics=["f1@M", "miss_rate/micro,part=1"])
    by_document = scores.scores[0].per_document()
    assert groups["references of a document", "up to 5"] == (1, pytest.approx(by_document[1]))
    assert groups["references of a document", "6 to 10"] == (1, pytest.approx(by_document[0]))
    assert scores.rows()[1]["value"] == row["miss_rate"][0]


def test_the_order_of_fields_is_that_of_the_contract(rows: dict[str, dict[str, Any]]) -> None:
    start = "corpus system documents phrases present absent words P R M U P_corpus R_corpus M_corpus U_corpus"
    for row in rows.values():
        names = [name for name in row if not name.endswith("_ci")]
        assert names[:17] == [*start.split(), "positions", "miss_rate"]


@pytest.mark.parametrize("protocol", sorted(name for name in PRESETS if PRESETS[name].matching.tokenizer != "nltk"))
def test_chunks_and_processes_change_nothing(protocol: str) -> None:
    corpus, run = karat.Corpus.of(DOCUMENTS), karat.Run.of(RUN)
    whole = karat.describe(corpus, run, protocol=protocol).as_dict()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(karat.corpus, "BATCH_DOCUMENTS", 1)
        assert karat.describe(corpus, run, protocol=protocol).as_dict() == whole
        if protocol == "karat":
            assert karat.describe(corpus, run, protocol=protocol, jobs=2).as_dict() == whole
    classes = karat.prmu(corpus, protocol)
    row = whole["rows"][0]
    if PRESETS[protocol].matching.blank_references == "drop":
        assert [row[name] for name in "PRMU"] == pytest.approx(list(classes["documents"].values()))
        assert [row[f"{name}_corpus"] for name in "PRMU"] == pytest.approx(list(classes["corpus"].values()))


def test_the_raw_length_shrinks_the_last_part() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "generalizations " * 9 + "bees", "keyphrases": ["bees"]}])
    # 9 stems of 5 letters, words of 15: `bee` stands at 54 of 57 letters, and 54 of 148 as they are given.
    for position, part in (("stems", 4), ("raw", 1)):
        [row] = karat.describe(corpus, protocol=f"karat,position={position}").rows()
        assert row["positions"] == [int(n == part) for n in range(5)]


def test_documents_that_are_there_twice_are_named() -> None:
    text = " ".join(f"word{n}" for n in range(60))
    changed = text.replace("word30", "other")
    documents = [{"id": "1", "text": text}, {"id": "2", "text": text.upper()}, {"id": "3", "text": changed}]
    documents += [{"id": "4", "text": "something else"}, {"id": "5", "text": ""}, {"id": "6", "text": ""}]
    found = karat.describe(karat.Corpus.of(documents))
    assert found.duplicates is not None
    assert found.duplicates.equal == (("1", "2"),)
    assert found.duplicates.near == (("1", "3"),)
    assert "1 document with the title and text of an earlier one, as 1 and 2" in found.warnings


def test_what_is_in_the_training_corpus_too_is_said() -> None:
    text = " ".join(f"word{n}" for n in range(60))
    train: list[dict[str, Any]] = [
        {"id": "t1", "title": "A study of bees", "text": "Others.", "keyphrases": ["Bees", "hive"]},
        {"id": "t2", "text": text},
        {"id": "t3", "title": "Bee swarms", "text": "bees fly to the hive ."},
    ]
    test: list[dict[str, Any]] = [
        DOCUMENTS[0],
        {"id": "c", "title": "A study of bees", "text": "No.", "keyphrases": ["honey"]},
        {"id": "d", "text": text.replace("word7", "x")},
        DOCUMENTS[1] | {"title": "Ants"},
    ]
    found = karat.describe(
        karat.Corpus.of(test), karat.Run.of([*RUN, {"id": "c"}, {"id": "d"}]), train=karat.Corpus.of(train, "train")
    )
    leaks = found.leaks
    assert leaks is not None
    assert (leaks.texts, leaks.titles, leaks.near) == ((("a", "t3"),), (("c", "t1"),), (("d", "t2"),))
    assert (leaks.leaked, leaks.documents) == (3, 3)
    assert leaks.references == 3 / 12  # bees, hives and hive
    assert leaks.types == 2 / 8
    assert [row["seen_in_training"] for row in found.rows()] == [3 / 12, 1 / 3, 1.0, 1 / 6]
    assert any(warning.startswith("in train too: 3 documents (75.0 %)") for warning in found.warnings)


def test_references_that_are_stemmed_or_joined_are_warned_of() -> None:
    text = "Discoveries of services are made in libraries by queries over policies and studies of applied theories."
    plain = ["discoveries", "services", "libraries", "queries", "policies", "studies"] * 4
    stemmed = ["discoveri", "servic", "librari", "queri", "polici", "studi"] * 4
    for phrases, warned in ((plain, False), (stemmed, True)):
        found = karat.describe(karat.Corpus.of([{"id": "1", "text": text, "keyphrases": phrases}]))
        assert any("stemmed already" in warning for warning in found.warnings) == warned
    verbatim = karat.describe(
        karat.Corpus.of([{"id": "1", "text": text, "keyphrases": stemmed}]), protocol="karat,references=stemmed"
    )
    assert not verbatim.warnings
    joined = [{"id": "1", "text": text, "keyphrases": ["a; b", "butadiene-1,3", "policy, applied"]}]
    warnings = karat.describe(karat.Corpus.of(joined)).warnings
    assert [warning.partition(", as ")[0] for warning in warnings] == ["1 reference with `;`", "1 reference with `,`"]


def test_the_language_of_the_texts_is_guessed_and_a_wrong_stemmer_warned_of() -> None:
    text = "Nous montrons que le coût de la recherche dans les textes est réduit par un index."
    corpus = karat.Corpus.of([{"id": "1", "text": text, "keyphrases": ["index"]}])
    found = karat.describe(corpus)
    assert found.texts.language == "french"
    [warning] = found.warnings
    assert warning == (
        "1 of 1 sampled documents of corpus look French, and are stemmed as English; "
        "--language french stems them as such"
    )
    assert karat.describe(corpus, language="french").warnings == ()


def test_what_is_missing_switches_off_what_needs_it() -> None:
    no_text = karat.describe(
        karat.Corpus.of([{"id": "1", "keyphrases": ["bees"]}]), karat.Run.of([{"id": "1", "keyphrases": ["bee"]}])
    )
    for row in no_text.rows():
        assert (row["phrases"], row["words"]) == (1.0, 1.0)
        assert all(
            row[name] is None for name in ("present", "absent", "P", "U_corpus", "positions", "curve", "miss_rate")
        )
    assert [group["by"] for group in no_text.rows()[1]["groups"]] == [
        "words of a reference",
        "references of a document",
    ]
    assert "no title and no text" in no_text.notes[0]
    no_references = karat.describe(
        karat.Corpus.of([{"id": "1", "text": "bees"}]), karat.Run.of([{"id": "1", "keyphrases": ["bee"]}])
    )
    [row] = no_references.rows()
    assert (row["system"], row["P"], row["miss_rate"], row["groups"]) == ("run", 1.0, None, None)
    some: list[dict[str, Any]] = [
        {"id": "1", "text": "bees", "keyphrases": ["bee"]},
        {"id": "2", "keyphrases": ["bee"]},
        {"id": "3", "text": "x"},
    ]
    found = karat.describe(karat.Corpus.of(some))
    assert (found.rows()[0]["P"], found.rows()[0]["present"]) == (1.0, 0.5)
    assert found.remarks == (
        "1 document without title and text, left out of present, absent, P, R, M, U and unseen words",
        "1 document without references",
    )


def test_a_document_that_a_run_lacks_can_be_left_out() -> None:
    found = karat.describe(karat.Corpus.of(DOCUMENTS), karat.Run.of(RUN[1:]), missing="skip")
    row = found.rows()[-1]
    assert (row["documents"], row["phrases"]) == (1, 3.0)
    assert row["miss_rate"] == [1.0, None, 0.0, None, None]


def test_nothing_to_describe_and_unknown_names_are_refused() -> None:
    with pytest.raises(karat.InputError, match="holds no document"):
        karat.describe(karat.Corpus.of([]))
    with pytest.raises(karat.InputError, match="nothing to describe"):
        karat.describe(karat.Corpus.of([{"id": "1"}]))
    with pytest.raises(karat.InputError, match="did you mean 'author'"):
        karat.describe(karat.Corpus.of(DOCUMENTS), references="autor")
    with pytest.raises(karat.InputError, match="training corpus holds no document"):
        karat.describe(karat.Corpus.of(DOCUMENTS), train=karat.Corpus.of([]))
    with pytest.raises(karat.InputError, match="no predictions for document 'a'"):
        karat.describe(karat.Corpus.of(DOCUMENTS), karat.Run.of([{"id": "x", "keyphrases": []}]))
