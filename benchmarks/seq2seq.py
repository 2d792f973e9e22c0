"""Decoding of pretrained networks: karat beside `generate` of transformers, with the same weights and the same outcome.

The networks are a BART and a T5 with random weights, whose sequences end after some 20 tokens; made documents have as
many tokens as abstracts have. Both get batches of documents of like length. That both write the same tokens is checked
in double precision, in which no two ways of adding up change which token is the best.

    python -m benchmarks.generators --seq2seq
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

from karat.models.generators.seq2seq.beams import Marks, Search, Sequence, search
from karat.models.generators.seq2seq.families import steps_of

TOKENS, SIZE, LAYERS, HEADS, INNER = 16_000, 256, 3, 4, 1024
LONGEST, ROWS, DOCUMENTS = 40, 32, 32
BEAMS = (1, 5, 20)
Given = tuple[Tensor, Tensor]  # sources and their mask


def networks() -> dict[str, Any]:
    """Both networks; their weights are so far from 0 that tokens differ."""
    torch.manual_seed(0)
    parts = ("encoder", "decoder")
    sizes = (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", INNER))
    layers = {f"{part}_{name}": value for part in parts for name, value in sizes}
    bart: Any = BartForConditionalGeneration(
        BartConfig(vocab_size=TOKENS, d_model=SIZE, max_position_embeddings=512, **layers)
    )
    shape = {"d_model": SIZE, "d_kv": SIZE // HEADS, "d_ff": INNER, "num_layers": LAYERS, "num_heads": HEADS}
    t5: Any = T5ForConditionalGeneration(T5Config(vocab_size=TOKENS, decoder_start_token_id=0, **shape))
    for network, std in ((bart, 0.1), (t5, 0.2)):
        for parameter in network.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=std)
    with torch.no_grad():
        bart.final_logits_bias[0, bart.config.eos_token_id] = 7
        t5.get_output_embeddings().weight[t5.config.eos_token_id] *= 5
    return {"BART": bart.eval(), "T5": t5.eval()}


def documents(network: Any, size: int) -> list[Given]:
    """Made documents in batches by length."""
    random = np.random.default_rng(0)
    lengths = np.sort(np.clip(random.normal(200, 60, DOCUMENTS), 40, 400).astype(int))
    found = []
    for some in (lengths[at : at + size] for at in range(0, len(lengths), size)):
        mask = torch.arange(int(some.max())) < torch.from_numpy(some)[:, None]
        tokens = torch.from_numpy(random.integers(5, TOKENS, mask.shape))
        found.append((torch.where(mask, tokens, network.config.pad_token_id), mask.long()))
    return found


def ours(network: Any, batches: list[Given], beam: int) -> Callable[[], list[list[int]]]:
    """karat: the tokens of all sequences."""
    made, told = steps_of(network), network.generation_config
    marks = Marks(told.decoder_start_token_id, (told.eos_token_id,), told.forced_bos_token_id, told.forced_eos_token_id)

    def run() -> list[list[int]]:
        found: list[list[Sequence]] = []
        for source, mask in batches:
            found += search(made(source, mask), len(source), marks, Search(beam, LONGEST), source.device)
        return [each.tokens for some in found for each in some]

    return run


def theirs(network: Any, batches: list[Given], beam: int) -> Callable[[], list[list[int]]]:
    """`generate`: the tokens of all sequences, without the start and what stands behind the end."""
    end = network.config.eos_token_id

    def run() -> list[list[int]]:
        rows = []
        for source, mask in batches:
            with torch.no_grad():
                rows += network.generate(
                    input_ids=source,
                    attention_mask=mask,
                    num_beams=beam,
                    num_return_sequences=beam,
                    do_sample=False,
                    max_new_tokens=LONGEST,
                ).tolist()
        return [row[1 : row.index(end, 1) + 1] if end in row[1:] else row[1:] for row in rows]

    return run


def decode_pretrained(repeat: int) -> None:
    """Prints CPU seconds of both, and how many times as fast karat is."""
    for name, network in networks().items():
        for beam in BEAMS:
            batches = documents(network, max(1, ROWS // beam))
            both = {"karat": ours, "generate": theirs}
            double = [each(network.double(), batches[:1], beam)() for each in both.values()]
            assert double[0] == double[1], f"{name}, beam {beam}: other tokens than generate"
            runs = {which: each(network.float(), batches, beam) for which, each in both.items()}
            seconds = {which: min(_seconds(run) for _ in range(repeat)) for which, run in runs.items()}
            times = seconds["generate"] / seconds["karat"]
            shown = ", ".join(f"{which} {DOCUMENTS / each:.1f}" for which, each in seconds.items())
            mean = np.mean([len(row) for row in double[0]])
            print(
                f"{name}, beam {beam}, {mean:.0f} tokens: {shown} documents/CPU second, {times:.2f} times", flush=True
            )


def _seconds(run: Callable[[], Any]) -> float:
    begun = process_time()
    run()
    return process_time() - begun
