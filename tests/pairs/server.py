"""A chat endpoint on loopback that answers, and misbehaves when it is told to."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.waiting import PATIENCE

Reply = Callable[["Handler"], None]


class Endpoint:
    """What is asked of the server, and what it is to do: a reply of `script` for each request, then `usual`."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.answered: Counter[str] = Counter()  # prompts that got a whole answer
        self.script: list[Reply] = []
        self.usual: Reply = answer()
        self.at_once = self.most_at_once = 0
        self.held, self.release = threading.Event(), threading.Event()
        self.lock = threading.Lock()
        self.url = ""

    def prompts(self) -> list[str]:
        return [each["messages"][0]["content"] for each in self.asked]


class Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        endpoint = self.endpoint
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.prompt = body["messages"][0]["content"]
        with endpoint.lock:
            endpoint.asked.append(body)
            endpoint.headers.append(dict(self.headers.items()))
            reply = endpoint.script.pop(0) if endpoint.script else endpoint.usual
            endpoint.at_once += 1
            endpoint.most_at_once = max(endpoint.most_at_once, endpoint.at_once)
        try:
            reply(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client went away
        finally:
            with endpoint.lock:
                endpoint.at_once -= 1

    def send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


# ---------------------------------------------------------------------------------------------- replies


def said(text: str, usage: tuple[int, int] | None = (10, 20), reason: str = "stop") -> bytes:
    """The body of an answer."""
    found: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": reason}]}
    if usage is not None:
        found["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return json.dumps(found).encode()


def answer(
    text: str | Callable[[str], str] = lambda prompt: f"Said again: {prompt}",
    usage: tuple[int, int] | None = (10, 20),
    reason: str = "stop",
) -> Reply:
    def reply(handler: Handler) -> None:
        handler.send(200, said(text if isinstance(text, str) else text(handler.prompt), usage, reason))
        with handler.endpoint.lock:
            handler.endpoint.answered[handler.prompt] += 1

    return reply


def status(code: int, body: str = "", **headers: str) -> Reply:
    return lambda handler: handler.send(code, body.encode(), **headers)


def broken(body: bytes) -> Reply:
    """An answer of status 200 with any body."""
    return lambda handler: handler.send(200, body)


def cut(handler: Handler) -> None:
    """Half an answer, then the connection ends."""
    content = said("cut off")
    handler.send_response_only(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2])
    handler.close_connection = True


def gone(handler: Handler) -> None:
    """No answer at all: the connection ends."""
    handler.close_connection = True


def hold(handler: Handler) -> None:
    """An answer that comes when the test lets it."""
    handler.endpoint.held.set()
    handler.endpoint.release.wait(PATIENCE)
    answer()(handler)


def drip(handler: Handler) -> None:
    """An answer without end, a blank at a time."""
    handler.send_response_only(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.endpoint.release.wait(0.02):
        handler.wfile.write(b" ")


class Listening(ThreadingHTTPServer):
    """A server that takes it in silence when a client goes away: tests kill theirs."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[Endpoint]:
    """A server that is there as long as the block runs."""
    endpoint = Endpoint()
    handler = type("Own", (Handler,), {"endpoint": endpoint})
    server = Listening(("127.0.0.1", 0), handler)
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.release.set()
        server.shutdown()
        thread.join()
        server.server_close()
