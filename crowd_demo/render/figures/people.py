"""People: sprites by look, direction and pose, and numbered so. They walk by the distance walked and turn smoothly.

Destinations are marked, and so are people who wait or are stuck (icons.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pygame

from crowd_demo.compute.arrays import Floats, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call, device
from crowd_demo.compute.simd import select, splat
from crowd_demo.compute.simd_memory import take
from crowd_demo.config.model import Config
from crowd_demo.render import numbering
from crowd_demo.render.figures import pose
from crowd_demo.render.figures.base import Shot
from crowd_demo.render.figures.facing import DIRECTIONS, TOWARDS, Faces, Facings, face, face_now, walks
from crowd_demo.render.figures.icons import Icons
from crowd_demo.render.figures.light import Shades
from crowd_demo.render.figures.pose import Cell
from crowd_demo.render.figures.sprited import Sprited
from crowd_demo.render.figures.sprites import Manifest, load_sheet
from crowd_demo.render.pixels import Frame
from crowd_demo.render.projection import Bounds, Moving, drawn, hash_id, look_of_id, within
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, WALKING, PeopleColumns

UNITS, SHEET_PX = 22.0, 44.0  # height of a person in the world and on the sheet
WALK_FRAMES = 8
STAND, WAIT, STUCK = 8, 9, 10  # poses after the walk's
POSES, DRAWN_STATES = 11, 3  # people who queue are drawn like those who walk
CYCLE = 36.0  # world units that two steps take, one with each foot


class PeopleManner(NamedTuple):
    """The cell, and what chooses its sprites; columns by slot."""

    anchor_x: int
    anchor_y: int
    width: int
    height: int
    ahead: np.float32
    looks: int
    state: Ints  # WALKING, WAITING, STUCK, QUEUING
    heading_x: Floats  # unit heading that a person wants
    heading_y: Floats
    time_s: np.float64
    bounds: Bounds  # who is drawn outside is not remembered: culling may leave it out
    facings: Facings  # by id


@device
def _stride(manner: PeopleManner, agents: Moving, slot: Int, direction: int, seed: Int) -> int:
    """The frame of the walk, by the distance walked: how far along its direction a person is.

    So it needs no memory: it stands still with the person, goes back when time does, and jumps only with the direction.
    """
    x, y = drawn(agents.x[slot], agents.vx[slot], manner.ahead), drawn(agents.y[slot], agents.vy[slot], manner.ahead)
    walked = (x * TOWARDS[0, direction] + y * TOWARDS[1, direction]) * np.float32(1 / CYCLE)
    phase = walked + np.float32(seed >> np.uint32(16)) * np.float32(1 / 65536)
    return int((phase - np.floor(phase)) * np.float32(WALK_FRAMES)) % WALK_FRAMES


@device
def _direction(manner: PeopleManner, agents: Moving, slot: Int) -> int:
    vx, vy, heading_x, heading_y = agents.vx[slot], agents.vy[slot], manner.heading_x[slot], manner.heading_y[slot]
    if within(slot, agents, manner.ahead, manner.bounds):
        return face(manner.facings, np.uintp(agents.id[slot]), vx, vy, heading_x, heading_y, manner.time_s)
    return face_now(vx, vy, heading_x, heading_y)


@device
def _as_drawn(state: Register) -> Register:
    """Who queues looks like somebody who walks, and stands. One state, or sixteen."""
    return select(state == QUEUING, splat(np.int32(WALKING), state), state)


@device
def _number(manner: PeopleManner, agents: Moving, slot: Int) -> int:
    seed = hash_id(agents.id[slot])
    direction = _direction(manner, agents, slot)
    posed = _stride(manner, agents, slot, direction, seed) if walks(agents.vx[slot], agents.vy[slot]) else STAND
    if _as_drawn(manner.state[slot]) != WALKING:
        posed = WAIT if manner.state[slot] == WAITING else STUCK
    return (int(seed) % manner.looks * DIRECTIONS + direction) * POSES + posed


@implements(pose.sprite_of, PeopleManner)
def sprite_of(manner: PeopleManner, agents: Moving, slot: Int) -> int:
    return _number(manner, agents, slot)


class PeopleLooks(NamedTuple):
    """What numbers people by their looks."""

    id: Ints
    state: Ints
    looks: int


@implements(numbering.number_of, PeopleLooks)
def number_looks(mode: PeopleLooks, slots: Int, register: Register) -> Register:
    return look_of_id(take(mode.id, slots), mode.looks) * DRAWN_STATES + _as_drawn(take(mode.state, slots))


class PeopleFigures(Sprited):
    """The figures of the sheet "people"."""

    MARKS = True

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        about = manifest["people"]
        super().__init__(load_sheet(folder / about["file"], about["cell"], about["foot"]), UNITS, SHEET_PX)
        self._looks, self._faces = about["looks"], Faces()
        self._icons = Icons(config.crowd, folder, manifest, UNITS / SHEET_PX)

    def manner(self, shot: Shot, cell: Cell) -> PeopleManner:
        columns = cast(PeopleColumns, shot.columns)
        return PeopleManner(*cell, shot.ahead, self._looks, columns.state, columns.heading_x, columns.heading_y, shot.time_s,
                            shot.bounds, self._faces.of(shot.handles))

    def calls(self, shot: Shot, frame: Frame) -> Iterator[Call]:
        yield from super().calls(shot, frame)
        yield from self._icons.calls(shot, np.zeros(0, np.int32))

    def _draw_sprites(self, target: pygame.Surface, shot: Shot, slots: Ints, shades: Shades | None) -> int:
        """In a colour mode there are no icons: their colours mean something else."""
        on_screen = super()._draw_sprites(target, shot, slots, shades)
        if not shades:
            self._icons.draw(target, shot, slots)
        return on_screen

    def look_mode(self, shot: Shot) -> PeopleLooks:
        return PeopleLooks(shot.agents.id, cast(PeopleColumns, shot.columns).state, self._looks)

    def looks(self) -> Ints:
        number = np.arange(self._looks * DIRECTIONS * POSES)
        state = np.maximum(number % POSES - STAND, 0)  # walking and standing, waiting, stuck
        return (number // (DIRECTIONS * POSES) * DRAWN_STATES + state).astype(np.int32)
