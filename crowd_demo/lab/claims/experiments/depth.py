"""The order of drawing: none, one full sort, bands."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.lab.claims.cases import TimedCase, Values, crowds
from crowd_demo.lab.claims.claim import NOTES, Answer, Case, Claim, Found, LabScale
from crowd_demo.lab.claims.judging import faster

ARMS: dict[str, Values] = {name: {"depth": name} for name in ("full", "bands", "off")}


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} people at zoom {zoom:g}", size, crowds("20k", size, ARMS, picture=True, camera__zoom=zoom),
                      steps=5, same=("full", "bands"), seconds=4 + size * 1e-4)
            for size in scale.sizes(20_000, 100_000) for zoom in (0.2, 0.5)]


def decide(found: Found) -> Answer:
    return faster(found, "bands", "full", stage="depth")


CLAIM = Claim(
    "depth", "Are bands of Y enough for the order of drawing?",
    "bands of 32 pixels, sorted inside, give the order of a full sort for less", NOTES,
    "pictures with bands are those with a full sort, byte for byte, and the stage depth is faster", cases, decide,
    by_size=False)
