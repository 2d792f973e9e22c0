"""One document of a corpus, its references, and what each system predicts for it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import accumulate, zip_longest
from typing import Any, Literal

from karat import __version__
from karat.corpus import Corpus, Document, Run
from karat.errors import InputError
from karat.formats.base import quoted
from karat.formats.reviews import near
from karat.matching.columns import Aligned, Prepared
from karat.matching.inputs import CorpusLike, ProtocolLike, RunLike, as_corpus, as_protocols, as_runs
from karat.matching.join import Join
from karat.matching.passes import Pass, View
from karat.options import (
    By,
    Extra,
    JoinOptions,
    Missing,
    group,
    option,
    options_from,
    protocol_option,
    public,
    required,
)
from karat.protocol import Protocol
from karat.results.displayed import Displayed
from karat.tabular import NONE, TEXT, Cell, Column, Group, Marked, Row, Table
from karat.text.places import Span, occurrences, stems_at

Kind = Literal["present", "absent"]


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """Which document is shown, and how it is looked at."""

    id: str = required("The document (its line, where there are no ids).", metavar="ID")
    protocol: ProtocolLike = protocol_option("Convention by which phrases are equal, and present.")
    join: JoinOptions = group(JoinOptions)
    jobs: int = option(1, "Processes.", least=1, command=False)  # looking for an id is too little work for a flag


@dataclass(frozen=True, slots=True)
class ShownReference:
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
    references: tuple[ShownReference, ...]
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
    extra: Extra = "error",
    jobs: int = 1,
) -> Shown:
    """One document with its references and what each run predicts.

    Raises InputError if there is no such document, or if a run lacks it.

    >>> bees = Corpus.of([{"id": "1", "text": "Swarms of bees.", "keyphrases": ["bee", "zoology"]}])
    >>> shown = show(bees, Run.of([{"id": "1", "keyphrases": ["bees", "nest"]}]), id="1")
    >>> [(each.phrase, each.hit) for each in shown.predictions], shown.text_marks
    ([('bees', True), ('nest', False)], ((10, 14),))
    """
    options = options_from(ShowOptions, locals())
    given, systems = as_corpus(corpus), as_runs(runs)
    [convention] = as_protocols([protocol], language)
    # What other documents a run lacks does not matter.
    reading = Pass(given, systems, Join(by, "empty", extra=extra), reference_set=references, jobs=jobs)
    found: list[View] = []

    def take(view: View | None) -> None:
        if view is not None:
            found.append(view)
            reading.stop()

    reading.look(partial(_find, str(id)), take=take)
    reading.run()
    if not found:
        raise InputError(f"{given.origin}: there is no document {quoted(str(id))}{near(str(id), reading.ids)}")
    [view] = found
    _check_predicted(view, given, systems, options.join.missing)
    _check_set(view.given[0], references, given.origin)
    return _shown(view, convention)


def _find(id: str, view: View) -> View | None:
    """A look: the view of the document alone, where the chunk has it."""
    return view.pick([view.ids.index(id)]) if id in view.ids else None


def _check_predicted(view: View, corpus: Corpus, runs: Sequence[Run], missing: Missing) -> None:
    """Raises InputError if a run has nothing for the document, and that matters."""
    for run, lacking in zip(runs, view.chunk.missing, strict=True):
        if lacking and missing == "error":
            raise InputError(
                f"{run.origin}: no predictions for document {quoted(view.ids[0])} of {corpus.origin}; "
                "show it all the same with --missing empty"
            )


def _shown(view: View, protocol: Protocol) -> Shown:
    """The document of a view that has no other."""
    names, prepared = view.setup.systems, view.prepared(protocol.matching)
    aligned = {name: view.aligned(s, protocol) for s, name in enumerate(names)}
    predictions = {name: tuple(_predicted(name, each)) for name, each in aligned.items()}
    [document] = view.given
    title, text = document.title or "", document.text or ""
    return Shown(
        view.setup.corpus,
        view.ids[0],
        str(protocol),
        title,
        text,
        _marks(title, prepared),
        _marks(text, prepared),
        tuple(_references(prepared, aligned)),
        names,
        tuple(each for of_system in predictions.values() for each in of_system),
        {str(protocol): protocol.signature(set=view.setup.reference_set or "keyphrases", karat=__version__)},
        tuple(f"{name}: no predictions" for name, each in predictions.items() if not each),
    )


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


def _references(prepared: Prepared, aligned: dict[str, Aligned]) -> Iterator[ShownReference]:
    r, surfaces = prepared.references, list(prepared.surfaces)
    phrases = {name: {int(n) for n in a.predictions.phrase[a.predictions.kept]} for name, a in aligned.items()}
    for reference in range(len(r.document)):
        variants = (r.variant_reference == reference).nonzero()[0].tolist()
        stems = {int(r.variant_phrase[variant]) for variant in variants}
        yield ShownReference(
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


def _reference(each: ShownReference) -> Cell:
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
    present = {forms[n] for n in r.variant_phrase[r.variant_present].tolist()} - {""}
    stems, spans = stems_at(text, prepared.matching)
    joined, whole = f" {' '.join(stems)} ", prepared.matching.present == "tokens"
    starts = list(accumulate((len(stem) + 1 for stem in stems), initial=1))  # of each stem, in the joined text
    found = sorted(
        (bisect_right(starts, at + whole) - 1, bisect_right(starts, at + whole + len(form) - 1) - 1)
        for form in present
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
