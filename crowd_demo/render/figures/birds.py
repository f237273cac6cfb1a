"""Birds: sprites by look, flap and heading; dots whose colour is their heading.

The colour wheel can be told apart by people who are colour-blind; which of several birds in a pixel is shown depends on
a hash of their ids. Birds beat their wings for a while and then glide with spread wings. Sprites are numbered (look,
flap, heading).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Int, Ints, Words
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import device
from crowd_demo.config.model import Config
from crowd_demo.render.figures import dots, pose
from crowd_demo.render.figures.base import Shot
from crowd_demo.render.figures.dots import SINGLE_PX, shapes
from crowd_demo.render.figures.pose import Cell, sector, slopes
from crowd_demo.render.figures.sprited import Sprited
from crowd_demo.render.figures.sprites import Manifest, load_sheet
from crowd_demo.render.projection import Moving, hash_id, hash_ids

UNITS, SHEET_PX = 14.0, 34.0  # span of a bird in the world and on the sheet
HEADINGS, FLAPS = 32, 4
HEADING_SLOPES = slopes(HEADINGS)
FLAPS_HZ = 8.0  # frames a second
GLIDING = 1  # the flap with spread wings
GLIDING_PART = 0.55  # of a bird's time
SHADES = 128  # of the wheel
WHEEL = (255, 248, 232), (255, 196, 70), (188, 96, 150), (86, 168, 255)  # flying up, right, down, left
DOT = 0b111_111_111


class BirdManner(NamedTuple):
    """The cell, and what chooses its sprites."""

    anchor_x: int
    anchor_y: int
    width: int
    height: int
    time_s: np.float64
    looks: int


class BirdLook(NamedTuple):
    """Values of dots by heading, and the one shape."""

    value: Words
    shape: Ints
    single: bool

    def plain(self, slots: Ints, agents: Moving) -> tuple[Words, Ints]:
        vx, vy = agents.vx[slots], agents.vy[slots]
        length = np.abs(vx) + np.abs(vy)
        down = np.divide(vy, length, out=np.zeros_like(vy), where=length > 0)
        half = ((down + np.float32(1)) * np.float32(SHADES / 4)).astype(np.int64)
        rank = (hash_ids(agents.id[slots]) | np.uint32(1 << 24)) & np.uint32(0xFF000000)
        value = self.value[np.where(vx >= 0, half, (SHADES - half) % SHADES)] | rank
        return value, np.broadcast_to(self.shape[0], len(slots))


@device
def number_of(look: int, time_s: np.float64, agents: Moving, slot: Int) -> int:
    """The sprite of a bird of that look."""
    seed = hash_id(agents.id[slot])
    beats = time_s * FLAPS_HZ / FLAPS + float(seed >> np.uint32(16)) / 64.0
    glides = beats / 8.0 - np.floor(beats / 8.0) < GLIDING_PART
    flap = GLIDING if glides else int(beats * FLAPS) % FLAPS
    heading = sector(agents.vx[slot], agents.vy[slot], HEADING_SLOPES)
    return (look * FLAPS + flap) * HEADINGS + heading


@implements(pose.sprite_of, BirdManner)
def sprite_of(manner: BirdManner, agents: Moving, slot: Int) -> int:
    return number_of(int(hash_id(agents.id[slot])) % manner.looks, manner.time_s, agents, slot)


@device
def _shade(vx: Float, vy: Float) -> int:
    """Index on the wheel, clockwise from up, by the angle on the diamond |x| + |y| = 1, which costs one division."""
    length = abs(vx) + abs(vy)
    down = vy / length if length > np.float32(0.0) else np.float32(0.0)
    half = int((down + np.float32(1.0)) * np.float32(SHADES / 4))
    return half if vx >= np.float32(0.0) else (SHADES - half) % SHADES


@implements(dots.dot_of, BirdLook)
def dot_of(look: BirdLook, agents: Moving, slot: Int) -> tuple[Int, Int]:
    rank = np.uint32((hash_id(agents.id[slot]) | np.uint32(1 << 24)) & np.uint32(0xFF000000))
    return np.uint32(look.value[np.uintp(_shade(agents.vx[slot], agents.vy[slot]))] | rank), look.shape[0]


def wheel() -> Words:
    """uint32[SHADES]: colours once around, without rank."""
    turn = np.arange(SHADES) / SHADES * len(WHEEL)
    anchors = np.array([*WHEEL, WHEEL[0]], float)
    colour = np.stack([np.interp(turn, np.arange(len(anchors)), channel).round() for channel in anchors.T])
    red, green, blue = colour.astype(np.uint32)
    return red << np.uint32(16) | green << np.uint32(8) | blue


class BirdFigures(Sprited):
    """The figures of the sheet "birds"."""

    MARKS = False

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        about = manifest["birds"]
        super().__init__(load_sheet(folder / about["file"], about["cell"], about["centre"]), UNITS, SHEET_PX)
        self._looks = about["looks"]
        self._values = wheel()

    def manner(self, shot: Shot, cell: Cell) -> BirdManner:
        return BirdManner(*cell, shot.time_s, self._looks)

    def look(self, shot: Shot, size_px: float) -> BirdLook:
        return BirdLook(self._values, shapes(size_px, (DOT,)), size_px < SINGLE_PX)
