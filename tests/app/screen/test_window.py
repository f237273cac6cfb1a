"""The window takes the size that it is given."""

from __future__ import annotations

import warnings
from typing import Any

import pygame
import pytest

from crowd_demo.app.screen.window import set_mode
from crowd_demo.config.model import WindowSettings

pytestmark = pytest.mark.quick


def test_a_window_manager_that_chooses_another_size_is_nothing_to_warn_of(
        screen: pygame.Surface, monkeypatch: pytest.MonkeyPatch) -> None:
    def tiling(size: tuple[int, int], *_: Any) -> pygame.Surface:
        warnings.warn("Requested window was forcibly resized by the OS.\n\tRequested window size: (640, 360)", stacklevel=1)
        return screen

    monkeypatch.setattr(pygame.display, "set_mode", tiling)
    for fullscreen in (False, True):
        assert set_mode(WindowSettings.model_validate({}), fullscreen) is screen
