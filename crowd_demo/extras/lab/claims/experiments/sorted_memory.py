"""How much faster a query is once agents are sorted in memory: the scan that the source prints, and a real one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.extras.lab.claims.cases import Arm, CallArm, TimedCase, Values, crowds, memory_order
from crowd_demo.extras.lab.claims.claim import SORTING, Answer, Case, Claim, Found, LabScale
from crowd_demo.extras.lab.claims.judging import faster

WINDOW, SIDE, CELL = 100, 100.0, 10.0
UNSORTED, SORTED = "unsorted", "sorted"
ARMS: dict[str, Values] = {UNSORTED: {"reorder.when": "off", "simd": False},
                           SORTED: {"reorder.when": "every", "reorder.every": 60, "simd": False}}


def scan(x: Floats, y: Floats) -> Ints:
    """As it is printed: how many of the next 99 entries are nearer than 1. After a sort that is a different set."""
    count = np.zeros(len(x), np.int32)
    for i in range(len(x)):
        dx, dy = x[i + 1:i + WINDOW] - x[i], y[i + 1:i + WINDOW] - y[i]
        count[i] = np.sum(dx * dx + dy * dy < 1)
    return count


def printed(agents: int) -> dict[str, Callable[[], Arm]]:
    """Its two arms; the number of pairs that each finds shows whether they did the same work."""
    x, y = np.random.default_rng(0).uniform(0, SIDE, (2, agents)).astype(np.float32)
    order = np.argsort((x // CELL).astype(np.int32) * 65_536 + (y // CELL).astype(np.int32), kind="stable")

    def arm(x: Floats, y: Floats) -> Callable[[], Arm]:
        return lambda: CallArm(lambda _: scan(x, y), figures={"agents": agents, "pairs_found": int(scan(x, y).sum())})

    return {UNSORTED: arm(x, y), SORTED: arm(x[order], y[order])}


def cases(scale: LabScale) -> Sequence[Case]:
    [most] = scale.sizes(10_000)
    return [TimedCase(f"the printed scan of {most:,}", most, printed(most), steps=1, seconds=8, same=(), workers=1, warm_up=1),
            *(TimedCase(f"{size:,} birds, their real neighbours", size,
                        crowds("20k-flock", size, ARMS, measure=memory_order), steps=10, seconds=4 + size * 6e-5)
              for size in scale.sizes(20_000, 100_000, 1_000_000))]


def decide(found: Found) -> Answer:
    return faster(found, SORTED, UNSORTED, times=1.5)


CLAIM = Claim(
    "sorted-memory", "How much faster does one sort make the same query?",
    "expect a ~1.5-3x speedup on the post-sort version", SORTING,
    "at least 1.5 times as fast; the printed scan reads a different set after the sort (pairs found), so birds with their real"
    " neighbours, one at a time without lanes, stand beside it", cases, decide)
