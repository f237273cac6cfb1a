"""Kernels compile inside the first example of a test: no example has a deadline."""

import os

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

from hypothesis import settings

settings.register_profile("render", deadline=None)
settings.load_profile("render")
