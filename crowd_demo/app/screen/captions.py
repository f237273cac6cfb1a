"""What is said of a scenario when it opens: for three seconds, or until a key or a click."""

from __future__ import annotations

import math
import time

from crowd_demo.app.key_input import Keymap
from crowd_demo.config.keys import ACTIONS
from crowd_demo.config.resources import about, find_config, what_to_try
from crowd_demo.render.hud.caption import Caption

CAPTION_S, FADE_S = 3.0, 0.4


def caption_of(name: str | None, keymap: Keymap) -> Caption | None:
    """The caption of a configuration, by its name or path; None if there is no file."""
    try:
        path = find_config(name or "")
    except ValueError:
        return None
    action, hint = what_to_try(path)
    return Caption(path.stem, about(path), keymap.name(action) if action in ACTIONS else "", hint)


class ShownCaption:
    """Its time begins when it is first presented, as a notice's does."""

    def __init__(self) -> None:
        self._caption: Caption | None = None
        self._end_s = 0.0

    def show(self, caption: Caption | None) -> None:
        self._caption, self._end_s = caption, math.inf

    def end(self) -> None:
        self._caption = None

    def present(self) -> Caption | None:
        """Return what to draw now, ever paler at the end."""
        if not self._caption:
            return None
        now = time.monotonic()
        self._end_s = min(self._end_s, now + CAPTION_S + FADE_S)
        if now >= self._end_s:
            self.end()
        return self._caption and self._caption._replace(alpha=min((self._end_s - now) / FADE_S, 1.0))
