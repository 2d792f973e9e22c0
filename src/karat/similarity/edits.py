"""Similarities by equality and by edits: exact, KMR, Levenshtein."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.similarity.base import Floats, Ints, Words, similarity
from karat.similarity.patterns import Labels, by_pattern, table

_PAD = 0  # before every word in the alphabet, and none of them


@similarity("exact", form="stems")
def exact(phrases: Sequence[Words], left: Ints, right: Ints) -> Floats:
    """1 where the stems are equal, else 0."""
    number: dict[Words, int] = {}
    numbers = np.array([number.setdefault(words, i) for i, words in enumerate(phrases)], dtype=np.int64)
    return np.where(numbers[left] == numbers[right], 1.0, 0.0)


@similarity("levenshtein", form="surface")
def levenshtein(phrases: Sequence[Words], left: Ints, right: Ints) -> Floats:
    """1 − character edits / length of the longer phrase, words joined by single spaces."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    texts = [" ".join(words) for words in phrases]
    pairs = [texts[i] for i in left.tolist()], [texts[i] for i in right.tolist()]
    return np.asarray(cpdist(*pairs, scorer=Levenshtein.normalized_similarity, dtype=np.float64))


@similarity("kmr", form="stems")
def kmr(phrases: Sequence[Words], left: Ints, right: Ints) -> Floats:
    """1 − TER with the shorter phrase padded at its end to the longer one's length (Kundu 2023, of Snover 2006).

    TER is pyter's: as long as it lowers the word edit distance, the block move that lowers it most; any block of the
    prediction that equals a block of the reference may move to where it stands there. Among equally good moves pyter
    takes the one whose outcome is the last in alphabetical order, and so does this; pads come before all words.
    """
    phrase_table = table(phrases)
    scores = by_pattern(phrase_table, left, right, _kmr_if_clear)
    tied = np.flatnonzero(np.isnan(scores))
    # Only where there was a choice does the alphabet matter, so that only there the patterns are many.
    scores[tied] = by_pattern(phrase_table, left[tied], right[tied], _kmr, ordered=True)
    return scores


def _kmr_if_clear(prediction: Labels, reference: Labels) -> float:
    """The match rate, NaN if there were equally good moves to choose from."""
    length = max(len(prediction), len(reference))
    count, tied = count_edits(_padded(prediction, length), _padded(reference, length))
    return np.nan if tied else (length - count) / length


def _kmr(prediction: Labels, reference: Labels) -> float:
    length = max(len(prediction), len(reference))
    return (length - count_edits(_padded(prediction, length), _padded(reference, length))[0]) / length


def _padded(labels: Labels, length: int) -> Labels:
    return labels + (_PAD,) * (length - len(labels))


def count_edits(prediction: Labels, reference: Labels) -> tuple[int, bool]:
    """(block moves and word edits that make the prediction the reference, whether equally good moves were met).

    >>> count_edits((2, 3, 4, 1), (1, 2, 3, 4))
    (1, False)
    """
    from rapidfuzz.distance.Levenshtein import distance

    moves, tied = 0, False
    left = distance(prediction, reference)
    while left > 1:  # the last edit costs 1, as a move does
        outcomes = {moved: distance(moved, reference) for moved in set(_moves(prediction, reference))}
        best = min(outcomes.values(), default=left)
        if best >= left:
            break
        choices = [moved for moved, after in outcomes.items() if after == best]
        prediction, left, moves, tied = max(choices), best, moves + 1, tied or len(choices) > 1
    return moves + left, tied


def _moves(prediction: Labels, reference: Labels) -> Iterator[Labels]:
    """The prediction after each move of a block to the place of an equal block of the reference."""
    for i, word in enumerate(prediction):
        for j, other in enumerate(reference):
            if word == other and i != j:
                end = i + 1
                while (
                    end < len(prediction) and j + end - i < len(reference) and prediction[end] == reference[j + end - i]
                ):
                    end += 1
                rest = prediction[:i] + prediction[end:]
                yield rest[:j] + prediction[i:end] + rest[j:]
