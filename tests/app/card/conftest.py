"""The crowd whose techniques are switched."""

import math
from collections.abc import Iterator

import pytest
from watched import Watched

from crowd_demo.app import cards
from crowd_demo.app.screen import close_window
from crowd_demo.measure import proof


@pytest.fixture(autouse=True)
def fast_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No frame is too long."""
    for module in (cards, proof):
        monkeypatch.setattr(module, "MAX_FRAME_MS", math.inf)


@pytest.fixture
def watched() -> Iterator[Watched]:
    driven = Watched()
    driven.frames(30)
    yield driven
    close_window()
