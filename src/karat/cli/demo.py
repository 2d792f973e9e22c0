"""karat demo: the bundled corpus, scored and audited, and left as files to try things on."""

from __future__ import annotations

import click

from karat.cli.shared import write_out
from karat.errors import InputError

FILES = ("corpus.jsonl", "by-hand.jsonl", "paraphrases.jsonl", "pairs.jsonl")
METRICS = ("f1@5:present", "f1@M:present", "f1@5:absent", "f1@M:absent", "f1@M:all")
PROTOCOLS = ("chan2019", "chen2020", "kpdrop2022", "kpdrop2022,pad=k", "meng2021")
AUDITED = "f1@5:absent"

EPILOG = """\b
Examples:
  karat demo
  karat demo --folder /tmp/karat-demo
"""

NEXT = """
What to try next:
  cd {folder}
  karat score corpus.jsonl by-hand.jsonl --protocol chan2019
  karat audit corpus.jsonl by-hand.jsonl -m f1@M:present
  karat corpus convert corpus.jsonl -o corpus.csv
  karat list protocols meng2021
Your own files: karat list formats
"""


@click.command(epilog=EPILOG)
@click.option("--folder", default="karat-demo", metavar="FOLDER", help="Where its files go (default karat-demo).")
def demo(folder: str) -> None:
    """Score and audit a small bundled corpus.

    60 abstracts in six fields, written for karat, with a run that was made by
    hand. The files are left in a folder to try things on.
    """
    from karat.auditing import audit
    from karat.evaluate import score
    from karat.formats import read, read_run
    from karat.report import render

    _copy(folder)
    corpus, run = read(_bundled("corpus.jsonl"), name="demo"), read_run(_bundled("by-hand.jsonl"))
    write_out("60 abstracts in six fields, written for karat, and a run made by hand.\n\n== karat score ==\n\n")
    write_out(render(score(corpus, run, metrics=METRICS)))
    write_out("\n== karat audit: the same run under the conventions of four scripts ==\n\n")
    write_out(render(audit(corpus, run, metric=AUDITED, protocol=PROTOCOLS)))
    write_out(NEXT.format(folder=folder))


def _bundled(name: str) -> str:
    from importlib.resources import files

    return str(files("karat") / "demo" / name)


def _copy(folder: str) -> None:
    from pathlib import Path

    from karat.formats.files import write_beside

    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: could not be made ({error.strerror}); choose another with --folder") from None
    for name in FILES:
        write_beside(target / name, Path(_bundled(name)).read_bytes())
