"""What a similarity is: a score of how near a predicted phrase is to a reference, from 0 to 1 (BERTScore can be lower).

A similarity scores many pairs in one call: it gets the distinct phrases, each a tuple of words, and two columns of
indices into them, predictions on the left and references on the right. So what concerns a phrase is done once for each
phrase, and what concerns a pair once for each pair. Its form says which words it wants: Porter stems, or the surface
(the lower-cased tokens as they are).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, unknown
from karat.registry import Registry
from karat.text.normalise import normaliser

Words = tuple[str, ...]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Form = Literal["stems", "surface"]
Role = Literal["longer", "given"]  # which of the two phrases plays the reference
Function = Callable[..., Floats]  # (phrases, left, right, *, option=default...) -> float64[pairs]

FILE = "file:"  # what stands before the path of scores that were computed elsewhere
PLACED = "placed:"  # what stands before the path of weights by place
PATHS = (FILE, PLACED)


@dataclass(frozen=True, slots=True)
class Similarity:
    """A way to score pairs of phrases, with the options it is called with."""

    name: str
    summary: str
    form: Form
    function: Function
    options: Mapping[str, Any]
    check: Callable[[Mapping[str, Any]], None] | None = None  # raises InputError if the options cannot be used

    def scores(self, phrases: Sequence[Words], left: Ints, right: Ints) -> Floats:
        """The score of each pair: phrases[left] as prediction, phrases[right] as reference."""
        return self.function(phrases, left, right, **self.options)


SIMILARITIES: Registry[Similarity] = Registry("similarity", lambda found: found.function)


def similarity(
    name: str, *, form: Form, check: Callable[[Mapping[str, Any]], None] | None = None
) -> Callable[[Function], Function]:
    """Registers a similarity; its keyword arguments with defaults become its options, which `check` may refuse."""

    def register(function: Function) -> Function:
        summary = (inspect.getdoc(function) or "").split("\n")[0]
        parameters = inspect.signature(function).parameters.values()
        options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        SIMILARITIES[name] = Similarity(name, summary, form, function, options, check)
        return function

    return register


def find(name: str, /, **options: Any) -> Similarity:
    """The similarity of a name, which may carry options, or `file:PATH`, or `placed:PATH`.

    >>> find("bleu,reference=given").options
    {'reference': 'given'}
    """
    if name.startswith(FILE):
        from karat.similarity.given import read_scores

        return _settled(read_scores(name.removeprefix(FILE)), options)
    if name.startswith(PLACED):
        return _settled(SIMILARITIES["placed"], {"weights": name.removeprefix(PLACED)} | options)
    plain, *settings = name.split(",")
    if plain not in SIMILARITIES:
        raise _not_one(plain)
    found = SIMILARITIES[plain]
    return _settled(found, dict(_setting(found, text) for text in settings) | options)


def _not_one(name: str) -> InputError:
    """Why a name is that of no similarity."""
    from karat.similarity.groups import GROUPS

    if name in GROUPS:
        return InputError(f"{name} is a group of similarities, where one is asked for: {', '.join(GROUPS[name])}")
    return unknown("similarity", name, [*SIMILARITIES, *(kind + "PATH" for kind in PATHS)])


def find_once(name: str, /, **options: Any) -> Similarity:
    """The similarity of a name, made once in a process; a file of it is read again only when it has changed."""
    path = Path(name.partition(":")[2])
    changed = path.stat().st_mtime_ns if name.startswith(PATHS) and path.exists() else 0
    return _found(name, tuple(sorted(options.items())), changed)


@lru_cache(maxsize=16)
def _found(name: str, options: tuple[tuple[str, Any], ...], _changed: int) -> Similarity:
    return find(name, **dict(options))


def _setting(found: Similarity, text: str) -> tuple[str, Any]:
    """Name and value of an option written as text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"{text!r} is not option=value")
    default = found.options.get(name)
    if default is None or isinstance(default, str):
        return name, value
    if not isinstance(default, int | float):
        raise InputError(f"option {name} of {found.name} cannot be written as text: give it in Python")
    try:
        return name, type(default)(value)
    except ValueError:
        raise InputError(f"option {name} of {found.name} is a {type(default).__name__}, not {value!r}") from None


def _settled(found: Similarity, options: Mapping[str, Any]) -> Similarity:
    """The similarity with these options, each of them known and one of its values."""
    hints = get_type_hints(found.function) if options else {}
    for name, value in options.items():
        if name not in found.options:
            raise unknown(f"option of {found.name}", name, found.options)
        if get_origin(hints.get(name)) is Literal and value not in get_args(hints[name]):
            raise unknown(f"{name} of {found.name}", str(value), get_args(hints[name]))
    settled = {**found.options, **options}
    if found.check is not None:
        found.check(settled)
    return replace(found, options=settled)


def words_of(text: str, form: Form) -> Words:
    """The words of a phrase in a similarity's form.

    >>> words_of("Neural Networks", "stems"), words_of("Neural Networks", "surface")
    (('neural', 'network'), ('neural', 'networks'))
    """
    return tuple(normaliser("marks", "porter" if form == "stems" else "none", "lower")(text).split())


def compare(name: str, prediction: str, reference: str, /, **options: Any) -> float:
    """The score of a prediction against a reference, both as text.

    >>> compare("overlap", "grid computing algorithms", "effective grid computing algorithm")
    0.75
    """
    found = find(name, **options)
    phrases = [words_of(prediction, found.form), words_of(reference, found.form)]
    return float(found.scores(phrases, np.array([0]), np.array([1]))[0])


def in_roles(phrases: Sequence[Words], left: Ints, right: Ints, reference: Role) -> tuple[Ints, Ints]:
    """(the phrases that are judged, the phrases that play the reference).

    `longer` takes the phrase of more words as reference, and the given one where both have as many.
    """
    if reference == "given":
        return left, right
    length = np.fromiter(map(len, phrases), dtype=np.int64, count=len(phrases))
    turned = length[left] > length[right]
    return np.where(turned, right, left), np.where(turned, left, right)
