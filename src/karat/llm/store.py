"""Answers of models on disk, each one before the next request is sent, and an account of every request.

One SQLite file. What has been answered has been paid for: nothing is ever deleted from it, and a file that SQLite
cannot read is left as it is. Each row has a checksum (see `formats.checksums`); a damaged answer is asked for again,
and the new one replaces it. While one process writes to the file, no other can.
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

from karat.errors import InputError, counted
from karat.formats.checksums import no_checksum, row_checksum
from karat.formats.load import decoded_msgpack
from karat.llm.client import Answer, StoppedError, Usage
from karat.record import note_output

FORMAT = 2
NO_CHECKSUMS = 1  # the format of earlier versions, without checksums
MEMORY = ":memory:"
_TABLES = """
CREATE TABLE IF NOT EXISTS requests (
    number INTEGER PRIMARY KEY, key BLOB NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
    estimated INTEGER NOT NULL, checksum INTEGER
);
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, document TEXT, step TEXT, model TEXT, temperature REAL, seed INTEGER, prompt TEXT,
    answer TEXT NOT NULL, request INTEGER, answered TEXT, checksum INTEGER
);
CREATE TABLE IF NOT EXISTS tokens (key BLOB PRIMARY KEY, tokens BLOB NOT NULL);
"""
_ADD_CHECKSUMS = """
ALTER TABLE requests ADD COLUMN checksum INTEGER;
ALTER TABLE answers ADD COLUMN checksum INTEGER;
"""
_ANSWERS = "SELECT answers.*, tokens.tokens FROM answers LEFT JOIN tokens ON tokens.key = answers.key"
_REQUESTS = "SELECT number, key, tokens_in, tokens_out, estimated, checksum FROM requests"


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
        self.has_checksums = True  # False where an earlier version wrote the file
        self._damaged: set[bytes] = set()  # keys of answers
        self._damaged_requests = 0
        self._lock = Lock()
        with _errors(self.path):
            self._connection = sqlite3.connect(self.path, check_same_thread=False, timeout=0.5, isolation_level=None)
            # A damaged text is to be read, too, so that its checksum tells.
            self._connection.text_factory = lambda text: text.decode("utf-8", "replace")
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        run = self._connection.execute
        version = run("PRAGMA user_version").fetchone()[0]
        if version not in (0, NO_CHECKSUMS, FORMAT) or (version == 0 and run("SELECT 1 FROM sqlite_master").fetchone()):
            raise InputError(f"{self.path}: is not a store of answers that this karat can read; name another output")
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")  # an answer that is kept is on the disk
        self.has_checksums = version != NO_CHECKSUMS
        tables = _TABLES if self.has_checksums else _ADD_CHECKSUMS
        self._connection.executescript(f"BEGIN IMMEDIATE; {tables} PRAGMA user_version = {FORMAT};")
        if self.has_checksums:
            self._damaged_requests = sum(_request_checksum(row) != row[-1] for row in run(_REQUESTS))
        else:
            _checksum_rows(run)
        run("COMMIT")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._connection.close()

    def answer(self, key: bytes) -> str | None:
        """Return the answer to a question; None if there is none, or if it is damaged."""
        with self._transaction() as run:
            row = self._undamaged(run, key)
        return None if row is None else str(row[_ANSWER])

    def request_counts(self) -> dict[bytes, int]:
        """Return the number of requests by the key of their question, answered or not."""
        with self._transaction() as run:
            return dict(run("SELECT key, COUNT(*) FROM requests GROUP BY key").fetchall())

    def tokens(self, key: bytes) -> list[tuple[str, float]]:
        """The tokens of an answer with their log-probabilities; none where the endpoint did not tell them."""
        with self._transaction() as run:
            row = self._undamaged(run, key)
        complaint = "is not a store of answers that this karat wrote; name another output"
        tokens = b"\x90" if row is None or row[-1] is None else row[-1]
        if not isinstance(tokens, bytes):
            raise InputError(f"{self.path}: {complaint}")
        return decoded_msgpack(tokens, list[tuple[str, float]], self.path, complaint)

    def notes(self) -> list[str]:
        """Return sentences on damage, and on a file without checksums."""
        notes = [] if self.has_checksums else [no_checksum(self.path)]
        if self._damaged:
            is_, it = ("is", "it is") if len(self._damaged) == 1 else ("are", "they are")
            notes.append(f"{self.path}: {counted(len(self._damaged), 'answer')} {is_} damaged; {it} asked for again")
        if self._damaged_requests:
            number = counted(self._damaged_requests, "request")
            notes.append(f"{self.path}: the account of {number} is damaged; tokens and costs in all are not exact")
        return notes

    def _undamaged(self, run: Callable[..., sqlite3.Cursor], key: bytes) -> tuple[Any, ...] | None:
        """Return the row of an answer with its tokens; None if there is none, or if it is damaged."""
        row: tuple[Any, ...] | None = run(f"{_ANSWERS} WHERE answers.key = ?", (key,)).fetchone()
        if row is None or (row[0] == key and _answer_checksum(row) == row[-2]):
            return row
        self._damaged.add(key)
        return None

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
            number = int(noted.lastrowid or 0)
            _checksum_request(run, number)
            return number

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
            float(question.temperature),
            question.seed,
            question.prompt,
            answer.text,
            answer.request,
            datetime.now(UTC).isoformat(timespec="seconds"),
        )
        with self._transaction() as run:
            _note(run, answer.request, answer.usage)
            if self._undamaged(run, question.key) is not None:
                return
            tokens = msgspec.msgpack.encode(answer.tokens) if answer.tokens else None
            row = (*values, row_checksum(*values, tokens))
            run(f"INSERT OR REPLACE INTO answers VALUES ({','.join('?' * len(row))})", row)
            if tokens is None:
                run("DELETE FROM tokens WHERE key = ?", (question.key,))
            else:
                run("INSERT OR REPLACE INTO tokens VALUES (?, ?)", (question.key, tokens))

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


_ANSWER = 7  # the place of the text in a row of answers


def _answer_checksum(row: tuple[Any, ...]) -> int:
    """Compute the checksum of a row of answers: of all but its checksum, and of the tokens at the end."""
    return row_checksum(*row[:-2], row[-1])


def _request_checksum(row: tuple[Any, ...]) -> int:
    return row_checksum(*row[:-1])


def _checksum_request(run: Callable[..., sqlite3.Cursor], number: int) -> None:
    row = run(f"{_REQUESTS} WHERE number = ?", (number,)).fetchone()
    run("UPDATE requests SET checksum = ? WHERE number = ?", (_request_checksum(row), number))


def _checksum_rows(run: Callable[..., sqlite3.Cursor]) -> None:
    """Write the checksums of all rows of an earlier version."""
    for row in run(_REQUESTS).fetchall():
        run("UPDATE requests SET checksum = ? WHERE number = ?", (_request_checksum(row), row[0]))
    for (key,) in run("SELECT key FROM answers").fetchall():
        row = run(f"{_ANSWERS} WHERE answers.key = ?", (key,)).fetchone()
        run("UPDATE answers SET checksum = ? WHERE key = ?", (_answer_checksum(row), key))


def _spent(run: Callable[..., sqlite3.Cursor]) -> Spent:
    query = "SELECT COUNT(*), TOTAL(tokens_in), TOTAL(tokens_out), MAX(estimated) FROM requests"
    requests, tokens_in, tokens_out, estimated = run(query).fetchone()
    return Spent(requests, Usage(int(tokens_in), int(tokens_out), bool(estimated)))


def _note(run: Callable[..., sqlite3.Cursor], request: int, usage: Usage) -> None:
    values = (usage.tokens_in, usage.tokens_out, usage.estimated, request)
    run("UPDATE requests SET tokens_in = ?, tokens_out = ?, estimated = ? WHERE number = ?", values)
    if request:
        _checksum_request(run, request)


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
