"""Crates: squares with a dark edge, a bevel and planks, as many rectangles as there is room for.

A crate keeps its size in pixels while it moves, so it does not flicker; it has at least one pixel. Eight tones of wood
and paint and four arrangements of planks are chosen by a hash of the id. A kernel or pygame fills the rectangles
(`boxes`); both get the list of squares that `place_crates` makes in the order of drawing. O(visible).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pygame

from crowd_demo.compute.arrays import Floats, Ints, Longs, Mask, with_room
from crowd_demo.compute.jit import Call, call, kernel, run
from crowd_demo.config.model import Config
from crowd_demo.render.camera import Rect, View
from crowd_demo.render.figures.base import MARGIN_PX, Shot
from crowd_demo.render.figures.boxes import Boxes, Inks, Part, Patterns, fill_calls, fill_plain
from crowd_demo.render.figures.light import Shades, channels_of
from crowd_demo.render.figures.sprites import Manifest
from crowd_demo.render.inks import RGB
from crowd_demo.render.pixels import Frame, frame_of
from crowd_demo.render.projection import Moving, drawn, hash_id, pixel
from crowd_demo.sim.behaviours.crates import CrateColumns

TONES: tuple[RGB, ...] = (
    (190, 150, 104), (152, 112, 78), (164, 92, 72), (204, 166, 92), (104, 134, 158), (112, 150, 128), (216, 206, 184),
    (126, 122, 128))
EDGE, GAP, SHADE, PLANK, FACE, LIGHT = range(6)  # inks; a tone becomes one when it is mixed with a colour, by a share
MIXTURES: tuple[tuple[RGB, float], ...] = (
    ((16, 18, 26), 0.72), ((20, 20, 28), 0.5), ((24, 22, 34), 0.28), ((24, 22, 34), 0.12), ((0, 0, 0), 0.0),
    ((255, 250, 232), 0.34))
STYLES = 4  # bit 0: upright planks; bit 1: a board across them
EDGE_PX, BEVEL_PX, PLANKS_PX, BOARD_PX, NAILS_PX = 3, 6, 10, 18, 36  # least sides that have room for it
ROUNDING_PX = 3  # rows by which the rounding of top, side and middle may disagree


def inks(colours: Sequence[RGB] = TONES) -> Inks:
    """uint32[tones, inks]: colours."""
    tones = np.array(colours, float)[:, None]
    others, shares = (np.array(column, float) for column in zip(*MIXTURES, strict=True))
    red, green, blue = np.moveaxis((tones + (others - tones) * shares[:, None]).round().astype(np.uint32), 2, 0)
    return red << np.uint32(16) | green << np.uint32(8) | blue


# --- the parts of a crate --------------------------------------------------------------------------------------------

def design(side: int, style: int) -> list[Part]:
    """The rectangles of a crate of `side` pixels, from back to front."""
    if side == 1:
        return [(0, 0, 1, 1, FACE)]
    if side < EDGE_PX:
        return [(0, 0, side, side, SHADE), (0, 0, side, side - 1, FACE)]
    if side < BEVEL_PX:
        return [(0, 0, side, side, EDGE), (0, 0, side - 1, side - 1, FACE)]
    line = max(1, side // 40)
    end = side - line
    parts = [(0, 0, side, side, EDGE), (line, line, end, end, SHADE), (line, line, end - line, end - line, LIGHT),
             (2 * line, 2 * line, end - line, end - line, FACE)]
    if side >= PLANKS_PX:
        frame = max(2 * line + 1, round(side * 0.17))
        turned = _planks(side, frame, line) + (_board(side, frame, line) if style & 2 and side >= BOARD_PX else [])
        parts += [_upright(part) for part in turned] if style & 1 else turned
    return parts + (_nails(side, line) if side >= NAILS_PX else [])


def _planks(side: int, frame: int, line: int) -> list[Part]:
    """Side by side within the frame, and darker than it."""
    inner = side - 2 * frame
    count = 2 if inner < 10 else 3 if inner < 22 else 4 if inner < 44 else 5
    parts = [(frame, frame, side - frame, side - frame, GAP)]
    for number in range(count):
        top, bottom = (frame + line + (inner * k) // count for k in (number, number + 1))
        parts.append((frame, top, side - frame, bottom - line, PLANK))
        if bottom - top > 5 * line:
            parts.append((frame, top, side - frame, top + line, FACE))
    return parts


def _board(side: int, frame: int, line: int) -> list[Part]:
    """A board across the planks."""
    width = max(3, round(side * 0.13))
    left = (side - width) // 2
    return [(left, frame, left + width + line, side - frame, GAP), (left, frame, left + width, side - frame, FACE),
            (left, frame, left + line, side - frame, LIGHT)]


def _nails(side: int, line: int) -> list[Part]:
    """A nail in each corner of the frame."""
    width = max(2, round(side * 0.035))
    near = round(side * 0.085) - width // 2 + line // 2
    far = side - near - width
    return [(x, y, x + width, y + width, GAP) for x in (near, far) for y in (near, far)]


def _upright(part: Part) -> Part:
    left, top, right, bottom, ink = part
    return top, left, bottom, right, ink


# --- positions on the screen -----------------------------------------------------------------------------------------

class Tally(NamedTuple):
    """int64[workers] each: how many crates touch the screen, and the largest side of one of them, in pixels."""

    on_screen: Longs
    largest: Longs


@kernel
def place_crates(worker: int, workers: int, slots: Ints, agents: Moving, half: Floats, ahead: np.float32, view: View,
                 boxes: Boxes, tally: Tally) -> None:
    """Write the square of each crate in the list; count those on the screen, and note the largest."""
    listed, seen, largest = slots.shape[0], 0, 0
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        x, y = drawn(agents.x[slot], agents.vx[slot], ahead), drawn(agents.y[slot], agents.vy[slot], ahead)
        left = int(np.floor((x - half[slot] - view.left) * view.zoom))
        top = int(np.floor((y - half[slot] - view.top) * view.zoom))
        side = max(int(np.float32(2.0) * half[slot] * view.zoom + np.float32(0.5)), 1)
        shown: Mask = left < view.width and left + side > 0 and top < view.height and top + side > 0
        side = side if shown else 0
        seed = hash_id(agents.id[slot])
        boxes.left[k], boxes.top[k], boxes.side[k] = left, top, side
        boxes.middle[k] = int(pixel(agents.y[slot], agents.vy[slot], ahead, view.top, view.zoom))
        boxes.style[k], boxes.tone[k] = (seed >> np.uint32(8)) % STYLES, seed % len(TONES)
        seen += shown
        largest = max(largest, side)
    tally.on_screen[worker], tally.largest[worker] = seen, largest


class CrateFigures:
    """Figures without sheets or sprites; the column `half` is half a crate's side."""

    MARKS = False

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        self._half_max = config.crates.half_max
        self._patterns, self._inks = Patterns(design, STYLES), inks()
        self._boxes = self._room(0)
        self._tally = Tally(np.zeros(1, np.int64), np.zeros(1, np.int64))

    def margin(self, zoom: float) -> Rect:
        reach = self._half_max + MARGIN_PX / zoom
        return Rect(reach, reach, reach, reach)

    def ordered(self, zoom: float) -> bool:
        return True

    def draw(self, target: pygame.Surface, shot: Shot, slots: Ints, shades: Shades | None = None) -> int:
        self._place_call(shot, slots).run()
        boxes = self._list(len(slots))
        self._patterns.ensure(boxes.side)
        used = self._inks
        if shades:
            boxes.tone[:] = shades.number
            used = inks([(int(red), int(green), int(blue)) for red, green, blue in channels_of(shades.palette)])
        if shot.options.blitter == "pygame":
            fill_plain(target, boxes, self._patterns.table, used)
        else:
            run(self._fill_calls(shot, boxes, used, frame_of(target)))
        return int(self._tally.on_screen.sum())

    def calls(self, shot: Shot, frame: Frame) -> Iterator[Call]:
        yield self._place_call(shot, np.zeros(0, np.int32))
        if shot.options.blitter == "compiled":
            yield from self._fill_calls(shot, self._list(0), self._inks, frame)

    def _place_call(self, shot: Shot, slots: Ints) -> Call:
        if len(self._tally.largest) != shot.workers:
            self._tally = Tally(np.zeros(shot.workers, np.int64), np.zeros(shot.workers, np.int64))
        half = cast(CrateColumns, shot.columns).half
        return call(place_crates, shot.workers, slots, shot.agents, half, shot.ahead, shot.view, self._list(len(slots)),
                    self._tally)

    def _fill_calls(self, shot: Shot, boxes: Boxes, used: Inks, frame: Frame) -> tuple[Call, ...]:
        reach = int(self._tally.largest.max()) // 2 + ROUNDING_PX
        return fill_calls(shot.workers, frame, boxes, self._patterns.table, used, reach, shot.options.depth != "off")

    def _list(self, count: int) -> Boxes:
        """Memory for the squares of a frame: int32[count] each, overwritten by the next frame."""
        if count > len(self._boxes.side):
            self._boxes = self._room(with_room(count))
        return Boxes(*(column[:count] for column in self._boxes))

    @staticmethod
    def _room(count: int) -> Boxes:
        return Boxes(*(np.empty(count, np.int32) for _ in Boxes._fields))
