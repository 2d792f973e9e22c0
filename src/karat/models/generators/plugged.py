"""The generators among karat's models: by name with `model=DIR`, and their training; torch is imported late."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from karat.corpus import Document
from karat.errors import InputError
from karat.models.base import CommonOptions, Predict
from karat.models.base import model as registered
from karat.models.generators.checkpoint import read_card
from karat.models.generators.settings import GENERATORS, torch_or_error, training_options

WINDOW = 512  # documents that are sorted by length together


def _register(name: str) -> None:
    """Makes a kind of generator one of karat's models; all of them decode with the same options."""

    def make(
        asked: CommonOptions,
        *,
        model: str = "",
        search: Literal["beam", "diverse", "topk"] = "beam",
        beam: int = 1,
        groups: int = 1,
        penalty: float = 0.5,
        topk: int = 10,
        temperature: float = 1.0,
        seed: int = 0,
        longest: int = 60,
        exclusive: int = -1,
        repeats: bool = False,
        guide: str = "",
    ) -> Predict:
        torch = check(name, model)
        from karat.models.generators.checkpoint import load
        from karat.models.generators.decoding import Decoding
        from karat.models.generators.guiding import guide_of_card
        from karat.models.generators.writing import Writer

        torch.set_num_threads(asked.threads)
        groups = groups if search == "diverse" else 1
        how = Decoding(search, beam, groups, penalty, topk, temperature, seed, longest, exclusive, repeats)
        loaded = load(model)
        return Writer(loaded, asked.n, how, guide_of_card(loaded.card, model, guide)).predict

    def notes(_asked: CommonOptions, documents: Sequence[Document]) -> list[str]:
        return GENERATORS[name].notes(documents)

    learned = ", ".join(f"{option}={value}" for option, value in training_options(name).items())
    make.__doc__ = f"{GENERATORS[name].summary}\n\nOptions of karat train {name}: {learned}."
    registered(name, needs=("training",), notes=notes, window=WINDOW, threads=True)(make)


def check(name: str, folder: str) -> Any:
    """The module torch; raises InputError unless the directory is of a trained model of this kind."""
    if not folder:
        raise InputError(
            f"{name} needs a trained model: karat train {name} CORPUS -o DIR makes one; write {name},model=DIR"
        )
    card = read_card(folder)
    if card.model != name:
        raise InputError(
            f"{folder}: is a {card.model}, not a {name}; write {card.model},model={folder}, or {folder} alone"
        )
    return torch_or_error(f"{folder}: a {name}")


for _name, _kind in GENERATORS.items():
    if _kind.plugged:
        _register(_name)


def described(folder: str | Path) -> dict[str, Any]:
    """A trained generator: model, corpus, documents seen, validation loss, size; `summary` says it in a line."""
    card = read_card(folder)
    weights = Path(folder) / GENERATORS[card.model].weights
    size = f"{weights.stat().st_size / 1e6:,.1f} MB" if weights.is_file() else "no weights yet"
    loss = "none" if card.loss is None else f"{card.loss:.3f}"
    seen = f"{card.documents:,} documents of {card.corpus['name']} seen (step {card.step:,} of {card.steps:,})"
    size += "" if card.files else "; no checksums, as an earlier version of karat wrote it: damage is not detected"
    return {
        "summary": f"{card.model}, trained: {seen}; validation loss {loss}; {card.parameters:,} weights, {size}",
        "model": card.model,
        "corpus": card.corpus["name"],
        "documents": card.documents,
        "step": card.step,
        "steps": card.steps,
        "loss": card.loss,
        "parameters": card.parameters,
        "language": card.language,
        "options": dict(card.options),
        "checksums": dict(card.files),
    }
