"""What drawing costs: the order of depth, what is out of view, and sprites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import cycle

import numpy as np
import pygame

from crowd_demo.compute.arrays import Ints, Longs
from crowd_demo.compute.jit import kernel, launch, run
from crowd_demo.extras.lab.claims.claim import (
    NOTES,
    Arm,
    CallArm,
    Case,
    Claim,
    LabScale,
    TimedCase,
    Values,
    all_of,
    by_size,
    configured,
    crowds,
    faster,
    is_faster,
)
from crowd_demo.render.depth import BAND_PX, Depth, Pile, full, scale, sort_key
from crowd_demo.render.drawing import Moving, drawn, moving
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sprites.blitter import DrawList, Pixels, draw_sprites
from crowd_demo.sprites.pixels import NO_TINT, frame_of, plain_surface

# --- the order of drawing: none, one full sort, bands, and what a frame keeps of the last one ------------------------

DEPTH_ARMS: dict[str, Values] = {name: {"depth": name} for name in ("full", "bands", "off")}
HEIGHTS = (4, 8, 16, BAND_PX, 64, 128, 512)  # pixels, at a zoom of 1
FULL_SORT, CLAIMED = "full sort", f"bands of {BAND_PX}"
FRAMES = 8  # that follow each other; they are drawn to and fro, so that each stands beside the one before
NOW = np.float32(0)  # a picture at a step
FRAME_BYTES = 300  # an agent: its crowd, frames and orders


class CrowdFrames:
    """`FRAMES` frames of people who are all in view, and stay where they are in memory; and their orders of drawing."""

    def __init__(self, agents: int) -> None:
        sim, self.frames = Simulation(configured("20k", agents, {"reorder.when": "off"})), list[Moving]()
        self.height, self.slots = float(sim.terrain.walls.height), np.arange(sim.agents.count, dtype=np.int32)
        for _ in range(FRAMES):
            sim.step()
            now = moving(sim.agents.view)._asdict()
            self.frames.append(Moving(**{name: column[:len(self.slots)].copy() for name, column in now.items()}))
        self.orders = [full(self.slots, frame, NOW) for frame in self.frames]

    def to_and_fro(self) -> Callable[[], Moving]:
        """A function that returns the next frame each time it is called. Each arm needs one of its own."""
        return cycle((*self.frames, *self.frames[-2:0:-1])).__next__


frames_of = lru_cache(maxsize=1)(CrowdFrames)


@kernel
def insert(worker: int, workers: int, agents: Moving, ahead: np.float32, pile: Pile, passed: Longs) -> None:
    """Insertion sort of slots that begin in the last frame's order; passed[0] counts the exchanges of two neighbours."""
    for k in range(pile.slots.shape[0]):
        slot = pile.slots[k]
        key = sort_key(drawn(agents.y[slot], agents.vy[slot], ahead), agents.id[slot])
        to = k
        while to > 0 and pile.keys[to - 1] > key:
            pile.keys[to], pile.slots[to] = pile.keys[to - 1], pile.slots[to - 1]
            to -= 1
        pile.keys[to], pile.slots[to] = key, slot
        passed[0] += k - to


def full_sort(agents: int) -> Arm:
    crowd = frames_of(agents)
    return CallArm(lambda frame: full(crowd.slots, frame, NOW), crowd.to_and_fro())


def banded(agents: int, height: int) -> Arm:
    crowd, depth = frames_of(agents), Depth()
    bands = scale(0, crowd.height, BAND_PX / height)

    def ordered(frame: Moving) -> Ints:
        run(depth.launches(1, crowd.slots, frame, NOW, bands))
        return depth.ordered(len(crowd.slots))

    return CallArm(ordered, crowd.to_and_fro(), figures={"bands": bands.bands})


def inserted(agents: int) -> Arm:
    """From the order of the frame before; the share of people who change their place in it, and by how many."""
    crowd, passed = frames_of(agents), np.zeros(1, np.int64)
    pile = Pile(np.empty(len(crowd.slots), np.uint64), crowd.orders[0].copy())

    def ordered(frame: Moving) -> Ints:
        launch(insert, 1, frame, NOW, pile, passed).run()
        return pile.slots

    for frame in crowd.frames:
        ordered(frame)
    pile.slots[:] = crowd.orders[0]
    moved = np.abs(np.diff([np.argsort(order) for order in crowd.orders], axis=0))
    return CallArm(ordered, crowd.to_and_fro(), figures={
        "change_place": float(np.mean(moved > 0)), "places": float(moved.mean()),
        "passed": float(passed[0]) / len(crowd.slots) / (FRAMES - 1)})


DEPTH = Claim(
    "depth", "Are bands of Y enough for the order of drawing?",
    "bands of 32 pixels, sorted inside, give the order of a full sort for less", NOTES,
    "pictures with bands are those with a full sort, byte for byte, and the stage depth is faster; so is the sort alone,"
    " in the same order. Beside it stand other heights of bands, and an insertion into the last frame's order: which share"
    " of people change their place from frame to frame, by how many places all do, and how many others one passes",
    lambda scale: [
        *(TimedCase(f"{size:,} people at zoom {zoom:g}", size,
                    crowds("20k", size, DEPTH_ARMS, picture=True, camera__zoom=zoom), steps=5, same=("full", "bands"),
                    seconds=2 + size * 5e-5)
          for size in scale.sizes(20_000, 100_000) for zoom in (0.2, 0.5)),
        *(TimedCase(f"{size:,} people in view, sorted by one core", size, {
            FULL_SORT: partial(full_sort, size),
            **{f"bands of {height}": partial(banded, size, height) for height in HEIGHTS},
            "from the last order": partial(inserted, size)}, steps=4, workers=1, seconds=2 + size * 2e-5,
            bytes_each=FRAME_BYTES // len(HEIGHTS))
          for size in scale.sizes(2_000, 20_000, 100_000, 250_000))],
    lambda found: (  # pictures by the stage; the sorts alone by the whole call
        faster(found, "bands", "full", stage="depth") if "bands" in found.blocks_ms else faster(found, CLAIMED, FULL_SORT)),
    by_size=False)


# --- only what is in view is drawn: by zoom --------------------------------------------------------------------------

CULLING_ARMS: dict[str, Values] = {"off": {"cull": "off"}, "by agents": {"cull": "agents"}, "by cells": {"cull": "grid"}}
ZOOMS = (0.1, 0.2, 0.4, 0.8, 1.6)

CULLING = Claim(
    "culling", "What does it give to draw only what is in view, the nearer the camera?",
    "only agents and cells in view are visited, with the margin of a sprite", NOTES,
    "step and picture are faster with culling by cells; the cases go from the whole world to a street, and the picture stays"
    " the same byte for byte",
    by_size(100_000, of_size=lambda size: [
        TimedCase(f"{size:,} people at zoom {zoom:g}", size,
                  crowds("20k", size, CULLING_ARMS, picture=True, camera__zoom=zoom), steps=5, seconds=2 + size * 4e-5)
        for zoom in ZOOMS]),
    is_faster("by cells", "off"))


# --- sprites drawn by compiled code, and by pygame in three ways -----------------------------------------------------

BLITTER_ARMS: dict[str, Values] = {"pygame": {"blitter": "pygame"}, "compiled": {"blitter": "compiled"}}
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
            "compiled": arm(lambda target: launch(draw_sprites, 1, frame_of(target), target.get_width(), pixels, draws,
                                                     True).run())}


def blitter_cases(scale: LabScale) -> Sequence[Case]:
    [size] = scale.sizes(20_000)
    return [*(TimedCase(f"{count:,} sprites of {side} x {side}, one core", count, sprite_arms(count, side), steps=2,
                        seconds=0.3 + count * 5e-5, workers=1) for side in SIDES for count in scale.sizes(*COUNTS)),
            *(TimedCase(f"{size:,} {who}, zoom {zoom:g}", size,
                        crowds(name, size, BLITTER_ARMS, picture=True, camera__zoom=zoom), steps=5, seconds=2)
              for name, who in (("20k", "people"), ("20k-flock", "birds")) for zoom in (0.2, 0.5, 1.0))]


BLITTERS = Claim(
    "blitters", "How much faster are compiled blits than those of pygame?",
    "batched drawing costs less than one call a sprite", NOTES,
    "fblits is faster than a loop of blit, and the compiled blitter faster than fblits, with the same picture byte for"
    " byte: sprites alone on one core, and the stage blit of a crowd", blitter_cases, lambda found: (
        faster(found, "compiled", "pygame", stage="blit") if "pygame" in found.blocks_ms else
        all_of((faster(found, "fblits", "loop of blit"), faster(found, "compiled", "fblits")))), by_size=False)
