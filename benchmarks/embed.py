"""Phrases a second through an encoder, and seconds for BERTScore, of karat and of the libraries that people use.

    python -m benchmarks.embed MODEL [--phrases 4000] [--pairs 10000] [--threads N] [--seed 0] [--repeat 3]

MODEL is a directory, or package:NAME. Phrases have 1 to 4 words, and words are made of the model's own pieces, 1.3 on
average, as those of real keyphrases are. BERTScore is of two lots of pairs: one of distinct phrases, each in one pair
only, and one of a made corpus, each prediction with each reference of its document. Both libraries compute a phrase
once however many pairs it is in. Models are loaded and warm before the clock starts, the cache is off, and the others
have the batch sizes that they come with. Runs take turns, the fastest of each counts. On a machine that does other work
besides, only --threads 1 is fair: there the others' threads wait for each other at every step, and karat's do not.
Needs karat[neural], sentence-transformers and bert-score.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.made_corpus import write_corpus
from benchmarks.similarity import read_lists
from karat.embed import embedder
from karat.embed.model import package_directory
from karat.similarity.embedded import bertscore

PIECES = (0.80, 0.10, 0.07, 0.03)  # how many words of keyphrases a tokenizer cuts into 1, 2, ... pieces
LENGTHS = (0.25, 0.52, 0.18, 0.05)  # how many keyphrases have 1, 2, ... words
WORDS = 8000
CHECKED = 100  # pairs that are also scored one by one

Pair = tuple[str, str]


def made_words(directory: str, count: int, seed: int) -> list[str]:
    """Distinct words, put together from the pieces that a model's tokenizer knows."""
    from transformers import AutoTokenizer

    known = sorted(AutoTokenizer.from_pretrained(directory, local_files_only=True).get_vocab())
    plain = [piece for piece in known if piece.lstrip("#Ġ▁").isalpha() and piece.isascii() and len(piece) > 3]
    starts = [piece.lstrip("Ġ▁") for piece in plain if not piece.startswith("##")]
    ends = [piece.lstrip("#") for piece in plain if piece.startswith("##")] or starts
    draw, found = np.random.default_rng(seed), dict[str, None]()
    while len(found) < count:
        more = draw.choice(len(PIECES), p=PIECES)
        found["".join([draw.choice(starts), *draw.choice(ends, size=more)])] = None
    return list(found)


def made_phrases(words: list[str], count: int, seed: int) -> list[str]:
    """Distinct phrases."""
    draw, found = np.random.default_rng(seed), dict[str, None]()
    while len(found) < count:
        length = 1 + draw.choice(len(LENGTHS), p=LENGTHS)
        found[" ".join(draw.choice(words, size=length))] = None
    return list(found)


def distinct_pairs(words: list[str], count: int, seed: int) -> list[Pair]:
    """Pairs of phrases, all of them distinct."""
    phrases = made_phrases(words, 2 * count, seed)
    return list(zip(phrases[:count], phrases[count:], strict=True))


def corpus_pairs(words: list[str], count: int, seed: int) -> list[Pair]:
    """Pairs of a prediction and a reference of the first documents of a made corpus, 13 predictions a document.

    For the corpus's own words, which no tokenizer has seen, stand the given ones, each for one.
    """
    with TemporaryDirectory() as folder:
        write_corpus(Path(folder), max(count // 25, 10), seed)
        lists, _ = read_lists(Path(folder), 13)
    pairs = [pair for predictions, references in lists for pair in product(predictions, references)][:count]
    fresh, instead = iter(words), dict[str, str]()

    def replaced(phrase: str) -> str:
        return " ".join(instead.get(word) or instead.setdefault(word, next(fresh)) for word in phrase.split())

    return [(replaced(a), replaced(b)) for a, b in pairs]


def taking_turns(works: Sequence[Callable[[], Any]], repeat: int) -> list[float]:
    """The seconds of the fastest run of each."""
    found: list[list[float]] = [[] for _ in works]
    for _ in range(repeat):
        for work, taken in zip(works, found, strict=True):
            start = perf_counter()
            work()
            taken.append(perf_counter() - start)
    return [min(taken) for taken in found]


def compare_phrases(directory: str, phrases: list[str], repeat: int) -> list[str]:
    from sentence_transformers import SentenceTransformer

    peer, model = SentenceTransformer(directory, device="cpu", local_files_only=True), embedder(directory)

    def their(some: list[str]) -> NDArray[Any]:
        return np.asarray(peer.encode(some, show_progress_bar=False))

    difference = float(np.abs(model.embed(phrases[:200]) - their(phrases[:200])).max())
    ours, theirs = taking_turns([lambda: model.embed(phrases), lambda: their(phrases)], repeat)
    return [
        f"{len(phrases):,} phrases",
        line("karat", ours, len(phrases)),
        line("sentence-transformers", theirs, len(phrases)),
        f"  {theirs / ours:.2f} times as fast; largest difference {difference:.1e}",
    ]


def compare_pairs(directory: str, title: str, pairs: list[Pair], repeat: int) -> list[str]:
    from bert_score import BERTScorer
    from transformers import AutoConfig

    layers = AutoConfig.from_pretrained(directory, local_files_only=True).num_hidden_layers
    peer = BERTScorer(model_type=directory, num_layers=layers, device="cpu")

    def their(some: list[Pair]) -> NDArray[Any]:
        return np.asarray(peer.score([a for a, _ in some], [b for _, b in some])[2].numpy())

    one_by_one = np.concatenate([their([pair]) for pair in pairs[:CHECKED]])
    difference = float(np.abs(our_scores(directory, pairs[:CHECKED]) - one_by_one).max())
    ours, theirs = taking_turns([lambda: our_scores(directory, pairs), lambda: their(pairs)], repeat)
    phrases = len({phrase for pair in pairs for phrase in pair})
    return [
        f"{len(pairs):,} pairs of {phrases:,} phrases, {title}",
        line("karat", ours, len(pairs)),
        line("bert-score", theirs, len(pairs)),
        f"  {theirs / ours:.2f} times as fast; largest difference, one by one, {difference:.1e}",
    ]


def our_scores(directory: str, pairs: list[Pair]) -> NDArray[Any]:
    number: dict[str, int] = {}
    sides = [[number.setdefault(phrase, len(number)) for phrase in side] for side in zip(*pairs, strict=True)]
    left, right = np.array(sides, dtype=np.int64)
    return bertscore([tuple(phrase.split()) for phrase in number], left, right, model=directory)


def line(name: str, taken: float, count: int) -> str:
    return f"  {name:<24}{taken:>8.2f} s{count / taken:>12,.0f} /s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--phrases", type=int, default=4000)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--threads", type=int, help="of torch; as many as it takes by itself")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    os.environ |= {"HF_HUB_OFFLINE": "1", "KARAT_CACHE": "off"}
    import torch

    torch.set_num_threads(given.threads or torch.get_num_threads())
    print(f"{torch.get_num_threads()} threads")
    name = given.model
    directory = package_directory(name.removeprefix("package:")) if name.startswith("package:") else name
    words = made_words(directory, max(WORDS, given.pairs), given.seed)
    phrases = made_phrases(words, given.phrases, given.seed)
    print("\n".join(compare_phrases(directory, phrases, given.repeat)), flush=True)
    lots = {
        "all distinct": distinct_pairs(words, given.pairs, given.seed),
        "predictions × references of documents": corpus_pairs(words, given.pairs, given.seed),
    }
    for title, pairs in lots.items():
        print("\n".join(compare_pairs(directory, title, pairs, given.repeat)), flush=True)


if __name__ == "__main__":
    main()
