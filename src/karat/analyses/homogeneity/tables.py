"""The tables of homogeneity: systems and ceilings, systems compared, and how generic shared phrases are."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

from karat.analyses.homogeneity.genericness import Genericness
from karat.analyses.homogeneity.result import Difference, Figure, Homogeneity, Row
from karat.errors import counted
from karat.tabular import COUNT, FIXED2, P_VALUE, SIGNED, Cell, Column, Group, Table, number, rows_of, with_ends
from karat.tabular import Row as Line

CEILINGS = {"references": "(references)", "extractors": "(extractors)"}
MARKED = "(references): the references as predictions; (extractors): those of them that their document holds."
GENERATED = "gen.: share of all predictions that are not in their document (micro); gen./d: its mean over documents."
UNDEFINED = "undef: pairs without a prediction for either document, left out."
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "not adjusted"}
OF_PHRASES = ("df shared", "df all", "words shared", "words all")


def tables_of(found: Homogeneity) -> Iterator[Table]:
    """What the tables are of; those of each protocol; what their figures are."""
    head = _heading(found)
    legend: dict[str, None] = {}
    yield Table(head)
    for protocol in found.signatures:
        for title, corner, columns, groups, about in _of_protocol(found, protocol):
            title = f"{title}, protocol {protocol}"
            legend |= dict.fromkeys(about)
            yield Table(title, corner, columns, groups, caption=" ".join([f"{title}: {head}.", *about]))
    yield Table(notes=list(legend))


def _heading(found: Homogeneity) -> str:
    """What the tables are of."""
    options = found.options
    parts = [f"{found.corpus}, {counted(found.pairs, 'pair')} over {counted(found.documents, 'document')}"]
    parts.append("over the larger set" if options.measure == "max" else "over the union")
    if options.cutoff != "M":
        parts.append(f"the first {counted(int(options.cutoff), 'prediction')}")
    if options.similarity is not None:
        parts.append(f"soft score {options.similarity} from {options.threshold:g}")
    return ", ".join(parts)


_Parts = tuple[str, str, list[Column], tuple[Group, ...], list[str]]  # title, corner, columns, groups, what they are


def _of_protocol(found: Homogeneity, protocol: str) -> Iterator[_Parts]:
    """Systems and ceilings, correlations, systems compared, genericness over types and occurrences."""
    own = [row for row in found.systems if row.protocol == protocol]
    brackets = intervals(found)
    yield _agreement(found, own, [row for row in found.ceilings if row.protocol == protocol], brackets)
    if not isnan(found.rouge.value):
        columns = [Column("pearson"), Column("p of r", P_VALUE), Column("spearman"), Column("p of rho", P_VALUE)]
        rows = rows_of((row.system, _correlations(row)) for row in own)
        yield "Hooper with ROUGE-1 of the texts", "system", columns, rows, [_rouge(found.rouge), brackets]
    if compared := [each for each in found.differences if each.protocol == protocol]:
        tests = [Column(name, P_VALUE) for name in ("p random", "adjusted", "p boot", "adjusted")]
        rows = rows_of((f"{each.metric}: {each.a} − {each.b}", _difference(each)) for each in compared)
        yield "Systems compared", "a − b", [Column("difference", SIGNED), *tests], rows, [_tested(found), brackets]
    columns = [Column("shared", COUNT), Column("all", COUNT), *(Column(name, FIXED2) for name in OF_PHRASES)]
    generic = [each for each in found.genericness if each.protocol == protocol]
    for over in ("types", "occurrences"):
        title = f"Documents (df) and words of a phrase that a pair shares, and of all phrases, over {over}"
        rows = rows_of((each.system or CEILINGS["references"], _generic(each, over)) for each in generic)
        yield title, over, columns, rows, []


# ---------------------------------------------------------------------------------------------- rows


def _agreement(found: Homogeneity, systems: list[Row], ceilings: list[Row], brackets: str) -> _Parts:
    soft = ["soft"] if found.options.similarity is not None else []
    measures = ["hooper", "rodgers", *soft]
    columns = [*map(Column, (*measures, "gen.", "gen./d")), Column("undef", COUNT)]
    rows = [Line(row.system, [*agreement(row, measures), row.undefined]) for row in systems]
    above = [Line(CEILINGS[row.system], [*agreement(row, measures, True), row.undefined]) for row in ceilings]
    about = [*_measures(found), GENERATED, UNDEFINED, MARKED, brackets]
    return "Agreement of the two documents", "system", columns, (Group(rows), Group(above)), about


def agreement(row: Row, measures: list[str], ceiling: bool = False) -> list[Any]:
    """The figures of a row, and how much its system generates, which a ceiling does not."""
    generated = [None, None] if ceiling else [row.generated, row.generated_mean]
    return [*(with_interval(row.figures.get(measure)) for measure in measures), *generated]


def with_interval(figure: Figure | None) -> Cell | None:
    """A number with its interval."""
    return None if figure is None else Cell(figure.value, with_ends(figure.interval))


def _correlations(row: Row) -> list[Any]:
    figures = [row.figures[name] for name in ("pearson", "spearman")]
    return [cell for each in figures for cell in (with_interval(each), each.p)]


def _difference(each: Difference) -> list[Any]:
    tests = [p for test in each.tests for p in (each.tests[test], each.adjusted[test])]
    return [Cell(each.value, with_ends(each.interval)), *tests]


def _generic(each: Genericness, over: str) -> list[Any]:
    some, every = (getattr(each, f"{which}_{over}") for which in ("shared", "all"))
    return [some.count, every.count, *map(Cell, (some.df, every.df, some.words, every.words))]


# ---------------------------------------------------------------------------------------------- words


def _measures(found: Homogeneity) -> Iterator[str]:
    """What is measured."""
    below = "those of the larger set" if found.options.measure == "max" else "those that either has"
    yield f"hooper: phrases that both documents of a pair have over {below}; rodgers: the same of words."
    if found.options.similarity is not None:
        yield "soft: F of SoftKeyScore between both lists."


def _rouge(rouge: Figure) -> str:
    """What agreement is correlated with, and by which test."""
    mean = number(rouge.value) + with_ends(rouge.interval)
    return f"ROUGE-1: recall of the words of a in b, on average {mean}; p of its being unrelated, by the bootstrap."


def intervals(found: Homogeneity) -> str:
    """Which intervals stand in brackets."""
    options = found.options
    drawn = "documents with their reformulations" if options.reformulations is not None else "documents, not pairs"
    how = f"{options.interval}, {counted(options.resamples, 'resample')} of {drawn}, seed {options.seed}"
    return f"In brackets {100 * options.level:.4g} % intervals ({how})."


def _tested(found: Homogeneity) -> str:
    """Which tests p is of, and how it is adjusted."""
    return (
        "p random, p boot: two-sided, by randomisation of documents that hang together by pairs, and by the "
        f"bootstrap; adjusted over {len(found.differences):,} comparisons ({CORRECTIONS[found.options.correction]})."
    )


# ---------------------------------------------------------------------------------------------- CSV

WITH_ENDS = ("hooper", "rodgers", "soft", "pearson", "spearman")
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
    last = ("pearson_p", "spearman_p", "generated", "generated_mean", "undefined")
    return {
        "corpus": found.corpus,
        "kind": kind,
        **{name: values[name] for name in first},
        **with_low_and_high(values, WITH_ENDS),
        **{name: values[name] for name in last},
        **{
            f"{name}{end}": None if generic is None else generic[over][name]
            for end, over in OVER.items()
            for name in ("shared_df", "all_df", "shared_words", "all_words")
        },
    }


def with_low_and_high(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The figures of some names, each with the ends of its interval; None where a row has none."""
    return {
        f"{name}{end}": value
        for name in names
        for end, value in zip(("", "_low", "_high"), (row.get(name), *row.get(f"{name}_ci", (None, None))), strict=True)
    }
