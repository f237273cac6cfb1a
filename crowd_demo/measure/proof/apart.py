"""How far two crowds have come apart, and the hash of one; both a column at a time."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Longs
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import begun_hash
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.columns import Columns

Crowd = Agents[Columns]
Slots = Longs | slice


class Apart(NamedTuple):
    """Of all agents that one of the crowds has, the share that differs in any bit; distances of those that both have."""

    differing: float
    mean: float = 0.0  # world units
    largest: float = 0.0


SAME = Apart(0.0)


def apart(one: Simulation, other: Simulation) -> Generator[None, None, Apart]:
    """Compare agent by agent, whatever their order in memory is."""
    mine, theirs = shared(one.agents, other.agents)
    differing = np.zeros(len(one.agents.columns.id[mine]), bool)
    for column, same in zip(one.agents.front, other.agents.front, strict=True):
        yield
        differing |= column[mine] != same[theirs]
    lonely = one.agents.count + other.agents.count - 2 * len(differing)
    if not (changed := int(differing.sum()) + lonely):
        return SAME
    share = changed / (len(differing) + lonely)
    distances = _distances(one.agents, other.agents, mine, theirs)
    return Apart(share, float(distances.mean()), float(distances.max())) if len(distances) else Apart(share)


def shared(one: Crowd, other: Crowd) -> tuple[Slots, Slots]:
    """The slots in the one crowd, and in the other, of the agents that both have; of nobody if a broken kernel wrote ids."""
    mine, theirs = (crowd.columns.id[:crowd.count] for crowd in (one, other))
    if np.array_equal(mine, theirs):
        return slice(one.count), slice(one.count)
    limit = max(one.handles.limit, other.handles.limit)
    if any(len(ids) and not 0 <= ids.min() <= ids.max() < limit for ids in (mine, theirs)):
        return slice(0), slice(0)
    where = np.full(limit, -1, np.int64)
    where[theirs] = np.arange(other.count)
    found = where[mine]
    return np.flatnonzero(found >= 0), found[found >= 0]


def _distances(one: Crowd, other: Crowd, mine: Slots, theirs: Slots) -> Doubles:
    dx = one.columns.x[mine].astype(np.float64) - other.columns.x[theirs]
    dy = one.columns.y[mine].astype(np.float64) - other.columns.y[theirs]
    return np.hypot(dx, dy)


def hash_of(sim: Simulation) -> Generator[None, None, str]:
    """`Simulation.state_hash`, in parts."""
    digest, slots = begun_hash(sim.tick, sim.agents.count), sim.agents.slots()
    for column in sim.agents.front:
        yield
        digest.update(np.ascontiguousarray(column[slots]).data)
    return digest.hexdigest()
