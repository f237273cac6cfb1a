"""The window, or in headless runs a surface in memory with the same interface; its pointer, and pictures of it."""

from __future__ import annotations

import ctypes
import io
import math
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pygame

from crowd_demo.config.memory import quiet_libraries
from crowd_demo.config.model import WindowSettings
from crowd_demo.host.files import write_file

DEPTH = 32  # bits a pixel: what the compiled blitter writes
XLIB = "libX11.so.6"  # SDL loads the same
_IO_ERROR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_handlers: list[object] = []  # Xlib keeps their addresses alone
NO_SCREEN = ("offscreen", "dummy", "evdev")  # SDL uses these without a word when there is no display


@dataclass
class Pointer:
    """Where the mouse is.

    at         pixels
    in_window  whether the window has the focus of the mouse
    on_ground  whether a press there belongs to the tool that is held, if there is one
    """

    at: tuple[float, float]
    in_window: bool = False
    on_ground: bool = False


class NoDisplayError(Exception):
    """No window can be opened."""


def open_window(settings: WindowSettings, headless: bool) -> pygame.Surface:
    """Open the window; return its surface. Raises NoDisplayError. Does not call `pygame.init`, which would open the mixer."""
    driver = os.environ.get("SDL_VIDEODRIVER")
    if headless:
        os.environ["SDL_VIDEODRIVER"] = "dummy"
    try:
        with quiet_libraries():  # while SDL tries its drivers
            pygame.display.init()
        if not (headless or driver) and pygame.display.get_driver() in NO_SCREEN:
            raise NoDisplayError("no display was found")
        if pygame.display.get_driver() == "x11":
            # X takes a picture from memory in 0.2 ms; a texture of OpenGL, where that is software, takes 7 and 100 MB.
            os.environ.setdefault("SDL_FRAMEBUFFER_ACCELERATION", "0")
        pygame.font.init()
        icon = pygame.Surface((32, 32), pygame.SRCALPHA)
        for colour, x, y in (((0, 114, 178), 9, 12), ((230, 159, 0), 23, 12), ((0, 158, 115), 16, 21)):
            pygame.draw.circle(icon, colour, (x, y + 8), 8, draw_top_left=True, draw_top_right=True)
            pygame.draw.circle(icon, colour, (x, y - 3), 5)
        pygame.display.set_icon(icon)
        if pygame.display.get_driver() not in NO_SCREEN:  # no larger than the largest screen, for which a preference may be
            width, height = (max(sides) for sides in zip(*pygame.display.get_desktop_sizes(), strict=True))
            settings = settings.model_copy(update={"width": min(settings.width, width),
                                                   "height": min(settings.height, height)})
        surface = set_mode(settings, settings.fullscreen and not headless)
    except pygame.error as error:
        raise NoDisplayError(str(error)) from None
    finally:
        if headless:
            del os.environ["SDL_VIDEODRIVER"]
        if driver is not None:
            os.environ["SDL_VIDEODRIVER"] = driver
    pygame.display.set_caption(settings.title)
    return surface


def blit_scaled(on: pygame.Surface, picture: pygame.Surface, left: float, top: float, factor: float) -> None:
    """Draw what is seen of a picture that is scaled by `factor` and has its corner at (left, top), in pixels."""
    seen = pygame.Rect(math.floor(-left / factor), math.floor(-top / factor), math.ceil(on.get_width() / factor) + 1,
                       math.ceil(on.get_height() / factor) + 1).clip(picture.get_rect())
    if seen.size != (0, 0):
        size = round(seen.width * factor), round(seen.height * factor)
        scaled = pygame.transform.scale(picture.subsurface(seen), size)
        on.blit(scaled, (round(left + seen.left * factor), round(top + seen.top * factor)))


def on_lost_display(leave: Callable[[], NoReturn]) -> None:
    """Have `leave` called when the X server goes, in the middle of a call of Xlib, which would end the process with code 1."""
    if pygame.display.get_driver() == "x11":
        with suppress(OSError, AttributeError):
            handler = _IO_ERROR(lambda display: leave())
            ctypes.CDLL(XLIB).XSetIOErrorHandler(handler)
            _handlers.append(handler)


def set_mode(settings: WindowSettings, fullscreen: bool) -> pygame.Surface:
    """Change to full screen or to a window of the configured size; return the surface, whose size the system may choose."""
    size, flags = ((0, 0), pygame.FULLSCREEN) if fullscreen else ((settings.width, settings.height), pygame.RESIZABLE)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Requested window was forcibly resized")
        return pygame.display.set_mode(size, flags, DEPTH)


def screen() -> pygame.Surface:
    """The surface of the open window; it changes with the window's size."""
    surface = pygame.display.get_surface()
    assert surface is not None, "there is no window"
    return surface


def close_window() -> None:
    pygame.font.quit()
    pygame.display.quit()


def save_picture(surface: pygame.Surface, path: Path) -> None:
    """Save a surface as a PNG. Raises OSError."""
    write_file(path, png_of(surface))


def png_of(surface: pygame.Surface) -> bytes:
    """Return the bytes of a PNG. pygame itself writes half a file to a full disk without an error."""
    png = io.BytesIO()
    pygame.image.save(surface, png, "picture.png")
    return png.getvalue()
