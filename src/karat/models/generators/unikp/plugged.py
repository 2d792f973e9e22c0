"""The tagger and unikp among karat's models; torch is imported late."""

from __future__ import annotations

from karat.models.base import CommonOptions, Make, Predict
from karat.models.base import model as registered
from karat.models.generators.plugged import WINDOW, check
from karat.models.generators.settings import GENERATORS, training_options


def tagger(asked: CommonOptions, *, model: str = "", words: int = 6, least: float = 0.0) -> Predict:
    """`words` is how many words a phrase has at most, `least` the lowest score that is given."""
    torch = check("tagger", model)
    from karat.models.generators.checkpoint import load
    from karat.models.generators.unikp.reading import Reader

    torch.set_num_threads(asked.threads)
    return Reader(load(model), asked.n, words, least)


def unikp(
    asked: CommonOptions, *, model: str = "", words: int = 6, least: float = 0.0, beam: int = 5, longest: int = 48
) -> Predict:
    """`words` and `least` are of present phrases, as in tagger; `beam` and `longest` (pieces) of absent ones."""
    torch = check("unikp", model)
    from karat.models.generators.checkpoint import load
    from karat.models.generators.decoding import Decoding
    from karat.models.generators.unikp.reading import BothReader

    torch.set_num_threads(asked.threads)
    return BothReader(load(model), asked.n, Decoding(beam=beam, longest=longest), words, least)


def _register(name: str, make: Make) -> None:
    learned = ", ".join(f"{option}={value}" for option, value in training_options(name).items())
    make.__doc__ = f"{GENERATORS[name].summary}\n\n{make.__doc__}\n\nOptions of karat train {name}: {learned}."
    registered(name, needs=("training",), window=WINDOW, threads=True)(make)


_register("unikp", unikp)
_register("tagger", tagger)
