"""The table of a paper: systems down, corpora and metrics across.

The best value of each column is bold and the second one underlined; marks tell which values differ significantly from
the best, or from a baseline. Scores are those of `score`, intervals and p-values those of `compare`. A run that a
corpus lacks leaves its cells empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from karat.analyses.check import is_of, known_metrics
from karat.analyses.compare import all_results, is_results, own_documents
from karat.analyses.compare.families import families_of
from karat.analyses.compare.measure import measure
from karat.analyses.compare.ranks import notes_of_best
from karat.analyses.score import ScoreOptions, score_with
from karat.analyses.table.columns import Tests, mean_ranks, values_of
from karat.analyses.table.names import by_name, names_of
from karat.analyses.table.options import GroupsLike, NamesLike, TableOptions, Test
from karat.analyses.table.result import Names, PaperTable
from karat.corpus import Corpus, Run
from karat.errors import InputError, unknown
from karat.matching.inputs import CorporaLike, CorpusLike, MetricsLike, ProtocolsLike, RunLike, as_corpora, as_metrics
from karat.matching.sanity import NO_SUBSETS, has_texts
from karat.metrics.base import parse_request
from karat.options import By, Extra, FamilyOf, Missing, Progress, ScoreInterval, options_from, public
from karat.protocol import LANGUAGES, change, parse_protocol
from karat.results import Collection, Results, corpus_of, signatures_of
from karat.results.common import on_common_documents
from karat.stats.difference import Correction
from karat.vocabulary import VocabularyLike

METRICS = ("f1@5:present", "f1@M:present", "f1@5:absent", "f1@M:absent")  # as in the papers of the field
WITHOUT_TEXTS = ("f1@5:all", "f1@M:all")


@public(TableOptions)
def table(
    corpus: CorpusLike | CorporaLike | Results | Collection,
    *runs: RunLike | Results | Collection,
    protocol: ProtocolsLike = "karat",
    metrics: MetricsLike | None = None,
    baseline: str | None = None,
    significance: bool = True,
    test: Test = "randomisation",
    alpha: float = 0.05,
    correction: Correction = "max-t",
    family: FamilyOf = "metric",
    resamples: int = 10_000,
    seed: int = 0,
    intervals: bool = False,
    level: float = 0.95,
    interval: ScoreInterval = "t",
    percent: bool = False,
    digits: int | None = None,
    ranks: bool = True,
    groups: GroupsLike = (),
    systems: NamesLike = (),
    corpora: NamesLike = (),
    order: str | Sequence[str] = (),
    languages: NamesLike = (),
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> PaperTable:
    """The table of a paper: systems down, corpora and metrics across.

    Several corpora are a dict or a list of pairs, each with its runs; results, objects or `.karat` files, can be given
    instead, of which `metrics` chooses some. `groups` is {name: systems}; `systems` and `corpora` are {name: what it
    is called in the table}; `order` names what comes first. Raises InputError if a name is of no system or corpus, or
    if a run does not fit its corpus.
    """
    options = options_from(TableOptions, locals())
    if is_results(corpus):
        results = [_selected(each, options) for each in all_results((corpus, *runs))]
        return _table([each for each in results if each.scores], options, [])
    given = as_corpora(corpus, runs)  # type: ignore[arg-type]
    tongues = by_name("corpus", options.languages, "CORPUS=LANGUAGE", [documents.name for documents, _ in given])
    scored: list[Results] = []
    notes: list[str] = []
    for documents, own in given:
        join = replace(options.join, language=tongues.get(documents.name, options.join.language))
        chosen, said = _metrics(documents, own, replace(options, join=join))
        scored += [score_with(documents, own, chosen)] if own else []
        notes += said
    return _table(scored, options, notes)


def _metrics(corpus: Corpus, runs: Sequence[Run], options: TableOptions) -> tuple[ScoreOptions, list[str]]:
    """(how the runs of a corpus are scored, what is to be said of it)."""
    if not runs:
        return ScoreOptions(), [f"{corpus.name} has no run, so it is left out"]
    requested = as_metrics(options.metrics)
    notes: list[str] = []
    if requested is None:
        texts = has_texts(corpus, runs)
        requested = list(METRICS if texts else WITHOUT_TEXTS)
        notes = [] if texts else [f"{corpus.name}: {NO_SUBSETS}"]
    scoring = ScoreOptions(options.protocol, requested, join=own_documents(options.join), work=options.work)
    return scoring, notes


def _selected(results: Results, options: TableOptions) -> Results:
    """Results with the scores of the metrics alone, where some are named."""
    requested = as_metrics(options.metrics)
    if requested is None:
        return results
    requests = list(map(parse_request, requested))
    chosen = [score for request in requests for score in results.scores if is_of(score, request)]
    if not chosen:
        there = ", ".join(known_metrics(results.scores))
        raise InputError(f"{corpus_of(results)}: no score of {', '.join(requested)} (there are: {there})")
    return replace(results, scores=tuple(chosen))


def _table(results: Sequence[Results], options: TableOptions, notes: Sequence[str]) -> PaperTable:
    if not results:
        raise InputError("there is no score to show: give a run or more")
    results, common_notes = on_common_documents(results)
    families = families_of(results, least=1)
    names = names_of(families, options)
    _check_baseline(names, options)
    measured = None
    if options.significance or options.intervals:
        measured = measure(families, options.comparing(), tested=options.significance)
    tests = None if measured is None else Tests.of(measured)
    shown = tables_by_protocol((family.corpus, family.protocol) for family in families)
    values = [value for family in families for value in values_of(family, shown[family.protocol], tests, options)]
    ranks = list(mean_ranks(values, names)) if options.ranks else []
    from karat.analyses.table.layout import notes_on

    found = PaperTable(
        tuple(values),
        tuple(each for each in ranks if each.columns > 1),
        names,
        {family.corpus: family.documents for family in families},
        {family.corpus: family.common for family in families},
        signatures_of(results),
        measured,
        options,
        (),
    )
    return replace(found, notes=(*notes, *common_notes, *notes_of_best(families), *notes_on(found, results, ranks)))


def _check_baseline(names: Names, options: TableOptions) -> None:
    if options.baseline is None:
        return
    if not options.significance:
        raise InputError("a baseline is what systems are tested against: leave out --baseline or --no-significance")
    if options.baseline not in names.systems:
        raise unknown("baseline", options.baseline, names.systems)


def tables_by_protocol(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The table that each protocol belongs to, from (corpus, protocol): protocols that differ in language share one.

    >>> tables_by_protocol([("bees", "karat"), ("abeilles", "karat,stemmer=french")])
    {'karat': 'karat', 'karat,stemmer=french': 'karat'}
    >>> tables_by_protocol([("bees", "karat"), ("bees", "karat,stemmer=french")])
    {'karat': 'karat', 'karat,stemmer=french': 'karat,stemmer=french'}
    """
    corpora: dict[str, set[str]] = {}
    for corpus, protocol in given:
        corpora.setdefault(protocol, set()).add(corpus)
    found: dict[str, str] = {}
    for name in corpora:
        known = parse_protocol(name)
        one = str(change(known, stemmer="porter")) if known.matching.stemmer in LANGUAGES else name
        sharing = [other for other in found if found[other] == one]
        found[name] = one if all(corpora[name].isdisjoint(corpora[other]) for other in sharing) else name
    return found
