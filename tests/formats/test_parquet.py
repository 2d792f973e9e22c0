"""Parquet holds corpora and runs as they are, is read with odd columns, and says what is wrong when it cannot be."""

from __future__ import annotations

import datetime
import decimal
import gzip
import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from karat.corpus import Document, Prediction
from karat.errors import InputError, MissingExtraError
from karat.formats import huggingface, own
from karat.formats.base import Format
from karat.formats.containers import container_at, rows, save
from karat.formats.head import Head
from tests.examples import examples

untimed = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    max_examples=examples(25),
)

[PARQUET] = [form for form in own.FORMATS if form.name == "parquet"]
MIDAS = huggingface.FORMATS[0]


def documents(path: str, form: Format = PARQUET) -> list[Document]:
    assert form.corpus is not None
    return [document for batch in form.corpus(path)() for document in batch.records()]


def predictions(path: str) -> list[Prediction]:
    assert PARQUET.run is not None
    return [prediction for batch in PARQUET.run(path)() for prediction in batch.records()]


def saved(path: Path, given_documents: Iterable[Document]) -> list[Document]:
    assert PARQUET.save_corpus is not None
    PARQUET.save_corpus(str(path), given_documents)
    return documents(str(path))


def saved_run(path: Path, given_predictions: Iterable[Prediction]) -> list[Prediction]:
    assert PARQUET.save_run is not None
    PARQUET.save_run(str(path), given_predictions)
    return predictions(str(path))


def table_at(path: Path, **columns: Any) -> str:
    parquet.write_table(pyarrow.table(columns), path)
    return str(path)


def essence(record: Document | Prediction) -> tuple[Any, ...]:
    """What must survive: no text is an empty text, no phrases are none, one variant is a phrase."""
    identifier = None if record.id is None else str(record.id)
    if isinstance(record, Prediction):
        told = (record.scores, record.token_probs, record.token_logprobs, record.kinds)
        return identifier, record.keyphrases or [], *[list(value) if value else None for value in told]
    sets = {name: references_of(found) for name, found in (record.reference_sets or {}).items()}
    return identifier, record.title or "", record.text or "", references_of(record.keyphrases), sets


def references_of(found: list[Any] | None) -> list[Any]:
    return [phrase[0] if isinstance(phrase, list) and len(phrase) == 1 else phrase for phrase in found or ()]


def failure_of(path: str) -> str:
    with pytest.raises(InputError) as failure:
        list(rows(path, "parquet"))
    message = str(failure.value)
    assert "\n" not in message
    return message


# ---------------------------------------------------------------------------------------------- round trips


def test_a_corpus_is_read_as_it_was_written(tmp_path: Path) -> None:
    given_documents = [
        Document(id="d1", title="A", text="B c.\r\nd", keyphrases=["b", "c"]),
        Document(id="d2", text="", keyphrases=[]),
        Document(id="d3", title="Ä", text="ﬀ \x00 \u2028"),
    ]

    assert saved(tmp_path / "x.parquet", given_documents) == given_documents
    assert PARQUET.fits(Head(str(tmp_path / "x.parquet")))


def test_variants_and_reference_sets_are_kept(tmp_path: Path) -> None:
    given_documents = [
        Document(id=1, keyphrases=["a", ["b", "b's"]], reference_sets={"author": ["a"], "reader": [["b", "c"]]}),
        Document(id=2, keyphrases=[["c"], None, ""], reference_sets={"other": []}),
        Document(id=3, keyphrases=None, reference_sets={}),
        Document(id=4),
    ]

    read = saved(tmp_path / "x.parquet", given_documents)

    assert [essence(document) for document in read] == [essence(document) for document in given_documents]


def test_what_a_run_tells_is_kept(tmp_path: Path) -> None:
    given_predictions = [
        Prediction(
            id="d1",
            keyphrases=["a b", None],
            scores=[0.9, None],
            token_probs=[[0.9, 0.8], None],
            token_logprobs=[[-0.1, -0.2], []],
            kinds=["present", "absent"],
        ),
        Prediction(id="d2", keyphrases=["c"], scores=[1]),
        Prediction(id="d3", keyphrases=[]),
    ]

    read = saved_run(tmp_path / "x.parquet", given_predictions)

    assert [essence(prediction) for prediction in read] == [essence(prediction) for prediction in given_predictions]
    assert PARQUET.fits(Head(str(tmp_path / "x.parquet")))


def test_lists_of_phrases_are_lists_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    saved(path, [Document(id="d1", text="a", keyphrases=["a", "b"]), Document(id="d2", text="b", keyphrases=[])])

    table = parquet.read_table(path)

    assert table.column_names == ["id", "text", "keyphrases"]
    assert table.column("keyphrases").to_pylist() == [["a", "b"], []]


def test_ids_of_two_types_and_ids_too_large_for_a_column_are_kept_as_text(tmp_path: Path) -> None:
    for ids in ([1, "a"], ["1", 2], [2**70, 3]):
        read = saved(tmp_path / "x.parquet", [Document(id=identifier) for identifier in ids])  # type: ignore[arg-type]
        assert [document.id for document in read] == [str(identifier) for identifier in ids]


def test_documents_without_anything_are_counted(tmp_path: Path) -> None:
    assert len(saved(tmp_path / "x.parquet", [Document(), Document(), Document()])) == 3
    assert saved(tmp_path / "x.parquet", []) == []


@pytest.mark.parametrize("name", ["x.parquet.gz", "x.parquet.zst"])
def test_compressed_parquet_is_written_and_read(tmp_path: Path, name: str) -> None:
    given_documents = [Document(id=f"d{number}", text="x" * 50, keyphrases=["a"]) for number in range(2500)]

    assert saved(tmp_path / name, given_documents) == given_documents
    assert container_at(str(tmp_path / name)) == "parquet"
    magic = b"\x1f\x8b" if name.endswith("gz") else b"\x28\xb5\x2f\xfd"
    assert (tmp_path / name).read_bytes().startswith(magic)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
PHRASES = st.lists(st.none() | TEXTS, max_size=3)
REFERENCES = st.lists(st.none() | TEXTS | st.lists(st.none() | TEXTS, max_size=3), max_size=3)
IDS = st.none() | st.integers(-(2**70), 2**70) | TEXTS.filter(bool)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
DOCUMENTS = st.builds(
    Document,
    id=IDS,
    title=st.none() | TEXTS,
    text=st.none() | TEXTS,
    keyphrases=st.none() | REFERENCES,
    reference_sets=st.none() | st.dictionaries(TEXTS, REFERENCES, max_size=2),
)


@st.composite
def any_predictions(draw: st.DrawFn) -> Prediction:
    phrases = draw(PHRASES)

    def each(values: st.SearchStrategy[Any]) -> Any:
        return draw(st.none() | st.lists(values, min_size=len(phrases), max_size=len(phrases)))

    return Prediction(
        id=draw(IDS),
        keyphrases=phrases,
        scores=each(st.none() | NUMBERS | st.integers(0, 9)),
        token_probs=each(st.none() | st.lists(NUMBERS, max_size=2)),
        token_logprobs=each(st.none() | st.lists(NUMBERS, max_size=2)),
        kinds=each(st.sampled_from(["present", "absent"])),
    )


@untimed
@given(given_documents=st.lists(DOCUMENTS, max_size=4))
def test_any_corpus_is_read_as_it_was_written(tmp_path: Path, given_documents: list[Document]) -> None:
    read = saved(tmp_path / "x.parquet", given_documents)

    assert [essence(document) for document in read] == [essence(document) for document in given_documents]


@untimed
@given(given_predictions=st.lists(any_predictions(), max_size=4))
def test_any_run_is_read_as_it_was_written(tmp_path: Path, given_predictions: list[Prediction]) -> None:
    read = saved_run(tmp_path / "x.parquet", given_predictions)

    assert [essence(prediction) for prediction in read] == [essence(prediction) for prediction in given_predictions]


# ---------------------------------------------------------------------------------------------- odd files


def test_the_midas_columns_are_read_from_parquet(tmp_path: Path) -> None:
    path = table_at(
        tmp_path / "0000.parquet",
        id=pyarrow.array([7, 8], pyarrow.int64()),
        document=[["Trees", "grow"], ["Nets"]],
        doc_bio_tags=[["B", "O"], ["O"]],
        extractive_keyphrases=[["trees"], []],
        abstractive_keyphrases=[["forests"], []],
        other_metadata=[{"text": ["x"], "bio_tags": ["O"]}, {"text": [], "bio_tags": []}],
    )

    assert [form.name for form in huggingface.FORMATS if form.fits(Head(path))] == ["midas"]
    assert documents(path, MIDAS) == [
        Document(id=7, text="Trees grow", keyphrases=["trees", "forests"]),
        Document(id=8, text="Nets", keyphrases=[]),
    ]


def test_odd_columns_are_read_as_what_they_say(tmp_path: Path) -> None:
    path = table_at(
        tmp_path / "x.parquet",
        id=pyarrow.array([1, None], pyarrow.int8()),
        title=pyarrow.array([2020, 7]),
        text=pyarrow.array(["a", None]).dictionary_encode(),
        keyphrases=pyarrow.array([[1, 2], None]),
        when=pyarrow.array([datetime.datetime(2020, 1, 1), None]),
        price=pyarrow.array([decimal.Decimal("1.5"), None]),
        raw=pyarrow.array([b"\xff", None]),
        nothing=pyarrow.nulls(2),
        nested=pyarrow.array([{"a": [{"b": 1}]}, None]),
    )

    assert documents(path) == [
        Document(id=1, title="2020", text="a", keyphrases=["1", "2"]),
        Document(title="7"),
    ]


def test_phrases_in_one_string_are_split(tmp_path: Path) -> None:
    path = table_at(tmp_path / "x.parquet", id=["a", "b"], keyphrases=["x; y", '["z"]'])

    assert [prediction.keyphrases for prediction in predictions(path)] == [["x", "y"], ["z"]]


def test_a_column_of_the_wrong_type_is_an_error_with_its_row(tmp_path: Path) -> None:
    path = table_at(
        tmp_path / "x.parquet",
        id=[1, 2],
        document=pyarrow.array([["a"], ["b"]]),
        extractive_keyphrases=pyarrow.array([None, [[1]]]),
    )

    with pytest.raises(InputError, match=r"x\.parquet:2: Expected `str \| null`, got `array`"):
        documents(path, MIDAS)


def test_rows_are_numbered_over_all_batches(tmp_path: Path) -> None:
    path = table_at(tmp_path / "x.parquet", id=list(range(2500)))

    assert list(rows(path, "parquet")) == [(number + 1, {"id": number}) for number in range(2500)]


def test_two_columns_of_one_name_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], names=["id", "id"]), path)

    assert failure_of(str(path)) == f"{path}: two columns are named 'id'"


def test_a_time_that_cannot_be_told_is_an_error_in_one_sentence(tmp_path: Path) -> None:
    path = table_at(tmp_path / "x.parquet", id=[1], when=pyarrow.array([2**62], pyarrow.timestamp("ms")))

    assert failure_of(path).startswith(f"{path}: cannot be read as Parquet (")


def parquet_bytes() -> bytes:
    file = io.BytesIO()
    parquet.write_table(pyarrow.table({"id": list(range(5000)), "text": [f"text {n}" for n in range(5000)]}), file)
    return file.getvalue()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_cut_off_file_is_an_error_in_one_sentence(tmp_path: Path, share: float) -> None:
    path = tmp_path / "x.parquet"
    content = parquet_bytes()
    path.write_bytes(content[: max(4, int(len(content) * share))])

    assert container_at(str(path)) == "parquet"
    assert failure_of(str(path)).startswith(f"{path}: cannot be read as Parquet (")


def test_a_file_that_is_damaged_inside_is_an_error_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    content = bytearray(parquet_bytes())
    content[100:4000] = bytes(byte ^ 0x5A for byte in content[100:4000])
    path.write_bytes(content)

    assert failure_of(str(path)).startswith(f"{path}: cannot be read as Parquet (")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_cut_off_compressed_file_is_an_error_in_one_sentence(tmp_path: Path, pack: Any) -> None:
    path = tmp_path / "x.parquet.packed"
    content = pack(parquet_bytes())
    path.write_bytes(content[: len(content) // 2])

    assert "damaged or cut off" in failure_of(str(path))


# ---------------------------------------------------------------------------------------------- without the library


@pytest.fixture
def no_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)


@pytest.mark.usefixtures("no_pyarrow")
def test_without_the_library_the_command_that_installs_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1")

    with pytest.raises(MissingExtraError, match=r"^a Parquet file needs pyarrow: pip install 'karat\[parquet\]'$"):
        documents(str(path))


@pytest.mark.usefixtures("no_pyarrow")
def test_without_the_library_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError):
        save(str(tmp_path / "x.parquet"), [{"id": 1}])

    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"old")

    with pytest.raises(UnicodeEncodeError):
        save(str(path), [{"id": "half a character: \ud800"}])

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
