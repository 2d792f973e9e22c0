"""Lists of phrases as one flat column, split where the protocol splits phrases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Phrase

Ints = NDArray[np.int64]

# What is replaced by `;` before splitting there, and what is removed.
_SEPARATORS: dict[str, tuple[str, ...]] = {
    "none": (),
    "semicolon": (";",),
    "slash": (";", "/", "<p_start>", "<a_start>", "<p_end>", "<a_end>"),
    "sep": (";", "<sep>"),
}
_REMOVED: dict[str, tuple[str, ...]] = {"slash": ("<eokp>", "<blank>")}
_END: dict[str, str] = {"sep": "<eos>"}


def split_phrases(given: Sequence[Sequence[Phrase]], separators: str, blank: str) -> tuple[list[str], Ints, Ints]:
    """Every phrase, the document it belongs to, and its index in that document's list.

    >>> split_phrases([["a/b", "c"], []], "slash", "drop")
    (['a', 'b', 'c'], array([0, 0, 0]), array([0, 0, 1]))
    """
    counts = np.fromiter(map(len, given), dtype=np.int64, count=len(given))
    flat = [phrase or "" for phrase in chain.from_iterable(given)]
    splits = separators != "none" and _has_marks(flat, separators)
    fills = (blank == "keep" and not counts.all()) or (blank == "inner" and "" in map(str.strip, flat))
    if splits or fills:
        return _one_by_one(given, separators, blank)
    document = np.repeat(np.arange(len(given)), counts)
    return flat, document, np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)


def _has_marks(flat: list[str], separators: str) -> bool:
    together = "\n".join(flat)
    marks = (*_SEPARATORS[separators], *_REMOVED.get(separators, ()), *_END.values())
    return any(mark in together for mark in marks)


def _one_by_one(given: Sequence[Sequence[Phrase]], separators: str, blank: str) -> tuple[list[str], Ints, Ints]:
    flat: list[str] = []
    document: list[int] = []
    source: list[int] = []
    for d, phrases in enumerate(given):
        pieces = list(_pieces(phrases, separators))
        if not pieces and blank == "keep":
            pieces = [("", 0)]
        elif blank == "inner" and len(pieces) == 1 and not pieces[0][0].strip():
            pieces = []
        flat.extend(piece for piece, _ in pieces)
        source.extend(index for _, index in pieces)
        document.extend([d] * len(pieces))
    return flat, np.array(document, dtype=np.int64), np.array(source, dtype=np.int64)


def _pieces(phrases: Sequence[Phrase], separators: str) -> list[tuple[str, int]]:
    pieces: list[tuple[str, int]] = []
    marks, end = _SEPARATORS[separators], _END.get(separators)
    for index, phrase in enumerate(phrases):
        text = phrase or ""
        ends = end is not None and end in text
        if end is not None:
            text = text.split(end)[0]
        for mark in _REMOVED.get(separators, ()):
            text = text.replace(mark, "")
        for mark in marks[1:]:
            text = text.replace(mark, marks[0])
        pieces.extend((piece, index) for piece in (text.split(marks[0]) if marks else [text]))
        if ends:
            break
    return pieces
