"""Contact: after the move, people whose bodies overlap are moved apart (docs/model_people.md, "Contact").

    overlap     j != i with d = |p_i - p_j| < 2 * body
    shift       sum over overlaps of half of each, (2 * body - d) / 2 along (p_i - p_j) / d, each term cut to 1/4096;
                times `relax` for each further one, at most SHIFT_PARTS of a body
    p'          p + shift, sliding along walls; velocities stay as they are (docs/findings.md)

A pass is a Jacobi iteration: everybody reads the positions of the pass before, and only their own are written. It is
one more interaction, so its scalar kernel can do it, with rules and arrays of its own; lanes have quicker kernels.
Both go over the rows of the shared grid, whatever the structure: kernels for the candidates of each would take seconds
to compile, and the grid is there anyway for culling. It knows where agents were when it was built, so it is asked for
all who may have come into touch since. Its cells are as wide as people look, three times as wide as they touch; so
where many stand in a cell they are sorted once more, into small ones.

In a pass everybody is due, so a register holds sixteen agents that are contiguous in the order. A quick test by
positions of 16 bits finds candidates too far from all of them, and never one who touches somebody. The others are listed
without a branch, which would be hard to predict, and give a list of pairs for all passes of a step. Sixteen pairs are added
up at once, to the sums of both people. Only people who overlap others are moved.

Sources: position based dynamics, Müller and others 2007; for crowds Weiss and others 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Longs, Mask
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.jit import WORTH_NS, Launch, device, kernel, launch
from crowd_demo.compute.packed import halves, squares_apart
from crowd_demo.compute.simd import (
    LANES,
    any_set,
    bits_xor,
    chance,
    lane_numbers,
    lane_of,
    lowest_set,
    no_sum,
    root,
    scramble,
    select,
    set_lanes,
    share_of_registers,
    splat,
    to_float,
    to_int,
    wrap32,
)
from crowd_demo.compute.simd_memory import add_at, gather, load, onward, pick, put, store, take_block
from crowd_demo.grid.cells import Cells, put_met
from crowd_demo.sim.behaviours.people_rules import PeopleColumns, is_held_up, people_of
from crowd_demo.sim.behaviours.steering import advance, move_launch
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.interaction_stage import PAIR_LANES_NS, PAIR_NS, InteractionMemory
from crowd_demo.sim.interaction.pairwise import Strip, Sums
from crowd_demo.sim.interaction.runs import Blocks, cell_of, part
from crowd_demo.sim.interaction.strips import (
    CANDIDATES,
    DUE,
    NEIGHBOURS,
    TESTS,
    TOGETHER,
    InteractionInput,
    Strips,
)
from crowd_demo.sim.neighbours.schedule import everybody_due, update_schedule
from crowd_demo.sim.neighbours.structure import AgentGrid
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.state import Columns
from crowd_demo.sim.terrain.ground import Ground, longer, slide
from crowd_demo.sim.world import MOVES, Sizes, World

SHIFT_PARTS = 1 / 3  # of a body: farthest that one pass moves anybody
RELAX = 0.2  # a pass divides the shift by 1 + RELAX for each further overlap: more would overshoot
MAX_PASSES = MOVES - 1
NEAR = 4  # pairs that may touch for each agent: there is room for so many
CONTACT_LANES_NS, CONTACT_NS, TOUCHED_NS = 15.0, 60.0, 1.0  # time of a pass for each agent; of moving who is touched
MANY = 200  # candidates of an agent, on average: from here on smaller cells pay
FIXED = 4096  # steps of a unit in the sums
STEPS = 8  # of a unit, in positions of 16 bits: they wrap at 8,192 units, and then somebody far away may be listed
ROUNDING = 2  # steps: two positions that are rounded come closer or go apart by less
POSITIONS, LISTED = 0, 1  # the rows of the strip that have them, and candidates that are near


class Body(NamedTuple):
    """What others can observe of a person."""

    x: Float
    y: Float
    way_x: Float  # heading of who is held up, else 0
    way_y: Float
    id: Int


class ContactRules(NamedTuple):
    """Constants of contact; lengths in world units."""

    reach: np.float32  # 2 * body: people nearer than this overlap
    reach_sq: np.float32
    relax: np.float32
    longest: np.float32  # shift in one pass
    squeeze: np.float32  # part of the reach that two who are held up head on do without


# --- who overlaps whom -----------------------------------------------------------------------------------------------

@implements(pairwise.observe, ContactRules)
def observe(rules: ContactRules, columns: PeopleColumns, slots: Int) -> Body:
    held_up = is_held_up(gather(columns.state, slots))
    return Body(gather(columns.x, slots), gather(columns.y, slots), select(held_up, gather(columns.heading_x, slots), 0),
                select(held_up, gather(columns.heading_y, slots), 0), gather(columns.id, slots))


@device
def touches(rules: ContactRules, me: Body, other: Body) -> Mask:
    """Return whether two agents overlap."""
    dx, dy = me.x - other.x, me.y - other.y
    return (dx * dx + dy * dy < rules.reach_sq) & (me.id != other.id)


@implements(pairwise.accumulate, ContactRules)
def accumulate(rules: ContactRules, me: Body, other: Body, sums: Sums) -> Sums:
    dx, dy = me.x - other.x, me.y - other.y
    distance_sq = dx * dx + dy * dy
    overlaps = touches(rules, me, other)
    if any_set(overlaps):  # seldom: most candidates are far away
        count, sum_x, sum_y = sums
        reach = rules.reach * (1 - rules.squeeze * max(0, 0 - (me.way_x * other.way_x + me.way_y * other.way_y)))
        overlaps = overlaps & (distance_sq < reach * reach)
        apart = overlaps & (distance_sq > 0)
        distance = root(select(apart, distance_sq, 1))
        weight = (reach - distance) / distance * (FIXED / 2)
        term_x, term_y = select(apart, to_int(weight * dx), 0), select(apart, to_int(weight * dy), 0)
        same = overlaps & (distance_sq <= 0)
        if any_set(same):  # on the very same spot: in a direction drawn for the pair, opposite for the two
            key = scramble(bits_xor(me.id, other.id))
            half = select(me.id < other.id, -rules.longest, rules.longest) * FIXED
            term_x = select(same, to_int(half * chance(key, 1)), term_x)
            term_y = select(same, to_int(half * chance(key, 2)), term_y)
        sums = count + select(overlaps, 1, 0), sum_x + term_x, sum_y + term_y
    return sums


@implements(pairwise.finish, ContactRules)
def finish(rules: ContactRules, me: Body, sums: Sums) -> tuple[Float, Float, Int]:
    return shift_of(rules, sums)


@formula
def shift_of(rules: ContactRules, sums: Sums) -> tuple[Float, Float, Int]:
    """Return the shift of a person, and how many others it overlaps."""
    count, sum_x, sum_y = sums
    met = wrap32(count)
    scale = (1 / FIXED) / (1 + rules.relax * max(0, to_float(met) - 1))
    x, y = to_float(wrap32(sum_x)) * scale, to_float(wrap32(sum_y)) * scale
    length = root(x * x + y * y)
    far = length > rules.longest
    return select(far, x * (rules.longest / length), x), select(far, y * (rules.longest / length), y), met


# --- a pass by registers ---------------------------------------------------------------------------------------------

class Pairs(NamedTuple):
    """Pairs of slots, by worker: people who may touch in one of the passes of a step."""

    first: Ints  # int32[workers, room]
    second: Ints
    sizes: Longs  # int64[workers + 1]: pairs of each worker; at the end 1 if there was no room for all of them


class Touched(NamedTuple):
    """Agents that overlap others in a pass, and by slot the sums over these, 0 between passes."""

    met: Ints
    x: Ints
    y: Ints
    slots: Ints  # of those that overlap others, in any order; -1 in places that a worker has not filled
    taken: Ints  # [1]: places of `slots` that workers have taken, sixteen at once
    free: Ints  # int32[workers, 16]: where the places begin that a worker has not filled yet, and where they end


@formula
def _write_positions(columns: PeopleColumns, order: Ints, first: int, last: int, positions: Ints) -> None:
    """Write the positions of 16 bits of order[first:last]."""
    for k in range(np.uintp(first), np.uintp(last), LANES):
        x, y = gather(columns.x, onward(order, k)), gather(columns.y, onward(order, k))
        store(positions, k - np.uintp(first), halves(to_int(x * STEPS), to_int(y * STEPS)))


@device
def _add(sums: Ints, slot: int, term: Int, shared: bool) -> Int:
    """Add a term to a sum, which other workers may do at the same time; return what it was."""
    if shared:
        return add_at(sums, slot, term)
    before = sums[np.uintp(slot)]
    sums[np.uintp(slot)] = before + term
    return before


@device
def _note(slot: int, touched: Touched, worker: int) -> None:
    """Note that an agent overlaps others."""
    if touched.free[worker, 0] == touched.free[worker, 1]:  # one atomic addition for sixteen agents
        touched.free[worker, 0] = add_at(touched.taken, 0, LANES)
        touched.free[worker, 1] = touched.free[worker, 0] + LANES
    touched.slots[np.uintp(touched.free[worker, 0])] = slot
    touched.free[worker, 0] += 1


@device
def _touch_pairs(columns: PeopleColumns, rules: ContactRules, first: Ints, second: Ints, size: int, touched: Touched,
                 worker: int, shared: bool) -> int:
    """Add those of a worker's pairs that overlap to the sums of both; return how many."""
    met = 0
    for at in range(0, size, LANES):
        one, other = load(first, at), load(second, at)
        me, you = pairwise.observe(rules, columns, one), pairwise.observe(rules, columns, other)
        count, x, y = pairwise.accumulate(rules, me, you, pairwise.no_sums(rules, me.x))
        bits = set_lanes((count > 0) & (lane_numbers() < size - at))
        while bits != 0:
            lane = lowest_set(bits)
            for slot, sign in ((lane_of(one, lane), 1), (lane_of(other, lane), -1)):
                if _add(touched.met, slot, 1, shared) == 0:
                    _note(slot, touched, worker)
                _add(touched.x, slot, sign * lane_of(x, lane), shared)
                _add(touched.y, slot, sign * lane_of(y, lane), shared)
            met += 1
            bits &= bits - 1
    return met


@device
def _touch_row(cells: Cells, columns: PeopleColumns, rules: ContactRules, near_sq: Int, row: int, begin: int, end: int,
               strip: Strip, pairs: Pairs, worker: int, size: int, touched: Touched, shared: bool,
               counters: Longs) -> int:
    """List the pairs of order[begin:end], agents of one row, with those after them; return how many are listed now."""
    cell, positions, listed = row * cells.columns, strip.rows[POSITIONS], strip.rows[LISTED]
    first, second = pairs.first[worker], pairs.second[worker]
    left, beyond = cell, cell + cells.columns - 1
    for k in range(begin, end, LANES):
        some, own = min(LANES, end - k), k - strip.base
        left = cell_of(k, left, beyond, cells.start)
        right = cell_of(k + some - 1, left, beyond, cells.start)
        leftmost = max(left - cell - cells.reach, 0)
        rightmost = min(right - cell + cells.reach, cells.columns - 1)
        mine, near, tested = load(positions, own), np.uintp(0), some
        for at in range(np.uintp(own), np.uintp(own + some)):  # unsigned: see runs.py
            listed[near] = at
            before = lane_numbers() < np.int64(at) - own
            near += np.uintp(any_set(before & (squares_apart(mine, positions[at]) < near_sq)))
        for below in range(row, min(row + cells.reach + 1, cells.rows)):
            start: Int = k + some if below == row else np.int64(cells.start[below * cells.columns + leftmost])
            stop = np.int64(cells.start[below * cells.columns + rightmost + 1])
            for at in range(np.uintp(start - strip.base), np.uintp(stop - strip.base)):
                listed[near] = at
                near += np.uintp(any_set(squares_apart(mine, positions[at]) < near_sq))
            tested += stop - start
        slots = load(cells.order, k)
        for i in range(near):
            j: Int = np.uintp(listed[i])
            before = lane_numbers() < min(np.int64(j) - own, some)
            if size > first.shape[0] - 2 * LANES:
                counters[NEIGHBOURS] += _touch_pairs(columns, rules, first, second, size, touched, worker, shared)
                pairs.sizes[-1], size = 1, 0
            store(second, size, splat(cells.order[np.uintp(strip.base) + j], slots))
            size += put_met(first, size, before & (squares_apart(mine, positions[j]) < near_sq), slots)
        counters[DUE] += some
        counters[CANDIDATES] += tested * some
        counters[TESTS] += tested
        counters[TOGETHER] += tested * some
    return size


@kernel
def touch_rows(worker: int, workers: int, cells: Cells, columns: PeopleColumns, rules: ContactRules, near_sq: int,
               blocks: Blocks, strips: Strips, pairs: Pairs, touched: Touched, number: int) -> None:
    """Add up who overlaps whom in pass `number`. The first pass lists the pairs for all others, if there is room."""
    counters, shared = strips.counters[worker], workers > 1
    if number > 0 and pairs.sizes[-1] == 0:
        size = pairs.sizes[worker]
    else:
        size, block = 0, take_block(strips.queue, 1)
        while block < blocks.first.shape[0]:
            first, last = blocks.first[block], blocks.last[block]
            strip = Strip(strips.rows[worker], np.int64(cells.start[first * cells.columns]))
            stop = cells.start[min(last + cells.reach, cells.rows) * cells.columns]
            _write_positions(columns, cells.order, strip.base, stop, strip.rows[POSITIONS])
            for row in range(first, last):
                begin, end = part(cells, row, blocks.start[block], blocks.start[block + 1])
                size = _touch_row(cells, columns, rules, near_sq, row, begin, end, strip, pairs, worker, size, touched,
                                  shared, counters)
            block = take_block(strips.queue, 1)
        pairs.sizes[worker] = size
    counters[NEIGHBOURS] += _touch_pairs(columns, rules, pairs.first[worker], pairs.second[worker], size, touched,
                                         worker, shared)
    for at in range(touched.free[worker, 0], touched.free[worker, 1]):
        touched.slots[at] = -1
    touched.free[worker, :2] = 0


# --- the stages ------------------------------------------------------------------------------------------------------

class Shifts(NamedTuple):
    """By slot: how far to move an agent, and when it is due (always), in the interaction's columns for these."""

    x: Floats
    y: Floats
    next_update: Ints


@implements(advance, Shifts)
def move_apart(shifts: Shifts, ground: Ground, columns: Columns, at: Int, x: Float, y: Float, agents: int) -> tuple[Float,
               Float]:
    return slide(ground, x, y, pick(shifts.x, at, x), pick(shifts.y, at, x))


@kernel
def move_touched(worker: int, workers: int, columns: PeopleColumns, rules: ContactRules, ground: Ground,
                 touched: Touched, farthest_sq: Floats) -> None:
    """Move this worker's share of those who overlap others, and set their sums to 0; note the longest move squared."""
    far_sq = load(farthest_sq[worker], 0)
    none = no_sum(far_sq)
    first, last = share_of_registers(touched.taken[0], worker, workers)
    for at in range(first, last, LANES):
        wanted = load(touched.slots, at) > splat(-1, none)
        slots = select(wanted, load(touched.slots, at), none)
        x, y = gather(columns.x, slots), gather(columns.y, slots)
        sums = gather(touched.met, slots), gather(touched.x, slots), gather(touched.y, slots)
        shift_x, shift_y, _ = shift_of(rules, sums)
        to_x, to_y = slide(ground, x, y, shift_x, shift_y)
        far_sq = select(wanted, longer(far_sq, to_x - x, to_y - y), far_sq)
        put(columns.x, slots, wanted, to_x)
        put(columns.y, slots, wanted, to_y)
        for each in (touched.met, touched.x, touched.y):
            put(each, slots, wanted, none)
    store(farthest_sq[worker], 0, far_sq)


def rules_of_contact(body: float, shoulders: float) -> ContactRules:
    reach = np.float32(2 * body)
    return ContactRules(reach, reach * reach, np.float32(RELAX), np.float32(SHIFT_PARTS * body), np.float32(shoulders))


def with_shifts(c: PeopleColumns, shifts: Shifts) -> PeopleColumns:
    """Return the columns of people, with shifts in those of the interaction."""
    return c._replace(avoidance_x=shifts.x, avoidance_y=shifts.y, next_update=shifts.next_update)


class Contact:
    """Rules, working memory and candidates, which the passes of a step share."""

    def __init__(self, body: float, shoulders: float) -> None:
        self.rules = rules_of_contact(body, shoulders)
        self.cells: Cells
        self.memory: InteractionMemory
        self.shifts: Shifts
        self._made_for: Sizes | None = None
        self._small: dict[float, AgentGrid] = {}  # at most one, by the distance for which it is made
        self._crowded = False

    def wanted(self, world: World, passes: int = 1) -> bool:
        return int(world.options.overlap_passes) >= passes and float(self.rules.reach) > 0

    def _fit(self, world: World) -> None:
        """Make memory anew when agents or workers have become more."""
        if self._made_for is not world.sizes:
            self._made_for, room = world.sizes, world.agents.back.shape[1]
            self._small = {}
            self.memory = InteractionMemory(world.workers, world.agents.capacity)
            self.shifts = Shifts(np.zeros(room, np.float32), np.zeros(room, np.float32), np.zeros(room, np.int32))
            met, x, y = np.zeros((3, room), np.int32)
            slots, free = np.zeros(room + LANES * world.workers, np.int32), np.zeros((world.workers, LANES), np.int32)
            self.touched = Touched(met, x, y, slots, np.zeros(1, np.int32), free)
            self.counted = self.memory.strips.counters  # by the first pass of a step
            first, second = np.zeros((2, world.workers, NEAR * room // world.workers + 4 * LANES), np.int32)
            self.pairs = Pairs(first, second, np.zeros(world.workers + 1, np.int64))

    def uses_small_cells(self, world: World) -> bool:
        return self._crowded and world.options.simd and world.options.neighbours != "none"

    def small_cells(self, world: World) -> AgentGrid:
        """Return cells as wide as the distance after the move at which two people can still touch in one of the passes."""
        self._fit(world)
        distance = self._distance_moved(world)
        if distance not in self._small:
            grid = world.grid
            self._small = {distance: AgentGrid(world.agents, grid.width, grid.height, distance, 0.0, grid.workers)}
        return self._small[distance]

    def _distance_moved(self, world: World) -> float:
        """Return the distance after the move at which two people can still touch in one of the passes."""
        return float(self.rules.reach) + 2 * (world.contact_shift - world.needs.shift)

    def note_crowding(self, world: World) -> bool:
        """Return whether this step has small cells: decide by what the last pass counted."""
        self._fit(world)
        counted, most = [sum(column) for column in zip(*self.counted.tolist(), strict=True)], float(MANY)
        if self.uses_small_cells(world):  # these have fewer candidates
            wide = world.grid.cell * (2 * world.grid.reach_of(self._distance(world)) + 1)
            most *= (3 * self.small_cells(world).cell / wide) ** 2 / 2
        self._crowded = bool(counted[CANDIDATES] > most * counted[DUE])
        return self.uses_small_cells(world)

    def _distance(self, world: World) -> float:
        """Return the distance, when they were indexed, at which two people can still touch in one of the passes."""
        return float(self.rules.reach) + 2 * world.max_step

    def apart(self, world: World, number: int) -> tuple[Launch, ...]:
        """Return the kernels of a pass; the first one finds rows of cells with all who may touch each other in any."""
        if number == 0:
            self._fit(world)
            self.cells = (self.small_cells(world).view() if self.uses_small_cells(world) else
                          world.structure.rows_within(self._distance(world)))
        simd, agents, walls = world.options.simd, world.agents, world.terrain.walls
        ns = CONTACT_LANES_NS if simd else CONTACT_NS
        if world.options.neighbours == "none":
            ns = agents.count * (PAIR_LANES_NS if simd else PAIR_NS)
        memory = self.memory.for_workers(world.workers_for(ns))
        if simd:
            return self._in_lanes(world, memory, number)
        everybody = everybody_due(update_schedule(world.tick, 1, "id", float(walls.width), float(walls.height),
                                                  world.needs.band))
        given = InteractionInput(with_shifts(people_of(world).columns, self.shifts), self.rules, everybody)
        return *memory.launches(self.cells, given, agents.count, simd), move_launch(world, self.shifts, number + 1)

    def _in_lanes(self, world: World, memory: InteractionMemory, number: int) -> tuple[Launch, ...]:
        """Return the quicker kernels; blocks of rows and pairs are the same in all passes of a step."""
        if number == 0:
            self.blocks = memory.row_blocks(self.cells)
            self.pairs = self.pairs._replace(sizes=np.zeros_like(self.pairs.sizes))
        strips, touched = memory.begin(), self.touched._replace(taken=np.zeros(1, np.int32))
        self.counted = self.counted if number else strips.counters
        near = self._distance_moved(world) * STEPS + ROUNDING
        columns, few = people_of(world).columns, max(1, int(world.agents.capacity * TOUCHED_NS / WORTH_NS))
        return (launch(touch_rows, memory.workers, self.cells, columns, self.rules, int(near * near + 1), self.blocks,
                       strips, self.pairs, touched, number),
                launch(move_touched, min(few, world.workers), columns, self.rules, world.ground, touched,
                       world.farthest_sq[number + 1]))


class SmallCells(Stage):
    """Sort people into small cells, for contact alone, where many stand in a cell of the shared grid."""

    name = "contact"

    def __init__(self, contact: Contact) -> None:
        self.contact = contact

    def wanted(self, world: World) -> bool:
        return self.contact.wanted(world) and self.contact.note_crowding(world)

    def retune(self, world: World) -> None:
        """Take the radius of a body, for all passes."""
        self.contact.rules = rules_of_contact(world.needs.body, world.settings.crowd.shoulders)

    def launches(self, world: World) -> tuple[Launch, ...]:
        return self.contact.small_cells(world).launches()

    def commit(self, world: World) -> None:
        self.contact.small_cells(world).built()


class ContactPass(Stage):
    name = "contact"
    ahead = True

    def __init__(self, contact: Contact, number: int) -> None:
        self.contact, self.number = contact, number

    def wanted(self, world: World) -> bool:
        return self.contact.wanted(world, self.number + 1)

    def launches(self, world: World) -> tuple[Launch, ...]:
        return self.contact.apart(world, self.number)


def contact_passes(body: float, shoulders: float) -> Sequence[Stage]:
    contact = Contact(body, shoulders)
    return [SmallCells(contact), *(ContactPass(contact, number) for number in range(MAX_PASSES))]
