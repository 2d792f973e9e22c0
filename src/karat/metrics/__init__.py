"""The metrics, registered by being imported."""

from karat.metrics import exact, ranking, approximate, soft, semantic, counts, diversity, confidence, profile  # noqa: F401, I001  the order of `karat list metrics`
