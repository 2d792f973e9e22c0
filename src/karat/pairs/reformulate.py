"""Corpora said in other words: which document is reformulated how, under which new id, and what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import msgspec

from karat.corpus import Corpus, Document, Reference
from karat.errors import InputError, counted
from karat.formats import jsonl
from karat.formats.base import quoted
from karat.formats.pairs import write_pairs
from karat.llm.ask import METHODS as ENDPOINT_METHODS
from karat.llm.ask import AskProgress, Forecast, Outcome, Step, ask_all, count, spent_notes, steps
from karat.llm.client import FREE, Answer, Endpoint, whole
from karat.llm.store import MEMORY, NO_LIMITS, Limits, Question, Store
from karat.matching.inputs import CorpusLike, as_corpus
from karat.matching.passes import Pass, View
from karat.matching.sanity import no_texts
from karat.options import Progress, option, options_from, path_option, progress_option, public

Method = Literal["paraphrase", "back-translation", "marian", "synonyms"]
METHODS = {
    "paraphrase": "other words, by a chat endpoint",
    "back-translation": "into another language and back, by a chat endpoint",
    "marian": "into another language and back, by two translation models on disk (extra neural)",
    "synonyms": "some words replaced by synonyms from WordNet; no model needed",
}
MARK = "~"  # between the id of a document and the method


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
        "By a chat endpoint (the first two), by translation models on disk, or with WordNet.",
        values=METHODS,
    )
    prompt: str | Path | None = path_option(
        "Prompt to use, with {text} in it; for a back-translation {from} and {to}, too."
    )
    pivot: str = option("es", "Language to translate into and back.", metavar="LANGUAGE")
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
        """Each document with its reformulation, as pairs are written."""
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


def _check_ids(documents: Mapping[str, Document], method: str, corpus: Corpus) -> None:
    for name in documents:
        if f"{name}{MARK}{method}" in documents:
            made = quoted(f"{name}{MARK}{method}")
            raise InputError(f"{corpus.origin}: has a document {made} already, which would be that of {quoted(name)}")


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


def _record(name: str, method: str, like: Document, title: str | None, text: str | None) -> Reformulation:
    return Reformulation(
        id=f"{name}{MARK}{method}",
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
    pivot: str = "es",
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
    _check_ids(documents, via, given)
    made = _MAKERS[via](via, documents, chosen)
    return replace(made, corpus=given.name, notes=(*notes, *made.notes))


def _by_synonyms(via: str, documents: Mapping[str, Document], options: ReformulateOptions) -> Reformulated:
    from karat.pairs.synonyms import checked_share, reformulated

    share = checked_share(options.share)
    records: list[Reformulation] = []
    for name, document in documents.items():
        found = reformulated(document, name, share, options.seed)
        records.append(_record(name, via, document, found.title, found.text))
        if options.progress is not None:
            options.progress(1)
    return Reformulated("", via, tuple(records))


def _by_marian(via: str, documents: Mapping[str, Document], options: ReformulateOptions) -> Reformulated:
    from karat.pairs.marian import name_of, translator

    if options.forward is None or options.backward is None:
        raise InputError("marian needs two models: --forward DIR into the other language, --backward DIR from it")
    ways = [(name_of(directory), directory) for directory in (options.forward, options.backward)]
    model = " and ".join(name for name, _ in ways)
    translators: list[Callable[[str], str]] = []
    records: list[Reformulation] = []
    with Store(options.store or MEMORY) as store:
        for name, document in documents.items():
            key = blake2b(msgspec.msgpack.encode((model, as_text(document))), digest_size=16).digest()
            text = store.answer(key)
            if text is None:  # only now are models needed
                translators = translators or [translator(directory) for _, directory in ways]
                text = translators[1](translators[0](as_text(document)))
                store.keep(Question(key, name, via, model, 0.0, 0, ""), Answer(text, FREE, 0))
            records.append(_record(name, via, document, *from_text(text, document)))
            if options.progress is not None:
                options.progress(1)
    return Reformulated("", via, tuple(records))


def _by_chat(via: str, documents: Mapping[str, Document], options: ReformulateOptions) -> Reformulated:
    endpoint, limits = _endpoint_of(options), checked_limits(options.limits)
    todo = steps(via, options.pivot, options.prompt)
    texts: dict[str, str] = {}
    for name, document in documents.items():
        texts.setdefault(as_text(document), name)
    with Store(options.store or MEMORY, limits) as store:
        before = store.spent()
        outcome = ask_all(texts, todo, endpoint, store, options.concurrency, options.tell)
        notes = spent_notes(before, store.spent(), limits)
    if endpoint.key is not None and not endpoint.private:
        notes.append("the key went through the network unencrypted: the base URL is http, not https")
    return _gathered(via, documents, outcome, notes)


def _gathered(via: str, documents: Mapping[str, Document], outcome: Outcome, notes: list[str]) -> Reformulated:
    records: list[Reformulation] = []
    untitled = 0
    for name, document in documents.items():
        if (text := outcome.answers.get(as_text(document))) is not None:
            title, body = from_text(text, document)
            untitled += title is None and bool((document.title or "").strip())
            records.append(_record(name, via, document, title, body))
    if untitled:
        notes.append(f"{untitled:,} answers are of one line, without the title that their document has")
    left = len(documents) - len(records)
    stopped = (
        f"{outcome.stopped} ({left:,} of {counted(len(documents), 'document')} are left)" if outcome.stopped else None
    )
    return Reformulated("", via, tuple(records), outcome.failures, stopped, tuple(notes))


_MAKERS: dict[str, Callable[[str, Mapping[str, Document], ReformulateOptions], Reformulated]] = {
    "paraphrase": _by_chat,
    "back-translation": _by_chat,
    "marian": _by_marian,
    "synonyms": _by_synonyms,
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
    todo: tuple[Step, ...] = steps(via, chosen.pivot, chosen.prompt)
    documents, notes = _texts(given)
    texts = dict.fromkeys(map(as_text, documents.values()))
    there = chosen.store is not None and Path(chosen.store).exists()
    with Store(chosen.store, limits) if there and chosen.store else nullcontext() as store:
        known = (lambda key: None) if store is None else store.answer
        requests, answered, usage = count(texts, todo, endpoint, known)
    cost = limits.price(usage) if limits.price_in or limits.price_out else None
    notes.append("tokens are an estimate, 4 characters each; an answer is taken to be as long as its text")
    return Forecast(given.name, via, len(documents), requests, answered, usage, cost, tuple(notes))
