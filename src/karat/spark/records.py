"""Documents and predictions as data frames of Spark: lines in their order, with their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from karat.corpus import BATCH_DOCUMENTS, Batch, Document, Prediction
from karat.errors import InputError, KaratError
from karat.formats import jsonl
from karat.formats.head import Role
from karat.limits import Limits, limits, set_limits
from karat.spark.paths import is_address, names_at, seen
from karat.spark.workers import failing, raise_first

SCHEMA = "place bigint, id string, raw binary, error binary"
KINDS: dict[str, type[Any]] = {"corpus": Document, "run": Prediction}
_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_LINES_OF_SPARK = (".json", ".json.gz")  # what Spark writes has lines under these names, too


class Records:
    """The records of a data frame; called, their batches, brought to this process.

    `frame` has a row for each record: its place, its id and the line itself.
    """

    def __init__(self, frame: Any, kind: type[Any], origin: str) -> None:
        self.frame, self.kind, self.origin = frame, kind, origin

    def __call__(self) -> Iterator[Batch[Any]]:
        """The batches, in the order of their places; the first without sorting the others, which nobody may want."""
        decode = decoding(self.origin, self.kind)
        first = self.frame.orderBy("place").limit(BATCH_DOCUMENTS).collect()
        if not first:
            return
        yield _batch(first, decode)
        rest = self.frame.filter(f"place > {first[-1].place}").orderBy("place")
        rows = rest.toLocalIterator(prefetchPartitions=True)
        while held := list(islice(rows, BATCH_DOCUMENTS)):
            yield _batch(held, decode)


def _batch(rows: list[Any], decode: Any) -> Batch[Any]:
    for row in rows:
        raise_first(row)
    return Batch([row.id for row in rows], [bytes(row.raw) for row in rows], [row.place for row in rows], decode)


def on_disk() -> Any:
    """Where lines are kept that are used several times: texts would fill the memory of workers."""
    from pyspark import StorageLevel

    return StorageLevel.DISK_ONLY


def decoding(origin: str, kind: type[Any]) -> Callable[..., Any]:
    """The function that decodes lines of an origin."""
    return partial(jsonl.decode, origin, kind)


def of_path(spark: Any, path: str, role: str) -> Records | None:
    """The records of JSON lines or Parquet in karat's own layout, a file or a folder of part files; None of others.

    Raises InputError if there is nothing at an address, or something else.
    """
    kind = _kind_of(spark, path)
    if kind is None or not _is_own(spark, path, role, kind):
        if is_address(path):
            raise InputError(f"{path}: through Spark, karat reads JSON lines and Parquet with karat's own fields")
        return None
    frame = of_lines(spark, path) if kind == "lines" else of_parquet(spark, path)
    return Records(with_ids(frame, path, KINDS[role]), KINDS[role], path)


def _kind_of(spark: Any, path: str) -> str | None:
    """What Spark reads at a path: lines, parquet, or None where karat has to look at it itself."""
    names = names_at(spark, path)
    kinds = {_kind_of_name(name, within=names != [path]) for name in names}
    return kinds.pop() if len(kinds) == 1 else None


def _kind_of_name(name: str, within: bool) -> str | None:
    if name.endswith(".parquet"):
        return "parquet"
    return "lines" if name.endswith((*_LINES, *_LINES_OF_SPARK) if within else _LINES) else None


def _is_own(spark: Any, path: str, role: str, kind: str) -> bool:
    """Whether a file, or the first of part files, is in karat's own layout: others are read here and sent."""
    from karat.formats import sniff
    from karat.formats.head import Head

    first = names_at(spark, path)[0]
    chosen: Role = "run" if role == "run" else "corpus"
    if not is_address(path):
        return sniff(Head(first, chosen)).name in ("karat", "parquet")
    frame = spark.read.text(first) if kind == "lines" else spark.read.parquet(first)
    row = frame.limit(1).first()
    beginning = "" if row is None else row[0] if kind == "lines" else of_frame(frame.limit(1)).first().raw.decode()
    with TemporaryDirectory() as folder:
        copy = Path(folder, "first.jsonl")
        copy.write_text(f"{beginning}\n", encoding="utf-8")
        return sniff(Head(str(copy), chosen)).name == "karat"


def of_lines(spark: Any, path: str) -> Any:
    """The lines of a file or of part files, with their places: files by name, lines by number."""
    from pyspark.sql import functions as f

    read = spark.read.option("lineSep", "\n").text(seen(path))
    metadata = f.col("_metadata")
    frame = read.select(
        f.col("value").cast("binary").alias("raw"),
        metadata.getField("file_path").alias("file"),
        metadata.getField("file_block_start").alias("start"),
        f.monotonically_increasing_id().alias("n"),
    )
    return _placed(spark, frame, path).filter("length(trim(raw)) > 0")


def of_parquet(spark: Any, path: str) -> Any:
    """The rows of Parquet as lines, with their places: files by name, rows by number."""
    from pyspark.sql import functions as f

    read = spark.read.parquet(seen(path))
    metadata = f.col("_metadata")
    frame = read.select(
        _as_line(read).alias("raw"),
        metadata.getField("file_path").alias("file"),
        f.lit(0).cast("bigint").alias("start"),
        metadata.getField("row_index").alias("n"),
    )
    return _placed(spark, frame, path)


def _placed(spark: Any, frame: Any, path: str) -> Any:
    """Lines with places, which rise by file, block and number; in a block, numbers follow each other."""
    from pyspark.sql import functions as f

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
    return numbered.select((f.col("n") + f.col("offset")).alias("place"), "raw")


def of_frame(frame: Any) -> Any:
    """The rows of any data frame as lines, with their places in the order in which Spark reads them."""
    from pyspark.sql import functions as f

    return frame.select((f.monotonically_increasing_id() + 1).alias("place"), _as_line(frame).alias("raw"))


def _as_line(frame: Any) -> Any:
    """A column: each row as JSON."""
    from pyspark.sql import functions as f

    return f.to_json(f.struct(*(f.col(f"`{name}`") for name in frame.columns))).cast("binary")


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
