"""Figures that are sprites, or dots where a sprite would be smaller than four pixels. Dots need no order.

A behaviour gives its sheet and two records, a manner for sprites and a look for dots; by their types the kernels choose
the functions that choose an agent's sprite and its dot.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pygame

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Call, run
from crowd_demo.render.camera import Rect
from crowd_demo.render.figures.base import MARGIN_PX, Shot
from crowd_demo.render.figures.blit import draw_calls, draw_fblits
from crowd_demo.render.figures.dots import LARGEST_PX, Dots, Look, draw_plain
from crowd_demo.render.figures.pose import Cell, Manner, Poses
from crowd_demo.render.figures.sprites import Atlas, Sheet, Sprites
from crowd_demo.render.pixels import Frame, frame_of


class Sprited(ABC):
    """Figures of `sheet`; an agent is `units` large in the world and `pixels` large on the sheet."""

    def __init__(self, sheet: Sheet, units: float, pixels: float) -> None:
        self._sheet, self._units, self._units_a_pixel = sheet, units, units / pixels
        self._sprites, self._poses, self._dots = Sprites(sheet), Poses(), Dots()

    @abstractmethod
    def manner(self, shot: Shot, cell: Cell) -> Manner:
        """What chooses and places the sprites of a frame."""

    @abstractmethod
    def look(self, shot: Shot, size_px: float) -> Look:
        """What chooses the dots of a frame; an agent is `size_px` large."""

    def margin(self, zoom: float) -> Rect:
        """How far a cell of the sheet reaches beyond its anchor."""
        (width, height), (x, y), slack = self._sheet.cell, self._sheet.anchor, MARGIN_PX / zoom
        reach = (pixels * self._units_a_pixel + slack for pixels in (x, y, width - x, height - y))
        return Rect(*reach)

    def ordered(self, zoom: float) -> bool:
        return self._units * zoom >= LARGEST_PX

    def draw(self, target: pygame.Surface, shot: Shot, slots: Ints) -> int:
        draw = self._draw_sprites if self.ordered(shot.camera.zoom) else self._draw_dots
        return draw(target, shot, slots)

    def calls(self, shot: Shot, frame: Frame) -> Iterator[Call]:
        no_slots, atlas = np.zeros(0, np.int32), self._atlas(shot)
        yield self._pose(shot, no_slots, atlas)
        if shot.options.blitter == "compiled":
            yield from draw_calls(shot.workers, frame, atlas.view, self._poses.draws(0), True)
            yield from self._dot_calls(shot, no_slots, frame)

    def _draw_sprites(self, target: pygame.Surface, shot: Shot, slots: Ints) -> int:
        atlas = self._atlas(shot)
        self._pose(shot, slots, atlas).run()
        draws = self._poses.draws(len(slots))
        atlas.ensure(draws.sprite)
        if shot.options.blitter == "pygame":
            draw_fblits(target, atlas, draws)
        else:
            run(draw_calls(shot.workers, frame_of(target), atlas.view, draws, shot.options.depth != "off"))
        return self._poses.on_screen

    def _draw_dots(self, target: pygame.Surface, shot: Shot, slots: Ints) -> int:
        frame = frame_of(target)
        if shot.options.blitter == "pygame":
            return draw_plain(slots, shot.agents, shot.ahead, shot.view, self._look(shot), frame)
        run(self._dot_calls(shot, slots, frame))
        return self._dots.on_screen

    def _pose(self, shot: Shot, slots: Ints, atlas: Atlas) -> Call:
        manner = self.manner(shot, Cell(*atlas.anchor, *atlas.size))
        return self._poses.call(shot.workers, slots, shot.agents, shot.ahead, shot.view, manner)

    def _dot_calls(self, shot: Shot, slots: Ints, frame: Frame) -> tuple[Call, ...]:
        return self._dots.calls(shot.workers, slots, shot.agents, shot.ahead, shot.view, self._look(shot), frame)

    def _look(self, shot: Shot) -> Look:
        return self.look(shot, self._units * shot.camera.zoom)

    def _atlas(self, shot: Shot) -> Atlas:
        return self._sprites.at(shot.camera.zoom * self._units_a_pixel)
