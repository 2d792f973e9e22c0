"""Every file that a command is to read is looked for before it begins to work.

Which of its arguments and flags name files is seen from what the shell offers for them: `completion.paths` for files
that are read, `completion.new_paths` for those that are written, `completion.embedders` for embedders. Metrics,
similarities and models carry paths in their text: `file:PATH`, `vectors:PATH`, `placed:PATH`, `model=PATH`,
`baseline=FILE`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import echo_reading_notes
from karat.engines import is_address
from karat.errors import InputError

_WITHIN = re.compile(r"(?:^|[,=])(?:(file:|vectors:|placed:)|model=(?!vectors:)|baseline=(?=.*[./]))([^,]+)")
_NO_PATHS = re.compile(r"hash|random|package:.*|hf:.*")


def files_first(body: Callable[..., Any]) -> Callable[..., Any]:
    """The body of a command, which begins once every file that it reads is seen to be there.

    In the end it says what there is to say of how they were read.
    """

    @wraps(body)
    def checked(*given: Any, **options: Any) -> Any:
        check_inputs(click.get_current_context())
        outcome = body(*given, **options)
        echo_reading_notes()
        return outcome

    return checked


def check_inputs(context: click.Context) -> None:
    """Raises InputError for the first file that an argument or a flag of a command names and that is not there."""
    goes_on = bool(context.params.get("resume"))  # what a training began with is in its directory then
    for parameter in context.command.get_params(context):
        if goes_on and parameter.name == "model":
            continue
        for text in _texts(context.params.get(parameter.name or "")):
            for path in _paths(parameter, text):
                _check(path, folder=parameter.metavar == "FOLDER")


def _texts(value: Any) -> Iterator[str]:
    """The texts of a parameter that is given once or several times."""
    for each in value if isinstance(value, tuple | list) else (value,):
        if isinstance(each, str):
            yield each


def _paths(parameter: click.Parameter, text: str) -> Iterator[str]:
    """The files and folders that the text of a parameter names."""
    offered = getattr(parameter, "_custom_shell_complete", None)
    if offered is completion.new_paths:
        return
    if offered is completion.paths and (parameter.metavar or "").endswith("[,option=value...]"):
        from karat.vocabulary import split_options

        yield split_options(text)[0]
        return
    if offered is completion.paths:
        yield text.rpartition(":")[0] if parameter.metavar == "CORPUS:K" and ":" in text else text
        return
    if text.startswith("file:"):
        yield text.removeprefix("file:")
        return
    for kind, path in _WITHIN.findall(text):
        if kind or not _NO_PATHS.fullmatch(path):
            yield path
    name = text.partition(",")[0]
    if offered in (completion.embedders, completion.models) and "/" in name and ":" not in name:
        yield name


def _check(path: str, folder: bool) -> None:
    from karat.formats import lacking_part
    from karat.formats.files import no_such_file

    part = lacking_part(path)
    if part is not None and is_address(part):
        raise InputError(f"{part}: an address is read by an engine; write --engine spark")
    if part is not None and not os.path.exists(os.path.expanduser(part)):
        raise InputError(f"{part}: there is no such folder") if folder else no_such_file(part)
