"""A snapshot: all that the next step depends on, as plain arrays and values (docs/design/time.md says why).

`Simulation.snapshot()` takes one and `Simulation.restore(snapshot)` returns to it; pickles and copies of a simulation are
snapshots too. Nobody writes into its arrays, so snapshots share those that did not change between them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Bytes, Ints
from crowd_demo.config.model import Config
from crowd_demo.config.section import differences as config_differences
from crowd_demo.registry.entries import Value
from crowd_demo.sim.actions import Action
from crowd_demo.sim.state_part import PartState
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.columns import Columns
from crowd_demo.sim.terrain.tiles import Terrain

HISTORY_ENTRY = 100  # bytes, about, of an action and its tick
VIEW_SECTIONS = frozenset({"optimizations", "scene", "window", "camera", "keys", "cache", "measure"})  # no step reads them
PACE_KEYS = frozenset({"time.speed", "time.catch_up", "time.rewind_mb"})  # keys of others that no step reads


class Snapshot(NamedTuple):
    """The state of a simulation between two steps."""

    config: Config
    techniques: Mapping[str, Value]  # by path
    tick: int
    names: tuple[str, ...]  # of the columns
    columns: Ints  # [columns, n]: by slot; the first row are the ids
    generations: Ints  # [limit]: how often each id was given up; `limit` is one above the highest id ever used
    kinds: Bytes  # [H, W]: tiles, with the walls that were built
    map_digest: str  # of what walls cannot change (terrain/tiles.py)
    crowding: Bytes  # [2, H, W]: prices of the tiles (terrain/crowding.py), or [0, H, W]
    link_ends: Ints  # [links, 2]: ids
    link_generations: Ints  # [links, 2]
    sorts: int  # so far, and since the last one:
    steps_since_sort: int
    drift: float  # world units
    population: Ints  # [at most 1024]: number of agents after each of the last steps, oldest first
    history: tuple[tuple[int, Action], ...]  # (tick, action)
    parts: Mapping[str, PartState]  # by name, those that are not empty (state_part.py)

    @property
    def agents(self) -> int:
        return int(self.columns.shape[1])

    @property
    def arrays(self) -> Iterator[NDArray[np.generic]]:
        """The arrays, some of which other snapshots may share."""
        yield from (self.columns, self.generations, self.kinds, self.crowding, self.link_ends, self.link_generations,
                    self.population)
        for part in self.parts.values():
            yield from part.arrays.values()

    @property
    def nbytes(self) -> int:
        """Bytes of its memory, about, if it shares nothing."""
        return sum(array.nbytes for array in self.arrays) + len(self.history) * HISTORY_ENTRY

    def state_hash(self) -> str:
        """Return what `Simulation.state_hash` returned when the snapshot was taken."""
        order = np.argsort(self.columns[0], kind="stable")
        return state_hash(self.tick, self.agents, (column[order] for column in self.columns))


def state_hash(tick: int, agents: int, columns: Iterable[Ints]) -> str:
    """Return the hash of a tick and of all columns, int32[agents] each in id order: 32 hex digits."""
    digest = begun_hash(tick, agents)
    for column in columns:
        digest.update(np.ascontiguousarray(column).data)
    return digest.hexdigest()


def begun_hash(tick: int, agents: int) -> hashlib.blake2b:
    """Return the hash before any column, for whoever adds them one by one."""
    return hashlib.blake2b(f"{tick} {agents}".encode(), digest_size=16)


ANY = {"f": (-1e18, 1e18), "i": (-2**31, 2**31 - 1)}  # the bounds of other columns; larger squares are not finite


def check_columns(rows: Ints, kinds: Mapping[str, np.dtype[np.generic]], bounds: Mapping[str, tuple[float, float]],
                  whose: str = "") -> None:
    """Raise ValueError for columns, int32[names, n], with a value that is out of bounds, or no number; ids come first.

    Its text begins with `whose`.
    """
    for row, (name, kind) in zip(rows, kinds.items(), strict=True):
        column = row.view(kind)
        low, high = (kind.type(bound) for bound in bounds.get(name, ANY[kind.kind]))
        if column.size and not (low <= column.min() and column.max() <= high):  # which a NaN is not
            slot = int(((low <= column) & (column <= high)).argmin())
            raise ValueError(f"{whose}column {name} has {column[slot]:.7g} for agent {rows[0, slot]},"
                             f" outside {low:.7g} to {high:.7g}")


def differences(one: Config, other: Config) -> list[str]:
    """Return the paths of the keys that steps depend on and that differ, such as `agents` and `crowd.radius`."""
    if one is other:
        return []
    found = config_differences(one.model_dump(exclude=set(VIEW_SECTIONS)), other.model_dump(exclude=set(VIEW_SECTIONS)))
    return sorted(path for path, _ in found if path not in PACE_KEYS)


def same_world(one: Config, other: Config) -> bool:
    """Are they alike but for the number of agents and what no step depends on, so that a running program can change over?"""
    return set(differences(one, other)) <= {"agents"}


class Shared(NamedTuple):
    """Arrays that snapshots share until what they were copied from changes: until an agent dies, or a wall is built."""

    generations: Ints = np.zeros(0, np.int32)
    deaths: int = -1
    kinds: Bytes = np.zeros((0, 0), np.uint8)
    version: int = -1  # of the terrain

    def refreshed(self, agents: Agents[Columns], terrain: Terrain) -> Shared:
        """Return the arrays for the present state."""
        handles, kept = agents.handles, self
        if kept.deaths != handles.removed or len(kept.generations) != handles.limit:
            kept = kept._replace(generations=handles.generations[:handles.limit].copy(), deaths=handles.removed)
        if kept.version != terrain.version:
            kept = kept._replace(kinds=terrain.kinds.copy(), version=terrain.version)
        return kept
