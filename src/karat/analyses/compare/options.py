"""How systems are compared: the tests that there are, and the options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from karat.matching.inputs import Development, MetricsLike, ProtocolsLike
from karat.options import (
    Correction,
    Interval,
    MatchOptions,
    WorkOptions,
    alpha_option,
    correction_option,
    development_option,
    enough_option,
    group,
    interval_option,
    level_option,
    metrics_option,
    option,
    protocol_option,
    seed_option,
)
from karat.stats.resampling import RESAMPLES
from karat.stats.tests import Alternative

Test = Literal["randomisation", "bootstrap", "t", "wilcoxon", "mcnemar", "mcnemar_exact"]
TESTS: tuple[Test, ...] = ("randomisation", "bootstrap", "t", "wilcoxon", "mcnemar", "mcnemar_exact")
OVER_SEEDS = "two_level_t"  # the test of systems with several seeds, whatever the options say
NAMES = {
    "randomisation": "paired randomisation",
    "bootstrap": "paired bootstrap",
    "t": "paired t",
    "wilcoxon": "Wilcoxon",
    "mcnemar": "McNemar (mid-p)",
    "mcnemar_exact": "McNemar (exact)",
    OVER_SEEDS: "two-level t over seeds and documents",
}
RESAMPLED = ("randomisation", "bootstrap")  # tests whose p cannot be smaller than their resamples allow


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """How systems are compared."""

    protocol: ProtocolsLike = protocol_option(repeatable=True)
    metrics: MetricsLike | None = metrics_option()
    baseline: str | None = option(
        None, "Compare all systems with this one.", metavar="NAME", otherwise="each with each"
    )
    test: Test = option(
        "randomisation", "The test that is shown and gives the letters; -f json has all of them.", values=TESTS
    )
    alternative: Alternative = option(
        "two-sided",
        "Which differences a − b the tests look for: greater asks whether a, or with --baseline the system that is not "
        "the baseline, has the higher number, less whether it has the lower.",
        values=("two-sided", "greater", "less"),
    )
    alpha: float = alpha_option()
    correction: Correction = correction_option("all comparisons")
    resamples: int | None = enough_option()
    seed: int = seed_option()
    level: float = level_option()
    interval: Interval = interval_option()
    stars: bool = option(False, "Mark differences: * adjusted p at most .05, ** .01, *** .001.")
    all_pairs: bool = option(
        False, "Show the difference of every two systems, not only those to the best; p is adjusted over all anyway."
    )
    join: MatchOptions = group(MatchOptions)
    development: Development | None = development_option()
    work: WorkOptions = group(WorkOptions)

    @property
    def drawn(self) -> int:
        """How many resamples are drawn."""
        return RESAMPLES if self.resamples is None else self.resamples
