"""A run on its way to its file: what is predicted so far stands beside it, so that a command can go on after a kill.

`RUN.part` has a first line that says whose it is, then the lines of the run. When all is there it becomes the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import IO

import msgspec

from karat import __version__
from karat.corpus import Corpus, Prediction
from karat.formats.base import brief
from karat.formats.output import writing, writing_errors
from karat.predicting.base import Asked
from karat.predicting.finding import Wanted
from karat.predicting.reading import paths_of

PART = ".part"
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Prediction).decode


class _Whose(msgspec.Struct, frozen=True):
    """The first line of a part: what it belongs to."""

    karat: str  # the version
    model: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Part:
    """What is kept of a run: the predictions that are there already, and the file that takes the others."""

    path: str
    predictions: list[Prediction]
    file: IO[bytes]
    of_another: bool  # a part of another command stood there, and was begun anew

    def add(self, predictions: Iterable[Prediction]) -> None:
        """Keeps some more predictions; when this returns a kill does not lose them."""
        self.file.write(b"".join(_encode(each) + b"\n" for each in predictions))
        self.file.flush()

    def finish(self) -> None:
        """Makes the part the run, compressed if its name says so."""
        self.file.close()
        part = Path(self.path + PART)
        with part.open("rb") as kept, writing(self.path) as file:
            kept.readline()
            while block := kept.read(1 << 20):
                file.write(block)
        part.unlink()


def begin(path: str, wanted: Wanted, asked: Asked, corpus: Corpus) -> Part:
    """The part of a run that this command began before, or a new one."""
    part = Path(path + PART)
    whose = _Whose(__version__, wanted.name, fingerprint(wanted, asked, corpus, aside=(path, str(part))))
    content = part.read_bytes() if part.is_file() else b""
    head, _, lines = content.partition(b"\n")
    same = _is(whose, head)
    kept, length = _whole_lines(lines) if same else ([], 0)
    with writing_errors(path, part.parent):
        file = part.open("r+b" if same else "wb")
        if same:
            file.truncate(len(head) + 1 + length)
            file.seek(0, 2)
        else:
            file.write(_encode(whose) + b"\n")
            file.flush()
    return Part(path, kept, file, bool(content) and not same)


def _is(whose: _Whose, head: bytes) -> bool:
    try:
        return msgspec.json.decode(head, type=_Whose) == whose
    except msgspec.MsgspecError:
        return False


def _whole_lines(lines: bytes) -> tuple[list[Prediction], int]:
    """(the predictions of the lines that are whole, how many bytes they are)."""
    found: list[Prediction] = []
    length = 0
    for line in lines.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            found.append(_decode(line))
        except msgspec.MsgspecError:
            break
        length += len(line)
    return found, length


def same_documents(predictions: Sequence[Prediction], ids: Iterable[str | None]) -> bool:
    """Whether predictions are those of the first documents that have these ids."""
    return all(
        (None if each.id is None else str(each.id)) == identifier
        for each, identifier in zip(predictions, ids, strict=False)
    )


# ---------------------------------------------------------------------------------------------- fingerprints


def fingerprint(wanted: Wanted, asked: Asked, corpus: Corpus, aside: Sequence[str] = ()) -> str:
    """What a run depends on, as a short text: the model, its options, what is asked of it, and the documents.

    Documents in files go by when and how large these were written, but for the files that are written to.
    """
    common = {field.name: getattr(asked, field.name) for field in fields(asked) if field.name != "frequencies"}
    counts = None if asked.frequencies is None else (asked.frequencies.documents, dict(asked.frequencies.counts))
    options = {name: brief(repr(value)) for name, value in wanted.options.items()}
    parts = (wanted.name, options, common, counts, _identity(corpus, {Path(each).resolve() for each in aside}))
    return blake2b(msgspec.msgpack.encode(parts), digest_size=16).hexdigest()


def _identity(corpus: Corpus, aside: set[Path]) -> list[object]:
    paths = [path for each in paths_of(corpus) if (path := Path(each).resolve()) not in aside]
    if paths:
        return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    summary = blake2b(digest_size=16)
    for document in corpus:
        summary.update(msgspec.msgpack.encode(document))
    return [summary.hexdigest()]
