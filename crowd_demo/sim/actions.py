"""Actions: what changes a crowd from outside. `Simulation.history` records each with its tick.

A step is a function of state, actions and configuration, so a list of (tick, action) replays a run from `Simulation(config)`
at tick 0. A restart (a key of the program) is not an action: it makes another `Simulation` of the same seed, with the present
number of agents and the present techniques, and an empty history.
"""

from __future__ import annotations

from dataclasses import dataclass

from crowd_demo.registry.entries import Value
from crowd_demo.sim.simulation import Simulation


@dataclass(frozen=True)
class Populate:
    """Add or remove agents until there are `count`."""

    count: int

    def apply(self, sim: Simulation) -> None:
        sim.populate(self.count)


@dataclass(frozen=True)
class Switch:
    """Give a technique a value. Raises ValueError for one that it cannot have."""

    path: str
    value: Value

    def apply(self, sim: Simulation) -> None:
        sim.optimizations.set(self.path, self.value)


@dataclass(frozen=True)
class SetWalls:
    """Build (or tear down) walls on tiles [left, top, right, bottom)."""

    rectangle: tuple[int, int, int, int]
    wall: bool

    def apply(self, sim: Simulation) -> None:
        sim.set_walls(self.rectangle, self.wall)

