"""Contact: after the move, people whose bodies overlap are moved apart (docs/model.md, "Contact").

    overlap     j != i with d = |p_i - p_j| < 2 * body
    shift       sum over overlaps of half of each, (2 * body - d) / 2 along (p_i - p_j) / d, each term cut to 1/4096;
                times `relax` for each further one, at most SHIFT_PARTS of a body
    p'          p + shift, sliding along walls; velocities stay as they are (docs/findings.md)

A pass is a Jacobi iteration: everybody reads the positions of the pass before, and only their own are written. It is one more
interaction, so the kernels of *see* do it, with rules and arrays of its own: same structures, same lanes, one hash. The
structure knows where agents were when it was indexed; `near` is asked for all who may have come into touch since.

Sources: position based dynamics, Müller and others 2007; for crowds Weiss and others 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.compute.simd import (
    LANES,
    any_set,
    bits_xor,
    chance,
    lane_numbers,
    load,
    no_sum,
    root,
    scramble,
    select,
    splat,
    store,
    take,
    to_float,
    to_int,
    wrap32,
)
from crowd_demo.sim.behaviours.steering import SCALAR_NS
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Seen, Strip, Sums
from crowd_demo.sim.interaction.stage import PAIR_LANES_NS, PAIR_NS, Memory
from crowd_demo.sim.neighbours.schedule import Turn, everybody_due, turn
from crowd_demo.sim.neighbours.structure import Near
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.stages import Index
from crowd_demo.sim.store.columns import Columns, MovingColumns
from crowd_demo.sim.terrain.ground import Ground, longer, slide
from crowd_demo.sim.world import LIGHT_NS, Sizes, World

FIXED = 4096  # steps of a unit in the sums
SHIFT_PARTS = 1 / 3  # of a body: farthest that one pass moves anybody
RELAX = 0.2  # a pass divides the shift by 1 + RELAX for each further overlap: more would overshoot
MOST_PASSES = 4
CONTACT_LANES_NS, CONTACT_NS = 15.0, 60.0  # what a pass takes an agent


class ContactRules(NamedTuple):
    """Constants of contact; lengths in world units."""

    reach: np.float32  # 2 * body: people nearer than this overlap
    reach_sq: np.float32
    relax: np.float32
    longest: np.float32  # shift in one pass


# --- a pass: what everybody's overlaps add up to ---------------------------------------------------------------------

@implements(pairwise.copy_to_strip, ContactRules)
def copy_to_strip(rules: ContactRules, columns: Columns, slots: Int, strip: Strip, at: int) -> None:
    floats, ints = strip
    store(floats[0], at, take(columns.x, slots))
    store(floats[1], at, take(columns.y, slots))
    store(ints[0], at, take(columns.id, slots))


@implements(pairwise.read_columns, ContactRules)
def read_columns(rules: ContactRules, columns: Columns, slot: Int) -> Seen:
    return columns.x[slot], columns.y[slot], columns.id[slot]


@implements(pairwise.read_strip, ContactRules)
def read_strip(rules: ContactRules, strip: Strip, at: Int) -> Seen:
    floats, ints = strip
    return floats[0, at], floats[1, at], ints[0, at]


@implements(pairwise.load_register, ContactRules)
def load_register(rules: ContactRules, strip: Strip, at: Int) -> Seen:
    floats, ints = strip
    return load(floats[0], at), load(floats[1], at), load(ints[0], at)


@implements(pairwise.no_sums, ContactRules)
def no_sums(rules: ContactRules, like: Float) -> Sums:
    none = no_sum(like)
    return none, none, none


@device
def touches(rules: ContactRules, me: Seen, other: Seen) -> Mask:
    dx, dy = me[0] - other[0], me[1] - other[1]
    return (dx * dx + dy * dy < rules.reach_sq) & (me[2] != other[2])


@implements(pairwise.accumulate, ContactRules)
def accumulate(rules: ContactRules, me: Seen, other: Seen, sums: Sums) -> Sums:
    x, y, identity = me
    dx, dy = x - other[0], y - other[1]
    distance_sq = dx * dx + dy * dy
    overlaps = touches(rules, me, other)
    if any_set(overlaps):  # seldom: most candidates are far away
        count, sum_x, sum_y = sums
        apart = overlaps & (distance_sq > np.float32(0))
        distance = root(select(apart, distance_sq, splat(np.float32(1), x)))
        weight = (rules.reach - distance) / distance * np.float32(FIXED / 2)
        none = splat(np.int32(0), x)
        term_x, term_y = select(apart, to_int(weight * dx), none), select(apart, to_int(weight * dy), none)
        same = overlaps & (distance_sq <= np.float32(0))
        if any_set(same):  # on the very same spot: in a direction drawn for the pair, opposite for the two
            key = scramble(bits_xor(identity, other[2]))
            half = select(identity < other[2], splat(-rules.longest, x), splat(rules.longest, x)) * np.float32(FIXED)
            term_x = select(same, to_int(half * chance(key, np.int32(1))), term_x)
            term_y = select(same, to_int(half * chance(key, np.int32(2))), term_y)
        sums = count + select(overlaps, splat(np.int32(1), x), none), sum_x + term_x, sum_y + term_y
    return sums


@implements(pairwise.finish, ContactRules)
def finish(rules: ContactRules, me: Seen, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y = sums
    met = wrap32(count)
    one = np.float32(1)
    further = to_float(met) - one
    scale = np.float32(1 / FIXED) / (one + rules.relax * select(further > np.float32(0), further, splat(np.float32(0), me[0])))
    x, y = to_float(wrap32(sum_x)) * scale, to_float(wrap32(sum_y)) * scale
    length = root(x * x + y * y)
    far = length > rules.longest
    return select(far, x * (rules.longest / length), x), select(far, y * (rules.longest / length), y), met


# --- and what is done about it ---------------------------------------------------------------------------------------

@kernel
def shift_scalar(worker: int, workers: int, c: Columns, agents: int, shift_x: Floats, shift_y: Floats, ground: Ground,
                 farthest_sq: Floats) -> None:
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        x, y = c.x[slot], c.y[slot]
        c.x[slot], c.y[slot] = slide(ground, x, y, shift_x[slot], shift_y[slot])
        farthest_sq[worker, 0] = longer(farthest_sq[worker, 0], c.x[slot] - x, c.y[slot] - y)


@kernel
def shift_lanes(worker: int, workers: int, c: Columns, agents: int, shift_x: Floats, shift_y: Floats, ground: Ground,
                farthest_sq: Floats) -> None:
    far_sq = load(farthest_sq[worker], 0)
    registers = (agents + LANES - 1) // LANES
    for register in range(registers * worker // workers, registers * (worker + 1) // workers):
        at = register * LANES
        x, y = load(c.x, at), load(c.y, at)
        to_x, to_y = slide(ground, x, y, load(shift_x, at), load(shift_y, at))
        further_sq = longer(far_sq, to_x - x, to_y - y)
        far_sq = select(lane_numbers() < agents - at, further_sq, far_sq)  # the last register may extend beyond the agents
        store(c.x, at, to_x)
        store(c.y, at, to_y)
    store(farthest_sq[worker], 0, far_sq)


# --- the stage -------------------------------------------------------------------------------------------------------

class Shifts(NamedTuple):
    """Working memory by slot: what *see* calls the push, and when it is due."""

    x: Floats
    y: Floats
    look_at: Ints


class Contact:
    """What the passes of a step share: rules, working memory, candidates."""

    def __init__(self, index: Index, body: float) -> None:
        self.index = index
        self.rules = contact_rules(body)
        self.near: Near
        self.memory: Memory
        self.shifts: Shifts
        self._made_for: Sizes | None = None

    def find(self, world: World) -> tuple[Call, ...]:
        """Return the kernels that find who may touch whom: each of the two has moved since they were indexed."""
        if self._made_for is not world.sizes:
            self._made_for, room = world.sizes, len(world.agents.columns.id)
            self.memory = Memory(world.workers, world.agents.capacity)
            self.shifts = Shifts(np.zeros(room, np.float32), np.zeros(room, np.float32), np.zeros(room, np.int32))
        self.near = self.index.structure(world).near(float(self.rules.reach) + 2 * world.max_step, world.options.simd,
                                                     everybody(world))
        return self.near.calls

    def apart(self, world: World) -> tuple[Call, ...]:
        """Return the kernels of a pass."""
        simd, agents = world.options.simd, world.agents
        ns = CONTACT_LANES_NS if simd else CONTACT_NS
        if world.options.neighbours == "none":
            ns = agents.count * (PAIR_LANES_NS if simd else PAIR_NS)
        seen = agents.columns
        view = MovingColumns(seen.id, seen.x, seen.y, seen.vx, seen.vy, *self.shifts)
        memory = self.memory.for_workers(world.workers_for(ns))
        shift, ns = (shift_lanes, LIGHT_NS) if simd else (shift_scalar, SCALAR_NS)
        return (*memory.calls(self.near.candidates, view, agents.count, self.rules, everybody(world), simd),
                call(shift, world.workers_for(ns), seen, agents.count, self.shifts.x, self.shifts.y, world.ground,
                     world.farthest_sq))


class ContactPass(Stage):
    """One pass of the technique *contact*."""

    name = "contact"

    def __init__(self, contact: Contact, number: int) -> None:
        self.contact, self.number = contact, number

    def wanted(self, world: World) -> bool:
        return int(world.options.contact) > self.number and float(self.contact.rules.reach) > 0

    def calls(self, world: World) -> tuple[Call, ...]:
        world.farthest_sq[:] = 0
        find = self.contact.find(world) if self.number == 0 else ()
        return (*find, *self.contact.apart(world))

    def commit(self, world: World) -> None:
        world.drift.pushed(world.farthest_sq)


def contact_passes(index: Index, body: float) -> Sequence[Stage]:
    """Return the stages of all passes that there may be."""
    contact = Contact(index, body)
    return [ContactPass(contact, number) for number in range(MOST_PASSES)]


def contact_rules(body: float) -> ContactRules:
    reach = np.float32(2 * body)
    return ContactRules(reach, reach * reach, np.float32(RELAX), np.float32(SHIFT_PARTS * body))


def everybody(world: World) -> Turn:
    """Return a schedule by which all are due."""
    walls = world.terrain.walls
    return everybody_due(turn(world.tick, 1, "id", float(walls.width), float(walls.height), world.needs.band))
