"""Flow fields: for each destination, which step leads from every tile of the map along a shortest path there.

A step costs the price of the tile that it leads to (crowding.py), 5 times along a side and 7 times along a diagonal, and no
diagonal cuts the corner of a wall. `direction[d, row, column]` is the first of the eight steps that is on a cheapest path to
destination d (ARRIVED on its own tiles, UNREACHABLE where there is no path).

A field leads to the free tiles that belong to its destination (`targets`: the marked ones, or its area).

A field is made when it is first asked for: the step whose agents read it marks it in `asked`, waits for the kernel that makes
it, and calls `keep`. It is kept until the walls that it goes by (`Ways`) or its prices change; then it is made again, when it
is asked for. All fields but the first change over to new prices one by one, and the next one is made ahead, some tiles per
step. What is in a field depends on walls and prices alone, and which fields exist on the state of the crowd, not on a clock.

Dijkstra's algorithm with buckets (Dial, "Shortest-path forest with topological ordering", 1969) instead of a heap: tiles that
wait to be settled are in a list for each distance, and since no step costs more than LONGEST, as many lists as that serve in
a circle. O(tiles + distance) a field, about 30 ns a tile; workers take fields in turn. Memory: a byte a tile and field, so at
most 256 MB for the 64 destinations of the largest map, and 12 bytes a tile and worker to make them, at most `MAKING_BYTES` if
there is more than one. The system provides this memory when it is first written to.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Longs, Marks
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, kernel, launch, run
from crowd_demo.compute.simd import root, select, to_float
from crowd_demo.compute.simd_memory import gather
from crowd_demo.config.memory import MAKING_BYTES, MAKING_TILE
from crowd_demo.sim.terrain.crowding import DIAGONAL, LONGEST, NEW, PLAIN, STRAIGHT, Prices
from crowd_demo.sim.terrain.tiles import Terrain, Walls, tile_at

# E, SE, S, SW, W, NW, N, NE, with y down
STEP_COLUMN = (1, 1, 0, -1, -1, -1, 0, 1)
STEP_ROW = (0, 1, 1, 1, 0, -1, -1, -1)
ARRIVED, UNREACHABLE = 8, 9
STEPS = np.array([(*STEP_COLUMN, 0, 0), (*STEP_ROW, 0, 0)], np.int32)  # for kernels, by direction
CIRCLE = 1 << LONGEST.bit_length()  # lists, more than the longest step
NONE = -1


class FlowField(NamedTuple):
    """The flow fields for kernels; the first axis is the destination."""

    direction: Bytes  # [D, H, W]: 0-7 as in STEP_COLUMN, ARRIVED or UNREACHABLE; only of fields that were made
    goal_x: Floats  # [D]: the destinations' points, world units
    goal_y: Floats
    rounds: bool  # is the way rounded off, by heading for where the next tile is left?


class FieldInput(NamedTuple):
    """The input of the fields that go by the same walls."""

    targets: Marks  # [H, W]: the destination whose field leads to this tile; -1: none, or blocked
    steps: Bytes  # [H, W]: bit i: step i leads from a free tile to a free one
    prices: Prices
    number: np.int32  # of these walls, in `chosen`


class Scratch(NamedTuple):
    """What a worker needs while it makes a field; the first axis is the worker, its last row the field made ahead."""

    distance: Ints  # [workers, H, W]: cost, -1 for no path
    heads: Ints  # [workers, CIRCLE]: the first tile of each list, or NONE
    links: Ints  # [workers, 2, H * W]: the next tile of the list, and the one before, or NONE
    ahead: Longs  # [2]: how many tiles of the field that is made ahead wait, NONE before it begins; and their distance


class FlowFields:
    """The fields of a terrain. Mark fields in `asked`, run `launches`, then `keep`."""

    def __init__(self, terrain: Terrain, workers: int = 1, rounds: bool = False) -> None:
        count, rows, columns = len(terrain.destinations), terrain.rows, terrain.columns
        none = np.zeros(0, np.float32)
        self.fields = FlowField(np.zeros((0, rows, columns), np.uint8), none, none, rounds)
        self._workers = workers
        self.asked = np.zeros((workers, 0), np.uint8)  # 1 where a worker has found somebody who needs the field
        self.made = np.zeros(0, np.uint8)  # 0: to be made when somebody needs it
        self.chosen = np.zeros(0, np.uint8)  # the number of the walls that a field goes by
        self.versions = np.zeros(0, np.int64)  # how often each was made
        self.resize(terrain)
        most = max(MAKING_BYTES // (MAKING_TILE * rows * columns), 1)
        self._makers = min(workers, max(count, 1), most - rounds or 1)
        makers = self._makers + (rounds and most > 1)
        self._ahead, self._ahead_by = NONE, tuple[object, ...]((None,) * 3)  # made ahead, and what it goes by
        self._scratch = Scratch(np.empty((makers, rows, columns), np.int32), np.empty((makers, CIRCLE), np.int32),
                                np.empty((makers, 2, rows * columns), np.int32), np.full(2, NONE, np.int64))

    def resize(self, terrain: Terrain) -> None:
        """Have the present destinations of the terrain; those fields stay that were made."""
        count, kept = len(terrain.destinations), min(len(terrain.destinations), len(self.made))
        points = np.array([(one.x, one.y) for one in terrain.destinations], np.float32).reshape(count, 2)
        if count != len(self.made):
            direction, made, chosen = self.fields.direction, self.made, self.chosen
            self.fields = self.fields._replace(direction=np.zeros((count, *direction.shape[1:]), np.uint8))
            self.asked, self.made, self.chosen = np.zeros((self._workers, count), np.uint8), *np.zeros((2, count), np.uint8)
            self.versions = np.ones(count, np.int64)
            self.fields.direction[:kept], self.made[:kept], self.chosen[:kept] = direction[:kept], made[:kept], chosen[:kept]
        self.fields = self.fields._replace(goal_x=points[:, 0].copy(), goal_y=points[:, 1].copy())

    def launches(self, walls: Sequence[tuple[Marks, Bytes]], prices: Prices, workers: int,
                 tiles: int = 0) -> tuple[Launch, ...]:
        """Return the kernels that make the fields that are asked for and were not made yet; and so many tiles ahead.

        `walls` are the targets and steps of each number in `chosen`.
        """
        begun = len(walls) == 1 and all(map(is_, self._ahead_by, (*walls[0], prices.tiles)))
        ahead, missing = self._ahead if begun else NONE, self.made.tolist().count(0)
        return tuple(launch(fill_flow_fields, min(workers, self._makers, max(missing, 1)), self.asked, self.made, self.chosen,
                            FieldInput(*both, prices, np.int32(number)), self._scratch, self.fields, ahead, tiles)
                     for number, both in enumerate(walls))

    def make_ahead(self, goal: int, walls: tuple[Marks, Bytes], prices: Prices, tiles: int) -> tuple[Launch, ...]:
        """Return the kernels that settle this many tiles of a field ahead of its new prices; () once it is complete."""
        if not all(map(is_, self._ahead_by, by := (*walls, prices.tiles))) or goal != self._ahead:
            self._ahead, self._ahead_by, self._scratch.ahead[0] = goal, by, NONE
        is_wanted = self.made[goal] and self._scratch.ahead[0] and self._makers < len(self._scratch.distance)
        return self.launches((walls,), prices, 1, tiles) if is_wanted else ()

    def keep(self) -> None:
        """Call after the kernel has run."""
        asked = self.asked.max(axis=0)
        self.versions += asked > self.made
        self.made |= asked
        self.asked[:] = 0

    def lengths(self, targets: Marks, steps: Bytes, goal: int) -> Ints:
        """Return int32[H, W]: the length of the shortest way from each tile, whatever crowds there are; -1: there is none.

        Targets and steps are as in `FieldInput`. A step to a side is 40 long. The array holds until the next call, or until
        fields are made; O(tiles).
        """
        count = len(self.made)
        asked, none = np.zeros((1, count), np.uint8), np.zeros(count, np.uint8)
        unused = self.fields._replace(direction=np.empty_like(self.fields.direction))
        asked[0, goal] = 1
        plan = FieldInput(targets, steps, Prices(np.full((2, *targets.shape), PLAIN, np.uint8), none), np.int32(0))
        run((launch(fill_flow_fields, 1, asked, none, none, plan, self._scratch, unused, NONE, 0),))
        return self._scratch.distance[0]


@formula
def heading(fields: FlowField, walls: Walls, goal: Int, x: Float, y: Float) -> tuple[Float, Float]:
    """Return the unit vector to the middle of the next tile on the path, on arrival to the goal's point, else (0, 0).

    Where ways are rounded off it leads to where the next tile is left: to the middle of its side, or to its corner.
    Of one agent, or of sixteen.
    """
    column, row = tile_at(walls, x, y)
    step = direction_at(fields, goal, column, row)
    column, row = column + gather(STEPS[0], step), row + gather(STEPS[1], step)
    then, half = direction_at(fields, goal, column, row), 0.5 if fields.rounds else 0.0
    to_x = (to_float(column) + 0.5 + to_float(gather(STEPS[0], then)) * half) * walls.tile
    to_y = (to_float(row) + 0.5 + to_float(gather(STEPS[1], then)) * half) * walls.tile
    arrived = step == ARRIVED
    dx = select(arrived, gather(fields.goal_x, goal), to_x) - x
    dy = select(arrived, gather(fields.goal_y, goal), to_y) - y
    length = root(dx * dx + dy * dy)
    no_way = (step == UNREACHABLE) | (length <= 0)
    return select(no_way, 0, dx / length), select(no_way, 0, dy / length)


@device
def direction_at(fields: FlowField, goal: Int, column: Int, row: Int) -> Int:
    """Return the direction at a tile; of a field that was not made it means nothing, and the index is only kept in bounds."""
    destinations, rows, columns = fields.direction.shape
    at = min((goal * rows + row) * columns + column, destinations * rows * columns - 1)
    return gather(fields.direction, at)  # by its place in memory: a GPU has no `reshape`


@device
def allow_steps(blocked: Bytes, steps: Bytes, first: int, last: int) -> None:
    """Fill rows [first, last) of FieldInput.steps."""
    rows, columns = blocked.shape
    for row in range(first, last):
        for column in range(columns):
            allowed = 0
            for step in range(8):
                to_row, to_column = row + STEP_ROW[step], column + STEP_COLUMN[step]
                if 0 <= to_row < rows and 0 <= to_column < columns:
                    # the corners of a diagonal step's square; of a straight step these are its two ends, twice
                    corners = blocked[row, column] + blocked[to_row, to_column]
                    if corners + blocked[row, to_column] + blocked[to_row, column] == 0:
                        allowed |= 1 << step
            steps[row, column] = allowed


@kernel
def fill_flow_fields(worker: int, workers: int, asked: Bytes, made: Bytes, chosen: Bytes, grid: FieldInput, scratch: Scratch,
                     fields: FlowField, ahead: int, tiles: int) -> None:
    """Make this worker's share of the fields that go by these walls, are asked for and were not made yet.

    With `tiles`, settle so many more of the field that is made `ahead`; without, that one is completed in its turn.
    """
    missing, most = 0, grid.steps.size
    for goal in range(made.size):
        price, row, begun, is_asked = grid.prices.chosen[goal], worker, False, 0
        for asker in range(asked.shape[0]):
            is_asked |= asked[asker, goal]
        if goal == ahead and (tiles > 0 or price == NEW):
            price, row, begun = NEW, scratch.distance.shape[0] - 1, True
        is_slice = begun and tiles > 0
        if not is_slice and (made[goal] or chosen[goal] != grid.number or is_asked == 0):
            continue
        if is_slice or missing % workers == worker:
            prices, distance = grid.prices.tiles[price].reshape(-1), scratch.distance[row].reshape(-1)
            waiting, now = (scratch.ahead[0], scratch.ahead[1]) if begun else (NONE, 0)
            waiting, now = _spread(scratch.heads[row], scratch.links[row, 0], scratch.links[row, 1], grid, goal, prices,
                                   distance, waiting, now, tiles if is_slice else most)
            if begun:
                scratch.ahead[0], scratch.ahead[1] = waiting, now
            if not is_slice:
                _point(grid.steps, distance, prices, fields.direction[goal])
        missing += 1


@device
def _spread(heads: Ints, following: Ints, before: Ints, grid: FieldInput, goal: int, prices: Bytes, distance: Ints,
            waiting: int, now: int, most: int) -> tuple[int, int]:
    """Write the cost of at most so many more tiles, from the destination outwards; a tile is its index in the flat map.

    Return how many tiles wait, which is NONE at the beginning, and the distance that was reached.
    """
    steps, columns = grid.steps.reshape(-1), grid.steps.shape[1]
    if waiting == NONE:  # distance 0 on the destination's free tiles, which wait, and -1 elsewhere
        targets, waiting, now = grid.targets.reshape(-1), 0, 0
        heads[:] = NONE
        for tile in range(distance.size):
            distance[tile] = -1
            if targets[tile] == goal:
                distance[tile] = 0
                _link(heads, following, before, tile, 0)
                waiting += 1
    while waiting > 0 and most > 0:
        tile = heads[now % CIRCLE]
        if tile == NONE:
            now += 1
            continue
        _unlink(heads, following, before, tile, now)
        waiting, most = waiting - 1, most - 1
        price = int(prices[tile])
        for step in range(8):
            if not steps[tile] >> step & 1:
                continue
            near = tile + STEP_ROW[step] * columns + STEP_COLUMN[step]
            cost, known = now + price * (DIAGONAL if step & 1 else STRAIGHT), distance[near]
            if known >= 0 and known <= cost:
                continue
            if known >= 0:
                _unlink(heads, following, before, near, known)
            else:
                waiting += 1
            distance[near] = cost
            _link(heads, following, before, near, cost)
    return waiting, now


@device
def _link(heads: Ints, following: Ints, before: Ints, tile: int, cost: int) -> None:
    head = heads[cost % CIRCLE]
    following[tile], before[tile] = head, NONE
    if head != NONE:
        before[head] = tile
    heads[cost % CIRCLE] = tile


@device
def _unlink(heads: Ints, following: Ints, before: Ints, tile: int, cost: Int) -> None:
    last, following_one = before[tile], following[tile]
    if last == NONE:
        heads[cost % CIRCLE] = following_one
    else:
        following[last] = following_one
    if following_one != NONE:
        before[following_one] = last


@device
def _point(steps: Bytes, distance: Ints, prices: Bytes, direction: Bytes) -> None:
    """Write the first step that is on a cheapest path, for every tile."""
    rows, columns = direction.shape
    for row in range(rows):
        for column in range(columns):
            tile = row * columns + column
            cost = distance[tile]
            direction[row, column] = ARRIVED if cost == 0 else UNREACHABLE
            for step in range(8 if cost > 0 else 0):
                near = tile + STEP_ROW[step] * columns + STEP_COLUMN[step]
                length = DIAGONAL if step & 1 else STRAIGHT
                if steps[row, column] >> step & 1 and distance[near] + int(prices[near]) * length == cost:
                    direction[row, column] = step
                    break
