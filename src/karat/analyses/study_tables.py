"""The tables of a study of homogeneity: the three of the paper, then what Hooper goes with, tests and genericness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from karat.analyses.homogeneity.result import EXTRACTS, Comparison, Figure, Homogeneity, Row, kind_of
from karat.analyses.homogeneity.tables import (
    CEILINGS,
    KINDS_ARE,
    LIST_COLUMNS,
    MARKED,
    MATCHED,
    UNRELATED,
    adjustment,
    generic_tables,
    heading,
    intervals,
    list_row,
    methods_table,
    tested,
)
from karat.analyses.study import Study
from karat.errors import counted
from karat.matching.columns import PRMU
from karat.stats.difference import cells, difference_cell
from karat.tabular import (
    COUNT,
    P_APPROXIMATE,
    PERCENT,
    SIGNED,
    Cell,
    Column,
    Group,
    Kind,
    Table,
    number,
    percent,
    with_ends,
)
from karat.tabular import Row as Line

ALPHA = 0.05
PRMU_ARE = "P, R, M, U: references that are present, reordered, mixed, unseen; means over documents."
MEASURED = (
    "hooper: phrases that both documents have over those that either has; rodgers: the same of words; "
    f"gen.: share of all predictions that are not in their document (micro; below {EXTRACTS:g}: an extractor); gen./d: "
    "its mean over documents."
)
CORRELATED = f"ROUGE: Pearson's r of hooper with ROUGE-1 of the two texts; * p < {ALPHA:g}."
MEASURES = ("hooper", "rodgers")
NAMES = {"generates": "generators", "extracts": "extractors", None: ""}
CORRELATION = Kind(lambda value: number(value, 2))
Parts = tuple[str, str, Sequence[Column], Sequence[Group], Sequence[str]]  # title, corner, columns, groups, about


def tables_of(found: Study) -> Iterator[Table]:
    """The tables that there are, then what their figures are."""
    legend: dict[str, None] = {}
    protocol = f"Protocol {', '.join(found.signatures)}."
    for title, corner, columns, groups, about in _tables(found):
        legend |= dict.fromkeys(about)
        plain = title.partition(". ")[2] if title[:1].isdigit() else title
        caption = " ".join([f"{plain}.", *about, protocol])
        yield Table(title, corner, columns, groups, caption=caption)
    yield Table(notes=[*legend, protocol])


def _tables(found: Study) -> Iterator[Parts]:
    yield _version_table(found)
    sharing = [each.measured for each in found.shared if each.measured is not None]
    if found.reformulated is not None:
        pairs, documents = found.reformulated.pairs, _sources(found)
        on = f"{counted(documents, 'document')} and their reformulations"
        title = f"2. Homogeneity on {on}" + ("" if pairs == documents else f" ({counted(pairs, 'pair')})")
        yield _agreement_table([found.reformulated], title, correlated=True)
    if sharing:
        measure = "Jaccard" if found.mined.options.measure == "jaccard" else "share of the larger set"
        total = sum(each.pairs for each in sharing)
        on = f"{counted(total, 'pair')} of documents that share references ({measure} ≥ {found.mined.options.min:g})"
        yield _agreement_table(sharing, f"3. Homogeneity on {on}", correlated=False)
    yield from _list_tables(found)
    if found.reformulated is not None:
        yield _correlations([found.reformulated], "documents and their reformulations")
        if len({each.method for each in found.reformulated.methods}) > 1:
            yield methods_table(list(found.reformulated.methods), intervals(found.reformulated))
    if sharing:
        yield _correlations(sharing, "documents that share references")
    for number_, each in found.measured():
        yield _tests(each, number_)
    for each in sharing:
        for title, corner, columns, groups, about in generic_tables(list(each.genericness)):
            yield f"{title} ({each.corpus})", corner, columns, groups, about


def _sources(found: Study) -> int:
    """The documents of which a reformulation is kept."""
    return len({each.source for each in found.filtered.judged if each.kept}) if found.filtered is not None else 0


def _version_table(found: Study) -> Parts:
    """The documents, and the classes of their references, by corpus where there are several."""
    names = list(dict.fromkeys(each.corpus for each in found.versions))
    groups = [
        Group(
            [
                Line(each.name, [each.documents, *map(Cell, each.prmu.values())])
                for each in found.versions
                if each.corpus == name
            ],
            name if len(names) > 1 else "",
        )
        for name in names
    ]
    columns = [Column("documents", COUNT), *(Column(f"% {name}", PERCENT) for name in PRMU)]
    title = f"1. The documents of {' and '.join(names)}, and the classes of their references"
    return title, "version", columns, groups, [PRMU_ARE, *_kept(found)]


def _kept(found: Study) -> Iterator[str]:
    """How many reformulations are kept, and how far they are from their documents."""
    for row in [] if found.filtered is None else found.filtered.summary()[-1:]:
        yield (
            f"Of {row['reformulations']:,} reformulations {row['kept']:,} are kept: word error rate "
            f"{percent(row['wer'])} %, ROUGE-1 {percent(row['rouge1'])} %."
        )


# ---------------------------------------------------------------------------------------------- agreement


def _agreement_table(measured: Sequence[Homogeneity], title: str, correlated: bool) -> Parts:
    """Of each corpus the generators, the extractors, then the ceilings."""
    columns = [*map(Column, (*MEASURES, "gen.", "gen./d")), *([Column("ROUGE", CORRELATION)] if correlated else [])]
    about = [MEASURED, *([CORRELATED] if correlated else []), MARKED, intervals(measured[0])]
    about += [f"Of {MATCHED}."] if measured[0].options.match_length else []
    groups = []
    for found in measured:
        before = f"{found.corpus}, " if len(measured) > 1 else ""
        for kind, name in NAMES.items():
            own = [row for row in found.systems if kind_of(row.generated) == kind]
            if own:
                groups.append(Group([Line(row.system, _figures(row, correlated)) for row in own], before + name))
        ceilings = [Line(CEILINGS[row.system], _figures(row, correlated, ceiling=True)) for row in found.ceilings]
        groups.append(Group(ceilings, f"{before}ceilings" if before else ""))
    return title, "system", columns, groups, about


def _list_tables(found: Study) -> Iterator[Parts]:
    """The lengths of lists, and the agreement on unrelated pairs, of tables 2 and 3."""
    groups, about = [], [UNRELATED]
    for table, each in found.measured():
        groups.append(Group(list(map(list_row, [*each.systems, *each.ceilings])), f"table {table}, {each.corpus}"))
        about.append(f"The pairs of table {table} are of {heading(each)}.")
    if groups:
        yield "Lists of phrases, and agreement on unrelated pairs", "system", LIST_COLUMNS, groups, about


def _figures(row: Row, correlated: bool, ceiling: bool = False) -> list[Any]:
    starred = [None if ceiling else _starred(row.figures.get("pearson"))] if correlated else []
    generated = [None, None] if ceiling else [row.generated, row.generated_mean]
    return [*(_with_interval(row.figures[measure]) for measure in MEASURES), *generated, *starred]


def _with_interval(figure: Figure) -> Cell:
    """A number with its interval, unless its ends are written alike."""
    low, high = (number(end, 3) for end in figure.interval)
    return Cell(figure.value, "" if low == high else with_ends(figure.interval))


def _starred(figure: Figure | None) -> Cell:
    if figure is None or figure.value != figure.value:
        return Cell(None)
    return Cell(figure.value, "*" if figure.p < ALPHA else " ")


# ---------------------------------------------------------------------------------------------- correlations and tests


def _correlations(measured: Sequence[Homogeneity], on: str) -> Parts:
    """Pearson and Spearman of Hooper with ROUGE-1 and with WER."""
    names = {"pearson": "ROUGE-1", "spearman": "ROUGE-1", "pearson_wer": "WER", "spearman_wer": "WER"}
    columns = [Column(name.removesuffix("_wer"), CORRELATION, above=above) for name, above in names.items()]
    groups = [
        Group(
            [Line(row.system, [_starred(row.figures.get(name)) for name in names]) for row in found.systems],
            found.corpus if len(measured) > 1 else "",
        )
        for found in measured
    ]
    means = [
        f"{found.corpus}, {counted(found.pairs, 'pair')}: ROUGE-1 {_mean(found.rouge)}, WER {_mean(found.wer)}."
        for found in measured
    ]
    return f"Hooper with how alike the texts are, on {on}", "system", columns, groups, means


def _mean(figure: Figure) -> str:
    return number(figure.value) + with_ends(figure.interval)


def _tests(found: Homogeneity, table: int) -> Parts:
    """Systems compared by Hooper, all generators with all extractors first."""
    columns = [Column("difference", SIGNED), Column("p", P_APPROXIMATE), Column("adjusted", P_APPROXIMATE)]
    kinds = [each for each in found.kinds if each.metric == "hooper"]
    every = [each for each in found.differences if each.metric == "hooper"]
    groups = [
        Group([Line(f"{each.a} − {each.b}", _difference(each, False)) for each in kinds]),
        Group([Line(f"{each.a} − {each.b}", _difference(each, True)) for each in every]),
    ]
    title = f"Systems compared by hooper, table {table} ({found.corpus})"
    about = [tested(every), *adjustment(every)] if every else []
    return title, "a − b", columns, [each for each in groups if each.rows], [*about, *([KINDS_ARE] if kinds else [])]


def _difference(each: Comparison, adjusted: bool) -> list[Any]:
    _, p, after, *_ = cells(each.difference)
    return [difference_cell(each.difference), p, after if adjusted else None]
