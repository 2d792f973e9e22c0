"""What keyphrases are predicted for: texts, PDFs, folders and corpora."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from karat.corpus import Document
from karat.errors import InputError
from karat.formats.pdf import put_together, title_and_text, without_running_heads
from karat.models.documents import documents_at
from tests.models.papers import encrypted, pdf_of

PAGES = [
    [
        "Journal of Bees 12",
        "On the Dances of Bees",
        "Anna Apis",
        "We study how bees tell each other where the flow-",
        "1",
    ],
    [
        "Journal of Bees 13",
        "ers are, by dances that have a well-known form in",
        "every hive of a region, as others have shown",
        "2",
    ],
    [
        "Journal of Bees 14",
        "before us in this well-known journal of insects.",
        "The dances differ from hive to hive in the angle.",
        "3",
    ],
]


def documents(path: Path) -> list[Document]:
    return list(documents_at(path))


def test_a_text_is_one_document_named_after_its_file(tmp_path: Path) -> None:
    (tmp_path / "bees.txt").write_text("Bees fly.\nThey sing: {x}.\n")
    assert documents(tmp_path / "bees.txt") == [Document(id="bees", text="Bees fly.\nThey sing: {x}.\n")]
    assert documents_at(tmp_path / "bees.txt").name == "bees"
    (tmp_path / "bees.txt.gz").write_bytes(gzip.compress(b"Bees fly."))
    assert documents(tmp_path / "bees.txt.gz") == [Document(id="bees", text="Bees fly.")]
    (tmp_path / "README").write_text("Bees fly.")
    assert documents(tmp_path / "README") == [Document(id="README", text="Bees fly.")]


def test_a_heading_that_opens_markdown_is_the_title(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# On bees #\n\nThey fly.\n")
    (tmp_path / "b.md").write_text("They fly.\n\n# Late\n")
    assert documents(tmp_path / "a.md") == [Document(id="a", title="On bees", text="They fly.\n")]
    assert documents(tmp_path / "b.md")[0].title is None


def test_a_file_of_zero_bytes_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"MZ\0\0")
    with pytest.raises(InputError, match=r"a\.txt: is not a text"):
        documents(tmp_path / "a.txt")


def test_sentences_of_tagged_words_make_a_corpus_without_title_and_text(tmp_path: Path) -> None:
    line = json.dumps({"id": "d1", "sentences": [[["Bees", "NNS"], ["fly", "VBP"]]]})
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(line.encode() + b"\n"))
    assert documents(tmp_path / "c.jsonl.gz") == [Document(id="d1", sentences=[[("Bees", "NNS"), ("fly", "VBP")]])]


def test_a_pdf_has_its_title_and_text_without_running_heads_and_parted_words(tmp_path: Path) -> None:
    (tmp_path / "p.pdf").write_bytes(pdf_of(PAGES))
    [document] = documents(tmp_path / "p.pdf")
    assert (document.id, document.title) == ("p", "On the Dances of Bees")
    assert document.text == (
        "Anna Apis\n\nWe study how bees tell each other where the flowers are, by dances that have a well-known form "
        "in every hive of a region, as others have shown before us in this well-known journal of insects. "
        "The dances differ from hive to hive in the angle."
    )


def test_the_title_that_a_pdf_tells_is_taken_unless_it_is_the_name_of_a_file() -> None:
    page = [["Dances of bees", "Bees dance in the hive and tell of flowers."]]
    title, text = title_and_text(pdf_of(page, "Dances of bees"))
    assert (title, text) == ("Dances of bees", "Bees dance in the hive and tell of flowers.")
    for useless in ("paper.tex", "Microsoft Word - final.doc", "untitled"):
        assert title_and_text(pdf_of([["On Hives", "They are built of wax by bees."]], useless))[0] == "On Hives"
    assert title_and_text(pdf_of([["a sentence that goes on", "over two lines."]]))[0] is None


def test_a_pdf_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    found = {
        "locked.pdf": (encrypted(pdf_of(PAGES)), "encrypted"),
        "scan.pdf": (pdf_of([[], []]), "no text in this PDF"),
        "cut.pdf": (b"%PDF-1.4\n1 0 obj\n", "cannot be read"),
    }
    for name, (content, why) in found.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=rf"{name}: .*{why}"):
            documents(tmp_path / name)


def test_what_is_repeated_inside_pages_stays_and_so_does_what_two_pages_share() -> None:
    pages = [[letter, "7", "Theorem", letter, letter, "end"] for letter in "ABC"]
    assert without_running_heads(pages) == [[letter, "Theorem", letter, letter] for letter in "ABC"]
    assert without_running_heads([["1", "Alone on a page"]]) == [["1", "Alone on a page"]]
    two = [["Bees", *"abcd"], ["Bees", *"efgh"]]
    assert without_running_heads(two) == two


def test_a_hyphen_stays_before_a_capital_and_where_the_word_has_it_elsewhere() -> None:
    lines = ["the Bose-", "Einstein state and a co-", "operation of co-operation", "net-", "works"]
    assert put_together(lines) == "the Bose-Einstein state and a co-operation of co-operation networks"


def test_a_folder_of_files_is_a_corpus_whose_ids_are_places_without_the_suffix(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.txt").write_text("Bees.")
    (tmp_path / "a.pdf").write_bytes(pdf_of([["On Wasps", "Wasps fly over the fields."]]))
    (tmp_path / "sub" / "c.jsonl").write_text('{"id": "x", "text": "Ants."}\n{"text": "Moths."}\n')
    (tmp_path / "sub" / "d.md").write_text("# Gnats\nThey bite.")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / ".hidden.txt").write_text("no")
    for name in ("run.jsonl", "old.jsonl"):
        (tmp_path / name).write_text('{"id": "b.txt", "text": "", "keyphrases": ["bees"]}\n')
    given = documents_at(tmp_path)
    assert [(each.id, each.title, each.text) for each in given] == [
        ("a", "On Wasps", "Wasps fly over the fields."),
        ("b", None, "Bees."),
        ("sub/c.jsonl#x", None, "Ants."),
        ("sub/c.jsonl#2", None, "Moths."),
        ("sub/d", "Gnats", "They bite."),
    ]
    assert given.ids == [each.id for each in given]
    assert given.notes == ("left out 3 files of other kinds than documents (2 .jsonl, 1 .png)",)


def test_a_folder_in_a_format_of_the_field_is_still_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "C-1.txt").write_text("Bees fly.")
    (tmp_path / "C-1.key").write_text("bees\n")
    assert documents(tmp_path) == [Document(id="C-1", text="Bees fly.", keyphrases=["bees"])]


def test_a_folder_without_documents_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    with pytest.raises(InputError, match=r"no documents there \(files that end in \.txt"):
        documents_at(tmp_path)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.jsonl: there is no such file"):
        documents_at(tmp_path / "nothing.jsonl")
