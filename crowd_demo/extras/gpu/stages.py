"""The stages of a step that a graphics card makes, under the names of those that they stand for.

Agents stay on the GPU from step to step. They are copied to it when somebody here may have written to a column since
(`Agents.writes`), and back when somebody asks for one. Other stages, such as births, run on the processor. The grid
on the GPU is rebuilt every step, and agents are moved into its order when the technique *reorder* says so.

Kernels here are for very many workers. Worker w takes the items w, w + workers, w + 2 workers and so on, so that
neighbouring threads read neighbouring memory. Where workers write to the same place they add atomically, whole numbers
only, so no order of them changes a sum. The formulas are those of every other kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

import numpy as np

from crowd_demo.compute.arrays import Bytes, Floats, Ints, Longs, Rules, Whole
from crowd_demo.compute.jit import Launch, device, kernel
from crowd_demo.compute.simd_memory import add_at, raise_to
from crowd_demo.grid.cells import Cells, Floor, cell_of, sort_bucket
from crowd_demo.sim.behaviours.steering import advance
from crowd_demo.sim.interaction.nearest import KeptNeighbours, NeighbourLimits, choose, solve
from crowd_demo.sim.interaction.pairwise import finish, no_sums, observe
from crowd_demo.sim.interaction.strips import CANDIDATES, DUE, NEIGHBOURS, accumulate_alone
from crowd_demo.sim.neighbours.schedule import UpdateSchedule, next_update_of, update_due
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.agents import Agents, reorder_due
from crowd_demo.sim.store.state import Columns, dtypes_of
from crowd_demo.sim.terrain.ground import Ground, longer
from crowd_demo.sim.world import Sizes, World

if TYPE_CHECKING:
    from crowd_demo.extras.gpu.cuda import GraphicsProcessor

GROUP = 64  # numbers that one worker adds up
COUNTERS = 8  # of a row
ROWS = 256  # of counters, so that few workers add to the same one at a time


# --- the grid --------------------------------------------------------------------------------------------------------

class GpuGrid(NamedTuple):
    """The agents of each cell: order[start[c]:start[c + 1]] are the slots of cell c."""

    cell: Ints  # [n]: cell of each slot
    rank: Ints  # [n]: how many agents of its cell were counted before it
    start: Ints  # [cells + 1]: agents of each cell, then where it begins; the last is how many there are
    order: Ints  # [n]


@kernel
def clear(worker: int, workers: int, values: Whole | Floats) -> None:
    for k in range(worker, values.shape[0], workers):
        values[k] = 0


@kernel
def count_off(worker: int, workers: int, values: Ints) -> None:
    for k in range(worker, values.shape[0], workers):
        values[k] = k


@kernel
def count_cells(worker: int, workers: int, x: Floats, y: Floats, agents: int, floor: Floor, grid: GpuGrid) -> None:
    for slot in range(worker, agents, workers):
        cell = cell_of(x[slot], y[slot], floor)
        grid.cell[slot] = cell
        grid.rank[slot] = add_at(grid.start, cell, 1)


@kernel
def add_groups(worker: int, workers: int, values: Ints, length: int, sums: Ints, groups: int) -> None:
    for group in range(worker, groups, workers):
        total = 0
        for k in range(group * GROUP, min((group + 1) * GROUP, length)):
            total += values[k]
        sums[group] = total


@kernel
def begin_groups(worker: int, workers: int, values: Ints, length: int, sums: Ints, groups: int) -> None:
    """Replace each value by the sum of all before it, which `sums` has for the first of each group; values[length]: of
    all."""
    for group in range(worker, groups, workers):
        at = sums[group]
        for k in range(group * GROUP, min((group + 1) * GROUP, length)):
            count = values[k]
            values[k] = at
            at += count
        if group == groups - 1:
            values[length] = at


@kernel
def place_agents(worker: int, workers: int, agents: int, grid: GpuGrid) -> None:
    for slot in range(worker, agents, workers):
        grid.order[grid.start[grid.cell[slot]] + grid.rank[slot]] = slot


@kernel
def sort_cells(worker: int, workers: int, cells: int, grid: GpuGrid, ids: Ints) -> None:
    """Sort the agents of each cell by id, so that the order of memory does not depend on that of the threads."""
    for cell in range(worker, cells, workers):
        sort_bucket(grid.order, grid.start[cell], grid.start[cell + 1], ids)


@kernel
def gather_rows(worker: int, workers: int, source: Ints, order: Ints, count: int, target: Ints) -> None:
    """target[:, k] = source[:, order[k]] for k < count."""
    for k in range(worker, count, workers):
        slot = order[k]
        for row in range(source.shape[0]):
            target[row, k] = source[row, slot]


# --- the interaction, and moving -------------------------------------------------------------------------------------

@kernel
def interact_each(worker: int, workers: int, cells: Cells, columns: Columns, agents: int, floor: Floor, rules: Rules,
                  schedule: UpdateSchedule, counters: Longs) -> None:
    """Write the pushes of the agents that are due."""
    due, candidates, neighbours = 0, 0, 0
    for k in range(worker, agents, workers):
        slot = np.uintp(cells.order[k])
        if not update_due(schedule, columns.next_update[slot]):
            continue
        me, cell = observe(rules, columns, slot), cell_of(columns.x[slot], columns.y[slot], floor)
        row = cell // cells.columns
        sums, tested = accumulate_alone(cells, columns, rules, row, cell - row * cells.columns, me,
                                        no_sums(rules, columns.x[slot]))
        columns.avoidance_x[slot], columns.avoidance_y[slot], met = finish(rules, me, sums)
        columns.next_update[slot] = next_update_of(schedule, columns, slot)
        due, candidates, neighbours = due + 1, candidates + tested, neighbours + met
    add_up(counters, worker, due, candidates, neighbours)


@kernel
def interact_limited_each(worker: int, workers: int, cells: Cells, columns: Columns, agents: int, floor: Floor, rules: Rules,
                          schedule: UpdateSchedule, limits: NeighbourLimits, kept: KeptNeighbours, counters: Longs) -> None:
    """Write the pushes of the agents that are due, from the neighbours that they keep."""
    due, candidates, neighbours = 0, 0, 0
    slots, distances = kept.slot[worker], kept.distance[worker]
    for k in range(worker, agents, workers):
        slot = cells.order[k]
        if not update_due(schedule, columns.next_update[slot]):
            continue
        cell = cell_of(columns.x[slot], columns.y[slot], floor)
        row = cell // cells.columns
        size, _, scanned, _ = choose(cells, columns, rules, row, cell - row * cells.columns, slot, limits, slots, distances)
        columns.avoidance_x[slot], columns.avoidance_y[slot], met = solve(rules, columns, slot, slots, size)
        columns.next_update[slot] = next_update_of(schedule, columns, slot)
        due, candidates, neighbours = due + 1, candidates + scanned, neighbours + met
    add_up(counters, worker, due, candidates, neighbours)


@device
def add_up(counters: Longs, worker: int, due: int, candidates: int, neighbours: int) -> None:
    first = worker % ROWS * COUNTERS
    add_at(counters, first + DUE, due)
    add_at(counters, first + CANDIDATES, candidates)
    add_at(counters, first + NEIGHBOURS, neighbours)


@kernel
def move_each(worker: int, workers: int, columns: Columns, agents: int, rules: Rules, ground: Ground,
              farthest_sq: Floats) -> None:
    """Move the agents; note the square of the longest move."""
    far_sq = farthest_sq[0]
    for slot in range(worker, agents, workers):
        x, y = columns.x[slot], columns.y[slot]
        columns.x[slot], columns.y[slot] = advance(rules, ground, columns, slot, x, y, agents)
        far_sq = longer(far_sq, columns.x[slot] - x, columns.y[slot] - y)
    if far_sq > farthest_sq[0]:
        raise_to(farthest_sq, 0, far_sq)


# --- kernels of any crowd --------------------------------------------------------------------------------------------

T = TypeVar("T")
Levels = list[tuple[Ints, int]]  # arrays, each with its length


class Directions(NamedTuple):
    of: Bytes | None
    copy: Bytes
    versions: Longs  # [D]: of the fields in the copy


class GpuCrowd:
    """The memory of a crowd on a GPU, and its present columns."""

    def __init__(self, gpu: GraphicsProcessor) -> None:
        self.gpu = gpu
        self.counted = np.zeros((ROWS, COUNTERS), np.int64)  # in the last step
        self._made_for: tuple[Sizes | None, int] = None, -1
        self._written = -1  # `Agents.writes`, when they were copied to the GPU
        self.directions = Directions(None, np.zeros((0, 0, 0), np.uint8), np.zeros(0, np.int64))
        self._kept: KeptNeighbours | None = None
        self._copies: dict[str, tuple[object, int, object]] = {}  # of records: what was copied last, and its copy

    def fit(self, world: World) -> None:
        """Make the memory again if its size has changed, and get the columns if others are newer."""
        agents, gpu = world.agents, self.gpu
        size = agents.back.shape
        if self._made_for != (world.sizes, size[1]):
            agents.bring()
            self._made_for, self._written = (None, -1), -1  # until all of it is made: the GPU may have no room
            self.front, self.back = gpu.array(size, np.int32), gpu.array(size, np.int32)
            self.cells = world.grid.cells
            room = size[1]
            self.grid, self.levels = self.grid_of(self.cells)
            self.identity = gpu.array((room,), np.int32)
            gpu.launch(count_off, gpu.threads_for(room), self.identity).run()
            self.counters, self.farthest_sq = gpu.array((ROWS * COUNTERS,), np.int64), gpu.array((1,), np.float32)
            self.order = self.grid.order
            self._see(world)
            self._made_for = world.sizes, size[1]
        if agents.writes != self._written:
            gpu.upload(agents.matrix, self.front)
            self._written = agents.writes

    def grid_of(self, cells: int) -> tuple[GpuGrid, Levels]:
        """Return the memory of a grid; numbers of agents of all cells, sums of `GROUP` of those, of these, and so
        on."""
        gpu, room = self.gpu, self.front.shape[1:]
        grid = GpuGrid(*(gpu.array(shape, np.int32) for shape in (room, room, (cells + 1,), room)))
        levels = [(grid.start, cells)]
        while len(levels) == 1 or levels[-1][1] > 1:  # the last one is cleared, so it must not be the counts themselves
            length = -(-levels[-1][1] // GROUP)
            levels.append((gpu.array((length + 1,), np.int32), length))
        return grid, levels

    def _see(self, world: World) -> None:
        kinds = dtypes_of(world.agents.kind).values()
        self.columns = world.agents.kind(*(self.gpu.row(self.front, number, kind) for number, kind in enumerate(kinds)))

    def copy(self, name: str, value: T, version: int = 0) -> T:
        """Return a record with its arrays on the GPU.

        It is copied when it is another object, or of another version, than the last of that name.
        """
        of, version_of, copy = self._copies.get(name, (None, 0, None))
        if of is not value or version_of != version:
            copy = self.gpu.copied(value, copy)
            self._copies[name] = value, version, copy
        return cast(T, copy)

    def column(self, number: int) -> Ints:
        values = np.empty(self.front.shape[1], np.int32)
        self.gpu.download(self.gpu.row(self.front, number, values.dtype), values)
        return values

    def is_newest(self, agents: Agents[Columns]) -> bool:
        return self._written == agents.writes

    def fetch(self, matrix: Ints) -> None:
        self.gpu.download(self.front, matrix)

    def swap(self, world: World) -> None:
        """Make the other buffer the present one, and the order of the grid that of memory."""
        self.front, self.back = self.back, self.front
        self._see(world)
        self.order = self.identity
        world.agents.layout += 1

    def measure(self, world: World, number: int = 0) -> None:
        self.gpu.download(self.farthest_sq, world.farthest_sq[number, 0, :1])

    def work(self) -> Mapping[str, float]:
        counted = self.counted.sum(axis=0).tolist()
        due = max(counted[DUE], 1)
        return {"due": float(counted[DUE]), "candidates_per_agent": counted[CANDIDATES] / due, "imbalance": 1.0,
                "neighbours_per_agent": counted[NEIGHBOURS] / due, "registers": 0.0, "contiguous_copies": 0.0}

    def indexing(self, columns: Columns, agents: int, floor: Floor, grid: GpuGrid, levels: Levels) -> tuple[Launch, ...]:
        """Return the launches that sort the agents into cells: count those of each, add up the counts, place the
        agents."""
        launch, (start, cells), (top, _) = self.launch, levels[0], levels[-1]
        pairs = list(pairwise(levels))
        up = [launch(add_groups, groups, values, length, sums, groups) for (values, length), (sums, groups) in pairs]
        down = [launch(begin_groups, groups, values, length, sums, groups)
                for (values, length), (sums, groups) in reversed(pairs)]
        return (launch(clear, cells, start),
                launch(count_cells, agents, columns.x, columns.y, agents, floor, grid),
                *up, launch(clear, 1, top), *down, launch(place_agents, agents, agents, grid))

    def moving(self, world: World, rules: object) -> tuple[Launch, ...]:
        """Return the launches that move all agents by these rules, and measure the longest move."""
        return (self.launch(clear, 1, self.farthest_sq),
                self.launch(move_each, world.agents.count, self.columns, world.agents.count, rules,
                            self.copy("ground", world.ground), self.farthest_sq))

    def sorting(self) -> Launch:
        return self.launch(sort_cells, self.cells, self.cells, self.grid, self.columns.id)

    def kept(self, agents: int, most: int) -> KeptNeighbours:
        """Return memory for the neighbours that the present agent of each thread keeps."""
        shape = self.gpu.threads_for(agents), most
        if self._kept is None or self._kept.slot.shape != shape:
            array = self.gpu.array
            self._kept = KeptNeighbours(array(shape, np.int32), array(shape, np.float32), array((1, 1), np.int64))
        return self._kept

    def launch(self, kernel: Callable[..., object], items: int, *args: object) -> Launch:
        return self.gpu.launch(kernel, self.gpu.threads_for(items), *args)


class GpuStage(Stage):
    """Base of the stages here; their times are those of the GPU."""

    def __init__(self, crowd: GpuCrowd) -> None:
        self.crowd = crowd

    def ready(self, world: World) -> tuple[GpuCrowd, Columns, int]:
        """Return the crowd, its newest columns on the GPU, and how many agents there are."""
        self.crowd.fit(world)
        return self.crowd, self.crowd.columns, world.agents.count

    def commit(self, world: World) -> None:
        self.crowd.gpu.finish()
        world.agents.elsewhere = self.crowd  # whose columns are the newest now


class GpuIndex(GpuStage):
    name = "index"

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, columns, agents = self.ready(world)
        crowd.order = crowd.grid.order
        return (*crowd.indexing(columns, agents, world.grid.floor, crowd.grid, crowd.levels),
                *([crowd.sorting()] if world.neighbour_limit == "first" else []))


class GpuReorder(GpuStage):
    """Move the agents into the order of the grid."""

    name = "reorder"

    def wanted(self, world: World) -> bool:
        reorder = world.options.reorder
        return reorder_due(reorder.when, reorder.every, reorder.drift, world.tick, world.drift, world.grid.cell)

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, _, agents = self.ready(world)
        return (crowd.sorting(),
                crowd.launch(gather_rows, agents, crowd.front, crowd.grid.order, agents, crowd.back))

    def commit(self, world: World) -> None:
        super().commit(world)
        self.crowd.swap(world)
        world.drift.reset()


class GpuInteraction(GpuStage):
    """Interaction of the agents that are due with all in the cells around them, or with the few that they keep."""

    name = "interaction"

    def __init__(self, crowd: GpuCrowd, limits: Callable[[World], NeighbourLimits | None]) -> None:
        super().__init__(crowd)
        self._limits = limits

    def launches(self, world: World) -> tuple[Launch, ...]:
        (crowd, columns, agents), grid = self.ready(world), world.grid
        cells = Cells(crowd.order, crowd.grid.start, grid.columns, grid.rows, grid.reach)
        args = (cells, columns, agents, grid.floor, crowd.copy("rules", world.rules),
                crowd.copy("schedule", world.schedule))
        if limits := self._limits(world):
            kept = crowd.kept(agents, limits.neighbours)
            meet = crowd.launch(interact_limited_each, agents, *args, limits, kept, crowd.counters)
        else:
            meet = crowd.launch(interact_each, agents, *args, crowd.counters)
        return crowd.launch(clear, ROWS * COUNTERS, crowd.counters), meet


class GpuMove(GpuStage):
    name = "move"

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, _, _ = self.ready(world)
        return crowd.moving(world, self.rules(world))

    def rules(self, world: World) -> object:
        """Return what says where an agent moves, with its arrays on the GPU."""
        return self.crowd.copy("rules", world.rules)

    def commit(self, world: World) -> None:
        super().commit(world)
        self.crowd.gpu.download(self.crowd.counters, self.crowd.counted.reshape(-1))
        self.crowd.measure(world)
        world.grid.outdated()


Made = Mapping[type[Stage], Callable[[GpuCrowd, Stage], Sequence[Stage]]]  # by a stage: those that make it on a GPU


def stages_on(crowd: GpuCrowd, made: Made, before: Sequence[Stage], after: Sequence[Stage],
              limits: Callable[[World], NeighbourLimits | None]) -> list[Stage]:
    """Return the stages of a step that begins with some stages and ends with others; `limits` says whom an agent keeps.

    Those that are not in `made` run here.
    """
    first, then = ([each for stage in stages for each in (made[type(stage)](crowd, stage) if type(stage) in made else [stage])]
                   for stages in (before, after))
    return [*first, GpuIndex(crowd), GpuReorder(crowd), GpuInteraction(crowd, limits), *then]
