"""Corpora said in other words: which document is reformulated how, under which new id, and what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Literal

import msgspec

from karat.corpus import Corpus, Document, Reference
from karat.errors import InputError, counted
from karat.formats import jsonl
from karat.formats.base import quoted
from karat.formats.pairs import MARK, write_pairs
from karat.llm.ask import METHODS as ENDPOINT_METHODS
from karat.llm.ask import (
    SOURCE_LANGUAGE,
    AskProgress,
    Forecast,
    Outcome,
    Todo,
    ask_all,
    count,
    language_name,
    spent_notes,
    steps,
    with_candidates,
)
from karat.llm.client import FREE, Answer, Endpoint, Usage, whole
from karat.llm.store import MEMORY, NO_LIMITS, Limits, Question, Store
from karat.matching.inputs import CorpusLike, as_corpus
from karat.matching.passes import Pass, View
from karat.matching.sanity import no_texts
from karat.options import Progress, option, options_from, path_option, progress_option, public
from karat.text.segtok import split as split_sentences

Method = Literal["paraphrase", "back-translation", "marian", "synonyms", "order"]
METHODS = {
    "paraphrase": "other words, by a chat endpoint",
    "back-translation": "into another language and back, by a chat endpoint",
    "marian": "into another language and back, by two translation models on disk (extra neural)",
    "synonyms": "some words replaced by synonyms from WordNet; no model needed",
    "order": "the sentences in another order; nothing needed",
}


MOST_REPEATS = 100


class Reformulation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A document in other words, with the references of the one that it comes from."""

    id: str
    source: str
    method: str
    title: str | None = None
    text: str | None = None
    keyphrases: list[Reference] | None = None
    reference_sets: dict[str, list[Reference]] | None = None


@dataclass(frozen=True, slots=True)
class ReformulateOptions:
    """How documents are reformulated."""

    via: Method = option(
        "synonyms",
        "By a chat endpoint (the first two), by translation models on disk, with WordNet, or its sentences reordered.",
        values=METHODS,
    )
    prompt: str | Path | None = path_option(
        "Prompt to use, with {text} in it; for a back-translation {from} and {to}, with --candidates {candidates}."
    )
    language: str = option("english", "Language of the documents, by name or code, as french.", metavar="LANGUAGE")
    pivot: str = option("es", "Language to translate into and back, by name or code.", metavar="LANGUAGE")
    candidates: str | None = option(
        None,
        "Phrases that the prompt asks to keep: references, those of a RUN, or what a MODEL finds, as tfidf.",
        metavar="references|RUN|MODEL",
        complete="models",
    )
    repeat: int = option(
        1, "Reformulate each document N times, with as many seeds.", least=1, most=MOST_REPEATS, metavar="N"
    )
    name: str | None = option(
        None, "What the method is called in ids and tables.", metavar="NAME", otherwise="the value of --via"
    )
    concurrency: int = option(4, "Requests at a time.", least=1, most=256, metavar="N", flags=("-j", "--concurrency"))
    forward: str | Path | None = path_option("Marian model into the other language...", "DIR")
    backward: str | Path | None = path_option("...and the one back.", "DIR")
    share: float = option(0.5, "Share of the words with a synonym that are replaced.", metavar="S")
    seed: int = option(0, "Of the endpoint, or of the choice of words.", metavar="N")
    endpoint: Endpoint | None = option(None, "The chat endpoint.", command=False)
    limits: Limits = option(NO_LIMITS, "How much may be asked.", command=False)
    store: str | Path | None = option(None, "The file that answers are kept in; in memory without it.", command=False)
    progress: Progress | None = progress_option()
    tell: Callable[[AskProgress], None] | None = option(None, "Called with how far the asking has come.", command=False)


@dataclass(frozen=True, slots=True)
class Reformulated:
    """The reformulations of a corpus, in its order, and what became of the rest."""

    corpus: str
    method: str
    records: tuple[Reformulation, ...] = field(repr=False)
    failures: tuple[tuple[str, str], ...] = ()  # document, sentence
    stopped: str | None = None  # why no request was sent for the rest
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Reformulation]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def pairs(self) -> list[dict[str, str]]:
        """Each document with its reformulation, as pairs are written; the id of that tells how it was made."""
        return [{"a": record.source, "b": record.id} for record in self.records]

    def as_corpus(self) -> Corpus:
        """The reformulations as a corpus like any other."""
        fields = [name for name in Document.__struct_fields__ if name in Reformulation.__struct_fields__]
        return Corpus.of(({name: getattr(each, name) for name in fields} for each in self.records), self.method)

    def save(self, path: str | Path, pairs: str | Path | None = None) -> None:
        """Writes the reformulations as JSON lines, and their pairs; each file appears when it is whole."""
        jsonl.save(str(path), self.records)
        if pairs is not None:
            write_pairs(pairs, self.pairs())

    def complaint(self) -> str | None:
        """What is wrong with the outcome in one sentence, None where every document is reformulated."""
        said = []
        if self.stopped:
            said.append(self.stopped)
        if self.failures:
            document, why = self.failures[0]
            more = f" (and {counted(len(self.failures) - 1, 'document')} more)" if len(self.failures) > 1 else ""
            said.append(f"no reformulation of document {quoted(document)}{more}: {why}")
        return "; ".join(said) or None


# ---------------------------------------------------------------------------------------------- documents


def _texts(corpus: Corpus) -> tuple[dict[str, Document], list[str]]:
    """(the documents that have a text, by id, in their order; notes); without ids they go by their places."""
    reading = Pass(corpus, [])
    answers = reading.look(_look_at_texts)
    reading.run()
    found = {name: document for part in answers.parts for name, document in part}
    if not found:
        raise no_texts(corpus, "there is nothing to reformulate")
    empty = len(reading.ids) - len(found)
    return found, [f"{counted(empty, 'document')} without title and text left out"] if empty else []


def _look_at_texts(view: View) -> list[tuple[str, Document]]:
    """A look: (id, document) of those that have a title or a text."""
    return [
        (name, document)
        for name, document in zip(view.ids, view.given, strict=True)
        if (document.title or "").strip() or (document.text or "").strip()
    ]


def _check_ids(documents: Mapping[str, Document], method: str, repeat: int, corpus: Corpus) -> None:
    for name in documents:
        for version in range(1, repeat + 1):
            made = _id(name, method, version)
            if made in documents:
                raise InputError(
                    f"{corpus.origin}: has a document {quoted(made)} already, which would be that of {quoted(name)}"
                )


def _id(name: str, method: str, version: int) -> str:
    """The id of a reformulation: of the first d1~paraphrase, of the second d1~paraphrase~2."""
    return f"{name}{MARK}{method}" + (f"{MARK}{version}" if version > 1 else "")


def _method(options: ReformulateOptions) -> str:
    """What the method is called. Raises InputError if it could not stand in an id."""
    name = options.via if options.name is None else options.name.strip()
    if not name or MARK in name or not name.isprintable():
        raise InputError(f"the name of a method is a text without {MARK}, not {options.name!r}")
    return name


def as_text(document: Document) -> str:
    """A document as one text: its title on the first line, where it has one, then an empty line and its text.

    >>> as_text(Document(title="Bees and\\nwasps", text="How they fly."))
    'Bees and wasps\\n\\nHow they fly.'
    """
    parts = [" ".join((document.title or "").split()), (document.text or "").strip()]
    return whole("\n\n".join(filter(None, parts)))


def from_text(text: str, like: Document) -> tuple[str | None, str | None]:
    """(title, text) of a document that was said as one text, with a title if the other one has it.

    >>> from_text("Wasps\\n\\nThey fly, too.", Document(title="Bees", text="They fly."))
    ('Wasps', 'They fly, too.')
    """
    if not (like.title or "").strip():
        return None, text
    if not (like.text or "").strip():
        return " ".join(text.split()), None
    title, _, rest = text.partition("\n")
    return (title.strip(), rest.strip()) if rest.strip() else (None, text)


def _record(name: str, method: str, version: int, like: Document, title: str | None, text: str | None) -> Reformulation:
    return Reformulation(
        id=_id(name, method, version),
        source=name,
        method=method,
        title=title,
        text=text,
        keyphrases=like.keyphrases,
        reference_sets=like.reference_sets,
    )


# ---------------------------------------------------------------------------------------------- verbs


@public(ReformulateOptions)
def reformulate(
    corpus: CorpusLike,
    via: Method = "synonyms",
    *,
    prompt: str | Path | None = None,
    language: str = "english",
    pivot: str = "es",
    candidates: str | None = None,
    repeat: int = 1,
    name: str | None = None,
    concurrency: int = 4,
    forward: str | Path | None = None,
    backward: str | Path | None = None,
    share: float = 0.5,
    seed: int = 0,
    endpoint: Endpoint | None = None,
    limits: Limits = NO_LIMITS,
    store: str | Path | None = None,
    progress: Progress | None = None,
    tell: Callable[[AskProgress], None] | None = None,
) -> Reformulated:
    """The documents of a corpus in other words.

    Raises InputError if an id is taken already, or if what the method needs is not given.
    """
    chosen = options_from(ReformulateOptions, locals())
    given = as_corpus(corpus)
    documents, notes = _texts(given)
    method = _method(chosen)
    _check_ids(documents, method, repeat, given)
    found = _candidates(given, documents, chosen) if candidates is not None else None
    made = [_MAKERS[via](_Work(method, version, documents, found), chosen) for version in range(1, repeat + 1)]
    return _together(given.name, method, documents, made, notes)


@dataclass(frozen=True, slots=True)
class _Work:
    """What one version of all documents is made of."""

    method: str  # what it is called
    version: int  # from 1 on
    documents: Mapping[str, Document]
    candidates: Mapping[str, list[str]] | None  # by document

    def record(self, name: str, title: str | None, text: str | None) -> Reformulation:
        """The reformulation of a document."""
        return _record(name, self.method, self.version, self.documents[name], title, text)


def _together(
    corpus: str, method: str, documents: Mapping[str, Document], made: Sequence[Reformulated], notes: list[str]
) -> Reformulated:
    """All versions of all documents, those of a document beside each other."""
    order = {name: place for place, name in enumerate(documents)}
    records = sorted((record for each in made for record in each.records), key=lambda record: order[record.source])
    if len(made) > 1:
        texts = {(record.source, record.title, record.text) for record in records}
        again = len(records) - len(texts)
        notes = [*notes, f"{again:,} of {counted(len(records), 'version')} are, word for word, another one's"]
    stopped = next((each.stopped for each in made if each.stopped), None)
    failures = tuple(failure for each in made for failure in each.failures)
    said = dict.fromkeys([*notes, *(note for each in made for note in each.notes)])
    return Reformulated(corpus, method, tuple(records), failures, stopped, tuple(said))


def _candidates(corpus: Corpus, documents: Mapping[str, Document], options: ReformulateOptions) -> dict[str, list[str]]:
    """The phrases that are to be kept, by document. Raises InputError if the method has no prompt."""
    if options.via not in ENDPOINT_METHODS:
        raise InputError(
            f"--candidates is for {' and '.join(ENDPOINT_METHODS)}, which have a prompt, not {options.via}"
        )
    from karat.models.candidates_of import candidates_of

    return candidates_of(corpus.origin, documents, str(options.candidates), options.language)


def _by_synonyms(work: _Work, options: ReformulateOptions) -> Reformulated:
    from karat.pairs.synonyms import checked_share, reformulated

    if language_name(options.language) != SOURCE_LANGUAGE:
        raise InputError(f"WordNet has English words only: synonyms cannot be found in {options.language!r}")
    share, seed = checked_share(options.share), options.seed + work.version - 1
    records: list[Reformulation] = []
    for name, document in work.documents.items():
        found = reformulated(document, name, share, seed)
        records.append(work.record(name, found.title, found.text))
        if options.progress is not None:
            options.progress(1)
    return Reformulated("", work.method, tuple(records))


def _by_order(work: _Work, options: ReformulateOptions) -> Reformulated:
    records: list[Reformulation] = []
    few = 0
    for name, document in work.documents.items():
        order = reordered(document.text or "", Random(f"{options.seed + work.version - 1}:{name}"))
        few += order is None
        records += [] if order is None else [work.record(name, document.title, order)]
        if options.progress is not None:
            options.progress(1)
    notes = (f"{counted(few, 'document')} of fewer than two sentences left out",) if few else ()
    return Reformulated("", work.method, tuple(records), notes=notes)


def reordered(text: str, chance: Random) -> str | None:
    """The sentences of a text in another order; None where there are fewer than two different ones.

    >>> reordered("Bees fly. They dance.", Random(0)), reordered("Bees fly.", Random(0))
    ('They dance. Bees fly.', None)
    """
    sentences = [" ".join(each.split()) for each in split_sentences(text)]
    if len(set(sentences)) < 2:
        return None
    moved = list(sentences)
    while moved == sentences:
        chance.shuffle(moved)
    return " ".join(moved)


def _by_marian(work: _Work, options: ReformulateOptions) -> Reformulated:
    from karat.pairs.marian import name_of, translator

    if options.forward is None or options.backward is None:
        raise InputError("marian needs two models: --forward DIR into the other language, --backward DIR from it")
    if options.repeat > 1:
        raise InputError("--repeat: two models on disk translate a text in the same way each time; ask an endpoint")
    ways = [(name_of(directory), directory) for directory in (options.forward, options.backward)]
    model = " and ".join(name for name, _ in ways)
    translators: list[Callable[[str], str]] = []
    records: list[Reformulation] = []
    with Store(options.store or MEMORY) as store:
        for name, document in work.documents.items():
            key = blake2b(msgspec.msgpack.encode((model, as_text(document))), digest_size=16).digest()
            text = store.answer(key)
            if text is None:  # only now are models needed
                translators = translators or [translator(directory) for _, directory in ways]
                text = translators[1](translators[0](as_text(document)))
                store.keep(Question(key, name, options.via, model, 0.0, 0, ""), Answer(text, FREE, 0))
            records.append(work.record(name, *from_text(text, document)))
            if options.progress is not None:
                options.progress(1)
        notes = tuple(store.notes())
    return Reformulated("", work.method, tuple(records), notes=notes)


def _by_chat(work: _Work, options: ReformulateOptions) -> Reformulated:
    endpoint, limits = _endpoint_of(options), checked_limits(options.limits)
    endpoint = replace(endpoint, seed=endpoint.seed + work.version - 1)
    texts: dict[str, str] = {}
    for name, document in work.documents.items():
        texts.setdefault(as_text(document), name)
    todo = _todo(texts, work.candidates, options)
    with Store(options.store or MEMORY, limits) as store:
        before = store.spent()
        outcome = ask_all(texts, todo, endpoint, store, options.concurrency, options.tell)
        notes = store.notes()
        if work.version == options.repeat or outcome.stopped:
            notes += spent_notes(before, store.spent(), limits)
    if endpoint.key is not None and not endpoint.private:
        notes.append("the key went through the network unencrypted: the base URL is http, not https")
    if options.repeat > 1 and endpoint.temperature == 0:
        notes.append("the temperature is 0, at which an endpoint mostly says the same: --temperature raises it")
    return _gathered(work, outcome, notes)


def _todo(texts: Mapping[str, str], candidates: Mapping[str, list[str]] | None, options: ReformulateOptions) -> Todo:
    """The requests of every text, or of each with its own candidates."""
    found = steps(options.via, options.pivot, options.prompt, options.language, candidates is not None)
    if candidates is None:
        return found
    return lambda text: with_candidates(found, candidates.get(texts[text], []))


def _gathered(work: _Work, outcome: Outcome, notes: list[str]) -> Reformulated:
    documents, records = work.documents, list[Reformulation]()
    untitled = 0
    for name, document in documents.items():
        if (text := outcome.answers.get(as_text(document))) is not None:
            title, body = from_text(text, document)
            untitled += title is None and bool((document.title or "").strip())
            records.append(work.record(name, title, body))
    if untitled:
        notes.append(f"{untitled:,} answers are of one line, without the title that their document has")
    left = len(documents) - len(records)
    stopped = (
        f"{outcome.stopped} ({left:,} of {counted(len(documents), 'document')} are left)" if outcome.stopped else None
    )
    return Reformulated("", work.method, tuple(records), outcome.failures, stopped, tuple(notes))


_MAKERS: dict[str, Callable[[_Work, ReformulateOptions], Reformulated]] = {
    "paraphrase": _by_chat,
    "back-translation": _by_chat,
    "marian": _by_marian,
    "synonyms": _by_synonyms,
    "order": _by_order,
}


def _endpoint_of(options: ReformulateOptions) -> Endpoint:
    if options.endpoint is None:
        raise InputError("an endpoint is needed: karat.llm.client.endpoint(base_url, model) makes one")
    return options.endpoint


def checked_limits(limits: Limits) -> Limits:
    """The limits, provided that they can be kept."""
    if limits.cost is not None and not (limits.price_in or limits.price_out):
        raise InputError("--max-cost needs to know what tokens cost: --price-in and --price-out, of a million tokens")
    if min(limits.price_in, limits.price_out, limits.cost or 0.0, limits.requests or 0) < 0:
        raise InputError("limits and prices are 0 or more")
    return limits


def forecast(corpus: CorpusLike, chosen: ReformulateOptions) -> Forecast:
    """How many requests a reformulation takes, and about how many tokens; no request is sent."""
    given, via = as_corpus(corpus), chosen.via
    if via not in ENDPOINT_METHODS:
        methods = ", ".join(ENDPOINT_METHODS)
        raise InputError(f"only what is asked of an endpoint can be counted before ({methods}), not {via!r}")
    endpoint, limits = _endpoint_of(chosen), checked_limits(chosen.limits)
    documents, notes = _texts(given)
    texts = {as_text(document): name for name, document in reversed(documents.items())}
    found = _candidates(given, documents, chosen) if chosen.candidates is not None else None
    todo = _todo(texts, found, chosen)
    there = chosen.store is not None and Path(chosen.store).exists()
    with Store(chosen.store, limits) if there and chosen.store else nullcontext() as store:
        known = (lambda key: None) if store is None else store.answer
        seeds = [replace(endpoint, seed=endpoint.seed + version) for version in range(chosen.repeat)]
        counts = [count(texts, todo, each, known) for each in seeds]
        notes += [] if store is None else store.notes()
    requests, answered = sum(each[0] for each in counts), sum(each[1] for each in counts)
    tokens_in, tokens_out = (sum(getattr(each[2], name) for each in counts) for name in ("tokens_in", "tokens_out"))
    usage = Usage(tokens_in, tokens_out, estimated=True)
    cost = limits.price(usage) if limits.price_in or limits.price_out else None
    notes.append("tokens are an estimate, 4 characters each; an answer is taken to be as long as its text")
    return Forecast(given.name, via, len(documents), requests, answered, usage, cost, tuple(notes))
