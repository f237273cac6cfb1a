"""Predators and prey: starlings and hawks, who beat their wings like other birds; dots whose colour is their heading.

So a wave of turning that runs through a flock is a wave of colour. Predators are larger, red, and above all others.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Int, Ints, Words
from crowd_demo.compute.dispatch import implements
from crowd_demo.config.model import Config
from crowd_demo.render.figures import dots, pose
from crowd_demo.render.figures.base import Shot
from crowd_demo.render.figures.birds import DOT, SHEET_PX, UNITS, BirdLook, number_of, wheel
from crowd_demo.render.figures.dots import shapes
from crowd_demo.render.figures.pose import Cell
from crowd_demo.render.figures.sprited import Sprited
from crowd_demo.render.figures.sprites import Manifest, load_sheet
from crowd_demo.render.projection import Moving

STARLING, HAWK = range(2)  # looks on the sheet
TOP_RANK = 0xFF_00_00_00  # of a dot: above it there is none
PREDATOR = TOP_RANK | 0xE0_30_20


class HuntManner(NamedTuple):
    """The cell, and what chooses its sprites."""

    anchor_x: int
    anchor_y: int
    width: int
    height: int
    time_s: np.float64
    predators: int  # those with the lowest ids


class HuntLook(NamedTuple):
    """Dots of prey as of other birds."""

    prey: BirdLook
    predators: int
    single: bool

    def plain(self, slots: Ints, agents: Moving) -> tuple[Words, Ints]:
        value, shape = self.prey.plain(slots, agents)
        value = np.where(value >= np.uint32(TOP_RANK), value - np.uint32(1 << 24), value)
        hunts = agents.id[slots] < self.predators
        return np.where(hunts, np.uint32(PREDATOR), value), np.where(hunts, np.int32(DOT), shape)


@implements(pose.sprite_of, HuntManner)
def sprite_of(manner: HuntManner, agents: Moving, slot: Int) -> int:
    look = HAWK if agents.id[slot] < manner.predators else STARLING
    return number_of(look, manner.time_s, agents, slot)


@implements(dots.dot_of, HuntLook)
def dot_of(look: HuntLook, agents: Moving, slot: Int) -> tuple[Int, Int]:
    value, shape = dots.dot_of(look.prey, agents, slot)
    if agents.id[slot] < look.predators:
        return np.uint32(PREDATOR), np.int32(DOT)
    below = value - np.uint32(1 << 24) if value >= np.uint32(TOP_RANK) else value
    return np.uint32(below), shape


class HuntFigures(Sprited):
    """The figures of the sheet "hunt"."""

    MARKS = False

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        about = manifest["hunt"]
        super().__init__(load_sheet(folder / about["file"], about["cell"], about["centre"]), UNITS, SHEET_PX)
        self._values = wheel()
        self._predators = config.hunt.predators

    def manner(self, shot: Shot, cell: Cell) -> HuntManner:
        return HuntManner(*cell, shot.time_s, self._predators)

    def look(self, shot: Shot, size_px: float) -> HuntLook:
        prey = BirdLook(self._values, shapes(size_px, (DOT,)), False)
        return HuntLook(prey, self._predators, False)
