"""Answers joined: how far annotators are, how far they agree, what is left to settle, and what the answers make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from karat.annotation.answers import Chosen, Joined, join_answers, read_answers
from karat.annotation.sample import shuffled
from karat.annotation.study import ADJUDICATOR, FILE, Item, Study, load_study
from karat.errors import InputError, counted
from karat.formats.base import some
from karat.formats.output import write_beside
from karat.formats.reviews import Review, read_review, write_review
from karat.matching.columns import Floats
from karat.options import option, options_from, public
from karat.results.displayed import Displayed
from karat.stats.agreement import all_equal, alpha_with_interval, combined
from karat.tabular import COUNT, PERCENT, TEXT, Cell, Column, Kind, Table, fixed, number, rows_of

SHOWN = 20  # disagreements in the table; `as_dict` has all
ROUNDING = 1e-9
HALF = "half of the scale; of phrases a tie"
RESOLVED = "resolved"  # whose scores are those of all annotators as one


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """What counts as a disagreement, and as a keyphrase."""

    gap: float | None = option(
        None,
        "Answers that are at least G apart are a disagreement.",
        above=0,
        metavar="G",
        otherwise=HALF,
    )
    votes: int | None = option(
        None, "A phrase is accepted if N annotators are for it.", least=1, metavar="N", otherwise="more than half"
    )


@dataclass(frozen=True)
class Unit:
    """What answers are compared on: an item, or of a document one of its phrases; the answer of each annotator."""

    item: Item
    phrase: str  # that is chosen or not, "" where the item as a whole is judged
    answers: Mapping[str, float]


@dataclass(frozen=True, repr=False)
class Annotations(Displayed):
    """The answers of all annotators to the items of a study."""

    study: Study
    joined: Joined
    options: CollectOptions
    notes: tuple[str, ...]

    @property
    def annotators(self) -> list[str]:
        """The names of those who judge, without whoever settles disagreements."""
        return [name for name in self.joined.records if name != ADJUDICATOR]

    @cached_property
    def units(self) -> list[Unit]:
        """What was judged, with the answers of the annotators."""
        return [unit for item in self.study.items for unit in _units(self.study, item, self._answers(item))]

    def _answers(self, item: Item) -> dict[str, float | Chosen]:
        """The finished answers of the annotators to an item."""
        given = ((name, self.joined.records[name].get(item.id)) for name in self.annotators)
        found = ((name, record.answer) for name, record in given if record is not None)
        return {name: a for name, a in found if a is not None and not (isinstance(a, Chosen) and not a.done)}

    def _settled(self, item: Item) -> float | Chosen | None:
        """What the adjudicator answers to an item."""
        record = self.joined.records.get(ADJUDICATOR, {}).get(item.id)
        answer = None if record is None else record.answer
        return None if isinstance(answer, Chosen) and not answer.done else answer

    # ------------------------------------------------------------------ agreement

    def values(self, offered: bool = False) -> Floats:
        """Return the answers as [units, annotators], NaN where there is none; `offered` excludes phrases that were
        added.
        """
        units = self._offered() if offered else self.units
        rows = [[unit.answers.get(name, np.nan) for name in self.annotators] for unit in units]
        return np.array(rows, dtype=np.float64).reshape(len(units), len(self.annotators))

    def _offered(self) -> list[Unit]:
        return [unit for unit in self.units if not unit.phrase or unit.phrase in unit.item.predicted]

    def agreement(self) -> dict[str, Any]:
        """Return Krippendorff's alpha at the level of the scale, and the share of units with equal answers of all.

        Both have 95 % confidence intervals, by jackknife of documents.
        """
        values = self.values(offered=True)
        several = (~np.isnan(values)).sum(axis=1) > 1
        number = {name: n for n, name in enumerate(dict.fromkeys(unit.item.document for unit in self.units))}
        documents = np.array([number[unit.item.document] for unit in self._offered()], dtype=np.int64)
        alpha = alpha_with_interval(values, self.study.answers.level, documents)
        exact = all_equal(values, documents)
        return {
            "level": self.study.answers.level,
            "alpha": _finite(alpha.value),
            "alpha_ci": [_finite(end) for end in alpha.interval],
            "units": int(several.sum()),
            "exact": _finite(exact.value),
            "exact_ci": [_finite(end) for end in exact.interval],
        }

    def _equal_with_others(self, name: str) -> float | None:
        """The share of the answers of others, to what an annotator answers, that are the same."""
        values, own = self.values(offered=True), self.annotators.index(name)
        others = np.delete(values, own, axis=1)
        mine = np.broadcast_to(values[:, own, None], others.shape)
        both = ~np.isnan(mine) & ~np.isnan(others)
        return float((mine[both] == others[both]).mean()) if both.any() else None

    # ------------------------------------------------------------------ what is left to settle

    def disagreements(self) -> list[dict[str, Any]]:
        """What annotators disagree on and nobody has settled: the item, what it is, and every answer."""
        return [
            {
                "item": unit.item.id,
                "document": unit.item.document,
                "systems": list(unit.item.systems),
                "judged": _judged(self.study, unit),
                "answers": dict(unit.answers),
            }
            for unit in self.units
            if self._disagree(unit) and self._settled(unit.item) is None
        ]

    def _disagree(self, unit: Unit) -> bool:
        """Whether answers are too far apart: by the gap, or of phrases, where none is given, a tie."""
        given = list(unit.answers.values())
        if not given:
            return False
        if self.options.gap is None and self.study.task in ("phrase", "reference"):
            return self._majority(given) is None
        gap = self.options.gap if self.options.gap is not None else self.study.answers.width / 2
        return max(given) - min(given) >= gap - ROUNDING

    def _majority(self, given: Sequence[float]) -> bool | None:
        """Whether a phrase is accepted by those who judged it; None where nobody did, and of a tie."""
        if not given:
            return None
        if self.options.votes is not None:
            return sum(given) >= self.options.votes
        return None if 2 * sum(given) == len(given) else 2 * sum(given) > len(given)

    def adjudication(self) -> str | None:
        """A sheet with the items that are to be settled, for an adjudicator; None where there are none."""
        from karat.annotation.rendering import sheet

        open_ = list(dict.fromkeys(each["item"] for each in self.disagreements()))
        if not open_:
            return None
        given = {number: list(self._said(self.study.by_id[number])) for number in open_}
        return sheet(self.study, ADJUDICATOR, shuffled(open_, self.study.seed, "order", ADJUDICATOR), given)

    def _said(self, item: Item) -> Iterator[str]:
        """What annotators answered to an item, without their names; of a document the phrases that they added."""
        if self.study.task == "reference":
            yield from (u.phrase for u in self.units if u.item is item and u.phrase not in item.predicted)
            return
        labels = {step.value: step.label for step in self.study.answers.steps}
        for answer in sorted(a for a in self._answers(item).values() if not isinstance(a, Chosen)):
            yield labels[answer]

    # ------------------------------------------------------------------ what the answers make

    def scores(self) -> list[dict[str, Any]]:
        """The scores of sets or pairs, as `karat human` reads them: one for each item and annotator."""
        self._only("scores", "set", "pair")
        return [
            {**_scored(unit.item), "annotator": name, "score": score}
            for unit in self.units
            for name, score in unit.answers.items()
        ]

    def resolved(self) -> list[dict[str, Any]]:
        """One score for each item: the adjudicator's, or else the majority's, of a tie the nearest to the median."""
        self._only("resolved scores", "set", "pair")
        found = []
        for unit in self.units:
            settled = self._settled(unit.item)
            if settled is None and unit.answers:
                settled = float(combined(np.array([[*unit.answers.values()]]), "majority")[0])
            if settled is not None:
                found.append({**_scored(unit.item), "annotator": RESOLVED, "score": settled})
        return found

    def accepted(self) -> list[dict[str, Any]]:
        """The phrases that were judged, as `--extra-references` reads them: `accept` is None where it is a tie."""
        self._only("accepted phrases", "phrase", "reference")
        return [
            {"id": item.document, "phrase": phrase, "systems": list(item.systems), "accept": accept}
            for item in self.study.items
            for phrase, accept in self._decided(item)
        ]

    def _decided(self, item: Item) -> Iterator[tuple[str, bool | None]]:
        settled = self._settled(item)
        if isinstance(settled, Chosen):
            yield from ((unit.phrase, bool(unit.answers[""])) for unit in _units(self.study, item, {"": settled}))
            return
        for unit in _units(self.study, item, self._answers(item)):
            given = list(unit.answers.values())
            if given or settled is not None:
                phrase = unit.phrase or item.phrase
                yield phrase, bool(settled) if settled is not None else self._majority(given)

    def _only(self, what: str, *tasks: str) -> None:
        if self.study.task not in tasks:
            other = "accepted()" if "set" in tasks else "scores()"
            flag = "--accepted" if "set" in tasks else "--scores"
            raise InputError(f"there are no {what} of the task {self.study.task}; take {flag}, in Python {other}")

    def save(self, path: str | Path, what: str = "") -> None:
        """Writes `scores`, `resolved` scores or `accepted` phrases; without `what`, those that the task has.

        The name of the file chooses between JSON lines, CSV, TSV and Parquet.
        """
        chosen = what or ("scores" if self.study.task in ("set", "pair") else "accepted")
        if chosen == "accepted":
            accepted = self.accepted()
            review = read_review(path)
            _check_decisions(path, review, accepted)
            write_review(path, accepted, review.columns)
            return
        from karat.formats.containers import container_of, save

        save(str(path), self.scores() if chosen == "scores" else self.resolved(), container_of(str(path)))

    def save_adjudication(self, path: str | Path) -> bool:
        """Writes a sheet for an adjudicator; False where there is nothing to settle, and no file then."""
        content = self.adjudication()
        if content is not None:
            write_beside(path, content.encode(errors="replace"))
        return content is not None

    # ------------------------------------------------------------------ what is shown

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each annotator: how many items were asked and answered, comments, seconds, agreement."""
        return [self._row(name) for name in self.joined.records]

    def _row(self, name: str) -> dict[str, Any]:
        records = self.joined.records[name]
        finished = [r for r in records.values() if not (isinstance(r.answer, Chosen) and not r.answer.done)]
        asked = self.study.annotators.get(name)
        seconds = [record.seconds for record in finished if record.seconds]
        return {
            "annotator": name,
            "asked": None if asked is None else len(asked),
            "answered": len(finished),
            "comments": sum(bool(record.comment.strip()) for record in records.values()),
            "seconds": median(seconds) if seconds else None,
            "equal": None if name == ADJUDICATOR else self._equal_with_others(name),
            "files": list(self.joined.files.get(name, ())),
        }

    def comments(self) -> list[dict[str, Any]]:
        """What annotators remarked."""
        return [
            {"annotator": name, "item": n, "document": self.study.by_id[n].document, "comment": record.comment}
            for name, records in self.joined.records.items()
            for n, record in records.items()
            if record.comment.strip()
        ]

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        study = self.study
        return {
            "study": study.id,
            "task": study.task,
            "scale": study.scale,
            "items": len(study.items),
            "agreement": self.agreement(),
            "rows": self.rows(),
            "disagreements": self.disagreements(),
            "comments": self.comments(),
            "notes": list(self.notes),
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output."""
        return [row | {"files": "; ".join(row["files"])} for row in self.rows()]

    def tables(self) -> Iterator[Table]:
        """Progress, agreement, and what is left to settle."""
        yield self._progress()
        yield Table(notes=[self._agreement()])
        open_ = self.disagreements()
        if open_:
            yield self._open(open_)

    def _progress(self) -> Table:
        study = self.study
        columns = [
            Column("asked", COUNT),
            Column("answered", COUNT),
            Column("comments", COUNT),
            Column("seconds", Kind(fixed(1)), help="the median of an item"),
            Column("% equal", PERCENT, help="answers of others that are the same"),
        ]
        rows = [
            (row["annotator"], [row[name] for name in ("asked", "answered", "comments")] + _cells(row))
            for row in self.rows()
        ]
        title = f"{study.corpus}: {counted(len(study.items), 'item')} of the task {study.task}, study {study.id}"
        about = "seconds: the median of an item; % equal: of the answers of others to the same items."
        return Table(title, "annotator", columns, rows_of(rows), notes=[about])

    def _agreement(self) -> str:
        found = self.agreement()
        what = "offered phrase" if self.study.task == "reference" else "item"
        if not found["units"]:
            return f"Krippendorff's alpha is undefined: no {what} has two answers."
        ends = _ends(found["exact_ci"], 100, "{:.1f}".format)
        equal = f"All answers are equal on {100 * found['exact']:.1f} %{ends} of these."
        several = f"{counted(found['units'], what)} with two answers or more"
        if found["alpha"] is None:
            return f"Krippendorff's alpha is undefined on {several}: no two answers differ. {equal}"
        ends = _ends(found["alpha_ci"], 1, number)
        bare = "" if ends else " Alpha has no interval: too few documents, or too few different answers."
        text = f"Krippendorff's alpha ({found['level']}) {number(found['alpha'])}{ends} on {several}. {equal}{bare}"
        return f"{text} In brackets: 95 % confidence intervals."

    def _open(self, found: Sequence[Mapping[str, Any]]) -> Table:
        names = self.annotators
        label = {step.value: step.label for step in self.study.answers.steps}
        rows = [
            (
                str(each["item"]),
                [each["document"], each["judged"], *(label.get(each["answers"].get(n), "") for n in names)],
            )
            for each in found[:SHOWN]
        ]
        columns = [Column("document", TEXT), Column("judged", TEXT), *(Column(name, TEXT) for name in names)]
        more = [f"{len(found) - SHOWN:,} more are in the JSON output."] if len(found) > SHOWN else []
        title = f"To settle: {counted(len(found), 'disagreement')}"
        return Table(title, "item", columns, rows_of(rows), notes=[*more, "--adjudicate FILE makes a sheet of them."])


def _check_decisions(path: str | Path, review: Review, accepted: Sequence[Mapping[str, Any]]) -> None:
    """Raises InputError if a file holds decisions that writing the accepted phrases would change or remove."""
    new = {(row["id"], row["phrase"]): row["accept"] for row in accepted}
    if any(new.get(key) != row["accept"] or len(row) > 2 for key, row in review.rows.items()):
        raise InputError(f"{path}: holds decisions or remarks that are not in these answers; name another file")


def _finite(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _ends(ends: Sequence[float | None], factor: float, shown: Callable[[float], str]) -> str:
    """Return an interval in brackets, or nothing where it is undefined."""
    low, high = ends
    return "" if low is None or high is None else f" [{shown(factor * low)}, {shown(factor * high)}]"


def _cells(row: Mapping[str, Any]) -> list[Any]:
    return [Cell(row["seconds"]), Cell(row["equal"])]


def _units(study: Study, item: Item, answers: Mapping[str, float | Chosen]) -> Iterator[Unit]:
    """An item with its answers; of a document each phrase that was offered or added, chosen or not."""
    if study.task != "reference":
        yield Unit(item, "", {name: answer for name, answer in answers.items() if not isinstance(answer, Chosen)})
        return
    chosen = {name: answer for name, answer in answers.items() if isinstance(answer, Chosen)}
    if not chosen:
        return
    offered = {_form(phrase): number for number, phrase in enumerate(item.predicted)}
    picked = {name: {*a.chosen, *(offered.get(_form(p), _form(p)) for p in a.added)} for name, a in chosen.items()}
    added = {_form(p): " ".join(p.split()) for answer in chosen.values() for p in answer.added}
    phrases: dict[int | str, str] = dict(enumerate(item.predicted))
    phrases |= {form: phrase for form, phrase in added.items() if form not in offered}
    for key, phrase in phrases.items():
        yield Unit(item, phrase, {name: float(key in own) for name, own in picked.items()})


def _form(phrase: str) -> str:
    """By which form phrases that annotators add are the same."""
    return " ".join(phrase.casefold().split())


def _scored(item: Item) -> dict[str, Any]:
    if item.reference:
        return {"id": item.document, "prediction": item.phrase, "reference": item.reference}
    return {"id": item.document, "system": item.systems[0]}


def _judged(study: Study, unit: Unit) -> str:
    if study.task == "set":
        return unit.item.systems[0]
    if study.task == "pair":
        return f"{unit.item.phrase} / {unit.item.reference}"
    return unit.phrase or unit.item.phrase


@public(CollectOptions)
def collect_annotations(
    study: str | Path, *files: str | Path, gap: float | None = None, votes: int | None = None
) -> Annotations:
    """The answers in files that sheets saved, or in exports of Label Studio, to the study in a folder.

    Without files those in the folder are taken. Of several answers of an annotator to an item the newest counts. Raises
    InputError if a file is damaged, of another study, or has an answer that the scale does not.
    """
    options = options_from(CollectOptions, locals())
    found = load_study(study)
    paths = list(_answer_files(Path(study), files))
    if not paths:
        raise InputError(f"{study}: there are no files of answers; give the .json files that annotators saved")
    joined = join_answers((each for path in paths for each in read_answers(path, found)), found)
    judges = [name for name, own in joined.records.items() if own and name != ADJUDICATOR]
    if votes is not None and votes > len(judges):
        raise InputError(
            f"{votes} votes for a phrase cannot be: there are answers of {counted(len(judges), 'annotator')}"
        )
    return Annotations(found, joined, options, tuple(_notes(found, joined)))


def _answer_files(study: Path, files: Iterable[str | Path]) -> Iterator[Path]:
    """The files to read: those given or those in the folder, without the study itself."""
    own = study / FILE if study.is_dir() else study
    given = list(map(Path, files))
    there = given or sorted(own.parent.glob("*.json"))
    for path in there:
        if not (path.is_file() and path.samefile(own)) and not (path.name == "tasks.json" and not given):
            yield path


def _notes(study: Study, joined: Joined) -> Iterator[str]:
    if joined.unchecked:
        yield (
            f"{counted(len(joined.unchecked), 'file')} of sheets without a token ({some(joined.unchecked)}): whose "
            "answers they are rests on the name alone"
        )
    for name, own in joined.records.items():
        if joined.older.get(name):
            count = counted(joined.older[name], "answer")
            yield f"{name}: {count} replaced by newer ones of the same annotator; the newest answer of an item counts"
        asked = study.annotators.get(name)
        unfinished = sum(isinstance(record.answer, Chosen) and not record.answer.done for record in own.values())
        if unfinished:
            yield f"{name}: {counted(unfinished, 'document')} begun and not done, left out"
        if asked is not None and not joined.files.get(name):
            yield f"{name}: no file of answers"
