"""Predictions of a data frame, written as Parquet block by block: long work that can be killed and goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from karat.errors import InputError
from karat.formats.base import quoted
from karat.spark.paths import Files
from karat.spark.records import Records, on_disk
from karat.spark.workers import PREDICTIONS, REMARKED, answer_of, predictions, raise_first

BLOCK = 100_000  # documents, at least, that are lost when the work is killed
MOST_BLOCKS = 64
TASKS = 4  # of a worker in a block
_NUMBER = re.compile(r"part-(\d+)")
_WHOSE, _DONE = "_karat", "_SUCCESS"


class Writing:
    """The work on a folder of Parquet files; what is done so far is in FOLDER.part, by blocks of documents."""

    def __init__(self, spark: Any, records: Records, output: str, whose: str) -> None:
        self.spark, self.records, self.whose = spark, records, whose
        self.output, self.part = Files(spark, output), Files(spark, f"{output}.part")

    def blocks(self, sent: Any) -> Iterator[tuple[int, list[Any]]]:
        """Writes what is missing, and gives (documents, remarks) of each block; those of earlier work have none."""
        self._begin()
        frame = self.records.frame.persist(on_disk())
        try:
            last = self._check(frame)
            size = max(BLOCK, -(-last // MOST_BLOCKS))
            numbered = [(n, self.part.at(f"_block-{n:05}"), n * size) for n in range(-(-last // size))]
            for _, block, first in numbered:
                if block.at(_DONE).exists():
                    yield self.spark.read.parquet(block.path).count(), []
                else:
                    yield self._block(frame.filter(f"place > {first} and place <= {first + size}"), block, sent)
        finally:
            frame.unpersist()
        self._finish([(n, block) for n, block, _ in numbered])

    def _begin(self) -> None:
        """Takes up what earlier work with the same fingerprint has left, and forgets that of another."""
        if self.output.exists():
            raise InputError(f"{self.output.path}: is there already; Spark writes folders, and overwrites none")
        mark = self.part.at(_WHOSE)
        if self.part.exists() and not (mark.exists() and mark.text() == self.whose):
            self.part.delete()
        mark.write(self.whose)

    def _check(self, frame: Any) -> int:
        """The last place. Raises InputError if a line cannot be read, or an id comes twice."""
        first = frame.filter("error is not null").orderBy("place").select("error").first()
        if first is not None:
            raise_first(first)
        twice = frame.filter("id is not null").groupBy("id").agg({"*": "count", "place": "max"})
        row = twice.filter("`count(1)` > 1").orderBy("max(place)").first()
        if row is not None:
            raise InputError(f"{self.records.origin}: two documents have the id {quoted(row.id)}; ids are to differ")
        return int(frame.agg({"place": "max"}).first()[0])

    def _block(self, documents: Any, block: Files, sent: Any) -> tuple[int, list[Any]]:
        parts = TASKS * self.spark.sparkContext.defaultParallelism
        ordered = documents.repartitionByRange(parts, "place").sortWithinPartitions("place")
        work = partial(predictions, sent, self.records.origin, self.records.kind)
        found = ordered.mapInArrow(work, REMARKED).persist()
        try:
            told = found.filter("answers is not null or error is not null").select("place", "answers", "error")
            remarks = [answer_of(row) for row in told.orderBy("place").toLocalIterator()]
            found.select(*PREDICTIONS).write.mode("overwrite").parquet(block.path)
            return found.count(), remarks
        finally:
            found.unpersist()

    def _finish(self, blocks: list[tuple[int, Files]]) -> None:
        """Makes one folder of the blocks, whose files have the order of documents; a kill in the midst loses none."""
        for number, block in blocks:
            for path in sorted(block.names()):
                found = _NUMBER.search(path.rpartition("/")[2])
                name = f"part-{number:05}-{found[1] if found else 0}.parquet"
                Files(self.spark, path).move(self.part.at(name))
        for _, block in blocks:
            block.delete()
        self.part.at(_WHOSE).delete()
        self.part.at(_DONE).write("")
        self.part.move(self.output)
