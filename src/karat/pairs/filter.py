"""Which reformulations are good enough, and how far they are from their documents (Houbre et al. 2025).

One is kept when every present reference of its document is present or reordered in it, and its number of words is
within 10 % of the document's. Words are runs of letters and digits of title and text, in lower case. With a the words
of the document and b those of the reformulation: WER is the Levenshtein distance of a and b over |a|, ROUGE-1 the share
of a that is also in b, a repeated word as often as both have it. The ceiling of extractors is |A∩B| / |A∪B|, where A
are the references present in the document and B those present in the reformulation: a system that finds all references
in the text, and nothing else, is as alike as that on both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
import numpy as np

from karat import __version__
from karat.corpus import Batch, Corpus, Document, in_batches
from karat.errors import InputError, counted
from karat.formats import jsonl
from karat.formats.base import brief, quoted
from karat.formats.pairs import method_of, write_pairs
from karat.formats.reviews import near
from karat.matching.columns import PRMU, Bools, Floats, Ints
from karat.matching.inputs import (
    CorpusLike,
    ProtocolLike,
    as_corpus,
    as_protocols,
    by_name_notes,
    chosen_set,
    hash_text,
)
from karat.matching.passes import Pass, View, hash_look
from karat.options import Progress, WorkOptions, group, language_option, option, options_from, protocol_option, public
from karat.pairs.reformulate import Reformulation
from karat.protocol import Protocol, change
from karat.results.displayed import Displayed
from karat.tabular import COUNT, NUMBER, PERCENT, Cell, Column, Table, rows_of, short
from karat.text.tokens import tokenizer

LENGTH = 0.1
ROUNDING = 1e-9  # 11 words for 10 are within 10 %, though 11 / 10 - 1 is more than .1 in floats
REASONS = {
    "references": "a present reference is neither present nor reordered in it",
    "length": "it has too many or too few words",
}
ALL = "all"
UNNAMED = "unnamed"  # the method of a reformulation that does not say one
FORM = 'a line is {"id": "d1~paraphrase", "source": "d1", "method": "paraphrase", "title": "...", "text": "..."}'


@dataclass(frozen=True, slots=True)
class Judged:
    """One reformulation beside its document."""

    id: str
    source: str
    method: str
    reasons: tuple[str, ...]  # why it is rejected, of REASONS
    lost: tuple[str, ...]  # present references that are not in it
    words_source: int
    words: int
    wer: float | None  # None where the document has no word
    rouge1: float | None
    ceiling: float | None  # None where no reference is present in either
    source_prmu: tuple[int, ...]  # references of each class, P R M U
    prmu: tuple[int, ...]

    @property
    def kept(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values."""
        return {
            "id": self.id,
            "source": self.source,
            "method": self.method,
            "kept": self.kept,
            "reasons": list(self.reasons),
            "lost": list(self.lost),
            "words_source": self.words_source,
            "words": self.words,
            "wer": self.wer,
            "rouge1": self.rouge1,
            "ceiling": self.ceiling,
            "source_prmu": dict(zip(PRMU, self.source_prmu, strict=True)),
            "prmu": dict(zip(PRMU, self.prmu, strict=True)),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Filtered(Displayed):
    """All reformulations beside their documents, which are kept and why not the others, and what they are like."""

    corpus: str
    documents: int
    length: float
    judged: tuple[Judged, ...]
    original: tuple[tuple[int, ...], ...] = field(repr=False)  # of each document of the corpus, references by class
    records: tuple[dict[str, Any], ...] = field(repr=False)  # the reformulations as they were given
    signatures: dict[str, str]
    notes: tuple[str, ...]

    def kept(self) -> list[dict[str, Any]]:
        """The reformulations that are kept, as they were given."""
        return [record for record, each in zip(self.records, self.judged, strict=True) if each.kept]

    def pairs(self) -> list[dict[str, str]]:
        """The documents whose reformulation is kept, each with it, as pairs are written.

        With them goes the method, unless the id of the reformulation tells it.
        """
        return [
            {"a": each.source, "b": each.id}
            | ({} if method_of({}, each.source, each.id) == each.method else _method(each))
            for each in self.judged
            if each.kept
        ]

    def save(self, path: str | Path) -> None:
        """Writes the reformulations that are kept as JSON lines; the file appears when it is whole."""
        jsonl.save(str(path), self.kept())

    def save_pairs(self, path: str | Path) -> None:
        """Writes the pairs of what is kept."""
        write_pairs(path, self.pairs())

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each reformulation."""
        return [each.as_dict() for each in self.judged]

    def methods(self) -> list[str]:
        """The methods, in the order of their first reformulation, and all of them where there are several."""
        names = list(dict.fromkeys(each.method for each in self.judged))
        return [*names, ALL] if len(names) > 1 else names

    def of(self, method: str) -> list[Judged]:
        """The reformulations of a method."""
        return [each for each in self.judged if method in (each.method, ALL)]

    def summary(self) -> list[dict[str, Any]]:
        """One dict for each method: how many are kept, why not the others, and means of all and of the kept."""
        return [self._summary(method, self.of(method)) for method in self.methods()]

    def _summary(self, method: str, every: Sequence[Judged]) -> dict[str, Any]:
        kept = [each for each in every if each.kept]
        return {
            "corpus": self.corpus,
            "method": method,
            "reformulations": len(every),
            "kept": len(kept),
            "share": len(kept) / len(every) if every else None,
            **{f"rejected_{reason}": sum(reason in each.reasons for each in every) for reason in REASONS},
            **{name: _mean(kept, name) for name in ("wer", "rouge1", "ceiling")},
            **{f"{name}_of_all": _mean(every, name) for name in ("wer", "rouge1", "ceiling")},
            "ceiling_undefined": sum(each.ceiling is None for each in kept),
        }

    def prmu(self) -> list[dict[str, Any]]:
        """The classes of references in the documents and in what was made of them, as shares.

        Means over documents that have references, as Houbre et al. print them, and shares of all references.
        """
        rows = [self._classes("original", "original", self.original)]
        for method in self.methods():
            every = self.of(method)
            kept = [each for each in every if each.kept]
            rows.append(self._classes(method, "kept", [each.prmu for each in kept]))
            rows.append(self._classes(method, "sources of kept", [each.source_prmu for each in kept]))
            rows.append(self._classes(method, "all", [each.prmu for each in every]))
        return rows

    def _classes(self, method: str, version: str, counts: Sequence[Sequence[int]]) -> dict[str, Any]:
        some = [each for each in counts if sum(each)]
        total = sum(map(sum, some))
        return {
            "corpus": self.corpus,
            "method": method,
            "version": version,
            "documents": len(counts),
            **{name: fmean(each[i] / sum(each) for each in some) if some else None for i, name in enumerate(PRMU)},
            **{f"{n}_of_references": sum(e[i] for e in some) / total if some else None for i, n in enumerate(PRMU)},
        }

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, a summary, the classes of references."""
        return {
            "signatures": self.signatures,
            "rows": self.rows(),
            "notes": list(self.notes),
            "options": {"length": self.length},
            "summary": self.summary(),
            "prmu": self.prmu(),
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output: lists in one cell, a column for each class of references."""
        return [_flat(row) for row in self.rows()]

    def tables(self) -> Iterator[Table]:
        """What is kept and why not the rest, how far it is from the documents, the classes of its references."""
        head = f"{self.corpus}, {counted(self.documents, 'document')}, {counted(len(self.judged), 'reformulation')}"
        head = f"{head}, protocol {', '.join(self.signatures)}"
        meaning = MEANING.format(100 * self.length)
        yield Table(head, about=[meaning])
        for table, about in zip((_counts(self), _means(self), _classes(self)), ABOUT, strict=True):
            yield replace(table, caption=f"{table.title}: {head}. {meaning} {about}")
        yield Table(notes=ABOUT)
        if rejected := list(_examples(self)):
            yield Table("Rejected:", items=rejected)


def _method(each: Judged) -> dict[str, str]:
    """The method of a reformulation as a field of its pair, where it has one."""
    return {} if each.method == UNNAMED else {"method": each.method}


def _mean(every: Iterable[Judged], name: str) -> float | None:
    values = [value for each in every if (value := getattr(each, name)) is not None]
    return fmean(values) if values else None


# ---------------------------------------------------------------------------------------------- tables

EXAMPLES = 5  # rejected reformulations that are shown
MEANING = (
    "Kept: every present reference of the document is present or reordered in the reformulation, and the number of "
    "words is within {:g} % of the document's."
)
# What the columns of each table are.
ABOUT = (
    "references, length: how many are rejected for that (some for both).",
    "WER: words to change over words of the document; ROUGE-1: share of its words that are kept; ceiling: Hooper "
    "of the references present in both, which a perfect extractor has.",
    "PRMU: references that are present, reordered, mixed, unseen; means over documents.",
)


def _counts(found: Filtered) -> Table:
    """How many are kept, and why not the others, by method."""
    names = ("reformulations", "kept", "share", *(f"rejected_{reason}" for reason in REASONS))
    rows = rows_of((row["method"], [Cell(row[name]) for name in names]) for row in found.summary())
    kinds = {"made": COUNT, "kept": COUNT, "share": NUMBER, **dict.fromkeys(REASONS, COUNT)}
    return Table("Kept and rejected", "method", [Column(*each) for each in kinds.items()], rows)


def _means(found: Filtered) -> Table:
    """What the kept ones are like, and all of them, by method."""
    rows = rows_of(
        (f"{row['method']}, {which}", [Cell(row[name + suffix]) for name in ("wer", "rouge1", "ceiling")])
        for row in found.summary()
        for which, suffix in (("kept", ""), ("all", "_of_all"))
    )
    columns = [Column(name) for name in ("WER", "ROUGE-1", "ceiling")]
    return Table("How far from the document", "reformulations", columns, rows)


def _classes(found: Filtered) -> Table:
    """The classes of references in the documents and in what was made of them."""
    rows = rows_of(
        (
            "original" if row["version"] == "original" else f"{row['method']}, {row['version']}",
            [Cell(row[name]) for name in ("documents", *PRMU)],
        )
        for row in found.prmu()
    )
    columns = [Column("documents", COUNT), *(Column(f"% {name}", PERCENT) for name in PRMU)]
    return Table("Classes of the references", "version", columns, rows)


def _examples(found: Filtered) -> Iterator[str]:
    """Why the first of the rejected ones are rejected."""
    rejected = [each for each in found.judged if not each.kept]
    yield from (f"{each.id}: {'; '.join(_why(each))}" for each in rejected[:EXAMPLES])
    if len(rejected) > EXAMPLES:
        yield f"... and {len(rejected) - EXAMPLES:,} more; -f csv and -f json have them all."


def _why(each: Judged) -> Iterator[str]:
    if each.lost:
        yield f"without {', '.join(short(phrase, 40) for phrase in each.lost)}"
    if "length" in each.reasons:
        yield f"{counted(each.words, 'word')} for {each.words_source:,}"


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    source, own = row.pop("source_prmu"), row.pop("prmu")
    lists = {name: "; ".join(row[name]) for name in ("reasons", "lost")}
    return {**row, **lists, **{f"source_{name}": source[name] for name in PRMU}, **own}


# ---------------------------------------------------------------------------------------------- reading


def _given(reformulations: str | Path | Iterable[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where it stands, the record) of each reformulation of a file, of several, or of those at hand."""
    if isinstance(reformulations, str | Path):
        for place, record in jsonl.records(str(reformulations), dict[str, Any]):
            yield f"{reformulations}:{place}", record
        return
    for place, record in enumerate(reformulations, 1):
        if isinstance(record, str | Path):
            yield from _given(record)
        else:
            yield f"reformulation {place}", msgspec.to_builtins(record)


def _read(reformulations: str | Path | Iterable[Any]) -> Iterator[tuple[str, Reformulation, dict[str, Any]]]:
    """(where, the reformulation, the record as it was given); no two have the same id."""
    seen: dict[str, str] = {}
    for where, record in _given(reformulations):
        named = {name: record.get(name) for name in ("id", "source")}
        for name, value in named.items():
            if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
                raise InputError(f"{where}: has no {name}; {FORM}")
            named[name] = str(value)
        try:
            found = msgspec.convert({"method": UNNAMED, **record, **named}, Reformulation)
        except msgspec.ValidationError as error:
            raise InputError(f"{where}: {brief(str(error))}; {FORM}") from None
        if found.id in seen:
            raise InputError(f"{where}: the id {quoted(found.id)} is that of {seen[found.id]} too")
        seen[found.id] = where
        yield where, found, record


# ---------------------------------------------------------------------------------------------- judging


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """When a reformulation is good enough."""

    length: float = option(LENGTH, "By what share of the document's words the number may differ.", metavar="S")
    protocol: ProtocolLike = protocol_option("Convention by which phrases are matched.")
    references: str | None = option(None, "Look at a named reference set.", metavar="NAME")
    language: str | None = language_option()
    work: WorkOptions = group(WorkOptions)


@public(FilterOptions)
def filter_reformulations(
    corpus: CorpusLike,
    reformulations: str | Path | Iterable[Any],
    *,
    length: float = LENGTH,
    protocol: ProtocolLike = "karat",
    references: str | None = None,
    language: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Filtered:
    """What becomes of reformulations under the filter; `reformulations` are a file, several, or Reformulation objects.

    Raises InputError if there is none, or if one is of a document that is not in the corpus.

    >>> documents = Corpus.of([{"id": "1", "text": "Deep nets learn.", "keyphrases": ["deep nets", "trees"]}])
    >>> made = [{"id": "1~x", "source": "1", "method": "x", "text": "Nets learn deep."}]
    >>> [(row["kept"], round(row["wer"], 2)) for row in filter_reformulations(documents, made).rows()]
    [(True, 0.67)]
    """
    work = options_from(FilterOptions, locals()).work
    if not 0 <= length < 1:
        raise InputError(f"the length may change by a share from 0 to 1, as 0.1, not {length:g}")
    given, [chosen] = as_corpus(corpus), as_protocols([protocol], language)
    kept = change(chosen, reference_duplicates="keep")
    reading = Pass(given, [], reference_set=chosen_set(given, references), jobs=work.jobs)
    texts = list(_read(reformulations))
    if not texts:
        raise InputError("there is no reformulation to look at")
    ids = frozenset(found.source for _, found, _ in texts)
    answers, hashes = reading.look(partial(_look_at_sources, kept, ids)), reading.look(hash_look)
    reading.run()
    original = [tuple(row) for part in answers.parts for row in part.classes.tolist()]
    sources = {each.id: each for part in answers.parts for each in part.sources}
    for where, found, _ in texts:
        if found.source not in sources:
            hint = near(found.source, sources)
            raise InputError(f"{where}: there is no document {quoted(found.source)} in {given.origin}{hint}")
    pairs = {found.id: (found, sources[found.source]) for _, found, _ in texts}
    judged = _judged(reading, pairs, partial(_look_at_made, kept, length, pairs), work.progress)
    facts = {"set": references or "keyphrases", "hash": hash_text(sum(hashes.parts))}
    return Filtered(
        given.name,
        len(original),
        length,
        tuple(judged),
        tuple(original),
        tuple(record for _, _, record in texts),
        {str(chosen): chosen.signature(**facts, karat=__version__)},
        (*by_name_notes(given, [chosen]), *_notes(judged, original)),
    )


def _notes(judged: Sequence[Judged], original: Sequence[Sequence[int]]) -> Iterator[str]:
    if not any(map(sum, original)):
        yield "the documents have no references, so only the lengths are judged"
    without = sum(not each.words_source for each in judged)
    if without:
        yield f"no WER and no ROUGE-1 for reformulations of {counted(without, 'document')} without a word"
    kept = [each for each in judged if each.kept]
    copies = sum(each.wer == 0 for each in kept)
    if copies:
        yield f"{copies:,} of {counted(len(kept), 'kept reformulation')} repeat their document word for word (WER 0)"


# ---------------------------------------------------------------------------------------------- references in texts


@dataclass(frozen=True, slots=True)
class _References:
    """The references of some documents: whose they are, as they are given, present or not, and of which class."""

    document: Ints
    surface: list[str]
    form: Ints
    present: Bools
    prmu: Ints

    @classmethod
    def of(cls, view: View, protocol: Protocol) -> _References:
        """The references of the documents of a view, looked up in them."""
        aligned = view.unpredicted(protocol)
        found, surfaces = aligned.references, [surface.strip() for surface in aligned.prepared.surfaces]
        first = np.unique(found.variant_reference, return_index=True)[1]
        shown = [surfaces[number] for number in found.variant_surface[first].tolist()]
        return cls(found.document, shown, found.phrase, found.present, aligned.reference_prmu())

    def counts(self, documents: int) -> Ints:
        """References of each class, int[documents, 4]."""
        keys = np.bincount(self.document * len(PRMU) + self.prmu, minlength=documents * len(PRMU))
        return keys.reshape(documents, len(PRMU))


@dataclass(frozen=True, slots=True)
class _Source:
    """A document of the corpus that was reformulated, and which of its references are present in it."""

    id: str
    document: Document
    present: Bools
    prmu: tuple[int, ...]  # references of each class


@dataclass(frozen=True, slots=True)
class _Part:
    """What a chunk of the corpus gives back."""

    classes: Ints  # [documents, 4], references of each class
    sources: list[_Source]


def _look_at_sources(protocol: Protocol, ids: frozenset[str], view: View) -> _Part:
    """A look at the corpus: the classes of all references, and the documents with the given ids."""
    found = _References.of(view, protocol)
    classes = found.counts(len(view))
    starts = np.searchsorted(found.document, np.arange(len(view) + 1))
    sources = [
        _Source(name, document, found.present[starts[d] : starts[d + 1]], tuple(classes[d].tolist()))
        for d, (name, document) in enumerate(zip(view.ids, view.given, strict=True))
        if name in ids
    ]
    return _Part(classes, sources)


# ---------------------------------------------------------------------------------------------- judging

Pairs = Mapping[str, tuple[Reformulation, _Source]]  # by the id of the reformulation


def _judged(
    sources: Pass, pairs: Pairs, look: Callable[[View], list[Judged]], progress: Progress | None
) -> list[Judged]:
    """What a look says of each reformulation: all are read as a corpus that is called like that of their sources."""
    corpus = Corpus(sources.corpus.name, partial(_batches, pairs), sources.corpus.origin)
    reading = Pass(corpus, [], reference_set=sources.setup.reference_set, jobs=sources.jobs, progress=progress)
    answers = reading.look(look)
    reading.run()
    return [each for part in answers.parts for each in part]


def _batches(pairs: Pairs) -> Iterator[Batch[Document]]:
    """The reformulations as documents, with the references of their sources."""
    return in_batches(
        (place, msgspec.structs.replace(source.document, id=made.id, title=made.title, text=made.text))
        for place, (made, source) in enumerate(pairs.values(), 1)
    )


def _look_at_made(protocol: Protocol, length: float, pairs: Pairs, view: View) -> list[Judged]:
    """A look at reformulations: each beside its source. Both have the same references, so their rows go together."""
    here = [pairs[name] for name in view.ids]
    found = _References.of(view, protocol)
    present = np.concatenate([source.present for _, source in here])
    classes = found.counts(len(view)).tolist()
    lost = np.flatnonzero(present & (found.prmu > PRMU.index("R")))
    gone = _by_document(found.document[lost], [found.surface[row] for row in lost.tolist()])
    ceilings = _ceilings(found, present, len(view))
    return [
        _judge(made, source, length, tuple(gone.get(d, ())), ceilings[d], tuple(classes[d]))
        for d, (made, source) in enumerate(here)
    ]


def _judge(
    made: Reformulation,
    source: _Source,
    length: float,
    lost: tuple[str, ...],
    ceiling: float | None,
    prmu: tuple[int, ...],
) -> Judged:
    one, other = words_of(source.document.title, source.document.text), words_of(made.title, made.text)
    near_enough = abs(len(other) - len(one)) <= length * len(one) + ROUNDING
    reasons = [*(["references"] if lost else []), *([] if near_enough else ["length"])]
    return Judged(
        made.id,
        made.source,
        made.method,
        tuple(reasons),
        lost,
        len(one),
        len(other),
        wer(one, other),
        rouge1(one, other),
        ceiling,
        source.prmu,
        prmu,
    )


def _by_document(document: Ints, surfaces: Sequence[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for d, surface in zip(document.tolist(), surfaces, strict=True):
        found.setdefault(d, []).append(surface)
    return found


def _ceilings(found: _References, source: Bools, documents: int) -> list[float | None]:
    """|A∩B| / |A∪B| of the references present in a source and in what was made of it, None where there are none."""
    width = int(found.form.max(initial=0)) + 1
    keys = found.document * width + found.form  # a repeated reference counts once
    both, either = (np.unique(keys[mask]) // width for mask in (source & found.present, source | found.present))
    shared, there = (np.bincount(each, minlength=documents) for each in (both, either))
    shares: Floats = np.divide(shared, there, out=np.full(documents, np.nan), where=there > 0)
    return [None if value != value else value for value in shares.tolist()]


# ---------------------------------------------------------------------------------------------- words


def words_of(title: str | None, text: str | None) -> list[str]:
    """The words of a document, in lower case.

    >>> words_of("Deep nets", "They learn (state-of-the-art).")
    ['deep', 'nets', 'they', 'learn', 'state', 'of', 'the', 'art']
    """
    return tokenizer("split_nopunc")(f"{title or ''} {text or ''}".lower())


def wer(a: Sequence[str], b: Sequence[str]) -> float | None:
    """The word error rate: insertions, deletions and substitutions from one text to the other, over its words.

    >>> wer("the cat sat on the mat".split(), "the cat lay on a mat".split())
    0.3333333333333333
    """
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(a, b) / len(a) if a else None


def rouge1(a: Sequence[str], b: Sequence[str]) -> float | None:
    """ROUGE-1 recall: the share of the words of a text that the other has too.

    >>> rouge1("the cat sat on the mat".split(), "the cat lay on a mat".split())
    0.6666666666666666
    """
    return (Counter(a) & Counter(b)).total() / len(a) if a else None
