"""YAKE: phrases by how their words behave in one document, without tags, training or other documents.

Campos and others, "YAKE! Keyword extraction from single documents using multiple local features", Information Sciences
509, 2020. Lists and scores are those of the package yake 0.7, whose choices differ from the paper's here and there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import log
from pathlib import Path
from string import punctuation
from typing import Literal, NamedTuple

import numpy as np

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.formats.folders import whole_text
from karat.models.base import CommonOptions, Predict, model
from karat.models.extractors.choose import chosen
from karat.text import segtok
from karat.text.languages import LANGUAGES, named, stemmer_of
from karat.text.normalise import REMEMBERED
from karat.text.segments import SEGMENTERS, close
from karat.text.sentences import sentences_of
from karat.text.stems import Stem, stemmer
from karat.text.stoplists import stop_words

STOPS = Path(__file__).parent / "yake_stops.txt"
_MARKS = frozenset(punctuation)
_NO_MARKS = str.maketrans("", "", punctuation)
_WIDE_MARKS = frozenset("。，、；：？！「」『』（）《》〈〉【】・…—")  # the package knows those of ASCII alone


@model("yake")
def yake(
    common: CommonOptions,
    *,
    longest: int = 3,
    window: int = 1,
    dedup_lim: float = 0.9,
    dedup_func: Literal["seqm", "levs", "jaro"] = "seqm",
    stopwords: str = "",
    lower: bool = False,
    raw: bool = False,
) -> Predict:
    """Phrases by case, place, frequency and neighbours of their words, from the document alone (Campos 2020).

    `longest` is the number of words of a phrase, `window` how far neighbours are looked for. A phrase whose similarity
    (`dedup_func`) to a better one is above `dedup_lim` is left out. `stopwords` is a file with a word on each line, in
    place of the language's own. Phrases are written as they stand first in the text, with `lower` in lower case.

    YAKE's own score is better the lower it is. As scores of runs are better the higher they are, it is given with its
    sign turned, −0.02 before −0.3; with `raw` as it is.
    """
    for name, value in (("longest", longest), ("window", window)):
        if value < 1:
            raise InputError(f"{name} of yake is at least 1, not {value}")
    language = named(common.language)
    unspaced = language in SEGMENTERS
    words = _Words(_stop_words(language, stopwords), 2 if unspaced else 3)
    stem = _stemmer(common)
    similar = _SIMILARITIES[dedup_func]

    def predict(documents: Sequence[Document]) -> Iterator[Prediction]:
        for document in documents:
            if len(words) > REMEMBERED:
                words.clear()
            found = _read(_sentences(document, language), words, longest, window)
            ranked = _apart(found.ranked(), similar, dedup_lim)
            best = chosen(_forms(ranked, stem, lower or dedup_lim >= 1, unspaced), common)
            yield Prediction(
                id=document.id,
                keyphrases=[phrase for phrase, _ in best],
                scores=[score if raw else -score for _, score in best],
            )

    return predict


def _sentences(document: Document, language: str) -> list[list[str]]:
    """The tokens of each sentence of title and text; of a document without text, the words that somebody tagged."""
    if not document.text and document.sentences:
        return [[word for word, _ in sentence] for sentence in document.sentences]
    if language in SEGMENTERS:  # segtok looks for capitals behind full stops
        return [each for part in (document.title, document.text) for each in sentences_of(part or "", language)]
    title, text = (document.title or "").strip(), document.text or ""
    whole = f"{title}{'' if title[-1:] in '.!?' else '.'} {text}" if title and text else title or text
    whole = whole.replace("\n", " ").replace("\t", " ")
    # The package puts a space before a text that does not begin with a capital, and so hides an abbreviation there.
    first = whole.lstrip()[:1]
    return segtok.sentences(whole if "A" <= first <= "Z" else f" {whole}")


def _stemmer(common: CommonOptions) -> Stem:
    """What stems are made by; where nobody looks at stems, nothing is stemmed."""
    language = named(common.language)
    if not common.stem and not common.redundancy:
        return str
    return stemmer(stemmer_of(language))


def _forms(ranked: Iterator[_Candidate], stem: Stem, lower: bool, unspaced: bool) -> Iterator[tuple[str, str, float]]:
    """Candidates as (phrase, joined stems, score)."""
    for each in ranked:
        phrase = each.key if lower else each.phrase
        yield close(phrase) if unspaced else phrase, " ".join(map(stem, each.key.split())), each.score


# -------------------------------------------------------------------------------------------------------- words


@cache
def _stop_words(language: str, path: str) -> frozenset[str]:
    """The stop words of a file, else those of the language."""
    if path:
        return frozenset(whole_text(path).lower().split("\n"))
    lists = _lists()
    if language not in lists and stop_words(language):
        return stop_words(language)
    if language not in lists:
        known = ", ".join(sorted([*lists, *(each for each in LANGUAGES if each not in lists and stop_words(each))]))
        raise InputError(
            f"yake has no stop words for {language} (it has them for {known}); "
            "give a file with a word on each line: yake,stopwords=FILE"
        )
    return lists[language]


@cache
def _lists() -> dict[str, frozenset[str]]:
    """{language: stop words}."""
    found: dict[str, frozenset[str]] = {}
    for part in STOPS.read_text(encoding="utf-8").split("\n[")[1:]:
        language, _, words = part.partition("]")
        found[language] = frozenset(words.split())
    return found


class _Word(NamedTuple):
    """What is known of a word wherever it stands."""

    first: str  # its tag at the beginning of a sentence: a acronym, d digits, n name, p plain, u odd; "" a mark
    later: str  # its tag elsewhere
    lower: str
    term: str  # the word that it is counted as
    stop: bool


class _Words(dict[str, _Word]):
    """Words with what is known of them, each computed when first needed."""

    def __init__(self, stops: frozenset[str], least: int = 3) -> None:
        super().__init__()
        self._stops, self._least = stops, least

    def __missing__(self, word: str) -> _Word:
        lower = word.lower()
        term = lower[:-1] if lower.endswith("s") and len(lower) > 3 else lower
        stop = lower in self._stops or term in self._stops or len(term.translate(_NO_MARKS)) < self._least
        first = "" if _is_mark(word) else _tag(word)
        later = "n" if first == "p" and _is_name(word) else first
        found = self[word] = _Word(first, later, lower, term, stop)
        return found


def _is_mark(word: str) -> bool:
    """Whether a word has nothing but marks of ASCII, or is one of those of Chinese and Japanese."""
    return _MARKS.issuperset(word) or word in _WIDE_MARKS


def _tag(word: str) -> str:
    """The class of a word by its characters.

    >>> "".join(map(_tag, ["3,000.5", "B2B", "NASA", "Rome", "state-of-art"]))
    'duapu'
    """
    bare = word.replace(",", "")
    if bare.isdigit() or bare.replace(".", "", 1).isdigit():
        return "d"
    digits, letters = any(map(str.isdigit, word)), any(map(str.isalpha, word))
    if digits == letters or sum(character in _MARKS for character in word) > 1:
        return "u"
    return "a" if word.isupper() else "p"


def _is_name(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and sum(map(str.isupper, word)) == 1


# ----------------------------------------------------------------------------------------------------- features


@dataclass(slots=True)
class _Term:
    """What is counted of a word."""

    stop: bool
    count: int = 0
    acronyms: int = 0
    names: int = 0
    sentences: list[int] = field(default_factory=list)
    score: float = 0.0


class _Candidate(NamedTuple):
    """A phrase with its score, the lower the better."""

    key: str
    phrase: str
    score: float


@dataclass(slots=True)
class _Counted:
    """How often a phrase stands in the text, where it stands first, and whether it stands there in plain words."""

    start: int
    end: int
    count: int = 0
    plain: bool = False


@dataclass(frozen=True, slots=True)
class _Scan:
    """A document as it was read: its words in one row, their terms, who follows whom, and candidates."""

    sentences: int
    words: list[str]
    row: list[str]  # the term of each word
    terms: dict[str, _Term]
    follows: dict[tuple[str, str], int]
    candidates: dict[str, _Counted]

    def ranked(self) -> list[_Candidate]:
        """The candidates, the best first; equally good ones in the order of the text."""
        self._score_terms()
        found = [
            _Candidate(key, " ".join(self.words[each.start : each.end]), self._score(each))
            for key, each in self.candidates.items()
            if each.plain
        ]
        return sorted(found, key=lambda each: each.score)

    def _score_terms(self) -> None:
        """Gives each term that is no stop word its score."""
        content = [term for term in self.terms.values() if not term.stop]
        if not content:
            return
        counts = np.array([term.count for term in content], dtype=float)
        usual = float(counts.mean() + counts.std())
        most = max(term.count for term in self.terms.values())
        before, behind = self._company()
        for name, term in self.terms.items():
            if not term.stop:
                share = term.count / most
                related = 0.5 + _variety(before.get(name)) * share + (0.5 + _variety(behind.get(name)) * share)
                case = max(term.acronyms, term.names) / (1.0 + log(term.count))
                place = log(log(3.0 + _median(term.sentences)))
                spread = len(term.sentences) / self.sentences
                term.score = place * related / (case + term.count / usual / related + spread / related)

    def _company(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """(the counts of the words before each term, of the words behind it)."""
        before: dict[str, list[int]] = {}
        behind: dict[str, list[int]] = {}
        for (left, right), count in self.follows.items():
            behind.setdefault(left, []).append(count)
            before.setdefault(right, []).append(count)
        return before, behind

    def _score(self, candidate: _Counted) -> float:
        """The product of the words' scores over their sum and the count; a stop word weighs by how it is bound."""
        total, product = 0.0, 1.0
        for at in range(candidate.start, candidate.end):
            term = self.terms[self.row[at]]
            if term.stop:  # never at the edge
                loose = 1 - self._bound(at - 1, at, at - 1) * self._bound(at, at + 1, at + 1)
                product *= 1 + loose
                total -= loose
            else:
                product *= term.score
                total += term.score
        return product / ((total + 1) * candidate.count)

    def _bound(self, left: int, right: int, whose: int) -> float:
        """How often two neighbours follow each other, as a share of how often one of them is there."""
        return self.follows.get((self.row[left], self.row[right]), 0) / self.terms[self.row[whose]].count


def _variety(counts: list[int] | None) -> float:
    """How many different words there are for each time that there is one."""
    return len(counts) / sum(counts) if counts else 0.0


def _median(numbers: list[int]) -> float:
    """The median of numbers that rise."""
    middle = len(numbers) // 2
    return float(numbers[middle]) if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2


def _read(sentences: Sequence[Sequence[str]], known: Mapping[str, _Word], longest: int, window: int) -> _Scan:
    """The document as its words, terms and candidates; a phrase that a stop word begins or ends is none."""
    found = _Scan(len(sentences), [], [], {}, {}, {})
    words, row, terms, follows = found.words, found.row, found.terms, found.follows
    odd: list[bool] = []
    for number, sentence in enumerate(sentences):
        block = len(row)  # where the words begin that no mark parts
        for place, token in enumerate(sentence):
            word = known[token]
            tag = word.later if place else word.first
            if not tag:
                block = len(row)
                continue
            term = terms.get(word.term)
            if term is None:
                term = terms[word.term] = _Term(word.stop)
            _count(term, tag, number)
            at, is_odd = len(row), tag in "ud"
            words.append(token)
            row.append(word.term)
            odd.append(is_odd)
            if not is_odd:
                for left in range(max(block, at - window), at):
                    if not odd[left]:
                        pair = row[left], word.term
                        follows[pair] = follows.get(pair, 0) + 1
            if not term.stop:
                _add_candidates(found, odd, at, max(block, at - longest + 1), known)
    return found


def _count(term: _Term, tag: str, sentence: int) -> None:
    term.count += 1
    if tag == "a":
        term.acronyms += 1
    elif tag == "n":
        term.names += 1
    if not term.sentences or term.sentences[-1] != sentence:
        term.sentences.append(sentence)


def _add_candidates(found: _Scan, odd: Sequence[bool], at: int, first: int, known: Mapping[str, _Word]) -> None:
    """Counts the phrases that end with a word, from itself to the longest that begins at `first`."""
    key, plain = "", True
    for start in range(at, first - 1, -1):
        lower = known[found.words[start]].lower
        key = f"{lower} {key}" if key else lower
        plain = plain and not odd[start]
        if found.terms[found.row[start]].stop:
            continue
        candidate = found.candidates.get(key)
        if candidate is None:
            candidate = found.candidates[key] = _Counted(start, at + 1)
        candidate.count += 1
        candidate.plain = candidate.plain or plain


# -------------------------------------------------------------------------------------------------- near repeats

Similarity = Callable[[str, str], float]


def _apart(ranked: Sequence[_Candidate], similar: Similarity, limit: float) -> Iterator[_Candidate]:
    """The candidates without those that are similar to a better one."""
    if limit >= 1:
        yield from ranked
        return
    kept: list[str] = []
    for each in ranked:
        if not any(similar(each.key, other) > limit for other in kept):
            kept.append(each.key)
            yield each


def _seqm(one: str, other: str) -> float:
    """The similarity that yake 0.7 has in the place of difflib's: 0 unless both begin and end alike.

    >>> _seqm("neural network", "neural networks"), round(_seqm("neural nets", "neural networks"), 3)
    (0.0, 0.656)
    """
    longer = max(len(one), len(other))
    if longer > 3 and (one[0] != other[0] or one[-1] != other[-1]):
        return 0.0  # most pairs
    shorter = min(len(one), len(other))
    if longer - shorter > longer * 0.6 or abs(one.count(" ") - other.count(" ")) > 1:
        return 0.0
    if longer > 3 and shorter >= 3 and one[:2] != other[:2]:
        return 0.0
    lengths, letters = shorter / longer, _shared(set(one), set(other))
    if lengths < 0.3 or letters < 0.2:
        return 0.0
    if longer <= 4:
        return letters * lengths
    if " " in one or " " in other:
        words = _shared(set(one.split()), set(other.split()))
        if words > 0.4:
            return words
    return min(0.3 * lengths + 0.2 * letters + 0.5 * _shared(_trigrams(one), _trigrams(other)), 1.0)


def _shared(one: set[str], other: set[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def _trigrams(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def _levs(one: str, other: str) -> float:
    """1 − edits over the longer length; lengths that differ by more than 70 % are wholly different."""
    from rapidfuzz.distance import Levenshtein

    longer = max(len(one), len(other))
    if abs(len(one) - len(other)) > longer * 0.7:
        return 0.0
    return 1 - Levenshtein.distance(one, other) / longer


def _jaro(one: str, other: str) -> float:
    from rapidfuzz.distance import Jaro

    return float(Jaro.similarity(one, other))


_SIMILARITIES: dict[str, Similarity] = {"seqm": _seqm, "levs": _levs, "jaro": _jaro}
