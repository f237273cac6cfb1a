"""Columns against records: the inner loop of a flock over both."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from crowd_demo.compute.jit import Launch
from crowd_demo.extras.lab.claims.cases import Arm, CallArm, TimedCase
from crowd_demo.extras.lab.claims.claim import SORTING, Answer, Case, Claim, Found, LabScale
from crowd_demo.extras.lab.claims.judging import faster
from crowd_demo.extras.lab.storage import CANDIDATES, layouts

BYTES = 200  # an agent and layout


def arms(agents: int, scattered: bool) -> dict[str, Callable[[], Arm]]:
    """Columns, and records of a bird and of a person; arrays are made when the case begins."""
    def make(number: int) -> Callable[[], Arm]:
        def made() -> Arm:
            launch: Launch = list(layouts(agents, scattered, 1).values())[number]
            return CallArm(lambda _: launch.run(), after=lambda _: np.array(launch.args[-1]),
                        figures={"candidates_per_agent": CANDIDATES})
        return made

    return {name: make(number) for number, name in enumerate(("columns", "records of 32 bytes", "records of 68 bytes"))}


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} agents, {'scattered' if scattered else 'in order'}", size, arms(size, scattered), steps=1,
                      seconds=1 + size * 3e-5, workers=1, warm_up=1, bytes_each=BYTES)
            for size in scale.sizes(20_000, 250_000, 1_000_000) for scattered in (False, True)]


def decide(found: Found) -> Answer:
    return faster(found, "columns", "records of 32 bytes")


CLAIM = Claim(
    "layout", "Are columns (a structure of arrays) faster than records?", "what is read together should lie together", SORTING,
    "a loop over 48 candidates that reads four fields is faster over columns than over records of 32 bytes, in order and"
    " scattered", cases, decide, by_size=False)
