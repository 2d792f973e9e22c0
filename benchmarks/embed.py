"""Phrases a second through an encoder, and seconds for BERTScore, of karat and of the libraries that people use.

    python -m benchmarks.embed MODEL [--phrases 4000] [--pairs 10000] [--batch 64] [--seed 0] [--repeat 1]

MODEL is a directory, or package:NAME. Phrases are made from a seed: 1 to 4 words, as keyphrases are. Models are loaded
and warm before the clock starts; the cache is off. Needs karat[neural], sentence-transformers and bert-score.
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.embed import Embedder, embedder
from karat.embed.model import package_directory
from karat.similarity.embedded import greedy_f

PREFIXES = ("neuro", "graph", "data", "meta", "hyper", "text", "auto", "inter", "multi", "sub")
ROOTS = (
    "network",
    "mining",
    "learning",
    "retrieval",
    "search",
    "model",
    "cluster",
    "query",
    "index",
    "kernel",
    "graph",
)
SUFFIXES = ("", "s", "ing", "al", "ation")


def made_phrases(count: int, seed: int) -> list[str]:
    """Distinct phrases of 1 to 4 words."""
    draw = np.random.default_rng(seed)
    words = [f"{p}{r}{s}" if len(r) % 2 else f"{r}{s}" for p in PREFIXES for r in ROOTS for s in SUFFIXES]
    found: dict[str, None] = {}
    while len(found) < count:
        length = draw.choice([1, 2, 3, 4], p=[0.25, 0.52, 0.18, 0.05])
        found[" ".join(draw.choice(words, size=length))] = None
    return list(found)


def seconds(work: Callable[[], Any], repeat: int) -> float:
    """The fastest of some runs."""

    def once() -> float:
        start = perf_counter()
        work()
        return perf_counter() - start

    return min(once() for _ in range(repeat))


def compare_phrases(model: Embedder, directory: str, phrases: list[str], batch: int, repeat: int) -> list[str]:
    from sentence_transformers import SentenceTransformer

    peer = SentenceTransformer(directory, device="cpu", local_files_only=True)
    theirs = peer.encode(phrases[:200], batch_size=batch, show_progress_bar=False)
    difference = float(np.abs(model.embed(phrases[:200]) - theirs).max())
    ours = seconds(lambda: model.embed(phrases), repeat)
    their = seconds(lambda: peer.encode(phrases, batch_size=batch, show_progress_bar=False), repeat)
    return [
        line("phrases, karat", ours, len(phrases)),
        line(f"phrases, sentence-transformers ({batch})", their, len(phrases)),
        f"{'':<44}{their / ours:>8.2f} times as fast; largest difference {difference:.1e}",
    ]


def compare_pairs(model: Embedder, directory: str, phrases: list[str], sizes: Sequence[int], repeat: int) -> list[str]:
    from bert_score.utils import bert_cos_score_idf, get_model, get_tokenizer  # type: ignore[import-untyped]
    from transformers import AutoConfig

    pairs, batch = sizes
    left, right = np.random.default_rng(0).integers(0, len(phrases), size=(2, pairs))
    layers = AutoConfig.from_pretrained(directory, local_files_only=True).num_hidden_layers
    tokenizer, peer = get_tokenizer(directory), get_model(directory, layers)
    idf: dict[int, float] = defaultdict(lambda: 1.0)
    idf[tokenizer.sep_token_id] = idf[tokenizer.cls_token_id] = 0

    def their(count: int, size: int) -> NDArray[Any]:
        references, candidates = [phrases[i] for i in right[:count]], [phrases[i] for i in left[:count]]
        scores = bert_cos_score_idf(peer, references, candidates, tokenizer, idf, batch_size=size, device="cpu")
        return np.asarray(scores[:, 2].numpy())

    def our(count: int) -> NDArray[Any]:
        used, places = np.unique(np.concatenate([left[:count], right[:count]]), return_inverse=True)
        return greedy_f(model.tokens([phrases[i] for i in used]), places[:count], places[count:])

    difference = float(np.abs(our(100) - their(100, 1)).max())
    ours, theirs = seconds(lambda: our(pairs), repeat), seconds(lambda: their(pairs, batch), repeat)
    return [
        line("BERTScore pairs, karat", ours, pairs),
        line(f"BERTScore pairs, bert-score ({batch})", theirs, pairs),
        f"{'':<44}{theirs / ours:>8.2f} times as fast; largest difference, one by one, {difference:.1e}",
    ]


def line(name: str, taken: float, count: int) -> str:
    return f"{name:<44}{taken:>8.2f} s{count / taken:>12,.0f} /s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--phrases", type=int, default=4000)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=64, help="batch size of the others")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=1)
    given = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    name = given.model
    directory = package_directory(name.removeprefix("package:")) if name.startswith("package:") else name
    model, phrases = embedder(directory, cache=False), made_phrases(given.phrases, given.seed)
    for text in compare_phrases(model, directory, phrases, given.batch, given.repeat):
        print(text, flush=True)
    for text in compare_pairs(model, directory, phrases, (given.pairs, given.batch), given.repeat):
        print(text, flush=True)


if __name__ == "__main__":
    main()
