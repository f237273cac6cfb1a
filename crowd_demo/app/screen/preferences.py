"""What a user prefers, in a file of the user's: size and colours of the HUD, what is unfolded, the window's size.

A configuration that sets one of these wins, and so does the command line. Whatever the user changes in the window is
written a second later, and on leaving. A file with a mistake is reported once, left alone, and not used. Of two
programs that run at once the last one to write wins.
"""

from __future__ import annotations

import math
import os
import platform
import time
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from pydantic import Field

from crowd_demo.config.loader import ConfigError, read_section
from crowd_demo.config.model import HudSettings, WindowSettings
from crowd_demo.config.section import WITHOUT_POINT
from crowd_demo.config.yaml12 import dump
from crowd_demo.host.files import write_file
from crowd_demo.host.system import beside_frames
from crowd_demo.registry.texts import reason

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
