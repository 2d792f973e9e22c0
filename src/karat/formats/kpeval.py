"""KPEval's `hypotheses_linked.json`: JSON lines of `source`, `target`, `predictions`, corpus and run in one file.

`source` is `title [sep] text`, the others strings with `;` between the phrases; the documentation calls the last one
`prediction`, which is read too. There may be an `id`. Phrases are read as KPEval reads them: pieces of words are put
together (`key ##phrase`), `[ digit ]` is `[digit]`; `[digit]` and `[unk]` stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from karat.corpus import Document, Prediction, Reference
from karat.formats.base import Record, join_phrases, split_phrases
from karat.formats.records import Layout, record_format

TITLE_END, SEPARATOR = " [sep] ", " ; "
_TITLE_END = re.compile(r" ?\[sep\] ?", re.IGNORECASE)


class _Linked(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: str | int | None = None
    source: str | None
    target: str | list[str | None] | None = None
    predictions: str | list[str | None] | None = None
    prediction: str | list[str | None] | None = None


def _document(linked: _Linked) -> Document:
    title, text = _title_and_text(linked.source or "")
    references: list[Reference] | None = None if linked.target is None else [*_phrases(linked.target)]
    return Document(id=_id(linked), title=title, text=text, keyphrases=references)


def _title_and_text(source: str) -> tuple[str, str]:
    """What stands before the first [sep] and after it, but for the space on each side."""
    end = _TITLE_END.search(source)
    return (source[: end.start()], source[end.end() :]) if end else ("", source)


def _prediction(linked: _Linked) -> Prediction:
    given = linked.prediction if linked.predictions is None else linked.predictions
    if given is None:
        raise ValueError('there are no predictions; write "predictions": "a ; b"')
    return Prediction(id=_id(linked), keyphrases=_phrases(given))


def _phrases(given: str | list[str | None]) -> list[str | None]:
    found: Iterable[str | None] = split_phrases(given) if isinstance(given, str) else given
    return [phrase and phrase.replace(" ##", "").replace("[ digit ]", "[digit]") for phrase in found]


def _id(linked: _Linked) -> str | int | None:
    return None if linked.id == "" else linked.id


def _of_document(document: Document) -> _Linked:
    return _Linked(id=document.id, source=_source(document), target=_joined(document.keyphrases))


def _source(document: Document) -> str:
    title, text = document.title or "", document.text or ""
    # A mark in the text itself would be taken for the end of a title.
    return f"{title}{TITLE_END}{text}" if title or _TITLE_END.search(text) else text


def _of_prediction(prediction: Prediction) -> _Linked:
    # KPEval asks for all three fields, and takes anything for the two that only the corpus knows.
    return _Linked(id=prediction.id, source="", target="", predictions=_joined(prediction.keyphrases))


def _joined(phrases: Iterable[Reference] | None) -> str:
    return join_phrases(phrases, SEPARATOR)


def _fits(record: Record) -> bool:
    return "source" in record and not {"target", "predictions", "prediction"}.isdisjoint(record)


FORMAT = record_format(
    name="kpeval",
    summary="KPEval: JSON lines of source as `title [sep] text`, target and predictions as `a ; b`",
    fits=_fits,
    layout=Layout(
        kind=_Linked,
        document=_document,
        prediction=_prediction,
        of_document=_of_document,
        of_prediction=_of_prediction,
    ),
)
