"""Limits of how many candidates and neighbours an agent heeds, and a smoothed field instead: time, bias and error."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

from crowd_demo.extras.lab.claims.cases import CrowdArm, TimedCase, Values, crowds
from crowd_demo.extras.lab.claims.claim import NOTES, Answer, Case, Claim, Figures, Found, LabScale
from crowd_demo.extras.lab.claims.judging import faster
from crowd_demo.sim.metrics.avoidance_error import bias, exact_error

ARMS: dict[str, Values] = {
    "all, lanes": {}, "all, no lanes": {"simd": False}, "first 10 of 48": {"neighbour_limit": "first"},
    "nearest 10": {"neighbour_limit": "nearest"}, "field": {"neighbours": "field"}}


def price(crowd: CrowdArm) -> Figures:
    """How far the neighbours that are kept lie on one side, where all would lie around; and the error of a mean push."""
    found = {"error": exact_error(crowd.sim).mean}
    return {**found, "bias": hypot(*bias(crowd.sim).kept)} if crowd.sim.optimizations.get("neighbours") != "field" else found


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} {who}", size, crowds(name, size, ARMS, measure=price), steps=5,
                      same=("all, lanes", "all, no lanes"), seconds=5 + size * 3e-4)
            for size in scale.sizes(20_000, 100_000) for name, who in (("push-20k", "people"), ("20k-flock", "birds"))]


def decide(found: Found) -> Answer:
    return faster(found, "first 10 of 48", "all, no lanes")


CLAIM = Claim(
    "limits", "Does it pay to stop after some candidates and neighbours, and what does that do to the crowd?",
    "at most 48 candidates are scanned and 10 neighbours heeded", NOTES,
    "a step with both limits is faster than one with all neighbours, one agent at a time; lanes, the nearest ten and a"
    " smoothed field stand beside it, with bias and error", cases, decide, by_size=False)
