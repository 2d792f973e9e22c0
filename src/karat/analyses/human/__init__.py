"""The verb `human`: `items` reads metrics and scores, `measure` correlates them, `learn` learns weights by place."""

from __future__ import annotations

from dataclasses import replace

from karat.analyses.human.items import Coefficient, Combine, Given, HumanOptions, of_pairs, of_sets
from karat.analyses.human.learn import LEARNED, Learned, learned_column, with_origin
from karat.analyses.human.measure import Task, measure
from karat.analyses.human.result import Human
from karat.errors import InputError, unknown
from karat.formats.human import HumanLike, Judged, read_judged
from karat.matching.inputs import CorpusLike, MetricsLike, ProtocolLike, RunLike, as_metrics, as_runs
from karat.options import By, Extra, Missing, Progress, options_from, public
from karat.similarity.groups import GROUPS
from karat.stats.agreement import Scale
from karat.vocabulary import VocabularyLike


@public(HumanOptions)
def human(
    scores: HumanLike,
    *,
    corpus: CorpusLike | None = None,
    runs: RunLike = (),
    metrics: MetricsLike | None = None,
    protocol: ProtocolLike = "karat",
    combine: Combine | None = None,
    annotators: str | None = None,
    scale: str | None = None,
    learn: bool = False,
    folds: int = 10,
    coefficient: Coefficient | None = None,
    against: str | None = None,
    level_of_scale: Scale = "interval",
    level: float = 0.95,
    seed: int = 0,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Human:
    """Correlate metrics with the scores that people gave to sets or to pairs.

    `scores` is a path, or dicts of the same fields. Scores of sets need the corpus and the runs that were scored, and
    `metrics` are as for `karat.score`; for scores of pairs they are names of similarities, and a corpus is needed for
    `context` alone; `kim2010` names the seven of Kim (2010). With `learn`, weights by place are learned from the scores
    of pairs, and are the result's `weights`. Raises InputError if scores are of documents, systems or metrics that are
    not there.
    """
    chosen = options_from(HumanOptions, locals())
    requested = None if metrics is None else list(dict.fromkeys(as_metrics(metrics) or ()))
    if requested is not None and not requested:
        raise InputError("there is no metric to measure against people")
    systems = as_runs([] if isinstance(runs, list | tuple) and not runs else [runs])
    judged = read_judged(scores, chosen.names(), chosen.limits())
    chosen = replace(chosen, combine=_combination(chosen.combine, requested, judged))
    given = (of_sets if judged.kind == "sets" else of_pairs)(judged, corpus, systems, requested, chosen)
    given, learned = _with_learned(judged, given, chosen)
    names = [column.name for column in given.columns]
    if against is not None and against not in names:
        raise unknown("metric to compare with", against, names)
    return _with_weights(_measured(judged, given, chosen), judged, learned)


def _combination(combine: Combine | None, requested: list[str] | None, judged: Judged) -> Combine:
    """How scores are combined where the options do not say: as the paper does whose metrics are asked for."""
    of_paper = any(name in GROUPS for name in requested or ()) and len(judged.annotators) > 1
    return combine or ("both" if of_paper else "mean")


def _measured(judged: Judged, given: Given, options: HumanOptions) -> Human:
    """The result; with both combinations, that of the mean, with that of the majority beside it."""
    if options.combine != "both":
        return measure(Task.of(judged, given, options))
    mean = measure(Task.of(judged, given, replace(options, combine="mean")))
    majority = measure(Task.of(judged, given, replace(options, combine="majority")), by_relation=False)
    further = [note for note in majority.notes if note not in mean.notes]
    notes = (*mean.notes, *(f"majority: {note}" for note in further))
    signatures = {**mean.signatures, "human": options.signature()}
    return replace(mean, options=options, signatures=signatures, further=(majority,), notes=notes)


def _with_learned(judged: Judged, given: Given, options: HumanOptions) -> tuple[Given, Learned | None]:
    """What is measured, with the scores by learned weights where these are asked for."""
    if not options.learn:
        return given, None
    if judged.kind != "pairs":
        raise InputError(f"{judged.origin} has scores of sets; weights by place are learned from scores of pairs")
    column, learned = learned_column(judged, options)
    return replace(given, columns=[*given.columns, column]), learned


def _with_weights(found: Human, judged: Judged, learned: Learned | None) -> Human:
    """The result with the learned weights, which know how well they went with people in cross-validation."""
    if learned is None:
        return found
    [row] = [each for each in found.correlations if each.name == LEARNED and each.subset == "all"]
    return replace(found, learned=with_origin(learned, judged, found.options, row.figures()))
