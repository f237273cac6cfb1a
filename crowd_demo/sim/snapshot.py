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
from crowd_demo.profile import Ring
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.actions import Action
from crowd_demo.sim.store.state import EMPTY, PartState
from crowd_demo.sim.world import World

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
    parts: Mapping[str, PartState]  # by name, those that are not empty (store/state.py)

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


def differences(one: Config, other: Config) -> list[str]:
    """Return the paths of the keys that steps depend on and that differ, such as `agents` and `crowd.radius`."""
    if one is other:
        return []
    found = config_differences(one.model_dump(exclude=set(VIEW_SECTIONS)), other.model_dump(exclude=set(VIEW_SECTIONS)))
    return sorted(path for path, _ in found if path not in PACE_KEYS)


def same_world(one: Config, other: Config) -> bool:
    """Return whether only the number of agents and settings without effect on steps differ."""
    return set(differences(one, other)) <= {"agents"}


class Snapshots:
    """Takes snapshots of one world; they share arrays until what these were copied from changes: a death, or a wall."""

    def __init__(self) -> None:
        self._generations, self._deaths = np.zeros(0, np.int32), -1
        self._kinds, self._version = np.zeros((0, 0), np.uint8), -1  # of the terrain

    def of(self, world: World, history: tuple[tuple[int, Action], ...]) -> Snapshot:
        """Return the state of a world, whose columns it does not copy; gaps of removed agents are closed first."""
        agents, handles, terrain, drift = world.agents, world.agents.handles, world.terrain, world.drift
        agents.close_gaps(world.workers)
        if self._deaths != handles.removed or len(self._generations) != handles.limit:
            self._generations, self._deaths = handles.generations[:handles.limit].copy(), handles.removed
        if self._version != terrain.version:
            self._kinds, self._version = terrain.kinds.copy(), terrain.version
        return Snapshot(
            config=world.config, techniques={path: world.options.get(path) for path in BY_PATH}, tick=world.tick,
            names=agents.names, columns=agents.matrix[:, :agents.count], generations=self._generations, kinds=self._kinds,
            map_digest=terrain.map_digest, crowding=world.crowding.state, link_ends=world.links.ends,
            link_generations=world.links.generations, sorts=drift.sorts, steps_since_sort=drift.steps, drift=drift.units,
            population=world.population, history=history,
            parts={part.name: state for part in world.parts if any(state := part.state())})

    def restore(self, world: World, snapshot: Snapshot) -> None:
        """Put a snapshot into a world. Raises ValueError for one of another configuration or map."""
        if other := differences(world.config, snapshot.config):
            raise ValueError(f"the snapshot is of another crowd: {', '.join(other)} differ")
        if snapshot.map_digest != world.terrain.map_digest:
            raise ValueError("the snapshot is of another map")
        world.check_room(snapshot.agents)
        for path, value in snapshot.techniques.items():
            world.options.set(path, value)
        world.tick, drift = snapshot.tick, world.drift
        drift.sorts, drift.steps, drift.units = snapshot.sorts, snapshot.steps_since_sort, snapshot.drift
        version = world.terrain.version
        world.terrain.set_kinds(snapshot.kinds)
        if world.terrain.version != version:
            world.read_terrain()
        world.crowding.state = snapshot.crowding
        if world.crowding.active:  # fields may have been made for another one
            world.flow_fields.made[:] = 0
        for part in world.parts:
            part.restore(snapshot.parts.get(part.name, EMPTY))
        world.agents.restore(snapshot.columns, snapshot.generations)
        self._generations, self._deaths = snapshot.generations, world.agents.handles.removed
        self._kinds, self._version = snapshot.kinds, world.terrain.version
        if world.links.ends is not snapshot.link_ends:
            world.links.restore(snapshot.link_ends, snapshot.link_generations)
        world.lived = Ring(np.int32)
        for count in snapshot.population.tolist():
            world.lived.put(count)
        world.checked_writes = world.agents.writes
