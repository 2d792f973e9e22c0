"""Word classes (Penn tags) of English words, from the lexicon and rules that textblob brings along.

Nothing is downloaded. A word has its most frequent tag, an unknown one is judged by its ending; the words around it
have no say. That is what phrases out of their sentences allow for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache

Tags = tuple[str, ...]


def tags(phrases: Iterable[Sequence[str]]) -> list[Tags]:
    """The Penn tag of each token, phrase by phrase; each distinct phrase is tagged once.

    A capital letter makes an unknown word a proper noun: give tokens in lower case where capitals say nothing.

    >>> tags([["effective", "grid", "algorithms"], ["quality", "of", "service"]])
    [('JJ', 'NN', 'NNS'), ('NN', 'IN', 'NN')]
    """
    given = list(map(tuple, phrases))
    known = {phrase: _tags_of(phrase) for phrase in dict.fromkeys(given)}
    return [known[phrase] for phrase in given]


def _tags_of(phrase: tuple[str, ...]) -> Tags:
    return tuple(tag for _, tag in _tagger()(list(phrase)))


@cache
def _tagger() -> Callable[[list[str]], list[list[str]]]:
    """textblob's tagger with its lexicon read; importing it takes two seconds."""
    from textblob.en import parser

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the lexicon's file is left to the collector to close
        parser.find_tags(["a"])
    find: Callable[[list[str]], list[list[str]]] = parser.find_tags
    return find
