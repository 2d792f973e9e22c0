"""karat's engine on Spark: records joined by Spark, chunks looked at by its workers, answers brought back in order."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any

from karat.corpus import Batch, Batches, Corpus, Run
from karat.engines import Answers
from karat.errors import InputError
from karat.matching.join import Chunk, Join, has_id, matched_by
from karat.spark.alike import alike, distinct_sets, of_arrays
from karat.spark.files import sent_files
from karat.spark.records import Records, of_path, on_disk
from karat.spark.workers import ANSWERS, Sent, answer_of, chunk_answers, mapped, packed, raise_first
from karat.spark.writing import Writing

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
        if sources and by_id and (join.distinct or not runs) and join.shard.count == 1:
            return self._joined(function, sources, corpus, runs, join, ignored)
        return None

    def map(self, function: Callable[[Any], Any], items: Iterable[Any], files: Sequence[str] = ()) -> Iterator[Any]:
        """What the function gives for every item, in their order; items are sent to the workers some at a time."""
        workers = self.spark.sparkContext.defaultParallelism
        coming = iter(items)
        wave = workers  # grows, so that the first answers come soon and later ones cost little
        with self._sent(function, files) as sent:
            while held := [(n, bytearray(pickle.dumps(item))) for n, item in enumerate(islice(coming, wave))]:
                frame = self.spark.createDataFrame(held, "number bigint, item binary")
                parts = frame.repartitionByRange(min(len(held), 2 * workers), "number").sortWithinPartitions("number")
                yield from self._collected(parts.mapInArrow(partial(mapped, sent), ANSWERS))
                wave = min(2 * wave, MOST_ITEMS * workers)

    def written(
        self,
        function: Callable[[Batch[Any]], tuple[list[Any], Any]],
        corpus: Corpus,
        output: str,
        whose: str,
        files: Sequence[str] = (),
    ) -> Iterator[tuple[int, list[Any]]] | None:
        """Writes predictions as Parquet, (how many, remarks) block by block, if the documents are a data frame."""
        if not isinstance(corpus.source, Records):
            return None
        return self._written(Writing(self.spark, corpus.source, output, whose), function, files)

    def fingerprint(self, corpus: Corpus) -> str | None:
        """A hash of the documents of a data frame, with their places."""
        if not isinstance(corpus.source, Records):
            return None
        row = corpus.source.frame.selectExpr("sum(cast(xxhash64(place, raw) as decimal(38)))", "count(*)").first()
        return f"{row[0]}-{row[1]}"

    def alike(self, starts: Any, items: Any, rare: Any, least: float, measure: str, equal: bool) -> tuple[Any, ...]:
        """(a, b, score) of every two sets that are alike, in their order."""
        import numpy as np

        distinct = distinct_sets(of_arrays(self.spark, starts, items, rare)).persist(_storage())
        found = alike(distinct, least, measure, equal)
        ordered = found.repartitionByRange("a").sortWithinPartitions("a", "b")
        parts = list(self._collected(ordered.mapInArrow(packed, ANSWERS)))
        distinct.unpersist()
        empty = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        return tuple(np.concatenate([none, *(part[n] for part in parts)]) for n, none in enumerate(empty))

    def _written(
        self, writing: Writing, function: Callable[..., Any], files: Sequence[str]
    ) -> Iterator[tuple[int, list[Any]]]:
        with self._sent(function, files) as sent:
            yield from writing.blocks(sent)

    @contextmanager
    def _sent(self, function: Callable[..., Any], files: Sequence[str] = ()) -> Iterator[Any]:
        """A function as workers get it: once each, however many tasks they do."""
        places = sent_files(self.spark, files)
        broadcast = self.spark.sparkContext.broadcast(Sent(function, places))
        try:
            yield broadcast
        finally:
            broadcast.unpersist()

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

        frames = [source.frame.persist(on_disk()) for source in sources]
        try:
            for frame in frames:
                _raise_errors(frame)
            if not has_id(corpus):
                frames[0] = frames[0].withColumn("id", f.col("place").cast("string"))
            if join.distinct:
                _check(frames, corpus, runs, join, ignored)
            own = f.coalesce("id", f.col("place").cast("string")).alias("id")
            joined = frames[0].select("place", own, "raw")
            for n, frame in enumerate(frames[1:]):
                other = frame.select("id", f.col("raw").alias(f"raw_{n}"), f.col("place").alias(f"place_{n}"))
                joined = joined.join(other, "id", "left")
            kinds = [(source.origin, source.kind) for source in sources]
            parts = max(self.spark.sparkContext.defaultParallelism, frames[0].count() // CHUNK + 1)
            ordered = joined.repartitionByRange(parts, "place").sortWithinPartitions("place")
            with self._sent(function) as sent:
                yield from self._collected(ordered.mapInArrow(partial(chunk_answers, sent, kinds), ANSWERS))
        finally:
            for frame in frames:
                frame.unpersist()

    def _collected(self, frame: Any) -> Iterator[Any]:
        """The answers of all workers in the order of their chunks: computed at once, brought here part by part."""
        kept = frame.persist(_storage())
        try:
            kept.count()
            for row in kept.toLocalIterator(prefetchPartitions=True):
                yield answer_of(row)
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
