"""Answers: what *interaction* writes for a sample of agents, with the old values of techniques and with the new ones.

For crowds whose step is too long to be made beside the frames. A copy of the crowd stands still, and groups of agents that lie
next to each other in memory are asked. Without an index, a group at a time. With one, four groups at a time, and all agents in
the rows of cells around them: registers work where a quarter of a row is due (`worth_registers`), and their answers
are to be compared too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowd_demo.compute.arrays import Doubles, Ints, Longs
from crowd_demo.compute.jit import run
from crowd_demo.measure.proof import Finding, ProofInParts, Values, replicas_of, set_values
from crowd_demo.sim.neighbours.cell_structures import ROW, Brute
from crowd_demo.sim.simulation import Simulation

SAMPLE, GROUP, TOGETHER = 256, 16, 4
NOBODY: Doubles = np.zeros((2, 0))


class Answers(ProofInParts):
    """Ends at the first difference if the technique is exact."""

    def __init__(self, sim: Simulation, old: Values, new: Values, exact: bool) -> None:
        super().__init__(sim, old, new, "a copy of the crowd is being made")
        self._exact, self._size = exact, 0

    def parts(self) -> Iterator[None]:
        """Copy the present crowd, and ask all groups with the old values, then with the new ones."""
        (replica,), (old, new) = (yield from replicas_of(self._sim)), self._values
        groups, before = sample_groups(replica.agents.count), NOBODY
        self._size = sum(map(len, groups))
        self.finding = Finding("running", f"sample of {self._size}: the old answers are being found")
        for pushes in answers(replica, old, groups):
            before = np.hstack((before, pushes))
            yield
        after = NOBODY
        for pushes in answers(replica, new, groups):
            after = np.hstack((after, pushes))
            if after.size:
                self.finding = self._finding(before[:, :after.shape[1]], after)
            if self.finding.kind == "differs":
                return
            yield

    def _finding(self, before: Doubles, after: Doubles) -> Finding:
        agents, differing = before.shape[1], int((before != after).any(axis=0).sum())
        sample = f"sample of {agents}" + f", of {self._size}" * (agents < self._size)
        if differing and self._exact:
            return Finding("differs", f"THE ANSWERS DIFFER for {differing} agents: {sample}")
        if self._exact:
            return Finding("sample", f"same answers: {sample}")
        if differing:
            length = float(np.hypot(*before).mean())
            error = float(np.hypot(*(after - before)).mean()) / length if length else 0.0
            return Finding("sample", f"{differing / agents:.1%} of the pushes differ, by {error:.1%}: {sample}")
        return Finding("sample", f"same answers at one moment, not over time: {sample}")


def answers(replica: Simulation, values: Values, groups: list[Longs]) -> Iterator[Doubles]:
    """Yield the pushes of all groups in turn with those values, float64[2, agents]; and those of nobody in between."""
    set_values(replica.optimizations, values)
    for launch in replica.reindexing():
        launch.run()
        yield NOBODY
    world, columns = replica, replica.agents.columns
    rows = (columns.y[:replica.agents.count] / np.float32(world.grid.cell)).astype(np.int32)  # of cells
    brute = isinstance(replica.structure, Brute)
    for first in range(0, len(groups), 1 if brute else TOGETHER):
        asked = np.concatenate(groups[first:first + (1 if brute else TOGETHER)])
        columns.next_update[:] = world.schedule.due_below  # later than now
        columns.next_update[asked if brute else beside(rows, asked)] = 0
        yield NOBODY
        run(replica.structure.query(replica.optimizations.simd, world.rules, world.schedule))
        yield NOBODY
        run(replica.interaction.launches(world))
        yield np.stack((columns.avoidance_x[asked], columns.avoidance_y[asked])).astype(np.float64)


def sample_groups(count: int) -> list[Longs]:
    """Slots, spread evenly; a group begins where a row of the structure *none* does, if there are enough agents for that."""
    if count <= SAMPLE:
        return np.array_split(np.arange(count), -(-count // GROUP)) if count else []
    apart = count // (SAMPLE // GROUP)
    starts = np.arange(SAMPLE // GROUP) * apart
    starts -= starts % ROW if apart >= ROW else 0
    return [np.arange(start, start + GROUP) for start in starts]


def beside(rows: Ints, slots: Longs) -> Longs:
    """The slots of all agents in the rows of cells of some, and in those above and below."""
    near = np.zeros(int(rows.max()) + 3, bool)
    for step in range(3):
        near[rows[slots] + step] = True
    return np.flatnonzero(near[rows + 1])
