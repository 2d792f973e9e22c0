"""The sections of a page: what each says, its tables and its charts; where there is nothing, why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from karat.analyses.audit import Audit
from karat.analyses.compare.result import Comparison, Ranking
from karat.analyses.compare.tables import intervals_by, p_legend, p_name, with_seeds
from karat.analyses.confidence.result import Confidence
from karat.analyses.consistency import BY, Consistency
from karat.analyses.describe.result import Description
from karat.analyses.describe.tables import about_texts
from karat.analyses.homogeneity.result import Homogeneity
from karat.analyses.human.result import Human
from karat.analyses.overlap import Overlap
from karat.analyses.report.agreement import Agreement
from karat.analyses.report.result import Page, Part
from karat.errors import counted
from karat.output.charts import Chart, charts_of
from karat.output.page.figures import painted, styles_of
from karat.output.page.overview import first_chart, overview
from karat.output.page.tables import (
    MOST_PAIRS,
    Cell,
    Head,
    Table,
    best_table,
    count_cell,
    figure_cell,
    name_cell,
    pair_table,
    score_tables,
    share_cell,
    table,
)
from karat.output.page.words import PRMU, headline, listed, percent, said, sentence
from karat.results.displayed import Result
from karat.stats.rank_sums import SAMPLES
from karat.tabular import number, p_value


@dataclass(frozen=True, slots=True)
class Block:
    """What one section has on one corpus: sentences, tables, charts with the tables of their numbers."""

    said: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    behind: tuple[Table, ...] = ()  # shown when the reader opens them
    why: str | None = None  # where there is nothing


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its anchor, title, a sentence on what it is, and a block for each corpus."""

    anchor: str
    title: str
    lead: str
    blocks: tuple[tuple[str, Block], ...]  # by corpus


def sections(page: Page) -> list[Section]:
    """The sections of a page that have something to show, but for summary, mistakes, documents and method."""
    made = [replace(each, blocks=tuple(filter(_shown, map(_drawable, each.blocks)))) for each in _all(page)]
    return [section for section in made if section.blocks]


def left_out(page: Page) -> list[tuple[str, str]]:
    """(what a page does not have, why), each once."""
    found: dict[tuple[str, str], None] = {}
    for section in _all(page):
        for _, block in section.blocks:
            if block.why:
                found[section.title, block.why] = None
            for chart in block.charts if page.comparison is not None or section.anchor != "describe" else ():
                if chart.spec is None:
                    found[chart.title, sentence(chart.why or "")] = None
    return list(found)


def by_reason(missing: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """What a page does not have, all that have one reason together.

    >>> by_reason([("Scores", "No references."), ("Charts", "No runs."), ("Curves", "No references.")])
    [('Scores and Curves', 'No references.'), ('Charts', 'No runs.')]
    """
    found: dict[str, list[str]] = {}
    for what, why in missing:
        found.setdefault(why, []).append(what)
    return [(listed(titles, len(titles)), why) for why, titles in found.items()]


def _all(page: Page) -> Iterator[Section]:
    yield from (section for make in _SECTIONS if (section := make(page)) is not None)


def _drawable(named: tuple[str, Block]) -> tuple[str, Block]:
    corpus, block = named
    return corpus, replace(block, charts=tuple(chart for chart in block.charts if chart.spec is not None))


def _shown(named: tuple[str, Block]) -> bool:
    """Whether a block has anything but sentences."""
    block = named[1]
    return bool(block.tables or block.charts or block.behind)


def charts(page: Page) -> list[Chart]:
    """Every chart of a page, in its order and in its colours."""
    over = overview(page)
    first = [over.chart] if over is not None else []
    first += [chart for part in page.parts if (chart := first_chart(page, part)) is not None]
    rest = [chart for section in sections(page) for _, block in section.blocks for chart in block.charts]
    styles = styles_of(page)
    return [painted(chart, styles) for chart in [*first, *rest]]


def _by_part(anchor: str, title: str, lead: str, page: Page, block: Callable[[Part], Block]) -> Section:
    return Section(anchor, title, lead, tuple((part.corpus, block(part)) for part in page.parts))


def _of_verb(verb: str, lead: str, title: str, block: Callable[[Any], Block]) -> Callable[[Page], Section]:
    """A section on what one verb found."""

    def of(part: Part) -> Block:
        found = part.found.get(verb)
        return Block(why=part.missing.get(verb, "There is nothing to show.")) if found is None else block(found)

    return lambda page: _by_part(verb, title, lead, page, of)


# ---------------------------------------------------------------------------------------------- scores


def _scores(page: Page) -> Section:
    found = page.comparison

    def of(part: Part) -> Block:
        if found is None or part.results is None:
            return Block(why=part.missing.get("score"))
        own = _on(found, part.corpus)
        metric = headline(page, part)
        pairs, ahead = pair_table(own, part.corpus, metric), best_table(own, part.corpus, metric)
        protocol = part.results.scores[0].protocol
        same = [each for each in part.results.scores if each.request.without_fitted() == metric]
        first = [each for each in same if each.protocol == protocol]
        apart = charts_of(replace(part.results, scores=tuple(first)), "differences") if len(first) > 1 else []
        top = first_chart(page, part) if len(page.parts) > 1 else None  # of one corpus it is in the summary
        return Block(
            tuple(_legend(own)),
            (*score_tables(own, part.corpus, metric), *([] if ahead is None else [ahead])),
            (*([] if top is None else [top]), *charts_of(own, "scores"), *apart),
            () if pairs is None else (pairs,),
        )

    lead = "Every system on every metric, the best first; columns can be sorted."
    return _by_part("scores", "Scores", lead, page, of)


def _on(found: Comparison, corpus: str) -> Comparison:
    """What a comparison says of one corpus."""
    return replace(
        found,
        standings=tuple(each for each in found.standings if each.corpus == corpus),
        pairs=tuple(pair for pair in found.pairs if pair.corpus == corpus),
        rankings=(),
    )


def _legend(found: Comparison) -> Iterator[str]:
    options = found.options
    yield f"Intervals are of {percent(options.level)} ({intervals_by(found, ' of the documents')})."
    if any(each.letters for each in found.standings):
        bold = "Bold is the best value of a column. " if any(each.best for each in found.standings) else ""
        yield f"{bold}Systems without a letter in common differ: {p_name(found)} of at most {options.alpha:g}."
    yield from with_seeds(found)
    if found.pairs:
        yield f"{p_legend(found)}."


def _ranks(page: Page) -> Section | None:
    """The systems over several corpora."""
    found = page.comparison
    if found is None or len(page.parts) < 2:
        return None
    lead = "Mean ranks of the systems that all compared corpora have, 1 being best; Friedman's test, and Nemenyi's."
    if not found.rankings:
        why = "No two systems have runs on every corpus, so they cannot be ranked over all."
        return Section("ranks", "Ranks over all corpora", lead, (("", Block(why=why)),))
    rows = [
        [
            name_cell(f"{each.request.label} {each.request.subset}"),
            *(figure_cell(float(rank)) for rank in each.friedman.ranks),
            figure_cell(each.critical) if isfinite(each.critical) else name_cell("none"),
            Cell(p_value(each.friedman.used_p, each.friedman.at_floor), each.friedman.used_p),
        ]
        for each in found.rankings
    ]
    heads = ["metric", *found.rankings[0].systems, "critical difference", "p (Friedman)"]
    alike = {each.systems for each in found.rankings}
    tables = (table("Mean ranks", heads, rows),) if len(alike) == 1 else ()
    only = replace(found, standings=(), pairs=())
    block = Block(tuple(_ranked(found.rankings)), tables, tuple(charts_of(only, "ranks")))
    return Section("ranks", "Ranks over all corpora", lead, (("", block),))


_BY = {
    "exact": "Friedman's p and the critical difference go by every order of the ranks within the corpora",
    "sampled": f"Friedman's p and the critical difference go by {SAMPLES:,} orders of the ranks within the corpora",
    "asymptotic": "Friedman's p is that of Iman and Davenport's F, the critical difference that of Nemenyi",
}


def _ranked(rankings: Sequence[Ranking]) -> Iterator[str]:
    """Where the figures of the ranks are from."""
    for how in dict.fromkeys(each.friedman.how for each in rankings):
        yield f"{_BY[how]}."
    if any(not isfinite(each.critical) for each in rankings):
        yield "Where there is no critical difference, no two ranks over so few corpora can be told apart."


def _curves(page: Page) -> Section:
    def of(part: Part) -> Block:
        if part.curves is None:
            return Block(why=part.missing.get("curves") or part.missing.get("score") or _NO_CURVES)
        rows: dict[tuple[str, str], list[Cell]] = {}
        depths = dict.fromkeys(each.request.label.partition("@")[2] for each in part.curves.scores)
        for each in part.curves.scores:
            rows.setdefault((each.system, each.request.metric), []).append(figure_cell(each.value))
        names = {"p": "precision", "r": "recall"}
        lines = [[name_cell(system), name_cell(names[metric]), *cells] for (system, metric), cells in rows.items()]
        heads = ["system", Head("measure", numeric=False), *(f"@{depth}" for depth in depths)]
        behind = table(f"Precision and recall on {part.corpus}", heads, lines)
        return Block((), (), tuple(charts_of(part.curves, "pr")), (behind,))

    lead = "How precision falls and recall rises with the number of phrases that are looked at."
    return _by_part("curves", "Precision and recall", lead, page, of)


_NO_CURVES = "The results hold no precision and recall at 1 to 10; give the corpus and the runs to see them."


# ---------------------------------------------------------------------------------------------- other verbs


def _audit(found: Audit) -> Block:
    spreads = [
        f"{said(each.system)}: from {number(each.low)} ({each.lowest}) to {number(each.high)} ({each.highest})."
        for each in found.spreads()
        if each.low == each.low
    ]
    orders = found.rankings()
    if len(found.systems) > 1 and orders:
        spreads.append(
            "All protocols rank the systems alike."
            if len(orders) == 1
            else f"The protocols rank the systems in {len(orders)} ways."
        )
    rows = [
        [name_cell(protocol), *(figure_cell(value) for value in values)] for protocol, values in found.values.items()
    ]
    behind = table(f"{found.metric} under each protocol", ["protocol", *found.systems], rows)
    shown = spreads if len(spreads) <= 6 else [*spreads[:4], f"The table has {len(spreads) - 5:,} more.", spreads[-1]]
    return Block((f"The same predictions, {found.metric}:", *shown), (), tuple(charts_of(found)), (behind,))


def _description(found: Description) -> Block:
    rows = [
        [
            name_cell(row["system"] or found.sides[number].name),
            figure_cell(row["phrases"], digits=2),
            figure_cell(row["words"], digits=2),
            *(share_cell(row[name]) for name in PRMU),
        ]
        for number, row in enumerate(found.rows())
    ]
    heads = ["whose", "phrases of a document", "words of a phrase", *PRMU.values()]
    shown = table(f"Phrases of {found.corpus}: how many, and how much of them is in the text", heads, rows)
    parts = [
        [
            name_cell(row["system"] or found.sides[number].name),
            name_cell("first met in the part"),
            *(count_cell(value) for value in row["positions"]),
        ]
        for number, row in enumerate(found.rows())
        if row["positions"] is not None
    ]
    parts += [
        [
            name_cell(row["system"]),
            name_cell("references missed there"),
            *(share_cell(each) for each in row["miss_rate"]),
        ]
        for row in found.rows()
        if row["miss_rate"] is not None
    ]
    fifths = ["whose", Head("what", numeric=False), "first fifth", "second", "third", "fourth", "last fifth"]
    behind = (table("By part of the text", fifths, parts),) if parts else ()
    return Block(tuple(about_texts(found)), (shown,), tuple(charts_of(found)), behind)


def _descriptions(page: Page) -> Section:
    beside = ", beside the references" if page.comparison is not None else ""
    lead = f"What is predicted{beside}: in the text or not (PRMU), and where in it."
    return _of_verb("describe", lead, "What is predicted", _description)(page)


def _confidence(found: Confidence) -> Block:
    rows = [
        [
            name_cell(row["system"]),
            name_cell(row["subset"]),
            figure_cell(row["mean_confidence"]),
            figure_cell(row["accuracy"]),
            figure_cell(row["ece"]),
            figure_cell(row["ece_debiased"], row["ece_debiased_ci"]),
            figure_cell(row["brier"], row["brier_ci"]),
            count_cell(row["predictions"]),
        ]
        for row in found.rows()
        if row["predictions"]
    ]
    heads = [
        "system",
        Head("subset", numeric=False),
        "mean confidence",
        "right",
        "ECE",
        "debiased ECE",
        "Brier",
        "predictions",
    ]
    text = (
        "A calibrated system is right as often as its confidence says. ECE, the expected calibration error, is the "
        "mean distance of confidence and accuracy; few predictions inflate it, and the debiased ECE corrects for that."
    )
    shown = table(f"Confidence on {found.corpus}", heads, rows)
    return Block((text,), (shown,), tuple(charts_of(found)), tuple(_behind_confidence(found)))


def _behind_confidence(found: Confidence) -> Iterator[Table]:
    """The numbers of the charts: of bins, of tenths of confidence, of tokens, of the surest predictions."""
    there = [(each, [name_cell(each.system), name_cell(each.subset)]) for each in found.found if each.predictions]
    whose = ["system", Head("subset", numeric=False)]
    bins = [
        [
            *name,
            name_cell(f"{number(b.low)} to {number(b.high)}"),
            count_cell(b.n),
            figure_cell(b.confidence),
            figure_cell(b.accuracy),
        ]
        for each, name in there
        for b in each.figures.bins
    ]
    yield table("Reliability", [*whose, Head("bin", numeric=False), "predictions", "mean confidence", "right"], bins)
    tenths = [[*name, *map(count_cell, each.histogram)] for each, name in there]
    yield table("Predictions by tenths of confidence", [*whose, *(f"{n}0 %" for n in range(1, 11))], tenths)
    tokens = [
        [*name, count_cell(p.position), *map(figure_cell, (p.q1, p.median, p.q3, p.mean)), count_cell(p.n)]
        for each, name in there
        for p in each.positions
    ]
    if tokens:
        heads = [*whose, "token", "lower quartile", "median", "upper quartile", "mean", "tokens"]
        yield table("Probability of a token by its place in the phrase", heads, tokens)
    kept = [
        [*name, share_cell(point.coverage), figure_cell(point.risk)] for each, name in there for point in each.curve
    ]
    yield table("What is wrong among the surest predictions", [*whose, "kept", "wrong"], kept)


def _overlap(found: Overlap) -> Block:
    rows = [
        [
            name_cell(f"{row['a']}, {row['b']}"),
            name_cell(row["subset"]),
            figure_cell(row["common_correct"]),
            figure_cell(row["common_wrong"]),
        ]
        for row in found.rows()
    ]
    heads = ["systems", Head("subset", numeric=False), "both right, %", "both wrong, %"]
    together = [
        [name_cell(row["how"]), name_cell(f"{row['metric']} {row['subset']}"), figure_cell(row["value"])]
        for row in found.complementarity()
    ]
    tenths = [
        [name_cell(f"{row['a']}, {row['b']}"), name_cell(f"{row['subset']}, both {which}"), *map(count_cell, counts)]
        for row in found.rows()
        for which, counts in (("right", row["histogram"]["correct"]), ("wrong", row["histogram"]["wrong"]))
    ]
    parts = ["systems", Head("of", numeric=False), *(f"to {n}0 %" for n in range(1, 11))]
    tables = [table("What two systems have in common, in percent of what either predicts", heads, rows)]
    if together:
        tables.append(table("All systems together", ["how", Head("metric", numeric=False), "value"], together))
    if len(tenths) <= MOST_PAIRS:
        tables.append(table("Documents by what both have in common", parts, tenths))
    return Block((), (), tuple(charts_of(found)), tuple(tables))


def _agreement(found: Agreement) -> Block:
    rows = [
        [
            name_cell(f"{row['a']}, {row['b']}"),
            figure_cell(row["both"], digits=2),
            figure_cell(row["hooper"]),
            count_cell(row["documents"]),
        ]
        for row in found.rows()
    ]
    heads = ["systems", "phrases of a document that both give", "Hooper", "documents"]
    text = (
        "Hooper is the share of the phrases that either system gives for a document that both give, in the mean of the "
        "documents for which one of them gives any. Phrases are equal when their stems are, under the protocol "
        f"{found.protocol}."
    )
    shown = table("Every two systems", heads, rows)
    by_system = [
        [name_cell(own.system), *(figure_cell(n, digits=2) for n in (own.given, own.by_all, own.by_some, own.alone))]
        for own in found.by_system()
    ]
    whole = ["system", "phrases of a document", "by all systems", "by some others", "by it alone"]
    behind = table("Who else gives the phrases of each system", whole, by_system)
    if len(rows) > MOST_PAIRS:
        return Block((text,), (), (), (shown, behind))
    return Block((text,), (shown,), (), (behind,))


def _agreements(page: Page) -> Section | None:
    """How far systems agree; where all documents have references, the page has what they share of these instead."""
    parts = [part for part in page.parts if "agreement" in {**part.found, **part.missing}]
    lead = "How far systems give the same phrases, whoever is right."
    whole = _of_verb("agreement", lead, "How far systems agree", _agreement)
    return whole(replace(page, parts=tuple(parts))) if parts else None


def _homogeneity(found: Homogeneity) -> Block:
    text = (
        f"{counted(found.pairs, 'pair')} of alike documents, {found.components.text(found.pairs)}; ROUGE-1 of their "
        f"texts is {number(found.rouge.value)}. Hooper is the share of phrases that both documents of a pair are "
        "given, Rodgers the same of words. Unrelated pairs, two of these documents that are no pair and have no "
        "reference in common, show the agreement that is due to chance."
    )
    rows = [_homogeneous(row, row["system"]) for row in found.rows()]
    known = [row for row in found.as_dict()["ceilings"] if row["hooper"] is not None]
    ceilings = [_homogeneous(row, f"ceiling: {row['ceiling']}") for row in known]
    heads = ["system", "Hooper", "Rodgers", "generated (micro)", "generated (mean)", "pairs"]
    heads += ["phrases per document", "Hooper, unrelated pairs"]
    shown = table(f"Homogeneity on {found.corpus}", heads, [*rows, *ceilings])
    return Block((text,), (shown,), tuple(charts_of(found)))


def _homogeneous(row: dict[str, Any], name: str) -> list[Cell]:
    measures = [figure_cell(row[measure], row[f"{measure}_ci"]) for measure in ("hooper", "rodgers")]
    generated = [share_cell(row.get(f"generated_{average}")) for average in ("micro", "mean")]
    lists = [figure_cell(row["phrases_per_document"], digits=2), figure_cell(row.get("unrelated_hooper"))]
    return [name_cell(name), *measures, *generated, count_cell(row["pairs"]), *lists]


def _consistency(found: Consistency) -> Block:
    rows = [
        [
            name_cell(row["system"]),
            name_cell(BY[row["by"]]),
            count_cell(row["names"]),
            count_cell(row["concepts"]),
            share_cell(row["other_names_share"]),
            figure_cell(row["entropy"]),
        ]
        for row in found.rows()
    ]
    same = Head("one concept when", numeric=False)
    heads = ["system", same, "names", "concepts", "by another name", "entropy, bits"]
    worst = [
        [
            name_cell(row["system"]),
            name_cell(row["concept"]),
            name_cell(listed([f"{each['name']} ({each['phrases']:,})" for each in row["names"][1:]])),
            count_cell(row["other_names"]),
        ]
        for row in found.worst()
    ]
    other = ["system", Head("most frequent name", numeric=False), Head("other names", numeric=False), "documents"]
    behind = (table("Concepts called most often by another name", other, worst),) if worst else ()
    return Block((), (table("Names and concepts", heads, rows),), _charts(found), behind)


def _human(found: Human) -> Block:
    text = f"{counted(found.items, 'item')}, {counted(len(found.names), 'annotator')}. "
    if found.best:
        text += f"Best by {found.coefficient}: {listed(found.best)}."
    names = ("pearson", "spearman", "kendall")
    rows = [
        [
            name_cell(row["metric"]),
            name_cell(row["subset"]),
            *(figure_cell(row[name], row["ci"][name]) for name in names),
            count_cell(row["n"]),
        ]
        for row in found.rows()
    ]
    heads = ["metric", Head("subset", numeric=False), *map(str.capitalize, names), "n"]
    return Block((text,), (table("Correlation with the scores of people", heads, rows),), _charts(found))


def _charts(found: Result) -> tuple[Chart, ...]:
    return tuple(charts_of(found))


_SECTIONS: Sequence[Callable[[Page], Section | None]] = (
    _scores,
    _ranks,
    _of_verb(
        "audit",
        "Every published convention gives the same predictions another score.",
        "Under every protocol",
        _audit,
    ),
    _curves,
    _agreements,
    _descriptions,
    _of_verb("confidence", "Whether systems know when they are right.", "Confidence", _confidence),
    _of_verb("overlap", "What systems predict alike, right and wrong.", "What systems share", _overlap),
    _of_verb(
        "homogeneity", "Whether documents about the same get the same keyphrases.", "Alike documents", _homogeneity
    ),
    _of_verb(
        "consistency",
        "How often one concept is called by several names.",
        "Consistency of names",
        _consistency,
    ),
    _of_verb("human", "How metrics go with the scores that people gave.", "Metrics against people", _human),
)
