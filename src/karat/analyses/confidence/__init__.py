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
    bin_sums,
    finish_ece,
    finish_mce,
    mass_bins,
    mass_edges,
    width_bins,
)
from karat.options import By, Extra, Missing, Progress, WorkOptions, options_from, public
from karat.stats.calibration import (
    brier_interval,
    brier_rows,
    brier_score,
    calibration_error,
    calibration_interval,
    calibration_rows,
)
from karat.stats.influence import check_level
from karat.vocabulary import VocabularyLike

ENOUGH = 10  # documents with several predictions, from which on their sums say what scores are
FEW, SOME = 25, 100  # documents with predictions, below which the intervals of ECE and of the Brier score are rough
NOT_PROBABILITIES = (
    "scores of {0} are not {1}; ECE, Brier score and reliability need probabilities between 0 and 1, and only measures "
    "of rank are computed"
)
SHARES = "{0}: its scores add up to 1 at most in each document, as the weights of extractors do, not probabilities"
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
    level: float = 0.95,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Confidence:
    """Measure how well the confidence of runs agrees with the share of correct predictions.

    Raises InputError if a run tells no confidence, does not fit the corpus, or if an option cannot be used.

    >>> documents = Corpus.of([{"id": "1", "text": "Deep nets.", "keyphrases": ["deep nets"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["deep nets", "trees"], "token_probs": [[0.81, 1.0], [0.4]]}])
    >>> [(row["subset"], round(row["ece"], 4)) for row in confidence(documents, run).rows()]
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
        found = tuple(_assess(scope, sure, maps, fitted))
        notes = (*results.notes, *_notes(scope, sure, maps, found))
        used = replace(options, work=WorkOptions())
        return Confidence(reading.corpus.name, len(results.ids), used, found, results.signatures, notes)

    return finish


def _check(options: ConfidenceOptions) -> None:
    """Raises InputError if an option is out of its bounds, or if options do not go together."""
    if options.precision is not None and not 0 < options.precision <= 1:
        raise InputError(f"the wanted precision is above 0 and at most 1, as 0.5, not {options.precision:g}")
    check_level(options.level)
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
    """The calibration of each system with probabilities under each protocol, fitted on all its predictions."""
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
    return {
        key: fit_by[options.calibrate](each.confidence, each.correct["all"])
        for key, each in gathered.items()
        if _are_probabilities(each, options) and _are_probabilities(judged[key], options)
    }


# ---------------------------------------------------------------------------------------------- figures


@dataclass(frozen=True, slots=True)
class _Scope:
    """The systems, protocols and documents that figures are computed for, and the options."""

    systems: Sequence[str]
    protocols: Sequence[str]
    documents: int
    options: ConfidenceOptions


NO_FIGURES = Figures(None, None, None, (None, None), None, None, None, (None, None), None, ())


def _figures(judged: Judged, scope: _Scope) -> Figures:
    """The calibration of some predictions, with intervals over documents."""
    sure, correct = judged.confidence, judged.correct
    which, edges = _binned(sure, scope.options)
    bins = bins_of(sure, correct, which, edges)
    if not len(sure):
        return replace(NO_FIGURES, bins=bins)
    in_bins = bin_rows(judged, which, len(bins), scope.documents)
    divisor = np.bincount(judged.document, minlength=scope.documents) if judged.total is None else judged.total
    error = calibration_error(calibration_rows(bin_sums(judged, which, len(bins), scope.documents), divisor))
    brier = brier_score(brier_rows(judged.document, sure, correct, scope.documents))
    return Figures(
        mean_confidence=float(sure.mean()),
        ece=float(finish_ece(in_bins.sums())),
        ece_debiased=finite(float(np.clip(error.value, 0.0, 1.0))),
        ece_debiased_ci=_finite_ends(calibration_interval(error, scope.options.level)),
        ece_by_chance=ece_by_chance(sure, which),
        mce=float(finish_mce(in_bins.sums())),
        brier=float(brier.value),
        brier_ci=_finite_ends(brier_interval(brier, scope.options.level)),
        parts=brier_parts(sure, correct, which),
        bins=bins,
    )


def _finite_ends(ends: tuple[float, float]) -> Interval:
    return finite(ends[0]), finite(ends[1])


def _binned(sure: Floats, options: ConfidenceOptions) -> tuple[Ints, Floats]:
    """(the bin of each confidence, all ends of the bins)."""
    if options.binning == "width":
        return width_bins(sure, options.bins), np.arange(options.bins + 1) / options.bins
    edges = mass_edges(sure, options.bins)
    return mass_bins(sure, edges), np.array([0.0, *edges, 1.0])


def _assess(scope: _Scope, sure: Gathered, maps: Fitted, fit: _FitRuns) -> Iterator[Assessed]:
    """The figures before and after a calibration, by system, protocol and subset."""
    for (s, p), each in sure.items():
        for subset, within in each.within.items():
            judged = Judged(
                each.document[within],
                each.confidence[within],
                each.kpp[within],
                each.correct[subset][within],
                each.totals.get(subset),
            )
            found = _assessed(scope, (s, p, subset), each, judged)
            mapped = maps.get((s, p))
            if mapped is None or isinstance(mapped, Unfit):
                yield found
                continue
            after = _figures(replace(judged, confidence=mapped(judged.confidence)), scope)
            numbers = {} if isinstance(mapped, Steps) else asdict(mapped)
            assert scope.options.calibrate is not None
            calibrated = Calibrated(
                scope.options.calibrate, numbers, fit.corpus.name, fit.runs[s].name, fit.itself[s], after
            )
            yield replace(found, calibrated=calibrated)


def _assessed(scope: _Scope, key: tuple[int, int, Subset], sure: Sure, judged: Judged) -> Assessed:
    s, p, subset = key
    value, correct, precision = judged.confidence, judged.correct, scope.options.precision
    some, probabilities = len(value) > 0, _are_probabilities(sure, scope.options)
    kpp = judged.kpp if probabilities else judged.kpp[:0]
    tenths = width_bins(value if probabilities else value[:0], TENTHS)
    return Assessed(
        system=scope.systems[s],
        protocol=scope.protocols[p],
        subset=subset,
        source=tuple(name for name in SOURCES if name in sure.sources),
        probabilities=probabilities,
        undefined=scope.documents - len(np.unique(judged.document)),
        predictions=len(value),
        left_out=sure.left_out[subset],
        correct=int(correct.sum()),
        figures=_figures(judged, scope) if probabilities else NO_FIGURES,
        kpp_median=float(np.median(kpp)) if len(kpp) else None,
        histogram=tuple(np.bincount(tenths, minlength=TENTHS).tolist()),
        kpp_histogram=kpp_histogram(kpp),
        ranks=tuple(_ranks(sure.rank[sure.within[subset]], kpp)) if probabilities else (),
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


# ---------------------------------------------------------------------------------------------- notes


def _notes(scope: _Scope, sure: Gathered, maps: Fitted, found: Sequence[Assessed]) -> Iterator[str]:
    several = len(scope.protocols) > 1
    for (s, p), each in sure.items():
        who = f"{scope.systems[s]}, {scope.protocols[p]}" if several else scope.systems[s]
        yield from _of_predictions(who, each)
        yield from _of_scores(who, each, scope.options)
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
    yield from _of_documents(scope, found)
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


def _of_documents(scope: _Scope, found: Sequence[Assessed]) -> Iterator[str]:
    """Notes on intervals over few documents."""
    counts = [(each, scope.documents - each.undefined) for each in found if each.probabilities and each.predictions]
    if any(n == 1 for _, n in counts):
        yield "the debiased ECE and intervals need two documents with predictions"
    few = dict.fromkeys(f"{each.system}, {each.subset}" for each, n in counts if 1 < n < FEW)
    if few:
        yield (
            f"fewer than {FEW} documents have predictions ({'; '.join(few)}): the debiased ECE keeps some bias, and "
            "intervals may cover less than the level says"
        )
    some = dict.fromkeys(each.system for each, n in counts if FEW <= n < SOME)
    if some:
        yield (
            f"fewer than {SOME} documents have predictions ({', '.join(some)}): the interval of the Brier score is too "
            "narrow if rare documents have many confident errors"
        )


def _of_scores(who: str, sure: Sure, options: ConfidenceOptions) -> Iterator[str]:
    """Notes on scores: why they are not taken for probabilities, or why they may not be."""
    if not len(sure.confidence) or "scores" not in sure.sources:
        return
    shares = sure.sources == {"scores"} and _are_shares(sure)
    if _are_probabilities(sure, options):
        if shares:
            yield SHARES.format(who)
        return
    low, high = float(sure.confidence.min()), float(sure.confidence.max())
    if low < 0:
        why = f"probabilities (smallest {low:.3g})"
    elif high > 1:
        why = f"probabilities (largest {high:.3g})"
    elif shares:
        why = "probabilities (those of a document add up to 1 at most, as weights do)"
    else:
        why = f"assumed to be probabilities (from {low:.3g} to {high:.3g}; if they are, use --confidence scores)"
    yield NOT_PROBABILITIES.format(who, why)


def _are_probabilities(sure: Sure, options: ConfidenceOptions) -> bool:
    """Whether confidences are probabilities: those of tokens are, and scores if the options say so.

    Weights of extractors and cosines lie between 0 and 1 as well, so no rule can tell probabilities by their values.
    """
    return "scores" not in sure.sources or options.confidence == "scores"


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
