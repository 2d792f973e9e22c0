"""Passes on Spark: records joined by Spark, chunks made and looked at by its workers, answers brought back in order."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from karat.corpus import Batch, Batches, Corpus, Run
from karat.engines import Answers
from karat.errors import InputError, KaratError
from karat.formats import jsonl
from karat.limits import Limits, limits, set_limits
from karat.matching.join import Chunk, Decode, Join, matched_by
from karat.spark.records import Records, decoding, of_path
from karat.spark.workers import failing, raise_first

ANSWERS = "first bigint, answers binary, error binary"
CHUNK = 2000  # documents that are looked at together
MOST_ITEMS = 64  # items that are sent to a worker at a time


class SparkEngine:
    """An engine of karat.engines on a session of Spark."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def batches(self, path: str, role: str) -> Batches[Any] | None:
        """The records of JSON lines or Parquet, as data frames; None of other files, which are read here."""
        return of_path(self.spark, path, role)

    def answers(
        self,
        function: Callable[[Chunk], Answers],
        corpus: Corpus,
        runs: Sequence[Run],
        join: Join,
        ignored: dict[str, int],
    ) -> Iterator[Answers] | None:
        """What the function gives for every chunk, in corpus order, if all records are data frames."""
        sources = _frames(corpus, runs)
        by_id = all(matched_by(corpus, run, join.by) == "id" for run in runs)
        if sources and by_id and join.distinct and join.shard.count == 1:
            return self._joined(function, sources, corpus, runs, join, ignored)
        return None

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """What the function gives for every item, in their order; items are sent to the workers some at a time."""
        work = partial(_mapped, function, limits())
        workers = self.spark.sparkContext.defaultParallelism
        coming = iter(items)
        wave = workers  # grows, so that the first answers come soon and later ones cost little
        while held := [(n, bytearray(pickle.dumps(item))) for n, item in enumerate(islice(coming, wave))]:
            frame = self.spark.createDataFrame(held, "number bigint, item binary")
            parts = frame.repartitionByRange(min(len(held), 2 * workers), "number").sortWithinPartitions("number")
            yield from self._collected(parts.mapInArrow(work, ANSWERS))
            wave = min(2 * wave, MOST_ITEMS * workers)

    def _joined(
        self,
        function: Callable[[Chunk], Answers],
        sources: list[Records],
        corpus: Corpus,
        runs: Sequence[Run],
        join: Join,
        ignored: dict[str, int],
    ) -> Iterator[Answers]:
        from pyspark.sql import functions as f

        frames = [source.frame.persist(_storage()) for source in sources]
        try:
            for frame in frames:
                _raise_errors(frame)
            _check(frames, corpus, runs, join, ignored)
            joined = frames[0].select("place", "id", "raw")
            for n, frame in enumerate(frames[1:]):
                other = frame.select("id", f.col("raw").alias(f"raw_{n}"), f.col("place").alias(f"place_{n}"))
                joined = joined.join(other, "id", "left")
            kinds = [(source.origin, source.kind) for source in sources]
            work = partial(_chunk_answers, function, kinds, limits())
            parts = max(self.spark.sparkContext.defaultParallelism, frames[0].count() // CHUNK + 1)
            ordered = joined.repartitionByRange(parts, "place").sortWithinPartitions("place")
            yield from self._collected(ordered.mapInArrow(work, ANSWERS))
        finally:
            for frame in frames:
                frame.unpersist()

    def _collected(self, frame: Any) -> Iterator[Any]:
        """The answers of all workers in the order of their chunks: computed at once, brought here part by part."""
        from pyspark.errors import PySparkException

        kept = frame.persist(_storage())
        try:
            kept.count()
            for row in kept.toLocalIterator(prefetchPartitions=True):
                raise_first(row)
                yield pickle.loads(bytes(row.answers))  # from a worker of this session, not a file
        except PySparkException as error:
            raise _explained(error) from None
        finally:
            kept.unpersist()


def _storage() -> Any:
    from pyspark import StorageLevel

    return StorageLevel.MEMORY_AND_DISK


def _frames(corpus: Corpus, runs: Sequence[Run]) -> list[Records]:
    """The data frames of a corpus and its runs; none where one of them is no data frame."""
    found: list[Any] = [corpus.source, *(run.source for run in runs)]
    return found if all(isinstance(each, Records) for each in found) else []


def _raise_errors(frame: Any) -> None:
    """Raises the first error in the order of places that reading the lines met."""
    first = frame.filter("error is not null").orderBy("place").select("error").first()
    if first is not None:
        raise_first(first)


def _check(frames: list[Any], corpus: Corpus, runs: Sequence[Run], join: Join, ignored: dict[str, int]) -> None:
    """Says of ids what the join of one process says: repeated ones, documents that a run lacks, and further ones."""
    from pyspark.sql import functions as f

    names = [corpus.origin, *(run.origin for run in runs)]
    for frame, origin in zip(frames, names, strict=True):
        empty = frame.filter("id is null").orderBy("place").select("place").first()
        if empty is not None:
            raise InputError(f"{origin}:{empty.place}: no id, though earlier lines have one")
        counted = frame.groupBy("id").agg(
            f.count("*").alias("n"), f.sort_array(f.collect_list("place")).alias("places")
        )
        twice = counted.filter("n > 1").withColumn("second", f.col("places")[1]).orderBy("second").first()
        if twice is not None:
            raise InputError(f"{origin}: id {twice.id!r} is on line {twice.places[0]} and on line {twice.places[1]}")
    ids = frames[0].select("id")
    for run, frame in zip(runs, frames[1:], strict=True):
        if join.missing == "error":
            lacking = frames[0].join(frame.select("id"), "id", "left_anti").orderBy("place").first()
            if lacking is not None:
                known = frame.join(ids, "id", "left_semi").first() is not None
                own = None if known else frame.orderBy("place").first()
                raise join.lacks(run, lacking.id, corpus, None if own is None else own.id)
        further = frame.join(ids, "id", "left_anti")
        count = further.count()
        if count:
            first = further.orderBy("place").first()
            if join.extra == "error" or count == frame.count():
                raise join.strange(run, first.id, first.place, corpus, count)
            ignored[run.name] = count


def _chunk_answers(
    function: Callable[[Chunk], Answers], sources: list[Any], most: Limits, batches: Iterable[Any]
) -> Iterator[Any]:
    set_limits(most)
    for batch in batches:
        columns = {name: batch.column(name).to_pylist() for name in batch.schema.names}
        if columns["id"]:
            yield _answered(columns["place"][0], partial(_looked, function, sources, columns))


def _looked(function: Callable[[Chunk], Answers], sources: list[Any], columns: dict[str, list[Any]]) -> Answers:
    return function(_chunk(columns, sources))


def _mapped(function: Callable[[Any], Any], most: Limits, batches: Iterable[Any]) -> Iterator[Any]:
    set_limits(most)
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


def _chunk(columns: dict[str, list[Any]], sources: list[Any]) -> Chunk:
    """The chunk of some joined rows."""
    ids, (origin, kind) = columns["id"], sources[0]
    documents = Batch(list[str | None](ids), _block(columns["raw"]), columns["place"], decoding(origin, kind))
    predictions, missing = [], []
    for n, (origin, kind) in enumerate(sources[1:]):
        raw, places = columns[f"raw_{n}"], [place or 0 for place in columns[f"place_{n}"]]
        lacking = [i for i, each in enumerate(raw) if each is None]
        held = raw if lacking else _block(raw)
        predictions.append(Batch(list[str | None](ids), held, places, Decode(decoding(origin, kind))))
        missing.append(lacking)
    return Chunk(ids, documents, predictions, missing, [place - 1 for place in columns["place"]])


def _block(raw: list[bytes]) -> jsonl.Block:
    return jsonl.Block(b"\n".join(raw) + b"\n", len(raw))


def _explained(error: Any) -> KaratError:
    """What went wrong on workers, in a sentence."""
    said = str(error)
    if "No module named 'karat'" in said:
        return KaratError(
            "the workers' Python has no karat: install it there, or ship an environment "
            "(conda-pack or venv-pack, and spark.archives; docs/scale.md)"
        )
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return KaratError(f"Spark: {lines[-1] if lines else type(error).__name__}")
