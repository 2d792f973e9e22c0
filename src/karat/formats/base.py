"""What a format is, and what its modules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from karat.corpus import Batches, Document, Phrase, Prediction, Reference
from karat.errors import InputError
from karat.limits import limits

if TYPE_CHECKING:
    from karat.formats.head import Head

Record = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A layout of files: what it is, how to tell it, how to read it and, where it can be written, how.

    `fits` looks at the head of a path; a `general` format fits what others fit better, and is tried after them.
    `corpus` and `run` give batches that can be read again and again; `save_corpus` and `save_run` write what they can
    hold: whether that is everything is found out by reading it back.
    """

    name: str
    summary: str
    fits: Callable[[Head], bool]
    corpus: Callable[[str], Batches[Document]] | None = None
    run: Callable[[str], Batches[Prediction]] | None = None
    save_corpus: Callable[[str, Iterable[Document]], None] | None = None
    save_run: Callable[[str, Iterable[Prediction]], None] | None = None
    general: bool = False
    pair: bool = False  # a corpus is written as two files, A+B


def brief(text: str, most: int = 300) -> str:
    r"""The text as a message may repeat it: on one line, and cut where it is long.

    >>> brief("no\nway"), brief("much ado about nothing", 12)
    ('no way', 'much ado ...')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 3] + "..."


def quoted(text: str) -> str:
    r"""The text in quotes as a message may repeat it.

    >>> quoted("C-1"), quoted("a\nb")
    ("'C-1'", "'a\\nb'")
    """
    shown = repr(text[:100])
    return shown if len(text) <= 100 and len(shown) <= 100 else shown[:97] + "..."


def some(names: Sequence[str], most: int = 5) -> str:
    """The first of some names, and how many more there are.

    >>> some(["a.pdf", "b.pdf"]), some("abcdefg")
    ('a.pdf, b.pdf', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def split_phrases(text: str | None, separator: str = ";", where: str = "", variants: str = "") -> list[str]:
    """The phrases of a string that holds several, blank ones too; none of an empty string.

    Raises InputError, which begins with `where`, if they are more than a document may have; those that are parted by
    `variants` count too, and are not split.

    >>> split_phrases("deep learning; neural nets"), split_phrases("a;;b"), split_phrases(" ")
    (['deep learning', 'neural nets'], ['a', '', 'b'], [])
    """
    if not text or text.isspace():
        return []
    if text.count(separator) + (text.count(variants) if variants else 0) >= most_phrases():
        raise too_many_phrases(where)
    return [phrase.strip() for phrase in text.split(separator)]


def collect_phrases(phrases: Iterable[T], where: str) -> list[T]:
    """A list of phrases that are read one by one. Raises InputError if they are more than a document may have."""
    found = list(islice(phrases, most_phrases() + 1))
    if len(found) > most_phrases():
        raise too_many_phrases(where)
    return found


def most_phrases() -> int:
    """How many phrases a document may have, be they references or predictions."""
    return max(limits().phrases, limits().references)


def too_many_phrases(where: str) -> InputError:
    """The error for a document that has more."""
    return limits().exceeded(max("references", "phrases", key=partial(getattr, limits())), where, "the document")


def as_predictions(documents: Iterable[tuple[int, Document]]) -> Iterator[tuple[int, Prediction]]:
    """The references of documents as predictions, of variants the first."""
    for place, document in documents:
        phrases: list[Phrase] = [first_variant(phrase) for phrase in document.keyphrases or ()]
        yield place, Prediction(id=document.id, keyphrases=phrases)


def join_phrases(phrases: Iterable[Reference] | None, separator: str = ";") -> str:
    """The phrases in one string, of variants the first.

    >>> join_phrases(["a", ["b", "c"]])
    'a;b'
    """
    return separator.join(map(first_variant, phrases or ()))


def first_variant(phrase: Reference) -> str:
    """The phrase itself, or the first of its variants; empty where it is nothing.

    >>> first_variant("a"), first_variant(["b", "c"]), first_variant(None)
    ('a', 'b', '')
    """
    if isinstance(phrase, list):
        phrase = phrase[0] if phrase else None
    return phrase or ""
