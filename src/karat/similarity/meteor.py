"""METEOR: words matched as they are, by stem, and by synonym, with a penalty for broken order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from karat.similarity.base import Floats, Ints, Role, Words, in_roles, similarity
from karat.similarity.patterns import distinct_rows, length_groups, table
from karat.text.porter import stem
from karat.text.wordnet import wordnet

Perfect = Literal["one", "nltk"]
Synonyms = Literal["wordnet", "none"]

_EXACT, _STEM, _SYNONYM = 3, 2, 1
_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5


@similarity("meteor", form="surface")
def meteor(
    phrases: Sequence[Words],
    left: Ints,
    right: Ints,
    *,
    reference: Role = "longer",
    synonyms: Synonyms = "wordnet",
    perfect: Perfect = "one",
) -> Floats:
    """METEOR with alpha .9, beta 3, gamma .5: words matched exactly, then by stem, then by WordNet synset.

    Words are synonyms when they, or base forms of them, share a synset: car and automobiles. (nltk looks up words that
    it has stemmed before, so that there automobile, by then automobil, matches nothing.) When all words of both match
    in one chunk the score is 1, so that a phrase is as near to itself as can be; `perfect=nltk` punishes that chunk
    like any other, which makes one word and itself .5.
    """
    judged, referred = in_roles(phrases, left, right, reference)
    phrase_table = table(phrases)
    links = _Links(phrase_table.distinct, synonyms)
    found: Floats = np.where(phrase_table.length[left] + phrase_table.length[right] == 0, 1.0, 0.0)
    filled = np.flatnonzero((phrase_table.length[left] > 0) & (phrase_table.length[right] > 0))
    for rows, size in length_groups(phrase_table, judged, referred, filled):
        a, b = phrase_table.rows(judged[rows], size[0]), phrase_table.rows(referred[rows], size[1])
        relations = links.between(a[:, :, None], b[:, None, :])  # [pairs, words, words]
        first, back = distinct_rows(relations.reshape(len(rows), -1))
        scores = [_score(relation, perfect) for relation in relations[first].tolist()]
        found[rows] = np.array(scores)[back]
    return found


class _Links:
    """How near words are to each other."""

    def __init__(self, words: Sequence[str], synonyms: Synonyms) -> None:
        pairs: dict[tuple[int, int], int] = {}
        if synonyms == "wordnet":
            lexicon = wordnet()
            pairs |= dict.fromkeys(_pairs(lexicon.synsets(word) for word in words), _SYNONYM)
        pairs |= dict.fromkeys(_pairs((stem(word),) for word in words), _STEM)
        pairs |= {(i, i): _EXACT for i in range(len(words))}
        self._size = len(words)
        keys = np.array([a * self._size + b for a, b in pairs], dtype=np.int64)
        order = np.argsort(keys)
        self._keys, self._kinds = keys[order], np.array(list(pairs.values()), dtype=np.uint8)[order]

    def between(self, a: Ints, b: Ints) -> NDArray[np.uint8]:
        """The kind of match of two words, 0 for none."""
        key = a * self._size + b
        at = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where(self._keys[at] == key, self._kinds[at], np.uint8(0))


def _pairs(classes: Iterable[Iterable[str]]) -> list[tuple[int, int]]:
    """The pairs of indices that have a class in common, given the classes of each."""
    members: defaultdict[str, list[int]] = defaultdict(list)
    for i, own in enumerate(classes):
        for name in own:
            members[name].append(i)
    return [pair for together in members.values() if len(together) > 1 for pair in product(together, together)]


def _score(relation: list[list[int]], perfect: Perfect) -> float:
    matches = align(relation)
    if not matches:
        return 0.0
    count, judged, referred = len(matches), len(relation), len(relation[0])
    chunks = 1 + sum((b[0] - a[0], b[1] - a[1]) != (1, 1) for a, b in pairwise(matches))
    if perfect == "one" and chunks == 1 and count == judged == referred:
        return 1.0
    precision, recall = count / judged, count / referred
    mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    return float((1 - _GAMMA * (chunks / count) ** _BETA) * mean)


def align(relation: list[list[int]]) -> list[tuple[int, int]]:
    """Which word is matched with which, in order: the better kinds of match first, from the end as nltk does.

    >>> align([[3, 0], [3, 1]])
    [(1, 0)]
    """
    matches: dict[int, int] = {}
    free = set(range(len(relation[0])))
    for least in (_EXACT, _STEM, _SYNONYM):
        for i in reversed(range(len(relation))):
            fit = [j for j in free if relation[i][j] >= least]
            if i not in matches and fit:
                matches[i] = max(fit)
                free.remove(matches[i])
    return sorted(matches.items())
