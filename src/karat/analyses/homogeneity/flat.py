"""The CSV output of homogeneity: one line for each system and each ceiling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from karat.analyses.homogeneity.result import CORRELATIONS, Homogeneity, Row

WITH_ENDS = ("hooper", "rodgers", "soft", "pearson", "spearman")
LAST = ("pearson_p", "spearman_p", "generated", "generated_mean", "undefined")
OF_LISTS = ("phrases_per_document", "unrelated_hooper", "unrelated_pairs", "components", "largest_component")
OVER = {"": "types", "_occurrences": "occurrences"}


def flat_rows_of(found: Homogeneity) -> Iterator[dict[str, Any]]:
    """The systems, then the ceilings, with the genericness of each where it has one."""
    generic = {(each.protocol, each.system): each.as_dict() for each in found.genericness}
    for row in found.systems:
        yield _flat(found, "system", row, generic.get((row.protocol, row.system)))
    for row in found.ceilings:
        yield _flat(found, "ceiling", row, generic.get((row.protocol, None)) if row.system == "references" else None)


def _flat(found: Homogeneity, kind: str, row: Row, generic: dict[str, Any] | None) -> dict[str, Any]:
    values = row.as_dict()
    first = ("system", "protocol", "pairs", "documents")
    return {
        "corpus": found.corpus,
        "kind": kind,
        **{name: values[name] for name in first},
        **with_low_and_high(values, WITH_ENDS),
        **{name: values[name] for name in LAST},
        **{
            f"{name}{end}": None if generic is None else generic[over][name]
            for end, over in OVER.items()
            for name in ("shared_df", "all_df", "shared_words", "all_words")
        },
        **with_low_and_high(values, CORRELATIONS[2:]),
        **{f"{name}_p": values[f"{name}_p"] for name in CORRELATIONS[2:]},
        **{name: values[name] for name in OF_LISTS},
    }


def with_low_and_high(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The figures of some names, each with the ends of its interval; None where a row has none."""
    return {
        f"{name}{end}": value
        for name in names
        for end, value in zip(("", "_low", "_high"), (row.get(name), *row.get(f"{name}_ci", (None, None))), strict=True)
    }
