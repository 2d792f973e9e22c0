"""Tags of a document's pieces: from its references, and from tags to phrases again.

A word is what karat's matching takes for one (`multi-core` is one word). A piece is a part of a word, of the
vocabulary of an encoder. The first piece of a word has the tag of the word: B where a keyphrase begins, I where it goes
on, O elsewhere; further pieces of a keyphrase's words are X, and all others O. References are found as karat finds
them by default, by their stems.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Document, Prediction, Reference
from karat.matching.inputs import as_protocols
from karat.models.generators.words import parts_of, spaced
from karat.protocol import Matching
from karat.text.normalise import normaliser_of
from karat.text.places import Span, occurrences, stems_at

TAGS = "OBIX"
O, B, I, X = range(len(TAGS))  # noqa: E741
NO_WORD = -1  # of a piece that is in no word
DIGITS = 6  # of scores and probabilities in a run
TINY = 1e-6  # a lower score is none
PARTED = re.compile(r"[,;:.?]\s|[，；：！？、。]")  # where no phrase goes on
FIRST = re.compile(r"[\w+*#]")  # what a phrase may begin with, as #P
LAST = re.compile(r"[\w+*#)\]}）]$")  # what it may end with, as C++
PAIRS = {")": "(", "]": "[", "}": "{", "）": "（", "”": "“", "»": "«"}

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


def matching_of(language: str) -> Matching:
    """How karat compares phrases by default, in a language."""
    return as_protocols(["karat"], language)[0].matching


@dataclass(frozen=True, slots=True)
class DocumentWords:
    """The words of a document: their stems, and where they stand in its text."""

    text: str  # title and text
    stems: list[str]
    spans: list[Span]  # of each word
    titled: int  # words of the title

    def phrase(self, first: int, last: int) -> str:
        """The words from one place to before another as they are written, with single spaces."""
        return spaced(self.text[self.spans[first][0] : self.spans[last - 1][1]]).strip()

    def form(self, first: int, last: int) -> str:
        """The stems of these words, joined."""
        return " ".join(self.stems[first:last])


def words_of(document: Document, matching: Matching) -> DocumentWords:
    """The words of title and text.

    >>> found = words_of(Document(title="Bees", text="They fly."), Matching())
    >>> found.stems, found.spans, found.titled
    (['bee', 'they', 'fli', '.'], [(0, 4), (5, 9), (10, 13), (13, 14)], 1)
    """
    title, text = parts_of(document)
    stems, spans = stems_at(title, matching) if title else ([], [])
    titled, at = len(stems), len(title) + 1 if title else 0
    further, places = stems_at(text, matching)
    moved = [(start + at, end + at) for start, end in places]
    return DocumentWords(f"{title}\n{text}" if title else text, stems + further, spans + moved, titled)


# ---------------------------------------------------------------------------------------------- references


def variants_of(reference: Reference | None) -> list[str]:
    """The variants of a reference that say something."""
    given = reference if isinstance(reference, list) else [reference]
    return [each for each in given if each]


def places_of(words: DocumentWords, form: str) -> Iterator[Span]:
    """Where a phrase stands among the words, from its first word to behind its last; never across the title's end.

    >>> words = words_of(Document(title="Deep nets", text="Nets of deep net."), Matching())
    >>> list(places_of(words, "net")), list(places_of(words, "deep net")), list(places_of(words, "net net"))
    ([(1, 2), (2, 3), (5, 6)], [(0, 2), (4, 6)], [])
    """
    for begin, end in ((0, words.titled), (words.titled, len(words.stems))):
        stems = words.stems[begin:end]
        joined = f" {' '.join(stems)} "
        needle = f" {form} "
        if not form or needle not in joined:
            continue
        starts = list(accumulate((len(stem) + 1 for stem in stems), initial=1))  # of each stem, in the joined text
        for at in occurrences(needle, joined):
            first, last = (bisect_right(starts, place) - 1 for place in (at + 1, at + len(form)))
            yield begin + first, begin + last + 1


def word_tags(words: DocumentWords, forms: Sequence[str]) -> Ints:
    """The tag of each word [w]; where phrases share words, the longer one has them, or the first.

    >>> words = words_of(Document(text="Deep neural nets and nets"), Matching())
    >>> "".join(TAGS[tag] for tag in word_tags(words, ["net", "neural net"]))
    'OBIOB'
    """
    found = np.zeros(len(words.stems), dtype=np.int32)
    places = {place for form in forms for place in places_of(words, form)}
    for first, last in sorted(places, key=lambda place: (place[0] - place[1], place[0])):
        if not found[first:last].any():
            found[first:last] = I
            found[first] = B
    return found


class References:
    """The references of documents, by their forms."""

    def __init__(self, matching: Matching) -> None:
        self._form = normaliser_of(matching)

    def form(self, phrase: str) -> str:
        """The stems of a phrase, joined."""
        return self._form(phrase).strip()

    def forms(self, document: Document) -> list[list[str]]:
        """The forms of each reference's variants; references without one are left out."""
        found = [
            [form for variant in variants_of(reference) if (form := self.form(variant))]
            for reference in document.keyphrases or ()
        ]
        return [forms for forms in found if forms]

    def surfaces(self, document: Document, numbers: Sequence[int]) -> list[str]:
        """The references of these numbers among those that have a form, as they are written: of variants, the first."""
        some = [
            found
            for reference in document.keyphrases or ()
            if (found := [each for each in variants_of(reference) if self.form(each)])
        ]
        return [some[number][0] for number in numbers]


def split(words: DocumentWords, references: Sequence[Sequence[str]]) -> tuple[list[str], list[int]]:
    """(the forms that stand in the text, the numbers of the references of which none does)."""
    present: list[str] = []
    absent: list[int] = []
    for number, forms in enumerate(references):
        there = [form for form in forms if next(places_of(words, form), None) is not None]
        present += there
        if not there:
            absent.append(number)
    return present, absent


# ---------------------------------------------------------------------------------------------- pieces


def words_of_pieces(words: DocumentWords, offsets: Sequence[Span]) -> Ints:
    """The word that each piece is of [n], by where pieces stand in the text; `NO_WORD` where it is of none."""
    starts = [start for start, _ in words.spans]
    found = np.full(len(offsets), NO_WORD, dtype=np.int32)
    for at, (start, end) in enumerate(offsets):
        while start < end and words.text[start].isspace():  # some tokenizers count the space before a word
            start += 1
        word = bisect_right(starts, start) - 1
        if start < end and word >= 0 and start < words.spans[word][1]:
            found[at] = word
    return found


def first_pieces(of: Ints) -> NDArray[np.bool_]:
    """Which pieces are the first of their words [n].

    >>> first_pieces(np.array([0, 0, NO_WORD, 1, 2, 2], np.int32)).tolist()
    [True, False, False, True, True, False]
    """
    return np.asarray((of != NO_WORD) & (np.concatenate([[NO_WORD], of[:-1]]) != of))


def piece_tags(tags: Ints, of: Ints) -> Ints:
    """The tag of each piece [n], from those of words [w] and the word that each piece is of [n].

    >>> "".join(TAGS[tag] for tag in piece_tags(np.array([B, I, O]), np.array([0, 0, 1, NO_WORD, 2, 2], np.int32)))
    'BXIOOO'
    """
    own = np.where(of == NO_WORD, O, tags[of]) if len(tags) else np.zeros_like(of)
    return np.where(first_pieces(of) | (own == O), own, X).astype(np.int32)


# ---------------------------------------------------------------------------------------------- phrases


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase at its best place."""

    first: int
    last: int  # behind it
    score: float


def spans_of(shares: Floats, titled: int, longest: int) -> Floats:
    """The probability that a phrase of 1 to `longest` words begins at each word and ends there, [w, longest].

    `shares` [w, 4] are the probabilities of the tags of each word, which are taken as independent: those that a phrase
    begins at the first word, goes on at the others, and does not go on behind the last.

    >>> shares = np.array([[0.1, 0.8, 0.1, 0], [0.4, 0.1, 0.5, 0]])
    >>> spans_of(shares, 0, 2).round(3).tolist()
    [[0.4, 0.4], [0.1, 0.0]]
    """
    many = len(shares)
    found = np.zeros((many, longest))
    begins = shares[:, B].copy()
    goes_on = np.append(shares[:, I], 0.0)
    goes_on[titled] = 0.0  # no phrase goes on from the title into the text
    for length in range(min(longest, many)):
        behind = goes_on[length + 1 :]  # of the word behind the phrase
        begun = begins[: many - length]
        found[: many - length, length] = begun * (1 - behind)
        begins = begun[: many - length - 1] * behind[: many - length - 1]
    return found


def can_be_phrase(text: str) -> bool:
    """Whether a text can be a keyphrase by its marks: none parts it, ends it, or is half of a pair.

    >>> all(map(can_be_phrase, ("C++", "web 2.0", "filter (ODVF)", "a/b test", "#P-hard", "1,000 nets", "Yahoo! UI")))
    True
    >>> any(map(can_be_phrase, ("bees.", ", bees", "bees, ants", "bees (", "(bees)", "a) b (c", "x. The", 'a "b', "+")))
    False
    """
    if PARTED.search(text) or not (FIRST.match(text) and LAST.search(text)):
        return False
    opened: list[str] = []
    for char in text:
        if char in PAIRS.values():
            opened.append(char)
        elif char in PAIRS and (not opened or opened.pop() != PAIRS[char]):
            return False
    return not opened and text.count('"') % 2 == 0 and any(map(str.isalnum, text))


def phrases_of(words: DocumentWords, shares: Floats, n: int, longest: int, least: float) -> list[Found]:
    """The n best phrases of a document: different ones by their stems, each at its best place.

    A score is the geometric mean of the probabilities of a phrase's words: their product is that of the span, which
    would favour short phrases.
    """
    scores = spans_of(shares, words.titled, longest) ** (1 / np.arange(1, longest + 1))
    best: dict[str, Found] = {}
    firsts, lengths = np.nonzero(scores >= max(least, TINY))
    found = scores[firsts, lengths]
    for at in np.lexsort((lengths, firsts, -found)).tolist():
        if len(best) == n:
            break
        first, last = int(firsts[at]), int(firsts[at] + lengths[at] + 1)
        form = words.form(first, last)
        if form not in best and can_be_phrase(words.phrase(first, last)):
            best[form] = Found(first, last, float(found[at]))
    return list(best.values())


def unweighted(shares: Floats, weight: float) -> Floats:
    """The probabilities of tags [w, 4] without the weight that B, I and X have in the loss.

    Where a tag y weighs w(y), the loss is smallest with q(y) ∝ w(y) p(y): p follows from q by dividing.

    >>> unweighted(np.array([[0.5, 0.5, 0, 0]]), 4).tolist()
    [[0.8, 0.2, 0.0, 0.0]]
    """
    found = shares / np.array([1.0, weight, weight, weight])
    return np.asarray(found / found.sum(1, keepdims=True))


def prediction_of(
    document: Document, words: DocumentWords, shares: Floats, n: int, *, longest: int, least: float, weight: float = 1.0
) -> Prediction:
    """The first n phrases of a document as a run has them, with the probabilities of their words.

    Phrases are scored and sorted by what the model says; the probabilities are those without the weight of its loss.
    """
    found = phrases_of(words, shares, n, longest, least)
    likely = unweighted(shares, weight)
    return Prediction(
        id=document.id,
        keyphrases=[words.phrase(each.first, each.last) for each in found],
        scores=[round(each.score, DIGITS) for each in found],
        token_probs=[[round(share, DIGITS) for share in word_shares(likely, words.titled, each)] for each in found],
        kinds=["present"] * len(found),
    )


def word_shares(shares: Floats, titled: int, found: Found) -> list[float]:
    """The probability of each word of a phrase; that of the last is also that it ends there.

    >>> shares = np.array([[0.1, 0.8, 0.1, 0], [0.4, 0.1, 0.5, 0], [0.8, 0.1, 0.1, 0]])
    >>> word_shares(shares, 0, Found(0, 2, 0.6))
    [0.8, 0.45]
    """
    own = [float(shares[found.first, B]), *shares[found.first + 1 : found.last, I].tolist()]
    goes_on = 0.0 if found.last in (titled, len(shares)) else float(shares[found.last, I])
    return [*own[:-1], own[-1] * (1 - goes_on)]
