"""Things that are known by name: metrics, models, formats, charts, protocols, verbs. No name is taken twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from karat.errors import InputError

T = TypeVar("T")
Source = Callable[..., Any] | str


class Registry(dict[str, T]):
    """A dict in which a name is set once; of `things` it has each by its `name`.

    `source` gives the function that a thing is made of, or a text that says where it is from; the error about two
    things of one name has both. A function that is defined anew, in a notebook or by a reload, replaces itself.

    >>> words = Registry("word", str)
    >>> words["a"] = "the first line"
    >>> words["a"] = "the second line"
    Traceback (most recent call last):
    karat.errors.InputError: two things are registered as the word 'a': the first line and the second line
    """

    def __init__(self, noun: str, source: Callable[[T], Source], things: Iterable[Any] = ()) -> None:
        super().__init__()
        self.noun, self.source = noun, source
        for thing in things:
            self[thing.name] = thing

    def __setitem__(self, name: str, thing: T) -> None:
        """Sets a name. Raises InputError if it is taken."""
        if dict.__contains__(self, name):
            before, now = self.source(self[name]), self.source(thing)
            if isinstance(before, str) or isinstance(now, str) or full_name(before) != full_name(now):
                places = f"{place_of(before)} and {place_of(now)}"
                raise InputError(f"two things are registered as the {self.noun} {name!r}: {places}")
        super().__setitem__(name, thing)


def full_name(function: Callable[..., Any]) -> str:
    """The module and the name of a function, or of the class of what is called like one.

    >>> full_name(full_name)
    'karat.registry.full_name'
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def place_of(source: Source) -> str:
    """The file and the line of a function, or its name where there is no file; a text as it is.

    >>> place_of(place_of).rpartition("/")[2].partition(",")[0], place_of(len)
    ('registry.py', 'builtins.len')
    """
    if isinstance(source, str):
        return source
    inner: Any = source
    while (deeper := getattr(inner, "__wrapped__", getattr(inner, "func", None))) is not None:  # of a partial
        inner = deeper
    code = getattr(inner, "__code__", None)
    return full_name(inner) if code is None else f"{code.co_filename}, line {code.co_firstlineno}"
