"""Overlays, drawn over the finished picture or on the ground under the agents. They never write the crowd.

An overlay is a function in a file of this folder and an entry in the registry. It draws on a `Sketch` what it finds
in the arrays that the last step and this frame have really used; nothing is worked out anew, so what it shows is what
the program does. A kernel finds the agents in view, for overlays look at all of them in each picture. O(listed).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Doubles, Ints, Longs
from crowd_demo.compute.jit import Launch, kernel, launch
from crowd_demo.registry.built_in import OVERLAYS
from crowd_demo.registry.entries import load
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.drawing import Moving, drawn, hash_id
from crowd_demo.render.hud.canvas import Pen
from crowd_demo.render.hud.status import LegendItem
from crowd_demo.render.overlays.sketch import Moved, Scales, Sketch
from crowd_demo.render.scene import Used
from crowd_demo.sim.neighbours.structure import Structure
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sprites.pixels import frame_of, is_plain, plain_surface

EVERYWHERE = Rect(-math.inf, -math.inf, math.inf, math.inf)
NOT_BUILT = "the next step builds it"  # a structure, after a change or in the past


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

    @property
    def structure(self) -> Structure | None:
        """The neighbour structure as the last step has left it; None if that is not the one of the options."""
        return self.sim.built_structure

    @property
    def pointed_at(self) -> tuple[float, float]:
        """The point of the world under the cursor, or in the middle of the screen."""
        return self.camera.screen_to_world(*self.cursor) if self.cursor else (self.camera.x, self.camera.y)

    def positions(self, slots: Ints) -> tuple[Doubles, Doubles]:
        """Where these agents are drawn, world units."""
        _, x, y = self._found(slots, EVERYWHERE)
        return x, y

    def in_view(self, slots: Ints | None = None) -> Ints:
        """The slots of the agents on the screen that the scene has drawn, or of some of these."""
        return self.visible(slots)[0]

    def visible(self, slots: Ints | None = None) -> tuple[Ints, Doubles, Doubles]:
        """The slots of `in_view`, and where each agent is drawn: x and y, world units."""
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
