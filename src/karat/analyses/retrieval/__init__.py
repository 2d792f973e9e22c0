"""Search: what keyphrases do for the ranking of documents, by BM25 on title, text and phrases.

Documents are ranked for queries with their title and text alone, then with phrases added: all of a system's, only the
present or absent ones, or those of one class of PRMU; and with the author's keyphrases, the references. The rankings
are measured against judgements of relevance, and compared query by query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from karat import __version__
from karat.analyses.retrieval.bm25 import Ranked
from karat.analyses.retrieval.collection import Collection, joined, read_collection, searched
from karat.analyses.retrieval.index import Analysis, Vocabulary
from karat.analyses.retrieval.measures import Measure, parse_measures
from karat.analyses.retrieval.result import (
    REFERENCES,
    TEXT,
    Condition,
    QueryTerms,
    QueryTest,
    Retrieval,
    RetrievalOptions,
    Tokenizer,
)
from karat.analyses.retrieval.statistics import Judge, compare_conditions, counted_queries, notes_of_tests
from karat.errors import InputError, counted, unknown
from karat.formats.trec import (
    Judgements,
    JudgementsLike,
    QueriesLike,
    Rankings,
    Texts,
    read_qrels,
    read_queries,
    read_ranking,
)
from karat.matching.columns import SUBSETS, Floats, Subset
from karat.matching.inputs import (
    CorpusLike,
    MetricsLike,
    ProtocolLike,
    RunLike,
    as_corpus,
    as_metrics,
    as_protocols,
    as_runs,
)
from karat.matching.sanity import has_texts, no_texts
from karat.options import By, Extra, Missing, Progress, options_from, public
from karat.protocol import Protocol, whole_number
from karat.stats.difference import Correction
from karat.text.languages import named, stemmer_of


@public(RetrievalOptions)
def retrieval(
    corpus: CorpusLike,
    queries: QueriesLike,
    qrels: JudgementsLike,
    *runs: RunLike,
    protocol: ProtocolLike = "karat",
    metrics: MetricsLike | None = None,
    subsets: Sequence[Subset] = SUBSETS,
    baseline: str | None = None,
    cutoff: str = "M",
    weight: float = 1.0,
    k1: float = 0.9,
    b: float = 0.4,
    depth: int = 1000,
    tokenizer: Tokenizer = "split_nopunc",
    stem: bool = True,
    stop: bool = True,
    query_terms: QueryTerms = "counted",
    further: Sequence[CorpusLike] = (),
    rankings: Mapping[str, str | Path] | None = None,
    keep: bool = False,
    test: QueryTest = "randomisation",
    correction: Correction = "max-t",
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Retrieval:
    """How well documents are found by BM25, with and without the phrases of systems.

    `queries` are a path, a dict of ids and texts, or dicts with id and text; `qrels` a path or {query: {document:
    relevance}}; `further` are corpora that make one collection with the first. Raises InputError if a file is damaged,
    if a run does not fit the collection, or if no query has judgements.

    >>> documents = [{"id": "1", "text": "Bees dance."}, {"id": "2", "text": "Bees sleep."}]
    >>> run = [{"id": "1", "keyphrases": ["communication"]}, {"id": "2", "keyphrases": ["dance"]}]
    >>> query, judged = {"q": "communication of bees"}, {"q": {"1": 1}}
    >>> found = retrieval(documents, query, judged, run, metrics="RR", subsets=["all"])
    >>> [(row["system"], row["value"]) for row in found.rows()]
    [('text', 0.5), ('references', 0.5), ('run', 1.0)]
    """
    options = options_from(RetrievalOptions, locals())
    measures = parse_measures(as_metrics(metrics))
    [convention] = as_protocols([protocol], language)
    given, systems = joined([as_corpus(corpus), *map(as_corpus, further)]), as_runs(runs)
    _check(options, [run.name for run in systems])
    if not has_texts(given, systems):
        raise no_texts(given, "there is nothing to search")
    asked = _judged_queries(read_queries(queries), read_qrels(qrels))
    other = {name: read_ranking(path) for name, path in (rankings or {}).items()}
    analysis = _analysis(options, convention)
    terms = Vocabulary(analysis, asked.texts.values())
    collection = read_collection(given, systems, terms, convention, options)
    values, kept = _values(collection, asked, other, measures, options)
    rows = compare_conditions(values, measures, options)
    return Retrieval(
        corpus=given.name,
        documents=len(collection.ids),
        queries=tuple(asked.texts),
        judgements=asked.judgements,
        results=tuple(rows),
        per_query={
            (condition.name, str(measure)): tuple(own[:, m].tolist())
            for condition, own in values.items()
            for m, measure in enumerate(measures)
        },
        options=options,
        search=_signature(analysis, options),
        signatures={str(convention): _spelled(convention, collection, references)},
        notes=(*collection.notes, *_notes(asked, collection, other), *notes_of_tests(rows, len(asked.texts))),
        texts=asked.texts,
        ids=collection.ids if kept else (),
        kept=kept,
    )


def _check(options: RetrievalOptions, systems: Sequence[str]) -> None:
    """Raises InputError if options do not go together, or name what is not there."""
    for subset in options.subsets:
        if subset not in SUBSETS:
            raise unknown("subset", subset, SUBSETS)
    if not options.subsets:
        raise InputError("no subset of phrases is given: leave the option out for each of them")
    if options.cutoff != "M" and whole_number(options.cutoff) is None:
        raise InputError(f"cutoff is a whole number from 1 on, or M, not {options.cutoff!r}")
    if options.join.missing == "skip":
        raise InputError("a document cannot be left out of the collection for one run: write --missing empty")
    if options.baseline is not None and options.baseline not in (TEXT, REFERENCES, *systems):
        raise unknown("baseline", options.baseline, [TEXT, REFERENCES, *systems])


def _analysis(options: RetrievalOptions, protocol: Protocol) -> Analysis:
    """How text becomes terms: stemmer and stop words are those of the language, by default English."""
    given = options.join.language or "english"
    language = "english" if given in ("porter", "none") else named(given)
    stemmer = given if given in ("porter", "none") else stemmer_of(language)
    return Analysis(
        options.tokenizer,
        stemmer if options.stem else "none",
        language if options.stop else "none",
        protocol.matching.segmentation,
    )


def _signature(analysis: Analysis, options: RetrievalOptions) -> str:
    """Every convention of the search by name."""
    facts = {
        "idf": "lucene",
        "k1": f"{options.k1:g}",
        "b": f"{options.b:g}",
        "weight": f"{options.weight:g}",
        "cutoff": options.cutoff,
        "tokenizer": analysis.tokenizer,
        "stemmer": analysis.stemmer,
        "stop": analysis.stop,
        "segmentation": analysis.segmentation,
        "query": options.query_terms,
        "depth": str(options.depth),
        "scores": "single",
        "ties": "id-descending",
        "karat": __version__,
    }
    return ",".join(["bm25", *(f"{name}={value}" for name, value in facts.items())])


def _spelled(protocol: Protocol, collection: Collection, references: str | None) -> str:
    return protocol.signature(set=references or "keyphrases", hash=collection.hash, karat=__version__)


# ---------------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class _Asked:
    """The queries that have judgements, in their order; and what was left out."""

    texts: Texts
    judgements: Judgements
    without: int  # queries that have no judgements
    unknown: tuple[str, ...]  # queries that are judged and not there
    unknown_judgements: int  # of these


def _judged_queries(texts: Texts, judgements: Judgements) -> _Asked:
    there = {query: text for query, text in texts.items() if query in judgements}
    if not there:
        raise InputError(
            f"no query has judgements: queries are named as {next(iter(texts))!r}, those that are judged as "
            f"{next(iter(judgements))!r}"
        )
    strangers = tuple(query for query in judgements if query not in texts)
    return _Asked(
        there,
        {query: judgements[query] for query in there},
        len(texts) - len(there),
        strangers,
        sum(len(judgements[query]) for query in strangers),
    )


def _values(
    collection: Collection,
    asked: _Asked,
    other: Mapping[str, Rankings],
    measures: Sequence[Measure],
    options: RetrievalOptions,
) -> tuple[dict[Condition, Floats], dict[str, Sequence[Ranked]]]:
    """(the measures of each query by condition, the rankings themselves if they are kept)."""
    judge = Judge(asked.judgements, measures, collection.ids)
    values: dict[Condition, Floats] = {}
    kept: dict[str, Sequence[Ranked]] = {}
    by_name: dict[str, Floats] = {}
    for condition, found in searched(collection, options):
        if condition.same:
            values[condition] = by_name[condition.same]
            continue
        rankings = list(found) if options.keep else found
        values[condition] = by_name[condition.name] = judge.values(rankings)
        if options.keep:
            kept[condition.name] = list(rankings)
    for name, given in other.items():
        values[Condition("ranking", name)] = judge.values_of(given)
    return values, kept


def _notes(asked: _Asked, collection: Collection, other: Mapping[str, Rankings]) -> Iterator[str]:
    """What a reader should know of queries, judgements and rankings."""
    if asked.without:
        yield f"{counted_queries(asked.without)} without judgements left out"
    if asked.unknown:
        judgements, queries = counted(asked.unknown_judgements, "judgement"), counted_queries(len(asked.unknown))
        yield f"{judgements} of {queries} left out that are not there, as {asked.unknown[0]!r}"
    known = set(collection.ids)
    absent = [i for documents in asked.judgements.values() for i in documents if i not in known]
    if absent:
        yield (
            f"{counted(len(absent), 'judgement')} of documents that are not in the collection, as {absent[0]!r}: "
            "relevant ones count as not found"
        )
    hopeless = sum(max(documents.values()) < 1 for documents in asked.judgements.values())
    if hopeless:
        yield f"{counted_queries(hopeless)} without a relevant document: every ranking scores 0"
    empty = sum(not numbers for numbers in collection.terms.queries)
    if empty:
        yield f"{counted_queries(empty)} without a term once stop words are left out: nothing is found, which scores 0"
    for name, rankings in other.items():
        if rankings.contradictory:
            queries, first = counted_queries(len(rankings.contradictory)), rankings.contradictory[0]
            yield f"{name}: the ranks of {queries} contradict the scores, as of {first!r}: the scores are used"
        lacking = sum(query not in rankings for query in asked.texts)
        if lacking:
            yield f"{name}: {counted_queries(lacking)} that it does not rank score 0"
