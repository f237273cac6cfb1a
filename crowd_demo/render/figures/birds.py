"""Birds beat their wings for a while and then glide with spread wings. Sprites are numbered (look, flap, heading)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd_memory import take
from crowd_demo.config.model import Config
from crowd_demo.render import numbering
from crowd_demo.render.figures import pose
from crowd_demo.render.figures.base import Shot
from crowd_demo.render.figures.pose import Cell, sector, slopes
from crowd_demo.render.figures.sprited import Sprited
from crowd_demo.render.figures.sprites import Manifest, load_sheet
from crowd_demo.render.projection import Moving, hash_id, look_of_id

UNITS, SHEET_PX = 14.0, 34.0  # span of a bird in the world and on the sheet
HEADINGS, FLAPS = 32, 4
HEADING_SLOPES = slopes(HEADINGS)
FLAPS_HZ = 8.0  # frames a second
GLIDING = 1  # the flap with spread wings
GLIDING_PART = 0.55  # of a bird's time


class BirdManner(NamedTuple):
    """The cell, and what chooses its sprites."""

    anchor_x: int
    anchor_y: int
    width: int
    height: int
    time_s: np.float64
    looks: int


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


class BirdLooks(NamedTuple):
    """What numbers birds by their looks."""

    id: Ints
    looks: int


@implements(numbering.number_of, BirdLooks)
def number_looks(mode: BirdLooks, slots: Int, register: Register) -> Register:
    return look_of_id(take(mode.id, slots), mode.looks)


class BirdFigures(Sprited):
    """The figures of the sheet "birds"."""

    MARKS = False

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        about = manifest["birds"]
        super().__init__(load_sheet(folder / about["file"], about["cell"], about["centre"]), UNITS, SHEET_PX)
        self._looks = about["looks"]

    def manner(self, shot: Shot, cell: Cell) -> BirdManner:
        return BirdManner(*cell, shot.time_s, self._looks)

    def look_mode(self, shot: Shot) -> BirdLooks:
        return BirdLooks(shot.agents.id, self._looks)

    def looks(self) -> Ints:
        return (np.arange(self._looks * FLAPS * HEADINGS) // (FLAPS * HEADINGS)).astype(np.int32)
