"""One page of everything: what each verb finds on a corpus, gathered for `karat.output.page` to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from karat.analyses import audit, confidence, describe, overlap
from karat.analyses.audit import DEFAULT_METRIC
from karat.analyses.compare import (
    CompareOptions,
    Comparison,
    Standing,
    all_results,
    compare_results,
    is_results,
    sample_of,
    without_seed,
)
from karat.analyses.confidence.result import ConfidenceOptions
from karat.analyses.consistency import consistency
from karat.analyses.describe import DescribeOptions
from karat.analyses.homogeneity import homogeneity
from karat.analyses.human import human
from karat.analyses.nearmiss import NearMissOptions
from karat.analyses.overlap import OverlapOptions
from karat.analyses.report import mistakes
from karat.analyses.report.documents import entries, instructive, outcomes
from karat.analyses.report.result import Browser, Entry, Mistakes, Page, Part
from karat.analyses.score import ScoreOptions, metrics_to_compute, reading_of
from karat.analyses.score import in_pass as scores_in_pass
from karat.corpus import Corpus, Run
from karat.errors import InputError
from karat.formats.human import HumanLike
from karat.formats.pairs import PairsLike
from karat.matching.align import references_of
from karat.matching.inputs import (
    CorporaLike,
    CorpusLike,
    MetricsLike,
    ProtocolsLike,
    RunLike,
    as_corpora,
    as_corpus,
    as_list,
    as_metrics,
    as_protocols,
)
from karat.matching.passes import Pass, View, uncollected
from karat.matching.sanity import has_texts
from karat.metrics.base import parse_request
from karat.options import (
    By,
    Extra,
    MatchOptions,
    Missing,
    Progress,
    WorkOptions,
    flat,
    group,
    metrics_option,
    option,
    options_from,
    path_option,
    protocol_option,
    public,
    renamed,
    resamples_option,
    seed_option,
)
from karat.protocol import Protocol
from karat.results import Result, Results, Score
from karat.stats.resampling import estimate, interval_of
from karat.vocabulary import VocabularyLike

DEPTH = 10  # of the curves of precision and recall
CURVES = tuple(f"{metric}@{k}" for metric in ("p", "r") for k in range(1, DEPTH + 1))
HEADLINE = "f1@M"  # of all phrases: what documents are sorted by where no metric is chosen
ONE_RUN = "There is one system; it takes two to compare what they predict."
NO_PAIRS = "No pairs of alike documents were given."
NO_PREDICTED_REFORMULATIONS = "No run predicts for the reformulations, so homogeneity cannot be measured on them."
NO_HUMAN = "No scores of people were given."
NO_PROBABILITIES = (
    "No run tells probabilities, or scores from 0 to 1, of its phrases, so it is not known how sure the systems are."
)
NO_REFERENCES = "The documents have no references, so nothing can be scored."
NO_TEXTS_OF_RESULTS = "Results hold scores, not texts; give the corpus and the runs to see the documents."


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What stands on the page."""

    title: str | None = option(None, "What stands above the page.", metavar="TEXT")
    texts: bool = option(True, "Leave titles and texts out, where they may not be passed on.", flags=("--no-texts",))
    protocol: ProtocolsLike = protocol_option(repeatable=True)
    metrics: MetricsLike | None = metrics_option()
    pairs: PairsLike | None = path_option("Pairs of alike documents, for homogeneity; see `karat pairs mine`.")
    reformulations: CorpusLike | None = path_option(
        "The corpus of b, where pairs are of documents and their reformulations.", "CORPUS"
    )
    human: HumanLike | None = path_option("Scores that people gave, to measure metrics against.")
    resamples: int | None = resamples_option(
        None, otherwise="as many as `karat compare` and the other verbs draw by themselves"
    )
    seed: int = seed_option()
    join: MatchOptions = group(MatchOptions)
    work: WorkOptions = group(WorkOptions)

    def __post_init__(self) -> None:
        """Raises InputError if options do not go together."""
        if self.reformulations is not None and self.pairs is None:
            raise InputError("reformulations are the other documents of pairs: give the pairs too, with --pairs")

    def joining(self) -> dict[str, Any]:
        """The options of matching and working, for the other verbs."""
        return flat(self.join) | flat(self.work)

    @property
    def scoring(self) -> ScoreOptions:
        """The options of `karat.score`."""
        return ScoreOptions(**self.joining())

    def resampling(self) -> dict[str, Any]:
        """The options of whatever draws documents again."""
        return {"seed": self.seed} | ({} if self.resamples is None else {"resamples": self.resamples})

    def protocols(self) -> list[str | Protocol]:
        """The protocols as they are given; the first is that of the documents."""
        return as_list(self.protocol)


@public(ReportOptions)
def report(
    corpus: CorpusLike | CorporaLike | Results,
    *runs: RunLike | Results,
    title: str | None = None,
    texts: bool = True,
    protocol: ProtocolsLike = "karat",
    metrics: MetricsLike | None = None,
    pairs: PairsLike | None = None,
    reformulations: CorpusLike | None = None,
    human: HumanLike | None = None,
    resamples: int | None = None,
    seed: int = 0,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Page:
    """A page on a corpus and some runs, on several corpora, or on results.

    Several corpora are a dict or a list of pairs, each with its runs; results are objects or `.karat` files. `html()`
    of what comes back is the page, `save(path)` writes it. Raises InputError if there is no run, or if a run does not
    fit its corpus.

    >>> corpus = Corpus.of([{"id": "d1", "text": "Deep networks learn.", "keyphrases": ["deep network"]}])
    >>> found = report(corpus, Run.of([{"id": "d1", "keyphrases": ["deep networks"]}], name="mine"), resamples=9)
    >>> found.parts[0].systems, found.html().count("<h1")
    (('mine',), 1)
    """
    options = options_from(ReportOptions, locals())
    if is_results(corpus):
        return _of_results(all_results((corpus, *runs)), options)
    given = as_corpora(corpus, runs)  # type: ignore[arg-type]
    if len(given) > 1 and (pairs is not None or human is not None):
        raise InputError("pairs and scores of people are of one corpus: leave them out with several")
    return _page([_part(documents, systems, options) for documents, systems in given], options)


page = renamed(report, "page")
page_corpora = renamed(report, "page_corpora")


def _page(parts: Sequence[Part], options: ReportOptions) -> Page:
    results = [part.results for part in parts if part.results is not None]
    compared = _compared(results, options) if results else None
    notes = [note for part in parts for note in (*(part.results.notes if part.results else ()), *_own_notes(part))]
    return Page(
        options.title or f"Keyphrases of {', '.join(part.corpus for part in parts)}",
        tuple(parts),
        compared,
        {name: text for each in results for name, text in each.signatures.items()},
        tuple(dict.fromkeys([*notes, *(compared.notes if compared else ())])),
    )


def _own_notes(part: Part) -> Iterator[str]:
    for found in part.found.values():
        yield from found.notes


# ---------------------------------------------------------------------------------------------- results alone


def _of_results(results: Sequence[Results], options: ReportOptions) -> Page:
    """A page of tables and charts; what needs texts, references or runs says so."""
    if options.metrics is not None:
        raise InputError("-m chooses nothing in .karat files: score with the metric, or leave it out")
    if options.pairs is not None or options.human is not None:
        raise InputError("pairs and scores of people need the corpus and the runs, not .karat files")
    verbs = ("audit", "describe", "confidence", "overlap", "homogeneity", "consistency", "human", "documents")
    parts = []
    for name in dict.fromkeys(one.corpus for each in results for one in each.scores):
        own = [each for each in results if any(one.corpus == name for one in each.scores)]
        joined = replace(own[0], scores=tuple(one for each in own for one in each.scores if one.corpus == name))
        systems = tuple(dict.fromkeys(one.system for one in joined.scores))
        missing = dict.fromkeys(verbs, NO_TEXTS_OF_RESULTS)
        parts.append(Part(name, len(joined.ids), systems, joined, None, {}, missing, None))
    if not parts:
        raise InputError("the results hold no score")
    if len(results) > len(parts):
        compare_results(results, CompareOptions(resamples=1))  # an error if those of one corpus do not fit
    return _page(parts, options)


# ---------------------------------------------------------------------------------------------- one corpus


def _part(corpus: Corpus, runs: Sequence[Run], options: ReportOptions) -> Part:
    """What all verbs find on a corpus, from one pass over its files."""
    if not runs:
        raise InputError("a page is of one run or more; give at least one")
    both, runs = runs, [run.without(_reformulated(options)) for run in runs]
    referred = any(references_of(each, options.join.references) for each in corpus.records_ahead())
    has_text = has_texts(corpus, runs)
    reading = reading_of(corpus, runs, options.protocol, options.join, options.work)
    # First, since what is wrong with the files or with the requests shows itself here.
    scored = _scored(reading, options, has_text) if referred else None
    unscored = None if referred else _unscored(reading, options, has_text)
    wrong = _mistakes(reading, options, referred)
    verbs = _Verbs(reading, options, referred, has_text)
    reading.run()
    with uncollected():  # the documents are millions of objects, which would be walked again and again
        results, curves, browser = scored() if scored else (None, None, None)
        found, missing = verbs.finish()
    _add_human(corpus, runs, options, found, missing)
    _add_homogeneity(corpus, both, options, found, missing)
    if unscored is not None:
        browser, missing["score"] = unscored(), NO_REFERENCES
    systems = reading.setup.systems
    ends = outcomes(browser.entries, len(systems)) if referred and browser is not None else ()
    return Part(corpus.name, len(reading.ids), systems, results, curves, found, missing, browser, ends, wrong())


def _mistakes(reading: Pass, options: ReportOptions, referred: bool) -> Callable[[], tuple[Mistakes, ...]]:
    """Registers what systems get wrong, under the first protocol."""
    first = options.protocols()[0]
    [protocol, *_] = as_protocols([first], options.join.language)
    near = NearMissOptions(first, join=options.join, work=options.work) if referred else None
    return mistakes.in_pass(reading, protocol, near)


def _scored(reading: Pass, options: ReportOptions, has_text: bool) -> Callable[[], tuple[Results, Results, Browser]]:
    """Registers scores and documents; gives (the requested scores, those of the curves, the documents)."""
    given, remarks = metrics_to_compute(reading.corpus, as_metrics(options.metrics), reading.runs)
    requested = list({parse_request(text): text for text in given}.values())
    known = set(map(parse_request, requested))
    texts = [*requested, *(text for text in (HEADLINE, *CURVES) if parse_request(text) not in known)]
    protocols = as_protocols(options.protocols(), options.join.language)
    scores = scores_in_pass(reading, ScoreOptions(options.protocol, texts, join=options.join, work=options.work))
    documents = reading.look(partial(_documents, protocols[0], has_text))

    def finish() -> tuple[Results, Results, Browser]:
        found = scores()
        # In the order of the texts, for each system.
        placed = [(i % len(texts), each) for i, each in enumerate(found.scores)]
        own = [(place, each) for place, each in placed if each.protocol == str(protocols[0])]
        sorting = _sorting(own, texts, options.metrics is None)
        gathered = tuple(entry for part in documents.parts for entry in part)
        browser = Browser(
            reading.setup.systems,
            gathered,
            sorting[0].request if sorting else None,
            tuple(tuple(each.per_document().tolist()) for each in sorting),
            options.texts and has_text,
            str(protocols[0]),
            instructive(gathered),
        )
        curves = set(map(parse_request, CURVES))
        kept = tuple(each for place, each in placed if place < len(requested))
        drawn = tuple(each for place, each in own if parse_request(texts[place]) in curves)
        return replace(found, scores=kept, remarks=(*remarks, *found.remarks)), replace(found, scores=drawn), browser

    return finish


def _sorting(own: Sequence[tuple[int, Score]], texts: Sequence[str], default: bool) -> list[Score]:
    """By which scores documents are sorted: F1 of all phrases, or the first chosen that each document has by itself."""
    headline = parse_request(HEADLINE)
    by_document = [place for place, each in own if each.rows.units is None and each.request.spec.items is None]
    first = next((p for p in sorted(by_document) if not default or parse_request(texts[p]) == headline), None)
    return [each for place, each in own if place == first]


def _documents(protocol: Protocol, has_text: bool, view: View) -> list[Entry]:
    """A look: the documents of a chunk under a protocol."""
    return entries(view.ids, [view.aligned(s, protocol) for s in range(len(view.setup.systems))], has_text)


def _unscored(reading: Pass, options: ReportOptions, has_text: bool) -> Callable[[], Browser]:
    """Registers the documents of a corpus without references."""
    [protocol, *_] = as_protocols(options.protocols(), options.join.language)
    documents = reading.look(partial(_documents, protocol, has_text))

    def finish() -> Browser:
        gathered = tuple(entry for part in documents.parts for entry in part)
        return Browser(reading.setup.systems, gathered, None, (), options.texts and has_text, str(protocol))

    return finish


# ---------------------------------------------------------------------------------------------- the other verbs


class _Verbs:
    """The further verbs of a page: each registers its looks; one that was not named may be impossible."""

    def __init__(self, reading: Pass, options: ReportOptions, referred: bool, has_text: bool) -> None:
        self.planned: dict[str, Callable[[], Result]] = {}
        self.missing: dict[str, str] = {}
        first, join, work = options.protocols()[0], options.join, options.work
        sure = _sure(reading.runs)
        without = None if referred else NO_REFERENCES
        unsure = without or (None if sure else NO_PROBABILITIES)
        several = without or (None if len(reading.runs) > 1 else ONE_RUN)
        metric = DEFAULT_METRIC if has_text else HEADLINE
        aside, some = reading.aside(), reading.aside(sure)
        judging = ConfidenceOptions(first, join=join, work=work, **options.resampling())
        self._plan("audit", without, lambda: _audit(aside, metric, options))
        self._plan("describe", None, lambda: describe.in_pass(aside, DescribeOptions(first, join=join, work=work)))
        self._plan("confidence", unsure, lambda: confidence.in_pass(some, judging))
        self._plan("consistency", None, lambda: partial(_consistency, reading.runs, options))
        self._plan("overlap", several, lambda: overlap.in_pass(aside, OverlapOptions(first, join=join, work=work)))

    def _plan(self, verb: str, why: str | None, plan: Callable[[], Callable[[], Result]]) -> None:
        """Plans a verb, unless there is a reason why it finds nothing."""
        if why is not None:
            self.missing[verb] = why
            return
        try:
            self.planned[verb] = plan()
        except InputError as error:
            self.missing[verb] = _sentence(str(error))

    def finish(self) -> tuple[dict[str, Result], dict[str, str]]:
        """(what each verb finds, why others find nothing), once the pass has run."""
        found: dict[str, Result] = {}
        for verb, finish in self.planned.items():
            try:
                found[verb] = finish()
            except InputError as error:
                self.missing[verb] = _sentence(str(error))
        return found, self.missing


def _audit(reading: Pass, metric: str, options: ReportOptions) -> Callable[[], Result]:
    listed, notes = audit.usable_protocols()
    return audit.in_pass(reading, ScoreOptions(listed, metric, join=options.join, work=options.work), notes)


def _consistency(runs: Sequence[Run], options: ReportOptions) -> Result:
    return consistency(*runs, language=options.join.language, near=None)


def _add_human(
    corpus: Corpus, runs: Sequence[Run], options: ReportOptions, found: dict[str, Result], missing: dict[str, str]
) -> None:
    if options.human is None:
        missing["human"] = NO_HUMAN
        return
    how = options.joining() | options.resampling()
    found["human"] = human(options.human, corpus=corpus, runs=runs, protocol=options.protocols()[0], **how)


def _add_homogeneity(
    corpus: Corpus, runs: Sequence[Run], options: ReportOptions, found: dict[str, Result], missing: dict[str, str]
) -> None:
    """Adds how homogeneous the runs are. Raises InputError if the pairs of the options cannot be used."""
    scoring = options.joining()
    if options.pairs is None:
        missing["homogeneity"] = NO_PAIRS
        return
    known = _reformulated(options)
    usable = [run for run in runs if not known or any(identifier in known for identifier in run.ids)]
    if not usable:
        missing["homogeneity"] = NO_PREDICTED_REFORMULATIONS
        return
    joining = {name: scoring[name] for name in ("references", "language", "by", "missing", "jobs", "progress")}
    measured = homogeneity(
        corpus,
        options.pairs,
        *usable,
        protocol=options.protocols()[0],
        reformulations=options.reformulations,
        **joining,
        **options.resampling(),
    )
    left_out = [
        f"{run.name}: no predictions for the reformulations, so it is not measured" for run in runs if run not in usable
    ]
    found["homogeneity"] = replace(measured, notes=(*measured.notes, *left_out))


def _reformulated(options: ReportOptions) -> frozenset[str]:
    """The ids of reformulations, for which runs may predict too."""
    if options.reformulations is None:
        return frozenset()
    return frozenset(filter(None, as_corpus(options.reformulations).ids))


def _sure(runs: Sequence[Run]) -> list[int]:
    """The runs that tell how sure they are: by probabilities of tokens, or if no run does, by scores from 0 to 1."""
    by_tokens = [n for n, run in enumerate(runs) if _has_probabilities(run)]
    return by_tokens or [n for n, run in enumerate(runs) if _has_shares(run)]


def _has_probabilities(run: Run) -> bool:
    return any(each.token_probs or each.token_logprobs for each in run.records_ahead())


def _has_shares(run: Run) -> bool:
    scores = [score for each in run.records_ahead() for score in each.scores or () if score is not None]
    return bool(scores) and all(0 <= score <= 1 for score in scores)


# ---------------------------------------------------------------------------------------------- comparing


def _compared(results: Sequence[Results], options: ReportOptions) -> Comparison:
    """The systems of all corpora compared; a single one has its intervals alone."""
    systems = [{without_seed(one.system) for one in each.scores} for each in results]
    how = CompareOptions(**options.resampling())
    found = compare_results(results, how) if any(len(each) > 1 for each in systems) else None
    alone = [each for each, names in zip(results, systems, strict=True) if len(names) == 1]
    if found is not None and not alone:
        return found
    how = how if found is None else found.options
    return Comparison(
        (*(found.standings if found else ()), *(standing for each in alone for standing in _alone(each, how))),
        found.pairs if found else (),
        found.rankings if found else (),
        {each.scores[0].corpus: len(each.ids) for each in results},
        {name: text for each in results for name, text in each.signatures.items()},
        how,
        found.notes if found else (),
    )


def _alone(results: Results, how: CompareOptions) -> Iterator[Standing]:
    """One system's scores with their intervals."""
    for each in results.scores:
        [drawn] = estimate([sample_of(each, len(results.ids))], how.drawn, how.seed)
        ends = interval_of(drawn, how.level, how.interval)
        request = each.request.without_fitted()
        yield Standing(each.corpus, each.protocol, request, each.system, each.value, ends, 1, np.nan)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
