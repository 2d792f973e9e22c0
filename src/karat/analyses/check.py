"""A gate for results: floors and ceilings that they must keep, and older results that they must not fall behind.

Worse than older results is what is lower by more than chance: on the same documents, by a paired test of the number
that is printed, adjusted over everything that both hold. A significant rise passes, and so does a drop that chance
explains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any, Literal

from karat.analyses.compare import compare_results
from karat.analyses.compare.families import without_seed
from karat.analyses.compare.options import CompareOptions
from karat.analyses.compare.result import Pair
from karat.errors import InputError, counted, unknown
from karat.metrics.base import Request, parse_request
from karat.options import (
    Correction,
    alpha_option,
    correction_option,
    option,
    options_from,
    path_option,
    public,
    resamples_option,
    seed_option,
)
from karat.protocol import parse_protocol
from karat.results import Results, Score
from karat.results.displayed import Displayed
from karat.results.files import load
from karat.stats.difference import APPROXIMATE, CORRECTION_NAMES, TEST_NAMES, TESTS, Test, test_names
from karat.stats.families import adjust
from karat.tabular import FIGURE, NUMBER, P_APPROXIMATE, SIGNED, Column, Group, Row, Table, number, p_value

Kind = Literal["min", "max", "no-worse-than"]
NEW, OLD = "new", "old"  # what systems are called while they are compared


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How results are checked."""

    minimum: Mapping[str, float] | None = option(
        None, "Floors: metrics, and what each must be at least.", command=False
    )
    maximum: Mapping[str, float] | None = option(
        None, "Ceilings, for metrics that are better when lower.", command=False
    )
    no_worse_than: str | Path | Results | None = path_option(
        "Results of the same documents, which must not be significantly better.", "OLD.karat"
    )
    systems: Sequence[str] = option(
        (), "Check this system.", flags=("--system",), metavar="NAME", repeatable=True, otherwise="all"
    )
    protocols: Sequence[str] = option(
        (),
        "Check scores under this protocol.",
        flags=("--protocol",),
        metavar="NAME",
        repeatable=True,
        otherwise="all",
        complete="protocols",
    )
    margin: float | None = option(
        None,
        "Pass only if a drop of this size or more can be ruled out: a one-sided test of non-inferiority.",
        above=0,
        metavar="D",
    )
    test: Test = option("randomisation", "The test of a drop.", values=TESTS)
    alpha: float = alpha_option()
    correction: Correction = correction_option("everything that is compared")
    resamples: int = resamples_option()
    seed: int = seed_option()


@dataclass(frozen=True, slots=True)
class Checked:
    """One score beside what it was checked by: a bound, or its older value."""

    kind: Kind
    corpus: str
    system: str
    protocol: str
    request: Request
    value: float
    against: float
    passed: bool
    p: float | None = None  # of a comparison
    adjusted: float | None = None
    approximate: bool = False  # whether p is that of t, since no resample was as extreme
    test: str | None = None  # that p is of
    detectable: float | None = None  # the smallest drop that the test detects with a power of 80 %
    documents: int | None = None  # on which both are defined
    equal: bool = False  # whether both are equal on every document

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        return {
            "check": self.kind,
            "corpus": self.corpus,
            "system": self.system,
            "protocol": self.protocol,
            "metric": self.request.label,
            "options": dict(self.request.options),
            "subset": self.request.subset,
            "average": self.request.average,
            "value": _or_none(self.value),
            "against": _or_none(self.against),
            "difference": _or_none(self.value - self.against),
            "p": _or_none(self.p),
            "adjusted": _or_none(self.adjusted),
            "passed": self.passed,
            "test": self.test,
            "approximate": self.approximate,
            "detectable": _or_none(self.detectable),
            "documents": self.documents,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Check(Displayed):
    """What came of checking results."""

    checked: tuple[Checked, ...]
    documents: int
    signatures: Mapping[str, str]
    options: CheckOptions
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether everything holds."""
        return all(each.passed for each in self.checked)

    @property
    def failures(self) -> list[str]:
        """A sentence for each bound that is missed and each drop that is more than chance."""
        return [_failure(each, self.options.margin) for each in self.checked if not each.passed]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each score that was checked, as in the JSON output."""
        return [each.as_dict() for each in self.checked]

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""
        return {
            "signatures": dict(self.signatures),
            "rows": self.rows(),
            "passed": self.passed,
            "failures": self.failures,
            "notes": list(self.notes),
        }

    def tables(self) -> Iterator[Table]:
        """Below each system and protocol a row a check."""
        failed = len(self.failures)
        verdict = "everything passes" if not failed else f"{failed:,} of {len(self.checked):,} checks fail"
        groups = []
        for system, protocol in dict.fromkeys((each.system, each.protocol) for each in self.checked):
            own = [each for each in self.checked if (each.system, each.protocol) == (system, protocol)]
            groups.append(Group([_row(each) for each in own], f"{system}, {protocol}"))
        yield Table(
            f"{self.checked[0].corpus}, {counted(self.documents, 'document')}: {verdict}",
            "check",
            COLUMNS,
            groups,
            notes=list(_tested(self)),
        )


def _or_none(value: float | None) -> float | None:
    return None if value is None or isnan(value) else value


# ---------------------------------------------------------------------------------------------- words

KINDS = {"min": "floor", "max": "ceiling", "no-worse-than": "older"}
COLUMNS = (
    Column("value"),
    Column("against"),
    Column("difference", SIGNED),
    Column("p", P_APPROXIMATE),
    Column("detectable", NUMBER),
    Column("passed", FIGURE),
)


def _row(each: Checked) -> Row:
    p = None if each.adjusted is None else (each.adjusted, each.approximate)
    least = _or_none(each.detectable)
    cells = [each.value, each.against, each.value - each.against, p, least, "yes" if each.passed else "no"]
    return Row(f"{KINDS[each.kind]} {metric_text(each.request)}", cells)


def _tested(found: Check) -> Iterator[str]:
    """Which test p is of, where anything was compared."""
    options = found.options
    compared = sum(each.p is not None for each in found.checked)
    if compared:
        tests = test_names(options.test, (each.test for each in found.checked if each.test is not None))
        over = f"adjusted over {compared:,} ({CORRECTION_NAMES[options.correction]})"
        close = f" {APPROXIMATE}" if any(each.approximate for each in found.checked) else ""
        if options.margin is None:
            fails = f"a drop with an adjusted p of at most {options.alpha:g} fails"
            yield f"p: {tests}, two-sided, {over}; {fails}.{close}"
        else:
            yield (
                f"p: {TEST_NAMES['t']}, one-sided, of the hypothesis that the drop is {options.margin:g} or more, "
                f"{over}; a check passes with an adjusted p of at most {options.alpha:g}."
            )
        yield "detectable: the smallest drop that the test detects with 80 % power."


def metric_text(request: Request) -> str:
    """A metric as a request writes it, its average and options with it.

    >>> metric_text(parse_request("f1@5:present/micro"))
    'f1@5:present/micro'
    """
    average = f"/{request.average}" if request.average else ""
    return f"{request.label}:{request.subset}{average}" + "".join(f",{k}={v}" for k, v in request.options)


def _failure(each: Checked, margin: float | None = None) -> str:
    whose = f"{each.system}: {metric_text(each.request)} under {each.protocol}"
    if isnan(each.value):
        return f"{whose} is undefined, so that it cannot be compared with {each.against:g}"
    value, against = _apart(each.value, each.against)
    if each.kind != "no-worse-than":
        return f"{whose} is {value}, {'below' if each.kind == 'min' else 'above'} {against}"
    p = f"adjusted p {p_value(each.adjusted)}" if each.adjusted == each.adjusted else "not tested"
    way = "fell" if each.value < each.against else "rose"
    change = f"is unchanged at {value}" if value == against else f"{way} from {against} to {value}"
    if margin is None:
        return f"{whose} {change}, a significant drop ({p})"
    if each.equal:
        over = counted(each.documents or 0, "document")
        return f"{whose} {change}: the bound of an equal pair over {over} is wider than the margin of {margin:g} ({p})"
    return f"{whose} {change}: a drop of {margin:g} cannot be ruled out ({p})"


def _apart(value: float, other: float) -> tuple[str, str]:
    """Write two numbers with as many digits as it takes to tell them apart, four or more; equal ones with four.

    >>> _apart(0.34168, 0.34173), _apart(0.5, 0.25), _apart(0.5, 0.5)
    (('.34168', '.34173'), ('.5000', '.2500'), ('.5000', '.5000'))
    """
    for digits in range(4, 13):
        shown = number(value, digits), number(other, digits)
        if shown[0] != shown[1]:
            return shown
    return number(value), number(other)


# ---------------------------------------------------------------------------------------------- checking


@public(CheckOptions)
def check(
    results: str | Path | Results,
    *,
    minimum: Mapping[str, float] | None = None,
    maximum: Mapping[str, float] | None = None,
    no_worse_than: str | Path | Results | None = None,
    systems: Sequence[str] = (),
    protocols: Sequence[str] = (),
    margin: float | None = None,
    test: Test = "randomisation",
    alpha: float = 0.05,
    correction: Correction = "holm",
    resamples: int = 10_000,
    seed: int = 0,
) -> Check:
    """Results checked against floors, ceilings and older results; every system must pass, or those that are named.

    `minimum` and `maximum` map metrics such as `f1@5:present` to numbers; results are objects or `.karat` files. Raises
    InputError if there is nothing to check, or if the results have no such system, protocol or metric.
    """
    chosen = options_from(CheckOptions, locals())
    found, where = _opened(results)
    scores = _selected_scores(found, chosen, where)
    if not minimum and not maximum and no_worse_than is None:
        raise InputError("nothing to check: give a floor (--min f1@M:present=.3) or older results (--no-worse-than)")
    checked: list[Checked] = []
    for text, bound in (minimum or {}).items():
        checked += _bounded("min", text, bound, scores, where)
    for text, bound in (maximum or {}).items():
        checked += _bounded("max", text, bound, scores, where)
    notes = list(found.remarks)
    if no_worse_than is not None:
        old, place = _opened(no_worse_than, "the older results")
        compared, remarks = _compared(replace(found, scores=tuple(scores)), old, where, place, chosen)
        checked += compared
        notes += remarks
    return Check(tuple(checked), len(found.ids), found.signatures, chosen, tuple(notes))


def _opened(given: str | Path | Results, name: str = "the results") -> tuple[Results, str]:
    """(results, what to call them in a message)."""
    found, where = (given, name) if isinstance(given, Results) else (load(given), str(given))
    if not found.scores:
        raise InputError(f"{where}: there is no score to check")
    if found.part.count > 1:
        raise InputError(f"{where}: of the shard {found.part.index}/{found.part.count}; merge the shards first")
    return found, where


def _selected_scores(found: Results, options: CheckOptions, where: str) -> list[Score]:
    """The scores of the systems and protocols that are named, or all."""
    for kind, requested, there in (
        ("system", options.systems, {score.system for score in found.scores}),
        ("protocol", options.protocols, {score.protocol for score in found.scores}),
    ):
        for name in requested:
            if name not in there:
                raise InputError(f"{where}: {unknown(kind, name, there)}")
    return [
        score
        for score in found.scores
        if (not options.systems or score.system in options.systems)
        and (not options.protocols or score.protocol in options.protocols)
    ]


def is_of(score: Score, request: Request) -> bool:
    """Whether a score is that of a request; without an average, whether it is in its protocol's own."""
    average = request.average or request.spec.average_for(parse_protocol(score.protocol).counting)
    return score.request.without_fitted() == replace(request, average=average)


def known_metrics(scores: Sequence[Score]) -> list[str]:
    """The metrics of scores as requests write them."""
    return list(dict.fromkeys(metric_text(score.request) for score in scores))


def _bounded(
    kind: Literal["min", "max"], text: str, bound: float, scores: Sequence[Score], where: str
) -> Iterator[Checked]:
    """Every score of a metric beside its bound."""
    request = parse_request(text)
    better = request.spec.better
    if (kind, better) in (("min", "lower"), ("max", "higher")):
        other = "--max" if kind == "min" else "--min"
        raise InputError(f"{request.metric} is the better the {better} it is: give {other} {text}={bound:g}")
    low, high = request.spec.bounds
    if not low <= bound <= high:
        raise InputError(f"--{kind} {text}={bound:g}: {request.metric} lies between {low:g} and {high:g}")
    own = [score for score in scores if is_of(score, request)]
    if not own:
        raise InputError(f"{where}: {unknown('metric', metric_text(request), known_metrics(scores))}")
    for each in own:
        holds = each.value >= bound if kind == "min" else each.value <= bound
        yield _checked(kind, each, bound, holds)


def _checked(kind: Kind, score: Score, against: float, passed: bool) -> Checked:
    request = score.request.without_fitted()
    return Checked(kind, score.corpus, score.system, score.protocol, request, score.value, against, passed)


# ---------------------------------------------------------------------------------------------- older results


def _compared(
    new: Results, old: Results, where: str, place: str, options: CheckOptions
) -> tuple[list[Checked], list[str]]:
    """(every score that both hold beside its older value, what a reader should know)."""
    shared: list[tuple[str, list[Score], list[Score]]] = []
    notes: list[str] = []
    for name, older in _partners(new, old, place).items():
        own = [_renamed(score, NEW, new) for score in new.scores if _system(score) == name]
        others = [_renamed(score, OLD, new) for score in old.scores if _system(score) == older]
        both, older_ones = _common(own, others)
        if not both:
            there = ", ".join(known_metrics(others))
            raise InputError(f"{place}: no score of {name} is also in {where} (there are: {there})")
        lost = known_metrics([score for score in own if score not in both])
        notes += [f"{name}: not compared, since it is not in {place}: {', '.join(lost)}"] if lost else []
        shared.append((name, both, older_ones))
    pairs = [
        (name, pair)
        for name, both, older_ones in shared
        for pair in _pairs(replace(new, scores=tuple(both)), old, older_ones, options)
    ]
    directed = [(name, pair) for name, pair in pairs if pair.request.spec.better is not None]
    lost = [metric_text(pair.request) for _, pair in pairs if pair.request.spec.better is None]
    notes += [f"not compared, since neither way is better: {', '.join(dict.fromkeys(lost))}"] if lost else []
    used = [pair.apart.test for _, pair in directed]
    for test in dict.fromkeys(used):
        lost = [metric_text(pair.request) for (_, pair), own in zip(directed, used, strict=True) if own == test]
        if test != options.test:
            notes.append(f"tested by {TEST_NAMES[test]}, since {options.test} does not apply: {', '.join(lost)}")
    return _no_worse(directed, options), notes


def _pairs(new: Results, old: Results, scores: Sequence[Score], options: CheckOptions) -> tuple[Pair, ...]:
    """One system of two results compared on everything that both hold."""
    comparing = CompareOptions(
        test=options.test,
        alpha=options.alpha,
        correction="none",  # p is adjusted over all systems together
        resamples=options.resamples,
        seed=options.seed,
    )
    return compare_results([new, replace(old, scores=tuple(scores))], comparing).pairs


def _no_worse(pairs: Sequence[tuple[str, Pair]], options: CheckOptions) -> list[Checked]:
    """Return each score beside its older value, with p adjusted over all of them."""
    p = [_drop_p(pair, options.margin) for _, pair in pairs]
    after = adjust(p, options.correction)
    checked = []
    for i, (name, pair) in enumerate(pairs):
        apart = pair.apart if pair.a == NEW else pair.apart.reversed()
        new, old = apart.value_a, apart.value_b
        worse = new > old if pair.request.spec.better == "lower" else new < old
        significant = after[i] <= options.alpha
        passed = not isnan(new) and (significant if options.margin is not None else not (worse and significant))
        checked.append(
            Checked(
                "no-worse-than",
                pair.corpus,
                name,
                pair.protocol,
                pair.request,
                new,
                old,
                passed,
                p[i],
                after[i],
                options.margin is None and apart.approximate,
                apart.test,
                apart.detectable,
                apart.n,
                apart.equal,
            )
        )
    return checked


def _drop_p(pair: Pair, margin: float | None) -> float:
    """Return the p of a difference or, with a margin, of the hypothesis that the drop is as large as the margin."""
    apart = pair.apart
    if margin is None or apart.contrast is None or isnan(apart.p):
        return apart.p
    gain = 1 if (pair.a == NEW) == (pair.request.spec.better != "lower") else -1
    lowest, highest = pair.request.spec.bounds
    return float(apart.contrast.non_inferiority_p(margin, gain, highest - lowest))


def _system(score: Score) -> str:
    """The system of a score; several seeds are one."""
    return without_seed(score.system)


def _partners(new: Results, old: Results, place: str) -> dict[str, str]:
    """The older system for each system: that of the same name, or where both have but one, this one."""
    names, olds = (list(dict.fromkeys(map(_system, each.scores))) for each in (new, old))
    if len(names) == len(olds) == 1:
        return {names[0]: olds[0]}
    for name in names:
        if name not in olds:
            raise InputError(f"{place}: {unknown('system', name, olds)}; --system checks some systems alone")
    return {name: name for name in names}


def _renamed(score: Score, name: str, new: Results) -> Score:
    """A score under a name that stands for its file; what tells corpora apart are documents and references."""
    seed = score.system.removeprefix(without_seed(score.system))
    request = score.request.without_fitted()
    return replace(score, system=f"{name}{seed}", corpus=new.scores[0].corpus, request=request)


def _common(new: Sequence[Score], old: Sequence[Score]) -> tuple[list[Score], list[Score]]:
    """The scores of each side whose metric and protocol the other has too."""
    both = set(map(_key, new)) & set(map(_key, old))
    return [score for score in new if _key(score) in both], [score for score in old if _key(score) in both]


def _key(score: Score) -> tuple[str, Request]:
    return score.protocol, score.request
