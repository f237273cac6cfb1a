"""What the tests of the picture share."""

from collections.abc import Iterator
from pathlib import Path

import pygame
import pytest
from render_assets import draw_assets


@pytest.fixture(autouse=True)
def font() -> Iterator[None]:
    """Whatever is written on the HUD, and by overlays, needs pygame's fonts."""
    pygame.font.init()
    yield
    pygame.font.quit()


@pytest.fixture(scope="session")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with plain sheets."""
    folder = tmp_path_factory.mktemp("assets")
    draw_assets(folder)
    return folder
