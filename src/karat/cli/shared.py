"""Flags that several verbs share, and where results go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

import karat
from karat.cli import completion
from karat.cli.flags import Verb, jobs_for, verb
from karat.engines import is_address
from karat.errors import InputError
from karat.inert import escaped, one_line
from karat.libraries import library

if TYPE_CHECKING:
    from karat.corpus import Corpus, Run
    from karat.results.displayed import Result

F = TypeVar("F", bound=Callable[..., Any])

_SAID, _OPENED = "karat.said", "karat.opened"  # of a command: the notes that were shown, what it has read
TEXT_FORMATS = ("table", "md", "html", "latex", "typst", "csv", "json")
_BY_SUFFIX = {
    ".md": "md",
    ".html": "html",
    ".tex": "latex",
    ".typ": "typst",
    ".csv": "csv",
    ".json": "json",
    ".txt": "table",
}

format_option = click.option(
    "-f", "--format", "format_", type=click.Choice(TEXT_FORMATS), help="Output format (default table)."
)
output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE; its suffix chooses the format: .json .csv .md .html .tex .typ .txt, and .karat where scores "
    "are kept.",
    shell_complete=completion.new_paths,
)
corpus_argument = click.argument("corpus", shell_complete=completion.paths)
runs_argument = click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=completion.paths)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No notes and no progress on standard error.")


def combine(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator of several, the first outermost."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


output_flags: Callable[[F], F] = combine(format_option, output_option, quiet_option)

from_option = click.option(
    "--from",
    "from_",
    multiple=True,
    metavar="FORMAT",
    help="Format of the files, where it is not seen from them (see `karat list formats`); corpus:FORMAT or "
    "run:FORMAT for some of them (repeatable).",
    shell_complete=completion.formats,
)
fields_option = click.option(
    "--fields",
    multiple=True,
    metavar="NAME=COLUMN,...",
    help="Columns of a table or of any JSON lines, as id=doc,keyphrases=preds,separator=; for files that have them; "
    "corpus:... or run:... for these (repeatable).",
)
development_flags: Callable[[F], F] = combine(
    click.option(
        "--dev-corpus",
        metavar="CORPUS",
        help="Development documents, on which the k of @V is fitted.",
        shell_complete=completion.paths,
    ),
    click.option(
        "--dev-run",
        "dev_runs",
        multiple=True,
        metavar="RUN",
        help="Their predictions (repeatable).",
        shell_complete=completion.paths,
    ),
)
folder_flag = click.option(
    "--runs",
    metavar="FOLDER",
    help="Runs of several corpora, in a folder for each.",
    shell_complete=completion.paths,
)
cite_flag = click.option(
    "--cite",
    is_flag=True,
    help="Also print how to cite the result, a methods sentence and BibTeX: after a table, else to standard error.",
)
documents_out_option = click.option(
    "--documents-out",
    metavar="FILE",
    help="Write the values of each document: .jsonl, .csv, .tsv or .parquet.",
    shell_complete=completion.new_paths,
)
reading_flags: Callable[[F], F] = combine(from_option, fields_option)


@dataclass(frozen=True, slots=True)
class Output:
    """Where a result goes: what -f, -o and -q say."""

    format_: str | None
    path: str | None
    quiet: bool

    @classmethod
    def of(cls, options: dict[str, Any], saves: bool = False) -> Output:
        """Takes -f, -o and -q out of a verb's options; says at once when the result could not be written.

        A verb that `saves` can write `.karat` files.
        """
        found = cls(options.pop("format_"), options.pop("output"), options.pop("quiet"))
        check_output(found.format_, found.path, saves)
        return found

    def deliver(self, result: Result, cited: bool = False) -> None:
        """Writes a result to standard output, or to a file in the format that its suffix or -f names.

        How it is `cited` is printed after it: to standard output, if that has a table or nothing so far.
        """
        deliver(result, self.format_, self.path, self.quiet)
        if cited:
            citable: Any = result
            free = self.path is not None or self.format_ in (None, "table")
            click.echo(f"{'' if self.path is not None else chr(10)}{karat.cite(citable)}", nl=False, err=not free)


@dataclass(frozen=True, slots=True)
class Files:
    """How files are read: what --from and --fields say."""

    from_: tuple[str, ...]
    fields: tuple[str, ...]
    unused: set[str]  # of the fields, those that no file has been read by
    sizes: list[int] = field(default_factory=list)  # of the files that were read, in bytes
    opened: list[Corpus | Run] = field(default_factory=list)

    @classmethod
    def of(cls, options: dict[str, Any]) -> Files:
        """Takes --from and --fields out of a verb's options."""
        for text in options["from_"]:
            if ":" in text and text.partition(":")[0] not in ("corpus", "run"):
                raise InputError(f"--from {text}: write corpus:FORMAT, run:FORMAT or FORMAT")
        fields = options.pop("fields")
        found = cls(options.pop("from_"), fields, set(fields))
        _shared()[_OPENED] = found.opened
        return found

    def corpus(self, path: str) -> Corpus:
        """The corpus at a path."""
        from karat.formats import read

        self._note(path, "corpus")
        self.opened.append(found := read(path, format=self._format("corpus"), fields=self.fields))
        return found

    def run(self, path: str) -> Run:
        """The run at a path."""
        from karat.formats import read_run

        self._note(path, "run")
        self.opened.append(found := read_run(path, format=self._format("run"), fields=self.fields))
        return found

    def all(self, corpus: str, runs: Iterable[str]) -> tuple[Corpus, list[Run]]:
        """A corpus and runs; fields that none of them has are an error."""
        found = self.corpus(corpus), list(map(self.run, runs))
        self.check()
        return found

    def given(self, paths: Sequence[str], folder: str | None, results: bool = True) -> tuple[Any, ...]:
        """What a verb measures: a corpus and runs, .karat files, or with a folder of runs several corpora."""
        if results and all(path.endswith(".karat") for path in paths):
            return tuple(paths)
        if results and any(path.endswith(".karat") for path in paths):
            raise InputError("give .karat files alone, or corpora and runs without them")
        if folder is None:
            documents, systems = self.all(paths[0], paths[1:])
            return (documents, *systems)
        corpora = [self.corpus(path) for path in paths]
        listed = [(corpus, [self.run(path) for path in runs_of(folder, corpus.name)]) for corpus in corpora]
        self.check()
        return (listed,)

    def check(self) -> None:
        """Raises InputError if fields were given that no file was read by."""
        if self.unused:
            raise InputError(f"--fields {min(self.unused)}: no file has these columns")

    def _note(self, path: str, role: Literal["corpus", "run"]) -> None:
        """Notes how large a file is, and which of the fields it is read by."""
        self.add(path)
        if self.unused:
            from karat.formats import split_name
            from karat.formats.fields import choose
            from karat.formats.head import Head

            where = split_name(path)[1]
            found = [text for text in self.fields if choose([text], Head(where, role)) is not None]
            self.unused.difference_update(found[:1])

    def add(self, path: str) -> None:
        """Counts a file that is read in another way, for -j auto."""
        self.sizes.append(_size(path))

    @contextmanager
    def work(self, options: dict[str, Any], quiet: bool) -> Iterator[dict[str, Any]]:
        """The options of a function that works on these files: with a number for -j, and a bar that shows progress."""
        with progress(quiet) as done:
            jobs = {"jobs": jobs_for(options["jobs"], sum(self.sizes))} if "jobs" in options else {}
            yield options | jobs | {"progress": done}

    def other(self, options: dict[str, Any], name: str = "dev") -> tuple[Corpus, list[Run]] | None:
        """Takes --NAME-corpus and --NAME-run out of a verb's options: a corpus beside the one that is measured."""
        corpus, runs = options.pop(f"{name}_corpus"), options.pop(f"{name}_runs")
        if bool(corpus) != bool(runs):
            raise InputError(f"--{name}-corpus and --{name}-run go together")
        return (self.corpus(corpus), list(map(self.run, runs))) if corpus else None

    def _format(self, role: str) -> str | None:
        """The format for a role: the last one given for it, else the last one given for all."""
        own = [text.removeprefix(f"{role}:") for text in self.from_ if text.startswith(f"{role}:")]
        return next(iter([*reversed(own), *(text for text in reversed(self.from_) if ":" not in text)]), None)


Extra = Callable[[Files, dict[str, Any]], dict[str, Any]]  # takes options of a verb and gives keywords in their place


def corpus_verb(
    twin: str, *, epilog: str, extra: Extra | None = None, saves: bool = False, runs: Callable[[F], F] = runs_argument
) -> Callable[[Callable[[], None]], Verb]:
    """Makes a verb that reads a corpus and runs, calls `karat.TWIN` with them and writes what comes back.

    The decorated function has the name and the docstring of the verb, and no body. `extra` reads further files; a verb
    that `saves` can write `.karat` files; `runs` is the argument of the runs, where one is not required.
    """

    def decorate(described: Callable[[], None]) -> Verb:
        def body(corpus: str, runs: tuple[str, ...], **options: Any) -> None:
            output, files = Output.of(options, saves), Files.of(options)
            further = {} if extra is None else extra(files, options)
            documents, systems = files.all(corpus, runs)
            with files.work(options, output.quiet) as chosen:
                found = getattr(karat, twin)(documents, *systems, **further, **chosen)
            output.deliver(found)

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(body, name, getattr(described, name))
        body.__wrapped__ = described  # type: ignore[attr-defined]
        flagged: Any = reading_flags(output_flags(body))
        flagged.__click_params__ += getattr(described, "__click_params__", [])  # before the flags of reading
        return verb(twin, epilog=epilog)(combine(corpus_argument, runs)(flagged))

    return decorate


def development_files(files: Files, options: dict[str, Any]) -> dict[str, Any]:
    """The keyword of a function that fits the k of @V on other documents, from --dev-corpus and --dev-run."""
    return {"development": files.other(options)}


def _size(argument: str) -> int:
    """The bytes of the files that a corpus or run is in."""
    from karat.corpus import split_paths
    from karat.formats import split_name

    paths = [Path(part) for part in split_paths(split_name(argument)[1])]
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return sum(file.stat().st_size for file in files if file.is_file())


def runs_of(folder: str, corpus: str) -> list[str]:
    """The paths of a corpus's runs in a folder of runs by corpus: FOLDER/<corpus>/<system>.jsonl."""
    place = Path(folder, corpus)
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: there is no such folder")
    if not place.is_dir():
        there = ", ".join(sorted(path.name for path in Path(folder).iterdir() if path.is_dir())) or "none"
        raise InputError(f"{place}: there is no folder of runs for the corpus {corpus} (there are: {there})")
    return [str(path) for path in sorted(place.iterdir()) if not path.name.startswith(".")]


def check_output(format_: str | None, output: str | None, saves: bool = True) -> None:
    """Says at once, before any work, when the results could not be written; a verb that saves has `.karat` files."""
    if output is None:
        return
    if output.endswith(".karat") and not saves:
        known = ", ".join(_BY_SUFFIX)
        raise InputError(f"-o {output}: this verb writes no .karat file; choose another suffix (known: {known})")
    if output.endswith(".karat") and format_ is not None:
        raise InputError(f"-o {output} writes results for karat itself; leave out -f {format_}")
    suffix = Path(output).suffix
    if format_ is None and suffix not in ("", ".karat", *_BY_SUFFIX):
        known = ", ".join([*([".karat"] if saves else []), *_BY_SUFFIX])
        raise InputError(f"-o {output}: {suffix} is the suffix of no format (known: {known}); choose one with -f")
    check_file(output)


def check_file(path: str | None) -> None:
    """Says at once, before any work, when a file could not be written, and holds it for this command: see `claim`."""
    if path is None or is_address(path):
        return
    if Path(path).is_dir():
        raise InputError(f"{path}: is a directory, not a file")
    if not Path(path).parent.is_dir():
        raise InputError(f"{Path(path).parent}: there is no such folder")
    from karat.formats.files import check_compression, without_compression

    check_compression(path)
    if without_compression(path).endswith(".parquet"):
        library("pyarrow", "a Parquet file")
    claim(path)


def claim(path: str) -> None:
    """Holds an output of this command until it ends.

    Raises InputError where it is one of the command's inputs, or where another process is writing it.
    """
    from karat.formats.output import claimed

    click.get_current_context().with_resource(claimed(path))


def deliver(results: Result, format_: str | None, output: str | None, quiet: bool) -> None:
    """Writes results to standard output, or to a file in the format that its suffix or -f names."""
    from karat.formats.output import write_beside
    from karat.output import render
    from karat.output.terminal import WIDTH
    from karat.results.displayed import Saveable

    chosen = format_ or _BY_SUFFIX.get(Path(output or "").suffix, "table")
    if output is None:
        write_out(render(results, chosen))
    elif output.endswith(".karat") and isinstance(results, Saveable):
        results.save(output)
    else:
        write_beside(output, render(results, chosen, WIDTH).encode())
    _shared().setdefault(_SAID, set()).update(results.notes)
    if not quiet and (output is not None or chosen == "csv"):  # the other formats hold them
        echo_notes(results.notes)


def echo_notes(notes: Iterable[str]) -> None:
    """Notes to standard error; a warning says itself that it is one."""
    said = _shared().setdefault(_SAID, set())
    for note in notes:
        said.add(note)
        say(note if note.startswith("warning: ") else f"note: {note}")


def _shared() -> dict[str, Any]:
    """What the parts of a command tell each other; nothing is kept where there is no command."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.meta


def echo_reading_notes() -> None:
    """What there is to say of how files were read, once a command is done, and unless its result has said it."""
    if not click.get_current_context().params.get("quiet"):
        said, opened = _shared().get(_SAID, set()), _shared().get(_OPENED, ())
        echo_notes(dict.fromkeys(note for each in opened for note in each.notes if note not in said))


def say(message: str) -> None:
    """A message to standard error: one line, in which nothing acts."""
    click.echo(one_line(message), err=True)


def write_out(text: str) -> None:
    """Text to standard output, in UTF-8 wherever that goes; what acts on a terminal is escaped, as JSON does it."""
    sys.stdout.buffer.write(escaped(text).encode())
    sys.stdout.buffer.flush()


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """A function to call with the number of documents done: a bar on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,.0f} documents"),
        TimeElapsedColumn(),
    )
    # No thread of its own: workers are forked while the bar is shown.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=None)

        def advance(done: int) -> None:
            bar.advance(task, done)
            bar.refresh()

        yield advance
