"""Answers of models on disk, each one before the next request is sent, and an account of every request.

One SQLite file. What has been answered has been paid for: nothing is ever deleted from it, and a file that is damaged
is left as it is. While one process writes to it, no other can.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from karat.errors import InputError
from karat.formats.load import decoded_msgpack
from karat.llm.client import Answer, StoppedError, Usage
from karat.record import note_output

FORMAT = 1
MEMORY = ":memory:"
_TABLES = """
CREATE TABLE IF NOT EXISTS requests (
    number INTEGER PRIMARY KEY, key BLOB NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
    estimated INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, document TEXT, step TEXT, model TEXT, temperature REAL, seed INTEGER, prompt TEXT,
    answer TEXT NOT NULL, request INTEGER, answered TEXT
);
CREATE TABLE IF NOT EXISTS tokens (key BLOB PRIMARY KEY, tokens BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Question:
    """The request about a document in one step; two requests with the same key are the same."""

    key: bytes
    document: str
    step: str
    model: str
    temperature: float
    seed: int
    prompt: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How many requests may be sent in all, by every command that uses the store, and what tokens cost."""

    requests: int | None = None
    cost: float | None = None
    price_in: float = 0.0  # of a million tokens
    price_out: float = 0.0

    def price(self, usage: Usage) -> float:
        """What so many tokens cost."""
        return (usage.tokens_in * self.price_in + usage.tokens_out * self.price_out) / 1e6


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Spent:
    """All requests of a store, and their tokens."""

    requests: int
    usage: Usage  # estimated where any of them is


class Store:
    """An open store; several threads may use it at once."""

    def __init__(self, path: str | Path, limits: Limits = NO_LIMITS) -> None:
        note_output(path)
        self.path = str(path)
        self.limits = limits
        self._lock = Lock()
        with _errors(self.path):
            self._connection = sqlite3.connect(self.path, check_same_thread=False, timeout=0.5, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        run = self._connection.execute
        version = run("PRAGMA user_version").fetchone()[0]
        if version not in (0, FORMAT) or (version == 0 and run("SELECT 1 FROM sqlite_master").fetchone()):
            raise InputError(f"{self.path}: is not a store of answers that this karat can read; name another output")
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")  # an answer that is kept is on the disk
        self._connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {FORMAT}; COMMIT")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._connection.close()

    def answer(self, key: bytes) -> str | None:
        """The answer that is kept for a question, or None."""
        found = self._one("SELECT answer FROM answers WHERE key = ?", key)
        return None if found is None else str(found[0])

    def tokens(self, key: bytes) -> list[tuple[str, float]]:
        """The tokens of an answer with their log-probabilities; none where the endpoint did not tell them."""
        found = self._one("SELECT tokens FROM tokens WHERE key = ?", key)
        complaint = "is not a store of answers that this karat wrote; name another output"
        kept = found[0] if found is not None and isinstance(found[0], bytes) else b"\x90"
        return decoded_msgpack(kept, list[tuple[str, float]], self.path, complaint)

    def spent(self) -> Spent:
        """The requests, tokens and costs of all commands so far."""
        with self._transaction() as run:
            return _spent(run)

    def begin(self, key: bytes, expected: Usage) -> int:
        """Notes that a request is sent, with what it is expected to take, and gives its number.

        What is expected counts until it is known better, and for good where that is never: a request on which
        the process was killed may have been charged.
        """
        with self._transaction() as run:
            self._refuse_beyond_limits(_spent(run), expected)
            values = (key, expected.tokens_in, expected.tokens_out)
            noted = run("INSERT INTO requests (key, tokens_in, tokens_out, estimated) VALUES (?, ?, ?, 1)", values)
            return int(noted.lastrowid or 0)

    def _refuse_beyond_limits(self, spent: Spent, expected: Usage) -> None:
        most, dearest = self.limits.requests, self.limits.cost
        if most is not None and spent.requests >= most:
            raise StoppedError(f"--max-requests {most:,} is reached")
        if dearest is not None:
            cost = self.limits.price(spent.usage)
            if cost + self.limits.price(expected) > dearest:
                raise StoppedError(f"--max-cost {dearest:g} is reached: {cost:.4g} is spent or asked for")

    def end(self, request: int, usage: Usage) -> None:
        """Notes what a request took that brought no answer."""
        with self._transaction() as run:
            _note(run, request, usage)

    def keep(self, question: Question, answer: Answer) -> None:
        """Keeps an answer; when this returns it is on the disk."""
        values = (
            question.key,
            question.document,
            question.step,
            question.model,
            question.temperature,
            question.seed,
            question.prompt,
            answer.text,
            answer.request,
            datetime.now(UTC).isoformat(timespec="seconds"),
        )
        with self._transaction() as run:
            _note(run, answer.request, answer.usage)
            run(f"INSERT OR IGNORE INTO answers VALUES ({','.join('?' * len(values))})", values)
            if answer.tokens:
                run("INSERT OR IGNORE INTO tokens VALUES (?, ?)", (question.key, msgspec.msgpack.encode(answer.tokens)))

    def _one(self, query: str, *values: Any) -> Any:
        with self._transaction() as run:
            return run(query, values).fetchone()

    @contextmanager
    def _transaction(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        with self._lock, _errors(self.path):
            self._connection.execute("BEGIN")
            try:
                yield self._connection.execute
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def _spent(run: Callable[..., sqlite3.Cursor]) -> Spent:
    query = "SELECT COUNT(*), TOTAL(tokens_in), TOTAL(tokens_out), MAX(estimated) FROM requests"
    requests, tokens_in, tokens_out, estimated = run(query).fetchone()
    return Spent(requests, Usage(int(tokens_in), int(tokens_out), bool(estimated)))


def _note(run: Callable[..., sqlite3.Cursor], request: int, usage: Usage) -> None:
    values = (usage.tokens_in, usage.tokens_out, usage.estimated, request)
    run("UPDATE requests SET tokens_in = ?, tokens_out = ?, estimated = ? WHERE number = ?", values)


@contextmanager
def _errors(path: str) -> Iterator[None]:
    """Turns what can go wrong with the file into a sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise InputError(f"{path}: another karat is at work on these answers; wait for it to end") from None
        raise InputError(f"{path}: answers cannot be kept there ({error})") from None
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not a store of answers ({error}); move it away or name another output") from None
