"""The code blocks of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[^\n`]*)\n(?P<text>.*?)^ *(?P=fence) *$", re.M | re.S)
_FILE = re.compile(r"`(?P<name>[\w-]+\.[\w.-]+)`:\s*\Z")  # "... a corpus, `corpus.jsonl`:" names the file that follows


@dataclass(frozen=True, slots=True)
class Block:
    """A code block: where it stands, its language, its text, and the file that the line above it names, if any."""

    place: str
    language: str
    text: str
    file: str | None


def blocks(path: Path) -> list[Block]:
    """The code blocks of a document, in their order."""
    text = path.read_text(encoding="utf-8")
    found = [
        Block(
            f"{path.name}:{text.count(chr(10), 0, fence.start()) + 1}",
            fence["language"].strip(),
            dedent(fence["text"]),
            named["name"] if (named := _FILE.search(text[: fence.start()])) else None,
        )
        for fence in _FENCE.finditer(text)
    ]
    fences = re.findall(r"^ *(?:```|~~~)", text, re.M)
    assert len(fences) == 2 * len(found), f"{path.name}: a fence is not closed, or is not made of backquotes"
    return found


def command_lines(text: str) -> Iterator[str]:
    """The commands of a shell block, continued lines joined, without comments.

    >>> list(command_lines("# all\\na b \\\\\\n  c  # why\\n\\nd '#'\\n"))
    ['a b c', "d '#'"]
    """
    for line in re.sub(r" *\\\n *", " ", text).splitlines():
        command = re.sub(r"(?:^|\s+)#(?:\s.*)?$", "", line).strip()
        if command:
            yield command


def sessions(text: str) -> list[tuple[str, str]]:
    """(command, what it prints) of a console block, in which commands begin with `$`.

    >>> sessions("$ a \\\\\\n  b\\nx\\ny\\n$ c\\n")
    [('a \\\\\\n  b', 'x\\ny\\n'), ('c', '')]
    """
    parts = re.split(r"^\$ ", text, flags=re.M)
    assert parts[0] == "", "a console block begins with `$ ` and a command"
    found = (re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*)\n(.*)", part, re.S) for part in parts[1:])
    return [(session[1], session[2]) for session in found if session]
