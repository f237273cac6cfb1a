"""Flow fields: for each destination, which step leads from every tile of the map along a shortest path there.

A step costs 10 along a side and 14 along a diagonal, and no diagonal cuts the corner of a wall. `direction[d, row, column]`
is the first of the eight steps that is on a shortest path to destination d (ARRIVED on its own tiles, UNREACHABLE where there
is no path).

A field leads to the free tiles that belong to its destination (`targets`: the marked ones, or its area).

A field is made when it is first asked for: the step whose agents read it marks it in `asked`, waits for the kernel that makes
it, and calls `keep`. It is kept until the walls change; then it is made again, when it is asked for. So what is in a field
depends on the walls alone, and which fields exist on the state of the crowd, never on a clock.

Dijkstra's algorithm without a heap: tiles are settled in order of distance, so those reached by steps of 10 queue up in
order, those reached by steps of 14 too, and the nearer head of the two queues is next. A tile enters each queue at
most once. O(tiles) a field, about 25 ns a tile; workers take fields in turn. Memory: a byte a tile and field, so at most
256 MB for the 64 destinations of the largest map, and 12 bytes a tile and worker to make them, at most `MAKING_BYTES` if there
is more than one. The system provides this memory when it is first written to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Marks
from crowd_demo.compute.jit import Call, call, device, kernel, run
from crowd_demo.compute.simd import root, select, splat, to_float
from crowd_demo.compute.simd_memory import gather
from crowd_demo.config.memory import MAKING_BYTES, MAKING_TILE
from crowd_demo.sim.terrain.tiles import Terrain, Walls, tile_at

# E, SE, S, SW, W, NW, N, NE, with y down
STEP_COLUMN = (1, 1, 0, -1, -1, -1, 0, 1)
STEP_ROW = (0, 1, 1, 1, 0, -1, -1, -1)
STRAIGHT, DIAGONAL = 10, 14
ARRIVED, UNREACHABLE = 8, 9
STEPS = np.array([(*STEP_COLUMN, 0, 0), (*STEP_ROW, 0, 0)], np.int32)  # for kernels, by direction


class FlowField(NamedTuple):
    """The flow fields for kernels; the first axis is the destination."""

    direction: Bytes  # [D, H, W]: 0-7 as in STEP_COLUMN, ARRIVED or UNREACHABLE; only of fields that were made
    goal_x: Floats  # [D]: the destinations' points, world units
    goal_y: Floats


class Plan(NamedTuple):
    """The input of the fields."""

    blocked: Bytes
    targets: Marks
    steps: Bytes  # bit i: step i leads from a free tile to a free one


class Scratch(NamedTuple):
    """What a worker needs while it makes a field; the first axis is the worker."""

    distance: Ints  # [workers, H, W]: cost, -1 for no path
    queues: Ints  # [workers, 2, H * W]: tiles reached by straight and by diagonal steps


class FlowFields:
    """The fields of a terrain. Mark fields in `asked`, run `calls`, then `keep`."""

    def __init__(self, terrain: Terrain, workers: int = 1) -> None:
        count, rows, columns = len(terrain.destinations), terrain.rows, terrain.columns
        points = np.array([(one.x, one.y) for one in terrain.destinations], np.float32).reshape(count, 2)
        self.fields = FlowField(np.zeros((count, rows, columns), np.uint8), points[:, 0].copy(), points[:, 1].copy())
        self.asked = np.zeros((workers, count), np.uint8)  # 1 where a worker has found somebody who needs the field
        self.made = np.zeros(count, np.uint8)
        self.version = -1  # of the terrain that the fields are made for
        self.targets = terrain.marks  # int16[H, W]: the destination whose field leads to this tile; -1: none
        self._steps = np.empty((rows, columns), np.uint8)
        makers = min(workers, max(count, 1), max(MAKING_BYTES // (MAKING_TILE * rows * columns), 1))
        self._scratch = Scratch(np.empty((makers, rows, columns), np.int32), np.empty((makers, 2, rows * columns), np.int32))

    @property
    def complete(self) -> bool:
        """Have all fields been made?"""
        return bool(self.made.all())

    def forget_outdated(self, terrain: Terrain) -> bool:
        """Drop all fields if the walls have changed; return whether they had."""
        if self.version == terrain.version:
            return False
        run((call(allow_steps, terrain.blocked, self._steps),))
        self.made[:] = 0
        self.version = terrain.version
        return True

    def calls(self, terrain: Terrain, workers: int) -> tuple[Call, ...]:
        """Return the kernel that makes the fields that are asked for and were not made yet."""
        makers = min(workers, self._scratch.distance.shape[0])
        plan = Plan(terrain.blocked, self.targets, self._steps)
        return (call(fill_flow_fields, makers, self.asked, self.made, plan, self._scratch, self.fields),)

    def keep(self) -> None:
        """Call after the kernel has run."""
        self.made |= self.asked.max(axis=0)
        self.asked[:] = 0


@device
def heading(fields: FlowField, walls: Walls, goal: Int, x: Float, y: Float) -> tuple[Float, Float]:
    """Return the unit vector to the centre of the next tile on the path, on arrival to the goal's point, else (0, 0).

    Of one agent, or of sixteen.
    """
    rows, columns = walls.blocked.shape
    column, row = tile_at(walls, x, y)
    step = gather(fields.direction.reshape(-1), (goal * rows + row) * columns + column)
    to_x = (to_float(column + gather(STEPS[0], step)) + np.float32(0.5)) * walls.tile
    to_y = (to_float(row + gather(STEPS[1], step)) + np.float32(0.5)) * walls.tile
    arrived, none = step == ARRIVED, splat(np.float32(0), x)
    dx = select(arrived, gather(fields.goal_x, goal), to_x) - x
    dy = select(arrived, gather(fields.goal_y, goal), to_y) - y
    length = root(dx * dx + dy * dy)
    no_way = (step == UNREACHABLE) | (length <= none)
    return select(no_way, none, dx / length), select(no_way, none, dy / length)


@device
def allow_steps(blocked: Bytes, steps: Bytes) -> None:
    """Fill Plan.steps."""
    rows, columns = blocked.shape
    for row in range(rows):
        for column in range(columns):
            allowed = 0
            for step in range(8):
                if _can_step(blocked, row, column, step):
                    allowed |= 1 << step
            steps[row, column] = allowed


@device
def _can_step(blocked: Bytes, row: int, column: int, step: int) -> bool:
    rows, columns = blocked.shape
    to_row, to_column = row + STEP_ROW[step], column + STEP_COLUMN[step]
    if to_row < 0 or to_row >= rows or to_column < 0 or to_column >= columns:
        return False
    # The corners of a diagonal step's square; of a straight step these are its two ends, twice.
    corners = blocked[row, column] + blocked[to_row, to_column] + blocked[row, to_column] + blocked[to_row, column]
    return corners == 0


@kernel
def fill_flow_fields(worker: int, workers: int, asked: Bytes, made: Bytes, grid: Plan, scratch: Scratch,
                     fields: FlowField) -> None:
    """Make this worker's share of the fields that are asked for and were not made yet: one of every `workers`."""
    distance, queues, missing = scratch.distance[worker], scratch.queues[worker], 0
    for goal in range(made.size):
        if made[goal] or not _is_asked(asked, goal):
            continue
        if missing % workers == worker:
            _spread(queues[0], queues[1], grid, goal, distance.reshape(-1))
            _point(grid.steps, distance, fields.direction[goal])
        missing += 1


@device
def _is_asked(asked: Bytes, goal: int) -> bool:
    found = 0
    for worker in range(asked.shape[0]):
        found |= asked[worker, goal]
    return found > 0


@device
def _spread(straight: Ints, diagonal: Ints, grid: Plan, goal: int, distance: Ints) -> None:
    """Write the cost of every tile, from the destination outwards; a tile is its index in the flat map.

    A tile that a diagonal step reached first and a straight one improved appears a second time in the diagonal queue: it
    is settled by then and changes nothing.
    """
    steps, columns = grid.steps.reshape(-1), grid.steps.shape[1]
    straight_end, diagonal_end = _begin(straight, grid, goal, distance), 0
    straight_next = diagonal_next = 0
    while straight_next < straight_end or diagonal_next < diagonal_end:
        if diagonal_next == diagonal_end or (straight_next < straight_end and
                                             distance[straight[straight_next]] <= distance[diagonal[diagonal_next]]):
            tile, straight_next = straight[straight_next], straight_next + 1
        else:
            tile, diagonal_next = diagonal[diagonal_next], diagonal_next + 1
        for step in range(8):
            if not steps[tile] >> step & 1:
                continue
            near = tile + STEP_ROW[step] * columns + STEP_COLUMN[step]
            cost = distance[tile] + (DIAGONAL if step & 1 else STRAIGHT)
            if distance[near] >= 0 and distance[near] <= cost:
                continue
            distance[near] = cost
            if step & 1:
                diagonal[diagonal_end], diagonal_end = near, diagonal_end + 1
            else:
                straight[straight_end], straight_end = near, straight_end + 1


@device
def _begin(queue: Ints, grid: Plan, goal: int, distance: Ints) -> int:
    """Distance 0 on the destination's free tiles, which are queued, and -1 elsewhere; return how many are queued."""
    blocked, targets, count = grid.blocked.reshape(-1), grid.targets.reshape(-1), 0
    for tile in range(distance.size):
        distance[tile] = -1
        if targets[tile] == goal and not blocked[tile]:
            distance[tile] = 0
            queue[count] = tile
            count += 1
    return count


@device
def _point(steps: Bytes, distance: Ints, direction: Bytes) -> None:
    """Write the first step that is on a shortest path, for every tile."""
    rows, columns = distance.shape
    for row in range(rows):
        for column in range(columns):
            cost = distance[row, column]
            direction[row, column] = ARRIVED if cost == 0 else UNREACHABLE
            for step in range(8 if cost > 0 else 0):
                length = DIAGONAL if step & 1 else STRAIGHT
                if (steps[row, column] >> step & 1
                        and distance[row + STEP_ROW[step], column + STEP_COLUMN[step]] + length == cost):
                    direction[row, column] = step
                    break
