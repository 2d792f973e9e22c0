"""How good a generator is while it is trained: its loss on validation documents, or what any metric says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from karat.corpus import Corpus, Document, Run
from karat.models.generators.base import Batch, Generator
from karat.models.generators.checkpoint import Loaded
from karat.models.generators.examples import Examples
from karat.models.generators.guiding import Guide
from karat.models.generators.material import material_of
from karat.models.generators.rewarding import Reward

AT_ONCE = 32  # documents
PHRASES = 50  # of a document that a metric sees, at most


@torch.no_grad()
def loss_on(model: Generator, examples: Examples, batch_of: Callable[[Examples, NDArray[np.int64]], Batch]) -> float:
    """The loss a word on these examples."""
    model.eval()
    total, many = 0.0, 0
    order = np.argsort(examples.index[:, 1], kind="stable")
    for at in range(0, len(order), AT_ONCE):
        loss, count = model.loss(batch_of(examples, order[at : at + AT_ONCE]))
        total, many = total + float(loss), many + int(count)
    return total / many


def reward_on(reward: Reward, model: Generator, examples: Examples, device: torch.device) -> float:
    """The mean reward of greedy decoding on these examples, of present and absent phrases."""
    model.eval()
    order = np.argsort(examples.index[:, 1], kind="stable")
    batches = (Batch.of(examples.arrays(order[at : at + AT_ONCE]), device) for at in range(0, len(order), AT_ONCE))
    return float(np.concatenate([reward.greedy(model, batch) for batch in batches]).mean())


def score_on(loaded: Loaded, documents: Sequence[Document], metric: str, guide: Guide | None = None) -> float | None:
    """What a metric says of greedy predictions for these documents; None where it says nothing."""
    import karat

    loaded.model.eval()
    run = Run.of(material_of(loaded.card.model).writer(loaded, PHRASES, guide)(documents))
    found = karat.score(Corpus.of(documents), run, metrics=[metric]).rows()[0]["value"]
    return None if found is None else float(found)
