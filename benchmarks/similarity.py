"""Seconds of every similarity on the pairs of a made corpus: each prediction with each reference of its document.

    python -m benchmarks.similarity [--documents 20000] [--predictions 13] [--seed 0] [--sample 5000]

Times are those of one call on one core with the distinct phrases and pairs given, the fastest of some runs. sacrebleu's
TER goes over a sample of the same pairs, for the ratio.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from benchmarks.made_corpus import write_corpus
from karat.similarity import SIMILARITIES, Words, words_of
from karat.similarity.base import Form, Ints
from karat.similarity.context import sentences_of


@dataclass(frozen=True, slots=True)
class Pairs:
    """Distinct pairs of distinct phrases."""

    phrases: Sequence[Words]
    left: Ints
    right: Ints


def pairs_of(lists: Sequence[tuple[list[str], list[str]]], form: Form) -> Pairs:
    """The pairs of (predictions, references) lists, in a similarity's form."""
    number: dict[Words, int] = {}
    words = {text: words_of(text, form) for pair in lists for texts in pair for text in texts}
    ids = {text: number.setdefault(own, len(number)) for text, own in words.items()}
    found = {pair for predictions, references in lists for pair in _crossed(ids, predictions, references)}
    left, right = np.array(sorted(found), dtype=np.int64).T
    return Pairs(list(number), left.copy(), right.copy())


def _crossed(ids: dict[str, int], predictions: list[str], references: list[str]) -> Iterator[tuple[int, int]]:
    return product(map(ids.__getitem__, predictions), map(ids.__getitem__, references))


def read_lists(folder: Path, predictions: int) -> tuple[list[tuple[list[str], list[str]]], list[str]]:
    """((predictions, references) of each document, the documents' texts).

    Documents with fewer predictions than asked for get more from the references of the next ones, as a system does that
    fills its list with phrases of the field.
    """
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    runs = [json.loads(line)["keyphrases"] for line in (folder / "run.jsonl").read_text().splitlines()]
    references = [document["keyphrases"] for document in corpus]
    lists = []
    for i, own in enumerate(runs):
        more = (phrase for j in range(i + 1, i + 9) for phrase in references[j % len(references)])
        lists.append(([*own, *more][:predictions], references[i]))
    return lists, [f"{document['title']}\n{document['text']}" for document in corpus]


def fastest(work: Callable[[], object], repeat: int) -> float:
    """The seconds of the fastest of some runs."""
    found = []
    for _ in range(repeat):
        start = perf_counter()
        work()
        found.append(perf_counter() - start)
    return min(found)


def seconds(name: str, pairs: Pairs, texts: list[str], repeat: int) -> float:
    """The seconds that a similarity takes for the pairs."""
    chosen = SIMILARITIES[name]
    more = {"sentences": sentences_of(texts)} if name == "context" else {}
    return fastest(lambda: chosen.function(pairs.phrases, pairs.left, pairs.right, **more), repeat)


def sacrebleu_seconds(pairs: Pairs, sample: int) -> tuple[float, int]:
    """(seconds that sacrebleu's TER takes for a sample of the pairs, how many these are)."""
    from sacrebleu.metrics.ter import TER

    chosen = np.random.default_rng(0).permutation(len(pairs.left))[:sample]
    texts = [" ".join(words) for words in pairs.phrases]
    some = [
        (texts[a], texts[b]) for a, b in zip(pairs.left[chosen].tolist(), pairs.right[chosen].tolist(), strict=True)
    ]
    ter = TER()
    return fastest(lambda: [ter.sentence_score(a, [b]) for a, b in some], 1), len(some)


def main(given: Sequence[str] | None = None) -> None:
    """Nothing; prints the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.similarity", description="Seconds of the similarities.")
    parser.add_argument("--documents", type=int, default=20_000, help="size of the corpus (20000)")
    parser.add_argument("--predictions", type=int, default=13, help="predictions of each document (13)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the corpus (0)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each similarity, of which the best (3)")
    parser.add_argument("--sample", type=int, default=5000, help="pairs for sacrebleu (5000)")
    asked = parser.parse_args(given)
    with TemporaryDirectory() as folder:
        write_corpus(Path(folder), asked.documents, asked.seed)
        lists, texts = read_lists(Path(folder), asked.predictions)
    print(f"{sum(len(p) * len(r) for p, r in lists):,} pairs of {asked.documents:,} documents")
    forms: dict[Form, Pairs] = {form: pairs_of(lists, form) for form in ("stems", "surface")}
    for form, pairs in forms.items():
        print(f"{form}: {len(pairs.left):,} distinct pairs of {len(pairs.phrases):,} phrases")
    print(f"\n{'similarity':<16}{'seconds':>10}{'pairs/s':>14}")
    for name, chosen in SIMILARITIES.items():
        if name == "bertscore":  # its time is the model's: see benchmarks.embed
            continue
        pairs = forms[chosen.form]
        took = seconds(name, pairs, texts, asked.repeat)
        print(f"{name:<16}{took:>10.3f}{len(pairs.left) / took:>14,.0f}", flush=True)
        if name == "kmr":
            kmr = took / len(pairs.left)
    took, count = sacrebleu_seconds(forms["stems"], asked.sample)
    print(f"{'sacrebleu TER':<16}{took:>10.3f}{count / took:>14,.0f}   ({count:,} pairs)")
    print(f"\nseconds a pair, sacrebleu TER / kmr: {took / count / kmr:,.0f}")


if __name__ == "__main__":
    main()
