"""Neighbours asked every n steps only: time against error, and the longest wait."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_demo.lab.claims.cases import CrowdArm, TimedCase, Values, crowds
from crowd_demo.lab.claims.claim import NOTES, Answer, Case, Claim, Figures, Found, LabScale
from crowd_demo.lab.claims.judging import faster
from crowd_demo.sim.metrics.avoidance_error import ages, stagger_error

ARMS: dict[str, Values] = {"every step": {"stagger.avoidance": 1}} | {
    f"every {period} by {by}": {"stagger.avoidance": period, "stagger.by": by}
    for period, by in ((2, "place"), (3, "place"), (3, "tile"), (3, "id"), (4, "place"), (8, "place"), (16, "place"))}


def price(crowd: CrowdArm) -> Figures:
    """The error of the avoidance that was kept, of a mean one; and the most steps that anybody has waited."""
    waited = ages(crowd.sim)
    return {"longest_wait": float(np.flatnonzero(waited).max(initial=0)), "error": stagger_error(crowd.sim).mean}


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} {who}", size, crowds(name, size, ARMS, measure=price), steps=16, same=(),
                      seconds=5 + size * 1.2e-4)
            for size in scale.sizes(20_000, 100_000) for name, who in (("20k", "people"), ("20k-flock", "birds"))]


def decide(found: Found) -> Answer:
    return faster(found, "every 3 by place", "every step", times=2.5, stage="interaction")


CLAIM = Claim(
    "stagger", "What does it save to ask for neighbours every n steps only, and what does it cost?",
    "a period of 3 saves about 67 % of the avoidance", NOTES,
    "the stage interaction is at least 2.5 times as fast at period 3 (60 % saved); error and longest wait stand beside it",
    cases, decide, by_size=False)
