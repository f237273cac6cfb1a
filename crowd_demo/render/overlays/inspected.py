"""The agent that is inspected, with those around it; or the rectangle whose agents are counted."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Doubles, Ints
from crowd_demo.render.camera import Rect
from crowd_demo.render.inks import BLACK, GREEN, GREY, ORANGE, WHITE, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.sim.inspection import Around

MARK_PX, MOST = 4.0, 2000  # half a mark's side; candidates that are marked
RING_PX = 11.0  # radius
LEAST = 0.6  # of these sizes: below a pixel a unit marks are smaller, or they would cover what they mark


def _size(sketch: Sketch) -> float:
    """How large marks are, of their full size."""
    return min(max(sketch.zoom, LEAST), 1.0)


def draw_agent(sketch: Sketch, looking: Looking, slot: int, around: Around | None, neighbours: Ints) -> None:
    """Mark candidates grey, neighbours green, each with a line, and the agent with its cell and its reach."""
    if around:
        if around.reach:
            sketch.boxes(*around.reach, ink(BLACK, 200), 2, dash=6)
        if around.own:
            sketch.boxes(*around.own, ink(ORANGE), 2)
        x, y = looking.places(around.candidates[:MOST])
        _mark(sketch, x, y, ink(GREY))
        x, y = looking.places(neighbours[:MOST])
        (own_x,), (own_y,) = looking.places(_only(slot))
        sketch.lines(own_x, own_y, x, y, ink(GREEN, 200))
        _mark(sketch, x, y, ink(GREEN))
    x, y = looking.places(_only(slot))
    radius, size = RING_PX * _size(sketch) / sketch.zoom, _size(sketch)
    sketch.circles(x, y, radius, ink(BLACK), width=5 if size == 1 else 3)
    sketch.circles(x, y, radius, ink(WHITE), width=2 if size == 1 else 1)


def draw_box(sketch: Sketch, box: Rect) -> None:
    sketch.areas(*box, ink(WHITE, 40))
    sketch.boxes(*box, ink(BLACK), 3)
    sketch.boxes(*box, ink(WHITE), 1, dash=6)


def _only(slot: int) -> Ints:
    return np.array([slot], np.int32)


def _mark(sketch: Sketch, x: Doubles, y: Doubles, colour: int) -> None:
    largest = MARK_PX * _size(sketch)
    for half, each in ((largest, ink(BLACK)), (largest - 1, colour)):
        side = half / sketch.zoom
        sketch.areas(x - side, y - side, x + side, y + side, each)
