"""The error of approximate techniques: the pushes at the present positions, computed by two methods and compared.

    error    mean |a - b| / mean |b| over a sample, a being the pushes by one method and b those by a more exact one

The sample is spread evenly over the slots and holds all agents of a small crowd; where agents have very many candidates it is
smaller, so a crowd at one point does not delay a frame. The columns are restored afterwards, but the structure keeps the
candidates that it found for the sample. Costs an index of the crowd and, per method, the interaction of the sample.

The bias of a limit is the mean direction towards the neighbours that it keeps, which is 0 for an unbiased choice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Floats, Ints, Longs, Rules, Tally
from crowd_demo.compute.jit import Launch, device, launch, run
from crowd_demo.grid.cells import Cells
from crowd_demo.sim.interaction.nearest import NeighbourLimits, choose
from crowd_demo.sim.interaction.strips import CANDIDATES
from crowd_demo.sim.neighbours.schedule import LONGEST
from crowd_demo.sim.neighbours.structure import holder_of
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.state import Columns, views

SAMPLE = 1181  # agents at most: a prime, so that evenly spaced slots do not coincide with turns by id
FEW = 16  # agents from which the candidates of an agent are estimated
MEETS = 1 << 21  # candidates of a sample, at most


# By the present techniques for agents that are due, or for all; or exactly: with all neighbours and the behaviour's own rules.
KEPT, FRESH, EXACT = range(3)


class AvoidanceError(NamedTuple):
    """Mean and largest error over the mean push of the truth; 0 where that is 0."""

    mean: float = 0.0
    most: float = 0.0


@lru_cache(maxsize=1)
def _room(size: int) -> tuple[Doubles, Ints, Floats]:
    """What a sample takes: kept, since meters are read again and again. Nobody reads two at a time: they call kernels."""
    return np.empty((2, 2, size)), np.empty(size, np.int32), np.empty(size, np.float32)


def pushes(sim: Simulation, slots: Longs, *methods: int) -> Doubles:
    """Return float64[methods, 2, slots]: the pushes on these agents by each of two methods, or by one.

    Call after `run(sim.reindexing())`. The array is overwritten by the next call.
    """
    columns, world = sim.agents.columns, sim
    kept = views(sim.agents.kind, sim.agents.back)  # nobody needs these buffers before the next sort
    mine, before = ((each.avoidance_x, each.avoidance_y, each.next_update) for each in (columns, kept))
    for column, old in zip(mine, before, strict=True):
        old[:] = column
    by_method, when, pushed = _room(max(len(slots), SAMPLE))
    found = by_method[:len(methods), :, :len(slots)]
    for method, into in zip(methods, found, strict=True):
        columns.next_update[:] = world.schedule.due_below  # later than now
        columns.next_update[slots] = 0 if method != KEPT else np.take(
            kept.next_update, slots, out=when[:len(slots)], mode="clip")
        run(sim.structure.query(sim.optimizations.simd, world.rules, world.schedule))
        run(sim.interaction.all_launches(world, exact=True) if method == EXACT else sim.interaction.launches(world))
        for of_axis, push in zip(into, (columns.avoidance_x, columns.avoidance_y), strict=True):
            of_axis[:] = np.take(push, slots, out=pushed[:len(slots)], mode="clip")
        for column, old in zip(mine, before, strict=True):
            column[:] = old
    return found


def avoidance_error(sim: Simulation, method: int, truth: int) -> AvoidanceError:
    """Return the error of the pushes by one method against those by another."""
    run(sim.reindexing())
    slots = spread(sim.agents.count, affordable(lambda few: _met(sim, few, truth)))
    found, true = pushes(sim, slots, method, truth)
    np.subtract(found, true, out=found)
    offsets, lengths = (np.hypot(x, y, out=x) for x, y in (found, true))
    length = float(lengths.mean()) if len(slots) else 0.0
    return AvoidanceError(float(offsets.mean()) / length, float(offsets.max()) / length) if length > 0 else AvoidanceError()


def stagger_error(sim: Simulation) -> AvoidanceError:
    """Return the error of the next step's pushes against those of period 1."""
    return avoidance_error(sim, KEPT, FRESH)


def exact_error(sim: Simulation) -> AvoidanceError:
    """Return the error of the pushes with a limit, or by a smoothed field, against those of all neighbours."""
    return avoidance_error(sim, FRESH, EXACT)


def ages(sim: Simulation) -> Longs:
    """Return int64[16]: agents last due 0, 1, ... steps before the last step; beyond a period only after it was lowered."""
    next_update = sim.agents.view.next_update[:sim.agents.count]
    wait, ago = (row[:sim.agents.count] for row in sim.agents.back[:2])  # nobody needs these buffers before the next sort
    np.bitwise_and(next_update, LONGEST - 1, out=wait)
    np.right_shift(next_update, 4, out=ago)  # when it is due again
    np.add(np.subtract(wait, ago, out=ago), sim.tick, out=ago)
    return _tally().count(np.clip(ago, 0, LONGEST - 1, out=ago), LONGEST)


_tally = lru_cache(Tally)


def _met(sim: Simulation, agents: int, method: int) -> int:
    pushes(sim, spread(sim.agents.count, agents), method)
    return int(sim.interaction.memory(sim).strips.counters[:, CANDIDATES].sum())


@lru_cache(maxsize=4)
def spread(count: int, sample: int) -> Longs:
    """Return at most `sample` evenly spaced numbers below `count`."""
    size = min(count, sample)
    return np.arange(size) * count // max(size, 1)


def affordable(met_by: Callable[[int], int]) -> int:
    """Return how many agents a sample may have; `met_by(n)` returns the candidates of a sample of n."""
    return int(min(SAMPLE, max(MEETS * FEW // max(met_by(FEW), 1), 1)))


# --- the bias of a limit ---------------------------------------------------------------------------------------------

class Bias(NamedTuple):
    """Mean direction towards the neighbours, over the agents that have some: (0, 0) when they are in all directions alike."""

    kept: tuple[float, float]
    all: tuple[float, float]
    agents: int


@device
def _add_direction(columns: Columns, slot: int, slots: Ints, size: int, total: Doubles) -> None:
    x, y = 0.0, 0.0
    for k in range(size):
        dx, dy = float(columns.x[slots[k]] - columns.x[slot]), float(columns.y[slots[k]] - columns.y[slot])
        length = np.sqrt(dx * dx + dy * dy)
        if length > 0:
            x, y = x + dx / length, y + dy / length
    total[0] += x / max(size, 1)
    total[1] += y / max(size, 1)


@device
def add_directions(cells: Cells, columns: Columns, rules: Rules, sample: int, limits: NeighbourLimits,
                   unlimited: NeighbourLimits, slots: Ints, distances: Floats, totals: Doubles) -> None:
    """Write totals, float64[3, 2]: sums of the mean directions to the kept and to all; agents, and others scanned.

    `slots` and `distances` have room for all agents.
    """
    agents = cells.start[cells.columns * cells.rows]
    for number in range(sample):
        k = agents * number // sample
        cell = holder_of(k, cells.start, cells.columns * cells.rows)
        row, column, slot = cell // cells.columns, cell % cells.columns, cells.order[k]
        for kind in range(2):  # one call to compile instead of two
            kept = unlimited if kind else limits
            size, _, scanned, _ = choose(cells, columns, rules, row, column, slot, kept, slots, distances)
            _add_direction(columns, slot, slots, size, totals[kind])
        totals[2, 0] += size > 0
        totals[2, 1] += scanned


def bias_launch(sim: Simulation, sample: int) -> tuple[Launch, Doubles]:
    """Return the launch of `add_directions`, and the float64[3, 2] that it fills."""
    agents, limits, totals = sim.agents, sim.interaction.limits(sim), np.zeros((3, 2))
    unlimited = limits._replace(nearest=False, scanned=agents.count, neighbours=agents.count)
    kept = unlimited if sim.neighbour_limit == "none" else limits
    slots, distances = agents.back[0], agents.back[1].view(np.float32)  # nobody needs these buffers before the next sort
    return launch(add_directions, sim.grid.view(), agents.columns, sim.rules, min(sample, agents.count), kept,
                  unlimited, slots, distances, totals), totals


def bias(sim: Simulation) -> Bias:
    """Return the bias for a sample of agents spread evenly over the world, at their present positions; builds the grid."""
    sim.begin()
    sim.grid.rebuild()

    def directions(sample: int) -> Doubles:
        launch, totals = bias_launch(sim, sample)
        launch.run()
        return totals

    totals = directions(affordable(lambda few: int(directions(few)[2, 1])))
    to_kept, to_all = (totals[:2] / max(totals[2, 0], 1)).tolist()
    return Bias(tuple(to_kept), tuple(to_all), int(totals[2, 0]))
