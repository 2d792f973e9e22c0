"""Vectors kept on disk, so that a model computes each text once.

One SQLite file for each model (and layer). It is a convenience: whatever goes wrong with it, the vectors are
computed anew, and a file that is damaged is replaced.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from karat.formats.checksums import row_checksum
from karat.formats.content import file_hash
from karat.record import note_input

FORMAT = 2  # in the file's name: another version is another file
WAIT_SECONDS = 30.0  # for another process that writes
OFF = ("", "off", "0")
_ROWS = 500  # SQLite's limit of variables in one statement was 999 once


def folder() -> Path | None:
    """Where vectors are kept: $KARAT_CACHE, or karat in the user's cache folder; None where KARAT_CACHE is off."""
    chosen = os.environ.get("KARAT_CACHE")
    if chosen is not None:
        return None if chosen.lower() in OFF else Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The standard asks for an absolute path and to ignore any other.
    return (Path(base) if Path(base).is_absolute() else Path("~/.cache").expanduser()) / "karat"


@dataclass(frozen=True, slots=True)
class Cache:
    """The kept values of one model, by kind and text."""

    path: Path

    def read(self, kind: str, texts: Sequence[str]) -> dict[str, bytes]:
        """Return the values of these texts that the file has undamaged."""
        keys = {_key(kind, text): text for text in texts}
        found: dict[str, bytes] = {}

        def select(connection: sqlite3.Connection) -> None:
            for some in _parts(list(keys)):
                query = f"SELECT key, checksum, value FROM vectors WHERE key IN ({','.join('?' * len(some))})"
                for key, checksum, value in connection.execute(query, some):
                    if key in keys and isinstance(value, bytes) and row_checksum(key, value) == checksum:
                        found[keys[key]] = value

        if self.path.exists():
            self._attempt(select)
        return found

    def write(self, kind: str, values: Mapping[str, bytes]) -> None:
        """Keeps the values, in one transaction."""
        rows = [(key, row_checksum(key, value), value) for text, value in values.items() for key in [_key(kind, text)]]

        def insert(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO vectors (key, checksum, value) VALUES (?, ?, ?)", rows)

        if not self._attempt(insert):
            self._attempt(insert)  # a damaged file is gone by now

    def _attempt(self, action: Callable[[sqlite3.Connection], None]) -> bool:
        """Whether the action succeeded; a file that is damaged is removed, any other failure is passed over."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            note_input(self.path)
            with closing(sqlite3.connect(self.path, timeout=WAIT_SECONDS)) as connection:
                # Not waiting for the disk: a file that a loss of power leaves damaged is replaced.
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, checksum, value)")
                action(connection)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # Locked for long, no place left, not ours to write: those are OperationalErrors and the file stays.
            if not isinstance(error, sqlite3.OperationalError) or "column" in str(error):
                self._remove()
            return False
        except OSError:
            return False
        return True

    def _remove(self) -> None:
        """Takes the file away; processes that have it open keep what they opened."""
        for end in ("", "-journal"):
            with suppress(OSError):
                Path(f"{self.path}{end}").unlink(missing_ok=True)


def _key(kind: str, text: str) -> bytes:
    content = f"{kind}\0{text}".encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=16).digest()


def _parts(keys: list[bytes]) -> Iterator[list[bytes]]:
    for start in range(0, len(keys), _ROWS):
        yield keys[start : start + _ROWS]


def cache_of(fingerprint: str) -> Cache | None:
    """The cache of the model with this fingerprint, or None where caching is off."""
    base = folder()
    return None if base is None else Cache(base / "embed" / f"{fingerprint}.v{FORMAT}.sqlite")


def fingerprint(files: Iterable[Path], root: Path, *settings: object) -> str:
    """A name for a model as it is: of the names, sizes and contents of its files and of its settings."""
    whole = blake2b(repr(settings).encode(), digest_size=16)
    for path in sorted(files):
        whole.update(
            f"\0{path.relative_to(root).as_posix()}\0{path.stat().st_size}\0".encode("utf-8", "surrogateescape")
        )
        whole.update(file_hash(path))
    return whole.hexdigest()
