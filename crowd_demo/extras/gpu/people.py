"""The stages of people on a graphics card: sight, paths, who is let in, exits, walking and contact.

Their formulas are those of the stages for which they stand, which also keep what the host knows: areas, prices, which flow
fields are made. Fields and prices are made here; the GPU says who is where, and which fields people ask for.

For contact people are always sorted once more, into small cells: one way for loose crowds and dense ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

import numpy as np

from crowd_demo.compute.arrays import Bytes, Floats, Ints, Longs
from crowd_demo.compute.jit import Launch, kernel
from crowd_demo.compute.simd_memory import add_at, lower_to
from crowd_demo.extras.gpu import cuda
from crowd_demo.extras.gpu.stages import Directions, GpuCrowd, GpuMove, GpuStage, Made, stages_on
from crowd_demo.grid.cells import Cells
from crowd_demo.sim.behaviours.contact import (
    MAX_PASSES,
    Contact,
    ContactPass,
    ContactRules,
    Shifts,
    SmallCells,
    with_shifts,
)
from crowd_demo.sim.behaviours.destinations import (
    FRONT,
    HELD,
    LAST,
    QUEUED,
    Admit,
    Destinations,
    ExchangePeople,
    ExitRules,
    come_in,
    counted_as,
    has_arrived,
    open_destinations,
    tiles_of_exits,
)
from crowd_demo.sim.behaviours.people import Walk, WalkRules
from crowd_demo.sim.behaviours.people_rules import WAITING, PeopleColumns, PeopleRules, rules_of
from crowd_demo.sim.behaviours.routes import Routes
from crowd_demo.sim.behaviours.steering import Glide
from crowd_demo.sim.behaviours.wayfinding import CheckSight, LookForCrowds, MakeFlowFields, TakeHeadings, WaysOut, next_heading
from crowd_demo.sim.interaction.nearest import NeighbourLimits
from crowd_demo.sim.interaction.pairwise import finish, no_sums, observe
from crowd_demo.sim.interaction.strips import accumulate_alone
from crowd_demo.sim.neighbours.schedule import IdSchedule, id_schedule, update_due_by_id
from crowd_demo.sim.neighbours.structure import AgentGrid
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.terrain.crowding import Prices
from crowd_demo.sim.terrain.flow_fields import FlowField
from crowd_demo.sim.terrain.ground import Ground, in_sight, surely_hidden
from crowd_demo.sim.terrain.tiles import Walls, tile_at
from crowd_demo.sim.world import World

COUNTS = 32  # rows of counts of people, so that few workers add to the same one at a time
HostStage = TypeVar("HostStage", bound=Stage)


# --- kernels: a worker takes every so-manieth agent (stages.py) ------------------------------------------------------

@kernel
def check_sight_each(worker: int, workers: int, c: PeopleColumns, agents: int, walls: Walls, ground: Ground,
                     schedule: IdSchedule) -> None:
    """Check for every agent that is due whether its goal is in sight; who is WAITING keeps it."""
    for slot in range(worker, agents, workers):
        if update_due_by_id(c.id[slot], schedule) and c.state[slot] != WAITING:
            x, y, goal_x, goal_y = c.x[slot], c.y[slot], c.goal_x[slot], c.goal_y[slot]
            c.goal_visible[slot] = not ground.any_solid or (
                not surely_hidden(ground, x, y, goal_x, goal_y) and in_sight(walls, x, y, goal_x, goal_y))


@kernel
def count_on_tiles(worker: int, workers: int, x: Floats, y: Floats, agents: int, walls: Walls, counts: Ints) -> None:
    for slot in range(worker, agents, workers):
        column, row = tile_at(walls, x[slot], y[slot])
        add_at(counts, row * walls.blocked.shape[1] + column, 1)


@kernel
def ask_for_fields_each(worker: int, workers: int, c: PeopleColumns, agents: int, schedule: IdSchedule, asked: Bytes) -> None:
    """Mark the flow fields that `take_headings_each` will read; asked uint8[D]."""
    for slot in range(worker, agents, workers):
        if update_due_by_id(c.id[slot], schedule) and not c.goal_visible[slot]:
            asked[c.goal[slot]] = 1


@kernel
def take_headings_each(worker: int, workers: int, c: PeopleColumns, agents: int, walls: Walls, fields: FlowField,
                       schedule: IdSchedule) -> None:
    for slot in range(worker, agents, workers):
        if update_due_by_id(c.id[slot], schedule):
            c.heading_x[slot], c.heading_y[slot] = next_heading(c, slot, c.x[slot], c.y[slot], walls, fields)


@kernel
def count_people_each(worker: int, workers: int, c: PeopleColumns, agents: int, d: Destinations, counts: Longs) -> None:
    """Count who holds a place and who queues, and find who is in front; counts int64[rows, 3, D]."""
    mine = counts[worker % counts.shape[0]]
    for slot in range(worker, agents, workers):
        goal = c.goal[slot]
        what, far = counted_as(c, slot, d)
        if what == QUEUED:
            add_at(mine[QUEUED], goal, 1)
            lower_to(mine[FRONT], goal, far)
        elif what == HELD:
            add_at(mine[HELD], goal, 1)


@kernel
def count_arrived(worker: int, workers: int, c: PeopleColumns, agents: int, ways_out: Bytes, arrived: Longs) -> None:
    """Count who has arrived at a way out; ways_out uint8[D or more], arrived int64[1]."""
    for slot in range(worker, agents, workers):
        if has_arrived(c, slot) and ways_out[c.goal[slot]]:
            add_at(arrived, 0, 1)


@kernel
def exchange_people_each(worker: int, workers: int, c: PeopleColumns, agents: int, d: Destinations, ground: Ground,
                         walls: Walls, rules: ExitRules) -> None:
    tiles = tiles_of_exits(d)
    if tiles == 0:  # no exit has an area
        return
    for slot in range(worker, agents, workers):
        if has_arrived(c, slot) and d.exits[c.goal[slot]]:
            come_in(c, slot, d, tiles, ground, walls, rules)


@kernel
def touch_each(worker: int, workers: int, cells: Cells, cell: Ints, c: PeopleColumns, agents: int,
               rules: ContactRules) -> None:
    """Write the shifts of all agents, for one pass; `cell` is that of each slot."""
    for k in range(worker, agents, workers):
        slot = np.uintp(cells.order[k])
        me, row = observe(rules, c, slot), cell[slot] // cells.columns
        sums, _ = accumulate_alone(cells, c, rules, row, cell[slot] - row * cells.columns, me, no_sums(rules, c.x[slot]))
        c.avoidance_x[slot], c.avoidance_y[slot], _ = finish(rules, me, sums)


# --- what they read besides the agents -------------------------------------------------------------------------------

class MadeOf(GpuStage, Generic[HostStage]):
    """Base of the stages here: each knows that for which it stands."""

    def __init__(self, crowd: GpuCrowd, stage: HostStage) -> None:
        super().__init__(crowd)
        self.stage = stage

    def wanted(self, world: World) -> bool:
        return self.stage.wanted(world)

    def later(self, world: World) -> tuple[Launch, ...]:
        return self.launches(world) if self.stage.later(world) else ()


def walls_of(crowd: GpuCrowd, world: World) -> Walls:
    """Return the walls on the GPU; an edit writes into their array."""
    return crowd.copy("walls", world.terrain.walls, world.terrain.version)


def fields_of(crowd: GpuCrowd, world: World) -> FlowField:
    """Return the flow fields on the GPU; those that were made since the last step are copied."""
    made, gpu = world.flow_fields, crowd.gpu
    direction = made.fields.direction
    if crowd.directions.of is not direction:
        crowd.directions = Directions(direction, gpu.array(direction.shape, np.uint8), np.zeros_like(made.versions))
    _, copied, versions = crowd.directions
    for goal in np.flatnonzero(versions != made.versions):
        gpu.upload(direction[goal], gpu.row(copied, int(goal), direction.dtype))
    versions[:] = made.versions
    goal_x, goal_y = (crowd.copy(name, getattr(made.fields, name)) for name in ("goal_x", "goal_y"))
    return FlowField(copied, goal_x, goal_y, made.fields.rounds)


# --- the stages ------------------------------------------------------------------------------------------------------

class GpuSight(MadeOf[CheckSight]):
    name = "sight"

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, columns, agents = self.ready(world)
        schedule = id_schedule(world.tick, world.options.stagger.sight)
        return (crowd.launch(check_sight_each, agents, columns, agents, walls_of(crowd, world),
                             crowd.copy("ground", world.ground), schedule),)


class CountOnTiles(MadeOf[LookForCrowds]):
    """Count the people on every tile when new prices are due; `SetPrices` makes these of the counts."""

    name = "paths"

    def wanted(self, world: World) -> bool:
        return self.stage.wanted(world) and world.crowding.is_due(world.tick)

    def later(self, world: World) -> tuple[Launch, ...]:
        return self.launches(world) if self.stage.wanted(world) else ()

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, columns, agents = self.ready(world)
        self.counts = crowd.copy("people on tiles", np.zeros_like(world.crowding.counts))
        return (crowd.launch(count_on_tiles, agents, columns.x, columns.y, agents, walls_of(crowd, world), self.counts),)

    def commit(self, world: World) -> None:
        self.crowd.gpu.download(self.counts, world.crowding.counts)


class SetPrices(LookForCrowds):
    """The same stage, which goes by people who are counted already."""

    def launches(self, world: World) -> tuple[Launch, ...]:
        nobody = np.zeros(0, np.float32)
        return (*world.crowding.launches(world.tick, nobody, nobody, 0, world.terrain.walls),
                *self.ways.launches_ahead(world.tick))


class AskForFields(MadeOf[MakeFlowFields]):
    """Find the flow fields that this step reads; `MakeFields` makes those of them that are missing or outdated."""

    name = "paths"

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, columns, agents = self.ready(world)
        self.asked = crowd.copy("asked", np.zeros_like(world.flow_fields.asked[0]))
        return (crowd.launch(ask_for_fields_each, agents, columns, agents,
                             id_schedule(world.tick, world.options.stagger.paths), self.asked),)

    def commit(self, world: World) -> None:
        self.crowd.gpu.download(self.asked, world.flow_fields.asked[0])


class MakeFields(MakeFlowFields):
    """The same stage, when it is known which fields are asked for."""

    def launches(self, world: World) -> tuple[Launch, ...]:
        workers = min(world.workers, world.flow_fields.asked.shape[0])
        self.ask(world)
        return self.areas.ways.launches_of_fields(world.crowding.prices(world.tick), workers)


class GpuHeadings(MadeOf[TakeHeadings]):
    name = "paths"

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, columns, agents = self.ready(world)
        return (crowd.launch(take_headings_each, agents, columns, agents, walls_of(crowd, world), fields_of(crowd, world),
                             id_schedule(world.tick, world.options.stagger.paths)),)


class GpuAdmit(MadeOf[Admit]):
    """Decide for every destination whom it lets in."""

    name = "admit"

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, columns, agents = self.ready(world)
        places = crowd.copy("destinations", self.stage.areas.refreshed())
        none = np.zeros((COUNTS, 3, len(self.stage.areas.columns.x)), np.int64)
        none[:, FRONT] = LAST
        counts = crowd.copy("counts", none)
        return (crowd.launch(count_people_each, agents, columns, agents, places, counts),
                crowd.launch(open_destinations, none.shape[2], places, counts, rules_of(world).disc))


class GpuWaysOut(MadeOf[WaysOut]):
    """Have people leave, here, in steps in which somebody has arrived."""

    name = "exits"

    def later(self, world: World) -> tuple[Launch, ...]:
        return self.launches(world) if self.stage.areas.limited else ()

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, columns, agents = self.ready(world)
        out = np.zeros(len(self.stage.areas.refreshed().x), np.uint8)
        out[[number for number in self.stage.areas.ways_out if number < len(out)]] = 1
        self.arrived = crowd.copy("arrived", np.zeros(1, np.int64))
        return (crowd.launch(count_arrived, agents, columns, agents, crowd.copy("ways out", out), self.arrived),)

    def commit(self, world: World) -> None:
        arrived = np.zeros(1, np.int64)
        self.crowd.gpu.download(self.arrived, arrived)
        if arrived[0]:
            self.stage.commit(world)


class GpuExchange(MadeOf[ExchangePeople]):
    """People who have arrived at an exit leave, and as many others come in."""

    name = "exits"

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, columns, agents = self.ready(world)
        return (crowd.launch(exchange_people_each, agents, columns, agents,
                             crowd.copy("destinations", self.stage.areas.refreshed()), crowd.copy("ground", world.ground),
                             walls_of(crowd, world), self.stage.rules(world)),)


class GpuWalk(GpuMove):
    """Move all agents; they start or end waiting, queuing and being stuck."""

    def __init__(self, crowd: GpuCrowd, stage: Walk) -> None:
        super().__init__(crowd)
        self.areas = stage.areas

    def rules(self, world: World) -> WalkRules:
        crowd, prices = self.crowd, world.crowding.prices(world.tick)
        on_gpu = Prices(crowd.copy("prices", prices.tiles), crowd.copy("chosen", prices.chosen))
        return WalkRules(PeopleRules(*rules_of(world)), crowd.copy("destinations", self.areas.refreshed()),
                         walls_of(crowd, world),
                         Routes(fields_of(crowd, world), on_gpu, world.crowding.empty(world.tick)))


class GpuSmallCells(MadeOf[SmallCells]):
    """Sort people into small cells, for contact alone."""

    name = "contact"
    _of: AgentGrid | None = None

    def wanted(self, world: World) -> bool:
        return self.stage.contact.wanted(world)

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, columns, agents = self.ready(world)
        small = self.stage.contact.small_cells(world)
        if self._of is not small:
            self.grid, self._levels = crowd.grid_of(small.cells)
            self.cells = Cells(self.grid.order, self.grid.start, small.columns, small.rows, small.reach)
            array, room = crowd.gpu.array, crowd.front.shape[1:]
            self.shifts = Shifts(array(room, np.float32), array(room, np.float32), array(room, np.int32))
            self._of = small
        return crowd.indexing(columns, agents, small.floor, self.grid, self._levels)


class GpuPass(GpuStage):
    name = "contact"

    def __init__(self, crowd: GpuCrowd, sorted_by: GpuSmallCells, number: int) -> None:
        super().__init__(crowd)
        self.sorted_by, self.number = sorted_by, number
        self.contact: Contact = sorted_by.stage.contact

    def wanted(self, world: World) -> bool:
        return self.contact.wanted(world, self.number + 1)

    def launches(self, world: World) -> tuple[Launch, ...]:
        crowd, c, agents = self.ready(world)
        by = self.sorted_by
        view = with_shifts(cast(PeopleColumns, c), by.shifts)
        return (crowd.launch(touch_each, agents, by.cells, by.grid.cell, view, agents, self.contact.rules),
                *crowd.moving(world, by.shifts))

    def commit(self, world: World) -> None:
        super().commit(world)
        self.crowd.measure(world, self.number + 1)


def _contact(crowd: GpuCrowd, stage: SmallCells) -> list[Stage]:
    cells = GpuSmallCells(crowd, stage)
    return [cells, *(GpuPass(crowd, cells, number) for number in range(MAX_PASSES))]


MADE = cast(Made, {  # birds' too
    Glide: lambda crowd, stage: [GpuMove(crowd)],
    CheckSight: lambda crowd, stage: [GpuSight(crowd, stage)],
    LookForCrowds: lambda crowd, stage: [CountOnTiles(crowd, stage), SetPrices(stage.ways)],
    MakeFlowFields: lambda crowd, stage: [AskForFields(crowd, stage), MakeFields(stage.areas)],
    TakeHeadings: lambda crowd, stage: [GpuHeadings(crowd, stage)],
    Admit: lambda crowd, stage: [GpuAdmit(crowd, stage)],
    WaysOut: lambda crowd, stage: [GpuWaysOut(crowd, stage)],
    ExchangePeople: lambda crowd, stage: [GpuExchange(crowd, stage)],
    Walk: lambda crowd, stage: [GpuWalk(crowd, stage)],
    SmallCells: _contact,
    ContactPass: lambda crowd, stage: [],  # `_contact` makes them
})


def gpu_step(before: Sequence[Stage], after: Sequence[Stage],
             limits: Callable[[World], NeighbourLimits | None]) -> tuple[GpuCrowd, list[Stage]]:
    """Return the copy of the crowd on the GPU and the stages of its step; arguments as those of `stages_on`."""
    crowd = GpuCrowd(cuda.gpu())
    return crowd, stages_on(crowd, MADE, before, after, limits)
