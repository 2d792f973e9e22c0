"""The command in a process of its own: what it writes, what it says, and what it does when it is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import karat
from karat.cli import karat as command
from karat.errors import InputError
from tests.pairs.server import Endpoint, answer, broken, hold, status
from tests.waiting import PATIENCE, until

SECRET = "sk-4711-very-secret"
# An interrupt is taken as in a shell's foreground, wherever the tests themselves run.
COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from karat.cli import main
main()
"""
# The same, which makes a file when it has taken the interrupt and asks for no more; answers have all the time to come.
STOPPING_COMMAND = f"""
import sys, threading
import karat.llm.ask as asking
class Event(threading.Event):
    def set(self):
        super().set()
        if isinstance(sys.exception(), KeyboardInterrupt):
            open("stopping", "w").close()
asking.Event, asking.GRACE = Event, {PATIENCE}
{COMMAND}
"""
WORDS = ("bees", "wasps", "ants", "moths", "flies", "gnats")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [
        {"id": f"d{n}", "title": f"On {word}", "text": f"How the {word} live.", "keyphrases": [[word, word.upper()]]}
        for n, word in enumerate(WORDS, 1)
    ]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def environment(server: Endpoint) -> dict[str, str]:
    own = {"PYTHONPATH": str(Path(karat.__file__).parents[1]), "PYTHONIOENCODING": "utf-8"}
    own |= {"KARAT_LLM_BASE_URL": server.url, "KARAT_LLM_MODEL": "small", "KARAT_LLM_KEY": SECRET}
    return {name: value for name, value in os.environ.items() if name != "KARAT_DEBUG"} | own


def arguments(*given: str, via: str = "paraphrase", program: str = COMMAND) -> list[str]:
    return [
        sys.executable,
        "-c",
        program,
        "pairs",
        "reformulate",
        "corpus.jsonl",
        "--via",
        via,
        "-o",
        "new.jsonl",
        *given,
    ]


def ran(folder: Path, server: Endpoint, *given: str, via: str = "paraphrase") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments(*given, via=via),
        cwd=folder,
        env=environment(server),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )


@contextmanager
def begun(
    folder: Path, server: Endpoint, *given: str, via: str = "paraphrase", program: str = COMMAND
) -> Iterator[subprocess.Popen[str]]:
    """The command while it runs; it is ended with the block at the latest."""
    process = subprocess.Popen(
        arguments(*given, via=via, program=program),
        cwd=folder,
        env=environment(server),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def records(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def held(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_reformulations_and_pairs_are_written(folder: Path, server: Endpoint) -> None:
    server.usual = answer("New title\n\nNew text.")
    done = ran(folder, server, "--pairs", "pairs.jsonl")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == "note: 6 requests, 6 in all with 60 tokens in, 120 out\n"
    assert records(folder / "new.jsonl")[0] == {
        "id": "d1~paraphrase",
        "source": "d1",
        "method": "paraphrase",
        "title": "New title",
        "text": "New text.",
        "keyphrases": [["bees", "BEES"]],
    }
    assert records(folder / "pairs.jsonl") == [{"a": f"d{n}", "b": f"d{n}~paraphrase"} for n in range(1, 7)]
    assert len(list(karat.read(folder / "new.jsonl"))) == 6
    assert {path.name for path in folder.iterdir()} == {
        "corpus.jsonl",
        "new.jsonl",
        "new.jsonl.answers.sqlite",
        "pairs.jsonl",
    }


@pytest.mark.parametrize("via", ["paraphrase", "back-translation"])
def test_killed_in_the_middle_it_goes_on_where_it_was_and_asks_nothing_twice(
    via: str, folder: Path, server: Endpoint
) -> None:
    server.script = [answer(), answer(), answer(), hold]
    with begun(folder, server, "-j", "1", via=via) as process:
        assert server.held.wait(PATIENCE)
        process.send_signal(signal.SIGKILL)
        assert process.wait(PATIENCE) == -signal.SIGKILL
    assert not (folder / "new.jsonl").exists()
    before = dict(server.answered)
    assert sorted(before.values()) == [1, 1, 1]  # the fourth was asked and not answered
    server.held.clear()
    server.release.set()
    done = ran(folder, server, "-j", "2", via=via)
    assert done.returncode == 0, done.stderr
    assert len(records(folder / "new.jsonl")) == 6
    whole = 6 if via == "paraphrase" else 12
    assert len(server.asked) == whole + 1
    assert all(server.answered[prompt] == 1 for prompt in before)
    assert len(server.answered) == whole


def test_killed_after_every_answer_it_still_loses_none(folder: Path, server: Endpoint) -> None:
    for n in range(2):
        server.script = [answer(), hold]
        with begun(folder, server, "-j", "1") as process:
            assert server.held.wait(PATIENCE), n
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE)
        server.held.clear()
    server.release.set()
    done = ran(folder, server)
    assert done.returncode == 0, done.stderr
    # Six answers, and two that were under way when the process was killed.
    assert len(server.asked) == 8
    assert len(records(folder / "new.jsonl")) == 6


def test_interrupted_it_keeps_the_answers_that_are_under_way(folder: Path, server: Endpoint) -> None:
    server.script = [answer(), hold]
    with begun(folder, server, "-j", "1", program=STOPPING_COMMAND) as process:
        assert server.held.wait(PATIENCE)
        process.send_signal(signal.SIGINT)
        until((folder / "stopping").exists, "the interrupt is not taken")
        server.release.set()
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert errors.strip() == "karat: interrupted"
    assert not (folder / "new.jsonl").exists()
    assert len(server.asked) == 2
    assert ran(folder, server).returncode == 0
    assert len(server.asked) == 6


def test_a_document_without_an_answer_is_named_and_the_others_are_written(folder: Path, server: Endpoint) -> None:
    def reply(handler: object) -> None:
        (broken(b"{") if "ants" in handler.prompt else answer())(handler)  # type: ignore[attr-defined, arg-type]

    server.usual = reply
    done = ran(folder, server, "--tries", "2", "--delay", "0", "-q")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "karat: no reformulation of document 'd3': the answer is not JSON: '{' (tried 2 times); "
        "5 reformulations are in new.jsonl; the same command goes on from here\n"
    )
    assert [each["source"] for each in records(folder / "new.jsonl")] == ["d1", "d2", "d4", "d5", "d6"]
    server.usual = answer()
    assert ran(folder, server, "-q").returncode == 0
    assert len(records(folder / "new.jsonl")) == 6
    assert len(server.asked) == 5 + 2 + 1


def test_a_limit_of_tokens_goes_to_the_endpoint(folder: Path, server: Endpoint) -> None:
    assert ran(folder, server, "--max-tokens", "600", "-q").returncode == 0
    assert {each["max_tokens"] for each in server.asked} == {600}


def test_a_limit_leaves_what_was_done_on_disk(folder: Path, server: Endpoint) -> None:
    done = ran(folder, server, "--max-requests", "2", "-q")
    assert done.returncode == 2
    assert done.stderr == (
        "karat: --max-requests 2 is reached (4 of 6 documents are left); "
        "2 reformulations are in new.jsonl; the same command goes on from here\n"
    )
    assert len(server.asked) == 2


def test_the_key_is_in_nothing_that_is_said_or_written(folder: Path, server: Endpoint) -> None:
    server.script = [status(500, SECRET), answer(f"The key is {SECRET}."), status(401, SECRET)]
    done = ran(folder, server, "-j", "1", "--delay", "0")
    assert done.returncode == 2
    assert "***" in done.stderr
    assert "4711" not in done.stderr + done.stdout
    assert b"The key is ***." in held(folder)
    assert b"4711" not in held(folder)


def test_a_dry_run_counts_and_asks_nothing(folder: Path, server: Endpoint) -> None:
    (folder / "own.txt").write_text("{text}")
    done = ran(folder, server, "--dry-run", "--prompt", "own.txt", "--price-in", "1", "--price-out", "2")
    assert (done.returncode, done.stderr) == (0, "")
    # `On bees\n\nHow the bees live.` has 28 letters; of the six, 28 to 30: 7, 8, 7, 8, 8, 8 tokens.
    assert done.stdout == (
        "corpus, 6 documents, paraphrase\n"
        "6 requests, 0 of them answered already, 6 left\n"
        "about 46 tokens in, 46 out\n"
        "about 0.000138 to pay\n"
        "\n"
        "note: tokens are an estimate, 4 characters each; an answer is taken to be as\n"
        "  long as its text\n"
    )
    assert server.asked == []
    assert {path.name for path in folder.iterdir()} == {"corpus.jsonl", "own.txt"}


@pytest.mark.parametrize(
    ("given", "via", "why"),
    [
        ((), "paraphrase", "no endpoint is named: write --base-url https://host/v1, or set KARAT_LLM_BASE_URL"),
        (("--base-url", "http://host"), "paraphrase", "no model is named: write --model NAME, or set KARAT_LLM_MODEL"),
        (("--pivot", "fr"), "paraphrase", "--pivot is for --via back-translation, not for paraphrase"),
        (("--share", "2"), "synonyms", "the share of words to replace is more than 0 and at most 1, not 2"),
        (("--dry-run",), "synonyms", "--dry-run is for --via paraphrase and back-translation, not for synonyms"),
        ((), "marian", "marian needs two models: --forward DIR into the other language, --backward DIR from it"),
        (("--pairs", "new.jsonl"), "synonyms", "-o and --pairs are both new.jsonl: name two files"),
        (("--pairs", "no/pairs.jsonl"), "synonyms", "no: there is no such folder"),
        (("-o", "new.csv"), "synonyms", "-o new.csv: reformulations are JSON lines: name a file that ends in .jsonl"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    given: tuple[str, ...], via: str, why: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words = ["pairs", "reformulate", "corpus.jsonl", "--via", via, "-o", "new.jsonl", *given]
    with pytest.raises(InputError) as raised:
        command.main(words, standalone_mode=False)
    assert str(raised.value) == why
    assert {path.name for path in folder.iterdir()} == {"corpus.jsonl"}
