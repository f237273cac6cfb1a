"""Lines that are shown over the picture for a while."""

from __future__ import annotations

import math
import time

NOTICE_S = 3.0
NOTICES = 4  # at a time


class Notices:
    """A line replaces the one about the same topic; the newest is the last. Its time begins when it is first presented.

    From when it was added, a frame that takes long would leave it none.
    """

    def __init__(self) -> None:
        self._shown: dict[str, tuple[float, float, str]] = {}  # (end, seconds, text) by topic; no end before it was presented

    def add(self, text: str, about: str = "", seconds: float = NOTICE_S) -> None:
        """Show a line for so long; one without a topic is its own."""
        self._shown.pop(about or text, None)
        self._shown[about or text] = math.inf, seconds, text
        self._shown = dict(list(self._shown.items())[-NOTICES:])

    def present(self) -> list[str]:
        """The lines whose time is not over."""
        now = time.monotonic()
        self._shown = {about: (min(end, now + seconds), seconds, text)
                       for about, (end, seconds, text) in self._shown.items() if end > now}
        return [text for *_, text in self._shown.values()]

    def take_over(self, left: Notices) -> None:
        """Go on with those of another program, which are over no sooner."""
        self._shown = left._shown | self._shown
