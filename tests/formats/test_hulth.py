"""Hulth's Inspec folders become documents and predictions, and are written again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.formats import ake, folder, hulth, semeval
from karat.formats.head import Head

# As in the collection: lines end in CR LF, a line that goes on begins with a tab, within a phrase too.
ABSTRACT = (
    b"A survey of swarms of honey bees, and of what people\r\n\tsay about them\r\n"
    b"This paper looks at honey bees. It finds that many\r\n\tbees are a swarm. In 3 of 4 years\r\n"
    b"\tthere were hives\r\n"
)
UNCONTR = b"honey bees; swarm\r\n\tintelligence; bee hives\r\n"
CONTR = b"entomology; insects\r\n"
TITLE = "A survey of swarms of honey bees, and of what people say about them"
TEXT = "This paper looks at honey bees. It finds that many bees are a swarm. In 3 of 4 years there were hives"
FREE, CONTROLLED = ["honey bees", "swarm intelligence", "bee hives"], ["entomology", "insects"]


def documents(path: str | Path) -> list[Document]:
    return [document for batch in hulth.FORMAT.corpus(str(path))() for document in batch.records()]  # type: ignore[misc]


def predictions(path: str | Path) -> list[Prediction]:
    return [made for batch in hulth.FORMAT.run(str(path))() for made in batch.records()]  # type: ignore[misc]


def fits(path: str | Path) -> bool:
    return hulth.FORMAT.fits(Head(str(path)))


def document(folder: Path, name: str, **files: bytes) -> None:
    folder.mkdir(exist_ok=True)
    for suffix, content in ({"abstr": ABSTRACT, "uncontr": UNCONTR, "contr": CONTR} | files).items():
        (folder / f"{name}.{suffix}").write_bytes(content)


# ---------------------------------------------------------------------------------------------- reading


def test_a_folder_has_titles_texts_and_two_sets_of_which_the_free_one_is_the_keyphrases(tmp_path: Path) -> None:
    document(tmp_path, "193")
    document(tmp_path, "1930")

    assert documents(tmp_path) == [
        Document(
            id=name,
            title=TITLE,
            text=TEXT,
            keyphrases=[*FREE],
            reference_sets={"uncontr": [*FREE], "contr": [*CONTROLLED]},
        )
        for name in ("193", "1930")
    ]
    assert fits(tmp_path)


def test_a_folder_of_folders_is_read_whole_with_ids_that_tell_the_folder(tmp_path: Path) -> None:
    for name in ("Training", "Validation", "Test"):
        document(tmp_path / name, "7")

    assert [made.id for made in documents(tmp_path)] == ["Test/7", "Training/7", "Validation/7"]
    assert [made.id for made in documents(tmp_path / "Test")] == ["7"]
    assert fits(tmp_path)


def test_an_abstract_may_have_paragraphs_and_lines_that_end_in_lf(tmp_path: Path) -> None:
    document(tmp_path, "1", abstr=b"Bees\nOne.\n\tTwo.\nThree.")

    assert [(made.title, made.text) for made in documents(tmp_path)] == [("Bees", "One. Two.\nThree.")]


def test_a_title_alone_and_an_empty_abstract_are_read(tmp_path: Path) -> None:
    document(tmp_path, "1", abstr=b"Bees")
    document(tmp_path, "2", abstr=b"")

    assert [(made.title, made.text) for made in documents(tmp_path)] == [("Bees", ""), ("", "")]


def test_blank_phrases_are_kept(tmp_path: Path) -> None:
    document(tmp_path, "1", uncontr=b"a;; b;", contr=b"")

    assert [made.reference_sets for made in documents(tmp_path)] == [{"uncontr": ["a", "", "b", ""], "contr": []}]


def test_without_controlled_phrases_there_are_keyphrases_and_no_sets(tmp_path: Path) -> None:
    document(tmp_path, "1")
    (tmp_path / "1.contr").unlink()

    assert [(made.keyphrases, made.reference_sets) for made in documents(tmp_path)] == [(FREE, None)]


def test_without_free_phrases_there_is_the_other_set(tmp_path: Path) -> None:
    document(tmp_path, "1")
    (tmp_path / "1.uncontr").unlink()

    assert [(made.keyphrases, made.reference_sets) for made in documents(tmp_path)] == [(None, {"contr": CONTROLLED})]


def test_abstracts_alone_are_a_corpus_without_references(tmp_path: Path) -> None:
    (tmp_path / "1.abstr").write_bytes(ABSTRACT)

    assert documents(tmp_path) == [Document(id="1", title=TITLE, text=TEXT)]


def test_free_phrases_alone_are_a_run_or_a_corpus_without_texts(tmp_path: Path) -> None:
    (tmp_path / "1.uncontr").write_bytes(UNCONTR)

    assert predictions(tmp_path) == [Prediction(id="1", keyphrases=[*FREE])]
    assert documents(tmp_path) == [Document(id="1", keyphrases=[*FREE])]
    assert fits(tmp_path)


# ---------------------------------------------------------------------------------------------- telling it


def test_no_other_folder_format_takes_it_and_it_takes_no_other(tmp_path: Path) -> None:
    document(tmp_path, "1")
    for other in (ake, folder, semeval):
        assert not other.FORMAT.fits(Head(str(tmp_path)))
    for name in ("C-1.txt.final", "1.key"):
        (tmp_path / name).write_text("a\n")
        assert not fits(tmp_path)
        (tmp_path / name).unlink()
    (tmp_path / "lines.txt").write_text("C-1 : a\n")

    assert not fits(tmp_path / "lines.txt")


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("suffix", ["abstr", "uncontr", "contr"])
def test_a_byte_that_is_not_utf8_is_named_with_its_place(tmp_path: Path, suffix: str) -> None:
    document(tmp_path, "1", **{suffix: b"caf\xc3\xa9\r\n\tcaf\xe9\r\n"})

    with pytest.raises(InputError, match=rf"1\.{suffix}:2: not UTF-8 at byte 5 \(0xe9\)"):
        documents(tmp_path)


def test_phrases_without_their_abstract_are_an_error(tmp_path: Path) -> None:
    document(tmp_path, "1")
    document(tmp_path, "2")
    (tmp_path / "2.abstr").unlink()

    with pytest.raises(InputError, match=r"there are keyphrases of '2', but no 2\.abstr"):
        documents(tmp_path)


def test_a_folder_without_such_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no documents there"):
        documents(tmp_path)
    with pytest.raises(InputError, match="no documents there"):
        predictions(tmp_path)
    with pytest.raises(InputError, match="there is no such folder"):
        documents(tmp_path / "nowhere")


# ---------------------------------------------------------------------------------------------- writing

ids = st.text(
    st.characters(codec="utf-8", exclude_characters="/\\.\0", exclude_categories=("Cc", "Zl", "Zp")),
    min_size=1,
    max_size=10,
)
letters = st.characters(codec="utf-8", categories=("L", "N", "P", "S"), exclude_characters=";")
words = st.lists(st.text(letters, min_size=1, max_size=6), min_size=1, max_size=5).map(" ".join)
references = st.lists(words, max_size=5)
texts = st.lists(words, max_size=4).map("\n".join)


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    made = []
    for name in draw(st.lists(ids, min_size=1, max_size=4, unique=True)):
        free, controlled = draw(references), draw(references)
        sets = draw(st.sampled_from([None, {"uncontr": free, "contr": controlled}]))
        made.append(
            Document(
                id=name,
                title=draw(st.just("") | words),
                text=draw(texts),
                keyphrases=free,  # type: ignore[arg-type]
                reference_sets=sets,  # type: ignore[arg-type]
            )
        )
    return made


def same(made: Document) -> tuple[Any, ...]:
    return made.id, made.title or "", made.text or "", made.keyphrases or [], made.reference_sets or {}


@given(corpora())
def test_a_written_folder_reads_as_it_was(tmp_path_factory: pytest.TempPathFactory, corpus: list[Document]) -> None:
    path = tmp_path_factory.mktemp("hulth") / "written"
    hulth.save_corpus(str(path), iter(corpus))

    assert {made.id: same(made) for made in documents(path)} == {made.id: same(made) for made in corpus}
    assert fits(path)


@given(st.dictionaries(ids, references, min_size=1, max_size=4))
def test_a_written_run_reads_as_it_was(tmp_path_factory: pytest.TempPathFactory, held: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("hulth") / "written"
    hulth.save_run(str(path), (Prediction(id=name, keyphrases=found) for name, found in held.items()))

    assert {made.id: made.keyphrases for made in predictions(path)} == held
    assert fits(path)


def test_odd_documents_are_written(tmp_path: Path) -> None:
    odd = [
        Document(),
        Document(title="a\r\nb", keyphrases=["a", None, ["b", "c"]]),
        Document(text="a\r\nb", reference_sets={"contr": ["x"]}),
    ]
    hulth.save_corpus(str(tmp_path / "written"), odd)

    assert documents(tmp_path / "written") == [
        Document(id="00000001", title="", text="", keyphrases=[]),
        Document(id="00000002", title="a b", text="", keyphrases=["a", "", "b"]),
        Document(id="00000003", title="", text="a\nb", reference_sets={"contr": ["x"]}),
    ]


@pytest.mark.parametrize("name", ["", "Test/193", "..\\a", ".a", "a\0"])
def test_an_id_that_could_be_a_path_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of a file"):
        hulth.save_corpus(str(tmp_path / "written"), [Document(id="a"), Document(id=name)])
    with pytest.raises(InputError, match="cannot be the name of a file"):
        hulth.save_run(str(tmp_path / "written"), [Prediction(id=name)])
    assert list(tmp_path.iterdir()) == []


def test_two_documents_with_one_id_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"7\.abstr: would be written twice"):
        hulth.save_corpus(str(tmp_path / "written"), [Document(id="7"), Document(id=7)])
    assert list(tmp_path.iterdir()) == []
