"""Navigation in space and time: the minimap and the timeline. A press or a drag on them goes there.

The minimap is the whole world, small, with its crowd, the view, and the frozen frustum. The ground has the mean
colour of each tile; the crowd is a sample, drawn on it some times a second and kept in between.

The timeline is a bar at the lower edge that shows how far back one can go, and how long the frames took then. It spans
the last minute. What can be returned to is lighter; a line marks the present tick, and a small triangle each event that
happened, with its text when the cursor is there. The bar is rendered a few times a second, and only lines and triangles
move in between.
"""

from __future__ import annotations

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes
from crowd_demo.render.hud.canvas import (
    ACCENT,
    DIM,
    EDGE,
    GROUND,
    INACTIVE,
    KEY,
    MUTED,
    TEXT,
    WARM,
    Canvas,
    Pen,
    Renderings,
)
from crowd_demo.render.hud.frame_sections import BUDGET_MS, scale_ms
from crowd_demo.render.hud.status import Mark, MinimapView, Past
from crowd_demo.sim.simulation import Simulation

REFRESH_HZ = 4.0
MARK_PX = 5  # half the width of an event's mark on the timeline, at scale 1
WIDEST, HIGHEST, AROUND = 130.0, 110.0, 6.0  # units, of the minimap
SAMPLE = 8192  # agents at most
DARK, LIGHT = (30, 34, 60), (250, 240, 210)  # the crowd on a light ground, and on a dark one
DARK_BELOW = 110.0  # mean of the ground's channels
STRONGEST = 0.8  # share of the crowd's colour, where it is densest


# --- the minimap -----------------------------------------------------------------------------------------------------

class Minimap:
    def __init__(self) -> None:
        self._rendered = Renderings()
        self.at = 0, 0  # pixel of the window where its upper left corner is
        self._px_per_unit = 1.0  # pixels a world unit, as drawn last
        self._edge_px = 0

    def draw(self, sim: Simulation, shown: MinimapView, pen: Pen, scale: float, now_s: float) -> Canvas:
        width, height = float(sim.terrain.walls.width), float(sim.terrain.walls.height)
        per_unit = min(WIDEST / width, HIGHEST / height)  # panel units a world unit
        box = width * per_unit, height * per_unit
        canvas = Canvas((box[0] + 2 * AROUND, box[1] + 2 * AROUND), pen, scale)
        inner = canvas.pixels((AROUND, AROUND, *box))
        self._px_per_unit, self._edge_px = per_unit * scale, inner.left
        picture = self._rendered.get("world", (inner.size, id(shown.ground)), lambda: pygame.surfarray.make_surface(
            picture_of(sim, shown.ground, inner.size)), now_s, 1 / REFRESH_HZ)
        canvas.surface.blit(picture, inner)
        canvas.surface.set_clip(inner)
        for rect, colour in ((shown.frozen, WARM), (shown.view, TEXT)):
            if rect:
                left, top = AROUND + rect.left * per_unit, AROUND + rect.top * per_unit
                size = (rect.right - rect.left) * per_unit, (rect.bottom - rect.top) * per_unit
                seen = canvas.pixels((left, top, *size)).clip(inner)
                pygame.draw.rect(canvas.surface, (0, 0, 0), seen.inflate(2, 2), 3)
                pygame.draw.rect(canvas.surface, pen.colour(colour), seen, 1)
        canvas.surface.set_clip(None)
        canvas.target((0, 0, *canvas.size), "minimap")
        return canvas

    def world_at(self, x: float, y: float) -> tuple[float, float]:
        """The point of the world at a pixel of the window, as drawn last; beside the minimap, where it would go on."""
        left, top = self.at
        return (x - left - self._edge_px) / self._px_per_unit, (y - top - self._edge_px) / self._px_per_unit


def picture_of(sim: Simulation, tiles: Bytes, size: tuple[int, int]) -> Bytes:
    """Ground and crowd of the whole world in so many pixels: uint8[width, height, 3]."""
    width, height = size
    rows, columns = (np.arange(pixels) * tiles_along // pixels
                     for pixels, tiles_along in zip((height, width), tiles.shape[:2], strict=True))
    ground = tiles[rows][:, columns].swapaxes(0, 1).astype(np.float32)
    crowd = np.array(LIGHT if ground.mean() < DARK_BELOW else DARK, np.float32)
    columns_of, count = sim.agents.view, sim.agents.count
    every = max(1, -(-count // SAMPLE))
    across, down = (np.clip(along[:count:every] / float(side) * pixels, 0, pixels - 1).astype(np.int64)
                    for along, side, pixels in ((columns_of.x, sim.terrain.walls.width, width),
                                                (columns_of.y, sim.terrain.walls.height, height)))
    counts = np.zeros(size, np.float32)
    np.add.at(counts, (across, down), 1)
    share = STRONGEST * (1 - np.exp(-counts / max(3 * float(counts.mean()), 0.1)))[..., None]
    return (ground + (crowd - ground) * share).astype(np.uint8)


# --- the timeline -------------------------------------------------------------------------------------------------------

def first_tick(past: Past) -> int:
    """The tick at the left end of the bar; below 0 in the first minute."""
    return past.newest - past.span


def tick_at(past: Past, x: float, bar: pygame.Rect) -> int:
    """The tick that is shown at a pixel's column, or the nearest that can be returned to."""
    tick = first_tick(past) + round((x - bar.left) / max(bar.width - 1, 1) * past.span)
    return min(max(tick, past.oldest), past.newest)


def column_of(past: Past, tick: int, width: int) -> int:
    return round((tick - first_tick(past)) / past.span * (width - 1))


def mark_at(past: Past, x: float, bar: pygame.Rect, scale: float) -> Mark | None:
    """The event whose mark is at a pixel's column; the nearest, of several."""
    near = [(abs(bar.left + column_of(past, mark.at, bar.width) - x), mark) for mark in shown_marks(past)]
    return min((found for found in near if found[0] <= MARK_PX * scale), default=(0, None))[1]


def shown_marks(past: Past) -> list[Mark]:
    return [mark for mark in past.marks if first_tick(past) <= mark.at <= past.newest]


def label(past: Past) -> str:
    """The present tick, how far back one can go, and the memory for it."""
    reach = why_not(past) or (
        f"rewind {int((past.newest - past.oldest) / past.hz)} s ({past.nbytes / 1e6:.0f} of {past.bound / 1e6:.0f} MB)")
    if past.recorded is not None:
        reach += f", recording {past.recorded / 1e6:,.2f} MB"
    if past.tick == past.newest:
        return reach
    ago_s = (past.newest - past.tick) / past.hz
    what = "Space plays on" if past.replayed else "changes discard what follows"
    return f"{ago_s:.2f} s ago, tick {past.tick:,}: {what}   ({reach})"


def why_not(past: Past) -> str:
    """Why there is no going back; empty if there is."""
    if not past.bound:
        return "going back is off: time.rewind_mb is 0"
    if not past.nbytes:
        return f"no going back: this crowd needs more than {past.bound / 1e6:.0f} MB (time.rewind_mb)"
    return ""


class TimelineBar:
    def __init__(self, pen: Pen) -> None:
        self._pen, self._rendered = pen, Renderings()

    def draw(self, on: pygame.Surface, bar: pygame.Rect, past: Past, now_s: float, scale: float, is_tall: bool) -> None:
        at = bar.left + column_of(past, past.tick, bar.width)
        if is_tall:
            sheet = self._rendered.get("bar", (bar.size, id(self._pen.theme)), lambda: rendered(
                bar.size, past, self._pen), now_s, 1 / REFRESH_HZ)
            on.blit(sheet, bar)
        else:
            on.fill(self._pen.colour(GROUND), bar)
            left = bar.left + column_of(past, past.oldest, bar.width)
            on.fill(self._pen.colour(MUTED), (left, bar.top + 2, max(at - left, 0), bar.height - 4))
        warm, half = self._pen.colour(WARM), round(MARK_PX * scale)
        for mark in shown_marks(past):
            x = bar.left + column_of(past, mark.at, bar.width)
            pygame.draw.line(on, warm, (x, bar.top), (x, bar.bottom - 1))
            pygame.draw.polygon(on, warm, ((x - half, bar.top), (x + half, bar.top), (x, bar.top + 2 * half)))
        pygame.draw.line(on, self._pen.colour(ACCENT), (at, bar.top), (at, bar.bottom - 1), 3)


def rendered(size: tuple[int, int], past: Past, pen: Pen) -> pygame.Surface:
    """The tall bar without its line: each column is as high as the slowest frame of the ticks that it stands for."""
    sheet, (width, height) = pygame.Surface(size), size
    full_ms, reach = scale_ms(past.frame_ms[past.frame_ms > 0]), column_of(past, past.oldest, width)
    slowest = np.maximum.reduceat(past.frame_ms, np.arange(width) * past.span // width)  # of each column
    sheet.fill(pen.colour(GROUND))
    sheet.fill(pen.colour(KEY), (reach, 0, width, height))
    beyond, within = pen.colour(INACTIVE), pen.colour(MUTED)
    for column, ms in enumerate(slowest.tolist()):
        tall = round(min(ms / full_ms, 1.0) * height)
        if tall:
            sheet.fill(within if column >= reach else beyond, (column, height - tall, 1, tall))
    budget = height - round(height * BUDGET_MS / full_ms)
    if 0 < budget < height:
        for column in range(0, width, 2):
            sheet.set_at((column, budget), pen.colour(DIM))
    pygame.draw.rect(sheet, pen.colour(EDGE), sheet.get_rect(), 1)
    return sheet
