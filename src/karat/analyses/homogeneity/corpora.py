"""Homogeneity on several corpora, in one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from karat.analyses.homogeneity.flat import OF_LISTS
from karat.analyses.homogeneity.result import CORRELATIONS, Homogeneity
from karat.analyses.homogeneity.tables import LIST_COLUMNS, UNRELATED
from karat.errors import InputError, counted, unknown
from karat.formats.load import load_json
from karat.results.displayed import Displayed
from karat.tabular import COUNT, Cell, Column, Group, Kind, Row, Table, number, with_ends


def language_of(language: str | None, corpus: str) -> str | None:
    """The language of a corpus, where one is given for all, or for each by its name.

    >>> language_of("french", "a"), language_of("a=french,b=spanish", "b"), language_of("a=french", "b")
    ('french', 'spanish', None)
    """
    if language is None or "=" not in language:
        return language
    return dict(_named(language)).get(corpus)


def _named(language: str) -> list[tuple[str, str]]:
    """(corpus, language) of each."""
    found = []
    for part in language.split(","):
        name, equals, own = part.rpartition("=")
        if not equals or not name.strip() or not own.strip():
            raise InputError(f"--language {language}: write one language, or CORPUS=LANGUAGE,CORPUS=LANGUAGE")
        found.append((name.strip(), own.strip()))
    return found


def check_languages(language: str | None, corpora: Sequence[str]) -> None:
    """Raises InputError if a language is given for a corpus that there is none of."""
    for name, _ in _named(language) if language and "=" in language else ():
        if name not in corpora:
            raise unknown("corpus", name, corpora)


# ---------------------------------------------------------------------------------------------- several results


class _Saved(msgspec.Struct):
    """What is read of a result of `karat homogeneity` as it is written in JSON."""

    signatures: dict[str, str]
    rows: list[dict[str, Any]]
    ceilings: list[dict[str, Any]]
    options: dict[str, Any]
    notes: list[str] = []
    components: int | None = None
    largest_component: int | None = None
    rouge: float | None = None
    wer: float | None = None


FIGURES = ("hooper", "rodgers")
ALPHA = 0.05
LARGEST = 2**63  # numbers of a result are below it
HINT = "give files that `karat homogeneity -o FILE.json` wrote"
GATHERED = (
    "hooper: phrases that both documents of a pair have over those that either has; rodgers: the same of words; gen.: "
    "share of all predictions that are not in their document.",
    f"Correlations are of hooper; * p < {ALPHA:g}. all corpora: means of the corpora, each once.",
)


@dataclass(frozen=True, slots=True, repr=False)
class Gathered(Displayed):
    """How homogeneous systems are on several corpora."""

    parts: tuple[_Saved, ...]
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each corpus, system and protocol, with the language where one was given."""
        return [{"language": part.options.get("language")} | row for part in self.parts for row in part.rows]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, the ceilings, the means over corpora."""
        return {
            "signatures": {f"{_name(p)}: {key}": text for p in self.parts for key, text in p.signatures.items()},
            "rows": self.rows(),
            "notes": list(self.notes),
            "ceilings": [row for part in self.parts for row in part.ceilings],
            "means": self.means(),
        }

    def means(self) -> list[dict[str, Any]]:
        """The mean over corpora of each system that all have."""
        tables = [{str(row["system"]): row for row in part.rows} for part in self.parts]
        names = [name for name in tables[0] if all(name in table for table in tables)]
        return [
            {"system": name, "corpora": len(tables)}
            | {figure: _mean([table[name].get(figure) for table in tables]) for figure in (*FIGURES, "generated")}
            for name in names
        ]

    def tables(self) -> Iterator[Table]:
        """Agreement, a group of rows for each corpus, and correlations likewise."""
        columns = [*map(Column, (*FIGURES, "gen.")), Column("undef", COUNT)]
        groups = [Group(list(_agreement(part)), _head(part)) for part in self.parts]
        if len(self.parts) > 1:
            lines = [
                Row(row["system"], [*(row[name] for name in (*FIGURES, "generated")), None]) for row in self.means()
            ]
            groups += [Group(lines, "all corpora")] if lines else []
        title = "Homogeneity on several corpora"
        yield Table(title, "system", columns, groups, caption=" ".join([f"{title}.", *GATHERED]))
        lists = [Group(list(map(_list_row, part.rows + part.ceilings)), _name(part)) for part in self.parts]
        title = "Lists of phrases, and agreement on unrelated pairs"
        yield Table(title, "system", LIST_COLUMNS, lists, caption=f"{title}. {UNRELATED}")
        names = {"pearson": "ROUGE-1", "spearman": "ROUGE-1", "pearson_wer": "WER", "spearman_wer": "WER"}
        heads = [
            Column(name.removesuffix("_wer"), Kind(partial(number, digits=2)), above=a) for name, a in names.items()
        ]
        related = [
            Group([Row(row["system"], [_starred(row, name) for name in names]) for row in part.rows], _name(part))
            for part in self.parts
        ]
        title = "Hooper with how alike the texts are"
        yield Table(title, "system", heads, related, caption=" ".join([f"{title}.", *GATHERED]))
        yield Table(notes=[*GATHERED, UNRELATED])


def gather_homogeneity(*found: Homogeneity | str | Path) -> Gathered:
    """Results of `karat.homogeneity` on several corpora in one table, as objects or as JSON files.

    Raises InputError if a file holds none, or if two results are of one corpus.
    """
    if not found:
        raise InputError(f"there is nothing to gather: {HINT}")
    parts = []
    for each in found:
        if isinstance(each, Homogeneity):
            parts.append(msgspec.convert(each.as_dict(), _Saved))
        else:
            part = load_json(each, _Saved, "no result of karat homogeneity", HINT)
            _check(part, str(each))
            parts.append(part)
    names = list(map(_name, parts))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two results are of a corpus {twice!r}; name the corpora, NAME=PATH, when they are measured")
    notes = [f"{name}: {note}" for name, part in zip(names, parts, strict=True) for note in part.notes]
    return Gathered(tuple(parts), tuple(notes))


def _check(part: _Saved, path: str) -> None:
    """Raises InputError if rows lack what the table shows."""
    for row in part.rows + part.ceilings:
        if not isinstance(row.get("corpus"), str) or not all(_is_number(row.get(name)) for name in FIGURES):
            raise InputError(f"{path}: no result of karat homogeneity; {HINT}")
        for name in FIGURES:
            ends = row.get(f"{name}_ci")
            if not isinstance(ends, list) or len(ends) != 2 or not all(map(_is_number, ends)):
                raise InputError(f"{path}: no result of karat homogeneity ({name}_ci is no interval); {HINT}")
        if not all(_is_number(row.get(name)) for name in ("generated", "undefined", *_PAIRED, *OF_LISTS)):
            raise InputError(f"{path}: no result of karat homogeneity; {HINT}")
    if not part.rows or not all(isinstance(row.get("system"), str) for row in part.rows):
        raise InputError(f"{path}: no result of karat homogeneity, or one without a system; {HINT}")


_PAIRED = ("pairs", *(name + end for name in CORRELATIONS for end in ("", "_p")))


def _is_number(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _name(part: _Saved) -> str:
    return str(part.rows[0]["corpus"])


def _head(part: _Saved) -> str:
    """Return the name of a corpus, its language, its pairs and their components, and how alike their texts are."""
    language, pairs = part.options.get("language"), part.rows[0].get("pairs")
    texts = "" if part.rouge is None else f", ROUGE-1 {number(part.rouge)}, WER {number(part.wer)}"
    components = "" if part.components is None else f" in {counted(part.components, 'component')}"
    return f"{_name(part)}{f' ({language})' if language else ''}, {pairs or 0:,} pairs{components}{texts}"


def _list_row(row: dict[str, Any]) -> Row:
    name = row["system"] if "system" in row else f"({row.get('ceiling')})"
    pairs = row.get("unrelated_pairs")
    return Row(name, [row.get("phrases_per_document"), row.get("unrelated_hooper"), pairs or None])


def _agreement(part: _Saved) -> Iterator[Row]:
    several = len(part.signatures) > 1
    for row in part.rows:
        name = f"{row['system']}, {row.get('protocol')}" if several else row["system"]
        yield Row(name, [*(_with_ends(row, each) for each in FIGURES), row.get("generated"), row.get("undefined")])
    for row in part.ceilings:
        cells = [*(_with_ends(row, each) for each in FIGURES), None, row.get("undefined")]
        yield Row(f"({row.get('ceiling')})", cells)


def _with_ends(row: dict[str, Any], name: str) -> Cell:
    low, high = (float("nan") if end is None else float(end) for end in row[f"{name}_ci"])
    return Cell(row.get(name), with_ends((low, high)))


def _starred(row: dict[str, Any], name: str) -> Cell:
    value, p = row.get(name), row.get(f"{name}_p")
    return Cell(value, "*" if p is not None and p < ALPHA else " ")


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None
