"""Overlays: what is drawn over the finished picture, or on the ground under the agents. An overlay never writes the crowd.

An overlay is a function in a file of its own and an entry in the registry. It draws on a `Sketch` what it finds in the arrays
that the last step and this frame have really used; nothing is worked out anew, so what it shows is what the program does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

import numpy as np
import pygame

from crowd_demo.compute.arrays import Doubles, Ints
from crowd_demo.registry.entries import load
from crowd_demo.registry.overlays import OVERLAYS
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.canvas import Pen
from crowd_demo.render.hud.status import LegendItem
from crowd_demo.render.overlays.heat import Scales
from crowd_demo.render.overlays.seen import joined, seen_call
from crowd_demo.render.overlays.sketch import Moved, Sketch
from crowd_demo.render.pixels import frame_of, is_plain, plain_surface
from crowd_demo.render.scene import Used
from crowd_demo.sim.neighbours.structure import Structure
from crowd_demo.sim.simulation import Simulation

EVERYWHERE = Rect(-math.inf, -math.inf, math.inf, math.inf)
NOT_BUILT = "the next step builds it"  # a structure, after a change or in the past


class Looking(NamedTuple):
    """The crowd, the camera that shows it, and what the scene has used to draw it."""

    sim: Simulation
    camera: Camera
    frozen: Rect | None  # the part of the world that culling keeps, where that is frozen
    used: Used
    scales: Scales  # of heat maps
    cursor: tuple[float, float] | None = None  # in pixels, if it is in the window

    @property
    def structure(self) -> Structure | None:
        """The neighbour structure as the last step has left it; None if that is not the one of the options."""
        return self.sim.index.built(self.sim.world)

    @property
    def pointed_at(self) -> tuple[float, float]:
        """The point of the world under the cursor, or in the middle of the screen."""
        return self.camera.screen_to_world(*self.cursor) if self.cursor else (self.camera.x, self.camera.y)

    def places(self, slots: Ints) -> tuple[Doubles, Doubles]:
        """Where these agents are drawn, world units."""
        _, x, y = self._found(slots, EVERYWHERE)
        return x, y

    def in_view(self, drawn: Ints | None = None) -> Ints:
        """The agents on the screen that the scene has drawn, or of some of these, by slot."""
        slots, _, _ = self.seen(drawn)
        return slots

    def seen(self, drawn: Ints | None = None) -> tuple[Ints, Doubles, Doubles]:
        """The same, and where each is drawn: x and y, world units."""
        return self._found(self.used.slots if drawn is None else drawn, self.camera.view_rect())

    def some(self, slots: Ints, most: int) -> tuple[Ints, str]:
        """Of many agents about one in 2^k, always the same ones, so that lines can be read, by id; and words that say so."""
        halvings = (max(len(slots) - 1, 0) // most).bit_length()
        kept, _, _ = self._found(slots, EVERYWHERE, (1 << halvings) - 1)
        kept = kept[np.argsort(self.used.shot.agents.id[kept])]
        return kept, f"of 1 in {1 << halvings} agents" if halvings else "of all agents in view"

    def _found(self, slots: Ints, view: Rect, mask: int = 0) -> tuple[Ints, Doubles, Doubles]:
        """Those of them that are drawn in a part of the world, and whose hashed id has no bit of the mask; x and y of each."""
        shot = self.used.shot
        finding, seen = seen_call(shot.workers, np.ascontiguousarray(slots, np.int32), shot.agents, shot.ahead, view, mask)
        finding.run()
        return joined(seen)


class Draw(Protocol):
    """The function of an overlay."""

    def __call__(self, sketch: Sketch, looking: Looking) -> None:
        """Draw on the sketch, and tell what it shows."""


def on_ground(shown: Collection[str]) -> set[str]:
    """Those of them that agents are drawn over."""
    return {name for name in shown if OVERLAYS[name].on_ground}


def draw_overlays(on: pygame.Surface, shown: Collection[str], looking: Looking, pen: Pen,
                  more: Callable[[Sketch], None] = lambda sketch: None, scale: float = 1.0,
                  moved: Moved = lambda rect: rect) -> list[LegendItem]:
    """Draw the overlays named in `shown`, in the order of the registry, and `more`; return the legend. Runs a kernel.

    Labels are `scale` times as large as usual, and moved away from what will cover them.
    """
    sketch, situation = Sketch(looking.camera), looking.sim.situation
    for name, entry in OVERLAYS.items():
        if name in shown:
            sketch.name = entry.label
            if why := entry.inactive(situation):
                sketch.explain(why)
            else:
                draw: Draw = load(entry.draw)
                draw(sketch, looking)
    more(sketch)
    target = on if is_plain(on) else plain_surface(on.get_size())
    if target is not on:
        target.blit(on, (0, 0))
    sketch.call(looking.sim.world.workers, frame_of(target)).run()
    if target is not on:
        on.blit(target, (0, 0))
    sketch.write(on, pen, scale, moved)
    return sketch.legend_items
