"""The options of pretrained networks with an encoder and a decoder: what they read and write, and how they learn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from karat.errors import InputError

MOST_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class Seq2SeqShape:
    """The pretrained model, and documents and keyphrases as texts that it reads and writes."""

    model: str = ""  # DIR, or hf:NAME where a hub can be reached
    between: str = " "  # title and text
    separator: str = ";"  # keyphrases; without the spaces at its ends, what is written is cut there
    prefix: str = ""  # before a document, as a task is named
    text: Literal["plain", "tokens"] = "plain"  # as it is, or as tokens in lower case with <digit> for numbers
    order: Literal["given", "present"] = "present"  # of keyphrases; present ones by first place, then absent ones
    added: str = ""  # tokens that the tokenizer gets, with spaces between them

    def __post_init__(self) -> None:
        if self.text not in ("plain", "tokens") or self.order not in ("given", "present"):
            raise InputError("text is plain or tokens; order is given or present")
        if not self.separator.strip():
            raise InputError("the separator of keyphrases is not empty, as ; or <sep>")


@dataclass(frozen=True, slots=True)
class Seq2SeqLearning:
    """How a pretrained network learns."""

    longest: int = 512  # tokens of a document
    length: int = 128  # tokens of all keyphrases
    optimiser: Literal["adam", "sm3"] = "adam"
    decay: float = 0.01  # of weights, apart from the gradient; not of biases and norms
    rate: float = 0.0001
    schedule: Literal["linear", "halve", "constant"] = "linear"
    warmup: int = 0  # steps
    rising: Literal["linear", "quadratic"] = "linear"  # the rate while it warms up
    clip: float = 1.0

    def __post_init__(self) -> None:
        for name in ("longest", "length"):
            if not 4 <= getattr(self, name) <= MOST_TOKENS:
                raise InputError(f"{name} is from 4 to {MOST_TOKENS:,} tokens, not {getattr(self, name):,}")
        if self.optimiser not in ("adam", "sm3") or self.rising not in ("linear", "quadratic"):
            raise InputError("optimiser is adam or sm3; rising is linear or quadratic")
        if self.schedule not in ("linear", "halve", "constant"):
            raise InputError("a schedule is linear, halve or constant")
        if not 0 < self.rate < math.inf or not 0 < self.clip < math.inf or self.warmup < 0:
            raise InputError("rate and clip are more than 0 and finite, warmup is 0 or more")
        if not 0 <= self.decay < 1:
            raise InputError(f"decay is from 0 to below 1, not {self.decay:g}")
        if self.optimiser == "sm3" and self.decay:
            raise InputError("sm3 has no decay of weights: write decay=0")

    def rise(self, step: int) -> float:
        """The share of the rate that a step has while it rises, from 0 to 1."""
        share = min(1.0, (step + 1) / max(self.warmup, 1))
        return share**2 if self.rising == "quadratic" else share


BART: dict[str, Any] = {"between": "<s>", "separator": ";", "order": "given"}
T5: dict[str, Any] = {
    "between": " <sep> ",
    "separator": " <sep> ",
    "added": "<sep> <digit> <cls>",
    "text": "tokens",
    "optimiser": "sm3",
    "decay": 0.0,
    "rate": 0.1,
    "schedule": "constant",
    "warmup": 2000,
    "rising": "quadratic",
    "clip": 5.0,
}
