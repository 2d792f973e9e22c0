"""Limits: what is beyond one is refused with its name, and a raised one lets it pass, in Python and in the command."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import pytest

import karat
from karat.errors import InputError
from karat.formats.files import STDIN, _read_once, blocks, read_whole
from karat.formats.load import check_value, decoded_json, json_value
from karat.limits import Limits, limits, listed, parse_limits
from karat.matching.workers import MOST, capped, cores, ordered_map

LINE = '{"id": "d1", "text": "deep nets", "keyphrases": ["deep net"]}\n'
RUN = '{"id": "d1", "keyphrases": ["deep nets"]}\n'


def test_a_limit_is_a_number_or_a_size_with_a_unit() -> None:
    found = parse_limits(("line=5kB", "pages=7", "file=2GB", "pipe = 12"))

    assert (found.line, found.pages, found.file, found.pipe) == (5000, 7, 2 * 10**9, 12)
    assert found.depth == Limits().depth


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("lime=1", "unknown limit 'lime'; did you mean 'line'?"),
        ("line", "the limit line is a number from 1 on, as line=64MB, not ''"),
        ("line=0", "the limit line is a number from 1 on"),
        ("line=-1", "the limit line is a number from 1 on"),
        ("line=1.5MB", "the limit line is a number from 1 on"),
        ("line=" + "9" * 5000, "the limit line is a number from 1 on"),
        ("line=١", "the limit line is a number from 1 on"),
        ("depth=1kB", "the limit depth is a number from 1 on, as depth=10000, not '1kB'"),
    ],
)
def test_a_wrong_limit_is_named(given: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_limits((given,))

    assert said in str(caught.value)


def test_a_limit_holds_as_long_as_it_is_open_and_also_ends_with_an_error() -> None:
    before = limits()
    with karat.limit(line="1kB", depth=3) as found:
        assert limits() == found
        assert (found.line, found.depth) == (1000, 3)
    with pytest.raises(ZeroDivisionError), karat.limit(line=5):
        _ = 1 / 0

    assert limits() == before


def test_a_line_is_as_long_as_the_limit_and_no_longer(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"1234567890\n12345678901\n1\n")

    with karat.limit(line=11):
        assert [block for _, _, block in blocks(str(path))] == [path.read_bytes()]
    with karat.limit(line=10), pytest.raises(InputError, match=r"a\.txt:2: the line has more than 10 B; .*line=20B$"):
        list(blocks(str(path)))


def test_what_was_seen_of_a_file_under_a_lower_limit_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(LINE + LINE.replace("d1", "d2"))

    with karat.limit(line=20), pytest.raises(InputError, match="its first line has more than 20 B"):
        karat.read(path)
    assert [document.id for document in karat.read(path)] == ["d1", "d2"]


def test_a_whole_file_and_a_stream_are_bounded_after_decompression(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"12345\n" * 100_000))

    with karat.limit(file="600kB"):
        assert len(read_whole(path)) == 600_000
    with karat.limit(file="599kB"), pytest.raises(InputError, match=r"the file has more than 599 kB; .*file=1198kB$"):
        read_whole(path)
    with karat.limit(stream="100kB"), pytest.raises(InputError, match="the file has more than 100 kB"):
        list(blocks(str(path)))


def test_standard_input_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    _read_once.cache_clear()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x" * 1001)))

    with karat.limit(pipe="1kB"), pytest.raises(InputError, match="standard input: what comes in has more than 1 kB"):
        read_whole(STDIN)


def test_standard_input_that_is_closed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _read_once.cache_clear()
    monkeypatch.setattr("sys.stdin", None)

    with pytest.raises(InputError, match="standard input is closed; name a file"):
        read_whole(STDIN)


@pytest.mark.parametrize("depth", [1, 2, 63, 64, 65, 100])
def test_a_value_is_as_deep_as_the_limit_and_no_deeper(depth: int) -> None:
    content = b"[" * depth + b"]" * depth

    if depth <= 64:
        assert json_value(content) is not None
        assert decoded_json(content, object, "a", "not JSON") is not None
    else:
        assert json_value(content) is None
        with pytest.raises(InputError, match=r"^a: the value has more than 64 levels"):
            json_value(content, "a")


def test_objects_count_as_levels_and_long_numbers_are_found_in_them() -> None:
    nested: object = 10**100
    for _ in range(10):
        nested = {"a": [nested]}

    with pytest.raises(InputError, match="a number has more than 100 digits"):
        check_value(nested, "x")
    with karat.limit(digits=101):
        check_value(nested, "x")
    with karat.limit(digits=101, depth=19), pytest.raises(InputError, match="more than 19 levels"):
        check_value(nested, "x")


def test_a_raised_limit_lets_a_file_pass_in_the_command(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(LINE + LINE.replace("d1", "d2"))
    (tmp_path / "run.jsonl").write_text(RUN + RUN.replace("d1", "d2"))

    def score(*flags: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "karat", "score", "corpus.jsonl", "run.jsonl", *flags]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    refused, scored = score("--limit", "line=20"), score("--limit", "line=20", "--limit", "line=70")

    assert refused.returncode == 2
    assert refused.stderr == (
        "karat: corpus.jsonl: its first line has more than 20 B; if that is right, raise the limit: --limit line=40B\n"
    )
    assert scored.returncode == 0


def test_limits_are_listed_with_their_defaults() -> None:
    assert list(listed()) == list(Limits.__slots__)
    about = "Bytes of a line, as of a document in JSON lines."
    assert listed()["line"] == {"summary": f"{about} (64 MB)", "default": "64 MB", "about": about}


def test_other_processes_have_the_limits_of_the_one_that_started_them() -> None:
    with karat.limit(line=123):
        assert list(ordered_map(_line_limit, [0, 1], jobs=2)) == [123, 123]


def _line_limit(_: int) -> int:
    return limits().line


def test_there_are_no_more_than_four_processes_for_each_core() -> None:
    assert capped(1) == 1
    assert capped(10**15) == MOST * cores()


def test_the_command_says_that_it_uses_fewer_processes(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(LINE)
    (tmp_path / "run.jsonl").write_text(RUN)
    command = [sys.executable, "-m", "karat", "score", "corpus.jsonl", "run.jsonl", "-j", "1199999999999"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0
    assert done.stderr == (
        f"note: -j 1,199,999,999,999 is more than four processes for each core; {MOST * cores()} are used\n"
    )


@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [
        (">&-", 2, "karat: standard output is closed\n"),
        ("2>&-", 0, ""),
        ("<&-", 0, ""),
        (">&- 2>&- <&-", 2, ""),
        ("-o all.csv >&- 2>&- <&-", 0, ""),
    ],
)
def test_closed_standard_streams_are_no_failure_of_ours(tmp_path: Path, closed: str, code: int, said: str) -> None:
    (tmp_path / "corpus.jsonl").write_text(LINE)
    (tmp_path / "run.jsonl").write_text(RUN)
    command = f"{sys.executable} -m karat score corpus.jsonl run.jsonl -m f1@5 {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (code, said)
    if "-o" in closed:
        assert (tmp_path / "all.csv").read_text().startswith("corpus,system")
