"""Documents a second of each extractor, tags given and from raw text; seconds and memory of a text of 100 pages.

    python -m benchmarks.predict [--corpus CORPUS] [--documents 1000] [--words 50000] [--model NAME ...] [--repeat 1]

Without a corpus, one is made (`benchmarks.made_corpus`). Tags are those of karat's own tagger. The long text is made of
the first documents, joined. Each figure is of a process of its own: its clock starts when documents, tags and document
frequencies are there and the tagger is loaded; its peak memory is that of the whole process.
"""

import argparse
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.__main__ import Measured, Stage, run_once
from karat.corpus import Document
from karat.formats import read
from karat.models.all import MODELS
from karat.models.base import CommonOptions, Predict
from karat.models.extractors.frequencies import Frequencies, frequencies_of
from karat.text.tags import tagger

SETUP = """from benchmarks import predict
documents = predict.{kind}(sys.argv[1], int(sys.argv[2]))
run = predict.loaded(sys.argv[3])"""
WORK = "found = len(list(run(documents)))"
READY = [name for name, each in MODELS.items() if {*each.needs} <= {"tags", "frequencies"}]  # want nothing else
TITLES = {"tagged": "tags given", "raw": "raw text", "long": "long text"}


# --------------------------------------------------------------------------------- what the processes call


def raw(corpus: str, documents: int) -> list[Document]:
    """The first documents of a corpus, without anything but title and text."""
    return [Document(id=each.id, title=each.title, text=each.text) for each in islice(read(corpus), documents)]


def tagged(corpus: str, documents: int) -> list[Document]:
    """The first documents of a corpus, tagged."""
    tag = tagger("textblob")
    given = raw(corpus, documents)
    return [Document(id=each.id, sentences=tag(each.title or "") + tag(each.text or "")) for each in given]


def long(corpus: str, words: int) -> list[Document]:
    """One document of so many words."""
    joined: list[str] = []
    for document in read(corpus):
        joined += f"{document.title or ''}. {document.text or ''}".split()
        if len(joined) >= words:
            break
    return [Document(id="long", text=" ".join(joined[:words]))]


def loaded(name: str) -> Predict:
    """A model with some document frequencies, its tagger loaded."""
    made = MODELS[name].made(CommonOptions(frequencies=_frequencies()))
    assert len(list(made([Document(text="Neural networks learn graphs.")]))) == 1
    return made


@cache
def _frequencies() -> Frequencies:
    return frequencies_of([Document(text="Neural networks learn graphs."), Document(text="Graphs of networks.")])


# ------------------------------------------------------------------------------------------- the table


def measured(kind: str, name: str, corpus: str, size: int, repeat: int) -> Measured:
    """The fastest of some runs."""
    stage = Stage(f"{name}, {TITLES[kind]}", WORK, SETUP.format(kind=kind), (corpus, str(size), name))
    return min((run_once(stage) for _ in range(repeat)), key=lambda each: each.seconds)


def line(name: str, corpus: str, documents: int, words: int, repeat: int) -> str:
    """The figures of a model."""
    given, text = (measured(kind, name, corpus, documents, repeat) for kind in ("tagged", "raw"))
    book = measured("long", name, corpus, words, repeat)
    rates = (f"{each.found / each.seconds:>12,.0f}" for each in (given, text))
    return f"{name:<18}{''.join(rates)}{book.seconds:>12.2f}{book.peak / 1e6:>10.0f}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.predict")
    parser.add_argument("--corpus", help="corpus to predict for; one is made otherwise")
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--model", nargs="+", default=READY, choices=READY, metavar="NAME")
    parser.add_argument("--repeat", type=int, default=1)
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as scratch:
        corpus = given.corpus
        if corpus is None:
            from benchmarks.made_corpus import write_corpus

            corpus = str(write_corpus(Path(scratch), documents=max(given.documents, given.words // 100), seed=0).corpus)
        print(f"{given.documents:,} documents; a text of {given.words:,} words")
        print(f"{'':<18}{'tags given':>12}{'raw text':>12}{'long text':>12}{'peak':>10}")
        print(f"{'model':<18}{'documents/s':>12}{'documents/s':>12}{'seconds':>12}{'MB':>10}")
        for name in given.model:
            print(line(name, corpus, given.documents, given.words, given.repeat), flush=True)


if __name__ == "__main__":
    main()
