"""The tables of `karat.confidence`: how far systems are from being right as often as they are sure, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isinf
from typing import Any

from karat.analyses.confidence.result import Assessed, Confidence, Figures, Interval
from karat.errors import counted
from karat.tabular import COUNT, NONE, NUMBER, Cell, Column, Group, Kind, Row, Table, number, rows_of

TENTHS = 10
BAR = 28  # columns of a bar
ALWAYS_SHOWN = 10  # of so many bins the empty ones too
NAMES = {"temperature": "temperature scaling", "platt": "Platt scaling", "isotonic": "isotonic regression"}
SYMBOLS = {"temperature": "T"}


def tables_of(found: Confidence) -> Iterator[Table]:
    """For each protocol all systems, then each system by itself."""
    head, meaning = f"{found.corpus}, {counted(found.documents, 'document')}", _meaning(found)
    calibrated = [each for each in found.found if each.probabilities]
    yield Table(head, about=[meaning] if calibrated else [])
    for protocol in found.signatures:
        own = [each for each in calibrated if each.protocol == protocol]
        if own:
            yield _overview(own, f"Protocol {protocol}", f"{head}, protocol {protocol}. {meaning}")
    for (system, protocol), each in groupby(found.found, key=lambda each: (each.system, each.protocol)):
        subsets = list(each)
        name = ", ".join(filter(None, [system, f"protocol {protocol}", " and ".join(subsets[0].source)]))
        yield Table(name, items=list(_sentences(subsets[0])))
        shown = subsets[0].predictions and subsets[0].probabilities
        for title, corner, columns, rows in _of_system(subsets) if shown else ():
            yield Table(title, corner, columns, rows_of(rows), caption=f"{name}: {title}. {head}.")


# ---------------------------------------------------------------------------------------------- kinds of columns


def _between(ends: Interval) -> str:
    return NONE if ends[0] is None or ends[1] is None else f"{number(ends[0])}–{number(ends[1])}"


def _perplexity(value: float | None) -> str:
    return NONE if value is None else "∞" if isinf(value) else f"{value:.2f}" if value < 1e5 else f"{value:.1e}"


def _bar(shares: tuple[float | None, float | None]) -> str:
    """A bar as long as the accuracy, and a mark where the mean confidence is."""
    confidence, accuracy = shares
    if confidence is None or accuracy is None:
        return ""
    right, sure = round(accuracy * (BAR - 1)), round(confidence * (BAR - 1))
    return "".join("|" if i == sure else "█" if i < right else "." for i in range(max(right, sure + 1)))


BETWEEN, PERPLEXITY, BARS = Kind(_between), Kind(_perplexity), Kind(_bar, "left")


# ---------------------------------------------------------------------------------------------- tables

Parts = tuple[str, str, list[Column], list[tuple[str, list[Any]]]]  # title, corner, columns, rows


def _overview(found: Sequence[Assessed], title: str, caption: str) -> Table:
    """A row for each system and subset."""
    groups = [
        Group([Row(each.subset, _overview_cells(each)) for each in subsets], system)
        for system, subsets in groupby(found, key=lambda each: each.system)
    ]
    numbers = [Column(name) for name in ("MCE", "Brier", "sure", "right")]
    columns = [Column("ECE"), Column("debiased"), Column("interval", BETWEEN), *numbers, Column("n", COUNT)]
    return Table(title, "system", columns, groups, caption=caption)


def _overview_cells(each: Assessed) -> list[Any]:
    f = each.figures
    numbers = (f.mce, f.brier, f.mean_confidence, each.accuracy)
    return [Cell(f.ece), Cell(f.ece_debiased), f.ece_debiased_ci, *map(Cell, numbers), each.predictions]


def _of_system(subsets: Sequence[Assessed]) -> Iterator[Parts]:
    """The tables of one system under one protocol, `subsets` being what is found in all its subsets."""
    whole = subsets[0]
    yield _reliability("How often it is right by how sure it is (█ right, | sure)", whole.figures, subsets)
    if whole.calibrated is not None:
        yield _calibration(subsets)
        then = "How often it is right by how sure it is then (█ right, | sure)"
        yield _reliability(then, whole.calibrated.figures, subsets[:1])
    names = [Column(each.subset, PERPLEXITY) for each in subsets]
    yield "Median KPP, by place in the list", "place", names, list(_kpp(subsets))
    if whole.positions:
        columns = [*map(Column, ("mean", "q1", "median", "q3")), Column("n", COUNT)]
        rows = [(str(p.position), [p.mean, p.q1, p.median, p.q3, p.n]) for p in whole.positions]
        yield "Probability of a token, by its place in the phrase", "token", columns, rows


def _reliability(title: str, figures: Figures, subsets: Sequence[Assessed]) -> Parts:
    """The bins; with them the histograms of the other subsets, where the bins are tenths."""
    bins = figures.bins
    tenths = len(bins) == TENTHS and all(each.low == i / TENTHS for i, each in enumerate(bins))
    others = subsets[1:] if tenths else ()
    rows = [
        (
            f"{_short(each.low)}–{_short(each.high)}",
            [
                each.n,
                *(other.histogram[i] for other in others),
                *map(Cell, (each.confidence, each.accuracy)),
                Cell((each.confidence, each.accuracy), style="code"),
            ],
        )
        for i, each in enumerate(bins)
        if each.n or len(bins) <= ALWAYS_SHOWN
    ]
    counts = [Column(name, COUNT) for name in ("n", *(other.subset for other in others))]
    return title, "confidence", [*counts, Column("sure"), Column("right"), Column("", BARS)], rows


def _short(end: float) -> str:
    """An end of a bin, with as many decimals as it needs, four at most."""
    text = f"{end:.4f}".rstrip("0").rstrip(".")
    return text.removeprefix("0") or "0"


def _calibration(subsets: Sequence[Assessed]) -> Parts:
    """The figures before and after a calibration, which all subsets have."""
    fits = [each.calibrated for each in subsets if each.calibrated is not None]
    numbers = ", ".join(f"{SYMBOLS.get(name, name)} = {value:.4g}" for name, value in fits[0].numbers.items())
    fit = f" ({numbers})" if numbers else ""
    title = f"After {NAMES[fits[0].method]}{fit}, fitted on {fits[0].run} and {fits[0].corpus}"
    kinds = [NUMBER, NUMBER, NUMBER, BETWEEN, NUMBER, NUMBER, NUMBER]
    names = ("ECE before", "after", "debiased", "interval", "MCE", "Brier before", "after")
    pairs = [(each.subset, each.figures, fit.figures) for each, fit in zip(subsets, fits, strict=True)]
    rows: list[tuple[str, list[Any]]] = [
        (
            subset,
            [
                *map(Cell, (before.ece, after.ece, after.ece_debiased, after.ece_debiased_ci)),
                *map(Cell, (after.mce, before.brier, after.brier)),
            ],
        )
        for subset, before, after in pairs
    ]
    return title, "subset", list(map(Column, names, kinds)), rows


def _kpp(subsets: Sequence[Assessed]) -> Iterator[tuple[str, list[Any]]]:
    yield "all", [Cell(each.kpp_median) for each in subsets]
    by_rank = [{rank.rank: rank.kpp_median for rank in each.ranks} for each in subsets]
    for first in subsets[0].ranks:
        name = f"{first.rank}+" if first.or_later else str(first.rank)
        yield name, [Cell(each.get(first.rank)) for each in by_rank]


# ---------------------------------------------------------------------------------------------- rows


def flat_row(row: dict[str, Any]) -> dict[str, Any]:
    """The row of the CSV output: one cell for each end of an interval, and for each column of the bins."""
    kept, after = row["threshold"] or {}, row["calibrated"] or {}
    calibrated = {
        f"calibrated_{name}": after.get(name) for name in ("ece", "ece_debiased", "ece_debiased_ci", "mce", "brier")
    }
    flat = row | calibrated | {"threshold": kept.get("threshold"), "kept_share": kept.get("share")}
    for name in ("ece_debiased_ci", "brier_ci", "calibrated_ece_debiased_ci"):
        ends = (f"{name.removesuffix('ci')}{end}" for end in ("low", "high"))
        flat |= dict(zip(ends, flat[name] or (None, None), strict=True))
    for name in ("n", "confidence", "accuracy"):
        flat[f"bins_{name}"] = ";".join("" if each[name] is None else str(each[name]) for each in row["bins"])
    return flat


# ---------------------------------------------------------------------------------------------- words


def _meaning(found: Confidence) -> str:
    """What the columns are."""
    options = found.options
    bins = f"{options.bins} bins {'of one width' if options.binning == 'width' else 'with as many predictions each'}"
    return (
        "Confidence is 1/KPP, the geometric mean of the probabilities of a phrase's tokens, or its score. ECE: how far "
        f"the mean confidence (sure) and the share of correct predictions (right) are apart, over {bins}; debiased: "
        f"ECE without the bias of few predictions; interval: {100 * options.level:g} % confidence interval of the "
        "debiased ECE; MCE: the distance in the bin where it is largest."
    )


def _sentences(each: Assessed) -> Iterator[str]:
    """What the Brier score is made of, and what selecting by confidence gives."""
    f, p = each.figures, each.figures.parts
    if each.accuracy is None:
        yield "No prediction has a confidence."
        return
    if p is not None:
        yield (
            f"Brier {number(f.brier)} (interval {_between(f.brier_ci)}) = reliability {number(p.reliability)} "
            f"− resolution {number(p.resolution)} + uncertainty {number(p.uncertainty)} "
            f"+ within bins {number(p.within_bins)}."
        )
    shown = [
        f"{number(1 - point.risk)} of the surest {share} %"
        for share in (10, 25, 50)
        for point in each.curve
        if round(100 * point.coverage) == share
    ]
    surest = f"Right are {', '.join(shown)}, and {number(each.accuracy)} of all. " if shown else ""
    yield f"{surest}Area under the risk-coverage curve: {number(each.aurc)}."
    t = each.threshold
    if t is not None and t.threshold is not None and t.precision is not None:
        hits = "" if t.correct_share is None else f", with {_percent(t.correct_share)} of the correct ones"
        yield (
            f"A precision of {t.wanted:g} needs a confidence of {number(t.threshold)} or more: {t.predictions:,} of "
            f"{each.predictions:,} predictions are kept ({_percent(t.share)}){hits}; precision {number(t.precision)}."
        )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
