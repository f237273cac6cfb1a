"""Poses: which sprite shows an agent, and where it is drawn on the screen.

The type of the manner chooses the function that chooses the sprite (`people`, `birds`). Differences between agents come
from a hash of the id, so reordering cannot change a picture. Directions are counted clockwise from east, by comparing
slopes with the tangents of the borders between sectors: no arc tangent, so the same on every machine. O(visible).
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Longs, Mask, Words, with_room
from crowd_demo.compute.dispatch import generic
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.render.camera import View
from crowd_demo.render.figures.blit import DrawList
from crowd_demo.render.figures.light import NO_SHADES, Shades
from crowd_demo.render.pixels import NO_TINT
from crowd_demo.render.projection import Moving, pixel


class Cell(NamedTuple):
    """A cell of the sheet, in pixels of the screen; its anchor is drawn at the agent's position."""

    anchor_x: int
    anchor_y: int
    width: int
    height: int


class Manner(Protocol):
    """What places and chooses the sprites of a frame: a NamedTuple that begins like `Cell`, of a type for each behaviour."""

    @property
    def anchor_x(self) -> int: ...

    @property
    def anchor_y(self) -> int: ...

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...


@generic
def sprite_of(manner: Manner, agents: Moving, slot: Int) -> int:  # type: ignore[empty-body]
    """The number of the sprite that shows this agent."""


def slopes(sectors: int) -> Floats:
    """Tangents of the borders between sectors, within the first eighth of a turn."""
    borders = (np.arange(sectors // 8) + 0.5) * math.tau / sectors
    return np.tan(borders).astype(np.float32)


@device
def sector(vx: Float, vy: Float, slopes: Floats) -> int:
    """The nearest of 8 * len(slopes) directions, counted clockwise from 0, the east; an agent that stands has 0."""
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
def _put(k: int, slot: Int, sprite: int, tint: Int, agents: Moving, ahead: np.float32, view: View, manner: Manner,
         draws: DrawList) -> Mask:
    """Write entry k of the draw list; return whether the sprite's cell touches the screen."""
    left = int(pixel(agents.x[slot], agents.vx[slot], ahead, view.left, view.zoom)) - manner.anchor_x
    top = int(pixel(agents.y[slot], agents.vy[slot], ahead, view.top, view.zoom)) - manner.anchor_y
    draws.sprite[k], draws.left[k], draws.top[k], draws.tint[k] = sprite, left, top, tint
    return left < view.width and left + manner.width > 0 and top < view.height and top + manner.height > 0


@kernel
def pose(worker: int, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, manner: Manner,
         number: Bytes, tints: Words, draws: DrawList, on_screen: Longs) -> None:
    """Fill this worker's share of the draw list, and count the sprites on the screen: on_screen int64[workers]."""
    listed, seen, tinted = slots.shape[0], 0, number.shape[0] > 0
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        tint = tints[np.uintp(number[k])] if tinted else np.uint32(NO_TINT)
        seen += _put(k, slot, sprite_of(manner, agents, slot), tint, agents, ahead, view, manner, draws)
    on_screen[worker] = seen


class Poses:
    """Owns the draw list. After the call has run, `on_screen` is how many of the sprites touch the screen."""

    def __init__(self) -> None:
        self._lists = _room(0)
        self._on_screen = np.zeros(1, np.int64)

    @property
    def on_screen(self) -> int:
        return int(self._on_screen.sum())

    def draws(self, count: int) -> DrawList:
        """Memory for the draw list of a frame, overwritten by the next one."""
        if count > len(self._lists.sprite):
            self._lists = _room(with_room(count))
        sprite, left, top, tint = self._lists
        return DrawList(sprite[:count], left[:count], top[:count], tint[:count])

    def call(self, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, manner: Manner,
             shades: Shades | None = None) -> Call:
        """The kernel that fills the draw list of the slots, tinted by their shades if there are any."""
        if len(self._on_screen) != workers:
            self._on_screen = np.zeros(workers, np.int64)
        number, palette = shades or NO_SHADES
        return call(pose, workers, slots, agents, ahead, view, manner, number, palette | np.uint32(0xFF000000),
                    self.draws(len(slots)), self._on_screen)


def _room(count: int) -> DrawList:
    sprite, left, top = np.empty((3, count), np.int32)
    return DrawList(sprite, left, top, np.empty(count, np.uint32))
