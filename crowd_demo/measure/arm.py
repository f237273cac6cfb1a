"""An arm: one of the things that are compared. It runs blocks of steps, and each block continues where the last one ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from crowd_demo.compute.arrays import Floats

Outcome_co = TypeVar("Outcome_co", covariant=True)


class Arm(Protocol[Outcome_co]):
    """Runs blocks; the outcome of a block is mostly a `Block`."""

    def run(self, steps: int) -> Outcome_co:
        """Run the next block, of that many steps."""


class Block(NamedTuple):
    """What was measured in a block of steps."""

    steps: int
    times_ms: Mapping[str, Floats]  # by stage, float32[steps], 0 where it did not run; stages add up to the whole step
    counters: Sequence[Mapping[str, float]] = ()  # after each step
    parts_ms: Mapping[str, Floats] = {}  # times of parts of those stages, so they do not count towards the step
