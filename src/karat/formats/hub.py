"""Records through the Hugging Face `datasets` library: sets on the hub, in its cache, or saved in a folder.

A path is `datasets:NAME_OR_FOLDER[,config=...][,split=...][,revision=...]`, as
`datasets:midas/inspec,config=raw,split=test`, or just a folder that `save_to_disk` has written. The folder may also
hold data files (JSON lines, CSV, Parquet) as the library takes them. Code that comes with a set is never run.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from karat.errors import InputError, unknown
from karat.formats.base import Record, brief
from karat.libraries import library

PREFIX = "datasets:"
SETTINGS = ("config", "split", "revision")
ROWS_AT_ONCE = 1000

_LAST_SETTING = re.compile(r",([a-z_]+)=([^,=]*)$")
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_SPLITS_FILE, _STATE_FILE = "dataset_dict.json", "state.json"


@dataclass(frozen=True, slots=True)
class Source:
    """What a path names: a set on the hub or a folder, and which part of it."""

    path: str
    name: str
    config: str | None = None
    split: str | None = None
    revision: str | None = None


def is_dataset(path: str) -> bool:
    """Whether a path is for the library: it says so, or is a folder that the library has saved."""
    return path.startswith(PREFIX) or _is_saved(path)


def parse(path: str) -> Source:
    """The source that a path names.

    >>> source = parse("datasets:midas/inspec,config=raw,split=test")
    >>> source.name, source.config, source.split, source.revision
    ('midas/inspec', 'raw', 'test', None)
    """
    name = path.removeprefix(PREFIX)
    settings: dict[str, str] = {}
    while (setting := _LAST_SETTING.search(name)) and not os.path.exists(name):
        if setting[1] not in SETTINGS:
            raise unknown("setting of a dataset", setting[1], SETTINGS)
        if not setting[2]:
            raise InputError(f"{path}: {setting[1]} names nothing")
        settings.setdefault(setting[1], setting[2])
        name = name[: setting.start()]
    return Source(path, name, **settings)


def name_of(path: str) -> str:
    """A short name for a dataset.

    >>> name_of("datasets:midas/inspec,config=raw,split=test"), name_of("out/kp20k")
    ('inspec', 'kp20k')
    """
    return Path(parse(path).name).name or path


def rows(path: str) -> Iterator[tuple[int, Record]]:
    """(number, row) of a dataset, from 1."""
    dataset = _dataset(path)
    number = 0
    try:
        for batch in dataset.with_format("arrow").iter(ROWS_AT_ONCE):
            batch.validate(full=True)  # what is wrong in a damaged file would end the process, not raise
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except Exception as error:  # whatever the library and its readers of files raise
        raise InputError(f"{path}: cannot be read from row {number + 1} on ({_reason(error)})") from None


# ---------------------------------------------------------------------------------------------- opening


def _is_saved(path: str) -> bool:
    def holds(name: str) -> bool:
        return os.path.isfile(os.path.join(path, name))

    return holds(_SPLITS_FILE) or (holds(_STATE_FILE) and holds("dataset_info.json"))


def _dataset(path: str) -> Any:
    source = parse(path)
    if not source.name:
        raise InputError(f"{path}: names no dataset; write {PREFIX}OWNER/NAME or {PREFIX}FOLDER")
    if os.path.isfile(source.name):
        raise InputError(f"{path}: is a file; write {source.name} alone")
    if _is_saved(source.name):
        return _saved(source)
    if os.path.isdir(source.name):
        return _loaded(source)
    if not _HUB_NAME.fullmatch(source.name):
        # The library would take `json` or `csv` for a reader of the files around.
        raise InputError(f"{path}: there is no such folder, and on the hub a name is OWNER/NAME, as midas/inspec")
    return _on_hub(source)


def _saved(source: Source) -> Any:
    """A dataset from the folder that the library wrote it to."""
    for setting in ("config", "revision"):
        if getattr(source, setting) is not None:
            raise InputError(f"{source.path}: a saved dataset has no {setting}; only split may be given")
    with _library(source) as datasets:
        found = datasets.load_from_disk(source.name)
    if isinstance(found, dict):
        return found[_split_among(source, list(found))]
    own = str(found.split) if found.split is not None else None
    if source.split not in (None, own):
        raise InputError(f"{source.path}: no split {source.split!r}; there is {own or 'one without a name'}")
    return found


@lru_cache(maxsize=16)
def _on_hub(source: Source) -> Any:
    """A dataset on the hub or in the cache, looked up once: what is read again must be the same."""
    return _loaded(source)


def _loaded(source: Source) -> Any:
    where = {"path": source.name, "revision": source.revision}
    split = source.split
    if split is None:
        with _library(source) as datasets:
            names = list(datasets.get_dataset_split_names(config_name=source.config, **where))
        split = _split_among(source, names)
    with _library(source) as datasets:
        return datasets.load_dataset(name=source.config, split=split, trust_remote_code=False, **where)


def _split_among(source: Source, names: list[str]) -> str:
    """The split that was named, or the only one."""
    if source.split is None and len(names) == 1:
        return names[0]
    if source.split in names:
        return source.split
    what = "several splits" if source.split is None else f"no split {source.split!r}"
    config = f",config={source.config}" if source.config else ""
    example = f"{PREFIX}{source.name}{config},split={names[-1] if names else 'NAME'}"
    raise InputError(f"{source.path}: {what}; there are {', '.join(names) or 'none'}: write {example}")


# ---------------------------------------------------------------------------------------------- the library


@contextmanager
def _library(source: Source) -> Iterator[Any]:
    """The library, quiet and without code from elsewhere; what it raises becomes one sentence."""
    datasets = library("datasets", "a dataset of Hugging Face")
    import huggingface_hub.utils  # which comes with it

    datasets.config.HF_DATASETS_TRUST_REMOTE_CODE = False  # before version 4 it might run a set's code
    try:
        with _quiet(datasets, huggingface_hub.utils):
            yield datasets
    except Exception as error:  # its errors are of many kinds, of several libraries
        raise InputError(f"{source.path}: {_reason(error)}{_hint(error)}") from None


@contextmanager
def _quiet(*libraries: Any) -> Iterator[None]:
    """No progress bars and no log, as what goes wrong is raised; afterwards as it was."""
    logs = [logging.getLogger(name) for name in ("datasets", "huggingface_hub")]
    levels = [log.level for log in logs]
    showing = [library for library in libraries if not library.are_progress_bars_disabled()]
    try:
        for library in showing:
            library.disable_progress_bars()
        for log in logs:
            log.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)
        for library in showing:
            library.enable_progress_bars()


def _reason(error: BaseException) -> str:
    """What an error says, in one line; where it only wraps another one, what that says."""
    if type(error).__name__ == "DatasetGenerationError" and error.__cause__ is not None:
        error = error.__cause__
    said = brief(" ".join(str(error).strip().splitlines()[:2]), 300)
    return (said or type(error).__name__).rstrip(".")


def _hint(error: BaseException) -> str:
    said = str(error).lower()
    if "script" in said:
        return "; write revision=refs/convert/parquet, or give its data files themselves"
    if isinstance(error, IndexError):
        return "; the library does not open what was saved without rows"
    if "config name is missing" in said:
        return "; write config=NAME"
    if isinstance(error, ConnectionError) or "offline" in said:
        return "; it is neither a folder nor in the cache of the library"
    return ""
