"""What Hooper goes with: a regression over systems and pairs on ROUGE-1, WER and the share that is generated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.analyses.homogeneity.data import TOO_FEW, Data, Measured
from karat.analyses.homogeneity.result import or_none
from karat.errors import counted
from karat.stats.regression import Coefficient, Fit, independent, least_squares, resampled, within
from karat.stats.resampling import estimate, interval_of

COLUMNS = ("ROUGE-1", "WER", "generated")
MODELS = {"pooled": "one intercept for all systems", "within": "an intercept for each system"}
INFLATED = 10  # variance inflation above which columns cannot be told apart
FEW_CLUSTERS = 30  # below which errors by clusters are too small


@dataclass(frozen=True, slots=True)
class Regression:
    """Hooper by ROUGE-1, WER and the share generated; without a fit, why there is none."""

    protocol: str
    model: str  # of MODELS
    fit: Fit | None
    intervals: tuple[tuple[float, float], ...]  # of each coefficient, by resamples of documents
    dropped: tuple[tuple[str, str], ...]  # columns that cannot be told apart, and why
    reason: str = ""

    def notes(self) -> Iterator[str]:
        """What is to be said of it."""
        for name, why in self.dropped:
            among = " within each system" if self.model == "within" else ""
            yield f"{name} is not in the regression ({self.model}): it {why}{among}"
        inflated = [] if self.fit is None else [each for each in self.fit.coefficients if each.inflation > INFLATED]
        if inflated:
            most = max(each.inflation for each in inflated)
            yield (
                f"{' and '.join(each.name for each in inflated)} go together so closely (variance inflation "
                f"{most:,.0f}) that the regression ({self.model}) cannot tell which of them hooper goes with"
            )
        if self.fit is not None and self.fit.clusters < FEW_CLUSTERS:
            yield (
                f"the errors of the regression are by {self.fit.clusters:,} groups of pairs that hang together, which "
                "is few: they are surer than they should be"
            )

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        fit = self.fit
        rows = [] if fit is None else list(zip(fit.coefficients, self.intervals, strict=True))
        return {
            "protocol": self.protocol,
            "model": self.model,
            "rows": None if fit is None else fit.rows,
            "clusters": None if fit is None else fit.clusters,
            "r2": None if fit is None else or_none(fit.r2),
            "coefficients": [_coefficient(each, drawn) for each, drawn in rows],
            "dropped": [{"column": name, "why": why} for name, why in self.dropped],
            "reason": self.reason or None,
        }


def _coefficient(each: Coefficient, drawn: tuple[float, float]) -> dict[str, Any]:
    return {
        "column": each.name,
        "coefficient": or_none(each.value),
        "standard_error": or_none(each.error),
        "t": or_none(each.t),
        "p": or_none(each.p),
        "ci": [or_none(end) for end in each.interval],
        "bootstrap_ci": [or_none(end) for end in drawn],
        "variance_inflation": or_none(each.inflation),
    }


def regressions(data: Data, systems: Sequence[Measured]) -> Iterator[Regression]:
    """The regression of Hooper over all systems and pairs, and where there are several systems that within them."""
    if not data.has_text or not systems:
        return
    for model in MODELS if len(systems) > 1 else ("pooled",):
        yield _regression(data, systems, model)


def _regression(data: Data, systems: Sequence[Measured], model: str) -> Regression:
    y = np.concatenate([each.values["hooper"] for each in systems])
    absent = [np.full(len(data.rouge), np.nan) if each.absent is None else each.absent for each in systems]
    times = len(systems)
    x = np.column_stack([np.tile(data.rouge, times), np.tile(data.wer, times), np.concatenate(absent)])
    there = ~np.isnan(y) & ~np.isnan(x).any(axis=1)
    number = np.repeat(np.arange(times), len(data.rouge))[there]
    group = number if model == "within" else np.zeros_like(number)
    units = np.tile(data.units.of_pair, (times, 1) if data.units.of_pair.ndim == 2 else times)[there]
    cluster, protocol = np.tile(data.clusters(), times)[there], systems[0].protocol
    y, x = y[there], x[there]
    kept, dropped = independent(within(x, group), COLUMNS)
    names, x = [COLUMNS[j] for j in kept], x[:, kept]
    clusters = len(np.unique(cluster))
    reason = "" if kept else "no column varies"
    if clusters < TOO_FEW:
        reason = f"{counted(clusters, 'group')} of pairs that hang together {'is' if clusters == 1 else 'are'} too few"
    fit = None if reason else least_squares(y, x, names, group, cluster, data.options.level)
    if fit is None:
        return Regression(protocol, model, None, (), tuple(dropped) if clusters >= TOO_FEW else (), reason)
    options = data.options
    drawn = estimate(resampled(y, x, group, units, data.units.count), options.resamples, options.seed)
    ends = tuple(interval_of(each, options.level, options.interval) for each in drawn)
    return Regression(protocol, model, fit, ends, tuple(dropped))
