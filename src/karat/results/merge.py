"""Results put together: those of several corpora beside each other, shards of one corpus as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import zip_longest

import numpy as np

from karat.errors import InputError, counted
from karat.matching.inputs import hash_text
from karat.metrics.base import Request, Rows
from karat.results import Collection, Results, Tally, corpus_of
from karat.results.files import UNCHECKED


def collect(results: Iterable[Results | Collection]) -> Collection:
    """The results of several corpora beside each other; the shards of a corpus are merged.

    Raises InputError if a corpus is there twice, or if a shard is missing.
    """
    found: dict[str, list[Results]] = {}
    for each in results:
        for part in each.parts if isinstance(each, Collection) else (each,):
            found.setdefault(corpus_of(part), []).append(part)
    for name, own in found.items():
        if len(own) > 1 and all(part.part.count == 1 for part in own):
            raise InputError(
                f"{len(own)} of the results are of a corpus named {name!r}: give each corpus once, and name them, "
                "NAME=PATH, if they are several"
            )
    if not found:
        raise InputError("nothing to merge")
    return Collection(tuple(map(merge, found.values())))


def merge(parts: Iterable[Results]) -> Results:
    """The results of the whole corpus from those of all its shards, the same as if it had been scored at once."""
    found = sorted(parts, key=lambda results: results.part.index)
    if not found:
        raise InputError("nothing to merge")
    first, count = found[0], found[0].part.count
    _check_one_corpus(found)
    _check_parts(found, count)
    total = sum(len(results.ids) for results in found)
    ids = np.empty(total, dtype=object)
    for results in found:
        ids[results.part.index - 1 :: count] = results.ids
    scores = tuple(
        replace(score, rows=_interleave([results.scores[i].rows for results in found], count, total))
        for i, score in enumerate(first.scores)
    )
    tallies = tuple(reduce(Tally.plus, same) for same in zip(*(results.tallies for results in found), strict=True))
    lacking: dict[str, list[int]] = {}
    for results in found:
        for system, places in results.lacking.items():
            lacking.setdefault(system, []).extend(place * count + results.part.index - 1 for place in places)
    return Results(
        scores,
        tuple(ids.tolist()),
        _merged_signatures(found),
        tallies,
        first.remarks,
        lacking={system: tuple(sorted(places)) for system, places in lacking.items()},
    )


def _check_one_corpus(found: Sequence[Results]) -> None:
    corpora = dict.fromkeys(results.scores[0].corpus for results in found if results.scores)
    if len(corpora) > 1:
        raise InputError(
            f"results of different corpora ({', '.join(corpora)}) are not shards of one: collect() puts them beside "
            "each other"
        )


def _check_parts(found: Sequence[Results], count: int) -> None:
    have = [results.part.index for results in found]
    if any(results.part.count != count for results in found):
        raise InputError("these results are not shards of one division: their --shard I/N have different N")
    if have != list(range(1, count + 1)):
        lacking = sorted(set(range(1, count + 1)) - set(have))
        twice = sorted({i for i in have if have.count(i) > 1})
        said = [f"shard {i}/{count} is missing" for i in lacking] + [f"shard {i}/{count} is there twice" for i in twice]
        raise InputError("; ".join(said))
    first = _settings_of(found[0])
    for results in found[1:]:
        for what, own in _settings_of(results).items():
            if own != first[what]:
                shard = f"shard {results.part.index}/{count}"
                raise InputError(f"{shard} was scored otherwise than shard 1/{count}: {_apart(what, own, first[what])}")
    _check_documents(found, count)


def _check_documents(found: Sequence[Results], count: int) -> None:
    """Raises InputError if shards are of other documents: not as many as belong there, or one in two of them."""
    known: dict[str, int] = {}
    first = before = len(found[0].ids)
    for results in found:
        index, have = results.part.index, len(results.ids)
        if not first - 1 <= have <= before:  # every N-th document: the last shards may have one fewer
            said = f"shard {index}/{count} has {counted(have, 'document')}, shard 1/{count} has {first:,}"
            raise InputError(f"{said}: these are not shards of the same documents")
        before = have
        twice = next((i for i in results.ids if i in known), None)
        if twice is not None:
            raise InputError(f"the document {twice!r} is in shard {known[twice]}/{count} and in shard {index}/{count}")
        known |= dict.fromkeys(results.ids, index)


def _settings_of(results: Results) -> dict[str, list[str]]:
    """By kind, what results are to have in common to be shards of one scoring."""
    facts = [f"{name}: {_without_hash(signature)}" for name, signature in results.signatures.items()]
    return {
        "systems": list(dict.fromkeys(score.system for score in results.scores)),
        "protocols": list(dict.fromkeys(score.protocol for score in results.scores)),
        "metrics": list(dict.fromkeys(_written(score.request) for score in results.scores)),
        "signatures": facts,
        "scores": [f"{s.system}, {s.protocol}: {_written(s.request)}" for s in results.scores],
        "notes": [remark for remark in results.remarks if remark != UNCHECKED],
    }


def _written(request: Request) -> str:
    options = "".join(f",{name}={value}" for name, value in request.options)
    fitted = "" if request.fitted is None else f" (fitted: {request.fitted})"
    return f"{request.label}:{request.subset}/{request.average}{options}{fitted}"


def _apart(what: str, own: Sequence[str], others: Sequence[str]) -> str:
    """The first thing that two shards do not have in common, said of the one and of the other."""
    a, b = next(pair for pair in zip_longest(own, others) if pair[0] != pair[1])
    if what == "signatures" and a and b:
        pairs = [pair for pair in zip_longest(a.split(","), b.split(",")) if pair[0] != pair[1]]
        a, b = (",".join(filter(None, each)) for each in zip(*pairs, strict=True))
    return f"its {what} have {a or 'none'} where the other has {b or 'none'}"


def _interleave(rows: Sequence[Rows], count: int, total: int) -> Rows:
    """Rows of shards in the order of the corpus: the i-th document of shard s is the (i·count + s)-th."""
    if rows[0].units is not None:
        units = [part.units * count + shard for shard, part in enumerate(rows) if part.units is not None]
        merged, values = np.concatenate(units), np.concatenate([part.values for part in rows])
        order = np.argsort(merged if merged.ndim == 1 else merged[:, 0], kind="stable")
        return Rows(values[order], merged[order])
    values = np.empty((total, rows[0].values.shape[1]))
    for shard, part in enumerate(rows):
        values[shard::count] = part.values
    return Rows(values)


def _without_hash(signature: str) -> str:
    return ",".join(part for part in signature.split(",") if not part.startswith("hash="))


def _merged_signatures(found: Sequence[Results]) -> dict[str, str]:
    """Signatures whose hash is that of all references: hashes of documents add up."""
    merged = {}
    for name, signature in found[0].signatures.items():
        hashes = [_hash_of(results.signatures[name]) for results in found]
        merged[name] = signature.replace(f"hash={hash_text(hashes[0])}", f"hash={hash_text(sum(hashes))}")
    return merged


def _hash_of(signature: str) -> int:
    for part in signature.split(","):
        if part.startswith("hash="):
            return int(part.removeprefix("hash="), 16)
    return 0
