"""Regression of Hooper on ROUGE-1, WER and the share generated, over systems and pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.analyses.homogeneity.data import TOO_FEW, Data, Measured
from karat.analyses.homogeneity.result import or_none
from karat.errors import counted
from karat.stats.regression import Coefficient, Fit, independent, least_squares, within

COLUMNS = ("ROUGE-1", "WER", "generated")
MODELS = {"pooled": "one intercept for all systems", "within": "an intercept for each system"}
INFLATED = 10  # variance inflation above which a note warns of correlated columns
FEW = 15  # independent pairs, below which p is approximate (`python -m benchmarks.inference`)


@dataclass(frozen=True, slots=True)
class Regression:
    """Hooper by ROUGE-1, WER and the share generated, or the reason why there is no fit."""

    protocol: str
    model: str  # of MODELS
    fit: Fit | None
    dropped: tuple[tuple[str, str], ...]  # columns that are linearly dependent, with the reason
    reason: str = ""

    def notes(self) -> Iterator[str]:
        """Return notes on columns and on the number of independent pairs."""
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
        if self.fit is not None and self.fit.effective < FEW:
            yield (
                f"the pairs are worth {counted(round(self.fit.effective), 'independent pair')}, so intervals and p of "
                "the regression are approximate"
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the row of the JSON output."""
        fit = self.fit
        return {
            "protocol": self.protocol,
            "model": self.model,
            "rows": None if fit is None else fit.rows,
            "documents": None if fit is None else fit.documents,
            "r2": None if fit is None else or_none(fit.r2),
            "coefficients": [] if fit is None else list(map(_coefficient, fit.coefficients)),
            "dropped": [{"column": name, "why": why} for name, why in self.dropped],
            "reason": self.reason or None,
        }


def _coefficient(each: Coefficient) -> dict[str, Any]:
    return {
        "column": each.name,
        "coefficient": or_none(each.value),
        "standard_error": or_none(each.error),
        "t": or_none(each.t),
        "df": or_none(each.df),
        "p": or_none(each.p),
        "ci": [or_none(end) for end in each.interval],
        "variance_inflation": or_none(each.inflation),
    }


def regressions(data: Data, systems: Sequence[Measured]) -> Iterator[Regression]:
    """Regress Hooper over all systems and pairs; with several systems, also within systems."""
    if not data.has_text or not systems:
        return
    for model in MODELS if len(systems) > 1 else ("pooled",):
        yield _regression(data, systems, model)


def _regression(data: Data, systems: Sequence[Measured], model: str) -> Regression:
    y = np.concatenate([each.values["hooper"] for each in systems])
    absent = [np.full(len(data.rouge), np.nan) if each.absent is None else each.absent for each in systems]
    times = len(systems)
    x = np.column_stack([np.tile(data.rouge, times), np.tile(data.wer, times), np.concatenate(absent)])
    defined = ~np.isnan(y) & ~np.isnan(x).any(axis=1)
    number = np.repeat(np.arange(times), len(data.rouge))[defined]
    group = number if model == "within" else np.zeros_like(number)
    units = np.tile(data.units.of_pair, (times, 1) if data.units.of_pair.ndim == 2 else times)[defined]
    protocol, y, x = systems[0].protocol, y[defined], x[defined]
    used, dropped = independent(within(x, group), COLUMNS)
    names, x = [COLUMNS[j] for j in used], x[:, used]
    pairs = len(np.unique(units, axis=0))
    varies, _ = independent(within(y[:, None], group), ["hooper"])
    same = " within each system" if model == "within" else ""
    reason = "no column varies" if not used else "" if varies else f"hooper is the same everywhere{same}"
    if pairs < TOO_FEW:
        unit = "pair" if units.ndim == 2 else "document"
        reason = f"{counted(pairs, unit)} {'is' if pairs == 1 else 'are'} too few"
    fit = None if reason else least_squares(y, x, names, group, units, data.options.level)
    return Regression(protocol, model, fit, tuple(dropped) if pairs >= TOO_FEW else (), reason)
