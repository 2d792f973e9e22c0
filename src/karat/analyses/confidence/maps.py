"""Maps from a confidence to a better one, fitted on predictions of which it is known whether they are correct."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.matching.columns import Bools, Floats
from karat.metrics.base import divide

LEAST = 1e-12  # how near a confidence is taken to 0 and 1, whose logits are infinite


@dataclass(frozen=True, slots=True)
class Unfit:
    """No map of a kind fits best: why."""

    why: str


@dataclass(frozen=True, slots=True)
class Temperature:
    """Divides the logit of a confidence: above 1 it makes a system less sure, below 1 surer."""

    temperature: float

    def __call__(self, confidence: Floats) -> Floats:
        """The calibrated confidences."""
        return _sigmoid(logit(confidence) / self.temperature)


@dataclass(frozen=True, slots=True)
class Logistic:
    """Platt's scaling: σ(slope · logit + intercept); a temperature is one with the intercept 0."""

    slope: float
    intercept: float

    def __call__(self, confidence: Floats) -> Floats:
        """The calibrated confidences."""
        return _sigmoid(self.slope * logit(confidence) + self.intercept)


@dataclass(frozen=True, slots=True)
class Steps:
    """Confidences and the accuracy of each, rising; between them it goes straight, beyond them it stays."""

    confidence: Floats
    accuracy: Floats

    def __call__(self, confidence: Floats) -> Floats:
        """The calibrated confidences."""
        return np.interp(confidence, self.confidence, self.accuracy)


Map = Temperature | Logistic | Steps


def logit(confidence: Floats) -> Floats:
    """ln(c / (1 − c)), of confidences that are not quite 0 and 1."""
    near: Floats = np.clip(confidence, LEAST, 1 - LEAST)
    found: Floats = np.log(near) - np.log1p(-near)
    return found


def _sigmoid(x: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(x))


ROUNDING = 1e-12  # of a sum of logits that is 0 on paper


def fit_temperature(confidence: Floats, correct: Bools) -> Temperature | Unfit:
    """The temperature with the least log loss (Guo et al. 2017), if there is one.

    With w = 1/T the loss is convex, and its slope is Σ logit · (σ(w · logit) − correct). If that is not negative at
    w = 0, no w above 0 is better than confidences of .5; if it never turns positive, the loss falls without end.

    >>> sure = np.array([0.9] * 4)
    >>> fitted = fit_temperature(sure, np.array([True, True, True, False]))
    >>> np.round(fitted(sure), 4).tolist()
    [0.75, 0.75, 0.75, 0.75]
    >>> fit_temperature(sure, np.array([True, False, False, False]))
    Unfit(why='the higher the better, without end: of 4 surer than .5 1 is right')
    """
    from scipy.optimize import brentq

    logits = logit(confidence)

    def slope(w: float) -> float:
        return float((logits * (_sigmoid(w * logits) - correct)).sum())

    if not logits.any():
        return Unfit("all confidences are .5")
    if slope(0.0) >= -ROUNDING * float(np.abs(logits).sum()):
        return Unfit(f"the higher the better, without end: {_halves(logits, correct)}")
    if not (logits[correct] < 0).any() and not (logits[~correct] > 0).any():
        return Unfit(f"the lower the better, without end: {_halves(logits, correct)}")
    end = 1.0
    while slope(end) < 0:
        end *= 2
    return Temperature(1 / float(brentq(slope, 0.0, end, xtol=1e-14, rtol=1e-12)))


def _halves(logits: Floats, correct: Bools) -> str:
    """How many of the predictions that are surer than .5, and less sure, are right."""
    halves = (("surer", logits > 0), ("less sure", logits < 0))
    said = [
        f"of {which.sum():,} {name} than .5 {right:,} {'is' if right == 1 else 'are'} right"
        for name, which in halves
        if which.any()
        for right in [int(correct[which].sum())]
    ]
    return ", ".join(said)


def fit_platt(confidence: Floats, correct: Bools) -> Logistic | Unfit:
    """The logistic regression of being correct on the logit of the confidence (Platt 1999), without penalty.

    It can move a confidence across .5, which no temperature does. Where right and wrong can be separated by the
    confidence alone, or there is but one of them, the loss falls without end.

    >>> fitted = fit_platt(np.array([0.9] * 4 + [0.6] * 4), np.array([1, 1, 0, 0, 1, 0, 0, 0], dtype=bool))
    >>> np.round(fitted(np.array([0.9, 0.6])), 4).tolist()
    [0.5, 0.25]
    """
    from scipy.optimize import minimize

    logits = logit(confidence)
    right, wrong = logits[correct], logits[~correct]
    if not len(right) or not len(wrong):
        return Unfit(f"all predictions are {'right' if len(right) else 'wrong'}")
    if logits.min() == logits.max():
        return Unfit("all confidences are equal")
    if right.min() >= wrong.max() or right.max() <= wrong.min():
        how = "less sure" if right.min() >= wrong.max() else "surer"
        return Unfit(f"no right prediction is {how} than a wrong one")
    columns = np.stack([logits, np.ones(len(logits))])
    signs = np.where(correct, -1.0, 1.0)

    def loss(x: Floats) -> float:
        return float(np.logaddexp(0.0, signs * (x @ columns)).mean())

    def gradient(x: Floats) -> Floats:
        return np.asarray(columns @ (_sigmoid(x @ columns) - correct) / len(correct))

    def curvature(x: Floats) -> Floats:
        p = _sigmoid(x @ columns)
        return np.asarray((columns * (p * (1 - p))) @ columns.T / len(correct))

    found = minimize(loss, [1.0, 0.0], jac=gradient, hess=curvature, method="trust-exact", options={"gtol": 1e-12})
    return Logistic(*map(float, found.x))


def fit_isotonic(confidence: Floats, correct: Bools) -> Steps:
    """The rising accuracies that lie nearest to what is correct, by pooling adjacent violators.

    >>> fitted = fit_isotonic(np.array([0.2, 0.4, 0.6, 0.8]), np.array([False, True, False, True]))
    >>> fitted.accuracy.tolist(), fitted(np.array([0.0, 0.5, 0.9])).tolist()
    ([0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 1.0])
    """
    from scipy.optimize import isotonic_regression

    distinct, back = np.unique(confidence, return_inverse=True)
    count = np.bincount(back)
    accuracy = divide(np.bincount(back, weights=correct), count)
    return Steps(distinct, np.asarray(isotonic_regression(accuracy, weights=count).x))
