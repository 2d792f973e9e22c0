"""SIGINT and SIGTERM, which end the command: both are handled alike, and what was computed until then is kept."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

_received: list[int] = []


def catch() -> None:
    """From now on either signal raises KeyboardInterrupt, which unwinds whatever is under way."""
    _answer_by(_raise)


def ignore() -> None:
    """From now on neither signal does anything: all is done, and the process is about to end."""
    _answer_by(signal.SIG_IGN)


def _answer_by(handler: Any) -> None:
    with suppress(ValueError):  # in another thread than the main one, where signals are not ours to catch
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, handler)


def _raise(number: int, frame: Any) -> None:
    _received.append(number)
    raise KeyboardInterrupt


def received() -> bool:
    """Whether a signal came; what fails after one may fail because of it."""
    return bool(_received)


def leave() -> NoReturn:
    """Prints that the command was stopped and ends the process, with code 130 for SIGINT and 143 for SIGTERM.

    Everything is unwound by now. Python's own way out would, after an interrupt within some imports, end the process
    by a signal instead of the code.
    """
    number = _received[0] if _received else signal.SIGINT
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        print("karat:", "interrupted" if number == signal.SIGINT else "terminated", file=sys.stderr, flush=True)
    os._exit(128 + number)
