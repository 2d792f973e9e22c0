"""Chan's parallel text files become documents and predictions, a line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.formats import read, read_run


def documents_of(folder: Path, source: str, target: str) -> list[Document]:
    (folder / "test_src.txt").write_text(source, encoding="utf-8")
    (folder / "test_trg.txt").write_text(target, encoding="utf-8")
    return list(read(f"{folder}/test_src.txt+{folder}/test_trg.txt"))


def predictions_of(folder: Path, content: str) -> list[Prediction]:
    path = folder / "pred.txt"
    path.write_text(content, encoding="utf-8")
    return list(read_run(path, format="chan"))


# ---------------------------------------------------------------------------------------------- corpora


def test_two_files_make_a_corpus_line_by_line(tmp_path: Path) -> None:
    documents = documents_of(
        tmp_path,
        "deep nets <eos> we train deep nets .\nbees <eos> a swarm .\n",
        "deep nets;training\nswarm\n",
    )

    assert documents == [
        Document(title="deep nets", text="we train deep nets .", keyphrases=["deep nets", "training"]),
        Document(title="bees", text="a swarm .", keyphrases=["swarm"]),
    ]


def test_lines_have_no_ids_but_places(tmp_path: Path) -> None:
    documents_of(tmp_path, "a\nb\n", "x\ny\n")
    corpus = read(f"{tmp_path}/test_src.txt+{tmp_path}/test_trg.txt")

    assert corpus.ids == [None, None]
    assert corpus.name == "test_src"
    assert [place for batch in corpus.batches() for place in batch.places] == [1, 2]


def test_only_the_first_eos_ends_the_title(tmp_path: Path) -> None:
    (document,) = documents_of(tmp_path, "one <eos> two <eos> three", "x")

    assert (document.title, document.text) == ("one", "two <eos> three")


def test_a_line_without_eos_is_text_without_title(tmp_path: Path) -> None:
    (document,) = documents_of(tmp_path, "all of it is text\n", "x\n")

    assert (document.title, document.text) == ("", "all of it is text")


@pytest.mark.parametrize(
    ("line", "title", "text"), [("<eos> text", "", "text"), ("title <eos>", "title", ""), ("<eos>", "", "")]
)
def test_title_or_text_may_be_empty(tmp_path: Path, line: str, title: str, text: str) -> None:
    (document,) = documents_of(tmp_path, f"{line}\n", "x\n")

    assert (document.title, document.text) == (title, text)


def test_the_mark_between_present_and_absent_vanishes_from_references(tmp_path: Path) -> None:
    (document,) = documents_of(tmp_path, "a\n", "swarm;<peos>;animal behaviour\n")

    assert document.keyphrases == ["swarm", "animal behaviour"]


def test_the_mark_alone_is_no_reference(tmp_path: Path) -> None:
    (document,) = documents_of(tmp_path, "a\n", "<peos>\n")

    assert document.keyphrases == []


def test_empty_lines_are_documents(tmp_path: Path) -> None:
    documents = documents_of(tmp_path, "a\n\nc\n", "x\n\n\n")

    assert documents == [
        Document(title="", text="a", keyphrases=["x"]),
        Document(title="", text="", keyphrases=[]),
        Document(title="", text="c", keyphrases=[]),
    ]


def test_an_empty_reference_between_two_is_kept(tmp_path: Path) -> None:
    (document,) = documents_of(tmp_path, "a\n", "x;;y\n")

    assert document.keyphrases == ["x", "", "y"]


def test_white_space_around_phrases_and_lines_does_not_count(tmp_path: Path) -> None:
    (document,) = documents_of(tmp_path, "  t  <eos>  some text \r\n", " x ; y z \r\n")

    assert document == Document(title="t", text="some text", keyphrases=["x", "y z"])


@pytest.mark.parametrize("batch", [1, 2, 3, 1000])
def test_batches_of_any_size_hold_the_same_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr("karat.corpus.BATCH_DOCUMENTS", batch)

    documents = documents_of(tmp_path, "".join(f"text {n}\n" for n in range(7)), "x\n" * 7)
    corpus = read(f"{tmp_path}/test_src.txt+{tmp_path}/test_trg.txt")

    assert [document.text for document in documents] == [f"text {n}" for n in range(7)]
    assert [place for part in corpus.batches() for place in part.places] == list(range(1, 8))


@pytest.mark.parametrize(
    ("source", "target", "short", "long"),
    [
        ("a\nb\nc\n", "x\ny\n", "test_trg.txt", "test_src.txt"),
        ("a\nb\n", "x\ny\nz\n", "test_src.txt", "test_trg.txt"),
    ],
)
def test_files_of_different_lengths_are_both_named(
    tmp_path: Path, source: str, target: str, short: str, long: str
) -> None:
    with pytest.raises(InputError) as caught:
        documents_of(tmp_path, source, target)

    message = str(caught.value)
    assert message.index(short) < message.index("ends after line 2") < message.index(long)


@pytest.mark.parametrize(("source", "target", "empty"), [("", "x\n", "src"), ("a\n", "", "trg")])
def test_one_empty_file_of_two_is_named(tmp_path: Path, source: str, target: str, empty: str) -> None:
    with pytest.raises(InputError, match=rf"test_{empty}\.txt: the file is empty"):
        documents_of(tmp_path, source, target)


def test_two_empty_files_are_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the file is empty"):
        documents_of(tmp_path, "", "")


@pytest.mark.parametrize("form", [None, "chan"])
def test_one_text_file_for_a_corpus_is_answered_with_the_form_of_two(tmp_path: Path, form: str | None) -> None:
    path = tmp_path / "test_src.txt"
    path.write_text("a <eos> b\n")

    with pytest.raises(InputError, match=r"test_src\.txt: .*SRC\+TRG"):
        read(path, format=form)


def test_three_files_are_too_many(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text("x\n")

    with pytest.raises(InputError, match=r"SRC\+TRG"):
        read(f"{tmp_path}/a+{tmp_path}/b+{tmp_path}/c")


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_src.txt").write_text("a\n")

    with pytest.raises(InputError, match=r"test_trg\.txt: there is no such file"):
        read(f"{tmp_path}/test_src.txt+{tmp_path}/test_trg.txt")


# ---------------------------------------------------------------------------------------------- runs


def test_a_line_of_predictions_is_split_at_semicolons(tmp_path: Path) -> None:
    assert predictions_of(tmp_path, "swarm;nest choice\nbees\n") == [
        Prediction(keyphrases=["swarm", "nest choice"]),
        Prediction(keyphrases=["bees"]),
    ]


def test_the_mark_between_present_and_absent_becomes_kinds(tmp_path: Path) -> None:
    assert predictions_of(tmp_path, "swarm;nest;<peos>;zoology\n") == [
        Prediction(keyphrases=["swarm", "nest", "zoology"], kinds=["present", "present", "absent"])
    ]


@pytest.mark.parametrize(
    ("line", "phrases", "kinds"),
    [
        ("<peos>;zoology", ["zoology"], ["absent"]),
        ("swarm;<peos>", ["swarm"], ["present"]),
        ("<peos>", [], []),
        ("swarm;<peos>;zoology;<peos>;ethics", ["swarm", "zoology", "ethics"], ["present", "absent", "absent"]),
    ],
)
def test_the_mark_is_itself_no_prediction(tmp_path: Path, line: str, phrases: list[str], kinds: list[str]) -> None:
    assert predictions_of(tmp_path, f"{line}\n") == [Prediction(keyphrases=list(phrases), kinds=kinds)]


def test_an_empty_line_predicts_nothing_and_keeps_its_place(tmp_path: Path) -> None:
    assert [p.keyphrases for p in predictions_of(tmp_path, "a\n\n  \nb\n")] == [["a"], [], [], ["b"]]


def test_an_empty_prediction_between_two_is_kept(tmp_path: Path) -> None:
    assert predictions_of(tmp_path, "a;;b\n") == [Prediction(keyphrases=["a", "", "b"])]


def test_an_empty_prediction_at_the_end_is_kept(tmp_path: Path) -> None:
    assert predictions_of(tmp_path, "a;\n") == [Prediction(keyphrases=["a", ""])]


def test_an_empty_file_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"pred\.txt: the file is empty"):
        predictions_of(tmp_path, "")


def test_a_byte_that_is_not_utf8_is_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "pred.txt"
    path.write_bytes(b"a\ncaf\xe9\n")

    with pytest.raises(InputError, match=r"pred\.txt:2: not UTF-8 at byte 4"):
        list(read_run(path))
