"""The documents of the study: where they are, and those that are put together from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import karat
from karat.corpus import Document
from karat.errors import InputError
from karat.pairs.mine import Pairs

SHARED = 0.25  # the least Jaccard index of the keyphrases of two documents that are alike; tables also show 0.5
HALF = 0.5  # as in the paper
SOURCES = ("acm-cr", "papyrus-en")  # which generators are trained on
OTHERS = ("inspec", "stackexchange")  # which are only predicted for


@dataclass(frozen=True, slots=True)
class Data:
    """The folder of the corpora that are given; of each, the first documents alone where so many are asked for."""

    folder: Path
    made: Path  # the folder of what is made of them
    train: int | None = None  # documents to train on
    test: int | None = None  # documents of a corpus to predict for, and to validate with

    def part(self, corpus: str, part: str) -> str:
        """The file of a part (train, valid, test) of a corpus to train on."""
        return self._file(f"training/{corpus}.{part}.jsonl.gz", self.train if part == "train" else self.test)

    def other(self, corpus: str) -> str:
        """The file of a corpus that is only predicted for."""
        return self._file(f"{corpus}.jsonl.gz", self.test)

    def given(self) -> list[tuple[str, int | None]]:
        """The files that are read, and how many of their documents."""
        parts = [(f"{corpus}.{part}", part) for corpus in SOURCES for part in ("train", "valid", "test")]
        training = [(f"training/{name}.jsonl.gz", self.train if part == "train" else self.test) for name, part in parts]
        return [*training, *((f"{name}.jsonl.gz", self.test) for name in OTHERS)]

    def missing(self) -> list[str]:
        """The files that are not there."""
        return [str(self.folder / name) for name, _ in self.given() if not (self.folder / name).is_file()]

    @property
    def tested(self) -> Path:
        """The folder of corpora that are put together from those to predict for."""
        return self.made if self.test is None else self.made / f"first-{self.test}"

    def write_first(self) -> None:
        """The first documents of each corpus, where they are asked for and not there yet."""
        for name, first in self.given():
            path = Path(self._file(name, first))
            if first is not None and not path.is_file():
                write_first(str(self.folder / name), first, path)

    def _file(self, name: str, first: int | None) -> str:
        return str(self.folder / name if first is None else self.made / f"first-{first}" / name)


def write_first(corpus: str, number: int, path: Path) -> None:
    """The first documents of a corpus, as a corpus."""
    path.parent.mkdir(parents=True, exist_ok=True)
    karat.write(karat.Corpus.of(list(islice(karat.read(corpus), number))), path)


def write_alike(data: Data, folder: Path) -> None:
    """Documents of acm-cr that no generator learned from and that share keyphrases, and their pairs.

    alike.jsonl, alike.pairs.jsonl (`SHARED` or more), alike-half.pairs.jsonl (`HALF` or more). Where only some
    documents are asked for, there are at most so many of these, and those that share half come first.
    """
    if (folder / "alike.jsonl").is_file():
        return
    parts = (str(data.folder / "training" / f"acm-cr.{part}.jsonl.gz") for part in ("test", "valid"))
    unseen = [each for part in parts for each in karat.read(part)]
    rows = [row for least in (HALF, SHARED) for row in _alike(unseen, least).rows()]
    wanted: set[str] = set()
    for row in rows:
        more = wanted | {row["a"], row["b"]}
        wanted = more if data.test is None or len(more) <= data.test else wanted
    if not wanted:
        raise InputError("no two documents of acm-cr's test and validation sets share keyphrases: none are alike")
    kept = [each for each in unseen if each.id in wanted]
    for least, name in ((HALF, "alike-half"), (SHARED, "alike")):
        _alike(kept, least).save(folder / f"{name}.pairs.jsonl")
    karat.write(karat.Corpus.of(kept), folder / "alike.jsonl")


def _alike(documents: Sequence[Document], least: float) -> Pairs:
    return karat.mine_pairs(karat.Corpus.of(list(documents)), min=least, stem=True)


def write_both(source: str, reformulated: Path, path: Path) -> None:
    """Documents and their reformulations in one corpus, to be predicted for together."""
    documents = [*karat.read(source), *karat.read(reformulated)]
    karat.write(karat.Corpus.of(documents), path)
