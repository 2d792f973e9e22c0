"""confidence(): does a system know when it is right?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from karat.analyses.confidence.gather import POSITIONS, Gathered, Sure, gather
from karat.analyses.confidence.gather import in_pass as gathered_in_pass
from karat.analyses.confidence.maps import Logistic, Map, Steps, Unfit, fit_isotonic, fit_platt, fit_temperature
from karat.analyses.confidence.measures import (
    bins_of,
    brier_parts,
    ece_by_chance,
    kpp_histogram,
    risk_coverage,
    risks,
    threshold_for,
)
from karat.analyses.confidence.result import (
    Assessed,
    Binning,
    Calibrate,
    Calibrated,
    Confidence,
    ConfidenceOptions,
    Figures,
    Interval,
    Position,
    Rank,
    finite,
)
from karat.analyses.score import pass_for
from karat.corpus import Corpus, Run
from karat.errors import InputError, counted
from karat.matching.columns import Bools, Floats, Ints, Subset
from karat.matching.inputs import (
    CorpusLike,
    Development,
    ProtocolsLike,
    RunLike,
    as_corpus,
    as_list,
    as_protocols,
    as_runs,
)
from karat.matching.passes import Pass
from karat.matching.sanity import NO_SUBSETS
from karat.metrics.confidence import (
    BINS,
    FAULTS,
    ROUNDING,
    SOURCES,
    Judged,
    bin_rows,
    brier_rows,
    finish_brier,
    finish_ece,
    finish_mce,
    mass_bins,
    mass_edges,
    width_bins,
)
from karat.options import By, Extra, Missing, Progress, WorkOptions, options_from, public
from karat.stats.resampling import Estimate, Method, Sample, estimate, interval_of
from karat.vocabulary import VocabularyLike

ENOUGH = 10  # documents with several predictions, from which on their sums say what scores are
SHARES = (
    "{0}: its scores add up to 1 at most in each document, as weights do: they are no probabilities of being right, "
    "and ECE and Brier say nothing of them"
)
PERHAPS = (
    "{0}: its scores are taken for probabilities of being right, which weights of an extractor and cosines are not; "
    "--confidence scores says that they are"
)
STAY = "{0}: no {1} fits best ({2}), so its confidences stay as they are; --calibrate {3}"
UNFIT = {
    "temperature": ("temperature", "platt or isotonic can move them across .5 too"),
    "platt": ("Platt scaling", "isotonic fits whatever they are"),
}
RANKS = 10  # of which the last holds all later ones
TENTHS = 10


@public(ConfidenceOptions)
def confidence(
    corpus: CorpusLike,
    *runs: RunLike,
    protocol: ProtocolsLike = "karat",
    confidence: str | None = None,
    bins: int = BINS,
    binning: Binning = "width",
    precision: float | None = None,
    calibrate: Calibrate | None = None,
    fit: Development | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    interval: Method = "bca",
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Confidence:
    """How well runs know when they are right: what confidence they have in phrases that are correct, and in others.

    Raises InputError if a run tells no confidence, does not fit the corpus, or if an option cannot be used.

    >>> documents = Corpus.of([{"id": "1", "text": "Deep nets.", "keyphrases": ["deep nets"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["deep nets", "trees"], "token_probs": [[0.81, 1.0], [0.4]]}])
    >>> [(row["subset"], round(row["ece"], 4)) for row in confidence(documents, run, resamples=100).rows()]
    [('all', 0.25), ('present', 0.1), ('absent', 0.4)]
    """
    return pass_for(in_pass, corpus, runs, options_from(ConfidenceOptions, locals()))


def in_pass(reading: Pass, options: ConfidenceOptions) -> Callable[[], Confidence]:
    """Registers what confidence needs of a pass; what comes back gives it once the pass has run."""
    _check(options)
    if not reading.runs:
        raise InputError("nothing to judge: give at least one run")
    fitted = _fit_runs(reading.corpus, reading.runs, options)
    gathered = gathered_in_pass(reading, options)

    def finish() -> Confidence:
        results, sure = gathered()
        protocols = [str(each) for each in as_protocols(as_list(options.protocol), options.join.language)]
        maps = _fitted(fitted, options, sure) if options.calibrate else {}
        scope = _Scope(list(reading.setup.systems), protocols, len(results.ids), options)
        drafts = list(_drafts(scope, sure, maps, fitted))
        found = tuple(_with_intervals(drafts, options))
        notes = (*results.notes, *_notes(scope, sure, maps, found))
        used = replace(options, work=WorkOptions())
        return Confidence(reading.corpus.name, len(results.ids), used, found, results.signatures, notes)

    return finish


def _check(options: ConfidenceOptions) -> None:
    """Raises InputError if an option is out of its bounds, or if options do not go together."""
    if options.precision is not None and not 0 < options.precision <= 1:
        raise InputError(f"the wanted precision is above 0 and at most 1, as 0.5, not {options.precision:g}")
    if not 0 < options.level < 1:
        raise InputError(f"level {options.level} is not between 0 and 1: write .95 for an interval of 95 %")
    if options.fit is not None and options.calibrate is None:
        raise InputError("nothing is fitted without a calibration: add --calibrate temperature, platt or isotonic")


# ---------------------------------------------------------------------------------------------- calibrations


@dataclass(frozen=True, slots=True)
class _FitRuns:
    """What calibrations are fitted on: a corpus, and for each system the run; None for what is judged itself."""

    corpus: Corpus
    runs: tuple[Run, ...]
    itself: tuple[bool, ...]


def _fit_runs(corpus: Corpus, systems: Sequence[Run], options: ConfidenceOptions) -> _FitRuns:
    if options.fit is None:
        return _FitRuns(corpus, tuple(systems), (True,) * len(systems))
    others, runs = as_corpus(options.fit[0]), as_runs(options.fit[1])
    by_name = {run.name: run for run in runs}
    if len(runs) == len(systems) == 1:
        by_name = {systems[0].name: runs[0]}
    for run in systems:
        if run.name not in by_name:
            raise InputError(f"no run to fit on is named {run.name!r}; name it: --fit-run {run.name}=PATH")
    chosen = tuple(by_name[run.name] for run in systems)
    same = tuple(_same(corpus, others) and _same(a, b) for a, b in zip(systems, chosen, strict=True))
    return _FitRuns(others, chosen, same)


def _same(a: Corpus | Run, b: Corpus | Run) -> bool:
    return a is b or (a.origin == b.origin != "memory")


Fitted = dict[tuple[int, int], Map | Unfit]  # by system and protocol


def _fitted(fit: _FitRuns, options: ConfidenceOptions, judged: Gathered) -> Fitted:
    """The calibration of each system under each protocol, fitted on all its predictions of all kinds."""
    if options.fit is None:
        gathered = judged
    else:
        distinct = list({id(run): run for run in fit.runs}.values())
        _, found = gather(fit.corpus, distinct, replace(options, work=replace(options.work, progress=None)))
        place = {id(run): n for n, run in enumerate(distinct)}
        gathered = {(s, p): found[place[id(fit.runs[s])], p] for s, p in judged}
    assert options.calibrate is not None
    fit_by: dict[str, Callable[[Floats, Bools], Map | Unfit]] = {
        "temperature": fit_temperature,
        "platt": fit_platt,
        "isotonic": fit_isotonic,
    }
    for s, p in gathered:
        if not len(gathered[s, p].confidence):
            raise InputError(f"{fit.runs[s].name} has no prediction with a confidence to fit a calibration on")
    return {key: fit_by[options.calibrate](each.confidence, each.correct["all"]) for key, each in gathered.items()}


# ---------------------------------------------------------------------------------------------- figures


@dataclass(frozen=True, slots=True)
class _Scope:
    """The systems, protocols and documents that figures are computed for, and the options."""

    systems: Sequence[str]
    protocols: Sequence[str]
    documents: int
    options: ConfidenceOptions


@dataclass(frozen=True, slots=True)
class _Draft:
    """Figures without their intervals, and what these are made of."""

    figures: Figures
    ece: Sample
    brier: Sample


def _draft(judged: Judged, scope: _Scope) -> _Draft:
    """The figures of some predictions."""
    sure, correct = judged.confidence, judged.correct
    which, edges = _binned(sure, scope.options)
    in_bins = bin_rows(judged, which, len(edges) - 1, scope.documents)
    squares = brier_rows(judged, scope.documents)
    none: Interval = (None, None)
    figures = Figures(None, None, none, None, None, None, none, None, bins_of(sure, correct, which, edges))
    if len(sure):
        figures = replace(
            figures,
            mean_confidence=float(sure.mean()),
            ece=float(finish_ece(in_bins.sums())),
            ece_by_chance=ece_by_chance(sure, which),
            mce=float(finish_mce(in_bins.sums())),
            brier=float(finish_brier(squares.sums())),
            parts=brier_parts(sure, correct, which),
        )
    return _Draft(figures, Sample(in_bins.values, finish_ece), Sample(squares.values, finish_brier))


def _binned(sure: Floats, options: ConfidenceOptions) -> tuple[Ints, Floats]:
    """(the bin of each confidence, all ends of the bins)."""
    if options.binning == "width":
        return width_bins(sure, options.bins), np.arange(options.bins + 1) / options.bins
    edges = mass_edges(sure, options.bins)
    return mass_bins(sure, edges), np.array([0.0, *edges, 1.0])


def _drafts(
    scope: _Scope, sure: Gathered, maps: Fitted, fit: _FitRuns
) -> Iterator[tuple[Assessed, _Draft, _Draft | None]]:
    """(what is found, its figures before, and after a calibration), by system, protocol and subset."""
    for (s, p), each in sure.items():
        for subset, within in each.within.items():
            judged = Judged(
                each.document[within],
                each.confidence[within],
                each.kpp[within],
                each.correct[subset][within],
                each.totals.get(subset),
            )
            before = _draft(judged, scope)
            found = _assessed(scope, (s, p, subset), each, judged, before.figures)
            mapped = maps.get((s, p))
            if mapped is None or isinstance(mapped, Unfit):
                yield found, before, None
                continue
            after = _draft(replace(judged, confidence=mapped(judged.confidence)), scope)
            numbers = {} if isinstance(mapped, Steps) else asdict(mapped)
            assert scope.options.calibrate is not None
            calibrated = Calibrated(
                scope.options.calibrate, numbers, fit.corpus.name, fit.runs[s].name, fit.itself[s], after.figures
            )
            yield replace(found, calibrated=calibrated), before, after


def _assessed(scope: _Scope, key: tuple[int, int, Subset], sure: Sure, judged: Judged, figures: Figures) -> Assessed:
    s, p, subset = key
    value, correct, precision = judged.confidence, judged.correct, scope.options.precision
    some = len(value) > 0
    return Assessed(
        system=scope.systems[s],
        protocol=scope.protocols[p],
        subset=subset,
        source=tuple(name for name in SOURCES if name in sure.sources),
        undefined=scope.documents - len(np.unique(judged.document)),
        predictions=len(value),
        left_out=sure.left_out[subset],
        correct=int(correct.sum()),
        figures=figures,
        kpp_median=float(np.median(judged.kpp)) if some else None,
        histogram=tuple(np.bincount(width_bins(value, TENTHS), minlength=TENTHS).tolist()),
        kpp_histogram=kpp_histogram(judged.kpp),
        ranks=tuple(_ranks(sure.rank[sure.within[subset]], judged.kpp)),
        positions=tuple(_positions(sure.tokens[sure.within[subset]])),
        curve=risk_coverage(value, correct) if some else (),
        aurc=float(risks(value, correct).mean()) if some else None,
        threshold=threshold_for(value, correct, precision) if some and precision is not None else None,
        calibrated=None,
    )


def _ranks(rank: Ints, kpp: Floats) -> Iterator[Rank]:
    place = np.minimum(rank, RANKS - 1)
    for n in range(RANKS):
        there = kpp[place == n]
        if len(there):
            yield Rank(n + 1, n == RANKS - 1, len(there), float(np.median(there)))


def _positions(tokens: Floats) -> Iterator[Position]:
    for n in range(POSITIONS):
        there = tokens[:, n][~np.isnan(tokens[:, n])]
        if len(there):
            yield Position(n + 1, len(there), float(there.mean()), *np.quantile(there, [0.25, 0.5, 0.75]).tolist())


def _with_intervals(
    drafts: Sequence[tuple[Assessed, _Draft, _Draft | None]], options: ConfidenceOptions
) -> Iterator[Assessed]:
    """What is found, with intervals: documents are drawn, the same ones for all."""
    each = [draft for _, before, after in drafts for draft in (before, after) if draft is not None]
    samples = [sample for draft in each for sample in (draft.ece, draft.brier)]
    estimates = iter(estimate(samples, options.resamples, options.seed))

    def figures(draft: _Draft) -> Figures:
        ece, brier = (_interval(next(estimates), options) for _ in range(2))
        return replace(draft.figures, ece_ci=ece, brier_ci=brier)

    for found, before, after in drafts:
        found = replace(found, figures=figures(before))
        if after is not None and found.calibrated is not None:
            found = replace(found, calibrated=replace(found.calibrated, figures=figures(after)))
        yield found


def _interval(found: Estimate, options: ConfidenceOptions) -> Interval:
    low, high = interval_of(found, options.level, options.interval)
    return finite(low), finite(high)


# ---------------------------------------------------------------------------------------------- notes


def _notes(scope: _Scope, sure: Gathered, maps: Fitted, found: Sequence[Assessed]) -> Iterator[str]:
    several = len(scope.protocols) > 1
    for (s, p), each in sure.items():
        who = f"{scope.systems[s]}, {scope.protocols[p]}" if several else scope.systems[s]
        yield from _of_predictions(who, each)
        yield from _of_scores(who, each, explicit=scope.options.confidence == "scores")
        mapped = maps.get((s, p))
        if isinstance(mapped, Unfit):
            name, instead = UNFIT[scope.options.calibrate or ""]
            yield STAY.format(who, name, mapped.why, instead)
        if isinstance(mapped, Logistic) and mapped.slope < 0:
            yield f"{who}: the surer, the less often right: Platt scaling turns the order of its confidences round"
    if any(each.calibrated is not None and each.calibrated.itself for each in found):
        yield (
            "the calibration is fitted on the predictions that it is judged by, so it looks better than it is; "
            "--fit-corpus and --fit-run fit it on others"
        )
    for each_found in found:
        if each_found.threshold is not None and each_found.threshold.threshold is None:
            who = f"{each_found.system}, {each_found.subset}"
            yield f"{who}: no threshold of confidence gives a precision of {each_found.threshold.wanted:g}"
    if sure and "present" not in next(iter(sure.values())).within:
        yield NO_SUBSETS


def _of_predictions(who: str, sure: Sure) -> Iterator[str]:
    """What is odd about the confidences of a system."""
    out = sum(sure.faults.values())
    if out:
        why = ", ".join(_of_fault(sure, fault) for fault in sorted(sure.faults))
        yield f"{who}: {out:,} of {counted(out + len(sure.kpp), 'prediction')} are left out: {why}"
    zeros = int(np.isinf(sure.kpp).sum())
    if zeros:
        yield f"{who}: predictions with a probability of 0, whose confidence is 0 and KPP infinite: {zeros:,}"
    if len(sure.sources) > 1:
        named = " and ".join(name for name in SOURCES if name in sure.sources)
        yield f"{who}: some documents have {named}: of each the first is taken; --confidence takes one of them alone"


def _of_scores(who: str, sure: Sure, explicit: bool) -> Iterator[str]:
    """Notes on scores that are taken for confidences, unless an option says so (`explicit`)."""
    if "scores" not in sure.sources:
        return
    if sure.sources == {"scores"} and _are_shares(sure):
        yield SHARES.format(who)
    elif not explicit:
        yield PERHAPS.format(who)


def _are_shares(sure: Sure) -> bool:
    """Whether the scores of each document add up to 1 or less, as those of parts of a whole do."""
    count, total = np.bincount(sure.document), np.bincount(sure.document, weights=sure.confidence)
    several = count > 1
    return int(several.sum()) >= ENOUGH and float(total[several].max()) <= 1 + ROUNDING


def _of_fault(sure: Sure, fault: int) -> str:
    """How many predictions have a fault, and the first of them."""
    count, examples = sure.faults[fault], sure.examples[fault]
    shown = [f"{phrase[:40]!r} of document {i}" for i, phrase in examples] + ["..."] * (count > len(examples))
    return f"{count:,} {FAULTS[fault]} ({', '.join(shown)})"
