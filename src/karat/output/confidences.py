"""Confidence as text: for each system how far it is from being right as often as it is sure, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isinf, nan
from typing import Any

from karat.analyses.confidence.result import Assessed, Confidence, Figures, Interval
from karat.output.grids import Row, grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Items, Part, code, noted
from karat.output.papers import Printed
from karat.table import number

CSV_FIELDS = (
    "corpus",
    "system",
    "protocol",
    "subset",
    "confidence",
    "documents",
    "undefined",
    "predictions",
    "left_out",
    "correct",
    "accuracy",
    "mean_confidence",
    "ece",
    "ece_low",
    "ece_high",
    "ece_by_chance",
    "mce",
    "brier",
    "brier_low",
    "brier_high",
    "reliability",
    "resolution",
    "uncertainty",
    "within_bins",
    "kpp_median",
    "aurc",
    "threshold",
    "kept_share",
    "calibrated_ece",
    "calibrated_ece_low",
    "calibrated_ece_high",
    "calibrated_mce",
    "calibrated_brier",
    "bins_n",
    "bins_confidence",
    "bins_accuracy",
)
TENTHS = 10
BAR = 28  # columns of a bar
ALWAYS_SHOWN = 10  # of so many bins the empty ones too
NAMES = {"temperature": "temperature scaling", "platt": "Platt scaling", "isotonic": "isotonic regression"}
SYMBOLS = {"temperature": "T"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table, and what it shows."""

    title: str
    corner: str
    columns: Sequence[str]
    rows: Sequence[Row]
    bars: bool = False  # whether the last cell of each row is a bar


# ---------------------------------------------------------------------------------------------- cells


def _cell(value: float | None) -> str:
    return number(nan if value is None else value)


def _between(ends: Interval) -> str:
    return "–" if ends[0] is None or ends[1] is None else f"{number(ends[0])}–{number(ends[1])}"


def _perplexity(value: float | None) -> str:
    return "–" if value is None else "∞" if isinf(value) else f"{value:.2f}" if value < 1e5 else f"{value:.1e}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _bar(confidence: float | None, accuracy: float | None) -> str:
    """A bar as long as the accuracy, and a mark where the mean confidence is."""
    if confidence is None or accuracy is None:
        return ""
    right, sure = round(accuracy * (BAR - 1)), round(confidence * (BAR - 1))
    return "".join("|" if i == sure else "█" if i < right else "·" for i in range(max(right, sure + 1)))


# ---------------------------------------------------------------------------------------------- tables


def overview(found: Confidence, protocol: str) -> Table:
    """A row for each system and subset."""
    columns = ("ECE", "interval", "chance", "MCE", "Brier", "sure", "right", "n")
    rows: list[Row] = []
    of_protocol = [each for each in found.found if each.protocol == protocol]
    for system, group in groupby(of_protocol, key=lambda each: each.system):
        rows.append((system, [""] * len(columns)))
        rows += [(f"  {each.subset}", _overview_cells(each)) for each in group]
    return Table("", "system", columns, rows)


def _overview_cells(each: Assessed) -> list[str]:
    f = each.figures
    figures = (f.mce, f.brier, f.mean_confidence, each.accuracy)
    return [_cell(f.ece), _between(f.ece_ci), _cell(f.ece_by_chance), *map(_cell, figures), f"{each.predictions:,}"]


def tables(subsets: Sequence[Assessed]) -> Iterator[Table]:
    """The tables of one system under one protocol, `subsets` being what is found in all its subsets."""
    whole = subsets[0]
    if not whole.predictions:
        return
    yield _reliability("How often it is right by how sure it is (█ right, | sure)", whole.figures, subsets)
    yield from _calibrations(subsets)
    names = [each.subset for each in subsets]
    yield Table("Median KPP, by place in the list", "place", names, list(_kpp(subsets)))
    if whole.positions:
        columns = ("mean", "q1", "median", "q3", "n")
        rows: list[Row] = [
            (str(p.position), [*map(number, (p.mean, p.q1, p.median, p.q3)), f"{p.n:,}"]) for p in whole.positions
        ]
        yield Table("Probability of a token, by its place in the phrase", "token", columns, rows)


def _reliability(title: str, figures: Figures, subsets: Sequence[Assessed]) -> Table:
    """The bins; with them the histograms of the other subsets, where the bins are tenths."""
    bins = figures.bins
    tenths = len(bins) == TENTHS and all(each.low == i / TENTHS for i, each in enumerate(bins))
    others = list(subsets[1:]) if tenths else []
    rows: list[Row] = []
    for i, each in enumerate(bins):
        if each.n or len(bins) <= ALWAYS_SHOWN:
            counts = [f"{each.n:,}", *(f"{other.histogram[i]:,}" for other in others)]
            cells = [*counts, _cell(each.confidence), _cell(each.accuracy), _bar(each.confidence, each.accuracy)]
            rows.append((f"{_short(each.low)}–{_short(each.high)}", cells))
    return Table(title, "confidence", ("n", *(o.subset for o in others), "sure", "right", ""), rows, bars=True)


def _short(end: float) -> str:
    """An end of a bin, with as many decimals as it needs, four at most."""
    text = f"{end:.4f}".rstrip("0").rstrip(".")
    return text.removeprefix("0") or "0"


def _calibrations(subsets: Sequence[Assessed]) -> Iterator[Table]:
    calibrated = subsets[0].calibrated
    if calibrated is None:
        return
    numbers = ", ".join(f"{SYMBOLS.get(name, name)} = {value:.4g}" for name, value in calibrated.numbers.items())
    fit = f" ({numbers})" if numbers else ""
    title = f"After {NAMES[calibrated.method]}{fit}, fitted on {calibrated.run} and {calibrated.corpus}"
    columns = ("ECE before", "after", "interval", "MCE", "Brier before", "after")
    rows: list[Row] = []
    for each in subsets:
        assert each.calibrated is not None
        before, after = each.figures, each.calibrated.figures
        cells = [_cell(before.ece), _cell(after.ece), _between(after.ece_ci)]
        rows.append((each.subset, [*cells, *map(_cell, (after.mce, before.brier, after.brier))]))
    yield Table(title, "subset", columns, rows)
    yield _reliability("How often it is right by how sure it is then", calibrated.figures, subsets[:1])


def _kpp(subsets: Sequence[Assessed]) -> Iterator[Row]:
    yield "all", [_perplexity(each.kpp_median) for each in subsets]
    by_rank = [{rank.rank: rank for rank in each.ranks} for each in subsets]
    for first in subsets[0].ranks:
        name = f"{first.rank}+" if first.or_later else str(first.rank)
        yield name, [_perplexity(each[first.rank].kpp_median if first.rank in each else None) for each in by_rank]


# ---------------------------------------------------------------------------------------------- words


def heading(found: Confidence) -> str:
    """What the tables are of."""
    return f"{found.corpus}, {found.documents:,} documents"


def meaning(found: Confidence) -> str:
    """What the columns are."""
    options = found.options
    bins = f"{options.bins} bins {'of one width' if options.binning == 'width' else 'with as many predictions each'}"
    return (
        "Confidence is 1/KPP, the geometric mean of the probabilities of a phrase's tokens, or its score. ECE: how far "
        f"the mean confidence (sure) and the share of correct predictions (right) are apart, over {bins}; interval: "
        f"{100 * options.level:g} %, by resamples of documents; chance: about the ECE of a system that is perfectly "
        "calibrated, on as many predictions; MCE: that of the bin where it is largest."
    )


def sentences(each: Assessed) -> Iterator[str]:
    """What the Brier score is made of, and what selecting by confidence gives."""
    f = each.figures
    if f.parts is None or f.brier is None or each.accuracy is None:
        yield "No prediction has a confidence."
        return
    p = f.parts
    yield (
        f"Brier {number(f.brier)} = reliability {number(p.reliability)} − resolution {number(p.resolution)} "
        f"+ uncertainty {number(p.uncertainty)} + within bins {number(p.within_bins)}."
    )
    shown = [
        f"{number(1 - point.risk)} of the surest {share} %"
        for share in (10, 25, 50)
        for point in each.curve
        if round(100 * point.coverage) == share
    ]
    surest = f"Right are {', '.join(shown)}, and {number(each.accuracy)} of all. " if shown else ""
    yield f"{surest}Area under the risk-coverage curve: {_cell(each.aurc)}."
    t = each.threshold
    if t is not None and t.threshold is not None and t.precision is not None:
        hits = "" if t.correct_share is None else f", with {_percent(t.correct_share)} of the correct ones"
        yield (
            f"A precision of {t.wanted:g} needs a confidence of {number(t.threshold)} or more: {t.predictions:,} of "
            f"{each.predictions:,} predictions are kept ({_percent(t.share)}){hits}; precision {number(t.precision)}."
        )


def _systems(found: Confidence) -> Iterator[tuple[str, list[Assessed]]]:
    """(its name and protocol, what is found of it by subset) of each system and protocol."""
    for (system, protocol), group in groupby(found.found, key=lambda each: (each.system, each.protocol)):
        subsets = list(group)
        source = " and ".join(subsets[0].source)
        yield f"{system}, protocol {protocol}{f', {source}' if source else ''}", subsets


# ---------------------------------------------------------------------------------------------- formats


def terminal(found: Confidence) -> str:
    """Tables of at most 80 columns: all systems first, then each by itself."""
    parts = ["\n".join([*wrap(heading(found), "  "), *wrap(meaning(found), "  ")])]
    for protocol in found.signatures:
        table = overview(found, protocol)
        parts += [f"Protocol {protocol}", *grid(table.corner, table.columns, table.rows)]
    for name, subsets in _systems(found):
        parts.append(paragraphs([name, *sentences(subsets[0])]))
        for table in tables(subsets):
            lines = _with_bars(table) if table.bars else list(grid(table.corner, table.columns, table.rows))
            parts.append("\n".join([*wrap(table.title, "  "), *lines]))
    if found.notes:
        parts.append(paragraphs(f"note: {note}" for note in found.notes))
    return "\n\n".join("\n".join(line.rstrip() for line in part.splitlines()) for part in parts) + "\n"


def _with_bars(table: Table) -> list[str]:
    """The lines of a table whose last cells are bars, which begin at one column."""
    [block] = grid(table.corner, table.columns[:-1], [(name, cells[:-1]) for name, cells in table.rows])
    head, *lines = block.splitlines()
    return [head, *(f"{line}  {cells[-1]}" for line, (_, cells) in zip(lines, table.rows, strict=True))]


def parts(found: Confidence) -> Iterator[Part]:
    """Tables, and sentences on each system."""
    yield Heading(heading(found))
    yield meaning(found)
    for protocol in found.signatures:
        table = overview(found, protocol)
        yield "Protocol ", code(protocol), ":"
        yield Grid(table.corner, table.columns, table.rows)
    for name, subsets in _systems(found):
        yield Heading(name)
        yield Items(list(sentences(subsets[0])))
        for table in map(_without_bars, tables(subsets)):
            yield f"{table.title}:"
            yield Grid(table.corner, table.columns, table.rows)
    yield from noted(found.notes)


def printed(found: Confidence) -> Iterator[Printed]:
    """A table of all systems for each protocol, and the bins of each system."""
    for protocol in found.signatures:
        table = overview(found, protocol)
        caption = f"{heading(found)}, protocol {protocol}. {meaning(found)}"
        yield Printed(caption, [table.corner, *table.columns], _by_system(table.rows))
    for name, subsets in _systems(found):
        for table in map(_without_bars, tables(subsets)):
            yield Printed(f"{name}: {table.title}. {heading(found)}.", [table.corner, *table.columns], [table.rows])


def _by_system(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows in groups that begin with a system's name."""
    groups: list[list[Row]] = []
    for row in rows:
        if not row[0].startswith("  "):
            groups.append([])
        groups[-1].append(row)
    return groups


def _without_bars(table: Table) -> Table:
    if not table.bars:
        return table
    title = table.title.removesuffix(" (█ right, | sure)")
    rows = [(name, cells[:-1]) for name, cells in table.rows]
    return Table(title, table.corner, table.columns[:-1], rows)


def csv_rows(found: Confidence) -> Iterator[dict[str, Any]]:
    """One dict a system, protocol and subset; the bins in one cell for each of their columns."""
    for row in found.rows():
        threshold, calibrated = row["threshold"] or {}, row["calibrated"] or {}
        after = calibrated.get("ece_ci", (None, None))
        flat = {
            "ece_low": row["ece_ci"][0],
            "ece_high": row["ece_ci"][1],
            "brier_low": row["brier_ci"][0],
            "brier_high": row["brier_ci"][1],
            "threshold": threshold.get("threshold"),
            "kept_share": threshold.get("share"),
            "calibrated_ece_low": after[0],
            "calibrated_ece_high": after[1],
        }
        flat |= {f"calibrated_{name}": calibrated.get(name) for name in ("ece", "mce", "brier")}
        for name in ("n", "confidence", "accuracy"):
            values = [each[name] for each in row["bins"]]
            flat[f"bins_{name}"] = ";".join("" if value is None else str(value) for value in values)
        yield row | flat
