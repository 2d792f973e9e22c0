"""Where passes run: in this process and its workers, or on an engine that a user has, such as Spark.

An engine reads paths of its own kind and answers the looks of a pass for all chunks, in corpus order. There is at most
one in force, set by `--engine` or by `karat.spark.engine`; without one, passes run here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from karat.corpus import Batches, Corpus, Run

Answers = tuple[list[str], list[Any]]  # the ids of a chunk, and the answer of each look


class Engine(Protocol):
    """What karat needs of an engine."""

    def batches(self, path: str, role: str) -> Batches[Any] | None:
        """The records of a path that the engine reads itself; None of one that is read here."""

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """What the function gives for every item, in the order of the items."""

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


_current: Engine | None = None


def engine() -> Engine | None:
    """The engine in force, if there is one."""
    return _current


@contextmanager
def in_force(found: Engine) -> Iterator[Engine]:
    """Puts an engine in force as long as it is open."""
    global _current
    before, _current = _current, found
    try:
        yield found
    finally:
        _current = before
