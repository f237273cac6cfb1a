"""The one record of a frame: milliseconds of each named stage and its work counters.

The HUD, the graph and `--report` all read this; nothing else keeps times. A stage that runs several times in a
frame (catch-up steps) adds up; a stage that does not run counts zero for that frame.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

HISTORY = 1024


class Profile:
    """Ring buffers of the last `HISTORY` frames, one a stage, float32 milliseconds, plus this frame's counters."""

    def __init__(self) -> None:
        self.frames = 0
        self.counters: dict[str, float] = {}
        self._frame_ms: NDArray[np.float32] = np.zeros(HISTORY, np.float32)
        self._stage_ms: dict[str, NDArray[np.float32]] = {}
        self._frame_start = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, (time.perf_counter() - start) * 1e3)

    def add(self, name: str, ms: float) -> None:
        if name not in self._stage_ms:
            self._stage_ms[name] = np.zeros(HISTORY, np.float32)
        self._stage_ms[name][self.frames % HISTORY] += ms

    def begin_frame(self) -> None:
        self._frame_start = time.perf_counter()

    def end_frame(self, ms: float | None = None) -> None:
        """Close the present frame: its whole time is recorded, as measured or as given, and the next one starts at zero."""
        self._frame_ms[self.frames % HISTORY] = (time.perf_counter() - self._frame_start) * 1e3 if ms is None else ms
        self.frames += 1
        for ring in self._stage_ms.values():
            ring[self.frames % HISTORY] = 0.0

    @property
    def stages(self) -> tuple[str, ...]:
        """Names in the order in which they first ran, which is the order of the frame."""
        return tuple(self._stage_ms)

    def frame_ms(self, last: int = HISTORY) -> NDArray[np.float32]:
        """Whole frames, oldest first, at most `last` of them."""
        return self._recent(self._frame_ms, last)

    def stage_ms(self, name: str, last: int = HISTORY) -> NDArray[np.float32]:
        return self._recent(self._stage_ms[name], last)

    def last_run_ms(self, name: str) -> float:
        """Of the latest frame in which a stage ran that seldom does; 0 when no recent one did."""
        times = self.stage_ms(name) if name in self._stage_ms else np.zeros(0, np.float32)
        runs = times[times > 0]
        return float(runs[-1]) if len(runs) else 0.0

    def _recent(self, ring: NDArray[np.float32], last: int) -> NDArray[np.float32]:
        size = min(last, self.frames, HISTORY - 1)
        return ring[np.arange(self.frames - size, self.frames) % HISTORY]
