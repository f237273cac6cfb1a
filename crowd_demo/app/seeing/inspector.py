"""The inspector: one agent, followed by its id whatever happens to its place in memory; or a rectangle of the ground.

The main thread says what to inspect. The worker's thread reads it, after each picture (`draw`), for that runs a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from weakref import ReferenceType, ref

import numpy as np

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.input.commands import KeyAction, KeyActions
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.status import Inspection, MemoryStrip
from crowd_demo.render.overlays.agents import draw_agent, draw_box
from crowd_demo.render.overlays.base import OverlayView
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.sim.inspection import Around, around, counts_of, facts_of, neighbours_of
from crowd_demo.sim.measures import size_text
from crowd_demo.sim.simulation import Simulation

NEAR_PX = 14.0  # a click that hits nobody within that distance inspects nobody
STRIP = 400  # candidates on the strip of memory
SPARED_PX = 40.0  # around the agent, where the panel should not be


def pixels_of(camera: Camera, box: Rect) -> tuple[float, float, float, float]:
    """Where the window shows a rectangle: left, top, width and height in pixels."""
    (left, top), (right, bottom) = camera.world_to_screen(box.left, box.top), camera.world_to_screen(box.right, box.bottom)
    return left, top, right - left, bottom - top


def spared(camera: Camera, x: float, y: float, near: Around | None) -> tuple[float, float, float, float]:
    """Where the panel should not be: on what the agent looks into, if that leaves room, or at least around the agent."""
    if near and near.reach:
        left, top, width, height = pixels_of(camera, Rect(*near.reach))
        if SPARED_PX <= width <= camera.size[0] / 2 and SPARED_PX <= height <= camera.size[1] / 2:
            return left, top, width, height
    around_it = SPARED_PX / camera.zoom
    return pixels_of(camera, Rect(x - around_it, y - around_it, x + around_it, y + around_it))


class Inspector:
    """`identity` is the agent's id, `box` the rectangle; at most one of them is set."""

    def __init__(self, crowd: Crowd, camera: Camera) -> None:
        self.identity: int | None = None
        self.box: Rect | None = None
        self.found: Inspection | None = None  # for the HUD
        self._crowd, self._camera = crowd, camera
        self._generation = 0  # of the id: it may be another agent's one day
        self._sim: ReferenceType[Simulation] | None = None  # in which that was so
        self._wanted: list[Callable[[], None]] = []  # for the worker's thread, which alone knows where everybody is

    @property
    def actions(self) -> KeyActions:
        return {"inspect": KeyAction(self._inspect_or_stop, self._whole_view),
                "inspect_next": KeyAction(partial(self._go_on, 1), partial(self._go_on, -1))}

    @property
    def active(self) -> bool:
        """Is there anything to look at?"""
        return self.identity is not None or self.box is not None or bool(self._wanted)

    # --- asking ------------------------------------------------------------------------------------------------------

    def click(self, x: float, y: float) -> None:
        """Inspect who is drawn at a pixel, or nobody."""
        self.stop()
        self._wanted = [partial(self._take_nearest, *self._camera.screen_to_world(x, y), NEAR_PX / self._camera.zoom)]

    def select(self, corner: tuple[float, float], other: tuple[float, float]) -> None:
        """Inspect the rectangle between two pixels."""
        self.stop()
        (x0, y0), (x1, y1) = self._camera.screen_to_world(*corner), self._camera.screen_to_world(*other)
        self.box = Rect(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))

    def stop(self) -> None:
        self.identity, self.box, self.found, self._wanted = None, None, None, []

    def _inspect_or_stop(self) -> None:
        """Inspect who is nearest to the middle of the view, or nothing any more."""
        if self.active:
            self.stop()
        else:
            self._wanted = [partial(self._take_nearest, self._camera.x, self._camera.y, np.inf)]

    def _whole_view(self) -> None:
        self.select((0, 0), self._camera.size)

    def _go_on(self, way: int) -> None:
        """Inspect the next one by id; where nobody is inspected, who is nearest to the middle of the box or of the view."""
        if self.identity is not None:
            self._wanted = [partial(self._take_next, way)]
            return
        box = self.box or self._camera.view_rect()
        self.stop()
        self._wanted = [partial(self._take_nearest, (box.left + box.right) / 2, (box.top + box.bottom) / 2, np.inf)]

    # --- in the worker's thread --------------------------------------------------------------------------------------

    def draw(self, view: OverlayView, sketch: Sketch) -> None:
        """Read what is inspected, and mark it in the picture."""
        wanted, self._wanted = self._wanted, []
        for take in wanted:
            take()
        identity, box = self.identity, self.box  # the main thread may stop meanwhile
        if box:
            self.found = Inspection(size_text(view.sim, box.right - box.left, box.bottom - box.top),
                                    counts_of(view.sim, box), is_box=True, seen_at=pixels_of(view.camera, box))
            draw_box(sketch, box)
        elif identity is not None:
            self._draw_agent(view, sketch, identity)

    def _draw_agent(self, view: OverlayView, sketch: Sketch, identity: int) -> None:
        sim = view.sim
        slot = self._slot_of(sim, identity)
        if slot is None:
            self.found = Inspection(f"agent {identity:,}", (("", "is gone: it died, or is not born yet at this time"),))
            return
        near = around(sim, slot)
        neighbours = neighbours_of(sim, slot, near.candidates) if near else np.zeros(0, np.int32)
        draw_agent(sketch, view, slot, near, neighbours)
        rows = [*facts_of(sim, slot), ("in", near.where if near else "the next step finds its neighbours")]
        if near:
            rows += ([("candidates", f"{len(near.candidates):,} (grey)"), ("neighbours", f"{len(neighbours):,} now (green)")]
                     if near.asked else [("candidates", "not looked for"), ("", "nobody there was due")])
        count = max(sim.agents.count, 1)
        shares = (tuple((slots[:STRIP] / count).tolist()) for slots in ((near.candidates if near else neighbours), neighbours))
        (x,), (y,) = view.positions(np.array([slot], np.int32))
        self.found = Inspection(f"agent {identity:,}", tuple(rows), MemoryStrip(slot / count, *shares),
                                seen_at=spared(view.camera, x, y, near))

    def _slot_of(self, sim: Simulation, identity: int) -> int | None:
        """Its slot; None while it is gone. After a restart it is the one with the same id."""
        handles, ids = sim.agents.handles, np.array([identity])
        if identity >= handles.limit or not handles.living(ids)[0]:
            return None
        if self._sim is None or self._sim() is not sim:
            self._sim, self._generation = ref(sim), int(handles.generations[identity])
        return int(handles.slots_of(ids)[0]) if handles.generations[identity] == self._generation else None

    def _take_nearest(self, x: float, y: float, most: float) -> None:
        columns, count = self._crowd.sim.agents.columns, self._crowd.sim.agents.count
        away = np.hypot(columns.x[:count] - np.float32(x), columns.y[:count] - np.float32(y))
        if count and away.min() <= most:
            self._take(int(columns.id[int(away.argmin())]))

    def _take_next(self, way: int) -> None:
        """The living id after or before the present one."""
        ids = np.sort(self._crowd.sim.agents.columns.id[:self._crowd.sim.agents.count])
        if len(ids) and self.identity is not None:
            place = np.searchsorted(ids, self.identity, "right") if way > 0 else np.searchsorted(ids, self.identity) - 1
            self._take(int(ids[int(place) % len(ids)]))

    def _take(self, identity: int) -> None:
        self.identity, self._sim = identity, None
