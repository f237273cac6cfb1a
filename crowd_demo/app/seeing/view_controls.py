"""The view: zoom, bookmarks and colour modes; the overlays that are shown, and what is inspected.

Wheel and keys set how far to zoom; `glide` does a part of that in each frame, so that a notch takes about a sixth of a
second. Without a window the whole zoom is made at once, so that pictures do not depend on the clock.

The main thread turns overlays on and off, the worker's thread draws them. Some are drawn on the ground, so that agents
walk over them, the others over the finished picture. Over both comes what is inspected: the main thread says what, the
worker's thread reads it, after each picture, for that runs a kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from weakref import ReferenceType, ref

import numpy as np
import pygame

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.crowd.technique_controls import COLOUR_MODE, Switcher, next_choice
from crowd_demo.app.screen.notices import Notices
from crowd_demo.app.screen.window import Pointer
from crowd_demo.config.model import Config
from crowd_demo.registry.built_in import AT_FIRST, COLOURS
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.canvas import THEMES, Pen
from crowd_demo.render.hud.status import Inspection, LegendItem, PanelSettings
from crowd_demo.render.overlays.agents import draw_agent, draw_box, draw_labels
from crowd_demo.render.overlays.base import Moved, OverlayView, Scales, Sketch, draw_overlays, on_ground
from crowd_demo.sim.inspection import around, counts_of, facts_of, neighbours_of, raw_of, sentence_of, size_text
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sprites.pixels import frame_of

NEAR_PX = 14.0  # a click that hits nobody within that distance inspects nobody
FREEZE = "freeze"  # the overlay of the frozen frustum
STRIP = 400  # candidates on the strip of memory
GLIDE_S = 0.05  # in which a glide comes nearer by a factor of e
DONE = 1e-3  # of a factor: what is left of a glide is made at once
NOTCH = 1.15**2  # of the zoom, a press


class Overlays:
    """`shown` are their names, `frozen` is the part of the world that culling keeps while the frustum is frozen."""

    def __init__(self, crowd: Crowd, camera: Camera, pointer: Pointer, inspector: Inspector,
                 at_first: Iterable[str], compiled: Callable[[], bool], moved: Moved,
                 covered: Callable[[], Sequence[pygame.Rect]]) -> None:
        """Nothing is drawn until `compiled` returns True.

        `moved` moves a rectangle away from the HUD; `covered` returns where its panels are.
        """
        self.shown: set[str] = {AT_FIRST[label] for label in at_first}
        self.frozen: Rect | None = None
        self.legend_items: tuple[LegendItem, ...] = ()  # for the legend
        self._items_of_ground: tuple[LegendItem, ...] = ()
        self._crowd, self._camera, self._pointer, self._inspector = crowd, camera, pointer, inspector
        self._compiled, self._moved, self._covered = compiled, moved, covered
        self._pen: Pen | None = None
        self._scales = Scales()

    @property
    def at_first(self) -> tuple[str, ...]:
        """The labels with which a configuration begins with what is shown."""
        return tuple(label for label, name in AT_FIRST.items() if name in self.shown)

    def toggle(self, name: str) -> None:
        """Show or hide an overlay. `freeze` goes on to cull by the present view and shows it as a rectangle."""
        self.shown ^= {name}
        if name == FREEZE:
            self.frozen = self._camera.view_rect() if name in self.shown else None

    def hide_all(self) -> None:
        self.shown, self.frozen = set(), None

    def draw_on_ground(self, panels: PanelSettings, on: pygame.Surface) -> None:
        """Begin with those that agents are drawn over. Call from the worker's thread, like `draw`: this runs kernels."""
        shown = on_ground(self.shown) if self.shown else None
        self._items_of_ground = self._draw(on, shown, panels) if shown else ()

    def draw(self, on: pygame.Surface, panels: PanelSettings) -> None:
        """Draw the others over the picture that the scene has just drawn, labels, and what is inspected."""
        shown = self.shown - on_ground(self.shown) if self.shown else self.shown
        config = self._crowd.sim.config
        labelled = panels.hud != "off" and bool(
            config.scene.labels or (config.measure.lines if config.events else config.measure.areas))

        def more(view: OverlayView, sketch: Sketch) -> None:
            if labelled:
                draw_labels(sketch, view)
            self._inspector.draw(view, sketch)

        is_drawing = shown or labelled or self._inspector.active
        covered = self._covered() if self.frozen else ()
        below = [(on.subsurface(inside).copy(), inside) for rect in covered if (inside := rect.clip(on.get_rect()))]
        self.legend_items = self._items_of_ground + (self._draw(on, shown, panels, more) if is_drawing else ())
        on.blits(below)  # panels are translucent: without lines that cross them

    def draw_on_both(self, on: pygame.Surface) -> None:
        """Draw the inspected rectangle on the picture of the second crowd, too."""
        if (box := self._inspector.box) and self._compiled():
            sketch = Sketch(self._camera)
            draw_box(sketch, box)
            sketch.launch(self._crowd.sim.workers, frame_of(on)).run()

    def _draw(self, on: pygame.Surface, shown: Set[str], panels: PanelSettings,
              more: Callable[[OverlayView, Sketch], None] = lambda view, sketch: None) -> tuple[LegendItem, ...]:
        scene, sim = self._crowd.scene, self._crowd.sim
        if not (scene and scene.used and self._compiled()):
            return ()
        self._pen = self._pen or Pen()
        self._pen.theme = THEMES[panels.theme]
        with sim.profile.stage("overlays"):
            cursor = self._pointer.at if self._pointer.in_window else None
            view = OverlayView(sim, self._camera, self.frozen, scene.used, self._scales, cursor)
            return tuple(draw_overlays(on, shown, view, self._pen, partial(more, view), panels.scale, self._moved))


class Inspector:
    """One agent, followed by its id wherever it lies in memory; or a rectangle of the ground.

    `identity` is the agent's id, `box` the rectangle; at most one of them is set.
    """

    def __init__(self, crowd: Crowd, camera: Camera) -> None:
        self.identity: int | None = None
        self.box: Rect | None = None
        self.found: Inspection | None = None  # for the HUD
        self._crowd, self._camera = crowd, camera
        self._generation = 0  # of the id: it may be another agent's one day
        self._sim: ReferenceType[Simulation] | None = None  # in which that was so
        self.follows = False  # whether the camera follows the agent
        self._at: tuple[float, float] | None = None  # where it is
        self._wanted: list[Callable[[], None]] = []  # for the worker's thread, which alone knows where everybody is

    @property
    def active(self) -> bool:
        return self.identity is not None or self.box is not None or bool(self._wanted)

    # --- asking ------------------------------------------------------------------------------------------------------

    def click(self, x: float, y: float) -> None:
        self.stop()
        self._wanted = [partial(self._take_nearest, *self._camera.screen_to_world(x, y), NEAR_PX / self._camera.zoom)]

    def select(self, corner: tuple[float, float], other: tuple[float, float]) -> None:
        self.stop()
        (x0, y0), (x1, y1) = self._camera.screen_to_world(*corner), self._camera.screen_to_world(*other)
        self.box = Rect(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))

    def stop(self) -> None:
        self.identity, self.box, self.found, self._wanted, self.follows, self._at = None, None, None, [], False, None

    def inspect_or_stop(self) -> None:
        if self.active:
            self.stop()
        else:
            self._wanted = [partial(self._take_nearest, self._camera.x, self._camera.y, np.inf)]

    def follow(self) -> None:
        """Let the camera follow the inspected agent, that in the middle if there is none, or leave it."""
        if self.identity is None:
            self.go_on(1)
        self.follows = not self.follows

    def move_camera(self) -> None:
        """Look at the agent that is followed. Call in every frame."""
        if self.follows and self._at:
            self._camera.look_at(*self._at)

    def whole_view(self) -> None:
        self.select((0, 0), self._camera.size)

    def go_on(self, way: int) -> None:
        """Inspect the next agent by id; if none is inspected, the one nearest to the middle of the box or of the view."""
        if self.identity is not None:
            self._wanted = [partial(self._take_next, way)]
            return
        box = self.box or self._camera.view_rect()
        self.stop()
        self._wanted = [partial(self._take_nearest, (box.left + box.right) / 2, (box.top + box.bottom) / 2, np.inf)]

    # --- in the worker's thread --------------------------------------------------------------------------------------

    def draw(self, view: OverlayView, sketch: Sketch) -> None:
        wanted, self._wanted = self._wanted, []
        for take in wanted:
            take()
        identity, box = self.identity, self.box  # the main thread may stop meanwhile
        if box:
            self.found = Inspection(size_text(view.sim, box.right - box.left, box.bottom - box.top),
                                    counts_of(view.sim, box), is_box=True)
            draw_box(sketch, box)
        if identity is None:
            return
        sim = view.sim
        slot = self._slot_of(sim, identity)
        if slot is None:
            self.found, self._at = Inspection(f"agent {identity:,}", (), sentence="is gone: it died, or is not born yet"), None
            return
        self._at = float(sim.agents.view.x[slot]), float(sim.agents.view.y[slot])
        near = around(sim, slot)
        neighbours = neighbours_of(sim, slot, near.candidates) if near else np.zeros(0, np.int32)
        draw_agent(sketch, view, slot, near, neighbours)
        raw = [*raw_of(sim, slot), ("in", near.where if near else "the next step finds its neighbours")]
        if near:
            raw += ([("candidates", f"{len(near.candidates):,} (grey)"), ("neighbours", f"{len(neighbours):,} now (green)")]
                     if near.asked else [("candidates", "not looked for"), ("", "no agent there was due")])
        count = max(sim.agents.count, 1)
        asked, met = ((slots[:STRIP] / count).tolist() for slots in ((near.candidates if near else neighbours), neighbours))
        self.found = Inspection(f"agent {identity:,}", facts_of(sim, slot), (slot / count, asked, met),
                                sentence=sentence_of(sim, slot, neighbours), raw=tuple(raw))

    def _slot_of(self, sim: Simulation, identity: int) -> int | None:
        """Its slot; None while it is gone. After a restart it is the one with the same id."""
        handles, ids = sim.agents.handles, np.array([identity])
        if identity >= handles.limit or not handles.has(ids)[0]:
            return None
        if self._sim is None or self._sim() is not sim:
            self._sim, self._generation = ref(sim), int(handles.generations[identity])
        return int(handles.slots_of(ids)[0]) if handles.generations[identity] == self._generation else None

    def _take_nearest(self, x: float, y: float, most: float) -> None:
        columns, count = self._crowd.sim.agents.view, self._crowd.sim.agents.count
        distances = np.hypot(columns.x[:count] - np.float32(x), columns.y[:count] - np.float32(y))
        if count and distances.min() <= most:
            self.identity, self._sim = int(columns.id[int(distances.argmin())]), None

    def _take_next(self, way: int) -> None:
        ids = np.sort(self._crowd.sim.agents.view.id[:self._crowd.sim.agents.count])
        if len(ids) and self.identity is not None:
            index = np.searchsorted(ids, self.identity, "right") if way > 0 else np.searchsorted(ids, self.identity) - 1
            self.identity, self._sim = int(ids[int(index) % len(ids)]), None


# --- camera and colours ----------------------------------------------------------------------------------------------

class CameraControls:
    """`smooth`: zooming glides, and a colour mode waits for its kernels, which `switcher` compiles."""

    def __init__(self, config: Config, camera: Camera, crowd: Crowd, switcher: Switcher, notices: Notices,
                 smooth: bool) -> None:
        self.smooth, self._switcher = smooth, switcher
        self.waits = ""  # the colour mode that is being compiled
        self._configured, self._camera, self._crowd, self._notices = config.scene.colours, camera, crowd, notices
        self.zoom_left = 1.0  # the factor by which to zoom still
        self._at = 0.0, 0.0  # the pixel that stays where it is
        self._bookmarks: dict[int, tuple[float, float, float]] = {}

    # --- zoom --------------------------------------------------------------------------------------------------------

    def fit(self) -> None:
        self.zoom_left = 1.0
        self._camera.fit()

    def zoom(self, x: float, y: float, factor: float) -> None:
        """Zoom by `factor`; the world point under pixel (x, y) stays there."""
        self.zoom_left, self._at = self.zoom_left * factor, (x, y)
        if not self.smooth:
            self.glide(math.inf)

    def zoom_middle(self, notches: int) -> None:
        width, height = self._camera.size
        self.zoom(width / 2, height / 2, NOTCH**notches)

    def glide(self, elapsed_s: float) -> None:
        """Make the part of the zoom for that time."""
        part = 1 - math.exp(-elapsed_s / GLIDE_S)
        factor = self.zoom_left ** part if abs(math.log(self.zoom_left)) * (1 - part) > DONE else self.zoom_left
        before = self._camera.zoom
        self._camera.zoom_at(*self._at, factor)
        ended = self._camera.zoom == before  # it cannot zoom any farther
        self.zoom_left = 1.0 if ended else self.zoom_left / factor

    def look_at(self, x: float, y: float, zoom: float | None = None) -> None:
        self.zoom_left = 1.0
        self._camera.look_at(x, y, zoom)

    # --- bookmarks ---------------------------------------------------------------------------------------------------

    def keep(self, number: int) -> None:
        self._bookmarks[number] = x, y, zoom = self._camera.x, self._camera.y, self._camera.zoom
        view = f"{x:.0f},{y:.0f},{zoom:.3g}"  # as `export --view` takes it
        self._notices.add(f"bookmark {number} is this view, {view}: Ctrl+{number} shows it", "bookmark")

    def go_to(self, number: int) -> None:
        if number in self._bookmarks:
            self.look_at(*self._bookmarks[number])
        else:
            self._notices.add(f"there is no bookmark {number} yet: Ctrl+Shift+{number} keeps this view", "bookmark",
                              holds=lambda: number not in self._bookmarks)

    # --- colours -----------------------------------------------------------------------------------------------------

    @property
    def colours(self) -> str:
        return self._crowd.scene.colours if self._crowd.scene else self._configured

    def show_colours(self, name: str) -> None:
        """Show a colour mode as soon as its kernels are compiled, and go on with the present one until then."""
        if self.smooth:
            self.waits = name
            self._switcher.request("", name, COLOUR_MODE, take=lambda value: self._show(name))
            self._notices.add(f"compiling the colours: {name}", "colours", holds=lambda: self.waits == name)
        else:
            self._show(name)

    def _show(self, name: str) -> None:
        self.waits = ""
        if self._crowd.scene:
            self._crowd.scene.show_colours(name)
            if not self._crowd.scene.legend():  # which says the same
                self._notices.add(f"colours: {name}, {COLOURS[name].why}", "colours", holds=lambda: self.colours == name)

    def next_colours(self, backwards: bool = False) -> None:
        """Go on to the next mode that tells something of this crowd."""
        names = self._crowd.scene.telling_colours() if self._crowd.scene else list(COLOURS)
        self.show_colours(next_choice(names, self.waits or self.colours, backwards))
