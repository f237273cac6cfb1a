"""Destinations: areas with a limited number of places, before which people queue; and exits (docs/model_people.md).

    area        the free tiles that its point sees and no nearer point does, within the room that it needs
    room        one person for each `place` of its area; a place is held from being let in until leaving
    queue       who comes without a place stops on the disc around the point that holds all who have one and all who queue
    let in      all who queue, when there is room for all; else, while there is room, the nearest, ties by id
    exit        who arrives there is somebody else in the next step, with the same id: at rest in the area of an exit, with
                another speed, on the way to another destination
    way out     a destination with a place for everybody, at which people leave (wayfinding.py)

Who is let in follows from integer sums and minima over the people as the last step left them, so the order of agents cannot
matter. Somebody who holds a place has it as the goal; until then the goal is the destination's point. People are exchanged at
exits before agents are indexed, because after that nobody may move farther than a step; their number stays the same.

Sources: waiting sets and queues of JuPedSim; PTV Viswalk's queues before areas with a limited number of people.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Longs, Marks
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import bits_xor, chance, scramble, select
from crowd_demo.compute.simd_memory import gather
from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, WALKING, PeopleColumns, people_of, rules_of
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.terrain.ground import Ground, in_sight, is_solid
from crowd_demo.sim.terrain.tiles import GONE, Destination, Goals, Walls
from crowd_demo.sim.ways import Areas, Ways, areas_of
from crowd_demo.sim.world import World

HELD, QUEUED, FRONT, NONE = range(4)  # what is counted
LAST = np.int64(2**62)  # behind everybody who queues
NOBODY, EVERYBODY = -1, -2  # who is let in, instead of an id
FARTHEST_SQ = 2147483520.0  # units^2: the largest float32 below 2^31
PLACE_DRAWS = 8
EXITS = -1  # instead of a first tile
MAX_PLACES = 2**30  # of a destination
COUNT_NS, ARRIVED_NS = 2.0, 1.0  # time to count an agent, and to test whether it has arrived
IN_TILE = 0.49  # of its side: how far from its middle a place may be


class Destinations(NamedTuple):
    """The destinations for kernels; the first axis is the destination. There is at least one, if only an empty one."""

    x: Floats
    y: Floats
    spread: Floats  # of goals around the point, where there are no areas
    tiles: Ints  # of all areas, one after the other
    first: Ints  # [D + 1]: where each area begins in `tiles`
    capacity: Ints  # how many places there are
    reach_sq: Floats  # who comes nearer without a place queues; 0: nobody needs one
    opens: Ints  # who is let in: an id, NOBODY or EVERYBODY
    exits: Bytes  # 1: an exit
    fixed: Bytes  # 1: who is on the way there does not reconsider: an exit, or where people were sent


# --- choosing ---------------------------------------------------------------------------------------------------------

@device
def choose_destination(c: PeopleColumns, slot: int, d: Destinations, key: Int) -> None:
    """Choose the destination of a tile drawn from the areas of all others; its point is the goal until there is a place."""
    if d.tiles.shape[0] > 0:
        goal = drawn_destination(d, c.goal[slot], c.id[slot], key)
        c.goal[slot], c.goal_x[slot], c.goal_y[slot], c.goal_visible[slot] = goal, d.x[goal], d.y[goal], 0


@device
def drawn_destination(d: Destinations, last: int, identity: Int, key: Int) -> int:
    """Return the destination of a tile drawn from the areas of all but the last one; there is a tile."""
    total = d.tiles.shape[0]
    own = d.first[last + 1] - d.first[last]
    if own == total:  # a lone destination is chosen again
        own = 0
    tile = below(total - own, identity, key)
    if own > 0 and tile >= d.first[last]:
        tile += own
    return _owner(d, tile)


@device
def choose_place(c: PeopleColumns, slot: int, d: Destinations, ground: Ground, walls: Walls, key: Int) -> None:
    first, last = d.first[c.goal[slot]], d.first[c.goal[slot] + 1]
    c.goal_x[slot], c.goal_y[slot], _ = _draw_place(d, first, last - first, c.id[slot], ground, walls, key)
    c.goal_visible[slot] = 0


@formula
def _draw_place(d: Destinations, first: int, count: int, identity: Int, ground: Ground, walls: Walls,
                key: Int) -> tuple[Float, Float, int]:
    """Return a place in `count` tiles from the first, or in those of all EXITS, and its destination.

    It is the first drawn that the destination's point sees, or the last.
    """
    x, y, owner = 0, 0, 0
    for _ in range(PLACE_DRAWS):
        number = _drawn_tile(d, first, below(count, identity, key))
        tile, owner = d.tiles[number], _owner(d, number)
        key = scramble(key)
        x = _in_tile(tile % ground.columns, chance(identity, key), walls, ground.limit_x)
        key = scramble(key)
        y = _in_tile(tile // ground.columns, chance(identity, key), walls, ground.limit_y)
        key = scramble(key)
        if not ground.any_solid or in_sight(walls, d.x[owner], d.y[owner], x, y):
            break
    return x, y, owner


@device
def _drawn_tile(d: Destinations, first: int, number: int) -> int:
    """Return which of `tiles` is the one of that number from the first, or of those of all EXITS."""
    left = number
    if first != EXITS:
        return first + int(left)
    goal = 0
    while not d.exits[goal] or d.first[goal + 1] - d.first[goal] <= left:
        if d.exits[goal]:
            left -= d.first[goal + 1] - d.first[goal]
        goal += 1
    return int(d.first[goal] + left)


@device
def _owner(d: Destinations, number: int) -> int:
    owner = 0
    while d.first[owner + 1] <= number:
        owner += 1
    return owner


@formula
def _in_tile(number: int, part: Float, walls: Walls, limit: Float) -> Float:
    """Return a coordinate in a column or row of tiles; `part` from -1 to 1 says how far from its middle."""
    return min((np.float32(number) + (0.5 + IN_TILE * part)) * walls.tile, limit)


@device
def below(size: int, identity: Int, key: Int) -> int:
    """Return a whole number in [0, size), uniform."""
    return int(np.uint64(np.uint32(scramble(bits_xor(identity, key)))) * np.uint64(size) >> np.uint64(32))


@device
def choose_around(c: PeopleColumns, slot: int, d: Destinations, ground: Ground, key: Int) -> None:
    """Choose another destination and a free position in its square, or its point; for destinations without areas."""
    count = d.first.shape[0] - 1
    if count == 0:
        return
    identity, last = c.id[slot], c.goal[slot]
    goal = (last + 1 + np.uint32(scramble(bits_xor(identity, key))) % np.uint32(max(count - 1, 1))) % count
    key = scramble(key)
    x = d.x[goal] + d.spread[goal] * chance(identity, key)
    key = scramble(key)
    y = d.y[goal] + d.spread[goal] * chance(identity, key)
    if not (0 <= x <= ground.limit_x and 0 <= y <= ground.limit_y) or is_solid(ground, x, y):
        x, y = d.x[goal], d.y[goal]
    c.goal[slot], c.goal_x[slot], c.goal_y[slot], c.goal_visible[slot] = goal, x, y, 0


# --- who is let in ----------------------------------------------------------------------------------------------------

@device
def is_let_in(c: PeopleColumns, slot: int, d: Destinations) -> bool:
    """Return whether this person, who queues, is given a place in this step."""
    opens = d.opens[c.goal[slot]]
    return bool(opens == EVERYBODY or opens == c.id[slot])


@formula
def queue_reach_sq(d: Destinations, goal: Int, goal_x: Float, goal_y: Float) -> Float:
    """Return the squared reach of the queue that has to be joined; 0 for who has a place or needs none."""
    dx, dy = goal_x - gather(d.x, goal), goal_y - gather(d.y, goal)
    return select(dx * dx + dy * dy <= 0, gather(d.reach_sq, goal), 0)  # the goal is the destination's point


@device
def counted_as(c: PeopleColumns, slot: int, d: Destinations) -> tuple[int, np.int64]:
    """Return whether somebody is counted as HELD, as QUEUED or as none of both, and how far from the front."""
    goal, state = c.goal[slot], c.state[slot]
    if state == QUEUING:
        dx, dy = d.x[goal] - c.x[slot], d.y[goal] - c.y[slot]
        far_sq = min(dx * dx + dy * dy, FARTHEST_SQ)
        return QUEUED, np.int64(np.int32(far_sq)) << 32 | np.int64(c.id[slot])
    dx, dy = c.goal_x[slot] - d.x[goal], c.goal_y[slot] - d.y[goal]
    return HELD if state == WAITING or dx * dx + dy * dy > 0 else NONE, LAST


@kernel
def count_people(worker: int, workers: int, c: PeopleColumns, agents: int, d: Destinations, counts: Longs) -> None:
    """Count who holds a place and who queues, and find who is in front; counts int64[workers, 3, D or more]."""
    held, queued, front = counts[worker, HELD], counts[worker, QUEUED], counts[worker, FRONT]
    held[:], queued[:], front[:] = 0, 0, LAST
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        goal = c.goal[slot]
        what, far = counted_as(c, slot, d)
        if what == QUEUED:
            queued[goal] += 1
            front[goal] = min(front[goal], far)
        elif what == HELD:
            held[goal] += 1


@kernel
def open_destinations(worker: int, workers: int, d: Destinations, counts: Longs, disc: Float) -> None:
    """Decide who is let in, and how far the queues reach; `disc` is the area of a person, over pi."""
    for goal in range(worker, d.first.shape[0] - 1, workers):
        held, queued, front = 0, 0, counts[0, FRONT, goal]
        for part in range(counts.shape[0]):
            held += counts[part, HELD, goal]
            queued += counts[part, QUEUED, goal]
            front = min(front, counts[part, FRONT, goal])
        free = d.capacity[goal] - held
        d.opens[goal] = EVERYBODY if queued <= free else np.int32(front & 0x7FFFFFFF) if free > 0 else NOBODY
        d.reach_sq[goal] = np.float32(d.capacity[goal] + queued if d.capacity[goal] > 0 else 0) * disc


# --- exits ------------------------------------------------------------------------------------------------------------

class ExitRules(NamedTuple):
    speed_min: np.float64
    speed_range: np.float64
    speed_draws: np.int64
    goal_key: np.int32
    place_key: np.int32
    speed_key: np.int32


@device
def _draw_speed(identity: Int, rules: ExitRules) -> np.float64:
    """Return a preferred speed, distributed as at birth."""
    parts, key = 0.0, rules.speed_key
    for _ in range(rules.speed_draws):
        parts += np.float64(np.uint32(scramble(bits_xor(identity, key))) >> np.uint32(8)) * 2.0**-24
        key = scramble(key)
    return rules.speed_min + rules.speed_range * (parts / np.float64(rules.speed_draws))


@device
def come_in(c: PeopleColumns, slot: int, d: Destinations, tiles: int, ground: Ground, walls: Walls, rules: ExitRules) -> None:
    """Replace the person in a slot by another, in one of the tiles of exits; not where a wall is newer than areas."""
    identity = c.id[slot]
    x, y, goal = _draw_place(d, EXITS, tiles, identity, ground, walls, rules.place_key)
    if is_solid(ground, x, y):
        return
    c.x[slot], c.y[slot], c.goal[slot] = x, y, goal
    choose_destination(c, slot, d, rules.goal_key)
    c.speed[slot], c.state[slot], c.timer[slot] = _draw_speed(identity, rules), WALKING, 0
    c.vx[slot], c.vy[slot], c.avoidance_x[slot], c.avoidance_y[slot] = 0, 0, 0, 0
    c.heading_x[slot], c.heading_y[slot], c.next_update[slot] = 0, 0, 0


@device
def tiles_of_exits(d: Destinations) -> int:
    tiles = 0
    for goal in range(d.first.shape[0] - 1):
        tiles += (d.first[goal + 1] - d.first[goal]) * d.exits[goal]
    return tiles


@device
def has_arrived(c: PeopleColumns, slot: int) -> bool:
    """Return whether somebody is at the goal. Newborn people wait too, but with a timer of 0."""
    return bool(c.state[slot] == WAITING and c.timer[slot] > 0)


@kernel
def exchange_people(worker: int, workers: int, c: PeopleColumns, agents: int, d: Destinations, ground: Ground, walls: Walls,
                    rules: ExitRules) -> None:
    tiles = tiles_of_exits(d)
    if tiles == 0:  # no exit has an area
        return
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        if has_arrived(c, slot) and d.exits[c.goal[slot]]:
            come_in(c, slot, d, tiles, ground, walls, rules)


# --- the host's side --------------------------------------------------------------------------------------------------

class DestinationAreas:
    """The destinations of a terrain, for kernels; with `crowd.room` they have areas, which follow the walls (`Ways`)."""

    def __init__(self, world: World, settings: PeopleSettings, agents: int) -> None:
        self.area_per_person, self.limited = settings.area_per_person, settings.room > 0
        self._terrain, self._spread = world.terrain, settings.destination_spread
        self.ways_out: frozenset[int] = frozenset()  # destinations with a place for everybody
        self.sent: frozenset[int] = frozenset()  # destinations to which people were sent
        self._seen: tuple[Goals, Collection[int], Collection[int], Collection[int]] | None = None
        share = agents * settings.room / max(len(world.terrain.first_destinations), 1)
        self._reach_sq = np.float32(share / math.pi)
        self.ways = Ways(world.terrain, world.flow_fields, world.crowding, self.reach_sq, settings.exits)
        self.ways.has_areas, self.ways.has_exits = self.limited, self.limited and settings.wait_s > 0
        self._owner: Marks | None = None
        self._counts = np.zeros((0, 3, 0), np.int64)
        self.refreshed()

    def reach_sq(self, goals: Goals) -> Floats:
        """Return how far each area may reach, squared, float32[D or more]: 0 where there are none, and for the gone."""
        widths = self._widths(self._terrain.with_goals(goals)[1])
        reach_sq = np.maximum(self._reach_sq, widths * widths) * self.limited
        reach_sq[[number for number, tile in goals.items() if tile == GONE]] = 0
        return reach_sq.astype(np.float32)

    def _widths(self, destinations: Sequence[Destination]) -> Floats:
        widths = [self._spread if self._terrain.drawn else one.spread for one in destinations]
        return np.array(widths or [0], np.float32)

    def refreshed(self) -> Destinations:
        """Return the destinations where they are, with the areas that hold."""
        out, now = self.ways_out, (self._terrain.goals, self.ways.exits, self.ways_out, self.sent)
        if self._seen is None or any(before is not each for before, each in zip(self._seen, now, strict=True)):
            self._seen, self._owner = now, None
            self.columns = self._without_areas()
        if self.limited and self._owner is not self.ways.owner:
            self._owner = self.ways.owner
            areas, tile = self._areas(self._owner), float(self._terrain.walls.tile)
            size, per_tile = np.diff(areas.first), tile * tile / self.area_per_person
            self.columns.capacity[:len(size)] = np.clip(size * per_tile, np.minimum(size, 1), MAX_PLACES)
            self.columns.capacity[[number for number in out if number < len(size) and size[number]]] = MAX_PLACES
            self.columns = self.columns._replace(tiles=areas.tiles, first=areas.first)
        return self.columns

    def _without_areas(self) -> Destinations:
        listed = self._terrain.destinations
        size = max(len(listed), 1)
        x, y = np.zeros((2, size), np.float32)
        for number, one in enumerate(listed):
            x[number], y[number] = one.x, one.y
        return Destinations(x, y, self._widths(listed), np.zeros(0, np.int32), np.zeros(len(listed) + 1, np.int32),
                            np.zeros(size, np.int32), np.zeros(size, np.float32), np.full(size, NOBODY, np.int32),
                            *(np.isin(np.arange(size), list(of)).astype(np.uint8)
                              for of in (self.ways.exits, {*self.ways.exits, *self.sent})))

    def _areas(self, owner: Marks) -> Areas:
        """The areas, of which those of destinations that are gone are empty at once."""
        gone = [number for number, tile in self._terrain.goals.items() if tile == GONE]
        owner = np.where(np.isin(owner, gone), np.int16(-1), owner) if gone else owner
        return areas_of(owner, len(self._terrain.destinations))

    def counts_of(self, workers: int) -> Longs:
        if self._counts.shape[::2] != (workers, len(self.columns.x) + 8):
            self._counts = np.zeros((workers, 3, len(self.columns.x) + 8), np.int64)  # no two workers on one cache line
        return self._counts


class Admit(Stage):
    """Decide for every destination whom it lets in."""

    name = "admit"
    ahead = True

    def __init__(self, areas: DestinationAreas) -> None:
        self.areas = areas

    def wanted(self, world: World) -> bool:
        return self.areas.limited

    def launches(self, world: World) -> tuple[Launch, ...]:
        agents, destinations, workers = people_of(world), self.areas.refreshed(), world.workers_for(COUNT_NS)
        counts = self.areas.counts_of(workers)
        return (launch(count_people, workers, agents.columns, agents.count, destinations, counts),
                launch(open_destinations, 1, destinations, counts, rules_of(world).disc))


class ExchangePeople(Stage):
    """People who have arrived at an exit leave, and as many others come in."""

    name = "exits"
    before_index = True

    def __init__(self, areas: DestinationAreas) -> None:
        self.areas = areas

    def wanted(self, world: World) -> bool:
        return bool(self.areas.ways.exits)

    def later(self, world: World) -> tuple[Launch, ...]:
        return self.launches(world) if self.areas.ways.has_exits else ()

    def launches(self, world: World) -> tuple[Launch, ...]:
        agents, workers = people_of(world), world.workers_for(ARRIVED_NS)
        return (launch(exchange_people, workers, agents.columns, agents.count, self.areas.refreshed(), world.ground,
                       world.terrain.walls, self.rules(world)),)

    def rules(self, world: World) -> ExitRules:
        settings, purposes = world.settings.crowd, (hashing.GOAL, hashing.ENTRY, hashing.SPEED)
        goal, place, speed = (hashing.key(world.config.seed, world.tick, purpose) for purpose in purposes)
        low, extent = np.float64(settings.speed_min), np.float64(settings.speed_max - settings.speed_min)
        return ExitRules(low, extent, np.int64(settings.speed_draws), goal, place, speed)
