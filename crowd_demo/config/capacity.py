"""Estimate how many people keep moving on a map: the number at which the busiest gap carries its maximum flow.

People are assumed to walk from every tile to each of a few destinations, by shortest ways over the edges of tiles. These
ways say which share of the trips leads through each gap. Their length, and the usual speed and pause, say how often a
person sets out. So the number depends on the map and the size of its world alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.config.maps import WALL, WATER, MapData, Metres, read_map
from crowd_demo.config.model import Config
from crowd_demo.config.section import UNITS_A_METRE

WIDEST = 5.0  # metres; what is wider is no gap
FLOW = 1.3  # people per metre and second through a gap
DENSITY = 0.35  # people per square metre, without any gap
STRAIGHT = np.pi / 4  # mean length of a straight way relative to that over edges
MAX_TILES, MAX_STEPS = 4_000_000, 20_000  # of all ways; of one way
Whole = NDArray[np.int64]


def gaps_between_rows(walls: NDArray[np.bool_], side: float) -> tuple[Whole, Whole, Whole]:
    """Return (row, first, last) of all gaps of a map, walls bool[H, W], with tiles of so many metres.

    A gap is a run [first, last) of free tiles between walls, at most 5 m wide, both in that row and in the next one.
    """
    free = np.pad(~walls[:-1] & ~walls[1:], ((0, 0), (1, 1)))
    row, first = np.nonzero(free[:, 1:] & ~free[:, :-1])
    _, last = np.nonzero(~free[:, 1:] & free[:, :-1])
    narrow = (last - first) * side <= WIDEST
    return row[narrow], first[narrow], last[narrow]


def jam_warning(config: Config) -> str:
    """Return a line if more people are asked for than keep moving on the configuration's map, else ""."""
    number = fitting_number(read_map(str(config.map), Metres(*config.map_scale)), config)
    is_more = number is not None and config.agents > number
    return f"{config.map}: {config.agents:,} people will jam; about {number:,} keep moving here" if is_more else ""


def fitting_number(found: MapData, config: Config) -> int | None:
    """Return how many people keep moving on a map: at least one, at most 0.35 per square metre.

    None for other agents, and where people leave or something happens. Looks at a bounded number of tiles.
    """
    if config.behaviour != "crowd" or config.events or config.crowd.exits or found.is_open:
        return None
    walls = np.pad(np.isin(found.kinds, (WALL, WATER)), 1, constant_values=True)
    marked = np.pad(found.marks >= 0, 1) & ~walls
    places = np.flatnonzero(marked if marked.any() else ~walls)
    usual = PeopleSettings()
    goals = np.random.default_rng(1).choice(places, min(usual.destinations, max(MAX_TILES // walls.size, 1)))
    crossed, trips, steps = np.zeros((2, *walls.shape)), 0, 0
    for goal in goals.tolist():
        people, their_steps = _walk_to(goal, walls, crossed)
        trips, steps = trips + people, steps + their_steps
    side = min(config.world.width / found.kinds.shape[1], config.world.height / found.kinds.shape[0]) / UNITS_A_METRE
    wanted = max(_most_wanted(crossed[0], walls, side), _most_wanted(crossed[1].T, walls.T, side))
    speed = (usual.speed_min + usual.speed_max) / 2 / UNITS_A_METRE
    seconds = STRAIGHT * side * steps / max(trips, 1) / speed + usual.wait_s
    by_gaps = FLOW * seconds * trips / wanted if wanted else np.inf
    return max(int(min(by_gaps, np.count_nonzero(~walls) * side * side * DENSITY)), 1)


def _most_wanted(crossed: NDArray[np.float64], walls: NDArray[np.bool_], side: float) -> float:
    """Return the trips per metre through the busiest gap between rows."""
    line, first, last = gaps_between_rows(walls, side)
    passed = np.pad(crossed.cumsum(axis=1), ((0, 0), (1, 0)))
    return float(((passed[line, last] - passed[line, first]) / ((last - first) * side)).max(initial=0))


def _walk_to(goal: int, walls: NDArray[np.bool_], crossed: NDArray[np.float64]) -> tuple[int, int]:
    """Send one person from each tile to a goal; return how many set out, and their steps.

    crossed[0] and crossed[1] count who goes between a tile and the one below it, and the one on its right.
    """
    columns, rng = walls.shape[1], np.random.default_rng(goal)
    after = np.where(walls.reshape(-1), goal, -1)  # the next tile on the way from each, once it is known
    after[goal] = goal
    rings = [np.array([goal])]
    while rings[-1].size and len(rings) < MAX_STEPS:
        tiles = rng.permutation(rings[-1])  # of several shortest ways any
        near = np.concatenate([tiles + step for step in rng.permutation((-columns, -1, 1, columns))])
        known, tiles = after[near] >= 0, np.tile(tiles, 4)
        ring, at = np.unique(near[~known], return_index=True)
        after[ring] = tiles[~known][at]
        rings.append(ring)
    people = np.ones(walls.size)
    for ring in reversed(rings[1:]):
        to = after[ring]
        np.add.at(people, to, people[ring])
        for axis, step in enumerate((columns, 1)):
            along = np.abs(to - ring) == step
            crossed[axis].reshape(-1)[np.minimum(to, ring)[along]] += people[ring[along]]
    return sum(map(len, rings)), sum(distance * len(ring) for distance, ring in enumerate(rings))
