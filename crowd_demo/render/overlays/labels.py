"""Labels in the world: doors with how many have left, named places, and areas that are measured.

A door's label stands beside its opening, never on it. Below 8 pixels a person only counts are left, below 4 nothing.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from crowd_demo.render.figures.people import UNITS
from crowd_demo.render.hud.canvas import ACCENT, DIM, TEXT, WARM
from crowd_demo.render.inks import WHITE, ink
from crowd_demo.render.overlays.base import OverlayView
from crowd_demo.render.overlays.sketch import Part, Sketch
from crowd_demo.sim.events import inside
from crowd_demo.sim.fundamental_diagram import Line
from crowd_demo.sim.terrain.tiles import Terrain

NAMED_PX, LEAST_PX = 8.0, 4.0  # height of a person
BESIDE_PX = 8  # from an opening to its label
RATE_S = 5  # seconds that a flow is the mean of


def draw_labels(sketch: Sketch, view: OverlayView) -> None:
    person_px, config = UNITS * sketch.zoom, view.sim.config
    if person_px < LEAST_PX:
        return
    counts, terrain = view.sim.counts, view.sim.terrain
    rates = counts.flows(RATE_S)
    for number, (name, ends) in enumerate(config.measure.lines.items() if config.events else ()):
        rate = f"{rates[-1, number]:.1f}/s" if len(rates) else ""
        found = opening(terrain, terrain.version, Line(*ends))
        _beside(sketch, found or Line(*ends), person_px, name, f"{counts.of_line(name):,}", rate if found else "blocked",
                ACCENT if found else WARM)
    if not config.events:
        for name, area in config.measure.areas.items():  # in a scenario with events areas only serve those
            sketch.boxes(*area, ink(WHITE), 2, dash=8)
            _beside(sketch, Line(area[0], area[1], area[2], area[1]), person_px, name, f"{inside(name, view.sim):,}")
    if person_px >= NAMED_PX:
        for name, (x, y) in config.scene.labels.items():
            sketch.tag(((name, TEXT),), (("center", x, y, 0, 0),), _opacity(person_px))


def _beside(sketch: Sketch, line: Line, person_px: float, name: str, count: str, more: str = "", colour: str = ACCENT) -> None:
    """Write a label past one end of a line, or past the other where the screen or a panel leaves no room."""
    parts: list[Part] = [(count, TEXT)]
    if person_px >= NAMED_PX:
        parts = [(name, DIM), *parts, *([(more, colour)] if more else [])]
    (x0, y0, x1, y1), gap = line, BESIDE_PX
    if abs(x1 - x0) > abs(y1 - y0):
        spots = ("midleft", max(x0, x1), y0, gap, 0), ("midright", min(x0, x1), y0, -gap, 0)
    else:
        spots = ("midbottom", x0, min(y0, y1), 0, -gap), ("midtop", x0, max(y0, y1), 0, gap)
    sketch.tag(parts, spots, _opacity(person_px))


def _opacity(person_px: float) -> int:
    return round(255 * min(max((person_px - LEAST_PX) / 2, 0.3), 1))


@lru_cache(16)
def opening(terrain: Terrain, version: int, line: Line) -> Line | None:
    """Return the longest free part of a line in a version of the terrain; None if a wall within a tile of it blocks it."""
    walls = terrain.walls
    tile, (x0, y0, x1, y1) = float(walls.tile), line
    length = math.hypot(x1 - x0, y1 - y0)
    steps = max(round(length / tile * 4), 1)
    part = (np.arange(steps) + 0.5) / steps
    free = []
    for aside in (0.0, -tile, tile):
        x, y = x0 + (x1 - x0) * part - (y1 - y0) / length * aside, y0 + (y1 - y0) * part + (x1 - x0) / length * aside
        rows, columns = (np.minimum(at / tile, size - 1).astype(int).clip(0) for at, size in zip(
            (y, x), walls.blocked.shape, strict=True))
        free.append(walls.blocked[rows, columns] == 0)
    edges = np.flatnonzero(np.diff(free[0].astype(int), prepend=0, append=0)).reshape(-1, 2)
    if not len(edges):
        return None
    first, end = edges[np.argmax(edges[:, 1] - edges[:, 0])].tolist()
    if not all(side[first:end].any() for side in free):
        return None
    a, b = first / steps, end / steps
    return Line(x0 + (x1 - x0) * a, y0 + (y1 - y0) * a, x0 + (x1 - x0) * b, y0 + (y1 - y0) * b)
