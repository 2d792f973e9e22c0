"""Words and targets: documents as numbers for a generator, and what it writes as text again.

There are two vocabularies in one table. A generator reads all of the table; what it can write by itself is the head of
it, the words of training keyphrases. Any other word it can only copy: the words of a document beyond the head have
numbers of their own in that document, from the size of the head on, in the order of their first places.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from karat.corpus import Document
from karat.errors import InputError
from karat.text.languages import stemmer_of
from karat.text.stems import stemmer

SPECIAL = ("<pad>", "<unk>", "<bos>", "<text>", "<null>", "<eos>", "<sep>", "<peos>", "<digit>")
PAD, UNK, BOS, TEXT, NULL, EOS, SEP, PEOS, DIGIT = range(len(SPECIAL))

Targets = Literal["one2seq", "one2one"]
MOST_COUNTED = 2_000_000  # distinct words that are held while words are counted
REMEMBERED = 200_000  # stems

# Control characters, and marks that turn the direction of text, are no tokens: they do not come into a run.
_UNSEEN = r"\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069"
_TOKEN = re.compile(rf"<digit>|\w+|[^\w\s{_UNSEEN}]")
_BLANK = re.compile(rf"[\s{_UNSEEN}]+")
_LEFT = frozenset("-–/'’.+#_:@*^%)],;!?=\\")  # marks that are written next to the word before them
_RIGHT = frozenset("-–/'’.#_:@*^([=\\")  # ... and next to the word after them


def _token(written: str) -> str:
    """A token as a generator sees it: in lower case, numbers all alike."""
    return SPECIAL[DIGIT] if written.isdecimal() else written.lower()


def tokens(text: str) -> list[str]:
    """The words and marks of a text in lower case; whole numbers are `<digit>`.

    >>> tokens("3D printing on Multi-core CPUs, 64 bit")
    ['3d', 'printing', 'on', 'multi', '-', 'core', 'cpus', ',', '<digit>', 'bit']
    """
    return [_token(each) for each in _TOKEN.findall(text)]


def parts_of(document: Document) -> tuple[str, str]:
    """(title, text) of a document; of one that is tagged only, its words."""
    text = document.text or "\n".join(" ".join(word for word, _ in words) for words in document.sentences or ())
    return document.title or "", text


def spaced(text: str) -> str:
    """A part of a text with single spaces, and without what cannot be seen."""
    return _BLANK.sub(" ", text)


def source_tokens(document: Document) -> list[str]:
    """The tokens of title and text, `<text>` between them.

    >>> source_tokens(Document(title="Bees", text="They fly."))
    ['bees', '<text>', 'they', 'fly', '.']
    """
    title, text = parts_of(document)
    return [*tokens(title), SPECIAL[TEXT], *tokens(text)] if title else tokens(text)


# ---------------------------------------------------------------------------------------------- text again


class Surface:
    """A document's text, in which phrases are found by their tokens."""

    def __init__(self, document: Document) -> None:
        title, text = parts_of(document)
        self._text = f"{title}\n{text}" if title else text
        self._spans = [(0, len(title))] if title else []  # where `<text>` would be: found by nothing
        at = 0 if not title else len(title) + 1
        places = [(match.start() + at, match.end() + at) for match in _TOKEN.finditer(text)]
        self._spans = [match.span() for match in _TOKEN.finditer(title)] + self._spans + places
        found = source_tokens(document)
        self._tokens = "\0".join(["", *found, ""])

    def find(self, phrase: Sequence[str]) -> str | None:
        """The phrase as it first stands in the text, None if it does not.

        >>> Surface(Document(title="3D  printing", text="On multi-core CPUs.")).find(["multi", "-", "core"])
        'multi-core'
        """
        wanted = "\0".join(["", *phrase, ""])
        at = self._tokens.find(wanted) if phrase else -1
        if at < 0:
            return None
        first = self._tokens.count("\0", 0, at)
        begin, end = self._spans[first][0], self._spans[first + len(phrase) - 1][1]
        return spaced(self._text[begin:end])

    def restored(self, phrase: Sequence[str]) -> str | None:
        """The phrase as it stands in the text, else joined as it would be written; None where a word of it is unknown.

        >>> surface = Surface(Document(text="Web 2.0 and Multi-core CPUs."))
        >>> surface.restored(["web", "<digit>", ".", "<digit>"]), surface.restored(["peer", "-", "to", "-", "peer"])
        ('Web 2.0', 'peer-to-peer')
        >>> surface.restored(["version", "<digit>"]) is surface.restored(["-"]) is None
        True
        """
        if not any(char.isalnum() for word in phrase if word not in SPECIAL for char in word):
            return None
        found = self.find(phrase)
        if found is not None:
            return found
        return None if any(word in SPECIAL for word in phrase) else joined(phrase)


def joined(phrase: Sequence[str]) -> str:
    """Words and marks as they are written: marks that join words, or belong to one, without spaces.

    >>> joined(["multi", "-", "core"]), joined(["c", "+", "+", "programs"]), joined(["bees", "(", "insects", ")"])
    ('multi-core', 'c++ programs', 'bees (insects)')
    """
    text = ""
    for at, word in enumerate(phrase):
        apart = at > 0 and word not in _LEFT and phrase[at - 1] not in _RIGHT
        text += f" {word}" if apart else word
    return text


# ---------------------------------------------------------------------------------------------- the table


@dataclass(frozen=True)
class Words:
    """The table of words: the special ones, those of keyphrases (these are the head), other frequent ones of texts."""

    table: tuple[str, ...]
    written: int  # length of the head, special words included
    ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", {word: at for at, word in enumerate(self.table)})
        if self.table[: len(SPECIAL)] != SPECIAL or len(self.ids) != len(self.table):
            raise InputError("a table of words begins with the special ones, and has each word once")

    def __len__(self) -> int:
        return len(self.table)

    def numbered(self, source: Sequence[str]) -> Source:
        """The tokens of a document as numbers."""
        ids, written = self.ids, self.written
        own: dict[str, int] = {}
        read = [ids.get(word, UNK) for word in source]
        copied = [
            number if (number := ids.get(word, written)) < written else own.setdefault(word, written + len(own))
            for word in source
        ]
        return Source(read, copied, own)

    def as_text(self) -> str:
        """The table as a file: the length of the head, then a word on each line."""
        return "\n".join([str(self.written), *self.table, ""])

    @classmethod
    def of_text(cls, text: str) -> Words:
        """The table of a file; raises InputError where it is none."""
        first, *words = text.removesuffix("\n").split("\n")
        if not re.fullmatch("[0-9]{1,9}", first) or not len(SPECIAL) <= int(first) <= len(words):
            raise InputError("its first line is not the number of words that are written")
        return cls(tuple(words), int(first))


@dataclass(frozen=True, slots=True)
class Source:
    """A document for a generator: each token's number in the table, and its number for copying."""

    read: list[int]
    copied: list[int]
    own: dict[str, int]  # the words beyond the head


def count_words(documents: Iterable[Document], read: int, written: int) -> Words:
    """The table of the most frequent words of documents and of their keyphrases.

    Raises InputError if no document has references, or if keyphrases have no two different words.
    """
    texts, phrases = Counter[str](), Counter[str]()
    some = False
    for document in documents:
        texts.update(source_tokens(document))
        for reference in document.keyphrases or ():
            some = True
            phrases.update(tokens(first_of(reference)))
        for counts in (texts, phrases):
            if len(counts) > MOST_COUNTED:  # rare words go, so that memory does not grow with the corpus
                for word in [word for word, count in counts.items() if count == 1]:
                    del counts[word]
    if not some:
        raise InputError("a generator learns from references, and no document has any")
    head = _most_frequent(phrases, written, set(SPECIAL))
    if len(head) < 2:
        raise InputError(f"a generator needs keyphrases of different words, and there is only {head or 'none'}")
    rest = _most_frequent(texts, read - len(head), {*SPECIAL, *head})
    return Words((*SPECIAL, *head, *rest), len(SPECIAL) + len(head))


def _most_frequent(counts: Counter[str], most: int, without: set[str]) -> list[str]:
    ranked = sorted((-count, word) for word, count in counts.items() if word not in without)
    return [word for _, word in ranked[: max(most, 0)]]


def first_of(reference: str | Sequence[str | None] | None) -> str:
    """A reference as a text: of variants, the first."""
    if isinstance(reference, str) or reference is None:
        return reference or ""
    return next((each for each in reference if each), "")


# ---------------------------------------------------------------------------------------------- targets


class Stems:
    """Stems of tokens as one string; those of many words are remembered."""

    def __init__(self, language: str) -> None:
        self._stem: Callable[[str], str] = stemmer(stemmer_of(language))
        self._known: dict[str, str] = {}

    def __call__(self, words: Iterable[str]) -> str:
        """The stems with spaces around each."""
        if len(self._known) > REMEMBERED:
            self._known.clear()
        known, stem = self._known, self._stem
        return f" {' '.join([known.get(word) or known.setdefault(word, stem(word) or word) for word in words])} "


def split_references(
    document: Document, source: Sequence[str], stems: Stems
) -> tuple[list[list[str]], list[list[str]]]:
    """(the present references in the order of their first places, the absent ones), as tokens, each once.

    >>> document = Document(text="Nets of deep trees.", keyphrases=["deep tree", "bees", "net", "Net"])
    >>> split_references(document, source_tokens(document), Stems("english"))
    ([['net'], ['deep', 'tree']], [['bees']])
    """
    text = stems(source)
    present, absent = [], []
    seen = set()
    for reference in document.keyphrases or ():
        phrase = tokens(first_of(reference))
        form = stems(phrase)
        if not phrase or form in seen:
            continue
        seen.add(form)
        place = text.find(form)
        if place < 0:
            absent.append(phrase)
        else:
            present.append((place, phrase))
    return [phrase for _, phrase in sorted(present, key=lambda pair: pair[0])], absent


def targets_of(
    present: Sequence[Sequence[str]], absent: Sequence[Sequence[str]], words: Words, source: Source, targets: Targets
) -> Iterator[list[int]]:
    """What is to be written, as numbers: all phrases in one target, or one in each.

    One2Seq is `present <sep> present <peos> absent <sep> absent <eos>`. A phrase with a word that can neither be
    written nor copied is left out, and so is an absent one with a number, since neither could be text again.
    """

    def numbers(phrase: Sequence[str]) -> list[int]:
        return [_writable(word, words, source) for word in phrase]

    there = [found for phrase in present if UNK not in (found := numbers(phrase))]
    others = [found for phrase in absent if not {UNK, DIGIT} & set(found := numbers(phrase))]
    if targets == "one2one":
        yield from ([*phrase, EOS] for phrase in [*there, *others])
    elif there or others:
        yield one_target(there, others)


def one_target(present: Iterable[Sequence[int]], absent: Iterable[Sequence[int]]) -> list[int]:
    """Phrases as one target: `present <sep> present <peos> absent <sep> absent <eos>`."""
    return [*_separated(present), PEOS, *_separated(absent), EOS]


def places_of(
    present: Sequence[Sequence[str]], words: Words, source: Source, text: str, stems: Stems
) -> Iterator[list[int]]:
    """Where each of the present phrases that are in a target stands in the source, whose stems are `text`.

    >>> source, stems = ["deep", "nets", "of", "deep", "net"], Stems("english")
    >>> words = Words((*SPECIAL, "deep", "net"), len(SPECIAL) + 2)
    >>> list(places_of([["deep", "net"], ["of"]], words, words.numbered(source), stems(source), stems))
    [[0, 3], [2]]
    """
    for phrase in present:
        if any(_writable(word, words, source) == UNK for word in phrase):
            continue
        form, found = stems(phrase), list[int]()
        place = text.find(form)
        while place >= 0:
            found.append(text.count(" ", 0, place))
            place = text.find(form, place + 1)
        yield found


def _writable(word: str, words: Words, source: Source) -> int:
    number = words.ids.get(word, UNK)
    return number if UNK < number < words.written else source.own.get(word, UNK)


def _separated(phrases: Iterable[Sequence[int]]) -> Iterator[int]:
    for at, phrase in enumerate(phrases):
        if at:
            yield SEP
        yield from phrase


def parted_target(target: Sequence[int]) -> tuple[list[list[int]], list[list[int]]]:
    """(the present phrases, the absent ones) of a One2Seq target, with or without padding behind it.

    >>> parted_target([11, 12, SEP, 13, PEOS, 14, EOS, PAD])
    ([[11, 12], [13]], [[14]])
    """
    halves: tuple[list[list[int]], list[list[int]]] = ([], [])
    phrase: list[int] = []
    which = 0
    for number in target:
        if number not in (SEP, PEOS, EOS, PAD):
            phrase.append(number)
            continue
        if phrase:
            halves[which].append(phrase)
            phrase = []
        which = 1 if number == PEOS else which
        if number == EOS:
            break
    return halves
