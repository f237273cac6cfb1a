"""What all tests share. No window is opened but by tests/window, and no example has a deadline: the first one compiles.

Nobody's preferences are read or written.
"""

from __future__ import annotations

import os

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ["CROWD_DEMO_PREFERENCES"] = ""  # whoever runs the tests has their own

import pytest
from crowds import CROWDS, Settings
from hypothesis import settings

settings.register_profile("crowd-demo", deadline=None)
settings.load_profile("crowd-demo")


@pytest.fixture(scope="module", params=list(CROWDS))
def crowd(request: pytest.FixtureRequest) -> Settings:
    """The settings of a small crowd of each behaviour."""
    return CROWDS[request.param]
