"""Small networks of the kinds of BART and T5 with new weights, where no pretrained ones are given.

They show that the recipes run. What the published systems are worth is in weights that have read much text, and these
have read none.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import karat

PIECES = 8000  # of a tokenizer, at most
SIZE, INNER, LAYERS, HEADS = 128, 512, 2, 4


def write_weights(kind: str, corpus: str, folder: Path) -> None:
    """The directory of a new network, with a tokenizer that is learned from documents; an existing one is kept."""
    if folder.is_dir():
        return
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    texts = [
        " ".join([each.title or "", each.text or "", *map(str, each.keyphrases or ())]) for each in karat.read(corpus)
    ]
    tokenizer = _bytes(texts) if kind == "bart" else _pieces(texts)
    torch.manual_seed(0)
    network = _bart(len(tokenizer)) if kind == "bart" else _t5(len(tokenizer))
    new = folder.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    network.save_pretrained(new)
    tokenizer.save_pretrained(new)
    new.rename(folder)


def _bytes(texts: Iterable[str]) -> Any:
    """A tokenizer of BART's kind: pairs of bytes, between <s> and </s>."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    learned = trainers.BpeTrainer(
        vocab_size=PIECES, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(texts, learned)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {
        "bos_token": "<s>",
        "pad_token": "<pad>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "mask_token": "<mask>",
    }
    return PreTrainedTokenizerFast(tokenizer_object=made, **names)


def _pieces(texts: Iterable[str]) -> Any:
    """A tokenizer of T5's kind: pieces of words with a mark for spaces, and </s> behind them.

    They are learned by sentencepiece, as T5's were: the same documents give the same pieces.
    """
    from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    written = BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=(each.lower() for each in texts),
        model_writer=written,
        vocab_size=PIECES,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
    )
    learned = SentencePieceProcessor(model_proto=written.getvalue())
    pieces = [(learned.id_to_piece(at), learned.get_score(at)) for at in range(learned.get_piece_size())]
    made = Tokenizer(models.Unigram(pieces, unk_id=2))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def _bart(pieces: int) -> Any:
    from transformers import BartConfig, BartForConditionalGeneration

    sizes = {"layers": LAYERS, "attention_heads": HEADS, "ffn_dim": INNER}
    shape = {f"{part}_{name}": size for part in ("encoder", "decoder") for name, size in sizes.items()}
    return BartForConditionalGeneration(BartConfig(vocab_size=pieces, d_model=SIZE, **shape))


def _t5(pieces: int) -> Any:
    from transformers import T5Config, T5ForConditionalGeneration

    shape = {"d_model": SIZE, "d_kv": SIZE // HEADS, "d_ff": INNER, "num_layers": LAYERS, "num_heads": HEADS}
    return T5ForConditionalGeneration(T5Config(vocab_size=pieces, decoder_start_token_id=0, **shape))
