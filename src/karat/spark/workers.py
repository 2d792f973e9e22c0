"""What runs on the workers of Spark, and what they send back: answers, or the error of karat that ended them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import msgspec

from karat.corpus import Batch, Prediction
from karat.engines import Answers, receive
from karat.errors import InputError, KaratError
from karat.formats import jsonl
from karat.isolation import script_modules
from karat.libraries import library
from karat.limits import Limits, limits, set_limits
from karat.matching.join import Chunk, Decode
from karat.matching.passes import Setup, View

ANSWERS = "first bigint, answers binary, error binary"
PREDICTIONS = {
    "id": "string",
    "keyphrases": "array<string>",
    "scores": "array<double>",
    "token_probs": "array<array<double>>",
    "token_logprobs": "array<array<double>>",
    "kinds": "array<string>",
    "concepts": "array<string>",
    "concepts_by": "array<string>",
}
REMARKED = "place bigint, " + ", ".join(map(" ".join, PREDICTIONS.items())) + ", answers binary, error binary"


class Sent:
    """A function with all it needs, as it travels to a worker; there it is made once, however many tasks use it."""

    def __init__(self, function: Callable[..., Any], places: dict[str, str]) -> None:
        self._pickled = _pickled(function)
        self._limits: Limits = limits()
        self._places = places  # of files: their name among those that were sent
        self._function: Callable[..., Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_parts, (self._pickled, self._limits, self._places)

    def function(self) -> Callable[..., Any]:
        """The function, on a worker that is set up for it."""
        if self._function is None:
            from pyspark import SparkFiles

            set_limits(self._limits)
            receive({path: SparkFiles.get(name) for path, name in self._places.items()})
            self._function = pickle.loads(self._pickled)  # from the driver of this session, not a file
        return self._function


def _pickled(function: Callable[..., Any]) -> bytes:
    """Return a function as bytes, with the code of the script's modules, which workers do not import.

    Raises InputError if it cannot be pickled.
    """
    cloudpickle: Any = library("pyspark.cloudpickle", "the engine spark")
    modules = script_modules()
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(function))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InputError(f"the model cannot be sent to workers: {error}") from None
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _of_parts(pickled: bytes, most: Limits, places: dict[str, str]) -> Sent:
    found = Sent.__new__(Sent)
    found._pickled, found._limits, found._places, found._function = pickled, most, places, None
    return found


# ---------------------------------------------------------------------------------------------- errors


def failing(error: KaratError) -> bytes:
    """An error as bytes that travel from a worker to the driver."""
    return pickle.dumps(error)


def raise_first(row: Any) -> None:
    """Raises the error that a row of a worker holds, if it holds one."""
    if row.error is not None:
        raise pickle.loads(bytes(row.error))  # between processes of one session, not a file


def answer_of(row: Any) -> Any:
    """What a worker answered; raises the error that it met."""
    raise_first(row)
    return pickle.loads(bytes(row.answers))  # likewise


# ---------------------------------------------------------------------------------------------- looks and items


def chunk_answers(sent: Any, sources: list[Any], batches: Iterable[Any]) -> Iterator[Any]:
    """The answers for joined rows, a chunk at a time."""
    function = sent.value.function()
    for batch in batches:
        columns = {name: batch.column(name).to_pylist() for name in batch.schema.names}
        if columns["id"]:
            yield _answered(columns["place"][0], partial(_looked, function, sources, columns))


def _looked(function: Callable[[Chunk], Answers], sources: list[Any], columns: dict[str, list[Any]]) -> Answers:
    return function(_chunk(columns, sources))


def _chunk(columns: dict[str, list[Any]], sources: list[Any]) -> Chunk:
    """The chunk of some joined rows."""
    ids, (origin, kind) = columns["id"], sources[0]
    documents = Batch(list[str | None](ids), _block(columns["raw"]), columns["place"], _decoding(origin, kind))
    predictions, missing = [], []
    for n, (origin, kind) in enumerate(sources[1:]):
        raw, places = columns[f"raw_{n}"], [place or 0 for place in columns[f"place_{n}"]]
        lacking = [i for i, each in enumerate(raw) if each is None]
        held = raw if lacking else _block(raw)
        predictions.append(Batch(list[str | None](ids), held, places, Decode(_decoding(origin, kind))))
        missing.append(lacking)
    return Chunk(ids, documents, predictions, missing, [place - 1 for place in columns["place"]])


def _block(raw: list[bytes]) -> jsonl.Block:
    return jsonl.Block(b"\n".join(raw) + b"\n", len(raw))


def _decoding(origin: str, kind: type[Any]) -> Callable[..., Any]:
    return partial(jsonl.decode, origin, kind)


def mapped(sent: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """What a function gives for items that were sent."""
    function = sent.value.function()
    for batch in batches:
        for number, item in zip(batch.column("number").to_pylist(), batch.column("item").to_pylist(), strict=True):
            yield _answered(number, partial(_of_sent, function, item))


def _of_sent(function: Callable[[Any], Any], item: bytes) -> Any:
    return function(pickle.loads(item))  # from the driver of this session, not a file


def _answered(first: int, look: Callable[[], Any]) -> Any:
    """A row: where a chunk begins, and its answers, or the error of karat that they ended with."""
    import pyarrow as pa

    answers: bytes | None = None
    error: bytes | None = None
    try:
        answers = pickle.dumps(look(), protocol=5)
    except KaratError as failed:
        error = failing(failed)
    columns = [pa.array([first], pa.int64()), pa.array([answers], pa.binary()), pa.array([error], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, ["first", "answers", "error"])


# ---------------------------------------------------------------------------------------------- predictions


def predictions(sent: Any, origin: str, kind: type[Any], batches: Iterable[Any], raises: bool = False) -> Iterator[Any]:
    """Rows of predictions for lines of documents; the first row of a chunk has the remark, or the error.

    With `raises`, an error is raised: for data frames whose user looks at predictions alone.
    """
    function = sent.value.function()
    for batch in batches:
        places, ids, raw = (batch.column(name).to_pylist() for name in ("place", "id", "raw"))
        if not places:
            continue
        found: list[Prediction] = []
        answers: bytes | None = None
        error: bytes | None = None
        try:
            found, remark = function(Batch(ids, _block(raw), places, _decoding(origin, kind)))
            answers = pickle.dumps(remark)
        except KaratError as failed:
            if raises:
                raise
            error = failing(failed)
        yield _rows(places, found, answers, error)


def _rows(places: list[int], found: list[Prediction], answers: bytes | None, error: bytes | None) -> Any:
    import pyarrow as pa

    rest = [None] * (len(places) - 1)
    records = [msgspec.to_builtins(each) for each in found] or [{}] * len(places)
    columns = [pa.array(places, pa.int64())]
    for name, kind in PREDICTIONS.items():
        values = [each.get(name) for each in records]
        columns.append(pa.array(list(map(_text, values)) if name == "id" else values, _arrow(kind)))
    columns += [pa.array([answers, *rest], pa.binary()), pa.array([error, *rest], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, ["place", *PREDICTIONS, "answers", "error"])


def _text(identifier: str | int | None) -> str | None:
    return None if identifier is None else str(identifier)


def _arrow(kind: str) -> Any:
    """The type of Arrow of a type of Spark."""
    import pyarrow as pa

    if kind.startswith("array<"):
        return pa.list_(_arrow(kind[len("array<") : -1]))
    return {"string": pa.string(), "double": pa.float64()}[kind]


# ---------------------------------------------------------------------------------------------- pairs


def packed(batches: Iterable[Any]) -> Iterator[Any]:
    """Rows of pairs as arrays, a batch at a time."""
    for batch in batches:
        if len(batch):
            columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in ("a", "b", "score")]
            yield _answered(int(columns[0][0]), lambda columns=columns: columns)  # type: ignore[misc]


SETS = "document bigint, name string, items array<string>"


def sets(sent: Any, origin: str, kind: type[Any], reference_set: str | None, batches: Iterable[Any]) -> Iterator[Any]:
    """What is compared of documents, each item once: rows of their place, id and items."""
    import pyarrow as pa

    look = sent.value.function()
    for batch in batches:
        columns = {name: batch.column(name).to_pylist() for name in ("place", "id", "raw")}
        if not columns["place"]:
            continue
        names = [name or str(place) for name, place in zip(columns["id"], columns["place"], strict=True)]
        chunk = _chunk({**columns, "id": names}, [(origin, kind)])
        found = look(View(Setup(origin, False, (), reference_set), chunk))
        each = iter(found.item.tolist())
        items = [{found.distinct[n] for n in islice(each, count)} - {""} for count in found.counts]
        arrays = [pa.array(columns["place"], pa.int64()), pa.array(names, pa.string())]
        arrays.append(pa.array(list(map(list, items)), pa.list_(pa.string())))
        yield pa.RecordBatch.from_arrays(arrays, ["document", "name", "items"])
