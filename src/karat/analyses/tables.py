"""Tables for a paper from saved results: decoding strategies, cutoffs, averages, and transfer between corpora.

They are those of Thomas and Vajjala (2024), for anyone's runs. A table is laid out by names: a system is `NAME`, or
`NAME@VARIANT`, whose variant is how it decodes (`t5@greedy`, `t5@beam`) or what it was trained on (`t5@kp20k`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, isnan
from pathlib import Path
from typing import Any

from karat.analyses.check import is_of, known_metrics, metric_text
from karat.errors import InputError, unknown
from karat.metrics.base import METRICS, Request, parse_request
from karat.options import option, public
from karat.protocol import parse_protocol
from karat.results import Collection, Results, Score, signatures_of, signed
from karat.results.displayed import Displayed
from karat.results.files import load_all
from karat.tabular import Cell as Shown
from karat.tabular import Column, Kind, Row, Table, number
from karat.tabular import Group as Rows

MARK = "@"  # between the name of a system and its variant
SUBSETS_FIRST = ("present", "absent", "all")
CUTOFFS_LAST = ("M", "O", "G", "V")
SAME = "; * trained on the same corpus"


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a table, and what stands beside it."""

    value: float
    recall: float | None = None
    marked: bool = False


Line = tuple[str, tuple[Cell | None, ...]]  # a name and its cells, None where there is nothing
Group = tuple[str, tuple[Line, ...]]  # a subset and its lines


@dataclass(frozen=True, slots=True)
class Layout:
    """One table: columns, and lines for each subset."""

    title: str
    model: str
    protocol: str
    metric: str
    average: str
    corner: str
    columns: tuple[str, ...]
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Tables(Displayed):
    """The tables of one kind."""

    kind: str
    layouts: tuple[Layout, ...]
    signatures: Mapping[str, str]
    percent: bool
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict a cell, as in the JSON output."""
        return [
            {
                "table": self.kind,
                "model": table.model,
                "protocol": table.protocol,
                "metric": table.metric,
                "average": table.average,
                "subset": subset,
                "row": name,
                "column": column,
                "value": _or_none(cell.value),
                "recall": _or_none(cell.recall),
                "marked": cell.marked,
            }
            for table in self.layouts
            for subset, lines in table.groups
            for name, cells in lines
            for column, cell in zip(table.columns, cells, strict=True)
            if cell is not None
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""
        return {**signed(self.signatures), "rows": self.rows(), "notes": list(self.notes)}

    def tables(self) -> Iterator[Table]:
        """The tables; subsets are groups of rows."""
        write = _percent if self.percent else number
        for layout in self.layouts:
            groups = [
                Rows([Row(name, [_shown(cell, write) for cell in cells]) for name, cells in lines], subset)
                for subset, lines in layout.groups
            ]
            title = f"{layout.title}{'; in percent' if self.percent else ''}"
            yield Table(title, layout.corner, [Column(name, Kind(write)) for name in layout.columns], groups)


def _percent(value: float) -> str:
    return number(value) if isnan(value) else f"{100 * value:.2f}"


def _shown(cell: Cell | None, write: Callable[[float], str]) -> Shown | None:
    """A value with its recall in brackets, and a star where it is marked."""
    if cell is None:
        return None
    recall = "" if cell.recall is None else f" ({write(cell.recall)})"
    return Shown(cell.value, f"{recall}{'*' if cell.marked else ''}")


def _or_none(value: float | None) -> float | None:
    return None if value is None or isnan(value) else value


# ---------------------------------------------------------------------------------------------- what is there


@dataclass(frozen=True, slots=True)
class TablesOptions:
    """What the tables show."""

    metric: str | None = option(
        None,
        "The metric.",
        flags=("-m", "--metric"),
        metavar="METRIC",
        complete="metrics",
        otherwise="f1@M; of cutoffs f1",
    )
    percent: bool = option(False, "Show 37.16 instead of .3716.")


@public(TablesOptions)
def tables(
    kind: str, *results: str | Path | Results | Collection, metric: str | None = None, percent: bool = False
) -> Tables:
    """The tables of a kind, one of KINDS, from results of one or several corpora: objects or `.karat` files.

    `metric` is another than f1 at M (of cutoffs: another than f1); `percent` shows 37.16 instead of .3716. Raises
    InputError if results cannot stand in one table.
    """
    if kind not in KINDS:
        raise unknown("table", kind, KINDS)
    if not results:
        raise InputError("give one .karat file or more")
    listed = [
        (str(each) if isinstance(each, str | Path) else "the results", one) for each in results for one in _each(each)
    ]
    found = [one for _, one in listed]
    _check_alike(found, [place for place, _ in listed])
    text = metric or ("f1" if kind == "cutoffs" else "f1@M")
    scores = [score for each in found for score in each.scores]
    made = tuple(KINDS[kind](scores, text))
    return Tables(kind, made, signatures_of(found), percent, tuple(dict.fromkeys(_notes(kind, scores))))


def _each(given: str | Path | Results | Collection) -> Sequence[Results]:
    """The results of each corpus that is given."""
    if isinstance(given, Results):
        return (given,)
    return given.parts if isinstance(given, Collection) else load_all(given)


def _check_alike(found: Sequence[Results], places: Sequence[str]) -> None:
    """Raises InputError if results cannot stand in one table."""
    signatures: dict[tuple[str, str], tuple[str, str]] = {}
    known: dict[tuple[str, str, str, Request], str] = {}
    for results, place in zip(found, places, strict=True):
        if results.part.count > 1:
            raise InputError(f"{place}: of the shard {results.part.index}/{results.part.count}; merge the shards first")
        for score in results.scores:
            own = results.signatures[score.protocol]
            signature, other = signatures.setdefault((score.corpus, score.protocol), (own, place))
            if signature != own:
                a, b = next((a, b) for a, b in zip(signature.split(","), own.split(","), strict=False) if a != b)
                raise InputError(
                    f"{other} and {place} are of {score.corpus} under {score.protocol}, but of different signatures: "
                    f"{a} and {b}; name the corpora, NAME=PATH, if they are two"
                )
            key = score.corpus, score.system, score.protocol, score.request
            if key in known:
                raise InputError(
                    f"{known[key]} and {place} both hold {metric_text(score.request)} of {score.system} on "
                    f"{score.corpus}; give each once"
                )
            known[key] = place


Chosen = dict[tuple[str, str, str], Score]  # by subset, corpus and system


def _chosen(scores: Sequence[Score], request: Request, text: str, protocol: str) -> Chosen:
    """The scores of a metric under a protocol, of its subset where the text names one, else of all."""
    named = ":" in text.partition(",")[0]
    return {
        (score.request.subset, score.corpus, score.system): score
        for score in scores
        if score.protocol == protocol
        and is_of(score, request if named else replace(request, subset=score.request.subset))
    }


def _by_protocol(scores: Sequence[Score], text: str) -> Iterator[tuple[str, Request, Chosen]]:
    """(protocol, metric in its average, its scores), for each protocol with scores. Raises InputError without any."""
    request = parse_request(text)
    protocols = list(dict.fromkeys(score.protocol for score in scores))
    found = {protocol: _chosen(scores, request, text, protocol) for protocol in protocols}
    if not any(found.values()):
        there = ", ".join(known_metrics(scores))
        raise InputError(f"there is no score of {text} (there are: {there}): score with -m {text}")
    for protocol, chosen in found.items():
        if chosen:
            average = request.average or request.spec.average_for(parse_protocol(protocol).counting)
            yield protocol, replace(request, average=average), chosen


@dataclass(frozen=True, slots=True)
class _About:
    """What the values of a table are."""

    protocol: str
    request: Request

    @property
    def description(self) -> str:
        """The metric, the protocol and the average in words."""
        options = "".join(f",{name}={value}" for name, value in self.request.options)
        return f"{self.request.label}{options}, protocol {self.protocol}, average {self.request.average}"

    def table(self, title: str, model: str, corner: str, columns: Sequence[str], groups: tuple[Group, ...]) -> Layout:
        """A table of them."""
        request = self.request
        return Layout(title, model, self.protocol, request.label, request.average or "", corner, tuple(columns), groups)


def _subsets(chosen: Chosen) -> list[str]:
    there = dict.fromkeys(subset for subset, _, _ in chosen)
    return sorted(there, key=lambda subset: SUBSETS_FIRST.index(subset) if subset in SUBSETS_FIRST else 9)


def _corpora(chosen: Chosen) -> list[str]:
    return list(dict.fromkeys(corpus for _, corpus, _ in chosen))


def _systems(chosen: Chosen) -> list[str]:
    return list(dict.fromkeys(system for _, _, system in chosen))


def _variants(chosen: Chosen) -> dict[str, list[str]]:
    """The variants of each model, in the order in which they come; a system without one is left out."""
    found: dict[str, list[str]] = {}
    for system in _systems(chosen):
        model, mark, variant = system.rpartition(MARK)
        if mark and model and variant:
            found.setdefault(model, []).append(variant)
    return found


def _groups(
    chosen: Chosen, rows: Sequence[str], columns: Sequence[str], cell: Callable[[str, str, str], Cell | None]
) -> tuple[Group, ...]:
    """The lines of each subset, given the cell of a subset, row and column; lines without any cell are left out."""
    found: list[Group] = []
    for subset in _subsets(chosen):
        lines = [(row, tuple(cell(subset, row, column) for column in columns)) for row in rows]
        own = tuple(line for line in lines if any(line[1]))
        found += [(subset, own)] if own else []
    return tuple(found)


def _notes(kind: str, scores: Sequence[Score]) -> Iterator[str]:
    plain = [system for system in dict.fromkeys(score.system for score in scores) if MARK not in system]
    if kind == "decoding" and plain:
        yield f"left out, since their names have no {MARK}DECODING: {', '.join(plain)}"


# ---------------------------------------------------------------------------------------------- decoding


def _decoding(scores: Sequence[Score], text: str) -> Iterator[Layout]:
    """For each system its decoding strategies side by side."""
    for protocol, request, chosen in _by_protocol(scores, text):
        models = {model: variants for model, variants in _variants(chosen).items() if len(variants) > 1}
        if not models:
            raise InputError(
                f"a table of decoding strategies has two or more of one system, named NAME{MARK}DECODING (there are: "
                f"{', '.join(_systems(chosen))}): score runs as t5{MARK}greedy=PATH t5{MARK}beam=PATH"
            )
        recalls = _recalls(scores, request, text, protocol)
        for model, variants in models.items():
            yield _decoding_table(model, variants, chosen, recalls, _About(protocol, request))


def _decoding_table(model: str, variants: Sequence[str], chosen: Chosen, recalls: Chosen, about: _About) -> Layout:
    def cell(subset: str, corpus: str, variant: str) -> Cell | None:
        key = subset, corpus, f"{model}{MARK}{variant}"
        if key not in chosen:
            return None
        return Cell(chosen[key].value, recalls[key].value if key in recalls else None)

    groups = _groups(chosen, _corpora(chosen), variants, cell)
    recall = f", r@{about.request.cutoff} in brackets" if recalls else ""
    return about.table(f"{model} by decoding strategy: {about.description}{recall}", model, "corpus", variants, groups)


def _recalls(scores: Sequence[Score], request: Request, text: str, protocol: str) -> Chosen:
    """The recall at the cutoff of an F1, which is what long lists are for; of another metric nothing."""
    if request.metric != "f1":
        return {}
    subset = f":{request.subset}" if ":" in text else ""
    beside = f"r@{request.cutoff}{subset}{'/micro' if request.average == 'micro' else ''}"
    return _chosen(scores, parse_request(beside), beside, protocol)


# ---------------------------------------------------------------------------------------------- cutoffs


def _cutoffs(scores: Sequence[Score], text: str) -> Iterator[Layout]:
    """For each system one metric at all cutoffs that there are."""
    name, slash, average = text.partition("/")
    if "@" in name or ":" in name:
        plain = name.partition("@")[0].partition(":")[0]
        raise InputError(f"a table of cutoffs takes the metric without one: -m {plain}{slash}{average}, not {text}")
    if name not in METRICS:
        raise unknown("metric", name, METRICS.load())
    cut = {str(score.request.cutoff) for score in scores if score.request.metric == name and score.request.cutoff}
    cutoffs = sorted(cut, key=lambda c: (CUTOFFS_LAST.index(c), 0) if c in CUTOFFS_LAST else (-1, int(c)))
    requests = {f"{name}@{cutoff}": parse_request(f"{name}@{cutoff}{slash}{average}") for cutoff in cutoffs}
    made = False
    for protocol in dict.fromkeys(score.protocol for score in scores):
        found = {head: _chosen(scores, request, head, protocol) for head, request in requests.items()}
        by_head = {head: chosen for head, chosen in found.items() if chosen}
        everything = {key: score for chosen in by_head.values() for key, score in chosen.items()}
        for system in _systems(everything) if len(by_head) > 1 else ():
            made = True
            yield _cutoff_table(system, by_head, everything, protocol)
    if not made:
        raise InputError(
            f"a table of cutoffs has {text} at two cutoffs or more (there are: {', '.join(known_metrics(scores))}): "
            f"score with -m {name}@5:present -m {name}@M:present -m {name}@O:present"
        )


def _cutoff_table(system: str, by_head: Mapping[str, Chosen], everything: Chosen, protocol: str) -> Layout:
    def cell(subset: str, corpus: str, head: str) -> Cell | None:
        score = by_head[head].get((subset, corpus, system))
        return None if score is None else Cell(score.value)

    request = replace(next(iter(everything.values())).request, cutoff=None)
    groups = _groups(everything, _corpora(everything), list(by_head), cell)
    about = _About(protocol, request)
    return about.table(f"{system} by cutoff: {about.description}", system, "corpus", list(by_head), groups)


# ---------------------------------------------------------------------------------------------- averages


def _averages(scores: Sequence[Score], text: str) -> Iterator[Layout]:
    """For each system the mean over corpora of a metric averaged over documents and over phrases."""
    request = parse_request(text)
    if request.average is not None or "micro" not in request.spec.averages:
        raise InputError(f"a table of averages takes a metric that has several, without naming one: f1@M, not {text}")
    name, comma, options = text.partition(",")
    in_micro = f"{name}/micro{comma}{options}"
    made = False
    for protocol, averaged, chosen in _by_protocol(scores, text):
        micro = _chosen(scores, parse_request(in_micro), in_micro, protocol)
        both = {key: score for key, score in chosen.items() if key in micro}
        if both:
            made = True
            yield _average_table(both, micro, _About(protocol, averaged))
    if not made:
        there = ", ".join(known_metrics(scores))
        raise InputError(f"a table of averages has {text} in micro too (there are: {there}): score with --averages")


def _average_table(chosen: Chosen, micro: Chosen, about: _About) -> Layout:
    over = {
        system: [c for c in _corpora(chosen) if any((s, c, system) in chosen for s in _subsets(chosen))]
        for system in _systems(chosen)
    }
    alike = len({tuple(corpora) for corpora in over.values()}) == 1
    names = {system if alike else f"{system} ({', '.join(corpora)})": system for system, corpora in over.items()}

    def cell(subset: str, name: str, column: str) -> Cell | None:
        own = [key for key in chosen if key[0] == subset and key[2] == names[name]]
        if not own:
            return None
        macro, other = (fsum(side[key].value for key in own) / len(own) for side in (chosen, micro))
        return Cell({"macro": macro, "micro": other, "macro − micro": macro - other}[column])

    columns = ("macro", "micro", "macro − micro")
    where = ", ".join(_corpora(chosen)) if alike else "the corpora in brackets"
    title = f"Macro and micro average: {about.description} as macro, mean over {where}"
    return about.table(title, "", "system", columns, _groups(chosen, list(names), columns, cell))


# ---------------------------------------------------------------------------------------------- transfer


def _transfer(scores: Sequence[Score], text: str) -> Iterator[Layout]:
    """For each model what it was trained on down and what it was tested on across; then all on their own corpora."""
    for protocol, request, chosen in _by_protocol(scores, text):
        corpora, about = _corpora(chosen), _About(protocol, request)
        if len(corpora) < 2:
            raise InputError(
                f"a table of transfer has two corpora or more (there is: {corpora[0]}): score the systems on each, and "
                "give the file of each"
            )
        models: dict[str, list[str]] = {}
        for system in _systems(chosen):
            model, _, training = system.rpartition(MARK)
            models.setdefault(model, []).append(training)
        for model, trainings in models.items():
            yield _transfer_table(model, trainings, chosen, about)
        own = _own_table(list(models), chosen, about)
        if len(models) > 1 and own.groups:
            yield own


def _system(model: str, training: str) -> str:
    return f"{model}{MARK}{training}" if model else training


def _same(training: str, corpus: str) -> bool:
    """Whether a corpus is of what a system was trained on: `kp20k` and `kp20k.test` are."""
    return training in (corpus, corpus.partition(".")[0])


def _transfer_table(model: str, trainings: Sequence[str], chosen: Chosen, about: _About) -> Layout:
    def cell(subset: str, training: str, corpus: str) -> Cell | None:
        score = chosen.get((subset, corpus, _system(model, training)))
        return None if score is None else Cell(score.value, marked=_same(training, corpus))

    corpora = _corpora(chosen)
    groups = _groups(chosen, trainings, corpora, cell)
    marks = any(cell and cell.marked for _, lines in groups for _, cells in lines for cell in cells)
    title = f"{model or 'Systems'} by training (down) and test (across): {about.description}"
    return about.table(f"{title}{SAME if marks else ''}", model, "trained on", corpora, groups)


def _own_table(models: Sequence[str], chosen: Chosen, about: _About) -> Layout:
    """Each model where it was trained and tested on the same corpus."""

    def cell(subset: str, corpus: str, name: str) -> Cell | None:
        for (own_subset, own_corpus, system), score in chosen.items():
            model, _, training = system.rpartition(MARK)
            if (own_subset, own_corpus, model) == (subset, corpus, name) and _same(training, corpus):
                return Cell(score.value)
        return None

    groups = _groups(chosen, _corpora(chosen), models, cell)
    names = [model or "–" for model in models]
    return about.table(f"Trained and tested on the same corpus: {about.description}", "", "corpus", names, groups)


KINDS: Mapping[str, Callable[[Sequence[Score], str], Iterator[Layout]]] = {
    "decoding": _decoding,
    "cutoffs": _cutoffs,
    "averages": _averages,
    "transfer": _transfer,
}
