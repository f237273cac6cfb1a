"""Programs and pictures without a window."""

from __future__ import annotations

from collections.abc import Iterator

import pygame
import pytest
from driven import Driven

from crowd_demo.app.screen.window import close_window, open_window
from crowd_demo.config.model import WindowSettings


@pytest.fixture
def driven() -> Iterator[Driven]:
    yield Driven()
    close_window()


@pytest.fixture
def screen() -> Iterator[pygame.Surface]:
    """An open picture without a program."""
    yield open_window(WindowSettings.model_validate({"width": 640, "height": 360}), headless=True)
    close_window()
