"""The ledger of the papers: every table, figure and finding of four papers, what karat computes for it, and its class.

The entries of a paper are in `docs/papers/NAME.toml`. An entry has figures; a figure comes from a command that prints
CSV, from a table or a sentence of another page, or is a count of cells that the paper prints. Classes follow from the
figures by rule (`outcome`, `verdict`). `python -m docs.ledger` writes the pages, and with a folder of corpora it runs
the commands before that and writes their figures to `docs/papers/NAME.figures.json`, which
`tests/conformance/test_ledger.py` computes again.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir
from functools import cache
from math import log10
from operator import eq, gt, lt
from pathlib import Path
from typing import Literal

import msgspec
from scipy.stats import norm

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "papers"
NAMES = ("homogeneity", "ngram", "analysis", "reproducibility")
OUTCOMES = {
    "exact": "every figure that the paper prints for data at hand comes out at the printed digits; an entry without "
    "figures is exact if the tests that it names show its rule",
    "explained": "computed on the paper's data, at least one figure differs, and the reason is stated",
    "unexplained": "computed on the paper's data, at least one figure differs, and what was tried does not give it",
    "retrained": "computed with systems that karat trained, on fewer documents than in the paper, and on other test "
    "documents where stated",
    "built on other data": "the same computation on other documents or systems; its figures cannot equal the paper's",
    "impossible": "it needs something that is not at hand, which is named",
}
VERDICTS = {
    "confirmed": "the interval of at least one effect lies on the side that the finding claims, and no interval lies "
    "on the other side; a count of published figures, a p-value or a rate of simulations counts as a point",
    "refuted": "the interval of at least one effect lies on the other side, and no interval on the side that the "
    "finding claims",
    "undecided": "anything else: no data, intervals that include both sides, effects that contradict each other, a "
    "bound that the paper does not state and the class depends on, or a condition that does not hold; where there is "
    "an interval, the smallest effect that could have been detected is printed (power .8, two-sided level .05)",
}
PUBLISHED = "by the paper's figures"
PUBLISHED_RULE = (
    f"**{PUBLISHED}**: figures that the paper prints or releases decide the finding, and no data of karat. If they "
    "confirm it, it agrees with the paper's tables; if they refute it, the paper contradicts itself. In the table they "
    "follow a plus sign"
)
DETECTABLE = float((norm.ppf(0.975) + norm.ppf(0.8)) / norm.ppf(0.975))  # by half-widths of a 95 % interval
DIGITS = 6  # of a stored value
RELATIONS = {">": gt, "<": lt, "=": eq}
_NUMBER = r"[+\u2212-]?\d*\.?\d+"
_WITH_INTERVAL = re.compile(rf"({_NUMBER})(?: ?%)?(?: \[({_NUMBER}), ({_NUMBER})\])?$")


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """A number with the ends of its 95 % interval, where it has one."""

    value: float
    low: float | None = None
    high: float | None = None


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A number with its source: a `command`, a table or a `quote` of a `page`, or printed `cells` that are counted.

    Of what a command prints as CSV, and of a table of a page, it is one row, with these values, and a column.
    """

    name: str
    command: str = ""
    page: str = ""
    where: dict[str, str] = {}
    column: str = "value"
    interval: bool = False  # whether the columns COLUMN_low and COLUMN_high of a command, or low and high, are its ends
    quote: str = ""  # a part of the page that ends with the number
    cells: list[tuple[float, float]] = []  # pairs of published figures; the value is how many have the relation
    relation: Literal[">", "<", "="] = ">"
    paper: str = ""  # as printed
    scale: float = 1  # of the paper's figure, as 100 for percent
    decimals: int = 4
    claim: str = ""  # of a finding: > 0, < .5, = 16, or ~ .01 for an effect between -.01 and .01
    condition: str = ""  # as claim; without it a finding is undecided
    otherwise: str = ""  # what to call the finding then
    part: Literal["", "wordnet"] = ""  # what the command needs beside karat

    def __post_init__(self) -> None:
        """Raise ValueError if the figure has not exactly one source."""
        if sum(map(bool, (self.command, self.page, self.cells))) != 1:
            raise ValueError(f"{self.name}: a figure has a command, a page or cells")


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table, a figure or a finding of a paper."""

    at: str
    kind: Literal["table", "figure", "finding"]
    says: str
    gives: str = ""  # what the figures do not show by themselves
    basis: Literal["paper", "trained", "other data", "none"] | None = None  # of a table or a figure: what data
    reason: str = ""  # why figures differ from the paper's
    tried: str = ""  # what does not give the paper's figures, where the reason is unknown
    needs: str = ""  # what is missing
    figures: list[Figure] = []
    commands: list[str] = []  # further ones, as of charts and of tests

    def __post_init__(self) -> None:
        """Raise ValueError if a table has no basis, or if nothing is stated that its class has to state."""
        if (self.kind == "finding") != (self.basis is None):
            raise ValueError(f"{self.at}: tables and figures have a basis, findings have none")
        if self.basis == "none" and not self.needs:
            raise ValueError(f"{self.at}: what is impossible states what it needs")
        if self.kind == "finding" and not self.needs and not any(each.claim for each in self.figures):
            raise ValueError(f"{self.at}: a finding has a figure with a claim, or states what it needs")
        if self.basis not in (None, "none") and not self.figures and not self.commands:
            raise ValueError(f"{self.at}: an entry names the command that its class rests on")


class Ledger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A paper and its entries; `prepare` are commands that write files for others, in an empty folder.

    In commands `$D` is the folder of the corpora, and `$E` that of examples that are copied from the papers;
    `tests/golden` is that of karat.
    """

    title: str
    authors: str
    year: int
    setup: str
    entries: list[Entry]
    prepare: list[str] = []


@cache
def load(name: str) -> Ledger:
    """Return the entries of a paper. Raise msgspec.ValidationError if the file is not of their shape."""
    return msgspec.toml.decode((FOLDER / f"{name}.toml").read_bytes(), type=Ledger)


# ---------------------------------------------------------------------------------------------- values


@cache
def stored(name: str) -> dict[str, Value]:
    """Return the stored values of the commands of a paper, by the keys of their figures."""
    return msgspec.json.decode((FOLDER / f"{name}.figures.json").read_bytes(), type=dict[str, Value])


def key(entry: Entry, figure: Figure) -> str:
    """Return the name of a figure within its paper."""
    return f"{entry.at}: {figure.name}"


def values_of(name: str, entry: Entry) -> list[Value]:
    """Return the values of the figures of an entry: counted, from another page, or as a command printed them."""
    return [_value_of(name, entry, figure) for figure in entry.figures]


def _value_of(name: str, entry: Entry, figure: Figure) -> Value:
    if figure.cells:
        return Value(sum(RELATIONS[figure.relation](a, b) for a, b in figure.cells))
    return read(figure) if figure.page else stored(name)[key(entry, figure)]


@cache
def _text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def read(figure: Figure) -> Value:
    """Return the value that a page has for a figure. Raise ValueError if it has none, or several."""
    text = _text_of(figure.page)
    if figure.quote:
        flat = " ".join(text.split())
        cells = [figure.quote] if figure.quote in flat else []
    else:
        cells = [row[figure.column] for row in _rows(text) if figure.column in row and _has(row, figure.where)]
    if len(cells) != 1:
        raise ValueError(f"{figure.name}: {len(cells)} places of {figure.page} have it")
    match = _WITH_INTERVAL.search(cells[0].strip(" `*†‡"))
    if match is None:
        raise ValueError(f"{figure.name}: no number at the end of {cells[0]!r}")
    value, low, high = (None if part is None else float(part.replace("\u2212", "-")) for part in match.groups())
    assert value is not None
    return Value(value, low, high)


def _rows(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the Markdown tables of a page."""
    head: list[str] | None = None
    for line in text.splitlines():
        if not line.startswith("|"):
            head = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if head is None:
            head = cells
        elif not set(line) <= set("|:- "):
            yield dict(zip(head, cells, strict=False))


def _has(row: dict[str, str], where: dict[str, str]) -> bool:
    return all(row.get(column, "").strip("`*") == value for column, value in where.items())


class Session:
    """Runs commands in a temporary folder, each once."""

    def __init__(self, data: Path, folder: Path) -> None:
        self.data = data.resolve()
        self.folder = folder
        self._printed: dict[str, list[dict[str, str]]] = {}

    def prepare(self, name: str) -> None:
        """Run the commands that write the files of a paper."""
        for command in load(name).prepare:
            output = shlex.split(command.partition(" -o ")[2])[0]
            (self.folder / output).parent.mkdir(parents=True, exist_ok=True)
            self.run(command)

    def run(self, command: str) -> str:
        """Return what a command prints; raise ValueError if it fails."""
        places = {"$D": self.data, "$E": FOLDER / "examples", "tests/golden": ROOT / "tests" / "golden"}
        for name, folder in places.items():
            command = command.replace(name, str(folder))
        words = shlex.split(command)
        if words[0] == "python":
            script = [sys.executable, str(ROOT / words[1]), *words[2:]]
            return subprocess.run(script, check=True, capture_output=True, text=True, cwd=self.folder).stdout
        from click.testing import CliRunner

        from karat.cli import karat

        with chdir(self.folder):
            result = CliRunner().invoke(karat, words[1:], catch_exceptions=False)
        if result.exit_code:
            raise ValueError(f"{command}: {result.output}")
        return result.stdout

    def measure(self, figure: Figure) -> Value:
        """Return the value of a command's figure. Raise ValueError if there is no such row, or more than one."""
        rows = self._rows(figure.command)
        rows = [row for row in rows if all(row.get(column) == each for column, each in figure.where.items())]
        if len(rows) != 1:
            raise ValueError(f"{figure.name}: {len(rows)} rows of {figure.command}")
        row = rows[0]
        prefix = f"{figure.column}_" if f"{figure.column}_low" in row else ""
        columns = [figure.column, *((f"{prefix}low", f"{prefix}high") if figure.interval else ())]
        return Value(*(round(float(row[column]), DIGITS) for column in columns))

    def _rows(self, command: str) -> list[dict[str, str]]:
        if command not in self._printed:
            printed = self.run(f"{command} -f csv" if command.startswith("karat ") else command)
            self._printed[command] = list(csv.DictReader(io.StringIO(printed)))
        return self._printed[command]


# ---------------------------------------------------------------------------------------------- classes


def equal(figure: Figure, value: Value) -> bool | None:
    """Return whether a value has the digits that the paper prints; None where it prints none."""
    if not figure.paper:
        return None
    printed = figure.paper.replace(",", "").replace("\u2212", "-")
    half = 0.5 * 10.0 ** -len(printed.partition(".")[2])
    return abs(value.value * figure.scale - float(printed)) <= half + 1e-9


def holds(claim: str, value: Value) -> bool | None:
    """Return whether a claim holds for all of an interval; False if it holds for no part of it, None if for some.

    >>> [holds("> 0", Value(0.2, *ends)) for ends in [(0.1, 0.3), (-0.1, 0.5), (-0.3, -0.1)]]
    [True, None, False]
    >>> [holds("~ .1", Value(0.0, *ends)) for ends in [(-0.05, 0.05), (-0.2, 0.05), (0.2, 0.3)]]
    [True, None, False]
    """
    relation, bound = claim[0], float(claim[1:])
    low, high = (value.value if end is None else end for end in (value.low, value.high))
    if relation == "=":
        return value.value == bound
    if relation == "~":
        return True if -bound < low and high < bound else False if low > bound or high < -bound else None
    if relation == "<":
        low, high, bound = -high, -low, -bound
    return True if low > bound else False if high < bound or low == high else None


def outcome(entry: Entry, values: list[Value]) -> str:
    """Return the class of a table or a figure. Raise ValueError if a figure differs and no reason is stated."""
    if entry.basis != "paper":
        return {"trained": "retrained", "other data": "built on other data"}.get(entry.basis or "", "impossible")
    different = [f.name for f, value in zip(entry.figures, values, strict=True) if equal(f, value) is False]
    if different and not entry.reason and not entry.tried:
        raise ValueError(f"{entry.at}: no reason is stated although figures differ: {', '.join(different)}")
    return "explained" if entry.reason else "unexplained" if different else "exact"


def verdict(entry: Entry, values: list[Value]) -> str:
    """Return the class of a finding, with the condition that does not hold, or that only published figures decide."""
    for figure, value in zip(entry.figures, values, strict=True):
        if figure.condition and not holds(figure.condition, value):
            return f"undecided: {figure.otherwise}"
    held: dict[bool | None, list[Figure]] = {True: [], False: [], None: []}
    for figure, value in zip(entry.figures, values, strict=True):
        if figure.claim:
            held[holds(figure.claim, value)].append(figure)
    if bool(held[True]) == bool(held[False]):
        return "undecided"
    mark = "confirmed" if held[True] else "refuted"
    return f"{mark}: {PUBLISHED}" if all(figure.cells for figure in held[True] or held[False]) else mark


def classify(name: str, entry: Entry) -> str:
    """Return the class of an entry, by the rules of `OUTCOMES` and `VERDICTS`."""
    values = values_of(name, entry)
    return verdict(entry, values) if entry.kind == "finding" else outcome(entry, values)


# ---------------------------------------------------------------------------------------------- pages


def page(name: str) -> str:
    """Return the page of a paper: an overview of its classes, then entry by entry."""
    ledger = load(name)
    classes = {entry.at: classify(name, entry) for entry in ledger.entries}
    parts = [
        f"*{_cell(ledger.title)}*, {ledger.authors}, {ledger.year}. {_cell(ledger.setup)}",
        "",
        *_overview(classes),
        "",
    ]
    for kind, heading in (("table", "Tables"), ("figure", "Figures"), ("finding", "Findings")):
        entries = [entry for entry in ledger.entries if entry.kind == kind]
        if entries:
            parts += [f"## {heading}", ""]
            for entry in entries:
                parts += _section(name, entry, classes[entry.at])
    return "\n".join(parts)


def _overview(classes: dict[str, str]) -> Iterator[str]:
    """Yield a row for each class, also with its condition: how many entries have it, and which."""
    yield "| class | entries | which |"
    yield "|:--|--:|:--|"
    marks = [*OUTCOMES, *VERDICTS]
    for mark in sorted(set(classes.values()), key=lambda each: (marks.index(each.partition(":")[0]), each)):
        places = [at for at, each in classes.items() if each == mark]
        yield f"| **{mark}** | {len(places)} | {_cell('; '.join(places))} |"


def _section(name: str, entry: Entry, mark: str) -> Iterator[str]:
    yield from (f"### {entry.at}: {mark}", "", f"The paper: {_cell(entry.says)}", "")
    values = values_of(name, entry)
    compared = list(map(equal, entry.figures, values))
    count = sum(each is not None for each in compared) if entry.basis == "paper" else 0
    counted = f"{compared.count(True)} of {count} figures equal the paper's." if count else ""
    remarks = [counted, _cell(entry.gives), entry.reason and f"Reason: {_cell(entry.reason)}"]
    if entry.tried:
        remarks.append(f"The reason is unknown: {_cell(entry.tried)}")
    if entry.needs:
        remarks.append(f"Missing: {_cell(entry.needs)}")
    if text := " ".join(filter(None, remarks)):
        yield from (f"karat: {text}", "")
    if entry.figures:
        finding = entry.kind == "finding"
        yield f"| figure | paper | karat | {'claim | ' if finding else ''}source |"
        yield f"|:--|--:|--:|{':--|' if finding else ''}:--|"
        for figure, value in zip(entry.figures, values, strict=True):
            claim = f"{_claim(figure, value)} | " if finding else ""
            yield f"| {_cell(figure.name)} | {figure.paper} | {_shown(value, figure)} | {claim}{_source(figure)} |"
        yield ""
    if entry.commands:
        yield from (*(f"* `{_cell(command)}`" for command in entry.commands), "")


def _claim(figure: Figure, value: Value) -> str:
    """Return a claim and whether it holds; where that is open, the smallest effect that could have been detected."""
    if not figure.claim:
        return figure.condition and f"needs {figure.condition}"
    held = holds(figure.claim, value)
    if held is not None:
        return f"{figure.claim}: {'yes' if held else 'no'}"
    assert value.low is not None
    assert value.high is not None
    least = DETECTABLE * (value.high - value.low) / 2
    return f"{figure.claim}: open, detectable {_number(least, figure.decimals)}"


def _source(figure: Figure) -> str:
    if figure.cells:
        return f"of {len(figure.cells)} pairs of published figures"
    return f"[{figure.page}](../{figure.page.removeprefix('docs/')})" if figure.page else f"`{_cell(figure.command)}`"


def _shown(value: Value, figure: Figure) -> str:
    """Return a value on the scale of the paper's figure; the ends of its interval have one digit less."""
    decimals = 0 if figure.cells else max(figure.decimals - round(log10(figure.scale)), 0)
    text = _number(value.value * figure.scale, decimals)
    if value.low is None or value.high is None:
        return text
    low, high = (_number(end * figure.scale, max(decimals - 1, 0)) for end in (value.low, value.high))
    return f"{text} [{low}, {high}]"


def _number(value: float, decimals: int) -> str:
    written = f"{value:.{decimals}f}"
    return (written.replace("0.", ".", 1) if abs(value) < 1 and decimals else written).replace("-", "\u2212")


def summary() -> str:
    """Return a row for each paper, how many of its entries have which class, and the rules of the classes."""
    heads = [*OUTCOMES, *VERDICTS]
    lines = [f"| paper | {' | '.join(heads)} |", "|:--" + "|--:" * len(heads) + "|"]
    for name in NAMES:
        ledger = load(name)
        counts = Counter(classify(name, entry) for entry in ledger.entries)
        cells = " | ".join(_count(counts, head) for head in heads)
        lines.append(f"| [{_cell(ledger.title)}]({name}.md) | {cells} |")
    rules = [f"* **{name}**: {rule}." for name, rule in (OUTCOMES | VERDICTS).items()]
    return "\n".join([*lines, "", *rules, f"* {PUBLISHED_RULE}."]) + "\n"


def _count(counts: Counter[str], mark: str) -> str:
    """Return how many entries have a class, and after a plus sign those that only published figures decide."""
    published = counts[f"{mark}: {PUBLISHED}"]
    total = sum(count for each, count in counts.items() if each.partition(":")[0] == mark)
    return f"{total - published} + {published}" if published else str(total)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# ---------------------------------------------------------------------------------------------- command


def measure_all(name: str, data: Path) -> None:
    """Run the commands of a paper and write their figures."""
    values: dict[str, Value] = {}
    with tempfile.TemporaryDirectory() as folder:
        session = Session(data, Path(folder))
        session.prepare(name)
        for entry in load(name).entries:
            for figure in entry.figures:
                if figure.command:
                    values[key(entry, figure)] = session.measure(figure)
                    print(f"{name}, {key(entry, figure)}: {values[key(entry, figure)].value}", flush=True)
    content = json.dumps(msgspec.to_builtins(values), indent=1, ensure_ascii=False)
    (FOLDER / f"{name}.figures.json").write_text(content + "\n", encoding="utf-8")


def main(data: str | None = None, *names: str) -> None:
    """Write the pages; with a folder of corpora, measure the figures of all papers, or of those named, before."""
    for name in (names or NAMES) if data else ():
        measure_all(name, Path(data or ""))
    stored.cache_clear()
    from docs import generate

    generate.main()


if __name__ == "__main__":
    main(*sys.argv[1:])
