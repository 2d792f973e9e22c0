"""One page of everything: what each verb finds on a corpus, gathered for `karat.output.page` to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from karat.analyses.check import is_of, known_metrics
from karat.analyses.compare import all_results, compare_results, is_results
from karat.analyses.compare.families import families_of, without_seed
from karat.analyses.compare.measure import measure
from karat.analyses.compare.options import CompareOptions
from karat.analyses.compare.result import Comparison, Standing
from karat.analyses.nearmiss import NearMissOptions
from karat.analyses.report import mistakes
from karat.analyses.report.agreement import Agreement
from karat.analyses.report.documents import entries, instructive, outcomes
from karat.analyses.report.given import Given, Predicting, Stage, given
from karat.analyses.report.result import Browser, Entry, Mistakes, Page, Part
from karat.analyses.report.verbs import HEADLINE, NO_REFERENCES, About, Verbs, reformulated
from karat.analyses.score import ScoreOptions, metrics_to_compute, reading_of
from karat.analyses.score import in_pass as scores_in_pass
from karat.corpus import Document
from karat.errors import InputError, unknown
from karat.formats.human import HumanLike
from karat.formats.pairs import PairsLike
from karat.matching.align import references_of
from karat.matching.columns import Bools, Floats
from karat.matching.inputs import (
    CorporaLike,
    CorpusLike,
    MetricsLike,
    ProtocolsLike,
    RunLike,
    are_corpora,
    as_list,
    as_metrics,
    as_protocols,
)
from karat.matching.passes import Pass, View, uncollected
from karat.matching.sanity import has_texts
from karat.metrics.base import Request, parse_request
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
from karat.results import Results, Score, corpus_of
from karat.results.common import LEFT_OUT, on_common_documents
from karat.vocabulary import VocabularyLike

DEPTH = 10  # of the curves of precision and recall
CURVES = tuple(f"{metric}@{k}" for metric in ("p", "r") for k in range(1, DEPTH + 1))
NO_TEXTS_OF_RESULTS = "Results hold scores, not texts; give the corpus and the runs to see the documents."
ModelsLike = str | Sequence[Any]  # a name, several with commas between, or a list of names and functions


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What stands on the page."""

    title: str | None = option(None, "What stands above the page.", metavar="TEXT")
    texts: bool = option(True, "Leave titles and texts out, where they may not be passed on.", flags=("--no-texts",))
    protocol: ProtocolsLike = protocol_option(repeatable=True)
    metrics: MetricsLike | None = metrics_option()
    primary: str | None = option(
        None, "The metric of the headline.", metavar="METRIC", otherwise="f1@M, or the first of -m", complete="metrics"
    )
    pairs: PairsLike | None = path_option("Pairs of alike documents, for homogeneity; see `karat pairs mine`.")
    reformulations: CorpusLike | None = path_option(
        "The corpus of b, where pairs are of documents and their reformulations.", "CORPUS"
    )
    human: HumanLike | None = path_option("Scores that people gave, to measure metrics against.")
    models: ModelsLike | None = option(
        None,
        "Models that predict, with commas between; beside the runs, if there are any.",
        metavar="NAME,...",
        repeatable=True,
        complete="models",
        otherwise="where no run is given, multipartiterank,positionrank,tfidf,yake",
    )
    n: int = option(10, "Phrases that each of them predicts for a document.", least=1, metavar="N", flags=("-n",))
    keep_runs: str | Path | None = option(
        None,
        "Keep what they predict there, and go on with it after a kill.",
        metavar="FOLDER",
        complete="new_paths",
        otherwise="PAGE.runs, beside the page",
    )
    resamples: int | None = resamples_option(
        None, otherwise="as many as `karat compare` and the other verbs draw by themselves"
    )
    seed: int = seed_option()
    stage: Stage | None = option(None, "Called with what begins, and how many documents it has.", command=False)
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

    @property
    def predicting(self) -> Predicting:
        """How runs are predicted."""
        return Predicting(self.models, self.n, self.join.language, self.keep_runs, self.work, self.stage)

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
    primary: str | None = None,
    pairs: PairsLike | None = None,
    reformulations: CorpusLike | None = None,
    human: HumanLike | None = None,
    models: ModelsLike | None = None,
    n: int = 10,
    keep_runs: str | Path | None = None,
    resamples: int | None = None,
    seed: int = 0,
    stage: Stage | None = None,
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

    Several corpora are a dict or a list of pairs, each with its runs; results are objects or `.karat` files. Where a
    corpus has no runs, models predict for it: a text, a PDF or a folder of these, too. `html()` of what comes back is
    the page, `save(path)` writes it. Raises InputError if a run does not fit its corpus, or if a model fails.

    >>> from karat import Corpus, Run
    >>> corpus = Corpus.of([{"id": "d1", "text": "Deep networks learn.", "keyphrases": ["deep network"]}])
    >>> found = report(corpus, Run.of([{"id": "d1", "keyphrases": ["deep networks"]}], name="mine"), resamples=9)
    >>> found.parts[0].systems, found.html().count("<h1")
    (('mine',), 1)
    >>> report([{"id": "d1", "text": "Honey bees fly."}], models="firstphrases,yake").parts[0].systems
    ('firstphrases', 'yake')
    """
    options = options_from(ReportOptions, locals())
    if is_results(corpus):
        return _of_results(all_results((corpus, *runs)), options)
    if are_corpora(corpus) and len(corpus) > 1 and (pairs is not None or human is not None):  # type: ignore[arg-type]
        raise InputError("pairs and scores of people are of one corpus: leave them out with several")
    all_given = given(corpus, runs, options.predicting)  # type: ignore[arg-type]
    return _page([_part(each, options) for each in all_given], options)


page = renamed(report, "page")
page_corpora = renamed(report, "page_corpora")


def _page(parts: Sequence[Part], options: ReportOptions) -> Page:
    results = [part.results for part in parts if part.results is not None]
    compared = _compared(results, options) if results else None
    parts = [_on_common(part) for part in parts]
    return Page(
        options.title or f"Keyphrases of {', '.join(part.corpus for part in parts)}",
        tuple(parts),
        compared,
        {name: text for each in results for name, text in each.signatures.items()},
        tuple(_once([*_notes(parts), *(compared.notes if compared else ())])),
        _primary(results, options.primary),
    )


def _on_common(part: Part) -> Part:
    """Restrict the scores and curves of a corpus to the documents that all runs have."""
    results, curves = (
        None if each is None else on_common_documents([each])[0][0] for each in (part.results, part.curves)
    )
    return replace(part, results=results, curves=curves)


def _primary(results: Sequence[Results], text: str | None) -> tuple[Request, ...]:
    """Return the requests of the primary metric; raise InputError where no score is of it."""
    if text is None or not results:
        return ()
    request, scores = parse_request(text), [score for each in results for score in each.scores]
    own = [score.request.without_fitted() for score in scores if is_of(score, request)]
    if not own:
        raise unknown("primary metric", text, known_metrics(scores))
    return tuple(dict.fromkeys(own))


def _once(notes: Sequence[str]) -> Iterator[str]:
    """Yield each note once; of several on the documents that a run lacks, which name other metrics, the first."""
    known: set[str] = set()
    for note in notes:
        head, _, _ = note.partition("; ")
        key = head if head.endswith(LEFT_OUT) else note
        if key not in known:
            known.add(key)
            yield note


def _notes(parts: Sequence[Part]) -> Iterator[str]:
    """What a reader should know, each once; of several corpora with those that it is of, unless it is of all."""
    whose: dict[str, list[str]] = {}
    for part in parts:
        for note in dict.fromkeys(_own_notes(part)):
            whose.setdefault(note, []).append(part.corpus)
    for note, corpora in whose.items():
        yield note if len(corpora) == len(parts) else _of_corpora(note, corpora)


def _of_corpora(note: str, corpora: Sequence[str]) -> str:
    warning, first = ("warning: ", note[9:]) if note.startswith("warning: ") else ("", note)
    named = any(first.startswith(f"{corpus}:") for corpus in corpora)
    return note if named else f"{warning}{', '.join(corpora)}: {first}"


def _own_notes(part: Part) -> Iterator[str]:
    yield from part.notes
    yield from part.results.notes if part.results else ()
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
        joined = replace(
            own[0],
            scores=tuple(one for each in own for one in each.scores if one.corpus == name),
            lacking={system: places for each in own for system, places in each.lacking.items()},
        )
        systems = tuple(dict.fromkeys(one.system for one in joined.scores))
        missing = dict.fromkeys(verbs, NO_TEXTS_OF_RESULTS)
        parts.append(Part(name, len(joined.ids), systems, joined, None, {}, missing, None))
    if not parts:
        raise InputError("the results hold no score")
    if len(results) > len(parts):
        compare_results(results, CompareOptions(resamples=1))  # an error if those of one corpus do not fit
    return _page(parts, options)


# ---------------------------------------------------------------------------------------------- one corpus


def _part(given: Given, options: ReportOptions) -> Part:
    """What all verbs find on a corpus, from one pass over its files, on the documents that all runs have."""
    if options.join.missing == "skip":
        options = replace(options, join=replace(options.join, missing="common"))
    corpus, both = given.corpus, given.runs
    runs = [run.without(reformulated(options.reformulations)) for run in both]
    referred = any(references_of(each, options.join.references) for each in corpus.records_ahead())
    has_text = has_texts(corpus, runs)
    reading = reading_of(corpus, runs, options.protocol, options.join, options.work)
    judged = reading.among(has_references) if referred else reading
    # First, since what is wrong with the files or with the requests shows itself here.
    scored = _scored(judged, options) if referred else None
    documents = _browser(reading, options, has_text)
    wrong = _mistakes(judged, options, referred)
    verbs = Verbs(reading, judged, options, About(referred, has_text))
    reading.run()
    with uncollected():  # the documents are millions of objects, which would be walked again and again
        results, curves, sorting = scored() if scored else (None, None, ())
        found, missing = verbs.finish(both)
        known = set(judged.ids) if referred else set[str]()
        common = known if results is None else set(results.common_ids)
        agreed = found.get("agreement")
        browser = documents(known, sorting, agreed if isinstance(agreed, Agreement) else None)
    if not referred:
        missing["score"] = NO_REFERENCES
    systems = reading.setup.systems
    ends = outcomes([each for each in browser.entries if each.id in common], len(systems)) if referred else ()
    return Part(
        corpus.name,
        len(reading.ids),
        systems,
        results,
        curves,
        found,
        missing,
        browser,
        ends,
        wrong([n for n, each in enumerate(reading.ids) if each in known or not referred]),
        len(known),
        corpus.unread,
        (*corpus.notes, *given.notes),
        given.provenance,
    )


def has_references(view: View) -> list[int]:
    """The documents of a chunk whose references are known, though they may be none."""
    name = view.setup.reference_set
    return [n for n, each in enumerate(view.documents) if _is_judged(each, name)]


def _is_judged(document: Document, reference_set: str | None) -> bool:
    if reference_set is None:
        return document.keyphrases is not None
    return (document.reference_sets or {}).get(reference_set) is not None


def _mistakes(reading: Pass, options: ReportOptions, referred: bool) -> Callable[[Sequence[int]], tuple[Mistakes, ...]]:
    """Registers what systems get wrong, under the first protocol."""
    first = options.protocols()[0]
    [protocol, *_] = as_protocols([first], options.join.language)
    near = NearMissOptions(first, join=options.join, work=options.work) if referred else None
    return mistakes.in_pass(reading, protocol, near)


def _scored(reading: Pass, options: ReportOptions) -> Callable[[], tuple[Results, Results, list[Score]]]:
    """Registers scores; gives (the requested ones, those of the curves, those by which documents are sorted)."""
    given, remarks = metrics_to_compute(reading.corpus, as_metrics(options.metrics), reading.runs)
    if options.primary is not None:
        primary, _ = metrics_to_compute(reading.corpus, [options.primary], reading.runs)
        given = [*primary, *given]
    requested = list({parse_request(text): text for text in given}.values())
    known = set(map(parse_request, requested))
    texts = [*requested, *(text for text in (HEADLINE, *CURVES) if parse_request(text) not in known)]
    first = str(as_protocols(options.protocols(), options.join.language)[0])
    scores = scores_in_pass(reading, ScoreOptions(options.protocol, texts, join=options.join, work=options.work))

    def finish() -> tuple[Results, Results, list[Score]]:
        found = scores()
        # In the order of the texts, for each system.
        placed = [(i % len(texts), each) for i, each in enumerate(found.scores)]
        own = [(place, each) for place, each in placed if each.protocol == first]
        curves = set(map(parse_request, CURVES))
        kept = tuple(each for place, each in placed if place < len(requested))
        drawn = tuple(each for place, each in own if parse_request(texts[place]) in curves)
        sorting = _sorting(own, texts, options.metrics is None and options.primary is None)
        return replace(found, scores=kept, remarks=(*remarks, *found.remarks)), replace(found, scores=drawn), sorting

    return finish


def _sorting(own: Sequence[tuple[int, Score]], texts: Sequence[str], default: bool) -> list[Score]:
    """By which scores documents are sorted: F1 of all phrases, or the first chosen that each document has by itself."""
    headline = parse_request(HEADLINE)
    by_document = [place for place, each in own if each.rows.units is None and each.request.spec.items is None]
    first = next((p for p in sorted(by_document) if not default or parse_request(texts[p]) == headline), None)
    return [each for place, each in own if place == first]


def _browser(
    reading: Pass, options: ReportOptions, has_text: bool
) -> Callable[[set[str], Sequence[Score], Agreement | None], Browser]:
    """Registers the documents; gives them for the ids of those with references, their scores, and how systems agree."""
    [protocol, *_] = as_protocols(options.protocols(), options.join.language)
    documents = reading.look(partial(_documents, protocol, has_text))

    def finish(judged: set[str], sorting: Sequence[Score], agreement: Agreement | None) -> Browser:
        gathered = tuple(entry for part in documents.parts for entry in part)
        there = np.array([entry.id in judged for entry in gathered], dtype=bool)
        return Browser(
            reading.setup.systems,
            gathered,
            sorting[0].request if sorting else None,
            tuple(_spread(each.per_document(), there) for each in sorting),
            options.texts and has_text,
            str(protocol),
            instructive(gathered) if judged else (),
            () if agreement is None else tuple(agreement.per_document().tolist()),
        )

    return finish


def _spread(values: Floats, there: Bools) -> tuple[float, ...]:
    """The values of some documents as those of all, NaN for the others."""
    found = np.full(len(there), np.nan)
    found[there] = values
    return tuple(found.tolist())


def _documents(protocol: Protocol, has_text: bool, view: View) -> list[Entry]:
    """A look: the documents of a chunk under a protocol."""
    return entries(view.ids, [view.aligned(s, protocol) for s in range(len(view.setup.systems))], has_text)


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
        {corpus_of(each): len(each.ids) for each in results},
        {corpus_of(each): each.common for each in results},
        {name: text for each in results for name, text in each.signatures.items()},
        how,
        found.notes if found else (),
    )


def _alone(results: Results, how: CompareOptions) -> Iterator[Standing]:
    """One system's scores with their intervals."""
    alone = measure(families_of([results], least=1), how, tested=False)
    yield from alone.standings
