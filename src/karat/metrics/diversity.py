"""How much the predictions of a document repeat each other: the measures of diversity of KPEval (Wu 2024)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, combinations
from math import exp, log

import numpy as np

from karat.matching.columns import Aligned, Bools, Cutoff, Floats, Ints, Subset
from karat.metrics.base import Rows, divide, metric, rows
from karat.metrics.counts import looked_at
from karat.metrics.soft import hash_remark, surface_words
from karat.text.tokens import tokenizer

_BLEU_ORDER = 3
_SMALL = 0.1  # what stands for no n-gram in common (method 1 of Chen and Cherry 2014)


@metric("dup_token_ratio", better="lower")
def dup_token_ratio(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """1 − distinct stems / stems of all predictions of the document (KPEval, Wu 2024)."""
    chosen = looked_at(aligned, subset)
    different, total = _stem_counts(aligned, chosen)
    return _rows(aligned, chosen, divide(total - different, total), none=1.0)


@metric("unique_token_ratio", better="higher")
def unique_token_ratio(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Distinct stems / stems of all predictions of the document: 1 − dup_token_ratio (KPEval, Wu 2024)."""
    chosen = looked_at(aligned, subset)
    different, total = _stem_counts(aligned, chosen)
    return _rows(aligned, chosen, divide(different, total), none=0.0)


@metric("unique_phrase_ratio", better="higher")
def unique_phrase_ratio(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Distinct predictions / predictions of the document, compared by their stems (KPEval, Wu 2024)."""
    chosen = looked_at(aligned, subset)
    p = aligned.predictions
    width = max(len(aligned.forms), 1)
    keys = np.unique(p.document[chosen] * width + p.phrase[chosen])
    different = np.bincount(keys // width, minlength=aligned.documents)
    return _rows(aligned, chosen, divide(different, _count(aligned, chosen)), none=0.0)


@metric("self_bleu", better="lower")
def self_bleu(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Mean BLEU-3 of each prediction against the document's others (Zhu 2018, in KPEval)."""
    chosen = looked_at(aligned, subset)
    words = _bleu_words(aligned)
    values = _of_pairs(aligned, chosen, lambda phrases: own_bleu([words(phrase) for phrase in phrases]))
    return _rows(aligned, chosen, values, none=0.0, one=0.0)


def _bleu_words(aligned: Aligned) -> Callable[[int], tuple[str, ...]]:
    """From the number of a phrase to the words that self_bleu compares."""
    forms = aligned.forms
    if aligned.counting.bleu_tokens == "stems":
        return lambda phrase: tuple(forms[phrase].split(" "))
    tokens = tokenizer("nltk")
    return lambda phrase: tuple(tokens(forms[phrase]))


@metric("self_edit_distance", better="lower", bounds=(0.0, 100.0))
def self_edit_distance(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Mean likeness of any two predictions by insertions and deletions of characters, 100 for equal ones (KPEval).

    Of two phrases of a and b characters, as joined stems, of which c follow each other in both, it is 200 c / (a + b).
    KPEval, which calls it a distance, takes it from rapidfuzz: the lower it is, the less the predictions are alike.

    >>> from karat import Corpus, Run, score
    >>> documents = Corpus.of([{"id": "1", "text": "ants", "keyphrases": ["ants"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["ant", "plant", "bee"]}])
    >>> score(documents, run, metrics=["self_edit_distance"]).rows()[0]["value"]  # (75 + 0 + 0) / 3
    25.0
    """
    from rapidfuzz.fuzz import ratio

    chosen = looked_at(aligned, subset)
    forms = aligned.forms

    def mean_ratio(phrases: list[int]) -> float:
        texts = [forms[phrase] for phrase in phrases]
        ratios = [ratio(one, other) for one, other in combinations(texts, 2)]
        return sum(ratios) / len(ratios)

    return _rows(aligned, chosen, _of_pairs(aligned, chosen, mean_ratio), none=0.0, one=0.0)


@metric("emb_sim", better="lower", bounds=(-1.0, 1.0), remark=hash_remark)
def emb_sim(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, model: str = "hash", layer: int = -1) -> Rows:
    """Mean cosine of the embeddings of any two predictions of the document (KPEval, Wu 2024)."""
    chosen = looked_at(aligned, subset)
    p = aligned.predictions
    vectors = _vectors(aligned, chosen, model, layer)
    # The sum over all pairs is the square of the sum, without the squares.
    count = _count(aligned, chosen)
    sums = np.zeros((aligned.documents, vectors.shape[1]))
    sums[count > 0] = np.add.reduceat(vectors, (np.cumsum(count) - count)[count > 0]) if len(vectors) else 0.0
    squares = np.einsum("nd,nd->n", vectors, vectors)
    own = np.bincount(p.document[chosen], weights=squares, minlength=aligned.documents)
    pairs = divide(np.einsum("nd,nd->n", sums, sums) - own, count * (count - 1))
    return _rows(aligned, chosen, np.clip(pairs, -1.0, 1.0), none=0.0, one=1.0)


@metric("sem_diverse_index", better="lower", bounds=(0.0, np.inf), remark=hash_remark)
def sem_diverse_index(
    aligned: Aligned, cutoff: Cutoff, subset: Subset, *, model: str = "hash", layer: int = -1
) -> Rows:
    """Root of the mean squared cosine of the embeddings of any two predictions of the document (KPEval, Wu 2024).

    KPEval takes the root of the sum over both orders of every two predictions (`diverse_index=sum`), so that long
    lists seem alike; the root of the mean is from 0 to 1.

    >>> from karat import Corpus, Run, score
    >>> documents = Corpus.of([{"id": "1", "text": "ants", "keyphrases": ["ants"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["ants", "ants", "ants"]}])
    >>> for protocol in ("karat", "karat,diverse_index=sum"):  # three equal phrases: six ordered pairs
    ...     row = score(documents, run, metrics=["sem_diverse_index"], protocol=protocol).rows()[0]
    ...     print(f"{row['value']:.4f}")
    1.0000
    2.4495
    """
    chosen = looked_at(aligned, subset)
    vectors = _vectors(aligned, chosen, model, layer)
    count = _count(aligned, chosen)
    squares = np.full(aligned.documents, np.nan)
    for document, own in enumerate(np.split(vectors, np.cumsum(count)[:-1])):
        if len(own) > 1:
            left, right = np.triu_indices(len(own), 1)
            cosines = (own[left] * own[right]).sum(axis=1)
            squares[document] = 2.0 * (cosines * cosines).sum()
    if aligned.counting.diverse_index == "mean":
        squares = np.minimum(divide(squares, count * (count - 1)), 1.0)
    return _rows(aligned, chosen, np.sqrt(squares), none=0.0, one=0.0)


# ---------------------------------------------------------------------------------------------- what these share


def _count(aligned: Aligned, chosen: Bools) -> Ints:
    return np.bincount(aligned.predictions.document[chosen], minlength=aligned.documents)


def _rows(aligned: Aligned, chosen: Bools, values: Floats, *, none: float, one: float | None = None) -> Rows:
    """Rows of the values; documents with too few predictions are left out, or have what KPEval gives them."""
    if aligned.counting.diversity == "score":
        count = _count(aligned, chosen)
        values = np.where(count == 0, none, values if one is None else np.where(count == 1, one, values))
    return rows(values)


def _vectors(aligned: Aligned, chosen: Bools, model: str, layer: int) -> Floats:
    """The embeddings of the chosen predictions as they are given, each of length 1: [predictions, d]."""
    from karat.similarity.embedded import unit_vectors

    surface, of = np.unique(aligned.predictions.surface[chosen], return_inverse=True)
    words = surface_words(aligned)
    return unit_vectors([" ".join(words[i]) for i in surface.tolist()], model, layer)[of]


def _stem_counts(aligned: Aligned, chosen: Bools) -> tuple[Ints, Ints]:
    """(how many distinct stems, how many stems) the chosen predictions have, by document."""
    document, word, distinct = _stems(aligned, chosen)
    keys = np.unique(document * max(distinct, 1) + word)
    different = np.bincount(keys // max(distinct, 1), minlength=aligned.documents)
    return different, np.bincount(document, minlength=aligned.documents)


def _stems(aligned: Aligned, chosen: Bools) -> tuple[Ints, Ints, int]:
    """(document, number of the stem) of every stem of the chosen predictions, and how many stems there are."""
    number: dict[str, int] = {}
    split = [form.split(" ") for form in aligned.forms]
    flat = np.array([number.setdefault(w, len(number)) for w in chain.from_iterable(split)], dtype=np.int64)
    length = np.fromiter(map(len, split), dtype=np.int64, count=len(split))
    start = np.cumsum(length) - length
    phrase = aligned.predictions.phrase[chosen]
    times = length[phrase]
    within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    document = np.repeat(aligned.predictions.document[chosen], times)
    return document, flat[np.repeat(start[phrase], times) + within], len(number)


def _of_pairs(aligned: Aligned, chosen: Bools, measure: Callable[[list[int]], float]) -> Floats:
    """The measure of each document's chosen phrases, given by their numbers; NaN where there are not two."""
    values = np.full(aligned.documents, np.nan)
    cuts = np.cumsum(_count(aligned, chosen))[:-1]
    for document, phrases in enumerate(np.split(aligned.predictions.phrase[chosen], cuts)):
        if len(phrases) > 1:
            values[document] = measure(phrases.tolist())
    return values


# ---------------------------------------------------------------------------------------------- self-BLEU


def own_bleu(phrases: Sequence[tuple[str, ...]]) -> float:
    """The mean BLEU of each phrase with the others as its references.

    >>> round(own_bleu([("deep", "net"), ("deep", "net"), ("graph",)]), 4)
    0.3094
    """
    holders = Counter(word for words in phrases for word in set(words))
    grams = [[_grams(words, n) for n in range(1, _BLEU_ORDER + 1)] for words in phrases]
    scores = [
        _bleu(i, phrases, grams) if any(holders[word] > 1 for word in words) else 0.0 for i, words in enumerate(phrases)
    ]
    return sum(scores) / len(scores)


def _grams(words: tuple[str, ...], n: int) -> Counter[tuple[str, ...]]:
    return Counter(words[i : i + n] for i in range(len(words) - n + 1))


def _bleu(which: int, phrases: Sequence[tuple[str, ...]], grams: Sequence[Sequence[Counter[tuple[str, ...]]]]) -> float:
    """BLEU of one phrase against the others, smoothed as NLTK's method 1."""
    others = [i for i in range(len(phrases)) if i != which]
    logs = 0.0
    for order, own in enumerate(grams[which]):
        hits = sum(min(count, max(grams[i][order][gram] for i in others)) for gram, count in own.items())
        if not hits and not order:
            return 0.0
        logs += log((hits or _SMALL) / max(own.total(), 1)) / _BLEU_ORDER
    length = len(phrases[which])
    nearest = min((len(phrases[i]) for i in others), key=_distance_to(length))
    return exp(logs) * (1.0 if length > nearest else exp(1 - nearest / length))


def _distance_to(length: int) -> Callable[[int], tuple[int, int]]:
    return lambda other: (abs(other - length), other)
