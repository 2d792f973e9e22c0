"""Topics: candidates that share words, and the graph of how near to each other they stand.

Candidates are clustered by average linkage on the Jaccard distance of their stems. The weight between two candidates
is the sum over their occurrences of 1 / gap, the gap being the number of words from the end of one to the start of the
other. On a text of usual length that is a matrix. A long text has too many occurrences for one; there the same walk is
taken without it: 1 / gap depends on the difference of two places only, so that a step is a convolution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp
from operator import itemgetter
from typing import Any

import numpy as np

from karat.models.extractors.candidates import Candidates
from karat.models.extractors.graphs import Floats, Ints, iterate, of_matrix, walk

MATRIX = 1500  # occurrences up to which the weights are a matrix
_BLOCK = 1 << 20  # pairs of occurrences looked at together


@dataclass(frozen=True, slots=True)
class Places:
    """The occurrences of candidates, candidate by candidate, each with its first and last word and its weight."""

    candidates: Ints
    starts: Ints
    lasts: Ints
    weights: Floats | None  # None where each counts once

    def ordered(self, order: Sequence[int]) -> Places:
        """The occurrences with candidates in another order, and by their numbers in it."""
        number = np.empty(len(order), dtype=np.int64)
        number[np.asarray(order, dtype=np.int64)] = np.arange(len(order))
        by = np.argsort(number[self.candidates], kind="stable")
        weights = None if self.weights is None else self.weights[by]
        return Places(number[self.candidates][by], self.starts[by], self.lasts[by], weights)


def places_of(found: Candidates, title_weight: float) -> Places:
    """The occurrences of candidates, those in the title counting `title_weight` times."""
    owners = np.repeat(np.arange(len(found)), list(map(len, found.starts)))
    starts = np.array([start for each in found.starts for start in each], dtype=np.int64)
    ends = np.array([end for each in found.ends for end in each], dtype=np.int64)
    weights = None
    if title_weight != 1.0 and found.text.title:
        weights = np.where(starts < found.text.title, title_weight, 1.0)
    return Places(owners, starts, ends - 1, weights)


# --------------------------------------------------------------------------------------------------- clustering


def clusters(found: Candidates, threshold: float) -> tuple[list[int], Ints]:
    """The candidates in alphabetical order, and the number of the topic of each one, from 0, in that order.

    The numbers are those that scipy's `linkage` and `fcluster` give: ties between topics go by them.
    """
    order = sorted(range(len(found)), key=found.forms.__getitem__)
    tree = chained(near([found.stems(index) for index in order]))
    return order, np.array(cut(tree, len(order), threshold), dtype=np.int64)


def near(phrases: Sequence[Sequence[str]]) -> list[dict[int, float]]:
    """The Jaccard distance of each phrase from those with which it shares a word.

    >>> near([["deep", "net"], ["net"], ["graph"]])
    [{1: 0.5}, {0: 0.5}, {}]
    """
    held = list(map(frozenset, phrases))
    having: dict[str, list[int]] = {}
    for row, words in enumerate(held):
        for word in words:
            having.setdefault(word, []).append(row)
    found = []
    for row, words in enumerate(held):
        shared: dict[int, int] = {}
        for word in words:
            if len(having[word]) > 1:
                for other in having[word]:
                    shared[other] = shared.get(other, 0) + 1
        shared.pop(row, None)
        unions = [len(words) + len(held[other]) - both for other, both in shared.items()]
        pairs = zip(shared.items(), unions, strict=True)
        found.append({other: (union - both) / union for (other, both), union in pairs})
    return found


Merge = tuple[int, int, float]  # two clusters, and the distance at which they become one


def chained(distances: list[dict[int, float]]) -> list[Merge]:
    """The tree of average linkage, of points that are at distance 1 where nothing else is said.

    This is the nearest-neighbour chain that scipy follows, step by step and with its choice among equally near ones,
    but with the distances below 1 only: those of a long text would not fit into memory, and those of a short one are
    quicker so. Merges are sorted by distance; the cluster that the k-th one makes has the number points + k.
    """
    count = len(distances)
    size = [1] * count
    chain: list[int] = []
    merges: list[Merge] = []
    first = 0
    for _ in range(count - 1):
        first = _active(size, first)
        if not chain:
            chain.append(first)
        while True:
            here, before = chain[-1], chain[-2] if len(chain) > 1 else None
            there, distance = _nearest(distances[here], here, before, size, first)
            if there == before:
                break
            chain.append(there)
        del chain[-2:]
        gone, stays = min(here, there), max(here, there)
        merges.append((gone, stays, distance))
        _merge(distances, size, gone, stays)
    return _numbered(sorted(merges, key=itemgetter(2)), count)


def _active(size: Sequence[int], at: int) -> int:
    """The first cluster that is there, from a place on."""
    while not size[at]:
        at += 1
    return at


def _nearest(
    distances: dict[int, float], here: int, before: int | None, size: Sequence[int], first: int
) -> tuple[int, float]:
    """The nearest cluster and its distance: of equally near ones the one before in the chain, else the first."""
    distance = min(distances.values()) if distances else 1.0
    if before is not None and distances.get(before, 1.0) <= distance:
        return before, distance
    if distance < 1.0:
        return min([other for other, value in distances.items() if value == distance]), distance
    return (first if first != here else _active(size, first + 1)), 1.0


def _merge(distances: list[dict[int, float]], size: list[int], gone: int, stays: int) -> None:
    """Puts one cluster into another: distances become averages."""
    left, right = distances[gone], distances[stays]
    left.pop(stays, None)
    right.pop(gone, None)
    m, n = size[gone], size[stays]
    for other in {**left, **right}:
        average = (m * left.get(other, 1.0) + n * right.get(other, 1.0)) / (m + n)
        right[other] = distances[other][stays] = average
        distances[other].pop(gone, None)
    distances[gone] = {}
    size[gone], size[stays] = 0, m + n


def _numbered(merges: Sequence[Merge], count: int) -> list[Merge]:
    """The merges of points as merges of the clusters that these points are in by then, the lower number first."""
    parent = list(range(2 * count - 1))
    found = []
    for made, (left, right, distance) in enumerate(merges, count):
        one, other = _root(parent, left), _root(parent, right)
        parent[one] = parent[other] = made
        found.append((min(one, other), max(one, other), distance))
    return found


def _root(parent: list[int], at: int) -> int:
    while parent[at] != at:
        parent[at] = parent[parent[at]]
        at = parent[at]
    return at


def cut(tree: Sequence[Merge], count: int, threshold: float) -> list[int]:
    """The number of the cluster of each point, where clusters that are farther apart than the threshold are not merged.

    The tree is walked from its root, branches before leaves and the left before the right, and clusters are numbered
    as they are met: that is the order of scipy's `fcluster`.
    """
    highest: list[float] = []
    for left, right, distance in tree:
        highest.append(max([distance, *(highest[child - count] for child in (left, right) if child >= count)]))
    found, number, inside = [0] * count, 0, -1
    stack, entered = [2 * count - 2] if count > 1 else [], set[int]()
    while stack:
        node = stack[-1]
        left, right, _ = tree[node - count]
        if node not in entered:
            entered.add(node)
            if inside < 0 and highest[node - count] <= threshold:
                inside, number = node, number + 1
            branches = [child for child in (right, left) if child >= count]
            if branches:
                stack += branches
                continue
        stack.pop()
        for leaf in (left, right):
            if leaf < count:
                number += inside < 0
                found[leaf] = number - 1
        if inside == node:
            inside = -1
    return found


# ------------------------------------------------------------------------------------------------------- weights


def _nearness(places: Places, rows: slice) -> Floats:
    """1 / gap of some occurrences with all of them; occurrences that overlap are taken for neighbours."""
    forward = places.starts[None, :] - places.lasts[rows, None]
    backward = places.starts[rows, None] - places.lasts[None, :]
    found: Floats = 1.0 / np.maximum(np.maximum(forward, backward), 1)
    return found if places.weights is None else found * (places.weights[rows, None] * places.weights[None, :])


def candidate_weights(places: Places, topics: Ints) -> Floats:
    """The weight between each two candidates of different topics."""
    count = len(topics)
    keys = places.candidates[:, None] * count + places.candidates[None, :]
    sums = np.bincount(keys.ravel(), _nearness(places, slice(None)).ravel(), minlength=count * count)
    weights: Floats = _mirrored(sums, count) * (topics[:, None] != topics[None, :])
    return weights


def topic_weights(places: Places, topics: Ints) -> Floats:
    """The weight between each two topics; candidates must be in the order of topics, so are their occurrences.

    Sums go by pairs of candidates, then by pairs of occurrences.
    """
    count, width = int(topics.max()) + 1, len(topics)
    values = _nearness(places, slice(None)).ravel()
    of = topics[places.candidates]
    keys = (of[:, None] * count + of[None, :]).ravel()
    if width < len(places.candidates) and count < width:
        pairs = (places.candidates[:, None] * width + places.candidates[None, :]).ravel()
        order = np.argsort(pairs, kind="stable")
        keys, values = keys[order], values[order]
    return _mirrored(np.bincount(keys, values, minlength=count * count), count)


def _mirrored(sums: Any, count: int) -> Floats:
    """The upper triangle of a square, on both sides of an empty diagonal."""
    upper: Floats = np.triu(sums.reshape(count, count), 1)
    return upper + upper.T


def boosts(found: Candidates, order: Sequence[int], topics: Ints, alpha: float) -> list[tuple[int, list[int], float]]:
    """(first candidate, the topic's others, factor) of each topic that has others.

    The first one is credited with the weights of the others, times alpha · e^(1 / (1 + its place)).
    """
    members: dict[int, list[int]] = {}
    for index, topic in zip(order, topics.tolist(), strict=True):
        members.setdefault(topic, []).append(index)
    found_boosts = []
    for held in members.values():
        if len(held) > 1 and alpha > 0:
            first = min(held, key=lambda index: found.starts[index][0])
            factor = exp(1.0 / (1 + found.starts[first][0]))
            found_boosts.append((first, [index for index in held if index != first], factor))
    return found_boosts


# -------------------------------------------------------------------------------------------------------- walks


def multipartite(found: Candidates, threshold: float, alpha: float, title_weight: float) -> Floats:
    """The rank of each candidate in the graph of candidates of different topics."""
    if not len(found):
        return np.zeros(0)
    order, topics = clusters(found, threshold)
    places = places_of(found, title_weight)
    by_candidate = np.empty(len(found), dtype=np.int64)
    by_candidate[order] = topics
    credits = boosts(found, order, topics, alpha)
    if len(places.starts) > MATRIX:
        return _long_walk(multiplied(places, by_candidate), len(found), credits, alpha)
    weights = candidate_weights(places, by_candidate)
    added = []
    for first, others, factor in credits:
        # Summed as a row that lies in one piece, which is how numpy sums a list.
        sums = np.ascontiguousarray(weights[:, others]).sum(axis=1)
        added.append((first, sums * alpha * factor))
    for first, column in added:
        weights[:, first] += column
    return walk(of_matrix(weights))


def topic_walk(found: Candidates, threshold: float, title_weight: float) -> tuple[list[list[int]], Floats]:
    """The topics as lists of candidates, and the rank of each topic."""
    if not len(found):
        return [], np.zeros(0)
    order, topics = clusters(found, threshold)
    members: list[list[int]] = [[] for _ in range(int(topics.max()) + 1)]
    for index, topic in zip(order, topics.tolist(), strict=True):
        members[topic].append(index)
    arranged = [index for held in members for index in held]
    sorted_topics = np.repeat(np.arange(len(members)), list(map(len, members)))
    places = places_of(found, title_weight).ordered(arranged)
    if len(places.starts) > MATRIX:
        product = multiplied(places, sorted_topics)
        count = len(members)
        return members, _iterated(count, lambda x: _summed(sorted_topics, product(x[sorted_topics]), count))
    return members, walk(of_matrix(topic_weights(places, sorted_topics)))


def _summed(owners: Ints, values: Floats, count: int) -> Floats:
    """The sum of the values of each owner."""
    sums: Any = np.bincount(owners, values, minlength=count)
    return np.asarray(sums, dtype=np.float64)


def _long_walk(product: Product, count: int, credits: Sequence[tuple[int, list[int], float]], alpha: float) -> Floats:
    """The walk over candidates without a matrix; credits pass on what reaches a topic's other candidates."""
    owners = np.array([index for _, others, _ in credits for index in others], dtype=np.int64)
    firsts = np.array([first for first, others, _ in credits for _ in others], dtype=np.int64)
    factors = np.array([alpha * factor for _, others, factor in credits for _ in others])

    def credited(values: Floats) -> Floats:
        return values + _summed(firsts, factors * values[owners], count)

    out = np.ones(count)
    out[owners] += factors
    return _iterated(count, lambda x: credited(product(x)), product(out))


def _iterated(count: int, step: Callable[[Floats], Floats], sums: Floats | None = None) -> Floats:
    """PageRank where a step gives the weighted sums of what the nodes have."""
    sums = step(np.ones(count)) if sums is None else sums
    edges = sums > 1e-9  # what is left of a sum without edges is rounding
    out = np.where(edges, 1.0 / np.where(edges, sums, 1.0), 0.0)
    return iterate(count, lambda ranks: step(ranks * out), np.flatnonzero(~edges))


Product = Callable[[Floats], Floats]


def multiplied(places: Places, topics: Ints) -> Product:
    """What multiplies values of candidates by their weights, without a matrix of all pairs of occurrences.

    Of each candidate it gives the sum over all candidates of other topics of weight · value.
    """
    from scipy import fft

    count, span = len(topics), int(places.lasts.max()) + 1
    length = fft.next_fast_len(2 * span, real=True)
    kernel = fft.rfft(np.concatenate([[0.0], 1.0 / np.arange(1, span)]), length)
    triples = _Triples([], [], [])
    _overlapping(places, triples)
    _inside(places, topics, triples)
    beside = triples.matrix(count)
    weights = 1.0 if places.weights is None else places.weights

    def multiply(values: Floats) -> Floats:
        given = values[places.candidates] * weights
        at_starts, at_lasts = (
            fft.rfft(np.bincount(where, given, minlength=length), length) for where in (places.starts, places.lasts)
        )
        # Those behind an occurrence are met by going backwards through the kernel, those before it forwards.
        behind = fft.irfft(at_starts * np.conj(kernel), length)[places.lasts]
        before = fft.irfft(at_lasts * kernel, length)[places.starts]
        sums: Floats = _summed(places.candidates, (behind + before) * weights, count) + beside @ values
        return sums

    return multiply


@dataclass(slots=True)
class _Triples:
    """Entries of a square matrix, gathered part by part."""

    rows: list[Ints]
    columns: list[Ints]
    weights: list[Floats]

    def add(self, rows: Ints, columns: Ints, weights: Floats) -> None:
        self.rows.append(rows)
        self.columns.append(columns)
        self.weights.append(weights)

    def matrix(self, count: int) -> Any:
        """The sparse matrix; entries of one place are added up."""
        from scipy.sparse import csr_array

        if not self.rows:
            return csr_array((count, count))
        places = np.concatenate(self.rows), np.concatenate(self.columns)
        return csr_array((np.concatenate(self.weights), places), shape=(count, count))


def _overlapping(places: Places, triples: _Triples) -> None:
    """Adds the weights of occurrences that overlap: the kernel knows only those that stand apart."""
    by = np.lexsort((places.lasts, places.starts))
    owners, starts, lasts = places.candidates[by], places.starts[by], places.lasts[by]
    weights = np.ones(len(by)) if places.weights is None else places.weights[by]
    farthest = np.maximum.accumulate(lasts)
    for apart in range(1, len(by)):
        if not (starts[apart:] <= farthest[:-apart]).any():
            break  # they are sorted by start: the farther on, the fewer begin inside
        meet = np.flatnonzero(starts[apart:] <= lasts[:-apart])
        both = weights[meet] * weights[meet + apart]
        triples.add(owners[meet], owners[meet + apart], both)
        triples.add(owners[meet + apart], owners[meet], both)


def _inside(places: Places, topics: Ints, triples: _Triples) -> None:
    """Takes off the weights between candidates of one topic, which are no edges."""
    of = topics[places.candidates]
    by = np.argsort(of, kind="stable")
    bounds = [*np.flatnonzero(np.diff(of[by], prepend=-1)).tolist(), len(by)]
    for begin, end in pairwise(bounds):
        if end - begin > 1:
            chosen = by[begin:end]
            weights = None if places.weights is None else places.weights[chosen]
            _inside_one(
                Places(places.candidates[chosen], places.starts[chosen], places.lasts[chosen], weights), triples
            )


def _inside_one(part: Places, triples: _Triples) -> None:
    """Takes off the weights between the candidates of one topic; an occurrence has none with itself."""
    size = len(part.starts)
    step = max(1, _BLOCK // size)
    numbers, local = np.unique(part.candidates, return_inverse=True)
    sums = np.zeros(len(numbers) ** 2)
    for begin in range(0, size, step):
        rows = slice(begin, min(begin + step, size))
        values = _nearness(part, rows)
        values[np.arange(len(values)), np.arange(begin, begin + len(values))] = 0.0
        sums += np.bincount((local[rows, None] * len(numbers) + local[None, :]).ravel(), values.ravel(), len(sums))
    above, beside = np.divmod(np.arange(len(sums)), len(numbers))
    triples.add(numbers[above], numbers[beside], -sums)
