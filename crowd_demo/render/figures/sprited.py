"""Figures that are sprites, or light where a sprite would be smaller than four pixels; in between the two cross-fade.

A behaviour gives its sheet, and a record (mode) by whose type the kernels choose the functions that choose an agent's
sprite and number its appearance. Differences between agents come from a hash of the id, so reordering cannot change a
picture. In light an agent has the mean colour of the sprites of its appearance and their mean area, so nothing jumps. In a
colour mode sprites are grey and multiplied by the agent's shade, and light has that colour. Light needs no order.
O(visible).

A draw list (sprite, left, top, tint), from back to front, is laid onto the picture: `draw_fblits` uses pygame.
`draw_sprites` is compiled and writes rows of sixteen pixels straight into the surface. Both give the same pixels. The
screen is cut into slices; a worker draws what touches its slices, in the order of the list, so the picture does not
depend on the number of workers. When the list is ordered by `top`, a slice finds its part of the list by bisection.
Cost: the rows of the sprites in view, sixteen pixels at a time.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Longs, Mask, Words
from crowd_demo.compute.dispatch import generic
from crowd_demo.compute.jit import Launch, device, kernel, launch, run
from crowd_demo.render.camera import Rect, View
from crowd_demo.render.drawing import (
    MARGIN_PX,
    NO_SHADES,
    DeviceLight,
    FrameInput,
    Mode,
    Moving,
    ReusedColumns,
    Shades,
    number_agents,
    pixel,
)
from crowd_demo.render.figures.light import Light, dimmed, draw_plain
from crowd_demo.render.figures.sprites import AnySheet, Atlas, Means, Sprites
from crowd_demo.sprites.blitter import DrawList, draw_sprites
from crowd_demo.sprites.pixels import (
    NO_TINT,
    Frame,
    frame_of,
)

ODD, EVEN = 0xFF00FF, 0x00FF00  # channels
SHARP_PX = 4.2  # a larger agent is a sprite alone; down from there, over two notches of the wheel, it becomes light
FADE = 1.15**2
LEAST_PX = SHARP_PX / FADE  # a smaller agent is light alone
MAX_EXPOSURE = 12.0
SHADOW_PX, SPECK_PX, MANY = 2.5, 5.0, 100_000  # areas of outlined figures that are light, while there are fewer


def draw_list(target: pygame.Surface, atlas: Atlas, draws: DrawList, now: FrameInput, ordered: bool = False) -> None:
    """Draw the list with the blitter of the input's options. `ordered`: it ascends in `top`."""
    atlas.ensure(draws.sprite)
    if now.options.blitter == "pygame":
        draw_fblits(target, atlas, draws)
    else:
        launch(draw_sprites, now.workers, frame_of(target), target.get_width(), atlas.view, draws, ordered).run()


def draw_fblits(surface: pygame.Surface, atlas: Atlas, draws: DrawList) -> None:
    boxes = atlas.view.box[draws.sprite]
    corners = zip((draws.left + boxes[:, 0]).tolist(), (draws.top + boxes[:, 1]).tolist(), strict=True)
    surface.fblits(list(zip(atlas.surfaces(draws.sprite, draws.tint), corners, strict=True)), pygame.BLEND_PREMULTIPLIED)


# --- cross-fading -------------------------------------------------------------------------------------------------------

@kernel
def fade(worker: int, workers: int, frame: Frame, other: Frame, share: int) -> None:
    """Make the picture `share`/256 of itself and the rest of the other: `(a * share + b * (256 - share) + 128) >> 8`."""
    height, width = frame.shape
    part, rest = np.uint32(share), np.uint32(256) - np.uint32(share)
    for row in range(height * worker // workers, height * (worker + 1) // workers):
        for column in range(width):  # two channels at a time, 16 bits apart, so that no carry reaches the next channel
            a, b = frame[row, column], other[row, column]
            odd = (a & np.uint32(ODD)) * part + (b & np.uint32(ODD)) * rest + np.uint32(0x800080)
            even = (a >> np.uint32(8) & np.uint32(255)) * part + (b >> np.uint32(8) & np.uint32(255)) * rest
            frame[row, column] = (odd >> np.uint32(8) & np.uint32(ODD)) | (even + np.uint32(128) & np.uint32(EVEN))


def fade_plain(frame: Frame, other: Frame, share: int) -> None:
    out = np.zeros_like(frame)
    for shift in (np.uint32(0), np.uint32(8), np.uint32(16)):
        a, b = (picture >> shift & np.uint32(255) for picture in (frame, other))
        out |= (a * np.uint32(share) + b * np.uint32(256 - share) + np.uint32(128) >> np.uint32(8)) << shift
    frame[:] = out


# --- figures ---------------------------------------------------------------------------------------------------------

@generic
def sprite_of(mode: Mode, agents: Moving, slot: Int) -> int:  # type: ignore[empty-body]
    """The number of the sprite that shows this agent."""


def slopes(sectors: int) -> Floats:
    """Tangents of the borders between sectors, within the first eighth of a turn."""
    return np.tan((np.arange(sectors // 8) + 0.5) * math.tau / sectors).astype(np.float32)


@device
def sector(vx: Float, vy: Float, slopes: Floats) -> int:
    """The nearest of 8 * len(slopes) directions, counted clockwise from 0, the east; an agent that stands has 0.

    Slopes are compared with the tangents of the borders: without an arc tangent the same on every machine.
    """
    quarter = 2 * slopes.shape[0]
    across, down = abs(vx), abs(vy)
    low, high = min(across, down), max(across, down)
    turn = 0
    for slope in slopes:
        turn += low > slope * high
    turn = quarter - turn if down > across else turn
    turn = 2 * quarter - turn if vx < 0 else turn
    return (4 * quarter - turn) % (4 * quarter) if vy < 0 else turn


@kernel
def pose(worker: int, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, mode: Mode,
         anchor: tuple[int, int], size: tuple[int, int], number: Bytes, tints: Words, draws: DrawList,
         on_screen: Longs) -> None:
    """Fill this worker's share of the draw list, and count the sprites that touch the screen: on_screen int64[workers].

    `size` is that of a sprite's cell in pixels; its pixel `anchor` is drawn at the agent's position.
    """
    listed, seen, tinted = slots.shape[0], 0, number.shape[0] > 0
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        left = int(pixel(agents.x[slot], agents.vx[slot], ahead, view.left, view.zoom)) - anchor[0]
        top = int(pixel(agents.y[slot], agents.vy[slot], ahead, view.top, view.zoom)) - anchor[1]
        draws.sprite[k], draws.left[k], draws.top[k] = sprite_of(mode, agents, slot), left, top
        draws.tint[k] = tints[np.uintp(number[k])] if tinted else np.uint32(NO_TINT)
        shown: Mask = left < view.width and left + size[0] > 0 and top < view.height and top + size[1] > 0
        seen += shown
    on_screen[worker] = seen


class Poses:
    """Owns the draw list. After the launch has run, `on_screen` has the sprites of each worker that touch the screen."""

    def __init__(self) -> None:
        self.draws = ReusedColumns[DrawList](DrawList, tint=np.uint32).first  # by their number
        self.on_screen = np.zeros(1, np.int64)

    def launch(self, now: FrameInput, slots: Ints, mode: Mode, atlas: Atlas, shades: Shades | None = None) -> Launch:
        """The kernel that fills the draw list of the slots, tinted by their shades if there are any."""
        if len(self.on_screen) != now.workers:
            self.on_screen = np.zeros(now.workers, np.int64)
        number, palette = shades or NO_SHADES
        return launch(pose, now.workers, slots, now.agents, now.ahead, now.view, mode, atlas.anchor, atlas.size,
                      number, palette | np.uint32(0xFF000000), self.draws(len(slots)), self.on_screen)


class Sprited(ABC):
    """Figures of `sheet`; an agent is `units` large in the world and `pixels` large on the sheet.

    `OUTLINED` figures that are light lie on specks of shadow, so they stand out from any ground.
    `appearances` has the appearance of each sprite: sprites of one appearance have one mean colour.
    """

    OUTLINED = False

    def __init__(self, sheet: AnySheet, units: float, pixels: float, appearances: Ints) -> None:
        self._sheet, self._units, self._units_a_pixel = sheet, units, units / pixels
        self._appearances = appearances
        self._sprites, self._poses, self._light = Sprites(sheet), Poses(), Light()
        self._number: Bytes = np.zeros(0, np.uint8)
        self._lit: Frame = np.zeros((1, 1), np.uint32)  # the ground with light, for cross-fading

    @abstractmethod
    def mode(self, now: FrameInput) -> Mode:
        """What chooses the sprites of a frame (`sprite_of`), and numbers agents by their appearances (`number_of`)."""

    def number_mode(self, now: FrameInput) -> Mode:
        """The mode where no sprites are drawn. Leave out what `number_of` does not read: then less is copied to a GPU."""
        return self.mode(now)

    # --- how much of it is sprites, and how much light ---------------------------------------------------------------

    def margin(self, zoom: float) -> Rect:
        """How far a cell of the sheet reaches beyond its anchor."""
        (width, height), (x, y), slack = self._sheet.cell, self._sheet.anchor, MARGIN_PX / zoom
        return Rect(*(pixels * self._units_a_pixel + slack for pixels in (x, y, width - x, height - y)))

    def ordered(self, zoom: float) -> bool:
        return self._units * zoom >= LEAST_PX

    def _sharpness(self, zoom: float) -> int:
        """How much of the picture is sprites: 0 to 256."""
        return max(0, min(256, round(256 * np.log(self._units * zoom / LEAST_PX) / np.log(FADE))))

    # --- drawing -----------------------------------------------------------------------------------------------------

    def draw(self, target: pygame.Surface, now: FrameInput, slots: Ints, shades: Shades | None = None) -> int:
        zoom = now.camera.zoom
        if not self.ordered(zoom):
            return self._draw_light(frame_of(target), now, slots, shades)
        sharpness = self._sharpness(zoom)
        if sharpness == 256:
            return self._draw_sprites(target, now, slots, shades)
        if self._lit.shape[::-1] != target.get_size():
            self._lit = np.empty(target.get_size()[::-1], np.uint32)
        self._lit[:] = frame_of(target)
        self._draw_light(self._lit, now, slots, shades)
        on_screen = self._draw_sprites(target, now, slots, shades)
        if now.options.blitter == "pygame":
            fade_plain(frame_of(target), self._lit, sharpness)
        else:
            launch(fade, now.workers, frame_of(target), self._lit, sharpness).run()
        return on_screen

    def launches(self, now: FrameInput, frame: Frame) -> Iterator[Launch]:
        no_slots, atlas = np.zeros(0, np.int32), self._sprites.at(now.camera.zoom * self._units_a_pixel)
        yield self._poses.launch(now, no_slots, self.mode(now), atlas)
        yield from atlas.launches()
        yield self._number_launch(now, no_slots)
        if now.options.blitter == "compiled":
            yield launch(draw_sprites, now.workers, frame, frame.shape[1], atlas.view, self._poses.draws(0), True)
            yield from self._light_launches(now, no_slots, Shades(self._number, np.zeros(1, np.uint32)), 1.0, frame)
            yield launch(fade, now.workers, frame, frame, 0)

    def draw_on_gpu(self, frame: Frame, now: FrameInput, agents: int, light: DeviceLight, mode: Mode | None,
                     palette: Words | None) -> int:
        """Draw all agents as light, on their GPU; in a colour mode `mode` and `palette` say how, else both are None."""
        if palette is None:
            palette, area_px = self._means.colours, self._area_px(now, None)
        else:
            palette, area_px = dimmed(palette.tobytes(), self._mean_grey), self._area_px(now, NO_SHADES)
        number = light.numbers(self.number_mode(now) if mode is None else mode, agents)
        return light.draw(frame, now, agents, number, palette, area_px)

    def _draw_sprites(self, target: pygame.Surface, now: FrameInput, slots: Ints, shades: Shades | None) -> int:
        atlas = (self._grey if shades else self._sprites).at(now.camera.zoom * self._units_a_pixel)
        self._poses.launch(now, slots, self.mode(now), atlas, shades).run()
        draw_list(target, atlas, self._poses.draws(len(slots)), now, ordered=now.options.depth != "off")
        return int(self._poses.on_screen.sum())

    def _draw_light(self, frame: Frame, now: FrameInput, slots: Ints, shades: Shades | None) -> int:
        if shades:  # the mean colours of grey sprites that are multiplied by them
            light = shades._replace(palette=dimmed(shades.palette.tobytes(), self._mean_grey))
        else:
            self._number_launch(now, slots).run()
            light = Shades(self._number[:len(slots)], self._means.colours)
        area_px = self._area_px(now, shades)
        if self.OUTLINED and now.handles.limit < MANY:
            self._add_light(frame, now, slots, light._replace(palette=np.zeros_like(light.palette)), SHADOW_PX)
            area_px = max(area_px, SPECK_PX)
        return self._add_light(frame, now, slots, light, area_px)

    def _add_light(self, frame: Frame, now: FrameInput, slots: Ints, light: Shades, area_px: float) -> int:
        if now.options.blitter == "pygame":
            return draw_plain(slots, now.agents, now.ahead, now.view, light, area_px, frame)
        run(self._light_launches(now, slots, light, area_px, frame))
        return int(self._light.on_screen.sum())

    # --- colours -----------------------------------------------------------------------------------------------------

    @cached_property
    def _means(self) -> Means:
        return self._sheet.means(self._appearances)

    @cached_property
    def _grey(self) -> Sprites:
        return Sprites(self._sheet.grey())

    @cached_property
    def _mean_grey(self) -> int:
        return int(self._grey.sheet.means(np.zeros(self._sheet.sprites, np.int32)).colours[0] & 255)

    def _area_px(self, now: FrameInput, shades: Shades | None) -> float:
        """The mean area of a figure; in a colour mode, which is to be read, light is exposed longer the smaller agents are."""
        exposure = max(1.0, min(MAX_EXPOSURE, LEAST_PX / (self._units * now.camera.zoom))) if shades else 1.0
        return exposure * self._means.area * (self._units_a_pixel * now.camera.zoom) ** 2

    # --- launches ----------------------------------------------------------------------------------------------------

    def _number_launch(self, now: FrameInput, slots: Ints) -> Launch:
        if len(slots) > len(self._number):
            self._number = np.zeros(len(slots), np.uint8)
        return launch(number_agents, now.workers, slots, self.mode(now), self._number)

    def _light_launches(self, now: FrameInput, slots: Ints, shades: Shades, area_px: float,
                        frame: Frame) -> tuple[Launch, ...]:
        return self._light.launches(now.workers, slots, now.agents, now.ahead, now.view, shades, area_px, frame)
