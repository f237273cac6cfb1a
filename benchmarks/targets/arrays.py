"""Arrays of more than 1 kB that a steady frame makes."""

from __future__ import annotations

from collections.abc import Iterator

from targets.app import asked
from targets.base import Found, Session, Target

CONFIGS = "20k", "20k-flock", "crates", "100k", "1m-flock"


def measure(session: Session) -> Iterator[Found]:
    for config in CONFIGS[:3] if session.quick else CONFIGS:
        found = asked("arrays", config, "scene.overlays=[]")
        yield Found(config, found["made"], 0, details={"places": found["places"]})


TARGET = Target("arrays", "arrays of more than 1 kB that are made in 200 steady frames", "none",
                "NumPy's memory handler in both threads, HUD drawn, no overlays; without keyframes and the report's "
                "record", measure)
