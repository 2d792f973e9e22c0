"""The tables of the reproducibility paper, and of what was trained, as markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import karat

KINDS = ("present", "absent")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in markdown: names on the left, figures on the right."""
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def scores(corpus: str, run: Path, metrics: Sequence[str]) -> list[float]:
    """The values of metrics, in their order."""
    found = karat.score(corpus, karat.read_run(run), metrics=list(metrics)).as_dict()["rows"]
    return [float(each["value"]) for each in found]


def percent(values: Iterable[float]) -> list[str]:
    """Figures as papers print them."""
    return [f"{100 * each:.2f}" for each in values]


def trained(models: Sequence[Path]) -> str:
    """What each generator saw and reached."""
    rows = []
    for folder in models:
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        loss = "" if card["loss"] is None else f"{card['loss']:.3f}"
        rows.append([folder.name, f"{card['steps']:,}", f"{card['documents']:,}", f"{card['parameters']:,}", loss])
    return table(["generator", "steps", "documents seen", "weights", "validation loss"], rows)


def decoding(corpus: str, runs: Mapping[str, Sequence[Path]], names: Sequence[str]) -> str:
    """Greedy against beams: F1@M and recall, in percent, of present and of absent keyphrases."""
    rows = []
    for system, each in runs.items():
        for kind in KINDS:
            found = [percent(scores(corpus, run, [f"f1@M:{kind}", f"r@M:{kind}"])) for run in each]
            rows.append([f"{system}, {kind}", *(f"{f1} ({recall})" for f1, recall in found)])
    return table(["F1@M (recall)", *names], rows)


def averages(corpus: str, runs: Sequence[Path]) -> str:
    """Macro against micro averages of F1@M, in percent."""
    asked = [f"f1@M:{kind}{average}" for kind in KINDS for average in ("", "/micro")]
    rows = []
    for run in runs:
        found = scores(corpus, run, asked)
        apart = [f"{100 * (found[at] - found[at + 1]):+.2f}" for at in (0, 2)]
        macro_present, micro_present, macro_absent, micro_absent = percent(found)
        rows.append([run.stem, macro_present, micro_present, apart[0], macro_absent, micro_absent, apart[1]])
    return table(["F1@M", *(f"{kind}, {what}" for kind in KINDS for what in ("macro", "micro", "apart"))], rows)


def cutoffs(corpus: str, runs: Sequence[Path]) -> str:
    """F1 of all predictions (M), of as many as there are references (O), and of 5 and 10, in percent."""
    asked = [f"f1@{cutoff}:{kind}" for kind in KINDS for cutoff in ("M", "O", "5", "10")]
    head = [f"{kind} @{cutoff}" for kind in KINDS for cutoff in ("M", "O", "5", "10")]
    return table(["F1", *head], [[run.stem, *percent(scores(corpus, run, asked))] for run in runs])


def transfer(corpora: Mapping[str, str], runs: Mapping[str, Mapping[str, Path]]) -> str:
    """Trained on (rows) by tested on (columns): F1@M in percent, present / absent."""
    rows = []
    for source, tested in runs.items():
        cells = [
            percent(scores(corpora[name], run, [f"f1@M:{kind}" for kind in KINDS])) for name, run in tested.items()
        ]
        rows.append([source, *(" / ".join(cell) for cell in cells)])
    return table(["trained on", *next(iter(runs.values()))], rows)
