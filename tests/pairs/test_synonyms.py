"""Synonyms from WordNet: words change, keyphrases and forms stay, and the same seed gives the same text."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

import karat
from karat.corpus import Document
from karat.errors import InputError, MissingExtraError
from karat.pairs.reformulate import as_text, from_text
from karat.pairs.synonyms import read_thesaurus, reformulated, replaced

# The files of a small WordNet: word, part of speech, synsets, pointers, senses, tagged, offsets.
INDEX = {
    "noun": """
        automobile n 2 0 2 0 00000001 00000009
        car n 2 0 2 1 00000001 00000009
        jalopy n 1 0 1 0 00000001
        way n 2 0 2 1 00000002 00000003
        mode n 2 0 2 1 00000002 00000004
        city n 2 0 2 1 00000005 00000006
        metropolis n 2 0 2 1 00000005 00000007
    """,
    "verb": """
        show v 2 0 2 1 00000011 00000012
        exhibit v 2 0 2 1 00000011 00000013
        stop v 2 0 2 1 00000014 00000015
        halt v 2 0 2 1 00000014 00000016
        plan v 2 0 2 1 00000017 00000018
        design v 2 0 2 1 00000017 00000019
        carry v 2 0 2 1 00000020 00000021
        take v 2 0 2 1 00000020 00000022
    """,
    "adj": """
        quick a 2 0 2 1 00000031 00000032
        fast a 2 0 2 1 00000031 00000033
        early a 2 0 2 1 00000034 00000035
        untimely a 2 0 2 1 00000034 00000036
    """,
    "adv": "",
}
IRREGULAR = {
    "noun": "metropoleis metropolis",
    "verb": "stopped stop\nstopping stop\nplanned plan\nplanning plan\ntook take\ntaken take\ntaking take",
    "adj": "",
    "adv": "",
}


@pytest.fixture
def wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for part, lines in INDEX.items():
        (tmp_path / f"index.{part}").write_text("\n".join(line.strip() for line in lines.strip().splitlines()))
        (tmp_path / f"{part}.exc").write_text(IRREGULAR[part])
    monkeypatch.setenv("KARAT_WORDNET", str(tmp_path))
    return tmp_path


def all_of(text: str, *stay: str) -> str:
    """The text with every word replaced that can be."""
    return replaced([text], set(stay), 1.0, Random(0))[0]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A car stops.", "An automobile halts."),
        ("AN AUTOMOBILE, A CAR", "A CAR, AN AUTOMOBILE"),
        ("Cars and cities", "Automobiles and metropoleis"),
        ("It showed a way.", "It exhibited a mode."),
        ("He halted, halting.", "He stopped, stopping."),
        ("They designed it; designing", "They planned it; planning"),
        ("Showing it", "Exhibiting it"),
        ("A quick-witted car2 of the car's", "A quick-witted car2 of the car's"),
        ("It carried nothing", "It carried nothing"),  # took or taken: nobody can tell
        ("nothing of that kind", "nothing of that kind"),
        ("", ""),
    ],
)
def test_a_word_keeps_its_form_and_capitals_and_its_article_follows(text: str, wanted: str, wordnet: Path) -> None:
    assert all_of(text) == wanted


def test_a_rare_word_is_no_synonym(wordnet: Path) -> None:
    assert read_thesaurus(str(wordnet)).synonyms("car", "noun", "") == ["automobile"]  # not jalopy


def test_words_of_the_references_stay_whatever_their_form(wordnet: Path) -> None:
    document = Document(
        title="A car",
        text="Cars showed cities a way.",
        keyphrases=["city car", ["way"]],
        reference_sets={"reader": ["showing"]},
    )
    assert reformulated(document, "1", 1.0, 0) == document
    free = Document(title="A car", text="Cars showed cities a way.", keyphrases=["city"])
    found = reformulated(free, "1", 1.0, 0)
    assert (found.title, found.text) == ("An automobile", "Automobiles exhibited cities a mode.")
    assert found.keyphrases == ["city"]


def test_a_share_of_the_words_is_replaced_the_same_word_alike(wordnet: Path) -> None:
    text = "the car and city of a quick way; " * 2
    [found] = replaced([text], set(), 0.5, Random(1))
    once = found[: len(found) // 2]
    assert found == once * 2
    pairs = zip(text.split(), found.split(), strict=True)
    changed = {old for old, new in pairs if old != new} - {"a"}
    assert len(changed) == 2  # of car, city, quick and way
    assert changed <= {"car", "city", "quick", "way;"}


def test_the_outcome_depends_on_id_and_seed_and_on_nothing_else(wordnet: Path) -> None:
    documents = [{"id": f"d{n}", "text": "The car of the city shows a quick way."} for n in range(6)]
    first = karat.reformulate(karat.Corpus.of(documents), share=0.5, seed=3)
    other = karat.reformulate(karat.Corpus.of(reversed(documents)), share=0.5, seed=3)
    assert {each.id: each.text for each in first} == {each.id: each.text for each in other}
    assert len({each.text for each in first}) > 1
    again = karat.reformulate(karat.Corpus.of(documents), share=0.5, seed=4)
    assert [each.text for each in first] != [each.text for each in again]


def test_ids_are_new_and_references_are_kept(wordnet: Path) -> None:
    corpus = karat.Corpus.of(
        [
            {"id": 7, "title": "A car", "keyphrases": ["car"], "reference_sets": {"author": ["x"]}},
            {"id": "empty", "title": " ", "keyphrases": ["y"]},
        ]
    )
    found = karat.reformulate(corpus)
    [record] = found
    assert (record.id, record.source, record.method) == ("7~synonyms", "7", "synonyms")
    assert (record.keyphrases, record.reference_sets) == (["car"], {"author": ["x"]})
    assert found.notes == ("1 document without title and text left out",)
    assert [document.id for document in found.as_corpus()] == ["7~synonyms"]


def test_documents_without_ids_go_by_their_place(wordnet: Path) -> None:
    found = karat.reformulate(karat.Corpus.of([{"text": "A car."}, {"text": "A city."}]))
    assert found.pairs() == [{"a": "1", "b": "1~synonyms"}, {"a": "2", "b": "2~synonyms"}]


@pytest.mark.parametrize(
    ("documents", "why"),
    [
        ([{"id": "1", "keyphrases": ["x"]}], "no document has a title or a text"),
        ([{"id": "1", "text": "a"}, {"id": 1, "text": "b"}], "id '1' is on line 1 and on line 2"),
        ([{"id": "1", "text": "a"}, {"id": "1~synonyms", "text": "b"}], "has a document '1~synonyms' already"),
    ],
)
def test_what_cannot_be_reformulated_is_named(documents: list[dict[str, object]], why: str, wordnet: Path) -> None:
    with pytest.raises(InputError, match=why):
        karat.reformulate(karat.Corpus.of(documents))


def test_an_unknown_method_is_named_with_what_is_near() -> None:
    with pytest.raises(InputError, match="unknown value of via 'synonym'; did you mean 'synonyms'"):
        karat.reformulate(karat.Corpus.of([{"text": "a"}]), "synonym")  # type: ignore[arg-type]


def test_a_missing_wordnet_is_one_line_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_WORDNET", str(tmp_path / "nowhere"))
    with pytest.raises(MissingExtraError, match="apt install wordnet-base"):
        karat.reformulate(karat.Corpus.of([{"text": "A car."}]))


def test_files_are_written_whole(wordnet: Path, tmp_path: Path) -> None:
    found = karat.reformulate(karat.Corpus.of([{"id": "1", "text": "A car."}]), share=1.0)
    found.save(tmp_path / "new.jsonl", tmp_path / "pairs.jsonl")
    assert json.loads((tmp_path / "new.jsonl").read_text()) == {
        "id": "1~synonyms",
        "source": "1",
        "method": "synonyms",
        "text": "An automobile.",
    }
    assert json.loads((tmp_path / "pairs.jsonl").read_text()) == {"a": "1", "b": "1~synonyms"}


@pytest.mark.parametrize(
    ("title", "text", "answer", "wanted"),
    [
        ("T", "B", "New\n\nBody\n\nMore", ("New", "Body\n\nMore")),
        ("T", "B", "New\nBody", ("New", "Body")),
        ("T", "B", "Only one line", (None, "Only one line")),
        ("T", None, "New\ntitle", ("New title", None)),
        (None, "B", "One\n\nTwo", (None, "One\n\nTwo")),
    ],
)
def test_a_title_is_the_first_line(
    title: str | None, text: str | None, answer: str, wanted: tuple[str | None, str | None]
) -> None:
    assert from_text(answer, Document(title=title, text=text)) == wanted


def test_half_a_character_does_not_stop_anything() -> None:
    assert as_text(Document(title="half \ud800", text="text")) == "half ?\n\ntext"
