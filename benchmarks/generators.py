"""Documents a CPU second of the generators, on one thread: training, and decoding beside Hugging Face's `generate`.

    python -m benchmarks.generators [CORPUS] [--steps 20] [--batch 32] [--words 9000] [--repeat 3]

Training is of real examples where a corpus is named, else of made ones (190 tokens, targets of 14). Decoding is of made
documents with weights that are drawn: `transformer` and a BART of the same size, both without an end, so that both
write 20 words a document; `one2set` with 5 and with all of its 20 slots full, of 6 words each. Runs take turns, the
fastest of each counts. Needs karat[neural].
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from karat.formats import read
from karat.generators.base import Batch, Generator, State
from karat.generators.checkpoint import build
from karat.generators.decoding import Decoding, decode
from karat.generators.examples import Arrays, Examples, beside, write_examples
from karat.generators.words import EOS, NULL, SPECIAL, Words, count_words

SOURCE, TARGET, WRITTEN = 190, 14, 20  # words of a made document, of its target, and that are decoded
TRAINED = {
    "transformer (128, 2 + 2 layers)": ("transformer", {}),
    "one2set (128, 2 + 2 layers, 20 x 6 slots)": ("one2set", {}),
    "copyrnn (100/150, general attention)": ("copyrnn", {"attention": "general"}),
    "copyrnn (100/150, additive attention)": ("copyrnn", {}),
}


def made_words(count: int) -> Words:
    return Words((*SPECIAL, *(f"w{at}" for at in range(2 * count))), len(SPECIAL) + count)


def made_batches(words: Words, size: int, count: int) -> list[Arrays]:
    draw = np.random.default_rng(0)
    found = []
    for _ in range(count):
        source = draw.integers(len(SPECIAL), words.written, (size, SOURCE), dtype=np.int32)
        target = draw.integers(len(SPECIAL), words.written, (size, TARGET), dtype=np.int32)
        found.append(beside(list(source), list(source), list(target), words.written))
    return found


def real_batches(corpus: str, size: int, count: int, words: int) -> tuple[Words, list[Arrays]]:
    documents = [document for document, _ in zip(read(corpus), range(64 * size), strict=False)]
    table = count_words(read(corpus), 20_000, words)
    with TemporaryDirectory() as folder:
        path = Path(folder, "examples.i32")
        write_examples(path, documents, table, language="english", targets="one2seq", longest=400)
        examples = Examples(path, table.written)
        return table, [examples.arrays(rows) for rows in examples.batches(size, 0, 0)[:count]]


def training(name: str, options: dict[str, Any], words: Words, batches: list[Arrays]) -> Callable[[], None]:
    model = build(name, options, words)
    optimiser = torch.optim.Adam(model.parameters(), 1e-3, fused=True)

    def run() -> None:
        for arrays in batches:
            loss, many = model.loss(Batch.of(arrays))
            (loss / many).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()

    return run


def decoding(model: Generator, batch: Batch, beam: int) -> Callable[[], None]:
    def run() -> None:
        found = decode(model, batch, Decoding(beam=beam, longest=WRITTEN))
        assert all(len(each.words) == WRITTEN for sequences in found for each in sequences)

    return run


def slots(words: Words, batch: Batch, full: int) -> Callable[[], None]:
    model = build("one2set", {}, words).eval()
    with torch.no_grad():
        model.bias[EOS] = -1e4
    step = model.step

    def emptied(state: State, last: Tensor) -> tuple[Tensor, State]:
        found, after = step(state, last)
        if not state.past["keys0"].shape[2]:  # the first words
            found[torch.arange(len(found)) % model.slots >= full, NULL] = 2.0
        return found, after

    model.step = emptied

    def run() -> None:
        found = decode(model, batch, Decoding())
        assert all(len(each) <= full and len(one.words) == model.length for each in found for one in each)

    return run


def bart(words: Words, batch: Batch, beam: int) -> Callable[[], None]:
    from transformers import BartConfig, BartForConditionalGeneration

    layers = {f"{part}_{what}": value for part in ("encoder", "decoder") for what, value in _SHAPE.items()}
    special = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": EOS, "decoder_start_token_id": 2}
    config = BartConfig(
        vocab_size=words.written,
        d_model=128,
        max_position_embeddings=512,
        forced_eos_token_id=None,
        **special,
        **layers,
    )
    model = BartForConditionalGeneration(config).eval()

    def run() -> None:
        with torch.no_grad():
            found = model.generate(
                input_ids=batch.source,
                attention_mask=batch.mask.long(),
                num_beams=beam,
                do_sample=False,
                min_new_tokens=WRITTEN,
                max_new_tokens=WRITTEN,
            )
        assert found.shape[1] == WRITTEN + 1

    return run


_SHAPE = {"layers": 2, "attention_heads": 4, "ffn_dim": 512}


def fastest(runs: dict[str, Callable[[], None]], documents: int, repeat: int) -> dict[str, float]:
    """Documents a CPU second of each; the first turn warms up."""
    best: dict[str, float] = {}
    for turn in range(repeat + 1):
        for name, run in runs.items():
            begun = process_time()
            run()
            if turn:
                best[name] = max(best.get(name, 0.0), documents / (process_time() - begun))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", nargs="?")
    for name, value in (("--steps", 20), ("--batch", 32), ("--words", 9000), ("--repeat", 3)):
        parser.add_argument(name, type=int, default=value)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    words = made_words(options.words)
    batches = made_batches(words, options.batch, options.steps)
    table, examples = (words, batches)
    if options.corpus:
        table, examples = real_batches(options.corpus, options.batch, options.steps, options.words)
    trained = {name: training(kind, shape, table, examples) for name, (kind, shape) in TRAINED.items()}
    found = fastest(trained, sum(len(each.source) for each in examples), options.repeat)
    for name, rate in found.items():
        print(f"training {name:<40} {rate:8.1f} documents/CPU second")
    model = build("transformer", {}, words).eval()
    with torch.no_grad():
        model.bias[EOS] = -1e4
    batch = Batch.of(batches[0])
    for beam in (1, 5):
        both = {"transformer": decoding(model, batch, beam), "BART, generate": bart(words, batch, beam)}
        if beam == 1:
            both |= {f"one2set, {full} slots full": slots(words, batch, full) for full in (5, 20)}
        rates = fastest(both, len(batch.source), options.repeat)
        for name, rate in rates.items():
            print(f"decoding {name + f', beam {beam}':<40} {rate:8.1f} documents/CPU second")
        print(f"         {'times':<40} {rates['transformer'] / rates['BART, generate']:8.2f}")


if __name__ == "__main__":
    main()
