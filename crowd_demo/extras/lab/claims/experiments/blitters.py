"""Sprites drawn by compiled code, and by pygame in three ways: by how many there are, and in a crowd by zoom."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pygame

from crowd_demo.compute.jit import launch
from crowd_demo.extras.lab.claims.cases import Arm, CallArm, TimedCase, Values, crowds
from crowd_demo.extras.lab.claims.claim import NOTES, Answer, Case, Claim, Found, LabScale, all_of
from crowd_demo.extras.lab.claims.judging import faster
from crowd_demo.render.figures.sprited import DrawList, draw_sprites
from crowd_demo.render.figures.sprites import Pixels
from crowd_demo.render.pixels import NO_TINT, frame_of, plain_surface

ARMS: dict[str, Values] = {"pygame": {"blitter": "pygame"}, "compiled": {"blitter": "compiled"}}
SIZE = 1280, 720
COUNTS, SIDES = (500, 2_000, 8_000, 20_000), (8, 32)  # sides are whole rows of the compiled blitter
BLEND = pygame.BLEND_PREMULTIPLIED


def sprite_arms(sprites: int, side: int) -> dict[str, Callable[[], Arm]]:
    """The same sprite, with transparent corners, at so many places, from top to bottom; on an empty picture."""
    left, top = np.random.default_rng(0).integers(0, [SIZE], (sprites, 2), np.int32).T
    top.sort()
    sprite = pygame.Surface((side, side), pygame.SRCALPHA)
    pygame.draw.circle(sprite, "red", (side // 2, side // 2), side // 2)
    pairs = [(sprite, place) for place in zip(left.tolist(), top.tolist(), strict=True)]
    with_flags = [(*pair, sprite.get_rect(), BLEND) for pair in pairs]
    pixels = Pixels(pygame.surfarray.array2d(sprite).T.astype(np.uint32).ravel(), np.zeros(1, np.int64),
                    np.array([[0, 0, side, side]], np.int32), side)
    draws = DrawList(np.zeros(sprites, np.int32), left.copy(), top.copy(), np.full(sprites, NO_TINT, np.uint32))

    def loop(target: pygame.Surface) -> None:
        for source, place in pairs:
            target.blit(source, place, None, BLEND)

    def arm(draw: Callable[[pygame.Surface], object]) -> Callable[[], Arm]:
        target = plain_surface(SIZE)

        def empty() -> pygame.Surface:
            target.fill(0)
            return target

        return lambda: CallArm(draw, empty, lambda _: pygame.surfarray.array2d(target))

    return {"loop of blit": arm(loop), "blits": arm(lambda target: target.blits(with_flags, False)),
            "fblits": arm(lambda target: target.fblits(pairs, BLEND)),
            "compiled": arm(lambda target: launch(draw_sprites, 1, frame_of(target), pixels, draws, True).run())}


def cases(scale: LabScale) -> Sequence[Case]:
    [size] = scale.sizes(20_000)
    return [*(TimedCase(f"{count:,} sprites of {side} x {side}, one core", count, sprite_arms(count, side), steps=2,
                        seconds=0.3 + count * 5e-5, workers=1) for side in SIDES for count in scale.sizes(*COUNTS)),
            *(TimedCase(f"{size:,} {who}, zoom {zoom:g}", size, crowds(name, size, ARMS, picture=True, camera__zoom=zoom),
                        steps=5, seconds=2)
              for name, who in (("20k", "people"), ("20k-flock", "birds")) for zoom in (0.2, 0.5, 1.0))]


def decide(found: Found) -> Answer:
    """Of a crowd by the stage."""
    if "pygame" in found.blocks_ms:
        return faster(found, "compiled", "pygame", stage="blit")
    return all_of((faster(found, "fblits", "loop of blit"), faster(found, "compiled", "fblits")))


CLAIM = Claim(
    "blitters", "How much faster are compiled blits than those of pygame?",
    "batched drawing costs less than one call a sprite", NOTES,
    "fblits is faster than a loop of blit, and the compiled blitter faster than fblits, with the same picture byte for"
    " byte: sprites alone on one core, and the stage blit of a crowd", cases, decide, by_size=False)
