"""Options as typed data: frozen dataclasses whose fields carry their help, their values and their defaults.

A verb has one such class. Its public function takes the same names as keywords, the flags of the command and the tables
of the documentation are derived from the fields. Groups of options that several verbs share are classes of their own,
and are fields of the verb's class (`join: JoinOptions = group(JoinOptions)`); names are flat outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import wraps
from inspect import Parameter, signature
from math import isfinite, isinf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar
from warnings import warn

from karat.errors import InputError, KeywordError, unknown
from karat.record import recording

if TYPE_CHECKING:
    from karat.vocabulary import VocabularyLike

P = ParamSpec("P")
T = TypeVar("T")

By = Literal["id", "line"]
Missing = Literal["error", "empty", "skip", "common"]
FamilyOf = Literal["metric", "corpus", "all"]
ScoreInterval = Literal["t", "bca", "percentile"]
Extra = Literal["error", "ignore"]
Correction = Literal["holm", "bh", "none"]
MOST_RESAMPLES = 10_000_000
Progress = Callable[[int], None]  # called with the number of documents just done


@dataclass(frozen=True, slots=True)
class About:
    """The help, values, bounds and flags of an option: all but its name, type and default."""

    help: str
    values: Mapping[str, str] | Sequence[str] = ()  # the allowed values, with what each means
    least: float | None = None
    most: float | None = None
    above: float | None = None  # as least and most, without the number itself
    below: float | None = None
    metavar: str | None = None
    flags: tuple[str, ...] = ()  # as ("-m", "--metric"), where it is not --name
    otherwise: str | None = None  # how the help writes the default, where that is not the value itself
    repeatable: bool = False  # whether the flag may be given several times
    once: bool = False  # whether it is an error to give the flag twice; else the last one counts
    complete: str = ""  # what the shell offers: the name of a function of karat.cli.completion
    command: bool = True  # whether the command has a flag of it


def option(default: Any, help: str, **about: Any) -> Any:
    """A field of a class of options: its default, what it does, and whatever else `About` has."""
    return field(default=default, metadata={"about": About(help, **about)})


def required(help: str, **about: Any) -> Any:
    """A field of a class of options that has no default."""
    return field(metadata={"about": About(help, **about)}, kw_only=True)


def group(kind: type[Any]) -> Any:
    """A field that holds a group of options with their defaults."""
    return field(default_factory=kind, metadata={"group": kind})


def about(each: Field[Any]) -> About:
    """The help, values, bounds and flags of the option in a field."""
    known: About = each.metadata["about"]
    return known


def option_fields(kind: type[Any]) -> Iterator[Field[Any]]:
    """The fields of a class of options, those of its groups in their place."""
    for each in fields(kind):
        inner = each.metadata.get("group")
        if inner is None:
            yield each
        else:
            yield from option_fields(inner)


def flat(options: Any) -> dict[str, Any]:
    """The values of an object of options by their flat names."""
    found: dict[str, Any] = {}
    for each in fields(options):
        value = getattr(options, each.name)
        found |= {each.name: value} if each.metadata.get("group") is None else flat(value)
    return found


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
    """The value of an option. Raises InputError if it is out of the option's bounds, or none of its values."""
    known = about(each)
    if value is None and str(each.type).endswith("None"):
        return value
    if known.values and value not in list(known.values):
        raise unknown(f"value of {each.name}", str(value), known.values)
    whole = str(each.type).startswith("int")
    if _has_bounds(known) and not _within(value, known, whole):
        kind = "whole " if whole else "finite " if isinstance(value, float) and isinf(value) else ""
        raise InputError(f"{each.name} is a {kind}number {_bounds(known)}, not {value!r}")
    return value


def _has_bounds(known: About) -> bool:
    return any(end is not None for end in (known.least, known.most, known.above, known.below))


def _within(value: Any, known: About, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
        return False
    number = float(value)
    return (
        isfinite(number)
        and (known.least is None or number >= known.least)
        and (known.most is None or number <= known.most)
        and (known.above is None or number > known.above)
        and (known.below is None or number < known.below)
    )


def _bounds(known: About) -> str:
    """Between which ends a number may be, in words.

    >>> [_bounds(About("", least=1)), _bounds(About("", least=1, most=9000)), _bounds(About("", above=0, below=1))]
    ['from 1 on', 'from 1 to 9,000', 'above 0 and below 1']
    >>> _bounds(About("", above=0))
    'above 0'
    """
    low = f"from {known.least:,}" if known.least is not None else f"above {known.above:,}"
    if known.below is not None:
        return f"{low} and below {known.below:,}"
    if known.most is not None:
        return f"{low} {'to' if known.least is not None else 'and up to'} {known.most:,}"
    return f"{low} on" if known.least is not None else low


def public(kind: type[Any]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorates a public function whose keywords are the options of a class: a wrong keyword names the right one.

    The function gets the class as its attribute `options`.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        parameters = signature(function).parameters.values()
        known = {each.name for each in parameters if each.kind in (Parameter.KEYWORD_ONLY, _POSITIONAL)}

        @wraps(function)
        def checked(*given: P.args, **keywords: P.kwargs) -> T:
            if not keywords.keys() <= known:
                wrong = next(name for name in keywords if name not in known)
                raise KeywordError(str(unknown(f"keyword of {function.__name__}()", wrong, known)))
            with recording() as record:
                found = function(*given, **keywords)
            if hasattr(type(found), "files_read"):
                object.__setattr__(found, "files_read", record)  # results are frozen
            return found

        checked.options = kind  # type: ignore[attr-defined]
        return checked

    return decorate


_POSITIONAL = Parameter.POSITIONAL_OR_KEYWORD


def renamed(function: Callable[P, T], name: str) -> Callable[P, T]:
    """A public function under the name that it had before; whoever calls it is warned."""

    @wraps(function)
    def older(*given: P.args, **keywords: P.kwargs) -> T:
        warn(f"karat.{name}() is karat.{function.__name__}() now", DeprecationWarning, stacklevel=2)
        return function(*given, **keywords)

    older.__name__ = older.__qualname__ = name
    return older


def disagreements(function: Callable[..., Any], kind: type[Any]) -> list[str]:
    """Where the keywords of a function and the options of its class differ, a sentence each.

    A positional parameter may be an option too, and need not be.
    """
    parameters = signature(function).parameters
    known = {each.name: each for each in option_fields(kind)}
    found = [f"{name} is no keyword" for name in known if name not in parameters]
    for name, each in parameters.items():
        if name not in known:
            found += [f"{name} is no option"] if each.kind is Parameter.KEYWORD_ONLY else []
            continue
        default = Parameter.empty if known[name].default is MISSING else known[name].default
        if each.default != default:
            found.append(f"{name} is {each.default!r} in the signature and {default!r} in the options")
        if each.annotation != known[name].type:
            found.append(f"{name} is {each.annotation} in the signature, {known[name].type} in the options")
    return found


# ---------------------------------------------------------------------------------------------- shared options


def protocol_option(help: str = "Convention to score under. See `karat list protocols`.", **about: Any) -> Any:
    """The field `protocol`: one convention, or several where it is repeatable."""
    settings = {"metavar": "NAME[,option=value...]", "complete": "protocols"} | about
    return option(settings.pop("value", "karat"), help, **settings)


def metrics_option(help: str = "What to compute, as f1@5:present. See `karat list metrics`.", **about: Any) -> Any:
    """The field `metrics`."""
    settings = {"metavar": "METRIC", "complete": "metrics", "flags": ("-m", "--metric"), "repeatable": True} | about
    return option(None, help, **settings)


def language_option() -> Any:
    """The field `language`: by which stemmer words are compared."""
    return option(None, "Stem with Snowball for this language, as french.", metavar="LANGUAGE", complete="languages")


def document_language_option() -> Any:
    """The field `language` of models: what the documents are written in; None for what they seem to be in."""
    help = "Language of the documents, as french. See `karat list languages`."
    return option(None, help, metavar="LANGUAGE", complete="languages", otherwise="guessed from the texts")


def missing_option() -> Any:
    """The field `missing`."""
    values = ("error", "empty", "skip", "common")
    help = (
        "A document that a run lacks: an error, no predictions, left out of that run, or left out of all runs. "
        "Comparisons leave it out of all runs in either case."
    )
    return option("error", help, values=values)


def cutoff_option(help: str = "The first K predictions, or M, all of them.") -> Any:
    """The field `cutoff`."""
    return option("M", help, metavar="K")


def path_option(help: str, metavar: str = "FILE", **about: Any) -> Any:
    """A field that names a file, or nothing."""
    return option(None, help, metavar=metavar, complete="paths", **about)


def correction_option(over: str) -> Any:
    """The field `correction`; `over` says of what."""
    return option("holm", f"How p is adjusted over {over}.", values=("holm", "bh", "none"))


def development_option() -> Any:
    """The field `development`: documents beside those that are scored."""
    return option(None, "A corpus and its runs, on which the k of @V is fitted.", command=False)


def progress_option() -> Any:
    """The field `progress`."""
    return option(None, "Called with the number of documents just done.", command=False)


def resamples_option(default: int | None = 10_000, help: str = "Resamples.", **about: Any) -> Any:
    """The field `resamples`: how often is resampled."""
    return option(default, help, least=1, most=MOST_RESAMPLES, metavar="N", **about)


def seed_option(help: str = "Which resamples.") -> Any:
    """The field `seed`: with which random numbers is resampled."""
    return option(0, help, least=0, metavar="N")


def level_option() -> Any:
    """The field `level`: how often an interval holds what it is of."""
    return option(0.95, "Level of the intervals.", above=0, below=1, metavar="L")


def intervals_option() -> Any:
    """The field `intervals`: whether tables show all intervals."""
    help = "Show all intervals in tables, also where they take more than 80 columns. JSON and CSV always have them."
    return option(False, help)


def alpha_option() -> Any:
    """The field `alpha`: below which p a difference is significant."""
    return option(0.05, "Level of significance.", above=0, below=1, metavar="A")


def family_option() -> Any:
    """Return the field `family`."""
    return option(
        "metric",
        "Adjust p over all pairs of systems on one metric of a corpus, on all metrics of a corpus, or over all tests.",
        values=("metric", "corpus", "all"),
    )


def max_t_option() -> Any:
    """Return the field `correction` of comparisons on documents."""
    return option("max-t", "Adjust p within each family by this method.", values=("max-t", "holm", "bh", "none"))


def score_interval_option() -> Any:
    """Return the field `interval` of single scores."""
    help = "Interval of scores: t on the logit scale, or by bootstrap. Differences have t intervals."
    return option("t", help, values=("t", "bca", "percentile"))


@dataclass(frozen=True, slots=True)
class IntervalOptions:
    """Confidence intervals of shares and means."""

    level: float = level_option()
    intervals: bool = intervals_option()


def extra_references_option() -> Any:
    """Return the field `extra_references`."""
    help = "Add the references that a review accepts; `karat overlap --review` writes one."
    return option(None, help, metavar="FILE", complete="paths")


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """How runs are matched to a corpus, and to which references."""

    references: str | None = option(None, "Score against a named reference set.", metavar="NAME")
    language: str | None = language_option()
    by: By | None = option(None, "Match runs by id or line by line.", values=("id", "line"))
    missing: Missing = missing_option()
    extra: Extra = option(
        "error", "A document of a run that is not in the corpus: an error, or ignored.", values=("error", "ignore")
    )


@dataclass(frozen=True, slots=True)
class MatchOptions(JoinOptions):
    """The same, and what is compared: phrases, or the concepts of a vocabulary that they are."""

    vocabulary: VocabularyLike | None = option(
        None,
        "Compare the concepts of this vocabulary, a list of terms or SKOS, instead of strings.",
        metavar="FILE[,option=value...]",
        complete="paths",
    )


@dataclass(frozen=True, slots=True)
class WorkOptions:
    """How the work is done."""

    jobs: int = option(1, "Processes, at most four for each core.", least=1, metavar="N|auto", flags=("-j", "--jobs"))
    progress: Progress | None = progress_option()
