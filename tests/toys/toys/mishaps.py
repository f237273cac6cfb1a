"""What goes wrong in the toys, where a test asks for it; and a colour mode."""

import math
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
y_of_7 = math.inf  # where the census puts agent 7; infinite: nowhere


def happen(callback: str) -> None:
    if callback == exits_in:
        sys.exit(9)


def misplace(world: World) -> None:
    if y_of_7 != math.inf:
        slot, columns = int(world.agents.handles.slots_of(np.array([7]))[0]), world.agents.columns
        columns.x[slot], columns.y[slot] = 3, y_of_7


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
