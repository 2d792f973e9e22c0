"""What can be judged: sets, pairs, phrases and documents of a corpus and its runs, each a look of one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from karat.analyses.nearmiss import NearMiss, NearMissOptions
from karat.analyses.nearmiss import in_pass as near_misses_in_pass
from karat.annotation.study import Item, Text
from karat.annotation.tasks import TaskName
from karat.corpus import Corpus
from karat.errors import InputError, counted
from karat.matching.columns import PRMU, Aligned, Bools
from karat.matching.fusing import fuse
from karat.matching.inputs import as_protocols
from karat.matching.passes import Pass, View, look_at
from karat.metrics.base import parse_request
from karat.options import JoinOptions, flat, options_from
from karat.protocol import Protocol, whole_number

HALF = 0.5  # of F1: the strata of sets are those that find nothing, less than this, and more


@dataclass(frozen=True, slots=True)
class Source:
    """Where items come from: the task, how phrases are matched, and how many predictions of a document count."""

    task: TaskName
    protocol: Protocol
    cutoff: str
    known: bool  # whether predictions that are references are judged, too
    at_least: int = 1  # how many systems must predict a phrase


@dataclass(frozen=True, slots=True)
class Found:
    """The items of some documents, and how many documents had to be left out."""

    items: list[Item]
    without_references: int = 0
    without_text: int = 0


def in_pass(reading: Pass, source: Source, join: JoinOptions) -> Callable[[], Found]:
    """Registers the look that finds the items of a task; what comes back gives them once the pass has run."""
    _check_cutoff(source.cutoff)
    if source.task == "pair":
        return _pairs_in_pass(reading, source, join)
    look = {"set": _sets, "phrase": _phrases, "reference": _documents}[source.task]
    answers = reading.look(partial(look, source))

    def finish() -> Found:
        items = [item for part in answers.parts for item in part.items]
        numbered = [_with_id(item, number) for number, item in enumerate(items)]
        return Found(numbered, *(sum(getattr(part, name) for part in answers.parts) for name in _LEFT_OUT))

    return finish


_LEFT_OUT = ("without_references", "without_text")


def _with_id(item: Item, number: int) -> Item:
    import msgspec

    return msgspec.structs.replace(item, id=number)


def _check_cutoff(cutoff: str) -> None:
    if cutoff not in ("M", "O", "G") and whole_number(cutoff) is None:
        raise InputError(f"the cutoff of items is a number from 1 on, M, O or G, not {cutoff!r}")


def _within(aligned: Aligned, cutoff: str) -> Bools:
    """Which rows of a run's predictions count: the first ones of each document, without what the protocol drops."""
    request = parse_request(f"r@{cutoff}:all")
    assert request.cutoff is not None
    ranked = aligned.ranked("all")
    depth = aligned.depth(request.cutoff, "all")
    found = np.zeros(len(aligned.predictions.document), dtype=bool)
    found[ranked.row[ranked.rank < depth[ranked.document]]] = True
    return found


def _surfaces(aligned: Aligned) -> list[str]:
    return [surface.strip() for surface in aligned.prepared.surfaces]


def _references(aligned: Aligned) -> list[list[str]]:
    """The references of each document, each by its first variant."""
    r, surfaces = aligned.references, _surfaces(aligned)
    first = np.unique(r.variant_reference, return_index=True)[1]
    found: list[list[str]] = [[] for _ in range(aligned.documents)]
    for reference, variant in zip(r.variant_reference[first].tolist(), first.tolist(), strict=True):
        found[int(r.document[reference])].append(surfaces[int(r.variant_surface[variant])])
    return found


# ---------------------------------------------------------------------------------------------- sets


def _sets(source: Source, view: View) -> Found:
    """What each run predicts for each document that has references."""
    found: list[Item] = []
    references: list[list[str]] = [[] for _ in view.ids]
    for s, system in enumerate(view.setup.systems):
        aligned = view.aligned(s, source.protocol)
        references, surfaces = _references(aligned), _surfaces(aligned)
        phrases: list[list[int]] = [[] for _ in view.ids]
        hits = [0] * len(view)
        p = aligned.predictions
        for row in np.flatnonzero(_within(aligned, source.cutoff)).tolist():
            phrases[int(p.document[row])].append(int(p.surface[row]))
            hits[int(p.document[row])] += int(p.hit[row]) >= 0
        left_out = set(view.left_out(s))
        for d, identifier in enumerate(view.ids):
            if references[d] and d not in left_out:
                stratum = _found_share(hits[d], len(phrases[d]), len(references[d]))
                predicted = tuple(surfaces[n] for n in phrases[d])
                found.append(Item(0, identifier, stratum, (system,), predicted, tuple(references[d])))
    return Found(found, without_references=sum(not own for own in references))


def _found_share(hits: int, predicted: int, references: int) -> str:
    """How much a set finds, in words: nothing, less than half by F1, or more.

    >>> _found_share(0, 3, 4), _found_share(1, 3, 4), _found_share(3, 3, 4)
    ('none found', 'some found', 'most found')
    """
    f1 = 2 * hits / (predicted + references) if hits else 0.0
    return "none found" if not hits else "some found" if f1 < HALF else "most found"


# ---------------------------------------------------------------------------------------------- phrases


def _phrases(source: Source, view: View) -> Found:
    """The distinct predictions for each document; without `known` those that are no references."""
    aligned = [view.aligned(s, source.protocol) for s in range(len(view.setup.systems))]
    fused = fuse(aligned, chosen=[_within(each, source.cutoff) for each in aligned])
    hits = fused.of_each([each.predictions.hit for each in aligned])
    kept = fused.take((fused.votes >= source.at_least) & (source.known | (hits < 0)))
    prmu = kept.of_each([each.prediction_prmu() for each in aligned]).tolist()
    shown = kept.of_each([each.predictions.surface for each in aligned]).tolist()
    surfaces = _surfaces(aligned[0])
    has_text = _has_text(view)
    found = [
        Item(0, view.ids[d], f"class {PRMU[prmu[n]]}", _names(view, kept.has[n]), phrase=surfaces[shown[n]])
        for n, d in enumerate(kept.document.tolist())
        if has_text[d]
    ]
    return Found(found, without_text=has_text.count(False))


def _names(view: View, has: Bools) -> tuple[str, ...]:
    return tuple(view.setup.systems[s] for s in np.flatnonzero(has).tolist())


def _has_text(view: View) -> list[bool]:
    return [bool((each.title or "").strip() or (each.text or "").strip()) for each in view.documents]


# ---------------------------------------------------------------------------------------------- documents

LENGTHS = ((100, "up to 100 words"), (300, "101 to 300 words"), (1000, "301 to 1,000 words"))
LONGER = "more than 1,000 words"


def _documents(source: Source, view: View) -> Found:
    """Every document that has a text, with the distinct predictions of all runs as candidates."""
    candidates: list[list[str]] = [[] for _ in view.ids]
    aligned = [view.aligned(s, source.protocol) for s in range(len(view.setup.systems))]
    if aligned:
        fused = fuse(aligned, chosen=[_within(each, source.cutoff) for each in aligned])
        surfaces = _surfaces(aligned[0])
        shown = fused.of_each([each.predictions.surface for each in aligned]).tolist()
        for d, surface in zip(fused.document.tolist(), shown, strict=True):
            candidates[d].append(surfaces[surface])
    has_text = _has_text(view)
    found = [
        Item(0, view.ids[d], _length(f"{each.title or ''} {each.text or ''}"), predicted=tuple(candidates[d]))
        for d, each in enumerate(view.documents)
        if has_text[d]
    ]
    return Found(found, without_text=has_text.count(False))


def _length(text: str) -> str:
    words = len(text.split())
    return next((name for most, name in LENGTHS if words <= most), LONGER)


# ---------------------------------------------------------------------------------------------- pairs


def _pairs_in_pass(reading: Pass, source: Source, join: JoinOptions) -> Callable[[], Found]:
    """The near misses of the runs: a prediction beside the reference that it is nearest to."""
    known: dict[tuple[str, str, str], tuple[str, list[str]]] = {}

    def take(near: Iterable[NearMiss]) -> None:
        for each in near:
            stratum = f"{each.classes.location}, {each.classes.direction}"
            systems = known.setdefault((each.id, each.prediction, each.reference), (stratum, []))[1]
            if each.system not in systems:
                systems.append(each.system)

    own = {"protocol": source.protocol, "cutoff": source.cutoff, "examples": 0, "pairs": take}
    options = options_from(NearMissOptions, own | flat(join))
    finish_near = near_misses_in_pass(reading, options)

    def finish() -> Found:
        finish_near()
        return Found(list(_as_items(known)))

    return finish


def _as_items(known: Mapping[tuple[str, str, str], tuple[str, list[str]]]) -> Iterator[Item]:
    for number, ((document, prediction, reference), (stratum, systems)) in enumerate(known.items()):
        yield Item(number, document, stratum, tuple(systems), phrase=prediction, reference=reference)


# ---------------------------------------------------------------------------------------------- texts


def texts_of(corpus: Corpus, items: Sequence[Item], jobs: int) -> dict[str, Text]:
    """The titles and texts of the documents of some items, in corpus order."""
    wanted = frozenset(item.document for item in items)
    return {
        identifier: text for part in look_at(corpus, partial(_texts, wanted), jobs=jobs) for identifier, text in part
    }


def _texts(wanted: frozenset[str], view: View) -> list[tuple[str, Text]]:
    if wanted.isdisjoint(view.ids):
        return []
    return [
        (identifier, Text(each.title or "", each.text or ""))
        for identifier, each in zip(view.ids, view.given, strict=True)
        if identifier in wanted
    ]


def left_out(found: Found) -> Iterator[str]:
    """Notes on the documents that could not be judged."""
    for count, what in ((found.without_references, "references"), (found.without_text, "a title or text")):
        if count:
            yield f"{counted(count, 'document')} without {what} left out"


def protocol_of(text: str | Protocol, language: str | None) -> Protocol:
    """The one protocol by which phrases are matched."""
    [found] = as_protocols([text], language)
    return found


def by_stratum(items: Iterable[Item]) -> Counter[str]:
    """How many items each stratum has."""
    return Counter(item.stratum for item in items)
