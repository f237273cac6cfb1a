"""How far an ensemble is, in one line."""

from __future__ import annotations

import time


class Progress:
    """Counts rows: `total` runs of which `missing` have to be made, so many at a time."""

    def __init__(self, total: int, missing: int, workers: int) -> None:
        self.done, self.failed, self.left = total - missing, 0, missing
        self.workers, self._made, self._began = workers, 0, time.monotonic()

    def count(self, failed: bool) -> None:
        self.left -= 1
        self._made += 1
        self.failed += failed
        self.done += not failed

    def __str__(self) -> str:
        running = min(self.workers, self.left)
        text = f"{self.done:,} done, {running} running, {self.failed:,} failed"
        if self._made and self.left:
            text += f", {duration((time.monotonic() - self._began) / self._made * self.left)} to go"
        return text


def duration(seconds: float) -> str:
    """0.3 s, 45 s, 12 min, 3 h 20 min."""
    if seconds < 1:
        return f"{max(seconds, 0.01):.1g} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60:,} h {minutes % 60} min"
