"""Folders of texts and phrases become documents and predictions, and are written again."""

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

TEXT = "Swarms of Honey Bees\n\nBees are a swarm — sometimes.\r\n"
KEYS = "honey bees\nswarm \r\n\nbees\n"
PHRASES = ["honey bees", "swarm", "", "bees"]


def documents(path: str | Path) -> list[Document]:
    return [made for batch in folder.FORMAT.corpus(str(path))() for made in batch.records()]  # type: ignore[misc]


def predictions(path: str | Path) -> list[Prediction]:
    return [made for batch in folder.FORMAT.run(str(path))() for made in batch.records()]  # type: ignore[misc]


def fits(path: str | Path) -> bool:
    return folder.FORMAT.fits(Head(str(path)))


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())


def side_by_side(path: Path) -> Path:
    for name in ("art-1", "news/art.2"):
        write(path / f"{name}.txt", TEXT)
        write(path / f"{name}.key", KEYS)
    write(path / "README.txt", "About this collection")
    return path


def apart(path: Path, texts: str = "docsutf8") -> Path:
    for name in ("1", "10"):
        write(path / texts / f"{name}.txt", TEXT)
        write(path / "keys" / f"{name}.key", KEYS)
    write(path / "language.txt", "EN")
    return path


# ---------------------------------------------------------------------------------------------- reading


def test_texts_and_phrases_side_by_side_are_a_corpus_with_places_as_ids(tmp_path: Path) -> None:
    path = side_by_side(tmp_path)

    assert documents(path) == [
        Document(id="art-1", text=TEXT, keyphrases=[*PHRASES]),
        Document(id="news/art.2", text=TEXT, keyphrases=[*PHRASES]),
    ]
    assert fits(path)


@pytest.mark.parametrize("texts", ["docsutf8", "docs", "texts"])
def test_texts_and_phrases_in_two_folders_below_are_a_corpus(tmp_path: Path, texts: str) -> None:
    path = apart(tmp_path, texts)

    assert documents(path) == [
        Document(id="1", text=TEXT, keyphrases=[*PHRASES]),
        Document(id="10", text=TEXT, keyphrases=[*PHRASES]),
    ]
    assert fits(path)


def test_two_folders_are_joined_by_a_plus(tmp_path: Path) -> None:
    path = apart(tmp_path)
    pair = f"{path}/docsutf8+{path}/keys"

    assert documents(pair) == documents(path)
    assert predictions(pair) == predictions(path)
    assert fits(pair)


def test_phrases_alone_are_a_run_or_a_corpus_without_texts(tmp_path: Path) -> None:
    path = apart(tmp_path) / "keys"

    assert predictions(path) == [Prediction(id="1", keyphrases=[*PHRASES]), Prediction(id="10", keyphrases=[*PHRASES])]
    assert documents(path) == [Document(id="1", keyphrases=[*PHRASES]), Document(id="10", keyphrases=[*PHRASES])]
    assert fits(path)


def test_texts_alone_are_a_corpus_without_references(tmp_path: Path) -> None:
    path = apart(tmp_path) / "docsutf8"

    assert documents(path) == [Document(id="1", text=TEXT), Document(id="10", text=TEXT)]
    assert fits(path)


def test_a_byte_order_mark_is_no_text_and_hidden_files_are_not_read(tmp_path: Path) -> None:
    write(tmp_path / "1.txt", "\ufeffBees")
    write(tmp_path / "1.key", "\ufeffbees")
    for name in (".2.key", ".git/3.key", ".key"):
        write(tmp_path / name, "hidden")

    assert documents(tmp_path) == [Document(id="1", text="Bees", keyphrases=["bees"])]


# ---------------------------------------------------------------------------------------------- telling it


def test_no_other_format_takes_it_and_it_takes_no_other(tmp_path: Path) -> None:
    path = apart(tmp_path)
    pair = f"{path}/docsutf8+{path}/keys"
    for other in (ake, hulth, semeval):
        assert not any(other.FORMAT.fits(Head(str(where))) for where in (path, path / "keys", pair))
    assert not fits(f"{path}/docsutf8+{path}/keys/1.key")
    assert not fits(path / "keys" / "1.key")
    for name in ("a.abstr", "a.txt.final"):
        write(path / name, "a\n")
        assert not fits(path)
        (path / name).unlink()


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("suffix", ["txt", "key"])
def test_a_byte_that_is_not_utf8_is_named_with_its_place(tmp_path: Path, suffix: str) -> None:
    path = side_by_side(tmp_path)
    (path / f"art-1.{suffix}").write_bytes(b"caf\xc3\xa9\ncaf\xe9\n")

    with pytest.raises(InputError, match=rf"art-1\.{suffix}:2: not UTF-8 at byte 4 \(0xe9\)"):
        documents(path)


def test_phrases_without_their_text_are_an_error(tmp_path: Path) -> None:
    path = side_by_side(tmp_path)
    (path / "art-1.txt").unlink()

    with pytest.raises(InputError, match=r"there are keyphrases of 'art-1', but no art-1\.txt"):
        documents(path)


def test_folders_without_such_files_are_errors(tmp_path: Path) -> None:
    path = apart(tmp_path / "here")
    (tmp_path / "empty").mkdir()

    with pytest.raises(InputError, match="no documents there"):
        documents(tmp_path / "empty")
    with pytest.raises(InputError, match="no documents there"):
        documents(f"{tmp_path}/empty+{path}/keys")
    with pytest.raises(InputError, match="no documents there"):
        predictions(tmp_path / "empty")
    with pytest.raises(InputError, match="there is no such folder"):
        documents(tmp_path / "nowhere")
    with pytest.raises(InputError, match="give two folders"):
        documents(f"{path}/a+{path}/b+{path}/c")


# ---------------------------------------------------------------------------------------------- writing

ids = st.text(
    st.characters(codec="utf-8", exclude_characters="/\\.\0", exclude_categories=("Cc", "Zl", "Zp")),
    min_size=1,
    max_size=10,
)
phrases = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\ufeff"), max_size=12).map(str.strip)
texts = st.text(st.characters(codec="utf-8"), max_size=60).filter(lambda text: not text.startswith("\ufeff"))
corpora = st.dictionaries(ids, st.tuples(texts, st.lists(phrases, max_size=5)), min_size=1, max_size=4)


@given(corpora)
def test_a_written_folder_reads_as_it_was(tmp_path_factory: pytest.TempPathFactory, held: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("folder") / "written"
    made = [Document(id=name, text=text, keyphrases=found) for name, (text, found) in held.items()]
    folder.save_corpus(str(path), iter(made))

    assert {document.id: document for document in documents(path)} == {document.id: document for document in made}
    assert fits(path)


@given(st.dictionaries(ids, st.lists(phrases, max_size=5), min_size=1, max_size=4))
def test_a_written_run_reads_as_it_was(tmp_path_factory: pytest.TempPathFactory, held: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("folder") / "written"
    folder.save_run(str(path), (Prediction(id=name, keyphrases=found) for name, found in held.items()))

    assert {made.id: made.keyphrases for made in predictions(path)} == held
    assert fits(path)


def test_odd_documents_are_written(tmp_path: Path) -> None:
    odd = [Document(), Document(title="not held", text="a", keyphrases=["a\r\nb", None, ["c", "d"], []])]
    folder.save_corpus(str(tmp_path / "written"), odd)

    assert documents(tmp_path / "written") == [
        Document(id="00000001", text="", keyphrases=[]),
        Document(id="00000002", text="a", keyphrases=["a b", "", "c", ""]),
    ]


def test_a_folder_that_is_there_is_not_touched(tmp_path: Path) -> None:
    path = side_by_side(tmp_path)

    with pytest.raises(InputError, match="is there already"):
        folder.save_corpus(str(path), [Document(id="1")])
    assert len(documents(path)) == 2


@pytest.mark.parametrize("name", ["", "news/art", "..", "a\\b", ".a", "a\0", "x" * 300])
def test_an_id_that_cannot_be_a_file_name_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        folder.save_corpus(str(tmp_path / "written"), [Document(id="a"), Document(id=name)])
    with pytest.raises(InputError):
        folder.save_run(str(tmp_path / "written"), [Prediction(id=name)])
    assert list(tmp_path.iterdir()) == []


def test_two_documents_with_one_id_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"7\.txt: would be written twice"):
        folder.save_corpus(str(tmp_path / "written"), [Document(id="7"), Document(id=7)])
    assert list(tmp_path.iterdir()) == []


def test_a_line_break_in_the_name_of_a_file_is_shown_and_to_be_removed(tmp_path: Path) -> None:
    (tmp_path / "a\nb.key").write_text("swarm\n")

    for read in (documents, predictions):
        with pytest.raises(InputError) as caught:
            read(tmp_path)
        assert str(caught.value) == rf"{tmp_path}: the name of the file 'a\nb.key' has a line break; rename it"
