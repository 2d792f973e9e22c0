"""OpenNMT-kpg: a corpus as JSON lines of `title`, `abstract`, `keywords`, and its `.pred` files.

`keywords` is a list, in some sets a string with `;`. A line of a `.pred` file has lists of tokens in `pred_sents`, one
for each phrase, and their log-probabilities in `pred_scores`, beside much that is not read (`src`, `attns`, `preds`,
...). Of a model that writes all phrases as one sequence, `pred_sents` holds the unique phrases of all beams, and
`topseq_pred_sents` those of the best beam alone: the format opennmt-top. There are no ids: line n is document n. A
`.pred` file is no corpus: its `gold_sent` are eight references at most, drawn with repetition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from karat.corpus import Document, Phrase, Prediction, Reference
from karat.formats.base import Format, Record, first_variant, split_phrases
from karat.formats.containers import cell_list
from karat.formats.load import check_value
from karat.formats.openkp import Tokens, agreeing, listed, phrases_of, tokens_of
from karat.formats.records import Layout, record_format


class _Paper(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: str | int | None = None
    title: str | None = None
    abstract: str | None = None
    keywords: str | list[str | None] | None


class _Predicted(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: str | int | None = None
    pred_sents: str | list[Tokens] | None
    pred_scores: str | list[Any] | None = None


class _TopSequence(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: str | int | None = None
    topseq_pred_sents: str | list[Tokens] | None
    topseq_pred_scores: str | list[Any] | None = None


def _document(paper: _Paper) -> Document:
    references: list[Reference] | None = None if paper.keywords is None else [*_keywords(paper.keywords)]
    return Document(id=_id(paper.id), title=paper.title, text=paper.abstract, keyphrases=references)


def _keywords(given: str | list[Phrase]) -> list[Phrase]:
    """The phrases of a list, or of a string that holds several: in a table it may be written as a list."""
    if not isinstance(given, str):
        return given
    found = cell_list(given)
    return found if all(phrase is None or isinstance(phrase, str) for phrase in found) else [*split_phrases(given)]


def _of_document(document: Document) -> _Paper:
    keywords = [None if phrase is None else first_variant(phrase) for phrase in document.keyphrases or ()]
    return _Paper(id=document.id, title=document.title or "", abstract=document.text or "", keywords=keywords)


def _prediction(line: _Predicted) -> Prediction:
    phrases = phrases_of(line.pred_sents, "pred_sents")
    scores = listed(line.pred_scores, list[Any], "pred_scores")
    check_value(scores, "")
    return Prediction(id=_id(line.id), keyphrases=phrases, scores=agreeing(scores, phrases))


def _top_prediction(line: _TopSequence) -> Prediction:
    if line.topseq_pred_sents is None:
        raise ValueError("topseq_pred_sents is null, as with a model of one phrase a sequence; read it as opennmt")
    return _prediction(
        _Predicted(id=line.id, pred_sents=line.topseq_pred_sents, pred_scores=line.topseq_pred_scores),
    )


def _of_prediction(prediction: Prediction) -> _Predicted:
    phrases: list[Tokens] = [*map(tokens_of, prediction.keyphrases or ())]
    return _Predicted(id=prediction.id, pred_sents=phrases, pred_scores=prediction.scores)


def _id(identifier: str | int | None) -> str | int | None:
    return None if identifier == "" else identifier


def _fits(record: Record) -> bool:
    return "pred_sents" in record or {"abstract", "keywords"} <= record.keys()


def _format() -> Format:
    """The corpus and the run of the same name, whose records have nothing in common."""
    corpus = record_format(
        name="opennmt",
        summary="OpenNMT-kpg: JSON lines of title, abstract, keywords; a run is a .pred file",
        fits=_fits,
        layout=Layout(kind=_Paper, document=_document, of_document=_of_document),
    )
    layout = Layout(kind=_Predicted, prediction=_prediction, of_prediction=_of_prediction)
    run = record_format(name="opennmt", summary=corpus.summary, fits=_fits, layout=layout)
    return replace(corpus, run=run.run, save_run=run.save_run)


FORMAT = _format()

FORMATS = (
    FORMAT,
    record_format(
        name="opennmt-top",
        summary="OpenNMT-kpg: the phrases of the best sequence alone in a .pred file",
        fits=lambda record: False,  # it has to be named: the same files are read as opennmt
        layout=Layout(kind=_TopSequence, prediction=_top_prediction),
    ),
)
