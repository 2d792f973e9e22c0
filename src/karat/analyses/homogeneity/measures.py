"""How alike two documents are indexed, or written: sets of phrases, of words, soft scores; ROUGE-1 and WER of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.matching.columns import Numbers
from karat.metrics.base import divide, harmonic
from karat.metrics.soft import ROUNDING
from karat.pairs.filter import wer
from karat.pairs.mine import is_word
from karat.pairs.sets import Floats, Ints, Sets, blocks, ordinals
from karat.similarity import Similarity, Words
from karat.text.normalise import normaliser


def word_sets(sets: Sets, forms: Sequence[str]) -> Sets:
    """The words of each document's phrases, each once; a mark is none.

    >>> phrases = Sets(np.array([0, 2]), np.array([0, 1]))
    >>> word_sets(phrases, ["text generation", "text - mining"]).sizes.tolist()
    [3]
    """
    numbers = Numbers()
    words = [numbers.of(list(filter(is_word, form.split(" ")))) for form in forms]
    count = np.array(list(map(len, words)), dtype=np.int64)
    flat = np.concatenate([*words, np.zeros(0, dtype=np.int64)])
    times = count[sets.items]
    item = flat[np.repeat((np.cumsum(count) - count)[sets.items], times) + ordinals(times)]
    return Sets.of(np.repeat(sets.owner, times), item, len(sets.starts) - 1)


@dataclass(frozen=True, slots=True)
class Soft:
    """What soft scores go by: the words of every phrase, how two phrases are compared, the least score that counts."""

    words: Sequence[Words]
    similarity: Similarity
    threshold: float


def soft_agreement(a: Ints, b: Ints, sets: Sets, soft: Soft) -> Floats:
    """F of SoftKeyScore between the phrases of the two documents of each pair; NaN where both have none.

    Each phrase is worth its highest score with a phrase of the other document, 0 below the threshold. P is the mean
    over the phrases of a, which play the predictions, R over those of b, and F = 2PR / (P + R).
    """
    of_a, of_b = sets.sizes[a], sets.sizes[b]
    sums = np.zeros((2, len(a)))
    for some in blocks(of_a * of_b):
        sums[:, some] = _nearest(a[some], b[some], sets, soft)
    p, r = (divide(total, count, empty=0.0) for total, count in zip(sums, (of_a, of_b), strict=True))
    return np.where((of_a == 0) & (of_b == 0), np.nan, harmonic(p, r))


def _nearest(a: Ints, b: Ints, sets: Sets, soft: Soft) -> Floats:
    """Of each pair the sum of the highest scores of the phrases of a, and of those of b, [2, pairs]."""
    of_a, of_b = sets.sizes[a], sets.sizes[b]
    times = of_a * of_b
    pair, inner = np.repeat(np.arange(len(a)), times), ordinals(times)
    left, right = inner // np.maximum(of_b[pair], 1), inner % np.maximum(of_b[pair], 1)
    scores = _scores(sets.items[sets.starts[a][pair] + left], sets.items[sets.starts[b][pair] + right], soft)
    scores = np.where(scores < soft.threshold - ROUNDING, 0.0, np.maximum(scores, 0.0))
    best_a, best_b = np.zeros(int(of_a.sum())), np.zeros(int(of_b.sum()))
    np.maximum.at(best_a, (np.cumsum(of_a) - of_a)[pair] + left, scores)
    np.maximum.at(best_b, (np.cumsum(of_b) - of_b)[pair] + right, scores)
    whose = np.repeat(np.arange(len(a)), of_a), np.repeat(np.arange(len(a)), of_b)
    worth = (best_a, best_b)
    return np.stack([np.bincount(of, best, minlength=len(a)) for of, best in zip(whose, worth, strict=True)])


def _scores(left: Ints, right: Ints, soft: Soft) -> Floats:
    """The score of each two phrases, each distinct pair computed once."""
    keys, back = np.unique(left * len(soft.words) + right, return_inverse=True)
    if not len(keys):
        return np.zeros(0)
    return soft.similarity.scores(soft.words, *np.divmod(keys, len(soft.words)))[back]


def rouge(a: Ints, b: Ints, texts: Mapping[int, str]) -> Floats:
    """ROUGE-1 recall of each pair: the share of the words of a, with repeats, that b has; NaN where a text is missing.

    Words are lower-cased runs of letters and digits.

    >>> rouge(np.array([0]), np.array([1]), {0: "The cat saw the dog.", 1: "A dog, the dog."}).tolist()
    [0.4]
    """
    counts = {n: Counter(words) for n, words in _words(texts).items()}
    found = np.full(len(a), np.nan)
    for n, (one, other) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        total = counts[one].total()
        if total and counts[other]:
            found[n] = (counts[one] & counts[other]).total() / total
    return found


def word_error_rates(a: Ints, b: Ints, texts: Mapping[int, str]) -> Floats:
    """WER of each pair: words to put in, leave out or change from a to b, over those of a; NaN where a text is missing.

    >>> word_error_rates(np.array([0]), np.array([1]), {0: "The cat saw the dog.", 1: "The dog saw a dog."}).tolist()
    [0.4]
    """
    words, found = _words(texts), np.full(len(a), np.nan)
    for n, (one, other) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        if words[one] and words[other]:
            found[n] = wer(words[one], words[other])
    return found


def _words(texts: Mapping[int, str]) -> dict[int, list[str]]:
    normal = normaliser("split_nopunc", "none", "lower")
    return {n: normal(text).split() for n, text in texts.items()}
