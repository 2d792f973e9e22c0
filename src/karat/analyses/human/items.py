"""What is measured against people: columns of metrics over the items that they scored, and subsets of the items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat import __version__
from karat.analyses.score import ScoreOptions, reading_of
from karat.analyses.score import in_pass as scores_in_pass
from karat.corpus import Corpus, Run
from karat.errors import InputError, MissingExtraError, unknown
from karat.formats.human import Judged, Range
from karat.matching.inputs import CorpusLike, MetricsLike, ProtocolLike, RunLike, as_corpus
from karat.matching.passes import View, look_at
from karat.metrics.base import parse_request
from karat.metrics.soft import hash_remark
from karat.options import (
    MatchOptions,
    WorkOptions,
    group,
    level_option,
    metrics_option,
    option,
    path_option,
    protocol_option,
    seed_option,
)
from karat.protocol import Protocol
from karat.results import Results
from karat.similarity import Similarity, Words, find, words_of
from karat.similarity.base import PATHS
from karat.similarity.classes import CLASSES, Classes, classify, is_word
from karat.similarity.context import sentences_look
from karat.similarity.groups import GROUPS, ungrouped
from karat.similarity.placed import read_weights
from karat.stats.agreement import Scale
from karat.stats.base import Floats, Ints
from karat.stats.correlation import COEFFICIENTS

Bools = NDArray[np.bool_]
Coefficient = Literal["pearson", "spearman", "kendall"]
Combine = Literal["mean", "majority", "both"]

SET_METRICS = ("f1@M", "soft_f,score=kmr")
PAIR_METRICS = (
    "exact",
    "overlap",
    "overlap_head",
    "kmr",
    "bleu",
    "nist",
    "meteor",
    "rouge1",
    "rougeL",
    "chrf",
    "levenshtein",
    "cosine",
)
FEW_WORDS = (4, 3)  # of the reference: the subsets words<=4 and words<=3
ENOUGH_DOCUMENTS = 10  # from so many on, the documents of pairs are the units of the inference
_BY_DOCUMENT = ("mean", "mean-of-f")  # averages of values that documents have by themselves


@dataclass(frozen=True, slots=True)
class HumanOptions:
    """How `human` works."""

    corpus: CorpusLike | None = path_option(
        "The documents: for scores of sets, and for the similarity context.", "CORPUS"
    )
    runs: RunLike = option(
        (),
        "What people scored, for scores of sets.",
        flags=("--run",),
        repeatable=True,
        metavar="RUN",
        complete="paths",
    )
    metrics: MetricsLike | None = metrics_option(
        "What is measured: for sets a metric, as f1@M; for pairs a similarity, as kmr, or kim2010, the seven of Kim "
        "(2010).",
        complete="metrics_and_similarities",
    )
    protocol: ProtocolLike = protocol_option("Convention to score sets under.", once=True)
    combine: Combine | None = option(
        None,
        "How the annotators' scores of an item become one; both prints one below the other.",
        values=("mean", "majority", "both"),
        otherwise="mean, and both with -m kim2010",
    )
    annotators: str | None = option(
        None,
        "Whose scores count, as ana,ben; of a wide table, which columns are scores.",
        metavar="NAME,...",
        otherwise="all",
    )
    scale: str | None = option(
        None, "The lowest and the highest score, as 0:4; a score outside is an error.", metavar="LOW:HIGH"
    )
    learn: bool = option(
        False, "Learn weights by place from the scores of pairs, judged by cross-validation.", command=False
    )
    folds: int = option(10, "Folds in which weights are learned and judged.", least=2, most=1000, metavar="N")
    coefficient: Coefficient | None = option(
        None,
        "By which metrics are ranked.",
        values=COEFFICIENTS,
        otherwise="spearman for pairs, pearson for sets",
    )
    against: str | None = option(
        None,
        "Compare the other metrics with METRIC alone.",
        metavar="METRIC",
        otherwise="compare all pairs, and print those with the best",
    )
    level_of_scale: Scale = option(
        "interval",
        "What the scores are, for Krippendorff's alpha.",
        values=("nominal", "ordinal", "interval"),
    )
    level: float = level_option()
    seed: int = seed_option()
    join: MatchOptions = group(MatchOptions)
    work: WorkOptions = group(WorkOptions)

    def __post_init__(self) -> None:
        """Raises InputError if there are several protocols."""
        if not isinstance(self.protocol, str | Protocol):
            raise InputError("metrics are measured against people under one protocol, not under several")

    def names(self) -> list[str] | None:
        """The annotators whose scores count; None where all do."""
        return None if self.annotators is None else [name.strip() for name in self.annotators.split(",")]

    def limits(self) -> Range | None:
        """The ends of the scale. Raises InputError if it is not written as two numbers, the lower one first."""
        if self.scale is None:
            return None
        try:
            low, high = map(float, self.scale.split(":"))
        except ValueError:
            low = high = 0.0
        if not (isfinite(low) and isfinite(high) and low < high):
            raise InputError(f"a scale is its lowest and its highest score, as 0:4, not {self.scale!r}")
        return low, high

    def signature(self) -> str:
        """What the figures rest on besides the metrics."""
        values = {name: getattr(self, name) for name in ("combine", "level_of_scale", "level", "seed")}
        return ",".join(f"{name}={value}" for name, value in (values | {"karat": __version__}).items())


@dataclass(frozen=True, slots=True)
class Column:
    """A metric's values for the items, NaN where undefined."""

    name: str
    metric: str
    options: Mapping[str, Any]
    subset: str | None  # the metric's own; None: those that the items have
    values: Floats
    sign: int = 1  # -1 where lower is better


@dataclass(frozen=True, slots=True)
class Given:
    """What is measured: columns of metrics, subsets of items, and the unit of each item, such as its document."""

    columns: list[Column]
    subsets: dict[str, Bools]
    units: Ints
    signatures: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    classes: Sequence[Classes] = ()


# ---------------------------------------------------------------------------------------------- sets


def of_sets(
    judged: Judged,
    corpus: CorpusLike | None,
    runs: Sequence[Run],
    metrics: list[str] | None,
    options: HumanOptions,
) -> Given:
    """The metrics of the documents that people scored."""
    if corpus is None or not runs:
        raise InputError(
            f"{judged.origin} has scores of what systems predict for documents: "
            "say which with --corpus CORPUS and --run RUN (in Python: corpus=..., runs=[...])"
        )
    for name in metrics or ():
        if name in GROUPS:
            said = f"{name} is a group of similarities of two phrases; take a metric of sets, as soft_f,score=overlap"
            raise InputError(f"{judged.origin} has scores of sets, and {said}")
    documents, systems = as_corpus(corpus), runs
    system = _systems(judged, [run.name for run in systems])
    names = metrics or list(SET_METRICS)
    by_document = list(map(_by_document, names))
    missing = options.join.missing
    # What a run lacks matters only where people scored it, which is seen to below.
    join = replace(options.join, missing="skip" if missing == "error" else missing)
    scoring = ScoreOptions(options.protocol, by_document, join=join, work=options.work)
    results, lacking = _scored(documents, systems, scoring)
    row = _documents(judged, results, documents)
    if missing == "error":
        _check_predicted(judged, systems, system, lacking)
    columns = [_column(name, results, m, len(names), system, row) for m, name in enumerate(names)]
    idle = [f"{run.name}: nobody scored it" for s, run in enumerate(systems) if not (system == s).any()]
    notes = [*results.remarks, *idle, *_column_notes(columns)]
    return Given(columns, {"all": np.ones(len(row), dtype=bool)}, row, results.signatures, notes)


def _scored(corpus: Corpus, runs: Sequence[Run], options: ScoreOptions) -> tuple[Results, list[set[str]]]:
    """(the scores of runs; by run, the ids of documents that it lacks), from one pass."""
    reading = reading_of(corpus, runs, options.protocol, options.join, options.work)
    finish = scores_in_pass(reading, options)
    missing = reading.look(_look_at_missing)
    reading.run()
    lacking = [{name for part in missing.parts for name in part[s]} for s in range(len(runs))]
    return finish(), lacking


def _look_at_missing(view: View) -> list[list[str]]:
    """A look: by run, the ids of documents that it lacks."""
    return [[view.ids[position] for position in lacking] for lacking in view.chunk.missing]


def _systems(judged: Judged, names: list[str]) -> Ints:
    """Which of the runs each item is of."""
    named = any(system for _, system in judged.items)
    found = []
    for i, (_, system) in enumerate(judged.items):
        if not system and len(names) == 1 and not named:
            found.append(0)
        elif not system:
            why = "other lines name one" if named else f"there are {len(names)} runs"
            some = " or ".join(f'"system": "{name}"' for name in names[:2])
            raise InputError(f"{judged.at(i)}: no system, though {why}; write {some}")
        elif system not in names:
            raise InputError(f"{judged.at(i)}: {unknown('system', system, names)}; name a run so with --run NAME=PATH")
        else:
            found.append(names.index(system))
    return np.array(found, dtype=np.int64)


def _by_document(text: str) -> str:
    """The metric as a request to `score`: in an average of values that documents have by themselves."""
    request = parse_request(text)
    own = [average for average in request.spec.averages if average in _BY_DOCUMENT]
    head, comma, options = text.partition(",")
    if request.spec.items is not None or not own:
        raise _not_by_document(text)
    if request.average is None:
        return f"{head}/{own[0]}{comma}{options}"
    if request.average not in own:
        plain = head.partition("/")[0] + comma + options
        raise InputError(f"{text} is of all documents together, but people scored each by itself; write {plain}")
    return text


def _not_by_document(text: str) -> InputError:
    return InputError(f"{text} has no value for a document by itself, which people scored; take one that has, as f1@M")


def _documents(judged: Judged, results: Results, corpus: Corpus) -> Ints:
    """The document of each item, by its place in the corpus."""
    place = {identifier: i for i, identifier in enumerate(results.ids)}
    for i, (document, _) in enumerate(judged.items):
        if document not in place:
            raise InputError(
                f"{judged.at(i)}: scores for an unknown document: {document!r} is not in {corpus.origin}, "
                f"whose ids are as {results.ids[0]!r}"
            )
    return np.array([place[document] for document, _ in judged.items], dtype=np.int64)


def _check_predicted(judged: Judged, runs: Sequence[Run], system: Ints, lacking: Sequence[set[str]]) -> None:
    """Raises InputError if a run has nothing for a document that people scored; `lacking` has such by run."""
    for s, run in enumerate(runs):
        for i in np.flatnonzero(system == s).tolist():
            document = judged.items[i][0]
            if document in lacking[s]:
                raise InputError(
                    f"{judged.at(i)}: scores for an unknown document: {document!r} is not in {run.origin}; "
                    "take it as empty with --missing empty, or leave it out with --missing skip"
                )


def _column(name: str, results: Results, metric: int, metrics: int, system: Ints, row: Ints) -> Column:
    """The values of one metric for the items: those of each item's document in each item's run."""
    scores = results.scores[metric::metrics]  # by run
    request = scores[0].request
    if scores[0].rows.units is not None:
        raise _not_by_document(name)
    values = np.stack([each.per_document() for each in scores])[system, row]
    sign = -1 if request.spec.better == "lower" else 1
    return Column(name, request.label, dict(request.options), request.subset, values, sign)


def _column_notes(columns: Sequence[Column]) -> list[str]:
    """What a reader should know of the metrics: which way they go, and where they are undefined."""
    undefined = [(column.name, int(np.isnan(column.values).sum()), len(column.values)) for column in columns]
    return [
        *(f"{c.name}: lower is better, so the best is the most negative" for c in columns if c.sign < 0),
        *(f"{name}: {n:,} of {items:,} items left out, undefined" for name, n, items in undefined if n),
    ]


# ---------------------------------------------------------------------------------------------- pairs


def of_pairs(
    judged: Judged,
    corpus: CorpusLike | None,
    runs: Sequence[Run],
    metrics: list[str] | None,
    options: HumanOptions,
) -> Given:
    """The similarities of the pairs that people scored."""
    if runs:
        raise InputError(f"{judged.origin} has scores of pairs of phrases, which need no run; leave out --run")
    if str(options.protocol) != "karat":
        raise InputError(
            f"{judged.origin} has scores of pairs of phrases: metrics are similarities then, which no protocol "
            "changes; leave out --protocol"
        )
    columns: list[Column] = []
    notes: list[str] = []
    lenient = set(PAIR_METRICS) if metrics is None else _group_members(metrics)  # what may be left out with a note
    for name in PAIR_METRICS if metrics is None else ungrouped(metrics):
        try:
            found = _similarity(name, corpus)
            values = _pair_scores(found, judged)
        except (MissingExtraError, _NoCorpusError) as error:
            if name not in lenient:
                raise
            notes.append(f"{name} is left out: {error}")
            continue
        settings = [] if name.startswith(PATHS) else [text.partition("=")[0] for text in name.split(",")[1:]]
        columns.append(Column(name, found.name, {s: found.options[s] for s in settings}, None, values))
        notes += _similarity_notes(name, found, judged)
    classes = classify([(prediction, reference) for prediction, reference, _ in judged.items])
    return Given(columns, _pair_subsets(judged, classes), _pair_units(judged), {}, notes, classes)


def _pair_units(judged: Judged) -> Ints:
    """Return the unit of each pair: its document where enough are named, else the pair itself."""
    names = [item[2] for item in judged.items]
    number = {name: n for n, name in enumerate(dict.fromkeys(names))}
    if "" in number or len(number) < ENOUGH_DOCUMENTS:
        return np.arange(len(names))
    return np.array([number[name] for name in names], dtype=np.int64)


class _NoCorpusError(InputError):
    """A similarity compares what documents say, and there are none."""


def _group_members(metrics: Sequence[str]) -> set[str]:
    """The similarities that are asked for as members of a group, and not by their own name."""
    return {member for name in metrics if name in GROUPS for member in GROUPS[name]} - set(metrics)


def _similarity_notes(name: str, found: Similarity, judged: Judged) -> list[str]:
    """What a reader should know of a similarity."""
    if found.name == "cosine" and (remark := hash_remark(found.options)):
        return [f"{name}: {remark}"]
    if found.name == "placed":
        from karat.analyses.human.learn import seen_note

        return seen_note(name, read_weights(found.options["weights"]), judged.items)
    return []


def _similarity(name: str, corpus: CorpusLike | None) -> Similarity:
    if name.split(",")[0] != "context":
        return find(name)
    if corpus is None:
        raise _NoCorpusError("context compares the sentences that phrases stand in: give the documents with --corpus")
    parts = look_at(as_corpus(corpus), partial(sentences_look, None), distinct=False)
    return find(name, sentences=[sentence for part in parts for sentence in part])


def _pair_scores(found: Similarity, judged: Judged) -> Floats:
    """The similarity of each pair."""
    number: dict[Words, int] = {}
    pairs = [[words_of(text, found.form) for text in item[:2]] for item in judged.items]
    at = np.array([[number.setdefault(words, len(number)) for words in pair] for pair in pairs], dtype=np.int64)
    return found.scores(list(number), at[:, 0], at[:, 1])


def _pair_subsets(judged: Judged, classes: Sequence[Classes]) -> dict[str, Bools]:
    """Subsets by name, none of them empty: by the number of words of the reference, and each class of near misses."""
    length = np.array([_count_words(reference) for _, reference, _ in judged.items])
    subsets = {"all": length >= 0, **{f"words<={most}": length <= most for most in FEW_WORDS}}
    for kind, values in CLASSES.items():
        for value in values:
            subsets[f"{kind}={value}"] = np.array([getattr(each, kind) == value for each in classes])
    return {name: items for name, items in subsets.items() if items.any()}


def _count_words(phrase: str) -> int:
    return sum(map(is_word, words_of(phrase, "surface")))
