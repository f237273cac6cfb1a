"""Predators and prey: starlings and hawks, who are larger and red, and beat their wings like other birds.

Hawks are seen from afar too, however small starlings are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call, device
from crowd_demo.compute.simd import select, splat
from crowd_demo.compute.simd_memory import take
from crowd_demo.config.model import Config
from crowd_demo.render import numbering
from crowd_demo.render.camera import Rect
from crowd_demo.render.figures import pose
from crowd_demo.render.figures.afar import FromAfar
from crowd_demo.render.figures.base import Shot
from crowd_demo.render.figures.birds import FLAPS, HEADINGS, SHEET_PX, UNITS, number_of
from crowd_demo.render.figures.light import Shades
from crowd_demo.render.figures.pose import Cell
from crowd_demo.render.figures.sprited import Sprited
from crowd_demo.render.figures.sprites import Manifest, load_sheet
from crowd_demo.render.pixels import Frame
from crowd_demo.render.projection import Moving

STARLING, HAWK = range(2)  # looks on the sheet


class HuntManner(NamedTuple):
    """The cell, and what chooses its sprites."""

    anchor_x: int
    anchor_y: int
    width: int
    height: int
    time_s: np.float64
    predators: int  # those with the lowest ids


@device
def _look(manner: HuntManner, agents: Moving, slot: Int) -> int:
    return HAWK if agents.id[slot] < manner.predators else STARLING


@implements(pose.sprite_of, HuntManner)
def sprite_of(manner: HuntManner, agents: Moving, slot: Int) -> int:
    return number_of(_look(manner, agents, slot), manner.time_s, agents, slot)


class HuntLooks(NamedTuple):
    """What numbers them by their looks."""

    id: Ints
    predators: int


@implements(numbering.number_of, HuntLooks)
def number_looks(mode: HuntLooks, slots: Int, register: Register) -> Register:
    starling = splat(np.int32(STARLING), register)
    return select(take(mode.id, slots) < mode.predators, splat(np.int32(HAWK), register), starling)


class HuntFigures(Sprited):
    """The figures of the sheet "hunt"."""

    MARKS = False

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        about = manifest["hunt"]
        super().__init__(load_sheet(folder / about["file"], about["cell"], about["centre"]), UNITS, SHEET_PX)
        self._predators = config.hunt.predators
        self._afar = FromAfar(self._sheet, self._units_a_pixel, self._predators, self.manner)

    def margin(self, zoom: float) -> Rect:
        usual = super().margin(zoom)
        return Rect(*map(max, usual, self._afar.margin(zoom))) if self._afar.needed(zoom) else usual

    def draw(self, target: pygame.Surface, shot: Shot, slots: Ints, shades: Shades | None = None) -> int:
        on_screen = super().draw(target, shot, slots, shades)
        if self._afar.needed(shot.camera.zoom):
            self._afar.draw(target, shot, slots, shades)
        return on_screen

    def calls(self, shot: Shot, frame: Frame) -> Iterator[Call]:
        yield from super().calls(shot, frame)
        yield from self._afar.calls(shot)

    def manner(self, shot: Shot, cell: Cell) -> HuntManner:
        return HuntManner(*cell, shot.time_s, self._predators)

    def look_mode(self, shot: Shot) -> HuntLooks:
        return HuntLooks(shot.agents.id, self._predators)

    def looks(self) -> Ints:
        return (np.arange(len((STARLING, HAWK)) * FLAPS * HEADINGS) // (FLAPS * HEADINGS)).astype(np.int32)
