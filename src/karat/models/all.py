"""All models that karat brings along: importing this module fills the register `MODELS`."""

from __future__ import annotations

from karat.models.base import MODELS, Model

# isort: split
from karat.models.extractors import embedded, kea, pke, yake  # noqa: F401  registered by being imported

# isort: split
from karat.models.generators import plugged  # noqa: F401  listed last
from karat.models.generators.seq2seq import plugged as pretrained  # noqa: F401
from karat.models.generators.unikp import plugged as tagging  # noqa: F401

__all__ = ["MODELS", "Model"]
