"""The error of approximate techniques: the pushes at the present positions, computed by two methods and compared.

    error    mean |a - b| / mean |b| over a sample, a being the pushes by one method and b those by a more exact one

The sample is spread evenly over the slots and holds all agents of a small crowd; where agents have very many candidates it is
smaller, so a crowd at one point does not delay a frame. The columns are restored afterwards, but the structure keeps the
candidates that it found for the sample. Costs an index of the crowd and, per method, the interaction of the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Longs
from crowd_demo.compute.jit import Call, run
from crowd_demo.sim.neighbours.schedule import LONGEST
from crowd_demo.sim.simulation import Simulation

SAMPLE = 4093  # agents at most: a prime, so that evenly spaced slots keep no step with turns by id
FEW = 16  # agents from which the candidates of an agent are estimated
MEETS = 1 << 21  # candidates of a sample, at most


class Method(NamedTuple):
    """Agents that are due or all; by the present techniques, or exactly: with all neighbours and the behaviour's own rules."""

    everybody: bool = False
    exact: bool = False


KEPT, FRESH, EXACT = Method(), Method(everybody=True), Method(everybody=True, exact=True)


class PushError(NamedTuple):
    """Mean and largest error over the mean push of the truth; 0 where that is 0."""

    mean: float = 0.0
    most: float = 0.0


def pushes(sim: Simulation, slots: Longs, *methods: Method) -> Doubles:
    """Return float64[methods, 2, slots]: the pushes on these agents by each method. Call after `sim.reindex()`."""
    columns, world = sim.agents.columns, sim.world
    mine = columns.push_x, columns.push_y, columns.look_at
    before = [column.copy() for column in mine]
    found = np.empty((len(methods), 2, len(slots)))
    for method, into in zip(methods, found, strict=True):
        columns.look_at[:] = world.turn.due_below  # later than now
        columns.look_at[slots] = 0 if method.everybody else before[2][slots]
        run(sim.structure.query(sim.optimizations.simd, world.rules, world.turn))
        run(sim.see.all_calls(world, exact=True) if method.exact else sim.see.calls(world))
        into[:] = columns.push_x[slots], columns.push_y[slots]
        for column, old in zip(mine, before, strict=True):
            column[:] = old
    return found


def push_error(sim: Simulation, method: Method, truth: Method) -> PushError:
    """Return the error of the pushes by one method against those by another."""
    sim.reindex()
    slots = spread(sim.agents.count, affordable(lambda few: _met(sim, few, truth)))
    found, true = pushes(sim, slots, method, truth)
    away, length = np.hypot(*(found - true)), float(np.hypot(*true).mean()) if len(slots) else 0.0
    return PushError(float(away.mean()) / length, float(away.max()) / length) if length > 0 else PushError()


def stagger_error(sim: Simulation) -> PushError:
    """Return the error of the next step's pushes against those of period 1."""
    return push_error(sim, KEPT, FRESH)


def exact_error(sim: Simulation) -> PushError:
    """Return the error of the pushes with a cap, or by a smoothed field, against those of all neighbours."""
    return push_error(sim, FRESH, EXACT)


def exact_calls(sim: Simulation) -> tuple[Call, ...]:
    """Return the calls of `exact_error` that a step does not make: all neighbours, by the behaviour's own rules."""
    return sim.see.all_calls(sim.world, exact=True)


def ages(sim: Simulation) -> Longs:
    """Return int64[16]: agents last due 0, 1, ... steps before the last step; beyond a period only after it was lowered."""
    look_at = sim.agents.columns.look_at[:sim.agents.count]
    looked = (look_at >> 4) - (look_at & LONGEST - 1) - 1
    return np.bincount(np.clip(sim.tick - 1 - looked, 0, LONGEST - 1), minlength=LONGEST)


def _met(sim: Simulation, agents: int, method: Method) -> int:
    pushes(sim, spread(sim.agents.count, agents), method)
    return sim.see.candidates_met(sim.world)


def spread(count: int, sample: int) -> Longs:
    """Return at most `sample` evenly spaced numbers below `count`."""
    size = min(count, sample)
    return np.arange(size) * count // max(size, 1)


def affordable(met_by: Callable[[int], int]) -> int:
    """Return how many agents a sample may have; `met_by(n)` returns the candidates of a sample of n."""
    return int(min(SAMPLE, max(MEETS * FEW // max(met_by(FEW), 1), 1)))
