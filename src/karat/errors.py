"""The errors a user can cause, each one sentence that says what to write instead; and words of such sentences."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from karat.inert import one_line


class KaratError(Exception):
    r"""Base of all errors that karat raises on purpose.

    Whatever its sentence quotes, it is one line of bounded length in which nothing acts: see `karat.inert`.

    >>> str(KaratError("no file a\x1b[2J\nb"))
    'no file a�[2J b'
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(str(message)))


class InputError(KaratError, ValueError):
    """What was given cannot be used: a file, an option, a name."""


class MissingExtraError(InputError):
    """What was given needs an optional part that is not installed; the sentence has the command that installs it."""


class KeywordError(InputError, TypeError):
    """A function was called with a keyword that it does not have."""


def unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    """An error for a name that does not exist, with the nearest ones that do.

    >>> str(unknown("protocol", "Chan2018", ["chan2019", "ye2021"]))
    "unknown protocol 'Chan2018'; did you mean 'chan2019'? (known: chan2019, ye2021)"
    >>> str(unknown("option", "x", []))
    "unknown option 'x' (there are none)"
    """
    names = sorted(known)
    lower = {each.lower(): each for each in names}
    near = [lower[each] for each in get_close_matches(name[:100].lower(), lower, n=3, cutoff=0.6)]
    hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    there = f"known: {', '.join(names)}" if names else "there are none"
    return InputError(f"unknown {kind} {name!r}{hint} ({there})")


def counted(count: int, noun: str) -> str:
    """A number of things, as messages and notes say it.

    >>> counted(1, "document"), counted(1200, "pair")
    ('1 document', '1,200 pairs')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
