"""Sheets for annotators: a sample of items, balanced and blind, as pages that need no server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from karat.analyses.score import reading_of
from karat.annotation.items import Source, by_stratum, in_pass, left_out, protocol_of, texts_of
from karat.annotation.sample import balanced, dealt, numbered, shuffled
from karat.annotation.study import ADJUDICATOR, FILE, LABELING, Item, Study
from karat.annotation.tasks import SCALES, ScaleName, TaskName, default_scale
from karat.errors import InputError, counted
from karat.formats.base import quoted
from karat.formats.output import folder_beside, write_beside
from karat.matching.fusing import checked_votes
from karat.matching.inputs import CorpusLike, ProtocolLike, RunLike, as_corpus, as_runs
from karat.options import (
    By,
    Extra,
    JoinOptions,
    Missing,
    Progress,
    WorkOptions,
    cutoff_option,
    group,
    option,
    options_from,
    protocol_option,
    public,
    required,
)
from karat.results.displayed import Displayed
from karat.tabular import COUNT, Column, Table, rows_of

Format = Literal["html", "label-studio"]
MOST_ANNOTATORS = 200
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
TASK_VALUES = {
    "set": "how close what a system predicts for a document is to the references",
    "pair": "how much a prediction and the reference it is nearest to mean the same",
    "phrase": "whether a prediction is a keyphrase of its document",
    "reference": "which are the keyphrases of a document, out of a list or in the annotator's words",
}


@dataclass(frozen=True, slots=True)
class SheetsOptions:
    """What is judged, by how many, and how sheets are made."""

    task: TaskName = required("What is judged.", values=TASK_VALUES)
    annotators: str | int = option(
        4, "How many annotators there are, or their names, as ana,ben,cem.", metavar="N|NAME,..."
    )
    overlap: float = option(
        1.0, "Share of the items that all annotators see; the others go to one each.", least=0, most=1, metavar="S"
    )
    sample: int = option(200, "How many items are judged.", least=1, metavar="N")
    seed: int = option(1, "Which items, and in which order.", least=0, metavar="N")
    scale: ScaleName | None = option(
        None, "Scale of a set or pair.", values=("0-4", "0-1"), otherwise="0-1 of a set, 0-4 of a pair"
    )
    cutoff: str = cutoff_option()
    known: bool = option(False, "Of the task phrase: judge predictions that are references already, too.")
    at_least: int = option(1, "Of the task phrase: judge what N systems predict.", least=1, metavar="N")
    format: Format = option(
        "html", "Sheets as pages, or tasks for a server of Label Studio.", values=("html", "label-studio")
    )
    protocol: ProtocolLike = protocol_option("Convention by which phrases are matched.")
    join: JoinOptions = group(JoinOptions)
    work: WorkOptions = group(WorkOptions)


@dataclass(frozen=True, slots=True, repr=False)
class Sheets(Displayed):
    """A study and its sheets, which `save` writes."""

    study: Study
    format: Format
    available: int  # items to choose from
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each annotator: how many items, shared ones, and of each system and stratum."""
        return [
            {
                "annotator": name,
                "items": len(own),
                "shared": len(self._shared() & set(own)),
                "systems": dict(self._systems(own)),
                "strata": dict(sorted(by_stratum(self.study.by_id[n] for n in own).items())),
            }
            for name, own in self.study.annotators.items()
        ]

    def as_dict(self) -> dict[str, Any]:
        """The study at a glance, as plain values."""
        study = self.study
        facts = {"study": study.id, "task": study.task, "scale": study.scale, "corpus": study.corpus}
        counts = {"items": len(study.items), "available": self.available, "documents": len(study.documents)}
        drawn = {"overlap": study.overlap, "seed": study.seed, "format": self.format}
        return {**facts, **counts, **drawn, "rows": self.rows(), "notes": list(self.notes)}

    def tables(self) -> Iterator[Table]:
        """How many items each annotator has, then how many there are of each stratum and system."""
        study = self.study
        title = f"{study.corpus}: {counted(len(study.items), 'item')} of the task {study.task}, study {study.id}"
        rows = rows_of((row["annotator"], [row["items"], row["shared"]]) for row in self.rows())
        yield Table(title, "annotator", [Column("items", COUNT), Column("shared", COUNT)], rows)
        systems = [] if study.task == "reference" else list(study.systems)
        columns = [Column("items", COUNT), *(Column(name, COUNT, above="system") for name in systems)]
        strata: dict[str, list[Item]] = {name: [] for name in sorted({item.stratum for item in study.items})}
        for item in study.items:
            strata[item.stratum].append(item)
        counts = {name: Counter(s for item in own for s in item.systems) for name, own in strata.items()}
        lines = rows_of((name, [len(own), *(counts[name][s] for s in systems)]) for name, own in strata.items())
        yield Table("", "stratum", columns, lines, notes=[self._about()])

    def _about(self) -> str:
        study = self.study
        several = " An item that several systems predict counts for each." if study.task in ("pair", "phrase") else ""
        return (
            f"{counted(len(study.items), 'item')} of {counted(len(study.documents), 'document')}, chosen from "
            f"{self.available:,}; seed {study.seed}; scale {study.scale}; shared: seen by all annotators.{several}"
        )

    def _shared(self) -> set[int]:
        return set(self.study.by_id).intersection(*map(set, self.study.annotators.values()))

    def _systems(self, own: Sequence[int]) -> Counter[str]:
        return Counter(system for n in own for system in self.study.by_id[n].systems)

    def save(self, folder: str | Path) -> None:
        """Writes the study and a sheet for each annotator to a new folder, which is there whole or not at all."""
        with folder_beside(folder) as new:
            write_beside(new / FILE, msgspec.json.encode(self.study))
            for name, content in self._files():
                write_beside(new / name, content.encode(errors="replace"))

    def _files(self) -> Iterator[tuple[str, str]]:
        """(name, content) of what annotators, or a server, are given."""
        if self.format == "html":
            from karat.annotation.rendering import sheet

            for name in self.study.annotators:
                yield f"{name}.html", sheet(self.study, name)
        else:
            from karat.annotation.label_studio import configuration, tasks

            yield "tasks.json", tasks(self.study)
            yield LABELING, configuration(self.study)


@public(SheetsOptions)
def annotation_sheets(
    corpus: CorpusLike,
    *runs: RunLike,
    task: TaskName,
    annotators: str | int = 4,
    overlap: float = 1.0,
    sample: int = 200,
    seed: int = 1,
    scale: ScaleName | None = None,
    cutoff: str = "M",
    known: bool = False,
    at_least: int = 1,
    format: Format = "html",
    protocol: ProtocolLike = "karat",
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Sheets:
    """A sample of what runs predict for a corpus, for people to judge; `save(folder)` writes a sheet for each of them.

    Raises InputError if there is nothing to judge, or if a run does not fit the corpus.
    """
    options = options_from(SheetsOptions, locals())
    names, chosen_scale = annotator_names(annotators), _scale(options)
    given, systems = as_corpus(corpus), as_runs(runs)
    if not systems and task != "reference":
        raise InputError(f"the task {task} judges what systems predict; give a run or more")
    if task == "phrase":
        checked_votes(at_least, len(systems))
    reading = reading_of(given, systems, protocol, options.join, options.work)
    source = Source(task, protocol_of(protocol, language), cutoff, known, at_least)
    finish = in_pass(reading, source, options.join)
    reading.run()
    found = finish()
    if not found.items:
        raise InputError(f"{given.name}: there is nothing to judge for the task {task}{_why(task)}")
    chosen = numbered(balanced(found.items, sample, seed), seed)
    shown = [_in_order(item, task, seed) for item in chosen]
    study = Study(
        task=task,
        scale=chosen_scale,
        corpus=given.name,
        systems=tuple(run.name for run in systems),
        seed=seed,
        overlap=float(overlap),
        documents=texts_of(given, shown, jobs),
        items=tuple(sorted(shown, key=lambda item: item.id)),
        annotators=dict(dealt(shown, names, overlap, seed)),
    ).named()
    notes = [*reading.notes(), *left_out(found), *_fewer(len(shown), sample)]
    return Sheets(study, format, len(found.items), tuple(notes))


def annotator_names(given: str | int) -> list[str]:
    """The names of annotators, given as such or as their number.

    >>> annotator_names(2), annotator_names("ana,ben")
    (['a1', 'a2'], ['ana', 'ben'])
    """
    text = str(given).strip()
    if text.isascii() and text.isdigit() and 1 <= len(text) <= 6:
        if not 1 <= int(text) <= MOST_ANNOTATORS:
            raise InputError(f"annotators are from 1 to {MOST_ANNOTATORS}, not {int(text):,}")
        return [f"a{n}" for n in range(1, int(text) + 1)]
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if not _NAME.fullmatch(name) or name.lower() in (ADJUDICATOR, "study"):
            raise InputError(
                f"annotators are a number or names of up to 40 letters, digits, - and _, as ana,ben, not {quoted(name)}"
            )
    if len({name.lower() for name in names}) < len(names):
        raise InputError(f"two annotators have the same name: {', '.join(names)}")
    if len(names) > MOST_ANNOTATORS:
        raise InputError(f"annotators are from 1 to {MOST_ANNOTATORS}, not {len(names):,}")
    return names


def _scale(options: SheetsOptions) -> str:
    """The name of the scale. Raises InputError if the task has no choice of scales."""
    if options.scale is None:
        return default_scale(options.task)
    if options.scale not in SCALES[options.task]:
        raise InputError(f"the task {options.task} has one scale; --scale is for set and pair")
    return options.scale


def _why(task: TaskName) -> str:
    return {
        "set": "; it takes documents with references",
        "pair": "; no prediction is near a reference that is missed",
        "phrase": "; there are no predictions that are no references (--known judges those, too)",
        "reference": "; it takes documents with a title or a text",
    }[task]


def _in_order(item: Item, task: TaskName, seed: int) -> Item:
    """The item as it is shown: a pair either way round, candidates in an order that says nothing about ranks."""
    if task == "pair":
        return msgspec.structs.replace(item, swapped=shuffled([False, True], seed, "swap", item.id)[0])
    if task == "reference":
        return msgspec.structs.replace(item, predicted=tuple(shuffled(item.predicted, seed, "list", item.id)))
    return item


def _fewer(count: int, sample: int) -> Iterator[str]:
    if count < sample:
        yield f"{counted(count, 'item')} to judge, fewer than the {sample:,} of the sample"
