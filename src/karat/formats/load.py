"""Bytes to typed values: JSON and MessagePack, checked for shape, depth and range; one kind of error for all faults.

Everything that karat keeps in files of its own, and whatever is JSON in a foreign one, comes through here. What is
right by its type and still wrong (a count below 0, two ids that are equal) is checked by whoever knows what it means.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from karat.errors import InputError
from karat.formats.base import brief, quoted
from karat.formats.files import read_whole
from karat.formats.json_bytes import check_decoded, check_values
from karat.limits import limits

T = TypeVar("T")

MOST_COUNT = 1 << 53  # beyond it, not every whole number is a float
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_COUNT)]
UNTYPED = (Any, dict[str, Any])  # kinds whose values can be anything at all
# What decoding may raise; a ValueError for bytes that are no text, and for numbers of more digits than Python reads.
DECODING_ERRORS = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


@cache
def decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """The decoder of JSON for a type."""
    return msgspec.json.Decoder(kind)


def fault(error: Exception, content: bytes = b"") -> tuple[int, str]:
    """(the line, why something could not be decoded); the line is that of the fault in the content."""
    if isinstance(error, RecursionError):
        return 1, "nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return _not_utf8(content)
    if "integer string conversion" in str(error):
        return 1, f"a number of more than {limits().digits} digits"
    said, found, byte = str(error).partition(" (byte ")
    at = int(byte.rstrip(")")) if found else len(content.rstrip())
    if content[at:].lstrip(b"-").startswith((b"NaN", b"Infinity")):
        said = "NaN and Infinity are no numbers there; write null"
    return _line(content, at), brief(said) or type(error).__name__


def _not_utf8(content: bytes) -> tuple[int, str]:
    """The fault of bytes that are no text: decoding tells its place within a string alone."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        byte = error.start - content.rfind(b"\n", 0, error.start)
        return _line(content, error.start), f"not UTF-8 at byte {byte} (0x{content[error.start]:02x})"
    return 1, "not UTF-8"


def _line(content: bytes, at: int) -> int:
    return content.count(b"\n", 0, at) + 1


def check_value(value: Any, where: str) -> None:
    """Raises InputError if a decoded value is nested too deeply, or has a whole number of too many digits."""
    most, level = limits(), [value]
    largest = 10**most.digits
    for _ in range(most.depth):
        below: list[Any] = []
        for each in level:
            for inner in each.values() if type(each) is dict else each if type(each) is list else (each,):
                kind = type(inner)
                if kind is list or kind is dict:
                    below.append(inner)
                elif kind is int and not -largest < inner < largest:
                    raise most.exceeded("digits", where, "a number")
        if not below:
            return
        level = below
    raise most.exceeded("depth", where, "the value")


def json_value(content: bytes, where: str | None = None) -> Any:
    """The value of a JSON text; None where it is not one.

    A value beyond the limits is an error that begins with `where`; without a place it is None.
    """
    try:
        check_values(content, where or "")
        found = decoder(Any).decode(content)
        check_value(found, where or "")
    except InputError:
        if where is None:
            return None
        raise
    except DECODING_ERRORS:
        return None
    return found


def decoded_json(content: bytes, kind: Any, where: str, complaint: str, hint: str = "") -> Any:
    """Decode a JSON text as a type.

    Raises InputError if it is not of the type: `where`, the complaint, as "not JSON", the reason, and what to write
    instead; and if an object has a key twice.
    """
    try:
        found = decoder(kind).decode(content)
    except DECODING_ERRORS as error:
        raise _wrong(where, complaint, hint, error, content) from None
    if kind in UNTYPED:
        check_value(found, where)
    check_decoded(content, found, where)
    return found


def decode_entries(content: bytes, kind: Any, where: str, complaint: str, hint: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of a JSON object, which may be those of many documents, each decoded as a type.

    Raises InputError as `decoded_json` does, and if a field has too many values.
    """
    if content.count(b":") > limits().values:
        raise limits().exceeded("values", where, "the file")
    fields: dict[str, msgspec.Raw] = decoded_json(content, dict[str, msgspec.Raw], where, complaint, hint)
    for name, raw in fields.items():
        at = f"{where}: document {quoted(name)}"
        check_values(bytes(raw), at)
        try:
            value = decoder(kind).decode(raw)
        except UnicodeDecodeError as error:
            raise _wrong(where, complaint, hint, error, content) from None
        except DECODING_ERRORS as error:
            raise InputError(f"{at}: {fault(error)[1]}; {hint or complaint}") from None
        if kind in UNTYPED:
            check_value(value, at)
        yield name, value


def decoded_msgpack(content: bytes, kind: type[T], where: str, complaint: str) -> T:
    """A MessagePack text as a type. Raises InputError if it is not."""
    try:
        return msgspec.msgpack.decode(content, type=kind)
    except DECODING_ERRORS as error:
        raise _wrong(where, complaint, "", error) from None


def converted(value: Any, kind: type[T], where: str, complaint: str) -> T:
    """Plain values as a type. Raises InputError if they are not of it."""
    try:
        return msgspec.convert(value, kind)
    except DECODING_ERRORS as error:
        raise _wrong(where, complaint, "", error) from None


def load_json(path: str | Path, kind: Any, complaint: str, hint: str = "") -> Any:
    """The JSON of a file as a type. Raises InputError as `decoded_json` does."""
    return decoded_json(read_whole(path), kind, str(path), complaint, hint)


def _wrong(where: str, complaint: str, hint: str, error: Exception, content: bytes = b"") -> InputError:
    line, said = fault(error, content)
    return InputError(f"{where}{f':{line}' if line > 1 else ''}: {complaint} ({said}){f'; {hint}' if hint else ''}")
