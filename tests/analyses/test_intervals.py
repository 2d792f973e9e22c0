"""Intervals of every verb that prints shares, against the verb run anew without each document."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from math import log2
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import karat
from karat.errors import InputError
from karat.output import render
from karat.similarity.classes import CLASSES

DOCUMENTS = 40
DATA = Path(__file__).parents[1] / "golden"
Lines = list[dict[str, Any]]
Figures = Callable[[Lines, Lines, Lines], dict[str, Any]]  # of a corpus and two runs: JSON rows, flat


def lines(name: str, count: int) -> Lines:
    with open(DATA / f"synthetic.{name}.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line, _ in zip(file, range(count), strict=False)]


def flat(prefix: str, row: dict[str, Any]) -> dict[str, Any]:
    return {f"{prefix} {name}": value for name, value in row.items()}


def describe(corpus: Lines, a: Lines, b: Lines) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for side in karat.describe(corpus, karat.Run.of(a, "a")).rows():
        groups = side.pop("groups") or ()
        for name in ("position_shares", "miss_rate"):
            values, ends = side.pop(name) or (), side.pop(f"{name}_ci") or ()
            for n, (value, interval) in enumerate(zip(values, ends, strict=True)):
                side |= {f"{name}_{n}": value, f"{name}_{n}_ci": interval}
        figures |= flat(str(side["system"]), side)
        for group in groups:
            if group["by"] != "words of a document":  # its quarters depend on the documents
                figures |= flat(f"{group['by']} {group['group']}", {"f": group["value"], "f_ci": group["value_ci"]})
    return figures


def overlap(corpus: Lines, a: Lines, b: Lines) -> dict[str, Any]:
    found = karat.overlap(corpus, karat.Run.of(a, "a"), karat.Run.of(b, "b"))
    figures: dict[str, Any] = {}
    for row in found.rows():
        figures |= flat(
            row["subset"], {name: _share(value) for name, value in row.items() if name.startswith("common")}
        )
    for row in (*found.alone(), *found.complementarity()):
        name = f"{row.get('how', row.get('system'))} {row['metric']} {row['subset']}"
        figures |= {name: row["value"], f"{name}_ci": row["value_ci"]}
    return figures


def _share(percent: Any) -> Any:
    """A percentage, or the ends of one, as a share."""
    if percent is None:
        return None
    return [_share(end) for end in percent] if isinstance(percent, list) else percent / 100


def nearmiss(corpus: Lines, a: Lines, b: Lines) -> dict[str, Any]:
    found = karat.nearmiss(corpus, karat.Run.of(a, "a"))
    figures = dict(found.summary()[0])
    names = [f"{kind} {name} None share" for kind in CLASSES for name in CLASSES[kind]]
    names += [f"location {name} {way} share" for name in CLASSES["location"] for way in CLASSES["direction"]]
    figures |= dict.fromkeys(names, 0.0 if figures["pairs"] else None)  # a class that no near miss is of
    for row in found.rows():
        figures |= flat(f"{row['kind']} {row['class']} {row['direction']}", row)
    return figures


def terms() -> karat.Vocabulary:
    phrases = sorted({phrase.lower() for document in lines("corpus", DOCUMENTS) for phrase in document["keyphrases"]})
    return karat.Vocabulary.of(
        [karat.Concept(f"x:{n}", (karat.Label(each),)) for n, each in enumerate(phrases)], "terms"
    )


def concepts(corpus: Lines, a: Lines, b: Lines) -> dict[str, Any]:
    found = karat.concepts(corpus, karat.Run.of(a, "a"), vocabulary=terms())
    [system] = found.systems()
    system["micro"]["p"] = system["micro"]["p"] if system["assigned"] else None
    system["micro"]["r"] = system["micro"]["r"] if system["referred"] else None
    figures = flat("micro", system["micro"]) | flat("macro", system["macro"])
    for row in found.rows():
        figures |= flat(row["label"], row)
    return figures


def consistency(corpus: Lines, a: Lines, b: Lines) -> dict[str, Any]:
    vocabulary = karat.Vocabulary.of([karat.Concept("x:1", (karat.Label("ml"), karat.Label("ai")))], "terms")
    found = karat.consistency(karat.Run.of(a, "a"), near=None, vocabulary=vocabulary)
    [listed] = found.listed()
    figures = flat("vocabulary", listed)
    for row in found.rows()[:2]:  # whether an abbreviation fits depends on all names
        row |= {"names_per_concept": _inverse(row["names_per_concept"])}
        row |= {"names_per_concept_ci": [_inverse(end) for end in reversed(row["names_per_concept_ci"])]}
        most = log2(row["phrases"]) if row["phrases"] > 2 else 1.0
        figures |= flat(row["by"], {name: value for name, value in row.items() if not name.startswith("entropy")})
        figures[f"{row['by']} entropy"] = row["entropy"]
        figures[f"{row['by']} entropy_ci"] = row["entropy_ci"]
        figures[f"{row['by']} entropy_most"] = most
    return figures


def _inverse(value: float | None) -> float | None:
    return None if value is None else 1 / value


def without(part: Lines, document: int) -> Lines:
    return [line for n, line in enumerate(part) if n != document]


def by_hand(value: float, left_out: Sequence[float], level: float, most: float) -> Iterator[float]:
    """The t interval on the logit scale; the exact bound where nothing or everything is a hit."""
    n, share = len(left_out), value / most
    if share in (0.0, 1.0):
        yield from (most * end for end in proportion_confint(share * n, n, 1 - level, method="beta"))
        return
    error = ((n - 1) / n * sum((each - sum(left_out) / n) ** 2 for each in left_out)) ** 0.5 / most
    half = stats.t.ppf((1 + level) / 2, n - 1) * error / (share * (1 - share))
    for sign in (-1, 1):
        yield most * stats.logistic.cdf(stats.logistic.ppf(share) + sign * half)


@pytest.mark.parametrize("figures", [describe, overlap, nearmiss, concepts, consistency])
def test_intervals_are_those_of_the_verb_without_each_document(figures: Figures) -> None:
    parts = [lines(name, DOCUMENTS) for name in ("corpus", "alpha", "beta")]
    every = figures(*parts)
    left = [figures(*(without(part, n) for part in parts)) for n in range(DOCUMENTS)]
    alone = [figures(*([part[n]] for part in parts)) for n in range(DOCUMENTS)]
    names = [name.removesuffix("_ci") for name in every if name.endswith("_ci")]
    checked = 0
    for name in names:
        value, ends = every[name], every[f"{name}_ci"]
        units = [n for n in range(DOCUMENTS) if alone[n].get(name) is not None]  # documents with something to divide by
        if value is None or len(units) < 2 or any(left[n].get(name) is None for n in units):
            continue
        expected = list(by_hand(value, [left[n][name] for n in units], 0.95, every.get(f"{name}_most", 1.0)))
        if expected[0] == expected[1]:  # nothing varies, and the value is on no bound
            continue
        assert ends == pytest.approx(expected, abs=1e-9), name
        checked += 1
    assert checked >= 10


# ---------------------------------------------------------------------------------------------- little to divide by

BEE = karat.Vocabulary.of([karat.Concept("x:bee", (karat.Label("bee"),))], "bees")
VERBS: dict[str, Callable[[Lines, Lines], Any]] = {
    "describe": lambda corpus, run: karat.describe(corpus, karat.Run.of(run, "a"), intervals=True),
    "overlap": lambda corpus, run: karat.overlap(
        corpus, karat.Run.of(run, "a"), karat.Run.of(run, "b"), intervals=True
    ),
    "nearmiss": lambda corpus, run: karat.nearmiss(corpus, karat.Run.of(run, "a"), intervals=True),
    "concepts": lambda corpus, run: karat.concepts(corpus, karat.Run.of(run, "a"), vocabulary=BEE, intervals=True),
    "consistency": lambda corpus, run: karat.consistency(karat.Run.of(run, "a"), vocabulary=BEE, intervals=True),
}
CASES: dict[str, tuple[list[list[str]], list[list[str]]]] = {
    "no references": ([[], []], [["bee"], ["wasp"]]),
    "no predictions": ([["bee"], ["wasp"]], [[], []]),
    "nothing": ([[], []], [[], []]),
    "one document": ([["bee"]], [["bee", "honey"]]),
    "one document, all wrong": ([["bee"]], [["wasp"]]),
    "one document, nothing": ([[]], [[]]),
    "the same twice": ([["bee"], ["bee"]], [["bee"], ["bee"]]),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("verb", VERBS)
def test_no_output_has_a_nan(verb: str, case: str) -> None:
    references, predictions = CASES[case]
    corpus = [{"id": str(n), "text": "A bee.", "keyphrases": each} for n, each in enumerate(references)]
    run = [{"id": str(n), "keyphrases": each} for n, each in enumerate(predictions)]
    if verb in ("overlap", "nearmiss") and not any(references):
        with pytest.raises(InputError, match="no document has references"):
            VERBS[verb](corpus, run)
        return
    found = VERBS[verb](corpus, run)
    for form in ("table", "md", "latex", "csv", "json"):
        text = render(found, form).lower()
        assert "nan" not in text
        assert "inf" not in text.replace("info", "")


@pytest.mark.parametrize("verb", VERBS)
def test_a_higher_level_is_a_wider_interval_in_json_and_csv(verb: str) -> None:
    corpus, run = lines("corpus", DOCUMENTS), karat.Run.of(lines("alpha", DOCUMENTS), "a")
    others = {"overlap": [karat.Run.of(lines("beta", DOCUMENTS), "b")]}.get(verb, [])
    inputs = [run, *others] if verb == "consistency" else [corpus, run, *others]
    options = {"vocabulary": terms()} if verb == "concepts" else {}
    widths = []
    for level in (0.8, 0.99):
        found = getattr(karat, verb)(*inputs, level=level, **options)
        table = list(csv.DictReader(io.StringIO(render(found, "csv"))))
        names = [name.removesuffix("_low") for name in table[0] if name.endswith("_low")]
        rows = found.rows()
        assert len(rows) == len(table)
        ends = [(row[f"{name}_low"], row[f"{name}_high"]) for row in table for name in names]
        widths.append([float(high) - float(low) for low, high in ends if low and high])
        for name in (name for name in names if name in rows[0]):
            low, high = rows[0][f"{name}_ci"]
            assert [table[0][f"{name}_low"], table[0][f"{name}_high"]] == [
                "" if x is None else str(x) for x in (low, high)
            ]
    assert widths[0]
    assert all(narrow <= wide for narrow, wide in zip(*widths, strict=True))
    assert sum(widths[0]) < sum(widths[1])
