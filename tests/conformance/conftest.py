"""Where the real corpora are, for the tests that compare with published figures."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("KARAT_SHARED") or Path(__file__).resolve().parents[3] / "shared")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora; tests that need it are skipped, saying so, where it is not there."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"the real corpora are not in {SHARED}; KARAT_SHARED can name their folder")
    return SHARED
