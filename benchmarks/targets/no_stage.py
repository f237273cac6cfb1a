"""What a frame spends in no stage: Python, and handing over to the worker's thread."""

from __future__ import annotations

from collections.abc import Iterator

from targets.app import asked
from targets.base import Found, Session, Target

AT_MOST_MS = 0.25


def measure(session: Session) -> Iterator[Found]:
    found = asked("frames", "20k-flock", frames=200 if session.quick else 600)
    yield Found("20k-flock, ms", found["no_stage_ms"], AT_MOST_MS)


TARGET = Target("no-stage", "what a frame spends in no stage", "0.25 ms",
                "median of the whole program without a window", measure)
