"""What holds for all tests: how many examples hypothesis tries, and which tests need what is not installed.

KARAT_THOROUGH=1 tries many more examples than there is time for in every run.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=30)
settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.load_profile("thorough" if os.environ.get("KARAT_THOROUGH") else "quick")

NEURAL = ("torch", "transformers", "sentencepiece")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Nothing; tests of models are skipped, saying so, where the extra neural is not installed."""
    missing = [name for name in NEURAL if find_spec(name) is None]
    if missing:
        why = pytest.mark.skip(reason=f"the lane neural runs it: {', '.join(missing)} not installed")
        for item in items:
            if item.get_closest_marker("neural"):
                item.add_marker(why)
