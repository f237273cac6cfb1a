"""Whatever is written on the HUD needs pygame's fonts."""

from __future__ import annotations

from collections.abc import Iterator

import pygame
import pytest


@pytest.fixture(autouse=True)
def font() -> Iterator[None]:
    pygame.font.init()
    yield
    pygame.font.quit()
