"""Newcomers: where they start, and what they are linked to. Both follow from the seed and their ids alone.

    uniform, box, point    free positions all over the world or in an area, many in a box, or all at one point
    rope                   `length` agents hang from a pinned one; ropes are arranged in rows all over the world
    cloth                  `length` agents wide, as deep as there are agents; each is tied to the left and above, the top row
                           is pinned
    column                 `length` agents one behind the other, the first of them free; only the one behind is pulled

A link has two ids and their generations at the time of linking, which stay valid through sorts and removals. Kernels
need slots: these are looked up again when agents have moved in memory (after a sort or a removal), and links to
agents that died are dropped.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Bools, Doubles, Floats, Ints, Whole
from crowd_demo.config.model import Config
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.state import Columns
from crowd_demo.sim.terrain.tiles import Terrain

TOP = 0.12  # of the world's height (or a row's): ropes and cloth hang from there


def spawn_positions(ids: Ints, config: Config, terrain: Terrain, seed: int) -> tuple[Floats, Floats]:
    """Return (x, y) float32[n]: free positions all over the world, or many in a box, or one point; or a pattern."""
    if config.links.pattern != "none":
        x, y = pattern_positions(ids, config, terrain, seed)
        terrain.step_out(x, y)
        return x, y
    spawn = config.spawn
    within = config.measure.areas[spawn.inside] if spawn.inside and spawn.pattern == "uniform" else None
    x, y = terrain.random_walkable(ids.astype(np.int64), seed, within)
    if spawn.pattern == "uniform" or not len(ids):
        return x, y
    centre_x, centre_y = (np.float32(side / 2) for side in (terrain.walls.width, terrain.walls.height))
    if spawn.pattern == "point":
        x[:], y[:] = centre_x, centre_y
    else:
        key = hashing.key(seed, 0, hashing.SPAWN)
        inside = hashing.unit(ids, key) < spawn.share
        for axis, centre in ((x, centre_x), (y, centre_y)):
            key = hashing.next_key(key)
            offset = (hashing.unit(ids, key) - np.float32(0.5)) * np.float32(2 * spawn.box) * centre
            axis[inside] = (centre + offset)[inside]
    terrain.step_out(x, y)
    return x, y


# --- patterns of linked agents ---------------------------------------------------------------------------------------

def pattern_positions(ids: Whole, config: Config, terrain: Terrain, seed: int) -> tuple[Floats, Floats]:
    """Return (x, y) float32[n], inside the world but not always clear of walls."""
    x, y = {"rope": _ropes, "cloth": _cloth, "column": _columns}[config.links.pattern](ids, config, terrain, seed)
    walls = terrain.walls
    inside = (np.nextafter(side, np.float32(0)) for side in (walls.width, walls.height))
    x, y = (np.clip(axis, 0, limit).astype(np.float32) for axis, limit in zip((x, y), inside, strict=True))
    return x, y


def _ropes(ids: Whole, config: Config, terrain: Terrain, seed: int) -> tuple[Floats | Doubles, Floats | Doubles]:
    links, world = config.links, config.world
    ropes = max(1, -(-config.agents // links.length))
    rows = max(1, math.floor(world.height / max(links.length * links.rest * 1.2, 1.0)))
    columns = -(-ropes // rows)
    rope, bead = np.divmod(ids, links.length)
    row, column = np.divmod(rope % ropes, columns)
    shift = 0.25 + 0.5 * (row % 2)  # every other row is shifted by half a gap
    return (column + shift) * (world.width / columns), (row + TOP) * (world.height / rows) + bead * links.rest


def _cloth(ids: Whole, config: Config, terrain: Terrain, seed: int) -> tuple[Floats | Doubles, Floats | Doubles]:
    links, world = config.links, config.world
    row, column = np.divmod(ids, links.length)
    left = (world.width - (links.length - 1) * links.rest) / 2
    return left + column * links.rest, TOP * world.height + row * links.rest


def _columns(ids: Whole, config: Config, terrain: Terrain, seed: int) -> tuple[Floats | Doubles, Floats | Doubles]:
    column, behind = np.divmod(ids, config.links.length)
    x, y = terrain.random_walkable(column.astype(np.int64), seed)
    return x - behind * config.links.rest, y


# --- links -----------------------------------------------------------------------------------------------------------


def reaches(config: Config) -> tuple[int, ...]:
    """Return the differences of id between linked agents, for those where `tied` is true."""
    return {"none": (), "rope": (1,), "column": (1,), "cloth": (1, config.links.length)}[config.links.pattern]


def tied(ids: Whole, reach: int, config: Config) -> Bools:
    """Return bool[n]: whether each id is linked to id - reach; the first of a rope or of a row of cloth is not."""
    return (ids >= reach) & ((reach != 1) | (ids % config.links.length != 0))


def pinned(ids: Whole, config: Config) -> Bools:
    """Return bool[n]: whether each id is pinned."""
    links = config.links
    if links.pattern == "cloth":
        return ids < links.length
    return (ids % links.length == 0) & (links.pattern == "rope")


class Web(NamedTuple):
    """The links as kernels see them: node k's are first[k]:first[k + 1]."""

    node: Ints  # [n]: slots of the agents that links act on
    first: Ints  # [n + 1]
    other: Ints  # [m]: slots of the agents at the other ends
    pull_x: Floats  # [n], written: units/s^2
    pull_y: Floats


class AgentLinks:
    """The links of a crowd; `ends` and `generations` are int32[links, 2], the lower id first.

    `web`, `pins` and `pairs`, the slots of both ends of each link, are those of the last call of `refresh`.
    """

    def __init__(self, config: Config, agents: Agents[Columns]) -> None:
        self._config = config
        self._agents = agents
        self.active = config.links.pattern != "none"
        self.ends: Ints = np.zeros((0, 2), np.int32)
        self.generations: Ints = np.zeros((0, 2), np.int32)
        self.pins: Ints = np.zeros(0, np.int32)  # slots of the pinned agents
        self.pairs: tuple[Ints, Ints] = np.zeros(0, np.int32), np.zeros(0, np.int32)
        self.stood: tuple[Floats, Floats] = np.zeros(0, np.float32), np.zeros(0, np.float32)  # (x, y) of each
        self._deaths = self._layout = -1
        self._sort_links()

    def tie_newcomers(self, ids: Ints) -> None:
        if self.active:
            new = np.concatenate([self._pairs_of(ids, reach) for reach in reaches(self._config)]).astype(np.int32)
            self.ends = np.concatenate((self.ends, new))
            self.generations = np.concatenate((self.generations, self._agents.handles.generations[new]))
            self._sort_links()

    def restore(self, ends: Ints, generations: Ints) -> None:
        """Have the links of a snapshot; those of dead agents are dropped by the next step, as they would have been."""
        self.ends, self.generations = ends, generations
        self._deaths = -1
        self._sort_links()

    def refresh(self) -> None:
        """Drop the links whose agents died, even if their ids are in use again; look up slots if agents moved in memory."""
        handles = self._agents.handles
        if self._deaths != handles.removed:
            stays = (handles.has(self.ends.reshape(-1)).reshape(-1, 2)
                     & (handles.generations[self.ends] == self.generations)).all(axis=1)
            self.ends, self.generations = self.ends[stays], self.generations[stays]
            self._deaths = handles.removed
            self._sort_links()
        if self._layout != self._agents.layout:
            self.web.node[:], self.web.other[:] = handles.slots_of(self._nodes), handles.slots_of(self._others)
            pins = np.flatnonzero(pinned(np.arange(handles.limit), self._config))
            self.pins = handles.slots_of(pins[handles.has(pins)])  # an undo brings these back without a link
            lower, upper = handles.slots_of(self.ends.reshape(-1)).reshape(-1, 2).T
            self.pairs = np.ascontiguousarray(lower), np.ascontiguousarray(upper)
            self._layout = self._agents.layout

    @property
    def fresh(self) -> bool:
        """True while the slots are right."""
        return self._layout == self._agents.layout and self._deaths == self._agents.handles.removed

    def top_speed(self) -> float:
        """Return the present maximum of all speeds, units/s; springs have no bound."""
        columns, n = self._agents.view, self._agents.count
        return float(np.hypot(columns.vx[:n], columns.vy[:n]).max(initial=0))

    # --- from ids to slots -------------------------------------------------------------------------------------------

    def _pairs_of(self, ids: Ints, reach: int) -> Ints:
        """Return the pairs (id - reach, id) that include a newcomer, both alive."""
        later = _distinct(np.concatenate((ids, ids + reach)))
        later = later[tied(later, reach, self._config)]
        pairs = np.stack((later - reach, later), axis=1)
        alive = self._agents.handles.has(pairs.reshape(-1)).reshape(-1, 2).all(axis=1)
        return pairs[alive & np.isin(pairs, ids).any(axis=1)]

    def _sort_links(self) -> None:
        """Sort the links by the agent that they act on: both ends, but only the follower in a column, and nobody pinned."""
        lower, upper = self.ends[:, 0], self.ends[:, 1]
        both = self._config.links.pattern != "column"
        pulled, puller = (np.concatenate((upper, lower)), np.concatenate((lower, upper))) if both else (upper, lower)
        free = ~pinned(pulled, self._config)
        pulled, puller = pulled[free], puller[free]
        by_node = np.argsort(pulled, kind="stable")
        self._nodes, self._others = _distinct(pulled), puller[by_node]
        count = len(self._nodes)
        self.web = Web(np.zeros(count, np.int32),
                       np.searchsorted(pulled[by_node], np.append(self._nodes, 2**31 - 1)).astype(np.int32),
                       np.zeros(len(self._others), np.int32), np.zeros(count, np.float32), np.zeros(count, np.float32))
        self._layout = -1  # slots have to be looked up


def _distinct(ids: Ints) -> Ints:
    """Return the different ids, ascending: as `np.unique`, whose hash table takes minutes for a million ids in a row."""
    ascending: Ints = np.sort(ids)
    return ascending[np.diff(ascending, prepend=-1) > 0]
