"""What kind of near miss a predicted phrase is: the subtypes of Kim (2010), and the relations of Zesch and Gurevych.

Words are compared by their Porter stems. Of the two phrases the one with more words is the longer, and the reference
where both have as many: the location is in the longer phrase. Complexity and word classes are the reference's.
Punctuation marks are no words, except in the relation, which tells `c++` from `c`; `&` is read as `and` where it stands
alone (`group & partition`), and is a mark inside a word (`R&D`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from karat.similarity.base import Form, Words
from karat.text.normalise import normaliser
from karat.text.particles import CONJUNCTIONS, PREPOSITIONS
from karat.text.tags import Tags, tags

CLASSES: dict[str, dict[str, str]] = {
    "location": {
        "head": "the shorter phrase holds the last word of the longer",
        "first": "it holds the first word, not the last",
        "both": "it holds both (counted as head unless asked for)",
        "middle": "it shares words with the longer, neither the first nor the last",
        "none": "the two have no word in common",
    },
    "direction": {
        "shorter": "the prediction has fewer words than the reference",
        "longer": "the prediction has more words than the reference",
        "equal": "both have as many",
    },
    "complexity": {
        "simple": "the reference has neither a preposition nor a conjunction",
        "preposition": "the reference has a preposition, with or without a conjunction",
        "conjunction": "the reference has a conjunction and no preposition",
    },
    "words": {
        "adjective-noun": "the reference ends in a noun, an adjective before it",
        "noun-noun": "the reference is two nouns or more",
        "other": "the reference is anything else: one word, with a preposition, a verb",
    },
    "relation": {
        "exact": "the same words",
        "morph": "other forms of the same words",
        "include": "the prediction holds the whole reference",
        "part-of": "the reference holds the whole prediction",
        "reordered": "the same words in another order",
        "overlap": "some words are the same",
        "none": "no word is the same",
    },
}
_INSIDE = re.compile(r"(?<=\w)&(?=\w)")  # an ampersand that is part of a word


@dataclass(frozen=True, slots=True)
class Classes:
    """The class of a pair in each kind of CLASSES."""

    location: str
    direction: str
    complexity: str
    words: str
    relation: str


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A phrase in the forms in which it is looked at."""

    tokens: Words  # as they are, marks included
    stems: Words  # of all tokens
    words: Words  # tokens that are words
    word_stems: Words
    tags: Tags  # of the words


def classify(pairs: Sequence[tuple[str, str]], *, both: bool = False) -> list[Classes]:
    """The classes of each (prediction, reference), both as text; each distinct pair is looked at once.

    With `both`, a phrase that holds the first word and the last has a location of its own.

    >>> classify([("computing algorithms", "effective grid computing algorithm")])
    [Classes(location='head', direction='shorter', complexity='simple', words='adjective-noun', relation='part-of')]
    """
    phrases = _phrases({text for pair in pairs for text in pair})
    known = {pair: _classes(phrases[pair[0]], phrases[pair[1]], both) for pair in dict.fromkeys(pairs)}
    return [known[pair] for pair in pairs]


def _phrases(texts: Iterable[str]) -> dict[str, _Phrase]:
    distinct = list(texts)
    tokens, stems = all_words(distinct, "surface"), all_words(distinct, "stems")
    apart = [_INSIDE.sub(" ", text) for text in distinct]
    words = [tuple(filter(is_word, each)) for each in all_words(apart, "surface")]
    word_stems = [tuple(filter(is_word, each)) for each in all_words(apart, "stems")]
    columns = zip(tokens, stems, words, word_stems, tags(words), strict=True)
    return dict(zip(distinct, (_Phrase(*column) for column in columns), strict=True))


def all_words(texts: Sequence[str], form: Form) -> list[Words]:
    """What `words_of` says of each text, each distinct word being stemmed once.

    >>> all_words(["Neural Networks", "networks"], "stems")
    [('neural', 'network'), ('network',)]
    """
    forms = normaliser("marks", "porter" if form == "stems" else "none", "lower").many(texts)
    return [tuple(joined.split()) for joined in forms]


def is_word(token: str) -> bool:
    """Whether a token has a letter or a digit, or is `&`, which is read as `and`."""
    return token == "&" or any(map(str.isalnum, token))


def _classes(prediction: _Phrase, reference: _Phrase, both: bool) -> Classes:
    more = len(prediction.words) - len(reference.words)
    shorter, longer = (reference, prediction) if more > 0 else (prediction, reference)
    return Classes(
        _location(shorter.word_stems, longer.word_stems, both),
        "longer" if more > 0 else "shorter" if more < 0 else "equal",
        _complexity(reference.words),
        _word_classes(reference),
        _relation(prediction, reference),
    )


def _location(shorter: Words, longer: Words, both: bool) -> str:
    held = set(shorter)
    if held.isdisjoint(longer):
        return "none"
    if longer[-1] in held:
        return "both" if both and longer[0] in held else "head"
    return "first" if longer[0] in held else "middle"


def _complexity(words: Words) -> str:
    """A preposition comes before a conjunction, as Kim (2010) asks for it first."""
    if not PREPOSITIONS.isdisjoint(words):
        return "preposition"
    return "simple" if CONJUNCTIONS.isdisjoint(words) else "conjunction"


def _word_classes(phrase: _Phrase) -> str:
    """The sequence of word classes; of verb forms, -ing is a noun (`text mining`), -ed an adjective before one."""
    if len(phrase.words) < 2 or _complexity(phrase.words) != "simple" or not _is_noun(phrase.tags[-1]):
        return "other"
    if all(map(_is_noun, phrase.tags)):
        return "noun-noun"
    return "adjective-noun" if any(map(_is_adjective, phrase.tags[:-1])) else "other"


def _is_noun(tag: str) -> bool:
    return tag.startswith("NN") or tag == "VBG"


def _is_adjective(tag: str) -> bool:
    return tag.startswith("JJ") or tag in ("VBN", "VBD")


def _relation(prediction: _Phrase, reference: _Phrase) -> str:
    if prediction.tokens == reference.tokens:
        return "exact"
    left, right = prediction.stems, reference.stems
    if left == right:
        return "morph"
    if _holds(left, right):
        return "include"
    if _holds(right, left):
        return "part-of"
    if Counter(left) == Counter(right):
        return "reordered"
    return "none" if set(prediction.word_stems).isdisjoint(reference.word_stems) else "overlap"


def _holds(outer: Words, inner: Words) -> bool:
    """Whether the words of one phrase follow each other in another; those of an empty one do not."""
    return bool(inner) and f" {' '.join(inner)} " in f" {' '.join(outer)} "
