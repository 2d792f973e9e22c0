"""Runs of models: documents cut into chunks, predicted for on one process or several, in order, and kept as they come.

`predict` and `extract` are for Python; `predicted` is what the command calls, and tells what a reader should know.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from karat.corpus import Batch, Corpus, Document, Prediction, Run, text_of_id
from karat.engines import engine
from karat.errors import InputError, counted
from karat.formats import FORMATS, catalogue
from karat.formats.base import brief, quoted
from karat.formats.checksums import has_checksum, no_checksum
from karat.formats.containers import whole_json
from karat.formats.files import check_compression, first_line, open_bytes
from karat.formats.jsonld import uris_of
from karat.formats.load import DECODING_ERRORS, MOST_COUNT, json_value
from karat.formats.output import write_beside
from karat.formats.unfinished import Unfinished, unfinished
from karat.formats.vocabulary import as_vocabulary
from karat.llm.ask import Forecast
from karat.matching.concepts import concepts_for, with_concepts
from karat.matching.inputs import CorpusLike, as_corpus, as_protocols
from karat.matching.workers import ordered_map
from karat.models.base import CommonOptions, Model
from karat.models.documents import document_language, documents_at, shown_id
from karat.models.extractors.frequencies import (
    DOCUMENTS,
    Frequencies,
    frequencies_at,
    frequencies_of,
    read_frequencies,
)
from karat.models.find import DEFAULT, ENDPOINT, KEA, ModelSpec, PlugIn, parse_model
from karat.models.fingerprint import fingerprint
from karat.models.predictor import Done, Entry, Predictor, add
from karat.models.prompt import Asking, as_text, ask
from karat.models.prompt import forecast as count_requests
from karat.options import (
    Progress,
    WorkOptions,
    document_language_option,
    flat,
    group,
    option,
    options_from,
    path_option,
    public,
)
from karat.results.displayed import Displayed
from karat.tabular import TEXT, Column, Group, Row, Table
from karat.text.languages import named, other_language
from karat.vocabulary import Vocabulary, VocabularyLike

CHUNK = 32  # documents that are read at a time where no model says how many it wants
PARQUET = ".parquet"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Prediction).decode


@dataclass(frozen=True, slots=True)
class PredictOptions:
    """How keyphrases are predicted."""

    n: int = option(10, "Phrases a document.", least=1, metavar="N", flags=("-n",))
    options: Mapping[str, Any] | None = option(None, "The model's own options.", command=False)
    stem: bool = option(False, "Give stems instead of phrases as they stand in the text.")
    language: str | None = document_language_option()
    tagger: str | None = option(
        None,
        "What tells word classes: textblob, or spacy:NAME.",
        metavar="TAGGER",
        otherwise="the language's",
    )
    frequencies: Frequencies | Corpus | str | Path | None = option(
        None,
        "Documents that phrases are counted in, or their counts.",
        flags=("--df",),
        metavar="CORPUS|FILE",
        complete="paths",
        otherwise="CORPUS itself",
    )
    redundancy: bool = option(False, "Leave out a phrase that is inside a better one.")
    title_weight: float = option(1.0, "How many times a title counts.", metavar="W")
    vocabulary: VocabularyLike | None = path_option(
        "Tell the concepts of this vocabulary, a list of terms or SKOS; unmapped=drop leaves out other phrases.",
        "FILE[,option=value...]",
    )
    asking: Asking | None = option(None, "How a language model behind an endpoint is asked.", command=False)
    work: WorkOptions = group(WorkOptions)

    def __post_init__(self) -> None:
        """Raises InputError if a title would not count, or without end."""
        if not 0 < self.title_weight < inf:
            raise InputError(f"the weight of a title is more than 0, not {self.title_weight:g}")


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """How keyphrases of one text are predicted."""

    title: str | None = option(None, "The title of the text.")
    predicting: PredictOptions = group(PredictOptions)


@dataclass(frozen=True, slots=True, repr=False)
class Predicted(Displayed):
    """What a model predicts for a corpus, and what a reader should know."""

    corpus: str
    model: str
    documents: int
    entries: tuple[Entry, ...] = field(repr=False)  # none where they are in a file and nobody wants to see them
    notes: tuple[str, ...] = ()
    failure: str | None = None  # why the rest is missing
    provenance: tuple[str, ...] = ()  # notes on the documents that an earlier command predicted

    def rows(self) -> list[dict[str, Any]]:
        """One dict a document."""
        return [
            {
                "corpus": self.corpus,
                "system": self.model,
                "id": entry.prediction.id,
                "title": entry.title,
                "keyphrases": entry.prediction.keyphrases or [],
                "scores": entry.prediction.scores,
                **({} if (found := entry.prediction.concepts) is None else {"concepts": found}),
            }
            for entry in self.entries
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values."""
        return {"signatures": {}, "rows": self.rows(), "notes": list(self.notes)}

    def as_run(self) -> Run:
        """The predictions as a run, named after the model."""
        return Run.of((entry.prediction for entry in self.entries), self.model)

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output: one dict a document, with a column for each phrase."""
        most = max((len(entry.prediction.keyphrases or ()) for entry in self.entries), default=0)
        names = [f"keyphrase {rank}" for rank in range(1, most + 1)]
        return [
            {"id": entry.id_at(place), "title": entry.title or "", **dict.fromkeys(names, "")}
            | dict(zip(names, (phrase or "" for phrase in entry.prediction.keyphrases or ()), strict=False))
            for place, entry in enumerate(self.entries, 1)
        ]

    def catalogue(self) -> list[catalogue.Row]:
        """The documents as a catalogue has them."""
        return [
            catalogue.Row(entry.id_at(place), entry.title, entry.prediction.keyphrases or [], uris_of(entry.prediction))
            for place, entry in enumerate(self.entries, 1)
        ]

    def tables(self) -> Iterator[Table]:
        """The phrases of each document, in their order."""
        head = f"{self.corpus}, {counted(self.documents, 'document')}, {self.model}"
        given = {name: any(getattr(each.prediction, name) for each in self.entries) for name in ("scores", "concepts")}
        further = {"scores": Column("score"), "concepts": Column("concept", TEXT)}
        shown = [name for name, there in given.items() if there]
        columns = [Column("keyphrase", TEXT), *(further[name] for name in shown)]
        groups = [Group(list(_ranks(each, shown)), each.head(place)) for place, each in enumerate(self.entries, 1)]
        yield Table(head, "document", columns if groups else (), groups)


Finish = Callable[[Predicted], bytes]


def _ranks(entry: Entry, shown: Sequence[str]) -> Iterator[Row]:
    """A row for each phrase of a document, with its score and concept where any document has such."""
    phrases = entry.prediction.keyphrases or []
    further = [getattr(entry.prediction, name) or [None] * len(phrases) for name in shown]
    for rank, cells in enumerate(zip(phrases, *further, strict=True), 1):
        yield Row(str(rank), list(cells))
    if not phrases:
        yield Row("–", ["no phrases", *(None for _ in shown)])


# ---------------------------------------------------------------------------------------------- verbs


@public(PredictOptions)
def predict(
    corpus: CorpusLike,
    model: str | PlugIn = DEFAULT,
    n: int = 10,
    *,
    options: Mapping[str, Any] | None = None,
    stem: bool = False,
    language: str | None = None,
    tagger: str | None = None,
    frequencies: Frequencies | Corpus | str | Path | None = None,
    redundancy: bool = False,
    title_weight: float = 1.0,
    vocabulary: VocabularyLike | None = None,
    asking: Asking | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Run:
    """The run of a model on a corpus, a text, a PDF or a folder of these; named after the model.

    `model` is a name as `karat list models` shows them, `module:function` of an installed module,
    `./module.py:function` of a file, or a function that takes a list of documents and gives phrases for each. `options`
    are the model's own. Raises InputError if there is no such model, or if it fails.

    >>> from karat import Corpus
    >>> def capitals(documents):
    ...     return [[word for word in document.text.split() if word[0].isupper()] for document in documents]
    >>> run = predict(Corpus.of([{"id": "d1", "text": "in Rome and Paris"}]), capitals)
    >>> run.name, [prediction.keyphrases for prediction in run]
    ('capitals', [['Rome', 'Paris']])
    """
    given = corpus if isinstance(corpus, str | Path) else as_corpus(corpus)
    found = predicted(given, parse_model(model, options), options_from(PredictOptions, locals()))
    if found.failure is not None:
        raise InputError(found.failure)
    return found.as_run()


@public(ExtractOptions)
def extract(
    text: str,
    model: str | PlugIn = DEFAULT,
    n: int = 10,
    *,
    title: str | None = None,
    options: Mapping[str, Any] | None = None,
    stem: bool = False,
    language: str | None = None,
    tagger: str | None = None,
    frequencies: Frequencies | Corpus | str | Path | None = None,
    redundancy: bool = False,
    title_weight: float = 1.0,
    vocabulary: VocabularyLike | None = None,
    asking: Asking | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[tuple[str, float | None]]:
    """The (phrase, score) pairs of one text, the best first; a score is None where the model gives none.

    A model that counts documents needs `frequencies`, since one text has none. Raises InputError as `predict` does.

    >>> extract("Bees fly. Bees sing.", lambda documents: [[("bees", 2.0), ("fly", 1.0)] for _ in documents], n=1)
    [('bees', 2.0)]
    """
    corpus = Corpus.of([Document(id="text", title=title, text=text)], "text")
    [prediction] = predict(corpus, model, **flat(options_from(ExtractOptions, locals()).predicting))
    phrases = [phrase or "" for phrase in prediction.keyphrases or ()]
    return list(zip(phrases, prediction.scores or [None] * len(phrases), strict=True))


def predicted(
    corpus: str | Path | Corpus,
    model: ModelSpec,
    options: PredictOptions,
    *,
    output: str | None = None,
    shown: bool = True,
    finish: Finish | None = None,
    earlier: Sequence[Prediction] = (),
) -> Predicted:
    """What a model predicts; with `output`, the run is written there as it comes, and goes on where it was.

    Without `output`, `earlier` are predictions for the first documents, which are not predicted again.

    Unless `shown`, what is written is not held in memory. `finish` makes the content of the file of what is predicted,
    where that is to be no run; what is done so far is kept beside it all the same.
    """
    if not isinstance(corpus, Corpus):
        corpus = documents_at(corpus, jobs=options.work.jobs)
    language, said = document_language(corpus, options.language or ("english" if model.foreign else None))
    options = _with_vocabulary(replace(options, language=language))
    if model.asks_endpoint:
        found = _by_endpoint(corpus, model, options, output, finish)
        return replace(found, notes=(*said, *found.notes))
    common, notes = _common_options(corpus, model, options, bool(said))
    notes = [*said, *_checksum_notes(model), *notes]
    if output is not None and output.endswith(PARQUET) and (there := _written(corpus, model, common, options, output)):
        return replace(there, notes=(*notes, *there.notes))
    if output is None:
        return _gathered(corpus, model, common, options, notes, shown=shown, earlier=earlier)
    check_compression(output)
    with unfinished(output, fingerprint(model, common, corpus, _signature(options))) as work:
        found = _gathered(corpus, model, common, options, notes, work, shown)
        if found.failure is None:
            if finish is None:
                work.finish(_save_parquet if output.endswith(PARQUET) else None)
            else:
                write_beside(output, finish(found))
                work.discard()
            return found
    kept = f"; what is predicted so far is in {work.part}; the same command goes on from there" if work.begun else ""
    return replace(found, failure=f"{found.failure}{kept}")


def _checksum_notes(model: ModelSpec) -> Iterator[str]:
    """Yield a note if an earlier version of karat trained the model, without checksums."""
    path = str(model.options.get("model", ""))
    if model.name == KEA and os.path.isfile(path):
        with open_bytes(path) as file:
            if not has_checksum(file.read(64)):
                yield no_checksum(path)
    elif path:
        from karat.models.generators.checkpoint import is_checkpoint, read_card
        from karat.models.generators.settings import GENERATORS

        if model.name in GENERATORS and is_checkpoint(path) and not read_card(path).files:
            yield no_checksum(path)


# ---------------------------------------------------------------------------------------------- concepts


def _with_vocabulary(options: PredictOptions) -> PredictOptions:
    """The options with the vocabulary that they name, read."""
    return options if options.vocabulary is None else replace(options, vocabulary=as_vocabulary(options.vocabulary))


def _signature(options: PredictOptions) -> str | None:
    return options.vocabulary.signature() if isinstance(options.vocabulary, Vocabulary) else None


def _mapped(entries: Sequence[Entry], options: PredictOptions) -> list[Entry]:
    """What is predicted with the concepts that it is, where a vocabulary is given."""
    if not isinstance(options.vocabulary, Vocabulary):
        return list(entries)
    matching = as_protocols(["karat"], named(options.language))[0].matching
    concepts = concepts_for(options.vocabulary, matching)
    found = with_concepts([entry.prediction for entry in entries], concepts, matching)
    return [replace(entry, prediction=each) for entry, each in zip(entries, found, strict=True)]


# ---------------------------------------------------------------------------------------------- common options


def _common_options(
    corpus: Corpus, model: ModelSpec, options: PredictOptions, guessed: bool = False
) -> tuple[CommonOptions, list[str]]:
    """(the common options for the model, notes for the reader)."""
    found = model.find()
    frequencies, notes = _frequencies(corpus, found, options)
    return _shared(found, options, frequencies, guessed), notes


def _shared(
    found: Model, options: PredictOptions, frequencies: Frequencies | None, guessed: bool = False
) -> CommonOptions:
    """The options that all models share, as a model gets them."""
    return CommonOptions(
        n=options.n,
        language=language_in(options),
        guessed=guessed,
        tagger=options.tagger,
        frequencies=frequencies,
        stem=options.stem,
        redundancy=options.redundancy,
        title_weight=options.title_weight,
        threads=options.work.jobs if found.threads else 1,
    )


def run_fingerprint(corpus: Corpus, model: ModelSpec, options: PredictOptions) -> str:
    """What a run depends on, as a short text: document frequencies that are not given are those of the corpus."""
    found = model.find()
    given = None if options.frequencies is None else _frequencies(corpus, found, options)[0]
    return fingerprint(model, _shared(found, options, given), corpus)


def language_in(options: PredictOptions) -> str:
    """The language of the documents by its name; English where nobody has said or guessed it."""
    return named(options.language or "english")


def _frequencies(corpus: Corpus, model: Model, options: PredictOptions) -> tuple[Frequencies | None, list[str]]:
    """(the document frequencies that are given, else those of the corpus where the model needs any; notes)."""
    given = options.frequencies
    if isinstance(given, Frequencies) or (given is None and "frequencies" not in model.needs):
        return given, []
    if isinstance(given, Corpus):
        return frequencies_of(given, language=language_in(options), jobs=options.work.jobs), []
    if given is not None:
        return _frequencies_at(str(given), language_in(options), options.work.jobs), []
    if len(list(islice(_ids(corpus), 2))) < 2:
        raise InputError(
            f"{model.name} needs to know in how many documents a phrase occurs, which one document does not tell: "
            "name other documents with --df CORPUS, or a file that karat corpus df made"
        )
    found = frequencies_of(corpus, language=language_in(options), jobs=options.work.jobs)
    return found, [
        f"document frequencies are those of the {counted(found.documents, 'document')} at hand; --df names others"
    ]


def _frequencies_at(path: str, language: str, jobs: int) -> Frequencies:
    """The frequencies in a file, also where they stand under `df` in it; else those of the documents there."""
    if os.path.isdir(path):
        return frequencies_of(documents_at(path), language=language, jobs=jobs)
    found = _json_object(path) if os.path.isfile(path) else {}
    if not isinstance(found.get("df"), dict):
        return read_frequencies(path) if DOCUMENTS in found else frequencies_at(path, language=language, jobs=jobs)
    counts = dict(found["df"])
    totals = counts.pop(DOCUMENTS, None), found.get(DOCUMENTS), found.get("documents")
    documents = next((number for number in totals if number is not None), None)
    if type(documents) is not int or documents > MOST_COUNT:
        raise InputError(f"{path}: the number of documents is missing; write it as the count of {DOCUMENTS}")
    for phrase, count in counts.items():
        if type(count) is not int or not 0 <= count <= documents:
            said = brief(str(count), 40)
            raise InputError(f"{path}: the count of {quoted(phrase)} is {said}; write a number from 0 to {documents}")
    return Frequencies(documents, counts)


def _json_object(path: str) -> dict[str, Any]:
    """The object that a file is, or that its first line is; empty where there is none."""
    line = first_line(path).lstrip()
    if not line.startswith(b"{"):
        return {}
    found = json_value(line, path) or whole_json(path)
    return found if isinstance(found, dict) else {}


def _ids(corpus: Corpus) -> Iterator[str | None]:
    return chain.from_iterable(batch.ids for batch in corpus.batches())


# ---------------------------------------------------------------------------------------------- chunks


def _pieces(corpus: Corpus, skip: int, window: int = CHUNK) -> Iterator[Batch[Document]]:
    """The documents after the first ones, some at a time; an id that comes twice is an error."""
    seen: set[str] = set()
    at = 0
    for batch in corpus.batches():
        for identifier in batch.ids:
            if identifier in seen:
                raise InputError(f"{corpus.origin}: two documents have the id {quoted(identifier)}; ids are to differ")
            if identifier is not None:
                seen.add(identifier)
        for start in range(max(0, skip - at), len(batch), window):
            yield batch.pick(range(start, min(start + window, len(batch))))
        at += len(batch)


# ---------------------------------------------------------------------------------------------- engines


class _Writer:
    """Predicts for documents on a worker that writes the predictions itself; gives what else there is to say."""

    def __init__(self, predictor: Predictor, options: PredictOptions) -> None:
        self.predictor, self.options = predictor, replace(options, work=WorkOptions(), frequencies=None)

    def __call__(self, batch: Batch[Document]) -> tuple[list[Prediction], Done]:
        """(the predictions, what else is to be said). Raises InputError if the model fails."""
        total = Done([])
        window = self.predictor.window
        for start in range(0, len(batch), window):
            done = self.predictor(batch.pick(range(start, min(start + window, len(batch)))))
            if done.failure is not None:
                raise InputError(done.failure)
            add(total, replace(done, entries=_mapped(done.entries, self.options)), shown=True)
        return [entry.prediction for entry in total.entries], replace(total, entries=[], samples=total.samples[:100])


def worker(
    corpus: Corpus, model: ModelSpec, options: PredictOptions
) -> tuple[Callable[[Batch[Document]], tuple[list[Prediction], Any]], list[str]]:
    """(what predicts for documents of a corpus on any worker, the files and folders that it needs there)."""
    language = document_language(corpus, options.language or ("english" if model.foreign else None))[0]
    options = _with_vocabulary(replace(options, language=language))
    predictor = Predictor(model, _common_options(corpus, model, options)[0])
    return _Writer(predictor, options), predictor.needed()


def _written(
    corpus: Corpus, model: ModelSpec, common: CommonOptions, options: PredictOptions, output: str
) -> Predicted | None:
    """What the workers of the engine in force predict and write as Parquet; None where that is done here."""
    elsewhere = engine()
    documents = None if elsewhere is None else elsewhere.fingerprint(corpus)
    if elsewhere is None or documents is None:
        return None
    predictor = Predictor(model, common)
    whose = fingerprint(model, common, corpus, _signature(options), documents)
    blocks = elsewhere.written(_Writer(predictor, options), corpus, output, whose, predictor.needed())
    total, count, kept = Done([]), 0, 0
    for written, remarks in blocks or ():
        count += written
        kept += 0 if remarks else written
        for done in remarks:
            add(total, done, shown=False)
        _advance(options, written)
    notes = (*corpus.notes, *_notes(total, None if model.foreign else common.language))
    return Predicted(corpus.name, model.name, count, (), notes, provenance=tuple(_provenance(kept)))


# ---------------------------------------------------------------------------------------------- gathering


def _gathered(
    corpus: Corpus,
    model: ModelSpec,
    common: CommonOptions,
    options: PredictOptions,
    notes: list[str],
    work: Unfinished | None = None,
    shown: bool = True,
    earlier: Sequence[Prediction] = (),
) -> Predicted:
    """Everything that is predicted, each chunk kept before the next is waited for."""
    kept = earlier if work is None else _kept(work, corpus)
    total = Done([])
    documents = len(kept)
    failure: str | None = None
    found = model.find()
    predictor = Predictor(model, common)
    for done in _again(predictor, corpus, kept):
        add(total, done, shown)
        _advance(options, len(done.entries))
    pieces = _pieces(corpus, len(kept), found.window)
    jobs = 1 if found.threads else options.work.jobs
    for done in ordered_map(predictor, pieces, jobs, predictor.needed() if engine() is not None else ()):
        done = replace(done, entries=_mapped(done.entries, options))
        if work is not None:
            work.add(_encode(entry.prediction) for entry in done.entries)
        documents += len(done.entries)
        add(total, done, shown)
        _advance(options, len(done.entries))
        if done.failure is not None:
            failure = done.failure
            break
    notes = [*corpus.notes, *notes, *_notes(total, None if model.foreign else common.language)]
    provenance = tuple(_provenance(len(kept), work))
    return Predicted(corpus.name, model.name, documents, tuple(total.entries), tuple(notes), failure, provenance)


def _provenance(kept: int, work: Unfinished | None = None) -> Iterator[str]:
    """Yield notes on the work of an earlier command."""
    if kept:
        yield f"went on after {counted(kept, 'document')} that were there already"
    if work is not None and work.of_another:
        yield f"{work.part} was of another model, other options or other documents: begun anew"
    if work is not None and work.damaged is not None:
        yield (
            f"{work.part}: line {work.damaged:,} was damaged or incomplete; "
            "documents from there on were predicted again"
        )


def _kept(work: Unfinished, corpus: Corpus) -> list[Prediction]:
    """Decode the predictions of an earlier command, up to the first one that is of another document."""
    found: list[Prediction] = []
    for line, identifier in zip(work.lines, _ids(corpus) if work.lines else (), strict=False):
        try:
            prediction = _decode(line)
        except DECODING_ERRORS:
            break
        if text_of_id(prediction.id) != identifier:
            break
        found.append(prediction)
    if len(found) < len(work.lines):
        work.keep(len(found))
    return found


def _again(predictor: Predictor, corpus: Corpus, kept: Sequence[Prediction]) -> Iterator[Done]:
    """Tell of documents that were predicted before what is told of new ones."""
    at = 0
    for batch in corpus.batches() if kept else ():
        count = min(len(batch), len(kept) - at)
        for start in range(0, count, predictor.window):
            some = range(start, min(start + predictor.window, count))
            yield predictor.outcome(batch.pick(some), kept[at + some.start : at + some.stop])
        at += count
        if at == len(kept):
            return


def _advance(options: PredictOptions, documents: int) -> None:
    if options.work.progress is not None:
        options.work.progress(documents)


def _notes(total: Done, language: str | None) -> Iterator[str]:
    """What there is to say of the documents."""
    yield from total.of_model
    for said, count in total.counts.items():
        if count:
            yield said.format(counted(count, "document"), were="was" if count == 1 else "were")
    for found, what in (
        (total.without_text, "no text"),
        (total.without_phrases, "a text, but the model found no phrase"),
    ):
        if found:
            many = f"{len(found):,} documents have" if len(found) > 1 else "1 document has"
            yield f"{many} {what}, so that nothing is predicted (first {found[0]})"
    other = None if language is None else other_language(total.samples, named(language))
    if other is not None and language is not None:
        yield f"the texts look {other[0].capitalize()}, not {named(language).capitalize()}: see --language"


# ---------------------------------------------------------------------------------------------- endpoints


@dataclass(frozen=True, slots=True)
class _Texts:
    """Each document with its text; a document for each distinct text; those without one."""

    all: list[tuple[Document, str]] = field(default_factory=list)
    distinct: dict[str, str] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)


def _texts(corpus: Corpus) -> _Texts:
    """The texts of a corpus."""
    found = _Texts()
    for piece in _pieces(corpus, 0):
        for document, place in zip(piece.records(), piece.places, strict=True):
            text = as_text(document)
            found.all.append((document, text))
            if text.strip():
                found.distinct.setdefault(text, text_of_id(document.id) or str(place))
            else:
                found.empty.append(shown_id(document, len(found.all)))
    return found


def forecast(corpus: Corpus, model: ModelSpec, options: PredictOptions) -> Forecast:
    """How many requests the prediction takes, and about how many tokens; no request is sent."""
    common = CommonOptions(n=options.n, language=document_language(corpus, options.language)[0])
    return count_requests(corpus, model.name, _texts(corpus).distinct, _asking(model, options), common)


def _asking(model: ModelSpec, options: PredictOptions) -> Asking:
    if options.asking is None:
        raise InputError(f"{ENDPOINT} needs an endpoint: asking=Asking(karat.llm.client.endpoint(base_url, model))")
    if model.options:
        raise InputError(f"{model.name}: a language model has no options of its own; flags say how it is asked")
    return options.asking


def _by_endpoint(
    corpus: Corpus, model: ModelSpec, options: PredictOptions, output: str | None, finish: Finish | None = None
) -> Predicted:
    """What a language model predicts; what has no answer is left out, and is the failure."""
    asking = _asking(model, options)
    texts = _texts(corpus)
    said = ask(texts.distinct, asking, CommonOptions(n=options.n, language=language_in(options)))
    empty = Prediction(keyphrases=[])
    entries = [
        Entry(msgspec.structs.replace(found, id=document.id), document.title)
        for document, text in texts.all
        if (found := said.predictions.get(text) if text.strip() else empty) is not None
    ]
    entries = _mapped(entries, options)
    without = [
        shown_id(document, place)
        for place, (document, text) in enumerate(texts.all, 1)
        if text in said.predictions and not said.predictions[text].keyphrases
    ]
    remarks = Done([], without_text=texts.empty, without_phrases=without)
    notes = [*corpus.notes, *said.notes, *_notes(remarks, None)]
    failure = said.complaint()
    if output is not None and finish is None and said.predictions:
        _save(output, entries)
        failure = f"{failure}; {output} has {counted(len(entries), 'prediction')}" if failure else None
    if failure is not None and asking.store is not None:
        failure += "; the same command goes on from here"
    made = Predicted(corpus.name, model.name, len(entries), tuple(entries), tuple(notes), failure)
    if output is not None and finish is not None and failure is None:
        write_beside(output, finish(made))
    return made


def _save_parquet(output: str, lines: Iterable[bytes]) -> None:
    save = FORMATS["parquet"].save_run
    assert save is not None
    save(output, map(_decode, lines))


def _save(output: str, entries: Sequence[Entry]) -> None:
    save = FORMATS["parquet" if output.endswith(PARQUET) else "karat"].save_run
    assert save is not None
    save(output, (entry.prediction for entry in entries))
