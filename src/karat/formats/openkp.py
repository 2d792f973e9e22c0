"""OpenKP: JSON lines of web pages, `url`, `text` (no title, no punctuation), `VDOM` and `KeyPhrases`.

A phrase is a list of tokens, `["Key", "Generator"]`, and one that is not there an empty list; phrases may be strings
too, and the whole list a string of JSON. A run has `url` and `KeyPhrases`, best first, and `Scores` where the system
wrote them. The url is the id. The pages that are to be predicted have no `KeyPhrases`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from karat.corpus import Document, Phrase, Prediction, Reference, text_of_id
from karat.formats.base import Record, first_variant
from karat.formats.json_bytes import check_values
from karat.formats.records import Layout, record_format

Tokens = list[str] | str | None
T = TypeVar("T")


class _Page(msgspec.Struct, kw_only=True, omit_defaults=True, rename={"phrases": "KeyPhrases", "scores": "Scores"}):
    url: str
    text: str | None = None
    phrases: str | list[Tokens] | None = None
    scores: str | list[float | None] | None = None


def listed(given: str | list[T] | None, kind: Any, field: str) -> list[T]:
    """The list of a field, also where it is written as a string of JSON, as in a table."""
    if not isinstance(given, str):
        return given or []
    check_values(given.encode(errors="replace"), "", field)
    try:
        found: list[T] | None = msgspec.json.decode(given.strip() or "null", type=kind | None)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(f"{field} is a text that is no list: {error}") from None
    return found or []


def phrases_of(given: str | list[Tokens] | None, field: str) -> list[Phrase]:
    """The phrases that are given as lists of tokens; None for an empty list.

    >>> phrases_of([["Key", "Generator"], "web page", []], "KeyPhrases")
    ['Key Generator', 'web page', None]
    """
    found = listed(given, list[Tokens], field)
    return [(" ".join(tokens) if tokens else None) if isinstance(tokens, list) else tokens for tokens in found]


def tokens_of(phrase: Phrase) -> list[str]:
    """The tokens of a phrase; none where there is no phrase.

    >>> tokens_of("Key Generator"), tokens_of(""), tokens_of(None)
    (['Key', 'Generator'], [''], [])
    """
    return [] if phrase is None else phrase.split(" ")


def agreeing(scores: list[Any], phrases: list[Phrase]) -> list[float | None] | None:
    """The scores where there is one for each phrase, or its absence; else None."""
    fits = len(scores) == len(phrases) and all(score is None or isinstance(score, int | float) for score in scores)
    return scores if scores and fits else None


def _document(page: _Page) -> Document:
    references: list[Reference] | None = None if page.phrases is None else [*phrases_of(page.phrases, "KeyPhrases")]
    return Document(id=page.url or None, text=page.text, keyphrases=references)


def _prediction(page: _Page) -> Prediction:
    phrases = phrases_of(page.phrases, "KeyPhrases")
    scores = listed(page.scores, list[float | None], "Scores")
    return Prediction(id=page.url or None, keyphrases=phrases, scores=agreeing(scores, phrases))


def _of_document(document: Document) -> _Page:
    # First variants would turn a phrase that is not there into an empty one.
    phrases = [None if phrase is None else first_variant(phrase) for phrase in document.keyphrases or ()]
    return _Page(url=text_of_id(document.id) or "", text=document.text or "", phrases=[*map(tokens_of, phrases)])


def _of_prediction(prediction: Prediction) -> _Page:
    phrases: list[Tokens] = [*map(tokens_of, prediction.keyphrases or ())]
    return _Page(url=text_of_id(prediction.id) or "", phrases=phrases, scores=prediction.scores)


def _fits(record: Record) -> bool:
    return "url" in record and ("KeyPhrases" in record or {"text", "VDOM"} <= record.keys())


FORMAT = record_format(
    name="openkp",
    summary="OpenKP: JSON lines of url, text, KeyPhrases as lists of tokens; a run may have Scores",
    fits=_fits,
    layout=Layout(
        kind=_Page,
        document=_document,
        prediction=_prediction,
        of_document=_of_document,
        of_prediction=_of_prediction,
    ),
)
