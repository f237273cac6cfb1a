"""What the tests of the picture share."""

from __future__ import annotations

from pathlib import Path

import pytest
from render_assets import draw_assets


@pytest.fixture(scope="session")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with plain sheets."""
    folder = tmp_path_factory.mktemp("assets")
    draw_assets(folder)
    return folder
