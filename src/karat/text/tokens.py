"""Tokenizers, each in two steps: cut the text into pieces, then each distinct piece into tokens.

Most of the work is in the second step, and texts repeat their pieces, so a caller that remembers what became of a
piece (see normalise.py) does it once for each distinct piece. That is exact: no token of these tokenizers reaches
over the boundary of a piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from karat.libraries import library

_MARKS = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A way to cut text: into pieces, and a piece into tokens (None: a piece is a token)."""

    pieces: Callable[[str], list[str]]
    tokens: Callable[[str], list[str]] | None = None
    drops: bool = False  # whether a piece may hold no token at all
    local: bool = True  # whether what stands around a piece has no say in its tokens
    cased: bool = False  # whether it goes by capitals, and so has to see a text before it is lower-cased

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text.

        >>> tokenizer("marks")("State-of-the-art (deep) nets.")
        ['State-of-the-art', '(', 'deep', ')', 'nets', '.']
        """
        pieces = self.pieces(text)
        return pieces if self.tokens is None else [token for piece in pieces for token in self.tokens(piece)]


def _at_spaces(text: str) -> list[str]:
    return text.strip().split(" ")


def _stripped(piece: str) -> list[str]:
    return [piece.strip()]


@lru_cache(maxsize=4_000)  # slow, and called again for every protocol that uses it
def _nltk_words(text: str) -> list[str]:
    from karat.text.punkt import sentences

    _nltk_tokenizer()  # says so at once where it is not installed, whatever the words are
    return [token for sentence in sentences(text) for token in _nltk_sentence(sentence)]


# NLTK's rules look beyond a word for quotation marks, and for closing marks behind the last full stop.
_QUOTES = re.compile("['\"`«»“”‘’„]")
_CLOSING = re.compile(r"[\])}>]+")
_CONTRACTED = frozenset({"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"})


def _nltk_sentence(sentence: str) -> list[str]:
    """The tokens that NLTK makes of a sentence: word by word, each distinct one once, where its rules allow that."""
    words = sentence.split()
    if not words or _QUOTES.search(sentence) or _CLOSING.fullmatch(words[-1]):
        return _nltk_tokenizer()(sentence)
    *inner, last = words
    found = [token for word in inner for token in _nltk_inner(word)]
    return [*found, *_nltk_last(last)]


@lru_cache(maxsize=200_000)
def _nltk_inner(word: str) -> list[str]:
    """The tokens of a word that others follow."""
    return _plain(_INNER, word) or _nltk_tokenizer()(f"a {word} a")[1:-1]


@lru_cache(maxsize=200_000)
def _nltk_last(word: str) -> list[str]:
    """The tokens of the last word of a sentence."""
    return _plain(_LAST, word) or _nltk_tokenizer()(f"a {word}")[1:]


# Words of which the rules part nothing but a mark at an end; a full stop is one at the end of a sentence.
_INNER = re.compile(r"(\(?)([^\W_]+(?:[-./][^\W_]+)*\.?)(\)?)([,;:]?)")
_LAST = re.compile(r"(\(?)([^\W_]+(?:[-./][^\W_]+)*)(\)?)([.,;:?!]?)")


def _plain(pattern: re.Pattern[str], word: str) -> list[str] | None:
    """The tokens of a word of such a pattern; None of any other."""
    found = pattern.fullmatch(word)
    if found is None or not _CONTRACTED.isdisjoint(_WORDS.findall(word.lower())):
        return None
    return list(filter(None, found.groups()))


@cache
def _nltk_tokenizer() -> Callable[[str], list[str]]:
    nltk = library("nltk.tokenize.destructive", "tokenizer=nltk")
    tokenize: Callable[[str], list[str]] = nltk.NLTKWordTokenizer().tokenize
    return tokenize


def _spacy_words(text: str) -> list[str]:
    from karat.text import spacy_tokens  # it makes large tables

    return spacy_tokens.tokens(text)


_TOKENIZERS = {
    "marks": Tokenizer(str.split, _MARKS.findall),
    "space": Tokenizer(_at_spaces, _stripped),
    "split": Tokenizer(str.split),
    "split_nopunc": Tokenizer(str.split, _WORDS.findall, drops=True),
    "nltk": Tokenizer(_nltk_words, local=False, cased=True),
    "spacy": Tokenizer(_spacy_words, cased=True),
}


def tokenizer(name: str) -> Tokenizer:
    """The tokenizer of that name, one of the values of the protocol option `tokenizer`."""
    return _TOKENIZERS[name]
