"""Options as typed data: frozen dataclasses whose fields carry their help, their values and their defaults.

A verb has one such class. Its public function takes the same names as keywords, the flags of the command and the tables
of the documentation are derived from the fields. Groups of options that several verbs share are classes of their own,
and are fields of the verb's class (`join: JoinOptions = group(JoinOptions)`); names are flat outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Literal, ParamSpec, TypeVar

from karat.errors import InputError, KeywordError, unknown

P = ParamSpec("P")
T = TypeVar("T")

By = Literal["id", "line"]
Missing = Literal["error", "empty", "skip"]
Interval = Literal["bca", "percentile"]
Progress = Callable[[int], None]  # called with the number of documents just done


@dataclass(frozen=True, slots=True)
class About:
    """What is known of an option beyond its name, type and default."""

    help: str
    values: Mapping[str, str] | Sequence[str] = ()  # the allowed values, with what each means
    least: float | None = None
    most: float | None = None
    metavar: str | None = None
    flags: tuple[str, ...] = ()  # as ("-m", "--metric"), where it is not --name
    complete: str = ""  # what the shell offers: the name of a function of karat.cli.completion
    command: bool = True  # whether the command has a flag of it


def option(default: Any, help: str, **about: Any) -> Any:
    """A field of a class of options: its default, what it does, and whatever else `About` has."""
    return field(default=default, metadata={"about": About(help, **about)})


def group(kind: type[Any]) -> Any:
    """A field that holds a group of options with their defaults."""
    return field(default_factory=kind, metadata={"group": kind})


def option_fields(kind: type[Any]) -> Iterator[Field[Any]]:
    """The fields of a class of options, those of its groups in their place."""
    for each in fields(kind):
        inner = each.metadata.get("group")
        if inner is None:
            yield each
        else:
            yield from option_fields(inner)


def options_from(kind: type[T], given: Mapping[str, Any]) -> T:
    """An object of a class of options, made of values by their flat names; further names are left aside.

    Raises InputError if a value is not one of those that its option has.
    """
    values: dict[str, Any] = {}
    for each in fields(kind):  # type: ignore[arg-type]
        inner = each.metadata.get("group")
        if inner is not None:
            values[each.name] = options_from(inner, given)
        elif each.name in given:
            values[each.name] = _checked(each, given[each.name])
    return kind(**values)


def _checked(each: Field[Any], value: Any) -> Any:
    about: About | None = each.metadata.get("about")
    if about is None or value is None or value == each.default:
        return value
    if about.values and isinstance(value, str) and value not in about.values:
        raise unknown(f"value of {each.name}", value, about.values)
    if about.least is not None or about.most is not None:
        least = -float("inf") if about.least is None else about.least
        most = float("inf") if about.most is None else about.most
        if not isinstance(value, int | float) or not least <= value <= most:
            ends = " to ".join(f"{end:g}" for end in (about.least, about.most) if end is not None)
            raise InputError(f"{each.name} is {ends}{'' if about.most is not None else ' or more'}, not {value!r}")
    return value


def public(kind: type[Any]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorates a public function whose keywords are the options of a class: a wrong keyword names the right one."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        known = [each.name for each in signature(function).parameters.values() if each.kind is Parameter.KEYWORD_ONLY]

        @wraps(function)
        def checked(*given: P.args, **keywords: P.kwargs) -> T:
            for name in keywords:
                if name not in known:
                    raise KeywordError(str(unknown(f"keyword of {function.__name__}()", name, known)))
            return function(*given, **keywords)

        checked.options = kind  # type: ignore[attr-defined]
        return checked

    return decorate


def disagreements(function: Callable[..., Any], kind: type[Any], further: Sequence[str] = ()) -> list[str]:
    """Where the keywords of a function and the options of its class differ, a sentence each.

    `further` are keywords of the function that are no options: what is measured, not how.
    """
    keywords = {n: p for n, p in signature(function).parameters.items() if p.kind is Parameter.KEYWORD_ONLY}
    known = {each.name: each for each in option_fields(kind)}
    found = [f"{name} is no keyword" for name in known if name not in keywords]
    found += [f"{name} is no option" for name in keywords if name not in known and name not in further]
    for name in known.keys() & keywords.keys():
        default = known[name].default
        if keywords[name].default != default:
            found.append(f"{name} is {keywords[name].default!r} in the signature and {default!r} in the options")
        if keywords[name].annotation != known[name].type:
            found.append(f"{name} is {keywords[name].annotation} in the signature, {known[name].type} in the options")
    return found


# ---------------------------------------------------------------------------------------------- shared groups


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """How runs are matched to a corpus, and to which references."""

    references: str | None = option(None, "Score against a named reference set.", metavar="NAME")
    language: str | None = option(
        None, "Stem with Snowball for this language, as french.", metavar="LANGUAGE", complete="languages"
    )
    by: By | None = option(None, "Match runs by id or line by line.", values=("id", "line"))
    missing: Missing = option(
        "error",
        "A document that a run lacks: an error, no predictions, or left out.",
        values=("error", "empty", "skip"),
    )


@dataclass(frozen=True, slots=True)
class WorkOptions:
    """How the work is done."""

    jobs: int = option(1, "Processes.", least=1, metavar="N", flags=("-j", "--jobs"))
    progress: Progress | None = option(None, "Called with the number of documents just done.", command=False)


@dataclass(frozen=True, slots=True)
class ResampleOptions:
    """How often is resampled, and with which random numbers."""

    resamples: int = option(10_000, "Resamples.", least=1, metavar="N")
    seed: int = option(0, "Which resamples.", least=0, metavar="N")


@dataclass(frozen=True, slots=True)
class IntervalOptions:
    """What intervals are like."""

    level: float = option(0.95, "Level of the intervals.", metavar="L")
    interval: Interval = option("bca", "Kind of interval.", values=("bca", "percentile"))
