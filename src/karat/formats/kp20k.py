"""KP20k, KPTimes and StackEx: JSON lines of a title, a text and one string of keyphrases, with `;` between them.

KP20k has `title`, `abstract`, `keyword`; StackEx `title`, `question`, `tags`. KPTimes has the fields of KP20k, `id`,
`date`, `categories` and more, and a `,` between the variants of one phrase: `Republican National Convention,RNC` is
one reference; the files of its own script have lists of variants instead. Published scores mostly take such variants
for one long phrase: that is KPTimes read as kp20k.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from karat.corpus import Document, Prediction, Reference
from karat.formats.base import Format, Record, first_variant, join_phrases, split_phrases
from karat.formats.records import Layout, record_format

VARIANTS = ","  # between the variants of a phrase of KPTimes


class _Paper(msgspec.Struct, kw_only=True, omit_defaults=True, rename={"text": "abstract", "phrases": "keyword"}):
    id: str | int | None = None
    title: str | None = None
    text: str | None = None
    phrases: str | list[Reference] | None


class _News(msgspec.Struct, kw_only=True, omit_defaults=True, rename={"text": "abstract", "phrases": "keyword"}):
    id: str | int | None = None
    date: Any = None
    categories: Any = None
    title: str | None = None
    text: str | None = None
    phrases: str | list[Reference] | None


class _Question(msgspec.Struct, kw_only=True, omit_defaults=True, rename={"text": "question", "phrases": "tags"}):
    id: str | int | None = None
    title: str | None = None
    text: str | None = None
    phrases: str | list[Reference] | None


_Item = _Paper | _News | _Question
_Split = Callable[[str], list[Reference]]


def _plain(text: str) -> list[Reference]:
    return [*split_phrases(text)]


def _with_variants(text: str) -> list[Reference]:
    """The phrases of a string; one with commas is a list of its variants."""
    phrases = split_phrases(text, variants=VARIANTS)
    return [[*split_phrases(phrase, VARIANTS)] if VARIANTS in phrase else phrase for phrase in phrases]


def _joined_with_variants(phrases: list[Reference] | None) -> str:
    """The phrases in one string, with all their variants."""
    given = (phrase if isinstance(phrase, list) else [phrase] for phrase in phrases or ())
    return ";".join(VARIANTS.join(variant or "" for variant in variants) for variants in given)


def _document(split: _Split, item: _Item) -> Document:
    return Document(
        id=None if item.id == "" else item.id,
        title=item.title,
        text=item.text,
        keyphrases=split(item.phrases) if isinstance(item.phrases, str) else item.phrases,
    )


def _prediction(split: _Split, item: _Item) -> Prediction:
    found = _document(split, item)
    return Prediction(id=found.id, keyphrases=[first_variant(phrase) for phrase in found.keyphrases or ()])


# Whoever reads such files asks for every field: what a document lacks is written as nothing.


def _paper(document: Document) -> _Paper:
    phrases = join_phrases(document.keyphrases)
    return _Paper(id=document.id, title=document.title or "", text=document.text or "", phrases=phrases)


def _question(document: Document) -> _Question:
    phrases = join_phrases(document.keyphrases)
    return _Question(id=document.id, title=document.title or "", text=document.text or "", phrases=phrases)


def _news(document: Document) -> _News:
    return _News(
        id=document.id,
        date="",  # these two tell KPTimes from KP20k
        categories=[],
        title=document.title or "",
        text=document.text or "",
        phrases=_joined_with_variants(document.keyphrases),
    )


def _predicted(kind: type[Any], prediction: Prediction) -> Any:
    return kind(id=prediction.id, phrases=join_phrases(prediction.keyphrases))


def _holds(text: str, phrases: str, record: Record) -> bool:
    """Whether a record has the field of phrases, and a text or nothing else: predictions need no text."""
    return phrases in record and (text in record or record.keys() <= {"id", phrases})


def _is_news(record: Record) -> bool:
    return {"abstract", "keyword", "date", "categories"} <= record.keys()


def _format(
    name: str, summary: str, fits: Callable[[Record], bool], write: Callable[[Document], _Item], split: _Split = _plain
) -> Format:
    kind = {"kp20k": _Paper, "kptimes": _News, "stackex": _Question}[name]
    layout: Layout[Any] = Layout(
        kind=kind,
        document=partial(_document, split),
        prediction=partial(_prediction, split),
        of_document=write,
        of_prediction=partial(_predicted, kind),
    )
    return record_format(name=name, summary=summary, fits=fits, layout=layout)


FORMATS = (
    _format(
        "kp20k",
        "KP20k: JSON lines of title, abstract, keyword as `a;b`",
        lambda record: _holds("abstract", "keyword", record) and not _is_news(record),
        _paper,
    ),
    _format(
        "kptimes",
        "KPTimes: JSON lines of id, date, categories, title, abstract, keyword as `a;b,variant of b`",
        _is_news,
        _news,
        _with_variants,
    ),
    _format(
        "stackex",
        "StackEx: JSON lines of title, question, tags as `a;b`",
        partial(_holds, "question", "tags"),
        _question,
    ),
)
