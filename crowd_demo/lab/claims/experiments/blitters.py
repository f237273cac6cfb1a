"""Sprites drawn by compiled code, and by pygame in three ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pygame

from crowd_demo.lab.claims.cases import Arm, CallArm, TimedCase, Values, crowds
from crowd_demo.lab.claims.claim import NOTES, Answer, Case, Claim, Found, LabScale
from crowd_demo.lab.claims.judging import faster
from crowd_demo.render.pixels import plain_surface

ARMS: dict[str, Values] = {"pygame": {"blitter": "pygame"}, "compiled": {"blitter": "compiled"}}
SIZE = 1280, 720


def pygame_arms(sprites: int, side: int) -> dict[str, Callable[[], Arm]]:
    """The same sprite at so many places, with transparent corners."""
    places = np.random.default_rng(0).integers(0, SIZE, (sprites, 2))
    target, sprite = plain_surface(SIZE), pygame.Surface((side, side), pygame.SRCALPHA)
    pygame.draw.circle(sprite, "red", (side // 2, side // 2), side // 2)
    pairs = [(sprite, (int(x), int(y))) for x, y in places]

    def loop() -> None:
        for source, place in pairs:
            target.blit(source, place)

    def arm(draw: Callable[[], object]) -> Callable[[], Arm]:
        return lambda: CallArm(lambda _: draw(), after=lambda _: pygame.surfarray.array2d(target))

    return {"loop of blit": arm(loop), "blits": arm(lambda: target.blits(pairs, False)),
            "fblits": arm(lambda: target.fblits(pairs))}


def cases(scale: LabScale) -> Sequence[Case]:
    [size] = scale.sizes(20_000)
    return [*(TimedCase(f"pygame alone, {size:,} sprites of {side} x {side}", size, pygame_arms(size, side), steps=2,
                        seconds=4, workers=1) for side in (8, 32)),
            *(TimedCase(f"{size:,} {who}, zoom {zoom:g}", size, crowds(name, size, ARMS, picture=True, camera__zoom=zoom),
                        steps=5, seconds=6)
              for name, who in (("20k", "people"), ("20k-flock", "birds")) for zoom in (0.2, 0.5))]


def decide(found: Found) -> Answer:
    """Without the program's own blitter there is nothing to decide but which way of pygame's is best."""
    if "compiled" in found.blocks_ms:
        return faster(found, "compiled", "pygame", stage="blit")
    return faster(found, "fblits", "loop of blit")


CLAIM = Claim(
    "blitters", "How much faster are compiled blits than those of pygame?",
    "batched drawing costs less than one call a sprite", NOTES,
    "fblits is faster than a loop of blit, and the stage blit of the compiled blitter faster than that of fblits, with the"
    " same picture byte for byte", cases, decide, by_size=False)
