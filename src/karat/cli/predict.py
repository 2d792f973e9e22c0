"""karat predict, karat corpus df: keyphrases for documents, and in how many documents phrases occur."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import karat
from karat.cli import completion
from karat.cli.convert import corpus_group
from karat.cli.flags import Whole, capped_jobs, flag_of, flags, jobs_for, verb
from karat.cli.reformulate import ENDPOINT_OPTIONS, endpoint_of, endpoint_options, limits_of, requests_progress
from karat.cli.shared import (
    Files,
    check_file,
    combine,
    corpus_argument,
    echo_notes,
    progress,
    quiet_option,
    reading_flags,
    write_out,
)
from karat.errors import InputError, counted
from karat.options import WorkOptions, document_language_option, group, options_from
from karat.record import note_output

if TYPE_CHECKING:
    from karat.corpus import Corpus
    from karat.llm.ask import AskProgress
    from karat.models.find import ModelSpec
    from karat.models.run import Predicted, PredictOptions

EPILOG = """\b
Examples:
  karat predict multipartiterank corpus.jsonl -o run.jsonl
  karat predict tfidf corpus.jsonl --df train.jsonl -n 5 -f csv
  karat predict kpminer,lasf=2 corpus.jsonl --df df.json -j 4 -o run.jsonl.gz
  karat predict positionrank paper.pdf
  karat predict ./my_models.py:first_words reports/ -o keyphrases.xlsx
  karat predict multipartiterank library.bib -o with-keywords.bib
  karat predict llm:qwen corpus.jsonl --base-url http://localhost:8000/v1 \\
      --shots train.jsonl:3 --max-requests 500 -o run.jsonl
  karat predict llm:qwen corpus.jsonl --candidates multipartiterank \\
      --repeat 5 --temperature 0.7 -o run.jsonl

What is predicted stands in FILE.part until all is there: the same command,
after a kill or an error, goes on where it was. The key of an endpoint is in the
environment, KARAT_LLM_KEY, or in a file; never on the command line.
"""

DF_EPILOG = """\b
Examples:
  karat corpus df train.jsonl -o df.json
  karat corpus df train.jsonl --language french -o df.tsv.gz
"""

FILE_WIDTH = 80  # columns of a table in a file
MOST_REQUESTS = 256  # at a time
FORMATS = ("table", "jsonl", "csv", "xlsx", "json", "bib", "ris", "jsonld")
RUNS = (".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst", ".ndjson.gz", ".ndjson.zst", ".parquet")
_BY_SUFFIX = {
    ".txt": "table",
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".json": "json",
    ".bib": "bib",
    ".ris": "ris",
    ".jsonld": "jsonld",
}
_OF_ENDPOINTS = (*ENDPOINT_OPTIONS, "prompt", "shots", "answers", "candidates", "repeat", "seed", "no_logprobs")
MOST_REPEATS = 100
_OF_OTHERS = ("stem", "tagger", "frequencies", "redundancy", "title_weight")

_llm_options = combine(
    click.option(
        "--prompt",
        metavar="FILE",
        help="llm: prompt to use, with {text} in it; {n}, {language} and {examples} are put in, too.",
        shell_complete=completion.paths,
    ),
    click.option(
        "--shots",
        metavar="CORPUS:K",
        help="llm: show the first K documents of CORPUS that have keyphrases as examples.",
        shell_complete=completion.paths,
    ),
    click.option(
        "--answers",
        metavar="FILE",
        help="llm: where answers are kept (default RUN.answers.sqlite).",
        shell_complete=completion.new_paths,
    ),
    click.option(
        "--candidates",
        metavar="RUN|MODEL",
        help="llm: show phrases of each document in the prompt: those of a run, or what an extractor finds, as tfidf.",
        shell_complete=completion.models,
    ),
    click.option(
        "--repeat",
        type=Whole(1, MOST_REPEATS),
        default=1,
        metavar="N",
        help="llm: ask N times, with as many seeds: RUN.jsonl, RUN.2.jsonl... (default 1).",
    ),
    click.option("--no-logprobs", is_flag=True, help="llm: do not ask for the probabilities of tokens."),
    click.option("--seed", type=int, default=0, metavar="N", help="llm: of the endpoint (default 0)."),
    endpoint_options,
)


@verb("predict", epilog=EPILOG)
@click.argument("model", metavar="MODEL[,option=value...]", shell_complete=completion.models)
@corpus_argument
@click.option(
    "-j",
    "--jobs",
    type=Whole(1),
    metavar="N",
    help="Processes (default 1; at most four for each core), or requests at a time of llm: (default 4).",
)
@reading_flags
@click.option(
    "-f", "--format", "format_", type=click.Choice(FORMATS), help="Output format (default table; a run in a file)."
)
@click.option(
    "-o",
    "--output",
    metavar="RUN",
    help="File to write: .jsonl (.gz, .zst) and .parquet are runs; .csv, .xlsx, .bib, .ris and .jsonld are for "
    "catalogues, .json and .txt for other readers.",
    shell_complete=completion.new_paths,
)
@quiet_option
@_llm_options
def predict(model: str, corpus: str, format_: str | None, output: str | None, quiet: bool, **options: Any) -> None:
    """Predict keyphrases for documents.

    MODEL is a name that `karat list models` shows, a directory that `karat
    train` wrote, ./module.py:function for a function in a file of yours,
    module:function for one of an installed module, or llm:NAME for a language
    model. CORPUS is a corpus in any format, a text, a PDF, a folder of these, or
    - for standard input. With -o RUN and -f, the run is written and -f is shown.
    """
    from karat.models.find import parse_model
    from karat.models.run import predicted

    chosen = parse_model(model)
    _check_options(click.get_current_context(), chosen)
    run, view = _destinations(corpus, format_, output)
    given = _documents(corpus, options, quiet, 1 if chosen.asks_endpoint else options["jobs"] or 1)
    versions = _versions(run, options["repeat"])
    if options["dry_run"]:
        for version in range(len(versions)):
            own = options | {"seed": options["seed"] + version}
            _forecast(chosen, given, _options(chosen, output, own))
        return
    writer = _Writer(view, given.origin) if view is not None else None
    for version, path in enumerate(versions):
        own = options | {"seed": options["seed"] + version}
        with _progress(quiet, given, chosen) as (done, tell):
            settings = _options(chosen, output, own, done, tell)
            finish = writer if run is None else None
            found = predicted(given, chosen, settings, output=path or output, shown=view is not None, finish=finish)
        if writer is not None and (output is None or run is not None) and (found.failure is None or run is not None):
            write_out(writer(found, width=None).decode())
        _deliver_notes(found, writer, output, quiet)
        if found.failure is not None:
            hint = "" if output is not None else "; with -o RUN.jsonl what was predicted before is kept"
            raise InputError(found.failure + hint)


def _versions(run: str | None, repeat: int) -> list[str | None]:
    """The file of each time that a language model is asked: run.jsonl, run.2.jsonl and so on."""
    if repeat > 1 and run is None:
        raise InputError("--repeat writes several runs, so it needs a file: -o RUN.jsonl")
    found: list[str | None] = [run]
    for version in range(2, repeat + 1):
        suffix = next(suffix for suffix in sorted(RUNS, key=len, reverse=True) if str(run).endswith(suffix))
        path = f"{str(run).removesuffix(suffix)}.{version}{suffix}"
        check_file(path)
        found.append(path)
    return found


# ---------------------------------------------------------------------------------------------- options


def _check_options(context: click.Context, chosen: ModelSpec) -> None:
    """Raises InputError if an option was given that the model does not have."""
    wrong, whose = (_OF_OTHERS, "not for llm:") if chosen.asks_endpoint else (_OF_ENDPOINTS, "for llm: models only")
    for name in wrong:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(f"{flag_of(context, name)} is {whose}, and the model is {chosen.name}")


def _destinations(corpus: str, format_: str | None, output: str | None) -> tuple[str | None, str | None]:
    """(the file of a run, what is shown or written with it). Raises InputError if one could not be written."""
    check_file(output)
    for ending in (".part", ".answers.sqlite") if output is not None else ():
        note_output(f"{output}{ending}")
    run, view = _chosen(corpus, format_, output)
    if view == "xlsx":
        from karat.output.workbook import writer_of_workbooks

        writer_of_workbooks()
    return run, view


def _chosen(corpus: str, format_: str | None, output: str | None) -> tuple[str | None, str | None]:
    """The same, without a look at what is installed."""
    if output is None:
        if format_ == "xlsx":
            raise InputError("-f xlsx: an Excel file needs a name: -o FILE.xlsx")
        return None, format_ or "table"
    if output.endswith(RUNS):
        if format_ == "xlsx":
            raise InputError(f"-o {output} is a run; an Excel file is named FILE.xlsx")
        return output, None if format_ == "jsonl" else format_
    if format_ is None and Path(output).suffix not in _BY_SUFFIX:
        known = ", ".join([*RUNS[:3], *_BY_SUFFIX])
        raise InputError(f"-o {output}: its suffix names no format (known: {known}); choose one with -f")
    if format_ == "jsonl":
        return output, None
    return None, format_ or _BY_SUFFIX[Path(output).suffix]


def _documents(corpus: str, options: dict[str, Any], quiet: bool, jobs: int = 1) -> Corpus:
    from karat.models.documents import documents_at

    files = Files.of(options)
    if files.from_ or files.fields:
        found = files.corpus(corpus)
        files.check()
        return found
    with progress(quiet) as done:
        return documents_at(corpus, jobs=capped_jobs(jobs), progress=done)


def _options(
    chosen: ModelSpec,
    output: str | None,
    options: dict[str, Any],
    done: Callable[[int], None] | None = None,
    tell: Callable[[AskProgress], None] | None = None,
) -> PredictOptions:
    """The flags as the library takes them."""
    from karat.models.run import PredictOptions

    if not chosen.asks_endpoint:
        return options_from(PredictOptions, options | {"jobs": capped_jobs(options["jobs"] or 1), "progress": done})
    from karat.models.find import ENDPOINT
    from karat.models.prompt import Asking

    named = options | {"model": chosen.name.removeprefix(ENDPOINT)}
    asking = Asking(
        endpoint_of(named, logprobs=not options["no_logprobs"]),
        prompt=options["prompt"],
        shots=options["shots"],
        candidates=options["candidates"],
        store=options["answers"] or (f"{output}.answers.sqlite" if output is not None else None),
        limits=limits_of(options),
        concurrency=min(options["jobs"] or 4, MOST_REQUESTS),
        tell=tell,
    )
    return PredictOptions(n=options["n"], language=options["language"], vocabulary=options["vocabulary"], asking=asking)


def _forecast(chosen: ModelSpec, given: Corpus, options: PredictOptions) -> None:
    from karat.models.run import forecast

    write_out(karat.render(forecast(given, chosen, options)))


# ---------------------------------------------------------------------------------------------- what is shown


class _Writer:
    """Makes the content of a file, or of standard output, of what is predicted."""

    def __init__(self, view: str, source: str) -> None:
        self.view, self.source = view, source
        self.notes: list[str] = []

    def __call__(self, found: Predicted, width: int | None = FILE_WIDTH) -> bytes:
        """The content; what there is to say of it goes into `notes`."""
        from karat.formats.catalogue import FORMATS as CATALOGUES
        from karat.formats.catalogue import catalogue
        from karat.output.workbook import workbook

        if self.view == "xlsx":
            return workbook(found.flat_rows(), "keyphrases")
        if self.view in CATALOGUES:
            content, self.notes = catalogue(self.view, found.catalogue(), self.source)
            return content
        return karat.render(found, self.view, width).encode()


def _deliver_notes(found: Predicted, writer: _Writer | None, output: str | None, quiet: bool) -> None:
    """What formats do not hold goes to standard error."""
    held = writer is not None and writer.view in ("table", "json") and output is None
    if not quiet and not held:
        echo_notes([*found.provenance, *found.notes, *(writer.notes if writer is not None else ())])


Showing = tuple["Callable[[int], None] | None", "Callable[[AskProgress], None] | None"]


@contextmanager
def _progress(quiet: bool, corpus: Corpus, chosen: ModelSpec) -> Iterator[Showing]:
    """Functions to call with what is done: a bar on a terminal with documents and their rate, nothing elsewhere."""
    if chosen.asks_endpoint:
        with requests_progress(quiet) as tell:
            yield None, tell
        return
    if quiet or not sys.stderr.isatty():
        yield None, None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(bar_width=20),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} documents{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    # No thread of its own: workers are forked while the bar is shown.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=len(corpus), rate="")

        def advance(done: int) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, advance=done, rate=f", {speed:,.1f} a second" if speed else "")
            bar.refresh()

        yield advance, None


# ---------------------------------------------------------------------------------------------- df


@dataclass(frozen=True, slots=True)
class _Counting:
    """How phrases are counted."""

    language: str | None = document_language_option()
    work: WorkOptions = group(WorkOptions)


@click.command("df", epilog=DF_EPILOG)
@corpus_argument
@flags(_Counting)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="File to write: JSON, or .tsv; .gz packs it.",
    shell_complete=completion.new_paths,
)
@reading_flags
@quiet_option
def df(corpus: str, language: str | None, jobs: int | str, output: str, quiet: bool, **options: Any) -> None:
    """Count in how many documents each phrase occurs.

    The counts are of stemmed phrases of one to three words; `karat predict
    --df FILE` reads them, so that a large corpus is counted once.
    """
    check_file(output)
    from karat.models.documents import document_language
    from karat.models.extractors.frequencies import frequencies_of, save_frequencies

    given = _documents(corpus, options, quiet)
    size = Path(corpus).stat().st_size if Path(corpus).is_file() else 0
    with progress(quiet) as done:
        tongue, said = document_language(given, language)
        found = frequencies_of(given, language=tongue, jobs=jobs_for(jobs, size), progress=done)
    save_frequencies(output, found)
    if not quiet:
        echo_notes(
            [*given.notes, *said, f"{counted(len(found.counts), 'phrase')} of {counted(found.documents, 'document')}"]
        )


corpus_group.add_command(df)
