"""Documents a CPU second of training at the size of bart-base, t5-base and unilm-base, on one thread.

    python -m benchmarks.pretrained CORPUS [--batch 4] [--repeat 2]

Weights are drawn, since how fast they are does not depend on them. BART and T5 get made documents of 240 tokens with
targets of 20, about what an abstract of 185 words and its keyphrases are in pieces of words; UniKP gets documents of
the corpus, in pieces learned from these. Each step has its loss, gradients and optimiser; the first does not count.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

from benchmarks.generators import seconds_of
from benchmarks.tagger import batches_of, training
from karat.models.generators.checkpoint import parted
from karat.models.generators.memory import kept_memory
from karat.models.generators.seq2seq.network import Pairs, Seq2Seq
from karat.models.generators.unikp.material import build

SOURCE, TARGET = 240, 20  # tokens of a made document and of its keyphrases
BASE = {"encoder": 6, "decoder": 6}
UNILM = {"model": "random", "size": 768, "layers": 12, "heads": 12, "inner": 3072, "vocabulary": 28996}
PUBLISHED = {"longest": 384, "written": 40, "rate": 0.00001}


def bart() -> Any:
    layers = {f"{part}_layers": many for part, many in BASE.items()}
    inner = {f"{part}_{what}": value for part in BASE for what, value in (("ffn_dim", 3072), ("attention_heads", 12))}
    return BartForConditionalGeneration(BartConfig(d_model=768, **layers, **inner))


def t5() -> Any:
    return T5ForConditionalGeneration(T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12))


def made_pairs(batch: int) -> Pairs:
    """Documents of drawn tokens, and what is to be written of them."""
    draw = np.random.default_rng(0)
    source, target = (list(draw.integers(10, 30_000, (batch, many))) for many in (SOURCE, TARGET))
    return Pairs.of(source, target, 0, 1, torch.device("cpu"))


def measure(kind: str, options: dict[str, Any], model: Any, batches: Sequence[Any], repeat: int) -> None:
    """Prints the rate of a training."""
    run = training(model, parted(kind, options)[1], batches, False)
    with kept_memory():
        seconds = seconds_of({kind: run}, repeat)[kind]
    rates = sorted(sum(len(batch.source) for batch in batches) / each for each in seconds)
    weights = sum(each.numel() for each in model.parameters())
    spread = f"{sum(rates) / len(rates):.2f} [{rates[0]:.2f}, {rates[-1]:.2f}]"
    print(f"{kind}: {weights / 1e6:.0f} million weights, {spread} documents/CPU second", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for kind, make in {"bart": bart, "t5": t5}.items():
        measure(kind, {}, Seq2Seq(make()), [made_pairs(given.batch)], given.repeat)
    options: dict[str, Any] = UNILM | PUBLISHED
    pieces, batches = batches_of(given.corpus, options, given.batch, 3, "unikp")
    length = sum(int(batch.mask.sum()) for batch in batches) / sum(len(batch.source) for batch in batches)
    print(f"unikp: {len(pieces):,} pieces, {length:.0f} of a document in the mean")
    measure("unikp", options, build("unikp", options, pieces), batches, given.repeat)


if __name__ == "__main__":
    main()
