"""What agents would be asked for if they looked around now, in one way or another: how wrong an approximate technique is.

    error    mean |a - b| / mean |b| over a sample, a being the pushes of one way to look and b those of a truer one

The sample is spread evenly over the slots and holds everybody in a small crowd; where an agent meets very many it is smaller,
so a crowd on one point does not hold up a frame. Afterwards the crowd is as if nobody had asked; what the structure found last
is what it found for the sample. Costs an index of the
crowd, and per way what the sample meets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.jit import run

if TYPE_CHECKING:
    from crowd_demo.sim.simulation import Simulation

SAMPLE = 4093  # agents at most: a prime, so that evenly spaced slots keep no step with turns by id
FEW = 16  # agents that show what one meets
MEETS = 1 << 21  # that a sample may cost


class Way(NamedTuple):
    """How to look: whose turn it is, or everybody; as the techniques have it, or at all neighbours by the exact rules."""

    everybody: bool = False
    exact: bool = False


KEPT, FRESH, EXACT = Way(), Way(everybody=True), Way(everybody=True, exact=True)


class PushError(NamedTuple):
    """Both as parts of the mean true push; 0 where nobody is pushed."""

    mean: float = 0.0
    most: float = 0.0


def pushes(sim: Simulation, slots: NDArray[Any], *ways: Way) -> NDArray[np.float64]:
    """float64[ways, 2, slots]: what these agents would be asked for, looking in each of the ways; after `sim.reindex()`."""
    columns, rules = sim.agents.columns, sim.behaviour.rules(sim)
    mine = columns.push_x, columns.push_y, columns.look_at
    before = [column.copy() for column in mine]
    found = np.empty((len(ways), 2, len(slots)))
    for way, into in zip(ways, found, strict=True):
        columns.look_at[:] = sim.turn.due_below  # later than now
        columns.look_at[slots] = 0 if way.everybody else before[2][slots]
        run(sim.structure.query(sim.optimizations.simd, rules, sim.turn))
        run(sim.see_calls(rules, way.exact))
        into[:] = columns.push_x[slots], columns.push_y[slots]
        for column, old in zip(mine, before, strict=True):
            column[:] = old
    return found


def push_error(sim: Simulation, way: Way, truth: Way) -> PushError:
    """How far the pushes of one way are from those of another."""
    sim.reindex()
    slots = spread(sim.agents.count, affordable(lambda few: _met(sim, few, truth)))
    found, true = pushes(sim, slots, way, truth)
    away, length = np.hypot(*(found - true)), float(np.hypot(*true).mean()) if len(slots) else 0.0
    return PushError(float(away.mean()) / length, float(away.max()) / length) if length > 0 else PushError()


def _met(sim: Simulation, agents: int, way: Way) -> int:
    pushes(sim, spread(sim.agents.count, agents), way)
    return sim.met


def spread(count: int, sample: int) -> NDArray[np.int64]:
    """Evenly spaced numbers below `count`, at most `sample` of them."""
    size = min(count, sample)
    return np.arange(size) * count // max(size, 1)


def affordable(met_by: Callable[[int], int]) -> int:
    """How many agents may look; `met_by` lets so many do it and says how many they met in all."""
    return int(min(SAMPLE, max(MEETS * FEW // max(met_by(FEW), 1), 1)))
