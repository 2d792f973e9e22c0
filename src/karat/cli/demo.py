"""karat demo: a small corpus, scored under three protocols."""

from __future__ import annotations

import click

from karat.cli.shared import write_out

PROTOCOLS = ("karat", "chan2019", "kpdrop2022")
METRICS = ("f1@5:present", "f1@M:present", "f1@M:absent", "f1@M:all")


@click.command()
def demo() -> None:
    """Score a small bundled corpus under three protocols.

    Shows how far the same predictions are apart under three conventions.
    """
    from importlib.resources import files

    from karat.evaluate import score
    from karat.formats import read, read_run
    from karat.report import render

    folder = files("karat") / "demo"
    corpus = read(str(folder / "corpus.jsonl"), name="demo")
    runs = [read_run(str(folder / f"{name}.jsonl")) for name in ("careful", "eager")]
    results = score(corpus, *runs, metrics=METRICS, protocol=PROTOCOLS)
    write_out(render(results))
    write_out(
        "\nThe same two runs, made by hand, under three conventions. Score yours:\n"
        "  karat score corpus.jsonl run.jsonl --protocol chan2019\n"
        "What a convention says: karat list protocols chan2019\n"
    )
