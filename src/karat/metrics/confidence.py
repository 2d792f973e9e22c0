"""How sure a system is of its predictions, and whether it is right as often as it is sure.

The perplexity of a keyphrase is KPP = (Π p)^(−1/m) over the probabilities of its m tokens, and its confidence 1/KPP
(Kundu et al. 2023): the geometric mean of the probabilities. It is computed in logarithms, where nothing underflows. A
run may give confidences as `scores`; the option `confidence=scores` says that they are probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from karat.corpus import Prediction, Run, text_of_id
from karat.errors import InputError, unknown
from karat.matching.columns import Aligned, Bools, Cutoff, Floats, Ints, Ranked, Subset, first_offsets
from karat.metrics.base import Fit, Rows, divide, metric, rows, typed_options
from karat.protocol import MOST, whole_number

SOURCES = ("token_probs", "token_logprobs", "scores")  # a document's confidences are of the first of these it has
ANY = "first"
BINS = 10
ROUNDING = 1e-6  # by which a probability of single precision may be above 1
_EDGE = 1e-9  # by which a confidence may fall short of the lower end of its bin: .3 is (.3 · .3)^(1/2), but for a bit

# Why a prediction has no confidence; 0 is that it has one.
FAULTS = ("", "without numbers, or with null or NaN", "with a negative probability", "with a probability above 1")
_MISSING, _NEGATIVE, _ABOVE = 1, 2, 3


# ---------------------------------------------------------------------------------------------- confidences


@dataclass(frozen=True, slots=True)
class Confidences:
    """How sure the system is of each prediction, as columns; which numbers the confidence is made of."""

    value: Floats  # from 0 to 1, any number for scores that only rank; NaN where there is none
    kpp: Floats  # 1 or more, infinite where a probability is 0; NaN where there is none, and for scores that only rank
    fault: Ints  # index in FAULTS
    first: Ints  # where the probabilities of its tokens begin in `probs`
    tokens: Ints  # how many there are; none for scores
    probs: Floats
    sources: frozenset[str]


def confidences(aligned: Aligned, source: str = ANY, any_scores: bool = False) -> Confidences:
    """How sure the system is of each row of the predictions; `source` is one of SOURCES, or the first that is there.

    With `any_scores`, scores rank predictions and need not be probabilities: all numbers will do, and have no KPP.
    """
    return aligned.once(("confidences", source, any_scores), lambda: _confidences(aligned, source, any_scores))


def _confidences(aligned: Aligned, source: str, any_scores: bool) -> Confidences:
    p = aligned.predictions
    given = aligned.given or [Prediction()] * aligned.documents
    sources = [source_of(record, source) for record in given]
    phrases = list(chain.from_iterable(map(_numbers, given, sources)))
    counts = np.array([len(record.keyphrases or ()) for record in given], dtype=np.int64)
    kind = np.repeat([SOURCES.index(name) if name else -1 for name in sources], counts)
    made = _of_phrases(phrases, kind, frozenset(filter(None, sources)), any_scores)
    there = p.source < counts[p.document]  # the empty phrase that stands for no prediction has no source
    row = np.where(there, (np.cumsum(counts) - counts)[p.document] + p.source, len(phrases))
    return replace(made, **{name: getattr(made, name)[row] for name in ("value", "kpp", "fault", "first", "tokens")})


def source_of(record: Prediction, source: str = ANY) -> str | None:
    """The field that a document's confidences come from: `source` if it has that, or the first of SOURCES."""
    names = SOURCES if source == ANY else (source,)
    return next((name for name in names if getattr(record, name) is not None), None)


def _numbers(record: Prediction, name: str | None) -> Sequence[Sequence[float] | None]:
    """The numbers of each phrase, one for each token; of scores one for the phrase."""
    if name is None:
        return [None] * len(record.keyphrases or ())
    if name == "scores":
        return [None if score is None else [score] for score in record.scores or ()]
    numbers: Sequence[Sequence[float] | None] = getattr(record, name)
    return numbers


def _of_phrases(
    phrases: Sequence[Sequence[float] | None], kind: Ints, sources: frozenset[str], any_scores: bool
) -> Confidences:
    """The confidence of each phrase, and at the end one that is missing."""
    tokens = np.array([*(len(numbers or ()) for numbers in phrases), 0], dtype=np.int64)
    count, owner = len(tokens), np.repeat(np.arange(len(tokens)), tokens)
    flat = np.array(list(chain.from_iterable(filter(None, phrases))), dtype=np.float64)
    is_log = (np.append(kind, -1) == SOURCES.index("token_logprobs"))[owner]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        probs = np.where(is_log, np.exp(flat), flat)
        logs = np.where(is_log, flat, np.log(flat))
    fault = np.where(tokens == 0, _MISSING, 0)
    is_score = np.append(kind, -1) == SOURCES.index("scores")
    ranks = is_score & any_scores
    fault[owner[(probs < 0) & ~ranks[owner]]] = _NEGATIVE
    fault[owner[(probs > 1 + ROUNDING) & ~ranks[owner]]] = _ABOVE
    total = np.bincount(owner, weights=np.where(fault[owner] > 0, 0.0, np.minimum(logs, 0.0)), minlength=count)
    first = np.cumsum(tokens) - tokens
    with np.errstate(over="ignore"):
        mean = divide(total, tokens)
        value, kpp = np.exp(mean), np.exp(-mean)
    alone = tokens == 1
    value[alone] = np.minimum(probs, 1.0)[first[alone]]  # as it was given, to the last bit
    value[ranks & alone] = probs[first[ranks & alone]]
    value[fault > 0] = kpp[(fault > 0) | ranks] = np.nan
    tokens[is_score] = 0
    return Confidences(value, kpp, fault, first, tokens, probs, sources)


@dataclass(frozen=True, slots=True)
class Judged:
    """The predictions of a subset that have a confidence: how sure the system is, and whether it is right."""

    document: Ints
    confidence: Floats
    kpp: Floats
    correct: Bools
    total: Ints | None = None  # what ECE is divided by, by document; None: the predictions of each


def judged(aligned: Aligned, subset: Subset, source: str = ANY) -> Judged:
    """The kept predictions of the subset that have a confidence, and which are correct by the protocol."""
    ranked, sure = aligned.ranked(subset), confidences(aligned, source)
    there = sure.fault[ranked.row] == 0
    row, right = ranked.row[there], correct(aligned, ranked)[there]
    return Judged(ranked.document[there], sure.value[row], sure.kpp[row], right, totals(aligned, subset))


def correct(aligned: Aligned, ranked: Ranked) -> Bools:
    """Whether each of some kept predictions is correct: a hit, or a part of the references of its kind."""
    if aligned.counting.correct == "hit":
        return ranked.relevant
    p, r, forms = aligned.predictions, aligned.references, aligned.forms
    joined: list[tuple[list[str], list[str]]] = [([], []) for _ in range(aligned.documents)]
    for document, phrase, present in zip(r.document.tolist(), r.phrase.tolist(), r.present.tolist(), strict=True):
        joined[document][present].append(forms[phrase])
    texts = [(" ".join(absent), " ".join(present)) for absent, present in joined]
    rows = zip(ranked.document.tolist(), ranked.phrase.tolist(), p.present[ranked.row].tolist(), strict=True)
    return np.array([forms[phrase] in texts[document][kind] for document, phrase, kind in rows], dtype=bool)


def totals(aligned: Aligned, subset: Subset) -> Ints | None:
    """What ECE is divided by, by document, where these are not the judged predictions.

    The valid predictions of the subset that are written differently, and one more where there is none. All are present
    and absent ones together; whether a prediction is present is looked up in the text, whatever the run says of it.
    """
    if aligned.counting.ece_total == "judged":
        return None
    p = aligned.predictions
    present = first_offsets(aligned.prepared, p.document, p.phrase, np.ones(len(p.document), dtype=bool)) >= 0
    masks = {"present": (present,), "absent": (~present,), "all": (present, ~present)}
    found = np.zeros(aligned.documents, dtype=np.int64)
    for mask in masks.get(subset, (aligned.predictions_in(subset),)):
        rows = p.valid & mask
        key = np.unique(p.document[rows] * max(len(aligned.prepared.surfaces), 1) + p.surface[rows])
        owner = key // max(len(aligned.prepared.surfaces), 1)
        found += np.maximum(np.bincount(owner, minlength=aligned.documents), 1)
    return found


# ---------------------------------------------------------------------------------------------- runs that tell nothing


def check_confidences(runs: Sequence[Run], source: str = ANY, any_scores: bool = False) -> None:
    """Raises InputError if a run has no confidence for any prediction, or numbers that cannot be confidences."""
    lacking = [run for run in runs if not _tells(run, source, any_scores)]
    if lacking:
        fields = " or ".join(f'"{name}"' for name in (SOURCES if source == ANY else (source,)))
        names = ", ".join(f"{run.name} ({run.origin})" for run in lacking)
        shown = '"scores": [0.9]' if source == "scores" else '"token_probs": [[0.9, 0.8]]'
        raise InputError(
            f"no prediction tells how sure the system is, in {names}; write {fields}: numbers "
            f"of each phrase, as {shown}"
        )


def _tells(run: Run, source: str, any_scores: bool) -> bool:
    """Whether a run tells how sure it is of some prediction, or has none; looks no further than it must."""
    predictions = False
    seen: dict[str, list[float]] = {}  # the lowest and the highest number of each source
    for record in run.records_ahead():
        predictions = predictions or bool(record.keyphrases)
        name = source_of(record, source)
        for phrase, numbers in zip(record.keyphrases or (), _numbers(record, name), strict=True):
            if not name or not numbers:
                continue
            low, high = min(numbers), max(numbers)
            if name == "scores" and any_scores:
                return True
            if name == "scores" and not 0 <= low <= 1:
                raise _no_confidence(run, record, phrase, low)
            if name == "token_probs" and low >= 0 and 0 < high <= 1 + ROUNDING:
                return True
            if name == "token_logprobs" and high <= ROUNDING:
                return True
            seen[name] = [min(low, *seen.get(name, [low])), max(high, *seen.get(name, [high]))]
    for name, (low, high) in seen.items():
        if name == "token_probs" and low < 0 and high <= 0:
            raise InputError(
                f'{run.origin}: no token_probs are above 0: they are logarithms; name them "token_logprobs"'
            )
        if name == "token_logprobs" and low >= 0 and high <= 1:
            raise InputError(
                f'{run.origin}: no token_logprobs are below 0: they are probabilities; name them "token_probs"'
            )
        if name != "scores" and not low == high == 0:
            raise InputError(f"{run.origin}: no phrase has {name} that can be used: they are from {low:g} to {high:g}")
    if source == ANY and set(seen) == {"scores"}:
        raise InputError(
            f"{run.origin}: scores are not assumed to be probabilities, which calibration needs; if they are, say so: "
            "ece,confidence=scores"
        )
    return bool(seen) or not predictions


def _no_confidence(run: Run, record: Prediction, phrase: str | None, score: float) -> InputError:
    where = f"{run.origin}: document {text_of_id(record.id)!r}"
    return InputError(
        f"{where}: the score {score:g} of {(phrase or '')[:60]!r} is not from 0 to 1, so the scores are no "
        "confidences; write token_probs or token_logprobs, or scores from 0 to 1"
    )


# ---------------------------------------------------------------------------------------------- bins


def width_bins(confidence: Floats, bins: int = BINS) -> Ints:
    """The bin of each confidence, all of one width; a lower end belongs to its bin, and 1 to the last.

    >>> width_bins(np.array([0.0, 0.1, 0.29, 1.0])).tolist()
    [0, 1, 2, 9]
    """
    return np.minimum(np.floor(confidence * bins + _EDGE).astype(np.int64), bins - 1)


def mass_edges(confidence: Floats, bins: int = BINS) -> tuple[float, ...]:
    """The lower ends of all bins but the first, each bin holding as many confidences as far as equal ones allow.

    >>> mass_edges(np.array([0.1, 0.2, 0.4, 0.8]), 2)
    (0.4,)
    """
    ordered = np.sort(confidence)
    cuts = [len(ordered) * n // bins for n in range(1, bins)]
    edges = np.unique(ordered[cuts]) if len(ordered) else ordered
    return tuple(edges[edges > ordered[0]].tolist()) if len(ordered) else ()


def mass_bins(confidence: Floats, edges: Sequence[float]) -> Ints:
    """The bin of each confidence, given the lower ends of all bins but the first."""
    return np.searchsorted(np.array(edges, dtype=np.float64), confidence, side="right")


def bin_sums(given: Judged, which: Ints, bins: int, documents: int) -> list[Floats]:
    """Return the predictions, the sum of confidences and the hits of each document and bin, [documents, bins] each."""
    key, size = given.document * bins + which, documents * bins
    return [
        np.bincount(key, weights=weights, minlength=size).reshape(documents, bins).astype(np.float64)
        for weights in (None, given.confidence, given.correct)
    ]


def bin_rows(given: Judged, which: Ints, bins: int, documents: int) -> Rows:
    """For each document and bin: how many predictions there are, their confidences' sum, how many are correct.

    And what the sum over bins is divided by, where it is not how many there are.
    """
    counts = np.bincount(given.document, minlength=documents)
    found = np.concatenate(bin_sums(given, which, bins, documents), axis=1).T
    if given.total is None:
        return rows(*found, defined=counts > 0)
    return rows(*found, given.total, defined=given.total > 0)


def _parts(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """(predictions in each bin, how far their confidences and hits are apart in sum, what all is divided by)."""
    bins = (sums.shape[-1] - 1) // 3
    count, sure, right = np.split(sums[..., : 3 * bins], 3, axis=-1)
    total = count.sum(axis=-1) if sums.shape[-1] == 3 * bins + 1 else sums[..., 3 * bins]
    return count, np.abs(sure - right), total


def finish_ece(sums: Floats) -> Floats:
    """Σ_b |Σ confidence − hits| / n, which is Σ_b (n_b/n) |mean confidence − accuracy|."""
    _, apart, total = _parts(sums)
    return divide(apart.sum(axis=-1), total)


def finish_mce(sums: Floats) -> Floats:
    """The largest |mean confidence − accuracy| of a bin."""
    count, apart, _ = _parts(sums)
    largest = divide(apart, count, empty=0.0).max(axis=-1)
    return np.where(count.sum(axis=-1) > 0, largest, np.nan)


def finish_brier(sums: Floats) -> Floats:
    """The sum of squares over the number of predictions."""
    return divide(sums[..., 0], sums[..., 1])


# ---------------------------------------------------------------------------------------------- metrics


def _read_options(name: str, defaults: Mapping[str, Any], written: Mapping[str, str]) -> dict[str, Any]:
    options = typed_options(name, defaults, written)
    if options.get("confidence", ANY) not in (ANY, *SOURCES):
        raise unknown(f"confidence of {name}", options["confidence"], (ANY, *SOURCES))
    if "bins" in written and whole_number(written["bins"]) is None:
        raise InputError(f"option bins of {name} is a number from 1 to {MOST:,}, not {written['bins']!r}")
    return options


_BINNED = {"bins": BINS, "confidence": ANY}
_PLAIN = {"confidence": ANY}


def _needs(runs: Sequence[Run], options: Mapping[str, Any]) -> None:
    check_confidences(runs, options.get("confidence", ANY))


@metric(
    "ece",
    better="lower",
    averages={"micro": finish_ece},
    read_options=partial(_read_options, "ece", _BINNED),
    needs=_needs,
)
def ece(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, bins: int = BINS, confidence: str = ANY) -> Rows:
    """Expected calibration error: Σ_b (n_b/n) |accuracy − mean confidence| over bins of one width (Naeini 2015).

    A prediction is correct when the protocol counts it as a hit. Its confidence is 1/KPP, of `token_probs` or
    `token_logprobs`, or with `confidence=scores` its score.

    >>> import karat
    >>> corpus = karat.Corpus.of([{"id": "1", "text": "Deep nets.", "keyphrases": ["deep nets"]}])
    >>> run = karat.Run.of([{"id": "1", "keyphrases": ["deep nets", "trees"], "token_probs": [[0.81, 1.0], [0.4]]}])
    >>> round(karat.score(corpus, run, metrics=["ece"]).rows()[0]["value"], 4)  # (|1 − .9| + |0 − .4|) / 2
    0.25
    """
    given = judged(aligned, subset, confidence)
    return bin_rows(given, width_bins(given.confidence, bins), bins, aligned.documents)


def _gather(source: str, aligned: Aligned, subset: Subset) -> Floats:
    return judged(aligned, subset, source).confidence


def _settle(bins: int, gathered: Sequence[Floats]) -> tuple[float, ...]:
    return mass_edges(np.concatenate(gathered), bins)


def _edges(options: Mapping[str, Any]) -> Fit:
    gather = partial(_gather, options.get("confidence", ANY))
    return Fit(gather, partial(_settle, options.get("bins", BINS)), development=False)


@metric(
    "ece_mass",
    better="lower",
    averages={"micro": finish_ece},
    fit=_edges,
    read_options=partial(_read_options, "ece_mass", _BINNED),
    needs=_needs,
)
def ece_mass(
    aligned: Aligned,
    cutoff: Cutoff,
    subset: Subset,
    *,
    bins: int = BINS,
    confidence: str = ANY,
    fitted: tuple[float, ...] | None = None,
) -> Rows:
    """Expected calibration error over bins that hold as many predictions each, as far as equal confidences allow.

    The ends of the bins are found once on all documents, and kept in resamples.
    """
    given = judged(aligned, subset, confidence)
    edges = mass_edges(given.confidence, bins) if fitted is None else fitted
    return bin_rows(given, mass_bins(given.confidence, edges), bins, aligned.documents)


@metric(
    "mce",
    better="lower",
    averages={"micro": finish_mce},
    read_options=partial(_read_options, "mce", _BINNED),
    needs=_needs,
)
def mce(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, bins: int = BINS, confidence: str = ANY) -> Rows:
    """Largest calibration error: max_b |accuracy − mean confidence| over the bins of one width that hold a prediction.

    A bin of few predictions can settle it.
    """
    return ece(aligned, cutoff, subset, bins=bins, confidence=confidence)


@metric(
    "brier",
    better="lower",
    averages={"micro": finish_brier},
    read_options=partial(_read_options, "brier", _PLAIN),
    needs=_needs,
)
def brier(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, confidence: str = ANY) -> Rows:
    """Brier score: the mean of (confidence − correct)² over all predictions, correct being 1 or 0 (Brier 1950)."""
    return brier_rows(judged(aligned, subset, confidence), aligned.documents)


def brier_rows(given: Judged, documents: int) -> Rows:
    """For each document: the sum of squares, and how many predictions there are."""
    squares = np.bincount(given.document, weights=(given.confidence - given.correct) ** 2, minlength=documents)
    counts = np.bincount(given.document, minlength=documents)
    return rows(squares, counts, defined=counts > 0)


def weighted_median(values: Floats, weights: Floats) -> Floats:
    """The median of values that count as often as their weights say, weights[..., n]; NaN where none counts.

    >>> weighted_median(np.array([1.0, 2.0, 8.0]), np.array([[1, 1, 1], [1, 1, 0], [0, 0, 3]])).tolist()
    [2.0, 1.5, 8.0]
    """
    if not len(values):
        return np.full(np.shape(weights)[:-1], np.nan)
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[..., order], axis=-1)
    total = upto[..., -1:]
    lower, upper = (upto < total / 2).sum(axis=-1), (upto <= total / 2).sum(axis=-1)
    ordered = np.append(values[order], np.nan)
    middle: Floats = (ordered[lower] + ordered[upper]) / 2
    return middle


def _median(values: Floats, weights: Floats) -> Floats:
    return weighted_median(values[:, 0], weights)


def _own(sums: Floats) -> Floats:
    return divide(sums[..., 0], sums[..., -1])


@metric(
    "kpp",
    better=None,
    averages={"median": _own},
    items=_median,
    bounds=(1.0, np.inf),
    read_options=partial(_read_options, "kpp", _PLAIN),
    needs=_needs,
)
def kpp(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, confidence: str = ANY) -> Rows:
    """Median keyphrase perplexity, (Π p)^(−1/m) over the m tokens of a phrase (Kundu et al. 2023).

    1 is a system that is sure of every token. Of scores it is 1/score.
    """
    given = judged(aligned, subset, confidence)
    return Rows(np.column_stack([given.kpp, np.ones(len(given.kpp))]), given.document)


def faulty(
    aligned: Aligned, subset: Subset, source: str = ANY, any_scores: bool = False
) -> Iterator[tuple[int, int, int]]:
    """(document, surface, fault) of each kept prediction of the subset that has no confidence."""
    p, fault = aligned.predictions, confidences(aligned, source, any_scores).fault
    row = aligned.ranked(subset).row
    row = row[fault[row] > 0]
    return zip(p.document[row].tolist(), p.surface[row].tolist(), fault[row].tolist(), strict=True)
