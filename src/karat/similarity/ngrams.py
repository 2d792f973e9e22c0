"""Similarities of n-grams, from machine translation and summarisation: BLEU, NIST, ROUGE, chrF.

The phrase of more words plays the reference unless `reference=given`, as in Kim 2010.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import exp, log, log2

import numpy as np

from karat.similarity.base import Floats, Ints, Role, Words, in_roles, similarity
from karat.similarity.overlap import common
from karat.similarity.patterns import Labels, by_pattern, table
from karat.similarity.sparse import Matrix, row_dots, rows_of

_BLEU_ORDER, _NIST_ORDER, _CHRF_ORDER = 4, 5, 6
_CHRF_BETA = 2
_WHOLE = 1 << 56  # how large numbers get, with some room to 64 bits
_NIST_BETA = log(0.5) / log(1.5) ** 2  # half the score when two thirds of the words are there


def _grams(words: Labels, n: int) -> list[Labels]:
    return [words[i : i + n] for i in range(len(words) - n + 1)]


# ---------------------------------------------------------------------------------------------- BLEU


@similarity("bleu", form="stems")
def bleu(phrases: Sequence[Words], left: Ints, right: Ints, *, reference: Role = "longer") -> Floats:
    """Sentence BLEU of sacrebleu: orders up to 4 or the phrase's length, exponential smoothing.

    An order without a match has precision 1 / (2^k · n-grams), k counting such orders; no word in common is 0.
    """
    return by_pattern(table(phrases), *in_roles(phrases, left, right, reference), _bleu)


def _bleu(judged: Labels, reference: Labels) -> float:
    if not common(judged, reference):
        return 0.0
    orders = min(_BLEU_ORDER, len(judged))
    logs, smooth = 0.0, 1.0
    for n in range(1, orders + 1):
        total = len(judged) - n + 1
        hits = float(common(_grams(judged, n), _grams(reference, n)))
        if not hits:
            smooth *= 2
            hits = 1 / smooth
        logs += log(hits / total)
    brevity = min(1.0, exp(1 - len(reference) / len(judged)))
    return brevity * exp(logs / orders)


# ---------------------------------------------------------------------------------------------- NIST


@similarity("nist", form="stems")
def nist(phrases: Sequence[Words], left: Ints, right: Ints, *, reference: Role = "longer") -> Floats:
    """Sentence NIST / the NIST of the reference with itself, at most 1.

    NIST is nltk's `sentence_nist`, n-grams up to 5 that the phrase is long enough for, their information taken from the
    reference. One word carries no information: against a reference of one word, equal is 1 and anything else 0.
    """
    return by_pattern(table(phrases), *in_roles(phrases, left, right, reference), _nist)


def _nist(judged: Labels, reference: Labels) -> float:
    if len(reference) == 1 or judged == reference:
        return float(judged == reference)
    return min(1.0, plain_nist(judged, reference) / plain_nist(reference, reference))


def plain_nist(judged: Labels, reference: Labels) -> float:
    """The NIST score, not normalised."""
    counts = Counter(gram for n in range(1, _NIST_ORDER + 1) for gram in _grams(reference, n))
    counts[()] = len(reference)
    score = 0.0
    for n in range(1, min(_NIST_ORDER, len(judged)) + 1):
        shared = Counter(_grams(judged, n)) & Counter(_grams(reference, n))
        known = sum(log2(counts[gram[:-1]] / counts[gram]) * count for gram, count in shared.items())
        score += known / (len(judged) - n + 1)
    return score * exp(_NIST_BETA * log(min(len(judged) / len(reference), 1.0)) ** 2)


# ---------------------------------------------------------------------------------------------- ROUGE


@similarity("rouge1", form="stems")
def rouge1(phrases: Sequence[Words], left: Ints, right: Ints) -> Floats:
    """F1 of the words in common, repeats counted (ROUGE-1)."""
    return by_pattern(table(phrases), left, right, _rouge1)


def _rouge1(prediction: Labels, reference: Labels) -> float:
    return 2 * common(prediction, reference) / (len(prediction) + len(reference))


@similarity("rougeL", form="stems")
def rouge_l(phrases: Sequence[Words], left: Ints, right: Ints) -> Floats:
    """F1 of the longest common subsequence of words (ROUGE-L)."""
    return by_pattern(table(phrases), left, right, _rouge_l)


def _rouge_l(prediction: Labels, reference: Labels) -> float:
    from rapidfuzz.distance.LCSseq import similarity as longest_common

    return 2 * longest_common(prediction, reference) / (len(prediction) + len(reference))


# ---------------------------------------------------------------------------------------------- chrF


@similarity("chrf", form="surface")
def chrf(phrases: Sequence[Words], left: Ints, right: Ints, *, reference: Role = "longer") -> Floats:
    """Sentence chrF2 of sacrebleu: F2 of mean precision and recall of character n-grams up to 6, blanks left out."""
    judged, referred = in_roles(phrases, left, right, reference)
    texts = ["".join(words) for words in phrases]
    length = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    a, b = length[judged], length[referred]
    p, r = np.zeros(len(left)), np.zeros(len(left))
    sharing = np.arange(len(left))
    for n, grams in enumerate(_characters(texts, length), start=1):
        # Without a common n-gram there is no longer one.
        hits = row_dots(grams, grams, judged[sharing], referred[sharing])
        sharing, hits = sharing[hits > 0], hits[hits > 0]
        p[sharing] += hits / (a[sharing] - n + 1)
        r[sharing] += hits / (b[sharing] - n + 1)
    orders = np.maximum(np.minimum(np.minimum(a, b), _CHRF_ORDER), 1)
    p, r, factor = p / orders, r / orders, _CHRF_BETA**2
    scores: Floats = np.where(a + b == 0, 1.0, 0.0)
    np.divide((1 + factor) * p * r, factor * p + r, out=scores, where=p + r > 0)
    return np.asarray(np.minimum(scores, 1.0))


def _characters(texts: Sequence[str], length: Ints) -> Iterator[Matrix]:
    """For each order, which n-grams each text has.

    The k-th occurrence of an n-gram in a text is an n-gram of its own, so that common ones are a set intersection.
    """
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    distinct, letters = np.unique(codes, return_inverse=True)
    phrase = np.repeat(np.arange(len(texts)), length)
    room = np.repeat(np.cumsum(length), length) - np.arange(len(codes))  # letters from here to the phrase's end
    gram, kinds, at = np.zeros(len(codes), dtype=np.int64), 1, np.arange(len(codes))
    for n in range(1, _CHRF_ORDER + 1):
        at = at[room[at] >= n]
        if kinds * len(distinct) * len(texts) > _WHOLE:  # numbers of phrases and n-grams together would not fit
            values, gram[at] = np.unique(gram[at], return_inverse=True)
            kinds = len(values)
        gram[at] = gram[at] * len(distinct) + letters[at + n - 1]
        kinds *= len(distinct)
        yield _sets(phrase[at], gram[at], (len(texts), kinds))


def _sets(phrase: Ints, gram: Ints, shape: tuple[int, int]) -> Matrix:
    """Which (n-gram, how often it came before in its phrase) each phrase has; phrases are in order."""
    key = np.sort(phrase * shape[1] + gram)
    place = np.arange(len(key))
    new = np.ones(len(key), dtype=bool)
    new[1:] = np.diff(key) != 0
    before = place - np.maximum.accumulate(np.where(new, place, 0))
    often = int(before.max(initial=0)) + 1
    starts = np.searchsorted(phrase, np.arange(shape[0] + 1))
    return rows_of((key % shape[1]) * often + before, starts, shape[1] * often)
