"""What ties two names to one concept beyond their stems: an abbreviation, or near vectors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from karat.analyses.consistency.names import Ints, Names, grouped
from karat.corpus import Corpus
from karat.embed import Embedder
from karat.matching.passes import View, look_at
from karat.similarity.nearest import BLOCK, of_length_1
from karat.text.abbreviations import LONGEST_SHORT, SHORT, SMALL, WORD, explanations

SHORTEST_UNSEEN = 3  # letters of an abbreviation that no text explains

_DIGITS = re.compile(r"\d+")


def abbreviations(
    names: Names, group: Ints, explained: Mapping[str, set[str]] | None
) -> tuple[list[tuple[int, int]], int]:
    """(pairs of names of which one abbreviates the other; how many could stand for several concepts)."""
    long = _long_forms(names) if explained is None else {}
    of_form: dict[str, int] = {}
    for i, key in enumerate(names.keys):
        of_form.setdefault(_plain(key), i)
    ties: list[tuple[int, int]] = []
    unclear = 0
    for i, key in enumerate(names.keys):
        if " " in key or not SHORT.fullmatch(key) or len(key) > LONGEST_SHORT + 1:
            continue
        others: list[int] = []
        for short in dict.fromkeys((key, key.removesuffix("s"))):
            if explained is None:
                others += long.get(short, []) if len(short) >= SHORTEST_UNSEEN else []
            else:
                others += [of_form[form] for form in sorted(explained.get(short, ())) if form in of_form]
        concepts = {int(group[other]) for other in others if group[other] != group[i]}
        unclear += len(concepts) > 1
        if len(concepts) == 1:
            ties += [(i, other) for other in others if group[other] != group[i]][:1]
    return ties, unclear


def _long_forms(names: Names) -> dict[str, list[int]]:
    """The names of several words by their initials, with particles and without."""
    found: dict[str, list[int]] = {}
    for i, key in enumerate(names.keys):
        words = WORD.findall(key)
        if len(words) > 1:
            large = [word for word in words if word not in SMALL]
            for initials in dict.fromkeys("".join(word[0] for word in some) for some in (words, large)):
                found.setdefault(initials, []).append(i)
    return found


def _plain(text: str) -> str:
    """A phrase as texts are searched for it: its words, a plural being its singular as far as an `s` goes."""
    return " ".join(word.removesuffix("s") for word in WORD.findall(text.lower()))


def explained_in(corpus: Corpus) -> dict[str, set[str]]:
    """What each abbreviation stands for in the texts of a corpus, where one explains the other in parentheses."""
    found: dict[str, set[str]] = {}
    for short, long in chain.from_iterable(look_at(corpus, _look_at_explanations, distinct=False)):
        found.setdefault(short.lower().removesuffix("s"), set()).add(_plain(long))
        found.setdefault(short.lower(), set()).add(_plain(long))
    return found


def _look_at_explanations(view: View) -> list[tuple[str, str]]:
    """A look: (abbreviation, what it stands for) wherever a text explains one."""
    texts = filter(None, chain.from_iterable((document.title, document.text) for document in view.given))
    return [pair for text in texts for pair in explanations(text)]


def near(names: Names, group: Ints, vectors: Embedder, least: float) -> Ints:
    """The groups with those put together whose most frequent names are near.

    The most frequent first, each takes in the ones near to it that are still free. So all names of a concept are near
    to its first, and no chain of neighbours leads from one concept to quite another.
    """
    first = np.unique(group, return_index=True)[1]  # names are in order of frequency
    first.sort()
    texts = [names.keys[i] for i in first.tolist()]
    neighbours = _neighbours(of_length_1(vectors, texts), least)
    digits = [_DIGITS.findall(text) for text in texts]
    words = [set(names.forms[i].split()) for i in first.tolist()]
    owner = np.full(len(texts), -1, dtype=np.int64)
    for i in range(len(texts)):
        if owner[i] < 0:
            owner[i] = i
            for other in neighbours.get(i, ()):
                # Another number is another thing, and a phrase within a phrase is a broader one.
                part = words[i] < words[other] or words[other] < words[i]
                if owner[other] < 0 and digits[i] == digits[other] and not part:
                    owner[other] = i
    of_group = {int(group[i]): int(owner[n]) for n, i in enumerate(first.tolist())}
    return grouped(str(of_group[number]) for number in group.tolist())


def _neighbours(vectors: NDArray[np.float32], least: float) -> dict[int, list[int]]:
    """The later rows that are near to a row, by row."""
    found: dict[int, list[int]] = {}
    for start in range(0, len(vectors), BLOCK):
        near = vectors[start : start + BLOCK] @ vectors[start:].T >= least - 1e-6  # rounding of float32
        for row, column in np.argwhere(np.triu(near, 1)).tolist():
            found.setdefault(start + row, []).append(start + column)
    return found
