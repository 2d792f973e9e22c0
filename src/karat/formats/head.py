"""What can be seen of a path before it is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Literal

from karat.corpus import split_paths
from karat.engines import is_address
from karat.errors import InputError
from karat.formats import hub
from karat.formats.base import Record, quoted
from karat.formats.containers import container_at, first_fields, rows
from karat.formats.files import STDIN, first_line
from karat.formats.load import json_value

Role = Literal["corpus", "run"]

_ALONE = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".xlsx", ".parquet", ".jsonl.gz", ".jsonl.zst")
_LIKE_PHRASES = re.compile("phrase|pred|keyword|tag|term|topic", re.IGNORECASE)
_LIKE_ID = re.compile("id$|^doc|key$", re.IGNORECASE)
MOST_NAMES = 5000  # of the files in a folder, that are looked at


class Head:
    """What can be seen of a path at a glance: the names in a folder, the first record or line of a file."""

    def __init__(self, path: str, role: Role = "corpus") -> None:
        self.path = path
        self.role = role  # what is looked for there

    @cached_property
    def parts(self) -> list[str]:
        """The paths themselves: several where they are joined by `+`."""
        one = self.path == STDIN or hub.is_dataset(self.path) or is_address(self.path)
        return [self.path] if one else split_paths(self.path)

    @cached_property
    def container(self) -> str:
        """What it is: one of the containers of records, text, a folder, or several paths."""
        if len(self.parts) > 1:
            return "several"
        folder = self.path != STDIN and os.path.isdir(self.path) and not hub.is_dataset(self.path)
        return "folder" if folder else container_at(self.path)

    @cached_property
    def names(self) -> list[str]:
        """The files of a folder, relative to it and sorted; none where the path is not one folder."""
        return sorted(islice(_files(self.path), MOST_NAMES)) if self.container == "folder" else []

    @cached_property
    def line(self) -> str:
        """The first line of a text file that is not blank; empty elsewhere."""
        return first_line(self.path).decode(errors="replace").strip() if self.container == "text" else ""

    @cached_property
    def record(self) -> Record:
        """Return the first record of a file, or the first fields of a JSON object; empty where there is none."""
        if self.container == "jsonl":
            found = json_value(first_line(self.path), f"{self.path}:1")
            return found if isinstance(found, dict) else {}  # the reader says what is wrong with it
        if self.container == "json":
            return first_fields(self.path)
        if self.container in ("csv", "tsv", "xlsx", "parquet", "datasets"):
            return next((row for _, row in rows(self.path, self.container)), {})
        return {}

    @property
    def single(self) -> str | None:
        """The first file of a folder that could be a corpus or a run by itself."""
        return next((name for name in self.names if name.endswith(_ALONE)), None)

    def unknown(self) -> InputError:
        """An error for a path that no format fits, with what was seen of it."""
        seen = [*self.record, *self.names, *filter(None, [self.line])]
        if not seen:
            what = "an empty folder" if self.container == "folder" else "it holds no records"
            return InputError(f"{self.path}: no known format of a {self.role} ({what}); name it with --from")
        some = ", ".join(map(_shown, seen[:10])) + (", ..." if len(seen) > 10 else "")
        kind = "fields" if self.record else "files" if self.names else "line"
        hint = "name it with --from" + (f", or its columns, as --fields {self._guess()}" if self.record else "")
        if self.single is not None:
            file = os.path.join(self.path, _shown(self.single))
            hint = f"give a file of it, as {file}, or name its format with --from"
        return InputError(f"{self.path}: no known format of a {self.role} ({kind} {some}); {hint}")

    def _guess(self) -> str:
        """How the columns could be named: those that sound like an id and like phrases, else the first and the last."""
        columns = list(map(_shown, self.record))
        phrases = next((name for name in columns if _LIKE_PHRASES.search(name)), columns[-1])
        ids = next((name for name in columns if _LIKE_ID.search(name) and name != phrases), columns[0])
        return f"keyphrases={phrases}" if ids == phrases else f"id={ids},keyphrases={phrases}"


def _shown(name: str) -> str:
    """The beginning of a name; what cannot be seen of it is seen in quotes."""
    return name[:40] if name[:40].isprintable() else quoted(name[:40])


def _files(folder: str) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.relpath(os.path.join(root, name), folder) for name in sorted(names) if name[0] != ".")
