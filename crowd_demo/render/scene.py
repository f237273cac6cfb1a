"""The scene: one frame as a flat list of stages, cull -> depth -> ground (-> lines) -> blit.

A scene reads the simulation and never writes it; call `Simulation.prepare_picture` before each picture. The present
options choose the kernels; the picture is the same for every culling, for both depth sorts, for any number of workers
and for both blitters. `Figures` draw the agents, in their own colours or in those of a colour mode. `sim.profile`
gets the stages' times and these counters:

    total     agents in the world          tested, cells_visited         agents and cells that culling looked at
    drawn     handed to the blitter        tiles_visited, tiles_drawn    the same for the ground
    visible   of these, on the screen
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes, Ints, Marks
from crowd_demo.compute.jit import Launch, run
from crowd_demo.config.model import Config
from crowd_demo.registry.built_in import BEHAVIOURS, COLOURS, GPU_LIGHT
from crowd_demo.registry.entries import load
from crowd_demo.render import depth
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.colours.base import ColourMode, Legend, palette_of
from crowd_demo.render.cull import CellsInView, Cull, bounds_of
from crowd_demo.render.drawing import ROUNDING, DeviceLight, FrameInput, Shades, moving
from crowd_demo.render.figures.sprited import Sprited
from crowd_demo.render.figures.sprites import Manifest, load_manifest
from crowd_demo.render.marks import LinkLines
from crowd_demo.render.tile_layer import TileLayer
from crowd_demo.render.tile_pictures import ROOF, SHADES, VARIANTS, WALL, TileSet
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sprites.pixels import Frame, frame_of, is_plain, plain_surface

HEADS, ROOF_SHADOW = 2, 0.35  # tiles: how high people are; height of a roof's south face, and length of its shadow
SHADED = 150, 150, 160  # what a shadow leaves of red, green and blue, of 255


WORTH_A_GPU = 100_000  # agents: the pixels have to go there and back


class Figures(Protocol):
    """The figures of one behaviour. They own the memory that they need for a frame, and read the agents from the input."""

    MARKS: bool  # whether the ground shows the agents' destinations

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        """Load what is needed of `folder`, whose sheets `manifest` describes."""

    def margin(self, zoom: float) -> Rect:
        """How far the pixels of any agent reach beyond its position on each side, in world units."""

    def ordered(self, zoom: float) -> bool:
        """Return whether the order of drawing changes the picture."""

    def draw(self, target: pygame.Surface, now: FrameInput, slots: Ints, shades: Shades | None = None) -> int:
        """Draw all of `slots`, in that order, with the present blitter; return how many touch the screen.

        They have the colours of `shades`, or their own.
        """

    def launches(self, now: FrameInput, frame: Frame) -> Iterator[Launch]:
        """Every kernel that `draw` may run with the present options at any zoom, for compiling ahead."""


class Used(NamedTuple):
    """What a picture was drawn from, for overlays; valid until the next picture."""

    now: FrameInput
    slots: Ints  # of the agents that were drawn, in that order
    cells: CellsInView | None  # those that meet the culling bounds
    bands: depth.Scale | None  # of the depth order, where there were any
    band_starts: Ints  # int32[bands + 1]: the first agent of each


class Cover(NamedTuple):
    """Tiles that are drawn over the agents: the roof of an exit, or the wall above it, which heads would hide."""

    left: int  # in tiles; right and lower are outside
    upper: int
    right: int
    lower: int
    numbers: Marks  # of the tiles' pictures
    is_roof: bool


class Roofs:
    """Roofs over exits at the edge of the map: people come and go beneath them."""

    def __init__(self, tiles: TileSet) -> None:
        self._set = tiles
        self._seen: tuple[object, ...] = ()  # the terrain, and which exits it had
        self._view: Rect | None = None  # what pictures are placed for
        self._covers: list[Cover] = []
        self._placed: list[tuple[pygame.Surface, pygame.Rect]] = []
        self._shaded: list[pygame.Rect] = []

    def draw(self, target: pygame.Surface, camera: Camera, terrain: Terrain, exits: Collection[int]) -> None:
        if self._seen != (seen := (terrain, terrain.version, exits)):
            self._seen, self._view, self._covers = seen, None, list(self._found(terrain, exits))
        if self._covers and self._view != camera.view_rect():
            self._view, self._placed, self._shaded = camera.view_rect(), [], []
            for cover in self._covers:
                self._place(target.get_rect(), camera, float(terrain.walls.tile), cover)
        target.blits(self._placed, doreturn=False)
        for area in self._shaded:
            target.fill(SHADED, area, pygame.BLEND_RGB_MULT)

    def _place(self, screen: pygame.Rect, camera: Camera, tile: float, cover: Cover) -> None:
        left, top, _, _ = camera.view_rect()
        xs, ys = (np.floor((np.arange(first, end + 1) * tile - edge) * camera.zoom).astype(int) for first, end, edge in (
            (cover.left, cover.right, left), (cover.upper, cover.lower, top)))
        area = pygame.Rect(xs[0], ys[0], xs[-1] - xs[0], ys[-1] - ys[0])
        shadow = max(1, round(tile * camera.zoom * ROOF_SHADOW))
        shown = area.clip(screen)
        if shown.size != (0, 0):
            pictures = self._set.at(int(max(np.diff(xs).max(), np.diff(ys).max())))
            pictures.ensure(np.unique(cover.numbers).tolist())
            surface = plain_surface(shown.size)
            corners = zip(np.tile(xs[:-1] - shown.left, len(ys) - 1).tolist(),
                          np.repeat(ys[:-1] - shown.top, len(xs) - 1).tolist(), strict=True)
            surface.fblits(list(zip(pictures.surfaces(cover.numbers.ravel().tolist()), corners, strict=True)))
            self._placed.append((surface, shown))
        if cover.is_roof:
            end_x, end_y = map(int, camera.world_to_screen(*camera.world))  # beyond there is no ground to shade
            self._shaded += (pygame.Rect(area.left, area.bottom - shadow, area.width, shadow),  # its south face
                             pygame.Rect(area.right, area.top, min(shadow, end_x - area.right), area.height),
                             pygame.Rect(area.left, area.bottom, area.width, min(shadow, end_y - area.bottom)))

    def _found(self, terrain: Terrain, exits: Collection[int]) -> Iterator[Cover]:
        for number in sorted(exits):
            rows, columns = np.nonzero(terrain.marks == number)
            if not len(rows):
                continue
            left, top, right, bottom = map(int, (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1))
            if 0 in (left, top) or right == terrain.columns or bottom == terrain.rows:
                # eaves: whoever turns up at the threshold does so with the head beneath them
                left, top, right = max(left - 1, 0), max(top - 1, 0), min(right + 1, terrain.columns)
                numbers = self._set.numbers(terrain.kinds, np.full_like(terrain.marks, -1))
                above = max(top - HEADS, 0)
                walls = left + np.flatnonzero((terrain.kinds[above:top, left:right] == WALL).all(axis=0))
                if top > above and len(walls):
                    first, last = int(walls[0]), int(walls[-1]) + 1
                    yield Cover(first, above, last, top, numbers[above:top, first:last], False)
                roof = ROOF * SHADES * VARIANTS + numbers[top:bottom, left:right] % VARIANTS
                yield Cover(left, top, right, bottom, roof, True)


class Scene:
    """Draws `sim` as `config` says, with the sheets of `folder`.

    Kernels are compiled when first needed; to compile them earlier, compile what `launches` yields.
    """

    def __init__(self, sim: Simulation, config: Config, folder: Path) -> None:
        self.sim = sim
        self._settings = config  # that the figures go by
        manifest = load_manifest(folder)
        self._figures: Figures = load(BEHAVIOURS[config.behaviour].figures)(config, folder, manifest)
        tiles = TileSet(folder, manifest["tiles"], config.scene.ground, len(sim.terrain.kinds))
        self.ground, self._roofs = TileLayer(tiles, self._figures.MARKS), Roofs(tiles)
        self._cull, self._depth, self._lines = Cull(), depth.Depth(), LinkLines()
        self._canvas = lru_cache(1)(plain_surface)  # for a display whose pixels the kernels cannot write
        self._used: Used | Callable[[], Used] | None = None
        self._on_gpu: DeviceLight | None = None
        self._number: Bytes = np.zeros(0, np.uint8)  # of the colour of each agent that is drawn
        self.show_colours(config.scene.colours)

    @contextmanager
    def showing(self, sim: Simulation) -> Iterator[None]:
        """Draw another simulation of the same world for a while."""
        running, self.sim = self.sim, sim
        try:
            yield
        finally:
            self.sim = running

    @property
    def used(self) -> Used | None:
        if callable(self._used):
            self._used = self._used()
        return self._used

    @used.setter
    def used(self, used: Used | None) -> None:
        self._used = used

    def show_colours(self, name: str) -> None:
        self.colours, code = name, COLOURS[name].code
        self._mode: ColourMode | None = load(code)() if code else None

    def telling_colours(self) -> list[str]:
        """The modes that tell something of the present crowd, and the one that is shown."""
        return [name for name, entry in COLOURS.items()
                if name == self.colours or not entry.code or load(entry.code)().tells(self.sim)]

    def legend(self) -> Legend | None:
        """What the colours of agents mean; None for their own."""
        return self._mode.legend(self.sim) if self._mode else None

    def draw(self, surface: pygame.Surface, camera: Camera, frozen_rect: Rect | None = None,
             alpha: float = 0.0, on_ground: Callable[[pygame.Surface], None] | None = None) -> None:
        """Draw a frame on `surface`, `alpha` of a step after the last one; cull by `frozen_rect`, or by the view.

        `on_ground` draws on the picture before agents are drawn; what these are drawn with is in `used` then.
        """
        target = surface if is_plain(surface) else self._canvas(surface.get_size())
        profile = self.sim.profile
        if light := self._light_on_gpu(camera, frozen_rect):
            self._draw_on_gpu(target, camera, alpha, light, on_ground)
            if target is not surface:
                surface.blit(target, (0, 0))
            return
        with profile.stage("cull"):
            now = self._frame_input(camera, frozen_rect, alpha)
            slots = self._cull.run(self._cull_launches(now), self.sim.light_workers, self.sim.agents.count)
        with profile.stage("depth"):
            slots, bands = self._ordered(now, slots)
        self._used = Used(now, slots, self._cull.in_view, bands, self._depth.start)
        profile.counters.update(total=self.sim.agents.count, drawn=len(slots), **self._cull.counters)
        self._draw_ground(target, now)
        if self.sim.links.active:
            with profile.stage("lines"):
                run(self._line_launches(now, frame_of(target)))
        if on_ground:
            on_ground(target)
        with profile.stage("blit"):
            visible = self._figures.draw(target, now, slots, self._shades(slots))
            self._draw_roofs(target, camera)
            if target is not surface:
                surface.blit(target, (0, 0))
        profile.counters.update(visible=visible, **self.ground.counters)

    def _draw_ground(self, target: pygame.Surface, now: FrameInput) -> None:
        with self.sim.profile.stage("ground"):
            self.ground.prepare(now.options.cull, self.sim.terrain, now.camera, now.rect)
            if now.options.blitter == "pygame":
                self.ground.draw_fblits(target)
            else:
                self.ground.launch(now.workers, frame_of(target)).run()
            self.ground.draw_surroundings(now.workers, frame_of(target))

    def _draw_roofs(self, target: pygame.Surface, camera: Camera) -> None:
        if ways := self.sim.ways:
            self._roofs.draw(target, camera, self.sim.terrain, ways.exits)

    # --- on a graphics card ------------------------------------------------------------------------------------------

    def _light_on_gpu(self, camera: Camera, frozen_rect: Rect | None) -> DeviceLight | None:
        """What draws a large crowd that is on a GPU, where each agent is a spot of light; else None."""
        sim, crowd = self.sim, self.sim.gpu_crowd
        draws = (crowd and frozen_rect is None and sim.agents.count >= WORTH_A_GPU and isinstance(self._figures, Sprited)
                 and not self._figures.ordered(camera.zoom) and sim.optimizations.blitter == "compiled"
                 and (self._mode is None or type(self._mode).launches is ColourMode.launches))
        if not (crowd and draws):
            return None
        if not (self._on_gpu and self._on_gpu.crowd is crowd):
            self._on_gpu = load(GPU_LIGHT)(crowd)
        return self._on_gpu

    def _draw_on_gpu(self, target: pygame.Surface, camera: Camera, alpha: float, light: DeviceLight,
                      on_ground: Callable[[pygame.Surface], None] | None) -> None:
        sim, agents = self.sim, self.sim.agents.count
        with sim.agents.seen_on_gpu(light.crowd.columns):
            now = self._frame_input(camera, None, alpha)
            mode = self._mode.mode(sim) if self._mode else None
        self._used = lambda: Used(self._frame_input(camera, None, alpha), sim.grid.identity[:agents], None, None,
                                  self._depth.start)
        self._draw_ground(target, now)
        if on_ground:
            on_ground(target)
        palette = palette_of(tuple(self._mode.colours(sim))) if self._mode else None
        with sim.profile.stage("blit"):
            assert isinstance(self._figures, Sprited)
            visible = self._figures.draw_on_gpu(frame_of(target), now, agents, light, mode, palette)
            self._draw_roofs(target, camera)
        sim.profile.counters.update(total=agents, drawn=agents, visible=visible, **self.ground.counters)

    def launches(self, camera: Camera) -> Iterator[Launch]:
        """Every kernel that a frame may run with the present options, at any zoom; for compiling ahead."""
        options, now = self.sim.optimizations, self._frame_input(camera, None, 0.0)
        no_slots, frame = np.zeros(0, np.int32), np.zeros((1, 1), np.uint32)
        yield from self._cull_launches(now)
        if options.depth == "bands":
            yield from self._depth.launches(self.sim.light_workers, no_slots, now.agents, now.ahead, self._bands(now))
        self.ground.prepare(options.cull, self.sim.terrain, camera, now.rect)
        if options.blitter == "compiled":
            yield self.ground.launch(now.workers, frame)
        yield self.ground.surrounding(now.workers, frame)
        if self.sim.links.active:
            yield from self._line_launches(now, frame)
        if self._mode:
            yield from self._mode.launches_to_compile(self.sim, self._number)
        yield from self._figures.launches(now, frame)

    def _frame_input(self, camera: Camera, frozen_rect: Rect | None, alpha: float) -> FrameInput:
        sim, rect = self.sim, frozen_rect or camera.view_rect()
        if sim.settings is not self._settings:
            self._settings = sim.settings
            if use := getattr(self._figures, "use_settings", None):  # numbers were changed that these figures go by
                use(sim.numbers.widest)
        bounds = bounds_of(rect, self._figures.margin(camera.zoom))
        ahead = np.float32(alpha * sim.dt)
        time_s = np.float64(sim.tick * sim.dt) + np.float64(ahead)
        columns = sim.agents.view
        return FrameInput(sim.workers, sim.optimizations, columns, moving(columns), ahead, time_s, camera, camera.view(),
                          rect, bounds, sim.agents.handles)

    # --- cull and depth ----------------------------------------------------------------------------------------------

    def _cull_launches(self, now: FrameInput) -> tuple[Launch, ...]:
        world, how = self.sim, self.sim.optimizations.cull
        workers, count, slack = world.light_workers, world.agents.count, 0.0
        if how == "grid" and world.on_gpu:  # nobody makes the grid here
            how = "agents"
        if how == "grid":
            assert world.grid.fresh, "call Simulation.prepare_picture before a picture"
            # since the grid was built an agent has moved by up to a step, and it is drawn `ahead` of that
            slack = world.max_step + world.top_speed * float(now.ahead) + ROUNDING * max(now.camera.world)
        return self._cull.launches(how, workers, count, now.agents, now.ahead, now.bounds, world.grid, slack)

    def _ordered(self, now: FrameInput, slots: Ints) -> tuple[Ints, depth.Scale | None]:
        """The slots in the order in which they are drawn; and the bands in which they were sorted, if so."""
        how = now.options.depth
        if how == "off" or not self._figures.ordered(now.camera.zoom):
            return slots, None
        if how == "full":
            return depth.full(slots, now.agents, now.ahead), None
        bands = self._bands(now)
        run(self._depth.launches(self.sim.light_workers, slots, now.agents, now.ahead, bands))
        return self._depth.ordered(len(slots)), bands

    def _bands(self, now: FrameInput) -> depth.Scale:
        everywhere = now.options.cull == "off"
        top, bottom = (0.0, now.camera.world[1]) if everywhere else (float(now.bounds.top), float(now.bounds.bottom))
        return depth.scale(top, bottom, now.camera.zoom)

    # --- colours -----------------------------------------------------------------------------------------------------

    def _shades(self, slots: Ints) -> Shades | None:
        """The colours of those agents; none where they have their own."""
        if not self._mode:
            return None
        if len(slots) > len(self._number):
            self._number = np.zeros(max(len(slots), self.sim.agents.count), np.uint8)
        run(self._mode.launches(self.sim, slots, self._number))
        return Shades(self._number[:len(slots)], palette_of(tuple(self._mode.colours(self.sim))))

    def _line_launches(self, now: FrameInput, frame: Frame) -> tuple[Launch, ...]:
        return self._lines.launches(now.workers, self.sim.links.pairs, now.agents, now.ahead, now.view, frame)
