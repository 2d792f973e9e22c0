"""Paraphrases and back-translations from a chat endpoint: the requests, sent by several threads, and their answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic

import msgspec

from karat.errors import InputError
from karat.llm.client import AnswerError, Chat, Endpoint, EndpointError, StoppedError, Usage, estimate
from karat.llm.store import Limits, Question, Spent, Store
from karat.record import note_input
from karat.results.displayed import Displayed
from karat.tabular import Table

METHODS = ("paraphrase", "back-translation")
SOURCE_LANGUAGE = "English"
IN_A_ROW = 10  # texts that fail one after the other before the rest is given up
GRACE = 3.0  # seconds that requests under way are given when the user interrupts

_CODES = """
    af Afrikaans; am Amharic; ar Arabic; az Azerbaijani; be Belarusian; bg Bulgarian; bn Bengali; bs Bosnian;
    ca Catalan; cs Czech; cy Welsh; da Danish; de German; el Greek; en English; eo Esperanto; es Spanish;
    et Estonian; eu Basque; fa Persian; fi Finnish; fr French; ga Irish; gl Galician; gu Gujarati; he Hebrew;
    hi Hindi; hr Croatian; hu Hungarian; hy Armenian; id Indonesian; is Icelandic; it Italian; ja Japanese;
    ka Georgian; kk Kazakh; km Khmer; kn Kannada; ko Korean; la Latin; lt Lithuanian; lv Latvian;
    mk Macedonian; ml Malayalam; mn Mongolian; mr Marathi; ms Malay; my Burmese; nb Norwegian Bokmål;
    ne Nepali; nl Dutch; no Norwegian; pa Punjabi; pl Polish; pt Portuguese; ro Romanian; ru Russian;
    si Sinhala; sk Slovak; sl Slovenian; sq Albanian; sr Serbian; sv Swedish; sw Swahili; ta Tamil; te Telugu;
    th Thai; tl Tagalog; tr Turkish; uk Ukrainian; ur Urdu; uz Uzbek; vi Vietnamese; zh Chinese; zu Zulu
"""
LANGUAGES = {
    code: name for code, _, name in (each.strip().partition(" ") for each in " ".join(_CODES.split()).split(";"))
}
_NAME = re.compile(r"[^\W\d_][\w ()'’-]{2,39}")
CANDIDATES = "{candidates}"
_FILES = {"paraphrase": "paraphrase", "back-translation": "translate", "prediction": "keyphrases"}
_NEEDED = {"paraphrase": ("{text}",), "back-translation": ("{text}", "{from}", "{to}"), "prediction": ("{text}",)}
_PLACE = re.compile(r"\{(text|from|to|n|language|examples|candidates)\}")


# ---------------------------------------------------------------------------------------------- requests


@dataclass(frozen=True, slots=True)
class Step:
    """One request about a text: its name and its prompt, with a place for the text."""

    name: str
    prompt: str
    values: Mapping[str, str] = field(default_factory=dict)  # what stands for the other places, as {from} and {to}

    def filled(self, text: str) -> str:
        """The prompt for a text; what looks like a place in the text stays as it is.

        >>> Step("translate", "Into {to}: {text}", {"to": "Spanish"}).filled("what {to} is")
        'Into Spanish: what {to} is'
        """
        values = {**self.values, "text": text}
        return _PLACE.sub(lambda place: values.get(place[1], place[0]), self.prompt)


def language_name(language: str) -> str:
    """The name of a language that is given by name or by code, as prompts write it.

    Raises InputError if it is a code that is not known, or no name at all.

    >>> language_name("es"), language_name("french"), language_name("Brazilian Portuguese")
    ('Spanish', 'French', 'Brazilian Portuguese')
    """
    text = " ".join(language.split())
    if text.lower() in LANGUAGES:
        return LANGUAGES[text.lower()]
    if not _NAME.fullmatch(text) or (len(text) < 4 and text.islower()):
        raise InputError(f"language {language!r} is not known; write its name in English, as Basque")
    return text[0].upper() + text[1:]


def steps(
    method: str,
    pivot: str = "es",
    prompt: str | Path | None = None,
    language: str = "english",
    candidates: bool = False,
) -> tuple[Step, ...]:
    """The requests of a method, one after the other, with karat's own prompt or that of a file.

    `language` is that of the text. With `candidates` the prompt has a place for phrases (see `with_candidates`).
    """
    own = language_name(language)
    plain = own == SOURCE_LANGUAGE and not candidates
    template = read_prompt(method, prompt, own != SOURCE_LANGUAGE, candidates)
    values = {} if plain else {"language": own}
    if method == "paraphrase":
        return (Step("paraphrase" if own == SOURCE_LANGUAGE else f"paraphrase in {own}", template, values),)
    other = language_name(pivot) if pivot.strip() else ""
    if not other or other == own:
        raise InputError(f"the pivot of a back-translation is another language, as es, not {pivot!r}")
    ways = ((own, other), (other, own))
    return tuple(Step(f"{start} to {end}", template, values | {"from": start, "to": end}) for start, end in ways)


def with_candidates(todo: Sequence[Step], phrases: Sequence[str]) -> tuple[Step, ...]:
    """The same requests with phrases in their prompts, which make them other questions."""
    listed = "\n".join(f"- {' '.join(phrase.split())}" for phrase in phrases) or "- (none)"
    mark = f", {len(phrases)} candidates {blake2b(listed.encode(), digest_size=8).hexdigest()}"
    return tuple(Step(step.name + mark, step.prompt, {**step.values, "candidates": listed}) for step in todo)


def read_prompt(method: str, file: str | Path | None = None, foreign: bool = False, candidates: bool = False) -> str:
    """The prompt of a method: a file's, or the one that comes with karat, for other languages and with candidates."""
    if file is None:
        ending = "-candidates" if candidates else "-language" if foreign and method == "paraphrase" else ""
        return (resources.files("karat") / "prompts" / f"{_FILES[method]}{ending}.txt").read_text(encoding="utf-8")
    try:
        note_input(Path(file).expanduser())
        template = Path(file).expanduser().read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: the prompt could not be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: the prompt is not UTF-8") from None
    needed = (*_NEEDED[method], *([CANDIDATES] if candidates else []))
    lacking = [place for place in needed if place not in template]
    if lacking:
        raise InputError(f"{file}: the prompt of a {method} must hold {' and '.join(lacking)}, where these are put in")
    return template


def question(endpoint: Endpoint, step: Step, document: str, text: str) -> Question:
    """The request about a text, with the key that identifies it."""
    parts = (endpoint.model, endpoint.temperature, endpoint.seed, step.prompt, text, step.name)
    key = blake2b(msgspec.msgpack.encode(parts), digest_size=16).digest()
    return Question(key, document, step.name, endpoint.model, endpoint.temperature, endpoint.seed, step.prompt)


# ---------------------------------------------------------------------------------------------- a forecast


@dataclass(frozen=True, slots=True, repr=False)
class Forecast(Displayed):
    """How many requests there are to send, and about how much they take; none has been sent."""

    corpus: str
    method: str
    documents: int
    requests: int
    answered: int  # requests that are on disk already
    usage: Usage
    cost: float | None  # None where no price is known
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """The whole as plain values."""
        row = {
            "corpus": self.corpus,
            "method": self.method,
            "documents": self.documents,
            "requests": self.requests,
            "answered": self.answered,
            "tokens_in": self.usage.tokens_in,
            "tokens_out": self.usage.tokens_out,
            "cost": self.cost,
        }
        return {"signatures": {}, "rows": [row], "notes": list(self.notes)}

    def tables(self) -> Iterator[Table]:
        """How much there is to ask, and what it takes, in words."""
        left = self.requests - self.answered
        yield Table(
            about=[
                f"{self.corpus}, {self.documents:,} documents, {self.method}",
                f"{self.requests:,} requests, {self.answered:,} of them answered already, {left:,} left",
                f"about {self.usage.tokens_in:,} tokens in, {self.usage.tokens_out:,} out",
                *([] if self.cost is None else [f"about {self.cost:.4g} to pay"]),
            ]
        )


Todo = Sequence[Step] | Callable[[str], Sequence[Step]]  # the requests of every text, or of each one


def _of(todo: Todo, text: str) -> Sequence[Step]:
    return todo(text) if callable(todo) else todo


def count(
    texts: Iterable[str], todo: Todo, endpoint: Endpoint, known: Callable[[bytes], str | None]
) -> tuple[int, int, Usage]:
    """(requests, those that are answered already, tokens of the others); a text is taken to keep its length."""
    requests = answered = tokens_in = tokens_out = 0
    for text in texts:
        current: str | None = text
        for step in _of(todo, text):
            requests += 1
            found = None if current is None else known(question(endpoint, step, "", current).key)
            if found is None:
                tokens_in += estimate(step.filled(text))
                tokens_out += estimate(text)
            else:
                answered += 1
            current = found
    return requests, answered, Usage(tokens_in, tokens_out, estimated=True)


# ---------------------------------------------------------------------------------------------- asking


@dataclass(frozen=True, slots=True)
class AskProgress:
    """How many texts are done, with requests, cost and seconds so far."""

    done: int  # texts, answered or given up
    texts: int
    requests: int  # sent by this process
    cost: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The last answer for each text that has one, what failed and why, and why the rest was not requested."""

    answers: dict[str, str]
    failures: tuple[tuple[str, str], ...]  # document, sentence
    stopped: str | None


@dataclass(frozen=True, slots=True)
class _Account:
    """The store's account, of one question."""

    store: Store
    key: bytes

    def begin(self, expected: Usage) -> int:
        return self.store.begin(self.key, expected)

    def end(self, request: int, usage: Usage) -> None:
        self.store.end(request, usage)


class _Queue:
    """The texts without an answer, which threads take one by one, with the answers and failures so far."""

    def __init__(
        self,
        texts: Mapping[str, str],
        answers: Mapping[str, str],
        store: Store,
        threads: int,
        tell: Callable[[AskProgress], None] | None,
    ) -> None:
        self.stop, self.over = Event(), Event()
        self.answers = dict(answers)
        self.failures: list[tuple[str, str]] = []
        self.stopped: str | None = None
        self.fault: BaseException | None = None
        self._left = iter(list(texts.items()))
        self._texts = len(texts) + len(answers)
        self._threads = threads  # at work
        self._lock = Lock()
        self._in_a_row = 0
        self._store = store
        self._tell = tell
        self._before, self._start = store.spent(), monotonic()
        if answers:
            self._say()

    def take(self) -> tuple[str, str] | None:
        """(text, document) that nobody has taken, None where no text is left or the work is to stop."""
        with self._lock:
            return None if self.stop.is_set() else next(self._left, None)

    def answered(self, text: str, answer: str) -> None:
        """Notes the last answer for a text."""
        with self._lock:
            self._in_a_row = 0
            self.answers[text] = answer
            self._say()

    def failed(self, document: str, said: str) -> None:
        """Notes that there is no answer for a text; too many in a row end the work."""
        with self._lock:
            self.failures.append((document, said))
            self._in_a_row += 1
            if self._in_a_row >= IN_A_ROW:
                self._end(f"{IN_A_ROW} documents failed one after the other, so the rest was not asked")
            self._say()

    def leave(self) -> None:
        """Notes that a thread is done; with the last one all is over."""
        with self._lock:
            self._threads -= 1
            if not self._threads:
                self.over.set()

    def end(self, why: str) -> None:
        """Ends the work; the first reason stands."""
        with self._lock:
            self._end(why)

    def _end(self, why: str) -> None:
        self.stopped = self.stopped or why
        self.stop.set()

    def _say(self) -> None:
        if self._tell is not None:
            spent, done = self._store.spent(), len(self.answers) + len(self.failures)
            cost = self._store.limits.price(spent.usage)
            requests = spent.requests - self._before.requests
            self._tell(AskProgress(done, self._texts, requests, cost, monotonic() - self._start))


def ask_all(
    texts: Mapping[str, str],
    todo: Todo,
    endpoint: Endpoint,
    store: Store,
    concurrency: int = 1,
    tell: Callable[[AskProgress], None] | None = None,
) -> Outcome:
    """What an endpoint makes of texts, each one going through all steps; `texts` names a document for each.

    A thread keeps an answer before it asks for the next, and asks nothing that is kept. What is kept is looked up
    first: it is there whatever limit ends the asking. Texts with the fewest requests in earlier commands come first,
    so that failures that repeat do not end the work before the others are asked.
    """
    answers, requests = dict[str, str](), dict[str, int]()
    counts = store.request_counts()
    for text in texts:
        answer, unanswered = _stored(text, todo, endpoint, store)
        if unanswered is None:
            answers[text] = answer
        else:
            requests[text] = counts.get(unanswered, 0)
    unanswered_texts = {text: texts[text] for text in sorted(requests, key=requests.__getitem__)}
    work = _Queue(unanswered_texts, answers, store, concurrency, tell)
    with Chat(endpoint, work.stop) as chat:
        try:
            for _ in range(concurrency):
                Thread(target=_go, args=(work, todo, endpoint, store, chat), daemon=True).start()
            work.over.wait()  # not Thread.join: an interrupt takes the thread for ended then
        except BaseException:  # answers that are under way are paid for, so they get a moment to arrive
            work.stop.set()
            work.over.wait(GRACE)
            raise
    if work.fault is not None:
        raise work.fault
    return Outcome(work.answers, tuple(work.failures), work.stopped)


def _stored(text: str, todo: Todo, endpoint: Endpoint, store: Store) -> tuple[str, bytes | None]:
    """Return (last stored answer for a text, key of its first question without an answer, None if all have one)."""
    current = text
    for step in _of(todo, text):
        key = question(endpoint, step, "", current).key
        answer = store.answer(key)
        if answer is None:
            return current, key
        current = answer
    return current, None


def _go(work: _Queue, todo: Todo, endpoint: Endpoint, store: Store, chat: Chat) -> None:
    """What one thread does: a text after the other."""
    while (taken := work.take()) is not None:
        text, document = taken
        try:
            current = text
            for step in _of(todo, text):
                current = _answer(question(endpoint, step, document, current), step.filled(current), store, chat)
            work.answered(text, current)
        except AnswerError as error:
            work.failed(document, str(error))
        except (EndpointError, StoppedError) as error:
            work.end(str(error))
        except BaseException as error:  # of any kind: it is raised again where the threads are waited for
            work.fault = error
            work.end("")
    work.leave()


def _answer(query: Question, prompt: str, store: Store, chat: Chat) -> str:
    """The answer to a question, kept or new; a new one is kept first."""
    kept = store.answer(query.key)
    if kept is not None:
        return kept
    answer = chat.ask(prompt, _Account(store, query.key))
    store.keep(query, answer)
    return answer.text


def spent_notes(before: Spent, after: Spent, limits: Limits) -> list[str]:
    """Notes on requests, tokens and cost, of this command and of all together."""
    new, usage = after.requests - before.requests, after.usage
    said = f"{new:,} requests, {after.requests:,} in all with {usage.tokens_in:,} tokens in, {usage.tokens_out:,} out"
    if limits.price_in or limits.price_out:
        said += f", cost {limits.price(usage):.4g}"
    if usage.estimated:
        said += "; some of the tokens are an estimate (4 characters each), since the endpoint did not tell"
    return [said]
