"""People: sprites by look, direction and pose, and numbered so. They walk by the distance walked and turn smoothly.

People who walk look where they go; those who hardly move look where they want to go. A figure turns there smoothly,
like the mean of the last 0.2 s of the crowd's time, and keeps its direction until it looks `BEYOND` past the border
to the next one, so nobody twitches. For that the renderer remembers how everybody looked in the last picture, by id;
the simulation does not know of it. Who was in no picture for `LATE_S` is drawn as it looks now. Time may stand still,
go back or jump.

Destinations are marked, and so are people who wait or are stuck (icons.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes, Doubles, Float, Floats, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Launch, device, kernel
from crowd_demo.compute.simd import select, splat
from crowd_demo.compute.simd_memory import take
from crowd_demo.config.model import Config
from crowd_demo.render.figures import sprited
from crowd_demo.render.figures.base import FrameInput
from crowd_demo.render.figures.icons import Icons
from crowd_demo.render.figures.light import Shades
from crowd_demo.render.figures.sprited import Sprited, sector, slopes
from crowd_demo.render.figures.sprites import Manifest, load_sheet
from crowd_demo.render.formulas import Bounds, Moving, drawn, hash_id, look_of_id, number_of, within
from crowd_demo.render.pixels import Frame
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, WALKING, PeopleColumns
from crowd_demo.sim.store.sparse_set import Handles

UNITS, SHEET_PX = 22.0, 44.0  # height of a person in the world and on the sheet
WALK_FRAMES = 8
STAND, WAIT, STUCK = 8, 9, 10  # poses after the walk's
POSES, DRAWN_STATES = 11, 3  # people who queue are drawn like those who walk
CYCLE = 36.0  # world units that two steps take, one with each foot

DIRECTIONS = 8
DIRECTION_SLOPES = slopes(DIRECTIONS)
TOWARDS = np.stack([trig(np.arange(DIRECTIONS) * math.tau / DIRECTIONS) for trig in (np.cos, np.sin)]).astype(np.float32)
LEAST_SPEED = 8.0  # units/s; slower people look where they want to go
LATE_S = 0.1  # how much later a figure turns, on the mean: half of what the mean is taken over
BEYOND = 10.0  # degrees
KEPT = np.float32(math.cos(math.radians(180 / DIRECTIONS + BEYOND)))  # least cosine of the angle to the drawn direction

# --- facing: which of eight directions a person is drawn in -------------------------------------------------------------

class Facings(NamedTuple):
    """How people were drawn last, by id."""

    x: Floats  # where they looked
    y: Floats
    time_s: Doubles  # when
    direction: Bytes  # counted clockwise from east


def facings(ids: int) -> Facings:
    """Memory for so many ids, none of which was drawn yet."""
    return Facings(np.zeros(ids, np.float32), np.zeros(ids, np.float32), np.full(ids, -np.inf), np.zeros(ids, np.uint8))


@device
def walks(vx: Float, vy: Float) -> bool:
    return vx * vx + vy * vy > np.float32(LEAST_SPEED * LEAST_SPEED)


@device
def _aim(vx: Float, vy: Float, heading_x: Float, heading_y: Float) -> tuple[Float, Float]:
    """Where somebody looks who need not turn: a unit vector."""
    if not walks(vx, vy):
        return heading_x, heading_y
    speed = np.sqrt(vx * vx + vy * vy)
    return vx / speed, vy / speed


@device
def face(facings: Facings, identity: Int, vx: Float, vy: Float, heading_x: Float, heading_y: Float, time_s: np.float64) -> int:
    """The direction of somebody at that time, which is remembered."""
    aim_x, aim_y = _aim(vx, vy, heading_x, heading_y)
    passed_s = abs(time_s - facings.time_s[identity])
    part = np.float32(passed_s / LATE_S) if passed_s < LATE_S else np.float32(1)
    x = facings.x[identity] + (aim_x - facings.x[identity]) * part
    y = facings.y[identity] + (aim_y - facings.y[identity]) * part
    direction = int(facings.direction[identity])
    along = x * TOWARDS[0, direction] + y * TOWARDS[1, direction]
    if part == np.float32(1) or along < KEPT * np.sqrt(x * x + y * y):
        direction = sector(x, y, DIRECTION_SLOPES)
    facings.x[identity], facings.y[identity] = x, y
    facings.time_s[identity], facings.direction[identity] = time_s, direction
    return direction


@kernel
def face_all(worker: int, workers: int, ids: Ints, vx: Floats, vy: Floats, heading_x: Floats, heading_y: Floats,
             count: int, time_s: np.float64, facings: Facings) -> None:
    """Turn everybody; columns by slot."""
    for slot in range(count * worker // workers, count * (worker + 1) // workers):
        face(facings, np.uintp(ids[slot]), vx[slot], vy[slot], heading_x[slot], heading_y[slot], time_s)


class Faces:
    """Owns the memory of each crowd that is drawn (side by side there are two)."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Handles, Facings] = WeakKeyDictionary()

    def of(self, handles: Handles) -> Facings:
        """The memory of the crowd with those handles, for all of its ids."""
        known = self._of.get(handles)
        if known is None or len(known.x) < handles.limit:
            grown = facings(handles.limit)
            for name, old in known._asdict().items() if known else ():
                getattr(grown, name)[:len(old)] = old
            self._of[handles] = known = grown
        return known


# --- sprites ------------------------------------------------------------------------------------------------------------

class PeopleMode(NamedTuple):
    """What chooses the sprites and looks of people; columns by slot."""

    id: Ints
    ahead: np.float32
    looks: int
    state: Ints  # WALKING, WAITING, STUCK, QUEUING
    heading_x: Floats  # unit heading that a person wants
    heading_y: Floats
    time_s: np.float64
    bounds: Bounds  # who is drawn outside is not remembered: culling may leave it out
    facings: Facings  # by id


@device
def _stride(mode: PeopleMode, agents: Moving, slot: Int, direction: int, seed: Int) -> int:
    """The frame of the walk, by the distance walked: how far along its direction a person is.

    So it needs no memory: it stands still with the person, goes back when time does, and jumps only with the direction.
    """
    x, y = drawn(agents.x[slot], agents.vx[slot], mode.ahead), drawn(agents.y[slot], agents.vy[slot], mode.ahead)
    walked = (x * TOWARDS[0, direction] + y * TOWARDS[1, direction]) * np.float32(1 / CYCLE)
    phase = walked + np.float32(seed >> np.uint32(16)) * np.float32(1 / 65536)
    return int((phase - np.floor(phase)) * np.float32(WALK_FRAMES)) % WALK_FRAMES


@device
def _direction(mode: PeopleMode, agents: Moving, slot: Int) -> int:
    vx, vy, heading_x, heading_y = agents.vx[slot], agents.vy[slot], mode.heading_x[slot], mode.heading_y[slot]
    if within(slot, agents, mode.ahead, mode.bounds):
        return face(mode.facings, np.uintp(agents.id[slot]), vx, vy, heading_x, heading_y, mode.time_s)
    x, y = _aim(vx, vy, heading_x, heading_y)
    return sector(x, y, DIRECTION_SLOPES)


@device
def _as_drawn(state: Register) -> Register:
    """Who queues looks like somebody who walks, and stands. One state, or sixteen."""
    return select(state == QUEUING, splat(np.int32(WALKING), state), state)


@implements(sprited.sprite_of, PeopleMode)
def sprite_of(mode: PeopleMode, agents: Moving, slot: Int) -> int:
    seed = hash_id(agents.id[slot])
    direction = _direction(mode, agents, slot)
    posed = _stride(mode, agents, slot, direction, seed) if walks(agents.vx[slot], agents.vy[slot]) else STAND
    if _as_drawn(mode.state[slot]) != WALKING:
        posed = WAIT if mode.state[slot] == WAITING else STUCK
    return (int(seed) % mode.looks * DIRECTIONS + direction) * POSES + posed


@implements(number_of, PeopleMode)
def number_looks(mode: PeopleMode, slots: Int, register: Register) -> Register:
    return look_of_id(take(mode.id, slots), mode.looks) * DRAWN_STATES + _as_drawn(take(mode.state, slots))


class PeopleFigures(Sprited):
    """The figures of the sheet "people"."""

    MARKS = True

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        about = manifest["people"]
        number = np.arange(about["looks"] * DIRECTIONS * POSES, dtype=np.int32)
        state = np.maximum(number % POSES - STAND, 0)  # walking and standing, waiting, stuck
        super().__init__(load_sheet(folder, about), UNITS, SHEET_PX, number // (DIRECTIONS * POSES) * DRAWN_STATES + state)
        self._person_looks, self._faces = about["looks"], Faces()
        self._icons = Icons(config.crowd, folder, manifest, UNITS / SHEET_PX)

    def mode(self, now: FrameInput) -> PeopleMode:
        columns = cast(PeopleColumns, now.columns)
        return PeopleMode(now.agents.id, now.ahead, self._person_looks, columns.state, columns.heading_x, columns.heading_y,
                          now.time_s, now.bounds, self._faces.of(now.handles))

    def launches(self, now: FrameInput, frame: Frame) -> Iterator[Launch]:
        yield from super().launches(now, frame)
        yield from self._icons.launches(now, np.zeros(0, np.int32))

    def _draw_sprites(self, target: pygame.Surface, now: FrameInput, slots: Ints, shades: Shades | None) -> int:
        """In a colour mode there are no icons: their colours mean something else."""
        on_screen = super()._draw_sprites(target, now, slots, shades)
        if not shades:
            self._icons.draw(target, now, slots)
        return on_screen
