"""Programs and pictures without a window."""

from collections.abc import Iterator
from pathlib import Path

import pygame
import pytest
from driven import Driven

from crowd_demo.app.screen import close_window, open_window
from crowd_demo.config.model import WindowSettings


@pytest.fixture(autouse=True)
def closed_window() -> Iterator[None]:
    """Close the window that a test has opened; text can also be written without one."""
    pygame.font.init()
    yield
    if pygame.display.get_init():
        close_window()


@pytest.fixture
def driven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driven:
    """A program whose working folder is empty."""
    monkeypatch.chdir(tmp_path)
    return Driven()


@pytest.fixture
def screen() -> pygame.Surface:
    """An open picture without a program."""
    return open_window(WindowSettings.model_validate({"width": 640, "height": 360}), headless=True)
