"""The ledger of the papers: every table, figure and stated finding of the four papers, and what karat gives for it.

The entries of a paper are in `docs/papers/NAME.toml`, and the page `docs/papers/NAME.md` is written from them. An entry
can have measured figures: each names the row and the column of what a command prints as CSV. `python -m docs.ledger D`
runs these commands on the real corpora, in the folder D, and writes what it finds to `docs/papers/figures.json`;
`tests/conformance/test_ledger.py` says whether they still come out.
"""

from __future__ import annotations

import csv
import io
import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

FOLDER = Path(__file__).parent / "papers"
NAMES = ("homogeneity", "ngram", "analysis", "reproducibility")
CLASSES = {
    "exact": "karat prints the figures of the paper",
    "explained": "karat prints other figures, and it is known why",
    "retrained": "with systems trained here, on fewer documents",
    "impossible": "it needs what cannot be had here",
}
VERDICTS = ("confirmed", "refuted", "undecided")


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure that a command prints as CSV: the one row that has these values, and a column of it."""

    name: str
    command: str
    where: dict[str, str]
    column: str = "value"
    paper: str = ""
    decimals: int = 4


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table, a figure or a finding of a paper."""

    at: str
    kind: Literal["table", "figure", "finding"]
    says: str
    gives: str
    outcome: Literal["exact", "explained", "retrained", "impossible"] | None = None  # of a table or a figure
    verdict: Literal["confirmed", "refuted", "undecided"] | None = None  # of a finding
    commands: list[str] = []
    measured: list[Measured] = []

    def __post_init__(self) -> None:
        """Raises ValueError if a table or a figure has no outcome, or a finding no verdict."""
        if (self.kind == "finding") != (self.outcome is None) or (self.outcome is None) != (self.verdict is not None):
            raise ValueError(f"{self.at}: a finding has a verdict, tables and figures have an outcome")

    @property
    def mark(self) -> str:
        """The outcome or the verdict."""
        return self.outcome or self.verdict or ""


class Ledger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A paper and its entries."""

    title: str
    authors: str
    year: int
    setup: str
    entries: list[Entry]


@cache
def load(name: str) -> Ledger:
    """The entries of a paper. Raises msgspec.ValidationError if the file is not of their shape."""
    return msgspec.toml.decode((FOLDER / f"{name}.toml").read_bytes(), type=Ledger)


def figures() -> dict[str, float]:
    """What was measured, by the key of the figure."""
    found: dict[str, float] = json.loads((FOLDER / "figures.json").read_text(encoding="utf-8"))
    return found


def measured() -> Iterator[tuple[str, Measured]]:
    """Every figure that can be measured, with its key."""
    for name in NAMES:
        for entry in load(name).entries:
            for each in entry.measured:
                yield f"{name}, {entry.at}: {each.name}", each


def measure(figure: Measured, data: Path) -> float:
    """What the command of a figure prints for it. Raises ValueError if there is no such row, or more than one."""
    from click.testing import CliRunner

    from karat.cli import karat

    words = shlex.split(figure.command.replace("$D", str(data)))[1:]
    printed = CliRunner().invoke(karat, [*words, "-f", "csv"], catch_exceptions=False)
    rows = list(csv.DictReader(io.StringIO(printed.stdout)))
    values = [row[figure.column] for row in rows if all(row.get(key) == each for key, each in figure.where.items())]
    if len(values) != 1:
        raise ValueError(f"{figure.name}: {len(values)} rows of {figure.command}")
    return round(float(values[0]), figure.decimals)


# ---------------------------------------------------------------------------------------------- pages


def page(name: str) -> str:
    """A paper part by part: what stands in it, and what karat gives."""
    ledger, numbers = load(name), figures()
    parts = [
        f"*{_cell(ledger.title)}*, {ledger.authors}, {ledger.year}. {_cell(ledger.setup)}",
        "",
        *_overview(ledger),
        "",
    ]
    for kind, heading in (("table", "Tables"), ("figure", "Figures"), ("finding", "Findings")):
        entries = [entry for entry in ledger.entries if entry.kind == kind]
        if entries:
            parts += [f"## {heading}", "", *(line for entry in entries for line in _section(name, entry, numbers))]
    return "\n".join(parts)


def _overview(ledger: Ledger) -> Iterator[str]:
    """A line for each outcome and each verdict: how many entries have it, and which."""
    yield "| | | where |"
    yield "|:--|--:|:--|"
    for mark in (*CLASSES, *VERDICTS):
        found = [entry.at for entry in ledger.entries if entry.mark == mark]
        if found:
            yield f"| **{mark}** | {len(found)} | {_cell('; '.join(found))} |"


def _section(name: str, entry: Entry, numbers: dict[str, float]) -> Iterator[str]:
    yield from (
        f"### {entry.at}: {entry.mark}",
        "",
        f"The paper: {_cell(entry.says)}",
        "",
        f"karat: {_cell(entry.gives)}",
        "",
    )
    if entry.measured:
        yield from ("| measured | paper | karat | command |", "|:--|--:|--:|:--|")
        for each in entry.measured:
            value = _shown(numbers[f"{name}, {entry.at}: {each.name}"], each.decimals)
            yield f"| {_cell(each.name)} | {each.paper} | {value} | `{_cell(each.command)}` |"
        yield ""
    if entry.commands:
        yield from (*(f"* `{_cell(command)}`" for command in entry.commands), "")


def _shown(value: float, decimals: int) -> str:
    written = f"{value:.{decimals}f}"
    return written.replace("0.", ".", 1) if abs(value) < 1 else written


def summary() -> str:
    """A line for each paper: how many of its parts are of which class, and its findings."""
    heads = [*CLASSES, *VERDICTS]
    lines = [f"| paper | {' | '.join(heads)} |", "|:--" + "|--:" * len(heads) + "|"]
    for name in NAMES:
        ledger = load(name)
        counts = Counter(entry.mark for entry in ledger.entries)
        cells = " | ".join(str(counts[head]) for head in heads)
        lines.append(f"| [{_cell(ledger.title)}]({name}.md) | {cells} |")
    return "\n".join([*lines, "", *(f"* **{name}**: {about}." for name, about in CLASSES.items())]) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(data: Path) -> None:
    """Measures every figure anew."""
    found = {}
    for key, figure in measured():
        found[key] = measure(figure, data)
        print(f"{key}: {found[key]}", flush=True)
    (FOLDER / "figures.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
