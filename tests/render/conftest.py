"""What the tests of the picture share. Kernels compile inside a test's first example: no example has a deadline."""

import os

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import pytest
from hypothesis import settings
from render_assets import draw_assets

settings.register_profile("render", deadline=None)
settings.load_profile("render")


@pytest.fixture(scope="session")
def assets(tmp_path_factory):
    """A folder with plain sheets."""
    folder = tmp_path_factory.mktemp("assets")
    draw_assets(folder)
    return folder
