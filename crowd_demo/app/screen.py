"""The window, what the user prefers of it, and temporary texts over its picture.

In headless runs the window is a surface in memory with the same interface.

Preferences are in a file of the user's: size and colours of the HUD, what is unfolded, the window's size. A
configuration that sets one of these wins, and so does the command line. Whatever the user changes in the window is
written a second later, and on leaving. A file with a mistake is reported once, left alone, and not used. Of two
programs that run at once the last one to write wins.
"""

from __future__ import annotations

import ctypes
import io
import math
import os
import platform
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, NoReturn

import pygame
from pydantic import Field

from crowd_demo.app.key_input import Keymap
from crowd_demo.config.keys import ACTIONS
from crowd_demo.config.loader import ConfigError, read_section
from crowd_demo.config.memory import quiet_libraries
from crowd_demo.config.model import HudSettings, WindowSettings
from crowd_demo.config.resources import TRY, about, find_config, note_of
from crowd_demo.config.section import WITHOUT_POINT
from crowd_demo.config.yaml12 import dump
from crowd_demo.host.files import write_file
from crowd_demo.host.system import beside_frames
from crowd_demo.registry.texts import reason
from crowd_demo.render.hud.card import Caption

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
        if pygame.display.get_driver() not in NO_SCREEN:  # a preference may come from a larger screen
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


# --- preferences -----------------------------------------------------------------------------------------------------

VARIABLE = "CROWD_DEMO_PREFERENCES"
NAME = Path("crowd-demo", "preferences.yaml")
SAVE_S = 1.0  # after a change
HEADER = "# crowd-demo writes this file when the window is changed. Configurations and options override it.\n"

Side = Annotated[int, WITHOUT_POINT, Field(ge=16, le=16_384)]
Size = Annotated[tuple[Side, Side], Field(strict=False)]
Names = Annotated[tuple[str, ...], Field(strict=False, max_length=100)]


class Values(HudSettings):
    opened: Names = Field((), description="sections of the HUD that are unfolded, the last one last")
    size: Size | None = Field(None, description="[width, height] of the window in pixels")


def user_file() -> Path | None:
    """The file of this user's preferences; None where there is no home, or none are wanted: the variable is empty."""
    if (chosen := os.environ.get(VARIABLE)) is not None:
        return Path(chosen).absolute() if chosen else None
    folders = {"Windows": os.environ.get("APPDATA"), "Darwin": "~/Library/Application Support"}
    folder = Path(folders.get(platform.system(), os.environ.get("XDG_CONFIG_HOME")) or "~/.config")
    if str(folder).startswith("~") and os.environ.get("HOME") == "":  # which would be the root folder
        return None
    with suppress(RuntimeError):  # a user without a home
        return (folder.expanduser() / NAME).absolute()
    return None


def read(path: Path) -> Values:
    """The values in a file, the defaults if there is none. Raises ConfigError."""
    return read_section(Values, path, Path)[0] if os.path.lexists(path) else Values.model_validate({})


class Preferences:
    """The values, and their file; without one, or with one that is broken, nothing is kept."""

    def __init__(self, path: Path | None = None) -> None:
        self.values = Values.model_validate({})
        self._path, self._due_s = path, math.inf  # when to write the file
        self._writer, self._writing = beside_frames(), list[Future[None]]()
        self.news: list[str] = []
        try:
            self.values = read(path) if path else self.values
        except ConfigError as error:
            self._path = None
            self.news.append(f"{error.lines[0]} (preferences are not used)")

    def window(self, configured: WindowSettings) -> WindowSettings:
        """The settings of the window, with what is preferred where the configuration does not say."""
        said = configured.model_fields_set
        preferred = {name: value for name, value in self.values if name in HudSettings.model_fields and name not in said}
        if self.values.size and not said & {"width", "height"}:
            preferred["width"], preferred["height"] = self.values.size
        return configured.model_copy(update=preferred)

    def change(self, **values: object) -> None:
        """Change values; the file is written a second later."""
        changed = self.values.model_copy(update=values)
        if changed != self.values:
            self.values, self._due_s = changed, min(self._due_s, time.monotonic() + SAVE_S)

    def save(self, by_s: float = math.inf) -> None:
        """Write the file beside the frames if that is due by a time of `time.monotonic`; without one wait for it."""
        if self._path and self._due_s < by_s:
            self._due_s = math.inf
            self._writing = [self._writer.submit(self._write, self._path)]
        if by_s == math.inf:
            wait(self._writing)

    def _write(self, path: Path) -> None:
        data = self.values.model_dump(mode="json", exclude_defaults=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, (HEADER + (dump(data) if data else "")).encode())
        except OSError as error:
            self.news.append(f"cannot keep preferences in {path}: {reason(error)}")
            self._path = None


# --- notices ---------------------------------------------------------------------------------------------------------

NOTICE_S = 3.0
NOTICES = 4  # at a time


class Notice(NamedTuple):
    """A line, how long it is shown, and until when; it has no end before it was presented.

    One about a state goes away as soon as that no longer `holds`.
    """

    text: str
    lasts_s: float
    holds: Callable[[], object] | None = None
    end_s: float = math.inf


class Notices:
    """A line replaces the one about the same topic; the newest is the last. Its time begins when it is first presented.

    From when it was added, a frame that takes long would leave it none.
    """

    def __init__(self) -> None:
        self.shown: dict[str, Notice] = {}  # by topic

    def add(self, text: str, about: str = "", lasts_s: float = NOTICE_S,
            holds: Callable[[], object] | None = None) -> None:
        """Show a line; one without a topic is its own. With `holds` only as long as that is true."""
        self.drop(about or text)
        self.shown[about or text] = Notice(text, lasts_s, holds)
        self.shown = dict(list(self.shown.items())[-NOTICES:])

    def drop(self, about: str) -> None:
        self.shown.pop(about, None)

    def present(self) -> list[str]:
        now = time.monotonic()
        self.shown = {about: notice._replace(end_s=min(notice.end_s, now + notice.lasts_s))
                       for about, notice in self.shown.items() if notice.end_s > now and (not notice.holds or notice.holds())}
        return [notice.text for notice in self.shown.values()]

    def take_over(self, left: Notices) -> None:
        """Take over the notices of the program before, except those about its own state."""
        self.shown = {about: notice for about, notice in left.shown.items() if not notice.holds} | self.shown


# --- the caption -----------------------------------------------------------------------------------------------------

CAPTION_S, FADE_S = 3.0, 0.4


def caption_of(name: str | None, keymap: Keymap) -> Caption | None:
    """Return the caption of the configuration with this name or path; None without a file."""
    try:
        path = find_config(name or "")
    except ValueError:
        return None
    action, _, hint = note_of(path, TRY).partition(", ")
    return Caption(path.stem, about(path), keymap.name(action) if action in ACTIONS else "", hint)


class ShownCaption:
    """Its time begins when it is first presented, as a notice's does."""

    def __init__(self) -> None:
        self.show(None)

    def show(self, caption: Caption | None) -> None:
        self._caption, self._end_s = caption, math.inf

    def present(self) -> Caption | None:
        """Return what to draw now, ever paler at the end."""
        if not self._caption:
            return None
        now = time.monotonic()
        self._end_s = min(self._end_s, now + CAPTION_S + FADE_S)
        if now >= self._end_s:
            self._caption = None
        return self._caption and self._caption._replace(alpha=min((self._end_s - now) / FADE_S, 1.0))
