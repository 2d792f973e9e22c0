"""One chat client: prompts to any endpoint that speaks OpenAI's chat protocol.

It is patient (requests to slow, busy and broken endpoints are sent again, later each time), it keeps account of every
request, and the key is in no text that it makes: no error, no answer, no repr.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from math import isfinite
from pathlib import Path
from random import Random
from ssl import SSLContext
from threading import Event
from time import monotonic, time
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

import msgspec

from karat.errors import InputError, KaratError
from karat.libraries import library
from karat.record import note_input

BASE_URL, MODEL, KEY = "KARAT_LLM_BASE_URL", "KARAT_LLM_MODEL", "KARAT_LLM_KEY"
HIDDEN = "***"
SHORTEST_SECRET = 6  # a shorter key, as EMPTY of local servers, may be a word of an answer
LONGEST_DELAY = 60.0  # seconds between two tries
LONGEST_PAUSE = 300.0  # seconds that an endpoint may ask for and is given
LARGEST_ANSWER = 1 << 24  # bytes
CHARACTERS_PER_TOKEN = 4  # for an estimate, where the endpoint does not count

_BUSY = (408, 409, 425, 429)  # as the 5xx: asking again may help
_HOPELESS = (401, 402, 404, 405)  # what is wrong with one request is wrong with all
_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


class EndpointError(KaratError):
    """The endpoint cannot be used, whatever the prompt."""


class AnswerError(KaratError):
    """There is no answer to this prompt that could be used; others may have one."""


class StoppedError(KaratError):
    """No further request is sent: a limit is reached, or the user stops the command."""


# ---------------------------------------------------------------------------------------------- the key


class Key:
    """The key of an endpoint, which shows itself to the endpoint alone."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def header(self) -> str:
        """The value of the header that carries it."""
        return f"Bearer {self._value}"

    def hide(self, text: str) -> str:
        """The text without the key, also where it is escaped."""
        forms = {self._value, quote(self._value, safe=""), self._value.replace("/", "\\/")}
        for form in sorted(forms, key=len, reverse=True):
            text = text.replace(form, HIDDEN)
        return text

    def hide_in_answer(self, text: str) -> str:
        """The answer without the key, unless the key is so short that it may be a word."""
        return self.hide(text) if len(self._value) >= SHORTEST_SECRET else text

    def __repr__(self) -> str:
        return f"Key({HIDDEN})"

    def __reduce__(self) -> Any:
        raise TypeError("a key is not written anywhere")


def read_key(file: str | Path | None = None) -> Key | None:
    """The key in a file, or in the environment; None where there is none."""
    if file is None:
        where, value = KEY, os.environ.get(KEY, "")
    else:
        where = str(file)
        try:
            note_input(Path(file).expanduser())
            value = Path(file).expanduser().read_bytes().decode("latin-1")
        except OSError as error:
            raise InputError(f"{where}: the key could not be read ({error.strerror})") from None
    value = value.strip()
    if not value:
        if file is not None:
            raise InputError(f"{where}: the file is empty; write the key into it, alone on one line")
        return None
    if not re.fullmatch(r"[!-~]+", value):
        raise InputError(f"{where}: this is no key: one has neither spaces nor lines, and only ASCII characters")
    return Key(value)


# ---------------------------------------------------------------------------------------------- the endpoint


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a model, its settings, and the limits of time and retries; `endpoint` makes one and checks it."""

    base_url: str
    model: str
    key: Key | None = None
    temperature: float = 0.0
    seed: int = 0
    timeout: float = 120.0  # seconds for one answer
    tries: int = 6
    first_delay: float = 1.0  # seconds before the second try, doubled before each further one
    max_tokens: int | None = None  # of one answer; None leaves it to the endpoint
    logprobs: bool = False  # ask for the log-probabilities of tokens, as long as the endpoint does not mind

    @property
    def private(self) -> bool:
        """Whether nobody on the way can read what is sent."""
        parts = urlsplit(self.base_url)
        return parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")

    def hide(self, text: str) -> str:
        """The text without the key."""
        return text if self.key is None else self.key.hide(text)


def endpoint(
    base_url: str | None = None, model: str | None = None, *, key_file: str | Path | None = None, **settings: Any
) -> Endpoint:
    """The endpoint that arguments name, or else KARAT_LLM_BASE_URL, KARAT_LLM_MODEL and KARAT_LLM_KEY.

    >>> endpoint("http://localhost:8000/v1/", "small").base_url
    'http://localhost:8000/v1'
    """
    found = Endpoint(_checked_url(base_url or os.environ.get(BASE_URL, "")), model or os.environ.get(MODEL, ""))
    if not found.model:
        raise InputError(f"no model is named: write --model NAME, or set {MODEL}")
    made = Endpoint(found.base_url, found.model, read_key(key_file), **settings)
    if not 0 <= made.temperature <= 2:
        raise InputError(f"a temperature is from 0 to 2, not {made.temperature:g}")
    if not (isfinite(made.timeout) and made.timeout > 0 and isfinite(made.first_delay) and made.first_delay >= 0):
        raise InputError("a timeout is more than 0 seconds, a delay 0 or more")
    if made.tries < 1:
        raise InputError(f"there is one try or more, not {made.tries}")
    if made.max_tokens is not None and made.max_tokens < 1:
        raise InputError(f"max_tokens must be positive, got {made.max_tokens}")
    return made


def _checked_url(given: str) -> str:
    example = "https://host/v1"
    if not given:
        raise InputError(f"no endpoint is named: write --base-url {example}, or set {BASE_URL}")
    try:
        parts = urlsplit(given.strip())
        there = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        there = False
    if not there:
        raise InputError(f"the base URL is to be as {example}, with http or https and a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            f"the base URL is to be as {example}, without a name, a password or a query; a key is in {KEY}"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/").removesuffix("/chat/completions").rstrip("/")


# ---------------------------------------------------------------------------------------------- usage and answers


@dataclass(frozen=True, slots=True)
class Usage:
    """How many tokens went in and came out; `estimated` where the endpoint did not say."""

    tokens_in: int
    tokens_out: int
    estimated: bool = False


FREE = Usage(0, 0)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, what it took, and the number of the request."""

    text: str
    usage: Usage
    request: int
    tokens: tuple[tuple[str, float], ...] = ()  # with their log-probabilities, where the endpoint tells them


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request brought no answer, and what to do about it."""

    said: str
    again: bool = False  # asking again may help
    every: bool = False  # no other prompt would be answered either
    pause: float | None = None  # seconds that the endpoint asks for
    usage: Usage | None = FREE  # None where nobody knows what was charged


class Account(Protocol):
    """Who keeps account of requests."""

    def begin(self, expected: Usage) -> int:
        """Notes a request before it is sent and gives its number; raises StoppedError where a limit is reached."""

    def end(self, request: int, usage: Usage) -> None:
        """Notes what a request without an answer took; where nobody knows, this is not called."""


def estimate(text: str) -> int:
    """About how many tokens a text has.

    >>> estimate("Deep networks learn."), estimate("")
    (5, 0)
    """
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def whole(text: str) -> str:
    """The text without halves of characters, which cannot be sent."""
    return text.encode("utf-8", "replace").decode()


# ---------------------------------------------------------------------------------------------- asking


class Chat:
    """An open line to an endpoint; several threads may ask at once, and all wait when the endpoint asks one to."""

    def __init__(self, endpoint: Endpoint, stop: Event | None = None) -> None:
        httpx = library("httpx", "a chat endpoint")
        headers = {} if endpoint.key is None else {"Authorization": endpoint.key.header()}
        self._endpoint = endpoint
        self._stop = stop or Event()
        self._free_at = 0.0
        self._logprobs = endpoint.logprobs
        self._http = httpx
        try:  # no redirect is followed: the key is for this endpoint alone
            self._client = httpx.Client(
                headers=headers, timeout=endpoint.timeout, limits=httpx.Limits(), verify=_certificates()
            )
        except (ImportError, ValueError) as error:  # a proxy may be named with a password, so it is not shown
            raise InputError(f"the proxy that the environment names cannot be used ({type(error).__name__})") from None

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, prompt: str, account: Account) -> Answer:
        """The model's answer to a prompt, after as many tries as it takes and are allowed."""
        prompt = whole(prompt)
        found: Failure | None = None
        for attempt in range(self._endpoint.tries):
            if found is not None:
                self._pause(max(self._delay(prompt, attempt), found.pause or 0.0))
            self._wait_until_free()
            request = account.begin(Usage(estimate(prompt), estimate(prompt), estimated=True))
            outcome = self._once(prompt, request)
            if isinstance(outcome, Answer):
                return outcome
            if outcome.usage is not None:
                account.end(request, outcome.usage)
            if outcome.every:
                raise EndpointError(self._endpoint.hide(outcome.said))
            if not outcome.again:
                raise AnswerError(self._endpoint.hide(outcome.said))
            found = outcome
            if found.pause:
                self._free_at = max(self._free_at, monotonic() + found.pause)
        assert found is not None
        raise AnswerError(self._endpoint.hide(f"{found.said} (tried {self._endpoint.tries} times)"))

    def _delay(self, prompt: str, attempt: int) -> float:
        """Seconds to wait before a further try: doubled each time, with a share left to a chance that has a seed."""
        whole = min(self._endpoint.first_delay * 2.0 ** (attempt - 1), LONGEST_DELAY)
        return whole * (0.5 + 0.5 * Random(f"{self._endpoint.seed}:{attempt}:{prompt}").random())

    def _wait_until_free(self) -> None:
        self._pause(max(0.0, self._free_at - monotonic()))

    def _pause(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise StoppedError("stopped")

    def _once(self, prompt: str, request: int) -> Answer | Failure:
        """What one request brings. Nothing is raised from here: the errors of the library hold the key."""
        http = self._http
        try:
            status, headers, body = self._post(prompt)
        except (http.ConnectError, http.ConnectTimeout, http.PoolTimeout) as error:
            return Failure(f"{self._endpoint.base_url} cannot be reached ({self._brief(str(error))})", again=True)
        except http.TimeoutException:
            return Failure(f"no answer within {self._endpoint.timeout:g} seconds", again=True, usage=None)
        except http.HTTPError as error:
            return Failure(f"the connection broke ({self._brief(str(error))})", again=True, usage=None)
        if 200 <= status < 300:
            return self._read(prompt, body, request)
        return self._refused(status, headers, body)

    def _post(self, prompt: str) -> tuple[int, Mapping[str, str], bytes]:
        """(status, headers, body); a body without end, in size or in time, is a broken connection."""
        payload = {
            "model": self._endpoint.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self._endpoint.temperature,
            "seed": self._endpoint.seed,
        }
        if self._endpoint.max_tokens is not None:
            payload["max_tokens"] = self._endpoint.max_tokens
        content = msgspec.json.encode(payload | {"logprobs": True} if self._logprobs else payload)
        url, until = f"{self._endpoint.base_url}/chat/completions", monotonic() + self._endpoint.timeout
        body = bytearray()
        with self._client.stream("POST", url, content=content, headers={"Content-Type": "application/json"}) as answer:
            for part in answer.iter_bytes():
                body += part
                if len(body) > LARGEST_ANSWER:
                    raise self._http.ReadError(f"more than {LARGEST_ANSWER:,} bytes")
                if monotonic() > until:
                    raise self._http.ReadTimeout("too slow")
            return answer.status_code, answer.headers, bytes(body)

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> Failure:
        message = self._brief(_error_message(body))
        said = f"the endpoint answers {status}" + (f": {message}" if message else "")
        if status in _BUSY or status >= 500:
            pause = _retry_after(headers)
            if pause is not None and pause > LONGEST_PAUSE:
                return Failure(f"{said} (Retry-After: it wants to be left alone for {pause:,.0f} seconds)", every=True)
            return Failure(said, again=True, pause=pause)
        if 300 <= status < 400:
            return Failure(f"{said}; it sends elsewhere: check --base-url", every=True)
        if status in _HOPELESS:
            hint = {401: f"check the key ({KEY})", 404: "check --base-url and --model"}.get(status)
            return Failure(f"{said}; {hint}" if hint else said, every=True)
        if self._logprobs and "logprobs" in message:
            self._logprobs = False
            return Failure(said, again=True)
        return Failure(said)

    def _read(self, prompt: str, body: bytes, request: int) -> Answer | Failure:
        """The answer in a body, or what is wrong with it."""
        expected = Usage(estimate(prompt), 0, estimated=True)
        try:
            found = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return Failure(f"the answer is not JSON: {self._brief(_decoded(body))!r}", again=True, usage=expected)
        choice = _first_choice(found)
        if choice is None:
            return Failure("the answer has no choices", again=True, usage=_usage(found, prompt, ""))
        message = choice.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        usage = _usage(found, prompt, text if isinstance(text, str) else "")
        if choice.get("finish_reason") == "length":
            return Failure(self._cut_off(usage), usage=usage)
        if choice.get("finish_reason") == "content_filter":
            return Failure("the endpoint's filter holds the answer back", usage=usage)
        # Some models think aloud first; what they thought is no part of the answer.
        text = _THINKING.sub("", text).strip() if isinstance(text, str) else ""
        if not text:
            return Failure("the answer is empty", again=True, usage=usage)
        shown = text if self._endpoint.key is None else self._endpoint.key.hide_in_answer(text)
        return Answer(shown, usage, request, _tokens(choice) if shown == text else ())

    def _cut_off(self, usage: Usage) -> str:
        """Describe why an answer has no end: --max-tokens, or else a limit of the model."""
        limit = self._endpoint.max_tokens
        if limit is not None and (usage.estimated or usage.tokens_out >= limit):
            return f"the answer was cut off at --max-tokens {limit:,}"
        return "the answer was cut off, since it is longer than the model may write"

    def _brief(self, text: str) -> str:
        """A text on one line, short, without the key and without what could move a terminal's cursor."""
        line = " ".join(self._endpoint.hide(text).split())
        shown = "".join(letter if letter.isprintable() else "�" for letter in line)
        return shown if len(shown) <= 200 else shown[:199] + "…"


@cache
def _certificates() -> SSLContext:
    """Whom to trust; reading it takes longer than a request, so it is read once."""
    import httpx

    return httpx.create_ssl_context()


def _first_choice(found: Any) -> dict[str, Any] | None:
    choices = found.get("choices") if isinstance(found, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _tokens(choice: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """The tokens of an answer with their log-probabilities; none where they are missing, for all or for some."""
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    found: list[tuple[str, float]] = []
    for each in content if isinstance(content, list) else ():
        token, value = (each.get("token"), each.get("logprob")) if isinstance(each, dict) else (None, None)
        if not isinstance(token, str) or not isinstance(value, int | float):
            return ()
        found.append((token, float(value)))
    return tuple(found)


def _usage(found: Any, prompt: str, text: str) -> Usage:
    """What the endpoint says it took, else an estimate."""
    usage = found.get("usage") if isinstance(found, dict) else None
    counts = [usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")]
    if all(type(count) is int and 0 <= count < 1 << 40 for count in counts):
        return Usage(counts[0], counts[1])  # type: ignore[arg-type]
    return Usage(estimate(prompt), estimate(text), estimated=True)


def _error_message(body: bytes) -> str:
    """The error message in the body of a response, whichever field holds it."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decoded(body)
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and name in found:
            found = found[name]
    return found if isinstance(found, str) else msgspec.json.encode(found).decode()


def _decoded(body: bytes) -> str:
    return body.decode("utf-8", "replace")  # the whole: half a key could not be hidden


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a Retry-After asks for: a number of them, or a date, compared with the endpoint's own clock."""
    delay = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,12}(\.\d+)?", delay, re.ASCII):
        return float(delay)
    then = _seconds(delay)
    now = _seconds(headers.get("date", ""))
    return None if then is None else max(0.0, then - (time() if now is None else now))


def _seconds(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
