"""Scores that were computed elsewhere, read from a file of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.similarity.base import FILE, Floats, Ints, Similarity, Words, words_of

_FIELDS = ("prediction", "reference", "score")
Pair = tuple[str, str]


def read_scores(path: str) -> Similarity:
    """The similarity that looks scores up in a file.

    The file has JSON lines {"prediction": "...", "reference": "...", "score": 0.4}, or these three separated by tabs,
    with or without a first line that names them. Case and the blanks around punctuation do not matter.
    """
    known: dict[Pair, tuple[float, int]] = {}
    for line, prediction, reference, score in _entries(path):
        pair = _form(prediction), _form(reference)
        before, first = known.setdefault(pair, (score, line))
        if before != score:
            raise InputError(
                f"{path}, line {line}: {prediction!r} / {reference!r} has the score {score:g}, "
                f"but {before:g} on line {first}"
            )

    def look_up(phrases: Sequence[Words], left: Ints, right: Ints) -> Floats:
        """The scores of a file."""
        forms = [_form(" ".join(words)) for words in phrases]
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return np.fromiter((_score(known, (forms[a], forms[b]), path) for a, b in pairs), np.float64, len(left))

    return Similarity(FILE + path, f"The scores in {path}.", "surface", look_up, {})


def _score(known: dict[Pair, tuple[float, int]], pair: Pair, path: str) -> float:
    if pair not in known:
        raise InputError(f"{path}: there is no score for the prediction {pair[0]!r} and the reference {pair[1]!r}")
    return known[pair][0]


def _form(text: str) -> str:
    return " ".join(words_of(text, "surface"))


def _entries(path: str) -> Iterator[tuple[int, str, str, float]]:
    """(line, prediction, reference, score) of each line that is not blank."""
    from karat.formats.files import lines

    columns: tuple[str, ...] | None = None
    for number, line in lines(path):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if not text.strip():
            continue
        where = f"{path}, line {number}"
        if text.lstrip().startswith("{"):
            entry = _from_json(text, where)
        else:
            cells = tuple(text.split("\t"))
            if columns is None:
                columns = _header(cells)
                if columns == cells:
                    continue
            entry = _from_cells(columns, cells, where)
        yield number, *_checked(entry, where)


def _header(cells: tuple[str, ...]) -> tuple[str, ...]:
    return cells if set(_FIELDS) <= set(cells) else _FIELDS


def _from_json(text: str, where: str) -> Any:
    from karat.formats.load import decoded_json

    return decoded_json(text.encode("utf-8", "replace"), dict[str, Any], where, "not JSON")


def _from_cells(columns: tuple[str, ...], cells: tuple[str, ...], where: str) -> dict[str, str]:
    if len(cells) != len(columns):
        raise InputError(f"{where}: {len(cells)} columns separated by tabs, not {len(columns)} ({', '.join(columns)})")
    return dict(zip(columns, cells, strict=True))


def _checked(entry: dict[str, Any], where: str) -> tuple[str, str, float]:
    missing = [name for name in _FIELDS if name not in entry]
    if missing:
        raise InputError(f"{where}: no {' and no '.join(missing)}; a line has prediction, reference and score")
    prediction, reference, given = (entry[name] for name in _FIELDS)
    if not isinstance(prediction, str) or not isinstance(reference, str):
        raise InputError(f"{where}: prediction and reference are strings, not {prediction!r} and {reference!r}")
    try:
        score = float(given)
    except (TypeError, ValueError):
        raise InputError(f"{where}: the score {repr(given)[:80]} is not a number") from None
    if isinstance(given, bool) or isnan(score) or not 0 <= score <= 1:
        raise InputError(f"{where}: the score {given!r} is not in [0, 1]")
    return prediction, reference, score
