"""A sheet as one page: it opens from disk, runs no script but its own, and keeps the answers in the browser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from karat.annotation.study import ADJUDICATOR, Item, Study
from karat.annotation.tasks import TASKS
from karat.inert import inert, neutral
from karat.output.page.packing import squeezed
from karat.output.page.shell import asset, blocks, environment, policy, raw

Given = Mapping[int, Iterable[str]]  # by item, what annotators answered, in words


def sheet(study: Study, annotator: str, order: Iterable[int] | None = None, given: Given | None = None) -> str:
    """The sheet of an annotator: the items of that name, or those of an order with what others answered."""
    package = __package__ or ""
    style, script = blocks(package, "sheet")
    items = [study.by_id[number] for number in (study.annotators[annotator] if order is None else order)]
    documents = {document: n for n, document in enumerate(dict.fromkeys(item.document for item in items))}
    task = TASKS[study.task]
    data = {
        "study": study.id,
        "annotator": annotator,
        "token": study.token(annotator),
        "task": study.task,
        "scale": [asdict(step) for step in study.answers.steps],
        "documents": [[inert(study.documents[d].title), neutral(study.documents[d].text)] for d in documents],
        "items": [_shown(study, item, documents[item.document], given or {}) for item in items],
    }
    return (
        environment()
        .from_string(asset(package, "sheet.html"))
        .render(
            task=task,
            name=study.task,
            scale=study.answers,
            annotator=annotator,
            adjudicates=annotator == ADJUDICATOR,
            study=study.id,
            count=len(items),
            policy=policy(style, script),
            style=raw(style),
            script=raw(script),
            data=squeezed(data),
        )
    )


def _shown(study: Study, item: Item, document: int, given: Given) -> dict[str, Any]:
    """What a sheet holds of an item: nothing that tells which system it is of."""
    found: dict[str, Any] = {"id": item.id, "document": document}
    if study.task == "set":
        found |= {"predicted": list(map(inert, item.predicted)), "references": list(map(inert, item.references))}
    elif study.task == "pair":
        pair = [inert(item.phrase), inert(item.reference)]
        found["phrases"] = pair[::-1] if item.swapped else pair
    elif study.task == "phrase":
        found["phrases"] = [inert(item.phrase)]
    else:
        found["candidates"] = list(_candidates(item, given.get(item.id, ())))
        return found
    if item.id in given:
        found["given"] = list(map(inert, given[item.id]))
    return found


def _candidates(item: Item, added: Iterable[str]) -> Iterator[list[Any]]:
    """[key, phrase] of each candidate: its number, or for one that an annotator added the phrase itself."""
    yield from ([number, inert(phrase)] for number, phrase in enumerate(item.predicted))
    yield from ([phrase, inert(phrase)] for phrase in added)
