"""Only what is in view is drawn: by zoom."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.extras.lab.claims.cases import TimedCase, Values, crowds
from crowd_demo.extras.lab.claims.claim import NOTES, Answer, Case, Claim, Found, LabScale
from crowd_demo.extras.lab.claims.judging import faster

ARMS: dict[str, Values] = {"off": {"cull": "off"}, "by agents": {"cull": "agents"}, "by cells": {"cull": "grid"}}
ZOOMS = (0.1, 0.2, 0.4, 0.8, 1.6)


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} people at zoom {zoom:g}", size, crowds("20k", size, ARMS, picture=True, camera__zoom=zoom),
                      steps=5, seconds=2 + size * 4e-5)
            for size in scale.sizes(100_000) for zoom in ZOOMS]


def decide(found: Found) -> Answer:
    return faster(found, "by cells", "off")


CLAIM = Claim(
    "culling", "What does it give to draw only what is in view, the nearer the camera?",
    "only agents and cells in view are visited, with the margin of a sprite", NOTES,
    "step and picture are faster with culling by cells; the cases go from the whole world to a street, and the picture stays"
    " the same byte for byte", cases, decide)
