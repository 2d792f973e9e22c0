"""The generators by name; importing this module imports torch."""

from __future__ import annotations

from typing import Any

from karat.generators import copyrnn, transformer

CLASSES: dict[str, Any] = {"copyrnn": copyrnn.CopyRNN, "transformer": transformer.Transformer}
