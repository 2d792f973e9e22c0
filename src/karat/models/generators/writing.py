"""A trained generator that writes keyphrases for documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.corpus import Document, Prediction
from karat.models.generators.base import Batch
from karat.models.generators.checkpoint import Loaded
from karat.models.generators.decoding import Decoding, Written, check_slots, decode
from karat.models.generators.examples import beside, windows
from karat.models.generators.guiding import Guide, guided
from karat.models.generators.phrases import prediction_of
from karat.models.generators.words import Stems, source_tokens

ROWS = 32  # that are decoded at a time: more would not fit into a processor's cache


class Writer:
    """Predicts with a trained generator."""

    def __init__(self, loaded: Loaded, n: int, how: Decoding | None = None, guide: Guide | None = None) -> None:
        self.loaded, self.n, self.how, self.guide = loaded, n, how or Decoding(), guide
        if loaded.model.slots:
            check_slots(self.how)
        self.longest = int(loaded.card.options.get("longest", 400))
        self.stems = Stems(loaded.card.language)

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """A prediction for each document, in order; they are decoded by length."""
        words, model = self.loaded.words, self.loaded.model
        device = next(model.parameters()).device
        sources = [words.numbered(source_tokens(each)[: self.longest]) for each in documents]
        if self.guide is not None:
            before = self.guide(documents)
            sources = [
                guided(source, guide, words) if source.read else source
                for source, guide in zip(sources, before, strict=True)
            ]
        found: list[list[Written]] = [[] for _ in documents]
        there = [at for at, source in enumerate(sources) if source.read]
        for some in windows([len(sources[at].read) for at in there], max(1, ROWS // self.how.beam)):
            rows = [there[at] for at in some]
            read, copied = (
                [np.array(getattr(sources[at], name), np.int32) for at in rows] for name in ("read", "copied")
            )
            batch = Batch.of(beside(read, copied, [np.zeros(1, np.int32)] * len(rows), words.written), device)
            for at, written in zip(rows, decode(model, batch, self.how), strict=True):
                found[at] = written
        return [
            prediction_of(document, source, written, words, self.stems, self.n, repeats=self.how.repeats)
            for document, source, written in zip(documents, sources, found, strict=True)
        ]
