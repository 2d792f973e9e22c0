"""Errors of Spark as one sentence with the root cause, from Java or from a worker."""

from __future__ import annotations

import re
import subprocess
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
_WORKER = "PYSPARK_PYTHON names the Python of the workers"
_KNOWN = {  # sentences in place of errors that name no cause
    "Python worker exited unexpectedly": "the Python process of a worker ended; it may have run out of memory",
    r"(Cannot run program \".*)": rf"\1; {_WORKER}",
    "reading the port number from pyspark.daemon": f"the workers' Python cannot be started; {_WORKER}",
}
_EXIT_CODES = {  # of org.apache.spark.util.SparkExitCode
    52: "it ran out of memory",
    53: "it cannot create a folder for temporary files; SPARK_LOCAL_DIRS or spark.local.dir names another",
}
_EMPTY = ("Traceback (most recent call last):", "Error from python worker:")


@contextmanager
def explained() -> Iterator[None]:
    """Raise what Spark raises as a KaratError with the root cause."""
    protocol = library("py4j.protocol", "the engine spark")
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, protocol.Py4JError) as error:
        raise _sentence(error) from None
    except (EOFError, ConnectionError) as error:
        if _exit_code() is None:
            raise
        raise KaratError(f"Spark: {root_cause(error)}") from None


def root_cause(error: BaseException) -> str:
    """Return the reason of an error of Spark in a line."""
    lost = library("py4j.protocol", "the engine spark").Py4JNetworkError
    if isinstance(error, lost) or (isinstance(error, EOFError | ConnectionError) and _exit_code() is not None):
        return _java_ended()
    return cause_in(_text(error))


def cause_in(text: str) -> str:
    r"""Return the root cause that the text of an error states.

    It is a sentence of `_KNOWN`, the error of a worker's Python, the last Java exception with a message, or else the
    first line.

    >>> cause_in("An error occurred while calling o3.count.\n: org.apache.spark.SparkException: Job aborted")
    'Job aborted'
    >>> cause_in("Caused by: X:\nTraceback (most recent call last):\n  File 'a.py'\nValueError: no\n\tat java")
    'a worker failed: ValueError: no'
    """
    for pattern, sentence in _KNOWN.items():
        if match := re.search(pattern, text):
            return match.expand(sentence)
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
    return _without_state(lines[0]) if lines else _java_ended()


def _without_state(message: str) -> str:
    return _STATE.sub("", message)


def _sentence(error: BaseException) -> KaratError:
    """Return the error of karat for an error of Spark."""
    text = _text(error)
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
    return KaratError(f"Spark: {root_cause(error)}")


def _text(error: BaseException) -> str:
    """Return the message and the stack trace of an error, as far as Java still answers."""
    text = ""
    with suppress(Exception):
        text = str(error)
    stack = getattr(error, "_stackTrace", None)
    return f"{text}\n{stack}" if isinstance(stack, str) else text


def _java_ended() -> str:
    reason = _EXIT_CODES.get(_exit_code() or 0, "it may have run out of memory")
    return f"the Java process of Spark ended: {reason}"


def _exit_code() -> int | None:
    """Return how the Java process ended that this process started; None while it runs."""
    context: Any = library("pyspark", "the engine spark").SparkContext
    process = getattr(context._gateway, "proc", None)
    if process is None:
        return None
    with suppress(subprocess.TimeoutExpired):  # its connections are closed before it is gone
        process.wait(1.0)
    return int(process.returncode) if process.returncode is not None else None
