"""All models that karat brings along: importing this module fills the register `MODELS`."""

from __future__ import annotations

from karat.generators import plugged
from karat.predicting import embedded, extractors, kea, yake
from karat.predicting.base import MODELS, Model

__all__ = ["MODELS", "Model", "embedded", "extractors", "kea", "plugged", "yake"]
