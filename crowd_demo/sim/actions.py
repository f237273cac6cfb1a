"""What can be done to a crowd from outside, each with the tick at which it happened.

A step is a function of state, actions and configuration, so a list of (tick, action) replays a run: it begins where
`Simulation(config)` does, at tick 0. A restart (a key of the program) is no action but such a beginning: another `Simulation`
of the same seed with as many agents and the techniques that it finds, and with a history of its own that starts empty.
"""

from __future__ import annotations

from dataclasses import dataclass

from crowd_demo.registry.entries import Value
from crowd_demo.sim.simulation import Simulation


@dataclass(frozen=True)
class Populate:
    """Be so many agents."""

    count: int

    def apply(self, sim: Simulation) -> None:
        sim.populate(self.count)


@dataclass(frozen=True)
class Switch:
    """Give a technique a value; raises ValueError when it cannot have it."""

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

