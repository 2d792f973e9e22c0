"""Candidates: the phrases of a document that may be its keyphrases, in columns, with the places where they stand.

A document is first made a `Text`: words, stems, tags, bounds of sentences. It is tagged already, or a tagger does it; a
language without one does without tags. A selection then finds spans of words, and spans whose stems are equal are one
candidate. The selections `sequences`, `phrases` and `ngrams`, the filter and the order of candidates are those of pke;
`nbar` and `nbar-pp` are the rules of Kim, Baldwin and Kan, "Evaluating N-gram based Evaluation Metrics for Automatic
Keyphrase Extraction", Coling 2010.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from typing import Literal, get_args

from karat.corpus import Document
from karat.errors import unknown
from karat.models.base import CommonOptions
from karat.text.languages import named, stemmer_of
from karat.text.normalise import REMEMBERED, Pieces
from karat.text.segments import SEGMENTERS, close
from karat.text.sentences import sentences_of
from karat.text.stems import stemmer
from karat.text.stoplists import stop_words
from karat.text.tags import Sentences, own_tagger, sentence_tagger, tagger

Kind = Literal["sequences", "nbar", "nbar-pp", "ngrams"]
Span = tuple[int, int]  # of the first word, and of the first one behind

# A letter for each class of words, from Penn's and from the universal tags.
_CLASSES = {
    **dict.fromkeys(("NOUN", "NN", "NNS"), "N"),
    **dict.fromkeys(("PROPN", "NNP", "NNPS"), "P"),
    **dict.fromkeys(("ADJ", "JJ", "JJR", "JJS"), "A"),
    **dict.fromkeys(("ADP", "IN"), "I"),
    "POS": "S",
}
OTHER = "x"
_SEQUENCE = re.compile("[NPA]+")
_PHRASE = re.compile("A*[NP]+")
_NBAR = re.compile("[NPA]*[NP](?:S[NPA]*[NP])*")
_LONGEST = 5  # words of a candidate that passes the filter


# --------------------------------------------------------------------------------------------------------- texts


@dataclass(frozen=True, slots=True)
class Text:
    """A document as its words, in one row; `bounds` has where each sentence begins, and the end."""

    words: list[str]
    stems: list[str]
    tags: list[str]  # empty where nobody tagged the words
    classes: str  # a letter for each word: N, P, A, I, S or x
    flags: list[int]  # whether a word may be in a candidate: 0 no, 1 beside others, 2 alone
    bounds: list[int]
    title: int  # how many of the first words are the title's
    unspaced: bool = False  # whether the language writes its words without spaces

    def spans(self) -> Iterator[Span]:
        """Where each sentence begins and ends."""
        return pairwise(self.bounds)

    def valid(self) -> list[bool]:
        """Whether each word is a noun or an adjective; without tags, whether it may be in a candidate."""
        if not self.tags:
            return [flag > 0 for flag in self.flags]
        return [letter in "NPA" for letter in self.classes]


def text_of(document: Document, common: CommonOptions, *, tagged: bool = True) -> Text:
    """The document's title and text, or its tagged sentences, as a row of words; `tagged` if tags are needed.

    >>> found = text_of(Document(title="The deep graph", text="Graphs learn."), CommonOptions())
    >>> found.stems, found.classes, found.bounds, found.title
    (['the', 'deep', 'graph', 'graph', 'learn', '.'], 'xANNxx', [0, 3, 6], 3)
    """
    language = named(common.language)
    if document.sentences is not None:
        return _text(document.sentences, language, _length_of_title(document.title, document.sentences))
    name = common.tagger or (own_tagger(language) if tagged else None)
    parts = [document.title or "", document.text or ""]
    if name is not None:
        title, text = map(tagger(name), parts)
        return _text(title + text, language, sum(map(len, title)))
    first, rest = (sentences_of(part, language) for part in parts)
    return _text([[(word, "") for word in each] for each in first + rest], language, sum(map(len, first)))


def untagged(document: Document, common: CommonOptions) -> bool:
    """Whether the words of a document have no tags, and none can be had."""
    if document.sentences is not None:
        return not any(tag for sentence in document.sentences for _, tag in sentence)
    return common.tagger is None and own_tagger(named(common.language)) is None


def _text(sentences: Sentences, language: str, title: int) -> Text:
    pairs = [pair for sentence in sentences for pair in sentence]
    words, tags = map(list, zip(*pairs, strict=True)) if pairs else ([], [])
    bounds = [0]
    for sentence in sentences:
        bounds.append(bounds[-1] + len(sentence))
    stems, flags = _memory(language)
    if len(stems) > REMEMBERED or len(flags) > REMEMBERED:
        stems.clear()
        flags.clear()
    return Text(
        words,
        list(map(stems.__getitem__, words)),
        tags if any(tags) else [],
        "".join([_CLASSES.get(tag, OTHER) for tag in tags]),
        list(map(flags.__getitem__, words)),
        bounds,
        title,
        language in SEGMENTERS,
    )


def _length_of_title(title: str | None, sentences: Sentences) -> int:
    """How many words of the first sentences are the title, 0 where they do not begin with it."""
    left = "".join((title or "").split())
    count = 0
    for sentence in sentences:
        joined = "".join(word for word, _ in sentence)
        if not left or not left.startswith(joined):
            break
        left, count = left[len(joined) :], count + len(sentence)
    return 0 if left else count


class _Flags(dict[str, int]):
    """Words with what pke's filter says of them, each computed when first needed.

    `least` is the length of a word that may stand alone; one letter less may stand beside others.
    """

    def __init__(self, stops: frozenset[str], least: int = 3) -> None:
        super().__init__()
        self._stops, self._least = stops, least

    def __missing__(self, word: str) -> int:
        lower = word.lower()
        flag = 0
        if len(lower) >= self._least - 1 and lower not in self._stops and lower.replace("-", "").isalnum():
            flag = 2 if len(lower) >= self._least else 1
        self[word] = flag
        return flag


@cache
def _memory(language: str) -> tuple[Pieces, _Flags]:
    """What this process remembers of the words of a language: their stems and flags."""
    return Pieces(None, stemmer(stemmer_of(language))), _Flags(stop_words(language), 2 if language in SEGMENTERS else 3)


# ---------------------------------------------------------------------------------------------------- candidates


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a text in the order in which they were found: joined stems, and where they stand."""

    text: Text
    forms: list[str]
    starts: list[list[int]]
    ends: list[list[int]]  # of the first word behind each occurrence

    def __len__(self) -> int:
        return len(self.forms)

    def surface(self, index: int) -> str:
        """The candidate as it stands first in the text, in lower case."""
        return self._joined(self.starts[index][0], self.ends[index][0]).lower()

    def surfaces(self, index: int) -> list[str]:
        """The candidate as it stands in each place."""
        return [self._joined(start, end) for start, end in self.places(index)]

    def _joined(self, start: int, end: int) -> str:
        phrase = " ".join(self.text.words[start:end])
        return close(phrase) if self.text.unspaced else phrase

    def stems(self, index: int) -> list[str]:
        """The stems of the candidate's first occurrence."""
        return self.text.stems[self.starts[index][0] : self.ends[index][0]]

    def tags(self, index: int) -> list[list[str]]:
        """The tags of the candidate's words in each place."""
        return [self.text.tags[start:end] for start, end in self.places(index)]

    def sentences(self, index: int) -> list[int]:
        """The number of the sentence of each occurrence, from 0."""
        return [bisect_right(self.text.bounds, start) - 1 for start in self.starts[index]]

    def places(self, index: int) -> list[Span]:
        """Where the candidate stands."""
        return list(zip(self.starts[index], self.ends[index], strict=True))

    def counts(self, title_weight: float = 1.0) -> list[float]:
        """How often each candidate stands in the text; an occurrence in the title counts `title_weight` times."""
        if title_weight == 1.0 or not self.text.title:
            return list(map(len, self.starts))
        title = self.text.title
        return [sum([title_weight if start < title else 1.0 for start in starts]) for starts in self.starts]


def candidates_of(
    document: Document, common: CommonOptions, kind: Kind = "sequences", *, filtered: bool = True
) -> Candidates:
    """The candidates of a document by a selection; unfiltered `sequences` may hold stop words and marks.

    >>> found = candidates_of(Document(text="Deep nets learn. A deep net is a net."), CommonOptions())
    >>> found.forms, found.surfaces(0), found.starts, found.sentences(0)
    (['deep net', 'net'], ['Deep nets', 'deep net'], [[0, 5], [9]], [0, 1])
    """
    return selection(kind, filtered=filtered)(text_of(document, common))


def selection(kind: Kind, *, filtered: bool = True, n: int = 3) -> Callable[[Text], Candidates]:
    """The function that finds candidates of a kind in a text; in a text without tags it finds n-grams."""
    if kind not in get_args(Kind):
        raise unknown("candidates", str(kind), get_args(Kind))

    def select(text: Text) -> Candidates:
        if kind == "ngrams" or not text.tags:
            return ngrams(text, n)
        if kind == "sequences":
            return sequences(text, filtered)
        return nbars(text, kind == "nbar-pp")

    return select


def sequences(text: Text, filtered: bool = True) -> Candidates:
    """The longest sequences of nouns, proper nouns and adjectives."""
    found = gathered(text, _matches(_SEQUENCE, text))
    return _kept(found) if filtered else found


def first_sequences(document: Document, common: CommonOptions) -> Iterator[tuple[str, str, int]]:
    """(phrase, joined stems, place) of each unfiltered sequence of a document without tags, in the order of the text.

    A sentence is tagged when its turn comes, so that whoever wants some sequences has only their sentences tagged.

    >>> document = Document(title="Deep nets", text="A deep net learns. Nets grow.")
    >>> list(first_sequences(document, CommonOptions()))
    [('deep nets', 'deep net', 0), ('nets', 'net', 7)]
    """
    language = named(common.language)
    name = common.tagger or own_tagger(language)
    if name is None:
        return
    seen: set[str] = set()
    begin = 0
    for sentence in chain.from_iterable(map(sentence_tagger(name), (document.title or "", document.text or ""))):
        found = sequences(_text([sentence], language, 0), filtered=False)
        for index, form in enumerate(found.forms):
            if form not in seen:
                seen.add(form)
                yield found.surface(index), form, begin + found.starts[index][0]
        begin += len(sentence)


def phrases(text: Text, longest: int) -> Candidates:
    """Adjectives followed by nouns, of at most so many words."""
    return gathered(text, [span for span in _matches(_PHRASE, text) if span[1] - span[0] <= longest])


def runs(text: Text, stems: set[str]) -> Candidates:
    """The longest sequences of words whose stems are among the given ones."""
    found = []
    for begin, end in text.spans():
        start = None
        for at in range(begin, end):
            if text.stems[at] in stems:
                start = at if start is None else start
            elif start is not None:
                found.append((start, at))
                start = None
        if start is not None:
            found.append((start, end))
    return gathered(text, found)


def ngrams(text: Text, n: int) -> Candidates:
    """All sequences of 1 to n words that pass the filter.

    The first occurrence of a candidate decides whether it passes, and then all of them count: words are left aside
    at once only where no word of the same stem passes.
    """
    stems, flags = text.stems, text.flags
    passing = {stem for stem, flag in zip(stems, flags, strict=True) if flag}
    found: dict[str, tuple[list[int], list[int]]] = {}
    for begin, end in text.spans():
        for start in range(begin, end):
            form = ""
            for at in range(start, min(start + n, end)):
                stem = stems[at]
                if stem not in passing:
                    break
                form = f"{form} {stem}" if form else stem
                held = found.get(form)
                if held is None:
                    found[form] = ([start], [at + 1])
                else:
                    held[0].append(start)
                    held[1].append(at + 1)
    return _kept(_columns(text, found))


def gathered(text: Text, spans: Iterable[Span], forms: Iterable[str] | None = None) -> Candidates:
    """The candidates at some places: those whose stems are equal, or whose given forms are, are one."""
    spans = list(spans)
    made = forms if forms is not None else [" ".join(text.stems[start:end]) for start, end in spans]
    found: dict[str, tuple[list[int], list[int]]] = {}
    for form, (start, end) in zip(made, spans, strict=True):
        held = found.get(form)
        if held is None:
            found[form] = ([start], [end])
        else:
            held[0].append(start)
            held[1].append(end)
    return _columns(text, found)


def _columns(text: Text, found: Mapping[str, tuple[list[int], list[int]]]) -> Candidates:
    return Candidates(text, list(found), [held[0] for held in found.values()], [held[1] for held in found.values()])


def _matches(pattern: re.Pattern[str], text: Text) -> list[Span]:
    """Where a pattern of word classes fits, in each sentence from left to right."""
    find, classes = pattern.finditer, text.classes
    return [match.span() for begin, end in text.spans() for match in find(classes, begin, end)]


def _kept(found: Candidates) -> Candidates:
    """The candidates whose first occurrence passes pke's filter.

    That has no stop word, only letters, digits and hyphens, no word of one letter, at least three letters and at most
    five words.
    """
    flags = found.text.flags
    keep = [_passes(flags[starts[0] : ends[0]]) for starts, ends in zip(found.starts, found.ends, strict=True)]
    return found if all(keep) else _some(found, keep)


def _passes(flags: Sequence[int]) -> bool:
    return flags[0] == 2 if len(flags) == 1 else len(flags) <= _LONGEST and 0 not in flags


def _some(found: Candidates, keep: Iterable[bool]) -> Candidates:
    chosen = [index for index, kept in enumerate(keep) if kept]
    forms, starts, ends = ([column[i] for i in chosen] for column in (found.forms, found.starts, found.ends))
    return Candidates(found.text, forms, starts, ends)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------- the rules of Kim


def nbars(text: Text, with_pp: bool = True) -> Candidates:
    """N-bars, `(noun|adjective)* noun`, and N-bars joined by a preposition, as `quality of service`.

    Variants by possessive (`agent's goal`), number and an abbreviation that the text explains are one candidate. A
    simplex word must stand there at least twice. The N-bars inside a joined one are candidates too.
    """
    bars = [span for span in _matches(_NBAR, text) if _wordy(text, span)]
    spans = bars + _joined(text, bars) if with_pp else bars
    spans.sort()
    found = gathered(text, spans, _forms(text, spans, _abbreviations(text, bars)))
    keep = [" " in form or len(starts) > 1 for form, starts in zip(found.forms, found.starts, strict=True)]
    return _some(found, keep)


def _wordy(text: Text, span: Span) -> bool:
    """Whether each word but a possessive mark has letters or digits and hyphens only."""
    places = range(*span)
    return all(text.classes[at] == "S" or text.words[at].replace("-", "").isalnum() for at in places)


def _joined(text: Text, bars: Sequence[Span]) -> list[Span]:
    """Two neighbouring N-bars with nothing but one preposition between them."""
    found = []
    for (start, before), (after, end) in pairwise(bars):
        same = bisect_right(text.bounds, start) == bisect_right(text.bounds, after)
        if after == before + 1 and text.classes[before] == "I" and same:
            found.append((start, end))
    return found


def _forms(text: Text, spans: Iterable[Span], long: Mapping[str, str]) -> list[str]:
    """The stems of each span without possessive marks, abbreviations in their long form."""
    made = []
    for start, end in spans:
        stems = [text.stems[at] for at in range(start, end) if text.classes[at] != "S"]
        made.append(" ".join([long.get(stem, stem) for stem in stems]))
    return made


def _abbreviations(text: Text, bars: Iterable[Span]) -> dict[str, str]:
    """{stem of an abbreviation: stems of what it stands for}, from N-bars followed by it in brackets.

    Its letters are the initials of the words before it: `support vector machine (SVM)`.
    """
    found: dict[str, str] = {}
    for start, end in bars:
        behind = text.words[end : end + 3]
        if len(behind) < 3 or behind[0] not in ("(", "-LRB-") or behind[2] not in (")", "-RRB-"):
            continue
        letters = behind[1].removesuffix("s")
        parts = [at for at in range(start, end) if text.classes[at] != "S"][-len(letters) :]
        initials = "".join(text.words[at][0] for at in parts)
        if len(letters) > 1 and letters.isupper() and initials.lower() == letters.lower():
            long = " ".join(text.stems[at] for at in parts)
            found.setdefault(text.stems[end + 1], long)
            found.setdefault(_stem_of(letters, text, end + 1), long)
    return found


def _stem_of(letters: str, text: Text, at: int) -> str:
    """The stem of an abbreviation without its plural's s."""
    return text.stems[at] if text.words[at] == letters else letters.lower()
