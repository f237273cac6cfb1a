"""Temporary texts over the picture: messages, and the caption of a scenario that has opened."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from crowd_demo.app.key_input import Keymap
from crowd_demo.config.keys import ACTIONS
from crowd_demo.config.resources import about, find_config, what_to_try
from crowd_demo.render.hud.large_type import Caption

CAPTION_S, FADE_S = 3.0, 0.4
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
        """Go on with the lines of another program, but for those about a state of its own."""
        self.shown = {about: notice for about, notice in left.shown.items() if not notice.holds} | self.shown


# --- the caption -----------------------------------------------------------------------------------------------------

def caption_of(name: str | None, keymap: Keymap) -> Caption | None:
    """Return the caption of the configuration with this name or path; None without a file."""
    try:
        path = find_config(name or "")
    except ValueError:
        return None
    action, hint = what_to_try(path)
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
