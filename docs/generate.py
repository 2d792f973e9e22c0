"""The parts of the documents that the program itself knows: `python -m docs.generate` writes them.

A part stands between two comments, `<!-- NAME: written by ... -->` and `<!-- end of NAME -->`, in any of the documents;
what is around it is written by hand. `tests/test_docs.py` says whether every part is fresh.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path

import click

import karat.metrics  # registers them
from docs import ledger
from karat.cli import karat as command
from karat.formats import FORMATS
from karat.limits import listed
from karat.metrics.base import METRICS, Metric
from karat.options import About, about
from karat.options import option_fields as option_fields_of
from karat.protocol import PRESETS, option_fields
from karat.similarity import SIMILARITIES, Similarity
from karat.text.resources import resources
from karat.vocabulary import VocabularyOptions

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))

_PART = re.compile(r"(?P<start><!-- (?P<name>\w+): written by [^\n]*-->\n).*?(?P<end><!-- end of (?P=name) -->)", re.S)


def refreshed(text: str) -> str:
    """A document's text with every generated part made anew."""
    return _PART.sub(lambda part: f"{part['start']}\n{PARTS[part['name']]()}\n{part['end']}", text)


def parts_of(text: str) -> list[str]:
    """The names of the generated parts of a document's text."""
    return [part["name"] for part in _PART.finditer(text)]


def main() -> None:
    """Writes every generated part anew, and says which documents changed."""
    for path in DOCUMENTS:
        before = path.read_text(encoding="utf-8")
        after = refreshed(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(path.relative_to(ROOT))


# ---------------------------------------------------------------------------------------------- protocols


def options() -> str:
    """Every option with its values and their meaning, and a table of every protocol's choice."""
    lines: list[str] = []
    for part in ("matching", "counting"):
        lines += [f"### {part.capitalize()}", ""]
        for name, (of, field) in option_fields().items():
            if of == part:
                values = "; ".join(f"`{value}` {meaning}" for value, meaning in field.metadata["values"].items())
                free = {"number": "; or a number", "language": "; or a language of Snowball", None: ""}[
                    field.metadata["free"]
                ]
                lines.append(f"* **{name}**, {field.metadata['summary']}: {values}{free}.")
        lines.append("")
    names = list(PRESETS)
    lines += ["### Choices", "", *_table(["option", *names], _choices(names))]
    return "\n".join([*lines, "", "An empty cell is karat's own choice."]) + "\n"


def _choices(names: list[str]) -> Iterator[list[str]]:
    for option, own in PRESETS["karat"].options().items():
        others = (PRESETS[name].options()[option] for name in names[1:])
        yield [option, own, *("" if value == own else value for value in others)]


def _table(heads: list[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|:--" * len(heads) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


# ---------------------------------------------------------------------------------------------- formats


def formats() -> str:
    """A table of the formats: what each is, what can be read of it, what written."""
    rows = (
        [f"`{name}`", _cell(form.summary), _roles(form.corpus, form.run), _roles(form.save_corpus, form.save_run)]
        for name, form in FORMATS.items()
    )
    return "\n".join(_table(["format", "what it is", "reads", "writes"], rows)) + "\n"


def limits() -> str:
    """A table of the limits: how much each is, and of what."""
    rows = ([f"`{name}`", each["default"], each["about"]] for name, each in listed().items())
    return "\n".join(_table(["limit", "default", "of what"], rows)) + "\n"


def vocabulary() -> str:
    """A table of the options of a vocabulary: the default of each, and what it does."""
    fields = list(option_fields_of(VocabularyOptions))
    rows = (
        [f"`{each.name}`", f"`{each.default}`" if each.default else "–", _cell(_help_with_values(about(each)))]
        for each in fields
    )
    return "\n".join(_table(["option", "default", "what it does"], rows)) + "\n"


def _help_with_values(known: About) -> str:
    meanings = known.values.items() if isinstance(known.values, Mapping) else ()
    said = "; ".join(f"`{value}`: {meaning}" for value, meaning in meanings)
    return f"{known.help} {said}." if said else known.help


def languages() -> str:
    """A table of the languages: what there is for each, and how it was checked."""
    rows = (
        [
            each.name,
            f"`{each.code}`",
            each.stemmer,
            str(each.stop_words or "–"),
            each.tagger if each.tagger == "–" else f"`{each.tagger}`",
            each.sentences,
            each.words,
            each.checked,
        ]
        for each in resources()
    )
    heads = ["language", "code", "stemmer", "stop words", "tagger", "sentences", "words", "checked"]
    return "\n".join(_table(heads, rows)) + "\n"


def _roles(corpus: object, run: object) -> str:
    return ", ".join(role for role, there in (("corpus", corpus), ("run", run)) if there is not None)


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|")


# ---------------------------------------------------------------------------------------------- metrics


def metrics() -> str:
    """Every metric by the module of its kernel: what it is, how it is asked for, what it can be told."""
    lines: list[str] = []
    for module, group in groupby(METRICS.load().values(), key=lambda metric: metric.function.__module__):
        about = inspect.getdoc(import_module(module)) or ""
        lines += [f"## {module.rpartition('.')[2].capitalize()}", "", _prose(about), ""]
        for metric in group:
            lines += [
                f"### `{metric.name}`",
                "",
                _prose(inspect.getdoc(metric.function) or ""),
                "",
                *_facts(metric),
                "",
            ]
    return "\n".join(lines)


_CUTOFF = {"required": "needed, as `{0}@5` or `{0}@M`", "optional": "possible, as `{0}` or `{0}@5`", "none": "none"}


def _facts(metric: Metric) -> Iterator[str]:
    yield f"* cutoff: {_CUTOFF[metric.cutoff].format(metric.name)}"
    chosen = "; the protocol chooses" if metric.default_average else ""
    yield f"* average: {', '.join(f'`{average}`' for average in metric.averages)}{chosen}"
    if metric.defaults:
        yield f"* options: {', '.join(f'`{option}={value}`' for option, value in metric.defaults.items())}"
    yield f"* better: {metric.better or 'neither'}"


def _prose(text: str) -> str:
    """Text of a docstring as Markdown: examples become blocks, and what looks like a tag stays text."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(f"```pycon\n{p}\n```" if p.startswith(">>> ") else _without_tags(p) for p in paragraphs)


def _without_tags(paragraph: str) -> str:
    """The paragraph with `<` escaped where it is not code."""
    pieces = paragraph.split("`")
    return "`".join(piece if i % 2 else piece.replace("<", "\\<") for i, piece in enumerate(pieces))


# ---------------------------------------------------------------------------------------------- similarities


def similarities() -> str:
    """A table of the similarities of two phrases: what each is, what it compares, what it can be told."""
    rows = (
        [f"`{name}`", _cell(found.summary), found.form, ", ".join(f"`{option}`" for option in _settable(found))]
        for name, found in SIMILARITIES.items()
    )
    return "\n".join(_table(["similarity", "what it is", "compares", "options"], rows)) + "\n"


def _settable(found: Similarity) -> Iterator[str]:
    return (f"{option}={own}" for option, own in found.options.items() if isinstance(own, str | int | float))


# ---------------------------------------------------------------------------------------------- models


def models() -> str:
    """A table of the models: what each does, what it needs, what it can be told."""
    from karat.models.find import own_models

    own_models()  # registers them, in their order
    from karat.models.base import MODELS

    rows = (
        [
            f"`{name}`",
            _cell(model.summary),
            ", ".join(model.needs),
            ", ".join(f"`{option}={value}`" for option, value in model.options.items()),
        ]
        for name, model in MODELS.items()
    )
    return "\n".join(_table(["model", "what it does", "needs", "options"], rows)) + "\n"


# ---------------------------------------------------------------------------------------------- the command

WIDTH = 78  # what click leaves of a terminal of 80 columns


def verbs() -> str:
    """The help of the command and of every verb, as a terminal of 80 columns shows it."""
    return "\n".join(
        f"{'#' * max(2, name.count(' ') + 1)} `{name}`\n\n```text\n{verb.get_help(context)}\n```\n"
        for name, verb, context in walk(command)
    )


def walk(
    verb: click.Command, name: str = "karat", parent: click.Context | None = None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """(full name, command, context) of a command and of all commands below it."""
    settings = {**verb.context_settings, "terminal_width": WIDTH}
    context = click.Context(verb, parent=parent, info_name=name.rpartition(" ")[2], **settings)
    yield name, verb, context
    if isinstance(verb, click.Group):
        for below in verb.list_commands(context):
            found = verb.get_command(context, below)
            if found is not None and not found.hidden:
                yield from walk(found, f"{name} {below}", context)


# ---------------------------------------------------------------------------------------------- the library


def api() -> str:
    """Every public name: functions with their signatures and options, then classes with what they have."""
    public = [(name, getattr(karat, name)) for name in karat.__all__]
    functions = [(name, found) for name, found in public if inspect.isfunction(found)]
    classes = [(name, found) for name, found in public if inspect.isclass(found)]
    lines = ["## Functions", ""]
    for name, function in functions:
        lines += [
            f"### `karat.{name}`",
            "",
            "```text",
            *_signature(name, function),
            "```",
            "",
            _docstring(function),
            "",
        ]
        if hasattr(function, "options"):
            lines += [*_table(["option", "default", "what it does"], _options(function.options)), ""]
    lines += ["## Classes", ""]
    for name, kind in classes:
        lines += [f"### `karat.{name}`", "", _docstring(kind), "", *_members(kind), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _signature(name: str, function: Callable[..., object]) -> Iterator[str]:
    """The signature, a parameter a line."""
    found = inspect.signature(function)
    yield f"karat.{name}("
    marked = False
    for each in found.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not marked:
            yield "    *,"
        marked = marked or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        star = "*" if each.kind is each.VAR_POSITIONAL else ""
        default = "" if each.default is each.empty else f" = {_code(each.default)}"
        yield f"    {star}{each.name}: {each.annotation}{default},"
    yield f") -> {found.return_annotation}"


def _code(value: object) -> str:
    """A default as it is written in Python."""
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value) if value is None or isinstance(value, bool | int | float | tuple) else type(value).__name__


def _options(kind: type) -> Iterator[list[str]]:
    """A line for each option of a class: what it is called, its default, what it does and which values it has."""
    for each in option_fields_of(kind):
        known = about(each)
        off = "With `False`: " if known.flags and known.flags[0].startswith("--no-") else ""
        values = f" One of {', '.join(f'`{value}`' for value in known.values)}." if known.values else ""
        default = "" if each.default is MISSING else f"`{_code(each.default)}`"
        otherwise = f": {known.otherwise}" if known.otherwise else ""
        yield [f"`{each.name}`", _cell(default + otherwise), _cell(off + known.help + values)]


def _docstring(found: object) -> str:
    """The docstring as Markdown; its examples are run where they stand, and only shown here."""
    return _prose(inspect.getdoc(found) or "").replace("```pycon", "```text")


def _members(kind: type) -> Iterator[str]:
    """A line for each public method and property that a class defines, or has of a class of karat."""
    for name, found in inspect.getmembers_static(kind):
        plain = found.__func__ if isinstance(found, classmethod | staticmethod) else found
        target = plain.fget if isinstance(plain, property) else plain
        home = getattr(target, "__module__", "")
        if name.startswith("_") or not inspect.isfunction(target) or not home.startswith("karat"):
            continue
        called = "" if isinstance(plain, property) else str(inspect.signature(target)).replace("'", "")
        called = re.sub(r"\((?:self|cls)(?:, )?", "(", called)
        about_it = (inspect.getdoc(target) or "").split("\n")[0]
        yield f"* `{name}{called}`: {_without_tags(about_it)}"


PARTS: dict[str, Callable[[], str]] = {
    "options": options,
    "formats": formats,
    "limits": limits,
    "vocabulary": vocabulary,
    "languages": languages,
    "metrics": metrics,
    "similarities": similarities,
    "models": models,
    "verbs": verbs,
    "api": api,
    "ledger": ledger.summary,
    **{f"ledger_{name}": partial(ledger.page, name) for name in ledger.NAMES},
}


if __name__ == "__main__":
    main()
