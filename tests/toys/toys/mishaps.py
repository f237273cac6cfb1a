"""What goes wrong in the toys, where a test asks for it; and a colour mode."""

import sys
from collections.abc import Sequence

import numpy as np

from crowd_demo.compute.arrays import Bytes, Ints
from crowd_demo.compute.jit import Launch
from crowd_demo.render.colours.base import ColourMode, Legend
from crowd_demo.render.inks import RGB
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.world import World

exits_in = ""  # the callback that ends the program
wrong = "", 0.0  # the column of agent 7 into which the census writes, or a rule of the gnats, and the value


def happen(callback: str) -> None:
    if callback == exits_in:
        sys.exit(9)


def misplace(world: World) -> None:
    name, value = wrong
    if name in world.agents.names:
        getattr(world.agents.columns, name)[int(world.agents.handles.slots_of(np.array([7]))[0])] = value


class Plain(ColourMode):
    """All agents alike."""

    def __init__(self) -> None:
        happen("colour mode")

    def colours(self, sim: Simulation) -> Sequence[RGB]:
        happen("colours")
        return ((250, 250, 250),)

    def launches(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Launch, ...]:
        return ()

    def legend(self, sim: Simulation) -> Legend:
        happen("legend")
        return Legend("", ((250, 250, 250),), ("agent",))
