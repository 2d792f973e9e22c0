"""The columns of the keyphrase sets on the Hugging Face hub, in JSON lines, Parquet or any other container.

* midas: `document` is a list of words, `doc_bio_tags` has B, I or O for each of them, and the references are
  `extractive_keyphrases` and `abstractive_keyphrases`. The configurations of a set leave some of these out. The files
  on the hub say `paper_id` where the library says `id`.
* ldkp: long documents by the same makers, with words and tags by section: `sections`, `sec_text`, `sec_bio_tags`.
* prmu: `title`, `abstract`, `keyphrases`, and `prmu` with P, R, M or U for each of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, TypeVar

import msgspec

from karat.corpus import Document, Phrase, Prediction, Reference
from karat.formats.base import Record, quoted
from karat.formats.containers import cell_list
from karat.formats.records import Layout, record_format

T = TypeVar("T")

Id = str | int | None
Column = list[T] | str | None  # a string is a cell that holds a list

PRESENT, ABSENT = "present", "absent"


def _values(column: Column[T], kind: Any) -> list[T] | None:
    """The list of a column; None where it is not there, or an empty cell."""
    if isinstance(column, str):
        return msgspec.convert(cell_list(column), list[kind]) if column else None
    return column


def _given(identifier: Id) -> Id:
    """The id; an empty cell is none."""
    return None if identifier == "" else identifier


def _one(reference: Reference) -> Phrase:
    """The phrase, of variants the first: the columns have no place for others."""
    if isinstance(reference, list):
        return reference[0] if reference else None
    return reference


# ---------------------------------------------------------------------------------------------- tags


def tagged(words: list[str], tags: list[str]) -> list[str]:
    """The phrases that tags mark, each once however it is capitalised, in the order in which they appear.

    `I` without a `B` before it opens a phrase, as some taggers write it; what follows the letter is of no matter.

    >>> tagged("Deep nets , deep nets and trees".split(), ["B", "I", "O", "B", "I", "O", "I-KEY"])
    ['Deep nets', 'trees']
    """
    if len(words) != len(tags):
        raise ValueError(f"{len(tags)} tags for {len(words)} words")
    found: list[list[str]] = []
    inside = False
    for word, tag in zip(words, tags, strict=True):
        letter = tag[:1]
        if letter not in ("B", "I", "O"):
            raise ValueError(f"the tag {quoted(tag)} is not B, I or O")
        if letter == "I" and inside:
            found[-1].append(word)
        elif letter != "O":
            found.append([word])
        inside = letter != "O"
    phrases: dict[str, str] = {}
    for phrase in map(" ".join, found):
        phrases.setdefault(phrase.lower(), phrase)
    return list(phrases.values())


class _Text:
    """Words among which phrases are looked up as taggers do it: by their lower-cased words in a row."""

    def __init__(self, text: str | None) -> None:
        self.words = (text or "").split()
        self._lowered = [word.lower() for word in self.words]
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self._lowered):
            self._places.setdefault(word, []).append(place)

    def spans(self, phrase: Phrase) -> Iterator[slice]:
        """Where the phrase stands; nowhere if it is blank."""
        looked_for = (phrase or "").lower().split()
        for place in self._places.get(looked_for[0], ()) if looked_for else ():
            span = slice(place, place + len(looked_for))
            if self._lowered[span] == looked_for:
                yield span

    def tags(self, phrases: Iterable[Phrase]) -> list[str]:
        """The tags that mark phrases; where two overlap, the longer one."""
        tags = ["O"] * len(self.words)
        spans = sorted(chain.from_iterable(map(self.spans, phrases)), key=lambda span: span.start - span.stop)
        for span in spans:
            if set(tags[span]) == {"O"}:
                tags[span] = ["B"] + ["I"] * (span.stop - span.start - 1)
        return tags


def _parted(phrases: Iterable[Phrase], texts: Iterable[_Text]) -> tuple[list[Phrase], list[Phrase]]:
    """The phrases that stand in one of the texts, and the others."""
    parts: tuple[list[Phrase], list[Phrase]] = ([], [])
    for phrase in phrases:
        there = any(True for text in texts for _ in text.spans(phrase))
        parts[0 if there else 1].append(phrase)
    return parts


# ---------------------------------------------------------------------------------------------- midas


class Midas(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A record of words, tags, and phrases that are and are not among the words."""

    id: Id = None
    title: str | None = None  # no set has it; without, there would be no place for a title
    document: Column[str] = None
    doc_bio_tags: Column[str] = None
    extractive_keyphrases: Column[Phrase] = None
    abstractive_keyphrases: Column[Phrase] = None


class _MidasFile(Midas, kw_only=True):
    paper_id: Id = None


class Ldkp(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The same by sections."""

    id: Id = None
    sections: Column[str] = None
    sec_text: Column[list[str]] = None
    sec_bio_tags: Column[list[str]] = None
    extractive_keyphrases: Column[Phrase] = None
    abstractive_keyphrases: Column[Phrase] = None


class _LdkpFile(Ldkp, kw_only=True):
    paper_id: Id = None


TITLE, ABSTRACT, BODY = "title", "abstract", "body"


def _id(found: _MidasFile | _LdkpFile) -> Id:
    return _given(found.paper_id) if _given(found.id) is None else found.id


def _words(found: Midas) -> list[str] | None:
    """The words of a document; of a string that is no list in a cell, what stands between its spaces."""
    given = found.document
    if isinstance(given, str) and not (given.startswith("[") and given.endswith("]")):
        parts = cell_list(given)
        return parts if len(parts) == len(_values(found.doc_bio_tags, str) or ()) else given.split()
    return _values(given, str)


def _midas_document(found: _MidasFile) -> Document:
    words = _words(found)
    text = None if words is None else " ".join(words)
    return Document(id=_id(found), title=found.title, text=text, keyphrases=list(_midas_phrases(found)))


def _midas_prediction(found: _MidasFile) -> Prediction:
    return Prediction(id=_id(found), keyphrases=_midas_phrases(found), kinds=_kinds(found))


def _midas_phrases(found: Midas) -> list[Phrase]:
    listed = _listed(found)
    if listed is not None:
        return listed
    tags = _values(found.doc_bio_tags, str)
    return [] if tags is None else list(tagged(_words(found) or [], tags))


def _listed(found: Midas | Ldkp) -> list[Phrase] | None:
    """The phrases of the two lists, those in the text first; None where there is neither list."""
    present, absent = _values(found.extractive_keyphrases, Phrase), _values(found.abstractive_keyphrases, Phrase)
    return None if present is None and absent is None else [*(present or ()), *(absent or ())]


def _kinds(found: Midas | Ldkp) -> list[str] | None:
    """Which phrases are present and which absent, provided that there is a list of each."""
    present, absent = _values(found.extractive_keyphrases, Phrase), _values(found.abstractive_keyphrases, Phrase)
    return None if present is None or absent is None else [PRESENT] * len(present) + [ABSENT] * len(absent)


def _midas_of_document(document: Document) -> Midas:
    """The record of a document, whose words are what stands between the spaces of its text.

    Not held: what parts the words, variants but the first, reference sets, and the order of the references where one
    that is not in the text comes before one that is.
    """
    text = _Text(document.text)
    present, absent = _parted(map(_one, document.keyphrases or ()), [text])
    return Midas(
        id=document.id,
        title=document.title or None,
        document=text.words,
        doc_bio_tags=text.tags(present),
        extractive_keyphrases=present,
        abstractive_keyphrases=absent,
    )


def _midas_of_prediction(prediction: Prediction) -> Midas:
    """The record of a prediction; without kinds, all phrases are in the first list and there is no second one.

    Not held: scores, probabilities, and the ranks of absent phrases among the present ones.
    """
    phrases = prediction.keyphrases or []
    if prediction.kinds is None:
        return Midas(id=prediction.id, extractive_keyphrases=list(phrases))
    parts: tuple[list[Phrase], list[Phrase]] = ([], [])
    for phrase, kind in zip(phrases, prediction.kinds, strict=True):
        parts[kind == ABSENT].append(phrase)
    return Midas(id=prediction.id, extractive_keyphrases=parts[0], abstractive_keyphrases=parts[1])


# ---------------------------------------------------------------------------------------------- ldkp


def _sections(found: Ldkp) -> list[tuple[str, list[str], list[str]]]:
    """(name, words, tags) of each section, title and abstract first: the files have them in any order."""
    names, texts = _values(found.sections, str) or [], _values(found.sec_text, list[str]) or []
    tags = _values(found.sec_bio_tags, list[str]) or [[] for _ in texts]
    if not len(names) == len(texts) == len(tags):
        raise ValueError(f"{len(names)} sections, {len(texts)} texts and {len(tags)} lists of tags for them")
    lowered = (name.strip().lower() for name in names)
    rank = {TITLE: 0, ABSTRACT: 1}
    return sorted(zip(lowered, texts, tags, strict=True), key=lambda section: rank.get(section[0], 2))


def _ldkp_document(found: _LdkpFile) -> Document:
    sections = _sections(found)
    title = [" ".join(words) for name, words, _ in sections if name == TITLE]
    text = [" ".join(words) for name, words, _ in sections if name != TITLE]
    return Document(
        id=_id(found),
        title="\n".join(title) if title else None,
        text="\n".join(text) if text else None,
        keyphrases=list(_ldkp_phrases(found)),
    )


def _ldkp_prediction(found: _LdkpFile) -> Prediction:
    return Prediction(id=_id(found), keyphrases=_ldkp_phrases(found), kinds=_kinds(found))


def _ldkp_phrases(found: Ldkp) -> list[Phrase]:
    listed = _listed(found)
    if listed is not None:
        return listed
    sections = _sections(found) if found.sec_bio_tags is not None else []
    distinct: dict[str, Phrase] = {}
    for phrase in chain.from_iterable(tagged(words, tags) for _, words, tags in sections):
        distinct.setdefault(phrase.lower(), phrase)
    return list(distinct.values())


def _ldkp_of_document(document: Document) -> Ldkp:
    """The record of a document, with a section of the title and one of the text; not held is what midas does not."""
    given = {TITLE: document.title, BODY: document.text}
    texts = {name: _Text(text) for name, text in given.items() if text}
    present, absent = _parted(map(_one, document.keyphrases or ()), texts.values())
    return Ldkp(
        id=document.id,
        sections=list(texts),
        sec_text=[text.words for text in texts.values()],
        sec_bio_tags=[text.tags(present) for text in texts.values()],
        extractive_keyphrases=present,
        abstractive_keyphrases=absent,
    )


# ---------------------------------------------------------------------------------------------- prmu


class Prmu(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A record of title, abstract and phrases; its letters are not read, and not written: they depend on a stemmer."""

    id: Id = None
    title: str | None = None
    abstract: str | None = None
    keyphrases: Column[Phrase] = None


def _prmu_document(found: Prmu) -> Document:
    phrases = _values(found.keyphrases, Phrase)
    return Document(
        id=_given(found.id),
        title=found.title,
        text=found.abstract,
        keyphrases=None if phrases is None else list(phrases),
    )


def _prmu_prediction(found: Prmu) -> Prediction:
    return Prediction(id=_given(found.id), keyphrases=_values(found.keyphrases, Phrase) or [])


def _prmu_of_document(document: Document) -> Prmu:
    """The record of a document; not held are variants but the first, and reference sets."""
    return Prmu(
        id=document.id,
        title=document.title or "",
        abstract=document.text or "",
        keyphrases=[_one(reference) for reference in document.keyphrases or ()],
    )


def _prmu_of_prediction(prediction: Prediction) -> Prmu:
    """The record of a prediction; not held are scores, probabilities and kinds."""
    return Prmu(id=prediction.id, keyphrases=list(prediction.keyphrases or ()))


# ---------------------------------------------------------------------------------------------- formats


def _is_midas(record: Record) -> bool:
    lists = {"doc_bio_tags", "extractive_keyphrases", "abstractive_keyphrases"}
    return not lists.isdisjoint(record) and not _is_ldkp(record)


def _is_ldkp(record: Record) -> bool:
    return "sec_text" in record


_OWN = ("text", "reference_sets")  # fields of karat's own records, which may have an abstract beside them

FORMATS = (
    record_format(
        name="midas",
        summary="columns of midas/*: document (words), doc_bio_tags, extractive_keyphrases, abstractive_keyphrases",
        fits=_is_midas,
        layout=Layout(
            kind=_MidasFile,
            document=_midas_document,
            prediction=_midas_prediction,
            of_document=_midas_of_document,
            of_prediction=_midas_of_prediction,
        ),
    ),
    record_format(
        name="ldkp",
        summary="columns of midas/ldkp*: sections, sec_text, sec_bio_tags, extractive_ and abstractive_keyphrases",
        fits=_is_ldkp,
        layout=Layout(
            kind=_LdkpFile,
            document=_ldkp_document,
            prediction=_ldkp_prediction,
            of_document=_ldkp_of_document,
        ),
    ),
    record_format(
        name="prmu",
        summary="columns of taln-ls2n/*: title, abstract, keyphrases, prmu",
        fits=lambda record: {"abstract", "keyphrases"} <= record.keys() and record.keys().isdisjoint(_OWN),
        layout=Layout(
            kind=Prmu,
            document=_prmu_document,
            prediction=_prmu_prediction,
            of_document=_prmu_of_document,
            of_prediction=_prmu_of_prediction,
        ),
    ),
)
