"""What counts as a fault, and what two faults have in common."""

from __future__ import annotations

import re
import traceback
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import karat

LONGEST_SENTENCE = 1000  # characters, the paths in it aside
SOURCE = str(Path(karat.__file__).parent)
_BINARY = (b"\x89PNG", b"%PDF")  # charts that go to standard output
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class SentenceError(AssertionError):
    """An error that karat raised on purpose, but not in one plain sentence."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong in a case: its cause, by which cases are put together, and all that is known of it."""

    cause: str
    detail: str


def check_sentence(said: str, *paths: str) -> None:
    """Raises SentenceError unless a message is one line, without control characters, and not too long."""
    for path in paths:
        said = said.replace(path, "PATH")
    if not said.strip():
        raise SentenceError("an error without a sentence")
    if strange := live(said, ""):
        raise SentenceError(f"a message holds {strange}: {said[:300]!a}")
    if len(said) > LONGEST_SENTENCE:
        raise SentenceError(f"a message of {len(said):,} characters: {said[:300]!a}")


def live(text: str, allowed: str = "\n\t") -> str:
    """The first character that does something to a terminal, by its name; empty where there is none."""
    for char in text:
        if char in allowed or char.isprintable():
            continue
        if char in _BIDI or unicodedata.category(char) in ("Cc", "Zl", "Zp"):
            return f"U+{ord(char):04X}"
    return ""


def of_exception(error: BaseException, folder: str) -> Fault | None:
    """The fault that an exception is; None of one that says in a sentence what is wrong with what was given."""
    if isinstance(error, karat.KaratError):
        try:
            check_sentence(str(error), folder)
        except SentenceError as strange:
            return Fault(f"sentence: {_kind(str(strange))} [{frame(error)}]", detail(strange) + detail(error))
        return None
    if isinstance(error, SentenceError):
        return Fault(f"sentence: {_kind(str(error))} [{frame(error.__context__ or error)}]", detail(error))
    kind = "memory" if isinstance(error, MemoryError) else type(error).__name__
    return Fault(f"{kind} [{frame(error)}]", detail(error))


def _kind(text: str) -> str:
    return re.sub(r"U\+\w+", "control characters", re.sub(r"\d[\d,]*(?= char)", "n", text.partition(":")[0]))


def frame(error: BaseException) -> str:
    """The innermost place in karat where an exception came from."""
    found = [each for each in traceback.extract_tb(error.__traceback__) if each.filename.startswith(SOURCE)]
    if not found:
        return "outside karat"
    last = found[-1]
    return f"{last.filename[len(SOURCE) - 5 :]}:{last.lineno} {last.name}"


def detail(error: BaseException) -> str:
    """The whole traceback, its long lines cut."""
    shown = traceback.format_exception(error)
    return "".join(
        line[:1500] + "\n" * (len(line) > 1500) for line in (shown if len(shown) < 60 else shown[:20] + shown[-30:])
    )


def of_command(code: int, out: bytes, err: bytes, verb: str) -> Fault | None:
    """The fault of a finished command: a traceback, a signal, an exit code without a sentence, live text."""
    said = err.decode(errors="backslashreplace")
    shown = f"exit code {code}\n{said[-4000:]}"
    if code < 0:
        return Fault(f"signal {-code}", shown)
    if code == 70 or "Traceback (most recent call last)" in said:
        return Fault(f"internal error: {of_traceback(said)}", shown)
    if code == 2 and not said.strip():
        return Fault("exit code 2 without a sentence", shown)
    if code not in (0, 1, 2):
        return Fault(f"exit code {code}", shown)
    if strange := live(said):
        return Fault(f"standard error holds {strange}: {verb}", shown)
    last = said.strip().splitlines()[-1] if said.strip() else ""
    if code == 2 and not last.startswith("karat: ") and "\nError: " not in f"\n{said}":
        return Fault("exit code 2, and the last line is no sentence", shown)
    if code == 2 and len(last) > 2 * LONGEST_SENTENCE:
        return Fault(f"a message of thousands of characters: {last.partition(':')[0]}", shown)
    if not out.startswith(_BINARY) and (strange := live(out.decode(errors="replace"))):
        return Fault(f"standard output holds {strange}: {verb}", shown)
    return None


def of_traceback(said: str) -> str:
    """Exception and innermost place in karat, of a traceback that was printed."""
    places = re.findall(r'File "([^"]*/karat/[^"]*)", line (\d+), in (\S+)', said)
    last = said.strip().splitlines()[-1]
    name = re.split(r"[:(]", last.removeprefix("karat: internal error: "))[0]
    if not places:
        return name[:100]
    path, line, function = places[-1]
    return f"{name[:60]} [karat/{path.rpartition('/karat/')[2]}:{line} {function}]"


def innermost(trace: str) -> str:
    """The innermost place in karat of a stack that faulthandler wrote."""
    for line in trace.splitlines():
        if SOURCE in line:
            place, _, function = line.strip().removeprefix('File "').partition(" in ")
            return place.replace(SOURCE, "karat").replace('", line ', ":") + f" {function}"
    return "outside karat"
