"""Phrases that are near the whole document and apart from each other, by their vectors: EmbedRank and KeyBERT.

Bennani-Smires and others, "Simple Unsupervised Keyphrase Extraction using Sentence Embeddings", CoNLL 2018; the
package keybert. Both choose greedily by maximal marginal relevance (MMR): the next phrase is the one with the highest
(1 − diversity) · sim(phrase, document) − diversity · max sim(phrase, chosen one).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Document, Prediction
from karat.embed import Embedder, embedder
from karat.embed.base import distinct
from karat.errors import InputError
from karat.models.base import CommonOptions, Predict, model
from karat.models.extractors.candidates import Kind, Text, selection, text_of
from karat.models.extractors.choose import chosen
from karat.models.extractors.pke import notes_on_language, notes_on_stop_words
from karat.text.languages import named, stemmer_of
from karat.text.segments import close, segmented
from karat.text.stems import stemmer
from karat.text.stoplists import stop_words

Floats = NDArray[np.float64]
Mmr = Literal["embedrank", "keybert"]
Grams = Literal["ngrams", "countvectorizer"]
AnyKind = Literal[Kind, Grams]
LAST = -1  # the layer where none is chosen
_WORD = re.compile(r"\b\w\w+\b")  # what scikit-learn's CountVectorizer takes for a word


@model("embedrank", needs=("tags", "embedder"), notes=notes_on_language)
def embedrank(
    common: CommonOptions,
    *,
    model: str = "hash",
    layer: int = LAST,
    candidates: AnyKind = "sequences",
    n: int = 3,
    document: Literal["content", "text"] = "content",
    mmr: Mmr = "embedrank",
    diversity: float = 0.5,
) -> Predict:
    """Phrases near the document and apart from each other, by vectors (Bennani-Smires 2018); hash compares letters.

    `model` is an embedder: hash, vectors:PATH, an encoder's directory or package:NAME; `layer` is a layer of an
    encoder. The vector of a document is that of its nouns and adjectives (`document=content`) or of its `text`. `n` is
    the length of `candidates=ngrams` and `candidates=countvectorizer`, which keybert explains. `diversity` is how much
    it weighs to be apart, 0 for not at all.

    `mmr=embedrank` makes similarities comparable before they are weighed, 0.5 + (cos − mean) / deviation, and ranks in
    the order of choice; a score is what a phrase was chosen by, and at most that of the one before. `mmr=keybert`
    weighs cosines as they are, and ranks what is chosen by the cosine with the document.
    """
    read = _Reading(_embedder(model, layer), _selecting(candidates, _length(n), common), document == "content")
    tagged = read.content or candidates not in ("ngrams", "countvectorizer")
    return _predicting(common, read, _Choice(mmr, diversity), tagged=tagged)


@model("keybert", needs=("embedder",), notes=notes_on_stop_words)
def keybert(
    common: CommonOptions,
    *,
    model: str = "hash",
    layer: int = LAST,
    candidates: Grams = "ngrams",
    n: int = 3,
    diversity: float = 0.0,
) -> Predict:
    """N-grams by the cosine of their vector with that of the text, as in KeyBERT; hash compares letters.

    It is embedrank with document=text and mmr=keybert. `candidates=ngrams` are phrases that stand in the text: none
    goes over a stop word, a mark or the end of a sentence. `candidates=countvectorizer` are those of the package
    keybert, which are scikit-learn's CountVectorizer's: words of one letter and stop words are dropped first, and what
    is left is taken one after the other, so `quality of service` gives `quality service`. The package takes single
    words unless it is told otherwise (n=1).
    """
    read = _Reading(_embedder(model, layer), _selecting(candidates, _length(n), common), content=False)
    return _predicting(common, read, _Choice("keybert", diversity), tagged=False)


# ---------------------------------------------------------------------------------------------------- documents


Phrases = list[tuple[str, str]]  # each as it is written, and its joined stems
Select = Callable[[Document, Text], Phrases]


def _selecting(kind: AnyKind, n: int, common: CommonOptions) -> Select:
    """What finds the phrases of a document that may be chosen."""
    if kind == "countvectorizer":
        language = named(common.language)
        stops, stem = stop_words(language), stemmer(stemmer_of(language))

        def grams(document: Document, text: Text) -> Phrases:
            whole = segmented(_whole(document, text, content=False), language)
            found = dropped_first(whole, n, stops, stem)
            return [(close(phrase), form) for phrase, form in found] if text.unspaced else found

        return grams
    select = selection(kind, n=n)

    def spans(document: Document, text: Text) -> Phrases:
        found = select(text)
        return [(found.surface(index), found.forms[index]) for index in range(len(found))]

    return spans


def dropped_first(text: str, n: int, stops: Iterable[str], stem: Callable[[str], str] = str) -> Phrases:
    """All distinct sequences of 1 to n words of a text without its stop words, in alphabetical order, and their stems.

    >>> [phrase for phrase, _ in dropped_first("Quality of a service.", 2, {"of"})]
    ['quality', 'quality service', 'service']
    """
    left = [word for word in _WORD.findall(text.lower()) if word not in set(stops)]
    stems = {word: stem(word) for word in left}
    spans = {tuple(left[start : start + size]) for size in range(1, n + 1) for start in range(len(left) - size + 1)}
    return sorted((" ".join(words), " ".join(map(stems.__getitem__, words))) for words in spans)


@dataclass(frozen=True, slots=True)
class _Reading:
    """How documents and phrases become vectors."""

    embedder: Embedder
    select: Select
    content: bool  # a document is its nouns and adjectives


@dataclass(frozen=True, slots=True)
class _Choice:
    """How phrases are chosen."""

    mmr: Mmr
    diversity: float

    def __post_init__(self) -> None:
        if not 0 <= self.diversity <= 1:
            raise InputError(f"diversity is from 0 to 1, not {self.diversity:g}")


def _predicting(common: CommonOptions, read: _Reading, choice: _Choice, *, tagged: bool) -> Predict:
    """The model that embeds all phrases and texts of some documents, each once, and chooses for each document."""

    def predict(documents: Sequence[Document]) -> Iterator[Prediction]:
        texts = [text_of(document, common, tagged=tagged) for document in documents]
        found = [read.select(document, text) for document, text in zip(documents, texts, strict=True)]
        phrases = [[surface for surface, _ in each] for each in found]
        whole = [_whole(document, text, read.content) for document, text in zip(documents, texts, strict=True)]
        unique, places = distinct([*whole, *(phrase for each in phrases for phrase in each)])
        vectors = _unit(read.embedder.embed(unique))
        behind = len(documents)
        for number, (document, each) in enumerate(zip(documents, phrases, strict=True)):
            mine = vectors[places[behind : behind + len(each)]]
            behind += len(each)
            order = marginal(mine, vectors[places[number]], choice.mmr, choice.diversity)
            ranked = ((*found[number][index], score) for index, score in order)
            yield _prediction(document, chosen(ranked, common), choice.mmr)

    return predict


def _whole(document: Document, text: Text, content: bool) -> str:
    """The text that stands for a document: its nouns and adjectives where these are known and `content` is set."""
    if content and text.tags:
        return " ".join(word for word, valid in zip(text.words, text.valid(), strict=True) if valid)
    return " ".join(filter(None, [document.title, document.text])) or " ".join(text.words)


def _prediction(document: Document, best: list[tuple[str, float]], mmr: Mmr) -> Prediction:
    if mmr == "keybert":
        best.sort(key=lambda each: each[1], reverse=True)
    return Prediction(id=document.id, keyphrases=[each for each, _ in best], scores=[score for _, score in best])


def _length(n: int) -> int:
    if n < 1:
        raise InputError(f"n is at least 1, not {n}")
    return n


def _embedder(model: str, layer: int) -> Embedder:
    if layer != LAST and (layer < 0 or model == "hash" or model.startswith("vectors:")):
        raise InputError(f"layer {layer} of {model!r}: one layer, from 0 on, of an encoder")
    return _kept(model if layer == LAST else f"{model},layer={layer}")


@lru_cache(maxsize=4)
def _kept(name: str) -> Embedder:
    """One embedder a name and process: a model is loaded once for all chunks."""
    return embedder(name)


# ------------------------------------------------------------------------------------------------------- choice


def marginal(phrases: Floats, document: Floats, mmr: Mmr, diversity: float) -> Iterator[tuple[int, float]]:
    """The phrases in the order of choice, with scores; vectors have length 1.

    >>> phrases = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> [index for index, _ in marginal(phrases, np.array([1.0, 0.0]), "keybert", 0.5)]
    [0, 1, 2]
    >>> [index for index, _ in marginal(phrases, np.array([1.0, 0.0]), "keybert", 0.9)]
    [0, 2, 1]
    """
    if not len(phrases):
        return
    standard = _standard if mmr == "embedrank" else _as_it_is
    near = _cosines(phrases, document)  # [phrases]
    worth = (1 - diversity) * standard(near, np.ones(len(near), dtype=bool))
    left = np.ones(len(near), dtype=bool)
    crowd = np.full(len(near), -np.inf)  # the highest similarity to a chosen one
    at, score = int(near.argmax()), np.inf
    gain = worth
    while True:
        score = min(score, float(gain[at]))
        yield at, score if mmr == "embedrank" else float(near[at])
        left[at] = False
        if not left.any():
            return
        others = np.arange(len(near)) != at
        crowd = np.maximum(crowd, standard(_cosines(phrases, phrases[at]), others))
        gain = np.where(left, worth - diversity * crowd, -np.inf)
        at = int(gain.argmax())


def _standard(cosines: Floats, counted: NDArray[np.bool_]) -> Floats:
    """0.5 + (cosine − mean) / deviation, over those that count; 0.5 where all are alike."""
    mean, deviation = cosines[counted].mean(), cosines[counted].std()
    return np.asarray(0.5 + (cosines - mean) / (deviation if deviation > 1e-12 else np.inf))


def _as_it_is(cosines: Floats, counted: NDArray[np.bool_]) -> Floats:
    return cosines


def _cosines(vectors: Floats, one: Floats) -> Floats:
    """The cosine of each vector with one; summed row by row, so that no digit depends on how many there are."""
    return np.asarray((vectors * one).sum(axis=1))


def _unit(vectors: NDArray[np.float32]) -> Floats:
    """The vectors with length 1; zeros where a text has no vector."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1))
    return np.asarray(wide / np.where(lengths > 0, lengths, 1)[:, None])
