"""How systems are compared: the tests that there are, and the options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from karat.matching.inputs import Development, MetricsLike, ProtocolsLike
from karat.options import (
    FamilyOf,
    MatchOptions,
    ScoreInterval,
    WorkOptions,
    alpha_option,
    development_option,
    extra_references_option,
    family_option,
    group,
    level_option,
    max_t_option,
    metrics_option,
    option,
    protocol_option,
    resamples_option,
    score_interval_option,
    seed_option,
)
from karat.stats.difference import TESTS, Correction, Test
from karat.stats.influence import Alternative

OVER_SEEDS = "two_level_t"  # the test of systems with several seeds, whatever the options say


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
    correction: Correction = max_t_option()
    family: FamilyOf = family_option()
    resamples: int = resamples_option()
    seed: int = seed_option()
    level: float = level_option()
    interval: ScoreInterval = score_interval_option()
    difference: float | None = option(
        None, "Print how many documents detect this difference with 80 % power.", above=0, metavar="D"
    )
    stars: bool = option(False, "Mark differences: * adjusted p at most .05, ** .01, *** .001.")
    all_pairs: bool = option(
        False, "Show the difference of every two systems, not only those to the best; p is adjusted over all anyway."
    )
    discriminative_power: bool = option(
        False, "Print for each metric how many pairs of systems differ significantly, and their mean |d_z|."
    )
    extra_references: str | Path | None = extra_references_option()
    join: MatchOptions = group(MatchOptions)
    development: Development | None = development_option()
    work: WorkOptions = group(WorkOptions)

    @property
    def drawn(self) -> int:
        """How many resamples are drawn."""
        return self.resamples
