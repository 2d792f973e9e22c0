"""Documents a CPU second of the generators, on one thread: training, and decoding beside Hugging Face's `generate`.

    python -m benchmarks.generators [CORPUS] [--steps 20] [--batch 32] [--words 9000] [--repeat 3]
    python -m benchmarks.generators --processes CORPUS [--steps 200]
    python -m benchmarks.generators --published CORPUS [--steps 20] [--repeat 3]

Training is of real examples where a corpus is named, else of made ones (190 tokens, targets of 14). Decoding is with
weights that are drawn, by `transformer` and a BART of the same size. In *batches* both get 32 documents of 190 tokens
and write 20 words for each. In *documents* both get 512 documents of the corpus, with the lengths they have, and stop
for each where its keyphrases end: karat in its own order, BART 32 at a time as they come, and once more in karat's
order. Runs take turns, the fastest of each counts. `--processes` trains on one process and on two, and compares the
seconds on the clock. `one2set` decodes the batch with 5 and with all of its 20 slots full, of 6 words each.
`--published` trains every generator at its published size and batch, and computes the hours of a training on KP20k from
the smallest and the largest rate of all repeats. Needs karat[neural].
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration, LogitsProcessor, LogitsProcessorList

from karat.formats import read
from karat.models.generators.base import Batch, Generator, State
from karat.models.generators.checkpoint import build
from karat.models.generators.decoding import Decoding, decode
from karat.models.generators.examples import Arrays, Examples, beside, write_examples
from karat.models.generators.loop import Told, train_generator
from karat.models.generators.memory import kept_memory
from karat.models.generators.prepare import Task
from karat.models.generators.rewarding import Forms, Reward
from karat.models.generators.settings import GENERATORS, Peos, Settings, TransformerShape
from karat.models.generators.transformer import Transformer
from karat.models.generators.words import (
    EOS,
    NULL,
    SPECIAL,
    Stems,
    Words,
    count_words,
    source_tokens,
    split_references,
    targets_of,
)

SOURCE, TARGET, WRITTEN = 190, 14, 20  # words of a made document, of its target, and that are decoded
ROWS, DOCUMENTS = 32, 512  # that are decoded at a time, and in all
TRAINED = {
    "transformer (128, 2 + 2 layers)": ("transformer", {}),
    "one2set (128, 2 + 2 layers, 20 x 6 slots)": ("one2set", {}),
    "copyrnn (100/150, general attention)": ("copyrnn", {"attention": "general"}),
    "copyrnn (100/150, additive attention)": ("copyrnn", {}),
    "corrrnn (100/150)": ("corrrnn", {}),
    "tgnet (100/150, additive attention)": ("tgnet", {}),
    "exhird (100/150)": ("exhird", {}),
}

KP20K = 510_000  # training documents without duplicates
READ, WROTE = 60_000, 50_000  # words that are read and written at full scale
LARGE = {"size": 512, "layers": 6, "heads": 8, "inner": 2048}


@dataclass(frozen=True)
class Published:
    """A training as it was published: the generator, its options, documents of a batch, documents seen in all."""

    kind: str
    batch: int
    seen: int
    options: dict[str, Any] = field(default_factory=dict)


PUBLISHED = {
    "copyrnn": Published("copyrnn", 12, 3 * KP20K),
    "corrrnn": Published("corrrnn", 12, 3 * KP20K),
    "tgnet": Published("tgnet", 12, 3 * KP20K),
    "tgrf": Published("tgrf", 32, 9 * KP20K, {"of": "tgnet", "peos": "always"}),
    "exhird -h": Published("exhird", 10, 3_000_000, {"dropout": 0.0}),
    "exhird -s": Published("exhird", 10, 3_000_000, {"dropout": 0.0, "exclusion": "soft"}),
    "transformer": Published("transformer", 12, 20 * KP20K, LARGE),
    "one2set": Published("one2set", 12, 20 * KP20K, LARGE),
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


def real_batches(corpus: str, size: int, count: int, words: int) -> tuple[Words, dict[Peos, list[Arrays]]]:
    """(the words of a corpus, some of its batches), these in each form that a kind of generator has to see."""
    documents = [document for document, _ in zip(read(corpus), range(64 * size), strict=False)]
    table = count_words(read(corpus), 20_000, words)
    found = {}
    with TemporaryDirectory() as folder:
        path = Path(folder, "examples.i32")
        write_examples(path, documents, table, language="english", targets="one2seq", longest=400)
        for peos in get_args(Peos):
            examples = Examples(path, table.written, peos)
            found[peos] = [examples.arrays(rows) for rows in examples.batches(size, 0, 0)[:count]]
    return table, found


def training(name: str, options: dict[str, Any], words: Words, batches: list[Arrays]) -> Callable[[], None]:
    model = build(name, options, words)
    optimiser = torch.optim.Adam(model.parameters(), 1e-3, fused=True)
    loss_of = rewarded(model, words) if GENERATORS[name].reward else model.loss

    def run() -> None:
        for arrays in batches:
            loss, many = loss_of(Batch.of(arrays))
            (loss / many).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()

    return run


def rewarded(model: Generator, words: Words) -> Callable[[Batch], tuple[Tensor, int]]:
    """The loss by reward; weights that are drawn find no end, so that as many words are drawn as are decoded."""
    reward = Reward(Forms(words, "english"), longest=WRITTEN)
    return lambda batch: (reward.loss(model, batch, 0)[0], len(batch.source))


class Ending(Transformer):
    """A Transformer that ends each document where it is told, whatever its weights say."""

    ends: Tensor  # of the documents of the next batch

    def encode(self, batch: Batch) -> State:
        """The documents, with their ends."""
        state = super().encode(batch)
        return State(state.memory | {"ends": self.ends}, state.past)

    def step(self, state: State, last: Tensor) -> tuple[Tensor, State]:
        """A step, in which what is to end does."""
        found, after = super().step(state, last)
        at = after.past["keys0"].shape[2]
        ended = (state.memory["ends"] <= at).repeat_interleave(len(found) // len(state.memory["ends"]))
        found[:, EOS] = 0
        found[ended] = 0
        found[ended, EOS] = 1
        return found, after


class Ends(LogitsProcessor):
    """The same for `generate`."""

    def __init__(self, ends: Tensor, beam: int) -> None:
        self.ends = ends.repeat_interleave(beam)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """The scores, in which what is to end does."""
        ended = self.ends <= input_ids.shape[1]
        scores[:, EOS] = -torch.inf
        scores[ended] = -torch.inf
        scores[ended, EOS] = 0
        return scores


Piece = tuple[Batch, Tensor]  # documents, and how many words each has


def pieces(examples: list[tuple[list[int], int]], order: Sequence[int], size: int) -> list[Piece]:
    """Documents (their words, how many are written for them) in this order, so many at a time."""
    found = []
    for at in range(0, len(order), size):
        some = [examples[row] for row in order[at : at + size]]
        sources = [np.array(words, np.int32) for words, _ in some]
        arrays = beside(sources, sources, [np.zeros(1, np.int32)] * len(some), 1 << 30)
        found.append((Batch.of(arrays), torch.tensor([end for _, end in some])))
    return found


def decoding(model: Ending, some: list[Piece], beam: int) -> Callable[[], None]:
    def run() -> None:
        for batch, ends in some:
            model.ends = ends
            found = decode(model, batch, Decoding(beam=beam, longest=60))
            assert [len(sequences[0].words) for sequences in found] == ends.tolist()

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


def bart(words: Words, some: list[Piece], beam: int) -> Callable[[], None]:
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
        for batch, ends in some:
            with torch.no_grad():
                found = model.generate(
                    input_ids=batch.source,
                    attention_mask=batch.mask.long(),
                    num_beams=beam,
                    do_sample=False,
                    max_new_tokens=60,
                    logits_processor=LogitsProcessorList([Ends(ends, beam)]),
                )
            assert found.shape[1] == int(ends.max()) + 1

    return run


_SHAPE = {"layers": 2, "attention_heads": 4, "ffn_dim": 512}


def seconds_of(runs: dict[str, Callable[[], None]], repeat: int) -> dict[str, list[float]]:
    """The CPU seconds of each, in as many turns; one turn more, the first, warms up and does not count."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeat + 1):
        for name, run in runs.items():
            begun = process_time()
            run()
            found[name].append(process_time() - begun)
    return {name: seconds[1:] for name, seconds in found.items()}


def fastest(runs: dict[str, Callable[[], None]], documents: int, repeat: int) -> dict[str, float]:
    """Documents a CPU second of each."""
    return {name: documents / min(seconds) for name, seconds in seconds_of(runs, repeat).items()}


def decode_both(words: Words, sets: dict[str, tuple[list[Piece], list[Piece]]], repeat: int) -> None:
    """Prints how fast both decode; each set has the batches of karat and those of BART."""
    model = Ending(TransformerShape(), len(words), words.written).eval()
    for name, (own, other) in sets.items():
        documents = sum(len(batch.source) for batch, _ in own)
        for beam in (1, 5):
            narrow = [_cut(each, max(1, ROWS // beam)) for each in (own, other)]
            rates = fastest(
                {"transformer": decoding(model, narrow[0], beam), "BART": bart(words, narrow[1], beam)},
                documents,
                repeat,
            )
            both = ", ".join(f"{which} {rate:.1f}" for which, rate in rates.items())
            times = rates["transformer"] / rates["BART"]
            print(f"decoding {name}, beam {beam}: {both} documents/CPU second, {times:.2f} times")


def _cut(some: list[Piece], size: int) -> list[Piece]:
    """Batches of at most so many documents."""
    return [
        (Batch(*(each[at : at + size] for each in batch)), ends[at : at + size])
        for batch, ends in some
        for at in range(0, len(ends), size)
    ]


def of_corpus(corpus: str, words: Words) -> dict[str, tuple[list[Piece], list[Piece]]]:
    """512 documents as they come, and by length."""
    random = np.random.default_rng(0)
    table = count_words(read(corpus), 20_000, words.written - len(SPECIAL))
    found = []
    for document, _ in zip(read(corpus), range(DOCUMENTS), strict=False):
        source = source_tokens(document)[:400]
        numbers = random.integers(len(SPECIAL), words.written, len(source)).tolist()
        present, absent = split_references(document, source, Stems("english"))
        target = list(targets_of(present, absent, table, table.numbered(source), "one2seq"))
        found.append((numbers, min(len(target[0]) if target else 2, 60)))
    by_length = sorted(range(len(found)), key=lambda at: len(found[at][0]))
    own, given = pieces(found, by_length, ROWS), pieces(found, range(len(found)), ROWS)
    return {"documents": (own, given), "documents, both by length": (own, own)}


def published(corpus: str, steps: int, repeat: int) -> None:
    """Prints documents a CPU second of each training at its published size, and the hours of the whole training."""
    documents = [document for document, _ in zip(read(corpus), range(2048), strict=False)]
    words = filled(count_words(documents, READ, WROTE))
    runs, many = {}, {}
    with TemporaryDirectory() as folder:
        path = Path(folder, "examples.i32")
        write_examples(path, documents, words, language="english", targets="one2seq", longest=400)
        for name, each in PUBLISHED.items():
            batches = by_length(Examples(path, words.written, GENERATORS[each.kind].peos), each.batch, steps)
            many[name] = sum(len(arrays.source) for arrays in batches)
            runs[name] = training(each.kind, each.options, words, batches)
    with kept_memory():
        found = seconds_of(runs, repeat)
    print("generator    batch  documents/CPU second           seen  hours")
    for name, seconds in found.items():
        rates = sorted(many[name] / each for each in seconds)
        seen, mean = PUBLISHED[name].seen, sum(rates) / len(rates)
        low, high = (seen / rate / 3600 for rate in (rates[-1], rates[0]))
        spread = f"{mean:6.2f} [{rates[0]:.2f}, {rates[-1]:.2f}]"
        print(f"{name:<12} {PUBLISHED[name].batch:>5}  {spread:<22} {seen:>11,}  {low:.0f} to {high:.0f}")


def filled(words: Words) -> Words:
    """The table with as many words as at full scale: those that a few documents do not have are made."""
    head, rest = words.table[: words.written], words.table[words.written :]
    made = [f"<made {at}>" for at in range(READ)]
    more = len(SPECIAL) + WROTE - len(head)
    whole = (*head, *made[:more], *rest, *made[more:])[: len(SPECIAL) + READ]
    return Words(whole, len(SPECIAL) + WROTE)


def by_length(examples: Examples, size: int, count: int) -> list[Arrays]:
    """Some batches, from short to long documents, whose lengths are spread as those of all."""
    order = sorted(examples.batches(size, 0, 0), key=lambda rows: int(examples.index[rows, 1].sum()))
    return [examples.arrays(order[(2 * at + 1) * len(order) // (2 * count)]) for at in range(count)]


def two_processes(corpus: str, steps: int, batch: int) -> None:
    """Prints the seconds of a training on one process and on two, each with this batch."""
    seconds = {}
    for jobs in (1, 2):
        with TemporaryDirectory() as folder:
            ticks: list[float] = []
            task = Task("copyrnn", {}, Settings(steps=steps, batch=batch, jobs=jobs), "english", read(corpus))
            train_generator(task, Path(folder, "model"), partial(_tick, ticks))
            seconds[jobs] = (ticks[-1] - ticks[9]) / (len(ticks) - 10) / (batch * jobs)
            print(f"training on {jobs} processes: {1 / seconds[jobs]:.1f} documents a second")
    print(f"two processes: {seconds[1] / seconds[2]:.2f} times")


def _tick(ticks: list[float], _told: Told) -> None:
    ticks.append(perf_counter())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", nargs="?")
    parser.add_argument("--processes", action="store_true")
    parser.add_argument("--published", action="store_true", help="training at the published sizes alone")
    parser.add_argument("--decoding", action="store_true", help="decoding alone")
    parser.add_argument("--seq2seq", action="store_true", help="decoding of pretrained networks alone")
    for name, value in (("--steps", 20), ("--batch", 32), ("--words", 9000), ("--repeat", 3)):
        parser.add_argument(name, type=int, default=value)
    options = parser.parse_args()
    if (options.processes or options.published) and options.corpus is None:
        parser.error("name a corpus")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if options.processes:
        two_processes(options.corpus, options.steps, options.batch)
        return
    if options.seq2seq:
        from benchmarks.seq2seq import decode_pretrained

        decode_pretrained(options.repeat)
        return
    if options.published:
        published(options.corpus, options.steps, options.repeat)
        return
    words = made_words(options.words)
    batches = made_batches(words, options.batch, options.steps)
    table, examples = words, dict.fromkeys(get_args(Peos), batches)
    if options.corpus and not options.decoding:
        table, examples = real_batches(options.corpus, options.batch, options.steps, options.words)
    with kept_memory():
        trained = (
            {}
            if options.decoding
            else {
                name: training(kind, shape, table, examples[GENERATORS[kind].peos])
                for name, (kind, shape) in TRAINED.items()
            }
        )
        found = fastest(trained, sum(len(each.source) for each in examples["never"]), options.repeat)
    for name, rate in found.items():
        print(f"training {name}: {rate:.1f} documents/CPU second")
    made = np.random.default_rng(0).integers(len(SPECIAL), words.written, (ROWS, SOURCE)).tolist()
    batch = pieces([(row, WRITTEN) for row in made], range(ROWS), ROWS)
    both = {f"one2set, {full} slots full": slots(words, batch[0][0], full) for full in (5, 20)}
    for name, rate in fastest(both, ROWS, options.repeat).items():
        print(f"decoding batches, {name}: {rate:.1f} documents/CPU second")
    sets = {"batches": (batch, batch)}
    if options.corpus:
        sets |= of_corpus(options.corpus, words)
    decode_both(words, sets, options.repeat)


if __name__ == "__main__":
    main()
