"""Colours by density and by flow in the 3 x 3 squares around each agent.

Density is how many agents there are. For people these are Fruin's levels of service of walkways, A (free) to F (jammed), by
people a square metre. Flow is the speeds of these agents over the free ground there, which is density times mean speed: so
many people pass through a metre of way in a second. Where it is more than a way carries (`CAPACITY`), people walk faster than
so dense a crowd can; where people stand, it is nothing.

Other agents are compared with the mean of their world, or with a crowd that goes everywhere at its top speed and the mean
density, on a logarithmic scale. Speeds are added up in whole parts of a unit/s, so the order in memory does not matter.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Floats, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.simd import LANES, root, to_float, to_int
from crowd_demo.compute.simd_memory import load
from crowd_demo.config.section import metres, per_square_metre
from crowd_demo.render.colours.modes import fastest
from crowd_demo.render.colours.squares import (
    CountedSquares,
    SquareColours,
    amount_of,
    is_people,
    level_of,
    mean_of,
    ramp_shades,
    side_of,
)
from crowd_demo.sim.fundamental_diagram import CAPACITY, ground_around
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import Terrain

SERVICE = 0.308, 0.431, 0.718, 1.076, 2.174  # people a square metre, at which B to F begin: Fruin 1971
FLOWS = tuple(CAPACITY * share for share in (1 / 4, 1 / 2, 3 / 4, 1, 3 / 2))  # people/(m s), at which colours begin
NAMES = "free", *(f"{flow:.2g}{word}" for flow, word in zip(FLOWS, ("", "", "", " too full", ""), strict=True))  # of flows
STEPS = 4.0  # of a unit/s, for people
STEPS_OF_FASTEST = 8.0  # for others
TABLE = 1 << 12  # entries for people: to 2.9 people/(m s), more than the last colour begins at
HIGHEST = 1 << 30


# --- density ---------------------------------------------------------------------------------------------------------

class Heads(NamedTuple):
    """Everybody counts alike."""

    each: np.int32


@implements(amount_of, Heads)
def count_one(adds: Heads, slot: Int) -> Int:
    return adds.each


@implements(level_of, Heads)
def level_of_density(adds: Heads, squares: Int, sums: Register) -> Register:
    return sums


class DensityColours(SquareColours):
    TITLES, MEAN = ("people a square metre", "density"), "the mean"
    NAMES = "A free", *(f"{level} {least:.2g}" for level, least in zip("BCDEF", SERVICE, strict=True))

    def adds(self, sim: Simulation, squares: CountedSquares) -> Heads:
        return Heads(np.int32(1))

    def shades(self, sim: Simulation) -> Ints:
        return levels_of_service(side_of(sim)) if is_people(sim) else ramp_shades(mean_of(sim))


@lru_cache(maxsize=8)  # asked in each frame
def levels_of_service(side: float) -> Ints:
    """Return a table: the level of service, by how many people are on nine squares with that side."""
    return np.searchsorted(SERVICE, np.arange(256) * per_square_metre(1 / (9 * side**2)), "right").astype(np.int32)


# --- flow ------------------------------------------------------------------------------------------------------------

class Speeds(NamedTuple):
    """Columns by slot, steps of a unit/s, and for each padded square what nine free ones have over its ground."""

    vx: Floats
    vy: Floats
    steps: np.float32
    scarcity: Floats


@implements(amount_of, Speeds)
def speed_of(adds: Speeds, slot: Int) -> Int:
    vx, vy = adds.vx[slot], adds.vy[slot]
    return to_int(root(vx * vx + vy * vy) * adds.steps + 0.5)


@implements(level_of, Speeds)
def level_of_flow(adds: Speeds, squares: Int, sums: Register) -> Register:
    return to_int(min(HIGHEST, to_float(sums) * load(adds.scarcity, squares)))


class FlowColours(SquareColours):
    TITLES, MEAN = ("flow, people/(m s)", "flow"), "the mean density at top speed"
    NAMES = NAMES

    def __init__(self) -> None:
        super().__init__()
        self._scarcity_of = lru_cache(1)(scarcity_of)

    def adds(self, sim: Simulation, squares: CountedSquares) -> Speeds:
        columns, steps = sim.agents.view, STEPS if is_people(sim) else STEPS_OF_FASTEST / fastest(sim)
        scarcity = self._scarcity_of(sim.terrain, sim.terrain.version, side_of(sim), squares.columns, squares.rows)
        return Speeds(columns.vx, columns.vy, np.float32(steps), scarcity)

    def shades(self, sim: Simulation) -> Ints:
        return shades_of_flow(side_of(sim)) if is_people(sim) else ramp_shades(STEPS_OF_FASTEST * mean_of(sim))


@lru_cache(maxsize=8)  # asked in each frame
def shades_of_flow(side: float) -> Ints:
    """The number of the colour by the speeds of people in nine squares of that side, in steps."""
    flow = np.arange(TABLE) * metres(per_square_metre(1 / (STEPS * 9 * side**2)))
    return np.searchsorted(FLOWS, flow, "right").astype(np.int32)


def scarcity_of(terrain: Terrain, version: int, side: float, columns: int, rows: int) -> Floats:
    """The ground of nine squares without walls, by what is free of the nine around each padded square."""
    ground = ground_around(terrain.walls, side, np.arange(columns + 1.0) * side, np.arange(rows + 1.0) * side)
    scarcity = np.pad(9 * side**2 / ground, 1, constant_values=1)
    return np.append(scarcity.ravel(), np.ones(LANES)).astype(np.float32)
