"""Documents that are there twice, in one corpus or in a training corpus too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from karat.analyses.describe.counts import Portrait
from karat.analyses.describe.duplicates import Prints, candidates, equal_groups, near_pairs
from karat.analyses.describe.grams import Numbers64, in_slices, numbers_of
from karat.analyses.describe.result import Duplicates, Leaks
from karat.corpus import Corpus
from karat.errors import InputError
from karat.matching.columns import Bools, Ints
from karat.matching.join import Join
from karat.matching.passes import Pass, View, look_at
from karat.protocol import Matching


@dataclass(frozen=True, slots=True)
class Training:
    """What is kept of a training corpus."""

    corpus: Corpus
    ids: list[str]
    prints: Prints
    references: Numbers64  # of the stems of its references

    def known(self, forms: Numbers64) -> Bools:
        """Which phrases, given by their numbers, are references there."""
        return np.isin(forms, self.references)


def read_training(corpus: Corpus, matching: Matching, jobs: int = 1) -> Training:
    """What is needed of a training corpus, whose ids need not be distinct. Raises InputError if it is empty."""
    reading = Pass(corpus, [], Join(distinct=False), jobs=jobs)
    answers = reading.look(partial(_look_at_training, matching))
    reading.run()
    if not reading.ids:
        raise InputError(f"{corpus.origin}: the training corpus holds no document")
    prints = Prints.joined([part for part, _ in answers.parts])
    forms = np.unique(np.concatenate([part for _, part in answers.parts]))
    return Training(corpus, reading.ids, prints, forms)


def _look_at_training(matching: Matching, view: View) -> tuple[Prints, Numbers64]:
    """A look: the fingerprints of documents, and the numbers of the stems of their references."""
    prepared = view.prepared(matching)
    prints = Prints.of(prepared.titles, prepared.bodies, list(in_slices(prepared.texts)))
    return prints, numbers_of(list(prepared.table))


@dataclass(frozen=True, slots=True)
class Own:
    """The documents of the corpus that is described: their ids and fingerprints, and how their texts are matched."""

    corpus: Corpus
    ids: Sequence[str]
    prints: Prints
    matching: Matching
    jobs: int = 1


def duplicates_and_leaks(
    own: Own, training: Training | None, references: Portrait | None
) -> tuple[Duplicates, Leaks | None]:
    """(the documents that are there twice, what of the corpus is also in a training corpus, if there is one)."""
    within = candidates(own.prints)
    across = None if training is None else _across(own.prints, training.prints)
    numbers = set(np.concatenate(within).tolist()) | set([] if across is None else across[0].tolist())
    texts = _texts_of(own.corpus, numbers, own.matching, own.jobs)
    equal = tuple(tuple(own.ids[i] for i in group.tolist()) for group in equal_groups(own.prints.texts))
    found = Duplicates(equal, tuple((own.ids[a], own.ids[b]) for a, b in near_pairs(within, texts)))
    if training is None or across is None:
        return found, None
    there = _texts_of(training.corpus, set(across[1].tolist()), own.matching, own.jobs)
    start = len(own.prints)
    texts |= {start + n: text for n, text in there.items()}
    near = [(a, b - start) for a, b in near_pairs((across[0], across[1] + start), texts)]
    return found, _leaks(own, training, near, references)


def _across(own: Prints, others: Prints) -> tuple[Ints, Ints]:
    """(document, training document) whose texts may be nearly the same."""
    a, b = candidates(Prints.joined([own, others]))
    across = (a < len(own)) & (b >= len(own))
    return a[across], b[across] - len(own)


def _texts_of(corpus: Corpus, numbers: set[int], matching: Matching, jobs: int) -> dict[int, str]:
    """The normalised texts of some documents, by their place in the corpus, which is read if there are any."""
    if not numbers:
        return {}
    parts = look_at(corpus, partial(_look_at_texts, frozenset(numbers), matching), jobs=jobs, distinct=False)
    return {number: text for part in parts for number, text in part.items()}


def _look_at_texts(numbers: frozenset[int], matching: Matching, view: View) -> dict[int, str]:
    """A look: the normalised texts of the documents with some numbers."""
    here = [position for position, number in enumerate(view.chunk.numbers) if number in numbers]
    if not here:
        return {}
    some = view.pick(here)
    return dict(zip(some.chunk.numbers, some.prepared(matching).texts, strict=True))


def _leaks(own: Own, training: Training, near: Sequence[tuple[int, int]], references: Portrait | None) -> Leaks:
    """What of the corpus is also in the training corpus; `near` are documents with nearly the same text."""
    texts = _same(own.prints.texts, training.prints.texts)
    whole = {document for document, _ in texts}
    titles = [pair for pair in _same(own.prints.titles, training.prints.titles) if pair[0] not in whole]
    seen: Bools = np.zeros(0, dtype=bool)
    occurrences: Ints = np.zeros(0, dtype=np.int64)
    if references is not None:
        seen, occurrences = training.known(references.forms.numbers), references.forms.occurrences
    total = int(occurrences.sum())

    def named(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[str, str], ...]:
        return tuple((own.ids[a], training.ids[b]) for a, b in pairs)

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
