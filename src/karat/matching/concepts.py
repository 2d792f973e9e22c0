"""Phrases to concepts of a vocabulary: by the label as it is written, by its stems, or by the label that is most like.

A label that several concepts have is that of the first: preferred labels come before alternative and hidden ones, and
concepts in the order of the vocabulary. Each concept that a phrase can be has a form, by which it is compared with
others in the place of the phrase's own stems; no two concepts have the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any, Literal, NamedTuple

import msgspec

from karat.corpus import PER_PHRASE, Prediction
from karat.embed import Embedder, Vectors, embedder
from karat.errors import counted
from karat.protocol import Matching
from karat.similarity.nearest import ROUNDING, Near, nearest_by_cosine, nearest_by_letters, of_length_1
from karat.text.normalise import normaliser_of
from karat.text.unicode import key_of
from karat.vocabulary import Vocabulary

How = Literal["exact", "stem", "similar"]
HOW: dict[How, str] = {
    "exact": "a label, whatever its case",
    "stem": "a label by its stems",
    "similar": "most like a label",
}
REMEMBERED = 1 << 18  # phrases whose nearest label is kept


class Found(NamedTuple):
    """The concept of a phrase, how it was found, and how near its label is."""

    concept: int  # its place in the vocabulary; -1 of a phrase that is none
    how: How | None = None
    score: float = 1.0


NOTHING = Found(-1, None, 0.0)


class Concepts:
    """What the phrases of a protocol are in a vocabulary."""

    def __init__(self, vocabulary: Vocabulary, stems: Callable[[Sequence[str]], list[str]]) -> None:
        self.vocabulary = vocabulary
        self._stems = stems
        self.drops = vocabulary.options.unmapped == "drop"
        listed = [(number, label.text) for number, label in vocabulary.labels()]
        self._owners = [number for number, _ in listed]
        self._keys = [key_of(text) for _, text in listed]
        self._by_key: dict[str, int] = {}
        self._by_form: dict[str, int] = {}
        own: dict[int, list[str]] = defaultdict(list)
        for number, key, form in zip(self._owners, self._keys, stems([text for _, text in listed]), strict=True):
            if key:
                self._by_key.setdefault(key, number)
            if form and self._by_form.setdefault(form, number) == number:
                own[number].append(form)
        hyphened = [(number, text) for number, text in listed if "-" in text]
        for (number, _), form in zip(hyphened, self._parted([text for _, text in hyphened]), strict=True):
            if form:
                self._by_form.setdefault(form, number)
        uris = [each.uri for each in vocabulary.concepts]
        self.forms = [own[number][0] if own[number] else key_of(uri) for number, uri in enumerate(uris)]
        self.numbers = {form: number for number, form in enumerate(self.forms)}  # by form
        self.further = {self.forms[number]: tuple(dict.fromkeys(own[number][1:])) for number in own}
        self._near: dict[str, Found] = {}

    def find(self, surfaces: Sequence[str], forms: Sequence[str]) -> list[Found]:
        """What each phrase is, given as it is written and by its stems."""
        found = [self._same(surface, form) for surface, form in zip(surfaces, forms, strict=True)]
        hyphened = [n for n, each in enumerate(found) if each is NOTHING and "-" in surfaces[n]]
        for n, form in zip(hyphened, self._parted([surfaces[n] for n in hyphened]), strict=True):
            if form in self._by_form:
                found[n] = Found(self._by_form[form], "stem")
        if self.vocabulary.options.similar is not None:
            rest = [n for n, each in enumerate(found) if each is NOTHING and forms[n]]
            for n, near in zip(rest, self._similar([key_of(surfaces[n]) for n in rest]), strict=True):
                found[n] = near
        return found

    def _parted(self, surfaces: Sequence[str]) -> list[str]:
        """The stems of phrases in which a hyphen parts words."""
        return self._stems([surface.replace("-", " ") for surface in surfaces])

    def of_form(self, form: str) -> int:
        """The concept of a form: its own, or the stems of a label; -1 where there is none."""
        return self.numbers.get(form, self._by_form.get(form, -1))

    def _same(self, surface: str, form: str) -> Found:
        number = self._by_key.get(key_of(surface))
        if number is not None:
            return Found(number, "exact")
        number = self._by_form.get(form) if form else None
        return NOTHING if number is None else Found(number, "stem")

    def _similar(self, keys: Sequence[str]) -> list[Found]:
        """What phrases are by the label that is most like them, each of them looked up once."""
        least = self.vocabulary.options.similar or 1.0
        if len(self._near) > REMEMBERED:
            self._near.clear()
        new = [key for key in dict.fromkeys(keys) if key not in self._near]
        for key, (place, score) in zip(new, self.nearest(new, least), strict=True):
            close = place >= 0 and score >= least - ROUNDING
            self._near[key] = Found(self._owners[place], "similar", min(score, 1.0)) if close else NOTHING
        return [self._near[key] for key in keys]

    def nearest(self, keys: Sequence[str], least: float = 0.0) -> list[Near]:
        """(the place of the label, how near it is) of the label that is most like each phrase."""
        if not self._keys or not keys:
            return [(-1, 0.0)] * len(keys)
        if self.vocabulary.options.model is None:
            return nearest_by_letters(keys, self._keys, least)
        return nearest_by_cosine(keys, self._embedder, self._vectors)

    def owner(self, place: int) -> int:
        """The concept of a label."""
        return self._owners[place]

    @cached_property
    def _embedder(self) -> Embedder:
        return embedder(self.vocabulary.options.model or "hash")

    @cached_property
    def _vectors(self) -> Vectors:
        return of_length_1(self._embedder, self._keys)


@lru_cache(maxsize=8)
def concepts_for(vocabulary: Vocabulary, matching: Matching) -> Concepts:
    """The concepts of a vocabulary for a way of matching, made once in a process."""
    return Concepts(vocabulary, normaliser_of(matching).many)


def with_concepts(
    predictions: Sequence[Prediction], concepts: Concepts, matching: Matching, preferred: bool = False
) -> list[Prediction]:
    """Predictions with the concepts of their phrases and how these were found.

    Phrases that are none are left out where the vocabulary's options say so; with `preferred`, those that are one are
    written as its preferred label.
    """
    surfaces = list(dict.fromkeys(phrase or "" for each in predictions for phrase in each.keyphrases or ()))
    forms = normaliser_of(matching).many(surfaces)
    known = dict(zip(surfaces, concepts.find(surfaces, forms), strict=True))
    return [_with_concepts(each, known, concepts, preferred) for each in predictions]


def _with_concepts(
    prediction: Prediction, known: Mapping[str, Found], concepts: Concepts, preferred: bool
) -> Prediction:
    phrases = prediction.keyphrases or []
    found = [known[phrase or ""] for phrase in phrases]
    vocabulary = concepts.vocabulary
    lists: dict[str, Sequence[Any] | None] = {name: getattr(prediction, name) for name in PER_PHRASE}
    lists["concepts"] = [vocabulary.concepts[each.concept].uri if each.how else None for each in found]
    lists["concepts_by"] = [each.how for each in found]
    lists["keyphrases"] = [
        vocabulary.shown(each.concept) if preferred and each.how else phrase
        for phrase, each in zip(phrases, found, strict=True)
    ]
    kept = [bool(each.how) or not concepts.drops for each in found]
    changed: dict[str, Any] = {
        name: None if values is None else list(compress(values, kept)) for name, values in lists.items()
    }
    return msgspec.structs.replace(prediction, **changed)


# ---------------------------------------------------------------------------------------------- what to know


@dataclass(frozen=True, slots=True)
class Shared:
    """A label that several concepts have; it is taken for the first."""

    label: str
    concepts: tuple[str, ...]  # URIs, the one that it is taken for first


def shared_labels(vocabulary: Vocabulary) -> tuple[Shared, ...]:
    """The labels, whatever their case and language, that several concepts have, those of most concepts first."""
    owners: dict[str, dict[int, None]] = defaultdict(dict)
    texts: dict[str, str] = {}
    for number, label in vocabulary.labels():
        key = key_of(label.text)
        owners[key][number] = None
        texts.setdefault(key, label.text)
    found = [
        Shared(texts[key], tuple(vocabulary.concepts[n].uri for n in numbers))
        for key, numbers in owners.items()
        if len(numbers) > 1
    ]
    return tuple(sorted(found, key=lambda each: (-len(each.concepts), each.label)))


def vocabulary_notes(vocabulary: Vocabulary) -> Iterator[str]:
    """What a reader should know of a vocabulary whose concepts are compared."""
    name = vocabulary.name
    if vocabulary.cut:
        below, up = vocabulary.cut[0]
        count = counted(len(vocabulary.cut), "link")
        yield f"{name}: the hierarchy has cycles; {count} left out that close one (first {below} broader {up})"
    if vocabulary.loose:
        yield f"{name}: {counted(vocabulary.loose, 'link')} to broader concepts that are not in the file left out"
    shared = shared_labels(vocabulary)
    if shared:
        label, first = shared[0].label, shared[0].concepts[0]
        count = "1 label is that" if len(shared) == 1 else f"{len(shared):,} labels are those"
        yield f"{name}: {count} of several concepts and taken for the first (as {label!r} for {first})"
    tag = vocabulary.options.language
    lacking = len(vocabulary) - len({number for number, _ in vocabulary.labels()})
    if lacking:
        yield f"{name}: {counted(lacking, 'concept')} without a label{f' in {tag}' if tag else ''}"
