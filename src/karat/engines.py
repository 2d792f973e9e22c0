"""Where passes run: in this process and its workers, or on an engine that a user has, such as Spark.

An engine reads paths of its own kind and answers the looks of a pass for all chunks, in corpus order. There is at most
one in force, set by `--engine` or by `karat.spark.engine`; without one, passes run here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from karat.corpus import Batch, Batches, Corpus, Run

Answers = tuple[list[str], list[Any]]  # the ids of a chunk, and the answer of each look


class Engine(Protocol):
    """What karat needs of an engine."""

    def batches(self, path: str, role: str) -> Batches[Any] | None:
        """The records of a path that the engine reads itself; None of one that is read here."""

    def map(self, function: Callable[[Any], Any], items: Iterable[Any], files: Sequence[str] = ()) -> Iterator[Any]:
        """What the function gives for every item, in the order of the items.

        The files and folders that it needs are sent to the workers, which find them by `received`.
        """

    def answers(
        self,
        function: Callable[[Any], Answers],
        corpus: Corpus,
        runs: Sequence[Run],
        join: Any,
        ignored: dict[str, int],
    ) -> Iterator[Answers] | None:
        """What the function of a chunk gives for a whole corpus, in its order; None where chunks are to be made here.

        `join` and the chunks are those of karat.matching.join; `ignored` gets what runs have beyond the corpus.
        """

    def written(
        self,
        function: Callable[[Batch[Any]], tuple[list[Any], Any]],
        corpus: Corpus,
        output: str,
        whose: str,
        files: Sequence[str] = (),
    ) -> Iterator[tuple[int, list[Any]]] | None:
        """Writes predictions as Parquet, and gives (how many, remarks) block by block; None where it has to be here.

        The function gives predictions for some documents, and a remark. What is done is kept beside the output, and
        goes on from there if `whose`, a fingerprint, is the same.
        """

    def fingerprint(self, corpus: Corpus) -> str | None:
        """A hash of the documents, if the engine reads them itself."""

    def alike(self, starts: Any, items: Any, rare: Any, least: float, measure: str, equal: bool) -> tuple[Any, ...]:
        """(a, b, score) of every two sets that are alike, as karat.pairs.sets joins them.

        The items of a set are ranked, those that few sets have first, of which the first `rare` are in no other one.
        """


_current: Engine | None = None
_received: dict[str, str] = {}


def engine() -> Engine | None:
    """The engine in force, if there is one."""
    return _current


def is_address(path: str) -> bool:
    """Whether a path is an address that only an engine can read, as hdfs://HOST/corpus.jsonl.

    >>> is_address("s3a://texts/corpus.parquet"), is_address("corpus.jsonl")
    (True, False)
    """
    return "://" in path


def received(path: str) -> str:
    """Where this process finds a file of the process that was started: elsewhere, if it was sent to a worker."""
    return _received.get(path, path)


def receive(places: dict[str, str]) -> None:
    """Says to a worker where it finds what was sent to it."""
    _received.update(places)


@contextmanager
def in_force(found: Engine) -> Iterator[Engine]:
    """Puts an engine in force as long as it is open."""
    global _current
    before, _current = _current, found
    try:
        yield found
    finally:
        _current = before
