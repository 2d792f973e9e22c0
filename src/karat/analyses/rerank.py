"""A run in another order: by keyphrase perplexity, or by the system's own scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum, inf, log
from typing import Any, Literal

import msgspec

from karat.analyses.ensemble import Made
from karat.corpus import PER_PHRASE, Prediction, Run, text_of_id
from karat.errors import InputError, counted
from karat.formats.base import quoted
from karat.matching.inputs import OneRun, as_runs
from karat.options import option, options_from, public

By = Literal["kpp", "scores"]
_LISTS = ("keyphrases", *PER_PHRASE)
_ROUNDING = 1e-6  # by which a probability of single precision may be above 1
_LACKING = {
    "kpp": 'has no token probabilities; write "token_probs" or "token_logprobs", a list of numbers for each phrase',
    "scores": 'has no scores; write "scores", a number for each phrase',
}


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """By what phrases are put in order."""

    by: By = option(
        "kpp",
        "Lowest keyphrase perplexity first (from token probabilities), or highest score first.",
        values=("kpp", "scores"),
    )


@public(RerankOptions)
def rerank(run: OneRun, by: By = "kpp") -> Run:
    """The run with each document's phrases in another order, and their scores and kinds with them.

    `kpp`: the lowest keyphrase perplexity first; `scores`: the highest score first. Phrases that are equal in this stay
    in their order, and those without numbers go last. Raises InputError if no phrase has numbers.

    >>> mine = Run.of([{"id": "1", "keyphrases": ["a", "b c"], "token_probs": [[0.5], [0.9, 0.8]]}])
    >>> [prediction.keyphrases for prediction in rerank(mine)]
    [['b c', 'a']]
    """
    return make(run, options_from(RerankOptions, locals())).run


def make(run: OneRun, options: RerankOptions) -> Made:
    """The reranked run, with a note of what could not be ranked."""
    by = options.by
    [given] = as_runs([run])
    found: list[Prediction] = []
    phrases = lacking = 0
    for batch in given.batches():
        for place, prediction in zip(batch.places, batch.records(), strict=True):
            badness = _badness(prediction, by, f"{given.origin}:{place}")
            phrases += len(badness)
            lacking += badness.count(None)
            found.append(_sorted(prediction, badness))
    if lacking == phrases:
        raise InputError(f"{given.origin} {_LACKING[by]}")
    what = "token probabilities" if by == "kpp" else "a score"
    notes = (
        (f"{given.name}: {lacking:,} of {counted(phrases, 'phrase')} have not {what} and go last",) if lacking else ()
    )
    return Made(replace(Run.of(found, given.name), origin=given.origin), notes)


def _sorted(prediction: Prediction, badness: Sequence[float | None]) -> Prediction:
    order = sorted(range(len(badness)), key=lambda i: (badness[i] is None, badness[i] or 0.0))
    lists = {name: getattr(prediction, name) for name in _LISTS}
    changed: dict[str, Any] = {name: [each[i] for i in order] for name, each in lists.items() if each}
    return msgspec.structs.replace(prediction, **changed)


def _badness(prediction: Prediction, by: By, where: str) -> list[float | None]:
    """For each phrase a number, the lower the better; None where the run tells none."""
    count = len(prediction.keyphrases or ())
    if by == "scores":
        return [None if score is None else -score for score in prediction.scores or [None] * count]
    logs, probs = prediction.token_logprobs or [None] * count, prediction.token_probs or [None] * count
    try:
        return [_of_tokens(logprobs, given) for logprobs, given in zip(logs, probs, strict=True)]
    except ValueError as error:
        whose = "" if prediction.id is None else f"document {quoted(text_of_id(prediction.id) or '')}: "
        raise InputError(f"{where}: {whose}{error}") from None


def _of_tokens(logprobs: Sequence[float] | None, probs: Sequence[float] | None) -> float | None:
    if logprobs:
        if max(logprobs) > _ROUNDING:
            raise ValueError(f"the log-probability {max(logprobs):g} is above 0; write natural logarithms")
        return log_perplexity(logprobs)
    if not probs:
        return None
    if min(probs) < 0 or max(probs) > 1 + _ROUNDING:
        wrong = min(probs) if min(probs) < 0 else max(probs)
        raise ValueError(f"the probability {wrong:g} is not from 0 to 1; write logarithms as token_logprobs")
    return inf if 0 in probs else log_perplexity([log(p) for p in probs])


def log_perplexity(logprobs: Sequence[float]) -> float:
    """The logarithm of keyphrase perplexity, (Π p)^(-1/m) over the m tokens of a phrase (Kundu et al. 2023).

    >>> from math import exp
    >>> round(exp(log_perplexity([log(0.5), log(0.125)])), 12)
    4.0
    """
    return -fsum(logprobs) / len(logprobs)
