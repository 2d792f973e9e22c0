"""How often a system gives one concept several names, seen from its run alone: no references, no pairs.

A name is a phrase in lower case; in a document it counts once. Names are one concept when they are equal by stem
(`networks`, `network`), or in another order (`service quality`, `quality of service`), or one abbreviates the other
(`SVM`), or their vectors are near. Each of these takes in those before it, and is counted by itself, since each is less
sure than the one before. With n(c, x) the documents that call the concept c by x and N all of them, the entropy is
−Σ n(c, x)/N · log2(n(c, x) / n(c)): the bits that say by which of its names a concept is called, 0 where it has one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Corpus, Run
from karat.embed import Embedder, embedder
from karat.errors import InputError, unknown
from karat.evaluate import as_corpus, as_protocols, as_runs
from karat.formats.files import lines
from karat.similarity.classes import PARTICLES
from karat.text.normalise import Normaliser, normaliser

By = Literal["stem", "order", "abbreviation", "near"]
BY: dict[By, str] = {
    "stem": "the same stems",
    "order": "the same stems in another order, or with other particles",
    "abbreviation": "one is the initials of the other",
    "near": "their vectors are near",
}
NEAREST = ("levenshtein", "cosine")
SMALL = PARTICLES | {"the", "a", "an"} | set(".,;:'’\"()[]-/")
LONGEST_SHORT = 10  # letters of an abbreviation
SHORTEST_UNSEEN = 3  # letters of an abbreviation that no text explains
WORDS_BEFORE = 10  # words before a parenthesis in which the long form is sought
BLOCK = 1024  # names that are compared with all others at once

_SHORT = re.compile(r"[^\W\d_](?:[\w&/.-]*\w)?")
_INSIDE = re.compile(r"\(([^()]{2,100})\)")
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Options:
    """When names are one concept, and what they are compared with; the flags of the command say what each means."""

    model: str = "hash"
    near: float | None = 0.9  # None: vectors are not looked at
    language: str | None = None
    vocabulary: str | Path | None = None
    nearest: str = "levenshtein"
    worst: int = 10  # concepts, and phrases outside of the vocabulary, that are shown; 0 for all


@dataclass(frozen=True, slots=True)
class Level:
    """How consistent the names are when concepts are told apart in one way."""

    by: By
    names: int
    phrases: int  # names, each as often as it has documents
    concepts: int
    rival_names: int  # names of concepts that have another one
    rival_phrases: int
    other_names: int  # phrases that are not the most frequent name of their concept
    entropy: float

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values."""
        return {
            "by": self.by,
            "names": self.names,
            "phrases": self.phrases,
            "concepts": self.concepts,
            "names_per_concept": _share(self.names, self.concepts),
            "rival_names": self.rival_names,
            "rival_names_share": _share(self.rival_names, self.names),
            "rival_phrases": self.rival_phrases,
            "rival_phrases_share": _share(self.rival_phrases, self.phrases),
            "other_names": self.other_names,
            "other_names_share": _share(self.other_names, self.phrases),
            "entropy": self.entropy if self.phrases else None,
        }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a concept, how many documents have it, and what ties it to the most frequent one (None for that)."""

    name: str
    count: int
    by: By | None


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept with several names, the most frequent one first."""

    names: tuple[Name, ...]

    @property
    def count(self) -> int:
        """Documents that have it, by any name; one that has two of them counts twice."""
        return sum(each.count for each in self.names)

    @property
    def others(self) -> int:
        """Documents that have it by another name than the first."""
        return self.count - self.names[0].count


@dataclass(frozen=True, slots=True)
class Fix:
    """A name that is not in the vocabulary, and the entry that is most like it."""

    name: str
    count: int
    entry: str | None  # None of an empty vocabulary
    score: float | None


@dataclass(frozen=True, slots=True)
class Listed:
    """How much of a system's names is in a controlled vocabulary."""

    names: Mapping[str, int]  # by LISTED
    phrases: Mapping[str, int]
    fixes: tuple[Fix, ...]

    def as_dict(self) -> dict[str, Any]:
        """The counts and shares as plain values."""
        inside = [how for how in LISTED if how != OUTSIDE]
        return {
            "names": dict(self.names),
            "phrases": dict(self.phrases),
            "names_share": _share(sum(self.names[how] for how in inside), sum(self.names.values())),
            "phrases_share": _share(sum(self.phrases[how] for how in inside), sum(self.phrases.values())),
        }


OUTSIDE = "outside"
LISTED = {
    "term": "as a term of the list",
    "variant": "as a variant of a term",
    "stem": "by the stems of a term or variant",
    "order": "by these in another order",
    OUTSIDE: "not in the list",
}


@dataclass(frozen=True, slots=True)
class Named:
    """One system's names: how consistent, the concepts with most of other names first, and the vocabulary."""

    system: str
    documents: int
    levels: tuple[Level, ...]
    concepts: tuple[Concept, ...] = field(repr=False)
    listed: Listed | None = None


@dataclass(frozen=True, slots=True)
class Consistency:
    """How consistently systems name what they predict."""

    systems: tuple[Named, ...]
    options: Options
    corpus: str | None
    vocabulary: int | None  # terms
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each system and way to tell concepts apart."""
        return [
            {"system": each.system, "documents": each.documents, **level.as_dict()}
            for each in self.systems
            for level in each.levels
        ]

    def shown(self, some: Sequence[Any]) -> Sequence[Any]:
        """The first of them, as many as are asked for."""
        return some[: self.options.worst] if self.options.worst else some

    def worst(self) -> list[dict[str, Any]]:
        """One dict for each of the concepts that are called most often by another than their most frequent name."""
        return [
            {
                "system": each.system,
                "concept": concept.names[0].name,
                "phrases": concept.count,
                "other_names": concept.others,
                "names": [{"name": name.name, "phrases": name.count, "by": name.by} for name in concept.names],
            }
            for each in self.systems
            for concept in self.shown(each.concepts)
        ]

    def listed(self) -> list[dict[str, Any]]:
        """One dict for each system: how much is in the vocabulary, and what to fix first."""
        return [
            {
                "system": each.system,
                **each.listed.as_dict(),
                "fixes": [
                    {"name": fix.name, "phrases": fix.count, "nearest": fix.entry, "score": fix.score}
                    for fix in each.listed.fixes
                ],
            }
            for each in self.systems
            if each.listed is not None
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, the worst concepts, the vocabulary."""
        asked = ("model", "near", "language", "nearest", "worst")
        return {
            "signatures": {},
            "rows": self.rows(),
            "notes": list(self.notes),
            "options": {name: getattr(self.options, name) for name in asked} | {"corpus": self.corpus},
            "worst": self.worst(),
            "vocabulary": self.listed(),
        }


# ---------------------------------------------------------------------------------------------- the verb


def consistency(*runs: str | Path | Run, corpus: str | Path | Corpus | None = None, **options: Any) -> Consistency:
    """How consistently runs name concepts; the keywords are those of `karat.naming.Options`.

    With a corpus, abbreviations are those that its texts explain in parentheses.

    >>> run = Run.of([{"id": "1", "keyphrases": ["neural networks"]}, {"id": "2", "keyphrases": ["neural network"]}])
    >>> row = consistency(run).rows()[0]
    >>> row["names"], row["concepts"], row["rival_phrases_share"], row["entropy"]
    (2, 1, 1.0, 1.0)
    """
    chosen = _checked(Options(**options))
    systems = as_runs(runs)
    if not systems:
        raise InputError("nothing to look at: give at least one run")
    [protocol] = as_protocols(["karat"], chosen.language)
    stems = normaliser("marks", protocol.matching.stemmer, "lower")
    vectors = embedder(chosen.model) if chosen.near is not None or _wants_cosine(chosen) else None
    texts = None if corpus is None else as_corpus(corpus)
    explained = None if texts is None else _explained(texts)
    entries = None if chosen.vocabulary is None else read_vocabulary(chosen.vocabulary)
    found: list[Named] = []
    notes: list[str] = []
    for run in systems:
        names = _Names.of(run, stems)
        named, unclear = _named(run.name, names, chosen, vectors, explained)
        listed = None if entries is None else _listed(names, entries, chosen, vectors)
        found.append(Named(run.name, names.documents, named.levels, named.concepts, listed))
        notes += _notes(run.name, names, unclear)
    if vectors is not None and chosen.model == "hash":
        notes.append("near: the embedder hash compares letters, not meanings; --model names another")
    terms = None if entries is None else len(entries.terms)
    return Consistency(tuple(found), chosen, None if texts is None else texts.name, terms, tuple(notes))


def _wants_cosine(options: Options) -> bool:
    return options.vocabulary is not None and options.nearest == "cosine"


def _checked(options: Options) -> Options:
    if options.near is not None and not 0 < options.near <= 1:
        raise InputError(f"near is a cosine of more than 0 and at most 1, not {options.near:g}")
    if options.nearest not in NEAREST:
        raise unknown("way to find the nearest entry", options.nearest, NEAREST)
    if options.worst < 0:
        raise InputError(f"worst is how many to show, 0 for all, not {options.worst}")
    return options


def _notes(system: str, names: _Names, unclear: int) -> Iterator[str]:
    if names.blank:
        yield f"{system}: {names.blank:,} phrases without a letter or digit are left out"
    if not names.shown:
        yield f"{system}: the run has no phrase"
    if unclear:
        yield f"{system}: abbreviations that fit several concepts and are tied to none: {unclear:,}"


# ---------------------------------------------------------------------------------------------- names


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a run, in the order of how many documents have them, then of the alphabet."""

    keys: list[str]  # in lower case
    shown: list[str]  # as they are mostly written
    count: Ints
    forms: list[str]  # joined stems; a hyphen parts words
    documents: int
    blank: int

    @classmethod
    def of(cls, run: Run, stems: Normaliser) -> _Names:
        counts: Counter[str] = Counter()
        surfaces: dict[str, Counter[str]] = {}
        documents = blank = 0
        for prediction in run:
            documents += 1
            own: set[str] = set()
            for phrase in prediction.keyphrases or ():
                surface = " ".join((phrase or "").split())
                if not _WORD.search(surface):
                    blank += 1
                    continue
                own.add(surface.lower())
                surfaces.setdefault(surface.lower(), Counter())[surface] += 1
            counts.update(own)
        keys = sorted(counts, key=lambda key: (-counts[key], key))
        shown = [min(surfaces[key], key=lambda text: (-surfaces[key][text], text)) for key in keys]
        count = np.array([counts[key] for key in keys], dtype=np.int64)
        return cls(keys, shown, count, stems.many([key.replace("-", " ") for key in keys]), documents, blank)

    def bags(self) -> list[str]:
        """The stems of each name in alphabetical order."""
        return list(map(_bag, self.forms))


def _bag(form: str) -> str:
    """Stems in alphabetical order, without particles unless there is nothing else."""
    words = form.split()
    return " ".join(sorted([word for word in words if word not in SMALL] or words))


def _grouped(keys: Iterable[str]) -> Ints:
    """Equal keys as equal numbers, rising in the order in which they are first met."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _named(
    system: str,
    names: _Names,
    options: Options,
    vectors: Embedder | None,
    explained: Mapping[str, set[str]] | None,
) -> tuple[Named, int]:
    """(the concepts of a system's names under each way to tell them apart, abbreviations that could be several)."""
    groups: dict[By, Ints] = {"stem": _grouped(names.forms)}
    groups["order"] = _grouped(names.bags())
    ties, unclear = _abbreviations(names, groups["order"], explained)
    groups["abbreviation"] = _tied(groups["order"], ties)
    if options.near is not None and vectors is not None:
        groups["near"] = _near(names, groups["abbreviation"], vectors, options.near)
    levels = tuple(_level(by, names.count, group) for by, group in groups.items())
    return Named(system, names.documents, levels, tuple(_concepts(names, groups))), unclear


def _level(by: By, count: Ints, group: Ints) -> Level:
    """The figures of one way to tell concepts apart."""
    sizes = np.bincount(group)
    totals = np.bincount(group, weights=count).astype(np.int64)
    most = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(most, group, count)
    rival = sizes[group] > 1
    whole = int(count.sum())
    bits = -sum(n / whole * log2(n / total) for n, total in zip(count.tolist(), totals[group].tolist(), strict=True))
    return Level(
        by,
        len(count),
        whole,
        len(sizes),
        int(rival.sum()),
        int(count[rival].sum()),
        int((totals - most).sum()),
        abs(bits),  # of one name each it is 0, not -0
    )


def _concepts(names: _Names, groups: Mapping[By, Ints]) -> list[Concept]:
    """The concepts of several names under the last way to tell them apart, the worst first."""
    members: dict[int, list[int]] = {}
    last = list(groups.values())[-1]
    for i, number in enumerate(last.tolist()):
        members.setdefault(number, []).append(i)
    found = []
    for first, *others in members.values():
        if others:
            tied = [Name(names.shown[i], int(names.count[i]), _tie(groups, first, i)) for i in others]
            found.append(Concept((Name(names.shown[first], int(names.count[first]), None), *tied)))
    return sorted(found, key=lambda concept: (-concept.others, -len(concept.names), concept.names[0].name.lower()))


def _tie(groups: Mapping[By, Ints], a: int, b: int) -> By:
    """The first way to tell concepts apart that does not tell these names apart."""
    return next(by for by, group in groups.items() if group[a] == group[b])


# ---------------------------------------------------------------------------------------------- abbreviations


def _abbreviations(
    names: _Names, group: Ints, explained: Mapping[str, set[str]] | None
) -> tuple[list[tuple[int, int]], int]:
    """(pairs of names of which one abbreviates the other; how many could stand for several concepts)."""
    long = _long_forms(names) if explained is None else {}
    of_form: dict[str, int] = {}
    for i, key in enumerate(names.keys):
        of_form.setdefault(_plain(key), i)
    ties: list[tuple[int, int]] = []
    unclear = 0
    for i, key in enumerate(names.keys):
        if " " in key or not _SHORT.fullmatch(key) or len(key) > LONGEST_SHORT + 1:
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


def _long_forms(names: _Names) -> dict[str, list[int]]:
    """The names of several words by their initials, with particles and without."""
    found: dict[str, list[int]] = {}
    for i, key in enumerate(names.keys):
        words = _WORD.findall(key)
        if len(words) > 1:
            large = [word for word in words if word not in SMALL]
            for initials in dict.fromkeys("".join(word[0] for word in some) for some in (words, large)):
                found.setdefault(initials, []).append(i)
    return found


def _plain(text: str) -> str:
    """A phrase as texts are searched for it: its words, a plural being its singular as far as an `s` goes."""
    return " ".join(word.removesuffix("s") for word in _WORD.findall(text.lower()))


def _explained(corpus: Corpus) -> dict[str, set[str]]:
    """What each abbreviation stands for in the texts of a corpus, where one explains the other in parentheses."""
    found: dict[str, set[str]] = {}
    for document in corpus:
        for text in filter(None, (document.title, document.text)):
            for short, long in explanations(text):
                found.setdefault(short.lower().removesuffix("s"), set()).add(_plain(long))
                found.setdefault(short.lower(), set()).add(_plain(long))
    return found


def explanations(text: str) -> Iterator[tuple[str, str]]:
    """(abbreviation, long form) of every `long form (LF)` and `LF (long form)` of a text (after Schwartz and Hearst).

    >>> list(explanations("Support vector machines (SVMs) and a GA (genetic algorithm) do (well)."))
    [('SVMs', 'Support vector machines'), ('GA', 'genetic algorithm')]
    """
    for match in _INSIDE.finditer(text):
        inside, before = match[1].strip(), text[max(0, match.start() - 200) : match.start()]
        words = list(_WORD.finditer(before))[-WORDS_BEFORE:]
        if _is_short(inside):
            for word in words:  # the longest stretch of words that explains it
                if abbreviates(inside, before[word.start() :]):
                    yield inside, before[word.start() :].strip()
                    break
        elif words and _is_short(last := before.split()[-1]) and abbreviates(last, inside):
            yield last, inside


def _is_short(text: str) -> bool:
    return bool(_SHORT.fullmatch(text)) and len(text) <= LONGEST_SHORT and any(map(str.isupper, text))


def abbreviates(short: str, long: str) -> bool:
    """Whether the letters of an abbreviation are the initials of words, in their order, or at least stand in them.

    >>> abbreviates("QoS", "quality of service"), abbreviates("XML", "extensible markup language")
    (True, False)
    """
    words = [word.lower() for word in _WORD.findall(long)]
    letters = [letter for letter in short.removesuffix("s").lower() if letter.isalnum()]
    if len(words) < 2 or len(letters) < 2 or words[0][0] != letters[0]:
        return False
    initials = "".join(word[0] for word in words if word not in SMALL)
    if initials == "".join(letters) or "".join(word[0] for word in words) == "".join(letters):
        return True
    if len(words) > len(letters):  # a word without a letter of its own is one word too many
        return False
    at = iter("".join(words))
    return all(letter in at for letter in letters)


def _tied(group: Ints, ties: Sequence[tuple[int, int]]) -> Ints:
    """The groups with those put together that a pair of names ties."""
    parent = list(range(int(group.max(initial=-1)) + 1))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for a, b in ties:
        one, other = sorted((root(int(group[a])), root(int(group[b]))))
        parent[other] = one
    return _grouped(str(root(number)) for number in group.tolist())


# ---------------------------------------------------------------------------------------------- vectors


def _near(names: _Names, group: Ints, vectors: Embedder, least: float) -> Ints:
    """The groups with those put together whose most frequent names are near.

    The most frequent first, each takes in the ones near to it that are still free. So all names of a concept are near
    to its first, and no chain of neighbours leads from one concept to quite another.
    """
    first = np.unique(group, return_index=True)[1]  # names are in order of frequency
    first.sort()
    texts = [names.keys[i] for i in first.tolist()]
    neighbours = _neighbours(_of_length_1(vectors, texts), least)
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
    return _grouped(str(of_group[number]) for number in group.tolist())


def _of_length_1(vectors: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    found = vectors.embed(texts)
    length = np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    return np.asarray(found / length, dtype=np.float32)


def _neighbours(vectors: NDArray[np.float32], least: float) -> dict[int, list[int]]:
    """The later rows that are near to a row, by row."""
    found: dict[int, list[int]] = {}
    for start in range(0, len(vectors), BLOCK):
        near = vectors[start : start + BLOCK] @ vectors[start:].T >= least - 1e-6  # rounding of float32
        for row, column in np.argwhere(np.triu(near, 1)).tolist():
            found.setdefault(start + row, []).append(start + column)
    return found


# ---------------------------------------------------------------------------------------------- a vocabulary


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
        terms.setdefault(term.lower(), term)
        variants += [(other, terms[term.lower()]) for other in others if other]
    if not terms:
        raise InputError(f"{path}: the vocabulary has no term; write one a line")
    return Vocabulary(tuple(terms.values()), tuple(variants))


def _listed(names: _Names, vocabulary: Vocabulary, options: Options, vectors: Embedder | None) -> Listed:
    stems = normaliser("marks", as_protocols(["karat"], options.language)[0].matching.stemmer, "lower")
    entries = vocabulary.entries()
    forms = stems.many([written.lower().replace("-", " ") for written, _ in entries])
    ways = {
        "term": ({term.lower() for term in vocabulary.terms}, names.keys),
        "variant": ({variant.lower() for variant, _ in vocabulary.variants}, names.keys),
        "stem": (set(forms), names.forms),
        "order": (set(map(_bag, forms)), names.bags()),
    }
    found = [
        next((how for how, (known, own) in ways.items() if own[i] in known), OUTSIDE) for i in range(len(names.keys))
    ]
    outside = [i for i, each in enumerate(found) if each == OUTSIDE]
    shown = outside[: options.worst] if options.worst else outside
    nearest = _by_letters if options.nearest == "levenshtein" else _by_cosine(vectors)
    fixes = nearest([names.keys[i] for i in shown], [written.lower() for written, _ in entries])
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
        there = _of_length_1(vectors, entries)
        found = []
        for start in range(0, len(texts), BLOCK):
            scores = _of_length_1(vectors, texts[start : start + BLOCK]) @ there.T  # [texts, entries]
            best = scores.argmax(axis=1)
            found += list(zip(best.tolist(), scores[np.arange(len(best)), best].tolist(), strict=True))
        return found

    return nearest
