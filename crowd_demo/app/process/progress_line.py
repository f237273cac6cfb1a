"""How far something is, on standard error: on a terminal one line that changes, elsewhere a line now and then."""

from __future__ import annotations

import math
import shutil
import sys
import time
from typing import Self

from crowd_demo.app.process.streams import ERASE

REDRAW_EVERY_S = 0.1  # at most, on a terminal
SAY_EVERY_S = 5.0  # elsewhere, unless another time is asked for


class ProgressLine:
    """`with ProgressLine("sweep") as line: line.tell("30 %")`; at the end nothing of it is left on a terminal."""

    def __init__(self, name: str, every_s: float = SAY_EVERY_S) -> None:
        """`every_s` is the least time between two lines where standard error is no terminal."""
        self._name, self._terminal = name, sys.stderr.isatty()
        self._every_s = REDRAW_EVERY_S if self._terminal else every_s
        self._told_s = -math.inf if self._terminal else time.monotonic()

    def tell(self, what: object) -> None:
        """Show what is done now; cheap enough to be called often."""
        if time.monotonic() - self._told_s < self._every_s:
            return
        self._told_s = time.monotonic()
        line = f"{self._name}: {what}"
        if self._terminal:
            print(f"{ERASE}{line[:shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal:
            print(ERASE, end="", file=sys.stderr, flush=True)
