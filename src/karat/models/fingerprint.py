"""What a run depends on, as a short text: by content, so that a file may be moved, touched or packed anew."""

from __future__ import annotations

import inspect
import sys
from contextlib import suppress
from dataclasses import fields
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from karat.corpus import Corpus
from karat.embed.model import package_directory
from karat.formats.content import file_hash, folder_hash
from karat.models.base import CommonOptions
from karat.models.find import ModelSpec, PlugIn, plug_in_file
from karat.text.languages import named
from karat.text.tags import own_tagger

_APART = ("frequencies", "threads", "guessed")  # the first is looked at apart, the others change nothing


def fingerprint(
    spec: ModelSpec,
    common: CommonOptions,
    corpus: Corpus,
    vocabulary: str | None = None,
    documents: str | None = None,
) -> str:
    """The fingerprint of a model's run on a corpus, whose documents may be hashed already.

    It covers the documents, the model with its options and the files that these name, the source of a plug-in, and
    the options that all models share; with a vocabulary, also the signature of that.
    """
    values = {field.name: getattr(common, field.name) for field in fields(common) if field.name not in _APART}
    counts = None if common.frequencies is None else (common.frequencies.documents, dict(common.frequencies.counts))
    options = {name: _of_value(value) for name, value in spec.options.items()}
    function = spec.plug_in()
    source = None if function is None else _of_source(function)
    parts: tuple[Any, ...] = (
        spec.name,
        options,
        values,
        counts,
        _of_tagger(common.tagger or own_tagger(named(common.language))),
        source,
        documents or _of_documents(corpus),
    )
    parts += () if vocabulary is None else (vocabulary,)
    return blake2b(msgspec.msgpack.encode(parts), digest_size=16).hexdigest()


def _of_documents(corpus: Corpus) -> Any:
    """The documents as they are read."""
    found = blake2b(digest_size=32)
    for document in corpus:
        found.update(msgspec.msgpack.encode(document))
    return found.digest()


def _of_value(value: Any) -> Any:
    """An option's value, or what the file or folder holds that it names."""
    if not isinstance(value, str | Path):
        return repr(value)
    layer = str(value).partition(",layer=")[2]
    with suppress(OSError, ValueError):
        path = Path(_named_by(str(value))).expanduser()
        if path.is_file():
            return file_hash(path), layer
        if path.is_dir():
            return folder_hash(path), layer
    return str(value)


def _named_by(value: str) -> str:
    """The path that an option's value may name."""
    text = value.partition(",layer=")[0]
    if text.startswith("package:"):
        return str(package_directory(text.removeprefix("package:")))
    return text.removeprefix("vectors:")


def files_of(spec: ModelSpec) -> dict[str, str]:
    """The files and folders that options of a model name, by option; those of installed packages are not among them."""
    named = {
        name: _named_by(str(value))
        for name, value in spec.options.items()
        if isinstance(value, str | Path) and not str(value).startswith("package:")
    }
    return {name: path for name, path in named.items() if _exists(path)}


def module_of(spec: ModelSpec) -> str | None:
    """The file of a plug-in that is named by its path, which other machines do not have."""
    return plug_in_file(spec.name) if spec.function is None else None


def _exists(path: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(path).expanduser().exists()
    return False


def _of_tagger(tagger: str | None) -> str | None:
    """The version of the model that a tagger names."""
    with suppress(PackageNotFoundError, ValueError):
        return version((tagger or "").partition(":")[2])
    return None


def _of_source(function: PlugIn) -> Any:
    """The source of a plug-in: its module, and the modules beside it or in its package that are loaded with it."""
    module = inspect.getmodule(function)
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return repr(getattr(function, "__code__", function))
    top = sys.modules.get(module.__name__.partition(".")[0], module)
    root = Path(_file_of(top) or file).resolve().parent
    alone = "site-packages" in root.parts and not hasattr(top, "__path__")  # its neighbours are strangers
    loaded = [Path(file)] if alone else [Path(each) for each in map(_file_of, list(sys.modules.values())) if each]
    own = {path.resolve() for path in loaded if path.suffix == ".py" and root in path.resolve().parents}
    return sorted((path.relative_to(root).as_posix(), file_hash(path)) for path in own if path.is_file())


def _file_of(module: Any) -> str | None:
    found = getattr(module, "__file__", None)
    return found if isinstance(found, str) else None
