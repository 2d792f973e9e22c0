"""A slice of the fuzzer's cases, the same in every run: nothing ends in an internal error. And the fuzzer itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

import karat
from tests.fuzz import judge
from tests.fuzz.__main__ import SHARES

CASES, SEED = 1500, 20  # some 25 seconds


def fuzzed(folder: Path, *arguments: str) -> dict[str, Any]:
    """What came of the cases that the arguments name, by part."""
    told = folder / "told.json"
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *arguments, "--json", str(told)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert told.exists(), done.stderr
    found: dict[str, Any] = json.loads(told.read_text())
    return found


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return fuzzed(tmp_path_factory.mktemp("fuzz"), "--cases", str(CASES), "--seed", str(SEED))


@pytest.mark.parametrize("part", SHARES)
def test_damaged_input_is_used_or_refused_in_a_sentence(part: str, told: dict[str, Any]) -> None:
    found = told[part]["found"]
    again = f"python -m tests.fuzz --part {part} --seed {SEED} --case"

    assert told[part]["cases"] == max(1, round(CASES * SHARES[part] / sum(SHARES.values())))
    assert not found, "\n".join(f"{each['fault']['cause']}: {again} {each['number']}" for each in found)


# ---------------------------------------------------------------------------------------------- the fuzzer itself


MADE = """
from hashlib import md5
from tests.fuzz import seeds
from tests.fuzz.running import PARTS, make
made = [make(part, 3, number) for part in PARTS for number in range(30)], list(map(seeds.of, seeds.KINDS))
print(md5(repr(made).encode(errors="replace")).hexdigest())
"""


def test_the_case_of_a_number_is_the_same_in_every_process() -> None:
    said = {planted(MADE, PYTHONHASHSEED=seed) for seed in ("1", "2")}

    assert len(said) == 1


def planted(script: str, **environment: str) -> str:
    """What a script prints, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parents[2],
        env={"PYTHONPATH": "src", "PATH": "", **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_every_verb_of_the_command_has_cases() -> None:
    from tests.fuzz.verbs import GIVEN, commands

    assert commands().keys() == GIVEN.keys()


@pytest.mark.parametrize(
    "said",
    ["", "a\nb", "a\x1b[31mred", "name\u202etxt", "x" * 1001, "a\u2028b", "\x9b31m"],
)
def test_a_message_that_is_not_one_plain_sentence_is_a_fault(said: str) -> None:
    with pytest.raises(judge.SentenceError):
        judge.check_sentence(said)


def test_letters_of_any_language_may_stand_in_a_message() -> None:
    judge.check_sentence("corpus.jsonl:1: 'क्\u200dष' and “naïve” are no ids; write 'אב'")


def test_an_error_on_purpose_is_no_fault_and_any_other_is_one() -> None:
    assert judge.of_exception(karat.InputError("x.jsonl: the file is empty"), "/folder") is None

    fault = judge.of_exception(ZeroDivisionError("x"), "/folder")
    assert fault is not None
    assert fault.cause == "ZeroDivisionError [outside karat]"


@pytest.mark.parametrize(
    ("code", "err", "cause"),
    [
        (70, b"karat: internal error: KeyError('x'); please report it", "internal error: KeyError"),
        (-11, b"", "signal 11"),
        (2, b"", "exit code 2 without a sentence"),
        (2, b"karat: a\nb\n", "exit code 2, and the last line is no sentence"),
        (2, b"karat: x\x1b[31m\n", "standard error holds U+001B: score"),
    ],
)
def test_how_a_command_must_not_end(code: int, err: bytes, cause: str) -> None:
    fault = judge.of_command(code, b"", err, "score")

    assert fault is not None
    assert fault.cause == cause


@pytest.mark.parametrize("code", [0, 1, 2])
def test_how_a_command_may_end(code: int) -> None:
    assert judge.of_command(code, b"f1@5\n", b"karat: no file\n" if code == 2 else b"", "score") is None


PLANTED = """
import os, sys, time
from tests.fuzz import commands, readers, running
from tests.fuzz.case import Case

def wait(path, how):
    while True:
        pass

def grow(path, how):
    return bytes(1 << 31)

def crash(path, how):
    os.kill(os.getpid(), 11)

def fail(path, how):
    raise KeyError("x")

commands.SECONDS, running.BLOCK = 0.3, 3
planted = {"wait": wait, "grow": grow, "crash": crash, "fail": fail, "good": lambda path, how: None}
for name, read in planted.items():
    readers.READERS[name] = readers.Reader("key", read)
names = ["good", "wait", "good", "grow", "good", "crash", "fail", "good"]
running.make = lambda part, seed, number: Case("read", names[number], "{}/x", files={"x": b"1"})
tally = running.Tally()
running.Fleet("readers", 0, 2, tally).run(range(len(names)), time.monotonic() + 60)
print(tally.cases, tally.hangs, sorted((each.number, each.fault.cause.split()[0]) for each in tally.found))
"""


def test_a_hang_a_crash_and_a_case_that_takes_too_much_memory_are_found_and_the_others_are_run() -> None:
    assert planted(PLANTED) == "8 1 [(1, 'hang'), (3, 'memory'), (5, 'signal'), (6, 'KeyError')]\n"


def test_damage_to_results_reaches_what_stands_behind_the_checksum(tmp_path: Path) -> None:
    from tests.fuzz import seeds
    from tests.fuzz.results import damaged_results

    good = seeds.of("results")[0]["a.karat"]
    assert good is not None
    said = []
    for number in range(40):
        (tmp_path / "a.karat").write_bytes(damaged_results(good, Random(number)))
        try:
            karat.load(tmp_path / "a.karat")
            said.append("")
        except karat.InputError as error:
            said.append(str(error))

    assert sum("checksum" not in each for each in said) > 30
