"""A server that answers, and no settings of the user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.pairs.server import Endpoint, serving


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with serving() as found:
        yield found


@pytest.fixture(autouse=True)
def no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KARAT_LLM_BASE_URL", "KARAT_LLM_MODEL", "KARAT_LLM_KEY"):
        monkeypatch.delenv(name, raising=False)
