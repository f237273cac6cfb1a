"""People: sprites by look, direction and pose; dots by state, with those who are stuck on top. Destinations are marked.

Dots of three pixels are full, hollow or a cross by state. Who walks has one of four tints by a hash of the id, so that
people in a dense crowd can be told apart. Sprites are numbered (look, direction, pose).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from crowd_demo.compute.arrays import Floats, Int, Ints, Words
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import device
from crowd_demo.config.model import Config
from crowd_demo.render.figures import dots, pose
from crowd_demo.render.figures.base import Shot
from crowd_demo.render.figures.dots import SINGLE_PX, shapes
from crowd_demo.render.figures.pose import Cell, sector, slopes
from crowd_demo.render.figures.sprited import Sprited
from crowd_demo.render.figures.sprites import Manifest, load_sheet, state_colours
from crowd_demo.render.projection import Moving, hash_id, hash_ids
from crowd_demo.sim.behaviours.walking import PeopleColumns

UNITS, SHEET_PX = 22.0, 44.0  # height of a person in the world and on the sheet
DIRECTIONS, WALK_FRAMES = 8, 4
DIRECTION_SLOPES = slopes(DIRECTIONS)
WAIT, STUCK = 4, 5  # poses after the walk's
POSES = 6
LEAST_SPEED = 8.0  # units/s; slower people look where they want to go
STEPS_HZ = 7.0  # frames a second
TINTS: tuple[tuple[tuple[int, int, int], float], ...] = (  # of who walks: mixed with this colour, by this share
    ((0, 0, 60), 0.3), ((0, 0, 60), 0.0), ((255, 255, 255), 0.22), ((255, 255, 255), 0.42))
FULL, HOLLOW, CROSS = 0b111_111_111, 0b111_101_111, 0b101_010_101


class PeopleManner(NamedTuple):
    """The cell, and what chooses its sprites; columns by slot."""

    anchor_x: int
    anchor_y: int
    width: int
    height: int
    time_s: np.float64
    looks: int
    state: Ints  # 0 walking, 1 waiting, 2 stuck
    heading_x: Floats  # unit heading that a person wants
    heading_y: Floats


class PeopleLook(NamedTuple):
    """Values of dots by state and tint, shapes by state, and the column of states."""

    value: Words
    shape: Ints
    single: bool
    state: Ints

    def plain(self, slots: Ints, agents: Moving) -> tuple[Words, Ints]:
        state, tint = self.state[slots], hash_ids(agents.id[slots]) % np.uint32(len(TINTS))
        return self.value[state * len(TINTS) + tint], self.shape[state]


@device
def _number(manner: PeopleManner, agents: Moving, slot: Int) -> int:
    seed = hash_id(agents.id[slot])
    vx, vy = agents.vx[slot], agents.vy[slot]
    moves = vx * vx + vy * vy > np.float32(LEAST_SPEED * LEAST_SPEED)
    direction = (sector(vx, vy, DIRECTION_SLOPES) if moves
                 else sector(manner.heading_x[slot], manner.heading_y[slot], DIRECTION_SLOPES))
    pace = STEPS_HZ * (0.85 + 0.3 * ((seed >> np.uint32(8)) & np.uint32(255)) / 255.0)
    stride = int(manner.time_s * pace + float(seed >> np.uint32(16))) % WALK_FRAMES if moves else 1
    pose = stride if manner.state[slot] == 0 else WAIT if manner.state[slot] == 1 else STUCK
    return (int(seed) % manner.looks * DIRECTIONS + direction) * POSES + pose


@implements(pose.sprite_of, PeopleManner)
def sprite_of(manner: PeopleManner, agents: Moving, slot: Int) -> int:
    return _number(manner, agents, slot)


@implements(dots.dot_of, PeopleLook)
def dot_of(look: PeopleLook, agents: Moving, slot: Int) -> tuple[Int, Int]:
    state = np.uintp(look.state[slot])
    tint = np.uintp(hash_id(agents.id[slot]) % len(TINTS))
    return look.value[state * np.uintp(len(TINTS)) + tint], look.shape[state]


def values_of(colours: list[tuple[int, int, int]]) -> Words:
    """uint32[3 * tints]: the colours of walking, waiting and stuck, in the order of their rank."""
    value = []
    for state, colour in enumerate(colours):
        for other, share in TINTS:
            part = share if state == 0 else 0.0  # only who walks is tinted
            r, g, b = (round(a + (z - a) * part) for a, z in zip(colour, other, strict=True))
            value.append((state + 1) << 24 | r << 16 | g << 8 | b)
    return np.array(value, np.uint32)


class PeopleFigures(Sprited):
    """The figures of the sheet "people"."""

    MARKS = True

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        about = manifest["people"]
        super().__init__(load_sheet(folder / about["file"], about["cell"], about["foot"]), UNITS, SHEET_PX)
        self._looks = about["looks"]
        self._values = values_of(list(state_colours(manifest).values()))

    def manner(self, shot: Shot, cell: Cell) -> PeopleManner:
        columns = cast(PeopleColumns, shot.columns)
        return PeopleManner(*cell, shot.time_s, self._looks, columns.state, columns.heading_x, columns.heading_y)

    def look(self, shot: Shot, size_px: float) -> PeopleLook:
        shape = shapes(size_px, (FULL, HOLLOW, CROSS))
        return PeopleLook(self._values, shape, size_px < SINGLE_PX, cast(PeopleColumns, shot.columns).state)
