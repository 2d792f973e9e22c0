"""Tiny pretrained networks with random weights, and tokenizers that are trained on made documents."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from tests.models.generators.made import DOCUMENTS

TEXTS = [f"{each.title} {each.text} {';'.join(map(str, each.keyphrases or ()))}" for each in DOCUMENTS]
KINDS = ("bart", "t5")


def tokenizer_of(kind: str, texts: list[str] = TEXTS, size: int = 400) -> Any:
    """A tokenizer of BART's kind (pieces of bytes) or T5's (pieces of words with a mark for spaces)."""
    if kind == "bart":
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        made = Tokenizer(models.BPE(unk_token="<unk>"))
        made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        trainer: Any = trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=special,
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
        made.train_from_iterator(texts, trainer)
        made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
        names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
        return PreTrainedTokenizerFast(tokenizer_object=made, **names)
    made = Tokenizer(models.Unigram(pieces_of(texts, size), unk_id=2))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def pieces_of(texts: list[str], size: int) -> list[tuple[str, float]]:
    """Pieces of words, as many as there are up to this size. `tokenizers` would learn others each time."""
    written = BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,
        vocab_size=size,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
    )
    learned = SentencePieceProcessor(model_proto=written.getvalue())
    return [(learned.id_to_piece(at), learned.get_score(at)) for at in range(learned.get_piece_size())]


def network_of(kind: str, tokens: int, seed: int = 0, **sizes: Any) -> Any:
    """A tiny network; its weights are so far from 0 that tokens differ, and that it ends sequences by itself."""
    torch.manual_seed(seed)
    size = sizes.pop("size", 32)
    if kind == "bart":
        layers = {
            f"{part}_{what}": value
            for part in ("encoder", "decoder")
            for what, value in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 64))
        }
        settings = {"max_position_embeddings": 256, "forced_bos_token_id": 0, "forced_eos_token_id": 2}
        made: Any = BartForConditionalGeneration(
            BartConfig(vocab_size=tokens, d_model=size, dropout=0.0, **layers, **settings | sizes)
        )
    else:
        shape = {"d_model": size, "d_kv": size // 4, "d_ff": 64, "num_layers": 2, "num_heads": 4, "dropout_rate": 0.0}
        made = T5ForConditionalGeneration(T5Config(vocab_size=tokens, decoder_start_token_id=0, **shape | sizes))
    return made.eval()


def far(network: Any) -> Any:
    """The network with weights far from where it begins: tokens differ, and it ends some sequences by itself."""
    torch.manual_seed(2)
    for parameter in network.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.35)
    end = network.config.eos_token_id
    with torch.no_grad():
        if hasattr(network, "final_logits_bias"):
            network.final_logits_bias[0, end] = 7
        else:
            network.get_output_embeddings().weight[end] *= 4
    return network


def directory_of(kind: str, folder: Path, **sizes: Any) -> Path:
    """A directory as others save it."""
    tokenizer = tokenizer_of(kind)
    network_of(kind, len(tokenizer), **sizes).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
