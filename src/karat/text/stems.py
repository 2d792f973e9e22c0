"""Stemmers by name: Porter as the field uses it, Snowball for other languages, or none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

from karat.text import porter

Stem = Callable[[str], str]

REMEMBERED = 1 << 17  # words


@cache
def stemmer(name: str) -> Stem:
    """A function from a token to its stem; `none` lower-cases nothing and changes nothing.

    >>> stemmer("porter")("Networks"), stemmer("french")("réseaux"), stemmer("none")("Networks")
    ('network', 'réseau', 'Networks')
    """
    if name == "none":
        return str
    if name == "porter":
        return lru_cache(maxsize=REMEMBERED)(porter.stem)  # all choices of tokens share what was stemmed
    import Stemmer

    return _lower_first(Stemmer.Stemmer(name).stemWord)


def _lower_first(stem: Stem) -> Stem:
    # Snowball's algorithms are written for lower-case words.
    return lambda word: stem(word.lower())
