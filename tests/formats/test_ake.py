"""The XML and JSON of ake-datasets become documents and predictions, and are written again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.formats import ake, folder, hulth, semeval
from karat.formats.head import Head

# The layout of SemEval-2010 there: sections, sentence numbers with gaps, brackets and quotes as CoreNLP escapes them.
WITH_SECTIONS = """<?xml version="1.0" encoding="UTF-8"?>
<root>
  <document>
    <sentences>
      <sentence id="1" section="title" type="title" confidence="0.990309">
        <tokens>
          <token id="1">
            <word>Bee</word>
            <lemma>bee</lemma>
            <CharacterOffsetBegin>0</CharacterOffsetBegin>
            <CharacterOffsetEnd>3</CharacterOffsetEnd>
            <POS>NN</POS>
          </token>
          <token id="2">
            <word>Swarms</word>
            <lemma>swarm</lemma>
            <CharacterOffsetBegin>4</CharacterOffsetBegin>
            <CharacterOffsetEnd>10</CharacterOffsetEnd>
            <POS>NNS</POS>
          </token>
        </tokens>
      </sentence>
      <sentence id="6" section="abstract" type="sectionHeader" confidence="0.981506">
        <tokens>
          <token id="1">
            <word>ABSTRACT</word>
            <lemma>abstract</lemma>
            <CharacterOffsetBegin>234</CharacterOffsetBegin>
            <CharacterOffsetEnd>242</CharacterOffsetEnd>
            <POS>NN</POS>
          </token>
        </tokens>
      </sentence>
      <sentence id="7" section="abstract" type="bodyText" confidence="0.9999933">
        <tokens>
          <token id="1"><word>Bees</word><lemma>bee</lemma><POS>NNS</POS></token>
          <token id="2"><word>-LRB-</word><lemma>-lrb-</lemma><POS>-LRB-</POS></token>
          <token id="3"><word>``</word><lemma>``</lemma><POS>``</POS></token>
          <token id="4"><word>Apis</word><lemma>Apis</lemma><POS>NNP</POS></token>
          <token id="5"><word>''</word><lemma>''</lemma><POS>''</POS></token>
          <token id="6"><word>-RRB-</word><lemma>-rrb-</lemma><POS>-RRB-</POS></token>
          <token id="7"><word>and\\/or</word><lemma>and\\/or</lemma><POS>CC</POS></token>
          <token id="8"><word>R&amp;D</word><lemma>r&amp;d</lemma><POS>NN</POS></token>
        </tokens>
      </sentence>
    </sentences>
  </document>
</root>
"""

# The layout of the other datasets: a stylesheet, at times a docId, and no sections.
WITHOUT_SECTIONS = """<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet href="CoreNLP-to-HTML.xsl" type="text/xsl"?>
<root>
  <document>
    <docId>2.txt</docId>
    <sentences>
      <sentence id="1">
        <tokens>
          <token id="1">
            <word>Câmara</word>
            <lemma>Câmara</lemma>
            <POS>NOUN</POS>
            <CharacterOffsetBegin>0</CharacterOffsetBegin>
            <CharacterOffsetEnd>6</CharacterOffsetEnd>
          </token>
        </tokens>
      </sentence>
      <sentence id="2">
        <tokens>
          <token id="1">
            <word>.</word>
            <lemma>.</lemma>
            <POS>PUNCT</POS>
            <CharacterOffsetBegin>6</CharacterOffsetBegin>
            <CharacterOffsetEnd>7</CharacterOffsetEnd>
          </token>
        </tokens>
      </sentence>
    </sentences>
  </document>
</root>
"""

TITLE, TEXT = "Bee Swarms", 'ABSTRACT Bees ( " Apis " ) and/or R&D'
COMBINED = {"C-1": [["bee swarm"], ["number of bee", "bee number"]], "C-2": [["beehiv"]]}
AUTHOR = {"C-1": [["bee swarm"]], "C-2": [["beehiv"]]}


def documents(path: str | Path) -> list[Document]:
    return [document for batch in ake.FORMAT.corpus(str(path))() for document in batch.records()]  # type: ignore[misc]


def predictions(path: str | Path) -> list[Prediction]:
    return [made for batch in ake.FORMAT.run(str(path))() for made in batch.records()]  # type: ignore[misc]


def fits(path: str | Path) -> bool:
    return ake.FORMAT.fits(Head(str(path)))


def dataset(folder: Path, **references: Any) -> Path:
    (folder / "test").mkdir()
    (folder / "references").mkdir()
    (folder / "src").mkdir()
    (folder / "src" / "_preprocess.sh").write_text("#!/bin/bash\n")
    (folder / "README.md").write_text("# A dataset\n")
    (folder / "test" / "C-1.xml").write_text(WITH_SECTIONS, encoding="utf-8")
    (folder / "test" / "C-2.xml").write_text(WITHOUT_SECTIONS, encoding="utf-8")
    for name, held in references.items():
        (folder / "references" / f"test.{name}.json").write_text(json.dumps(held, indent=4, sort_keys=True))
    return folder


# ---------------------------------------------------------------------------------------------- corpora


def test_the_references_alone_are_a_corpus_without_texts(tmp_path: Path) -> None:
    path = tmp_path / "test.combined.stem.json"
    path.write_text(json.dumps(COMBINED, indent=4))

    assert documents(path) == [
        Document(id="C-1", keyphrases=[["bee swarm"], ["number of bee", "bee number"]]),
        Document(id="C-2", keyphrases=[["beehiv"]]),
    ]
    assert fits(path)


def test_references_on_one_line_are_told_too(tmp_path: Path) -> None:
    path = tmp_path / "refs.json"
    path.write_text(json.dumps(COMBINED))

    assert fits(path)
    assert [document.id for document in documents(path)] == ["C-1", "C-2"]


def test_a_folder_of_xml_and_a_file_of_references_are_a_corpus_with_titles_where_sections_tell_them(
    tmp_path: Path,
) -> None:
    folder = dataset(tmp_path, author=AUTHOR)
    path = f"{folder}/test+{folder}/references/test.author.json"

    assert documents(path) == [
        Document(id="C-1", title=TITLE, text=TEXT, keyphrases=[["bee swarm"]]),
        Document(id="C-2", text="Câmara .", keyphrases=[["beehiv"]]),
    ]
    assert fits(path)


def test_only_documents_with_references_are_read(tmp_path: Path) -> None:
    folder = dataset(tmp_path, author={"C-2": [["beehiv"]]})

    assert [document.id for document in documents(folder)] == ["C-2"]


def test_a_folder_with_several_files_of_references_has_sets_of_which_combined_is_the_keyphrases(
    tmp_path: Path,
) -> None:
    folder = dataset(tmp_path, author=AUTHOR, combined=COMBINED, reader={"C-1": [["number of bee", "bee number"]]})
    first, second = documents(folder)

    assert fits(folder)
    assert first.keyphrases == COMBINED["C-1"]
    assert first.reference_sets == {
        "author": AUTHOR["C-1"],
        "combined": COMBINED["C-1"],
        "reader": [["number of bee", "bee number"]],
    }
    assert second.reference_sets == {"author": AUTHOR["C-2"], "combined": COMBINED["C-2"]}


def test_one_file_of_references_in_a_folder_is_the_keyphrases_and_no_set(tmp_path: Path) -> None:
    folder = dataset(tmp_path, **{"author.stem": AUTHOR})

    assert [(made.keyphrases, made.reference_sets) for made in documents(folder)] == [
        ([["bee swarm"]], None),
        ([["beehiv"]], None),
    ]


def test_stemmed_references_are_a_set_beside_unstemmed_ones(tmp_path: Path) -> None:
    folder = dataset(tmp_path, **{"author": {"C-1": [["bee swarms"]]}, "author.stem": {"C-1": [["bee swarm"]]}})
    (document,) = documents(folder)

    assert document.keyphrases == [["bee swarms"]]
    assert document.reference_sets == {"author": [["bee swarms"]], "author.stem": [["bee swarm"]]}


def test_free_phrases_come_before_controlled_ones(tmp_path: Path) -> None:
    (document,) = documents(dataset(tmp_path, contr={"C-1": [["insects"]]}, uncontr={"C-1": [["bees"]]}))

    assert document.keyphrases == [["bees"]]


def test_compressed_xml_is_read(tmp_path: Path) -> None:
    folder = dataset(tmp_path, author={"C-3": [["a"]]})
    (folder / "test" / "C-3.xml.gz").write_bytes(gzip.compress(WITH_SECTIONS.encode()))

    assert [(made.id, made.title, made.text) for made in documents(folder)] == [("C-3", TITLE, TEXT)]


def test_xml_alone_is_a_corpus_without_references(tmp_path: Path) -> None:
    folder = dataset(tmp_path)

    assert [(made.id, made.keyphrases) for made in documents(folder / "test")] == [("C-1", None), ("C-2", None)]
    assert not fits(folder / "test")


# ---------------------------------------------------------------------------------------------- runs


def test_a_run_is_ranked_phrases_with_scores_where_there_are_any(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"1": [["bee", 2], ["hive", 0.5]], "2": [["bee"], ["wax", "waxes"]], "3": ["bee", null], "4": []}')

    assert predictions(path) == [
        Prediction(id="1", keyphrases=["bee", "hive"], scores=[2.0, 0.5]),
        Prediction(id="2", keyphrases=["bee", "wax"]),
        Prediction(id="3", keyphrases=["bee", None]),
        Prediction(id="4", keyphrases=[]),
    ]
    assert not fits(path)  # a phrase that is not in a list of its own could be a field of many layouts


# ---------------------------------------------------------------------------------------------- telling it


@pytest.mark.parametrize(
    "record",
    [
        {"id": "1", "keyphrases": ["a"]},
        {"document": ["a", "b"], "doc_bio_tags": ["B", "O"]},
        {"a": [[1, 2]]},
        {"a": [[]]},
        {"a": {"b": [["c"]]}},
    ],
)
def test_other_records_are_not_taken_for_references(tmp_path: Path, record: Any) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(record))

    assert not fits(path)


def test_no_other_folder_format_takes_it_and_it_takes_no_other(tmp_path: Path) -> None:
    folder_path = dataset(tmp_path, author=AUTHOR)
    pair = f"{folder_path}/test+{folder_path}/references/test.author.json"
    for other in (folder, hulth, semeval):
        assert not any(other.FORMAT.fits(Head(str(path))) for path in (folder_path, pair))

    for name in ("a.abstr", "a.final", "a.key"):
        (folder_path / name).write_text("a\n")
        assert not fits(folder_path)
        (folder_path / name).unlink()


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"C-1": [["a"]],\n "C-2": [["b"', ":2: not one JSON object"),
        ('{"C-1": [["a"]],\n "C-2" [["b"]]}', ":2: not one JSON object"),
        ('[["a"]]', "not one JSON object"),
        ('{"C-1": "a"}', "document 'C-1': Expected `array`"),
        ('{"C-1": [["a", 0.5]]}', "document 'C-1': Expected `str | null`, got `float`"),
        ("{}", "no documents there"),
        ("", "not one JSON object"),
        ("[" * 100_000, "not"),
    ],
)
def test_bad_references_are_named_with_their_place(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "refs.json"
    path.write_text(content)

    with pytest.raises(InputError) as caught:
        documents(path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


def test_references_that_are_not_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "refs.json"
    path.write_bytes(b'{"C-1":\n [["caf\xe9"]]}')

    with pytest.raises(InputError, match=r"refs\.json:2: not one JSON object.*not UTF-8 at byte 8"):
        documents(path)


def test_a_number_in_place_of_a_phrase_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"C-1": [[0.5, "bee"]]}')

    with pytest.raises(InputError, match=r"run\.json: document 'C-1': 0\.5 stands where a phrase is due"):
        predictions(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (WITH_SECTIONS[:700].encode(), ":23: not XML: it ends too early"),
        (b"", ":1: not XML: it ends too early"),
        (b"<html><body/></html>", ":1: not XML of CoreNLP: <html> stands where <root> is due"),
        (b'<?xml version="1.0" encoding="UTF-8"?>\n<root>\xe9</root>', ":2: not XML"),
        (b'<?xml version="1.0" encoding="nonsense"?><root/>', ":1: "),
        (b"\x00\x01\x02", "not XML"),
    ],
)
def test_bad_xml_is_named_with_its_line(tmp_path: Path, content: bytes, said: str) -> None:
    folder = dataset(tmp_path, author={"C-2": [["a"]]})
    (folder / "test" / "C-2.xml").write_bytes(content)

    with pytest.raises(InputError) as caught:
        documents(folder)
    assert str(caught.value).startswith(str(folder / "test" / "C-2.xml"))
    assert said in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    declared = f'<!DOCTYPE root [<!ENTITY a "b"><!ENTITY c SYSTEM "{secret}">]>'
    bomb = f'<?xml version="1.0" encoding="{encoding}"?>\n{declared}<root><word>&a;&c;</word></root>'
    folder = dataset(tmp_path, author={"C-2": [["a"]]})
    (folder / "test" / "C-2.xml").write_bytes(bomb.encode(encoding))

    with pytest.raises(InputError, match=r"C-2\.xml:2: an entity is declared"):
        documents(folder)


def test_a_document_without_its_text_is_an_error(tmp_path: Path) -> None:
    folder = dataset(tmp_path, author=AUTHOR)
    (folder / "test" / "C-2.xml").unlink()

    with pytest.raises(InputError, match="no text of the document 'C-2'"):
        documents(folder)


def test_two_texts_of_a_document_are_an_error(tmp_path: Path) -> None:
    folder = dataset(tmp_path, author=AUTHOR)
    (folder / "lvl-2").mkdir()
    (folder / "lvl-2" / "C-1.xml").write_text(WITH_SECTIONS)

    with pytest.raises(InputError, match="a second text of 'C-1'"):
        documents(folder)


def test_references_of_two_splits_with_the_same_documents_are_an_error(tmp_path: Path) -> None:
    folder = dataset(tmp_path, author=AUTHOR)
    (folder / "references" / "train.author.json").write_text(json.dumps(AUTHOR))

    with pytest.raises(InputError, match=r"train\.author\.json: the references of 'C-1' are there twice"):
        documents(folder)


@pytest.mark.parametrize("path", ["{0}/test+{0}/a.json+{0}/b.json", "{0}/nowhere+{0}/references/test.author.json"])
def test_paths_that_cannot_be_read_are_errors(tmp_path: Path, path: str) -> None:
    folder = dataset(tmp_path, author=AUTHOR)

    with pytest.raises(InputError):
        documents(path.format(folder))


def test_a_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a run is one file"):
        predictions(dataset(tmp_path, author=AUTHOR))


# ---------------------------------------------------------------------------------------------- writing

ids = st.text(
    st.characters(codec="utf-8", exclude_characters="/\\.\0", exclude_categories=("Cc", "Zl", "Zp")),
    min_size=1,
    max_size=10,
)
phrases = st.none() | st.text(st.characters(codec="utf-8"), max_size=10)
references = st.lists(st.lists(phrases, min_size=1, max_size=3), max_size=4)
words = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S"), exclude_characters="\\`'\ufffe\uffff"))
texts = st.lists(words.filter(lambda word: word and not word.endswith("B-")), max_size=8).map(" ".join)
sets = st.dictionaries(st.sampled_from(["author", "reader", "combined", "extra"]), references, max_size=4)


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    named = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    return [
        Document(
            id=name,
            title=draw(texts),
            text=draw(texts),
            keyphrases=draw(references),  # type: ignore[arg-type]
            reference_sets=draw(sets),  # type: ignore[arg-type]
        )
        for name in named
    ]


def same(document: Document) -> tuple[Any, ...]:
    return (
        document.id,
        document.title or "",
        document.text or "",
        document.keyphrases or [],
        document.reference_sets or {},
    )


@given(corpora())
def test_a_written_folder_reads_as_it_was(tmp_path_factory: pytest.TempPathFactory, corpus: list[Document]) -> None:
    path = tmp_path_factory.mktemp("ake") / "written"
    ake.save_corpus(str(path), iter(corpus))

    assert {made.id: same(made) for made in documents(path)} == {made.id: same(made) for made in corpus}
    assert fits(path)


def test_sets_are_written_without_a_file_of_keyphrases_where_they_tell_them(tmp_path: Path) -> None:
    written = documents(dataset(tmp_path, author=AUTHOR, combined=COMBINED))
    ake.save_corpus(str(tmp_path / "written"), written)

    assert sorted(path.name for path in (tmp_path / "written" / "references").iterdir()) == [
        "test.author.json",
        "test.combined.json",
    ]
    assert documents(tmp_path / "written") == written


@given(st.dictionaries(st.text(max_size=5), references, min_size=1, max_size=4))
def test_written_references_read_as_they_were(tmp_path_factory: pytest.TempPathFactory, held: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("ake") / "written.json"
    ake.save_corpus(str(path), (Document(id=name, keyphrases=found) for name, found in held.items()))

    assert documents(path) == [Document(id=name, keyphrases=found) for name, found in held.items()]


@given(st.dictionaries(st.text(max_size=5), st.lists(st.tuples(phrases, st.floats(-9, 9)), min_size=1), min_size=1))
def test_a_written_run_reads_as_it_was(tmp_path_factory: pytest.TempPathFactory, held: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("ake") / "written.json"
    made = [
        Prediction(id=name, keyphrases=[phrase for phrase, _ in found], scores=[score for _, score in found])
        for name, found in held.items()
    ]
    ake.save_run(str(path), iter(made))

    assert predictions(path) == made


def test_a_run_with_some_scores_and_one_with_none_are_written(tmp_path: Path) -> None:
    made = [Prediction(id="1", keyphrases=["a", "b"], scores=[None, 0.5]), Prediction(id="2", keyphrases=["c"])]
    ake.save_run(str(tmp_path / "run.json.gz"), made)

    assert predictions(tmp_path / "run.json.gz") == made


def test_odd_documents_are_written(tmp_path: Path) -> None:
    odd = [Document(), Document(title="a\0b\r\nc", text="(", keyphrases=["a", None, []])]
    ake.save_corpus(str(tmp_path / "written"), odd)

    assert documents(tmp_path / "written") == [
        Document(id="00000001", text="", keyphrases=[]),
        Document(id="00000002", title="a b c", text="(", keyphrases=[["a"], [None], []]),
    ]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "../a", "a\0b", ".a", "a..b"])
def test_an_id_that_could_be_a_path_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of a file"):
        ake.save_corpus(str(tmp_path / "written"), [Document(id=name)])
    with pytest.raises(InputError, match="cannot be the name of a file"):
        ake.save_corpus(str(tmp_path / "written"), [Document(id="a", reference_sets={name: []})])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["written", "written.json"])
def test_two_documents_with_one_id_are_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"a\.xml: would be written twice|two documents have the id 'a'"):
        ake.save_corpus(str(tmp_path / name), [Document(id="a"), Document(id="a")])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("phrases", ["1", '[["a", {}]]', '[[["a"]]]'])
def test_a_long_id_is_cut_where_it_is_repeated(tmp_path: Path, phrases: str) -> None:
    path = tmp_path / "refs.json"
    path.write_text(f'{{"{"x" * 5000}": {phrases}}}')

    for read in (documents, predictions):
        with pytest.raises(InputError, match=r"refs\.json: document 'x+\.\.\.: Expected") as caught:
            read(path)
        assert len(str(caught.value)) < 600 + len(str(path))
