"""The field's files: which reader opens a path, under which name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from karat.corpus import Corpus, Run
from karat.engines import engine, is_address
from karat.errors import InputError, unknown
from karat.formats import (
    ake,
    bibtex,
    chan,
    corenlp,
    fields,
    folder,
    guess,
    hub,
    huggingface,
    hulth,
    jsonld,
    kp20k,
    kpeval,
    openkp,
    opennmt,
    own,
    ris,
    semeval,
)
from karat.formats.base import Format
from karat.formats.files import STDIN, no_such_file, stem
from karat.formats.head import Head, Role
from karat.registry import Registry, place_of

# A path whose format is not named is read by the first that fits, the general ones being tried last.
_LISTED = (
    *own.FORMATS,
    guess.FORMAT,
    chan.FORMAT,
    *kp20k.FORMATS,
    *opennmt.FORMATS,
    openkp.FORMAT,
    kpeval.FORMAT,
    *huggingface.FORMATS,
    ake.FORMAT,
    corenlp.FORMAT,
    bibtex.FORMAT,
    ris.FORMAT,
    jsonld.FORMAT,
    hulth.FORMAT,
    semeval.FORMAT,
    folder.FORMAT,
)
_PART = re.compile(r"part-.*\.(jsonl|ndjson|json|csv|tsv|parquet)(\.gz|\.zst)?")
RESULTS = ".karat"  # what files of results end in
FORMATS: Registry[Format] = Registry("format", lambda form: place_of(form.fits), _LISTED)


def read(
    path: str | Path, *, name: str | None = None, format: str | None = None, fields: str | Sequence[str] = ()
) -> Corpus:
    """The corpus in a file or folder, read in batches whenever it is iterated.

    The format is seen from the files, or named as `karat list formats` names it; `fields` names the columns of a table
    or of any JSON lines, as `id=doc,keyphrases=tags,separator=;`.
    """
    name, where = split_name(str(path), name)
    return Corpus(name, _batches(where, "corpus", format, fields), where)


def read_run(
    path: str | Path, *, name: str | None = None, format: str | None = None, fields: str | Sequence[str] = ()
) -> Run:
    """The run in a file or folder, read in batches whenever it is iterated; `format` and `fields` as for `read`."""
    name, where = split_name(str(path), name)
    return Run(name, _batches(where, "run", format, fields), where)


def split_name(argument: str, name: str | None = None) -> tuple[str, str]:
    """Return the name and the path of PATH or NAME=PATH; the default name is the file's stem.

    A name may hold `=`, `/` and `:` if a path that exists follows it.

    >>> split_name("t5=runs/a.jsonl"), split_name("data/semeval.chan19.jsonl.gz")
    (('t5', 'runs/a.jsonl'), ('semeval.chan19', 'data/semeval.chan19.jsonl.gz'))
    >>> split_name("datasets:midas/inspec,split=test")
    ('inspec', 'datasets:midas/inspec,split=test')
    """
    if hub.is_dataset(argument):
        return name or hub.name_of(argument), argument
    if "=" in argument and not os.path.exists(argument):
        parts = argument.split("=")
        pairs = [("=".join(parts[:i]), "=".join(parts[i:])) for i in range(1, len(parts)) if parts[0]]
        plain = [pair for pair in pairs[:1] if not {"/", ":"} & set(parts[0])]
        for given, path in [pair for pair in pairs if _lacking(Head(pair[1])) is None] or plain:
            return name or given, path
    return name or stem(argument), argument


def _batches(path: str, role: Role, format: str | None, given: str | Sequence[str]) -> Any:
    if format is None and not given and (found := engine()) is not None:
        own = found.batches(path, role)
        if own is not None:
            return own
    head = Head(path, role)
    lacking = _lacking(head)
    if lacking is not None:
        raise no_such_file(lacking)
    if parts := part_files(path):
        return partial(_one_after_the_other, [_batches(part, role, format, given) for part in parts])
    if path.endswith(RESULTS):
        raise InputError(f"{path}: holds results, not a {role}; karat compare, plot and results read such files")
    chosen = fields.choose([given] if isinstance(given, str) else given, head)
    if chosen is not None:
        return (fields.corpus_by if role == "corpus" else fields.run_by)(chosen, path)
    form = named(format) if format is not None else sniff(head)
    reader = form.corpus if role == "corpus" else form.run
    if reader is None:
        raise InputError(f"{path}: the format {form.name} has no {role}")
    return reader(path)


def part_files(path: str) -> list[str]:
    """The files `part-...` of a folder that has no others, as Spark and others write one corpus or run; else none."""
    if not os.path.isdir(path):
        return []
    names = sorted(name for name in os.listdir(path) if not name.startswith(("_", ".")))
    return [os.path.join(path, name) for name in names] if all(map(_PART.fullmatch, names)) else []


def _one_after_the_other(parts: Sequence[Callable[[], Iterator[Any]]]) -> Iterator[Any]:
    for part in parts:
        yield from part()


def named(name: str) -> Format:
    """The format of a name."""
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    return FORMATS[name]


def sniff(head: Head) -> Format:
    """The first format that a path looks like and that can hold a corpus, or a run."""
    for form in sorted(FORMATS.values(), key=lambda form: form.general):
        if (form.corpus if head.role == "corpus" else form.run) is not None and form.fits(head):
            return form
    if head.role == "corpus" and head.container == "folder" and not head.single:
        raise folder.no_documents(head.path)
    raise head.unknown()


def lacking_part(argument: str) -> str | None:
    """The first path of PATH, PATH+PATH or NAME=PATH that is not there; None where all are."""
    return _lacking(Head(split_name(argument)[1]))


def parts_of(argument: str) -> list[str]:
    """The paths of PATH, PATH+PATH or NAME=PATH."""
    return Head(split_name(argument)[1]).parts


def _lacking(head: Head) -> str | None:
    there = (part == STDIN or hub.is_dataset(part) or _exists(part) for part in head.parts)
    return next((part for part, found in zip(head.parts, there, strict=True) if not found), None)


def _exists(path: str) -> bool:
    """Whether there is something at a path; of an address that an engine reads, the engine says so."""
    return os.path.exists(path) or (is_address(path) and engine() is not None)
