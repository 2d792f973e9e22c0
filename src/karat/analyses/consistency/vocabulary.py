"""How much of a system's names is in a vocabulary, and the labels nearest to the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import compress

import numpy as np

from karat.analyses.consistency.intervals import listed_intervals
from karat.analyses.consistency.names import Names, bag
from karat.analyses.consistency.result import LISTED, OUTSIDE, ConsistencyOptions, Fix, Listed
from karat.embed import Embedder
from karat.matching.inputs import as_protocols
from karat.similarity.nearest import Near, nearest_by_cosine, nearest_by_letters, of_length_1
from karat.text.normalise import normaliser_of
from karat.text.unicode import key_of
from karat.vocabulary import Vocabulary


def listed_in(names: Names, vocabulary: Vocabulary, options: ConsistencyOptions, vectors: Embedder | None) -> Listed:
    """How much of a run's names is in the vocabulary, and the entries nearest to the most frequent of the rest."""
    stems = normaliser_of(as_protocols(["karat"], options.language)[0].matching)
    labels = list(vocabulary.labels())
    keys = [key_of(label.text) for _, label in labels]
    forms = stems.many([key.replace("-", " ") for key in keys])
    terms = [label.kind == "preferred" for _, label in labels]
    ways = {
        "term": (set(compress(keys, terms)), names.keys),
        "variant": (set(keys), names.keys),
        "stem": (set(forms), names.forms),
        "order": (set(map(bag, forms)), names.bags()),
    }
    found = [
        next((how for how, (known, own) in ways.items() if own[i] in known), OUTSIDE) for i in range(len(names.keys))
    ]
    outside = [i for i, each in enumerate(found) if each == OUTSIDE]
    shown = outside[: options.worst] if options.worst else outside
    fixes = _nearest([names.keys[i] for i in shown], keys, vectors if options.nearest == "cosine" else None)
    hows, by_name = list(LISTED), Counter(found)
    by_phrase: Counter[str] = Counter()
    for each, count in zip(found, names.count.tolist(), strict=True):
        by_phrase[each] += count
    return Listed(
        {each: by_name[each] for each in LISTED},
        {each: by_phrase[each] for each in LISTED},
        tuple(
            Fix(names.shown[i], int(names.count[i]), vocabulary.shown(labels[place][0]), score)
            for i, (place, score) in zip(shown, fixes, strict=True)
        ),
        listed_intervals(names, np.array(list(map(hows.index, found)), dtype=np.int64), hows, options.confidence.level),
    )


def _nearest(texts: Sequence[str], entries: Sequence[str], vectors: Embedder | None) -> list[Near]:
    if vectors is None:
        return nearest_by_letters(texts, entries)
    return nearest_by_cosine(texts, vectors, of_length_1(vectors, entries))
