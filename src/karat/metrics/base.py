"""What a metric is: rows for each document, and a function that finishes their sums.

A metric turns an `Aligned` into `Rows`, and its `finish` turns sums of rows into the number that is printed. Both are
vectorised, so the score of a corpus and ten thousand resamples of it are the same call. The last column of rows is
the weight: 1 where the document is defined, and a row of zeros where it is not; so sums need no special cases, and a
document's own value is `finish` of its row, NaN where it is undefined.

Three escapes: `fit` finds a constant on the whole corpus first; a metric with `items=True` keeps its rows and
finishes (values, weights) instead of sums; `Rows.units` tells which documents a row belongs to when that is not one
row a document.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Run
from karat.errors import InputError, unknown
from karat.matching.columns import SUBSETS, Aligned, Cutoff, Floats, Subset
from karat.protocol import MOST, Counting, whole_number
from karat.registry import Registry

Finish = Callable[[Floats], Floats]
ItemsFinish = Callable[[Floats, Floats], Floats]  # (values[n, width], weights[..., n]) -> [...]


@dataclass(frozen=True, slots=True)
class Rows:
    """A metric's rows for some documents: float64[rows, width], the last column being the weight."""

    values: Floats
    units: NDArray[np.int64] | None = None  # document(s) of each row, [rows] or [rows, 2]; None: row i is document i

    def sums(self) -> Floats:
        """The column sums, in one reduction over the documents in their order."""
        return np.asarray(self.values.sum(axis=0))


def rows(*columns: NDArray[Any], defined: NDArray[np.bool_] | None = None) -> Rows:
    """Rows of the columns; where a document is not defined its row is zero.

    >>> rows(np.array([0.5, np.nan])).values.tolist()
    [[0.5, 1.0], [0.0, 0.0]]
    """
    values = np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)
    weight = ~np.isnan(values).any(axis=1)
    if defined is not None:
        weight &= defined
    values[~weight] = 0.0
    return Rows(np.column_stack([values, weight]))


def ratio_rows(parts: NDArray[Any], wholes: NDArray[Any]) -> Rows:
    """Rows of parts / wholes, undefined where the whole is 0."""
    return rows(divide(parts, wholes))


def divide(parts: NDArray[Any], wholes: NDArray[Any], empty: float = np.nan) -> Floats:
    """parts / wholes, and `empty` where the whole is 0."""
    out = np.full(np.broadcast_shapes(np.shape(parts), np.shape(wholes)), empty)
    np.divide(parts, wholes, out=out, where=np.asarray(wholes) != 0)
    return out


def harmonic(p: NDArray[Any], r: NDArray[Any]) -> Floats:
    """2pr / (p + r), 0 where both are 0."""
    both = np.asarray(p + r)
    return np.where(np.isnan(both), np.nan, divide(2.0 * p * r, both, empty=0.0))


def mean(sums: Floats) -> Floats:
    """The mean over the defined documents; NaN without any."""
    return divide(sums[..., 0], sums[..., -1])


def ratio_of_sums(sums: Floats) -> Floats:
    """First sum over second, 0 where that is 0, NaN without a defined document."""
    return divide(sums[..., 0], sums[..., 1], empty=0.0) + _nan_if_undefined(sums)


def f_of_means(sums: Floats) -> Floats:
    """F1 of the mean of the first column (precision) and of the second (recall)."""
    return harmonic(divide(sums[..., 0], sums[..., -1]), divide(sums[..., 1], sums[..., -1]))


def f_of_sums(sums: Floats) -> Floats:
    """F1 of hits / predictions and hits / references, from the sums of these three."""
    p, r = divide(sums[..., 0], sums[..., 1], empty=0.0), divide(sums[..., 0], sums[..., 2], empty=0.0)
    return harmonic(p, r) + _nan_if_undefined(sums)


def _nan_if_undefined(sums: Floats) -> Floats:
    return np.where(sums[..., -1] > 0, 0.0, np.nan)


# ---------------------------------------------------------------------------------------------- registry


@dataclass(frozen=True, slots=True)
class Fit:
    """A constant found on the whole corpus before scoring: gather from each chunk, settle on a value for all."""

    gather: Callable[[Aligned, Subset], Any]  # of one chunk
    settle: Callable[[Sequence[Any]], Any]  # gets what all chunks gave, in the order of the corpus
    development: bool = True  # whether it is found on the development documents where there are such


@dataclass(frozen=True, slots=True)
class Metric:
    """A registered metric."""

    name: str
    function: Callable[..., Rows]
    averages: Mapping[str, Finish]
    better: Literal["higher", "lower"] | None
    cutoff: Literal["required", "optional", "none"] = "none"
    default_average: Callable[[Counting], str] | None = None
    fit: Fit | Callable[[Mapping[str, Any]], Fit | None] | None = None  # or what finds it from the options
    items: ItemsFinish | None = None
    bounds: tuple[float, float] = (0.0, 1.0)
    also: Mapping[str, str] = field(default_factory=dict)  # further names of averages
    read_options: Callable[[Mapping[str, str]], Mapping[str, Any]] | None = None  # where not by the defaults' types
    remark: Callable[[Mapping[str, Any]], str | None] | None = None  # what readers should know, given the options
    needs: Callable[[Sequence[Run], Mapping[str, Any]], None] | None = None  # raises if runs lack what it reads
    defaults: Mapping[str, Any] = field(default_factory=dict)
    request_keywords: frozenset[str] = frozenset()  # those of REQUEST_KEYWORDS that its function takes

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return (inspect.getdoc(self.function) or "").split("\n")[0]

    def average_for(self, counting: Counting) -> str:
        """The average that the protocol prints."""
        if self.default_average is not None:
            return self.default_average(counting)
        return next(iter(self.averages))


FAMILIES = (
    *("exact", "ranking", "approximate", "hierarchy", "soft", "semantic"),
    *("counts", "diversity", "confidence", "profile"),
)
# These import nothing that is large.
_LIGHT = ("exact", "ranking", "approximate", "hierarchy", "counts", "profile", "confidence")


class Metrics(Registry[Metric]):
    """The metrics by name. A family of them is imported when a name is looked up that is not known without it."""

    def __init__(self) -> None:
        super().__init__("metric", lambda found: found.function)
        self._waiting = list(dict.fromkeys((*_LIGHT, *FAMILIES)))

    def __missing__(self, name: str) -> Metric:
        if name in self:
            return self[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        while not super().__contains__(name) and self._waiting:
            import_module(f"karat.metrics.{self._waiting.pop(0)}")
        return super().__contains__(name)

    def __setitem__(self, name: str, found: Metric) -> None:
        if not found.function.__module__.startswith("karat.metrics."):
            self.load()  # so that a name of ours is seen to be taken
        super().__setitem__(name, found)

    def load(self) -> Metrics:
        """All metrics, in the order of the families, then those that others registered."""
        while self._waiting:
            import_module(f"karat.metrics.{self._waiting.pop(0)}")
        place = {f"karat.metrics.{name}": n for n, name in enumerate(FAMILIES)}
        ordered = sorted(self.items(), key=lambda item: place.get(item[1].function.__module__, len(place)))
        self.clear()
        self.update(ordered)
        return self


METRICS = Metrics()
REQUEST_KEYWORDS = frozenset({"average", "fitted"})  # keywords that receive a field of the request, and are no options


def metric(
    name: str,
    *,
    better: Literal["higher", "lower"] | None,
    cutoff: bool | Literal["optional"] = False,
    averages: Mapping[str, Finish] | None = None,
    default_average: Callable[[Counting], str] | None = None,
    fit: Fit | Callable[[Mapping[str, Any]], Fit | None] | None = None,
    items: ItemsFinish | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    also: Mapping[str, str] | None = None,
    read_options: Callable[[Mapping[str, str]], Mapping[str, Any]] | None = None,
    remark: Callable[[Mapping[str, Any]], str | None] | None = None,
    needs: Callable[[Sequence[Run], Mapping[str, Any]], None] | None = None,
) -> Callable[[Callable[..., Rows]], Callable[..., Rows]]:
    """Registers a metric; its keyword arguments with defaults become its options.

    The function is `f(aligned, cutoff, subset, *, option=default...) -> Rows`. A keyword `average` receives the average
    of the request, `fitted` the constant that `fit` found. `read_options` turns written options into values and says
    what is wrong with them; without it a value is of its default's type. `remark` gets the options and gives a note for
    those who read the score. `needs` gets the runs and the options before any work, and raises an error where a run
    lacks what the metric reads.
    """

    def register(function: Callable[..., Rows]) -> Callable[..., Rows]:
        depth: Literal["required", "optional", "none"]
        depth = "optional" if cutoff == "optional" else "required" if cutoff else "none"
        parameters = inspect.signature(function).parameters.values()
        keywords = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        METRICS[name] = Metric(
            name=name,
            function=function,
            averages=averages or {"mean": mean},
            better=better,
            cutoff=depth,
            default_average=default_average,
            fit=fit,
            items=items,
            bounds=bounds,
            also=also or {},
            read_options=read_options,
            remark=remark,
            needs=needs,
            defaults={k: v for k, v in keywords.items() if k not in REQUEST_KEYWORDS},
            request_keywords=REQUEST_KEYWORDS & keywords.keys(),
        )
        return function

    return register


# ---------------------------------------------------------------------------------------------- requests


@dataclass(frozen=True, slots=True)
class Request:
    """One requested number: NAME[@CUTOFF][:SUBSET][/AVERAGE][,option=value...]."""

    metric: str
    cutoff: Cutoff | None = None
    subset: Subset = "all"
    average: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    fitted: Any = None

    @property
    def label(self) -> str:
        """The name and the cutoff as in the request: f1@5, map."""
        return self.metric if self.cutoff is None else f"{self.metric}@{self.cutoff}"

    @property
    def spec(self) -> Metric:
        """The registered metric of the request."""
        return METRICS[self.metric]

    def needs_fit(self) -> Fit | None:
        """The fit that has to run first, if any."""
        if self.fitted is not None:
            return None
        if self.cutoff is not None and self.cutoff.kind == "V":
            return best_cutoff(self.average or "")
        fit = self.spec.fit
        return fit if fit is None or isinstance(fit, Fit) else fit(dict(self.options))

    def with_fitted(self, value: Any) -> Request:
        """The same request with the constant that was found."""
        if self.cutoff is not None and self.cutoff.kind == "V":
            return replace(self, cutoff=Cutoff("V", int(value)), fitted=value)
        return replace(self, fitted=value)

    @property
    def remark(self) -> str | None:
        """What a reader of the score should know, if anything."""
        return self.spec.remark(dict(self.spec.defaults) | dict(self.options)) if self.spec.remark else None

    def without_fitted(self) -> Request:
        """The request without what was fitted."""
        fitted = self.cutoff is not None and self.cutoff.kind == "V"
        return replace(self, fitted=None, cutoff=Cutoff("V") if fitted else self.cutoff)

    def kept(self) -> Request:
        """The request as results keep it: of what was fitted, numbers alone."""
        return self if isinstance(self.fitted, int | float) else replace(self, fitted=None)

    def rows(self, aligned: Aligned) -> Rows:
        """The metric's rows for these documents."""
        fields = {name: getattr(self, name) for name in self.spec.request_keywords}
        return self.spec.function(aligned, self.cutoff or Cutoff("M"), self.subset, **dict(self.options), **fields)

    def finish(self, sums: Floats) -> Floats:
        """The printed number(s) of sums of rows."""
        assert self.average is not None
        return self.spec.averages[self.average](sums)

    def value(self, rows: Rows) -> float:
        """The printed number of all rows."""
        if self.spec.items is not None:
            return float(self.spec.items(rows.values, np.ones(len(rows.values))))
        return float(self.finish(rows.sums()))


# Other names of metrics, in small letters and with _ for -; capitals need no line here.
ALIASES = {
    "precision": "p",
    "prec": "p",
    "recall": "r",
    "rec": "r",
    "f": "f1",
    "f_1": "f1",
    "f_score": "f1",
    "fscore": "f1",
    "f_measure": "f1",
    "fmeasure": "f1",
    "f1_score": "f1",
    "f1_measure": "f1",
    "average_precision": "map",
    "mean_average_precision": "map",
    "ap": "map",
    "mean_reciprocal_rank": "mrr",
    "reciprocal_rank": "mrr",
    "rr": "mrr",
    "alphandcg": "alpha_ndcg",
    "r_prec": "r_precision",
    "rprec": "r_precision",
    "partial_precision": "partial_p",
    "partial_recall": "partial_r",
    "soft_precision": "soft_p",
    "soft_recall": "soft_r",
    "soft_f1": "soft_f",
    "sem_precision": "sem_p",
    "sem_recall": "sem_r",
    "sem_f1": "sem_f",
    "semantic_precision": "sem_p",
    "semantic_recall": "sem_r",
    "semantic_f1": "sem_f",
    "hp": "hier_p",
    "hr": "hier_r",
    "hf": "hier_f",
    "hierarchical_precision": "hier_p",
    "hierarchical_recall": "hier_r",
    "hierarchical_f1": "hier_f",
    "hier_f1": "hier_f",
    "keyphrase_perplexity": "kpp",
    "perplexity": "kpp",
    "mae": "count_mae",
}


def with_own_name(text: str) -> str:
    """A request with the metric's own name in place of another one that is known for it.

    >>> with_own_name("Recall@5:present"), with_own_name("nDCG@10"), with_own_name("F1@M"), with_own_name("f2@5")
    ('r@5:present', 'ndcg@10', 'f1@M', 'f2@5')
    """
    name = re.match(r"[\w-]*", text)[0]  # type: ignore[index]  # matches at least nothing
    if METRICS.get(name) is not None:
        return text
    plain = name.lower().replace("-", "_")
    own = ALIASES.get(plain, plain)
    return own + text[len(name) :] if own != name and own in METRICS else text


def own_names(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """(requests with the metrics' own names, notes on those that had other ones).

    >>> own_names(["r@5", "F1@5"])
    (['r@5', 'f1@5'], ['F1@5 is called f1@5 here'])
    """
    given = list(texts)
    named = [with_own_name(text) for text in given]
    return named, [f"{a} is called {b} here" for a, b in zip(given, named, strict=True) if a != b]


_REQUEST = re.compile(
    r"(?P<name>\w+)(?:@(?P<cutoff>\w+))?(?::(?P<subset>\w+))?(?:/(?P<average>[\w-]+))?(?P<options>(?:,[^,]+)*)"
)


def parse_request(text: str) -> Request:
    """The request of a string.

    >>> request = parse_request("f1@5:present/micro")
    >>> request.label, request.subset, request.average
    ('f1@5', 'present', 'micro')
    """
    text = with_own_name(text)
    found = _REQUEST.fullmatch(text)
    if found is None:
        raise InputError(f"metric {text!r} is not NAME[@CUTOFF][:SUBSET][/AVERAGE][,option=value], as f1@5:present")
    name, subset = found["name"], found["subset"] or "all"
    if name not in METRICS:
        raise _unknown_metric(name)
    if subset not in SUBSETS:
        raise unknown("subset", subset, SUBSETS)
    spec = METRICS[name]
    cutoff = _cutoff(spec, found["cutoff"], text)
    average = _average(spec, found["average"])
    return Request(name, cutoff, subset, average, _options(spec, found["options"]))


def _unknown_metric(name: str) -> InputError:
    """An error for a metric that does not exist, with the nearest one that does, under whichever name is near."""
    known = METRICS.load()
    near = get_close_matches(name.lower(), [*known, *ALIASES], n=1, cutoff=0.75)
    if near and near[0] in ALIASES:
        listed = ", ".join(sorted(known))
        return InputError(
            f"unknown metric {name!r}; did you mean {near[0]!r}, here {ALIASES[near[0]]!r}? (known: {listed})"
        )
    return unknown("metric", name, known)


def _cutoff(spec: Metric, given: str | None, text: str) -> Cutoff | None:
    if given is None:
        if spec.cutoff == "required":
            raise InputError(f"metric {text!r} needs a cutoff, as {spec.name}@5 or {spec.name}@M")
        return None
    if spec.cutoff == "none":
        raise InputError(f"metric {spec.name} takes no cutoff: write {spec.name}, not {text!r}")
    if given in ("M", "O", "G", "V"):
        return Cutoff(given)  # type: ignore[arg-type]
    k = whole_number(given)
    if k is None:
        raise InputError(f"cutoff {given!r} in {text!r} is not a number from 1 to {MOST:,}, M, O, G or V")
    return Cutoff("k", k)


def _average(spec: Metric, given: str | None) -> str | None:
    if given is not None and given not in spec.averages and given not in spec.also:
        raise unknown(f"average of {spec.name}", given, spec.averages)
    return None if given is None else spec.also.get(given, given)


def _options(spec: Metric, given: str) -> tuple[tuple[str, Any], ...]:
    written: dict[str, str] = {}
    for setting in given.split(",")[1:]:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"{setting!r} is not option=value")
        written[name] = value
    options = spec.read_options(written) if spec.read_options else typed_options(spec.name, spec.defaults, written)
    return tuple(sorted(options.items()))


def typed_options(owner: str, defaults: Mapping[str, Any], written: Mapping[str, str]) -> dict[str, Any]:
    """The values of written options, each of its default's type."""
    options: dict[str, Any] = {}
    for name, value in written.items():
        if name not in defaults:
            raise unknown(f"option of {owner}", name, defaults)
        kind = type(defaults[name])
        try:
            options[name] = kind(value)
        except ValueError:
            raise InputError(f"option {name} of {owner} is a {kind.__name__}, not {value!r}") from None
    return options


DEFAULT_METRICS = tuple(f"f1@{k}:{s}" for s in ("present", "absent", "all") for k in ("5", "M", "O"))


def plan_requests(metrics: Sequence[str], counting: Counting, averages: bool = False) -> list[Request]:
    """The requests of the metrics under a protocol: an average each, its own one or all of them."""
    requests: list[Request] = []
    for text in metrics:
        request = parse_request(text)
        own = request.average or request.spec.average_for(counting)
        chosen = list(request.spec.averages) if averages and request.average is None else [own]
        requests.extend(replace(request, average=average) for average in chosen)
    return requests


# ---------------------------------------------------------------------------------------------- F1@V

LARGEST_FITTED_CUTOFF = 20


def best_cutoff(average: str) -> Fit:
    """The fit of the cutoff V: the k from 1 to 20 with the best F1, the smallest of equals."""
    f1 = METRICS["f1"]
    kind = average if average in f1.averages else "mean-of-f"

    def gather(aligned: Aligned, subset: Subset) -> Floats:
        each = [
            f1.function(aligned, Cutoff("k", k), subset, average=kind).values
            for k in range(1, LARGEST_FITTED_CUTOFF + 1)
        ]
        return np.concatenate(each, axis=1)

    def settle(gathered: Sequence[Floats]) -> int:
        scores = f1.averages[kind](np.concatenate(gathered).sum(axis=0).reshape(LARGEST_FITTED_CUTOFF, -1))
        return int(np.argmax(np.nan_to_num(scores))) + 1

    return Fit(gather, settle)
