"""The window, or in headless runs a picture in memory that behaves like one."""

from __future__ import annotations

import os

import pygame

from ..config.model import Window

DEPTH = 32  # bits a pixel: what the compiled blitter writes
NO_SCREEN = ("offscreen", "dummy", "evdev")  # SDL falls back on these in silence when there is no display


class NoDisplayError(Exception):
    """There is nowhere to open a window."""


def open_window(settings: Window, headless: bool) -> pygame.Surface:
    """The surface to draw on. Raises NoDisplayError. Sound stays closed: `pygame.init` would open the mixer."""
    os.environ.setdefault("SDL_VIDEO_X11_WMCLASS", "crowd-demo")
    asked = os.environ.get("SDL_VIDEODRIVER")
    if headless:
        os.environ["SDL_VIDEODRIVER"] = "dummy"
    try:
        pygame.display.init()
        if not (headless or asked) and pygame.display.get_driver() in NO_SCREEN:
            raise NoDisplayError("no display was found")
        pygame.font.init()
        surface = set_mode(settings, settings.fullscreen and not headless)
    except pygame.error as error:
        raise NoDisplayError(str(error)) from None
    finally:
        if headless:
            _restore("SDL_VIDEODRIVER", asked)
    pygame.display.set_caption(settings.title)
    return surface


def set_mode(settings: Window, fullscreen: bool) -> pygame.Surface:
    if fullscreen:
        return pygame.display.set_mode((0, 0), pygame.FULLSCREEN, DEPTH)
    return pygame.display.set_mode((settings.width, settings.height), pygame.RESIZABLE, DEPTH)


def screen() -> pygame.Surface:
    """The surface of the open window; it changes with the window's size."""
    surface = pygame.display.get_surface()
    assert surface is not None, "there is no window"
    return surface


def close_window() -> None:
    pygame.font.quit()
    pygame.display.quit()


def _restore(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
