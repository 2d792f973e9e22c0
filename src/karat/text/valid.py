"""Which predictions a protocol drops as invalid: one function of the surface and the stems of a phrase."""

from __future__ import annotations

import re
from collections.abc import Callable

from karat.protocol import Matching
from karat.text.tokens import tokenizer

Valid = Callable[[str, str], bool]  # (surface, joined stems) -> whether it is kept

UNKNOWN = "<unk>"
_READABLE = re.compile(r"[^\W_]")
_STOPS = frozenset({UNKNOWN, ",", "."})
_WHOLE = frozenset({UNKNOWN, ",", ".", "<peos>"})


def _readable(surface: str, _: str) -> bool:
    # The cheap half of each test settles nearly every phrase.
    return (surface[:1].isalnum() or _READABLE.search(surface) is not None) and not (
        "<" in surface and UNKNOWN in surface.lower()
    )


def _anything(_: str, __: str) -> bool:
    return True


def _no_stop_token(_: str, form: str) -> bool:
    return _STOPS.isdisjoint(form.split(" "))


def _no_unknown(_: str, form: str) -> bool:
    return UNKNOWN not in form


def _not_wholly_stop(surface: str, _: str) -> bool:
    return surface.lower().strip() not in _WHOLE


def _no_leading_mark(_: str, form: str) -> bool:
    return not any(token in (UNKNOWN, "<eos>") or token[:1] in tuple("_,().'%") for token in form.split(" "))


def _surface_rule(name: str) -> Valid:
    """On tokens before stemming, in their own case; the tokenizer decides what `<unk>` looks like there."""
    tokens = tokenizer(name)
    unknown = tokens(UNKNOWN)
    stops = frozenset({",", ".", unknown[0] if len(unknown) == 1 else UNKNOWN})
    return lambda surface, _: stops.isdisjoint(tokens(surface))


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
