"""Check the bytes of JSON: the number of values before they are decoded, and objects that have a key twice.

Decoding makes a Python object of every value, and keeps the last of several equal keys.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.formats.base import quoted
from karat.formats.files import Ints, places_of
from karat.limits import limits

_QUOTE = ord('"')
_BLANK = np.zeros(256, dtype=np.bool_)
_BLANK[[ord(mark) for mark in " \t\r\n"]] = True


# ---------------------------------------------------------------------------------------------- values


def check_values(content: bytes, where: str, what: str = "the JSON") -> None:
    """Raise InputError if a JSON text may have more values than the limit allows.

    Its commas and opening brackets are counted, those within strings too.
    """
    most = limits().values
    if len(content) > most and sum(map(content.count, (b",", b"[", b"{"))) > most:
        raise limits().exceeded("values", where, what)


def check_lines(path: str, places: Sequence[int], content: bytes, starts: Ints) -> int:
    """Raise InputError if a line may have more values than the limit allows; return the length of the longest line."""
    lengths = np.diff(starts, append=len(content))
    longest = int(lengths.max(initial=0))
    if longest > limits().values:
        for line in np.flatnonzero(lengths > limits().values).tolist():
            start = int(starts[line])
            check_values(content[start : start + int(lengths[line])], f"{path}:{places[line]}", "the line")
    return longest


# ---------------------------------------------------------------------------------------------- keys

_BYTES = 8  # before a colon: a closing quote, and the end of a key by which others are told from it at first
_ONES, _HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_NESTED = (dict, list, tuple, msgspec.Struct)


def check_keys(
    path: str, places: Sequence[int], content: bytes, starts: Ints, fields: Collection[bytes] | None = None
) -> None:
    """Raise InputError if an object has a key twice; keys are equal if they are written alike.

    The texts that begin at `starts` are lines, or items of a list; `places` are their numbers. Where `fields` are
    given, with their quotes, other keys are passed over.
    """
    ends, unclear = _key_ends(content)
    texts = np.searchsorted(starts, ends, side="right") - 1
    numbers = _numbers(content, ends) + texts.astype(np.uint64) * _SPREAD
    ordered = np.sort(numbers)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(unclear) or len(repeated):
        some = np.isin(numbers, repeated)
        repeats = _with_repeats(content, ends[some], texts[some], fields)
        bounds = [*starts.tolist(), len(content)]
        for text in sorted({*repeats, *(np.searchsorted(starts, unclear, side="right") - 1).tolist()}):
            check_object(content[bounds[text] : bounds[text + 1]], f"{path}:{places[text]}")


def check_decoded(content: bytes, value: Any, where: str) -> None:
    """Raise InputError if an object of a JSON text has a key twice; `value` is what the text was decoded as.

    Large objects are checked by their number of keys, which is greater than that of the decoded dicts if a key is
    there twice. Many small ones are decoded again, which takes less time than to count their keys.
    """
    if content.count(b":") > 1:
        keys = sum(map(len, _key_ends(content)))
        if keys != _count_keys(value, most=1 + keys // 32):
            check_object(content, where)


def _count_keys(value: Any, most: int) -> int:
    """Count the keys of a value in at most so many of its objects and lists.

    Fields that have a default are left out, since the text may be without them.
    """
    number, waiting = 0, list[Iterable[Any]]([(value,)])
    while waiting and most:
        most -= 1
        values = waiting.pop()
        nested = {kind for kind in set(map(type, values)) if issubclass(kind, _NESTED)}
        for inner in [inner for inner in values if type(inner) in nested] if nested else ():
            if isinstance(inner, dict):
                number += len(inner)
                waiting.append(inner.values())
            elif isinstance(inner, msgspec.Struct):
                number += len(inner.__struct_fields__) - len(inner.__struct_defaults__)
                waiting.append(msgspec.structs.astuple(inner))
            else:
                waiting.append(inner)
    return number


def check_object(content: bytes, where: str) -> None:
    """Raise InputError if an object of a JSON text has a key twice."""
    key = repeated_key(content)
    if key is not None:
        raise InputError(f"{where}: an object has the key {quoted(key)} twice; keep one of them")


def _key_ends(content: bytes) -> tuple[Ints, Ints]:
    """Return the positions behind the quotes of keys, and colons that may or may not stand behind a key."""
    text = np.frombuffer(content, dtype=np.uint8)
    colons = places_of(text, ":")
    before = text[colons - 1]
    ends = colons[before == _QUOTE]
    blank = colons[_BLANK[before]]
    if len(blank):
        one = text[blank - 2]
        ends = np.concatenate([ends, blank[one == _QUOTE] - 1])
        blank = blank[_BLANK[one]]
    return ends, blank


def _numbers(content: bytes, ends: Ints) -> NDArray[np.uint64]:
    """Return a number for each key: that of its last seven bytes, or of fewer where the content begins."""
    content = content.ljust(_BYTES)
    words = np.ndarray(shape=(len(content) - _BYTES + 1,), dtype=">u8", buffer=content, strides=(1,))
    first = np.maximum(ends - _BYTES, 0)
    behind = 8 * (first + _BYTES - ends + 1)  # bits: the closing quote, and what follows a key at the beginning
    keys = words[first].astype(np.uint64) >> behind.astype(np.uint64)
    marks = keys ^ (_ONES * np.uint64(_QUOTE))
    quotes = (marks - _ONES) & ~marks & _HIGHS  # the lowest bit of these is that of the last quote
    return keys & ((quotes & (~quotes + np.uint64(1))) - np.uint64(1))


def _with_repeats(content: bytes, ends: Ints, texts: Ints, fields: Collection[bytes] | None) -> set[int]:
    """Return the texts in which two keys are equal, be it in different objects."""
    seen: set[tuple[int, bytes]] = set()
    repeats: set[int] = set()
    for end, text in zip(ends.tolist(), texts.tolist(), strict=True):
        name = content[content.rfind(b'"', 0, end - 1) : end]
        if fields is None or name in fields:
            (repeats.add(text) if (text, name) in seen else seen.add((text, name)))
    return repeats


class _RepeatedKeyError(Exception):
    pass


def repeated_key(content: bytes) -> str | None:
    """Return the first key that an object of a JSON text has twice; None if no object has, or if the text is not JSON.

    >>> repeated_key(b'{"a": 1, "b": [{"c": 1}, {"c": 2}]}'), repeated_key(b'{"a": 1, "b": {"c": 1, "c": 2}}')
    (None, 'c')
    """
    try:
        json.loads(content, object_pairs_hook=_distinct, parse_int=float)  # float reads any number of digits
    except _RepeatedKeyError as error:
        return str(error)
    except (ValueError, RecursionError):  # decoding says what is wrong
        return None
    return None


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _RepeatedKeyError(key)
        seen.add(key)
