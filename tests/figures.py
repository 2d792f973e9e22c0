"""Figures of the original scripts, and how they are compared with ours."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import karat


@dataclass(frozen=True, slots=True)
class Figure:
    """One printed number."""

    corpus: str
    system: str
    protocol: str
    metric: str
    subset: str
    average: str
    value: float
    digits: int
    first: int | None = None  # how many predictions of each document are the run, where not all
    encoder: str | None = None  # of semantic figures

    @property
    def request(self) -> str:
        return f"{self.metric}:{self.subset}/{self.average}"

    def agrees(self, computed: float | None) -> bool:
        return computed is not None and abs(computed - self.value) <= 0.51 * 10 ** -min(self.digits, 7)


Key = tuple[str, str, str]


def read_figures(path: Path) -> dict[Key, list[Figure]]:
    """The figures by (corpus, system, protocol)."""
    grouped: dict[Key, list[Figure]] = {}
    for line in path.read_text().splitlines():
        figure = Figure(**json.loads(line))
        grouped.setdefault((figure.corpus, figure.system, figure.protocol), []).append(figure)
    return grouped


def differences(figures: Iterable[Figure], corpus: karat.Corpus, run: karat.Run) -> list[str]:
    """A line for each figure that karat does not reproduce."""
    figures = list(figures)
    run = first_predictions(run, figures[0].first)
    requests = [figure.request for figure in figures]
    results = karat.score(corpus, run, metrics=requests, protocol=figures[0].protocol)
    rows = {f"{r['metric']}:{r['subset']}/{r['average']}": r["value"] for r in results.rows()}
    return [
        f"{figure.request}: {rows[figure.request]}, the script prints {figure.value}"
        for figure in figures
        if not figure.agrees(rows[figure.request])
    ]


def first_predictions(run: karat.Run, number: int | None) -> karat.Run:
    """The run of the first so many predictions of each document."""
    if number is None:
        return run
    return karat.Run.of([{"id": p.id, "keyphrases": (p.keyphrases or [])[:number]} for p in run], run.name)
