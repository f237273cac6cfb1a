"""Crates: squares with a dark edge, a bevel and planks, as many rectangles of plain colour as there is room for.

A crate keeps its size in pixels while it moves, so it does not flicker; it has at least one pixel. Eight tones of
wood and paint and four arrangements of planks are chosen by a hash of the id.

A table says which rectangles a square of some side consists of; its row is made when the side is first needed. A
kernel or pygame's `fill` paints these rectangles, in the order of the list of squares that `place_crates` makes. The
screen is cut into slices; when the list is ordered by `middle`, a slice finds its part of it by bisection.
O(visible), and the pixels of the rectangles in view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pygame
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Longs, Mask, Words
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import first_at
from crowd_demo.config.model import Config
from crowd_demo.render.camera import Rect, View
from crowd_demo.render.drawing import MARGIN_PX, FrameInput, Moving, ReusedColumns, Shades, drawn, hash_id, pixel
from crowd_demo.render.figures.sprites import Manifest, next_missing
from crowd_demo.render.inks import RGB, channels_of, packed
from crowd_demo.sim.behaviours.crates import CrateColumns
from crowd_demo.sprites.blitter import SLICES_PER_WORKER
from crowd_demo.sprites.pixels import Frame, frame_of

Part = tuple[int, int, int, int, int]  # left, top, right and bottom from the corner of the square, and which ink
Inks = Words  # [tones, inks]: colours

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

def inks(colours: ArrayLike = TONES) -> Inks:
    """The colours of each tone: uint32[tones, inks], 0xRRGGBB."""
    tones = np.asarray(colours, float)[:, None]
    others, shares = (np.array(column, float) for column in zip(*MIXTURES, strict=True))
    return packed((tones + (others - tones) * shares[:, None]).round())

# --- the parts of a crate -----------------------------------------------------------------------------------------------

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
        inner, far = side - 2 * frame, side - frame
        count = 2 if inner < 10 else 3 if inner < 22 else 4 if inner < 44 else 5
        turned = [(frame, frame, far, far, GAP)]
        for number in range(count):
            top, bottom = (frame + line + (inner * k) // count for k in (number, number + 1))
            turned.append((frame, top, far, bottom - line, PLANK))
            if bottom - top > 5 * line:
                turned.append((frame, top, far, top + line, FACE))
        if style & 2 and side >= BOARD_PX:
            width = max(3, round(side * 0.13))
            left = (side - width) // 2
            turned += [(left, frame, left + width + line, far, GAP), (left, frame, left + width, far, FACE),
                       (left, frame, left + line, far, LIGHT)]
        parts += [(top, left, bottom, right, ink) for left, top, right, bottom, ink in turned] if style & 1 else turned
    if side >= NAILS_PX:
        width = max(2, round(side * 0.035))
        near = round(side * 0.085) - width // 2 + line // 2
        ends = near, side - near - width
        parts += [(x, y, x + width, y + width, GAP) for x in ends for y in ends]
    return parts


# --- squares that consist of parts --------------------------------------------------------------------------------------

class Boxes(NamedTuple):
    """int32[n] each, in pixels; the square of an agent outside the screen has side 0."""

    left: Ints
    top: Ints
    side: Ints
    middle: Ints  # pixel row of the centre
    style: Ints
    tone: Ints


class PartTable(NamedTuple):
    """A square consists of the parts [first[side, style], last[side, style])."""

    first: Ints
    last: Ints
    parts: Ints  # [n, 5], as `Part`


class Patterns:
    """Owns the table of the parts that `design(side, style)` gives, from back to front."""

    def __init__(self, design: Callable[[int, int], Iterable[Part]], styles: int) -> None:
        self._design, self._styles = design, styles
        self._known = np.ones(1, bool)  # by side
        nothing = np.zeros((1, styles), np.int32)
        self.table = PartTable(nothing, nothing, np.zeros((0, 5), np.int32))

    def ensure(self, sides: Ints) -> None:
        if (most := int(sides.max(initial=0)) + 1) > len(self._known):
            self._known.resize(most, refcheck=False)
        if next_missing(sides, self._known, 0) == len(sides):
            return
        new, parts, known = np.setdiff1d(sides, np.flatnonzero(self._known)), list[Part](), len(self.table.parts)
        first, last = (np.resize(column, (len(self._known), self._styles)) for column in self.table[:2])
        for side in new.tolist():
            for style in range(self._styles):
                first[side, style] = known + len(parts)
                parts.extend(self._design(side, style))
                last[side, style] = known + len(parts)
        self.table = PartTable(first, last, np.concatenate([self.table.parts, np.array(parts, np.int32)]))
        self._known[new] = True

    def launches(self) -> Iterator[Launch]:
        yield launch(next_missing, np.zeros(0, np.int32), self._known, 0)


def fill_plain(surface: pygame.Surface, boxes: Boxes, table: PartTable, inks: Inks) -> None:
    first, last = (column[boxes.side, boxes.style] for column in table[:2])
    count = last - first
    box = np.repeat(np.arange(len(count)), count)
    part = table.parts[np.arange(len(box)) + np.repeat(first - (np.cumsum(count) - count), count)]
    left, top = boxes.left[box] + part[:, 0], boxes.top[box] + part[:, 1]
    rects = zip(*(column.tolist() for column in (left, top, part[:, 2] - part[:, 0], part[:, 3] - part[:, 1])), strict=True)
    for rect, colour in zip(rects, inks[boxes.tone[box], part[:, 4]].tolist(), strict=True):
        surface.fill(colour, rect)


@device
def _fill(target: Words, width: int, left: int, top: int, right: int, bottom: int, colour: Int) -> None:
    for row in range(top, bottom):
        at = np.uintp(row * width)
        for column in range(left, right):
            target[at + np.uintp(column)] = colour


@kernel
def fill_boxes(worker: int, workers: int, frame: Frame, boxes: Boxes, table: PartTable, inks: Inks, reach: int,
               ordered: bool) -> None:
    """Draw the list on every `workers`-th slice. `ordered`: it ascends in `middle`.

    No pixel lies more than `reach` rows from the middle of its square.
    """
    (height, width), target, slices = frame.shape, frame.reshape(-1), SLICES_PER_WORKER * workers
    for number in range(worker, slices, workers):
        top, bottom = height * number // slices, height * (number + 1) // slices
        first = first_at(boxes.middle, top - reach) if ordered else 0
        last = first_at(boxes.middle, bottom + reach) if ordered else boxes.middle.shape[0]
        for k in range(np.uintp(first), np.uintp(last)):
            x, y, side = np.int64(boxes.left[k]), np.int64(boxes.top[k]), np.int64(boxes.side[k])
            if x < width and x + side > 0 and y < bottom and y + side > top:
                style, tone = np.uintp(boxes.style[k]), np.uintp(boxes.tone[k])
                for p in range(np.uintp(table.first[side, style]), np.uintp(table.last[side, style])):
                    part = table.parts[p]
                    _fill(target, width, max(x + part[0], 0), max(y + part[1], top), min(x + part[2], width),
                          min(y + part[3], bottom), inks[tone, np.uintp(part[4])])


# --- positions on the screen --------------------------------------------------------------------------------------------

@formula
def _side_px(half: Float, zoom: Float) -> int:
    return max(int(2 * half * zoom + 0.5), 1)


@kernel
def place_crates(worker: int, workers: int, slots: Ints, agents: Moving, half: Floats, ahead: np.float32, view: View,
                 boxes: Boxes, on_screen: Longs) -> None:
    """Write the square of each crate in the list.

    on_screen int64[2, workers]: how many touch the screen, and the largest side of one of them, in pixels.
    """
    listed, seen, largest = slots.shape[0], 0, 0
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        x, y = drawn(agents.x[slot], agents.vx[slot], ahead), drawn(agents.y[slot], agents.vy[slot], ahead)
        left = int(np.floor((x - half[slot] - view.left) * view.zoom))
        top = int(np.floor((y - half[slot] - view.top) * view.zoom))
        side = _side_px(half[slot], view.zoom)
        shown: Mask = left < view.width and left + side > 0 and top < view.height and top + side > 0
        side = side if shown else 0
        seed = hash_id(agents.id[slot])
        boxes.left[k], boxes.top[k], boxes.side[k] = left, top, side
        boxes.middle[k] = int(pixel(agents.y[slot], agents.vy[slot], ahead, view.top, view.zoom))
        boxes.style[k], boxes.tone[k] = (seed >> np.uint32(8)) % STYLES, seed % len(TONES)
        seen += shown
        largest = max(largest, side)
    on_screen[0, worker], on_screen[1, worker] = seen, largest


class CrateFigures:
    """Figures without sheets or sprites; the column `half` is half a crate's side."""

    MARKS = False

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        self._half_max = config.crates.half_max
        self._patterns, self._inks = Patterns(design, STYLES), inks()
        self._boxes = ReusedColumns[Boxes](Boxes)
        self._on_screen = np.zeros((2, 1), np.int64)

    def use_settings(self, widest: Config) -> None:
        """Go by other numbers: those of the largest crate so far."""
        self._half_max = widest.crates.half_max

    def margin(self, zoom: float) -> Rect:
        reach = self._half_max + MARGIN_PX / zoom
        return Rect(reach, reach, reach, reach)

    def ordered(self, zoom: float) -> bool:
        return True

    def draw(self, target: pygame.Surface, now: FrameInput, slots: Ints, shades: Shades | None = None) -> int:
        self._place(now, slots).run()
        boxes, used = self._boxes.first(len(slots)), self._inks
        self._patterns.ensure(boxes.side)
        if shades:
            boxes.tone[:] = shades.number
            used = inks(channels_of(shades.palette))
        if now.options.blitter == "pygame":
            fill_plain(target, boxes, self._patterns.table, used)
        else:
            self._fill(now, boxes, used, frame_of(target)).run()
        return int(self._on_screen[0].sum())

    def launches(self, now: FrameInput, frame: Frame) -> Iterator[Launch]:
        yield self._place(now, np.zeros(0, np.int32))
        yield from self._patterns.launches()
        if now.options.blitter == "compiled":
            yield self._fill(now, self._boxes.first(0), self._inks, frame)

    def _place(self, now: FrameInput, slots: Ints) -> Launch:
        if self._on_screen.shape[1] != now.workers:
            self._on_screen = np.zeros((2, now.workers), np.int64)
        half = cast(CrateColumns, now.columns).half
        return launch(place_crates, now.workers, slots, now.agents, half, now.ahead, now.view, self._boxes.first(len(slots)),
                      self._on_screen)

    def _fill(self, now: FrameInput, boxes: Boxes, used: Inks, frame: Frame) -> Launch:
        reach = int(self._on_screen[1].max()) // 2 + ROUNDING_PX
        return launch(fill_boxes, now.workers, frame, boxes, self._patterns.table, used, reach, now.options.depth != "off")
