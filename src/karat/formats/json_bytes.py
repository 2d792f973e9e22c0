"""Check JSON before it is decoded: count its values, and find objects that have a key twice.

Decoding makes a Python object of every value and keeps the last of several equal keys, so both are seen from the bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.formats.base import quoted
from karat.formats.files import Ints, places_of
from karat.limits import limits

_PART = 1 << 20  # bytes that are looked at together
_QUOTE = ord('"')
_OPENS = np.zeros(256, dtype=np.bool_)
_OPENS[[ord(mark) for mark in ",[{"]] = True
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[[ord(mark) for mark in "[{"]], _STEPS[[ord(mark) for mark in "]}"]] = 1, -1
_BLANK = np.zeros(256, dtype=np.bool_)
_BLANK[[ord(mark) for mark in " \t\r\n"]] = True


# ---------------------------------------------------------------------------------------------- values


def check_values(content: bytes, where: str, what: str = "the value") -> None:
    """Raises InputError if a JSON text has more values than the limit allows."""
    most = limits().values
    if len(content) > most and has_more_values(content, most):
        raise limits().exceeded("values", where, what)


def check_items(content: bytes, where: str, what: str) -> None:
    """Raises InputError if a JSON list has more items than a text may have values; items may hold any number."""
    most = limits().values
    if len(content) > most and has_more_values(content, most, levels=1):
        raise limits().exceeded("values", where, what)


def check_lines(path: str, places: Sequence[int], content: bytes, starts: Ints) -> int:
    """Raises InputError if a line has more values than the limit allows; returns the length of the longest line."""
    lengths = np.diff(starts, append=len(content))
    longest = int(lengths.max(initial=0))
    if longest > limits().values:
        for line in np.flatnonzero(lengths > limits().values).tolist():
            start = int(starts[line])
            check_values(content[start : start + int(lengths[line])], f"{path}:{places[line]}", "the line")
    return longest


def has_more_values(content: bytes, most: int, levels: int | None = None) -> bool:
    """Whether a JSON text has more values than that, at so many levels; lists and objects count twice.

    No more of it is looked at than it takes to say so.

    >>> [has_more_values(b'[1, "a, [b", [], {"c": 2}]', most) for most in (6, 7)]
    [True, False]
    """
    found, inside, depth = 1, 0, 0  # inside: 1 within a string
    for part in _parts(content):
        text = np.frombuffer(part, dtype=np.uint8)
        quotes = np.cumsum(text == _QUOTE, dtype=np.uint8) + np.uint8(inside)  # modulo 256, which keeps odd ones odd
        counted = _OPENS[text] & (quotes % 2 == 0)
        if levels is not None:
            depths = depth + np.cumsum(_STEPS[text] * (quotes % 2 == 0), dtype=np.int32)
            counted &= depths <= levels
            depth = int(depths[-1])
        found += int(np.count_nonzero(counted))
        inside = int(quotes[-1]) % 2
        if found > most:
            return True
    return False


def _parts(content: bytes) -> Iterator[bytes]:
    """The text in parts, none of which begins with a character that is escaped; escaped quotes are blank."""
    start = 0
    while start < len(content):
        end = start + _PART
        if content[end - 1 : end] == b"\\":
            end = len(content) - len(content[end:].lstrip(b"\\")) + 1
        part = content[start:end]
        yield part.replace(rb"\\", b"  ").replace(rb"\"", b"  ") if b"\\" in part else part
        start = end


# ---------------------------------------------------------------------------------------------- keys

_BYTES = 8  # before a colon: a closing quote, and the end of a key by which others are told from it at first
_ONES, _HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def check_keys(path: str, places: Sequence[int], content: bytes, starts: Ints) -> None:
    """Raises InputError if an object has a key twice; keys are equal if they are written alike.

    The texts that begin at `starts` are lines, or items of a list; `places` are their numbers.
    """
    ends, unclear = _key_ends(content)
    texts = np.searchsorted(starts, ends, side="right") - 1
    numbers = _numbers(content, ends) + texts.astype(np.uint64) * _SPREAD
    numbers.sort()
    if len(unclear) or (numbers[1:] == numbers[:-1]).any():
        repeated = _with_repeats(content, ends, texts)
        bounds = [*starts.tolist(), len(content)]
        for text in sorted({*repeated, *(np.searchsorted(starts, unclear, side="right") - 1).tolist()}):
            key = repeated_key(content[bounds[text] : bounds[text + 1]])
            if key is not None:
                raise InputError(f"{path}:{places[text]}: an object has the key {quoted(key)} twice; keep one of them")


def _key_ends(content: bytes) -> tuple[Ints, Ints]:
    """Where keys end: the places behind their quotes; and colons that may or may not stand behind a key."""
    text = np.frombuffer(content, dtype=np.uint8)
    colons = places_of(text, ":")
    colons = colons[colons >= _BYTES]  # there is no second key before
    before = text[colons - 1]
    ends = colons[before == _QUOTE]
    blank = colons[_BLANK[before]]
    if len(blank):
        one = text[blank - 2]
        ends = np.concatenate([ends, blank[one == _QUOTE] - 1])
        blank = blank[_BLANK[one]]
    return ends, blank


def _numbers(content: bytes, ends: Ints) -> NDArray[np.uint64]:
    """A number of each key: that of its last seven bytes."""
    words = np.ndarray(shape=(max(len(content) - _BYTES + 1, 0),), dtype=">u8", buffer=content, strides=(1,))
    keys = words[ends - _BYTES].astype(np.uint64) >> np.uint64(8)
    marks = keys ^ (_ONES * np.uint64(_QUOTE))
    quotes = (marks - _ONES) & ~marks & _HIGHS  # the lowest bit of these is that of the last quote
    return keys & ((quotes & (~quotes + np.uint64(1))) - np.uint64(1))


def _with_repeats(content: bytes, ends: Ints, texts: Ints) -> set[int]:
    """The texts in which two keys are equal, be it in different objects."""
    seen: set[tuple[int, bytes]] = set()
    found: set[int] = set()
    for end, text in zip(ends.tolist(), texts.tolist(), strict=True):
        key = text, content[content.rfind(b'"', 0, end - 1) : end]
        (found.add(text) if key in seen else seen.add(key))
    return found


class _RepeatedKeyError(Exception):
    pass


def repeated_key(content: bytes) -> str | None:
    """The first key that an object of a JSON text has twice; None where there is none, or where it is no JSON.

    >>> repeated_key(b'{"a": 1, "b": [{"c": 1}, {"c": 2}]}'), repeated_key(b'{"a": 1, "b": {"c": 1, "c": 2}}')
    (None, 'c')
    """
    try:
        json.loads(content, object_pairs_hook=_distinct)
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
