"""Sight and paths: whether people see their goal, and which way they head. Each is due by id, every few steps.

The agents of a worker's share that are due are listed first, then taken sixteen at a time: one in eight is due, so a branch
for each would be predicted badly. Most people do not see their goal; a few points on the line tell that, for sixteen at a
time. Only the other lines are walked tile by tile.

Ways out: people are sent to the nearest of some destinations, and leave there for good (docs/model_people.md, "Sending
people"). Nearest is by the shortest way over free tiles; who has no way to any of them goes on as before. A way out
has a place for everybody, and who arrives at one is removed before the next step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Int, Ints
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import LANES, lane_numbers, root, select
from crowd_demo.compute.simd_memory import gather, load, onward, put
from crowd_demo.sim.behaviours.destinations import DestinationAreas
from crowd_demo.sim.behaviours.people_rules import WAITING, WALKING, PeopleColumns, people_of
from crowd_demo.sim.neighbours.schedule import IdSchedule, id_schedule, update_due_by_id
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.state import EMPTY, PartState
from crowd_demo.sim.terrain.flow_fields import FlowField, heading
from crowd_demo.sim.terrain.ground import Ground, in_sight, surely_hidden
from crowd_demo.sim.terrain.tiles import Edges, Walls
from crowd_demo.sim.ways import MAX_GOALS, Ways
from crowd_demo.sim.world import World

LISTED = 1024  # slots that are looked through at a time
SCAN_NS, SIGHT_NS, HEADING_NS = 1.0, 60.0, 8.0  # time to scan an agent, and of sight and heading for one that is due
NO_WAY = 2**31 - 1  # longer than any way


@device
def _list_due(ids: Ints, first: int, last: int, schedule: IdSchedule, due: Ints) -> int:
    """List the slots of [first, last) that are due and return how many; the last one is repeated to fill a register."""
    count = 0
    for slot in range(first, last):
        due[np.uintp(count)] = slot
        count += update_due_by_id(ids[np.uintp(slot)], schedule)
    for lane in range(LANES):
        due[count + lane] = due[max(count - 1, 0)]
    return count


@formula
def _write_sight(columns: PeopleColumns, due: Ints, k: int, count: int, walls: Walls, ground: Ground) -> None:
    """Write `goal_visible` of due[k:k + 16] or fewer; who is WAITING keeps it."""
    slots, last = onward(due, k), min(k + LANES, count)
    x, y = gather(columns.x, slots), gather(columns.y, slots)
    hidden = surely_hidden(ground, x, y, gather(columns.goal_x, slots), gather(columns.goal_y, slots))
    wanted = (lane_numbers() < last - k) & (gather(columns.state, slots) != WAITING)
    put(columns.goal_visible, load(due, k), wanted, select(hidden, 0, 1))
    for member in range(k, last if ground.any_solid else k):
        slot = due[member]
        if columns.goal_visible[slot] and columns.state[slot] != WAITING:
            columns.goal_visible[slot] = in_sight(walls, columns.x[slot], columns.y[slot], columns.goal_x[slot],
                                                  columns.goal_y[slot])


@kernel
def check_sight(worker: int, workers: int, columns: PeopleColumns, agents: int, walls: Walls, ground: Ground,
                schedule: IdSchedule, listed: Ints) -> None:
    """Check for every agent that is due whether its goal is in sight; listed int32[workers or more, LISTED + 16]."""
    due, end = listed[worker], agents * (worker + 1) // workers
    for first in range(agents * worker // workers, end, LISTED):
        count = _list_due(columns.id, first, min(first + LISTED, end), schedule, due)
        for k in range(0, count, LANES):
            _write_sight(columns, due, k, count, walls, ground)


@kernel
def ask_for_fields(worker: int, workers: int, columns: PeopleColumns, agents: int, schedule: IdSchedule, asked: Bytes) -> None:
    """Mark the flow fields that `take_headings` will read; asked uint8[workers or more, destinations]."""
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        if update_due_by_id(columns.id[slot], schedule) and not columns.goal_visible[slot]:
            asked[worker, columns.goal[slot]] = 1


@formula
def next_heading(columns: PeopleColumns, slots: Int, x: Float, y: Float, walls: Walls,
                 fields: FlowField) -> tuple[Float, Float]:
    """Return the heading of the agent in a slot, or of sixteen: straight at a goal in sight, else along the flow field."""
    goal_visible = gather(columns.goal_visible, slots) != 0
    path_x, path_y = heading(fields, walls, gather(columns.goal, slots), x, y)
    dx, dy = gather(columns.goal_x, slots) - x, gather(columns.goal_y, slots) - y
    length = root(dx * dx + dy * dy)
    at_goal = length <= 0  # keeps its heading
    straight_x = select(at_goal, gather(columns.heading_x, slots), dx / length)
    straight_y = select(at_goal, gather(columns.heading_y, slots), dy / length)
    return select(goal_visible, straight_x, path_x), select(goal_visible, straight_y, path_y)


@formula
def _write_headings(columns: PeopleColumns, due: Ints, k: int, count: int, walls: Walls, fields: FlowField) -> None:
    slots = onward(due, k)
    heading_x, heading_y = next_heading(columns, slots, gather(columns.x, slots), gather(columns.y, slots), walls, fields)
    wanted = lane_numbers() < count - k
    put(columns.heading_x, load(due, k), wanted, heading_x)
    put(columns.heading_y, load(due, k), wanted, heading_y)


@kernel
def take_headings(worker: int, workers: int, columns: PeopleColumns, agents: int, walls: Walls, fields: FlowField,
                  schedule: IdSchedule, listed: Ints) -> None:
    """Give every agent that is due a new heading; listed int32[workers or more, LISTED + 16]."""
    due, end = listed[worker], agents * (worker + 1) // workers
    for first in range(agents * worker // workers, end, LISTED):
        count = _list_due(columns.id, first, min(first + LISTED, end), schedule, due)
        for k in range(0, count, LANES):
            _write_headings(columns, due, k, count, walls, fields)


# --- the stages ------------------------------------------------------------------------------------------------------

class ListingStage(Stage):
    _listed = np.zeros((0, LISTED + LANES), np.int32)

    def listed(self, workers: int) -> Ints:
        if workers > len(self._listed):
            self._listed = np.zeros((workers, LISTED + LANES), np.int32)
        return self._listed


class CheckSight(ListingStage):
    """Check whether the goals of agents that are due are in sight."""

    name = "sight"
    ahead = True

    def launches(self, world: World) -> tuple[Launch, ...]:
        agents, period = people_of(world), world.options.stagger.sight
        workers = world.workers_for(SCAN_NS + SIGHT_NS / period)
        return (launch(check_sight, workers, agents.columns, agents.count, world.terrain.walls, world.ground,
                       id_schedule(world.tick, period), self.listed(workers)),)


class FollowWalls(Stage):
    """Have areas and flow fields follow the walls after an edit; before exits, which put people into areas."""

    name = "paths"
    before_index = True

    def __init__(self, areas: DestinationAreas) -> None:
        self.ways = areas.ways

    def wanted(self, world: World) -> bool:
        return self.ways.waits

    def launches(self, world: World) -> tuple[Launch, ...]:
        return self.ways.launches()

    def commit(self, world: World) -> None:
        self.ways.advance()


class LookForCrowds(Stage):
    """Count everybody by tiles now and then, so that ways lead around crowds; outdated fields are made anew in turn."""

    name = "paths"
    ahead = True

    def __init__(self, ways: Ways) -> None:
        self.ways = ways

    def wanted(self, world: World) -> bool:
        return world.crowding.active

    def launches(self, world: World) -> tuple[Launch, ...]:
        columns = world.agents.columns
        return (*world.crowding.launches(world.tick, columns.x, columns.y, world.agents.count, world.terrain.walls),
                *self.ways.launches_ahead(world.tick))

    def commit(self, world: World) -> None:
        world.crowding.keep()
        world.flow_fields.made[world.crowding.outdated(world.tick)] = 0


class MakeFlowFields(Stage):
    """Make the flow fields that this step reads and that are missing or outdated."""

    name = "paths"

    def __init__(self, areas: DestinationAreas) -> None:
        self.areas = areas

    def wanted(self, world: World) -> bool:
        return 0 in world.flow_fields.made.tolist()

    def ask(self, world: World) -> None:
        """Ask for all fields where people compare the ways to destinations."""
        world.flow_fields.asked[0] |= self.areas.limited and world.settings.crowd.choice_length > 0

    def launches(self, world: World) -> tuple[Launch, ...]:
        agents, fields, period = people_of(world), world.flow_fields, world.options.stagger.paths
        workers = min(world.workers, fields.asked.shape[0])
        self.ask(world)
        count = 0 if fields.asked[0].all() else agents.count
        return (launch(ask_for_fields, workers if count else 1, agents.columns, count, id_schedule(world.tick, period),
                       fields.asked),
                *self.areas.ways.launches_of_fields(world.crowding.prices(world.tick), workers))

    def commit(self, world: World) -> None:
        world.flow_fields.keep()


class TakeHeadings(ListingStage):
    """Give agents that are due a new heading."""

    name = "paths"
    ahead = True

    def launches(self, world: World) -> tuple[Launch, ...]:
        agents, period = people_of(world), world.options.stagger.paths
        workers = world.workers_for(SCAN_NS + HEADING_NS / period)
        return (launch(take_headings, workers, agents.columns, agents.count, world.terrain.walls, world.flow_fields.fields,
                       id_schedule(world.tick, period), self.listed(workers)),)


# --- ways out --------------------------------------------------------------------------------------------------------

class WaysOut(Stage):
    """The stage in which people leave; and a part of the state: the destinations at which they do."""

    name = "exits"
    before_index = True

    def __init__(self, areas: DestinationAreas) -> None:
        self.areas = areas

    def wanted(self, world: World) -> bool:
        return bool(self.areas.ways_out)

    def commit(self, world: World) -> None:
        """Remove everybody who has arrived. Newborn people wait too, but with a timer of 0, and stay."""
        agents = people_of(world)
        c, count = agents.columns, agents.count
        arrived = (c.state[:count] == WAITING) & (c.timer[:count] > 0)
        leave = arrived & np.isin(c.goal[:count], list(self.areas.ways_out))
        if leave.any():
            world.leaving += np.bincount(c.goal[:count][leave], minlength=MAX_GOALS)
            agents.remove(np.sort(c.id[:count][leave]), world.options.removal, world.workers)
            agents.close_gaps(world.workers)
            world.fit()

    # --- sending -----------------------------------------------------------------------------------------------------

    def send(self, world: World, to: Sequence[int], leave: bool, within: Edges | None) -> None:
        """Send people to the nearest of these destinations, all or those within [left, top, right, bottom].

        With `leave` these are ways out from now on. Raises ValueError where there are no such destinations.
        """
        if not self.areas.limited:
            raise ValueError("people cannot be sent where crowd.room is 0")
        count = len(world.terrain.destinations)
        if max(to) >= count:
            raise ValueError(f"there is no destination {max(to)}: there are {count}, counted from 0")
        self._send(world, to, within)
        self.areas.sent |= frozenset(to)
        if leave:
            self.areas.ways_out |= frozenset(to)

    def _send(self, world: World, to: Sequence[int], within: Edges | None) -> None:
        agents, walls, points = people_of(world), world.terrain.walls, self.areas.refreshed()
        c, count = agents.columns, agents.count
        x, y = c.x[:count], c.y[:count]
        row, column = (y * walls.inv_tile).astype(np.int64), (x * walls.inv_tile).astype(np.int64)
        layout = self.areas.ways.at_present()
        lengths = [world.flow_fields.lengths(layout.targets, layout.steps, goal)[row, column] for goal in to]
        ways = np.stack([np.where(length < 0, NO_WAY, length) for length in lengths])
        sent = ways.min(axis=0) < NO_WAY
        if within is not None:
            left, top, right, bottom = within
            sent &= (left < x) & (x < right) & (top < y) & (y < bottom)
        slots = np.flatnonzero(sent)
        goal = np.array(to, np.int32)[ways.argmin(axis=0)[slots]]
        c.goal[slots], c.goal_x[slots], c.goal_y[slots] = goal, points.x[goal], points.y[goal]
        c.goal_visible[slots], c.state[slots], c.timer[slots] = 0, WALKING, 0

    # --- a part of the state -----------------------------------------------------------------------------------------

    def state(self) -> PartState:
        areas = self.areas
        return PartState({"destinations": sorted(areas.ways_out), "sent": sorted(areas.sent)}) if areas.sent else EMPTY

    def restore(self, state: PartState) -> None:
        self.areas.ways_out, self.areas.sent = self._read(state, "destinations"), self._read(state, "sent")

    def check(self, state: PartState) -> None:
        numbers = self._read(state, "destinations") | self._read(state, "sent")
        if state.arrays or any(not 0 <= number < MAX_GOALS for number in numbers):
            raise ValueError("not those of this map")

    def _read(self, state: PartState, what: str) -> frozenset[int]:
        numbers = state.values.get(what, [])
        if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
            raise ValueError("must be numbers of destinations")
        return frozenset(numbers)
