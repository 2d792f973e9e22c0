"""Small models on disk, made from a seed, for tests that need torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WORDS = [
    "neural",
    "network",
    "graph",
    "mining",
    "support",
    "vector",
    "machine",
    "learning",
    "deep",
    "query",
    "search",
    "semantic",
    "web",
    "data",
    "base",
]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, "##s", "##al", "a", "b", "c", "##a", "##b", "##c"]


def bert(folder: Path, **settings: Any) -> Path:
    """A directory with a small BERT: 3 layers of 16 dimensions, with a tokenizer of 30 pieces."""
    from transformers import BertConfig, BertTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
    shape = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 24}
    sizes = {"vocab_size": len(VOCABULARY), "max_position_embeddings": 32, "initializer_range": 0.5}
    save(BertConfig(**(shape | sizes | settings)), folder)
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=32).save_pretrained(folder)
    return folder


def roberta(folder: Path) -> Path:
    """A directory with a small RoBERTa of one layer, with a tokenizer that knows two words."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaTokenizer

    folder.mkdir()
    pieces = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces.train_from_iterator(["graph mining graph"] * 5, vocab_size=300, special_tokens=special)
    pieces.save_model(str(folder))
    RobertaTokenizer.from_pretrained(str(folder), model_max_length=38).save_pretrained(folder)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 20}
    sizes: dict[str, Any] = {"vocab_size": 300, "max_position_embeddings": 40}
    save(RobertaConfig(**(shape | sizes)), folder)
    return folder


def save(config: Any, folder: Path) -> None:
    """Writes a model of this configuration, with weights from a seed."""
    import torch
    from transformers import AutoModel

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model: Any = AutoModel
        model.from_config(config).save_pretrained(folder)


def sentence_model(folder: Path, pooling: dict[str, Any], *, normalize: bool, **around: Any) -> Path:
    """The small BERT as a sentence-transformers directory."""
    bert(folder)
    kinds = ["Transformer", "Pooling", *(["Normalize"] if normalize else [])]
    places = ["", "1_Pooling", "2_Normalize"]
    modules = [
        {"idx": i, "name": str(i), "path": place, "type": f"sentence_transformers.models.{kind}"}
        for i, (kind, place) in enumerate(zip(kinds, places, strict=False))
    ]
    write_json(folder / "modules.json", modules)
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 16, **pooling})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 12, "do_lower_case": False})
    write_json(folder / "config_sentence_transformers.json", around)
    return folder


def write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
