"""The chat client against a real server on loopback that misbehaves; and the key, which is in no text."""

from __future__ import annotations

import logging
import pickle
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from karat.errors import InputError, MissingExtraError
from karat.llm.client import (
    KEY,
    Answer,
    AnswerError,
    Chat,
    Endpoint,
    EndpointError,
    Key,
    StoppedError,
    Usage,
    endpoint,
    read_key,
)
from tests.pairs.server import Endpoint as Server
from tests.pairs.server import Reply, answer, broken, cut, drip, gone, hold, said, serving, status
from tests.waiting import PATIENCE

SECRET = "sk-test/4711+very-secret"


class Waits(Event):
    """An event that notes for how long it is waited, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        if timeout:
            self.seconds.append(timeout)
        return self.is_set()


class Ledger:
    """An account in memory."""

    def __init__(self) -> None:
        self.begun: list[Usage] = []
        self.ended: dict[int, Usage] = {}

    def begin(self, expected: Usage) -> int:
        self.begun.append(expected)
        return len(self.begun)

    def end(self, request: int, usage: Usage) -> None:
        self.ended[request] = usage


@pytest.fixture(autouse=True)
def no_key_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KARAT_LLM_BASE_URL", "KARAT_LLM_MODEL", KEY):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        yield found


def ask(server: Server, *script: Reply, ledger: Ledger | None = None, waits: Waits | None = None, **how: Any) -> Answer:
    """The answer to "Hello {text}" of a server that begins with these replies."""
    server.script = list(script)
    settings: dict[str, Any] = {"tries": 3, "timeout": PATIENCE, "key": Key(SECRET)} | how
    with Chat(Endpoint(server.url, "small", **settings), waits or Waits()) as chat:
        return chat.ask("Hello {text}", ledger or Ledger())


# ---------------------------------------------------------------------------------------------- answers


def test_a_prompt_is_answered_and_what_it_took_is_told(server: Server) -> None:
    found = ask(server, temperature=0.7, seed=42)
    assert found == Answer("Said again: Hello {text}", Usage(10, 20), 1)
    assert server.asked == [
        {
            "model": "small",
            "messages": [{"role": "user", "content": "Hello {text}"}],
            "temperature": 0.7,
            "seed": 42,
        }
    ]
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"


def test_a_limit_of_tokens_is_sent_and_named_where_an_answer_reaches_it(server: Server) -> None:
    ask(server, max_tokens=20)
    assert server.asked[0]["max_tokens"] == 20
    for limit, usage, why in (
        (20, (10, 20), "the answer was cut off at --max-tokens 20"),
        (2000, None, "the answer was cut off at --max-tokens 2,000"),
        (21, (10, 20), "the answer was cut off, since it is longer than the model may write"),
    ):
        with pytest.raises(AnswerError) as raised:
            ask(server, answer("half a sen", usage, reason="length"), max_tokens=limit)
        assert str(raised.value) == why


def test_without_a_key_no_header_is_sent(server: Server) -> None:
    ask(server, key=None)
    assert "Authorization" not in server.headers[0]


def test_tokens_that_the_endpoint_does_not_count_are_an_estimate(server: Server) -> None:
    # 12 characters go in and 22 come out: 3 and 6 tokens of 4 characters.
    assert ask(server, answer("x" * 22, usage=None)).usage == Usage(3, 6, estimated=True)
    assert ask(server, answer("x" * 22, usage=(-1, 2))).usage == Usage(3, 6, estimated=True)


def test_what_a_model_thinks_aloud_is_no_part_of_its_answer(server: Server) -> None:
    assert ask(server, answer("<think>Let me\nsee.</think>\n\nHello.")).text == "Hello."


# ---------------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (status(500, "boom"), "the endpoint answers 500: boom"),
        (status(503, '{"error": {"message": "busy", "code": 1}}'), "the endpoint answers 503: busy"),
        (status(429, '{"error": "slow down"}'), "the endpoint answers 429: slow down"),
        (status(408), "the endpoint answers 408"),
        (cut, "the connection broke"),
        (gone, "the connection broke"),
        (broken(b'{"choices": ['), "the answer is not JSON: '{\"choices\": ['"),
        (broken(b""), "the answer is not JSON: ''"),
        (broken(b"[" * 100_000), "the answer is not JSON"),
        (broken(b"\xff\xfe"), "the answer is not JSON"),
        (broken(b"[]"), "the answer has no choices"),
        (broken(b'{"choices": []}'), "the answer has no choices"),
        (broken(b'{"choices": "none"}'), "the answer has no choices"),
        (broken(b'{"choices": [{"text": "old protocol"}]}'), "the answer is empty"),
        (answer(" \n "), "the answer is empty"),
        (answer("<think>Hm.</think>"), "the answer is empty"),
    ],
)
def test_what_may_pass_is_asked_again_and_at_last_given_up(server: Server, reply: Reply, why: str) -> None:
    assert ask(server, reply, reply).text == "Said again: Hello {text}"
    assert len(server.asked) == 3
    with pytest.raises(AnswerError) as raised:
        ask(server, reply, reply, reply)
    assert str(raised.value).startswith(why)
    assert str(raised.value).endswith("(tried 3 times)")
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (status(400, '{"error": {"message": "too long"}}'), "the endpoint answers 400: too long"),
        (status(403, '{"detail": "flagged"}'), "the endpoint answers 403: flagged"),
        (answer("half a sen", reason="length"), "the answer was cut off, since it is longer than the model may write"),
        (answer("", reason="content_filter"), "the endpoint's filter holds the answer back"),
    ],
)
def test_what_would_not_pass_is_given_up_at_once(server: Server, reply: Reply, why: str) -> None:
    with pytest.raises(AnswerError) as raised:
        ask(server, reply)
    assert str(raised.value) == why
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (status(401, '{"error": {"message": "no"}}'), "the endpoint answers 401: no; check the key (KARAT_LLM_KEY)"),
        (status(404, "lost"), "the endpoint answers 404: lost; check --base-url and --model"),
        (status(402), "the endpoint answers 402"),
        (
            status(429, "", Retry_After="86400"),
            "the endpoint answers 429 (Retry-After: it wants to be left alone for 86,400 seconds)",
        ),
    ],
)
def test_what_no_prompt_would_pass_ends_everything(server: Server, reply: Reply, why: str) -> None:
    with pytest.raises(EndpointError) as raised:
        ask(server, reply)
    assert str(raised.value) == why
    assert len(server.asked) == 1


def test_an_endpoint_that_is_slow_is_given_up_after_its_time(server: Server) -> None:
    with pytest.raises(AnswerError, match=r"no answer within 0.2 seconds \(tried 2 times\)"):
        ask(server, hold, hold, timeout=0.2, tries=2)


def test_an_answer_without_end_is_given_up_after_its_time(server: Server) -> None:
    with pytest.raises(AnswerError, match=r"no answer within 0.3 seconds"):
        ask(server, drip, timeout=0.3, tries=1)


def test_an_answer_without_measure_is_not_read_to_its_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.llm.client.LARGEST_ANSWER", 1000)
    with pytest.raises(AnswerError, match=r"the connection broke \(more than 1,000 bytes\)"):
        ask(server, answer("x" * 5000), tries=1)


def test_an_endpoint_that_is_not_there_is_named() -> None:
    with socket.socket() as silent:  # its port is taken, and nobody listens there
        silent.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        with Chat(Endpoint(url, "small", tries=2), Waits()) as chat, pytest.raises(AnswerError) as raised:
            chat.ask("Hello", Ledger())
    assert str(raised.value).startswith(f"{url} cannot be reached (")


def test_a_redirect_is_not_followed_with_the_key(server: Server) -> None:
    with serving() as other:
        with pytest.raises(EndpointError, match="it sends elsewhere: check --base-url"):
            ask(server, status(307, "", Location=f"{other.url}/chat/completions"))
        assert other.asked == []


def test_a_stop_ends_the_waiting(server: Server) -> None:
    waits = Waits()
    waits.set()
    with pytest.raises(StoppedError):
        ask(server, waits=waits)
    assert server.asked == []


# ---------------------------------------------------------------------------------------------- waiting


def test_each_wait_is_about_twice_the_one_before_and_depends_on_the_seed(server: Server) -> None:
    script = [status(500)] * 8
    found = []
    for seed in (1, 1, 2):
        waits = Waits()
        with pytest.raises(AnswerError):
            ask(server, *script, tries=8, first_delay=2.0, seed=seed, waits=waits)
        whole = [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]  # never more than a minute
        assert len(waits.seconds) == len(whole)
        assert all(0.5 * most <= each <= most for each, most in zip(waits.seconds, whole, strict=True))
        found.append(waits.seconds)
    assert found[0] == found[1] != found[2]


def test_retry_after_in_seconds_is_respected_by_all_that_ask(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.llm.client.monotonic", lambda: 100.0)  # no time goes by
    waits = Waits()
    ask(server, status(429, "", Retry_After="7"), waits=waits, first_delay=1.0)
    assert waits.seconds == [7.0, 7.0]  # of the thread that was told, and of every thread that asks next


def test_retry_after_as_a_date_is_counted_by_the_clock_of_the_endpoint(server: Server) -> None:
    waits = Waits()
    now, then = "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:09 GMT"
    ask(server, status(503, "", Date=now, Retry_After=then), waits=waits, first_delay=1.0)
    assert waits.seconds[0] == 9.0


@pytest.mark.parametrize("told", ["soon", "-5", "Wed, 99 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", ""])
def test_a_retry_after_that_says_nothing_is_passed_over(server: Server, told: str) -> None:
    waits = Waits()
    ask(server, status(503, "", Retry_After=told), waits=waits, first_delay=1.0)
    assert len(waits.seconds) == 1
    assert 0.5 <= waits.seconds[0] <= 1.0


# ---------------------------------------------------------------------------------------------- the account


def test_every_request_is_noted_before_it_is_sent_and_what_it_took_after(server: Server) -> None:
    ledger = Ledger()
    ask(server, status(429), cut, ledger=ledger)
    assert ledger.begun == [Usage(3, 3, estimated=True)] * 3
    assert ledger.ended == {1: Usage(0, 0)}  # what the cut answer took nobody knows, and the third has an answer


def test_nonsense_is_paid_for_too(server: Server) -> None:
    ledger = Ledger()
    with pytest.raises(AnswerError):
        ask(server, broken(b"{}"), answer("", usage=(5, 6)), answer("x", reason="length"), ledger=ledger)
    assert ledger.ended == {1: Usage(3, 0, estimated=True), 2: Usage(5, 6), 3: Usage(10, 20)}


# ---------------------------------------------------------------------------------------------- the key


def test_the_key_is_hidden_in_what_the_endpoint_says_of_it(server: Server) -> None:
    echo = f"bad key {SECRET}; url sk-test%2F4711%2Bvery-secret; json sk-test\\/4711+very-secret"
    for reply in (status(401, echo), status(401, '{"error": {"keys": ["sk-test\\/4711+very-secret"]}}')):
        with pytest.raises(EndpointError) as raised:
            ask(server, reply)
        assert "***" in str(raised.value)
        assert "4711" not in str(raised.value)
    for reply in (status(400, " " * 3000 + SECRET), broken(SECRET.encode())):
        with pytest.raises(AnswerError) as failed:
            ask(server, reply, reply, reply)
        assert "4711" not in str(failed.value)


def test_the_key_is_hidden_in_an_answer_that_repeats_it(server: Server) -> None:
    assert ask(server, answer(f"Your key is {SECRET}.")).text == "Your key is ***."
    assert ask(server, answer("An EMPTY set."), key=Key("EMPTY")).text == "An EMPTY set."


def test_the_key_is_in_no_log_no_repr_and_no_traceback(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    where = Endpoint(server.url, "small", key=Key(SECRET), tries=1)
    assert "4711" not in repr(where)
    assert "4711" not in str(where.key)
    for reply in (broken(SECRET.encode()), status(500, SECRET), cut, status(401, SECRET)):
        server.script = [reply]
        with Chat(where, Waits()) as chat, pytest.raises((AnswerError, EndpointError)) as raised:
            chat.ask("Hello", Ledger())
        assert raised.value.__context__ is None  # the errors of the library hold the request, and that the key
        assert "4711" not in "".join(traceback.format_exception(raised.value))
    assert caplog.records
    assert "4711" not in caplog.text
    with pytest.raises(TypeError, match="a key is not written anywhere"):
        pickle.dumps(where)


def test_the_key_comes_from_a_file_or_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_key() is None
    monkeypatch.setenv(KEY, "from-environment")
    (tmp_path / "key").write_text("from-file\n")
    found = [read_key(), read_key(tmp_path / "key")]
    assert [key and key.header() for key in found] == ["Bearer from-environment", "Bearer from-file"]


@pytest.mark.parametrize("wrong", ["two words 4711", "4711\n4712", "ключ4711", "4711\x00"])
def test_what_cannot_be_a_key_is_refused_without_showing_it(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text(wrong)
    with pytest.raises(InputError, match="this is no key") as raised:
        read_key(tmp_path / "key")
    assert "4711" not in str(raised.value)
    if "\x00" not in wrong:
        monkeypatch.setenv(KEY, wrong)
        with pytest.raises(InputError, match=KEY) as raised:
            read_key()
        assert "4711" not in str(raised.value)


def test_a_key_file_that_is_missing_or_empty_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing: the key could not be read"):
        read_key(tmp_path / "nothing")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(InputError, match="empty: the file is empty; write the key into it"):
        read_key(tmp_path / "empty")


# ---------------------------------------------------------------------------------------------- the endpoint


def test_an_endpoint_is_named_by_arguments_or_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no endpoint is named: write --base-url"):
        endpoint()
    monkeypatch.setenv("KARAT_LLM_BASE_URL", "https://host/v1/chat/completions")
    with pytest.raises(InputError, match="no model is named: write --model NAME"):
        endpoint()
    monkeypatch.setenv("KARAT_LLM_MODEL", "small")
    assert endpoint() == Endpoint("https://host/v1", "small")
    assert endpoint("http://other", "large", seed=3) == Endpoint("http://other", "large", seed=3)


@pytest.mark.parametrize(
    "wrong",
    [
        "host/v1",
        "ftp://host",
        "http://",
        "http://host:port/v1",
        "https://me:4711@host/v1",
        "https://host/v1?key=4711",
        "https://host/v1#4711",
        "http://[4711",
    ],
)
def test_a_wrong_base_url_is_refused_without_showing_it(wrong: str) -> None:
    with pytest.raises(InputError, match=r"the base URL is to be as https://host/v1") as raised:
        endpoint(wrong, "small")
    assert "4711" not in str(raised.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": 3.0},
        {"temperature": float("nan")},
        {"timeout": 0.0},
        {"first_delay": -1.0},
        {"tries": 0},
        {"max_tokens": 0},
    ],
)
def test_settings_out_of_bounds_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        endpoint("http://host", "small", **wrong)


def test_only_a_local_or_encrypted_endpoint_is_private() -> None:
    urls = ("https://host/v1", "http://localhost:1/v1", "http://127.0.0.1/v1", "http://host/v1")
    assert [Endpoint(url, "small").private for url in urls] == [True, True, True, False]


def test_a_missing_library_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'karat\[llm\]'"):
        Chat(Endpoint("http://host", "small"))


def test_a_prompt_with_half_a_character_is_sent_without_it(server: Server) -> None:
    with Chat(Endpoint(server.url, "small"), Waits()) as chat:
        assert chat.ask("half \ud800 of it", Ledger()).text == "Said again: half ? of it"
    server.script = [broken(said("x").replace(b'"x"', b'"half \\ud800 of it"'))]
    with Chat(Endpoint(server.url, "small"), Waits()) as chat:
        assert chat.ask("Hello", Ledger()).text.encode()
