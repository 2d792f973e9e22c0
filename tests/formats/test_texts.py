"""Files that are one document each: docx, HTML, Markdown; what is text in them, and what they cannot do."""

from __future__ import annotations

import io
from pathlib import Path

import docx as python_docx
import pytest

import karat
from karat.corpus import Document
from karat.errors import InputError
from karat.formats import docx, folder, html
from karat.formats.archive import Archive
from karat.formats.texts import document_at
from tests.folders import WORD, bomb, docx_of, html_of, zip_of

# ---------------------------------------------------------------------------------------------- docx


def test_a_docx_file_of_another_program_has_its_paragraphs_and_tables_in_order() -> None:
    made = python_docx.Document()
    made.add_heading("Dances of bees", 0)
    made.add_paragraph("Honey bees ").add_run("dance").bold = True
    table = made.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "hive", "angle"
    made.add_paragraph("They tell\tof flowers.")
    out = io.BytesIO()
    made.save(out)
    assert docx.title_and_text(out.getvalue()) == (
        "Dances of bees",
        "Honey bees dance\nhive\nangle\nThey tell of flowers.",
    )
    theirs = [paragraph.text for paragraph in python_docx.Document(io.BytesIO(out.getvalue())).paragraphs]
    assert [line for line in docx.title_and_text(out.getvalue())[1].split("\n") if line not in ("hive", "angle")] == [
        " ".join(text.split()) for text in theirs[1:]
    ]


def test_the_title_is_that_of_the_properties_where_no_paragraph_is_one() -> None:
    made = python_docx.Document()
    made.core_properties.title = "Dances of bees"
    made.add_paragraph("Dances of bees")
    made.add_paragraph("They tell.")
    out = io.BytesIO()
    made.save(out)
    assert docx.title_and_text(out.getvalue()) == ("Dances of bees", "They tell.")


def test_inserted_text_and_text_boxes_are_text_and_deleted_text_is_not() -> None:
    body = (
        "<w:p><w:ins><w:r><w:t>Inserted</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>Deleted</w:delText></w:r></w:del></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>Controlled</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        '<w:p><w:r><mc:AlternateContent xmlns:mc="urn:mc"><mc:Choice>'
        "<w:txbxContent><w:p><w:r><w:t>Boxed</w:t></w:r></w:p>"
        "</w:txbxContent></mc:Choice><mc:Fallback><w:p><w:r><w:t>Boxed</w:t></w:r></w:p></mc:Fallback>"
        "</mc:AlternateContent><w:t>Around</w:t></w:r></w:p>"
        '<w:p><w:r><w:instrText>HYPERLINK "x"</w:instrText></w:r><w:r><w:t xml:space="preserve"> a </w:t></w:r></w:p>'
    )
    assert docx.title_and_text(docx_of("T", [], body)) == ("T", "Inserted\nControlled\nBoxed\nAround\na")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK\x03\x04 no zip", "this docx file cannot be read"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old", "an old format, or it is encrypted"),
        (zip_of({"a.xml": "<a/>"}), r"it has no word/document\.xml"),
        (zip_of({"word/document.xml": "<w:document"}), "this docx file:1: not XML"),
        (zip_of({"word/document.xml": f'<w:document xmlns:w="{WORD}"/>'}), "no text in this docx file"),
        (
            zip_of({"word/document.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}),
            "an entity is declared",
        ),
        (zip_of({f"{n}.xml": "" for n in range(11_000)}), "this docx file has more than 10,000 members"),
    ],
    ids=["no zip", "old", "other", "no xml", "empty", "entity", "members"],
)
def test_a_docx_file_that_cannot_be_read_is_one_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        docx.title_and_text(content)


def test_a_docx_file_is_not_unpacked_beyond_its_limit() -> None:
    small = bomb(3_000_000)
    with karat.limit(unpacked="2MB"), pytest.raises(InputError, match=r"unpacks to has more than 2 MB; .*unpacked=4MB"):
        docx.title_and_text(small)
    with pytest.raises(InputError, match="not XML"):  # below the limit it is read, and is no XML
        docx.title_and_text(small)


def test_a_docx_file_that_lies_about_its_size_is_not_unpacked_either() -> None:
    content = bytearray(docx_of("T", ["x" * 100_000]))
    size = len(f"<w:p><w:r><w:t>{'x' * 100_000}</w:t></w:r></w:p>")
    at = content.rfind(b"word/document.xml") - 46 + 24  # of the size in the directory at the end
    assert int.from_bytes(content[at : at + 4], "little") > size
    content[at : at + 4] = (100).to_bytes(4, "little")
    with pytest.raises(InputError, match=r"cannot be read|not XML"):
        docx.title_and_text(bytes(content))


# ---------------------------------------------------------------------------------------------- HTML


def test_scripts_styles_and_menus_of_a_page_are_no_text() -> None:
    title, text = html.title_and_text(html_of("Dances", ["We count bees.", "They tell."]))
    assert (title, text) == ("Dances", "We count bees.\nThey tell.")


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<p>a<br>b<div>c <b>d</b>e</div>", (None, "a\nb\nc de")),
        ("<title> A  title </title><h1>Another</h1>x", ("A title", "Another\nx")),
        ("<h1>Head</h1><p>x</p>", ("Head", "x")),
        ("<p>5 &lt; 6 &amp; &eacute;<!-- no --></p>", (None, "5 < 6 & é")),
        ("<p hidden>no</p><p>yes<template>no</template></p>", (None, "yes")),
        ("<table><tr><td>a</td><td>b</td></tr></table>", (None, "a\nb")),
        ("plain words", (None, "plain words")),
        (
            "<div>Press S</div><main><h1>Bees</h1><p>They dance in the hive.</p></main>",
            ("Bees", "They dance in the hive."),
        ),
        ("<main>Loading</main><p>Bees dance in the hive.</p>", (None, "Loading\nBees dance in the hive.")),
    ],
)
def test_a_page_is_read_as_it_is_seen(page: str, found: tuple[str | None, str]) -> None:
    assert html.title_and_text(page.encode()) == found


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ('<meta charset="iso-8859-1"><p>caf\xe9'.encode("latin-1"), "café"),
        ("<p>café".encode("utf-16"), "café"),
        ("<p>café".encode(), "café"),
        (b"<p>caf\xe9", "café"),
        ('<meta charset="no-such"><p>café'.encode(), "café"),
        ('<?xml version="1.0" encoding="utf-8"?><html><body><p>café</p></body></html>'.encode(), "café"),
    ],
)
def test_a_page_is_decoded_as_it_says(content: bytes, word: str) -> None:
    assert html.title_and_text(content)[1] == word


def test_a_page_that_is_nested_deeply_or_that_karat_wrote_is_harmless(tmp_path: Path) -> None:
    try:
        assert "x" in html.title_and_text(b"<div>" * 50_000 + b"x")[1]
    except InputError as error:
        assert "HTML" in str(error)  # noqa: PT017  which of the two depends on the library
    with pytest.raises(InputError, match="a page that karat wrote"):
        html.title_and_text(b'<meta name="generator" content="karat 1.0"><p>x')


# ---------------------------------------------------------------------------------------------- Markdown


def test_the_title_of_markdown_may_stand_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text('---\ntitle: "On bees"\ntags: [x]\n---\n\nThey fly.\n')
    assert document_at(str(path), "a") == Document(id="a", title="On bees", text="They fly.\n")
    path.write_text("---\nThey fly.\n")
    assert document_at(str(path), "a") == Document(id="a", title=None, text="---\nThey fly.\n")


# ---------------------------------------------------------------------------------------------- read once


def test_a_file_is_extracted_once_and_again_when_it_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def counted(content: bytes, kind: str) -> Archive:
        calls.append(kind)
        return Archive(content, kind)

    monkeypatch.setattr(docx, "Archive", counted)
    path = tmp_path / "a.docx"
    path.write_bytes(docx_of("A", ["one"]))
    (tmp_path / "b.docx").write_bytes(b"PK")
    for _ in range(3):
        assert [each.text for each in karat.read(tmp_path)] == ["one"]
    assert len(calls) == 2  # one for each file, the broken one too
    path.write_bytes(docx_of("A", ["another"]))
    assert [each.text for each in karat.read(tmp_path)] == ["another"]


# ---------------------------------------------------------------------------------------------- folders


def test_a_document_in_two_forms_is_one_and_read_from_the_plainest_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(docx_of("A", ["of the docx"]))
    (tmp_path / "a.txt").write_text("of the text")
    (tmp_path / "b.html").write_bytes(b"<script>x</script>")
    (tmp_path / "b.docx").write_bytes(docx_of("B", ["of the docx"]))
    corpus = karat.read(tmp_path)
    assert [(each.id, each.text) for each in corpus] == [("a", "of the text"), ("b", "of the docx")]
    assert corpus.notes == (
        "skipped 1 file that cannot be read, b.html: no text in this HTML; it may be filled by scripts in a browser",
        "left out 1 file of documents that are there in another form: a.docx",
    )


def test_references_in_a_tsv_file_stand_behind_their_uris(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "a.tsv").write_text("<http://x.org/1>\tbees\t0.9\n<http://x.org/2>\thives\n\nwax\t0.1\n")
    (tmp_path / "b.md").write_text("y")
    (tmp_path / "alone.tsv").write_text("<http://x.org/1>\tbees\n")
    corpus = karat.read(tmp_path)
    assert [(each.id, each.keyphrases) for each in corpus] == [("a", ["bees", "hives", "wax"]), ("b", None)]
    assert corpus.notes == ("left out 1 file of other kinds than documents (1 .tsv)",)


def test_texts_and_keys_apart_may_be_of_any_kind(tmp_path: Path) -> None:
    for name in ("docsutf8", "keys"):
        (tmp_path / name).mkdir()
    (tmp_path / "docsutf8" / "a.docx").write_bytes(docx_of("A", ["bees"]))
    (tmp_path / "keys" / "a.key").write_text("bees\n")
    (tmp_path / "keys" / "b.key").write_text("ants\n")
    for path in (tmp_path, f"{tmp_path}/docsutf8+{tmp_path}/keys"):
        corpus = karat.read(path)
        assert [(each.id, each.text, each.keyphrases) for each in corpus] == [("a", "bees", ["bees"])]
        assert corpus.notes == ("1 file of references without a document: b",)


def test_texts_without_references_among_texts_with_them_are_counted(tmp_path: Path) -> None:
    for name in ("a.txt", "info.txt", "README.md"):
        (tmp_path / name).write_text("bees")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-")  # a paper, of which a.txt is the text
    (tmp_path / "a.key").write_text("bees\n")
    corpus = karat.read(tmp_path)
    assert corpus.ids == ["a"]
    assert corpus.notes == (
        "left out what tells of the folder itself: README",
        "left out 1 text without references, as others have some",
        "left out 1 file of documents that are there in another form: a.pdf",
    )
    (tmp_path / "b.md").write_text("ants")
    assert karat.read(tmp_path).ids == ["a", "b", "info"]


def test_a_readme_is_a_document_only_where_it_is_alone_or_has_references(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Bees\nThey dance.")
    assert karat.read(tmp_path).ids == ["README"]
    (tmp_path / "a.md").write_text("ants")
    assert karat.read(tmp_path).ids == ["a"]
    (tmp_path / "README.key").write_text("bees\n")
    assert karat.read(tmp_path).ids == ["README", "a"]


def test_runs_and_catalogues_in_the_folder_are_no_documents(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "a.md").write_text("# Bees\nThey dance in the hive.")
    run = karat.predict(papers, "firstphrases", n=2)
    for name in ("run.jsonl", "k.csv", "k.xlsx", "k.bib", "k.ris", "k.jsonld"):
        karat.write(run, tmp_path / name, corpus=papers if name != "run.jsonl" else None)
        (tmp_path / name).rename(papers / name)
    assert karat.read(papers).ids == ["a"]


def test_nothing_is_written_into_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Bees dance.")
    (tmp_path / "a.key").write_text("bees\n")
    run = karat.predict(tmp_path, "firstphrases", n=2)
    with pytest.raises(InputError, match="which is an input; name a place outside of that folder"):
        karat.write(run, tmp_path / "run.jsonl", corpus=tmp_path)
    with pytest.raises(InputError, match="is one of the inputs, which are never overwritten"):
        karat.score(tmp_path, run).save(tmp_path / "a.key")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "Bees dance.", "a.key": "bees\n"}


def test_special_files_and_broken_links_of_a_folder_are_left_alone(tmp_path: Path) -> None:
    import os

    (tmp_path / "a.md").write_text("x")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "link.txt").symlink_to(tmp_path / "nothing")
    assert karat.read(tmp_path).ids == ["a"]


def test_one_document_is_a_corpus_with_the_id_that_it_has_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "A.Docx").write_bytes(docx_of("A", ["bees"]))
    assert karat.read(tmp_path / "A.Docx").ids == karat.read(tmp_path).ids == ["A"]
    assert folder.contents(str(tmp_path)).entries[0].id == "A"
