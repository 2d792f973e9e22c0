"""Stemmers by name: Porter as the field uses it, Snowball for other languages, or none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from karat.text import porter

Stem = Callable[[str], str]


@cache
def stemmer(name: str) -> Stem:
    """A function from a token to its stem; `none` lower-cases nothing and changes nothing.

    >>> stemmer("porter")("Networks"), stemmer("french")("réseaux"), stemmer("none")("Networks")
    ('network', 'réseau', 'Networks')
    """
    if name == "none":
        return str
    if name == "porter":
        return porter.stem
    import Stemmer

    return _lower_first(Stemmer.Stemmer(name).stemWord)


def _lower_first(stem: Stem) -> Stem:
    # Snowball's algorithms are written for lower-case words.
    return lambda word: stem(word.lower())
