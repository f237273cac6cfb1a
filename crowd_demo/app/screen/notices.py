"""Lines that are shown over the picture for a while."""

from __future__ import annotations

import time

NOTICE_S = 3.0
NOTICES = 4  # at a time


class Notices:
    """A line replaces the one about the same topic; the newest is the last."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[float, str]] = {}  # (end, text) by topic

    def add(self, text: str, about: str = "") -> None:
        """Show a line; one without a topic is its own."""
        self._shown.pop(about or text, None)
        self._shown[about or text] = time.monotonic() + NOTICE_S, text
        self._shown = dict(list(self._shown.items())[-NOTICES:])

    def present(self) -> list[str]:
        """The lines whose time is not over."""
        now = time.monotonic()
        self._shown = {about: notice for about, notice in self._shown.items() if notice[0] > now}
        return [text for _, text in self._shown.values()]

    def take_over(self, left: Notices) -> None:
        """Go on with those of another program, which are over no sooner."""
        self._shown = left._shown | self._shown
