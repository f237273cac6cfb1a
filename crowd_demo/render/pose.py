"""Poses: which sprite shows an agent, and where it goes on the screen.

Everything that tells two agents apart is a hash of the id, so a reorder cannot change a picture. Sprites of people are
numbered (look, direction, pose), those of birds (look, flap, heading). Directions are counted clockwise from east, by
comparing slopes with the tangents of the borders: no arc tangent, the same on every machine. O(visible).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..jit import Call, device, kernel, prange
from .blit import DrawList
from .camera import View
from .place import Ints, Moving, hash_id, pixel

DIRECTIONS, WALK_FRAMES = 8, 4
HEADINGS, FLAPS = 32, 4
WAIT, STUCK = 4, 5  # poses after the walk's
POSES = 6
LEAST_SPEED = 8.0  # units/s; below it people look where they want to go
STEPS_HZ, FLAPS_HZ = 7.0, 8.0  # frames a second
REST = 0.55  # part of a bird's time spent gliding


class Manner(NamedTuple):
    """How all agents of a frame are shown."""

    time_s: np.float64
    looks: int
    anchor_x: int  # pixel of a sprite's cell that stands on the agent's place
    anchor_y: int
    width: int  # of a cell
    height: int


class Intent(NamedTuple):
    """What only people have: state (0 walking, 1 waiting, 2 stuck) and the unit heading they want, by slot."""

    state: Ints
    way_x: NDArray[np.float32]
    way_y: NDArray[np.float32]


def _slopes(sectors: int) -> NDArray[np.float32]:
    """Tangents of the borders between sectors, within the first eighth of a turn."""
    borders = (np.arange(sectors // 8) + 0.5) * math.tau / sectors
    return np.tan(borders).astype(np.float32)


DIRECTION_SLOPES, HEADING_SLOPES = _slopes(DIRECTIONS), _slopes(HEADINGS)


@device
def sector(vx: Any, vy: Any, slopes: Any) -> int:
    """The nearest of 8 * len(slopes) directions, 0 being east and counting clockwise; that of no motion is 0."""
    quarter = 2 * slopes.shape[0]
    across, down = abs(vx), abs(vy)
    low, high = min(across, down), max(across, down)
    turn = 0
    for slope in slopes:
        turn += low > slope * high
    turn = quarter - turn if down > across else turn
    turn = 2 * quarter - turn if vx < 0 else turn
    return (4 * quarter - turn) % (4 * quarter) if vy < 0 else turn


@device
def _person(slot: Any, agents: Any, intent: Any, manner: Any, slopes: Any) -> Any:
    seed = hash_id(agents.id[slot])
    vx, vy = agents.vx[slot], agents.vy[slot]
    moves = vx * vx + vy * vy > np.float32(LEAST_SPEED * LEAST_SPEED)
    direction = sector(vx, vy, slopes) if moves else sector(intent.way_x[slot], intent.way_y[slot], slopes)
    pace = STEPS_HZ * (0.85 + 0.3 * ((seed >> np.uint32(8)) & np.uint32(255)) / 255.0)
    stride = int(manner.time_s * pace + float(seed >> np.uint32(16))) % WALK_FRAMES if moves else 1
    pose = stride if intent.state[slot] == 0 else WAIT if intent.state[slot] == 1 else STUCK
    return (int(seed) % manner.looks * DIRECTIONS + direction) * POSES + pose


@device
def _bird(slot: Any, agents: Any, manner: Any, slopes: Any) -> Any:
    """Birds beat their wings for a while and then glide, wings spread (flap 1)."""
    seed = hash_id(agents.id[slot])
    beats = manner.time_s * FLAPS_HZ / FLAPS + float(seed >> np.uint32(16)) / 64.0
    glides = beats / 8.0 - np.floor(beats / 8.0) < REST
    flap = 1 if glides else int(beats * FLAPS) % FLAPS
    return (int(seed) % manner.looks * FLAPS + flap) * HEADINGS + sector(agents.vx[slot], agents.vy[slot], slopes)


@device
def _put(k: Any, slot: Any, sprite: int, agents: Any, ahead: Any, view: Any, manner: Any, draws: Any) -> Any:
    """Append to the draw list; does the sprite's cell touch the screen?"""
    left = int(pixel(agents.x[slot], agents.vx[slot], ahead, view.left, view.zoom)) - manner.anchor_x
    top = int(pixel(agents.y[slot], agents.vy[slot], ahead, view.top, view.zoom)) - manner.anchor_y
    draws.sprite[k], draws.left[k], draws.top[k] = sprite, left, top
    return left < view.width and left + manner.width > 0 and top < view.height and top + manner.height > 0


@device
def _pose_people(worker: int, workers: int, slots: Any, agents: Any, intent: Any, ahead: Any, view: Any, manner: Any,
                 slopes: Any, draws: Any, on_screen: Any) -> None:
    listed, seen = slots.shape[0], 0
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        seen += _put(k, slot, _person(slot, agents, intent, manner, slopes), agents, ahead, view, manner, draws)
    on_screen[worker] = seen


@kernel
def pose_people(workers: int, slots: Any, agents: Any, intent: Any, ahead: Any, view: Any, manner: Any, slopes: Any,
                draws: Any, on_screen: Any) -> None:
    for worker in prange(workers):
        _pose_people(worker, workers, slots, agents, intent, ahead, view, manner, slopes, draws, on_screen)


@device
def _pose_birds(worker: int, workers: int, slots: Any, agents: Any, ahead: Any, view: Any, manner: Any, slopes: Any,
                draws: Any, on_screen: Any) -> None:
    listed, seen = slots.shape[0], 0
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        seen += _put(k, slot, _bird(slot, agents, manner, slopes), agents, ahead, view, manner, draws)
    on_screen[worker] = seen


@kernel
def pose_birds(workers: int, slots: Any, agents: Any, ahead: Any, view: Any, manner: Any, slopes: Any,
               draws: Any, on_screen: Any) -> None:
    for worker in prange(workers):
        _pose_birds(worker, workers, slots, agents, ahead, view, manner, slopes, draws, on_screen)


class Poses:
    """Owner of the draw list. After a call has run, `on_screen` says how many of the sprites touch the screen."""

    def __init__(self) -> None:
        self._lists = DrawList(*(np.empty(0, np.int32) for _ in range(3)))
        self._on_screen = np.zeros(1, np.int64)

    @property
    def on_screen(self) -> int:
        return int(self._on_screen.sum())

    def draws(self, count: int) -> DrawList:
        """The draw list of a frame: int32[count] each, this object's own until the next frame."""
        if count > len(self._lists.sprite):
            self._lists = DrawList(*(np.empty(count, np.int32) for _ in range(3)))
        return DrawList(*(column[:count] for column in self._lists))

    def people(self, workers: int, slots: Ints, agents: Moving, intent: Intent, ahead: np.float32, view: View,
               manner: Manner) -> Call:
        return Call(pose_people, (workers, slots, agents, intent, ahead, view, manner, DIRECTION_SLOPES,
                                  self.draws(len(slots)), self._fresh_counts(workers)))

    def birds(self, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, manner: Manner) -> Call:
        return Call(pose_birds, (workers, slots, agents, ahead, view, manner, HEADING_SLOPES,
                                 self.draws(len(slots)), self._fresh_counts(workers)))

    def _fresh_counts(self, workers: int) -> NDArray[np.int64]:
        if len(self._on_screen) != workers:
            self._on_screen = np.zeros(workers, np.int64)
        return self._on_screen
