"""The scene: one frame as a flat list of stages, cull -> depth -> ground (-> lines) -> blit.

A scene reads the simulation and never writes it. Which kernels run is up to the live options; the picture is the same
for every culling, for both depth sorts, for any number of workers, and for both blitters. Agents that would be
smaller than four pixels are dots, which need no order. What a frame did is in `sim.profile`: the stages' times, and
the counters

    total     agents in the world          tested, cells_visited         what culling looked at
    drawn     handed to the blitter        tiles_visited, tiles_drawn    the same for the ground
    visible   of these, on the screen
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pygame

from ..jit import Call, set_threads
from . import depth
from .blit import DrawList, draw_calls, draw_fblits
from .camera import Camera, Rect, View
from .cull import Cull, bounds_of
from .dots import LARGEST_PX, Dots, Look, draw_plain, look_of_birds, look_of_people
from .ground import Ground
from .lines import Lines
from .pixels import Frame, frame_of, is_plain, plain_surface
from .place import Bounds, Ints, Moving, moving
from .pose import Intent, Manner, Poses
from .sprites import Atlas, Sheet, Sprites, load_manifest, load_sheet
from .tiles import TileSet

ROUNDING = 2.0**-20  # of the world's side: more than float32 can misplace an agent
MARGIN_PX = 1.0


class Figure(NamedTuple):
    """What stands for an agent: its sheet, and how large it is."""

    sheet: Sheet
    looks: int
    units: float  # height of a person, span of a bird, in world units
    units_a_pixel: float  # of the sheet

    def margin(self, zoom: float) -> Rect:
        """How far a sprite reaches beyond the agent's place, in world units; a cell of the sheet is never exceeded."""
        (width, height), (x, y), slack = self.sheet.cell, self.sheet.anchor, MARGIN_PX / zoom
        reach = (pixels * self.units_a_pixel + slack for pixels in (x, y, width - x, height - y))
        return Rect(*reach)


class Shot(NamedTuple):
    """What is the same for all stages of a frame."""

    workers: int
    agents: Moving
    ahead: np.float32  # seconds from the last step to this frame
    camera: Camera
    view: View
    rect: Rect  # of the world, by which is culled
    bounds: Bounds
    size_px: float  # of an agent


PERSON_UNITS, PERSON_PX = 22.0, 44.0
BIRD_UNITS, BIRD_PX = 14.0, 34.0


class Scene:
    """Draws `sim` as `config` wants it, with the sheets of `folder`. Kernels are compiled when first needed, or by
    whoever compiles what `calls` yields."""

    def __init__(self, sim: Any, config: Any, folder: Path) -> None:
        self.sim = sim
        self._people = config.behaviour == "crowd"
        manifest = load_manifest(folder)
        self._figure = _person(folder, manifest["people"]) if self._people else _bird(folder, manifest["birds"])
        self._colours = [tuple(manifest["colours"][name]) for name in ("walking", "waiting", "stuck")]
        self._sprites = Sprites(self._figure.sheet)
        self._ground = Ground(TileSet(folder, manifest["tiles"], config.scene.ground), marks=self._people)
        self._cull, self._depth, self._poses, self._dots = Cull(), depth.Depth(), Poses(), Dots()
        self._lines = Lines()
        self._canvas: pygame.Surface | None = None

    def draw(self, surface: pygame.Surface, camera: Camera, frozen_rect: Rect | None = None,
             alpha: float = 0.0) -> None:
        """One frame onto all of `surface`, `alpha` of a step after the last; culled by `frozen_rect`, or the view."""
        target = surface if is_plain(surface) else self._plain_canvas(surface.get_size())
        profile = self.sim.profile
        set_threads(self.sim.workers)
        with profile.stage("cull"):
            shot = self._shot(camera, frozen_rect, alpha)
            slots = self._cull.run(self._cull_calls(shot), shot.workers, self.sim.agents.count)
        with profile.stage("depth"):
            slots = self._ordered(shot, slots)
        with profile.stage("ground"):
            self._draw_ground(target, shot)
        if self.sim.links.active:
            with profile.stage("lines"):
                _run(self._line_calls(shot, frame_of(target)))
        with profile.stage("blit"):
            draw = self._draw_dots if _as_dots(shot) else self._draw_sprites
            visible = draw(target, shot, slots)
            if target is not surface:
                surface.blit(target, (0, 0))
        profile.counters.update(total=self.sim.agents.count, drawn=len(slots), visible=visible,
                                **self._cull.counters, **self._ground.counters)

    def calls(self, camera: Camera) -> Iterator[Call]:
        """What a frame with the present options may run at any zoom, for compiling ahead."""
        options, shot = self.sim.optimizations, self._shot(camera, None, 0.0)
        nobody, frame = np.zeros(0, np.int32), np.zeros((1, 1), np.uint32)
        yield from self._cull_calls(shot)
        if options.depth == "bands":
            yield from self._depth_calls(shot, nobody)
        yield self._pose(shot, nobody, self._atlas(shot))
        if self.sim.links.active:
            yield from self._line_calls(shot, frame)
        if options.blitter == "compiled":
            self._ground.prepare(options.cull, self.sim.terrain, camera, shot.rect)
            yield from self._ground.calls(shot.workers, frame)
            yield from draw_calls(shot.workers, frame, self._atlas(shot).view, self._poses.draws(0), True)
            yield from self._dots.calls(shot.workers, nobody, shot.agents, self._state(), shot.ahead, shot.view,
                                        self._look(shot), frame)

    def _shot(self, camera: Camera, frozen_rect: Rect | None, alpha: float) -> Shot:
        rect = frozen_rect or camera.view_rect()
        bounds = bounds_of(rect, self._figure.margin(camera.zoom))
        ahead = np.float32(alpha * self.sim.dt)
        return Shot(self.sim.workers, moving(self.sim.agents.columns), ahead, camera, camera.view(), rect, bounds,
                    self._figure.units * camera.zoom)

    # --- cull and depth ----------------------------------------------------------------------------------------------

    def _cull_calls(self, shot: Shot) -> tuple[Call, ...]:
        """Since the grid was built an agent has moved by a step, and is drawn where its velocity leads from there."""
        sim, how = self.sim, self.sim.optimizations.cull
        grid, slack = None, 0.0
        if how == "grid":
            if not sim.grid.fresh:
                sim.refresh_grid()
            ahead = sim.behaviour.top_speed * float(shot.ahead)
            grid, slack = sim.grid, sim.max_step + ahead + ROUNDING * max(shot.camera.world)
        return self._cull.calls(how, shot.workers, sim.agents.count, shot.agents, shot.ahead, shot.bounds, grid, slack)

    def _ordered(self, shot: Shot, slots: Ints) -> Ints:
        how = self.sim.optimizations.depth
        if how == "off" or _as_dots(shot):
            return slots
        if how == "full":
            return depth.full(slots, shot.agents, shot.ahead)
        for call in self._depth_calls(shot, slots):
            call.run()
        return self._depth.ordered(len(slots))

    def _depth_calls(self, shot: Shot, slots: Ints) -> tuple[Call, ...]:
        everywhere = self.sim.optimizations.cull == "off"
        top, bottom = (0.0, shot.camera.world[1]) if everywhere else (float(shot.bounds.top), float(shot.bounds.bottom))
        scale = depth.scale(top, bottom, shot.camera.zoom)
        return self._depth.calls(shot.workers, slots, shot.agents, shot.ahead, scale)

    # --- ground, sprites and dots ------------------------------------------------------------------------------------

    def _draw_ground(self, target: pygame.Surface, shot: Shot) -> None:
        options = self.sim.optimizations
        self._ground.prepare(options.cull, self.sim.terrain, shot.camera, shot.rect)
        self._ground.fill_outside(target)
        if options.blitter == "pygame":
            self._ground.draw_fblits(target)
        else:
            _run(self._ground.calls(shot.workers, frame_of(target)))

    def _line_calls(self, shot: Shot, frame: Frame) -> tuple[Call, ...]:
        """Whatever the blitter, whose work is the sprites."""
        return self._lines.calls(shot.workers, self.sim.links.pairs(), shot.agents, shot.ahead, shot.view, frame)

    def _draw_sprites(self, target: pygame.Surface, shot: Shot, slots: Ints) -> int:
        """Returns how many sprites touch the screen."""
        options, atlas = self.sim.optimizations, self._atlas(shot)
        self._pose(shot, slots, atlas).run()
        draws: DrawList = self._poses.draws(len(slots))
        atlas.ensure(draws.sprite)
        if options.blitter == "pygame":
            draw_fblits(target, atlas, draws)
        else:
            _run(draw_calls(shot.workers, frame_of(target), atlas.view, draws, options.depth != "off"))
        return self._poses.on_screen

    def _draw_dots(self, target: pygame.Surface, shot: Shot, slots: Ints) -> int:
        """Returns how many dots touch the screen."""
        frame: Frame = frame_of(target)
        agents, state, look = shot.agents, self._state(), self._look(shot)
        if self.sim.optimizations.blitter == "pygame":
            return draw_plain(slots, agents, state, shot.ahead, shot.view, look, frame)
        _run(self._dots.calls(shot.workers, slots, agents, state, shot.ahead, shot.view, look, frame))
        return self._dots.on_screen

    def _pose(self, shot: Shot, slots: Ints, atlas: Atlas) -> Call:
        time_s = np.float64(self.sim.tick * self.sim.dt) + np.float64(shot.ahead)
        manner = Manner(time_s, self._figure.looks, *atlas.anchor, *atlas.size)
        if not self._people:
            return self._poses.birds(shot.workers, slots, shot.agents, shot.ahead, shot.view, manner)
        columns = self.sim.agents.columns
        intent = Intent(columns.state, columns.way_x, columns.way_y)
        return self._poses.people(shot.workers, slots, shot.agents, intent, shot.ahead, shot.view, manner)

    def _atlas(self, shot: Shot) -> Atlas:
        return self._sprites.at(shot.camera.zoom * self._figure.units_a_pixel)

    def _state(self) -> Ints | None:
        return self.sim.agents.columns.state if self._people else None

    def _look(self, shot: Shot) -> Look:
        return look_of_people(shot.size_px, self._colours) if self._people else look_of_birds(shot.size_px)

    def _plain_canvas(self, size: tuple[int, int]) -> pygame.Surface:
        """For a display whose pixels the kernels cannot write."""
        if self._canvas is None or self._canvas.get_size() != size:
            self._canvas = plain_surface(size)
        return self._canvas


def _as_dots(shot: Shot) -> bool:
    return shot.size_px < LARGEST_PX


def _run(calls: tuple[Call, ...]) -> None:
    for call in calls:
        call.run()


def _person(folder: Path, about: Any) -> Figure:
    sheet = load_sheet(folder / about["file"], tuple(about["cell"]), tuple(about["foot"]))
    return Figure(sheet, about["looks"], PERSON_UNITS, PERSON_UNITS / PERSON_PX)


def _bird(folder: Path, about: Any) -> Figure:
    sheet = load_sheet(folder / about["file"], tuple(about["cell"]), tuple(about["centre"]))
    return Figure(sheet, about["looks"], BIRD_UNITS, BIRD_UNITS / BIRD_PX)
