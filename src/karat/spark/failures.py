"""Errors of Spark as one sentence with the root cause, from Java or from a worker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from karat.errors import InputError, KaratError
from karat.libraries import library

_UNREADABLE = re.compile(r"\[(?:FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER)\S*\].*? file:? ?(\S+?)\.?(?:\s|$)")
_TRACEBACK = re.compile(r"^\s*Traceback \(most recent call last\):\n(?:\s.*\n|\n)*(\S.*)", re.MULTILINE)
_PROGRAM = re.compile(r"Error from python worker:\s*\n((?:.*\n)*?)PYTHONPATH was:")  # output of a worker's Python
_JAVA = re.compile(r"^(?:Caused by: |: |)((?:[a-z_]\w*\.)+[A-Z][\w$]*)(?:: (.*))?$", re.MULTILINE)
_STATE = re.compile(r"\s*SQLSTATE: \w+$")
_ENDED = "the Java process of Spark ended; it may have run out of memory"
_EMPTY = ("Traceback (most recent call last):", "Error from python worker:")


@contextmanager
def explained() -> Iterator[None]:
    """Raise what Spark raises as a KaratError with the root cause."""
    protocol = library("py4j.protocol", "the engine spark")
    from pyspark.errors import PySparkException

    try:
        yield
    except protocol.Py4JNetworkError:
        raise KaratError(f"Spark: {_ENDED}") from None
    except (PySparkException, protocol.Py4JError) as error:
        raise _sentence(_text(error)) from None
    except (EOFError, ConnectionError):
        if _java_runs():
            raise
        raise KaratError(f"Spark: {_ENDED}") from None


def root_cause(error: BaseException) -> str:
    """Return the reason of an error of Spark in a line."""
    return cause_in(_text(error))


def cause_in(text: str) -> str:
    r"""Return the root cause that the text of an error states.

    It is the error of a worker's Python, else the last Java exception with a message, else the first line.

    >>> cause_in("An error occurred while calling o3.count.\n: org.apache.spark.SparkException: Job aborted")
    'Job aborted'
    >>> cause_in("Caused by: X:\nTraceback (most recent call last):\n  File 'a.py'\nValueError: no\n\tat java")
    'a worker failed: ValueError: no'
    """
    if errors := _TRACEBACK.findall(text):
        return f"a worker failed: {errors[-1].strip()}"
    if programs := _PROGRAM.findall(text):
        lines = [line.strip() for line in programs[-1].splitlines() if line.strip()]
        return f"the Python of a worker failed: {lines[-1] if lines else 'it printed nothing'}"
    exceptions: list[tuple[str, str]] = [
        (name.rpartition(".")[2], message.strip()) for name, message in _JAVA.findall(text)
    ]
    causes = [(name, message) for name, message in exceptions if message and message not in _EMPTY]
    if causes:
        name, message = causes.pop()
        while causes and causes[-1][1].endswith(message):  # the same with more words before
            name, message = causes.pop()
        return _without_state(message if name == "SparkException" else f"{name}: {message}")
    if exceptions:
        return exceptions[-1][0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return _without_state(lines[0]) if lines else _ENDED


def _without_state(message: str) -> str:
    return _STATE.sub("", message)


def _sentence(text: str) -> KaratError:
    """Return the error of karat for the text of an error of Spark."""
    if "No module named 'karat'" in text:
        return KaratError(
            "the workers' Python has no karat: install it there, or ship an environment "
            "(conda-pack or venv-pack, and spark.archives; docs/scale.md)"
        )
    if "PYTHON_VERSION_MISMATCH" in text:
        return KaratError("the workers' Python is of another version: PYSPARK_PYTHON names the one they are to use")
    unreadable = _UNREADABLE.search(text)
    if unreadable is not None:
        return InputError(f"{unreadable[1].removeprefix('file://')}: the file is damaged or cut off")
    return KaratError(f"Spark: {cause_in(text)}")


def _text(error: BaseException) -> str:
    """Return the message and the stack trace of an error, as far as Java still answers."""
    text = ""
    with suppress(Exception):
        text = str(error)
    stack = getattr(error, "_stackTrace", None)
    return f"{text}\n{stack}" if isinstance(stack, str) else text


def _java_runs() -> bool:
    context: Any = library("pyspark", "the engine spark").SparkContext
    process = getattr(context._gateway, "proc", None)
    return process is None or process.poll() is None
