"""The lines and papers of SemEval-2010 become documents and predictions, and are written again."""

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

# As in the task: a space on both sides of the colon, now and then one before a comma, variants joined by a plus.
COMBINED = "C-1 : bee swarm,number of bee+bee number,honei ,ﬂight\nH-12 : beehiv,real-time bee\n"
AUTHOR = "C-1 : honei\nH-12 : beehiv\n"
READER = "C-1 : bee swarm,number of bee+bee number\nH-12 : real-time bee\n"
PAPER = "Swarms of Honey Bees\nAnn Author and Bob Writer\nABSTRACT\nBees are a swarm.\nCategories and Subject\n"


def documents(path: str | Path) -> list[Document]:
    return [made for batch in semeval.FORMAT.corpus(str(path))() for made in batch.records()]  # type: ignore[misc]


def predictions(path: str | Path) -> list[Prediction]:
    return [made for batch in semeval.FORMAT.run(str(path))() for made in batch.records()]  # type: ignore[misc]


def fits(path: str | Path) -> bool:
    return semeval.FORMAT.fits(Head(str(path)))


def lines(folder: Path, content: str, name: str = "test.combined.stem.final") -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


def task(folder: Path) -> Path:
    for name in ("test", "test_answer"):
        (folder / name).mkdir()
    for name in ("C-1", "H-12"):
        (folder / "test" / f"{name}.txt.final").write_text(PAPER)
    for name, content in {"author": AUTHOR, "combined": COMBINED, "reader": READER}.items():
        lines(folder / "test_answer", content, f"test.{name}.stem.final")
    (folder / "README.txt").write_text("A task.")
    return folder


# ---------------------------------------------------------------------------------------------- reading


def test_answers_alone_are_a_corpus_without_texts(tmp_path: Path) -> None:
    path = lines(tmp_path, COMBINED)

    assert documents(path) == [
        Document(id="C-1", keyphrases=["bee swarm", ["number of bee", "bee number"], "honei", "ﬂight"]),
        Document(id="H-12", keyphrases=["beehiv", "real-time bee"]),
    ]
    assert fits(path)


def test_a_run_has_the_first_of_variants(tmp_path: Path) -> None:
    path = lines(tmp_path, COMBINED, "system.txt")

    assert predictions(path) == [
        Prediction(id="C-1", keyphrases=["bee swarm", "number of bee", "honei", "ﬂight"]),
        Prediction(id="H-12", keyphrases=["beehiv", "real-time bee"]),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("C-1 : a:b,c : d", ("C-1", ["a:b", "c : d"])),
        ("C-1: a,b", ("C-1", ["a", "b"])),
        ("C-1 : a,,b,", ("C-1", ["a", "", "b", ""])),
        ("C-1 : c++", ("C-1", [["c", "", ""]])),
        ("C-1 :", ("C-1", [])),
        ("C-1 : \r", ("C-1", [])),
        ("arxiv:7 : a", ("arxiv:7", ["a"])),
    ],
)
def test_a_line_is_an_id_and_phrases(tmp_path: Path, line: str, expected: tuple[str, Any]) -> None:
    path = lines(tmp_path, f"\n{line}\n\n")

    assert [(made.id, made.keyphrases) for made in documents(path)] == [expected]


def test_a_folder_of_papers_and_answers_are_a_corpus_whose_titles_are_first_lines(tmp_path: Path) -> None:
    folder = task(tmp_path)
    path = f"{folder}/test+{folder}/test_answer/test.author.stem.final"
    title, _, text = PAPER.partition("\n")

    assert documents(path) == [
        Document(id="C-1", title=title, text=text, keyphrases=["honei"]),
        Document(id="H-12", title=title, text=text, keyphrases=["beehiv"]),
    ]
    assert fits(path)


def test_papers_may_be_plain_text_files_where_the_folder_is_named(tmp_path: Path) -> None:
    folder = task(tmp_path)
    for paper in (folder / "test").iterdir():
        paper.rename(paper.with_suffix(""))

    assert [made.title for made in documents(f"{folder}/test+{folder}/test_answer/test.author.stem.final")] == [
        "Swarms of Honey Bees",
        "Swarms of Honey Bees",
    ]


def test_a_folder_has_the_three_sets_of_which_combined_is_the_keyphrases(tmp_path: Path) -> None:
    folder = task(tmp_path)
    first, second = documents(folder)

    assert fits(folder)
    assert first.keyphrases == ["bee swarm", ["number of bee", "bee number"], "honei", "ﬂight"]
    assert second.reference_sets == {
        "author": ["beehiv"],
        "combined": ["beehiv", "real-time bee"],
        "reader": ["real-time bee"],
    }
    assert second.text is not None
    assert second.text.startswith("Ann Author")


def test_answers_may_lie_among_the_papers(tmp_path: Path) -> None:
    folder = task(tmp_path)
    for answers in list((folder / "test_answer").iterdir()):
        answers.rename(folder / "test" / answers.name)

    assert [sorted(made.reference_sets or ()) for made in documents(folder / "test")] == [
        ["author", "combined", "reader"],
        ["author", "combined", "reader"],
    ]


# ---------------------------------------------------------------------------------------------- telling it


@pytest.mark.parametrize("line", ["C-1 : a,b", "C-1 :", "17: a", "doc_3 : a b"])
def test_lines_with_an_id_are_told(tmp_path: Path, line: str) -> None:
    assert fits(lines(tmp_path, line + "\n", "run.txt"))


@pytest.mark.parametrize(
    "line",
    [
        "bees : a survey <eos> we look at bees .",
        "bees2 : a survey <eos> we look at bees .",
        "bees : a survey",
        "a1;b : c",
        "bees2 : hives;wax",
        "we have 3 : bees",
        "",
    ],
)
def test_other_lines_are_not_taken(tmp_path: Path, line: str) -> None:
    assert not fits(lines(tmp_path, line + "\n", "run.txt"))


def test_no_other_format_takes_it_and_it_takes_no_other(tmp_path: Path) -> None:
    folder_path = task(tmp_path)
    answers = folder_path / "test_answer" / "test.author.stem.final"
    pair = f"{folder_path}/test+{answers}"
    for other in (ake, folder, hulth):
        assert not any(other.FORMAT.fits(Head(str(path))) for path in (folder_path, answers, pair))
    assert not fits(f"{folder_path}/test+{folder_path}/test_answer")
    assert not fits(f"{answers}+{answers}")
    for name in ("a.abstr", "a.key"):
        (folder_path / name).write_text("a\n")
        assert not fits(folder_path)
        (folder_path / name).unlink()


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"C-1 : a\nno id here\n", ":2: no id in 'no id here'"),
        (b"C-1 : a\n : b\n", ":2: no id in ' : b'"),
        (b"C-1 : a\nC-2 : caf\xe9\n", ":2: not UTF-8 at byte 10"),
        (b"", ": the file is empty"),
        (b"\n\n", ": the file is empty"),
        (b"\x1f\x8b\x08\x00", ": the compressed file is damaged or cut off"),
    ],
)
def test_bad_lines_are_named_with_their_place(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "test.combined.stem.final"
    path.write_bytes(content)

    for read in (documents, predictions):
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}{said}")


def test_a_paper_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    folder = task(tmp_path)
    (folder / "test" / "C-1.txt.final").write_bytes(b"Bees\n\ncaf\xe9\n")

    with pytest.raises(InputError, match=r"C-1\.txt\.final:3: not UTF-8 at byte 4"):
        documents(folder)


def test_a_document_without_its_paper_is_an_error(tmp_path: Path) -> None:
    folder = task(tmp_path)
    (folder / "test" / "C-1.txt.final").unlink()

    with pytest.raises(InputError, match="no text of the document 'C-1'"):
        documents(folder)


def test_the_same_document_in_two_splits_is_an_error(tmp_path: Path) -> None:
    folder = task(tmp_path)
    lines(folder, AUTHOR, "trial.author.stem.final")

    with pytest.raises(InputError, match=r"author\.stem\.final: the references of 'C-1' are there twice"):
        documents(folder)


def test_paths_that_hold_nothing_are_errors(tmp_path: Path) -> None:
    answers = lines(tmp_path, AUTHOR)
    (tmp_path / "empty").mkdir()

    with pytest.raises(InputError, match="no documents there"):
        documents(tmp_path / "empty")
    with pytest.raises(InputError, match="no documents there"):
        documents(f"{tmp_path}/empty+{answers}")
    with pytest.raises(InputError, match="give two paths"):
        documents(f"{tmp_path}/empty+{answers}+{answers}")
    with pytest.raises(InputError, match="a run is one file"):
        predictions(tmp_path)


# ---------------------------------------------------------------------------------------------- writing

ids = st.text(st.characters(codec="utf-8", categories=("L", "N", "Pd")), min_size=1, max_size=10)
letters = st.characters(codec="utf-8", categories=("L", "N", "P", "S"), exclude_characters=",+")
phrases = st.lists(st.text(letters, min_size=1, max_size=6), min_size=1, max_size=4).map(" ".join)
references = st.lists(phrases | st.lists(phrases, min_size=2, max_size=3), max_size=5)
sets = st.dictionaries(st.sampled_from(["author", "reader", "combined"]), references, max_size=3)
texts = st.text(st.characters(codec="utf-8"), max_size=40)
titles = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\ufeff"), max_size=20)


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    return [
        Document(
            id=name,
            title=draw(titles),
            text=draw(texts),
            keyphrases=draw(references),  # type: ignore[arg-type]
            reference_sets=draw(sets),  # type: ignore[arg-type]
        )
        for name in draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    ]


def same(made: Document) -> tuple[Any, ...]:
    return made.id, made.title or "", made.text or "", made.keyphrases or [], made.reference_sets or {}


@given(corpora())
def test_a_written_folder_reads_as_it_was(tmp_path_factory: pytest.TempPathFactory, corpus: list[Document]) -> None:
    path = tmp_path_factory.mktemp("semeval") / "written"
    semeval.save_corpus(str(path), iter(corpus))

    assert {made.id: same(made) for made in documents(path)} == {made.id: same(made) for made in corpus}
    assert fits(path)


@given(st.dictionaries(ids, references, min_size=1, max_size=4))
def test_written_lines_read_as_they_were(tmp_path_factory: pytest.TempPathFactory, held: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("semeval") / "written.final.gz"
    semeval.save_corpus(str(path), (Document(id=name, keyphrases=found) for name, found in held.items()))

    assert documents(path) == [Document(id=name, keyphrases=found) for name, found in held.items()]


@given(st.dictionaries(ids, st.lists(phrases, max_size=5), min_size=1, max_size=4))
def test_a_written_run_reads_as_it_was(tmp_path_factory: pytest.TempPathFactory, held: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("semeval") / "run"
    semeval.save_run(str(path), (Prediction(id=name, keyphrases=found) for name, found in held.items()))

    assert predictions(path) == [Prediction(id=name, keyphrases=found) for name, found in held.items()]


def test_odd_documents_are_written(tmp_path: Path) -> None:
    odd = [Document(), Document(title="a\r\nb", text=None, keyphrases=["a\nb", None, [], ["c", None]])]
    semeval.save_corpus(str(tmp_path / "written"), odd)

    assert documents(tmp_path / "written") == [
        Document(id="00000001", title="", text="", keyphrases=[]),
        Document(id="00000002", title="a b", text="", keyphrases=["a b", "", "", ["c", ""]]),
    ]


@pytest.mark.parametrize("name", ["", " ", "a b", "a\nb"])
def test_an_id_that_no_line_can_hold_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be written as an id"):
        semeval.save_corpus(str(tmp_path / "written.final"), [Document(id=name)])
    with pytest.raises(InputError, match="cannot be written as an id"):
        semeval.save_run(str(tmp_path / "run"), [Prediction(id=name)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "a/b", "..", "a\\b", ".a", "a\0"])
def test_an_id_that_could_be_a_path_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of a file"):
        semeval.save_corpus(str(tmp_path / "written"), [Document(id=name)])
    with pytest.raises(InputError, match="cannot be the name of a file"):
        semeval.save_corpus(str(tmp_path / "written"), [Document(id="a", reference_sets={name: []})])
    assert list(tmp_path.iterdir()) == []


def test_a_long_id_is_cut_where_it_is_repeated(tmp_path: Path) -> None:
    folder = task(tmp_path)
    lines(folder / "test_answer", f"C-{'1' * 5000} : honei\n", "test.author.stem.final")

    with pytest.raises(InputError, match=r"no text of the document 'C-1+\.\.\., of which") as caught:
        documents(folder)
    assert len(str(caught.value)) < 600 + len(str(folder))


def test_a_long_line_of_digits_is_looked_at_once(tmp_path: Path) -> None:
    # Time in the square of its length would be hours.
    assert not fits(lines(tmp_path, "1" * 1_000_000, "x.txt"))
    assert fits(lines(tmp_path, "1" * 1_000_000 + " : honei", "x.txt"))
