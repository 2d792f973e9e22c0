"""No test of this folder reaches the network or the user's own cache."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"
