"""The options of a table of systems, corpora and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from karat.analyses.compare.options import CompareOptions
from karat.matching.inputs import MetricsLike, ProtocolsLike
from karat.options import (
    FamilyOf,
    MatchOptions,
    ScoreInterval,
    WorkOptions,
    alpha_option,
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
from karat.stats.difference import Correction

Test = Literal["randomisation", "t", "wilcoxon"]
TESTS: tuple[Test, ...] = ("randomisation", "t", "wilcoxon")
NamesLike = Mapping[str, str] | Sequence[str]  # {name: what is shown}, or texts as NAME=SHOWN
GroupsLike = Mapping[str, Sequence[str]] | Sequence[str]  # {group: systems}, or texts as GROUP=SYSTEM,SYSTEM


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What the table shows."""

    protocol: ProtocolsLike = protocol_option(repeatable=True)
    metrics: MetricsLike | None = metrics_option(
        "What the columns of a corpus are, as f1@5:present. See `karat list metrics`.",
        otherwise="f1@5 and f1@M of present and of absent phrases; all of a .karat file",
    )
    baseline: str | None = option(
        None, "Test all systems against this one.", metavar="SYSTEM", otherwise="against the best of each column"
    )
    significance: bool = option(True, "Test no differences.", flags=("--no-significance",))
    test: Test = option("randomisation", "The paired test that marks go by.", values=TESTS)
    alpha: float = alpha_option()
    correction: Correction = max_t_option()
    family: FamilyOf = family_option()
    resamples: int = resamples_option()
    seed: int = seed_option()
    intervals: bool = option(False, "Show the interval of each value.")
    level: float = level_option()
    interval: ScoreInterval = score_interval_option()
    percent: bool = option(False, "Show 34.2 instead of .3417.")
    digits: int | None = option(
        None, "Digits behind the point.", least=0, most=9, metavar="N", otherwise="4, or 1 with --percent"
    )
    ranks: bool = option(True, "Leave out the mean ranks.", flags=("--no-ranks",))
    groups: GroupsLike = option(
        (),
        "Systems below a name and a rule of their own.",
        flags=("--group",),
        metavar="NAME=SYSTEM,...",
        repeatable=True,
    )
    systems: NamesLike = option(
        (), "How a system is called.", flags=("--system",), metavar="SYSTEM=NAME", repeatable=True
    )
    corpora: NamesLike = option(
        (), "How a corpus is called.", flags=("--corpus",), metavar="CORPUS=NAME", repeatable=True
    )
    order: str | Sequence[str] = option(
        (),
        "Systems or corpora that come first, in this order.",
        metavar="NAME,...",
        repeatable=True,
    )
    languages: NamesLike = option(
        (),
        "Stem the words of one corpus with Snowball for its language.",
        flags=("--language-of",),
        metavar="CORPUS=LANGUAGE",
        repeatable=True,
    )
    join: MatchOptions = group(MatchOptions)
    work: WorkOptions = group(WorkOptions)

    def comparing(self) -> CompareOptions:
        """How the systems are compared."""
        return CompareOptions(
            baseline=self.baseline,
            test=self.test,
            alpha=self.alpha,
            correction=self.correction,
            family=self.family,
            resamples=self.resamples,
            seed=self.seed,
            level=self.level,
            interval=self.interval,
        )
