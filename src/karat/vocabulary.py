"""Vocabulary: the concepts of a thesaurus or of a list of terms, with their labels and their hierarchy.

A concept is known by its URI; in a list of terms, which has no URIs, by its term. Concepts stand in the order of their
URIs, those of a list in the order of its lines, since the triples of a thesaurus have no order. That order decides
where a choice has to be made: whose a label is that several concepts have, and which link of a cycle is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from karat.errors import InputError, counted, unknown
from karat.options import option, options_from

LabelKind = Literal["preferred", "alternative", "hidden"]
KINDS: tuple[LabelKind, ...] = ("preferred", "alternative", "hidden")
Unmapped = Literal["keep", "drop"]


class Label(NamedTuple):
    """A way to write a concept; without a language tag, its language is empty."""

    text: str
    language: str = ""
    kind: LabelKind = "preferred"


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept: its labels, and the concepts that are directly broader."""

    uri: str
    labels: tuple[Label, ...] = ()
    broader: tuple[str, ...] = ()
    notation: str | None = None

    def label(self, language: str | None = None) -> str:
        """The preferred label, of a language if it has one of it; else another label, and without any the URI."""
        ranked = sorted(self.labels, key=lambda each: (KINDS.index(each.kind), not in_language(each, language)))
        return ranked[0].text if ranked else self.uri


def in_language(label: Label, language: str | None) -> bool:
    """Whether a label is of a language: `en` is also that of `en-gb`.

    >>> in_language(Label("colour", "en-gb"), "en"), in_language(Label("x"), "en"), in_language(Label("x"), None)
    (True, False, True)
    """
    return language is None or label.language == language or label.language.startswith(f"{language}-")


@dataclass(frozen=True, slots=True)
class VocabularyOptions:
    """Which labels of a vocabulary are used, and when a phrase is one of its concepts."""

    language: str | None = option(
        None, "Use the labels of this language alone, as en, and those without a language.", metavar="TAG"
    )
    similar: float | None = option(
        None,
        "Take a phrase that is no label for the label that is most like it, from a similarity of T on.",
        above=0,
        most=1,
        metavar="T",
    )
    model: str | None = option(
        None,
        "What is similar: by the cosine of an embedder's vectors.",
        metavar="NAME",
        complete="embedders",
        otherwise="by letters, 1 − edits / letters of the longer",
    )
    unmapped: Unmapped = option(
        "keep",
        "What becomes of a phrase that is no concept.",
        values={"keep": "it stays, as a string", "drop": "it is left out"},
    )


@dataclass(frozen=True, repr=False)
class Vocabulary:
    """Concepts in their order, and the options by which phrases are mapped to them."""

    name: str
    concepts: tuple[Concept, ...]
    origin: str = field(default="memory", compare=False)
    options: VocabularyOptions = field(default_factory=VocabularyOptions)
    cut: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # (narrower, broader): links that close a cycle
    loose: int = field(default=0, compare=False)  # how many links lead to concepts that are not there

    @classmethod
    def of(cls, concepts: Iterable[Concept], name: str = "vocabulary", origin: str = "memory") -> Vocabulary:
        """A vocabulary of concepts in their order: links to others are left out, and so are those that close a cycle.

        Raises InputError if two concepts have one URI, or if none has a label.
        """
        given = list(concepts)
        twice = [uri for uri, times in Counter(each.uri for each in given).items() if times > 1]
        if twice:
            raise InputError(f"{origin}: two concepts have the URI {twice[0]!r}")
        if not any(each.labels for each in given):
            found = f"none of its {len(given):,} concepts has a label" if given else "it has no concept"
            raise InputError(f"{origin}: {found}; write skos:prefLabel, or a list with a term a line")
        known = {each.uri for each in given}
        loose = sum(uri not in known for each in given for uri in each.broader)
        links = {each.uri: tuple(dict.fromkeys(u for u in each.broader if u in known)) for each in given}
        cut = closing_links(links)
        kept = tuple(
            replace(each, broader=tuple(u for u in links[each.uri] if (each.uri, u) not in cut)) for each in given
        )
        return cls(name, kept, origin, cut=tuple(cut), loose=loose)

    def __repr__(self) -> str:
        return f"<Vocabulary {self.name!r}: {counted(len(self), 'concept')}>"

    def __len__(self) -> int:
        return len(self.concepts)

    def __getitem__(self, uri: str) -> Concept:
        return self.concepts[self.numbers[uri]]

    def __contains__(self, uri: object) -> bool:
        return uri in self.numbers

    def __hash__(self) -> int:
        return hash((self.hash, self.options))

    def __reduce__(self) -> tuple[Any, ...]:  # what is computed of it is not sent to other processes
        return Vocabulary, (self.name, self.concepts, self.origin, self.options, self.cut, self.loose)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The place of each concept, by its URI."""
        return {each.uri: n for n, each in enumerate(self.concepts)}

    @cached_property
    def languages(self) -> dict[str, int]:
        """How many labels there are in each language, most first."""
        counts = Counter(label.language for each in self.concepts for label in each.labels)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @cached_property
    def language(self) -> str | None:
        """The language in which concepts are shown: the one that is chosen, else that of most labels."""
        return self.options.language or next(iter(self.languages), None)

    def labels(self) -> Iterator[tuple[int, Label]]:
        """(the place of its concept, label) of all that are used: all preferred ones, then alternative, then hidden."""
        chosen = self.options.language
        for kind in KINDS:
            for n, each in enumerate(self.concepts):
                for label in each.labels:
                    if label.kind == kind and (not label.language or in_language(label, chosen)):
                        yield n, label

    def shown(self, number: int) -> str:
        """The label by which a reader knows a concept."""
        return self.concepts[number].label(self.language)

    def configured(self, options: VocabularyOptions) -> Vocabulary:
        """The same concepts with other options. Raises InputError if no label is of the language."""
        tag = options.language.lower() if options.language is not None else None
        if tag is not None and not any(in_language(Label("", each), tag) for each in self.languages):
            if not any(self.languages):
                raise InputError(f"{self.origin}: its labels have no languages; leave out language={tag}")
            raise unknown(f"language of labels in {self.origin}", tag, filter(None, self.languages))
        return replace(self, options=replace(options, language=tag))

    # ------------------------------------------------------------------------------------------ hierarchy

    @cached_property
    def broader(self) -> list[tuple[int, ...]]:
        """For each concept the places of those that are directly broader."""
        return [tuple(self.numbers[uri] for uri in each.broader) for each in self.concepts]

    @cached_property
    def ancestors(self) -> list[dict[int, int]]:
        """For each concept those above it, with the least number of steps to each."""
        found: list[dict[int, int] | None] = [None] * len(self)
        for n in range(len(self)):
            waiting = [n]
            while waiting:
                number = waiting[-1]
                below = [up for up in self.broader[number] if found[up] is None]
                if below and found[number] is None:
                    waiting += below
                    continue
                waiting.pop()
                if found[number] is None:
                    found[number] = self._above(number, found)
        return [each or {} for each in found]

    def _above(self, number: int, found: Sequence[dict[int, int] | None]) -> dict[int, int]:
        steps: dict[int, int] = {}
        for up in self.broader[number]:
            for above, count in [(up, 0), *(found[up] or {}).items()]:
                steps[above] = min(count + 1, steps.get(above, count + 1))
        return steps

    @cached_property
    def root(self) -> int | None:
        """The one concept that is above all others, if there is one."""
        tops = [n for n, up in enumerate(self.broader) if not up]
        return tops[0] if len(tops) == 1 and len(self) > 1 else None

    @cached_property
    def above_all(self) -> tuple[Any, Any]:
        """The ancestors of all concepts in one array, without the root, and where those of each begin in it."""
        import numpy as np

        lists = [[up for up in each if up != self.root] for each in self.ancestors]
        starts = np.cumsum([0, *map(len, lists)])
        return starts, np.array([up for each in lists for up in each], dtype=np.int64)

    # ------------------------------------------------------------------------------------------ signature

    @cached_property
    def hash(self) -> str:
        """A hash of the concepts with their labels and links, whatever file they are in."""
        content = [(c.uri, sorted(c.labels), sorted(c.broader), c.notation) for c in self.concepts]
        content.sort(key=lambda each: each[0])
        return blake2b(msgspec.msgpack.encode(content), digest_size=8).hexdigest()

    def signature(self) -> str:
        """The name, the hash, and the options that are not at their defaults, as signatures say it.

        >>> bees = Vocabulary.of([Concept("bees", (Label("bees"),))], "bees")
        >>> bees.configured(VocabularyOptions(unmapped="drop")).signature()
        'bees:f74d29e3830aa31d:unmapped=drop'
        """
        plain = "".join("_" if c in ",:=" or c.isspace() else c for c in self.name)
        own = [(each.name, getattr(self.options, each.name), each.default) for each in fields(self.options)]
        changed = [f"{name}={str(value).replace(',', ';')}" for name, value, default in own if value != default]
        return ":".join([plain, self.hash, *changed])


VocabularyLike = str | Path | Vocabulary


def closing_links(links: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], None]:
    """The links (narrower, broader) that close a cycle when the concepts are walked upwards in their order.

    >>> list(closing_links({"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": ["d"]}))
    [('c', 'a'), ('d', 'd')]
    """
    found: dict[tuple[str, str], None] = {}
    done: set[str] = set()
    for start in links:
        path: dict[str, Iterator[str]] = {} if start in done else {start: iter(links[start])}
        while path:
            at = next(reversed(path))
            for up in path[at]:
                if up in path:
                    found[at, up] = None
                elif up not in done:
                    path[up] = iter(links[up])
                    break
            else:
                del path[at]
                done.add(at)
    return found


# ---------------------------------------------------------------------------------------------- FILE,option=value


def split_options(text: str) -> tuple[str, dict[str, str]]:
    """The path and the written options of `PATH[,option=value...]`; commas of a path stay in it.

    >>> split_options("my,terms.ttl,similar=0.9,unmapped=drop")
    ('my,terms.ttl', {'similar': '0.9', 'unmapped': 'drop'})
    """
    first, *rest = text.split(",")
    written: dict[str, str] = {}
    while rest and "=" in rest[-1]:
        name, _, value = rest.pop().partition("=")
        written[name.strip()] = value.strip()
    return ",".join([first, *rest]), dict(reversed(written.items()))


def parsed_options(written: Mapping[str, str]) -> VocabularyOptions:
    """The options of a vocabulary that are written as text. Raises InputError if one is unknown or not valid."""
    known = {each.name for each in fields(VocabularyOptions)}
    values: dict[str, Any] = {}
    for name, text in written.items():
        if name not in known:
            raise unknown("option of a vocabulary", name, known)
        values[name] = _number(text) if name == "similar" else text
    return options_from(VocabularyOptions, values)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"option similar of a vocabulary is a number above 0 and up to 1, not {text!r}") from None
