"""Icons above people who wait or are stuck. They fade, and there is at most one a spot, so a jam has no fence of
them.

A spot is a square of the world. It shows the icon that is strongest, of equal ones that of the least id, so neither
slots nor threads matter. A spot has none unless all of it is where culling keeps everybody, so culling does not
matter either. Icons lie over all people, in the order of the spots. O(drawn + spots).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pygame

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Longs
from crowd_demo.compute.jit import Launch, device, launch, run
from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.render.camera import View
from crowd_demo.render.cull import CellRange
from crowd_demo.render.figures.base import FrameInput, ReusedColumns
from crowd_demo.render.figures.blit import DrawList, draw_list
from crowd_demo.render.figures.sprites import Manifest, Sprites, load_sheet
from crowd_demo.render.formulas import Bounds, Moving, drawn, pixel
from crowd_demo.sim.behaviours.people_rules import STUCK, WAITING, WALKING, PeopleColumns

SPOT = 48.0  # world units, twice the height of a person
FADE_S = 0.5  # somebody who waits is given an icon within this time, and loses it so long before going on
STRONGEST = 255
NOBODY = (1 << 63) - 1


class Fading(NamedTuple):
    """Seconds: how long people wait, how long they go without progress until they are stuck, and how long icons fade."""

    wait: np.float32
    wait_fade: np.float32
    stuck: np.float32
    stuck_fade: np.float32


class SpotIcons(NamedTuple):
    """By spot: the key of the strongest icon (weakness in the high half, id in the low one), and whose slot that is."""

    key: Longs
    slot: Ints


@device
def strength(state: Int, timer: Float, fading: Fading) -> int:
    """0 to 255, by how long somebody has been waiting or stuck, and how soon that ends."""
    waiting = min(timer, fading.wait - timer) / fading.wait_fade
    stuck = (timer - fading.stuck) / fading.stuck_fade
    share = stuck if state == STUCK else waiting
    return int(min(max(share, np.float32(0.0)), np.float32(1.0)) * np.float32(STRONGEST))


@device
def choose_icons(slots: Ints, agents: Moving, state: Ints, timer: Floats, ahead: np.float32, fading: Fading, spots: CellRange,
                 chosen: SpotIcons) -> None:
    """Choose for each spot the strongest icon of the agents in it."""
    rows, columns = spots.row1 - spots.row0, spots.column1 - spots.column0
    for spot in range(rows * columns):
        chosen.key[spot] = NOBODY
    for slot in slots:
        power = strength(state[slot], timer[slot], fading) if state[slot] != WALKING else 0
        if power > 0:
            x, y = drawn(agents.x[slot], agents.vx[slot], ahead), drawn(agents.y[slot], agents.vy[slot], ahead)
            column = int(np.floor(x / np.float32(SPOT))) - spots.column0
            row = int(np.floor(y / np.float32(SPOT))) - spots.row0
            if 0 <= column < columns and 0 <= row < rows:
                spot, key = row * columns + column, (STRONGEST - power) << 32 | agents.id[slot]
                if key < chosen.key[spot]:
                    chosen.key[spot], chosen.slot[spot] = key, slot


@device
def list_icons(agents: Moving, state: Ints, ahead: np.float32, view: View, anchor_x: int, anchor_y: int, chosen: SpotIcons,
               draws: DrawList, listed: Longs) -> None:
    """An icon fades by its tint, which multiplies all its channels, opacity too. listed[0] becomes how many there are."""
    k = 0
    for spot in range(draws.sprite.shape[0]):
        if chosen.key[spot] != NOBODY:
            slot = chosen.slot[spot]
            draws.sprite[k] = state[slot] - WAITING  # the sheet begins with that of who waits
            draws.left[k] = int(pixel(agents.x[slot], agents.vx[slot], ahead, view.left, view.zoom)) - anchor_x
            draws.top[k] = int(pixel(agents.y[slot], agents.vy[slot], ahead, view.top, view.zoom)) - anchor_y
            draws.tint[k] = (STRONGEST - (chosen.key[spot] >> 32)) * 0x01010101
            k += 1
    listed[0] = k


class Icons:
    """The icons of people, from the sheet "icons", `units_a_pixel` of which are a pixel. Owns the memory of their list."""

    def __init__(self, settings: PeopleSettings, folder: Path, manifest: Manifest, units_a_pixel: float) -> None:
        self._sprites = Sprites(load_sheet(folder, manifest["icons"]))
        self._fading, self._units_a_pixel = fading(settings), units_a_pixel
        self._listed = np.zeros(1, np.int64)
        self._chosen = ReusedColumns[SpotIcons](SpotIcons, key=np.int64)
        self._draws = ReusedColumns[DrawList](DrawList, tint=np.uint32)

    def draw(self, target: pygame.Surface, now: FrameInput, slots: Ints) -> None:
        """Draw the icons of those of `slots` that have one, with the blitter of the input's options."""
        run(self.launches(now, slots))
        draws = self._draws.first(int(self._listed[0]))
        draw_list(target, self._sprites.at(now.camera.zoom * self._units_a_pixel), draws, now)

    def launches(self, now: FrameInput, slots: Ints) -> tuple[Launch, ...]:
        """Find the icons of those of `slots` that have one."""
        columns, agents, spots = cast(PeopleColumns, now.columns), now.agents, spots_in(now.bounds)
        chosen, draws = self._chosen.first(spots.cells), self._draws.first(spots.cells)
        anchor = self._sprites.at(now.camera.zoom * self._units_a_pixel).anchor
        return (
            launch(choose_icons, slots, agents, columns.state, columns.timer, now.ahead, self._fading, spots, chosen),
            launch(list_icons, agents, columns.state, now.ahead, now.view, *anchor, chosen, draws, self._listed))


def fading(settings: PeopleSettings) -> Fading:
    """Who gets stuck has been without progress for `stuck_s` and has the whole icon after half as long again."""
    wait, stuck = settings.wait_s, settings.stuck_s
    return Fading(*map(np.float32, (wait, max(min(FADE_S, wait / 2), 1e-3), stuck, max(stuck / 2, 1e-3))))


def spots_in(bounds: Bounds) -> CellRange:
    """The spots that lie within the bounds wholly."""
    left, top, right, bottom = (float(edge) / SPOT for edge in bounds)
    first_column, first_row = math.ceil(left), math.ceil(top)
    return CellRange(first_row, max(math.floor(bottom), first_row), first_column, max(math.floor(right), first_column))
