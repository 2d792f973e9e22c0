"""karat demo: from nothing to a page: three extractors on the bundled corpus, and what the other verbs find."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.shared import write_out
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.corpus import Corpus, Run

PAGE = "report.html"
RUNS = ("runs", "runs-of-paraphrases")  # the folders of predictions for the corpus and for its paraphrases
FILES = ("corpus.jsonl", "by-hand.jsonl", "paraphrases.jsonl", "pairs.jsonl")
MODELS = ("multipartiterank", "yake", "tfidf")
METRICS = ("f1@5:present", "f1@M:present", "f1@5:absent", "f1@M:absent", "f1@M:all")
PROTOCOLS = ("chan2019", "chen2020", "kpdrop2022", "kpdrop2022,pad=k", "meng2021")
COMPARED = "f1@M"
AUDITED = "f1@5:absent"
RESAMPLES = 2000
SHARED = 0.05  # the least Jaccard index of a pair: documents of six fields share few references

EPILOG = """\b
Examples:
  karat demo
  karat demo --folder /tmp/karat-demo
"""

ABOUT = """\
60 abstracts in six fields, written for karat; a run made by hand, and those of
three extractors, which predict now.
"""

NEXT = """
Open {folder}/report.html in a browser: all of this and every document.

What to try next:
  cd {folder}
  karat compare corpus.jsonl by-hand.jsonl runs/yake.jsonl -m f1@5:present
  karat score corpus.jsonl by-hand.jsonl --protocol chan2019
  karat predict topicrank corpus.jsonl -n 5
  karat nearmiss corpus.jsonl runs/tfidf.jsonl
  karat describe corpus.jsonl by-hand.jsonl
  karat report corpus.jsonl by-hand.jsonl runs/*.jsonl -o page.html
Your own files: karat list formats
"""


@click.command(epilog=EPILOG)
@click.option("--folder", default="karat-demo", metavar="FOLDER", help="Where its files go (default karat-demo).")
def demo(folder: str) -> None:
    """From nothing to a report, on a small bundled corpus.

    60 abstracts in six fields, written for karat, and a run that was made by
    hand. Three extractors predict for them and for paraphrases of them; then
    all are scored, compared and put on a page. The files are left in a folder
    to try things on.
    """
    from karat.formats import read, read_run

    _copy(folder)
    write_out(ABOUT)
    corpus, paraphrases = read(_bundled("corpus.jsonl"), name="demo"), read(_bundled("paraphrases.jsonl"))
    by_hand = read_run(_bundled("by-hand.jsonl"))
    extracted = [_predicted(model, corpus, paraphrases, Path(folder)) for model in MODELS]
    own = [by_hand, *(run.without(set(paraphrases.ids)) for run in extracted)]  # type: ignore[arg-type]
    _show_scores(corpus, own)
    _show_homogeneity(corpus, extracted)
    _show_confidence(corpus, by_hand)
    _write_page(corpus, paraphrases, [by_hand, *extracted], Path(folder))
    write_out(NEXT.format(folder=folder))


def _predicted(model: str, corpus: Corpus, paraphrases: Corpus, folder: Path) -> Run:
    """A model's predictions for the documents and their paraphrases; its runs of each are left as files."""
    from karat.corpus import Run
    from karat.formats.write import write
    from karat.models.extractors.frequencies import frequencies_of
    from karat.models.run import predict

    counted = frequencies_of(corpus, language="english") if model == "tfidf" else None
    found = []
    for documents, place in zip((corpus, paraphrases), RUNS, strict=True):
        run = predict(documents, model, frequencies=counted)
        (folder / place).mkdir(exist_ok=True)
        write(run, folder / place / f"{model}.jsonl")
        found += list(run)
    return Run.of(found, name=model)


def _section(command: str, what: str) -> None:
    write_out(f"\n== {command}: {what} ==\n\n")


def _show_scores(corpus: Corpus, runs: list[Run]) -> None:
    from karat.analyses.audit import audit
    from karat.analyses.compare import compare
    from karat.analyses.score import score
    from karat.output import render

    _section("karat score", "all four systems")
    write_out(render(score(corpus, *runs, metrics=METRICS)))
    _section("karat compare", "who is better, and how sure is that?")
    write_out(render(compare(corpus, *runs, metrics=[COMPARED], resamples=RESAMPLES)))
    _section("karat audit", "the run made by hand under the conventions of four scripts")
    write_out(render(audit(corpus, runs[0], metric=AUDITED, protocol=PROTOCOLS)))


def _show_homogeneity(corpus: Corpus, runs: list[Run]) -> None:
    from karat.analyses.study import study
    from karat.output import render

    _section("karat pairs tables", "do extractors index alike documents alike?")
    found = study(corpus, _bundled("paraphrases.jsonl"), *runs, min=SHARED, cutoff="5", resamples=RESAMPLES)
    write_out(render(found))


def _show_confidence(corpus: Corpus, run: Run) -> None:
    from karat.analyses.confidence import confidence
    from karat.output import render

    _section("karat confidence", "does the run made by hand know when it is right?")
    write_out(render(confidence(corpus, run)))


def _write_page(corpus: Corpus, paraphrases: Corpus, runs: list[Run], folder: Path) -> None:
    from karat.analyses.report import page

    shown = page(
        corpus,
        *runs,
        title="Four systems on the demo corpus",
        pairs=_bundled("pairs.jsonl"),
        reformulations=paraphrases,
        resamples=RESAMPLES,
    )
    shown.save(folder / PAGE)


def _bundled(name: str) -> str:
    from importlib.resources import files

    return str(files("karat") / "demo" / name)


def _copy(folder: str) -> None:
    from karat.formats.output import write_beside

    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: could not be made ({error.strerror}); choose another with --folder") from None
    contents = {name: Path(_bundled(name)).read_bytes() for name in FILES}
    _check_files(target, contents)
    for name, content in contents.items():
        write_beside(target / name, content)


def _check_files(folder: Path, contents: dict[str, bytes]) -> None:
    """Raise InputError if the demo would overwrite a file that is not its own.

    Its predictions and its page are its own where all of the bundled files stand unchanged in the folder.
    """
    different = [name for name, content in contents.items() if _content(folder / name) not in (None, content)]
    if any(_content(folder / name) is None for name in contents):
        runs = [f"{place}/{model}.jsonl" for place in RUNS for model in MODELS]
        different += [name for name in (*runs, PAGE) if (folder / name).exists()]
    for name in different:
        raise InputError(
            f"{folder / name}: is not a file of the demo, or was changed, and is not overwritten;"
            " move it, or choose another folder with --folder"
        )


def _content(path: Path) -> bytes | None:
    """Return the content of a file; None if there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: could not be read ({error.strerror}); choose another folder with --folder") from None
