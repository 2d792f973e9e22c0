"""Corpus and Run: what is scored, as named, re-readable sequences of small records.

Both are read in batches, so that a corpus larger than memory can be scored; a batch may hold its records as
undecoded lines, which are cheap to hand to another process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from math import inf, isfinite, isnan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from karat.errors import InputError
from karat.inert import encodable
from karat.limits import limits

Phrase = str | None
Reference = Phrase | list[Phrase]  # a list holds the variants of one reference
# Numbers of a phrase's tokens. One may be missing where they are read; then the phrase has none (see below).
if TYPE_CHECKING:
    Tokens = list[float]
else:
    Tokens = list[float | None]


class Document(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One document with its references; everything but the id may be missing."""

    id: str | int | None = None
    title: str | None = None
    text: str | None = None
    keyphrases: list[Reference] | None = None
    reference_sets: dict[str, list[Reference]] | None = None
    sentences: list[list[tuple[str, str]]] | None = None  # words with their classes, where somebody has tagged them


class Prediction(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One document's ranked phrases by one system, with whatever the system tells of them."""

    id: str | int | None = None
    keyphrases: list[Phrase] | None = None
    scores: list[float | None] | None = None
    token_probs: list[Tokens | None] | None = None
    token_logprobs: list[Tokens | None] | None = None
    kinds: list[str] | None = None
    concepts: list[str | None] | None = None  # the URI of each phrase's concept in a vocabulary
    concepts_by: list[str | None] | None = None  # how that was found: exact, stem or similar

    def __post_init__(self) -> None:
        """Raises InputError if scores, probabilities, kinds or concepts are not one for each phrase, or not valid."""
        if all(each is None for each in _of_phrases(self)):
            return
        count = len(self.keyphrases or ())
        for name in PER_PHRASE:
            values = getattr(self, name)
            if values is not None and len(values) != count:
                raise InputError(f"{len(values)} {name} for {count} keyphrases")
        for kind in self.kinds or ():
            if kind not in ("present", "absent"):
                raise InputError(f"a kind is `present` or `absent`, not {str(kind)[:40]!r}")
        if not _all_finite(filter(None, self.scores or ())):
            raise InputError(_NOT_FINITE)
        for name in ("token_probs", "token_logprobs"):
            tokens = getattr(self, name)
            if tokens is not None and not _all_finite(chain.from_iterable(filter(None, tokens))):
                lowest = 0.0 if name == "token_probs" else -inf  # the logarithm of a probability of 0
                msgspec.structs.force_setattr(self, name, [_whole(each, lowest) for each in tokens])


PER_PHRASE = ("scores", "token_probs", "token_logprobs", "kinds", "concepts", "concepts_by")  # one for each phrase
_of_phrases = attrgetter(*PER_PHRASE)
_NOT_FINITE = "a score or probability is not a finite number; write null where there is none"


def _all_finite(numbers: Iterable[float]) -> bool:
    try:
        return all(map(isfinite, numbers))
    except (TypeError, OverflowError):  # no number, or a whole number beyond what a float can be
        return False


def _whole(tokens: Sequence[float | None] | None, lowest: float) -> list[float] | None:
    """The numbers of a phrase's tokens; None where one of them is missing or NaN, since the phrase has none then."""
    there = [number for number in tokens or () if number is not None and not _is_nan(number)]
    if not all(_all_finite([number]) or number == lowest for number in there):
        raise InputError(_NOT_FINITE)
    return there if tokens is not None and len(there) == len(tokens) else None


def _is_nan(number: float) -> bool:
    return isinstance(number, float) and isnan(number)


R = TypeVar("R", Document, Prediction)

NO_PREDICTIONS = Prediction(keyphrases=[])


@dataclass(frozen=True, slots=True)
class Batch(Generic[R]):
    """Some consecutive records: decoded, or raw with the function that decodes them."""

    ids: list[str | None]
    raw: Sequence[Any]
    places: Sequence[int]  # line numbers, or positions where there are no lines
    decode: Callable[[Sequence[Any], Sequence[int]], list[R]] | None = None  # None where raw holds records

    def __len__(self) -> int:
        return len(self.ids)

    def records(self) -> list[R]:
        """The records, decoded."""
        return list(self.raw) if self.decode is None else self.decode(self.raw, self.places)

    def pick(self, keep: Sequence[int]) -> Batch[R]:
        """The batch of some of the records."""
        if len(keep) == len(self):
            return self
        ids, raw, places = ([column[i] for i in keep] for column in (self.ids, self.raw, self.places))
        return Batch(ids, raw, places, self.decode)  # type: ignore[arg-type]


Batches = Callable[[], Iterator[Batch[R]]]

AHEAD = 8  # batches that are kept when they are looked at before the reading


class LookAhead(Generic[R]):
    """Batches that can be read again: a call reads them from the first on.

    `ahead` looks at the first ones before that. What it has read is kept, and the next call goes on behind it, so that
    looking at a file and reading it open it once. What is kept of a file that was changed since is forgotten.
    """

    __slots__ = ("_ended", "_kept", "_origin", "_read", "_rest", "_state")

    def __init__(self, read: Batches[R], origin: str = "memory") -> None:
        self._read: Batches[R] = read
        self._origin = origin
        self._state = _state_of(origin)
        self._kept: list[Batch[R]] = []
        self._rest: Iterator[Batch[R]] | None = None  # open, behind what is kept
        self._ended = False  # whether all there is is kept

    def __call__(self) -> Iterator[Batch[R]]:
        """All batches."""
        self._forget_changed()
        if self._ended:
            return iter(list(self._kept))
        rest, self._rest = self._rest, None
        return self._read() if rest is None else chain(list(self._kept), rest)

    @property
    def source(self) -> Batches[R]:
        """What the batches are read by."""
        return self._read

    def __reduce__(self) -> tuple[Any, ...]:
        return LookAhead, (self._read, self._origin)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the function that reads has to say, where it has `notes`."""
        found: tuple[str, ...] = tuple(getattr(self._read, "notes", tuple)())
        return found

    @property
    def unread(self) -> tuple[str, ...]:
        """The files that could not be read so far, where the function that reads goes on without them."""
        found: tuple[str, ...] = tuple(getattr(self._read, "unread", tuple)())
        return found

    def ahead(self) -> Iterator[Batch[R]]:
        """The batches, each read when it is needed."""
        self._forget_changed()
        for at in range(AHEAD):
            if at == len(self._kept) and not self._keep_next():
                return
            yield self._kept[at]
        further = islice(self(), AHEAD, None)
        batch = next(further, None)
        if batch is None:
            self._ended = True
            return
        yield batch
        yield from further

    def _forget_changed(self) -> None:
        state = _state_of(self._origin)
        if state != self._state:
            self._state, self._kept, self._rest, self._ended = state, [], None, False

    def _keep_next(self) -> bool:
        if self._ended:
            return False
        if self._rest is None:
            self._rest = islice(self._read(), len(self._kept), None)
        batch = next(self._rest, None)
        if batch is None:
            self._ended, self._rest = True, None
            return False
        self._kept.append(batch)
        return True


def split_paths(path: str) -> list[str]:
    """Split A+B into its paths.

    A path that exists, or whose folder has the `+` and exists, is one path. Of several `+`, the one counts that parts
    two paths that exist, or whose folders do.
    """
    folder, name = os.path.split(path)
    if os.path.exists(path) or ("+" in folder and "+" not in name and os.path.isdir(folder)):
        return [path]
    parts = path.split("+")
    if len(parts) <= 2 or all(map(os.path.exists, parts)):
        return parts
    halves = [["+".join(parts[:i]), "+".join(parts[i:])] for i in range(1, len(parts))]
    best = max(halves, key=lambda pair: sum(map(_existence, pair)))
    return best if all(map(_existence, best)) else parts


def _existence(path: str) -> int:
    """Return 2 for a path that exists, 1 if only its folder does, else 0."""
    return 2 if os.path.exists(path) else int(bool(path) and os.path.isdir(os.path.dirname(path) or "."))


def _state_of(origin: str) -> tuple[tuple[int, int, int], ...]:
    """How a change of files is seen: inode, size and time of those that an origin names; of others nothing."""
    found = []
    for path in split_paths(origin):
        names = (os.path.join(path, name) for name in sorted(os.listdir(path))) if os.path.isdir(path) else (path,)
        for name in names:
            with suppress(OSError):
                status = os.stat(name)
                found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Records(Generic[R]):
    """What Corpus and Run share: a name, where they were read from, and batches that can be read again."""

    name: str
    batches: Batches[R]
    origin: str = "memory"

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", encodable(self.name))  # a file's name may be no text at all
        if not isinstance(self.batches, LookAhead):
            object.__setattr__(self, "batches", LookAhead(self.batches, self.origin))

    @property
    def source(self) -> Batches[R]:
        """What reads the batches, without looking ahead."""
        assert isinstance(self.batches, LookAhead)
        return self.batches.source

    def ahead(self) -> Iterator[Batch[R]]:
        """The batches, each read when it is needed: to look at the first ones without reading them twice."""
        assert isinstance(self.batches, LookAhead)
        return self.batches.ahead()

    def records_ahead(self) -> Iterator[R]:
        """The records, each read when it is needed, likewise."""
        for batch in self.ahead():
            yield from batch.records()

    def __iter__(self) -> Iterator[R]:
        for batch in self.batches():
            yield from batch.records()

    def __len__(self) -> int:
        return sum(map(len, self.ahead()))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of how it is read: what was left out so far, which columns were guessed."""
        assert isinstance(self.batches, LookAhead)
        return self.batches.notes

    @property
    def unread(self) -> tuple[str, ...]:
        """The files of a folder that could not be read so far."""
        assert isinstance(self.batches, LookAhead)
        return self.batches.unread

    @property
    def ids(self) -> list[str | None]:
        """The ids in order; None where a record has none."""
        return [identifier for batch in self.ahead() for identifier in batch.ids]


class Corpus(_Records[Document]):
    """A named sequence of documents."""

    @property
    def semeval(self) -> bool:
        """Whether `semeval` is in its name or its path, in any case: references=by-name goes by that."""
        return "semeval" in f"{self.name}\n{self.origin}".lower()

    @classmethod
    def of(cls, documents: Iterable[Document | Mapping[str, Any]], name: str = "corpus") -> Corpus:
        """A corpus of documents that are at hand, as Document objects or as dicts of the same fields."""
        return cls(name, _in_memory(documents, Document))


class Run(_Records[Prediction]):
    """One system's predictions for the documents of a corpus."""

    @classmethod
    def of(cls, predictions: Iterable[Prediction | Mapping[str, Any]], name: str = "run") -> Run:
        """A run of predictions that are at hand, as Prediction objects or as dicts of the same fields."""
        return cls(name, _in_memory(predictions, Prediction))

    def without(self, ids: Collection[str]) -> Run:
        """The run without its predictions for some documents.

        >>> Run.of([{"id": "d1"}, {"id": "d1-p"}, {"id": "d2"}]).without({"d1-p"}).ids
        ['d1', 'd2']
        """
        return Run(self.name, partial(_left, self.batches, ids), self.origin) if ids else self


def _left(batches: Batches[Prediction], ids: Collection[str]) -> Iterator[Batch[Prediction]]:
    for batch in batches():
        left = batch.pick([n for n, identifier in enumerate(batch.ids) if identifier not in ids])
        if len(left):
            yield left


BATCH_DOCUMENTS = 1000
MOST_BYTES = 4  # of a character
BATCH_SIZE = 64 * 10**6  # characters of texts and phrases, after which a batch ends early
PHRASE_SIZE = 64  # characters that a phrase counts for at least: what a short string takes


def in_batches(records: Iterable[tuple[int, R]], origin: str | None = None) -> Iterator[Batch[R]]:
    """Decoded records, each with its place (a line, or a number where there are no lines), in batches.

    Raises InputError if a record that was read from `origin` has more phrases or text than the limits allow.
    """
    reading = iter(records)
    while part := list(_some_of(reading, origin)):
        held = [record for _, record in part]
        yield Batch([text_of_id(record.id) for record in held], held, [place for place, _ in part])


def _some_of(records: Iterator[tuple[int, R]], origin: str | None) -> Iterator[tuple[int, R]]:
    """The records of the next batch."""
    size, least = 0.0, least_limit()
    for place, record in islice(records, BATCH_DOCUMENTS):
        small = _small_size(record)
        if small >= least:
            small = check_counts(record, None if origin is None else f"{origin}:{place}")
        size += small
        yield place, record
        if size > BATCH_SIZE:
            return


# ---------------------------------------------------------------------------------------------- limits on counts

_TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")  # as the tokenizer `marks` cuts


def least_limit() -> int:
    """Return the size below which a record is within all limits on counts."""
    most = limits()
    return min(most.text // MOST_BYTES, most.tokens, most.words, most.phrases, most.references)


def _small_size(record: Document | Prediction) -> float:
    """Return the size of a record whose fields are strings and a list of strings; infinity for any other."""
    phrases: Any = record.keyphrases or ()
    try:
        size = len("".join(phrases)) + PHRASE_SIZE * len(phrases)
    except TypeError:  # None, or a list of variants
        return inf
    if type(record) is Document:
        if record.reference_sets is not None or record.sentences is not None:
            return inf
        size += len(record.title or "") + len(record.text or "")
    return size


def check_counts(record: Document | Prediction, where: str | None) -> int:
    """Raises InputError if a record has more phrases, tokens or text than the limits allow; returns its size.

    `where` names the place of the record in a file; a record that is from no file has no limits.
    """
    size, phrases = 0, record.keyphrases or []
    if isinstance(record, Document):
        size = len(record.title or "") + len(record.text or "")
        phrases = list(_variants(record)) if _nested(record) else phrases
    strings: list[str] = list(filter(None, phrases))  # type: ignore[arg-type]
    characters = sum(map(len, strings))
    if where is not None:
        _check_phrases(record, len(phrases), strings, characters, where)
        _check_text(record, size, where)
    return size + characters + PHRASE_SIZE * len(phrases)


def _nested(document: Document) -> bool:
    """Whether a document has references other than one list of strings."""
    return document.reference_sets is not None or list in set(map(type, document.keyphrases or ()))


def _variants(document: Document) -> Iterator[Phrase]:
    """All references of a document with their variants; an empty list of these counts as one."""
    sets = list((document.reference_sets or {}).values())
    for references in sets if document.keyphrases is None else [document.keyphrases, *sets]:
        for reference in references or [None]:
            yield from (reference or [None]) if isinstance(reference, list) else [reference]


def _check_phrases(record: Document | Prediction, count: int, strings: list[str], size: int, where: str) -> None:
    most = limits()
    name = "references" if isinstance(record, Document) else "phrases"
    if count > getattr(most, name):
        raise most.exceeded(name, where, "the document")
    if size <= min(most.words, most.tokens, most.text // MOST_BYTES):
        return
    if _bytes_of(strings) > most.text:
        raise most.exceeded("text", where, "the list of phrases")
    if max(map(len, strings)) > most.words and any(_has_more([each], most.words) for each in strings):
        raise most.exceeded("words", where, "a phrase")
    if size > most.tokens and _has_more(strings, most.tokens):
        raise most.exceeded("tokens", where, "the list of phrases")


def _check_text(record: Document | Prediction, size: int, where: str) -> None:
    most = limits()
    if not isinstance(record, Document):
        return
    if size > min(most.tokens, most.text // MOST_BYTES):
        texts = [text for text in (record.title, record.text) if text]
        if _bytes_of(texts) > most.text:
            raise most.exceeded("text", where, "the document")
        if _has_more(texts, most.tokens):
            raise most.exceeded("tokens", where, "the document")
    if record.sentences is not None and sum(map(len, record.sentences)) + len(record.sentences) > most.tokens:
        raise most.exceeded("tokens", where, "the document")


def _bytes_of(texts: Iterable[str]) -> int:
    return sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)


def _has_more(texts: Iterable[str], most: int) -> bool:
    """Whether texts have more tokens than that; no more of them are looked at than it takes to say so."""
    tokens = chain.from_iterable(map(_TOKEN.finditer, texts))
    return next(islice(tokens, most, None), None) is not None


def _in_memory(records: Iterable[R | Mapping[str, Any]], kind: type[R]) -> Batches[R]:
    held = [(place, _record(record, kind, place)) for place, record in enumerate(records, 1)]
    return partial(in_batches, held)


def _record(record: R | Mapping[str, Any], kind: type[R], place: int) -> R:
    try:
        return msgspec.convert(record, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"{kind.__name__.lower()} {place}: {error}") from None


def text_of_id(identifier: str | int | None) -> str | None:
    """An id as the string it is matched by."""
    return identifier if identifier is None or isinstance(identifier, str) else str(identifier)
