"""What each system has on each pair, as rows for files and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.pairs.sets import Floats


@dataclass(frozen=True, slots=True, eq=False)
class OfPairs:
    """One system on every pair: values by name, NaN where one is undefined; None is a pair that is left out."""

    system: str
    protocol: str
    there: tuple[bool, ...]
    values: Mapping[str, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """The pairs, how alike the texts of each are, and what each system has on it."""

    corpus: str
    a: tuple[str, ...]
    b: tuple[str, ...]
    methods: tuple[str | None, ...]
    rouge: Floats
    wer: Floats
    systems: tuple[OfPairs, ...]

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dict for each protocol, system and pair that it has, in the order of the pairs."""
        texts = {"rouge1": _plain(self.rouge), "wer": _plain(self.wer)}
        methods = self.methods or (None,) * len(self.a)
        for each in self.systems:
            columns = {name: _plain(values) for name, values in each.values.items()}
            for n in range(len(self.a)):
                if each.there[n]:
                    yield {
                        "corpus": self.corpus,
                        "system": each.system,
                        "protocol": each.protocol,
                        "a": self.a[n],
                        "b": self.b[n],
                        "method": methods[n],
                        **{name: column[n] for name, column in columns.items()},
                        **{name: column[n] for name, column in texts.items()},
                    }


def _plain(values: Floats) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
