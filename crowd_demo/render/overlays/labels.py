"""Labels in the world: doors with how many have left, named places, and areas that are measured.

A door's label stands beside its opening, never on it. Below 8 pixels a person only counts are left, below 4 nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from crowd_demo.render.figures.people import UNITS
from crowd_demo.render.hud.canvas import ACCENT, DIM, TEXT, WARM
from crowd_demo.render.inks import WHITE, ink
from crowd_demo.render.overlays.base import OverlayView
from crowd_demo.render.overlays.sketch import Part, Sketch, Spot
from crowd_demo.sim.events import inside
from crowd_demo.sim.fundamental_diagram import Line
from crowd_demo.sim.terrain.tiles import Terrain

NAMED_PX, LEAST_PX, BESIDE_PX = 8.0, 4.0, 8  # height of a person, and from an opening to its label
RATE_S = 5  # seconds that a flow is the mean of


def draw_labels(sketch: Sketch, view: OverlayView) -> None:
    person_px = UNITS * sketch.zoom
    if person_px < LEAST_PX:
        return
    is_named, alpha = person_px >= NAMED_PX, round(255 * min(max((person_px - LEAST_PX) / 2, 0.3), 1))
    for name, count, more, line in _counted(sketch, view):
        sketch.tag([(name, DIM), (count, TEXT), *more] if is_named else [(count, TEXT)], _beside(line), alpha)
    for name, (x, y) in view.sim.config.scene.labels.items() if is_named else ():
        sketch.tag([(name, TEXT)], [("center", x, y, 0, 0)], alpha)


def _counted(sketch: Sketch, view: OverlayView) -> Iterator[tuple[str, str, tuple[Part, ...], Line]]:
    """The name of a door or area, how many people it counts, what else there is to say, and the line to write that beside."""
    sim = view.sim
    if not sim.config.events:  # in a scenario with events areas only serve those
        for name, area in sim.config.measure.areas.items():
            sketch.boxes(*area, ink(WHITE), 2, dash=8)
            yield name, f"{inside(name, sim):,}", (), Line(area[0], area[1], area[2], area[1])
        return
    rates = sim.counts.flows(RATE_S)
    for number, (name, ends) in enumerate(sim.config.measure.lines.items()):
        found = opening(sim.terrain, sim.terrain.version, Line(*ends))
        rate = f"{rates[-1, number] if len(rates) else 0:.1f}/s"
        yield (name, f"{sim.counts.of_line(name):,}", ((rate, ACCENT) if found else ("blocked", WARM),), found or Line(*ends))


def _beside(line: Line) -> tuple[Spot, Spot]:
    """Past one end of a line, or past the other where the screen or a panel leaves no room."""
    x0, y0, x1, y1 = line
    if abs(x1 - x0) > abs(y1 - y0):
        return ("midleft", max(x0, x1), y0, BESIDE_PX, 0), ("midright", min(x0, x1), y0, -BESIDE_PX, 0)
    return ("midbottom", x0, min(y0, y1), 0, -BESIDE_PX), ("midtop", x0, max(y0, y1), 0, BESIDE_PX)


@lru_cache(16)
def opening(terrain: Terrain, version: int, line: Line) -> Line | None:
    """Return the longest free part of a line in a version of the terrain; None if a wall within a tile of it blocks it."""
    blocked, tile = terrain.walls.blocked, float(terrain.walls.tile)
    start, way = np.array(line[:2]), np.subtract(line[2:], line[:2])
    length = float(np.hypot(*way))
    steps = max(round(length / tile * 4), 1)
    points = start + way * ((np.arange(steps) + 0.5) / steps)[:, None]
    aside = np.array((-way[1], way[0])) * (tile / length)
    columns, rows = (np.stack((points - aside, points, points + aside), axis=-1).T / tile).astype(int).swapaxes(0, 1)
    free = blocked[rows.clip(0, blocked.shape[0] - 1), columns.clip(0, blocked.shape[1] - 1)] == 0
    runs = np.flatnonzero(np.diff(free[1].astype(int), prepend=0, append=0)).reshape(-1, 2)
    first, end = runs[np.argmax(runs[:, 1] - runs[:, 0])] if len(runs) else (0, 0)
    if not free[:, first:end].any(axis=1).all():
        return None
    return Line(*(start + way * (first / steps)).tolist(), *(start + way * (end / steps)).tolist())
