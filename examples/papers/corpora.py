"""The documents of the study: where they are, and those that are put together from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import karat
from karat.errors import InputError

SHARED = 0.25  # the least Jaccard index of the keyphrases of two documents that are alike; tables also show 0.5
HALF = 0.5  # as in the paper


@dataclass(frozen=True, slots=True)
class Data:
    """The folder of the corpora that are given."""

    folder: Path

    def part(self, corpus: str, part: str) -> str:
        """The file of a part (train, valid, test) of a corpus to train on."""
        return str(self.folder / "training" / f"{corpus}.{part}.jsonl.gz")

    def other(self, corpus: str) -> str:
        """The file of a corpus that is only predicted for."""
        return str(self.folder / f"{corpus}.jsonl.gz")

    def missing(self) -> list[str]:
        """The files that are not there."""
        parts = [self.part(corpus, part) for corpus in ("acm-cr", "papyrus-en") for part in ("train", "valid", "test")]
        return [
            each for each in (*parts, self.other("inspec"), self.other("stackexchange")) if not Path(each).is_file()
        ]


def write_alike(data: Data, folder: Path) -> None:
    """Documents of acm-cr that no generator learned from and that share keyphrases, and their pairs.

    alike.jsonl, alike.pairs.jsonl (`SHARED` or more), alike-half.pairs.jsonl (`HALF` or more).
    """
    if (folder / "alike.jsonl").is_file():
        return
    unseen = [each for part in ("test", "valid") for each in karat.read(data.part("acm-cr", part))]
    for least, name in ((HALF, "alike-half"), (SHARED, "alike")):
        pairs = karat.mine_pairs(karat.Corpus.of(unseen), min=least, stem=True)
        pairs.save(folder / f"{name}.pairs.jsonl")
    wanted = {each for pair in pairs.rows() for each in (pair["a"], pair["b"])}
    if not wanted:
        raise InputError("no two documents of acm-cr's test and validation sets share keyphrases: none are alike")
    karat.write(karat.Corpus.of([each for each in unseen if each.id in wanted]), folder / "alike.jsonl")


def write_both(source: str, reformulated: Path, path: Path) -> None:
    """Documents and their reformulations in one corpus, to be predicted for together."""
    documents = [*karat.read(source), *karat.read(reformulated)]
    karat.write(karat.Corpus.of(documents), path)
