"""A million dots, and a plain sky, against another commit."""

from __future__ import annotations

from collections.abc import Iterator

from targets.base import Found, Session, Target

STAGES = {"blit": ("a million dots", 0.55), "ground": ("a plain sky of 1280 x 720", 0.4)}


def measure(session: Session) -> Iterator[Found]:
    stages = session.frames("1m-flock")["stages"]
    before, now = stages.results[stages.base].stages, stages.results["here"].stages
    for stage, (what, bound) in STAGES.items():
        yield Found(what, now[stage].ratio.value, bound, interval=now[stage].ratio,
                    details={"before_ms": before[stage].ms.value, "ms": now[stage].ms.value})


TARGET = Target("picture", "stages of the picture against another commit", "dots at most 0.55, sky 0.4",
                "the stages blit and ground of `1m-flock` in `frames`", measure)
