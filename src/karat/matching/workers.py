"""The same function over many items on several processes, results in the items' order."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from karat.engines import engine
from karat.errors import KaratError
from karat.isolation import worker_environment
from karat.limits import Limits, limits, set_limits

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 4  # processes for each core: more only wait for each other
_AHEAD = 4  # items in flight for each process: enough to keep it busy, few enough for memory

_ASKED_TO_END = {signal.SIGINT, signal.SIGTERM}

_function: Callable[[Any], Any]


def follow_parent() -> None:
    """Leaves it to the process that started this one to end it: by a signal, or by being gone itself."""
    # Ctrl-C reaches every process of the terminal; the one that was started ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASKED_TO_END)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _start(function: Callable[[Any], Any], most: Limits) -> None:
    global _function
    follow_parent()
    set_limits(most)
    _function = function


def _end_with_parent() -> None:
    """Ends this process when the one that started it is gone, killed perhaps: nobody would ask it for anything more."""
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _call(item: Any) -> Any:
    return _function(item)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def capped(jobs: int) -> int:
    """As many processes as are wanted, and no more than four for each core."""
    return min(jobs, MOST * cores())


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], jobs: int = 1, files: Sequence[str] = ()
) -> Iterator[Result]:
    """The function's results in order; `items` is read only as far as the processes keep up.

    There are at most four processes for each core; with an engine in force, its workers do the work. They get `files`,
    the files and folders that the function needs (karat.engines.received).
    """
    if (elsewhere := engine()) is not None:
        yield from elsewhere.map(function, items, files)
        return
    jobs = capped(jobs)
    if jobs <= 1:
        yield from map(function, items)
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    waiting: deque[Future[Result]] = deque()
    with start_of_workers():  # where processes are spawned, its queues start one that watches over semaphores
        executor = ProcessPoolExecutor(jobs, _context(), _start, (function, limits()))
    with executor as pool:
        try:
            for item in items:
                with start_of_workers():
                    waiting.append(pool.submit(_call, item))
                if len(waiting) >= _AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise KaratError("a worker process ended; it may have run out of memory: try a smaller -j") from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def start_of_workers() -> Iterator[None]:
    """Start processes in the context: without secrets, with a safe module path, and with signals held back.

    A new process would take a signal as meant for itself, and complain.
    """
    blocks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ASKED_TO_END) if blocks else None
    try:
        with worker_environment():
            yield
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context() -> Any:
    import multiprocessing

    # A forked worker starts at once and shares what is imported; elsewhere than on Linux forking is not safe.
    methods = multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("fork" if "fork" in methods and sys.platform == "linux" else "spawn")
