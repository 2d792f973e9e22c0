"""Maps from a confidence to a better one, fitted on predictions of which it is known whether they are correct."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

import numpy as np

from karat.columns import Bools
from karat.metrics.base import Floats, divide

LEAST = 1e-12  # how near a confidence is taken to 0 and 1, whose logits are infinite
COLDEST, HOTTEST = 0.01, 100.0


@dataclass(frozen=True, slots=True)
class Temperature:
    """Divides the logit of a confidence: above 1 it makes a system less sure, below 1 surer."""

    temperature: float

    def __call__(self, confidence: Floats) -> Floats:
        """The calibrated confidences."""
        return _sigmoid(logit(confidence) / self.temperature)

    @property
    def at_the_end(self) -> bool:
        """Whether no best temperature was found between the ends of the search."""
        return not COLDEST * 1.01 < self.temperature < HOTTEST / 1.01


@dataclass(frozen=True, slots=True)
class Steps:
    """Confidences and the accuracy of each, rising; between them it goes straight, beyond them it stays."""

    confidence: Floats
    accuracy: Floats

    def __call__(self, confidence: Floats) -> Floats:
        """The calibrated confidences."""
        return np.interp(confidence, self.confidence, self.accuracy)


Map = Temperature | Steps


def logit(confidence: Floats) -> Floats:
    """ln(c / (1 − c)), of confidences that are not quite 0 and 1."""
    near: Floats = np.clip(confidence, LEAST, 1 - LEAST)
    found: Floats = np.log(near) - np.log1p(-near)
    return found


def _sigmoid(x: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(x))


def fit_temperature(confidence: Floats, correct: Bools) -> Temperature:
    """The temperature with the least log loss (Guo et al. 2017), sought between .01 and 100.

    >>> sure = np.array([0.9] * 4)
    >>> fitted = fit_temperature(sure, np.array([True, True, True, False]))
    >>> np.round(fitted(sure), 4).tolist()
    [0.75, 0.75, 0.75, 0.75]
    """
    from scipy.optimize import minimize_scalar

    logits = logit(confidence)
    signs = np.where(correct, -1.0, 1.0)

    def loss(log_temperature: float) -> float:
        return float(np.logaddexp(0.0, signs * logits / exp(log_temperature)).mean())

    bounds = (log(COLDEST), log(HOTTEST))
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    return Temperature(exp(float(found.x)))


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
