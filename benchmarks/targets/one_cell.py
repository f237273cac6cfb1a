"""All 20,000 agents in one cell: how many frames a second, and how long a key waits until the window has answered it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from targets.app import asked
from targets.base import Found, Session, Target

LEAST_FPS, MAX_MS = 10, 100
CROWDS = {"birds": "20k-flock", "people": "20k"}
PATTERNS = {"at one point": ("spawn.pattern=point",),
            "in one cell": ("spawn.pattern=clump", "spawn.share=1", "spawn.box=0.006")}


def measure(session: Session) -> Iterator[Found]:
    for crowd, config in CROWDS.items():
        for where, overrides in PATTERNS.items():
            frames = asked("frames", config, *overrides)["frame_ms"][1:]
            fps = 1e3 * len(frames) / sum(frames)
            yield Found(f"{crowd} {where}: FPS", fps, LEAST_FPS, at_least=True, details={"frame_ms": frames})
            waited = asked("keys", config, *overrides)["waited_ms"]
            yield Found(f"{crowd} {where}: a key waits (95 %), ms", float(np.percentile(waited, 95)), MAX_MS,
                        details={"waited_ms": waited})


TARGET = Target("one-cell", "all 20,000 agents in one cell", "10 FPS, a key waits at most 100 ms",
                "the whole program without a window; from a press of F1 at a random moment until the help is shown", measure)
