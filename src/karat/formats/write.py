"""Corpora and runs into any format that can hold them: written aside, read back, compared, and only then in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from karat.corpus import Batch, Batches, Corpus, Document, Prediction, Run, split_paths, text_of_id
from karat.errors import InputError
from karat.formats import FORMATS, catalogue, named, parts_of
from karat.formats import read as read_corpus
from karat.formats.base import Format
from karat.formats.files import without_compression
from karat.formats.jsonld import uris_of
from karat.formats.output import claimed, put_in_place, working_folder, writing, writing_errors
from karat.record import note_input, recording

_BY_SUFFIX = {
    ".jsonl": "karat",
    ".ndjson": "karat",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".bib": "bibtex",
    ".bibtex": "bibtex",
    ".ris": "ris",
    ".jsonld": "jsonld",
}


def write(
    records: Corpus | Run,
    path: str | Path,
    *,
    format: str | None = None,
    lossy: bool = False,
    corpus: Corpus | str | Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[str]:
    """Writes a corpus or a run and returns what was lost; unless `lossy`, a loss is an error and nothing is written.

    Without a format the suffix of the path chooses it. Whether something is lost is found out by reading it back. With
    the `corpus` of a run, a catalogue is written: its documents with their titles, and the phrases of the run as their
    keyphrases; of a BibTeX or RIS file the entries themselves, with other keywords. Scores have no place there.
    """
    target = str(path)
    form = named(format) if format is not None else _by_suffix(target)
    origins = [part for each in (records, corpus) if each is not None for part in parts_of(_origin(each))]
    if corpus is not None:
        if not isinstance(records, Run):
            raise InputError("a corpus goes with a run, whose phrases become the keyphrases of its documents")
        records, form = _catalogue(records, corpus if isinstance(corpus, Corpus) else read_corpus(corpus), form)
    save, read = _sides(form, records)
    parts = split_paths(target) if form.pair and isinstance(records, Corpus) else [target]
    with recording(), ExitStack() as stack:
        for each in origins:
            note_input(each)
        aside, put_in_place = stack.enter_context(_aside(target, parts))
        try:
            save(aside, _counted(records, progress))
            lost = _losses(records, read(aside))
        except InputError as error:
            raise type(error)(str(error).replace(aside, target)) from None
        except UnicodeEncodeError as error:
            raise InputError(f"{target}: half a character cannot be written ({error.reason})") from None
        if lost and not lossy:
            raise InputError(
                f"{target}: the format {form.name} cannot hold everything of {records.origin}: {'; '.join(lost)}; "
                "write it all the same with --lossy"
            )
        put_in_place()
    return lost


def _origin(given: Corpus | Run | str | Path) -> str:
    return str(given) if isinstance(given, str | Path) else given.origin


def _catalogue(run: Run, corpus: Corpus, form: Format) -> tuple[Corpus, Format]:
    """(the documents of a run with its phrases as their keyphrases, the format with a writer that knows the rest)."""
    found = {text_of_id(each.id): each for each in run}
    titles = {text_of_id(each.id): each.title for each in corpus}
    lost = next((identifier for identifier in found if identifier is None or identifier not in titles), None)
    if lost is not None or None in found:
        raise InputError(f"{run.origin}: the document {lost!r} is not in {corpus.origin}; ids are to be the same")
    documents = [
        Document(id=each.id, title=titles[i], keyphrases=[*(each.keyphrases or ())]) for i, each in found.items()
    ]
    short = next((name for name, known in catalogue.FORMATS.items() if known == form.name), None)
    if short is None:
        return Corpus.of(documents, run.name), form
    rows = [catalogue.Row(str(each.id), titles[i], each.keyphrases or [], uris_of(each)) for i, each in found.items()]

    def save(path: str, _records: Iterable[Document]) -> None:
        with writing(path) as file:
            file.write(catalogue.catalogue(short, rows, corpus.origin)[0])

    def read(path: str) -> Batches[Document]:
        assert form.corpus is not None
        return partial(_as_written, form.corpus(path), set(found))

    return Corpus.of(documents, run.name), replace(form, save_corpus=save, corpus=read)


def _as_written(batches: Batches[Document], ids: set[str | None]) -> Iterator[Batch[Document]]:
    """What was written of documents: entries of the catalogue have more, and there are others beside them."""
    for batch in batches():
        kept = [msgspec.structs.replace(each, text=None) for each in batch.records() if text_of_id(each.id) in ids]
        yield Batch([text_of_id(each.id) for each in kept], kept, range(1, len(kept) + 1))


def _by_suffix(path: str) -> Format:
    suffix = Path(without_compression(path)).suffix
    if suffix not in _BY_SUFFIX:
        raise InputError(f"{path}: name the format with --to (known: {', '.join(writable())})")
    return FORMATS[_BY_SUFFIX[suffix]]


def writable(role: str | None = None) -> list[str]:
    """The names of the formats that can be written, as a corpus or as a run."""
    forms = {
        "corpus": [form.name for form in FORMATS.values() if form.save_corpus],
        "run": [form.name for form in FORMATS.values() if form.save_run],
    }
    return forms[role] if role else [name for name in FORMATS if name in forms["corpus"] or name in forms["run"]]


def _sides(form: Format, records: Corpus | Run) -> tuple[Callable[[str, Any], None], Callable[[str], Any]]:
    """How the format writes a corpus or a run, and reads it."""
    if isinstance(records, Corpus):
        save, read, what = form.save_corpus, form.corpus, "corpus"
    else:
        save, read, what = form.save_run, form.run, "run"  # type: ignore[assignment]
    if save is None or read is None:
        raise InputError(f"the format {form.name} cannot be written as a {what} (known: {', '.join(writable(what))})")
    return save, read


def _counted(records: Iterable[Any], progress: Callable[[int], None] | None) -> Iterator[Any]:
    for record in records:
        yield record
        if progress is not None:
            progress(1)


@contextmanager
def _aside(target: str, parts: list[str]) -> Iterator[tuple[str, Callable[[], None]]]:
    """(the same path in a folder beside the target, a function that moves what was written there into place).

    A target may have several parts, joined by `+`, each of them a file or a folder.
    """
    targets = [Path(part).absolute() for part in parts]
    with ExitStack() as stack:
        with writing_errors(target, targets[0].parent):
            beside = stack.enter_context(working_folder(targets[0]))
            for each in targets[1:]:
                stack.enter_context(claimed(each))
            written = [beside / str(number) / each.name for number, each in enumerate(targets)]
            for each in written:
                each.parent.mkdir()

        def place_all() -> None:
            for new, old in zip(written, targets, strict=True):
                with writing_errors(target, old.parent):
                    _replace(new, old)

        yield "+".join(map(str, written)), place_all


def _replace(new: Path, old: Path) -> None:
    """Moves what was written to its place; a folder that holds something and a device are not replaced."""
    if new.is_dir():
        if old.exists() and (not old.is_dir() or any(old.iterdir())):
            raise InputError(f"{old}: is there already and is not an empty folder")
        put_in_place(new, old)
    elif old.exists() and not old.is_file():
        raise InputError(f"{old}: is a directory, not a file" if old.is_dir() else f"{old}: is not a plain file")
    else:
        put_in_place(new, old.resolve())


# ---------------------------------------------------------------------------------------------- what is lost


def _losses(before: Corpus | Run, after: Callable[[], Iterator[Batch[Any]]]) -> list[str]:
    """For each field that is not read back as it was, in how many documents, and the first of them."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for number, (old, new) in enumerate(_paired(before, after), 1):
        for name in _differing(old, new):
            counts[name] += 1
            first.setdefault(name, f"line {number}" if old is None or old.id is None else repr(text_of_id(old.id)))
    return [f"{name} of {n:,} documents, first {first[name]}" for name, n in counts.items()]


def _paired(before: Corpus | Run, after: Callable[[], Iterator[Batch[Any]]]) -> Iterable[tuple[Any, Any]]:
    """Each document as it was and as it is read back; by id where a folder has put them into another order."""
    back = (record for batch in after() for record in batch.records())
    old, new = before.ids, [identifier for batch in after() for identifier in batch.ids]
    if old == new or set(old) != set(new) or len(set(old)) < len(old):
        return zip_longest(before, back)
    by_id = {text_of_id(record.id): record for record in back}
    return ((record, by_id[text_of_id(record.id)]) for record in before)


def _differing(old: Document | Prediction | None, new: Document | Prediction | None) -> list[str]:
    if old is None or new is None:
        return ["the whole"]
    pairs = {
        name: (_plain(name, getattr(old, name)), _plain(name, getattr(new, name))) for name in old.__struct_fields__
    }
    return [_what(name, *pair) for name, pair in pairs.items() if pair[0] != pair[1]]


def _what(name: str, old: Any, new: Any) -> str:
    """What of a field is lost."""
    if name == "keyphrases":
        if [_first(phrase) for phrase in old] == [_first(phrase) for phrase in new]:
            return "variants of keyphrases"
        if sorted(map(str, old)) == sorted(map(str, new)):
            return "the order of keyphrases"
    return name


def _first(phrase: Any) -> Any:
    return phrase[0] if isinstance(phrase, list) else phrase


def _plain(name: str, value: Any) -> Any:
    """A field's value such that two are equal that mean the same: nothing is empty, one variant is the phrase."""
    if name == "id":
        return text_of_id(value)
    if name == "reference_sets":
        return {key: _plain("keyphrases", found) for key, found in (value or {}).items()}
    if name == "keyphrases":
        return [_phrase(phrase) for phrase in value or ()]
    if name in ("title", "text"):
        return value or ""
    return value or None  # an empty list of scores is none


def _phrase(phrase: Any) -> Any:
    if isinstance(phrase, list):
        return (phrase[0] or "" if phrase else "") if len(phrase) < 2 else [variant or "" for variant in phrase]
    return phrase or ""
