"""When to move agents into cell order, and the move: gather every column into the other buffer, swap.

`every` sorts every so many steps. `drift` sorts once an agent may have moved farther than a share of a cell since the last
sort: `Drift` adds up the longest move of each step, an upper bound of every agent's path, so it needs no column and no id.
"""

from __future__ import annotations

import math
from typing import Protocol

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import Launch, launch
from crowd_demo.sim.store.agents import Agents, move_rows
from crowd_demo.sim.store.columns import Columns


class ReorderSettings(Protocol):
    """`optimizations.reorder` of the configuration."""

    when: str  # off, every or drift
    every: int  # steps
    drift: float  # of a cell


class Drift:
    """What happened since the last sort."""

    def __init__(self) -> None:
        self.sorts = 0  # so far
        self.steps = 0  # since the last one
        self.units = 0.0  # upper bound of every agent's path since then

    def moved(self, farthest_sq: Floats) -> None:
        """Call after a step; float32[workers, 16], squares of the longest moves."""
        self.steps += 1
        self.units += math.sqrt(farthest_sq.max())

    def pushed(self, farthest_sq: Floats) -> None:
        """Call after agents were moved once more within the same step."""
        self.units += math.sqrt(farthest_sq.max())

    def reset(self) -> None:
        """Call after a sort."""
        self.sorts += 1
        self.steps, self.units = 0, 0.0

    def counters(self) -> dict[str, float]:
        return {"sorts": self.sorts, "drift": self.units, "steps_since_sort": self.steps}


def reorder_due(settings: ReorderSettings, tick: int, drift: Drift, cell: float) -> bool:
    """Should agents be moved into cell order in this step? `cell` is the side of a cell, world units."""
    if settings.when == "drift":
        return tick == 0 or drift.units > settings.drift * cell
    return settings.when == "every" and tick % settings.every == 0


def reorder_launches(agents: Agents[Columns], order: Ints, workers: int) -> tuple[Launch, ...]:
    """Return the kernels after which, and after `agents.swap()`, slot k holds the agent that was in slot order[k]."""
    return (launch(move_rows, workers, agents.front, order, agents.count, agents.back),)
