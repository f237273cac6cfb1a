"""Icons above people who wait or are stuck. They fade, and there is at most one a spot, so a jam has no fence of them.

A spot is a square of the world. It shows the icon that is strongest, of equal ones that of the least id, so neither slots
nor threads matter. A spot has none unless all of it is where culling keeps everybody, so culling does not matter either. Icons
lie over all people, in the order of the spots. O(drawn), in NumPy.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pygame

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import run
from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.render.figures.base import Shot
from crowd_demo.render.figures.blit import DrawList, draw_calls, draw_fblits
from crowd_demo.render.figures.sprites import Manifest, Sprites, load_sheet
from crowd_demo.render.pixels import frame_of
from crowd_demo.render.projection import Bounds
from crowd_demo.sim.behaviours.people_columns import STUCK, WAITING, PeopleColumns

SPOT = 48.0  # world units, twice the height of a person
FADE_S = 0.5  # somebody who waits is given an icon within this time, and loses it so long before going on
STRONGEST = 255
NOBODY = np.iinfo(np.int64).max


class Icons:
    """The icons of people, from the sheet "icons", `units_a_pixel` of which are a pixel."""

    def __init__(self, settings: PeopleSettings, folder: Path, manifest: Manifest, units_a_pixel: float) -> None:
        about = manifest["icons"]
        self._sprites = Sprites(load_sheet(folder / about["file"], about["cell"], about["foot"]))
        self._settings, self._units_a_pixel = settings, units_a_pixel

    def draw(self, target: pygame.Surface, shot: Shot, slots: Ints) -> None:
        """Draw the icons of those of `slots` that have one, with the blitter of the shot's options."""
        atlas = self._sprites.at(shot.camera.zoom * self._units_a_pixel)
        draws = self.draws(shot, slots, atlas.anchor)
        atlas.ensure(draws.sprite)
        if shot.options.blitter == "pygame":
            draw_fblits(target, atlas, draws)
        else:
            run(draw_calls(shot.workers, frame_of(target), atlas.view, draws, False))

    def draws(self, shot: Shot, slots: Ints, anchor: tuple[int, int]) -> DrawList:
        """An icon fades by its tint, which multiplies all its channels, opacity too."""
        columns, agents, view = cast(PeopleColumns, shot.columns), shot.agents, shot.view
        slots = slots[(columns.state[slots] == WAITING) | (columns.state[slots] == STUCK)]
        strength = strengths(columns.state[slots], columns.timer[slots], self._settings)
        shown = strength > 0
        slots, strength = slots[shown], strength[shown]
        x, y = agents.x[slots] + agents.vx[slots] * shot.ahead, agents.y[slots] + agents.vy[slots] * shot.ahead
        chosen = one_a_spot(x, y, agents.id[slots], strength, shot.bounds)
        left, top = (np.floor((place[chosen] - corner) * view.zoom).astype(np.int32) - np.int32(reach)
                     for place, corner, reach in ((x, view.left, anchor[0]), (y, view.top, anchor[1])))
        return DrawList(columns.state[slots[chosen]] - np.int32(1), left, top,
                        strength[chosen].astype(np.uint32) * np.uint32(0x01010101))


def strengths(state: Ints, timer: Floats, settings: PeopleSettings) -> Ints:
    """0 to 255, by how long somebody has been waiting or stuck, and how soon that ends.

    Who gets stuck has been without progress for `stuck_s` and has the whole icon after half as long again.
    """
    wait, patience = settings.wait_s, settings.stuck_s
    waiting = np.minimum(timer, wait - timer) / max(min(FADE_S, wait / 2), 1e-3)
    stuck = (timer - patience) / max(patience / 2, 1e-3)
    share = np.where(state == STUCK, stuck, waiting).clip(0, 1)
    whole: Ints = (share * STRONGEST).astype(np.int32)
    return whole


def one_a_spot(x: Floats, y: Floats, ids: Ints, strength: Ints, bounds: Bounds) -> Ints:
    """Indices of the people who have the icon of their spot, by spot: those rows from the top that lie within the bounds."""
    left, top = np.ceil(bounds.left / SPOT), np.ceil(bounds.top / SPOT)
    columns, rows = max(int(bounds.right // SPOT - left), 0), max(int(bounds.bottom // SPOT - top), 0)
    column, row = (np.floor(place / np.float32(SPOT)).astype(np.int64) - int(first) for place, first in ((x, left), (y, top)))
    within = np.flatnonzero((column >= 0) & (column < columns) & (row >= 0) & (row < rows))
    spot = row[within] * columns + column[within]
    key = (STRONGEST - strength[within].astype(np.int64)) << 32 | ids[within]
    best = np.full(columns * rows, NOBODY)
    np.minimum.at(best, spot, key)
    chosen = key == best[spot]
    found: Ints = within[chosen][np.argsort(spot[chosen])]
    return found
