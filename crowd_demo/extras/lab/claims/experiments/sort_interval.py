"""How often agents are sorted: every so many steps, by drift, never; slow and fast birds."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.extras.lab.claims.cases import TimedCase, Values, crowds, memory_order
from crowd_demo.extras.lab.claims.claim import SORTING, Answer, Case, Claim, Found, LabScale, all_of
from crowd_demo.extras.lab.claims.judging import faster

EVERY = (1, 3, 10, 30, 100)
ARMS: dict[str, Values] = {
    "every 1": {"reorder.when": "every", "reorder.every": 1},
    **{f"every {steps}": {"reorder.when": "every", "reorder.every": steps} for steps in EVERY[1:]},
    "by drift": {"reorder.when": "drift"}, "never": {"reorder.when": "off"}}
SLOW, FAST = (15, 30), (240, 480)  # units a second; a cell is 24 wide


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} {name} birds", size,
                      crowds("20k-flock", size, ARMS, measure=memory_order, flock__speed_min=least, flock__speed_max=most),
                      steps=20, seconds=6 + size * 8e-5)
            for size in scale.sizes(10_000, 100_000, 1_000_000) for name, (least, most) in (("slow", SLOW), ("fast", FAST))]


def decide(found: Found) -> Answer:
    return all_of((faster(found, "every 10", "every 1"), faster(found, "every 10", "never")))


CLAIM = Claim(
    "sort-interval", "How often does it pay to sort agents in memory?",
    "100 steps of 10,000 take 0.85 s sorted every step, 0.62 s every 10, 0.75 s every 100, 1.20 s never", SORTING,
    "a step sorted every 10 steps is faster than one sorted every step, and than one of a crowd that is never sorted; all"
    " begin in random order", cases, decide)
