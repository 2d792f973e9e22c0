"""The one orchestration: what is asked for, chunk by chunk, on one process or several, into Results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import karat.metrics  # noqa: F401  registers the metrics
from karat import __version__
from karat.corpus import Corpus, Document, Prediction, Run
from karat.errors import InputError, unknown
from karat.formats.reviews import NONE_ACCEPTED, Accepted, read_accepted
from karat.matching.align import align, prepare
from karat.matching.columns import PRMU, Aligned
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
    by_name_notes,
    hash_of_references,
    hash_text,
    uncollected,
)
from karat.matching.join import Chunk, Join, Shard, chunks, has_id, matched_by
from karat.matching.sanity import has_texts, sanity_warnings
from karat.matching.spellings import merged_spellings
from karat.matching.workers import ordered_map
from karat.metrics.base import DEFAULT_METRICS, Request, Rows, parse_request, plan_requests
from karat.options import (
    By,
    JoinOptions,
    Missing,
    Progress,
    WorkOptions,
    development_option,
    group,
    metrics_option,
    option,
    options_from,
    protocol_option,
    public,
)
from karat.protocol import Matching, Protocol, change, signature_facts, whole_number
from karat.results import Part, Results, Score, Tally

Columns = Mapping[tuple[int, int], Aligned]  # by system and protocol


@dataclass(frozen=True, slots=True)
class Beside:
    """Something else that is wanted of the columns while they are at hand.

    `look` gets them chunk by chunk, possibly in another process; `take` is called with what it gives, in corpus order.
    """

    look: Callable[[Chunk, Columns], Any]
    take: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """How `score` works."""

    protocol: ProtocolsLike = protocol_option(repeatable=True)
    metrics: MetricsLike | None = metrics_option()
    averages: bool = option(False, "Every average of each metric, not the protocol's own alone.")
    extra_references: str | Path | None = option(
        None,
        "Add the references that a review accepts; `karat overlap --review` writes one.",
        metavar="FILE",
        complete="paths",
    )
    join: JoinOptions = group(JoinOptions)
    development: Development | None = development_option()
    work: WorkOptions = group(WorkOptions)
    shard: str | None = option(None, "Score every N-th document from the I-th on; then `results merge`.", metavar="I/N")


@dataclass(frozen=True, slots=True)
class Plan:
    """What every chunk is asked: the protocols, and the requests of each."""

    corpus: str
    semeval: bool
    systems: tuple[str, ...]
    reference_set: str | None
    protocols: tuple[Protocol, ...]
    requests: tuple[tuple[Request, ...], ...]
    leave_out: bool = False  # documents that a run lacks, instead of taking them as empty
    extra: Accepted = NONE_ACCEPTED
    look: Callable[[Chunk, Columns], Any] | None = None


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


def score_with(
    corpus: CorpusLike, runs: Sequence[RunLike], options: ScoreOptions, beside: Beside | None = None
) -> Results:
    """The scores of runs as `score` computes them, and whatever else `beside` makes of the columns."""
    with uncollected():
        return _score(corpus, runs, options, beside)


def _score(corpus: CorpusLike, runs: Sequence[RunLike], options: ScoreOptions, beside: Beside | None) -> Results:
    if not runs:
        raise InputError("nothing to score: give at least one run")
    corpus, systems = as_corpus(corpus), as_runs(runs)
    wanted, remark = wanted_metrics(corpus, as_metrics(options.metrics), systems)
    remarks = _by_line_remarks(corpus, systems, options.join.by)
    listed = as_list(options.protocol)
    protocols, facts = as_protocols(listed, options.join.language), _facts(listed)
    remarks += by_name_notes(corpus, protocols)
    chosen = facts.get("set", "keyphrases")
    plan = Plan(
        corpus.name,
        corpus.semeval,
        tuple(run.name for run in systems),
        _reference_set(corpus, options.join.references or (None if chosen == "keyphrases" else chosen)),
        protocols,
        tuple(tuple(plan_requests(wanted, p.counting, options.averages)) for p in protocols),
        options.join.missing == "skip",
        _extra(corpus, options.extra_references),
        beside.look if beside else None,
    )
    remarks += _extra_remarks(plan.extra, options.extra_references, facts.get("extra"))
    remarks += map(
        "warning: {}".format, sanity_warnings(corpus, systems, protocols, options.join.by, plan.reference_set)
    )
    for request in {(r.metric, r.options): r for requests in plan.requests for r in requests}.values():
        if request.spec.needs is not None:
            request.spec.needs(systems, dict(request.options))
    join = Join(options.join.by, options.join.missing, _shard(options.shard))
    plans, fit_remark = _fitted(plan, corpus, systems, join, options)
    parts = _collect(plans, corpus, systems, join, options.work, beside)
    found = hash_text(sum(part.hash for part in parts))
    if join.shard.count == 1 and facts.get("hash", found) != found:
        remarks.append(f"the references of {corpus.name} are not those of the signature: their hash is {found}")
    told = dict.fromkeys(filter(None, (request.remark for requests in plan.requests for request in requests)))
    return _results(plans, parts, join.shard, [*remarks, *remark, *fit_remark, *told])


# ---------------------------------------------------------------------------------------------- what is asked


def _facts(listed: Sequence[str | Protocol]) -> dict[str, str]:
    """What signatures that were given as protocols say of the references they were computed with."""
    return {k: v for text in listed if isinstance(text, str) for k, v in signature_facts(text).items()}


def _shard(given: str | None) -> Shard:
    if given is None:
        return Shard()
    index, count = (whole_number(part) for part in (given.partition("/")[0], given.partition("/")[2]))
    if index is None or count is None or index > count:
        raise InputError(f"--shard is I/N with I from 1 to N, as 3/16, not {given!r}")
    return Shard(index, count)


def wanted_metrics(
    corpus: Corpus, metrics: Sequence[str] | None, runs: Sequence[Run] = ()
) -> tuple[Sequence[str], list[str]]:
    """The metrics to compute: without texts only those of the subset `all`."""
    chosen = list(DEFAULT_METRICS) if metrics is None else list(metrics)
    if has_texts(corpus, runs):
        return chosen, []
    if metrics is None:
        remark = "the documents have no title and no text, so present and absent phrases cannot be told apart"
        return [text for text in chosen if parse_request(text).subset == "all"], [remark]
    for text in chosen:
        if parse_request(text).subset != "all":
            raise InputError(f"{text} needs the documents' title or text, and {corpus.origin} has none; use :all")
    return chosen, []


def _reference_set(corpus: Corpus, name: str | None) -> str | None:
    if name is None:
        return None
    known: set[str] = set()
    for document in corpus:
        known.update(document.reference_sets or ())
        if name in known:
            return name
    if not known:
        raise InputError(f"{corpus.origin} has no reference sets, so --references {name} cannot choose one")
    raise unknown("reference set", name, known)


def _extra(corpus: Corpus, review: str | Path | None) -> Accepted:
    if review is None:
        return NONE_ACCEPTED
    has_ids = has_id(corpus)
    known = (i if has_ids else str(at) for b in corpus.batches() for i, at in zip(b.ids, b.places, strict=True))
    return read_accepted(review, set(filter(None, known)), corpus.origin)


def _extra_remarks(extra: Accepted, review: str | Path | None, signed: str | None) -> list[str]:
    remarks = []
    if extra.phrases:
        count = sum(map(len, extra.phrases.values()))
        remarks.append(f"with {count:,} extra references for {len(extra.phrases):,} documents ({review})")
    elif review is not None:
        remarks.append(f'{review}: no phrase is accepted, so no reference is added; write "accept": true')
    if signed is not None and signed != extra.hash:
        remarks.append(f"the signature is of other extra references (extra={signed}); --extra-references gives them")
    return remarks


def _by_line_remarks(corpus: Corpus, runs: Sequence[Run], by: By | None) -> list[str]:
    return [
        f"{run.name}: matched to {corpus.name} line by line{_whose_ids(corpus, run)}"
        for run in runs
        if matched_by(corpus, run, by) == "line"
    ]


def _whose_ids(corpus: Corpus, run: Run) -> str:
    """Which of the two has ids, where only one has them."""
    has = {each.origin: has_id(each) for each in (corpus, run)}
    without = [origin for origin, found in has.items() if not found]
    return ", without ids" if len(without) == 2 else f", though only {without[0]} has no ids" if without else ""


# ---------------------------------------------------------------------------------------------- one chunk


@dataclass(frozen=True, slots=True)
class Scored:
    """What a chunk gives back: ids, rows by system and request, tallies, and the sum of reference hashes."""

    ids: list[str]
    rows: list[list[Rows]]
    tallies: list[Tally]
    hash: int
    beside: Any = None


def _aligned(plan: Plan, documents: Sequence[Document], chunk: Chunk) -> Iterator[tuple[int, int, Aligned]]:
    """(system, protocol, its columns); documents and predictions are aligned once for each way of matching."""
    predictions: list[list[Prediction]] = [batch.records() for batch in chunk.predictions]
    documents = plan.extra.added_to(chunk.ids, documents, plan.reference_set)
    numbers: dict[Matching, list[int]] = {}
    for p, protocol in enumerate(plan.protocols):
        numbers.setdefault(protocol.matching, []).append(p)
    for matching, protocols in numbers.items():
        prepared = prepare(documents, matching, plan.semeval, plan.reference_set)
        for s, predicted in enumerate(predictions):
            aligned = align(prepared, predicted, plan.protocols[protocols[0]].counting)
            for p in protocols:
                yield s, p, replace(aligned, counting=plan.protocols[p].counting, _known={})


def _score_chunk(plans: Sequence[Plan], chunk: Chunk) -> Scored:
    """The rows of a chunk; a system's plan holds the constants fitted for it."""
    documents = chunk.documents.records()
    found: dict[tuple[int, int], list[Rows]] = {}
    tallies: dict[tuple[int, int], Tally] = {}
    columns: dict[tuple[int, int], Aligned] = {}
    look = plans[0].look
    for s, p, aligned in _aligned(plans[0], documents, chunk):
        left_out = chunk.missing[s] if plans[s].leave_out else []
        found[s, p] = [_without(request.rows(aligned), left_out) for request in plans[s].requests[p]]
        tallies[s, p] = _tally(plans[s], s, p, aligned, len(chunk.missing[s]))
        if look is not None:
            columns[s, p] = aligned
    order = sorted(found)
    return Scored(
        chunk.ids,
        [found[key] for key in order],
        [tallies[key] for key in order],
        hash_of_references(chunk.ids, documents, plans[0].reference_set),
        None if look is None else look(chunk, columns),
    )


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


def _tally(plan: Plan, system: int, protocol: int, aligned: Aligned, missing: int) -> Tally:
    p = aligned.predictions
    return Tally(
        plan.systems[system],
        str(plan.protocols[protocol]),
        len(aligned.references.document),
        len(p.document),
        int((~p.valid).sum()),
        int((p.valid & ~p.kept).sum()),
        missing,
        *merged_spellings(aligned, plan.semeval, plan.reference_set),
    )


# ---------------------------------------------------------------------------------------------- all chunks


def _collect(
    plans: Sequence[Plan], corpus: Corpus, runs: Sequence[Run], join: Join, work: WorkOptions, beside: Beside | None
) -> list[Scored]:
    parts: list[Scored] = []
    for part in ordered_map(partial(_score_chunk, plans), chunks(corpus, runs, join), work.jobs):
        parts.append(part)
        if beside is not None:
            beside.take(part.beside)
        if work.progress is not None:
            work.progress(len(part.ids))
    return parts


def _results(plans: Sequence[Plan], parts: list[Scored], shard: Shard, remarks: list[str]) -> Results:
    if not parts:
        raise InputError(f"shard {shard.index}/{shard.count} holds no document")
    plan = plans[0]
    keys = [(s, p) for s in range(len(plan.systems)) for p in range(len(plan.protocols))]
    scores: list[Score] = []
    tallies: list[Tally] = []
    for n, (s, p) in enumerate(keys):
        tally = parts[0].tallies[n]
        for part in parts[1:]:
            tally = tally.plus(part.tallies[n])
        tallies.append(tally)
        for m, request in enumerate(plans[s].requests[p]):
            rows = _concatenate([part.rows[n][m] for part in parts], [len(part.ids) for part in parts])
            scores.append(Score(plan.corpus, plan.systems[s], str(plan.protocols[p]), request.kept(), rows))
    if shard.count == 1 and not any(tally.references for tally in tallies):
        chosen = f"the reference set {plan.reference_set!r}" if plan.reference_set else "keyphrases"
        hint = "" if plan.reference_set else "; name their column with --fields keyphrases=COLUMN"
        raise InputError(f"{plan.corpus}: no document has references ({chosen}){hint}")
    ids = tuple(identifier for part in parts for identifier in part.ids)
    facts = {"set": plan.reference_set or "keyphrases", "hash": hash_text(sum(part.hash for part in parts))}
    if plan.extra.hash is not None:
        facts["extra"] = plan.extra.hash
    signatures = {str(p): p.signature(**facts, karat=__version__) for p in plan.protocols}
    whole = Part(shard.index, shard.count)
    return Results(tuple(scores), ids, signatures, tuple(tallies), tuple(remarks), whole)


def _concatenate(rows: Sequence[Rows], documents: Sequence[int]) -> Rows:
    values = np.concatenate([part.values for part in rows])
    if rows[0].units is None:
        return Rows(values)
    starts = np.cumsum([0, *documents[:-1]])
    units = [part.units + start for part, start in zip(rows, starts, strict=True) if part.units is not None]
    return Rows(values, np.concatenate(units))


# ---------------------------------------------------------------------------------------------- fitted constants


def _fitted(
    plan: Plan, corpus: Corpus, runs: Sequence[Run], join: Join, options: ScoreOptions
) -> tuple[list[Plan], list[str]]:
    """A plan for each system, with the constants found for it: on development documents, or on all scored ones."""
    fits = [fit for requests in plan.requests for request in requests if (fit := request.needs_fit())]
    plans, remarks = [plan] * len(runs), []
    everything = replace(join, shard=Shard())
    if any(not fit.development for fit in fits):
        found = _gathered(plan, corpus, runs, everything, options.work.jobs, development=False)
        plans = [_with_constants(each, found, s) for s, each in enumerate(plans)]
    if any(fit.development for fit in fits):
        if options.development is None:
            remarks.append("the k of @V was fitted on the scored documents themselves; --dev-corpus fits it on others")
            fit_corpus, fit_runs = corpus, list(runs)
        else:
            fit_corpus, fit_runs = as_corpus(options.development[0]), as_runs(options.development[1])
            plan = replace(plan, extra=NONE_ACCEPTED)  # which are of the scored documents
            _same_systems(fit_runs, runs)
        found = _gathered(plan, fit_corpus, fit_runs, everything, options.work.jobs, development=True)
        order = [[run.name for run in fit_runs].index(run.name) for run in runs]
        plans = [_with_constants(each, found, s) for s, each in zip(order, plans, strict=True)]
    return plans, remarks


Gathered = dict[tuple[int, int, int], list[Any]]  # by system, protocol and request: what each chunk gave


def _gathered(plan: Plan, corpus: Corpus, runs: Sequence[Run], join: Join, jobs: int, *, development: bool) -> Gathered:
    """What the fits gather from all chunks: those of development documents, or the others."""
    found: Gathered = {}
    gather = partial(_gather_chunk, replace(plan, corpus=corpus.name, semeval=corpus.semeval), development)
    for part in ordered_map(gather, chunks(corpus, runs, join), jobs):
        for key, values in part.items():
            found.setdefault(key, []).append(values)
    return found


def _same_systems(development: Sequence[Run], runs: Sequence[Run]) -> None:
    names = {run.name for run in development}
    for run in runs:
        if run.name not in names:
            raise InputError(f"no development run is named {run.name!r}; name it: {run.name}=PATH")


def _gather_chunk(plan: Plan, development: bool, chunk: Chunk) -> dict[tuple[int, int, int], Any]:
    gathered: dict[tuple[int, int, int], Any] = {}
    for s, p, aligned in _aligned(plan, chunk.documents.records(), chunk):
        for m, request in enumerate(plan.requests[p]):
            if (fit := request.needs_fit()) is not None and fit.development == development:
                gathered[s, p, m] = fit.gather(aligned, request.subset)
    return gathered


def _with_constants(plan: Plan, gathered: Gathered, system: int) -> Plan:
    def settle(p: int, m: int, request: Request) -> Request:
        fit = request.needs_fit()
        if fit is None or (system, p, m) not in gathered:
            return request
        return request.with_fitted(fit.settle(gathered[system, p, m]))

    requests = tuple(
        tuple(settle(p, m, request) for m, request in enumerate(asked)) for p, asked in enumerate(plan.requests)
    )
    return replace(plan, requests=requests)


# ---------------------------------------------------------------------------------------------- PRMU


def prmu(
    corpus: CorpusLike, protocol: ProtocolLike = "karat", references: str | None = None
) -> dict[str, dict[str, float]]:
    """The shares of present, reordered, mixed and unseen references: mean over documents, and over the corpus.

    The references are taken as they are given, repeats included.
    """
    given = as_corpus(corpus)
    chosen = as_protocols([protocol])[0]
    matching = change(chosen, reference_duplicates="keep").matching
    counts: list[Any] = []
    for batch in given.batches():
        documents = batch.records()
        prepared = prepare(documents, matching, given.semeval, references)
        aligned = align(prepared, [Prediction()] * len(documents), chosen.counting)
        counts.append(np.stack([aligned.count_references(s) for s in ("P", "R", "M", "U")], axis=1))
    each = np.concatenate(counts)
    each = each[each.sum(axis=1) > 0]
    if not len(each):
        raise InputError(f"{given.origin}: no document has references")
    means = (each / each.sum(axis=1, keepdims=True)).mean(axis=0)
    shares = each.sum(axis=0) / each.sum()
    return {
        "documents": dict(zip(PRMU, means.tolist(), strict=True)),
        "corpus": dict(zip(PRMU, shares.tolist(), strict=True)),
    }
