"""The tables of homogeneity: systems and ceilings, what they go with, systems compared, how generic phrases are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from karat.analyses.homogeneity.compare import APART, Power
from karat.analyses.homogeneity.genericness import Genericness
from karat.analyses.homogeneity.regression import MODELS, Regression
from karat.analyses.homogeneity.result import Comparison, Figure, Homogeneity, Row
from karat.analyses.homogeneity.subsets import Class, OfMethod
from karat.errors import counted
from karat.matching.columns import PRMU
from karat.stats.difference import APPROXIMATE, cells, difference_cell, family_legend, test_names
from karat.tabular import (
    COUNT,
    FIXED2,
    NUMBER,
    P_APPROXIMATE,
    P_VALUE,
    PERCENT,
    SIGNED,
    Cell,
    Column,
    Group,
    Kind,
    Table,
    fixed,
    number,
    rows_of,
    with_ends,
)
from karat.tabular import Row as Line

CEILINGS = {"references": "(references)", "extractors": "(extractors)"}
MARKED = "(references): the references as predictions; (extractors): those of them that their document holds."
GENERATED = "gen.: share of all predictions that are not in their document (micro); gen./d: its mean over documents."
UNDEFINED = "undef: pairs without a prediction for either document, left out."
CLASSES = (
    "present, absent (R reordered, M mixed, U unseen): the class of a prediction in its own document. again: the share "
    "of these that the system predicts for the other document too; hooper: of the phrases of that class alone."
)
POWERED = (
    "least: the smallest difference that these pairs detect with power .8 at .05, two-sided; .01 to .10: the pairs "
    "that such a difference takes. sd: of the difference over pairs; effect: the variance over that of pairs that "
    "share no document."
)
DYADIC = "t with dyadic standard errors: pairs that share a document are dependent"
FAMILY = "all pairs of systems on one measure"
KINDS_ARE = "(generators) − (extractors): means over the systems of each kind, pair by pair; p is not adjusted."
MATCHED = "each pair of lists cut to the shorter one"
UNRELATED = (
    "phrases/d: mean number of phrases of a document of the pairs. unrelated: hooper on two of these documents that "
    "are no pair and have no reference in common (the chance level); n: such pairs."
)
LIST_COLUMNS = [Column("phrases/d", FIXED2), Column("unrelated"), Column("n", COUNT)]
OF_PHRASES = ("df shared", "df all", "words shared", "words all")


def tables_of(found: Homogeneity) -> Iterator[Table]:
    """What the tables are of; those of each protocol; what their figures are."""
    head = ", ".join([heading(found), *_conditions(found)])
    legend: dict[str, None] = {}
    yield Table(head)
    for protocol in found.signatures:
        for title, corner, columns, groups, about in _of_protocol(found, protocol):
            title = f"{title}, protocol {protocol}"
            legend |= dict.fromkeys(about)
            yield Table(title, corner, columns, groups, caption=" ".join([f"{title}: {head}.", *about]))
    yield Table(notes=list(legend))


def heading(found: Homogeneity) -> str:
    """Return the corpus, the pairs, their documents and their connected components."""
    where = f"{found.corpus}, {counted(found.pairs, 'pair')} over {counted(found.documents, 'document')}"
    return f"{where}, {found.components.text(found.pairs)}"


def _conditions(found: Homogeneity) -> Iterator[str]:
    """State how lists are compared."""
    options = found.options
    yield "over the larger set" if options.measure == "max" else "over the union"
    if options.cutoff != "M":
        yield f"the first {counted(int(options.cutoff), 'prediction')}"
    if options.match_length:
        yield MATCHED
    if options.similarity is not None:
        yield f"soft score {options.similarity} from {options.threshold:g}"


_Parts = tuple[str, str, list[Column], tuple[Group, ...], list[str]]  # title, corner, columns, groups, what they are


def _of_protocol(found: Homogeneity, protocol: str) -> Iterator[_Parts]:
    """Systems and ceilings, correlations, systems compared, genericness over types and occurrences."""
    own = [row for row in found.systems if row.protocol == protocol]
    brackets = intervals(found)
    ceilings = [row for row in found.ceilings if row.protocol == protocol]
    yield _agreement(found, own, ceilings, brackets)
    if own:
        lists = Group(list(map(list_row, own))), Group(list(map(list_row, ceilings)))
        yield "Lists of phrases, and agreement on unrelated pairs", "system", LIST_COLUMNS, lists, [UNRELATED]
    if own and not isnan(found.rouge.value):
        columns = [Column("pearson"), Column("p of r", P_VALUE), Column("spearman"), Column("p of rho", P_VALUE)]
        for end, name, about in (("", "ROUGE-1", _rouge(found.rouge)), ("_wer", "WER", _wer(found.wer))):
            rows = rows_of((row.system, _correlations(row, end)) for row in own)
            yield f"Hooper with {name} of the texts", "system", columns, rows, [about, brackets]
    yield from _parts(found, protocol, brackets)
    if compared := [each for each in found.differences if each.protocol == protocol]:
        how = [tested(compared), *adjustment(compared), brackets]
        yield _comparison_table("Systems compared", compared, how)
    if kinds := [each for each in found.kinds if each.protocol == protocol]:
        how = [KINDS_ARE, tested(kinds), brackets]
        yield _comparison_table("Generators with extractors", kinds, how, adjusted=False)
    if powers := [each for each in found.powers if each.protocol == protocol and not isnan(each.detectable)]:
        yield power_table(powers)
    yield from generic_tables([each for each in found.genericness if each.protocol == protocol])


def generic_tables(generic: list[Genericness]) -> Iterator[_Parts]:
    """Over types, and over occurrences, how generic shared phrases are."""
    columns = [Column("shared", COUNT), Column("all", COUNT), *(Column(name, FIXED2) for name in OF_PHRASES)]
    for over in ("types", "occurrences"):
        title = f"Documents (df) and words of a phrase that a pair shares, and of all phrases, over {over}"
        rows = rows_of((each.system or CEILINGS["references"], _generic(each, over)) for each in generic)
        yield title, over, columns, rows, []


def _parts(found: Homogeneity, protocol: str, brackets: str) -> Iterator[_Parts]:
    """Agreement by class and by method, and what it goes with."""
    if classes := [each for each in found.classes if each.protocol == protocol]:
        columns = [Column("count", COUNT), Column("%", PERCENT), Column("again"), Column("hooper")]
        yield "By the class of a prediction in its document", "system", columns, _by_class(classes), [CLASSES, brackets]
    if methods := [each for each in found.methods if each.protocol == protocol]:
        yield methods_table(methods, brackets)
    own = [each for each in found.regressions if each.protocol == protocol]
    yield from (_regression(each, brackets) for each in own if each.fit is not None)
    for reason in dict.fromkeys(each.reason for each in own if each.fit is None):
        yield f"Hooper by regression: none, {reason}", "", [], (), []


def _by_class(classes: list[Class]) -> tuple[Group, ...]:
    groups: dict[str, list[Line]] = {}
    for each in classes:
        if not each.predictions and each.subset in PRMU:
            continue
        cells = [each.predictions, Cell(each.share), with_interval(each.again), with_interval(each.hooper)]
        groups.setdefault(each.system, []).append(Line(each.subset, cells))
    return tuple(Group(rows, system) for system, rows in groups.items())


def methods_table(methods: list[OfMethod], brackets: str) -> _Parts:
    """Systems and ceilings on the pairs of each method."""
    groups: dict[str, list[Line]] = {}
    texts: dict[str, OfMethod] = {}
    for each in methods:
        cells = [each.pairs, with_interval(each.hooper), with_interval(each.rodgers)]
        groups.setdefault(each.method, []).append(Line(CEILINGS.get(each.system, each.system), cells))
        texts.setdefault(each.method, each)
    about = [
        f"{method}: ROUGE-1 {number(each.rouge.value)}{with_ends(each.rouge.interval)}, WER {number(each.wer.value)}"
        f"{with_ends(each.wer.interval)} on average."
        for method, each in texts.items()
    ]
    columns = [Column("pairs", COUNT), Column("hooper"), Column("rodgers")]
    rows = tuple(Group(lines, method) for method, lines in groups.items())
    return "By the method of reformulation", "system", columns, rows, [*about, brackets]


def _regression(each: Regression, brackets: str) -> _Parts:
    fit = each.fit
    assert fit is not None
    rows = [
        (one.name, [Cell(one.value, with_ends(one.interval)), one.error, one.df, one.p]) for one in fit.coefficients
    ]
    columns = [Column("coefficient", SIGNED), Column("s.e."), Column("df", Kind(fixed(1))), Column("p", P_VALUE)]
    about = (
        f"Regression ({each.model}): least squares of hooper on systems and pairs ({fit.rows:,} values), "
        f"{MODELS[each.model]}; R² {number(fit.r2, 3)}{' within systems' if each.model == 'within' else ''}."
    )
    how = (
        f"Standard errors allow for rows that share one of {fit.documents:,} documents; df: degrees of freedom of t. "
        "Coefficients are the rise of hooper when ROUGE-1, WER or the share generated rises by 1."
    )
    return f"Hooper by regression, {each.model}", "column", columns, rows_of(rows), [about, how, brackets]


def _comparison_table(title: str, compared: list[Comparison], about: list[str], adjusted: bool = True) -> _Parts:
    """Return a table of comparisons; with both means where systems are defined on different pairs."""
    means = any(each.different for each in compared)
    columns = [
        *([Column("a"), Column("b")] if means else []),
        Column("difference", SIGNED),
        Column("p", P_APPROXIMATE),
        *([Column("adjusted", P_APPROXIMATE)] if adjusted else []),
        Column("detectable", NUMBER),
        Column("pairs", COUNT),
    ]
    rows = rows_of((each.name, _cells(each, means, adjusted)) for each in compared)
    return title, "a − b", columns, rows, about


def _cells(each: Comparison, means: bool, adjusted: bool) -> list[Any]:
    difference = each.difference
    _, p, after, _, detectable = cells(difference)
    return [
        *([Cell(difference.value_a), Cell(difference.value_b)] if means else []),
        difference_cell(difference),
        p,
        *([after] if adjusted else []),
        detectable,
        each.pairs,
    ]


def power_table(powers: list[Power]) -> _Parts:
    """How many pairs tell which difference."""
    columns = [Column("pairs", COUNT), Column("sd"), Column("effect", FIXED2), Column("least")]
    columns += [Column(number(apart, 2), COUNT) for apart in APART]
    rows = rows_of(
        (f"{each.a} − {each.b}", [each.pairs, each.sd, each.effect, each.detectable, *each.needed]) for each in powers
    )
    return "Pairs needed to tell systems apart by hooper", "a − b", columns, rows, [POWERED]


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


def list_row(row: Row) -> Line:
    """The length of the lists of a system, and its agreement on unrelated pairs, which a ceiling has not."""
    name, chance = CEILINGS.get(row.system, row.system), row.chance
    return Line(name, [row.phrases, *([chance.hooper, chance.pairs] if chance.pairs else [None, None])])


def with_interval(figure: Figure | None) -> Cell | None:
    """A number with its interval."""
    return None if figure is None else Cell(figure.value, with_ends(figure.interval))


def _correlations(row: Row, end: str = "") -> list[Any]:
    figures = [row.figures[f"{name}{end}"] for name in ("pearson", "spearman")]
    return [cell for each in figures for cell in (with_interval(each), each.p)]


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
    return f"ROUGE-1: recall of the words of a in b, on average {mean}; p: by t of Fisher's z."


def _wer(wer: Figure) -> str:
    """What agreement is also correlated with."""
    mean = number(wer.value) + with_ends(wer.interval)
    return f"WER: words to change from a to b over those of a, on average {mean}."


def intervals(found: Homogeneity) -> str:
    """Say which intervals stand in brackets."""
    options = found.options
    how = "clustered by source document" if options.reformulations is not None else DYADIC
    return f"In brackets {100 * options.level:.4g} % intervals ({how})."


def tested(compared: Sequence[Comparison]) -> str:
    """Name the test of p."""
    used = [each.difference.test for each in compared]
    sentence = f"p: two-sided, {test_names(used[0], used)}, on the pairs on which both systems are defined."
    return f"{sentence} {APPROXIMATE}" if any(each.difference.approximate for each in compared) else sentence


def adjustment(compared: Sequence[Comparison]) -> Iterator[str]:
    """State how p is adjusted, where there is any p."""
    differences = [each.difference for each in compared if not isnan(each.difference.p)]
    if differences:
        yield f"p is {family_legend(differences, FAMILY)}."
    if any(each.adjusted_approximate and not each.approximate for each in differences):
        yield APPROXIMATE
