"""Word classes (Penn tags) of English words, from the lexicon and rules that textblob brings along, or of spaCy.

Nothing is downloaded. A word has its most frequent tag, an unknown one is judged by its ending; the words around it
have no say, but the first word of a sentence may be written with a capital letter. That is what phrases out of their
sentences allow for, and it is quick. A tagger is known by name: `textblob`, or `spacy:MODEL` for a model of spaCy that
is installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from karat.errors import InputError
from karat.libraries import library
from karat.text.sentences import sentences_of

Tags = tuple[str, ...]
Sentences = list[list[tuple[str, str]]]  # words with their tags
Tagger = Callable[[str], Sentences]  # of a text

TAGGERS = {"english": "textblob"}  # of the languages that have one of their own


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


@cache
def tagger(name: str) -> Tagger:
    """A function from a text to its sentences, of words with their tags.

    >>> tagger("textblob")("Nets learn.")
    [[('Nets', 'NNS'), ('learn', 'VB'), ('.', '.')]]
    """
    if name == "textblob":
        return _by_textblob
    kind, _, model = name.partition(":")
    if kind == "spacy" and model:
        return _by_spacy(model)
    expected = "spacy:MODEL, as in spacy:en_core_web_sm" if kind == "spacy" else "textblob or spacy:MODEL"
    raise InputError(f"unknown tagger {name!r}; write {expected}")


def _by_textblob(text: str) -> Sentences:
    find = _tagger()
    return [[(word, tag) for word, tag in find(sentence)] for sentence in sentences_of(text)]


def _by_spacy(model: str) -> Tagger:
    """The tagger of an installed model of spaCy, with universal tags."""
    spacy = library("spacy", f"the tagger spacy:{model}")
    try:
        read = spacy.load(model, exclude=["ner"])
    except OSError:
        raise InputError(f"spaCy has no model {model!r} here; install it: python -m spacy download {model}") from None
    if not {"tagger", "morphologizer"} & set(read.pipe_names):
        raise InputError(f"spaCy's model {model!r} has no tagger; name another, as in spacy:en_core_web_sm")

    def tag(text: str) -> Sentences:
        found = ([(word.text, word.pos_) for word in each if not word.is_space] for each in read(text).sents)
        return [sentence for sentence in found if sentence]

    return tag
