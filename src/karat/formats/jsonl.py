"""JSON lines of any kind of record; those of karat itself stay undecoded until they are used."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, TypeVar

import msgspec
import numpy as np

from karat.corpus import Batch, Batches, Document, Prediction, check_counts, least_limit, text_of_id
from karat.engines import engine
from karat.errors import InputError
from karat.formats.base import brief
from karat.formats.files import Ints, Plain, as_plain, blocks_with_starts, decode_utf8, line_starts, split_lines
from karat.formats.json_bytes import check_keys, check_lines
from karat.formats.load import DECODING_ERRORS, UNTYPED, check_value, decoder, fault
from karat.formats.output import writing

R = TypeVar("R", Document, Prediction)
T = TypeVar("T")


class _Id(msgspec.Struct, gc=False):
    id: str | int | None = None


_decode_ids = msgspec.json.Decoder(_Id).decode_lines


class Block(Sequence[bytes]):
    """Lines that are kept in one piece until one of them is read; quick to decode.

    Sent to another process, a part of a plain file is read there again instead of going through a pipe.
    """

    __slots__ = ("_count", "_lines", "_offset", "_plain", "content", "longest")

    def __init__(
        self, content: bytes, count: int, plain: Plain | None = None, offset: int = 0, longest: int | None = None
    ) -> None:
        self.content = content
        self.longest = len(content) if longest is None else longest  # bytes of a line, at most
        self._count = count
        self._plain = plain
        self._offset = offset
        self._lines: list[bytes] | None = None

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._split()[index]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._split())

    def _split(self) -> list[bytes]:
        if self._lines is None:
            self._lines = split_lines(self.content)
        return self._lines

    def __reduce__(self) -> tuple[Any, ...]:
        if self._plain is None or engine() is not None:  # another machine would not find the file
            return Block, (self.content, self._count, None, 0, self.longest)
        return _read_again, (self._plain, self._offset, len(self.content), self._count, self.longest)


def _read_again(plain: Plain, offset: int, length: int, count: int, longest: int) -> Block:
    return Block(plain.read(offset, length), count, plain, offset, longest)


def corpus(path: str) -> Batches[Document]:
    """The documents of a file."""
    return partial(_batches, path, Document)


def run(path: str) -> Batches[Prediction]:
    """The predictions of a file."""
    return partial(_batches, path, Prediction)


def _batches(path: str, kind: type[R]) -> Iterator[Batch[R]]:
    """Batches of undecoded lines: only the ids are read here, the rest where the batch is used."""
    decoding = partial(decode, path, kind)
    empty = True
    plain = as_plain(path)
    for first, offset, content, starts in blocks_with_starts(path):
        if content.isspace():
            continue
        places: Sequence[int] = range(first, first + len(starts))
        longest = check_bytes(path, kind, places, content, starts)
        raw: Sequence[bytes] = Block(content, len(starts), plain, offset, longest)
        ids = _ids(content)
        if len(ids) != len(starts) or not _all_objects(content, starts):  # take the lines one by one
            places = [n for n, line in zip(places, raw, strict=True) if line and not line.isspace()]
            raw = [raw[n - first] for n in places]
            ids = [record.id for record in decoding(raw, places)]
        if raw:
            empty = False
            yield Batch(_as_text(ids), raw, places, decoding)
    if empty:
        raise InputError(f"{path}: the file is empty")


def check_bytes(path: str, kind: Any, places: Sequence[int], content: bytes, starts: Ints) -> int:
    """Raise InputError if a line has too many values, or a key twice; return the length of the longest line."""
    longest = check_lines(path, places, content, starts)
    check_keys(path, places, content, starts, _fields_of(kind))
    return longest


@cache
def _fields_of(kind: Any) -> frozenset[bytes] | None:
    """Return the keys that are read of a record, in quotes; None if all are, or if a field has keys itself."""
    fields = msgspec.inspect.type_info(kind)
    if not isinstance(fields, msgspec.inspect.StructType) or kind is Document:
        return None
    return frozenset(msgspec.json.encode(field.encode_name) for field in fields.fields)


def _all_objects(content: bytes, starts: Ints) -> bool:
    """Whether every line opens an object: none is blank, and none holds the end of another."""
    return bool((np.frombuffer(content, dtype=np.uint8)[starts] == ord("{")).all())


def _ids(content: bytes) -> list[str | int | None]:
    try:
        return [record.id for record in _decode_ids(content)]
    except DECODING_ERRORS:
        return []


def ids_of(path: str, kind: type[R], raw: Sequence[bytes], places: Sequence[int]) -> list[str | None]:
    """The ids of lines, of which none is blank. Raises InputError if a line is no record, with its place."""
    content = b"\n".join(raw)
    starts = line_starts(content)
    check_bytes(path, kind, places, content, starts)
    ids = _ids(content)
    if len(ids) != len(raw) or not _all_objects(content, starts):
        ids = [record.id for record in decode(path, kind, raw, places)]
    return _as_text(ids)


def _as_text(ids: list[str | int | None]) -> list[str | None]:
    return ids if set(map(type, ids)) == {str} else list(map(text_of_id, ids))  # type: ignore[return-value]


def decode(path: str, kind: type[T], raw: Sequence[bytes], places: Sequence[int]) -> list[T]:
    """The records of lines. Raises InputError with the place of the first that is none."""
    if isinstance(raw, Block):
        try:
            records: list[T] = decoder(kind).decode_lines(raw.content)  # type: ignore[arg-type]
            if len(records) == len(raw):
                return _checked(path, kind, records, places, raw.longest)
        except DECODING_ERRORS:
            pass  # the line that is broken is named below
    read = [_decode_line(path, kind, line, number) for line, number in zip(raw, places, strict=True)]
    return _checked(path, kind, read, places, max(map(len, raw), default=0))


def _checked(path: str, kind: Any, records: list[T], places: Sequence[int], longest: int) -> list[T]:
    """The records, provided that they are within the limits; short lines are."""
    if kind in UNTYPED:
        for record, number in zip(records, places, strict=True):
            check_value(record, f"{path}:{number}")
    if kind in (Document, Prediction) and longest > least_limit():
        for record, number in zip(records, places, strict=True):
            check_counts(record, f"{path}:{number}")  # type: ignore[arg-type]
    return records


def _decode_line(path: str, kind: type[T], line: bytes, number: int) -> T:
    try:
        return decoder(kind).decode(line)  # type: ignore[no-any-return, arg-type]
    except msgspec.ValidationError as error:
        raise InputError(f"{path}:{number}: {_explain(brief(str(error)), kind)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if kind is Prediction and (found := _with_nan(line)) is not None:
            return found  # type: ignore[return-value]
        decode_utf8(line, path, number)
        raise InputError(f"{path}:{number}: not JSON: {_column(str(error), line)}") from None
    except DECODING_ERRORS as error:
        raise InputError(f"{path}:{number}: not a document: {fault(error)[1]}") from None


def _with_nan(line: bytes) -> Prediction | None:
    """The prediction of a line with NaN among its probabilities, as Python writes it; None if else it is no JSON."""
    if b"NaN" not in line and b"Infinity" not in line:
        return None
    try:
        record = json.loads(line)
        others = {name: value for name, value in record.items() if name not in ("token_probs", "token_logprobs")}
        json.dumps(others, allow_nan=False, ensure_ascii=False).encode()  # there NaN and half characters are errors
        return msgspec.convert(record, Prediction)
    except (AttributeError, *DECODING_ERRORS):
        return None


def records(path: str, kind: type[T]) -> Iterator[tuple[int, T]]:
    """(number, record) of every line that is not blank, decoded as a type that msgspec knows."""
    empty = True
    for first, _, content, starts in blocks_with_starts(path):
        if content.isspace():
            continue
        places: Sequence[int] = range(first, first + len(starts))
        block = Block(content, len(starts), longest=check_bytes(path, kind, places, content, starts))
        raw: Sequence[bytes] = block
        if not _all_objects(content, starts):
            places = [n for n, line in zip(places, block, strict=True) if line and not line.isspace()]
            raw = [block[n - first] for n in places]
        empty = empty and not raw
        yield from zip(places, decode(path, kind, raw, places), strict=True)
    if empty:
        raise InputError(f"{path}: the file is empty")


def save(path: str, records: Iterable[Any]) -> None:
    """Writes records as JSON lines, leaving out what is at its default."""
    encode = msgspec.json.Encoder().encode
    with writing(path) as file:
        for record in records:
            file.write(encode(record) + b"\n")


def _explain(message: str, kind: Any) -> str:
    if kind is Prediction and "got `array` - at `$.keyphrases[" in message:
        return f'{message}; a prediction is one phrase; scores have a list of their own: "scores": [0.9, 0.2]'
    if "`array | null`, got `str`" in message and "keyphrases" in message:
        return f'{message}; write a list of phrases: "keyphrases": ["a b", "c"]'
    return message


def _column(message: str, line: bytes) -> str:
    """msgspec counts bytes from 0; people count characters from 1."""
    head, found, byte = message.rpartition("(byte ")
    if not found:
        return message
    at = int(byte.rstrip(")")) - ("trailing characters" in message)  # of these it names the end of the first
    before = line[:at].decode(errors="replace")
    if line[at:].lstrip(b"-").startswith((b"NaN", b"Infinity")):
        return f"NaN and Infinity are no numbers there; write null (column {len(before) + 1})"
    return f"{head}(column {len(before) + 1})"
