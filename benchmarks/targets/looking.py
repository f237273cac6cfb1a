"""What looking costs: a picture of a million birds with each colour mode, and a frame of 20,000 people with each overlay."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowd_demo.measure.statistics import median_interval, ratio_interval
from targets.app import asked
from targets.base import Found, Session, Target

MAX_TIMES, MAX_MS = 1.3, 2.0
MODES, PLAIN = "1m-flock", ""
ZOOMS = {"": (), " at zoom 1": ("camera.zoom=1",), " at zoom 0.18": ("camera.zoom=0.18",)}


def measure(session: Session) -> Iterator[Found]:
    yield from _modes(48 if session.quick else 96)
    for where, overrides in ZOOMS.items():
        yield from _overlays(where, overrides, 64 if session.quick else 160)


def _modes(frames: int) -> Iterator[Found]:
    pictures = {name: np.array(ms) for name, ms in asked("colours", MODES, frames=frames).items()}
    for name, ms in pictures.items():
        if name != PLAIN:
            ratio = ratio_interval(ms, pictures[PLAIN])
            yield Found(f"{MODES}, {name}: times the plain picture", ratio.value, MAX_TIMES, interval=ratio,
                        details={"ms": float(np.median(ms))})


def _overlays(where: str, overrides: tuple[str, ...], frames: int) -> Iterator[Found]:
    all_ms = {name: np.array(ms) for name, ms in asked("overlays", "20k", *overrides, frames=frames).items()}
    for name, ms in all_ms.items():
        if name != PLAIN:
            more = median_interval(ms - all_ms[PLAIN])
            yield Found(f"20k, {name}{where}: ms more a frame", more.value, MAX_MS, interval=more,
                        details={"plain_ms": float(np.median(all_ms[PLAIN]))})


TARGET = Target("looking", "what colour modes and overlays cost", "a picture 1.3 times, a frame 2 ms more",
                "the whole program without a window; each mode and overlay in turns with none", measure)
