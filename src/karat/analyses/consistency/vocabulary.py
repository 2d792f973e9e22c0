"""A controlled vocabulary, how much of a system's names is in it, and the entries nearest to the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from karat.analyses.consistency.names import Names, bag, key_of
from karat.analyses.consistency.result import LISTED, OUTSIDE, ConsistencyOptions, Fix, Listed
from karat.analyses.consistency.ties import BLOCK, of_length_1
from karat.embed import Embedder
from karat.errors import InputError
from karat.formats.files import lines
from karat.matching.inputs import as_protocols
from karat.text.normalise import normaliser_of


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Terms that may be used, in their order, and other ways to write them."""

    terms: tuple[str, ...]
    variants: tuple[tuple[str, str], ...]  # variant, term

    def entries(self) -> list[tuple[str, str]]:
        """(how it is written, term) of all, terms first."""
        return [*((term, term) for term in self.terms), *self.variants]


def read_vocabulary(path: str | Path) -> Vocabulary:
    """The vocabulary of a file: a term a line, its variants behind it after tabs."""
    terms: dict[str, str] = {}
    variants: list[tuple[str, str]] = []
    for _, line in lines(str(path)):
        term, *others = [" ".join(part.split()) for part in line.split("\t")]
        if not term:
            continue
        terms.setdefault(key_of(term), term)
        variants += [(other, terms[key_of(term)]) for other in others if other]
    if not terms:
        raise InputError(f"{path}: the vocabulary has no term; write one a line")
    return Vocabulary(tuple(terms.values()), tuple(variants))


def listed_in(names: Names, vocabulary: Vocabulary, options: ConsistencyOptions, vectors: Embedder | None) -> Listed:
    """How much of a run's names is in the vocabulary, and the entries nearest to the most frequent of the rest."""
    stems = normaliser_of(as_protocols(["karat"], options.language)[0].matching)
    entries = vocabulary.entries()
    forms = stems.many([key_of(written).replace("-", " ") for written, _ in entries])
    ways = {
        "term": ({key_of(term) for term in vocabulary.terms}, names.keys),
        "variant": ({key_of(variant) for variant, _ in vocabulary.variants}, names.keys),
        "stem": (set(forms), names.forms),
        "order": (set(map(bag, forms)), names.bags()),
    }
    found = [
        next((how for how, (known, own) in ways.items() if own[i] in known), OUTSIDE) for i in range(len(names.keys))
    ]
    outside = [i for i, each in enumerate(found) if each == OUTSIDE]
    shown = outside[: options.worst] if options.worst else outside
    nearest = _by_letters if options.nearest == "levenshtein" else _by_cosine(vectors)
    fixes = nearest([names.keys[i] for i in shown], [key_of(written) for written, _ in entries])
    by_name = Counter(found)
    by_phrase: Counter[str] = Counter()
    for each, count in zip(found, names.count.tolist(), strict=True):
        by_phrase[each] += count
    return Listed(
        {each: by_name[each] for each in LISTED},
        {each: by_phrase[each] for each in LISTED},
        tuple(
            Fix(names.shown[i], int(names.count[i]), entries[entry][1], score)
            for i, (entry, score) in zip(shown, fixes, strict=True)
        ),
    )


Nearest = Callable[[Sequence[str], Sequence[str]], list[tuple[int, float]]]


def _by_letters(texts: Sequence[str], entries: Sequence[str]) -> list[tuple[int, float]]:
    """(the entry with the least edits for its length, 1 − edits / letters of the longer) for each text."""
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    found = (process.extractOne(text, entries, scorer=Levenshtein.normalized_similarity) for text in texts)
    return [(place, score) for _, score, place in found]


def _by_cosine(vectors: Embedder | None) -> Nearest:
    def nearest(texts: Sequence[str], entries: Sequence[str]) -> list[tuple[int, float]]:
        assert vectors is not None
        there = of_length_1(vectors, entries)
        found = []
        for start in range(0, len(texts), BLOCK):
            scores = of_length_1(vectors, texts[start : start + BLOCK]) @ there.T  # [texts, entries]
            best = scores.argmax(axis=1)
            found += list(zip(best.tolist(), scores[np.arange(len(best)), best].tolist(), strict=True))
        return found

    return nearest
