"""Birds, which beat their wings for a while and then glide; and predators among them, larger and red.

Sprites are numbered (appearance, flap, heading). Predators, which are those with the lowest ids, are always visible: where
their sprites would be smaller than a quarter of those on the sheet, each is drawn once more in that size, over all
others, with a dark and a light outline, so it stands out from any ground, in its own colour and in any other. They
lie in the order of their ids, so neither memory nor culling matters. O(drawn), one comparison each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Launch, kernel, launch
from crowd_demo.compute.simd import select
from crowd_demo.compute.simd_memory import gather
from crowd_demo.config.model import Config
from crowd_demo.render.camera import Rect
from crowd_demo.render.drawing import MARGIN_PX, FrameInput, Moving, Shades, appearance_of_id, hash_id, number_of
from crowd_demo.render.figures import sprited
from crowd_demo.render.figures.sprited import Poses, Sprited, draw_list, sector, slopes
from crowd_demo.render.figures.sprites import Atlas, Manifest, Sheet, load_sheet
from crowd_demo.render.inks import BLACK, WHITE, ink
from crowd_demo.sprites.blitter import DrawList
from crowd_demo.sprites.pixels import Frame

SHEET_PX = 34.0  # span of a bird on the sheet
HEADINGS, FLAPS = 32, 4
HEADING_SLOPES = slopes(HEADINGS)
FLAPS_HZ = 8.0  # frames a second
GLIDING = 1  # the flap with spread wings
GLIDING_PART = 0.55  # of a bird's time

SMALLER = 4  # times: predators that are always visible
NOBODY = -1
DARK_PX, LIGHT_PX = 1, 2  # how far their outlines reach


class BirdMode(NamedTuple):
    id: Ints
    time_s: np.float64
    appearances: int  # of all but predators
    predators: int  # those with the lowest ids, who have the next appearance


@implements(sprited.sprite_of, BirdMode)
def sprite_of(mode: BirdMode, agents: Moving, slot: Int) -> int:
    seed = hash_id(agents.id[slot])
    appearance = mode.appearances if agents.id[slot] < mode.predators else int(seed) % mode.appearances
    beats = mode.time_s * FLAPS_HZ / FLAPS + float(seed >> np.uint32(16)) / 64.0
    glides = beats / 8.0 - np.floor(beats / 8.0) < GLIDING_PART
    flap = GLIDING if glides else int(beats * FLAPS) % FLAPS
    heading = sector(agents.vx[slot], agents.vy[slot], HEADING_SLOPES)
    return (appearance * FLAPS + flap) * HEADINGS + heading


@implements(number_of, BirdMode)
def number_appearances(mode: BirdMode, slots: Int, register: Register) -> Register:
    identity = gather(mode.id, slots)
    return select(identity < mode.predators, mode.appearances, appearance_of_id(identity, mode.appearances))


class BirdFigures(Sprited):
    MARKS = False
    SHEET: Literal["birds", "hunt"] = "birds"
    SPAN = 20.0  # world units

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        about = manifest[self.SHEET]
        appearances = np.arange(about["looks"] * FLAPS * HEADINGS, dtype=np.int32) // (FLAPS * HEADINGS)
        super().__init__(load_sheet(folder, about), self.SPAN, SHEET_PX, appearances)
        self._appearance_count, self._predators = about["looks"], 0

    def mode(self, now: FrameInput) -> BirdMode:
        return BirdMode(now.agents.id, now.time_s, self._appearance_count, self._predators)


# --- those that are always visible --------------------------------------------------------------------------------------

def disc(radius: int) -> Ints:
    """The offsets by which copies of a shape widen it by so many pixels: int32[n, 2]."""
    offsets = np.mgrid[-radius:radius + 1, -radius:radius + 1].reshape(2, -1).T.astype(np.int32)
    return offsets[(offsets**2).sum(axis=1) <= radius**2 + 1]


WIDENED = np.concatenate((disc(LIGHT_PX), disc(DARK_PX)))  # the light outline lies under the dark one
INKS = np.repeat(np.array([ink(WHITE), ink(BLACK)], np.uint32), (len(disc(LIGHT_PX)), len(disc(DARK_PX))))


def outlines(draws: DrawList) -> DrawList:
    """The draw list of white shapes that outline those of `draws`."""
    offset = np.repeat(WIDENED, len(draws.sprite), axis=0)
    sprite, left, top = (np.tile(part, len(WIDENED)) for part in (draws.sprite, draws.left, draws.top))
    return DrawList(sprite, left + offset[:, 0], top + offset[:, 1], np.repeat(INKS, len(draws.sprite)))


@kernel
def find_few(worker: int, workers: int, slots: Ints, ids: Ints, found: Ints) -> None:
    """Write the index in `slots` of each agent whose id is below len(found) to found[id]."""
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        identity = ids[np.uintp(slots[np.uintp(k)])]
        if identity < found.shape[0]:
            found[np.uintp(identity)] = k


class HuntFigures(BirdFigures):
    """The figures of the sheet "hunt": starlings, and then hawks, who are seen however small starlings are."""

    SHEET, SPAN = "hunt", 14.0

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        super().__init__(config, folder, manifest)
        self._appearance_count, self._predators = 1, config.hunt.predators
        assert isinstance(self._sheet, Sheet)
        small = self._sheet.shrunk(SMALLER)
        self._small, self._small_grey, self._shapes = (
            Atlas(each, 1.0) for each in (small, small.grey(), small.white()))
        self._found, self._hawks = np.full(self._predators, NOBODY, np.int32), Poses()

    def _are_small(self, zoom: float) -> bool:
        """Return whether the sprites of hawks are too small, so that each is drawn once more."""
        return zoom < 1 / SMALLER / self._units_a_pixel and self._predators > 0

    def margin(self, zoom: float) -> Rect:
        usual = super().margin(zoom)
        if not self._are_small(zoom):
            return usual
        (width, height), (x, y) = self._small.size, self._small.anchor
        reach = ((pixels + LIGHT_PX + MARGIN_PX) / zoom for pixels in (x, y, width - x, height - y))
        return Rect(*map(max, usual, reach))

    def draw(self, target: pygame.Surface, now: FrameInput, slots: Ints, shades: Shades | None = None) -> int:
        """Draw small hawks once more; they have the colours of `shades`, or their own."""
        on_screen = super().draw(target, now, slots, shades)
        if self._are_small(now.camera.zoom):
            self._found[:] = NOBODY
            self._find(now, slots).run()
            at = self._found[self._found != NOBODY]
            some_shades = shades._replace(number=shades.number[at]) if shades else None
            self._hawks.launch(now, slots[at], self.mode(now), self._small, some_shades).run()
            draws = self._hawks.draws(len(at))
            draw_list(target, self._shapes, outlines(draws), now)
            draw_list(target, self._small_grey if shades else self._small, draws, now)
        return on_screen

    def launches(self, now: FrameInput, frame: Frame) -> Iterator[Launch]:
        yield from super().launches(now, frame)
        yield self._find(now, np.zeros(0, np.int32))

    def _find(self, now: FrameInput, slots: Ints) -> Launch:
        return launch(find_few, now.workers, slots, now.agents.id, self._found)
