"""Which model is meant: one of karat's own, a plug-in, or a language model behind an endpoint; each with its options.

A plug-in is any function that takes a list of documents and gives as many results. It is named `module:function`, where
the module is installed, `./module.py:function`, where it is a file, or by the name under which an installed package
offers it in the entry-point group `karat.models`. What a package offers there may also be the path of a trained model:
its directory, or the file of a kea.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, fields
from functools import partial
from hashlib import blake2b
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from types import ModuleType
from typing import Any, get_type_hints

import msgspec

from karat.corpus import Document, Phrase, Prediction, text_of_id
from karat.engines import received
from karat.errors import InputError, KaratError, unknown
from karat.formats.base import brief, quoted
from karat.isolation import installed_packages
from karat.models.base import MODELS, CommonOptions, Model, Predict, settled
from karat.models.generators.checkpoint import read_card
from karat.models.generators.settings import GENERATORS
from karat.record import note_input, recording_imports

GROUP = "karat.models"
ENDPOINT = "llm:"
DEFAULT = "multipartiterank"
COMMA = re.compile(r"(?<!\\),")  # between a model and its options; one of a value is written \,
KEA = "kea"  # the only model that is trained into a file

PlugIn = Callable[..., Iterable[Any]]  # (documents, option=...) -> as many results

_COMMON = frozenset(field.name for field in fields(CommonOptions)) - {"threads"}


class ContractError(InputError):
    """A plug-in does not do what every model does, whatever the documents."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as it was requested: by name or as a function, with the options that were given."""

    name: str
    options: Mapping[str, Any]
    function: PlugIn | None = None

    def find(self) -> Model:
        """The model with its options, each of them checked."""
        function = self.plug_in()
        if function is not None:
            return _plug_in(self.name, function, self.options)
        return settled(MODELS[self.name], self.options)

    def plug_in(self) -> PlugIn | None:
        """The function that somebody else wrote; None for a model of karat's own."""
        return self.function if self.function is not None else _function_of(self.name)

    @property
    def asks_endpoint(self) -> bool:
        """Whether it is a language model behind an endpoint."""
        return self.function is None and self.name.startswith(ENDPOINT)

    @property
    def foreign(self) -> bool:
        """Whether somebody else wrote it."""
        return self.function is not None or ":" in self.name or self.name not in own_models()


def parse_model(model: str | PlugIn, options: Mapping[str, Any] | None = None) -> ModelSpec:
    r"""The model that `NAME,option=value...` or a function stands for. Raises InputError if an option has no value.

    A comma of a value is written `\,`.

    >>> parse_model("kpminer,lasf=2").options
    {'lasf': '2'}
    >>> parse_model(r"seq2seq,separator=\,,beam=5").options
    {'separator': ',', 'beam': '5'}
    """
    if not isinstance(model, str):
        return ModelSpec(getattr(model, "__name__", type(model).__name__), dict(options or {}), model)
    name, *settings = (part.strip().replace(r"\,", ",") for part in COMMA.split(model))
    given: dict[str, Any] = {}
    for setting in settings:
        option, equals, value = setting.partition("=")
        if not equals or not option:
            raise InputError(
                f"{model}: {setting!r} is no option; write NAME,option=value, and \\, for a comma of a value"
            )
        given[option.strip()] = value.strip()
    path = trained_at(name)
    if path is not None:
        kind = read_card(path).model if os.path.isdir(path) else KEA
        return ModelSpec(kind, {"model": path} | given | dict(options or {}))
    return ModelSpec(name, given | dict(options or {}))


def trained_at(name: str) -> str | None:
    """Where a trained model is that is named by its directory or offered by a package; None for all other models."""
    if name in own_models():
        return None
    folder = os.path.expanduser(name)
    if os.path.isdir(folder):
        return folder
    points = {} if ":" in name else offered()
    found = _load(points[name]) if name in points else None
    return os.fspath(found) if isinstance(found, os.PathLike) else None


def own_models() -> dict[str, Model]:
    """The models that karat brings along, by name."""
    import_module("karat.models.all")
    for name in GENERATORS:  # listed last, whichever module was imported first
        MODELS[name] = MODELS.pop(name)
    return MODELS


def offered() -> dict[str, EntryPoint]:
    """The models that installed packages offer, by name."""
    with installed_packages():
        return {point.name: point for point in entry_points(group=GROUP)}


def _function_of(name: str) -> PlugIn | None:
    """The plug-in of a name; None where it is a model of karat's own."""
    if name.startswith(ENDPOINT):
        raise InputError(f"{name}: a language model is asked for whole corpora, by karat predict or karat.predict")
    if ":" in name:
        return _imported(name)
    if name in own_models():
        return None
    points = offered()
    if name in points:
        return _callable(name, _load(points[name]))
    raise unknown("model", name, [*MODELS, *points, f"{ENDPOINT}MODEL", "module:function", "./module.py:function"])


# ---------------------------------------------------------------------------------------------- plug-ins


def plug_in_file(name: str) -> str | None:
    """Return the path of the file that `./module.py:function` names; None if `name` is no such plug-in.

    >>> plug_in_file("./my_models.py:first_words"), plug_in_file("my_models:first_words")
    ('./my_models.py', None)
    """
    module, colon, _ = name.rpartition(":")
    return module if colon and ("/" in module or os.sep in module) else None


def _imported(name: str) -> PlugIn:
    """Return the function of an installed module, or of a file. Raises InputError if there is none."""
    module, _, path = name.rpartition(":")
    if not module or not path:
        raise InputError(f"{name}: a plug-in is named module:function or ./module.py:function")
    file = _existing_file(name)
    try:
        found = _import(module) if file is None else _import_file(file)
    except ModuleNotFoundError as error:
        raise InputError(f"{name}: {_lacking(module, file, error.name or '')}") from None
    except Exception as error:
        raise InputError(f"{name}: the module cannot be imported: {reason(error)}") from error
    for part in path.split("."):
        there = [each for each, value in vars(found).items() if callable(value) and each[0] != "_"]
        if not hasattr(found, part):
            raise unknown(f"function of {module}", part, there)
        found = getattr(found, part)
    return _callable(name, found)


def _existing_file(name: str) -> str | None:
    """Return where this process finds the file of a plug-in; None for one that is installed."""
    path = plug_in_file(name)
    if path is None:
        return None
    file = os.path.abspath(os.path.expanduser(received(path)))
    if not file.endswith(".py") or not os.path.isfile(file):
        raise InputError(f"{name}: a plug-in is ./FILE.py:FUNCTION, and there is no file {path} that ends with .py")
    return file


def _lacking(module: str, file: str | None, lacking: str) -> str:
    """Return what is not installed: the module of a plug-in, or one that it needs; with what to write instead."""
    if file is None:
        stem = module.removesuffix(".py").replace(".", "/")
        beside = [path for path in (f"./{stem}.py", f"./{stem}/__init__.py") if os.path.isfile(path)]
        if module == lacking or module.startswith(f"{lacking}."):
            hint = f"; to run {beside[0]}, write {beside[0]}:FUNCTION" if beside else ""
            return f"no module {module!r} is installed{hint}"
        return f"the module needs {lacking!r}, which is not installed"
    top = lacking.partition(".")[0]
    beside = [path for path in (f"{top}.py", top) if os.path.exists(os.path.join(os.path.dirname(file), path))]
    hint = f"; to import {beside[0]} beside it, write `from . import {top}`" if beside else ""
    return f"the module needs {lacking!r}, which is not installed{hint}"


def _import(module: str) -> Any:
    if module in sys.modules:
        return sys.modules[module]
    with recording_imports(), installed_packages():
        return import_module(module)


def _import_file(file: str) -> Any:
    """Return the module of a file, in a package that stands for its folder, so that `from . import` finds others."""
    note_input(file)
    folder, stem = os.path.dirname(file), os.path.basename(file).removesuffix(".py")
    package = f"karat_plug_in_{blake2b(os.fsencode(folder), digest_size=8).hexdigest()}"
    name = f"{package}.{stem}"
    if name in sys.modules:
        return sys.modules[name]
    if package not in sys.modules:
        sys.modules[package] = parent = ModuleType(package)
        parent.__path__ = [folder]
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        with recording_imports():
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _load(point: EntryPoint) -> Any:
    """What a package offers: a function, or the path of a trained model."""
    try:
        with installed_packages():
            return point.load()
    except Exception as error:
        raise InputError(f"{point.name}: the plug-in {point.value} cannot be loaded: {reason(error)}") from error


def _callable(name: str, found: Any) -> PlugIn:
    if not callable(found):
        raise InputError(f"{name}: a model is a function from documents to phrases, not {type(found).__name__}")
    return found  # type: ignore[no-any-return]


def _plug_in(name: str, function: PlugIn, options: Mapping[str, Any]) -> Model:
    """A plug-in as a model; its keyword arguments are its options, or receive the common option of that name."""
    _callable(name, function)
    known, anything = _parameters(name, function)
    summary = (inspect.getdoc(function) or "a plug-in").split("\n")[0]
    make = _with_hints(partial(_made, name, function), function)
    own = {option: default for option, default in known.items() if option not in _COMMON}
    needed = [option for option, default in own.items() if default is inspect.Parameter.empty]
    lacking = [option for option in needed if option not in options]
    if lacking:
        raise InputError(f"{name}: the plug-in needs an option {lacking[0]}; write {name},{lacking[0]}=VALUE")
    strange = {option: "" for option in options if option not in own and anything}
    found = Model(name, summary, needs=(), make=make, options=own | dict.fromkeys(needed) | strange)
    return settled(found, options)


def _with_hints(make: Any, function: PlugIn) -> Any:
    """What makes the model, with the types of the plug-in's arguments, by which options are checked."""
    try:
        make.__annotations__ = get_type_hints(function)
    except Exception:  # a type that cannot be resolved: nothing can be checked by it
        make.__annotations__ = {}
    return make


def _parameters(name: str, function: PlugIn) -> tuple[dict[str, Any], bool]:
    """(the arguments after the first, with their defaults; whether any other is taken)."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # written in another language: nothing is known of it
        return {}, True
    first = parameters[0] if parameters else None
    if first is None or first.kind is first.KEYWORD_ONLY:
        raise InputError(f"{name}: a model takes a list of documents; this function takes no argument for it")
    known = {p.name: p.default for p in parameters[1:] if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    return known, any(p.kind is p.VAR_KEYWORD for p in parameters)


def _made(name: str, function: PlugIn, common: CommonOptions, **options: Any) -> Predict:
    """The plug-in as it is called: it gets the common options that it has a keyword for, and gives predictions."""
    known, _ = _parameters(name, function)
    arguments = {each: getattr(common, each) for each in _COMMON if each in known} | options

    def predict(documents: Sequence[Document]) -> list[Prediction]:
        with redirect_stdout(sys.stderr):  # standard output is for results
            found = _as_list(name, function(list(documents), **arguments), len(documents))
        pairs = zip(documents, found, strict=True)
        return [as_prediction(result, document, common.n) for document, result in pairs]

    return predict


def _as_list(name: str, results: Any, count: int) -> list[Any]:
    """The results, as many as there are documents."""
    if isinstance(results, str | bytes | Mapping) or not isinstance(results, Iterable):
        raise ContractError(f"{name}: a model gives a list with a result for each document, not {_kind(results)}")
    found = list(islice(results, count + 1))
    if len(found) != count:
        many = f"more than {count:,}" if len(found) > count else f"{len(found):,}"
        raise ContractError(f"{name}: {many} results for {count:,} documents; a model gives one for each, in order")
    return found


def _kind(value: Any) -> str:
    return "nothing (None)" if value is None else type(value).__name__


def as_prediction(result: Any, document: Document, n: int) -> Prediction:
    """The first n phrases of a result as a prediction: phrases, (phrase, score) pairs, a dict or a Prediction.

    >>> found = as_prediction([("a b", 2), ("c", 1)], Document(id="d1"), 10)
    >>> found.id, found.keyphrases, found.scores
    ('d1', ['a b', 'c'], [2.0, 1.0])
    """
    if isinstance(result, Prediction | Mapping):
        return _cut(_converted(result, document), n)
    if isinstance(result, str | bytes) or not isinstance(result, Iterable):
        raise InputError(f"a list of phrases is wanted, not {_kind(result)}")
    given = list(result)
    if all(isinstance(each, str) for each in given):
        return _cut(Prediction(id=document.id, keyphrases=given), n)
    phrases: list[Phrase] = []
    scores: list[float | None] = []
    for each in given:
        phrase, score = _pair(each)
        phrases.append(phrase)
        scores.append(score)
    return _cut(Prediction(id=document.id, keyphrases=phrases, scores=scores), n)


def _pair(each: Any) -> tuple[str, float]:
    try:
        phrase, score = each
        if isinstance(phrase, str) and not isinstance(each, str):
            return phrase, float(score)
    except (TypeError, ValueError):
        pass
    raise InputError(f"phrases are wanted, or (phrase, score) pairs, one as the other, not {brief(repr(each), 80)}")


def _converted(result: Prediction | Mapping[str, Any], document: Document) -> Prediction:
    """A dict as a prediction, which must be this document's where it says whose it is."""
    if isinstance(result, Mapping):
        strange = set(result) - set(Prediction.__struct_fields__)
        if strange:
            raise unknown("field of a prediction", str(min(map(str, strange))), Prediction.__struct_fields__)
        try:
            result = msgspec.convert(dict(result), Prediction)
        except msgspec.ValidationError as error:
            raise InputError(f"this is no prediction: {error}") from None
    if result.id is not None and text_of_id(result.id) != text_of_id(document.id):
        raise InputError(f"the result is that of document {quoted(str(result.id))}")
    return msgspec.structs.replace(result, id=document.id, keyphrases=result.keyphrases or [])


def _cut(prediction: Prediction, n: int) -> Prediction:
    """The prediction with its first n phrases, and with the scores and kinds of these."""
    if len(prediction.keyphrases or ()) <= n:
        return prediction
    values = {name: getattr(prediction, name) for name in Prediction.__struct_fields__[1:]}
    cut = {name: value[:n] for name, value in values.items() if value is not None}
    return msgspec.structs.replace(prediction, **cut)


def reason(error: BaseException) -> str:
    """What an error of somebody else's code says, and where it was raised."""
    if isinstance(error, KaratError):
        return str(error)
    trace, where = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<"):
            where = f" ({os.path.basename(file)}, line {trace.tb_lineno})"
        trace = trace.tb_next
    said = brief(str(error), 200)
    return f"{type(error).__name__}{': ' if said else ''}{said}{where}"
