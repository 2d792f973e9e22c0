"""Systems compared: which is better, by how much, and how sure that is.

The number that is printed is the number that is tested: rows of documents are swapped or drawn again, and the
statistic is finished anew, whether it is a mean of F1 or F1 of means. All systems of a corpus see the same resamples.
P-values are adjusted over all comparisons that are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from karat.analyses.compare.discrimination import discriminative_powers, notes_of_means
from karat.analyses.compare.families import families_of, found_beside
from karat.analyses.compare.letters import lettered
from karat.analyses.compare.measure import measure
from karat.analyses.compare.notes import equal_systems
from karat.analyses.compare.options import CompareOptions
from karat.analyses.compare.ranks import notes_of_best, rankings
from karat.analyses.compare.result import Comparison
from karat.analyses.score import ScoreOptions, metrics_to_compute, score_with
from karat.corpus import Corpus, Run
from karat.errors import InputError, unknown
from karat.matching.inputs import (
    CorporaLike,
    CorpusLike,
    Development,
    MetricsLike,
    ProtocolsLike,
    RunLike,
    as_corpora,
    as_metrics,
)
from karat.options import (
    By,
    Extra,
    FamilyOf,
    MatchOptions,
    Missing,
    Progress,
    ScoreInterval,
    options_from,
    public,
    renamed,
)
from karat.results import Collection, Results, corpus_of, notes_of, signatures_of
from karat.results.common import on_common_documents
from karat.results.files import load_all
from karat.stats.difference import Correction, Test
from karat.stats.influence import Alternative
from karat.vocabulary import VocabularyLike


@public(CompareOptions)
def compare(
    corpus: CorpusLike | CorporaLike | Results | Collection,
    *runs: RunLike | Results | Collection,
    protocol: ProtocolsLike = "karat",
    metrics: MetricsLike | None = None,
    baseline: str | None = None,
    test: Test = "randomisation",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    correction: Correction = "max-t",
    family: FamilyOf = "metric",
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    interval: ScoreInterval = "t",
    difference: float | None = None,
    stars: bool = False,
    all_pairs: bool = False,
    discriminative_power: bool = False,
    extra_references: str | Path | None = None,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    development: Development | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Two or more systems compared on a corpus, each with each or all with a baseline.

    Instead of a corpus and runs, results can be given: objects or `.karat` files; or several corpora as a dict or a
    list of pairs, each with its runs: systems are then compared on each of them, and by their ranks over all. Runs
    whose names end in `#1`, `#2`... are seeds of one system. Raises InputError if there are fewer than two systems, or
    if results are not of the same documents.
    """
    options = options_from(CompareOptions, locals())
    if all_pairs and baseline is not None:
        raise InputError("--all-pairs shows each system with each, --baseline all with one: leave one of the two out")
    if discriminative_power and (baseline is not None or alternative != "two-sided"):
        other = "--baseline" if baseline is not None else "--alternative"
        raise InputError(f"--discriminative-power needs two-sided tests of every two systems: leave {other} out")
    if is_results(corpus):
        if metrics:
            raise InputError("-m chooses nothing in .karat files: score with the metric, or leave it out")
        if extra_references is not None:
            raise InputError("--extra-references adds nothing to .karat files: score with it, or leave it out")
        return compare_results(all_results((corpus, *runs)), options)
    given = as_corpora(corpus, runs)  # type: ignore[arg-type]
    if development is not None and len(given) > 1:
        raise InputError("a development corpus is of one corpus: leave it out with several")
    if extra_references is not None and len(given) > 1:
        raise InputError("a review of extra references is of one corpus: leave it out with several")
    return compare_results([_scored(documents, systems, options) for documents, systems in given], options)


compare_corpora = renamed(compare, "compare_corpora")


def all_results(given: Iterable[Any]) -> list[Results]:
    """Results that are given as such or by their paths; those of several corpora one by one."""
    found: list[Results] = []
    for each in given:
        if isinstance(each, Collection):
            found += each.parts
        else:
            found += [each] if isinstance(each, Results) else load_all(str(each))
    return found


def is_results(given: Any) -> bool:
    """Whether something is results, or the path of a file of them."""
    return isinstance(given, Results | Collection) or (isinstance(given, str | Path) and str(given).endswith(".karat"))


def _scored(corpus: Corpus, runs: Sequence[Run], options: CompareOptions) -> Results:
    """The results of the metrics, and of the references found wherever McNemar's test goes with one of them."""
    if len(runs) < 2:
        raise InputError(f"two runs or more can be compared, not {len(runs)}")
    requested, remarks = metrics_to_compute(corpus, as_metrics(options.metrics), runs)
    beside = filter(None, map(found_beside, requested))
    scoring = ScoreOptions(
        protocol=options.protocol,
        metrics=[*dict.fromkeys([*requested, *beside])],
        extra_references=options.extra_references,
        join=own_documents(options.join),
        development=options.development,
        work=options.work,
    )
    found = score_with(corpus, runs, scoring)
    return replace(found, remarks=(*remarks, *found.remarks))


def own_documents(join: MatchOptions) -> MatchOptions:
    """Return options that leave a document out of the runs that lack it; the comparison restricts the others later."""
    return replace(join, missing="skip") if join.missing == "common" else join


def compare_results(results: Sequence[Results], options: CompareOptions) -> Comparison:
    """The systems of results compared; results of one corpus must be of the same documents and signatures."""
    results, common_notes = on_common_documents(results)
    families = families_of(results)
    if not families:
        raise InputError("there is no metric on which two systems could be compared")
    for family in families:
        if options.baseline is not None and options.baseline not in family.systems:
            raise unknown("baseline", options.baseline, family.systems)
    measured = measure(families, options)
    standings, pairs, chosen = measured.standings, measured.pairs, measured.options
    ranked, of_ranks = rankings(standings, results, chosen)
    powers = discriminative_powers(pairs, chosen.alpha) if chosen.discriminative_power else ()
    return Comparison(
        tuple(lettered(standings, pairs, chosen)),
        tuple(pairs),
        tuple(ranked),
        {corpus_of(each): len(each.ids) for each in results},
        {corpus_of(each): each.common for each in results},
        signatures_of(results),
        chosen,
        (
            *notes_of(results),
            *common_notes,
            *equal_systems(pairs, several=len(set(map(corpus_of, results))) > 1),
            *notes_of_best(families),
            *measured.notes(),
            *dict.fromkeys(of_ranks),
            *notes_of_means(powers),
        ),
        powers,
    )
