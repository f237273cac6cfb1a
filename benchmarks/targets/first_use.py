"""How long a value of a technique takes to take effect when its kernels are the only ones that were never compiled."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from targets.app import asked
from targets.base import Found, Session, Target

AT_MOST_S = 4.0
CHOICES: Mapping[str, tuple[str, ...]] = {
    "20k": ("neighbours=z_grid", "neighbour_limit=first", "simd=False", "avoidance=push", "neighbours=linked",
            "neighbours=kd_tree", "neighbours=aabb_tree", "neighbour_limit=nearest", "curve=morton", "cull=agents"),
    "20k-flock": ("neighbours=field", "neighbour_limit=first", "neighbours=z_grid", "simd=False")}
QUICK = {"20k": 2, "20k-flock": 1}
FRAMES = 240  # before the choice: times are steady, and the helpers are started


def measure(session: Session) -> Iterator[Found]:
    for config, choices in CHOICES.items():
        with tempfile.TemporaryDirectory() as cache:
            asked("frames", config, frames=1, cache=cache)
            for choice in choices[:QUICK[config] if session.quick else None]:
                seconds = with_copy(cache, "first-use", config, choice)["seconds"]
                kernels = with_copy(cache, "compile", config, choice)["kernels"]
                cpu = sum(each for _, each in kernels)
                yield Found(f"{config} {choice}, s ({len(kernels)} kernels, {cpu:.1f} CPU s)", seconds, AT_MOST_S,
                            details={"kernels": kernels})


def with_copy(cache: str, what: str, config: str, choice: str) -> dict[str, Any]:
    """Ask with a copy of that cache, which stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "cache"
        shutil.copytree(cache, copy)
        return asked(what, config, choice, frames=FRAMES, cache=str(copy))


TARGET = Target("first-use", "a technique's value that is chosen for the first time, all else compiled", "4 s each",
                "the whole program without a display server: seconds from the choice until the crowd has it; CPU seconds of"
                " the kernels that are missing, compiled one after the other", measure)
