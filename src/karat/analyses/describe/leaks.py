"""Documents that are there twice, in one corpus or in a training corpus too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.analyses.describe.counts import Portrait
from karat.analyses.describe.duplicates import Prints, candidates, equal_groups, near_pairs
from karat.analyses.describe.grams import Numbers64, in_slices
from karat.analyses.describe.result import Duplicates, Leaks
from karat.corpus import Corpus, Document
from karat.errors import InputError
from karat.matching.align import prepare
from karat.matching.columns import Bools, Ints
from karat.protocol import Matching


@dataclass(frozen=True, slots=True)
class Training:
    """What is kept of a training corpus."""

    corpus: Corpus
    ids: list[str]
    prints: Prints
    references: frozenset[str]  # the stems of its references

    def known(self, forms: Sequence[str]) -> Bools:
        """Which phrases are references there."""
        return np.fromiter((form in self.references for form in forms), dtype=bool, count=len(forms))


def read_training(corpus: Corpus, matching: Matching) -> Training:
    """What is needed of a training corpus."""
    ids: list[str] = []
    prints: list[Prints] = []
    forms: set[str] = set()
    for batch in corpus.batches():
        prepared = prepare(batch.records(), matching, corpus.semeval)
        grams = list(in_slices(prepared.texts))
        prints.append(Prints.of(prepared.titles, prepared.bodies, grams))
        forms.update(prepared.table)
        ids += [identifier or str(place) for identifier, place in zip(batch.ids, batch.places, strict=True)]
    if not ids:
        raise InputError(f"{corpus.origin}: the training corpus holds no document")
    return Training(corpus, ids, Prints.joined(prints), frozenset(forms))


def duplicates_in(corpus: Corpus, prints: Prints, ids: Sequence[str], matching: Matching) -> Duplicates:
    """The documents of a corpus that are there twice."""
    equal = tuple(tuple(ids[i] for i in group.tolist()) for group in equal_groups(prints.texts))
    pairs = candidates(prints)
    texts = _texts_of(corpus, set(np.concatenate(pairs).tolist()), matching)
    return Duplicates(equal, tuple((ids[a], ids[b]) for a, b in near_pairs(pairs, texts)))


def _texts_of(corpus: Corpus, wanted: set[int], matching: Matching) -> dict[int, str]:
    """The normalised texts of some documents, by their place in the corpus."""
    found: dict[int, str] = {}
    start = 0
    for batch in corpus.batches() if wanted else ():
        here = [i for i in range(len(batch)) if start + i in wanted]
        documents: list[Document] = batch.pick(here).records() if here else []
        found.update(zip((start + i for i in here), prepare(documents, matching).texts, strict=True))
        start += len(batch)
    return found


def leaks_from(
    training: Training, corpus: Corpus, prints: Prints, ids: Sequence[str], found: Portrait | None, matching: Matching
) -> Leaks:
    """What of a corpus is also in the training corpus."""
    texts = _same(prints.texts, training.prints.texts)
    whole = {document for document, _ in texts}
    titles = [pair for pair in _same(prints.titles, training.prints.titles) if pair[0] not in whole]
    near = _near(training, corpus, prints, matching)
    seen: Bools = np.zeros(0, dtype=bool)
    occurrences: Ints = np.zeros(0, dtype=np.int64)
    if found is not None:
        seen, occurrences = training.known(found.forms.names), found.forms.occurrences
    total = int(occurrences.sum())

    def named(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[str, str], ...]:
        return tuple((ids[a], training.ids[b]) for a, b in pairs)

    return Leaks(
        training.corpus.name,
        len(training.ids),
        named(texts),
        named(titles),
        named(near),
        len({a for pairs in (texts, titles, near) for a, _ in pairs}),
        int(occurrences[seen].sum()) / total if total else None,
        int(seen.sum()) / len(seen) if len(seen) else None,
    )


def _same(own: Numbers64, others: Numbers64) -> list[tuple[int, int]]:
    """(document, the first training document with the same number)."""
    first = {value: n for n, value in reversed(list(enumerate(others.tolist())))}
    return [(n, first[value]) for n, value in enumerate(own.tolist()) if value and value in first]


def _near(training: Training, corpus: Corpus, prints: Prints, matching: Matching) -> list[tuple[int, int]]:
    """(document, training document) with nearly the same text."""
    own = len(prints)
    a, b = candidates(Prints.joined([prints, training.prints]))
    across = (a < own) & (b >= own)
    pairs = a[across], b[across]
    texts = _texts_of(corpus, set(pairs[0].tolist()), matching)
    there = _texts_of(training.corpus, {n - own for n in pairs[1].tolist()}, matching)
    texts |= {own + n: text for n, text in there.items()}
    return [(one, other - own) for one, other in near_pairs(pairs, texts)]
