"""A file that is one document: which suffixes such files have, and how each is read.

What takes long to read (PDF, docx, HTML) is read once in a process and kept in a temporary file, since most verbs read
a corpus more than once.
"""

from __future__ import annotations

import atexit
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from karat.corpus import Document, check_counts
from karat.errors import InputError, MissingExtraError
from karat.formats import docx, html, pdf
from karat.formats.files import STDIN, decode_utf8, open_bytes, read_whole, without_compression
from karat.limits import limits

Read = Callable[[bytes], tuple[str | None, str]]  # (title, text). Raises InputError with the reason, without a path

_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*(.+?)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)


def _read_text(content: bytes) -> tuple[str | None, str]:
    text = _decoded(content)
    if "\0" in text:
        raise InputError("is not a text (it holds zero bytes)")
    return None, text


def _read_markdown(content: bytes) -> tuple[str | None, str]:
    """The title is the one that the lines between `---` at the head tell, else a heading that opens the text."""
    text = _read_text(content)[1]
    title: str | None = None
    front = _FRONT.match(text)
    if front is not None:
        told = _FRONT_TITLE.search(front[1])
        title = told[1].strip("'\"") if told else None
        text = text[front.end() :].lstrip("\r\n")
    first, _, rest = text.lstrip().partition("\n")
    if first.startswith("# "):
        heading = first[2:].strip().strip("#").strip()
        if title is None or title == heading:
            return heading, rest.lstrip("\n")
    return title, text


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        lines = (decode_utf8(line, "", number) for number, line in enumerate(content.split(b"\n"), 1))
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of files that are documents each: its suffixes, how it is read, and the library that this needs."""

    name: str
    suffixes: tuple[str, ...]
    read: Read
    library: Callable[[], Any] | None = None
    slow: bool = True


# Where a document is there in several kinds, the first of these is read.
KINDS = (
    Kind("text", (".txt", ".text"), _read_text, slow=False),
    Kind("Markdown", (".md", ".markdown"), _read_markdown, slow=False),
    Kind("HTML", (".html", ".htm", ".xhtml"), html.title_and_text, html.reader_of_html),
    Kind("docx", (".docx",), docx.title_and_text),
    Kind("PDF", (".pdf",), pdf.title_and_text, pdf.reader_of_pdf),
)
TEXT, PDF = KINDS[0], KINDS[-1]
SUFFIXES = {suffix: kind for kind in KINDS for suffix in kind.suffixes}


def suffix_of(path: str) -> str:
    """The suffix of a file in lower case, without that of a compression.

    >>> suffix_of("a/B.PDF"), suffix_of("b.txt.gz"), suffix_of("README")
    ('.pdf', '.txt', '')
    """
    return Path(without_compression(path)).suffix.lower()


def kind_of(path: str) -> Kind | None:
    """The kind of a document by the suffix of its file; None where it has another one."""
    return SUFFIXES.get(suffix_of(path))


def id_of(place: str) -> str:
    """The id of the document in a file: its place without the suffix.

    >>> id_of("2020/smith.v2.pdf"), id_of("bees.txt.gz"), id_of("README")
    ('2020/smith.v2', 'bees', 'README')
    """
    plain = without_compression(place)
    return plain[: -len(Path(plain).suffix)] if kind_of(plain) is not None else plain


def is_pdf(path: str) -> bool:
    """Whether a file begins as a PDF does, whatever it is called."""
    with open_bytes(path) as file:
        return file.read(5) == b"%PDF-"


def document_at(path: str, identifier: str, kind: Kind | None = None) -> Document:
    """The document in a file; without a kind, a PDF is seen from its beginning, and anything else is a text.

    Raises InputError, with the path and the reason, if it cannot be read.
    """
    chosen = kind or kind_of(path) or (PDF if path != STDIN and is_pdf(path) else TEXT)
    try:
        title, text = _kept(path, chosen) if chosen.slow and os.path.isfile(path) else chosen.read(read_whole(path))
    except InputError as error:
        said = str(error)
        apart = "" if said.startswith(":") else ": "  # behind the path stands a line, or the reason
        raise type(error)(said if said.startswith(path) else f"{path}{apart}{said}") from None
    document = Document(id=identifier, title=title, text=text)
    check_counts(document, path)
    return document


def reason(path: str, error: InputError) -> str:
    """Why a file cannot be read, without its path.

    >>> reason("a/b.pdf", InputError("a/b.pdf: this PDF is encrypted"))
    'this PDF is encrypted'
    """
    return str(error).removeprefix(path).removeprefix(": ")


# ---------------------------------------------------------------------------------------------- read once


class Outcome(msgspec.Struct, frozen=True):
    """What became of a file: its title and text, or why it cannot be read."""

    title: str | None = None
    text: str = ""
    refused: str | None = None


class _Store:
    """What was read, in a temporary file; a process that was forked begins one of its own."""

    def __init__(self) -> None:
        self._owner = 0
        self._file: IO[bytes] | None = None
        self._places: dict[tuple[Any, ...], tuple[int, int]] = {}
        self._end = 0

    def get(self, key: tuple[Any, ...]) -> Outcome | None:
        """What was kept under a key; None where there is nothing."""
        if key not in self._places or self._file is None or self._owner != os.getpid():
            return None
        place, size = self._places[key]
        self._file.seek(place)
        return msgspec.msgpack.decode(self._file.read(size), type=Outcome)

    def put(self, key: tuple[Any, ...], outcome: Outcome) -> None:
        """Keeps what became of a file."""
        if self._file is None or self._owner != os.getpid():
            self._file, self._owner = cast(IO[bytes], tempfile.TemporaryFile(prefix="karat-")), os.getpid()  # noqa: SIM115
            self._places, self._end = {}, 0
            atexit.register(self._file.close)
        content = msgspec.msgpack.encode(outcome)
        self._file.seek(self._end)
        self._file.write(content)
        self._places[key] = self._end, len(content)
        self._end += len(content)


_STORE = _Store()


def _key(path: str, kind: Kind) -> tuple[Any, ...]:
    """What an outcome depends on."""
    status = os.stat(path)
    return os.path.abspath(path), kind.name, status.st_ino, status.st_size, status.st_mtime_ns, limits()


def outcome_of(path: str, kind: Kind) -> Outcome:
    """What becomes of a file when it is read."""
    try:
        return Outcome(*kind.read(read_whole(path)))
    except MissingExtraError:
        raise
    except InputError as error:
        return Outcome(refused=str(error))


def is_kept(path: str, kind: Kind) -> bool:
    """Whether a file need not be read again, or is read so quickly that nothing is kept of it."""
    return not kind.slow or _STORE.get(_key(path, kind)) is not None


def keep(path: str, kind: Kind, outcome: Outcome) -> None:
    """Keeps what became of a file that was read elsewhere."""
    _STORE.put(_key(path, kind), outcome)


def _kept(path: str, kind: Kind) -> tuple[str | None, str]:
    """The title and the text of a file, which is read again only if it, or a limit, was changed."""
    outcome = _STORE.get(_key(path, kind))
    if outcome is None:
        outcome = outcome_of(path, kind)
        keep(path, kind, outcome)
    if outcome.refused is not None:
        raise InputError(outcome.refused)
    return outcome.title, outcome.text
