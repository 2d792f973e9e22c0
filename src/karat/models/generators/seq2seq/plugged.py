"""The pretrained networks among karat's models: any directory with an encoder and a decoder; torch is imported late."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.errors import InputError
from karat.models.base import CommonOptions, Predict
from karat.models.base import model as registered
from karat.models.generators.checkpoint import check_files, is_checkpoint, parted, read_card
from karat.models.generators.settings import GENERATORS, torch_or_error, training_options

if TYPE_CHECKING:
    from karat.models.generators.checkpoint import Card

WINDOW = 512  # documents that are sorted by length together
MOST_BEAM, MOST_LONGEST, MOST_PENALTY = 1000, 100_000, 1000
DECODING = {"seq2seq": (1, 128), "bart": (20, 128), "t5": (1, 50)}  # beam, and tokens of a sequence


def _register(name: str) -> None:
    """Makes a kind of pretrained network one of karat's models."""
    width, tokens = DECODING[name]

    def make(
        asked: CommonOptions,
        *,
        model: str = "",
        separator: str = "",
        between: str = "",
        prefix: str = "",
        beam: int = width,
        longest: int = tokens,
        penalty: str = "",
        sequences: int = 0,
        repeats: bool = False,
    ) -> Predict:
        if not model:
            raise InputError(f"{name} needs a pretrained model: write {name},model=DIR, or hf:NAME to fetch one")
        _check(beam, longest, sequences)
        power = _power(penalty)
        torch = torch_or_error(f"{model}: a {name}")
        from karat.models.generators.seq2seq import directory
        from karat.models.generators.seq2seq.texts import Language
        from karat.models.generators.seq2seq.writing import Writer

        torch.set_num_threads(asked.threads)
        root = directory.directory_of(model)
        card = _card(name, str(root))
        directory.check(root)
        found = directory.load(root)
        shape, learning = parted(name, {} if card is None else card.options)
        given = {"separator": separator, "between": between, "prefix": prefix}
        shape = replace(shape, **{option: value for option, value in given.items() if value})
        language = Language.of(found, shape, learning)
        found.network.eval()
        how = found.search(beam, min(longest, found.limit or longest), power)
        return Writer(found, language, how, asked.n, asked.language, sequences, repeats)

    learned = ", ".join(f"{option}={str(value).strip()}" for option, value in training_options(name).items())
    make.__doc__ = f"{GENERATORS[name].summary}\n\nOptions of karat train {name}: {learned}."
    registered(name, needs=("pretrained",), window=WINDOW, threads=True)(make)


def _card(name: str, folder: str) -> Card | None:
    """What karat's own training says of a directory; None where somebody else made it."""
    if not is_checkpoint(folder):
        return None
    card = read_card(folder)
    if card.model != name:
        raise InputError(
            f"{folder}: is a {card.model}, not a {name}; write {card.model},model={folder}, or {folder} alone"
        )
    check_files(Path(folder), card)
    return card


def _check(beam: int, longest: int, sequences: int) -> None:
    """Raises InputError where decoding cannot be as it is asked for."""
    for option, value, most in (("beam", beam, MOST_BEAM), ("longest", longest, MOST_LONGEST)):
        if not 1 <= value <= most:
            raise InputError(f"{option} is from 1 to {most:,}, not {value:,}")
    if not 0 <= sequences <= beam:
        raise InputError(f"sequences is from 0, which is all, to the beam, {beam}, not {sequences}")


def _power(text: Any) -> float | None:
    """The penalty of length; None where the directory says it."""
    if text == "":
        return None
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not -MOST_PENALTY <= found <= MOST_PENALTY:
        raise InputError(f"penalty is a number from -{MOST_PENALTY} to {MOST_PENALTY}, as 1 or .6, not {text!r}")
    return found


for _name in DECODING:
    _register(_name)
