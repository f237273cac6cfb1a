"""Figures that are sprites, or light where a sprite would be smaller than four pixels; in between the two cross-fade.

A behaviour gives its sheet and two records, by whose types the kernels choose the functions that choose an agent's sprite and
its look. In light an agent has the mean colour of the sprites of its look and their mean area, so nothing jumps.
In a colour mode sprites are grey and multiplied by the agent's shade, and light has that colour. Light needs no order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes, Ints
from crowd_demo.compute.jit import Call, call, run
from crowd_demo.render.camera import Rect
from crowd_demo.render.figures.base import MARGIN_PX, Shot
from crowd_demo.render.figures.blit import draw_calls, draw_list
from crowd_demo.render.figures.fade import fade, fade_plain
from crowd_demo.render.figures.light import Light, Shades, dimmed, draw_plain
from crowd_demo.render.figures.pose import Cell, Manner, Poses
from crowd_demo.render.figures.sprites import Atlas, Means, Sheet, Sprites, next_missing
from crowd_demo.render.numbering import Mode, numbering
from crowd_demo.render.pixels import Frame, frame_of

SHARP_PX = 4.2  # a larger agent is a sprite alone; down from there, over two notches of the wheel, it becomes light
FADE = 1.15**2
LEAST_PX = SHARP_PX / FADE  # a smaller agent is light alone
MOST_EXPOSURE = 4.0


class Sprited(ABC):
    """Figures of `sheet`; an agent is `units` large in the world and `pixels` large on the sheet."""

    def __init__(self, sheet: Sheet, units: float, pixels: float) -> None:
        self._sheet, self._units, self._units_a_pixel = sheet, units, units / pixels
        self._sprites, self._poses, self._light = Sprites(sheet), Poses(), Light()
        self._number: Bytes = np.zeros(0, np.uint8)
        self._lit: Frame = np.zeros((1, 1), np.uint32)  # the ground with light, for cross-fading

    @abstractmethod
    def manner(self, shot: Shot, cell: Cell) -> Manner:
        """What chooses and places the sprites of a frame."""

    @abstractmethod
    def looks(self) -> Ints:
        """The look of each sprite of the sheet: sprites of one look have one mean colour."""

    @abstractmethod
    def look_mode(self, shot: Shot) -> Mode:
        """What numbers agents by their looks."""

    # --- how much of it is sprites, and how much light ---------------------------------------------------------------

    def margin(self, zoom: float) -> Rect:
        """How far a cell of the sheet reaches beyond its anchor."""
        (width, height), (x, y), slack = self._sheet.cell, self._sheet.anchor, MARGIN_PX / zoom
        reach = (pixels * self._units_a_pixel + slack for pixels in (x, y, width - x, height - y))
        return Rect(*reach)

    def ordered(self, zoom: float) -> bool:
        return self._units * zoom >= LEAST_PX

    def _sharpness(self, zoom: float) -> int:
        """How much of the picture is sprites: 0 to 256."""
        return max(0, min(256, round(256 * np.log(self._units * zoom / LEAST_PX) / np.log(FADE))))

    # --- drawing -----------------------------------------------------------------------------------------------------

    def draw(self, target: pygame.Surface, shot: Shot, slots: Ints, shades: Shades | None = None) -> int:
        zoom = shot.camera.zoom
        if not self.ordered(zoom):
            return self._draw_light(frame_of(target), shot, slots, shades)
        sharpness = self._sharpness(zoom)
        if sharpness == 256:
            return self._draw_sprites(target, shot, slots, shades)
        if self._lit.shape[::-1] != target.get_size():
            self._lit = np.empty(target.get_size()[::-1], np.uint32)
        self._lit[:] = frame_of(target)
        self._draw_light(self._lit, shot, slots, shades)
        on_screen = self._draw_sprites(target, shot, slots, shades)
        if shot.options.blitter == "pygame":
            fade_plain(frame_of(target), self._lit, sharpness)
        else:
            call(fade, shot.workers, frame_of(target), self._lit, sharpness).run()
        return on_screen

    def calls(self, shot: Shot, frame: Frame) -> Iterator[Call]:
        no_slots, atlas = np.zeros(0, np.int32), self._sprites.at(shot.camera.zoom * self._units_a_pixel)
        yield self._pose(shot, no_slots, atlas, None)
        yield call(next_missing, no_slots, atlas.ready, 0)
        yield self._number_call(shot, no_slots)
        if shot.options.blitter == "compiled":
            yield from draw_calls(shot.workers, frame, atlas.view, self._poses.draws(0), True)
            yield from self._light_calls(shot, no_slots, Shades(self._number, np.zeros(1, np.uint32)), 1.0, frame)
            yield call(fade, shot.workers, frame, frame, 0)

    def _draw_sprites(self, target: pygame.Surface, shot: Shot, slots: Ints, shades: Shades | None) -> int:
        sprites = self._grey if shades else self._sprites
        atlas = sprites.at(shot.camera.zoom * self._units_a_pixel)
        self._pose(shot, slots, atlas, shades).run()
        draw_list(target, atlas, self._poses.draws(len(slots)), shot, ordered=shot.options.depth != "off")
        return self._poses.on_screen

    def _draw_light(self, frame: Frame, shot: Shot, slots: Ints, shades: Shades | None) -> int:
        light = self._grey_light(shades) if shades else self._own_light(shot, slots)
        if shot.options.blitter == "pygame":
            return draw_plain(slots, shot.agents, shot.ahead, shot.view, light, self._area_px(shot, shades), frame)
        run(self._light_calls(shot, slots, light, self._area_px(shot, shades), frame))
        return self._light.on_screen

    # --- colours -----------------------------------------------------------------------------------------------------

    @cached_property
    def _means(self) -> Means:
        return self._sheet.means(self.looks())

    @cached_property
    def _grey(self) -> Sprites:
        return Sprites(self._sheet.grey())

    @cached_property
    def _mean_grey(self) -> int:
        """0 to 255."""
        return int(self._grey.sheet.means(np.zeros(self._sheet.sprites, np.int32)).colours[0] & 255)

    def _own_light(self, shot: Shot, slots: Ints) -> Shades:
        self._number_call(shot, slots).run()
        return Shades(self._number[:len(slots)], self._means.colours)

    def _grey_light(self, shades: Shades) -> Shades:
        """The mean colours of grey sprites that are multiplied by the shades."""
        return shades._replace(palette=dimmed(shades.palette, self._mean_grey))

    def _area_px(self, shot: Shot, shades: Shades | None) -> float:
        """The mean area of a figure; in a colour mode, which is to be read, light is exposed longer the smaller agents are."""
        exposure = max(1.0, min(MOST_EXPOSURE, LEAST_PX / (self._units * shot.camera.zoom))) if shades else 1.0
        return exposure * self._means.area * (self._units_a_pixel * shot.camera.zoom) ** 2

    # --- calls -------------------------------------------------------------------------------------------------------

    def _pose(self, shot: Shot, slots: Ints, atlas: Atlas, shades: Shades | None) -> Call:
        manner = self.manner(shot, Cell(*atlas.anchor, *atlas.size))
        return self._poses.call(shot.workers, slots, shot.agents, shot.ahead, shot.view, manner, shades)

    def _number_call(self, shot: Shot, slots: Ints) -> Call:
        if len(slots) > len(self._number):
            self._number = np.zeros(len(slots), np.uint8)
        return numbering(shot.workers, slots, self.look_mode(shot), self._number)

    def _light_calls(self, shot: Shot, slots: Ints, shades: Shades, area_px: float, frame: Frame) -> tuple[Call, ...]:
        return self._light.calls(shot.workers, slots, shot.agents, shot.ahead, shot.view, shades, area_px, frame)
