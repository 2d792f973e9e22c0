"""All models that karat brings along: importing this module fills the register `MODELS`."""

from __future__ import annotations

from karat.models.base import MODELS, Model
from karat.models.extractors import embedded, kea, yake
from karat.models.extractors import pke as extractors

# isort: split
from karat.models.generators import plugged  # listed last

__all__ = ["MODELS", "Model", "embedded", "extractors", "kea", "plugged", "yake"]
