"""Which predictions a protocol drops as invalid: one function of the surfaces and the stems of phrases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from karat.protocol import Matching
from karat.text.tokens import tokenizer

Bools = NDArray[np.bool_]

Valid = Callable[[Sequence[str], Sequence[str]], Bools]  # (surfaces, joined stems) -> which are kept

UNKNOWN = "<unk>"
_READABLE = re.compile(r"[^\W_]").search
_STOPS = frozenset({UNKNOWN, ",", "."})
_WHOLE = frozenset({UNKNOWN, ",", ".", "<peos>"})
_MARKS = tuple("_,().'%")


def _bools(found: Iterable[bool], count: int) -> Bools:
    return np.fromiter(found, dtype=bool, count=count)


def _readable(surfaces: Sequence[str], forms: Sequence[str]) -> Bools:
    # The cheap half of each test settles nearly every phrase.
    found = (
        (s[:1].isalnum() or _READABLE(s) is not None) and not ("<" in s and UNKNOWN in s.lower()) for s in surfaces
    )
    return _bools(found, len(surfaces))


def _anything(surfaces: Sequence[str], forms: Sequence[str]) -> Bools:
    return np.ones(len(surfaces), dtype=bool)


def _no_stop_token(surfaces: Sequence[str], forms: Sequence[str]) -> Bools:
    return _bools((_STOPS.isdisjoint(form.split(" ")) for form in forms), len(forms))


def _no_unknown(surfaces: Sequence[str], forms: Sequence[str]) -> Bools:
    return _bools((UNKNOWN not in form for form in forms), len(forms))


def _not_wholly_stop(surfaces: Sequence[str], forms: Sequence[str]) -> Bools:
    return _bools((surface.lower().strip() not in _WHOLE for surface in surfaces), len(surfaces))


def _no_leading_mark(surfaces: Sequence[str], forms: Sequence[str]) -> Bools:
    def stops(token: str) -> bool:
        return token in (UNKNOWN, "<eos>") or token.startswith(_MARKS)

    return _bools((not any(map(stops, form.split(" "))) for form in forms), len(forms))


def _surface_rule(name: str) -> Valid:
    """On tokens before stemming, in their own case; the tokenizer decides what `<unk>` looks like there."""
    tokens = tokenizer(name)
    unknown = tokens(UNKNOWN)
    stops = frozenset({",", ".", unknown[0] if len(unknown) == 1 else UNKNOWN})
    return lambda surfaces, _: _bools((stops.isdisjoint(tokens(s)) for s in surfaces), len(surfaces))


_RULES: dict[str, Valid] = {
    "unreadable": _readable,
    "none": _anything,
    "token": _no_stop_token,
    "unk": _no_unknown,
    "whole": _not_wholly_stop,
    "leading": _no_leading_mark,
}


def valid_rule(matching: Matching) -> Valid:
    """The rule that the option `invalid` names."""
    return _surface_rule(matching.tokenizer) if matching.invalid == "surface" else _RULES[matching.invalid]
