"""Label Studio, for teams that have a server of it: the items as tasks, the labelling interface, and its export back.

A task is `{"data": {...}}`, whose fields the interface shows by name; an export is the list of tasks, each with its
`annotations`: who made one (`completed_by`), when, in how many seconds (`lead_time`), and its `result`, a list of
`{"from_name": ..., "type": "choices", "value": {"choices": [...]}}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import quoteattr

import msgspec

from karat.annotation.answers import Answers, Chosen, Record
from karat.annotation.study import Item, Study
from karat.annotation.tasks import TASKS
from karat.errors import InputError
from karat.formats.base import brief, quoted
from karat.formats.load import decoded_json
from karat.inert import inert, neutral

ANSWER, ADDED, COMMENT = "answer", "added", "comment"  # names of the controls
NOTHING = "–"  # it shows no empty text


# ---------------------------------------------------------------------------------------------- out


def tasks(study: Study) -> str:
    """All items of a study as tasks; `annotators` says whose sheets an item is in."""
    found = [{"data": _data(study, item)} for item in study.items]
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"


def _data(study: Study, item: Item) -> dict[str, Any]:
    text = study.documents[item.document]
    names = [name for name, own in study.annotators.items() if item.id in own]
    data: dict[str, Any] = {"study": study.id, "item": item.id, "annotators": ", ".join(names)}
    data |= {"title": inert(text.title), "text": neutral(text.text) or inert(text.title) or NOTHING}
    if study.task == "set":
        data |= {"keyphrases": _lines(item.predicted), "reference": _lines(item.references)}
    elif study.task == "pair":
        pair = [inert(item.phrase), inert(item.reference)]
        data["first"], data["second"] = pair[::-1] if item.swapped else pair
    elif study.task == "phrase":
        data["phrase"] = inert(item.phrase)
    else:
        data["candidates"] = [{"value": inert(phrase), "alias": str(n)} for n, phrase in enumerate(item.predicted)]
    return data


def _lines(phrases: Sequence[str]) -> str:
    return "\n".join(map(inert, phrases)) or NOTHING


_SHOWN = {
    "set": (("Keyphrases", "keyphrases"), ("Reference", "reference")),
    "pair": (("First phrase", "first"), ("Second phrase", "second")),
    "phrase": (("Phrase", "phrase"),),
    "reference": (),
}


def configuration(study: Study) -> str:
    """The labelling interface of a study's task, as XML."""
    task = TASKS[study.task]
    lines = ["<View>", f"  <Header value={quoteattr(task.question)}/>"]
    lines += [f'  <Text name="about{n}" value={quoteattr(each)}/>' for n, each in enumerate(task.instructions, 1)]
    for name, field in _SHOWN[study.task]:
        lines += [f'  <Header value={quoteattr(name)} size="5"/>', f'  <Text name="{field}" value="${field}"/>']
    if study.task == "reference":
        lines += [f'  <Choices name="{ANSWER}" toName="text" choice="multiple" value="$candidates"/>']
        lines += [f'  <TextArea name="{ADDED}" toName="text" placeholder="A phrase to add" maxSubmissions="100"/>']
    else:
        lines += [f'  <Choices name="{ANSWER}" toName="text" choice="single-radio" showInline="true" required="true">']
        lines += [
            f"    <Choice value={quoteattr(_named(step.label, step.meaning))} alias={quoteattr(f'{step.value:g}')} "
            f'hotkey="{step.key}"/>'
            for step in study.answers.steps
        ]
        lines += ["  </Choices>"]
    lines += ['  <Header value="$title" size="4"/>', '  <Text name="text" value="$text"/>']
    lines += [f'  <TextArea name="{COMMENT}" toName="text" placeholder="Comment" maxSubmissions="1"/>', "</View>"]
    return "\n".join(lines) + "\n"


def _named(label: str, meaning: str) -> str:
    return f"{label}: {meaning}" if meaning else label


# ---------------------------------------------------------------------------------------------- in


class _User(msgspec.Struct, frozen=True):
    id: int | str | None = None
    email: str | None = None
    username: str | None = None


class _Annotation(msgspec.Struct, frozen=True):
    result: list[dict[str, Any]] = []
    completed_by: int | str | _User | None = None
    was_cancelled: bool = False
    created_at: str | None = None
    updated_at: str | None = None
    lead_time: float | None = None


class _Task(msgspec.Struct, frozen=True):
    data: dict[str, Any]
    annotations: list[_Annotation] = []


def read_export(content: bytes, where: str, study: Study) -> Iterator[Answers]:
    """The answers of each annotator in an export; annotations that were skipped are left out."""
    hint = "export as JSON, not as JSON-MIN or CSV"
    found: list[_Task] = decoded_json(content, list[_Task], where, "not an export of Label Studio", hint)
    records: dict[str, dict[int, Record]] = {}
    for place, task in enumerate(found, 1):
        item = _item(task, f"{where}: task {place}", study)
        for annotation in task.annotations:
            if annotation.was_cancelled:
                continue
            record = _record(annotation, item, f"{where}: item {item.id}", study)
            own = records.setdefault(_who(annotation.completed_by), {})
            before = own.get(item.id)
            if before is None or before.at < record.at:
                own[item.id] = record
    return iter([Answers(where, name, own) for name, own in records.items()])


def _item(task: _Task, where: str, study: Study) -> Item:
    if task.data.get("study") != study.id:
        raise InputError(f"{where}: is of the study {quoted(str(task.data.get('study')))}, not of {study.id}")
    number = task.data.get("item")
    if not isinstance(number, int) or number not in study.by_id:
        raise InputError(f"{where}: there is no item {brief(repr(number), 40)} in the study")
    return study.by_id[number]


def _who(given: int | str | _User | None) -> str:
    if isinstance(given, _User):
        given = given.email or given.username or given.id
    return "user" if given is None else f"user {given}" if isinstance(given, int) else str(given)


def _record(annotation: _Annotation, item: Item, where: str, study: Study) -> Record:
    chosen, added, comment = (_values(annotation.result, name) for name in (ANSWER, ADDED, COMMENT))
    answer: float | Chosen | None
    if study.task == "reference":
        answer = Chosen(tuple(_candidate(text, item, where) for text in chosen), tuple(filter(str.strip, added)), True)
    else:
        answer = _step(chosen, study, where) if chosen else None
    seconds = max(annotation.lead_time or 0.0, 0.0)
    return Record(answer, _time(annotation, where), " ".join(comment)[:100_000], seconds)


def _values(result: Sequence[dict[str, Any]], name: str) -> list[str]:
    """What a control holds: choices, or lines of text."""
    found: list[str] = []
    for each in result:
        value = each.get("value")
        if each.get("from_name") == name and isinstance(value, dict):
            given = value.get("choices") or value.get("text") or ()
            found += [text for text in ([given] if isinstance(given, str) else given) if isinstance(text, str)]
    return found


def _step(chosen: Sequence[str], study: Study, where: str) -> float:
    steps = study.answers.steps
    known = {f"{step.value:g}": step.value for step in steps}
    known |= {_named(step.label, step.meaning): step.value for step in steps}
    if len(chosen) != 1 or chosen[0] not in known:
        shown = brief(", ".join(chosen), 60)
        raise InputError(f"{where}: {quoted(shown)} is no answer on the scale {study.scale}")
    return known[chosen[0]]


def _candidate(text: str, item: Item, where: str) -> int:
    """The number of a candidate, by its alias or by its text."""
    if text.isascii() and text.isdigit() and len(text) < 6 and int(text) < len(item.predicted):
        return int(text)
    shown = [inert(phrase) for phrase in item.predicted]
    if text not in shown:
        raise InputError(f"{where}: {quoted(text)} is none of the candidates")
    return shown.index(text)


def _time(annotation: _Annotation, where: str) -> float:
    """When an annotation was made, in milliseconds since 1970."""
    text = annotation.updated_at or annotation.created_at
    if text is None:
        return 0.0
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{where}: {quoted(text)} is no time, as 2026-11-17T15:00:00Z") from None
    at = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    return max(at, 0.0) * 1000
