"""The field's files: which reader opens a path, under which name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from karat.corpus import Batches, Corpus, Document, Prediction, Run
from karat.errors import InputError, unknown
from karat.formats import chan, jsonl
from karat.formats.files import STDIN, looks_like_json, stem

R = TypeVar("R", Document, Prediction)


@dataclass(frozen=True, slots=True)
class Format:
    """A file layout: how to read it and what it is."""

    name: str
    summary: str
    corpus: Callable[[str], Batches[Document]]
    run: Callable[[str], Batches[Prediction]]


FORMATS = {
    f.name: f
    for f in (
        Format("karat", "JSON lines (.gz, .zst): id, title, text, keyphrases", jsonl.corpus, jsonl.run),
        Format("chan", "parallel text files: SRC+TRG for a corpus, PRED for a run", chan.corpus, chan.run),
    )
}


def read(path: str | Path, *, name: str | None = None, format: str | None = None) -> Corpus:
    """The corpus in a file, read in batches whenever it is iterated."""
    name, where = split_name(str(path), name)
    return Corpus(name, _format(where, format).corpus(where), where)


def read_run(path: str | Path, *, name: str | None = None, format: str | None = None) -> Run:
    """The run in a file, read in batches whenever it is iterated."""
    name, where = split_name(str(path), name)
    return Run(name, _format(where, format).run(where), where)


def split_name(argument: str, name: str | None = None) -> tuple[str, str]:
    """The name and the path of PATH or NAME=PATH; the default name is the file's stem.

    >>> split_name("t5=runs/a.jsonl"), split_name("data/semeval.chan19.jsonl.gz")
    (('t5', 'runs/a.jsonl'), ('semeval.chan19', 'data/semeval.chan19.jsonl.gz'))
    """
    given, equals, path = argument.partition("=")
    if equals and given and "/" not in given and not Path(argument).exists():
        return name or given, path
    return name or stem(argument), argument


def _format(path: str, name: str | None) -> Format:
    if name is not None:
        if name not in FORMATS:
            raise unknown("format", name, FORMATS)
        return FORMATS[name]
    parts = [path] if path == STDIN or Path(path).exists() else path.split("+")
    for part in parts:
        if part != STDIN and not Path(part).exists():
            raise InputError(f"{part}: there is no such file")
        if part != STDIN and Path(part).is_dir():
            raise InputError(f"{part}: is a directory, not a file")
    if len(parts) > 1:
        return FORMATS["chan"]
    return FORMATS["karat"] if looks_like_json(path) else FORMATS["chan"]
