"""Which column of a table is which, where nobody says so: by what columns are called in catalogues and exports.

What was guessed is said in a note, with the `--fields` that pins it. Phrases in a cell are parted at what the cells of
the column part them by: `;`, `|`, line breaks; at commas only where hardly anything but a list has so many.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean
from typing import Any

import msgspec

from karat.corpus import Batch, Batches, Document, Prediction, text_of_id
from karat.errors import InputError
from karat.formats.base import Format, Record
from karat.formats.containers import container_at, rows
from karat.formats.fields import COLUMNS, FIRST_ROWS, Fields, corpus_by, run_by
from karat.formats.files import FIRST_BYTES
from karat.formats.head import Head, Role
from karat.inert import unguarded

CONTAINERS = ("csv", "tsv", "xlsx")
# Names of columns, as `plain_name` gives them, the likeliest first: English, French, German, Spanish, Portuguese,
# Italian, Dutch, Finnish, Swedish; exports of Zotero, Scopus, Web of Science and repositories.
NAMES = {
    "id": (
        "id", "identifier", "key", "citation key", "document id", "doc id", "docid", "record id", "item id", "doi",
        "eid", "ut", "unique id", "pmid", "accession number", "ppn", "mms id", "handle", "isbn", "uri", "url", "link",
        "identifiant", "cle", "identifikator", "kennung", "nummer", "number", "no", "nr", "identificador", "clave",
        "identificativo", "identificatore", "tunniste", "identifierare",
    ),
    "title": (
        "title", "document title", "article title", "main title", "title proper", "ti", "titre", "titel", "titulo",
        "titolo", "otsikko", "nimeke", "hauptsachtitel", "sachtitel", "rubrik", "name", "headline", "subject line",
    ),
    "text": (
        "abstract", "abstract note", "ab", "summary", "description", "description abstract", "resume",
        "zusammenfassung", "kurzfassung", "beschreibung", "resumen", "resumo", "descricao", "descripcion", "riassunto",
        "sommario", "descrizione", "samenvatting", "beschrijving", "tiivistelma", "kuvaus", "sammanfattning",
        "beskrivning", "inhalt", "text", "full text", "fulltext", "body", "content", "contenu", "texte", "texto",
        "contenido", "conteudo", "testo", "contenuto", "tekst", "inhoud",
    ),
    "keyphrases": (
        "keyphrases", "keyphrase", "author keywords", "keywords", "keyword", "key words", "de", "manual tags",
        "subjects", "subject", "subject headings", "subject heading", "subject terms", "topics", "topic", "tags",
        "tag", "descriptors", "index terms", "index keywords", "mesh", "mesh terms", "mesh headings", "kw",
        "mots cles", "mot cle", "sujets", "sujet", "descripteurs", "vedettes matiere", "schlagworter", "schlagworte",
        "schlagwort", "schlagwoerter", "stichworter", "stichworte", "schlusselworter", "deskriptoren", "themen",
        "palabras clave", "materias", "materia", "descriptores", "temas", "etiquetas", "palavras chave", "assuntos",
        "assunto", "descritores", "parole chiave", "soggetti", "soggetto", "argomenti", "trefwoorden", "onderwerpen",
        "asiasanat", "avainsanat", "amnesord", "nyckelord",
    ),
}  # fmt: skip
_PREFIX = re.compile(r"^(?:dc|dcterms|dct|prism|bibo|schema)[.:]", re.IGNORECASE)
_NUMBERED = re.compile(r"(.+?) ?(\d{1,3})")
OWN_VIEW = ["id", "title", "keyphrase 1"]  # how a table begins that `karat predict -o FILE.csv` wrote
SEPARATORS = ("||", ";", "；", "|", "\n", "、")  # any of which settles it where a cell has it
LEAST_PIECES, LONGEST_PIECE = 2.5, 5  # of cells that are parted at commas: pieces on average; words of one
_WEB_OF_SCIENCE = {"PT", "AU", "TI", "SO"}  # among whose columns ID are keywords, and no id


def plain_name(column: str) -> str:
    """The name of a column without case, accents, marks, and what metadata schemes put before or behind it.

    >>> plain_name("Mots-clés"), plain_name("dc.subject[en]"), plain_name("Schlagwörter "), plain_name("Abstract_Note")
    ('mots cles', 'subject', 'schlagworter', 'abstract note')
    """
    bare = re.sub(r"[\[(].*?[\])]|@\w+$", " ", _PREFIX.sub("", column.strip()))
    letters = unicodedata.normalize("NFKD", bare).casefold()
    kept = (" " if not char.isalnum() else char for char in letters if not unicodedata.combining(char))
    return " ".join("".join(kept).split())


@dataclass(frozen=True, slots=True)
class Guess:
    """The fields that were guessed for a table, and how they are written."""

    fields: Fields
    path: str
    own: bool = False  # what `karat predict -o FILE.csv` wrote, in which formulas are guarded

    def option(self) -> str:
        """What `--fields` says to read the table in the same way."""
        columns = ",".join(f"{name}={column}" for name, column in self.fields.columns.items())
        escaped = self.fields.separator.replace("\n", "\\n").replace("\t", "\\t")
        return f"{columns},separator={escaped}" if "keyphrases" in self.fields.columns else columns

    def note(self) -> str:
        """What a reader should know."""
        return f'{self.path}: its columns were guessed; the same is said by --fields "{self.option()}"'


def guess(path: str, container: str, role: Role) -> Guess | None:
    """Which columns of a table hold what; None where none sounds like phrases or texts, or all have karat's names."""
    there = [row for _, row in islice(rows(path, container), FIRST_ROWS)]
    if not there:
        return None
    columns = _columns(there, role)
    own = all(name == column for name, column in columns.items())
    enough = "keyphrases" in columns or (role == "corpus" and "text" in columns)
    if own or not enough or ("keyphrases" in there[0] and {"text", "title"} & {*there[0]} | {"run"} & {role}):
        return None
    fields = Fields(columns, _separator(there, columns))
    return Guess(fields, path, own=list(there[0])[:3] == OWN_VIEW)


def _separator(there: Sequence[Record], columns: dict[str, str]) -> str:
    column = columns.get("keyphrases", "")
    if column not in there[0]:
        return "\n" if column else ";"  # several columns, which are joined by line breaks, or none
    return separator_of([str(row[column] or "") for row in there])


def _columns(there: Sequence[Record], role: Role) -> dict[str, str]:
    """The column of each field that can be guessed."""
    usable = [name for name in there[0] if name and not re.search(r"[+=\n]", name)]
    web_of_science = {*there[0]} >= _WEB_OF_SCIENCE
    plain = {name: plain_name(name) for name in usable if not (web_of_science and name == "ID")}
    found: dict[str, str] = {}
    for field in ("id", "title", "text", "keyphrases"):
        if role == "run" and field in ("title", "text"):
            continue
        named = sorted((NAMES[field].index(each), name) for name, each in plain.items() if each in NAMES[field])
        candidates = [name for _, name in named if name not in found.values()]
        if field == "id":
            candidates = [name for name in candidates if _distinct([row.get(name) for row in there])]
        if candidates:
            found[field] = candidates[0]
        elif field == "keyphrases" and (numbered := _numbered(plain)):
            found[field] = "+".join(numbered)
    return found


def _numbered(plain: Mapping[str, str]) -> list[str]:
    """The columns `keyword 1`, `keyword 2`, ..., in the order of their numbers."""
    found = {name: _NUMBERED.fullmatch(each) for name, each in plain.items()}
    named = {name: match for name, match in found.items() if match is not None and match[1] in NAMES["keyphrases"]}
    return sorted(named, key=lambda name: int(named[name][2]))


def _distinct(values: Sequence[object]) -> bool:
    """Whether values can be ids: each is there, and no two are equal."""
    return all(value not in (None, "") for value in values) and len({str(value) for value in values}) == len(values)


def separator_of(cells: Sequence[str]) -> str:
    """What parts the phrases in cells; `;` where nothing does.

    A comma may stand within a phrase, as in "Bees, wild". It parts phrases only where no other mark does, cells have
    two or more on average, and what is between them is short.

    >>> separator_of(["bees; wasps, wild", "ants"]), separator_of(["bees | ants"]), separator_of(["bees, ants, moths"])
    (';', '|', ',')
    >>> separator_of(["Bees, wild", "Ants, red"]), separator_of(["bees"])
    (';', ';')
    """
    held = [cell for cell in cells if cell.strip() and not cell.lstrip().startswith("[")]
    for mark in SEPARATORS:
        if any(mark in cell.strip() for cell in held):
            return mark
    pieces = [[piece.strip() for piece in cell[:FIRST_BYTES].split(",")] for cell in held]
    several = [each for each in pieces if len(each) > 1]
    short = all(len(piece.split()) <= LONGEST_PIECE for each in pieces for piece in each)
    many = bool(several) and fmean(map(len, several)) >= LEAST_PIECES and 2 * len(several) >= len(pieces)
    return "," if many and short else ";"


# ---------------------------------------------------------------------------------------------- the format


class _Guessed:
    """The batches of a table whose columns were guessed, and the note that says so."""

    def __init__(self, path: str, role: Role) -> None:
        self.path, self.role = path, role
        found = guess(path, container_at(path), role)
        if found is None:
            known = ", ".join(COLUMNS[role])
            raise InputError(f"{path}: no column sounds like what a {role} has ({known}); name them with --fields")
        self.found = found

    def __call__(self) -> Iterator[Batch[Any]]:
        """The documents or predictions."""
        by: Any = corpus_by if self.role == "corpus" else run_by
        batches: Iterator[Batch[Any]] = by(self.found.fields, self.path)()
        return map(_without_guards, batches) if self.found.own else batches

    def notes(self) -> list[str]:
        """The columns that were guessed."""
        return [] if self.found.own else [self.found.note()]


def _without_guards(batch: Batch[Any]) -> Batch[Any]:
    """The records as they were before cells that look like formulas were guarded."""
    held = []
    for record in batch.records():
        phrases = [unguarded(phrase or "") for phrase in record.keyphrases or ()]
        title = {"title": unguarded(record.title or "")} if isinstance(record, Document) else {}
        identifier = unguarded(record.id) if isinstance(record.id, str) else record.id
        held.append(msgspec.structs.replace(record, id=identifier, keyphrases=phrases, **title))
    return Batch([text_of_id(record.id) for record in held], held, batch.places)


def corpus(path: str) -> Batches[Document]:
    """The documents of a table."""
    return _Guessed(path, "corpus")


def run(path: str) -> Batches[Prediction]:
    """The predictions of a table."""
    return _Guessed(path, "run")


_OF_THE_FIELD = ({"title", "abstract", "keywords"}, {"title", "abstract", "keyword"}, {"title", "question", "tags"})


def _fits(head: Head) -> bool:
    """A table with such columns, unless it has those of a format of the field, and parts phrases as that does."""
    if head.container not in CONTAINERS:
        return False
    found = guess(head.path, head.container, head.role)
    others = any(names <= head.record.keys() for names in _OF_THE_FIELD)
    return found is not None and not (others and found.fields.separator == ";")


FORMAT = Format(
    name="table",
    summary="CSV, TSV or Excel with columns as Title, Abstract, Subjects, in several languages, which are guessed",
    fits=_fits,
    corpus=corpus,
    run=run,
)
