"""A case: some files, and what is done with them; as plain data, so that one that failed can be kept."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Files = dict[str, bytes | None]  # by their places in a folder; None is a folder of that name

CASES = Path(__file__).parent / "cases"
MANIFEST = "manifest.jsonl"


@dataclass(frozen=True, slots=True)
class Case:
    """What is done: a reader reads a path, a parser parses a text, or a command is run; in a folder with the files."""

    do: str  # read, parse or run
    name: str = ""  # of the reader or parser
    path: str = ""  # that is read, `{}` being the folder
    text: str = ""  # that is parsed
    options: Mapping[str, str] = field(default_factory=dict)  # of the reader
    arguments: tuple[str, ...] = ()  # of the command
    streams: str = ""  # what is unusual about the command's standard streams
    outputs: tuple[str, ...] = ()  # files that the command may write
    files: Files = field(default_factory=dict)

    def described(self) -> str:
        """The case on one line, without its files."""
        if self.do == "run":
            return f"karat {' '.join(map(ascii, self.arguments))}{self.streams and f' ({self.streams})'}"
        what = ascii(self.text[:200]) if self.do == "parse" else f"{self.path[:200]!a} {dict(self.options) or ''}"
        return f"{self.do} {self.name}: {what}"


def put(folder: Path, files: Mapping[str, bytes | None]) -> None:
    """Makes the files in a new folder; a name that the file system refuses is left out."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.mkdir(exist_ok=True)
            else:
                path.write_bytes(content)
        except (OSError, ValueError):  # a file where a folder is needed, a zero byte in a name
            continue


def remove(folder: Path) -> None:
    """Removes a folder, however strange the names in it are."""
    shutil.rmtree(os.fsencode(folder), ignore_errors=True)


def save(folder: Path, name: str, case: Case, about: str) -> None:
    """Keeps a case: its files in a folder of its name, numbered, and a line of the manifest beside it."""
    remove(folder / name)
    numbers = {file: f"{number}{_suffix(file)}" for number, file in enumerate(case.files)}
    put(folder / name, {numbers[file]: content for file, content in case.files.items() if content is not None})
    there = {file: None if content is None else numbers[file] for file, content in case.files.items()}
    told = {key: value for key, value in (asdict(case) | {"files": there}).items() if value}
    with (folder / MANIFEST).open("a", encoding="utf-8") as manifest:
        manifest.write(json.dumps({"case": name, "about": about, **told}) + "\n")


def _suffix(file: str) -> str:
    """What the name of a kept file ends in, where that is plain."""
    suffix = Path(file).suffix
    return suffix if suffix[1:].isalnum() and suffix.isascii() and len(suffix) < 12 else ""


def kept(folder: Path = CASES) -> dict[str, Case]:
    """All cases that are kept, by name."""
    found: dict[str, Case] = {}
    for line in (folder / MANIFEST).read_text(encoding="utf-8").splitlines():
        told: dict[str, Any] = json.loads(line)
        name = told.pop("case")
        told.pop("about")
        files = {
            file: None if number is None else (folder / name / number).read_bytes()
            for file, number in told.pop("files", {}).items()
        }
        arguments, outputs = tuple(told.pop("arguments", ())), tuple(told.pop("outputs", ()))
        found[name] = Case(**told, arguments=arguments, outputs=outputs, files=files)
    return found
