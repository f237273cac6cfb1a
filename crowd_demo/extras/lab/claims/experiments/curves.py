"""The curve through the cells along which agents lie in memory."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.extras.lab.claims.cases import TimedCase, Values, crowds, memory_order
from crowd_demo.extras.lab.claims.claim import SORTING, Answer, Case, Claim, Found, LabScale
from crowd_demo.extras.lab.claims.judging import faster

ARMS: dict[str, Values] = {"row": {"curve": "row"}, "morton": {"curve": "morton"}, "hilbert": {"curve": "hilbert"},
                           "never sorted": {"reorder.when": "off"}}


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} birds", size, crowds("20k-flock", size, ARMS, measure=memory_order), steps=20,
                      seconds=4 + size * 6e-5)
            for size in scale.sizes(10_000, 100_000, 250_000, 1_000_000)]


def decide(found: Found) -> Answer:
    return faster(found, "morton", "row", times=1.1)


CLAIM = Claim(
    "curves", "Does a curve through the cells keep memory in better order than rows of cells?",
    "Z-order outperforms simple packing by 10-30 %; Hilbert keeps locality even better, but costs more", SORTING,
    "a whole step, sorts included, is 1.1 times as fast along Morton's curve as along rows", cases, decide)
