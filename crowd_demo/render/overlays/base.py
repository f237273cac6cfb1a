"""Overlays, drawn over the finished picture or on the ground under the agents. They never write the crowd.

An overlay is a function in a file of this folder and an entry in the registry. It draws on a `Sketch` what it finds
in the arrays that the last step and this frame have really used, so it shows what the program does. A kernel finds
the agents in view, because overlays read all of them in each picture. O(listed).

A sketch collects areas and lines in world units, and words. An overlay calls `areas`, `lines` and their like with whole
arrays, and specifies in the legend, by `explain`, what they mean. Once all overlays have drawn, one kernel blends
everything over the picture (marks.py), and texts are written at the end. So an overlay is plain NumPy, and has no
kernels to compile.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pygame
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Doubles, Ints, Longs
from crowd_demo.compute.jit import Launch, kernel, launch
from crowd_demo.registry.built_in import OVERLAYS
from crowd_demo.registry.entries import load
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.drawing import Moving, drawn, hash_id
from crowd_demo.render.hud.canvas import SMALL, TEXT, Canvas, Pen, scale_for
from crowd_demo.render.hud.status import Chart, Key, LegendItem
from crowd_demo.render.inks import RGB, SCALE, scale_inks
from crowd_demo.render.marks import FilledAreas, Strokes, draw_marks
from crowd_demo.render.scene import Used
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sprites.pixels import Frame, frame_of, is_plain, plain_surface

EVERYWHERE = Rect(-math.inf, -math.inf, math.inf, math.inf)
NOT_BUILT = "the next step builds it"  # a structure, after a change or in the past
FEWEST_CORNERS, MAX_CORNERS = 4, 12  # corners of a circle: between them no side is more than half a pixel inside of it
ARROW_HEAD = 0.3  # of an arrow's length
PALE, FULL = 160, 215  # how opaque the least and the most of a heat map are, of 255: enough to be told apart on any ground
LASTING = 180  # pictures that the scale of a heat map stays as it is needed

Part = tuple[str, RGB | str]  # of a label: a text, and its colour
Spot = tuple[str, float, float, int, int]  # which point of a label lies at a point of the world, and so many pixels off
Edges = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]  # of areas: left, top, right and bottom
Heat = tuple[Edges, Doubles]  # areas, and how much there is in each: 1 or more
Moved = Callable[[pygame.Rect], pygame.Rect]  # where in the window a rectangle is to be instead


class InView(NamedTuple):
    """The agents found in a list: each worker writes to the beginning of its share of these columns."""

    slots: Ints  # [listed]
    x: Doubles  # [listed], world units, as the next one
    y: Doubles
    found: Longs  # [workers]: how many each has found

    def joined(self) -> tuple[Ints, Doubles, Doubles]:
        """The slots of those that were found, in the order of the list, and x and y of each."""
        listed, workers = len(self.slots), len(self.found)
        firsts = [listed * worker // workers for worker in range(workers)]
        shares = [slice(first, first + found) for first, found in zip(firsts, self.found.tolist(), strict=True)]
        slots, x, y = (np.concatenate([column[share] for share in shares]) for column in (self.slots, self.x, self.y))
        return slots, x, y


@kernel
def find_in_view(worker: int, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: Rect, mask: np.uint32,
                 in_view: InView) -> None:
    """Find those of this worker's share of the list that are drawn in the view, its edges included.

    Of these only agents whose hashed id has no bit of the mask.
    """
    listed = slots.shape[0]
    first = at = listed * worker // workers
    for k in range(first, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        x = np.float64(drawn(agents.x[slot], agents.vx[slot], ahead))
        y = np.float64(drawn(agents.y[slot], agents.vy[slot], ahead))
        in_view.slots[np.uintp(at)], in_view.x[np.uintp(at)], in_view.y[np.uintp(at)] = slots[k], x, y
        at += ((x >= view.left) & (x <= view.right) & (y >= view.top) & (y <= view.bottom)
               & (hash_id(agents.id[slot]) & mask == 0))
    in_view.found[worker] = at - first


def find_launch(workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: Rect,
                mask: int = 0) -> tuple[Launch, InView]:
    """Return the kernel, and what it writes."""
    listed = len(slots)
    in_view = InView(np.empty(listed, np.int32), np.empty(listed), np.empty(listed), np.zeros(workers, np.int64))
    return launch(find_in_view, workers, slots, agents, ahead, view, np.uint32(mask), in_view), in_view


class OverlayView(NamedTuple):
    """What overlays look at: the crowd, the camera that shows it, and what the scene has used to draw it."""

    sim: Simulation
    camera: Camera
    frozen: Rect | None  # the part of the world that culling keeps, where that is frozen
    used: Used
    scales: Scales  # of heat maps
    cursor: tuple[float, float] | None = None  # in pixels, if it is in the window

    def positions(self, slots: Ints) -> tuple[Doubles, Doubles]:
        """Where these agents are drawn, world units."""
        return self._found(slots, EVERYWHERE)[1:]

    def in_view(self) -> Ints:
        """The slots of the agents on the screen that the scene has drawn."""
        return self.visible()[0]

    def visible(self, slots: Ints | None = None) -> tuple[Ints, Doubles, Doubles]:
        """The slots of `in_view`, or of some of these, and where each agent is drawn: x and y, world units."""
        return self._found(self.used.slots if slots is None else slots, self.camera.view_rect())

    def sample(self, slots: Ints, most: int) -> tuple[Ints, Doubles, Doubles, str]:
        """Of many agents one in 2^k, always the same ones, so that lines can be read.

        Return their slots, by id, x and y where they are drawn, and a text that says how many they are.
        """
        halvings = (max(len(slots) - 1, 0) // most).bit_length()
        kept, x, y = self._found(slots, EVERYWHERE, (1 << halvings) - 1)
        by_id = np.argsort(self.used.now.agents.id[kept])
        return kept[by_id], x[by_id], y[by_id], f"of 1 in {1 << halvings} agents" if halvings else "of all agents in view"

    def _found(self, slots: Ints, rect: Rect, mask: int = 0) -> tuple[Ints, Doubles, Doubles]:
        """Those of them that are drawn in a part of the world, and whose hashed id has no bit of the mask; x and y of each."""
        now = self.used.now
        find, found = find_launch(now.workers, np.ascontiguousarray(slots, np.int32), now.agents, now.ahead, rect, mask)
        find.run()
        return found.joined()


def on_ground(shown: Collection[str]) -> set[str]:
    return {name for name in shown if OVERLAYS[name].on_ground}


def draw_overlays(on: pygame.Surface, shown: Collection[str], view: OverlayView, pen: Pen,
                  more: Callable[[Sketch], None] = lambda sketch: None, scale: float = 1.0,
                  moved: Moved = lambda rect: rect) -> list[LegendItem]:
    """Draw the overlays named in `shown`, in the order of the registry, and `more`; return the legend. Runs a kernel.

    Labels are `scale` times as large as usual, and moved away from what will cover them.
    """
    sketch, situation = Sketch(view.camera), view.sim.situation
    for name, entry in OVERLAYS.items():
        if name in shown:
            sketch.name = entry.label
            if why := entry.inactive(situation):
                sketch.explain(why)
            else:
                load(entry.draw)(sketch, view)
    more(sketch)
    target = on if is_plain(on) else plain_surface(on.get_size())
    if target is not on:
        target.blit(on, (0, 0))
    sketch.launch(view.sim.workers, frame_of(target)).run()
    if target is not on:
        on.blit(target, (0, 0))
    sketch.write(on, pen, scale, moved)
    return sketch.legend_items


def overlay_launches(workers: int, agents: Moving) -> Iterator[Launch]:
    """The kernels of all overlays, on nothing, for compiling ahead."""
    yield Sketch(Camera((1.0, 1.0), (1, 1))).launch(workers, np.zeros((1, 1), np.uint32))
    yield find_launch(workers, np.zeros(0, np.int32), agents, np.float32(0), EVERYWHERE)[0]


# --- a sketch --------------------------------------------------------------------------------------------------------

class Sketch:
    def __init__(self, camera: Camera) -> None:
        self.rect = camera.view_rect()  # the part of the world that is on the screen
        self.zoom = camera.zoom  # pixels a unit
        self._areas: list[tuple[ArrayLike, ...]] = []  # four edges, inks
        self._strokes: list[tuple[ArrayLike, ...]] = []  # x and y of both ends, inks, widths, dashes
        self._labels: list[tuple[Sequence[Part], list[tuple[str, tuple[int, int]]], int, bool]] = []  # may one be moved?
        self.legend_items: list[LegendItem] = []
        self.name = ""  # of the overlay that is drawing

    # --- marks; arrays of one shape, or numbers, in world units ------------------------------------------------------

    def areas(self, left: ArrayLike, top: ArrayLike, right: ArrayLike, bottom: ArrayLike, inks: ArrayLike) -> None:
        self._areas.append((left, top, right, bottom, inks))

    def lines(self, x0: ArrayLike, y0: ArrayLike, x1: ArrayLike, y1: ArrayLike, inks: ArrayLike, width: int = 1,
              dash: int = 0, shadow: int = 0) -> None:
        """Draw lines of so many pixels; `dash` is a length in pixels, `shadow` the ink of wider lines under them."""
        if shadow:
            self._strokes.append((x0, y0, x1, y1, shadow, width + 2, 0))
        self._strokes.append((x0, y0, x1, y1, inks, width, dash))

    def boxes(self, left: ArrayLike, top: ArrayLike, right: ArrayLike, bottom: ArrayLike, inks: ArrayLike, width: int = 1,
              dash: int = 0, shadow: int = 0) -> None:
        left, top, right, bottom = np.broadcast_arrays(left, top, right, bottom)
        self.lines(np.stack((left, right, right, left)), np.stack((top, top, bottom, bottom)),
                   np.stack((right, right, left, left)), np.stack((top, bottom, bottom, top)), inks, width, dash, shadow)

    def circles(self, x: ArrayLike, y: ArrayLike, radius: ArrayLike, inks: ArrayLike, width: int = 1, dash: int = 0,
                shadow: int = 0) -> None:
        """Draw circles, as polygons of as many corners as the largest one needs."""
        x, y, radius = (np.asarray(number, np.float64) for number in (x, y, radius))
        # a side of n corners is `radius * (1 - cos(pi / n))` inside of its circle, nearly `radius * (pi / n)**2 / 2`
        wanted = math.ceil(math.pi * math.sqrt(float(radius.max(initial=0)) * self.zoom))
        corners = min(max(wanted, FEWEST_CORNERS), MAX_CORNERS)
        angle = np.linspace(0, 2 * np.pi, corners + 1)[:, None]
        around_x, around_y = x + radius * np.cos(angle), y + radius * np.sin(angle)
        self.lines(around_x[:-1], around_y[:-1], around_x[1:], around_y[1:], inks, width, dash, shadow)

    def arrows(self, x0: ArrayLike, y0: ArrayLike, x1: ArrayLike, y1: ArrayLike, inks: ArrayLike, width: int = 1,
               shadow: int = 0) -> None:
        """Draw lines with a head at their end."""
        x0, y0, x1, y1 = (number.astype(np.float64) for number in np.broadcast_arrays(x0, y0, x1, y1))
        back_x, back_y = (x0 - x1) * ARROW_HEAD, (y0 - y1) * ARROW_HEAD
        self.lines(np.stack((x0, x1 + back_x - back_y, x1 + back_x + back_y)),
                   np.stack((y0, y1 + back_y + back_x, y1 + back_y - back_x)), x1, y1, inks, width, shadow=shadow)

    def doublings(self, side: float, least_px: float) -> int:
        """How often a side, in world units, has to be doubled to be so many pixels long."""
        level = 0
        while side * self.zoom * (1 << level) < least_px:
            level += 1
        return level

    # --- words -------------------------------------------------------------------------------------------------------

    def explain(self, text: str, *keys: Key, chart: Chart | None = None) -> None:
        """Add what the present overlay shows, and what its colours mean, to the legend; the HUD places the chart."""
        self.legend_items.append(LegendItem(self.name, text, keys, chart))

    def label(self, text: str, x: float, y: float, colour: RGB | str = TEXT) -> None:
        """Write a text on a plate at a point of the world; one that lies outside stays at the edge of the screen."""
        self._write(((text, colour),), [("center", x, y, 0, 0)], 255, True)

    def tag(self, parts: Sequence[Part], spots: Sequence[Spot], alpha: int = 255) -> None:
        """Write a label at the first of these spots where all of it can be seen; nowhere if there is none."""
        self._write(parts, spots, alpha, False)

    def _write(self, parts: Sequence[Part], spots: Sequence[Spot], alpha: int, may_move: bool) -> None:
        left, top, zoom = self.rect.left, self.rect.top, self.zoom
        corners = [(corner, (round((x - left) * zoom) + dx, round((y - top) * zoom) + dy)) for corner, x, y, dx, dy in spots]
        self._labels.append((parts, corners, alpha, may_move))

    # --- once all overlays have drawn --------------------------------------------------------------------------------

    def launch(self, workers: int, frame: Frame) -> Launch:
        areas, strokes = _joined(self._areas, np.uint32), _joined(self._strokes, np.uint32, np.int32, np.int32)
        return launch(draw_marks, workers, FilledAreas(*areas), Strokes(*strokes), self.rect, self.zoom, frame)

    def write(self, on: pygame.Surface, pen: Pen, scale: float = 1.0, moved: Moved = lambda rect: rect) -> None:
        """Write the labels, `scale` times as large as is usual in such a window, and moved away from what will cover them."""
        px_per_unit = scale_for(on.get_size(), scale)
        for parts, spots, alpha, may_move in self._labels:
            width, x = Canvas((1, 1), pen, px_per_unit, None).width, 5.0
            canvas = Canvas((sum(width(text, SMALL) + 5 for text, _ in parts) + 5, 17), pen, px_per_unit)
            for text, colour in parts:
                x = canvas.left(text, x, 8.5, SMALL, colour) + 5
            sheet = canvas.surface
            sheet.set_alpha(alpha)
            rects = [sheet.get_rect(**{corner: pixel}) for corner, pixel in spots]
            if may_move:
                on.blit(sheet, moved(rects[0].clamp(on.get_rect().inflate(-16, -16))))
            elif seen := [rect for rect in rects if on.get_rect().contains(rect) and moved(rect) == rect]:
                on.blit(sheet, seen[0])


def _joined(parts: Sequence[tuple[ArrayLike, ...]], *kinds: type) -> list[Any]:
    """Four coordinates of each mark, float64[4, n], and columns of other kinds; a number counts for all marks of its part."""
    shapes = [np.broadcast(*part).shape for part in parts]
    ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
    corners = np.empty((4, ends[-1]))
    columns: list[Any] = [np.empty(ends[-1], kind) for kind in kinds]
    for part, shape, first, last in zip(parts, shapes, ends[:-1], ends[1:], strict=True):
        for column, values in zip((*corners, *columns), part, strict=True):
            column[first:last].reshape(shape)[...] = values
    return [corners, *columns]


# --- heat maps: areas that are the darker and the more opaque the more there is in them -----------------------------------

class Scales:
    """The end of each heat map's scale: it rises at once, and falls after `LASTING` pictures that did not need it.

    So colours do not flicker.
    """

    def __init__(self) -> None:
        self._needed = defaultdict[str, deque[int]](lambda: deque(maxlen=LASTING))

    def end_of(self, what: str, most: float) -> int:
        self._needed[what].append(round_up(most))
        return max(self._needed[what])


def draw_heat(sketch: Sketch, heat: Heat, what: str, scales: Scales) -> None:
    """Fill rectangles by their amounts; `what` is the text of the legend."""
    edges, amounts = heat
    most = float(amounts.max(initial=0))
    end = scales.end_of(what, most)
    sketch.areas(*edges, scale_inks((amounts - 1) / (end - 1), PALE, FULL))
    keys = (Key(colour, f"{1 + (end - 1) * third // 3:,}") for third, colour in enumerate(SCALE))
    sketch.explain(f"{what} (maximum {most:,.0f})", *keys)


def round_up(number: float) -> int:
    """The next number of 4, 7, 10, 13, 19, 25, 37, 49, ...: 1 and three equal steps."""
    steps = (each << power >> 1 for power in count() for each in (2, 3))  # 1, 1, 2, 3, 4, 6, 8, 12, ...
    return next(1 + 3 * step for step in steps if 1 + 3 * step >= number)


# --- squares of the ground, and cells of a grid; they stay where they are when the camera moves ---------------------------

class GroundSquares(NamedTuple):
    """The squares of the world that are in view, numbered row by row; `left` and `top` are column and row of the first."""

    side: float  # units
    left: int
    top: int
    columns: int
    rows: int

    @property
    def total(self) -> int:
        return self.columns * self.rows

    def number_at(self, x: Doubles, y: Doubles) -> Longs:
        column, row = (np.floor(position / self.side).astype(np.int64) for position in (x, y))
        return (row - self.top) * self.columns + (column - self.left)

    def cell_of(self, number: Longs) -> tuple[Longs, Longs]:
        row, column = np.divmod(number, self.columns)
        return column + self.left, row + self.top


def squares_in(view: Rect, side: float) -> GroundSquares:
    left, top, right, bottom = (math.floor(edge / side) for edge in view)
    return GroundSquares(side, left, top, right - left + 1, bottom - top + 1)


def cells_in(view: Rect, cell: float, columns: int, rows: int, more: int = 0) -> tuple[Longs, Longs]:
    """The rows and the columns of a grid that are in view, and so many more on each side, if there are any."""
    return cells_between(view.top, view.bottom, cell, rows, more), cells_between(view.left, view.right, cell, columns, more)


def cells_between(low: float, high: float, cell: float, cells: int, more: int = 0) -> Longs:
    """The columns, or the rows, of a grid between two edges of the view, and so many more on each side, if there are any."""
    return np.arange(max(math.floor(low / cell) - more, 0), min(math.floor(high / cell) + 1 + more, cells))
