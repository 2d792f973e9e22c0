"""A function over many items gives the same results in the same order on any number of processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import cast

import pytest

from karat.errors import InputError, KaratError, MissingExtraError
from karat.matching.workers import ordered_map
from tests.waiting import until

ON_ONE_AND_ON_THREE = pytest.mark.parametrize("jobs", [1, 3])


def doubled(number: int) -> int:
    return 2 * number


def uneven(number: int) -> int:
    """Rests at even numbers, so that the odd ones after them are done first."""
    if number % 2 == 0:
        time.sleep(0.01)
    return number


def looked_up(table: dict[str, int], key: str) -> int:
    return table[key]


def refuse_seven(number: int) -> int:
    if number == 7:
        raise InputError("corpus.jsonl:7: no such luck")
    return number


def lack_an_extra(_: int) -> int:
    raise MissingExtraError("tokenizer=nltk needs nltk: pip install 'karat[ngram]'")


def divide_by(number: int) -> float:
    return 1 / number


def die(_: int) -> int:
    os._exit(3)


def process(_: int) -> int:
    return os.getpid()


@ON_ONE_AND_ON_THREE
def test_results_come_in_the_order_of_the_items(jobs: int) -> None:
    assert list(ordered_map(doubled, range(100), jobs)) == [2 * n for n in range(100)]
    assert list(ordered_map(uneven, range(40), jobs)) == list(range(40))


@ON_ONE_AND_ON_THREE
def test_no_items_give_no_results(jobs: int) -> None:
    assert list(ordered_map(doubled, [], jobs)) == []


@pytest.mark.parametrize("items", [1, 2, 11, 12, 13])
def test_fewer_items_than_are_kept_in_flight_are_all_done(items: int) -> None:
    assert list(ordered_map(doubled, range(items), 3)) == [2 * n for n in range(items)]


def test_one_job_works_in_this_process_and_several_do_not() -> None:
    assert set(ordered_map(process, range(5), 1)) == {os.getpid()}
    assert os.getpid() not in set(ordered_map(process, range(5), 3))


@ON_ONE_AND_ON_THREE
def test_what_a_function_is_bound_to_reaches_the_processes(jobs: int) -> None:
    assert list(ordered_map(partial(looked_up, {"a": 1, "b": 2}), "abba", jobs)) == [1, 2, 2, 1]


@ON_ONE_AND_ON_THREE
def test_bad_input_found_by_a_worker_is_raised_as_it_is(jobs: int) -> None:
    with pytest.raises(InputError, match=r"^corpus\.jsonl:7: no such luck$"):
        list(ordered_map(refuse_seven, range(100), jobs))


@ON_ONE_AND_ON_THREE
def test_results_before_the_failure_are_given_first(jobs: int) -> None:
    results = ordered_map(refuse_seven, range(100), jobs)

    assert list(islice(results, 7)) == list(range(7))
    with pytest.raises(InputError):
        next(results)


@ON_ONE_AND_ON_THREE
def test_an_extra_that_a_worker_lacks_is_named(jobs: int) -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'karat\[ngram\]'"):
        list(ordered_map(lack_an_extra, [1], jobs))


@ON_ONE_AND_ON_THREE
def test_a_fault_of_ours_is_raised_as_it_is(jobs: int) -> None:
    with pytest.raises(ZeroDivisionError):
        list(ordered_map(divide_by, [1, 0, 1], jobs))


@ON_ONE_AND_ON_THREE
def test_a_failure_while_items_are_read_is_raised_as_it_is(jobs: int) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise InputError("run.jsonl:2: not JSON")

    with pytest.raises(InputError, match=r"^run\.jsonl:2: not JSON$"):
        list(ordered_map(doubled, items(), jobs))


def test_a_worker_that_ends_is_said_in_words() -> None:
    with pytest.raises(KaratError, match=r"a worker process ended"):
        list(ordered_map(die, range(20), 3))


@dataclass
class Endless:
    """The numbers from 0 on, and how many were handed out."""

    handed_out: int = 0

    def __iter__(self) -> Iterator[int]:
        for number in count():
            self.handed_out += 1
            yield number


@ON_ONE_AND_ON_THREE
def test_items_are_read_only_as_far_as_results_are_taken(jobs: int) -> None:
    items = Endless()

    assert list(islice(ordered_map(doubled, items, jobs), 5)) == [0, 2, 4, 6, 8]
    assert items.handed_out <= 5 + 8 * jobs


@ON_ONE_AND_ON_THREE
def test_no_item_is_read_after_the_consumer_has_stopped(jobs: int) -> None:
    items = Endless()
    results = cast("Generator[int, None, None]", ordered_map(doubled, items, jobs))
    assert list(islice(results, 3)) == [0, 2, 4]
    read = items.handed_out

    results.close()

    assert items.handed_out == read
    assert list(results) == []


KILLED = """
import os, sys, time
from karat.matching.workers import ordered_map

def whose(item):
    time.sleep(0.05)
    return os.getpid()

for number in ordered_map(whose, iter(int, 1), 2):
    print(number, flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_workers_end_when_the_process_that_started_them_is_killed() -> None:
    source = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    with subprocess.Popen([sys.executable, "-c", KILLED], env=source, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        workers: set[str] = set()
        while len(workers) < 2:
            workers.add(started.stdout.readline().strip())
        started.kill()
    until(lambda: not any(Path("/proc", worker).exists() for worker in workers), f"{workers} still run")
