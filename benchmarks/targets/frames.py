"""Whole frames against those of another commit, with the rules that it had."""

from __future__ import annotations

from collections.abc import Iterator

from targets.base import Found, Session, Target

AT_MOST = {"1m-flock": 0.65, "100k": 0.7, "20k": 0.7, "20k-flock": 0.7, "crates": 0.7}


def measure(session: Session) -> Iterator[Found]:
    for config, bound in AT_MOST.items():
        if session.quick and config not in ("20k", "20k-flock"):
            continue
        frame = session.frames(config)["frame"]
        before, now = frame.results[frame.base].step, frame.results["here"].step
        yield Found(config, now.ratio.value, bound, interval=now.ratio, details={
            "before_ms": before.ms.value, "ms": now.ms.value, "noise": frame.noise.value, "same_crowd": not frame.differing()})


TARGET = Target("frames", "frames against another commit", "1m-flock at most 0.65, the others 0.7",
                "interleaved, each in a process, that commit twice; the rules are its rules", measure)
