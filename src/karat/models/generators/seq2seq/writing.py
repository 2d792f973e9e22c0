"""A pretrained network that writes keyphrases for documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import exp
from typing import Any

import numpy as np
import torch
from torch import Tensor

from karat.corpus import Document, Prediction
from karat.models.generators.examples import windows
from karat.models.generators.phrases import DIGITS
from karat.models.generators.seq2seq import beams
from karat.models.generators.seq2seq.beams import Search, Steps, search
from karat.models.generators.seq2seq.directory import Pretrained
from karat.models.generators.seq2seq.families import steps_of
from karat.models.generators.seq2seq.network import padded
from karat.models.generators.seq2seq.texts import Language
from karat.models.generators.words import Stems, Surface, source_tokens, tokens

ROWS = 32  # that are decoded at a time: more would not fit into a processor's cache


@dataclass(slots=True)
class Writer:
    """Predicts with a pretrained network."""

    found: Pretrained
    language: Language
    how: Search
    n: int
    tongue: str = "english"
    sequences: int = 0  # of the best sequences, whose phrases are given; 0 for all
    repeats: bool = False
    _silent: frozenset[int] = field(init=False)  # tokens that are no text
    _unknown: int | None = field(init=False)
    _backend: Any = field(init=False)
    _steps: Callable[[Tensor, Tensor], Steps] = field(init=False)

    def __post_init__(self) -> None:
        tokenizer, marks = self.language.tokenizer, self.language.marks
        self._backend, self._unknown = tokenizer.backend_tokenizer, tokenizer.unk_token_id
        self._steps = steps_of(self.found.network)
        special = {*tokenizer.all_special_ids, marks.start, *marks.ends, self.language.pad}
        apart = {token for token in special if self.language.shape.separator.strip() in tokenizer.decode([token])}
        self._silent = frozenset(special - apart - {self._unknown})

    def counts(self, documents: Sequence[Document]) -> dict[str, int]:
        """What is to be said of so many of these documents; the braces are where their number and its verb go."""
        longest = self.language.longest
        said = f"{{}} {{were}} longer than what is read, and {{were}} cut to the first {longest:,} tokens"
        found = {said: self.language.sources(documents)[1]}
        if unused := self.found.unused():
            found[f"generation_config.json asks for {', '.join(unused)}, which karat does not do"] = len(documents)
        return found

    def __call__(self, documents: Sequence[Document]) -> list[Prediction]:
        """A prediction for each document, in order; they are decoded by length."""
        network = self.found.network
        device = next(network.parameters()).device
        sources, _ = self.language.sources(documents)
        written: list[list[beams.Sequence]] = [[] for _ in documents]
        there = [at for at, source in enumerate(sources) if source]
        for some in windows([len(sources[at]) for at in there], max(1, ROWS // self.how.beam)):
            rows = [there[at] for at in some]
            ids, mask = padded([np.array(sources[at], np.int32) for at in rows], self.language.pad)
            given = (torch.from_numpy(each).to(device) for each in (ids, mask.astype(np.int64)))
            steps = self._steps(*given)
            for at, found in zip(rows, search(steps, len(rows), self.language.marks, self.how, device), strict=True):
                written[at] = found
        stems = Stems(self.tongue)
        return [self._prediction(*pair, stems) for pair in zip(documents, written, strict=True)]

    def _prediction(self, document: Document, written: Sequence[beams.Sequence], stems: Stems) -> Prediction:
        """The first n phrases of a document's sequences, different ones by their stems unless `repeats` are kept."""
        surface, text = Surface(document), stems(source_tokens(document))
        phrases: list[str] = []
        scores: list[float] = []
        probabilities: list[list[float]] = []
        kinds: list[str] = []
        seen: set[str] = set()
        for said, logs in (part for each in written[: self.sequences or None] for part in self._parts(each)):
            words = tokens(said)
            phrase = surface.restored(words) if self.language.shape.text == "tokens" else said
            form = stems(words)
            if not words or phrase is None or len(phrases) >= self.n or (form in seen and not self.repeats):
                continue
            seen.add(form)
            phrases.append(phrase)
            scores.append(round(exp(sum(logs) / len(logs)), DIGITS))
            probabilities.append([round(exp(log), DIGITS) for log in logs])
            kinds.append("present" if form in text else "absent")
        return Prediction(
            id=document.id, keyphrases=list(phrases), scores=list(scores), token_probs=list(probabilities), kinds=kinds
        )

    def _parts(self, written: beams.Sequence) -> Iterator[tuple[str, list[float]]]:
        """(text, log-probabilities of its tokens) of each phrase of a sequence.

        A token that has the separator and letters of a phrase, as `);`, counts for that phrase.
        """
        kept = [pair for pair in zip(written.tokens, written.logs, strict=True) if pair[0] not in self._silent]
        if not kept:
            return
        ids = [token for token, _ in kept]
        texts = self._backend.decode_batch([ids[: at + 1] for at in range(len(ids))], skip_special_tokens=False)
        whole, spans = texts[-1], _spans([len(text) for text in texts])
        for begin, end in _between(whole, self.language.shape.separator.strip()):
            inside = [at for at, (first, last) in enumerate(spans) if whole[max(first, begin) : min(last, end)].strip()]
            text = " ".join(whole[begin:end].split())
            if text and inside and all(ids[at] != self._unknown for at in inside):
                yield text, [kept[at][1] for at in inside]


def _spans(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """The letters of each token, by how long the text is behind it; one that completes a letter has that letter."""
    return [(min(before, end - 1), end) for before, end in pairwise([0, *lengths])]


def _between(text: str, mark: str) -> Iterator[tuple[int, int]]:
    """Where the parts of a text between marks stand.

    >>> list(_between("a b; c;", ";"))
    [(0, 3), (4, 6), (7, 7)]
    """
    begin = 0
    while (end := text.find(mark, begin)) >= 0:
        yield begin, end
        begin = end + len(mark)
    yield begin, len(text)
