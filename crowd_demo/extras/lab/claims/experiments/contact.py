"""How people keep apart: avoidance and passes against overlap, time against how near they come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_demo.extras.lab.claims.cases import CrowdArm, TimedCase, Values, crowds
from crowd_demo.extras.lab.claims.claim import OWN, Answer, Case, Claim, Figures, Found, LabScale, all_of, is_true
from crowd_demo.extras.lab.claims.judging import speed_up
from crowd_demo.measure.distances import nearest, people

ARMS: dict[str, Values] = {
    f"{avoidance}, {passes} passes": {"avoidance": avoidance, "overlap_passes": passes}
    for avoidance, passes in (("push", 0), ("push", 2), ("anticipate", 0), ("anticipate", 2),
                              ("slow_down", 0), ("slow_down", 1), ("slow_down", 2), ("slow_down", 4))}
WITHOUT, WITH_TWO = "slow_down, 0 passes", "slow_down, 2 passes"
BODY = 10.5  # units: bodies are 12 wide
MAX = 1.5  # times as long as without
LEAST = 0.5  # of the overlaps without


def overlaps(crowd: CrowdArm) -> Figures:
    """The share of people whose nearest neighbour is nearer than a body is wide."""
    c = people(crowd.sim)
    return {"overlap": float(np.mean(nearest(c.x, c.y) < BODY))}


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} people", size, crowds("20k", size, ARMS, measure=overlaps), steps=20, same=(),
                      seconds=15 + size * 2e-4) for size in scale.sizes(20_000)]


def decide(found: Found) -> Answer:
    without, with_two = (found.figures.get(arm, {}).get("overlap", 0.0) for arm in (WITHOUT, WITH_TWO))
    cost = speed_up(found, WITHOUT, WITH_TWO)
    cheap: Answer = "unclear" if not cost.known else "yes" if cost.high < MAX else "no" if cost.low > MAX else "unclear"
    return all_of((cheap, is_true(with_two <= LEAST * without)))


CLAIM = Claim(
    "contact", "What does it cost to keep bodies apart?", "two passes against overlap are enough, and cheap", OWN,
    f"with two passes at most half as many people overlap, and a step takes at most {MAX} times as long", cases, decide,
    by_size=False)
