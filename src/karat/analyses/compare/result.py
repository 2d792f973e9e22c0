"""What came of comparing systems: each by itself, in pairs, and in ranks over corpora."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from karat.analyses.compare.options import CompareOptions
from karat.metrics.base import Request
from karat.results import signed
from karat.results.displayed import Displayed
from karat.stats.difference import FEWEST, Difference
from karat.stats.effects import POWER
from karat.stats.ranks import Friedman
from karat.tabular import Table


@dataclass(frozen=True, slots=True)
class Standing:
    """One system's value of one metric: with its interval, over its seeds, and who is as good."""

    corpus: str
    protocol: str
    request: Request
    system: str
    value: float
    interval: tuple[float, float]
    seeds: int = 1
    sd: float = np.nan  # over the seeds
    best: bool = False
    letters: str = ""  # systems without a letter in common differ significantly
    interval_by: str = "t"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems compared on one metric."""

    corpus: str
    protocol: str
    request: Request
    a: str
    b: str
    apart: Difference  # on the documents on which both are defined

    @property
    def difference(self) -> float:
        """By how much a is higher."""
        return self.apart.value

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the difference."""
        return self.apart.interval

    @property
    def n(self) -> int:
        """The documents on which both systems are defined."""
        return self.apart.n

    def needed(self, options: CompareOptions) -> tuple[float, float, float] | None:
        """Return how many documents detect the difference of the options with 80 % power, and the ends of an interval.

        The interval follows from the sampling error of the standard deviation. None where nothing varies or no
        difference is named.
        """
        apart = self.apart.contrast
        if options.difference is None or apart is None or self.n < FEWEST or not apart.varies:
            return None
        count = float(apart.needed(options.difference, options.alpha, POWER, options.alternative))
        return count, *apart.needed_interval(options.difference, options.alpha, POWER, options.level)

    def as_dict(self, options: CompareOptions) -> dict[str, Any]:
        """The row of the JSON output."""
        request = self.request
        count, *ends = self.needed(options) or (None, None, None)
        planned = {"documents_needed": _count(count), "documents_needed_ci": list(map(_count, ends))}
        return {
            "corpus": self.corpus,
            "protocol": self.protocol,
            "a": self.a,
            "b": self.b,
            "metric": request.label,
            "options": dict(request.options),
            "subset": request.subset,
            "average": request.average,
            **self.apart.as_dict(),
            **({} if options.difference is None else planned),
        }


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems over several corpora on one metric: mean ranks, Friedman's test, and which two of them differ.

    `critical` is how far apart two mean ranks must be at least, infinite where no ranks could be; systems of a clique
    do not differ.
    """

    protocol: str
    request: Request
    systems: tuple[str, ...]
    friedman: Friedman
    critical: float
    cliques: tuple[tuple[str, ...], ...]

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        p = self.friedman.pairwise()
        return {
            "protocol": self.protocol,
            "metric": self.request.label,
            "options": dict(self.request.options),
            "subset": self.request.subset,
            "average": self.request.average,
            "corpora": self.friedman.corpora,
            "ranks": dict(zip(self.systems, self.friedman.ranks.tolist(), strict=True)),
            "chi2": self.friedman.chi2,
            "p": self.friedman.p,
            "f": _or_none(self.friedman.f),
            "f_p": _or_none(self.friedman.f_p),
            "permutation_p": _or_none(self.friedman.permutation_p),
            "method": self.friedman.how,
            "p_used": _or_none(self.friedman.used_p),
            "p_at_floor": self.friedman.at_floor,
            "critical_difference": _or_none(self.critical),
            "smallest_p": self.friedman.smallest_p,
            "cliques": [list(clique) for clique in self.cliques],
            "pairs": [
                {"a": a, "b": b, "p": float(p[i, j])} for (i, a), (j, b) in combinations(enumerate(self.systems), 2)
            ],
        }


@dataclass(frozen=True, slots=True)
class DiscriminativePower:
    """How well one metric discriminates between the systems of a corpus, or the mean over all corpora.

    Numbers of pairs are sums over the corpora, shares and other figures are means. Figures are NaN where nothing could
    be tested; `d_z` where documents have no value of their own.
    """

    corpora: tuple[str, ...]
    protocol: str
    request: Request
    pairs: int  # of systems, that could be tested
    significant: int  # pairs with p at most alpha
    share: float
    significant_adjusted: int  # pairs with adjusted p at most alpha
    share_adjusted: float
    d_z: float  # mean |d_z| of the pairs
    detectable: float  # mean over the pairs

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        return {
            "corpora": list(self.corpora),
            "protocol": self.protocol,
            "metric": self.request.label,
            "options": dict(self.request.options),
            "subset": self.request.subset,
            "average": self.request.average,
            "pairs": self.pairs,
            "significant": self.significant,
            "share": _or_none(self.share),
            "significant_adjusted": self.significant_adjusted,
            "share_adjusted": _or_none(self.share_adjusted),
            "mean_abs_d_z": _or_none(self.d_z),
            "mean_detectable": _or_none(self.detectable),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Displayed):
    """What came of comparing systems."""

    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    rankings: tuple[Ranking, ...]
    documents: Mapping[str, int]  # by corpus
    common: Mapping[str, int]  # by corpus, the documents that all runs have
    signatures: Mapping[str, str]
    options: CompareOptions
    notes: tuple[str, ...]
    discriminative_power: tuple[DiscriminativePower, ...] = ()  # if the options ask for it

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each pair of systems and metric, as in the JSON output."""
        return [pair.as_dict(self.options) for pair in self.pairs]

    def systems(self) -> list[dict[str, Any]]:
        """One dict for each system and metric."""
        return [
            {
                "corpus": each.corpus,
                "protocol": each.protocol,
                "system": each.system,
                "metric": each.request.label,
                "options": dict(each.request.options),
                "subset": each.request.subset,
                "average": each.request.average,
                "value": _or_none(each.value),
                "ci": [_or_none(end) for end in each.interval],
                "ci_by": each.interval_by,
                "seeds": each.seeds,
                "sd": _or_none(each.sd),
                "best": each.best,
                "letters": each.letters,
            }
            for each in self.standings
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""
        return {
            **signed(self.signatures),
            "rows": self.rows(),
            "systems": self.systems(),
            "rankings": [ranking.as_dict() for ranking in self.rankings],
            **(
                {"discriminative_power": [e.as_dict() for e in self.discriminative_power]}
                if self.discriminative_power
                else {}
            ),
            "notes": list(self.notes),
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """One dict of plain values for each pair of systems and metric, of the test that is used."""
        from karat.analyses.compare.tables import flat_row

        return [flat_row(self, pair) for pair in self.pairs]

    def tables(self) -> Iterator[Table]:
        """For each corpus and protocol the systems and their differences, then the ranks, then what it all means."""
        from karat.analyses.compare.tables import tables_of

        return tables_of(self)


def _count(value: float | None) -> int | None:
    return int(value) if value is not None and np.isfinite(value) else None


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
