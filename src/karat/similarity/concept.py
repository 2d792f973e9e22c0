"""How near two phrases are as concepts of a vocabulary: by the steps from one to the other in its hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.similarity.base import Floats, Ints, Words, similarity


@similarity("concept", form="stems")
def concept(
    phrases: Sequence[Words],
    left: Ints,
    right: Ints,
    *,
    vocabulary: str = "",
    credit: float = 0.5,
    concepts: Any = (),
) -> Floats:
    """Credit for each step from a concept up to the other, multiplied: a broader or narrower one counts in part.

    Labels of one concept are 1, a concept and one n steps above it credit^n, all others 0. `vocabulary` is the file;
    with --vocabulary it is the one that is given there. Phrases that are no concepts are 1 where they are equal.
    """
    if not 0 <= credit <= 1:
        raise InputError(f"a credit is a number from 0 to 1, not {credit:g}")
    known = concepts if concepts else _concepts(vocabulary)
    forms = [" ".join(words) for words in phrases]
    numbers = list(map(known.of_form, forms))
    above = known.vocabulary.ancestors
    scores = np.zeros(len(left))
    for n, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        one, other = numbers[a], numbers[b]
        if forms[a] == forms[b] or (one == other and one >= 0):
            scores[n] = 1.0
        elif one >= 0 and other >= 0:
            steps = above[one].get(other) or above[other].get(one)
            scores[n] = 0.0 if steps is None else credit**steps
    return scores


def _concepts(vocabulary: str) -> Any:
    from karat.formats.vocabulary import as_vocabulary
    from karat.matching.concepts import concepts_for
    from karat.protocol import Matching

    if not vocabulary:
        raise InputError(
            "similarity concept needs a vocabulary: concept,vocabulary=FILE; soft scores take that of --vocabulary, too"
        )
    return concepts_for(as_vocabulary(vocabulary), Matching())
