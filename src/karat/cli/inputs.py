"""Every file that a command is to read is looked for, and every output compared with them, before it begins to work.

Which of its arguments and flags name files is seen from what the shell offers for them: `completion.paths` for files
that are read, `completion.new_paths` for those that are written, `completion.embedders` for embedders. Metrics,
similarities and models carry paths in their text: `file:PATH`, `vectors:PATH`, `placed:PATH`, `model=PATH`,
`baseline=FILE`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from importlib.machinery import PathFinder
from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import echo_reading_notes
from karat.engines import is_address
from karat.errors import InputError
from karat.record import note_input, note_output, recording

_WITHIN = re.compile(r"(?:^|[,=])(?:(file:|vectors:|placed:)|model=(?!vectors:)|baseline=(?=.*[./]))([^,]+)")
STUDY_FILES = ("*.json",)  # of the folder of a study, those that are read again
_NO_PATHS = re.compile(r"hash|random|package:.*|hf:.*")


def files_first(body: Callable[..., Any]) -> Callable[..., Any]:
    """The body of a command, which begins once every file that it reads is seen to be there.

    In the end it says what there is to say of how they were read.
    """

    @wraps(body)
    def checked(*given: Any, **options: Any) -> Any:
        context = click.get_current_context()
        with recording():
            check_inputs(context)
            _check_outputs(context)
            outcome = body(*given, **options)
            echo_reading_notes()
            return outcome

    return checked


def check_inputs(context: click.Context) -> None:
    """Note the files and folders that the arguments and flags of a command name; InputError where one is not there."""
    goes_on = bool(context.params.get("resume"))  # what a training began with is in its directory then
    for parameter in context.command.get_params(context):
        if goes_on and parameter.name == "model":
            continue
        for text in _texts(context.params.get(parameter.name or "")):
            for path in _paths(parameter, text):
                _check(path, folder=parameter.metavar == "FOLDER")
                _note(path, parameter)
            for path in _other_paths(parameter, text):
                note_input(path)


def _check_outputs(context: click.Context) -> None:
    """Raise InputError for the first output that is an input, lies in one, or is another output, too."""
    flags: dict[str, str] = {}  # by the real path of the output
    for parameter in context.command.get_params(context):
        if _offered(parameter) is completion.new_paths:
            for text in _texts(context.params.get(parameter.name or "")):
                if not text:
                    raise InputError(f"{min(parameter.opts, key=len)} is empty; name a file or a folder")
                for path in [text] if os.path.exists(text) else text.split("+"):
                    if not is_address(path) and (os.path.isfile(path) or os.path.isdir(path) or not _exists(path)):
                        note_output(path)
                        _check_other_outputs(path, min(parameter.opts, key=len), flags)


def _check_other_outputs(path: str, flag: str, flags: dict[str, str]) -> None:
    """Note the flag of an output. Raises InputError if the same file was named before."""
    other = flags.get(real := os.path.realpath(path))
    if other == flag:
        raise InputError(f"{flag} names {path} twice: name two files")
    if other is not None:
        first, second = sorted((flag, other), key=len)
        raise InputError(f"{first} and {second} are both {path}: name two files")
    flags[real] = flag


def _offered(parameter: click.Parameter) -> Any:
    return getattr(parameter, "_custom_shell_complete", None)


def _note(text: str, parameter: click.Parameter) -> None:
    """Note a file or folder that is read; of a study and its answers, the files that `collect` reads."""
    from karat.formats import parts_of

    for path in map(os.path.expanduser, parts_of(text)):
        if parameter.metavar == "STUDY":
            note_input(path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path)), STUDY_FILES)
        else:
            note_input(path)


def _other_paths(parameter: click.Parameter, text: str) -> Iterator[str]:
    """Further files that the text of a parameter may name: pieces of it, a trained model, the module of a plug-in."""
    offered = _offered(parameter)
    if offered is completion.new_paths:
        return
    pieces = {text, text.rpartition(":")[0], text.partition("=")[2], text.partition(":")[2]}
    pieces.update(re.split("[=,+]", text), re.split("[=,+:]", text))
    yield from (piece for piece in pieces if piece and _is_file(piece))
    if offered is completion.formats_and_paths and os.path.isdir(text):
        yield text
    if offered is completion.models:
        for name in text.split(","):
            yield from _model_paths(name.strip())


def _model_paths(name: str) -> Iterator[str]:
    """The directory of a trained model, or the module of a plug-in `module:function` and those of its packages."""
    module, colon, _ = name.partition(":")
    if colon:
        search = [os.getcwd(), *sys.path]
        for part in module.split("."):
            spec = PathFinder.find_spec(part, search) if part else None
            if spec is None:
                return
            search = list(spec.submodule_search_locations or ())
            yield spec.origin or ""
    elif os.path.isdir(os.path.expanduser(name)):
        from karat.models.find import trained_at

        yield trained_at(name) or ""


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a text that holds a zero byte
        return False


def _exists(path: str) -> bool:
    try:
        return os.path.exists(path)
    except ValueError:
        return False


def _texts(value: Any) -> Iterator[str]:
    """The texts of a parameter that is given once or several times."""
    for each in value if isinstance(value, tuple | list) else (value,):
        if isinstance(each, str):
            yield each


def _paths(parameter: click.Parameter, text: str) -> Iterator[str]:
    """The files and folders that the text of a parameter names."""
    offered = _offered(parameter)
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
