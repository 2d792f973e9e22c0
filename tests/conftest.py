"""What holds for all tests: how many examples hypothesis tries, and which tests need what is not installed.

KARAT_THOROUGH=1 tries many more examples than there is time for in every run.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=20)
settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.load_profile("thorough" if os.environ.get("KARAT_THOROUGH") else "quick")

NEURAL = ("torch", "transformers", "sentencepiece")
BROWSER = ("chromium", "chromedriver")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Nothing; tests that need what is not installed, or that have a lane of their own, are skipped, saying so."""
    _skip_browsers(config, items)
    missing = [name for name in NEURAL if find_spec(name) is None]
    if missing:
        why = pytest.mark.skip(reason=f"the lane neural runs it: {', '.join(missing)} not installed")
        for item in items:
            if item.get_closest_marker("neural"):
                item.add_marker(why)


def _skip_browsers(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing = [name for name in BROWSER if shutil.which(name) is None]
    missing += [] if find_spec("selenium") else ["selenium"]
    asked = "browser" in str(config.getoption("markexpr"))
    why = f"{', '.join(missing)} not installed" if missing else "pytest -m browser"
    for item in items:
        if item.get_closest_marker("browser") and (missing or not asked):
            item.add_marker(pytest.mark.skip(reason=f"the lane browser runs it: {why}"))
