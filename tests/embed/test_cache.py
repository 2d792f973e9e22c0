"""Values kept on disk."""

import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.embed.cache import Cache, cache_of, fingerprint, folder


def test_what_is_written_is_read_by_kind_and_text(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "deep" / "c.sqlite")
    assert cache.read("phrase", ["a"]) == {}
    cache.write("phrase", {"a": b"1", "b": b"2"})
    cache.write("tokens", {"a": b"3"})
    assert cache.read("phrase", ["b", "x", "a"]) == {"a": b"1", "b": b"2"}
    assert cache.read("tokens", ["a", "b"]) == {"a": b"3"}


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.text(alphabet=st.characters(), max_size=5), st.binary(max_size=9), max_size=4))
def test_any_text_can_be_kept(tmp_path_factory: pytest.TempPathFactory, values: dict[str, bytes]) -> None:
    cache = Cache(tmp_path_factory.mktemp("any") / "c.sqlite")
    cache.write("phrase", values)
    assert cache.read("phrase", list(values)) == values


def test_more_texts_than_sqlite_takes_variables_are_read(tmp_path: Path) -> None:
    values = {str(i): str(i).encode() for i in range(2500)}
    cache = Cache(tmp_path / "c.sqlite")
    cache.write("phrase", values)
    assert cache.read("phrase", list(values)) == values


@pytest.mark.parametrize("content", [b"", b"no database", b"\0" * 5000, b"SQLite format 3\0" + b"x" * 9000])
def test_a_damaged_file_is_replaced(tmp_path: Path, content: bytes) -> None:
    cache = Cache(tmp_path / "c.sqlite")
    cache.path.write_bytes(content)
    assert cache.read("phrase", ["a"]) == {}
    cache.write("phrase", {"a": b"1"})
    assert cache.read("phrase", ["a"]) == {"a": b"1"}


@pytest.mark.parametrize("action", ["read", "write"])
def test_a_file_that_was_cut_off_is_replaced(tmp_path: Path, action: str) -> None:
    cache = Cache(tmp_path / "c.sqlite")
    cache.write("phrase", {str(i): bytes(1000) for i in range(200)})
    whole = cache.path.read_bytes()
    cache.path.write_bytes(whole[: len(whole) // 2])
    if action == "read":
        cache.read("phrase", [str(i) for i in range(200)])
    cache.write("phrase", {str(i): b"1" for i in range(200)})
    assert cache.read("phrase", ["7", "150"]) == {"7": b"1", "150": b"1"}


def test_a_database_of_something_else_is_replaced(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c.sqlite")
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        connection.execute("CREATE TABLE vectors (other)")
    assert cache.read("phrase", ["a"]) == {}
    cache.write("phrase", {"a": b"1"})
    assert cache.read("phrase", ["a"]) == {"a": b"1"}


def test_a_value_that_changed_on_disk_is_not_used(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c.sqlite")
    cache.write("phrase", {"a": b"1"})
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        connection.execute("UPDATE vectors SET value = ?", (b"2",))
    assert cache.read("phrase", ["a"]) == {}


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "c.sqlite", tmp_path):
        cache = Cache(path)
        cache.write("phrase", {"a": b"1"})
        assert cache.read("phrase", ["a"]) == {}


def test_several_processes_write_and_read_one_file(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with ProcessPoolExecutor(4) as pool:
        assert all(pool.map(write_some, [path] * 6, range(6)))
    texts = [f"{i} {j}" for i in range(6) for j in range(25)]
    assert Cache(path).read("phrase", texts) == {text: text.encode() for text in texts}


def write_some(path: Path, number: int) -> bool:
    values = {f"{number} {j}": f"{number} {j}".encode() for j in range(25)}
    for text, value in values.items():
        Cache(path).write("phrase", {text: value})
    return Cache(path).read("phrase", list(values)) == values


def test_the_folder_is_chosen_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_CACHE", "/kept")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert folder() == Path("/kept")
    monkeypatch.setenv("KARAT_CACHE", "off")
    assert folder() is None
    assert cache_of("x") is None
    monkeypatch.delenv("KARAT_CACHE")
    assert folder() == Path("/xdg/karat")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder() == tmp_path / ".cache" / "karat"


def test_a_fingerprint_changes_with_content_name_and_settings(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("1")
    b.write_text("1")
    first = fingerprint([a, b], tmp_path, 1)
    assert first == fingerprint([b, a], tmp_path, 1)
    others = [fingerprint([a], tmp_path, 1), fingerprint([b], tmp_path, 1), fingerprint([a, b], tmp_path, 2)]
    b.write_text("2")
    assert len({first, *others, fingerprint([a, b], tmp_path, 1)}) == 5
