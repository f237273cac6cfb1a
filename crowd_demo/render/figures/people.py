"""People: sprites by appearance, direction and pose, and numbered so. They walk by the distance walked and turn smoothly.

People who walk look where they go; those who hardly move look where they want to go. A figure turns there smoothly,
like the mean of the last 0.2 s of the crowd's time, and keeps its direction until it looks `BEYOND` past the border
to the next one, so nobody twitches; nor does who creeps change between standing and walking at every picture. For
that the renderer remembers how everybody looked in the last picture, by id; the simulation does not know of it. Who
was in no picture for `LATE_S` is drawn as it looks now. Time may stand still, go back or jump.

Icons stand above people who wait or are stuck. They fade, and there is at most one a spot, so a jam has no fence of
them. A spot is a square of the world. It shows the icon that is strongest, of equal ones that of the least id, so
neither slots nor threads matter. A spot has none unless all of it is where culling keeps everybody, so culling does
not matter either. Icons lie over all people, in the order of the spots. O(drawn + spots).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes, Doubles, Float, Floats, Int, Ints, Longs, Register
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.jit import Launch, device, kernel, launch, run
from crowd_demo.compute.simd import select
from crowd_demo.compute.simd_memory import gather
from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.config.model import Config
from crowd_demo.render.camera import View
from crowd_demo.render.cull import CellRange
from crowd_demo.render.drawing import (
    Bounds,
    FrameInput,
    Moving,
    ReusedColumns,
    Shades,
    appearance_of_id,
    drawn,
    hash_id,
    number_of,
    pixel,
    within,
)
from crowd_demo.render.figures import sprited
from crowd_demo.render.figures.sprited import Sprited, draw_list, sector, slopes
from crowd_demo.render.figures.sprites import Manifest, Sprites, load_dyed, load_sheet
from crowd_demo.sim.behaviours.people_rules import STUCK, WAITING, WALKING, PeopleColumns
from crowd_demo.sim.store.sparse_set import Handles
from crowd_demo.sprites.blitter import DrawList
from crowd_demo.sprites.pixels import Frame

UNITS, SHEET_PX = 22.0, 44.0  # height of a person in the world and on the sheet
WALK_FRAMES = 8
STAND_POSE, WAIT_POSE, STUCK_POSE = 8, 9, 10  # poses after the walk's
POSES, DRAWN_STATES = 11, 3  # people who queue are drawn like those who walk
CYCLE = 36.0  # world units that two steps take, one with each foot

DIRECTIONS = 8
DIRECTION_SLOPES = slopes(DIRECTIONS)
TOWARDS = np.stack([trig(np.arange(DIRECTIONS) * math.tau / DIRECTIONS) for trig in (np.cos, np.sin)]).astype(np.float32)
LEAST_SPEED = 8.0  # units/s; slower people look where they want to go
FIRST_STEP, LEAST_STEP = 3.0, 1.5  # units/s; who stands is drawn walking above the one, who walks standing below the other
LATE_S = 0.1  # how much later a figure turns, on the mean: half of what the mean is taken over
BEYOND = 10.0  # degrees
KEPT = math.cos(math.radians(180 / DIRECTIONS + BEYOND))  # least cosine of the angle to the drawn direction

# --- facing: which of eight directions a person is drawn in -------------------------------------------------------------

class Facings(NamedTuple):
    """By id: how people were drawn last."""

    x: Floats  # where they looked
    y: Floats
    time_s: Doubles  # when
    direction: Bytes  # counted clockwise from east
    walks: Bytes  # 1 if they took steps


def facings(ids: int) -> Facings:
    return Facings(np.zeros(ids, np.float32), np.zeros(ids, np.float32), np.full(ids, -np.inf), np.zeros(ids, np.uint8),
                   np.zeros(ids, np.uint8))


@device
def faster(vx: Float, vy: Float, speed: float) -> bool:
    return vx * vx + vy * vy > np.float32(speed * speed)


@device
def _aim(vx: Float, vy: Float, heading_x: Float, heading_y: Float) -> tuple[Float, Float]:
    """The direction in which a person would look without turning smoothly: a unit vector."""
    if not faster(vx, vy, LEAST_SPEED):
        return heading_x, heading_y
    speed = np.sqrt(vx * vx + vy * vy)
    return vx / speed, vy / speed


@formula
def face(facings: Facings, identity: Int, vx: Float, vy: Float, heading_x: Float, heading_y: Float, time_s: np.float64) -> int:
    """The direction in which a person is drawn at that time; remember it, and whether they walk."""
    aim_x, aim_y = _aim(vx, vy, heading_x, heading_y)
    passed_s = abs(time_s - facings.time_s[identity])
    part = np.float32(passed_s / LATE_S) if passed_s < LATE_S else 1
    x = facings.x[identity] + (aim_x - facings.x[identity]) * part
    y = facings.y[identity] + (aim_y - facings.y[identity]) * part
    direction = int(facings.direction[identity])
    along = x * TOWARDS[0, direction] + y * TOWARDS[1, direction]
    if part == 1 or along < KEPT * np.sqrt(x * x + y * y):
        direction = sector(x, y, DIRECTION_SLOPES)
    walked = facings.walks[identity] and part < 1
    facings.walks[identity] = faster(vx, vy, LEAST_STEP if walked else FIRST_STEP)
    facings.x[identity], facings.y[identity] = x, y
    facings.time_s[identity], facings.direction[identity] = time_s, direction
    return direction


@kernel
def face_all(worker: int, workers: int, ids: Ints, vx: Floats, vy: Floats, heading_x: Floats, heading_y: Floats,
             count: int, time_s: np.float64, facings: Facings) -> None:
    """Turn everybody; columns by slot."""
    for slot in range(count * worker // workers, count * (worker + 1) // workers):
        face(facings, np.uintp(ids[slot]), vx[slot], vy[slot], heading_x[slot], heading_y[slot], time_s)


# --- sprites ------------------------------------------------------------------------------------------------------------

class PeopleMode(NamedTuple):
    """What chooses the sprites and appearances of people; columns by slot."""

    id: Ints
    ahead: np.float32
    appearances: int
    state: Ints  # WALKING, WAITING, STUCK, QUEUING
    heading_x: Floats  # unit heading that a person wants
    heading_y: Floats
    time_s: np.float64
    bounds: Bounds  # who is drawn outside is not remembered: culling may leave it out
    facings: Facings  # by id


@formula
def _stride(mode: PeopleMode, agents: Moving, slot: Int, direction: int, seed: Int) -> int:
    """The frame of the walk, by the distance walked: how far along its direction a person is.

    So it needs no memory: it stands still with the person, goes back when time does, and jumps only with the direction.
    """
    x, y = drawn(agents.x[slot], agents.vx[slot], mode.ahead), drawn(agents.y[slot], agents.vy[slot], mode.ahead)
    walked = (x * TOWARDS[0, direction] + y * TOWARDS[1, direction]) * (1 / CYCLE)
    phase = walked + np.float32(seed >> np.uint32(16)) * (1 / 65536)
    return int((phase - np.floor(phase)) * WALK_FRAMES) % WALK_FRAMES


@device
def _gait(mode: PeopleMode, agents: Moving, slot: Int) -> tuple[int, bool]:
    """(direction, whether a person walks) as drawn."""
    vx, vy, heading_x, heading_y = agents.vx[slot], agents.vy[slot], mode.heading_x[slot], mode.heading_y[slot]
    if within(slot, agents, mode.ahead, mode.bounds):
        identity = np.uintp(agents.id[slot])
        direction = face(mode.facings, identity, vx, vy, heading_x, heading_y, mode.time_s)
        return direction, mode.facings.walks[identity] > 0
    x, y = _aim(vx, vy, heading_x, heading_y)
    return sector(x, y, DIRECTION_SLOPES), faster(vx, vy, FIRST_STEP)


@implements(sprited.sprite_of, PeopleMode)
def sprite_of(mode: PeopleMode, agents: Moving, slot: Int) -> int:
    seed = hash_id(agents.id[slot])
    direction, walks = _gait(mode, agents, slot)
    posed = STAND_POSE
    if mode.state[slot] == WAITING:
        posed = WAIT_POSE
    elif walks:  # who is stuck, too: most of them creep on
        posed = _stride(mode, agents, slot, direction, seed)
    elif mode.state[slot] == STUCK:
        posed = STUCK_POSE
    return (int(seed) % mode.appearances * DIRECTIONS + direction) * POSES + posed


@implements(number_of, PeopleMode)
def number_appearances(mode: PeopleMode, slots: Int, register: Register) -> Register:
    state = gather(mode.state, slots)  # people who queue look like people who walk
    return appearance_of_id(gather(mode.id, slots), mode.appearances) * DRAWN_STATES + select(state > STUCK, WALKING, state)


# --- icons ------------------------------------------------------------------------------------------------------------

SPOT = 48.0  # world units, twice the height of a person
FADE_S = 0.5  # somebody who waits is given an icon within this time, and loses it so long before going on
STRONGEST = 255
NOBODY = (1 << 63) - 1


class Fading(NamedTuple):
    """Seconds: how long people wait, how long they go without progress until they are stuck, and how long icons fade."""

    wait: np.float32
    wait_fade: np.float32
    stuck: np.float32
    stuck_fade: np.float32


class SpotIcons(NamedTuple):
    """By spot: the key of the strongest icon (weakness in the high half, id in the low one), and whose slot that is."""

    key: Longs
    slot: Ints


@formula
def strength(state: Int, timer: Float, fading: Fading) -> int:
    """The opacity of an icon, 0 to 255: by the time since the waiting began, or until it ends."""
    waiting = min(timer, fading.wait - timer) / fading.wait_fade
    stuck = (timer - fading.stuck) / fading.stuck_fade
    share = stuck if state == STUCK else waiting
    return int(min(max(share, 0), 1) * STRONGEST)


@formula
def _spot(position: Float) -> int:
    return int(np.floor(position / SPOT))


@device
def choose_icons(slots: Ints, agents: Moving, state: Ints, timer: Floats, ahead: np.float32, fading: Fading, spots: CellRange,
                 chosen: SpotIcons) -> None:
    """Choose for each spot the strongest icon of the agents in it."""
    rows, columns = spots.row1 - spots.row0, spots.column1 - spots.column0
    for spot in range(rows * columns):
        chosen.key[spot] = NOBODY
    for slot in slots:
        has_icon = state[slot] == WAITING or state[slot] == STUCK
        power = strength(state[slot], timer[slot], fading) if has_icon else 0
        if power > 0:
            x, y = drawn(agents.x[slot], agents.vx[slot], ahead), drawn(agents.y[slot], agents.vy[slot], ahead)
            column = _spot(x) - spots.column0
            row = _spot(y) - spots.row0
            if 0 <= column < columns and 0 <= row < rows:
                spot, key = row * columns + column, (STRONGEST - power) << 32 | agents.id[slot]
                if key < chosen.key[spot]:
                    chosen.key[spot], chosen.slot[spot] = key, slot


@device
def list_icons(agents: Moving, state: Ints, ahead: np.float32, view: View, anchor_x: int, anchor_y: int, chosen: SpotIcons,
               draws: DrawList, listed: Longs) -> None:
    """Write the draw list of the chosen icons, and its length to listed[0]. Tints fade icons: they multiply opacity, too."""
    k = 0
    for spot in range(draws.sprite.shape[0]):
        if chosen.key[spot] != NOBODY:
            slot = chosen.slot[spot]
            draws.sprite[k] = state[slot] - WAITING  # the sheet begins with that of who waits
            draws.left[k] = int(pixel(agents.x[slot], agents.vx[slot], ahead, view.left, view.zoom)) - anchor_x
            draws.top[k] = int(pixel(agents.y[slot], agents.vy[slot], ahead, view.top, view.zoom)) - anchor_y
            draws.tint[k] = (STRONGEST - (chosen.key[spot] >> 32)) * 0x01010101
            k += 1
    listed[0] = k


def fading(settings: PeopleSettings) -> Fading:
    """The icon of people who are stuck begins after `stuck_s` without progress, and is complete half as long after that."""
    wait, stuck = settings.wait_s, settings.stuck_s
    return Fading(*map(np.float32, (wait, max(min(FADE_S, wait / 2), 1e-3), stuck, max(stuck / 2, 1e-3))))


def spots_in(bounds: Bounds) -> CellRange:
    """The spots that lie completely within the bounds."""
    left, top, right, bottom = (float(edge) / SPOT for edge in bounds)
    first_column, first_row = math.ceil(left), math.ceil(top)
    return CellRange(first_row, max(math.floor(bottom), first_row), first_column, max(math.floor(right), first_column))


# --- figures ------------------------------------------------------------------------------------------------------------

class PeopleFigures(Sprited):
    """People and their icons. Owns the memory of each crowd that is drawn (side by side there are two)."""

    MARKS, OUTLINED = True, True

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        about = manifest["people"]
        number = np.arange(about["looks"] * DIRECTIONS * POSES, dtype=np.int32)
        state = np.maximum(number % POSES - STAND_POSE, 0)  # walking and standing, waiting, stuck
        super().__init__(load_dyed(folder, about), UNITS, SHEET_PX, number // (DIRECTIONS * POSES) * DRAWN_STATES + state)
        self._appearance_count = about["looks"]
        self._facings: WeakKeyDictionary[Handles, Facings] = WeakKeyDictionary()
        self._icons, self._fading = Sprites(load_sheet(folder, manifest["icons"])), fading(config.crowd)
        self._listed = np.zeros(1, np.int64)  # how many icons are drawn
        self._chosen = ReusedColumns[SpotIcons](SpotIcons, key=np.int64)
        self._icon_draws = ReusedColumns[DrawList](DrawList, tint=np.uint32)

    def use_settings(self, widest: Config) -> None:
        """Go by other numbers: how long people wait, and when they count as stuck."""
        self._fading = fading(widest.crowd)

    def mode(self, now: FrameInput) -> PeopleMode:
        columns, handles, known = cast(PeopleColumns, now.columns), now.handles, self._facings.get(now.handles)
        if known is None or len(known.x) < handles.limit:
            grown = facings(handles.limit)
            for name, old in known._asdict().items() if known else ():
                getattr(grown, name)[:len(old)] = old
            self._facings[handles] = known = grown
        return PeopleMode(now.agents.id, now.ahead, self._appearance_count, columns.state, columns.heading_x,
                          columns.heading_y, now.time_s, now.bounds, known)

    def number_mode(self, now: FrameInput) -> PeopleMode:
        return self.mode(now)._replace(facings=facings(0))

    def launches(self, now: FrameInput, frame: Frame) -> Iterator[Launch]:
        yield from super().launches(now, frame)
        yield from self._choose_icons(now, np.zeros(0, np.int32))

    def _draw_sprites(self, target: pygame.Surface, now: FrameInput, slots: Ints, shades: Shades | None) -> int:
        """Draw icons too, but not in a colour mode: the colours of icons mean something else."""
        on_screen = super()._draw_sprites(target, now, slots, shades)
        if not shades:
            run(self._choose_icons(now, slots))
            atlas = self._icons.at(now.camera.zoom * self._units_a_pixel)
            draw_list(target, atlas, self._icon_draws.first(int(self._listed[0])), now)
        return on_screen

    def _choose_icons(self, now: FrameInput, slots: Ints) -> tuple[Launch, ...]:
        columns, agents, spots = cast(PeopleColumns, now.columns), now.agents, spots_in(now.bounds)
        chosen, draws = self._chosen.first(spots.cells), self._icon_draws.first(spots.cells)
        anchor = self._icons.at(now.camera.zoom * self._units_a_pixel).anchor
        return (
            launch(choose_icons, slots, agents, columns.state, columns.timer, now.ahead, self._fading, spots, chosen),
            launch(list_icons, agents, columns.state, now.ahead, now.view, *anchor, chosen, draws, self._listed))
