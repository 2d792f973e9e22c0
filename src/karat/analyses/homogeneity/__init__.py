"""Homogeneity: whether a system gives the same keyphrases to documents that are alike (Houbre, Boudin and Daille).

Hooper = |A ∩ B| / |A ∪ B| of the phrases that a system predicts for the two documents of a pair, Rodgers the same of
their words; means over pairs. Where neither document has a prediction, both are undefined, left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat import __version__
from karat.analyses.homogeneity.compare import (
    Power,
    compare_kinds,
    comparison_notes,
    comparisons,
    dependence_notes,
    powers,
)
from karat.analyses.homogeneity.data import TOO_FEW, Data, Measured
from karat.analyses.homogeneity.genericness import Genericness, genericness
from karat.analyses.homogeneity.lists import Lists, chance_level, list_notes, same_list, unrelated_pairs
from karat.analyses.homogeneity.measures import Soft, rouge, soft_agreement, word_error_rates, word_sets
from karat.analyses.homogeneity.per_pair import OfPairs, PairTable
from karat.analyses.homogeneity.phrases import (
    Columns,
    Documents,
    Phrases,
    System,
    check_predicted,
    known_run,
    read_columns,
    read_documents,
)
from karat.analyses.homogeneity.regression import Regression, regressions
from karat.analyses.homogeneity.result import (
    PARTS,
    Comparison,
    Figure,
    Homogeneity,
    HomogeneityOptions,
    Row,
)
from karat.analyses.homogeneity.samples import ERROR_RATE, Units, mean_of, pearson_of, spearman_of
from karat.analyses.homogeneity.subsets import Class, Counted, OfMethod, classes_of, counted_by_subset, methods_of
from karat.corpus import Corpus, Run
from karat.errors import InputError, counted
from karat.formats.pairs import PairsLike, read_pairs
from karat.matching.columns import Bools
from karat.matching.inputs import (
    CorpusLike,
    ProtocolsLike,
    RunLike,
    as_corpus,
    as_list,
    as_protocols,
    as_runs,
    by_name_notes,
    chosen_set,
)
from karat.matching.join import Join
from karat.matching.passes import Pass
from karat.matching.sanity import NO_TEXTS
from karat.metrics.base import divide
from karat.metrics.soft import hash_remark
from karat.options import By, Extra, Missing, Progress, options_from, public
from karat.pairs.mine import pairs_said
from karat.pairs.sets import Floats, Ints, Measure, Sets, shares
from karat.protocol import Matching, Protocol, change
from karat.similarity import find
from karat.similarity.context import Contexts
from karat.stats.difference import Correction
from karat.text.normalise import normaliser_of
from karat.text.stems import stemmer

COEFFICIENTS = {"pearson": pearson_of, "spearman": spearman_of}
FEWEST = 3  # pairs that can be correlated: two are always in line
WITHOUT_TEXTS = NO_TEXTS.format("what is generated, the extractors' ceiling and ROUGE-1 are open")
ONE_PAIR = "only 1 pair: systems cannot be compared, and only figures of 0 and 1 have an interval"
FEW_PAIRS = f"{{0}}only {{1}}: correlations with fewer than {TOO_FEW} pairs have no interval and no p"
STEMMED = (
    "agreement and genericness compare phrases by their stems, while pairs that were mined without --stem were found "
    "by phrases as they are written"
)
SKIPPED = "{0}: {1:,} of {2:,} pairs left out, of which the run lacks a document"


# ---------------------------------------------------------------------------------------------- pairs and options


@public(HomogeneityOptions)
def homogeneity(
    corpus: CorpusLike,
    pairs: PairsLike,
    *runs: RunLike,
    protocol: ProtocolsLike = "karat",
    measure: Measure = "jaccard",
    stem: bool = True,
    cutoff: str = "M",
    match_length: bool = False,
    similarity: str | None = None,
    threshold: float = 0.4,
    reformulations: CorpusLike | None = None,
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
) -> Homogeneity:
    """How homogeneous runs are on pairs of alike documents.

    `pairs` are a path, what `karat.mine_pairs` found, or dicts with the ids a and b. Raises InputError if a pair names
    a document that is not there, or if a run does not fit the corpus.

    >>> documents = [{"id": "1"}, {"id": "2"}]
    >>> shared = ["natural language processing", "homogeneity evaluation"]
    >>> lists = [[*shared, "keyphrase generation"], [*shared, "text generation"]]
    >>> run = [{"id": str(n), "keyphrases": each} for n, each in enumerate(lists, 1)]
    >>> [row] = homogeneity(documents, [{"a": "1", "b": "2"}], run, resamples=9).rows()
    >>> row["hooper"], row["rodgers"]
    (0.5, 0.75)
    """
    options = options_from(HomogeneityOptions, locals())
    given, systems = as_corpus(corpus), as_runs(runs)
    if not systems:
        raise InputError("homogeneity is of one run or more; give at least one")
    return measured(given, pairs, systems, options)[0]


def measured(
    given: Corpus, pairs: PairsLike, systems: Sequence[Run], options: HomogeneityOptions
) -> tuple[Homogeneity, Data, list[Columns]]:
    """(how homogeneous systems are, what that was computed of: the data of all protocols, the columns of each).

    Without systems there are the ceilings, and what pairs and references are like.
    """
    join = options.join
    chosen_set(given, join.references)
    if options.similarity is not None:
        find(options.similarity)  # says at once if there is none of that name
    other = None if options.reformulations is None else as_corpus(options.reformulations)
    paired = read_pairs(pairs)
    protocols = as_protocols(as_list(options.protocol), join.language)
    if not options.stem:
        protocols = tuple(change(each, stemmer="none") for each in protocols)
    split = _split(protocols, options)
    documents = read_documents(given, other, paired, join.references, sentences=split, jobs=options.work.jobs)
    data, columns = _read(documents, systems, protocols, options)
    parts = [_under(data, each, convention) for convention, each in zip(protocols, columns, strict=True)]
    unlike = paired.mined and not paired.stemmed and any(each.matching.stemmer != "none" for each in protocols)
    facts = {"set": join.references or "keyphrases", "hash": documents.hash}
    notes = [*_notes(data), *([STEMMED] if unlike else []), *(note for part in parts for note in part.notes)]
    rouge_1, error_rate = _of_texts(data)
    further: dict[str, Any] = {name: tuple(each for part in parts for each in getattr(part, name)) for name in PARTS}
    found = Homogeneity(
        given.name,
        len(documents.a),
        len(documents.in_pairs),
        rouge_1,
        options,
        tuple(row for part in parts for row in part.systems),
        tuple(row for part in parts for row in part.ceilings),
        tuple(each for part in parts for each in part.differences),
        tuple(each for part in parts for each in part.genericness),
        {str(each): each.signature(**facts, karat=__version__) for each in protocols},
        tuple(dict.fromkeys(notes)),
        error_rate,
        **further,
        per_pair=_pair_table(data, parts),
        components=data.components(),
    )
    return found, data, columns


def _split(protocols: Sequence[Protocol], options: HomogeneityOptions) -> list[Matching]:
    """The ways of matching as whose stems the sentences of the corpus are needed, if they are."""
    if options.similarity is None or "sentences" not in find(options.similarity).options:
        return []
    return list(dict.fromkeys(protocol.matching for protocol in protocols))


def _read(
    documents: Documents, runs: Sequence[Run], protocols: Sequence[Protocol], options: HomogeneityOptions
) -> tuple[Data, list[Columns]]:
    """(the data of all protocols, the columns of each), from one pass over the documents and all runs."""
    known = [known_run(run, documents, options.join.by) for run in runs]
    reading = Pass(
        documents.joined,
        [run for run, _ in known],
        Join(None, "empty"),  # what a run lacks matters only in pairs
        reference_set=options.join.references,
        jobs=options.work.jobs,
        progress=options.work.progress,
    )
    columns, lacking = read_columns(reading, documents, protocols, options.depth())
    systems = [
        System(
            run.name,
            check_predicted(run, documents, lacks, options.join.missing),
            0 if restricted is None else restricted.strangers,
        )
        for run, (_, restricted), lacks in zip(runs, known, lacking, strict=True)
    ]
    together = options.reformulations is not None
    data = Data(
        documents,
        systems,
        any(documents.texts.values()),
        rouge(documents.a, documents.b, documents.texts),
        word_error_rates(documents.a, documents.b, documents.texts),
        Units.of(documents.a, documents.b, together=together),
        options,
    )
    return data, columns


def _of_texts(data: Data) -> list[Figure]:
    """ROUGE-1 and WER of the texts of a pair, on average."""
    return [data.figure(mean_of(data.rouge, data.units)), data.figure(mean_of(data.wer, data.units), ERROR_RATE)]


def _pair_table(data: Data, parts: Sequence[_Part]) -> PairTable:
    paired = data.documents.paired
    systems = tuple(each for part in parts for each in part.per_pair)
    return PairTable(data.documents.corpus.name, paired.a, paired.b, paired.methods, data.rouge, data.wer, systems)


def _notes(data: Data) -> Iterator[str]:
    if not data.has_text:
        yield WITHOUT_TEXTS
    if len(data.rouge) == 1:
        yield ONE_PAIR
    elif data.has_text and len(data.rouge) < TOO_FEW:
        yield FEW_PAIRS.format("", pairs_said(len(data.rouge)))
    for system in data.systems:
        if system.strangers:
            yield f"{system.name}: {counted(system.strangers, 'document')} of the run left out, being in no corpus"
        if not system.there.all():
            yield SKIPPED.format(system.name, int((~system.there).sum()), len(system.there))
    if data.options.similarity is not None:
        found = find(data.options.similarity)
        remark = hash_remark({"score": found.name, **found.options})
        if remark is not None:
            yield remark


# ---------------------------------------------------------------------------------------------- one protocol


@dataclass(frozen=True, slots=True)
class _Part:
    """What is found under one protocol."""

    systems: list[Row]
    ceilings: list[Row]
    differences: list[Comparison]
    genericness: list[Genericness]
    notes: list[str]
    kinds: list[Comparison]
    classes: list[Class]
    methods: list[OfMethod]
    regressions: list[Regression]
    powers: list[Power]
    per_pair: list[OfPairs]


def _under(data: Data, columns: Columns, protocol: Protocol) -> _Part:
    documents = data.documents
    names, soft = [system.name for system in data.systems], _soft(data, columns, protocol)
    unrelated = _unrelated(data, columns)
    lists = [data.lists(phrases, data.options.match_length) for phrases in columns.systems]
    systems = [_measured(data, columns, n, str(protocol), soft, lists[n], unrelated) for n in range(len(names))]
    given = columns.references
    sides: list[tuple[str | None, Phrases, Lists]] = [(None, given, data.lists(given, False))]
    sides += zip(names, columns.systems, lists, strict=True)
    notes = [] if len(columns.references.document) else [f"{documents.corpus.name}: no document has references"]
    compared, rows = comparisons(data, systems), [_row(data, each) for each in systems]
    ceilings = list(_ceilings(data, columns, protocol))
    counted = [
        counted_by_subset(data, own, each.there) if data.has_text else None
        for each, own in zip(systems, lists, strict=True)
    ]
    both = list(zip(systems, counted, strict=True))
    fits = list(regressions(data, systems))
    notes += by_name_notes(documents.corpus, [protocol])
    notes += _few_pairs(data, systems)
    notes += comparison_notes(compared) if len(data.rouge) > 1 else []
    notes += dependence_notes(rows, compared)
    notes += list_notes(rows, data.options)
    return _Part(
        rows,
        [_row(data, each) for each in ceilings],
        compared,
        [genericness(phrases, own, documents, columns, (name, str(protocol))) for name, phrases, own in sides],
        [*notes, *(note for each in fits for note in each.notes())],
        compare_kinds(data, systems),
        [found for each, own in both if own is not None for found in classes_of(data, each, own)],
        methods_of(data, [*systems, *ceilings]),
        fits,
        list(powers(systems, compared)),
        [_of_pairs(each, own) for each, own in both],
    )


def _few_pairs(data: Data, systems: Sequence[Measured]) -> Iterator[str]:
    """Name the systems that are defined on too few of the pairs for tests of correlations."""
    for each in systems:
        count = int((~np.isnan(each.values["hooper"]) & ~np.isnan(data.rouge)).sum())
        if data.has_text and count < TOO_FEW <= len(data.rouge):
            yield FEW_PAIRS.format(f"{each.system}: ", pairs_said(count))


def _of_pairs(each: Measured, counted: Counted | None) -> OfPairs:
    """What a system has on each pair."""
    values = dict(each.values)
    if counted is not None:
        values |= {f"hooper_{subset}": counted.hooper[subset] for subset in ("present", "absent")}
    if each.absent is not None:
        values["generated"] = each.absent
    return OfPairs(each.system, each.protocol, tuple(each.there.tolist()), values)


def _soft(data: Data, columns: Columns, protocol: Protocol) -> Soft | None:
    """The similarity of the options, and the words that it compares, as those of the metric `soft_f`."""
    if data.options.similarity is None:
        return None
    found, matching = find(data.options.similarity), protocol.matching
    if "sentences" in found.options:
        sentences = Contexts.of(data.documents.sentences[matching])
        found = find(data.options.similarity, sentences=sentences)
    if found.form == "surface":
        plain = normaliser_of(matching, "none").many(columns.spelled)
        return Soft([tuple(form.split()) for form in plain], found, data.options.threshold)
    stem = stemmer(matching.stemmer) if protocol.counting.soft_stems == "twice" else str
    return Soft([tuple(map(stem, form.split())) for form in columns.forms], found, data.options.threshold)


def _unrelated(data: Data, columns: Columns) -> tuple[Ints, Ints]:
    """The unrelated pairs of the documents, where there is a system to measure on them."""
    if not data.systems:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    together = data.options.reformulations is not None
    return unrelated_pairs(data.documents, columns.references, together, data.options.seed)


def _measured(
    data: Data,
    columns: Columns,
    system: int,
    protocol: str,
    soft: Soft | None,
    lists: Lists,
    unrelated: tuple[Ints, Ints],
) -> Measured:
    """A system's agreement on every pair, and how it goes with that of the texts."""
    there, phrases = data.systems[system].there, columns.systems[system]
    sets = lists.sets()
    values = _agreements(data, lists, sets, columns, there)
    if soft is not None:
        scores = soft_agreement(lists.a, lists.b, sets, soft)
        values["soft"] = np.where(there, scores, np.nan)
    figures = {name: data.figure(mean_of(each, data.units)) for name, each in values.items()}
    for texts, end in ((data.rouge, ""), (data.wer, "_wer")):
        figures |= _correlations(data, values["hooper"], texts, end)
    name, generated = data.systems[system].name, _generated(data, phrases, there)
    absent = _absent(lists) if data.has_text else None
    options, used, every = data.options, data.used(there), data.lists(phrases, False).sets()
    chance = chance_level(unrelated, phrases, used, options.measure, options.match_length)
    length, constant = _length(every, used), same_list(every, used)
    return Measured(name, protocol, there, values, figures, generated, absent, length, chance, constant)


def _length(sets: Sets, used: Bools) -> float:
    """The mean number of phrases of the documents that are used."""
    return float(sets.sizes[used].mean()) if used.any() else np.nan


def _correlations(data: Data, hooper: Floats, texts: Floats, end: str) -> dict[str, Figure]:
    """Correlate Hooper with a column of the texts; undefined on two pairs, which are always in line."""
    count = int((~np.isnan(hooper) & ~np.isnan(texts)).sum())
    column = texts if count >= FEWEST else np.full(len(texts), np.nan)
    return {
        f"{name}{end}": data.correlation(make(hooper, column, data.units), count) for name, make in COEFFICIENTS.items()
    }


def _absent(lists: Lists) -> Floats:
    """The share of the predictions for both documents of each pair that are not in theirs; NaN without predictions."""
    phrases, a, b = lists.phrases, lists.a, lists.b
    every = np.bincount(phrases.document, minlength=lists.count)
    absent = np.bincount(phrases.document[~phrases.present], minlength=lists.count)
    return divide(absent[a] + absent[b], every[a] + every[b])


def _agreements(data: Data, lists: Lists, sets: Sets, columns: Columns, there: Bools) -> dict[str, Floats]:
    """Hooper and Rodgers of every pair that is looked at."""
    kinds = {"hooper": sets, "rodgers": word_sets(sets, columns.forms)}
    a, b, measure = lists.a, lists.b, data.options.measure
    return {name: np.where(there, shares(a, b, each, each, measure), np.nan) for name, each in kinds.items()}


def _generated(data: Data, phrases: Phrases, there: Bools) -> tuple[float, float]:
    """The share of the predictions for documents of pairs that are not in their document; NaN without texts.

    Over all predictions (micro), and as the mean over the documents that have any, each document once.
    """
    own = data.used(there)[phrases.document]
    if not data.has_text or not own.any():
        return np.nan, np.nan
    document, absent = phrases.document[own], ~phrases.present[own]
    count = np.bincount(document)
    shares = divide(np.bincount(document, weights=absent), count)[count > 0]
    return float(absent.mean()), float(shares.mean())


def _ceilings(data: Data, columns: Columns, protocol: Protocol) -> Iterator[Measured]:
    """The references taken as predictions: all of them, and those that an extractor could find in the text."""
    lists, everywhere = data.lists(columns.references, False), np.ones(len(data.documents.a), dtype=bool)
    for name, some in (("references", None), ("extractors", lists.phrases.present)):
        sets = lists.sets(some)
        usable = everywhere if some is None or data.has_text else ~everywhere
        values = _agreements(data, lists, sets, columns, usable)
        figures = {measure: data.figure(mean_of(each, data.units)) for measure, each in values.items()}
        length = _length(sets, data.used()) if usable.any() else np.nan
        yield Measured(name, str(protocol), everywhere, values, figures, phrases=length)


def _row(data: Data, each: Measured) -> Row:
    there = each.there
    return Row(
        each.system,
        each.protocol,
        int(there.sum()),
        int(data.used(there).sum()),
        int(np.isnan(each.values["hooper"][there]).sum()),
        each.figures,
        *each.generated,
        each.phrases,
        each.chance,
        each.constant,
        data.components(there),
    )
