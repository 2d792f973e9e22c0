"""What stands first on a page: a chart of what becomes of the phrases, and several corpora side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from karat.analyses.compare.result import Comparison, Ranking, Standing
from karat.analyses.report.agreement import Agreement
from karat.analyses.report.result import Outcome, Page, Part
from karat.errors import counted
from karat.output.charts import charts_of
from karat.output.charts.base import Chart, Spec, coloured, layered, listed, names, panels, rows_of
from karat.output.charts.scores import dot_chart
from karat.output.page.tables import Cell, Head, Table, figure_cell, name_cell, standing_cell, table
from karat.output.page.words import about, headline, metric_of, ranked, said
from karat.output.page.words import listed as listed_words
from karat.results import documents_of
from karat.tabular import p_value

FEW = 5  # corpora that are named in a sentence
BAR = 22  # units of height
FATES = {"right": 1.0, "almost": 0.5, "wrong": 0.16}  # by how strong a system's colour is
AGREED = ("by all systems", "by some others", "by this system alone")


def first_chart(page: Page, part: Part) -> Chart | None:
    """The chart of the first screen: of scores if there are references, else of agreement, or what the phrases are."""
    if part.outcomes:
        return outcome_chart(part, best_first(page, part))
    agreement = part.found.get("agreement")
    if isinstance(agreement, Agreement):
        return agreement_chart(agreement)
    if part.found.get("describe") is not None and part.results is None:
        return next((chart for chart in charts_of(part.found["describe"], "prmu") if chart.spec is not None), None)
    return None


def best_first(page: Page, part: Part) -> list[str]:
    """The systems, the best first."""
    own = ranked(_standings(page, part))
    first = [each.system for each in own if each.system in part.systems]
    return [*first, *(system for system in part.systems if system not in first)]


def _standings(page: Page, part: Part) -> list[Standing]:
    """What the systems have in the metric of the first sentence, under the first protocol."""
    request, found = headline(page, part), page.comparison
    own = [] if found is None else [e for e in found.standings if e.corpus == part.corpus and e.request == request]
    return [each for each in own if each.protocol == own[0].protocol]


def outcome_chart(part: Part, order: Sequence[str]) -> Chart:
    """Of the phrases that each system gives for a document: how many are right, almost right and wrong."""
    outcomes = dict(zip(part.systems, part.outcomes, strict=True))
    shown = names(order)
    values = [value for system in order for value in _fates(shown[system], outcomes[system])]
    wanted = part.outcomes[0].mean(part.outcomes[0].references)
    title = "What becomes of the phrases that each system gives"
    subtitle = (
        "Right: a reference. Almost: it shares a word with a reference that is missed. "
        f"Dashed: the {about(wanted)} references of a document."
    )
    spec = panels("outcomes", title, subtitle, [_stacked(values, list(shown.values()), FATES, wanted)], 1)
    words = listed([f"{name}: {_in_words(outcomes[system])}" for system, name in shown.items()], 6)
    return Chart("outcomes", title, spec, None, f"{title}, on average for a document. {words}.")


def agreement_chart(found: Agreement) -> Chart:
    """Of the phrases that each system gives for a document: how many all systems give, others too, and it alone."""
    shown = names(found.systems)
    several = len(found.systems) > 2
    fates = dict(zip(AGREED if several else AGREED[::2], FATES.values() if several else (1.0, 0.16), strict=True))
    values: list[Spec] = []
    for own in found.by_system():
        sizes = (own.by_all, own.by_some, own.alone) if several else (own.by_all, own.alone)
        values += _segments(shown[own.system], dict(zip(fates, sizes, strict=True)))
    title = "Who else gives the phrases of each system"
    subtitle = "Phrases are equal when their stems are."
    spec = panels("agreement", title, subtitle, [_stacked(values, list(shown.values()), fates)], 1)
    words = listed(
        [f"{shown[own.system]}: {about(own.by_all)} by all, {about(own.alone)} alone" for own in found.by_system()], 6
    )
    return Chart("agreement", title, spec, None, f"{title}, on average for a document. {words}.")


def _stacked(values: list[Spec], rows: list[str], fates: dict[str, float], wanted: float | None = None) -> Spec:
    """A bar for each system, in pieces that are as strong as their fate says, and a line at what is wanted."""
    x = {
        "field": "from",
        "type": "quantitative",
        "scale": {"nice": False, "zero": True},
        "axis": {"title": "phrases for a document, on average", "tickCount": 6, "format": ",.3~r"},
    }
    strength = {
        "field": "fate",
        "type": "nominal",
        "scale": {"type": "ordinal", "domain": list(fates), "range": list(fates.values())},
        "legend": {"orient": "bottom", "title": None},
    }
    y = rows_of(rows, grid=False)
    bars = {
        "mark": {"type": "bar", "height": BAR - 6},
        "encoding": {"y": y, "x": x, "x2": {"field": "to"}, "color": coloured(rows, False), "fillOpacity": strength},
    }
    line = {
        "data": {"values": [{"x": wanted, "tip": f"references: {about(wanted or 0)} for a document"}]},
        "mark": {"type": "rule", "strokeDash": [5, 3], "strokeWidth": 1.5},
        "encoding": {"x": x | {"field": "x"}},
    }
    layers = [bars, *([] if wanted is None else [line]), *(_figures(y, x, dark) for dark in (True, False))]
    return layered(values, layers, (460, BAR * len(rows) + 8))


def _fates(name: str, own: Outcome) -> Iterator[Spec]:
    sizes = dict(zip(FATES, map(own.mean, (own.right, own.near, own.wrong)), strict=True))
    for value in _segments(name, sizes):
        yield value | ({"told": ""} if value["fate"] == "wrong" else {})


def _segments(name: str, sizes: dict[str, float]) -> Iterator[Spec]:
    start, whole = 0.0, sum(sizes.values())
    for n, (fate, size) in enumerate(sizes.items()):
        yield {
            "name": name,
            "fate": fate,
            "from": start,
            "to": start + size,
            "mid": start + size / 2,
            "told": about(size),
            "dark": n == 0,
            "tip": f"{name}: {about(size)} {fate} of {about(whole)} phrases for a document",
        }
        start += size


def _figures(y: Spec, x: Spec, dark: bool) -> Spec:
    """The numbers in the bars that have room: white in those that are dark."""
    return {
        "transform": [{"filter": {"and": [{"field": "dark", "equal": dark}, {"field": "to", "gt": 0}]}}],
        "mark": {"type": "text", "fontWeight": "bold"} | ({"color": "#ffffff"} if dark else {}),
        "encoding": {"y": y, "x": x | {"field": "mid"}, "text": {"field": "told"}},
    }


def _in_words(own: Outcome) -> str:
    right, near, given = (about(own.mean(count)) for count in (own.right, own.near, own.predictions))
    return f"{right} right and {near} almost of {given}"


# ---------------------------------------------------------------------------------------------- several corpora


@dataclass(frozen=True, slots=True)
class Overview:
    """Several corpora side by side: a sentence or two, a table of systems and corpora, and its chart."""

    said: tuple[str, ...]
    table: Table
    chart: Chart


def overview(page: Page) -> Overview | None:
    """The systems over all corpora that are scored, where these are several."""
    found = page.comparison
    scored = [part for part in page.parts if part.results is not None and ranked(_standings(page, part))]
    if found is None or len(scored) < 2:
        return None
    by_corpus = {part.corpus: _standings(page, part) for part in scored}
    ranking = _ranking(found, by_corpus)
    order = _by_rank(by_corpus, ranking)
    dots = [(part.corpus, by_corpus[part.corpus]) for part in scored]
    request = dots[0][1][0].request
    chart = dot_chart(dots, order, f"{metric_of(request)} on every corpus", found.options.level)
    return Overview(tuple(_over_all(by_corpus, ranking, found)), _across(page, scored, order, ranking), chart)


def _ranking(found: Comparison, by_corpus: dict[str, list[Standing]]) -> Ranking | None:
    first = next(iter(by_corpus.values()))[0]
    same = (first.protocol, first.request)
    return next((each for each in found.rankings if (each.protocol, each.request) == same), None)


def _by_rank(by_corpus: dict[str, list[Standing]], ranking: Ranking | None) -> list[str]:
    """The systems by their mean ranks; those without one behind them, as they come."""
    everyone = list(dict.fromkeys(each.system for own in by_corpus.values() for each in ranked(own)))
    if ranking is None:
        return everyone
    ranks = dict(zip(ranking.systems, ranking.friedman.ranks.tolist(), strict=True))
    return sorted(everyone, key=lambda system: ranks.get(system, float("inf")))


def _over_all(by_corpus: dict[str, list[Standing]], ranking: Ranking | None, found: Comparison) -> Iterator[str]:
    tops = {corpus: ranked(own)[0].system for corpus, own in by_corpus.items()}
    first: dict[str, int] = {}
    for system in tops.values():
        first[system] = first.get(system, 0) + 1
    order = sorted(first, key=lambda system: -first[system])
    metric = metric_of(next(iter(by_corpus.values()))[0].request)
    if len(order) == 1:
        yield f"{said(order[0])} comes out first on each of the {len(tops)} corpora, by {metric}."
    else:
        yield f"No system comes out first on every corpus: {listed_words(_firsts(tops, order))}, by {metric}."
    if ranking is not None:
        yield from _by_mean_rank(ranking, found)


def _firsts(tops: dict[str, str], order: Sequence[str]) -> list[str]:
    """Who is first where; of many corpora on how many."""
    if len(tops) > FEW:
        return [f"{said(system)} on {list(tops.values()).count(system)} of {len(tops)}" for system in order]
    by_system = {system: [said(corpus) for corpus, top in tops.items() if top == system] for system in order}
    return [f"{said(system)} on {listed_words(corpora)}" for system, corpora in by_system.items()]


def _by_mean_rank(ranking: Ranking, found: Comparison) -> Iterator[str]:
    """Who has the best mean rank, and whether that says anything."""
    friedman = ranking.friedman
    p = p_value(friedman.used_p, friedman.at_floor)
    sure = "more than chance explains" if friedman.used_p <= found.options.alpha else "no more than chance may explain"
    over = counted(friedman.corpora, "corpus").replace("corpuss", "corpora")
    equals = p if p.startswith(("<", "≤")) else f"= {p}"
    both = counted(len(ranking.systems), "system")
    best = min(range(len(ranking.systems)), key=lambda n: float(friedman.ranks[n]))
    yield (
        f"Over the {over} that have {both} in common, {said(ranking.systems[best])} has the best mean rank, "
        f"{friedman.ranks[best]:.2f}; these ranks differ {sure} (Friedman p {equals})."
    )


def _across(page: Page, parts: Sequence[Part], order: Sequence[str], ranking: Ranking | None) -> Table:
    """Systems down, corpora across, and mean ranks."""
    ranks = {} if ranking is None else dict(zip(ranking.systems, ranking.friedman.ranks.tolist(), strict=True))
    columns = []
    for part in parts:
        own = _standings(page, part)
        columns.append({each.system: standing_cell(each, len(own) > 1) for each in own})
    rows = [
        [
            name_cell(system),
            *(own.get(system, Cell("")) for own in columns),
            *([figure_cell(ranks.get(system), digits=2)] if ranks else []),
        ]
        for system in order
    ]
    heads = [Head(part.corpus, documents_of(part.scored, part.documents)) for part in parts]
    request = _standings(page, parts[0])[0].request
    last = [Head("mean rank", "1 is best")] if ranks else []
    return table(f"{metric_of(request)}; an empty cell: no run", ["system", *heads, *last], rows)
