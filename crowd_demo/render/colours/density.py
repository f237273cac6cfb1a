"""Colours by density: how many agents there are in the 3 x 3 squares around each one.

For people these are Fruin's levels of service of walkways, A (free) to F (jammed), by people a square metre. Other
agents are compared with the mean of their world, on a logarithmic scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.config.section import per_square_metre
from crowd_demo.render.colours.base import Legend, ramp, scales_of
from crowd_demo.render.colours.squares import (
    LEAST,
    MAX,
    CountedSquares,
    SquareColours,
    amount_of,
    is_people,
    level_of,
    mean_of,
    ramp_shades,
    side_of,
)
from crowd_demo.render.inks import RGB
from crowd_demo.sim.simulation import Simulation

SERVICE = 0.308, 0.431, 0.718, 1.076, 2.174  # people a square metre, at which B to F begin: Fruin 1971
NAMES = "A free", *(f"{level} {least:.2g}" for level, least in zip("BCDEF", SERVICE, strict=True))


class Heads(NamedTuple):
    """Everybody counts alike."""

    each: np.int32


@implements(amount_of, Heads)
def amount(adds: Heads, slot: Int) -> Int:
    return adds.each


@implements(level_of, Heads)
def level(adds: Heads, squares: Int, sums: Register) -> Register:
    return sums


class DensityColours(SquareColours):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return scales_of(sim).levels if is_people(sim) else ramp(scales_of(sim).rising)

    def adds(self, sim: Simulation, squares: CountedSquares) -> Heads:
        return Heads(np.int32(1))

    def shades(self, sim: Simulation) -> Ints:
        return shades(side_of(sim)) if is_people(sim) else ramp_shades(mean_of(sim))

    def legend(self, sim: Simulation) -> Legend:
        if is_people(sim):
            return Legend("people a square metre", scales_of(sim).levels, NAMES)
        return Legend("density", ramp(scales_of(sim).rising, 24), (f"{LEAST:g}", f"{MAX:g} times the mean"))


@lru_cache(maxsize=8)  # asked in each frame
def shades(side: float) -> Ints:
    """Return a table: the level of service, by how many people are on nine squares with that side."""
    return np.searchsorted(SERVICE, np.arange(256) * per_square_metre(1 / (9 * side**2)), "right").astype(np.int32)
