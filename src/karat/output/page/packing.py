"""Documents as compressed blocks of a page: an index that is read at once, and chunks that are read when shown."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isnan
from typing import Any

import msgspec

from karat.analyses.report.result import Answer, Browser, Entry, ReferenceEntry, Span
from karat.inert import inert, neutral
from karat.output.page.words import metric_of

CHUNK = 100  # documents
CLASSES = "PRMU"
FATES = {"found": "f", "near": "n", "other": "o", "dropped": "d", "missed": "m"}
ASTRAL = 0xFFFF  # letters beyond it count twice in a browser


@dataclass(frozen=True, slots=True)
class Packed:
    """A browser's index and chunks, each as the text of a block."""

    index: str
    chunks: tuple[str, ...]


def pack(
    browser: Browser,
    corpus: str,
    number: int,
    lists: Sequence[Sequence[int]] = (),
    marks: Sequence[tuple[str, str]] = (),
) -> Packed:
    """The documents of a corpus, ready to stand on the page; `marks` are the colour and path of each system.

    `lists` are documents that the page leads to from elsewhere, by their numbers.
    """
    whole = browser.entries
    index = {
        "corpus": inert(corpus),
        "number": number,
        "systems": list(map(inert, browser.systems)),
        "metric": None if browser.request is None else metric_of(browser.request),
        "lower": browser.request is not None and browser.request.spec.better == "lower",
        "texts": browser.texts,
        "size": CHUNK,
        "marks": [list(each) for each in marks],
        "lists": [list(each) for each in lists],
        "order": list(browser.instructive),
        "ids": [inert(entry.id) for entry in whole],
        "titles": [neutral(entry.title) if browser.texts else "" for entry in whole],
        "scores": [_rounded(own) for own in browser.scores],
        "agreement": _rounded(browser.agreement),
        "flags": [[_flags(entry, s) for entry in whole] for s in range(len(browser.systems))],
    }
    parts = [whole[start : start + CHUNK] for start in range(0, len(whole), CHUNK)]
    return Packed(squeezed(index), tuple(squeezed([_packed(e, browser.texts) for e in part]) for part in parts))


def _rounded(values: Sequence[float]) -> list[float | None]:
    return [None if isnan(value) else round(value, 4) for value in values]


def squeezed(value: Any) -> str:
    """A value as JSON, deflated, in base 64."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b64encode(packer.compress(msgspec.json.encode(value)) + packer.flush()).decode()


def _flags(entry: Entry, system: int) -> int:
    """Of the references that a system misses: their classes in the first four bits, their parts in the next five."""
    found = 0
    for reference, state in zip(entry.references, entry.answers[system].states, strict=True):
        if state != "found":
            found |= 1 << CLASSES.index(reference.prmu) if reference.prmu else 0
            found |= 1 << (4 + reference.part) if reference.part >= 0 else 0
    return found


def _packed(entry: Entry, texts: bool) -> list[Any]:
    """[text, places, references, answers], all by position."""
    title, text = (neutral(entry.title), neutral(entry.text)) if texts else ("", "")
    places = [[_offsets(place.title, title), _offsets(place.text, text)] for place in entry.places] if texts else []
    return [
        text,
        places,
        [_reference_values(each, texts) for each in entry.references],
        [_answer(each, texts) for each in entry.answers],
    ]


def _reference_values(each: ReferenceEntry, texts: bool) -> list[Any]:
    return [list(map(inert, each.phrases)), each.prmu, list(each.places) if texts else []]


def _answer(each: Answer, texts: bool) -> list[Any]:
    states = "".join(FATES[state] for state in each.states)
    predictions = [
        [inert(p.phrase), FATES[p.fate], p.prmu, p.place if texts else -1, *([list(p.also)] if p.also else [])]
        for p in each.predictions
    ]
    return [states, predictions]


def _offsets(spans: Sequence[Span], text: str) -> list[int]:
    """The ends of spans as a browser counts letters, one after the other.

    >>> _offsets([(1, 2)], "\\U0001f41dx")
    [2, 3]
    """
    flat = [end for span in spans for end in span]
    if not flat or text.isascii() or max(map(ord, text)) <= ASTRAL:
        return flat
    counted = list(accumulate((1 + (ord(letter) > ASTRAL) for letter in text), initial=0))
    return [counted[end] for end in flat]
