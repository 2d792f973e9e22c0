"""JSON lines are read as they were written, and a line that cannot be read is named."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.corpus import Batch, Corpus, Document, Prediction, Run
from karat.errors import InputError
from karat.formats import files, read, read_run

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def corpus_of(folder: Path, content: bytes) -> Corpus:
    path = folder / "corpus.jsonl"
    path.write_bytes(content)
    return read(path, format="karat")


def run_of(folder: Path, content: bytes) -> Run:
    path = folder / "run.jsonl"
    path.write_bytes(content)
    return read_run(path, format="karat")


# ---------------------------------------------------------------------------------------------- good files


def test_a_corpus_is_its_documents_in_order(tmp_path: Path) -> None:
    corpus = corpus_of(
        tmp_path,
        b'{"id": "d1", "title": "A", "text": "B c.", "keyphrases": ["b", ["c", "variant of c"]],'
        b' "reference_sets": {"author": ["x"], "reader": []}}\n'
        b'{"id": "d2"}\n',
    )

    assert list(corpus) == [
        Document(
            id="d1",
            title="A",
            text="B c.",
            keyphrases=["b", ["c", "variant of c"]],
            reference_sets={"author": ["x"], "reader": []},
        ),
        Document(id="d2"),
    ]
    assert corpus.name == "corpus"
    assert corpus.ids == ["d1", "d2"]
    assert len(corpus) == 2


def test_a_run_keeps_what_the_system_tells_of_its_phrases(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        b'{"id": "d1", "keyphrases": ["a b", "x"], "scores": [0.9, null], "token_probs": [[0.9, 0.8], [0.3]],'
        b' "kinds": ["present", "absent"]}\n',
    )

    assert list(run) == [
        Prediction(
            id="d1",
            keyphrases=["a b", "x"],
            scores=[0.9, None],
            token_probs=[[0.9, 0.8], [0.3]],
            kinds=["present", "absent"],
        )
    ]


def test_a_corpus_can_be_read_again(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, b'{"id": "d1"}\n{"id": "d2"}\n')

    assert list(corpus) == list(corpus)


def test_numbers_as_ids_are_matched_as_strings(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, b'{"id": 7}\n{"id": "d2"}\n{"id": null}\n{"id": 123456789012345678}\n')

    assert corpus.ids == ["7", "d2", None, "123456789012345678"]


def test_fields_that_karat_does_not_know_are_passed_over(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, b'{"venue": {"name": ["x", 1, null]}, "id": "d1", "year": 1999}\n')

    assert list(corpus) == [Document(id="d1")]


def test_null_phrases_are_kept(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, b'{"id": "d1", "keyphrases": ["a", null, [null, "b"], ""]}\n')
    run = run_of(tmp_path, b'{"id": "d1", "keyphrases": [null, "a", ""]}\n')

    assert next(iter(corpus)).keyphrases == ["a", None, [None, "b"], ""]
    assert next(iter(run)).keyphrases == [None, "a", ""]


@pytest.mark.parametrize(
    "content",
    [
        b'{"id": "d1"}\n{"id": "d2"}',
        b'{"id": "d1"}\r\n{"id": "d2"}\r\n',
        b'\xef\xbb\xbf{"id": "d1"}\n{"id": "d2"}\n',
        b'\n{"id": "d1"}\n  \t\r\n{"id": "d2"}\n\n\n',
        b'  {"id": "d1"}  \n\t{"id": "d2"}',
    ],
    ids=["no last newline", "CRLF", "byte-order mark", "blank lines", "white space around"],
)
def test_the_same_lines_are_read_however_they_are_laid_out(tmp_path: Path, content: bytes) -> None:
    assert corpus_of(tmp_path, content).ids == ["d1", "d2"]


def test_records_know_their_lines_across_blank_ones(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, b'\n{"id": "d1"}\n\n\n{"id": "d2"}\n')

    assert [place for batch in corpus.batches() for place in batch.places] == [2, 5]


# ---------------------------------------------------------------------------------------------- bad files


def message_for(folder: Path, line: bytes) -> str:
    """What is said of a bad line that is the fourth of its file, after a blank one."""
    corpus = corpus_of(folder, b'{"id": "d1"}\n\n{"id": "d2"}\n' + line + b'\n{"id": "d4"}\n')
    with pytest.raises(InputError) as caught:
        list(corpus)
    return str(caught.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize(
    ("line", "column"),
    [
        (b'{"id": "d3", "text": x}', 22),
        (b'{"id": "d3"} {"id": "d4"}', 14),
        (b"swarm;nest", 1),
        (b'{"id": "d3",}', 13),
    ],
)
def test_broken_json_is_named_by_line_and_column(tmp_path: Path, line: bytes, column: int) -> None:
    message = message_for(tmp_path, line)

    assert message.startswith("corpus.jsonl:4: not JSON: ")
    assert message.endswith(f"(column {column})")


def test_columns_are_counted_in_characters(tmp_path: Path) -> None:
    plain = message_for(tmp_path, b'{"id": "ee", "text": x}')
    accented = message_for(tmp_path, '{"id": "éé", "text": x}'.encode())

    assert accented == plain


def test_a_line_that_breaks_off_is_named(tmp_path: Path) -> None:
    assert message_for(tmp_path, b'{"id": "d3", "text": "and th').startswith("corpus.jsonl:4: not JSON: ")


def test_json_over_several_lines_is_not_json_lines(tmp_path: Path) -> None:
    assert message_for(tmp_path, b'{\n"id": "d3"\n}').startswith("corpus.jsonl:4: not JSON: ")


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b'{"id": "d3", "text": 5}', "$.text"),
        (b'{"id": "d3", "title": ["a"]}', "$.title"),
        (b'{"id": true}', "$.id"),
        (b'{"id": ["d3"]}', "$.id"),
        (b'{"id": "d3", "keyphrases": ["a", 3]}', "$.keyphrases[1]"),
        (b'{"id": "d3", "keyphrases": [["a", 3]]}', "$.keyphrases[0][1]"),
        (b'{"id": "d3", "keyphrases": {"a": 1}}', "$.keyphrases"),
        (b'{"id": "d3", "reference_sets": {"author": "a;b"}}', "$.reference_sets"),
    ],
)
def test_a_wrong_type_is_named_by_line_and_path(tmp_path: Path, line: bytes, path: str) -> None:
    message = message_for(tmp_path, line)

    assert message.startswith("corpus.jsonl:4: ")
    assert path in message


def test_a_line_that_is_no_object_is_named(tmp_path: Path) -> None:
    assert "corpus.jsonl:4: Expected `object`" in message_for(tmp_path, b'["d3"]')


def test_keyphrases_written_as_one_string_are_answered_with_how_to_write_them(tmp_path: Path) -> None:
    hint = 'write a list of phrases: "keyphrases": ["a b", "c"]'
    run = run_of(tmp_path, b'{"id": "d1", "keyphrases": "a;b"}\n')

    assert message_for(tmp_path, b'{"id": "d3", "keyphrases": "a;b"}').endswith(hint)
    with pytest.raises(InputError, match=r"run\.jsonl:1: .*\$\.keyphrases.*write a list of phrases"):
        list(run)


def test_variants_are_for_references_alone(tmp_path: Path) -> None:
    run = run_of(tmp_path, b'{"id": "d1", "keyphrases": ["a"]}\n{"id": "d2", "keyphrases": [["a", "b"]]}\n')

    with pytest.raises(InputError, match=r"run\.jsonl:2: .*\$\.keyphrases\[0\]"):
        list(run)


@pytest.mark.parametrize(
    ("line", "byte"),
    [
        (b'{"id": "d3", "text": "caf\xe9"}', 26),
        (b'{"id": "d\xff"}', 10),
        (b'{"id": "d3", "keyphrases": ["\xc3\xa9", "\xe9"]}', 36),
    ],
)
def test_a_byte_that_is_not_utf8_is_named_by_line_and_place(tmp_path: Path, line: bytes, byte: int) -> None:
    message = message_for(tmp_path, line)

    assert message == f"corpus.jsonl:4: not UTF-8 at byte {byte} (0x{line[byte - 1]:02x})"


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\r\n\t\n", b"\xef\xbb\xbf"])
def test_a_file_without_records_is_called_empty(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"corpus\.jsonl: the file is empty"):
        list(corpus_of(tmp_path, content))


def test_an_empty_file_is_called_empty_whatever_its_format_might_be(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b"")

    with pytest.raises(InputError, match=r"corpus\.jsonl: the file is empty"):
        list(read(path))


def test_json_nested_beyond_measure_is_bad_input_and_not_a_crash(tmp_path: Path) -> None:
    assert message_for(tmp_path, b'{"x": ' + b"[" * 100_000).startswith("corpus.jsonl:4: ")


@pytest.mark.parametrize("size", [1, 30, 1000])
def test_a_bad_line_is_named_alike_for_any_size_of_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", size)

    assert message_for(tmp_path, b'{"id": "d3", "text": 5}').startswith("corpus.jsonl:4: ")
    assert message_for(tmp_path, b"{").startswith("corpus.jsonl:4: ")


# ---------------------------------------------------------------------------------------------- any file

texts = st.text(st.characters(codec="utf-8"), max_size=20)
phrases = st.none() | texts
references = st.lists(phrases | st.lists(phrases, max_size=3), max_size=4)
ids = st.none() | texts | st.integers(-(2**63), 2**64 - 1)
shares = st.floats(allow_nan=False, allow_infinity=False)

documents = st.builds(
    Document,
    id=ids,
    title=st.none() | texts,
    text=st.none() | texts,
    keyphrases=st.none() | references,
    reference_sets=st.none() | st.dictionaries(texts, references, max_size=2),
)


@st.composite
def consistent_predictions(draw: st.DrawFn) -> Prediction:
    """A prediction that tells the same number of everything."""
    n = draw(st.integers(0, 4))

    def each(of: st.SearchStrategy[Any]) -> Any:
        return draw(st.none() | st.lists(of, min_size=n, max_size=n))

    return Prediction(
        id=draw(ids),
        keyphrases=draw(st.lists(phrases, min_size=n, max_size=n)) if n else draw(st.sampled_from([None, []])),
        scores=each(st.none() | shares),
        token_probs=each(st.none() | st.lists(shares, max_size=3)),
        token_logprobs=each(st.none() | st.lists(shares, max_size=3)),
        kinds=each(st.sampled_from(["present", "absent"])),
    )


predictions = consistent_predictions()
blank_lines = st.lists(st.sampled_from([b"", b" ", b"\t\r"]), max_size=2)


def encoded(records: list[Any], gaps: list[list[bytes]]) -> bytes:
    """The records as JSON lines, with blank lines before some of them."""
    written: list[bytes] = []
    for n, record in enumerate(records):
        written.extend(gaps[n] if n < len(gaps) else [])
        written.append(msgspec.json.encode(record))
    return b"\n".join(written)


@untimed
@given(st.lists(documents, min_size=1, max_size=8), st.lists(blank_lines, max_size=3), st.integers(1, 200))
def test_documents_are_read_back_as_they_were_written_for_any_size_of_block(
    tmp_path_factory: pytest.TempPathFactory, written: list[Document], gaps: list[list[bytes]], size: int
) -> None:
    corpus = corpus_of(tmp_path_factory.getbasetemp(), encoded(written, gaps))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK_BYTES", size)
        assert list(corpus) == written
        assert corpus.ids == [None if d.id is None else str(d.id) for d in written]
        assert len(corpus) == len(written)


@untimed
@given(st.lists(predictions, min_size=1, max_size=8), st.lists(blank_lines, max_size=3), st.integers(1, 200))
def test_predictions_are_read_back_as_they_were_written_for_any_size_of_block(
    tmp_path_factory: pytest.TempPathFactory, written: list[Prediction], gaps: list[list[bytes]], size: int
) -> None:
    run = run_of(tmp_path_factory.getbasetemp(), encoded(written, gaps))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK_BYTES", size)
        assert list(run) == written


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_batch_is_the_same_in_another_process(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(pack(b'{"id": "d1", "text": "x"}\n{"id": "d2"}\n'))
    [batch] = read(path).batches()

    again: Batch[Document] = pickle.loads(pickle.dumps(batch))

    assert again.records() == batch.records()
    assert again.pick([1]).records() == batch.records()[1:]


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "d3", "keyphrases": ["a"], "kinds": ["' + b"x" * 9000 + b'"]}',
        b'{"id": "d3", "keyphrases": ["a"], "kinds": ["' + b"\\n" * 9000 + b'"]}',
    ],
)
def test_a_long_value_is_cut_where_it_is_repeated(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(line)

    with pytest.raises(InputError, match=r"run\.jsonl:1: a kind is `present` or `absent`, not '.{40,80}'") as caught:
        list(read_run(path))
    assert len(str(caught.value).splitlines()) == 1


def test_a_long_way_to_a_wrong_value_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b'{"doc": ' + b"[" * 500 + b"1e999" + b"]" * 500 + b"}\n")

    with pytest.raises(InputError, match=r"corpus\.jsonl:1: Number out of range - at `.*\.\.\.$") as caught:
        list(read(path, format="csv"))
    assert len(str(caught.value)) < 600 + len(str(path))


def test_what_cannot_be_seen_in_the_name_of_a_field_is_shown_in_quotes(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"key\\nphrases": ["a"], "k\x85": 1, "\\u001b[31m": 2, "doc": 3}\n', encoding="utf-8")

    with pytest.raises(InputError) as caught:
        read_run(path)
    assert r"(fields 'key\nphrases', 'k\x85', '\x1b[31m', doc)" in str(caught.value)
