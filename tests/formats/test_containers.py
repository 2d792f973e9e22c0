"""Tables and JSON lists are read as spreadsheets, Python and people write them, and errors name the line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.formats import own, read_run
from karat.formats.base import Record
from karat.formats.containers import cell, cell_list, container_at, container_of, rows, save
from karat.formats.head import Head
from tests.examples import examples

untimed = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    max_examples=examples(40),
)

[CSV] = [form for form in own.FORMATS if form.name == "csv"]


def file_of(folder: Path, content: bytes | str, name: str = "x.csv") -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def rows_of(folder: Path, content: bytes | str, name: str = "x.csv") -> list[tuple[int, Record]]:
    path = file_of(folder, content, name)
    return list(rows(path, container_at(path)))


def failure_of(folder: Path, content: bytes | str, name: str = "x.csv") -> str:
    """What the error says, from the place on."""
    with pytest.raises(InputError) as failure:
        rows_of(folder, content, name)
    message = str(failure.value)
    assert "\n" not in message
    return message.removeprefix(str(folder / name))


# ---------------------------------------------------------------------------------------------- CSV and TSV


def test_a_row_is_its_cells_by_the_names_of_the_header(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "id, text \nd1, a\nd2,\n") == [
        (2, {"id": "d1", "text": " a"}),
        (3, {"id": "d2", "text": ""}),
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfid,text\r\nd1,a b\r\n",  # as spreadsheets save it
        b"id,text\nd1,a b",
        b"\n\nid,text\n\nd1,a b\n\n",
        b'"id","text"\n"d1","a b"\n',
        b"id;text\nd1;a b\n",
        b"id\ttext\nd1\ta b\n",
        gzip.compress(b"id,text\nd1,a b\n", mtime=0),
    ],
)
def test_spreadsheets_have_their_ways(tmp_path: Path, content: bytes) -> None:
    assert [row for _, row in rows_of(tmp_path, content)] == [{"id": "d1", "text": "a b"}]


def test_tabs_part_the_cells_of_tsv_whatever_else_is_there(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "id\ta,b,c\n1\tx,y\n", "x.tsv") == [(2, {"id": "1", "a,b,c": "x,y"})]


def test_quoted_cells_hold_line_ends_delimiters_and_quotes_and_lines_are_counted(tmp_path: Path) -> None:
    content = b'id,text\r\nd1,"two\r\nlines, ""quoted"""\r\nd2,"lone \r, \x0b and \xe2\x80\xa8"\r\nd3,x\r\n'

    assert rows_of(tmp_path, content) == [
        (2, {"id": "d1", "text": 'two\r\nlines, "quoted"'}),
        (4, {"id": "d2", "text": "lone \r, \x0b and \u2028"}),
        (5, {"id": "d3", "text": "x"}),
    ]


def test_a_very_large_cell_is_read(tmp_path: Path) -> None:
    large = "word " * 1_000_000

    assert rows_of(tmp_path, f'id,text\nd1,"{large}"\nd2,b\n') == [
        (2, {"id": "d1", "text": large}),
        (3, {"id": "d2", "text": "b"}),
    ]


def test_nul_bytes_are_read_as_they_are(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "id,text\nd1,a\0b\n") == [(2, {"id": "d1", "text": "a\0b"})]


def test_columns_without_a_name_are_no_matter(tmp_path: Path) -> None:
    [(_, row)] = rows_of(tmp_path, ",id,text,,\n0,d1,a,,\n")

    assert (row["id"], row["text"]) == ("d1", "a")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,text\nd1,a\nd2\n", ":3: 1 cells, but the header has 2"),
        ('id,text\nd1,"a\nb"\nd2,a,b\n', ":4: 3 cells, but the header has 2"),
        ("id,text,id\n1,2,3\n", ": two columns are named 'id'"),
        ("id,text, id\n1,2,3\n", ": two columns are named 'id'"),
        (
            'id,text\nd1,a\nd2,"a\nb\nc\n',
            ':3: a quote that is opened in this row is never closed; write " as ""',
        ),
        ('id,text\nd1,"a"b\n', """:2: ',' expected after '"'"""),
        ("id,text\nd1,a\rb\n", ":2: new-line character seen in unquoted field"),
        (b"id,text\nd1,a\nd2,caf\xe9\n", ":3: not UTF-8 at byte 7 (0xe9)"),
        (b'id,text\nd1,"a\nb\xff"\n', ":3: not UTF-8 at byte 2 (0xff)"),
        ("id,text\nd1,a\n".encode("utf-16"), ":1: not UTF-8 at byte 1 (0xff)"),
        ("", ": the file is empty"),
        ("\n\n", ": the file is empty"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_its_line(tmp_path: Path, content: bytes | str, message: str) -> None:
    assert failure_of(tmp_path, content).startswith(message)


def test_a_table_with_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "id,text\n") == []


# ---------------------------------------------------------------------------------------------- JSON


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\n \r\n"])
def test_a_list_of_objects_is_read_as_its_rows(tmp_path: Path, indent: int | None, mark: str) -> None:
    content = mark + json.dumps([{"id": 1, "text": "ä"}, {"id": 2}], indent=indent, ensure_ascii=False)

    assert container_at(file_of(tmp_path, content, "x.json")) == "json"
    assert rows_of(tmp_path, content, "x.json") == [(1, {"id": 1, "text": "ä"}), (2, {"id": 2})]


def test_one_pretty_printed_object_is_one_row(tmp_path: Path) -> None:
    assert rows_of(tmp_path, json.dumps({"id": {"a": 1}}, indent=2), "x.json") == [(1, {"id": {"a": 1}})]


def test_lines_of_objects_are_lines_whatever_the_file_is_called(tmp_path: Path) -> None:
    assert rows_of(tmp_path, '{"id": 1}\n\n{"id": 2}\n', "x.json") == [(1, {"id": 1}), (3, {"id": 2})]


def test_an_empty_list_has_no_rows(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "[]", "x.json") == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"id": 1}, 2]', ': item 2 of the JSON list is no object with fields, as {"id": "1", '),
        ('[{"id": 1}, null]', ": item 2 of the JSON list is no object with fields"),
        ('[["id", 1]]', ": item 1 of the JSON list is no object with fields"),
        ('[\n  {"id": 1},\n  {"id": 2\n', ":3: Input data was truncated"),
        ('[\n  {"id": 1},\n  {"id": two}\n]', ":3: JSON is malformed: invalid character"),
        ('[\n  {"id": 1},\n]', ":3: JSON is malformed: trailing comma in array"),
        ('[{"id": 1},\n {"score": NaN}]', ":2: NaN and Infinity are no numbers there; write null"),
        ('[{"id": 1},\n {"score": -Infinity}]', ":2: NaN and Infinity are no numbers there; write null"),
        ('[{"id": 1}]\n[{"id": 2}]', ":2: JSON is malformed: trailing characters"),
        (b'[\n{"id": "caf\xe9"}]', ":2: not UTF-8 at byte 12 (0xe9)"),
        ("[" + '{"a": ' * 100_000, ":1: "),
        ("[1, 2", ":1: Input data was truncated"),
    ],
)
def test_what_is_wrong_with_a_json_list_is_said_with_its_line(
    tmp_path: Path, content: bytes | str, message: str
) -> None:
    assert failure_of(tmp_path, content, "x.json").startswith(message)


def test_a_text_that_begins_with_a_bracket_is_a_text(tmp_path: Path) -> None:
    assert container_at(file_of(tmp_path, "[unk] nets;trees\n[a\n", "x.txt")) == "text"
    assert container_at(file_of(tmp_path, "[id],text\n1,a\n")) == "csv"


# ---------------------------------------------------------------------------------------------- lists in cells


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b", ["a", "b"]),
        (" a ; ;b;", ["a", "", "b", ""]),
        ("", []),
        ("[]", []),
        (" [ ] ", []),
        ('["a;b", null, ["c", "d"]]', ["a;b", None, ["c", "d"]]),
        ("['a', 'b']", ["a", "b"]),
        ("""['a', "b's", 'c"d', 'e, f']""", ["a", "b's", 'c"d', "e, f"]),
        (r"['it\'s', 'a\\b', 'new\nline']", ["it's", "a\\b", "new\nline"]),
        (r"['hard\xa0space', '\u2014', '\U0001f600']", ["hard\xa0space", "—", "😀"]),
        (r"['\ud800', '\Uffffffff', '\d']", ["\\ud800", "\\Uffffffff", "d"]),
        ("['deep learning' 'nets'\n 'trees']", ["deep learning", "nets", "trees"]),  # as numpy prints it
        ("[('deep nets', 0.7), ('trees', 0.5)]", [["deep nets", 0.7], ["trees", 0.5]]),  # as extractors print it
        ("[['a', 'b'], ['c']]", [["a", "b"], ["c"]]),
        ("['a', None]", ["a", None]),
        ("[a", ["[a"]),
        ("[1] a; b", ["[1] a", "b"]),
        ("['a'", ["['a'"]),
        ("[" * 5000, ["[" * 5000]),
    ],
)
def test_a_list_in_a_cell_is_read_however_it_is_written(text: str, expected: list[Any]) -> None:
    assert cell_list(text) == expected


def test_another_separator_parts_the_phrases() -> None:
    assert cell_list("a, b;c", ",") == ["a", "b;c"]
    assert cell_list('["a, b"]', ",") == ["a, b"]


def test_a_cell_that_was_never_closed_is_read_in_no_time() -> None:
    text = "[" + "'a', " * 50_000 + "'"

    assert cell_list(text, ";") == [text]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@untimed
@given(st.lists(st.none() | TEXTS | st.lists(TEXTS, max_size=2), max_size=4))
def test_a_list_is_read_from_the_cell_it_was_written_to(value: list[Any]) -> None:
    assert cell_list(cell(value)) == value


@untimed
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_a_list_is_read_as_python_prints_it(value: list[str]) -> None:
    assert cell_list(repr(value)) == value


# ---------------------------------------------------------------------------------------------- writing


@pytest.mark.parametrize(
    ("name", "container"),
    [
        ("x.csv", "csv"),
        ("x.tsv.gz", "tsv"),
        ("x.parquet", "parquet"),
        ("x.json", "jsonl"),
        ("x.txt", "jsonl"),
        ("x", "jsonl"),
    ],
)
def test_the_name_of_a_file_chooses_its_container(name: str, container: str) -> None:
    assert container_of(name) == container


def test_a_table_is_written_for_people_too(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"

    save(
        str(path), [{"id": 1, "text": 'a, "b"', "keyphrases": ["c", "d"]}, {"id": "2", "text": None, "keyphrases": []}]
    )

    assert path.read_text() == 'id,text,keyphrases\n1,"a, ""b""",c;d\n2,,[]\n'


DOCUMENTS = st.builds(
    Document,
    id=st.none() | st.integers() | TEXTS.filter(bool),
    title=st.none() | TEXTS,
    text=st.none() | TEXTS,
    keyphrases=st.none() | st.lists(st.none() | TEXTS | st.lists(TEXTS, max_size=3), max_size=3),
    reference_sets=st.none() | st.dictionaries(TEXTS, st.lists(TEXTS, max_size=2), min_size=1, max_size=2),
)


def essence(document: Document) -> tuple[Any, ...]:
    identifier = None if document.id is None else str(document.id)
    references = [p[0] if isinstance(p, list) and len(p) == 1 else p for p in document.keyphrases or ()]
    return identifier, document.title or "", document.text or "", references, document.reference_sets


def documents(path: str) -> list[Document]:
    assert CSV.corpus is not None
    return [document for batch in CSV.corpus(path)() for document in batch.records()]


def save_corpus(path: str, given_documents: Iterable[Document]) -> None:
    assert CSV.save_corpus is not None
    CSV.save_corpus(path, given_documents)


@untimed
@given(
    given_documents=st.lists(DOCUMENTS, min_size=1, max_size=4),
    name=st.sampled_from(["x.csv", "x.tsv", "x.csv.gz", "x.tsv.zst"]),
)
def test_any_corpus_in_a_table_is_read_as_it_was_written(
    tmp_path: Path, given_documents: list[Document], name: str
) -> None:
    path = str(tmp_path / name)
    save_corpus(path, given_documents)

    assert CSV.fits(Head(path))
    assert [essence(document) for document in documents(path)] == [essence(document) for document in given_documents]


def test_a_run_in_a_table_keeps_what_it_tells(tmp_path: Path) -> None:
    path = str(tmp_path / "x.csv")
    given_predictions = [
        Prediction(id="a", keyphrases=["x", "y;z"], scores=[0.5, None], token_probs=[[0.1], None]),
        Prediction(id="b", keyphrases=["x"], kinds=["absent"], token_logprobs=[[-0.5, -1.0]]),
        Prediction(id="c", keyphrases=[]),
    ]
    assert CSV.save_run is not None
    assert CSV.run is not None
    CSV.save_run(path, given_predictions)

    assert [prediction for batch in CSV.run(path)() for prediction in batch.records()] == given_predictions


def test_a_failure_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old")

    with pytest.raises(UnicodeEncodeError):
        save(str(path), [{"id": 1}, {"id": "half a character: \ud800"}])

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("cell", ["['a' 'b' ...]", "['a', nan]", "[['a'], f()]", "[" * 500 + "'a'" + "]" * 500])
def test_a_cell_that_opens_a_list_and_is_none_is_refused(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "run.csv"
    path.write_text(f'id,keyphrases\nd1,"{cell}"\n')
    with pytest.raises(InputError, match=r"run\.csv:2: .* is no list that can be read; write JSON, or a;b"):
        list(read_run(path))


@pytest.mark.parametrize("name", ["run.dat", "run.txt", "run"])
def test_a_table_with_karats_own_columns_is_one_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("id\tkeyphrases\nd1\ta;b\n")
    assert [prediction.keyphrases for prediction in read_run(path)] == [["a", "b"]]


@pytest.mark.parametrize("depth", [*range(800, 1000, 2), 100_000])
def test_a_list_that_is_nested_too_deeply_is_bad_input_at_any_depth(tmp_path: Path, depth: int) -> None:
    content = '[{"id": "d1", "x": ' + "[" * depth + "]" * depth + "}]"
    said = ""
    try:
        rows_of(tmp_path, content, "x.json")
    except InputError as error:
        said = str(error)

    levels = "the value has more than 64 levels; if that is right, raise the limit: --limit depth=128"
    place = f"{tmp_path / 'x.json'}:1: "
    if depth < 63:
        assert said == ""
    else:
        assert said in (place + "nested too deeply", place + levels)


def test_a_long_name_of_two_columns_is_cut_where_it_is_repeated(tmp_path: Path) -> None:
    said = failure_of(tmp_path, f"{'x' * 5000},{'x' * 5000}\n1,2\n")

    assert said.startswith(": two columns are named 'xxx")
    assert len(said) < 200
