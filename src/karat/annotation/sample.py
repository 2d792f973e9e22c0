"""Which items are judged, by whom, and in which order: balanced, blind and the same for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import TypeVar

import msgspec

from karat.annotation.study import Item

T = TypeVar("T")
Cell = tuple[str, str]  # system, stratum


def shuffled(values: Iterable[T], seed: int, *purpose: object) -> list[T]:
    """The values in an order that depends on the seed and the purpose alone.

    >>> shuffled("abcd", 1, "order") == shuffled("abcd", 1, "order")
    True
    """
    found = list(values)
    Random(":".join(map(str, (seed, *purpose)))).shuffle(found)
    return found


def balanced(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """So many of the items, taken so that systems, and the strata of each, are as equally frequent as they can be.

    Every beginning of the list is balanced, too. An item of several systems counts for each of them. Documents come in
    one random order for all systems, so that these share documents as far as strata allow, and a second item of a
    document after the first ones of the others.
    """
    rank = {document: n for n, document in enumerate(shuffled(dict.fromkeys(i.document for i in items), seed, "pick"))}
    queues: dict[Cell, list[tuple[int, int, Item]]] = {}
    nth: Counter[tuple[Cell, str]] = Counter()
    for item in shuffled(items, seed, "items"):
        for cell in _cells(item):
            queues.setdefault(cell, []).append((nth[cell, item.document], rank[item.document], item))
            nth[cell, item.document] += 1
    for queue in queues.values():
        queue.sort(key=lambda each: each[:2], reverse=True)  # the next one is the last
    chosen: dict[int, Item] = {}
    taken: Counter[object] = Counter()
    order = {cell: n for n, cell in enumerate(queues)}
    while len(chosen) < count and queues:
        cell = min(queues, key=lambda each: (taken[each[0]], taken[each], order[each]))
        _, _, item = queues[cell].pop()
        if not queues[cell]:
            del queues[cell]
        if item.id not in chosen:
            chosen[item.id] = item
            for own in _cells(item):
                taken[own] += 1
            taken.update(item.systems or ("",))
    return list(chosen.values())


def _cells(item: Item) -> Iterator[Cell]:
    return ((system, item.stratum) for system in item.systems or ("",))


def numbered(items: Sequence[Item], seed: int) -> list[Item]:
    """The items in the same order, with new ids from 1 on that say nothing about them."""
    ids = shuffled(range(1, len(items) + 1), seed, "ids")
    return [msgspec.structs.replace(item, id=number) for item, number in zip(items, ids, strict=True)]


def dealt(items: Sequence[Item], annotators: Sequence[str], overlap: float, seed: int) -> Mapping[str, tuple[int, ...]]:
    """The items of each annotator, in an order of their own: the shared ones, and a part of the others.

    The first items, a share of `overlap` of all, are for everybody. The others are for one annotator each: of every
    round, in which each gets one, an item goes to whoever has the fewest of its systems, and of these of its stratum.
    """
    shared = round(overlap * len(items))
    own: dict[str, list[int]] = {name: [item.id for item in items[:shared]] for name in annotators}
    seen: dict[str, Counter[object]] = {name: Counter() for name in annotators}
    waiting: list[str] = []
    for item in items[shared:]:
        waiting = waiting or list(annotators)
        systems, cells = item.systems or ("",), list(_cells(item))
        counts = {name: (sum(seen[name][s] for s in systems), sum(seen[name][c] for c in cells)) for name in waiting}
        name = min(waiting, key=counts.__getitem__)
        waiting.remove(name)
        seen[name].update([*systems, *cells])
        own[name].append(item.id)
    return {name: tuple(shuffled(ids, seed, "order", name)) for name, ids in own.items()}
