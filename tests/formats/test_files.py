"""Files are read by what they are, line by line with the right numbers, and written whole or not at all."""

from __future__ import annotations

import errno
import gzip
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import karat
from karat.errors import InputError
from karat.formats import files, read, read_run, split_name
from karat.formats.containers import container_at
from karat.formats.files import blocks, first_line, line_starts, lines, open_bytes, stem
from karat.formats.output import write_beside, writing_errors

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

unless_root = pytest.mark.skipif(
    os.geteuid() == 0, reason="root may read and write everything, so there is no permission to lack"
)

MANY_LINES = b"".join(b'{"id": %d, "text": "%d"}\n' % (n, n**40) for n in range(3000))


def plain(content: bytes) -> bytes:
    return content


def zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(content)


def zstd_stream(content: bytes) -> bytes:
    """As a pipe writes it: without the length in the header, with a checksum at the end."""
    return zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compress(content)


PACKERS = [plain, gzip.compress, zstd, zstd_stream]
COMPRESSORS = PACKERS[1:]


def file_of(folder: Path, content: bytes, name: str = "file") -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


def content_of(path: str) -> bytes:
    with open_bytes(path) as file:
        return file.read()


# ---------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("run.jsonl", "run"),
        ("run.jsonl.gz", "run"),
        ("run.json.zst", "run"),
        ("run.ndjson", "run"),
        ("run.txt", "run"),
        ("run", "run"),
        ("runs/v1.2/semeval.chan19.jsonl.gz", "semeval.chan19"),
        ("t5.large", "t5.large"),
        ("test_src.txt+test_trg.txt", "test_src"),
        ("data/test_src.txt.gz+data/test_trg.txt.gz", "test_src"),
        ("-", "stdin"),
    ],
)
def test_a_file_is_named_without_folders_and_suffixes(path: str, name: str) -> None:
    assert stem(path) == name


def test_a_plus_in_the_name_of_one_file_stays_in_its_name(tmp_path: Path) -> None:
    path = file_of(tmp_path, b'{"id": "d1", "keyphrases": []}\n', "t5+rl.jsonl")

    assert read_run(path).name == "t5+rl"


@pytest.mark.parametrize(
    ("argument", "name", "path"),
    [
        ("t5=runs/a.jsonl", "t5", "runs/a.jsonl"),
        ("runs/a.jsonl", "a", "runs/a.jsonl"),
        ("runs/lr=3/a.jsonl", "a", "runs/lr=3/a.jsonl"),
        ("t5=runs/lr=3/a.jsonl", "t5", "runs/lr=3/a.jsonl"),
        ("=a.jsonl", "=a", "=a.jsonl"),
        ("t5=-", "t5", "-"),
    ],
)
def test_a_name_before_an_equals_sign_is_taken(argument: str, name: str, path: str) -> None:
    assert split_name(argument) == (name, path)


def test_a_file_whose_name_holds_an_equals_sign_is_that_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file_of(tmp_path, b"", "lr=3.jsonl")

    assert split_name("lr=3.jsonl") == ("lr=3", "lr=3.jsonl")


def test_a_name_given_apart_wins(tmp_path: Path) -> None:
    assert read(file_of(tmp_path, b'{"id": "d1"}\n', "a.jsonl"), name="inspec").name == "inspec"


# ---------------------------------------------------------------------------------------------- compression


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("name", ["a.jsonl", "a.gz", "a.zst", "a"])
def test_a_file_is_unpacked_by_what_it_is_and_not_by_its_suffix(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    assert content_of(file_of(tmp_path, pack(MANY_LINES), name)) == MANY_LINES


@pytest.mark.parametrize("pack", COMPRESSORS)
def test_compressed_files_that_were_put_together_are_read_to_the_end(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = file_of(tmp_path, pack(b"first\n") + pack(b"second\n"))

    assert list(lines(path)) == [(1, "first"), (2, "second")]


@pytest.mark.parametrize("pack", COMPRESSORS)
def test_nothing_compressed_is_nothing(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    assert content_of(file_of(tmp_path, pack(b""))) == b""


@pytest.mark.parametrize("content", [b"", b"a", b"a\n", b"\x1f", b"\x28\xb5"])
def test_a_file_shorter_than_a_magic_number_is_plain(tmp_path: Path, content: bytes) -> None:
    assert content_of(file_of(tmp_path, content)) == content


@pytest.mark.parametrize("pack", COMPRESSORS)
@pytest.mark.parametrize("lost", ["the last byte", "the last third", "all but the head"])
def test_a_compressed_file_that_was_cut_off_is_an_error_that_names_it(
    tmp_path: Path, pack: Callable[[bytes], bytes], lost: str
) -> None:
    packed = pack(MANY_LINES)
    kept = {"the last byte": -1, "the last third": len(packed) * 2 // 3, "all but the head": 12}[lost]
    path = file_of(tmp_path, packed[:kept], "corpus.jsonl")

    with pytest.raises(InputError, match=r"corpus\.jsonl: .*(damaged|cut off)"):
        content_of(path)


@pytest.mark.parametrize("pack", COMPRESSORS)
def test_a_cut_off_file_is_not_scored_as_a_shorter_corpus(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(MANY_LINES)
    path = file_of(tmp_path, packed[: len(packed) // 2], "corpus.jsonl")

    with pytest.raises(InputError, match=r"corpus\.jsonl: .*cut off"):
        list(read(path))


@pytest.mark.parametrize("pack", [gzip.compress, zstd_stream])
def test_a_compressed_file_with_a_wrong_byte_is_an_error_that_names_it(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    packed = bytearray(pack(MANY_LINES))
    packed[len(packed) // 2] ^= 0xFF
    path = file_of(tmp_path, bytes(packed), "corpus.jsonl")

    with pytest.raises(InputError, match=r"corpus\.jsonl: .*damaged"):
        content_of(path)


# ---------------------------------------------------------------------------------------------- lines


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    assert list(lines(file_of(tmp_path, b"\xef\xbb\xbfone\ntwo\n"))) == [(1, "one"), (2, "two")]


def test_a_byte_order_mark_is_removed_from_the_first_line_alone(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"one\n\xef\xbb\xbftwo\n")

    assert list(lines(path)) == [(1, "one"), (2, "\ufefftwo")]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_byte_order_mark_longer_than_a_block_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", size)

    assert list(lines(file_of(tmp_path, b"\xef\xbb\xbfone\ntwo"))) == [(1, "one"), (2, "two")]


def test_lines_that_end_as_on_windows_come_without_their_ends(tmp_path: Path) -> None:
    assert list(lines(file_of(tmp_path, b"one\r\n\r\ntwo\r\n"))) == [(1, "one"), (2, ""), (3, "two")]


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    assert list(lines(file_of(tmp_path, b"one\ntwo"))) == [(1, "one"), (2, "two")]


def test_an_empty_line_is_a_line(tmp_path: Path) -> None:
    assert list(lines(file_of(tmp_path, b"\none\n\n\n"))) == [(1, ""), (2, "one"), (3, ""), (4, "")]


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"")

    assert list(lines(path)) == []
    assert list(blocks(path)) == []


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    text = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g"

    assert list(lines(file_of(tmp_path, text.encode()))) == [(1, text)]


def test_a_line_longer_than_a_block_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", 8)
    path = file_of(tmp_path, b"a" * 100 + b"\nb\n" + b"c" * 50)

    assert list(blocks(path)) == [(1, 0, b"a" * 100 + b"\n"), (2, 101, b"b\n" + b"c" * 50)]
    assert [line_starts(block).tolist() for _, _, block in blocks(path)] == [[0], [0, 2]]


@untimed
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\ufeff"), max_size=9)),
    st.booleans(),
    st.integers(1, 40),
    st.sampled_from(PACKERS),
)
def test_lines_are_the_same_for_any_size_of_block(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    ends: bool,
    size: int,
    pack: Callable[[bytes], bytes],
) -> None:
    content = "\n".join(texts).encode() + b"\n" * ends
    path = file_of(tmp_path_factory.getbasetemp(), pack(content), "any_size")
    expected = content.decode().removesuffix("\n").split("\n") if content else []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK_BYTES", size)
        read_blocks = list(blocks(path))
        assert list(lines(path)) == list(enumerate(expected, 1))

    assert b"".join(block for _, _, block in read_blocks) == content
    next_line = 1
    for first, offset, block in read_blocks:
        assert content[offset:].startswith(block)
        own_lines = block.removesuffix(b"\n").split(b"\n")
        assert first == next_line
        assert [
            block[start : start + len(line)] for start, line in zip(line_starts(block), own_lines, strict=True)
        ] == (own_lines)
        next_line += len(own_lines)


def test_a_byte_that_is_not_utf8_is_named_with_its_line_and_place(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"one\ntw\xffo\n", "pred.txt")

    with pytest.raises(InputError, match=r"pred\.txt:2: not UTF-8 at byte 3 \(0xff\)"):
        list(lines(path))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"id": 1}', True),
        (b' \r\n\t{"id": 1}', True),
        (b'\xef\xbb\xbf{"id": 1}', True),
        (b"[1]", True),
        (b"a;b", False),
        (b"<eos> {", False),
    ],
)
def test_what_opens_a_json_value_looks_like_json(tmp_path: Path, content: bytes, expected: bool) -> None:
    assert (container_at(file_of(tmp_path, content)) in ("json", "jsonl")) is expected
    assert (container_at(file_of(tmp_path, gzip.compress(content))) in ("json", "jsonl")) is expected


def test_standard_input_can_be_read_twice() -> None:
    program = "from karat.formats import read; c = read('-'); print(c.name, len(c), len(c), [d.id for d in c])"
    folder = str(Path(karat.__file__).parents[1])

    done = subprocess.run(
        [sys.executable, "-c", program],
        input=gzip.compress(b'{"id": "d1"}\n{"id": "d2"}\n'),
        capture_output=True,
        env=os.environ | {"PYTHONPATH": folder},
        check=True,
    )

    assert done.stdout.decode().strip() == "stdin 2 2 ['d1', 'd2']"


# ---------------------------------------------------------------------------------------------- not to be read


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.jsonl: there is no such file"):
        content_of(str(tmp_path / "nothing.jsonl"))


def test_a_directory_given_for_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is a directory, not a file"):
        content_of(str(tmp_path))


@unless_root
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"secret", "secret.jsonl")
    os.chmod(path, 0)

    with pytest.raises(InputError, match=r"secret\.jsonl: no permission to read it"):
        content_of(path)


def test_a_refusal_of_the_system_is_named_for_root_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    path = file_of(tmp_path, b"secret", "secret.jsonl")
    monkeypatch.setattr("builtins.open", refuse)

    with pytest.raises(InputError, match=r"secret\.jsonl: no permission to read it"):
        content_of(path)


# ---------------------------------------------------------------------------------------------- writing


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """While this lasts, no file of this process grows beyond so many bytes, as on a full disk."""
    old, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    compiled, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # which Python would leave cut short
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (old, most))
        sys.dont_write_bytecode = compiled


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    write_beside(tmp_path / "out.json", MANY_LINES)

    assert (tmp_path / "out.json").read_bytes() == MANY_LINES
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_file_is_written_in_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"old and long", "out.json")

    write_beside(path, b"new")

    assert Path(path).read_bytes() == b"new"


def test_a_written_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_beside(tmp_path / "out.json", b"new")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)

    assert (tmp_path / "out.json").stat().st_mode & 0o777 == 0o640


def test_a_name_without_a_folder_is_written_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    write_beside("out.json", b"new")

    assert (tmp_path / "out.json").read_bytes() == b"new"


def test_a_full_disk_leaves_the_old_file_whole_and_nothing_beside_it(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"old", "out.json")

    with files_of_at_most(4096), pytest.raises(InputError, match=r"out\.json: could not be written"):
        write_beside(path, MANY_LINES)

    assert Path(path).read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.json"]


@pytest.mark.parametrize("failure", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_a_failure_at_the_last_step_leaves_the_old_file_whole_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise failure

    path = file_of(tmp_path, b"old", "out.json")
    monkeypatch.setattr(os, "replace", fail)

    with pytest.raises((InputError, KeyboardInterrupt)):
        write_beside(path, b"new")

    assert Path(path).read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_directory_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "out.json").mkdir()

    with pytest.raises(InputError, match=r"out\.json: could not be written"):
        write_beside(tmp_path / "out.json", b"new")

    assert os.listdir(tmp_path) == ["out.json"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: there is no such folder"):
        write_beside(tmp_path / "nowhere" / "out.json", b"new")


def test_a_folder_that_is_there_is_not_called_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"out\.json: no file can be made there"), writing_errors("out.json", tmp_path):
        raise FileNotFoundError  # as in /proc


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"", "plain")

    with pytest.raises(InputError, match=r"plain"):
        write_beside(Path(path) / "out.json", b"new")


@unless_root
def test_a_folder_that_may_not_be_written_to_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)

    with pytest.raises(InputError, match=r"closed: no permission to write there"):
        write_beside(folder / "out.json", b"new")


def test_a_link_stays_a_link_to_what_was_written(tmp_path: Path) -> None:
    target = Path(file_of(tmp_path, b"old", "real.json"))
    link = tmp_path / "link.json"
    link.symlink_to(target)

    write_beside(link, b"new")

    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_beside(path, b"new")
        assert os.read(reader, 100) == b"new"
        assert path.is_fifo()
    finally:
        os.close(reader)


def test_an_empty_file_looks_like_nothing_and_is_said_to_be_empty(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the file is empty"):
        first_line(file_of(tmp_path, b""))


def test_a_plain_file_can_be_read_in_parts_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", 8)
    content = b"\xef\xbb\xbf" + b"".join(b'{"id": "d%d"}\n' % n for n in range(9))
    path = file_of(tmp_path, content)

    plain = files.as_plain(path)

    assert plain is not None
    assert [plain.read(offset, len(block)) for _, offset, block in blocks(path)] == [
        block for *_, block in blocks(path)
    ]


def test_what_is_compressed_or_no_file_is_not_read_in_parts(tmp_path: Path) -> None:
    assert files.as_plain(file_of(tmp_path, gzip.compress(b"a"))) is None
    assert files.as_plain("-") is None
    assert files.as_plain(str(tmp_path)) is None


def test_a_file_that_changes_while_it_is_read_is_said(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"a\nb\n")
    plain = files.as_plain(path)
    assert plain is not None
    Path(path).write_bytes(b"a\nb\nc\n")

    with pytest.raises(InputError, match="was changed while it was read"):
        plain.read(2, 2)


def test_a_link_that_leads_nowhere_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").symlink_to("gone.jsonl")
    with pytest.raises(InputError, match=r"corpus\.jsonl: is a link to a file that is not there"):
        read(tmp_path / "corpus.jsonl")
