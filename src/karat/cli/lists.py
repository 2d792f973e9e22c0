"""karat list: the protocols, metrics, similarities, formats, models, languages and limits there are."""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from karat.cli import completion
from karat.cli.shared import write_out
from karat.errors import unknown
from karat.inert import inert
from karat.tabular import size

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

EPILOG = """\b
Examples:
  karat list protocols
  karat list protocols chan2019
  karat list metrics -f json
  karat list models
  karat list models keybert
  karat list models DIR1 DIR2
  karat list languages
  karat list languages french zh
"""


@click.command("list", epilog=EPILOG)
@click.argument(
    "what",
    metavar="WHAT",
    type=click.Choice(["protocols", "metrics", "similarities", "formats", "models", "languages", "limits"]),
)
@click.argument("names", nargs=-1, metavar="[NAME...]", shell_complete=completion.listed)
@click.option("-f", "--format", "format_", type=click.Choice(["table", "json"]), default="table")
def list_(what: str, names: tuple[str, ...], format_: str) -> None:
    """List protocols, metrics, similarities, formats, models, languages or limits.

    WHAT is one of these words.
    With the NAME of a protocol: its options, what each says, and what else
    they could say. With the NAME of a model: what its options do; with
    directories of trained generators, models tells of these. Of languages:
    what there is for each, and how it was checked; by name or code.
    """
    lists = {
        "protocols": _protocols,
        "metrics": _metrics,
        "similarities": _similarities,
        "formats": _formats,
        "models": _models,
        "languages": _languages,
        "limits": _limits,
    }
    entries = lists[what]()
    if names:
        if what == "languages":
            names = tuple(map(_language, names))
        entries = {name: _entry(what, name, entries) for name in names}
    if format_ == "json":
        write_out(json.dumps(entries, indent=1, ensure_ascii=False) + "\n")
    elif what == "protocols" and names:
        write_out("\n\n".join("\n".join(_one_protocol(name, entries[name])) for name in names) + "\n")
    elif what == "languages":
        write_out(_table_of_languages(entries, bool(names)))
    else:
        lines = [*_lines(entries), *(line for name in names for line in _about(entries[name]))]
        write_out("\n".join(lines) + "\n")


def _entry(what: str, name: str, entries: dict[str, Any]) -> dict[str, Any]:
    """What there is to say of a name; of models, also of a trained one by its directory."""
    if what == "models" and (trained := _trained(name)) is not None:
        return trained
    if name in entries:
        return dict(entries[name])
    raise unknown("similarity" if what == "similarities" else what[:-1], name, entries)


def _trained(name: str) -> dict[str, Any] | None:
    """What there is to say of a trained generator, by its directory or by the name that a package gives it."""
    from karat.models.find import trained_at
    from karat.models.generators.plugged import described

    path = trained_at(name)
    return described(path) if path is not None and Path(path).is_dir() else None


def _protocols() -> dict[str, Any]:
    from karat.protocol import PRESETS

    return {
        name: {
            "summary": preset.summary + (" (experimental)" if preset.experimental else ""),
            "script": preset.script,
            "options": preset.options(),
        }
        for name, preset in PRESETS.items()
    }


def _metrics() -> dict[str, Any]:
    from karat.metrics.base import METRICS

    return {
        name: {
            "summary": metric.summary,
            "cutoff": metric.cutoff,
            "averages": list(metric.averages),
            "options": dict(metric.defaults),
            "better": metric.better,
        }
        for name, metric in METRICS.load().items()
    }


def _similarities() -> dict[str, Any]:
    from karat.similarity import SIMILARITIES
    from karat.similarity.base import FILE
    from karat.similarity.groups import GROUPS

    listed = {
        name: {
            "summary": found.summary,
            "form": found.form,
            "options": {option: own for option, own in found.options.items() if isinstance(own, str | int | float)},
        }
        for name, found in SIMILARITIES.items()
    }
    theirs = "Scores that were computed elsewhere: lines of prediction, reference and score, JSON or separated by tabs."
    groups = {name: {"summary": f"For `karat human`: {', '.join(members)}."} for name, members in GROUPS.items()}
    return {**listed, f"{FILE}PATH": {"summary": theirs, "form": "surface", "options": {}}, **groups}


def _formats() -> dict[str, Any]:
    from karat.formats import FORMATS

    return {
        name: {
            "summary": form.summary,
            "reads": [role for role in ("corpus", "run") if getattr(form, role)],
            "writes": [role for role in ("corpus", "run") if getattr(form, f"save_{role}")],
        }
        for name, form in FORMATS.items()
    }


def _limits() -> dict[str, Any]:
    from karat.limits import listed

    return listed()


def _languages() -> dict[str, Any]:
    from dataclasses import asdict

    from karat.text.resources import resources

    return {each.name: asdict(each) | {"installed": each.installed} for each in resources()}


def _language(given: str) -> str:
    from karat.text.languages import named

    return named(given)


def _table_of_languages(entries: dict[str, Any], chosen: bool) -> str:
    """What there is for languages, as a table that is as wide as the terminal; of chosen ones, how to get the rest."""
    from karat.output.terminal import terminal
    from karat.tabular import COUNT, TEXT, Column, Table, rows_of

    shown = ("code", "stemmer", "stop_words", "tagger", "here", "sentences", "words", "checked")
    columns = [Column(name.replace("_", " "), COUNT if name == "stop_words" else TEXT) for name in shown]
    here = {None: "–", True: "yes", False: "no"}
    rows = rows_of(
        (name, [(each | {"here": here[each["installed"]]})[column] for column in shown])
        for name, each in entries.items()
    )
    notes = ["`here` says whether the tagger is installed; `karat list languages NAME` says how to install it."]
    if chosen:
        notes = [f"{name}: {each['install']}" for name, each in entries.items() if each["installed"] is False]
    return terminal([Table("", "language", columns, rows, notes=notes)])


def _models() -> dict[str, Any]:
    from karat.models.find import ENDPOINT, offered, own_models

    own = {
        name: {
            "summary": model.summary,
            "needs": list(model.needs),
            "options": dict(model.options),
            "about": (inspect.getdoc(model.make) or "").partition("\n")[2].strip(),
        }
        for name, model in own_models().items()
    }
    theirs = {name: {"summary": _of_package(point), "needs": []} for name, point in offered().items()}
    return {
        **own,
        **theirs,
        f"{ENDPOINT}NAME": {
            "summary": "A language model behind a chat endpoint, with or without examples (--shots).",
            "needs": ["endpoint"],
        },
        "module:function": {
            "summary": "A function that takes a list of documents and gives phrases for each: of an installed module, "
            "or of a file, as ./module.py:function.",
            "needs": [],
        },
    }


def _of_package(point: EntryPoint) -> str:
    """A plug-in in a line: which package it is of, and what that says of itself."""
    if point.dist is None or not point.dist.metadata["Summary"]:
        return f"A plug-in: {point.value}."
    return f"A plug-in of {point.dist.name} {point.dist.version}: {point.dist.metadata['Summary']}"


_NEEDS = {
    "tags": "word classes (a tagger, or a corpus that has them)",
    "frequencies": "document frequencies (--df; else those of the corpus)",
    "embedder": "an embedder (model=...)",
    "training": "training (karat train)",
    "pretrained": "a directory that karat train or another program wrote (model=DIR)",
    "endpoint": "a chat endpoint (--base-url, extra llm)",
}


def _lines(entries: dict[str, Any]) -> Iterator[str]:
    from karat.output.terminal import padded, wrap

    names = {name: inert(name) for name in entries}
    width = max(map(size, names.values())) + 2
    for name, entry in entries.items():
        texts = (line for text in (entry["summary"], *_facts(entry)) for line in wrap(inert(text), 80 - width))
        for number, text in enumerate(texts):
            yield padded("" if number else names[name], width, left=True) + text


def _about(entry: dict[str, Any]) -> Iterator[str]:
    """What else there is to say of one entry, in paragraphs."""
    for paragraph in filter(None, entry.get("about", "").split("\n\n")):
        yield ""
        yield from textwrap.wrap(" ".join(inert(paragraph).split()), 80)


def _facts(entry: dict[str, Any]) -> Iterator[str]:
    """What is said below a summary."""
    options = "".join(f"; {option}={value}" for option, value in entry.get("options", {}).items())
    if "reads" in entry:
        writes = f"; writes {' and '.join(entry['writes'])}" if entry["writes"] else ""
        yield f"reads {' and '.join(entry['reads'])}{writes}"
    if "needs" in entry:
        needs = "; ".join(_NEEDS[need] for need in entry["needs"]) or "nothing more"
        yield f"needs {needs}"
        if options:
            yield f"options {options[2:].replace('; ', ', ')}"
    if "form" in entry:
        yield f"compares {'stems' if entry['form'] == 'stems' else 'words as they are'}{options}"
    if "averages" in entry:
        takes = {"required": "@k needed", "optional": "@k possible", "none": "no cutoff"}[entry["cutoff"]]
        yield f"{takes}; averages {', '.join(entry['averages'])}{options}"


def _one_protocol(name: str, entry: dict[str, Any]) -> Iterator[str]:
    from karat.protocol import KARAT, option_fields

    yield from textwrap.wrap(f"{name}: {entry['summary']}", 80, subsequent_indent="  ")
    if entry["script"]:
        yield from textwrap.wrap(f"reproduces {entry['script']}", 80, subsequent_indent="  ")
    yield "Options marked * differ from karat's own."
    own = KARAT.options()
    for option, (part, field) in option_fields().items():
        value = entry["options"][option]
        known = field.metadata["values"]
        others = [other for other in known if other != value]
        yield ""
        yield f"{'*' if value != own[option] else ' '} {option}={value}"
        yield from _indented(f"{field.metadata['summary']}: {known.get(value, 'as given')} ({part})")
        if others:
            yield from _indented(f"or: {', '.join(others)}")


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, 80, initial_indent="    ", subsequent_indent="    ")
