"""Runs of several models on one corpus, each kept in a folder, so that work that was ended goes on where it was.

A run is `FOLDER/<corpus>/<model>.jsonl`, where `--runs FOLDER` finds it. A hidden file beside the runs has a
fingerprint of the documents, the model and the options of each. A run whose fingerprint is that of the work at hand is
not predicted again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import msgspec

from karat import __version__
from karat.corpus import Corpus, Run
from karat.errors import InputError
from karat.formats import read_run
from karat.formats.checksums import checksum_json, verify_json
from karat.formats.content import file_hash
from karat.formats.load import DECODING_ERRORS
from karat.formats.output import claimed, write_beside, writing_errors
from karat.formats.unfinished import PART
from karat.models.find import COMMA, ModelSpec, PlugIn, parse_model
from karat.models.run import PredictOptions, predicted, run_fingerprint

DEFAULTS = ("multipartiterank", "positionrank", "tfidf", "yake")
COUNTING = ("tfidf",)  # of these, what one document alone cannot tell
RECORD = ".karat-runs.json"
OTHERS = "; --df names others"  # at the end of a note, of a flag of `karat predict`
LONGEST_NAME = 60  # letters of a file's name

Stage = Callable[[str, int], None]  # called with what begins, and with how many documents it has


@dataclass(frozen=True, slots=True)
class Several:
    """The runs of some models, and what a reader should know of them."""

    runs: tuple[Run, ...]
    notes: tuple[str, ...]
    provenance: tuple[str, ...] = ()  # notes on what earlier commands predicted


@dataclass(frozen=True, slots=True)
class _Named:
    """A model with the name of its system, and that of its run's file."""

    system: str
    spec: ModelSpec

    @property
    def file(self) -> str:
        """The name of its run's file: of letters, digits and a few marks."""
        return f"{plain_name(self.system)}.jsonl"


def parse_models(given: str | PlugIn | Sequence[str | PlugIn]) -> list[_Named]:
    """The models that are given one by one, or as a text with commas; an option comes behind its model.

    Raises InputError if there is no such model or option, if two would have one name, or if one is behind an endpoint.

    >>> [each.system for each in parse_models("yake,kpminer,lasf=2,tfidf")]
    ['yake', 'kpminer,lasf=2', 'tfidf']
    """
    listed = [given] if isinstance(given, str) or callable(given) else list(given)
    found = [_named(one) for each in listed for one in (_split(each) if isinstance(each, str) else [each])]
    if not found:
        raise InputError("no model is named; write their names with commas between, as multipartiterank,yake")
    for n, each in enumerate(found):
        if each.spec.asks_endpoint:
            raise InputError(f"{each.system}: a language model is asked by karat predict; give the run that it writes")
        if each.file in [other.file for other in found[:n]]:
            raise InputError(f"two models are named {each.system!r}; each of them is a system of its own name")
        each.spec.find()
    return found


def _split(text: str) -> Iterator[str]:
    """The models of a text: a part with an equals sign is an option of the model before it."""
    own: list[str] = []
    for part in filter(None, (part.strip() for part in COMMA.split(text))):
        if "=" in part and own:
            own.append(part)
            continue
        if own:
            yield ",".join(own)
        own = [part]
    if own:
        yield ",".join(own)


def _named(model: str | PlugIn) -> _Named:
    spec = parse_model(model)
    if not isinstance(model, str):
        return _Named(spec.name, spec)
    name, _, options = model.partition(",")
    folder = Path(os.path.expanduser(name))
    name = folder.resolve().name if folder.is_dir() and "model" in spec.options else name
    return _Named(f"{name},{options}" if options else name, spec)


def plain_name(name: str) -> str:
    """A name that is safe as that of a file.

    >>> plain_name("kpminer,lasf=2"), plain_name("../../x"), plain_name("semeval.chan19"), plain_name("/")
    ('kpminer-lasf-2', 'x', 'semeval.chan19', '_')
    """
    return re.sub(r"[^\w.+-]+", "-", name)[:LONGEST_NAME].strip(".-") or "_"


# ---------------------------------------------------------------------------------------------- predicting


def predict_each(
    corpus: Corpus,
    models: str | PlugIn | Sequence[str | PlugIn] | None,
    options: PredictOptions,
    folder: str | Path | None = None,
    stage: Stage | None = None,
) -> Several:
    """The run of each model; with a folder, what is there already is not predicted again.

    Raises InputError if a model fails (what was predicted before is kept), or if another process works in the folder.
    """
    chosen = _usual(corpus) if models is None else parse_models(models)
    place = None if folder is None else Path(folder, plain_name(corpus.name))
    notes: dict[str, list[str]] = {}
    provenance: dict[str, list[str]] = {}
    runs = []
    with nullcontext() if place is None else _kept_in(place):
        documents = len(corpus)
        for each in chosen:
            if stage is not None:
                stage(f"Predicting with {each.system}", documents)
            run, remarks, earlier = _run(corpus, each, options, place)
            runs.append(run)
            for remark in (each.removesuffix(OTHERS) for each in remarks):
                notes.setdefault(remark, []).append(each.system)
            for remark in earlier:
                provenance.setdefault(remark, []).append(each.system)
    return Several(tuple(runs), tuple(_joined(notes, len(chosen))), tuple(_joined(provenance, len(chosen))))


def _usual(corpus: Corpus) -> list[_Named]:
    """The models that predict where none is named: those that one document alone is enough for, if there is one."""
    alone = len(list(islice((i for batch in corpus.ahead() for i in batch.ids), 2))) < 2
    return parse_models([name for name in DEFAULTS if not alone or name not in COUNTING])


def _joined(notes: dict[str, list[str]], count: int) -> Iterator[str]:
    """Each note once; with the systems that it is of, unless it is of all."""
    for note, systems in notes.items():
        yield note if len(systems) == count > 1 else f"{', '.join(systems)}: {note}"


Notes = tuple[str, ...]


def _run(corpus: Corpus, model: _Named, options: PredictOptions, place: Path | None) -> tuple[Run, Notes, Notes]:
    """Return a model's run, the notes on it, and those on what earlier commands predicted."""
    if place is None:
        found = predicted(corpus, model.spec, options)
        if found.failure is not None:
            raise InputError(found.failure)
        return replace(found.as_run(), name=model.system), found.notes, found.provenance
    path, record = place / model.file, _Record.at(place)
    wanted = f"{__version__} {run_fingerprint(corpus, model.spec, options)}"
    if not record.holds(path, wanted):
        record.begin(path, wanted)
        found = predicted(corpus, model.spec, options, output=str(path), shown=False)
        if found.failure is not None:
            raise InputError(found.failure)
        record.end(path, wanted, found.notes)
        return read_run(path, name=model.system), found.notes, found.provenance
    run, remarks = read_run(path, name=model.system), record.notes(path)
    if remarks is None:  # an earlier command was killed between writing the run and recording it
        Path(f"{path}{PART}").unlink(missing_ok=True)
        remarks = predicted(corpus, model.spec, options, shown=False, earlier=list(run)).notes
        record.end(path, wanted, remarks)
    elif options.work.progress is not None:
        options.work.progress(len(corpus))
    return run, remarks, ("what was predicted before is taken as it is",)


# ---------------------------------------------------------------------------------------------- what is kept


@contextmanager
def _kept_in(place: Path) -> Iterator[None]:
    """The folder of a corpus's runs, made if need be and held for this process."""
    for each in (place.parent, place):
        if each.exists() and not each.is_dir():
            raise InputError(f"{each}: is a file, and runs are kept in a folder; name another one")
    with writing_errors(place, place.parent.parent):
        place.mkdir(parents=True, exist_ok=True)
    with claimed(place), claimed(place / RECORD):
        yield


class _Of(msgspec.Struct, frozen=True):
    """What a run is of: fingerprint and hash of the file as it was written, and the fingerprint of what replaces it."""

    fingerprint: str = ""
    content: str = ""
    begun: str = ""
    notes: tuple[str, ...] | None = None  # on the run; None where a kill came before they were written


@dataclass(frozen=True, slots=True)
class _Record:
    """Which run is of which work, by the name of its file."""

    path: Path
    runs: dict[str, _Of]
    damaged: bool = False

    @classmethod
    def at(cls, place: Path) -> _Record:
        """The record of a folder; none of its runs is known where it is missing or damaged."""
        path = place / RECORD
        try:
            content, _ = verify_json(path.read_bytes(), path)
            return cls(path, msgspec.json.decode(content, type=dict[str, _Of]))
        except FileNotFoundError:
            return cls(path, {})
        except (InputError, *DECODING_ERRORS):
            return cls(path, {}, damaged=True)

    def holds(self, path: Path, fingerprint: str) -> bool:
        """Whether a run is there that is of some work. Raises InputError if a file is there that is not karat's."""
        if not path.exists():
            return False
        known = self.runs.get(path.name, _Of())
        if file_hash(path).hex() == known.content:
            return known.fingerprint == fingerprint
        if not known.begun:
            why = "is not as it was written by this command"
            if self.damaged:
                why = f"may be a file of yours, since {self.path.name}, the record of the runs here, is damaged"
            raise InputError(f"{path}: {why}, and is not overwritten; move it, or name another folder for the runs")
        return known.begun == fingerprint  # the work was ended when the run was whole, before that was noted

    def begin(self, path: Path, fingerprint: str) -> None:
        """Notes that a run is about to be replaced."""
        known = self.runs.get(path.name, _Of())
        self._note(path, _Of(known.fingerprint, known.content, fingerprint))

    def end(self, path: Path, fingerprint: str, notes: tuple[str, ...]) -> None:
        """Notes that a run is whole."""
        self._note(path, _Of(fingerprint, file_hash(path).hex(), notes=notes))

    def notes(self, path: Path) -> tuple[str, ...] | None:
        """Return the notes on a run as they were when it was predicted, None if nobody wrote them."""
        return self.runs.get(path.name, _Of()).notes

    def _note(self, path: Path, what: _Of) -> None:
        self.runs[path.name] = what
        content = msgspec.json.format(msgspec.json.encode(self.runs), indent=1) + b"\n"
        write_beside(self.path, checksum_json(content))
