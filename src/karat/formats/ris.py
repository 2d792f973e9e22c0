"""RIS, as reference managers and catalogues export it: TI, AB and KW of each record.

A record goes from its line `TY  - ` to its line `ER  - `; a line without a tag goes on with what is above it. The id is
what stands behind ID, else DO (the DOI), AN or UR, whichever every record has and no two share; else records are
numbered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from karat.corpus import Batches, Document, Phrase, Prediction, in_batches
from karat.errors import InputError
from karat.formats import folders
from karat.formats.base import Format, as_predictions, first_variant, most_phrases, split_phrases, too_many_phrases
from karat.formats.bibtex import text_at
from karat.formats.files import without_compression
from karat.formats.head import Head
from karat.formats.output import writing
from karat.limits import limits

SUFFIXES = (".ris",)
_TITLES, _TEXTS, _KEYWORDS = ("TI", "T1", "CT", "BT"), ("AB", "N2"), ("KW",)
_IDS = ("ID", "DO", "AN", "UR")
_LINES = re.compile(r"[^\n]*(?:\n|$)")
_TAG = re.compile(r"([A-Z][A-Z0-9]) {1,2}-(?:[ \t](.*)|[ \t]*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a file: its values by tags, and the lines of which it is made."""

    line: int  # of its beginning, from 0 on
    end: int  # the line that ends it
    values: dict[str, list[str]] = field(default_factory=dict)
    keywords_at: tuple[int, ...] = ()  # lines of keywords

    def get(self, tags: Sequence[str]) -> str | None:
        """The text behind the first of some tags that is there."""
        return next((" ".join(" ".join(self.values[tag]).split()) for tag in tags if tag in self.values), None)

    def keywords(self, where: str = "") -> list[str] | None:
        """Its keywords, of which a line may hold several; None where it has none."""
        if "KW" not in self.values:
            return None
        return [part for value in self.values["KW"] for part in split_phrases(value, where=where) if part]


def records_of(lines: Iterable[str], path: str) -> list[Record]:
    """The records of a file. Raises InputError, with the path and the line, if one is damaged."""
    found: list[Record] = []
    values: dict[str, list[str]] = {}
    at, tag, keywords = -1, "", []
    for number, line in enumerate(lines):
        tagged = _TAG.match(line.rstrip("\r\n"))
        if tagged is None:
            _go_on(values, tag, line.strip())
        else:
            tag = tagged[1]
            if (tag == "TY") == (at >= 0):
                what = "a record begins before the one above has ended (ER  - )" if at >= 0 else "stands in no record"
                raise InputError(f"{path}:{number + 1}: not RIS: {tag} {what}; a record begins with TY  - ")
            at = number if tag == "TY" else at
            values.setdefault(tag, []).append((tagged[2] or "").strip())
        if at >= 0 and tag in _KEYWORDS:
            keywords.append(number)
            if len(keywords) > most_phrases():
                raise too_many_phrases(f"{path}:{at + 1}")
        if at >= 0 and number - at > limits().values:
            raise limits().exceeded("values", f"{path}:{at + 1}", "the record")
        if tag == "ER":
            found.append(Record(at, number, values, tuple(keywords)))
            values, at, tag, keywords = {}, -1, "", []
    if at >= 0:
        raise InputError(f"{path}:{at + 1}: not RIS: the record that begins here has no end (ER  - )")
    return found


def _go_on(values: dict[str, list[str]], tag: str, more: str) -> None:
    """Takes a line without a tag: another keyword, or more of the text above."""
    if not more or tag not in values:
        return
    if tag in _KEYWORDS:
        values[tag].append(more)
    else:
        values[tag][-1] = f"{values[tag][-1]} {more}".strip()


def ids_of(records: Sequence[Record]) -> list[str]:
    """The ids of records."""
    for tag in _IDS:
        found = [each.get([tag]) or "" for each in records]
        if all(found) and len(set(found)) == len(found):
            return found
    return [str(number) for number in range(1, len(records) + 1)]


# ---------------------------------------------------------------------------------------------- the format


def _documents(path: str) -> Iterator[tuple[int, Document]]:
    records = records_of((line[0] for line in _LINES.finditer(text_at(path))), path)
    if not records:
        raise folders.none_found(path, "records from `TY  - ` to `ER  - ` are looked for")
    for record, identifier in zip(records, ids_of(records), strict=True):
        held = record.keywords(f"{path}:{record.line + 1}")
        yield (
            record.line + 1,
            Document(
                id=identifier,
                title=record.get(_TITLES),
                text=record.get(_TEXTS),
                keyphrases=None if held is None else [*held],
            ),
        )


def corpus(path: str) -> Batches[Document]:
    """The documents of a file."""
    return lambda: in_batches(_documents(path), path)


def run(path: str) -> Batches[Prediction]:
    """The keywords of a file as predictions."""
    return lambda: in_batches(as_predictions(_documents(path)), path)


def record_text(identifier: str, title: str | None, text: str | None, phrases: Iterable[Phrase]) -> str:
    r"""A record.

    >>> record_text("d1", "Bees", None, ["honey bees"])
    'TY  - GEN\nID  - d1\nTI  - Bees\nKW  - honey bees\nER  - \n'
    """
    lines = [("TY", "GEN"), ("ID", identifier), ("TI", title or ""), ("AB", text or "")]
    lines += [("KW", phrase) for phrase in _keywords(phrases)]
    return "".join(f"{tag}  - {_flat(value)}\n" for tag, value in lines if value) + "ER  - \n"


def _keywords(phrases: Iterable[Phrase]) -> list[str]:
    return [found for phrase in phrases if (found := _flat((phrase or "").replace(";", ",")))]


def _flat(text: str) -> str:
    return " ".join(text.split())


def save_corpus(path: str, documents: Iterable[Document]) -> None:
    """Writes a record for each document."""
    with writing(path) as file:
        for number, document in enumerate(documents, 1):
            phrases = map(first_variant, document.keyphrases or ())
            identifier = folders.id_of(document.id, number)
            file.write(record_text(identifier, document.title, document.text, phrases).encode())


def save_run(path: str, predictions: Iterable[Prediction]) -> None:
    """Writes a record with keywords for each prediction."""
    with writing(path) as file:
        for number, prediction in enumerate(predictions, 1):
            identifier = folders.id_of(prediction.id, number)
            file.write(record_text(identifier, None, None, prediction.keyphrases or ()).encode())


def with_keywords(text: str, path: str, phrases: Mapping[str, Sequence[Phrase]]) -> tuple[str, int]:
    """(a file with the keywords of some records added or replaced, how many were replaced).

    The rest stays as it is, and so does a record for which there is no phrase.
    """
    lines = text.split("\n")
    records = records_of(lines, path)
    replaced, drop, add = 0, set[int](), dict[int, list[str]]()
    for record, identifier in zip(records, ids_of(records), strict=True):
        if phrases.get(identifier):
            end = "\r" if lines[record.line].endswith("\r") else ""
            place = record.keywords_at[0] if record.keywords_at else record.end
            add[place] = [f"KW  - {phrase}{end}" for phrase in _keywords(phrases[identifier])]
            drop.update(record.keywords_at)
            replaced += bool(record.keywords_at)
    made: list[str] = []
    for number, line in enumerate(lines):
        made += add.get(number, ())
        if number not in drop:
            made.append(line)
    return "\n".join(made), replaced


def _fits(head: Head) -> bool:
    if head.container != "text":
        return False
    return without_compression(head.path).lower().endswith(SUFFIXES) or bool(re.match(r"TY {1,2}- ?\w*$", head.line))


FORMAT = Format(
    name="ris",
    summary="RIS: TI, AB and KW of records, whose ids are behind ID, or are DOIs; a run is its keywords",
    fits=_fits,
    corpus=corpus,
    run=run,
    save_corpus=save_corpus,
    save_run=save_run,
)
