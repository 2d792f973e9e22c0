"""What tests of models share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from karat.text import tags


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No model of spaCy is installed, whatever the machine has."""
    monkeypatch.setattr(tags, "find_spec", lambda name: None)
    tags.own_tagger.cache_clear()
    yield
    tags.own_tagger.cache_clear()
