"""Keyphrases from a language model behind a chat endpoint: the prompt, with or without examples, and what the
answers say.

Asking, keeping answers, limits and patience are those of reformulations (`karat.llm`): every answer is on
disk before the same thread asks for the next, and no request is sent twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from karat.corpus import Corpus, Document, Prediction
from karat.errors import InputError, counted
from karat.formats import read
from karat.formats.base import first_variant
from karat.formats.load import json_value
from karat.llm.ask import (
    AskProgress,
    Forecast,
    Outcome,
    Step,
    ask_all,
    count,
    question,
    read_prompt,
    spent_notes,
    with_candidates,
)
from karat.llm.client import Endpoint, Usage, whole
from karat.llm.store import MEMORY, NO_LIMITS, Limits, Store
from karat.models.base import CommonOptions
from karat.models.candidates_of import REFERENCES, candidates_of
from karat.pairs.reformulate import checked_limits

EXAMPLES = "{examples}"
PHRASE_TOKENS = 5  # of a phrase in an answer, for an estimate


@dataclass(frozen=True, slots=True)
class Asking:
    """How keyphrases are requested from an endpoint; the flags of the command say what each means."""

    endpoint: Endpoint
    prompt: str | Path | None = None
    shots: str | None = None  # CORPUS:k, the first k documents with references as examples
    candidates: str | None = None  # a RUN or a MODEL, whose phrases the prompt shows for each document
    store: str | Path | None = None  # where answers are kept; in memory without it
    limits: Limits = NO_LIMITS
    concurrency: int = 4
    tell: Callable[[AskProgress], None] | None = None  # called with how far the asking has come


@dataclass(frozen=True, slots=True)
class Said:
    """What an endpoint said: a prediction for each text that has an answer, and what became of the others."""

    predictions: Mapping[str, Prediction]  # by text, without ids
    failures: tuple[tuple[str, str], ...]  # document, sentence
    stopped: str | None
    notes: tuple[str, ...]

    def complaint(self) -> str | None:
        """What is wrong with the outcome in one sentence, None where everything is answered."""
        said = [self.stopped] if self.stopped else []
        if self.failures:
            document, why = self.failures[0]
            more = f" (and {counted(len(self.failures) - 1, 'document')} more)" if len(self.failures) > 1 else ""
            said.append(f"no keyphrases of document {document!r}{more}: {why}")
        return "; ".join(said) or None


def as_text(document: Document) -> str:
    """A document as one text: its title on the first line, then an empty line and its text.

    >>> as_text(Document(title="Bees", sentences=[[("They", "PRP"), ("fly", "VBP"), (".", ".")]]))
    'Bees\\n\\nThey fly .'
    """
    text = document.text or "\n".join(" ".join(word for word, _ in words) for words in document.sentences or ())
    return whole("\n\n".join(filter(None, [" ".join((document.title or "").split()), text.strip()])))


# ---------------------------------------------------------------------------------------------- asking


def ask(texts: Mapping[str, str], asking: Asking, common: CommonOptions) -> Said:
    """What an endpoint says of texts; `texts` names a document for each."""
    todo, notes = _todo(asking, common, texts)
    with Store(asking.store or MEMORY, checked_limits(asking.limits)) as store:
        before = store.spent()
        found = ask_all(texts, todo, asking.endpoint, store, asking.concurrency, asking.tell)
        predictions = dict(_predictions(found, todo, asking.endpoint, store, common.n))
        notes += [*store.notes(), *spent_notes(before, store.spent(), asking.limits)]
    if asking.endpoint.key is not None and not asking.endpoint.private:
        notes.append("the key went through the network unencrypted: the base URL is http, not https")
    if asking.store is None:
        notes.append("the answers are kept nowhere: name a run with -o, or a file with --answers")
    left = len(texts) - len(predictions)
    stopped = f"{found.stopped} ({left:,} of {len(texts):,} texts are left)" if found.stopped else None
    return Said(predictions, found.failures, stopped, tuple(notes))


def _predictions(
    found: Outcome, todo: Callable[[str], Sequence[Step]], endpoint: Endpoint, store: Store, n: int
) -> Iterator[tuple[str, Prediction]]:
    for text, answer in found.answers.items():
        phrases = parse(answer)[:n]
        tokens = store.tokens(question(endpoint, todo(text)[0], "", text).key)
        logprobs = token_logprobs(phrases, answer, tokens)
        yield text, Prediction(keyphrases=list(phrases), token_logprobs=logprobs)


def forecast(corpus: Corpus, name: str, texts: Mapping[str, str], asking: Asking, common: CommonOptions) -> Forecast:
    """How many requests the prediction takes, and about how many tokens; no request is sent."""
    todo, notes = _todo(asking, common, texts)
    limits = checked_limits(asking.limits)
    there = asking.store is not None and Path(asking.store).exists()
    with Store(asking.store, limits) if there and asking.store else nullcontext() as store:
        known = (lambda key: None) if store is None else store.answer
        requests, answered, usage = count(texts, todo, asking.endpoint, known)
        notes += [] if store is None else store.notes()
    usage = Usage(usage.tokens_in, (requests - answered) * common.n * PHRASE_TOKENS, estimated=True)
    cost = limits.price(usage) if limits.price_in or limits.price_out else None
    notes.append(f"tokens are an estimate: 4 characters each, and {PHRASE_TOKENS} for each phrase of an answer")
    return Forecast(corpus.name, name, len(texts), requests, answered, usage, cost, tuple(notes))


def _todo(
    asking: Asking, common: CommonOptions, texts: Mapping[str, str]
) -> tuple[Callable[[str], Sequence[Step]], list[str]]:
    """(the request about each text, with its candidates where there are any; notes for the reader)."""
    step, notes = _step(asking, common, texts)
    if asking.candidates is None:
        return lambda text: [step], notes
    if asking.candidates == REFERENCES:
        raise InputError("--candidates references would give the answers away; name a run or an extractor, as tfidf")
    documents = {name: Document(id=name, text=text) for text, name in texts.items()}
    found = candidates_of("the corpus", documents, asking.candidates, common.language)
    return lambda text: with_candidates([step], found[texts[text]]), notes


def _step(asking: Asking, common: CommonOptions, texts: Mapping[str, str]) -> tuple[Step, list[str]]:
    """(the prompt for each text, notes for the reader)."""
    template = read_prompt("prediction", asking.prompt, candidates=asking.candidates is not None)
    examples = _examples(asking.shots) if asking.shots else []
    if examples and EXAMPLES not in template:
        raise InputError(f"{asking.prompt}: the prompt must hold {EXAMPLES}, where those of --shots are put in")
    shown = "".join(f"Text:\n{text}\n\nKeyphrases:\n" + "\n".join(phrases) + "\n\n" for text, phrases in examples)
    values = {"n": str(common.n), "language": common.language.capitalize(), "examples": shown}
    mark = f", {len(examples)} examples {blake2b(shown.encode(), digest_size=8).hexdigest()}" if examples else ""
    among = sum(text in texts for text, _ in examples)
    notes = [f"{among:,} of the examples are among the documents, whose answers they give away"] if among else []
    return Step(f"{common.n} keyphrases in {common.language}{mark}", template, values), notes


def _examples(shots: str) -> list[tuple[str, list[str]]]:
    """(text, keyphrases) of the first documents of CORPUS:k that have both."""
    path, colon, number = shots.rpartition(":")
    if not colon or not path or not number.isdecimal() or int(number) < 1:
        raise InputError(f"--shots {shots}: write a corpus and how many of its documents, as train.jsonl:3")
    having = ((as_text(each), _phrases(each)) for each in read(path))
    found = list(islice(((text, phrases) for text, phrases in having if text and phrases), int(number)))
    if len(found) < int(number):
        raise InputError(
            f"--shots {shots}: it has no more than {counted(len(found), 'document')} with a text and keyphrases"
        )
    return found


def _phrases(document: Document) -> list[str]:
    return [phrase for phrase in map(first_variant, document.keyphrases or ()) if phrase]


# ---------------------------------------------------------------------------------------------- answers

_FENCE = re.compile(r"```\w*\n?(.*?)```", re.DOTALL)
_MARKED = re.compile(r"\s*(?:\(?\d{1,3}[.):]|[-*•–+])\s+(.+)")
_INLINE = re.compile(r"(?:(?<=\s)|\A)\(?\d{1,3}[.)]\s+")
_HEADED = re.compile(r"\A[^\n:,;]{0,80}\bkey ?-?(?:phrases?|words?)\b[^\n:,;]{0,40}:", re.IGNORECASE)
_BOLD = re.compile(r"(\*\*|__)(.+?)\1")
_NAMES = ("keyphrase", "phrase", "keyword", "text", "name", "term")


def parse(answer: str) -> list[str]:
    """The phrases of an answer, however it lists them: as JSON, in lines, with numbers or marks, parted by ; or ,.

    >>> parse("Here are the keyphrases:\\n1. **Deep learning**: a method\\n2. neural nets.")
    ['Deep learning', 'neural nets']
    >>> parse('Keyphrases: deep learning; "neural nets"; Deep Learning'), parse('```json\\n["a b", "c"]\\n```')
    (['deep learning', 'neural nets'], ['a b', 'c'])
    """
    fenced = _FENCE.search(answer)
    text = fenced[1] if fenced else answer
    found = _of_json(text)
    return _unique(map(_clean, _of_lines(text) if found is None else found))


def _of_json(text: str) -> list[str] | None:
    """The phrases of the first JSON list or object in a text; None where there is none."""
    for opening, closing in (("[", "]"), ("{", "}")):
        start, end = text.find(opening), text.rfind(closing)
        value = json_value(text[start : end + 1].encode(errors="replace")) if 0 <= start < end else None
        found = _strings(value)
        if found:
            return found
    return [] if text.strip() == "[]" else None


def _strings(value: Any) -> list[str]:
    """The phrases of a JSON value: of a list its strings, of an object its list."""
    if isinstance(value, dict):
        lists = [each for each in value.values() if isinstance(each, list)]
        return _strings(lists[0]) if lists else []
    if not isinstance(value, list):
        return []
    return [phrase for each in value if (phrase := _phrase(each)) is not None]


def _phrase(each: Any) -> str | None:
    if isinstance(each, dict):
        each = next((each[name] for name in _NAMES if name in each), next(iter(each.values()), None))
    if isinstance(each, list) and each:
        each = each[0]
    return each if isinstance(each, str) else None


def _of_lines(text: str) -> list[str]:
    """The phrases of lines: of those with a number or a mark where there are any, else of all."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marked = [found[1] for line in lines if (found := _MARKED.fullmatch(line))]
    if len(marked) > 1 or (marked and len(marked) == len(lines) and not _INLINE.search(marked[0])):
        return marked
    bare = _without_heads(lines)
    if len(bare) == 1:
        return _parted(bare[0])
    lists = [line for line in bare if line.count(",") + line.count(";") > 1]
    return [part for line in lists for part in _parted(line)] if lists and len(lists) * 2 > len(bare) else bare


def _without_heads(lines: Sequence[str]) -> list[str]:
    """The lines without what announces a list: `Keyphrases:`, or a line of its own that ends in a colon."""
    kept = [_HEADED.sub("", line).strip() for line in lines if not (line.endswith(":") and len(lines) > 1)]
    return [line for line in kept if line]


def _parted(line: str) -> list[str]:
    """The phrases of one line."""
    numbered = [part for part in _INLINE.split(line) if part.strip()]
    if len(numbered) > 1:
        return numbered
    for mark in (";", "|", ","):
        if mark in line:
            *parts, last = line.split(mark)
            return [*parts, last.strip().removeprefix("and ")]
    return [line]


def _clean(phrase: str) -> str:
    """A phrase without quotes, marks of emphasis, explanations in bold lists and what ends a sentence."""
    bold = _BOLD.match(phrase.strip())
    text = " ".join((bold[2] if bold else phrase).split())
    previous = None
    while previous != text:
        previous, text = text, text.strip(" \t\"'“”‘’«»`*_.,;:")
    return text


def _unique(phrases: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for phrase in phrases:
        if phrase:
            found.setdefault(phrase.casefold(), phrase)
    return list(found.values())


def token_logprobs(
    phrases: Sequence[str], answer: str, tokens: Sequence[tuple[str, float]]
) -> list[list[float] | None] | None:
    """The log-probabilities of the tokens that each phrase is made of; None where they are not known.

    >>> token_logprobs(["a b", "c"], "1. a b\\n2. c", [("1. ", -1.0), ("a", -2.0), (" b\\n", -3.0), ("2. c", -4.0)])
    [[-2.0, -3.0], [-4.0]]
    """
    said = "".join(token for token, _ in tokens)
    at = said.rfind(answer) if tokens else -1  # what a model thought aloud stands before its answer
    if at < 0:
        return None
    ends: list[int] = []
    for token, _ in tokens:
        ends.append((ends[-1] if ends else 0) + len(token))
    logprobs: list[list[float] | None] = []
    for phrase in phrases:
        start = said.find(phrase, at)
        if start < 0:
            logprobs.append(None)
            continue
        at = start + len(phrase)
        spans = zip(tokens, [0, *ends], ends, strict=False)
        logprobs.append([value for (_, value), begin, end in spans if begin < at and end > start])
    return logprobs if any(logprobs) else None
