"""All 20,000 agents in one cell: how many frames a second, and how long a key waits until a frame has answered it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from targets.app import asked
from targets.base import Found, Session, Target

LEAST_FPS, MOST_MS = 10, 100
CROWDS = {"birds": "20k-flock", "people": "20k"}
PATTERNS = {"at one point": ("spawn.pattern=point",),
            "in one cell": ("spawn.pattern=clump", "spawn.share=1", "spawn.box=0.006")}


def measure(session: Session) -> Iterator[Found]:
    for crowd, config in CROWDS.items():
        for where, overrides in PATTERNS.items():
            frames = asked("frames", config, *overrides)["frame_ms"][1:]
            fps = 1e3 * len(frames) / sum(frames)
            yield Found(f"{crowd} {where}: FPS", fps, LEAST_FPS, at_least=True, details={"frame_ms": frames})
            yield Found(f"{crowd} {where}: a key waits (95 %), ms", waits(frames), MOST_MS)


def waits(frame_ms: Sequence[float], share: float = 95) -> float:
    """Milliseconds that so many of all keys wait at most: to the end of the frame after the one in which they are pressed."""
    rng = np.random.default_rng(0)
    ends = np.cumsum(frame_ms)
    pressed = rng.uniform(0, ends[-2], 10_000)
    return float(np.percentile(ends[np.searchsorted(ends, pressed, "right") + 1] - pressed, share))


TARGET = Target("one-cell", "all 20,000 agents in one cell", "10 FPS, a key waits at most 100 ms",
                "the whole program without a window; a key is answered by the frame after the one in which it is pressed",
                measure)
