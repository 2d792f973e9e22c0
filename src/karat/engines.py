"""Where passes run: in this process and its workers, or on an engine that a user has, such as Spark.

An engine reads paths of its own kind and answers the looks of a pass for all chunks, in corpus order. There is at most
one in force, set by `--engine` or by `karat.spark.engine`; without one, passes run here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from karat.corpus import Batches, Corpus, Run
    from karat.matching.join import Chunk, Join

Answers = tuple[list[str], list[Any]]  # the ids of a chunk, and the answer of each look


class Engine(Protocol):
    """What a pass needs of an engine."""

    def batches(self, path: str, role: str) -> Batches[Any] | None:
        """The records of a path that the engine reads itself; None of one that is read here."""

    def answers(
        self,
        function: Callable[[Chunk], Answers],
        corpus: Corpus,
        runs: Sequence[Run],
        join: Join,
        ignored: dict[str, int],
    ) -> Iterator[Answers]:
        """What the function gives for every chunk of the corpus, in its order."""


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
