"""All models that karat brings along: importing this module fills the register `MODELS`."""

from __future__ import annotations

from karat.predicting import embedded, extractors, kea, yake
from karat.predicting.base import MODELS, Model

# isort: split
from karat.generators import plugged  # listed last

__all__ = ["MODELS", "Model", "embedded", "extractors", "kea", "plugged", "yake"]
