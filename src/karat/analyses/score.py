"""Scores: metrics of runs against a corpus, with the rows they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from karat import __version__
from karat.corpus import Corpus, Run
from karat.errors import InputError, counted
from karat.formats.reviews import NONE_ACCEPTED, Accepted, read_accepted
from karat.formats.vocabulary import as_vocabulary
from karat.matching.align import part_options, text_options
from karat.matching.columns import PRMU, Aligned, Ints
from karat.matching.concepts import vocabulary_notes
from karat.matching.inputs import (
    CorpusLike,
    Development,
    MetricsLike,
    ProtocolLike,
    ProtocolsLike,
    RunLike,
    as_corpus,
    as_list,
    as_metrics,
    as_protocols,
    as_runs,
    by_line_notes,
    by_name_notes,
    chosen_set,
    hash_text,
    parse_shard,
)
from karat.matching.join import Join, Shard, has_id
from karat.matching.passes import Pass, View, hash_look
from karat.matching.sanity import NO_SUBSETS, has_texts, sanity_warnings, texts_needed
from karat.matching.spellings import merged_spellings
from karat.metrics.base import DEFAULT_METRICS, Request, Rows, own_names, parse_request, plan_requests
from karat.metrics.growing import GrowingRows
from karat.options import (
    By,
    Extra,
    JoinOptions,
    MatchOptions,
    Missing,
    Progress,
    WorkOptions,
    development_option,
    extra_references_option,
    group,
    metrics_option,
    option,
    options_from,
    protocol_option,
    public,
)
from karat.protocol import Matching, Protocol, change, signature_facts
from karat.results import Part, Results, Score, Tally
from karat.results.common import on_common_documents
from karat.vocabulary import Vocabulary, VocabularyLike

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """How `score` works."""

    protocol: ProtocolsLike = protocol_option(repeatable=True)
    metrics: MetricsLike | None = metrics_option()
    averages: bool = option(False, "Every average of each metric, not the protocol's own alone.")
    extra_references: str | Path | None = extra_references_option()
    join: JoinOptions = group(MatchOptions)
    development: Development | None = development_option()
    work: WorkOptions = group(WorkOptions)
    shard: str | None = option(None, "Score every N-th document from the I-th on; then `results merge`.", metavar="I/N")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is computed on every chunk: the protocols, and for each system and protocol the requests."""

    protocols: tuple[Protocol, ...]
    requests: tuple[tuple[tuple[Request, ...], ...], ...]  # by system, by protocol

    def matchings(self) -> list[tuple[Matching, list[int]]]:
        """Each way of matching with its protocols; those whose texts are alike stand together."""
        found: dict[Matching, list[int]] = {}
        for p, protocol in enumerate(self.protocols):
            found.setdefault(protocol.matching, []).append(p)
        parts, texts = (list(dict.fromkeys(map(options, found))) for options in (part_options, text_options))
        return sorted(
            found.items(), key=lambda item: (parts.index(part_options(item[0])), texts.index(text_options(item[0])))
        )


@public(ScoreOptions)
def score(
    corpus: CorpusLike,
    *runs: RunLike,
    protocol: ProtocolsLike = "karat",
    metrics: MetricsLike | None = None,
    averages: bool = False,
    extra_references: str | Path | None = None,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    development: Development | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    shard: str | None = None,
) -> Results:
    """The scores of runs against a corpus, with the rows they are made of.

    `metrics` are strings such as `f1@5:present`, by default F1 at 5, M and O for present, absent and all phrases;
    `protocol` is one name with options, or several. Raises InputError if a file, a metric or a protocol cannot be used,
    or if a run does not fit the corpus.
    """
    return score_with(corpus, runs, options_from(ScoreOptions, locals()))


def score_with(corpus: CorpusLike, runs: Sequence[RunLike], options: ScoreOptions) -> Results:
    """The scores of runs, as `score` computes them."""
    return pass_for(in_pass, corpus, runs, options, shard=options.shard, extra_references=options.extra_references)


def pass_for(
    register: Callable[[Pass, Any], Callable[[], T]],
    corpus: CorpusLike,
    runs: Sequence[RunLike],
    options: Any,
    *,
    shard: str | None = None,
    extra_references: str | Path | None = None,
) -> T:
    """The result of an analysis from a pass of its own: `register` is its `in_pass`."""
    reading = reading_of(
        as_corpus(corpus),
        as_runs(runs),
        options.protocol,
        options.join,
        options.work,
        shard=shard,
        extra_references=extra_references,
    )
    finish = register(reading, options)
    reading.run()
    return finish()


def reading_of(
    corpus: Corpus,
    runs: Sequence[Run],
    protocol: ProtocolsLike,
    join: JoinOptions,
    work: WorkOptions,
    *,
    shard: str | None = None,
    extra_references: str | Path | None = None,
) -> Pass:
    """A pass over a corpus and runs, with the references that the options, or a signature among the protocols, name."""
    signed = _facts(as_list(protocol)).get("set", "keyphrases")
    return Pass(
        corpus,
        runs,
        Join(join.by, join.missing, parse_shard(shard), join.extra),
        reference_set=chosen_set(corpus, join.references or (None if signed == "keyphrases" else signed)),
        extra=_extra(corpus, extra_references),
        vocabulary=_vocabulary(join),
        jobs=work.jobs,
        progress=work.progress,
    )


def _vocabulary(join: JoinOptions) -> Vocabulary | None:
    given = join.vocabulary if isinstance(join, MatchOptions) else None
    return None if given is None else as_vocabulary(given)


def in_pass(reading: Pass, options: ScoreOptions) -> Callable[[], Results]:
    """Registers what scores need of a pass; what comes back gives them once the pass has run."""
    corpus, runs, setup, join = reading.corpus, reading.runs, reading.setup, options.join
    if not runs:
        raise InputError("nothing to score: give at least one run")
    texts, no_texts = metrics_to_compute(corpus, as_metrics(options.metrics), runs)
    listed = as_list(options.protocol)
    protocols, facts = as_protocols(listed, join.language), _facts(listed)
    requests = tuple(tuple(plan_requests(texts, p.counting, options.averages)) for p in protocols)
    notes = [
        *by_line_notes(corpus, runs, join.by),
        *by_name_notes(corpus, protocols),
        *_extra_notes(setup.extra, options.extra_references, facts.get("extra")),
        *_vocabulary_notes(setup.vocabulary, facts.get("vocabulary")),
        *map("warning: {}".format, sanity_warnings(corpus, runs, protocols, join.by, setup.reference_set)),
    ]
    requested = [request for each in requests for request in each]
    for request in {(r.metric, r.options): r for r in requested}.values():
        if request.spec.needs is not None:
            request.spec.needs(runs, dict(request.options))
    plan, fit_notes = _fitted(Plan(protocols, (requests,) * len(runs)), reading, options.development)
    later = [*no_texts, *fit_notes, *dict.fromkeys(filter(None, (request.remark for request in requested)))]
    whole = _Whole(plan)
    scored, hashes = reading.look(partial(_score_chunk, plan), take=whole.add), reading.look(hash_look)

    def finish() -> Results:
        scored.check()
        total = sum(hashes.parts)
        if reading.join.shard.count == 1 and facts.get("hash", hash_text(total)) != hash_text(total):
            notes.append(
                f"the references of {corpus.name} are not those of the signature: their hash is {hash_text(total)}"
            )
        return _results(plan, reading, whole, total, [*notes, *reading.notes(), *later])

    return finish


Value = tuple[float, str]  # with its average


def values_in_pass(
    reading: Pass, tried: Sequence[tuple[Protocol, Sequence[str]]], development: Development | None
) -> Callable[[], dict[tuple[str, str, str], Value]]:
    """Registers many protocols, each with its metrics; what comes back gives values, once the pass has run.

    They are by protocol, system and metric, as `in_pass` would give them. Rows that protocols have in common are held
    once, and all are dropped in the end.
    """
    protocols = tuple(protocol for protocol, _ in tried)
    requests = tuple(tuple(plan_requests(metrics, protocol.counting)) for protocol, metrics in tried)
    plan, _ = _fitted(Plan(protocols, (requests,) * len(reading.runs)), reading, development)
    answers = reading.look(partial(_shared_rows, plan))

    def finish() -> dict[tuple[str, str, str], Value]:
        parts = answers.parts
        documents = [part.documents for part in parts]
        found: dict[tuple[str, str, str], Value] = {}
        for s, system in enumerate(reading.setup.systems):
            for p, (protocol, metrics) in enumerate(tried):
                for m, (metric, request) in enumerate(zip(metrics, plan.requests[s][p], strict=True)):
                    rows = _concatenate([part.rows[s * len(tried) + p][m] for part in parts], documents)
                    found[str(protocol), system, metric] = request.value(rows), request.average or ""
        return found

    return finish


# ---------------------------------------------------------------------------------------------- protocols and metrics


def _facts(listed: Sequence[str | Protocol]) -> dict[str, str]:
    """What signatures that were given as protocols say of the references they were computed with."""
    return {k: v for text in listed if isinstance(text, str) for k, v in signature_facts(text).items()}


def metrics_to_compute(
    corpus: Corpus, metrics: Sequence[str] | None, runs: Sequence[Run] = ()
) -> tuple[Sequence[str], list[str]]:
    """(the metrics to compute, by their own names: without texts only those of the subset `all`; notes)."""
    chosen, notes = own_names(DEFAULT_METRICS if metrics is None else metrics)
    if has_texts(corpus, runs):
        return chosen, notes
    if metrics is None:
        return [text for text in chosen if parse_request(text).subset == "all"], [NO_SUBSETS]
    for text in chosen:
        if parse_request(text).subset != "all":
            raise texts_needed(corpus, text, ":all")
    return chosen, notes


def _extra(corpus: Corpus, review: str | Path | None) -> Accepted:
    if review is None:
        return NONE_ACCEPTED
    has_ids = has_id(corpus)
    known = (i if has_ids else str(at) for b in corpus.ahead() for i, at in zip(b.ids, b.places, strict=True))
    return read_accepted(review, set(filter(None, known)), corpus.origin)


def _extra_notes(extra: Accepted, review: str | Path | None, signed: str | None) -> list[str]:
    notes = []
    if extra.phrases:
        count = sum(map(len, extra.phrases.values()))
        notes.append(
            f"with {counted(count, 'extra reference')} for {counted(len(extra.phrases), 'document')} ({review})"
        )
    elif review is not None:
        notes.append(f'{review}: no phrase is accepted, so no reference is added; write "accept": true')
    if signed is not None and signed != extra.hash:
        notes.append(f"the signature is of other extra references (extra={signed}); --extra-references gives them")
    return notes


def _vocabulary_notes(vocabulary: Vocabulary | None, signed: str | None) -> list[str]:
    notes = []
    if vocabulary is not None:
        others = "are left out" if vocabulary.options.unmapped == "drop" else "stay strings"
        count = counted(len(vocabulary), "concept")
        notes = [f"phrases are compared as concepts of {vocabulary.name} ({count}); those that are none {others}"]
        notes += vocabulary_notes(vocabulary)
    if signed is not None and (vocabulary is None or signed != vocabulary.signature()):
        notes.append(f"the signature is of other concepts (vocabulary={signed}); --vocabulary gives them")
    return notes


# ---------------------------------------------------------------------------------------------- one chunk


@dataclass(frozen=True, slots=True)
class Scored:
    """What a chunk gives back: how many documents it has, rows by system and request, and tallies."""

    documents: int
    rows: list[list[Rows]]  # by system and protocol
    tallies: list[Tally]
    lacking: list[list[int]] = field(default_factory=list)  # by system, the documents that are left out


def _score_chunk(plan: Plan, view: View) -> Scored:
    """The rows and the tallies of a chunk."""
    rows: dict[tuple[int, int], list[Rows]] = {}
    tallies: dict[tuple[int, int], Tally] = {}
    for _, protocols in plan.matchings():
        for s in range(len(plan.requests)):
            tally = None
            for p in protocols:
                aligned = view.aligned(s, plan.protocols[p])
                rows[s, p] = [_without(request.rows(aligned), view.lacking(s)) for request in plan.requests[s][p]]
                tally = tally or _tally(view, s, aligned)
                tallies[s, p] = msgspec.structs.replace(tally, protocol=str(plan.protocols[p]))
    order = sorted(rows)
    lacking = [view.lacking(s) for s in range(len(plan.requests))]
    return Scored(len(view), [rows[key] for key in order], [tallies[key] for key in order], lacking)


def _shared_rows(plan: Plan, view: View) -> Scored:
    """The rows of a chunk without tallies; equal ones are one object."""
    known: dict[tuple[Any, ...], Rows] = {}
    rows: dict[tuple[int, int], list[Rows]] = {}
    for _, protocols in plan.matchings():
        for s in range(len(plan.requests)):
            for p in protocols:
                aligned = view.aligned(s, plan.protocols[p])
                found = [_without(request.rows(aligned), view.left_out(s)) for request in plan.requests[s][p]]
                rows[s, p] = [known.setdefault(_content(each), each) for each in found]
    return Scored(len(view), [rows[key] for key in sorted(rows)], [])


def _content(rows: Rows) -> tuple[Any, ...]:
    """What rows hold, to be looked up by."""
    return rows.values.shape, rows.values.tobytes(), None if rows.units is None else rows.units.tobytes()


def _without(rows: Rows, documents: list[int]) -> Rows:
    """The rows, those of some documents being undefined."""
    if not documents:
        return rows
    if rows.units is None:
        values = rows.values.copy()
        values[documents] = 0.0
        return Rows(values)
    kept = ~np.isin(rows.units, documents).reshape(len(rows.units), -1).any(axis=1)
    return Rows(rows.values[kept], rows.units[kept])


def _tally(view: View, system: int, aligned: Aligned) -> Tally:
    p = aligned.predictions
    return Tally(
        view.setup.systems[system],
        "",
        len(aligned.references.document),
        len(p.document),
        int((~p.valid).sum()),
        int((p.valid & ~p.kept).sum()),
        len(view.chunk.missing[system]),
        *merged_spellings(aligned, view.setup.semeval, view.setup.reference_set),
    )


# ---------------------------------------------------------------------------------------------- all chunks


class _Whole:
    """The rows and tallies of all chunks so far, by system and protocol."""

    def __init__(self, plan: Plan) -> None:
        self.keys = [(s, p) for s in range(len(plan.requests)) for p in range(len(plan.protocols))]
        self.rows = [[GrowingRows() for _ in plan.requests[s][p]] for s, p in self.keys]
        self.tallies: list[Tally] = []
        self.lacking: list[list[int]] = [[] for _ in plan.requests]
        self.documents = 0

    def add(self, part: Scored) -> None:
        """Takes what the next chunk gives."""
        for held, found in zip(chain.from_iterable(self.rows), chain.from_iterable(part.rows), strict=True):
            held.add(found, self.documents)
        self.tallies = list(map(Tally.plus, self.tallies, part.tallies)) if self.documents else part.tallies
        for places, lacking in zip(self.lacking, part.lacking, strict=True):
            places += [self.documents + place for place in lacking]
        self.documents += part.documents


def _results(plan: Plan, reading: Pass, whole: _Whole, total: int, notes: list[str]) -> Results:
    setup, shard = reading.setup, reading.join.shard
    if not whole.documents:
        raise InputError(f"shard {shard.index}/{shard.count} holds no document")
    scores = [
        Score(setup.corpus, setup.systems[s], str(plan.protocols[p]), request.kept(), held.whole())
        for (s, p), rows in zip(whole.keys, whole.rows, strict=True)
        for request, held in zip(plan.requests[s][p], rows, strict=True)
    ]
    tallies = whole.tallies
    if shard.count == 1 and not any(tally.references for tally in tallies):
        chosen = f"the reference set {setup.reference_set!r}" if setup.reference_set else "keyphrases"
        hint = "" if setup.reference_set else "; name their column with --fields keyphrases=COLUMN"
        raise InputError(f"{setup.corpus}: no document has references ({chosen}){hint}")
    facts = {"set": setup.reference_set or "keyphrases", "hash": hash_text(total)}
    if setup.extra.hash is not None:
        facts["extra"] = setup.extra.hash
    if setup.vocabulary is not None:
        facts["vocabulary"] = setup.vocabulary.signature()
    signatures = {str(p): p.signature(**facts, karat=__version__) for p in plan.protocols}
    part = Part(shard.index, shard.count)
    lacking = {name: tuple(own) for name, own in zip(setup.systems, whole.lacking, strict=True) if own}
    results = Results(tuple(scores), tuple(reading.ids), signatures, tuple(tallies), tuple(notes), part, lacking)
    if not setup.common or shard.count > 1:
        return results
    [restricted], said = on_common_documents([results])
    return replace(restricted, remarks=(*results.remarks, *said))


def _concatenate(rows: Sequence[Rows], documents: Sequence[int]) -> Rows:
    values = np.concatenate([part.values for part in rows])
    if rows[0].units is None:
        return Rows(values)
    starts = np.cumsum([0, *documents[:-1]])
    units = [part.units + start for part, start in zip(rows, starts, strict=True) if part.units is not None]
    return Rows(values, np.concatenate(units))


# ---------------------------------------------------------------------------------------------- fitted constants


def _fitted(plan: Plan, reading: Pass, development: Development | None) -> tuple[Plan, list[str]]:
    """The plan with the constants that requests need: found on development documents, or on all scored ones."""
    requested = {request for each in plan.requests for requests in each for request in requests}
    fits = [fit for request in requested if (fit := request.needs_fit())]
    notes: list[str] = []
    if any(not fit.development for fit in fits):
        plan = _with_constants(plan, reading.again(), range(len(reading.runs)), development=False)
    if any(fit.development for fit in fits):
        if development is None:
            notes.append("the k of @V was fitted on the scored documents themselves; --dev-corpus fits it on others")
            others = reading.again()
        else:
            corpus, runs = as_corpus(development[0]), as_runs(development[1])
            _same_systems(runs, reading.runs)
            join = replace(reading.join, shard=Shard())
            others = Pass(
                corpus,
                runs,
                join,
                reference_set=reading.setup.reference_set,
                vocabulary=reading.setup.vocabulary,
                jobs=reading.jobs,
            )
        names = [run.name for run in others.runs]
        order = [names.index(run.name) for run in reading.runs]
        plan = _with_constants(plan, others, order, development=True)
    return plan, notes


def _same_systems(development: Sequence[Run], runs: Sequence[Run]) -> None:
    names = {run.name for run in development}
    for run in runs:
        if run.name not in names:
            raise InputError(f"no development run is named {run.name!r}; name it: {run.name}=PATH")


Gathered = dict[tuple[int, int, int], Any]  # by system, protocol and request


def _with_constants(plan: Plan, reading: Pass, order: Sequence[int], *, development: bool) -> Plan:
    """The plan with what a pass finds; `order` says which of the pass's runs is each system's."""
    gathered = reading.look(partial(_gather_chunk, plan, development))
    reading.run()

    def settled(system: int, p: int, m: int, request: Request) -> Request:
        fit = request.needs_fit()
        if fit is None or fit.development != development:
            return request
        return request.with_fitted(fit.settle([part[system, p, m] for part in gathered.parts]))

    requests = tuple(
        tuple(tuple(settled(s, p, m, r) for m, r in enumerate(each_request)) for p, each_request in enumerate(each))
        for s, each in zip(order, plan.requests, strict=True)
    )
    return replace(plan, requests=requests)


def _gather_chunk(plan: Plan, development: bool, view: View) -> Gathered:
    gathered: Gathered = {}
    for _, protocols in plan.matchings():
        for s in range(len(view.setup.systems)):
            for p in protocols:
                for m, request in enumerate(plan.requests[0][p]):
                    if (fit := request.needs_fit()) is not None and fit.development == development:
                        gathered[s, p, m] = fit.gather(view.aligned(s, plan.protocols[p]), request.subset)
    return gathered


# ---------------------------------------------------------------------------------------------- PRMU


def prmu(
    corpus: CorpusLike, protocol: ProtocolLike = "karat", references: str | None = None
) -> dict[str, dict[str, float]]:
    """The shares of present, reordered, mixed and unseen references: mean over documents, and over the corpus.

    The references are taken as they are given, repeats included.
    """
    given = as_corpus(corpus)
    return prmu_shares(reference_classes(given, protocol, references), given)


def reference_classes(corpus: Corpus, protocol: str | Protocol, references: str | None, jobs: int = 1) -> Ints:
    """How many references of each class the documents of a corpus have: int[documents, 4]."""
    [chosen] = as_protocols([protocol])
    reading = Pass(corpus, [], reference_set=references, jobs=jobs)
    counts = reading.look(partial(_count_classes, change(chosen, reference_duplicates="keep")))
    reading.run()
    return np.concatenate([np.zeros((0, len(PRMU)), dtype=np.int64), *counts.parts])


def prmu_shares(counts: Ints, corpus: Corpus) -> dict[str, dict[str, float]]:
    """The shares of the classes in documents with so many references of each.

    Raises InputError if none has references.
    """
    each = counts[counts.sum(axis=1) > 0]
    if not len(each):
        raise InputError(f"{corpus.origin}: no document has references")
    means = (each / each.sum(axis=1, keepdims=True)).mean(axis=0)
    shares = each.sum(axis=0) / each.sum()
    return {
        "documents": dict(zip(PRMU, means.tolist(), strict=True)),
        "corpus": dict(zip(PRMU, shares.tolist(), strict=True)),
    }


def _count_classes(protocol: Protocol, view: View) -> Ints:
    aligned = view.unpredicted(protocol)
    return np.stack([aligned.count_references(subset) for subset in ("P", "R", "M", "U")], axis=1)
