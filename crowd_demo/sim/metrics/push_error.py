"""What agents would be asked for if they looked around now, in one method or another: how wrong an approximate technique is.

    error    mean |a - b| / mean |b| over a sample, a being the pushes of one method to look and b those of a truer one

The sample is spread evenly over the slots and holds everybody in a small crowd; where an agent meets very many it is smaller,
so a crowd on one point does not hold up a frame. Afterwards the crowd is as if nobody had asked; what the structure found last
is what it found for the sample. Costs an index of the
crowd, and per method what the sample meets.
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
FEW = 16  # agents that show what one meets
MEETS = 1 << 21  # that a sample may cost


class Method(NamedTuple):
    """How to look: whose turn it is, or everybody; as the techniques have it, or at all neighbours by the exact rules."""

    everybody: bool = False
    exact: bool = False


KEPT, FRESH, EXACT = Method(), Method(everybody=True), Method(everybody=True, exact=True)


class PushError(NamedTuple):
    """Both as parts of the mean true push; 0 where nobody is pushed."""

    mean: float = 0.0
    most: float = 0.0


def pushes(sim: Simulation, slots: Longs, *methods: Method) -> Doubles:
    """float64[methods, 2, slots]: what these agents would be asked for by each method; after `sim.reindex()`."""
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
    """How far the pushes by one method are from those by another."""
    sim.reindex()
    slots = spread(sim.agents.count, affordable(lambda few: _met(sim, few, truth)))
    found, true = pushes(sim, slots, method, truth)
    away, length = np.hypot(*(found - true)), float(np.hypot(*true).mean()) if len(slots) else 0.0
    return PushError(float(away.mean()) / length, float(away.max()) / length) if length > 0 else PushError()


def stagger_error(sim: Simulation) -> PushError:
    """How far the pushes of the next step are from those of period 1."""
    return push_error(sim, KEPT, FRESH)


def exact_error(sim: Simulation) -> PushError:
    """How far the pushes by those whom a cap keeps, or by a smoothed field, are from the pushes by all neighbours."""
    return push_error(sim, FRESH, EXACT)


def exact_calls(sim: Simulation) -> tuple[Call, ...]:
    """Everybody meets all neighbours by the behaviour's own rules: what `exact_error` calls and a step does not."""
    return sim.see.all_calls(sim.world, exact=True)


def ages(sim: Simulation) -> Longs:
    """How many agents looked 0, 1, ... steps before the last step, int64[16]; more than a period only after it was lowered."""
    look_at = sim.agents.columns.look_at[:sim.agents.count]
    looked = (look_at >> 4) - (look_at & LONGEST - 1) - 1
    return np.bincount(np.clip(sim.tick - 1 - looked, 0, LONGEST - 1), minlength=LONGEST)


def _met(sim: Simulation, agents: int, method: Method) -> int:
    pushes(sim, spread(sim.agents.count, agents), method)
    return sim.see.candidates_met(sim.world)


def spread(count: int, sample: int) -> Longs:
    """Evenly spaced numbers below `count`, at most `sample` of them."""
    size = min(count, sample)
    return np.arange(size) * count // max(size, 1)


def affordable(met_by: Callable[[int], int]) -> int:
    """How many agents may look; `met_by` lets so many do it and says how many they met in all."""
    return int(min(SAMPLE, max(MEETS * FEW // max(met_by(FEW), 1), 1)))
