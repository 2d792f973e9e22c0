"""Extractors: functions from the candidates of a document to ranks, with the parameters and the lists of pke.

Each is made of parts: a text (words, stems, tags), a selection of candidates, and scores; `predicting` does the rest
for all of them. Scores are added up in pke's order, since the last bit decides between phrases that are equally good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.models.base import CommonOptions, Predict, model
from karat.models.extractors.candidates import (
    Candidates,
    Kind,
    Text,
    first_sequences,
    ngrams,
    phrases,
    runs,
    selection,
    text_of,
    untagged,
)
from karat.models.extractors.choose import chosen
from karat.models.extractors.frequencies import Frequencies
from karat.models.extractors.graphs import Floats, Graph, walk, word_graph
from karat.models.extractors.topics import multipartite, topic_walk
from karat.text.languages import named
from karat.text.stoplists import stop_words
from karat.text.tags import how_to_tag, own_tagger, remark

_TOLERANCE = 1e-4  # at which pke ends a walk over words; one over topics goes on to networkx's 1e-6


@dataclass(frozen=True, slots=True)
class Scored:
    """Candidates with scores; `which` are the candidates that have one, in the order in which ties are kept."""

    candidates: Candidates
    which: Sequence[int]
    scores: Sequence[float]


Score = Callable[[Text], Scored]


def predicting(common: CommonOptions, score: Score, *, tagged: bool = True) -> Predict:
    """The model that scores the candidates of each document and gives the best."""

    def predict(documents: Sequence[Document]) -> Iterator[Prediction]:
        for document in documents:
            yield _best(document, common, score(text_of(document, common, tagged=tagged)))

    return predict


def _best(document: Document, common: CommonOptions, found: Scored) -> Prediction:
    """The n best candidates, ties in the order of `which`."""
    scores, candidates, which = found.scores, found.candidates, found.which
    ranked = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    ranking = ((candidates.surface(which[i]), candidates.forms[which[i]], float(scores[i])) for i in ranked)
    return _prediction(document, chosen(ranking, common))


def _prediction(document: Document, best: Sequence[tuple[str, float]]) -> Prediction:
    return Prediction(id=document.id, keyphrases=[each for each, _ in best], scores=[score for _, score in best])


def _all(found: Candidates, scores: Sequence[float]) -> Scored:
    return Scored(found, range(len(found)), scores)


def notes_on_language(common: CommonOptions, documents: Sequence[Document]) -> list[str]:
    """Who tags the words of another language than English; what is missing: a tagger, stop words."""
    language, notes = named(common.language), []
    if any(untagged(document, common) for document in documents):
        install = how_to_tag(language)
        notes.append(
            f"no tagger for {language}: candidates are n-grams of 1 to 3 words; "
            + (f"install one ({install}), " if install else "")
            + "name a tagger (spacy:MODEL) or give tagged sentences"
        )
    name = common.tagger or own_tagger(language)
    if name is not None and any(document.sentences is None for document in documents):
        if common.tagger is None and language != "english":
            notes.append(f"words are tagged by {name}; --tagger {name} pins it")
        notes += filter(None, [remark(name)])
    if not stop_words(language):
        notes.append(f"no stop words for {language}: candidates may hold articles and prepositions")
    return notes


def notes_on_stop_words(common: CommonOptions, documents: Sequence[Document]) -> list[str]:
    """What is missing for the language of a model that needs no tags."""
    return notes_on_language(common, [])


# ------------------------------------------------------------------------------------------- places and counts


@model("firstphrases", needs=("tags",), notes=notes_on_language)
def firstphrases(common: CommonOptions, *, candidates: Kind = "sequences") -> Predict:
    """The first phrases of a document, a baseline that is hard to beat on news and abstracts."""
    select = selection(candidates, filtered=False)

    def score(text: Text) -> Scored:
        found = select(text)
        return _all(found, [-float(min(starts)) for starts in found.starts])

    whole = predicting(common, score)

    def predict(documents: Sequence[Document]) -> Iterator[Prediction]:
        for document in documents:
            best = []
            if candidates == "sequences" and document.sentences is None:
                found = first_sequences(document, common)
                best = chosen(((phrase, form, -float(place)) for phrase, form, place in found), common)
            # Other candidates depend on the whole text, and so does whether any word of it has a tag.
            yield _prediction(document, best) if best else next(iter(whole([document])))

    return predict


@model("tfidf", needs=("frequencies",), notes=notes_on_stop_words)
def tfidf(common: CommonOptions, *, n: int = 3, candidates: Kind = "ngrams") -> Predict:
    """Phrases that are frequent in the document and rare in others: count · log2((1 + N) / (1 + df))."""
    known, select = _frequencies(common, "tfidf"), selection(candidates, n=_positive("n", n))

    def score(text: Text) -> Scored:
        found = select(text)
        counts = found.counts(common.title_weight)
        return _all(found, [count * known.weight(form) for form, count in zip(found.forms, counts, strict=True)])

    return predicting(common, score, tagged=candidates != "ngrams")


@model("kpminer", needs=("frequencies",), notes=notes_on_stop_words)
def kpminer(
    common: CommonOptions, *, lasf: int = 1, cutoff: int = 400, alpha: float = 2.3, sigma: float = 3.0
) -> Predict:
    """TF-IDF of 1- to 5-grams that come early and often, longer ones boosted (El-Beltagy and Rafea 2010).

    `lasf` is the least count of a candidate (3 in the paper, which is about long texts), `cutoff` the last place where
    it may stand first. The boost of phrases of several words is N_d / (alpha · P_d), at most sigma: all candidates
    against those of several words. Their document frequency is taken for 0.
    """
    known = _frequencies(common, "kpminer")

    def score(text: Text) -> Scored:
        found = ngrams(text, 5)
        counts = found.counts(common.title_weight)
        kept = [i for i, count in enumerate(counts) if found.starts[i][0] <= cutoff and count >= lasf]
        long = {i for i in kept if found.ends[i][0] - found.starts[i][0] > 1}
        longer = sum([counts[i] for i in long])
        boost = min(sum([counts[i] for i in kept]) / (max(1, longer) * alpha), sigma)
        rare = known.weight("")  # no phrase is empty: this is the weight of one that no document has
        scores = [counts[i] * boost * rare if i in long else counts[i] * known.weight(found.forms[i]) for i in kept]
        return Scored(found, kept, scores)

    return predicting(common, score, tagged=False)


def _frequencies(common: CommonOptions, name: str) -> Frequencies:
    if common.frequencies is None:
        raise InputError(f"{name} needs document frequencies; give a file of them (--df FILE) or a corpus to count in")
    return common.frequencies


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise InputError(f"{name} is at least 1, not {value}")
    return value


# ----------------------------------------------------------------------------------------------- graphs of words


@model("textrank", needs=("tags",), notes=notes_on_language)
def textrank(common: CommonOptions, *, window: int = 2, top: float = 0.33) -> Predict:
    """Sequences of the words that rank best in the graph of neighbours (Mihalcea and Tarau 2004)."""
    _positive("window", window)

    def score(text: Text) -> Scored:
        counted, number = word_graph(text.stems, text.valid(), window)
        graph = Graph(counted.nodes, counted.rows, counted.columns, np.ones(len(counted.rows)))
        ranks = walk(graph, tolerance=_TOLERANCE).tolist()
        names = list(number)
        best = sorted(range(len(names)), key=ranks.__getitem__, reverse=True)[: floor(len(names) * top)]
        found = runs(text, {names[node] for node in best})
        return _all(found, _placed(found, _sums(found, dict(zip(names, ranks, strict=True)))))

    return predicting(common, score)


@model("singlerank", needs=("tags",), notes=notes_on_language)
def singlerank(common: CommonOptions, *, window: int = 10, candidates: Kind = "sequences") -> Predict:
    """Phrases by the ranks of their words in a graph of how often words stand together (Wan and Xiao 2008)."""
    _positive("window", window)
    select = selection(candidates, filtered=False)

    def score(text: Text) -> Scored:
        graph, number = word_graph(text.stems, text.valid(), window, _title_weights(text, common))
        ranks = dict(zip(number, walk(graph, tolerance=_TOLERANCE).tolist(), strict=True))
        found = select(text)
        return _all(found, _placed(found, _sums(found, ranks)))

    return predicting(common, score)


@model("positionrank", needs=("tags",), notes=notes_on_language)
def positionrank(common: CommonOptions, *, window: int = 10, longest: int = 3) -> Predict:
    """SingleRank whose walker jumps to words that come early and often (Florescu and Caragea 2017)."""
    _positive("window", window)

    def score(text: Text) -> Scored:
        valid, weights = text.valid(), _title_weights(text, common)
        graph, number = word_graph(text.stems, valid, window, weights)
        early = dict.fromkeys(number, 0.0)
        for place, stem in enumerate(text.stems):
            if valid[place]:
                early[stem] += (1.0 if weights is None else float(weights[place])) / (place + 1)
        total = sum(early.values())
        jump = np.array([value / total for value in early.values()])
        ranks = dict(zip(number, walk(graph, jump, _TOLERANCE).tolist(), strict=True))
        found = phrases(text, longest) if text.tags else ngrams(text, longest)
        return _all(found, _sums(found, ranks))

    return predicting(common, score)


def _title_weights(text: Text, common: CommonOptions) -> Floats | None:
    """How many times each word counts, None where all count once."""
    if common.title_weight == 1.0 or not text.title:
        return None
    weights = np.ones(len(text.words))
    weights[: text.title] = common.title_weight
    return weights


def _sums(found: Candidates, ranks: dict[str, float]) -> list[float]:
    """The sum of the ranks of each candidate's words; a preposition has none."""
    return [sum([ranks.get(stem, 0.0) for stem in found.stems(index)]) for index in range(len(found))]


def _placed(found: Candidates, sums: Sequence[float]) -> list[float]:
    """The sums with what pke adds to tell equally good phrases apart: the later one wins."""
    return [total + starts[0] * 1e-8 for total, starts in zip(sums, found.starts, strict=True)]


# ---------------------------------------------------------------------------------------------- graphs of topics


@model("topicrank", needs=("tags",), notes=notes_on_language)
def topicrank(common: CommonOptions, *, threshold: float = 0.74, candidates: Kind = "sequences") -> Predict:
    """The first phrase of each of the topics that rank best (Bougouin, Boudin and Daille 2013)."""
    select = selection(candidates)

    def score(text: Text) -> Scored:
        found = select(text)
        topics, ranks = topic_walk(found, threshold, common.title_weight)
        firsts = [min(topic, key=lambda index: found.starts[index][0]) for topic in topics]
        return Scored(found, firsts, ranks.tolist())

    return predicting(common, score)


@model("multipartiterank", needs=("tags",), notes=notes_on_language)
def multipartiterank(
    common: CommonOptions,
    *,
    threshold: float = 0.74,
    alpha: float = 1.1,
    candidates: Kind = "sequences",
) -> Predict:
    """Phrases by their ranks in a graph of candidates of different topics, early ones favoured (Boudin 2018)."""
    select = selection(candidates)

    def score(text: Text) -> Scored:
        found = select(text)
        return _all(found, multipartite(found, threshold, alpha, common.title_weight).tolist())

    return predicting(common, score)
