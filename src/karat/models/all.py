"""All models that karat brings along: importing this module fills the register `MODELS`."""

from __future__ import annotations

from karat.models.base import MODELS, Model

# isort: split
from karat.models.extractors import embedded, kea, pke, yake  # noqa: F401  registered by being imported

# isort: split
from karat.models.generators import plugged, tagger_model  # noqa: F401  listed last

__all__ = ["MODELS", "Model"]
