"""Documents and predictions as data frames of Spark: lines in their order, with their ids."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from karat.corpus import Batch, Document, Prediction
from karat.errors import InputError, KaratError
from karat.formats import jsonl
from karat.limits import Limits, limits, set_limits
from karat.spark.workers import failing, raise_first

SCHEMA = "place bigint, id string, raw binary, error binary"
KINDS: dict[str, type[Any]] = {"corpus": Document, "run": Prediction}
_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


class Records:
    """The records of a data frame; called, their batches, brought to this process.

    `frame` has a row for each record: its place, its id and the line itself.
    """

    def __init__(self, frame: Any, kind: type[Any], origin: str) -> None:
        self.frame, self.kind, self.origin = frame, kind, origin

    def __call__(self) -> Iterator[Batch[Any]]:
        """The batches, in the order of their places."""
        decode = decoding(self.origin, self.kind)
        held: list[Any] = []
        for row in self.frame.orderBy("place").toLocalIterator(prefetchPartitions=True):
            raise_first(row)
            held.append(row)
            if len(held) == 1000:
                yield _batch(held, decode)
                held = []
        if held:
            yield _batch(held, decode)


def _batch(rows: list[Any], decode: Any) -> Batch[Any]:
    return Batch([row.id for row in rows], [bytes(row.raw) for row in rows], [row.place for row in rows], decode)


def decoding(origin: str, kind: type[Any]) -> Callable[..., Any]:
    """The function that decodes lines of an origin."""
    return partial(jsonl.decode, origin, kind)


def of_path(spark: Any, path: str, role: str) -> Records | None:
    """The records of JSON lines or Parquet in karat's own layout, a file or a folder of part files; None of others."""
    kind = _kind_of(path)
    if kind is None or not _is_own(path, role):
        return None
    frame = of_lines(spark, path) if kind == "lines" else of_frame(spark.read.parquet(path))
    return Records(with_ids(frame, path, KINDS[role]), KINDS[role], path)


def _kind_of(path: str) -> str | None:
    """What Spark reads at a path: lines, parquet, or None where karat has to look at it itself."""
    name = path.rstrip("/")
    if name.endswith(".parquet"):
        return "parquet"
    if name.endswith(_LINES):
        return "lines"
    if os.path.isdir(path):
        names = sorted(each for each in os.listdir(path) if not each.startswith(("_", ".")))
        kinds = {_kind_of(each) for each in names}
        return kinds.pop() if len(kinds) == 1 else None
    return None


def _is_own(path: str, role: str) -> bool:
    """Whether a file, or the first of part files, is in karat's own layout: others are read here and sent."""
    from karat.formats import sniff
    from karat.formats.head import Head

    if not os.path.exists(path):
        return False
    parts = sorted(each for each in os.listdir(path) if not each.startswith(("_", "."))) if os.path.isdir(path) else []
    first = os.path.join(path, parts[0]) if parts else path
    return sniff(Head(first, "run" if role == "run" else "corpus")).name in ("karat", "parquet")


def of_lines(spark: Any, path: str) -> Any:
    """The lines of a file or of part files, with their places: files by name, lines by number."""
    from pyspark.sql import functions as f

    read = spark.read.option("lineSep", "\n").text(path)
    metadata = f.col("_metadata")
    frame = read.select(
        f.col("value").cast("binary").alias("raw"),
        metadata.getField("file_path").alias("file"),
        metadata.getField("file_block_start").alias("start"),
        f.monotonically_increasing_id().alias("n"),
    )
    counted = frame.groupBy("file", "start").agg(f.min("n").alias("first"), f.count("*").alias("lines"))
    blocks = sorted(counted.collect(), key=lambda row: (row.file, row.start))
    if not blocks:
        raise InputError(f"{path}: the file is empty")
    offsets, place = [], 1
    for row in blocks:
        offsets.append((row.file, row.start, place - row.first))
        place += row.lines
    known = spark.createDataFrame(offsets, "file string, start bigint, offset bigint")
    numbered = frame.join(f.broadcast(known), ["file", "start"])
    return numbered.select((f.col("n") + f.col("offset")).alias("place"), "raw").filter("length(trim(raw)) > 0")


def of_frame(frame: Any) -> Any:
    """The rows of any data frame as lines, with their places in the order in which Spark reads them."""
    from pyspark.sql import functions as f

    row = f.to_json(f.struct(*(f.col(f"`{name}`") for name in frame.columns)))
    return frame.select((f.monotonically_increasing_id() + 1).alias("place"), row.cast("binary").alias("raw"))


def with_ids(frame: Any, origin: str, kind: type[Any]) -> Any:
    """Lines with the ids of their records."""
    return frame.mapInArrow(partial(_identified, origin, kind, limits()), SCHEMA)


def _identified(origin: str, kind: type[Any], most: Limits, batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    set_limits(most)
    for batch in batches:
        places, raw = (batch.column(name).to_pylist() for name in ("place", "raw"))
        ids: list[str | None] = []
        errors: list[bytes | None] = [None] * len(raw)
        try:
            ids = jsonl.ids_of(origin, kind, raw, places)
        except KaratError as error:
            ids, errors = [None] * len(raw), [failing(error)] * len(raw)
        columns = [pa.array(places, pa.int64()), pa.array(ids, pa.string()), pa.array(raw, pa.binary())]
        yield pa.RecordBatch.from_arrays([*columns, pa.array(errors, pa.binary())], ["place", "id", "raw", "error"])
