"""One document of a corpus, its references, and what each system predicts for it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, zip_longest
from typing import Any, Literal

from karat import __version__
from karat.corpus import Corpus, Document, Run
from karat.errors import InputError
from karat.formats.base import quoted
from karat.formats.reviews import near
from karat.matching.align import align, prepare
from karat.matching.columns import Aligned, Prepared
from karat.matching.inputs import CorpusLike, ProtocolLike, RunLike, as_corpus, as_protocols, as_runs
from karat.matching.join import Chunk, Join, chunks
from karat.options import (
    By,
    JoinOptions,
    Missing,
    group,
    options_from,
    protocol_option,
    public,
    required,
)
from karat.results import Displayed
from karat.table import NONE, TEXT, Cell, Column, Group, Marked, Row, Table
from karat.text.places import Span, occurrences, stems_at

Kind = Literal["present", "absent"]


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """Which document is shown, and how it is looked at."""

    id: str = required("The document (its line, where there are no ids).", metavar="ID")
    protocol: ProtocolLike = protocol_option("Convention by which phrases are equal, and present.")
    join: JoinOptions = group(JoinOptions)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A reference: its variants, whether it is present, and the systems that find it."""

    phrases: tuple[str, ...]
    subset: Kind
    found_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Predicted:
    """A prediction of a system: where it stands, what it is, whether it is a reference, why the protocol drops it."""

    system: str
    rank: int
    phrase: str
    subset: Kind
    hit: bool
    dropped: Literal["invalid", "repeated"] | None


@dataclass(frozen=True, slots=True, repr=False)
class Shown(Displayed):
    """A document with its references and the predictions of some systems."""

    corpus: str
    id: str
    protocol: str
    title: str
    text: str
    title_marks: tuple[Span, ...]  # where present references stand
    text_marks: tuple[Span, ...]
    references: tuple[Wanted, ...]
    systems: tuple[str, ...]
    predictions: tuple[Predicted, ...]
    signatures: dict[str, str]
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict a prediction."""
        same = {"corpus": self.corpus, "id": self.id, "protocol": self.protocol}
        return [same | asdict(each) for each in self.predictions]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, the document and its references."""
        return {
            "signatures": self.signatures,
            "rows": self.rows(),
            "notes": list(self.notes),
            "document": {
                "id": self.id,
                "title": self.title,
                "text": self.text,
                "marks": {"title": self.title_marks, "text": self.text_marks},
            },
            "references": [asdict(each) for each in self.references],
        }

    def tables(self) -> Iterator[Table]:
        """The title and the text with the present references marked; then who predicts what, side by side."""
        head = f"{self.corpus}, document {self.id}, protocol {self.protocol}"
        yield Table(head)
        for text, marks in ((self.title, self.title_marks), (self.text, self.text_marks)):
            if text:
                yield Table(about=[tuple(_with_marks(text, marks))])
        columns = [Column(name, TEXT) for name in ("references", *self.systems)]
        yield Table("", "", columns, [_group(self, kind) for kind in KINDS], caption=f"{head}.")
        yield Table(notes=[tuple(_legend(self))])


@public(ShowOptions)
def show(
    corpus: CorpusLike,
    *runs: RunLike,
    id: str,
    protocol: ProtocolLike = "karat",
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
) -> Shown:
    """One document with its references and what each run predicts.

    Raises InputError if there is no such document, or if a run lacks it.

    >>> bees = Corpus.of([{"id": "1", "text": "Swarms of bees.", "keyphrases": ["bee", "zoology"]}])
    >>> shown = show(bees, Run.of([{"id": "1", "keyphrases": ["bees", "nest"]}]), id="1")
    >>> [(each.phrase, each.hit) for each in shown.predictions], shown.text_marks
    ([('bees', True), ('nest', False)], ((10, 14),))
    """
    join = options_from(ShowOptions, locals()).join
    given, systems = as_corpus(corpus), as_runs(runs)
    [convention] = as_protocols([protocol], language)
    chunk, at = _find(given, systems, str(id), join)
    documents = chunk.documents.pick([at]).records()
    _check_set(documents[0], references, given.origin)
    prepared = prepare(documents, convention.matching, given.semeval, references)
    records = [batch.pick([at]).records() for batch in chunk.predictions]
    names = tuple(run.name for run in systems)
    aligned = {name: align(prepared, each, convention.counting) for name, each in zip(names, records, strict=True)}
    predictions = {name: tuple(_predicted(name, each)) for name, each in aligned.items()}
    title, text = documents[0].title or "", documents[0].text or ""
    return Shown(
        given.name,
        str(id),
        str(convention),
        title,
        text,
        _marks(title, prepared),
        _marks(text, prepared),
        tuple(_wanted(prepared, aligned)),
        names,
        tuple(each for of_system in predictions.values() for each in of_system),
        {str(convention): convention.signature(set=references or "keyphrases", karat=__version__)},
        tuple(f"{name}: no predictions" for name, each in predictions.items() if not each),
    )


def _find(corpus: Corpus, runs: Sequence[Run], id: str, join: JoinOptions) -> tuple[Chunk, int]:
    """The chunk that holds the document, and where in it; what other documents a run lacks does not matter."""
    known: list[str] = []
    for chunk in chunks(corpus, runs, Join(join.by, "empty")):
        if id in chunk.ids:
            at = chunk.ids.index(id)
            for run, lacking in zip(runs, chunk.missing, strict=True):
                if at in lacking and join.missing == "error":
                    raise InputError(
                        f"{run.origin}: no predictions for document {quoted(id)} of {corpus.origin}; "
                        "show it all the same with --missing empty"
                    )
            return chunk, at
        known += chunk.ids
    raise InputError(f"{corpus.origin}: there is no document {quoted(id)}{near(id, known)}")


def _check_set(document: Document, name: str | None, origin: str) -> None:
    if name is not None and name not in (document.reference_sets or {}):
        there = ", ".join(document.reference_sets or {}) or "none"
        raise InputError(f"{origin}: the document has no reference set {quoted(name)} (there are: {there})")


def _predicted(system: str, aligned: Aligned) -> Iterator[Predicted]:
    p, surfaces = aligned.predictions, list(aligned.prepared.surfaces)
    for row, surface in enumerate(p.surface.tolist()):
        yield Predicted(
            system,
            row + 1,
            surfaces[surface].strip(),
            _kind(bool(p.present[row])),
            bool(p.kept[row] and p.hit[row] >= 0),
            None if p.kept[row] else "repeated" if p.valid[row] else "invalid",
        )


def _kind(present: bool) -> Kind:
    return "present" if present else "absent"


def _wanted(prepared: Prepared, aligned: dict[str, Aligned]) -> Iterator[Wanted]:
    r, surfaces = prepared.references, list(prepared.surfaces)
    phrases = {name: {int(n) for n in a.predictions.phrase[a.predictions.kept]} for name, a in aligned.items()}
    for reference in range(len(r.document)):
        variants = (r.variant_reference == reference).nonzero()[0].tolist()
        stems = {int(r.variant_phrase[variant]) for variant in variants}
        yield Wanted(
            tuple(surfaces[r.variant_surface[variant]].strip() for variant in variants),
            _kind(bool(r.present[reference])),
            tuple(name for name, found in phrases.items() if stems & found),
        )


# ---------------------------------------------------------------------------------------------- tables

KINDS: tuple[Kind, ...] = ("present", "absent")
FOUND, DROPPED = " +", " -"  # after a phrase, where there are no styles


def _with_marks(text: str, marks: Sequence[Span]) -> Iterator[str | Marked]:
    """The pieces of a text, the marked ones in bold or in guillemets."""
    at = 0
    for start, end in marks:
        yield _line(text[at:start])
        yield Marked(_line(text[start:end]), "bold", "»", "«")
        at = end
    yield _line(text[at:])


def _line(text: str) -> str:
    """A text on one line."""
    return re.sub(r"\s+", " ", text)


def _group(shown: Shown, kind: Kind) -> Group:
    """The references of a kind, and beside them the predictions of each system."""
    columns = [[_reference(each) for each in shown.references if each.subset == kind]]
    for system in shown.systems:
        own = [each for each in shown.predictions if (each.system, each.subset) == (system, kind)]
        columns.append([_prediction(each) for each in own])
    lines = zip_longest(*(column or [Cell(NONE)] for column in columns))
    return Group([Row(str(place), cells) for place, cells in enumerate(lines, 1)], kind)


def _reference(each: Wanted) -> Cell:
    names = " / ".join(each.phrases)
    return Cell(names, style="bold", mark=FOUND) if each.found_by else Cell(names)


def _prediction(each: Predicted) -> Cell:
    if each.dropped:
        return Cell(each.phrase, style="struck", mark=DROPPED)
    return Cell(each.phrase, style="bold", mark=FOUND) if each.hit else Cell(each.phrase)


def _legend(shown: Shown) -> Iterator[str | Marked]:
    """What the marks are."""
    yield Marked("in the text", "bold", "»", "«")
    yield ": a present reference; "
    yield Marked("phrase", "bold", FOUND)
    yield ": a prediction that is a reference, and a reference that is found"
    if any(each.dropped for each in shown.predictions):
        yield "; "
        yield Marked("phrase", "struck", DROPPED)
        yield ": a prediction that the protocol drops"


# ---------------------------------------------------------------------------------------------- marks


def _marks(text: str, prepared: Prepared) -> tuple[Span, ...]:
    """Where the present references stand in a text, from the first letter to behind the last; one mark for overlaps."""
    forms, r = list(prepared.table), prepared.references
    wanted = {forms[n] for n in r.variant_phrase[r.variant_present].tolist()} - {""}
    stems, spans = stems_at(text, prepared.matching)
    joined, whole = f" {' '.join(stems)} ", prepared.matching.present == "tokens"
    starts = list(accumulate((len(stem) + 1 for stem in stems), initial=1))  # of each stem, in the joined text
    found = sorted(
        (bisect_right(starts, at + whole) - 1, bisect_right(starts, at + whole + len(form) - 1) - 1)
        for form in wanted
        for at in occurrences(f" {form} " if whole else form, joined)
    )
    return tuple((spans[first][0], spans[last][1]) for first, last in _merged(found))


def _merged(found: Sequence[Span]) -> list[Span]:
    """Ranges of tokens, in order, with those that share a token made one.

    >>> _merged([(0, 1), (1, 3), (4, 4)])
    [(0, 3), (4, 4)]
    """
    merged: list[Span] = []
    for first, last in found:
        if merged and first <= merged[-1][1]:
            first, last = merged[-1][0], max(last, merged.pop()[1])
        merged.append((first, last))
    return merged
