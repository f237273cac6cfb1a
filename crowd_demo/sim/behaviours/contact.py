"""Contact: after the move, people whose bodies overlap are moved apart (docs/model.md, "Contact").

    overlap     j != i with d = |p_i - p_j| < 2 * body
    shift       sum over overlaps of half of each, (2 * body - d) / 2 along (p_i - p_j) / d, each term cut to 1/4096;
                times `relax` for each further one, at most SHIFT_PARTS of a body
    p'          p + shift, sliding along walls; velocities stay as they are (docs/findings.md)

A pass is a Jacobi iteration: everybody reads the positions of the pass before, and only their own are written. It is one more
interaction, so the scalar kernel of *see* can do it, with rules and arrays of its own; lanes have a quicker kernel
(contact_rules.py). Both go over the rows of the shared grid, whatever the structure: kernels for the candidates of each would
take seconds to compile, and the grid is there anyway for culling. It knows where agents were when it was built, so it is asked
for all who may have come into touch since. Its cells are as wide as people look, three times as wide as they touch; so where
many stand in a cell they are sorted once more, into small ones.

Sources: position based dynamics, Müller and others 2007; for crowds Weiss and others 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import Call, call, kernel
from crowd_demo.compute.simd import LANES, lane_numbers, select
from crowd_demo.compute.simd_memory import load, store
from crowd_demo.sim.behaviours.contact_rules import ContactRules, Near, near_of, touch_rows
from crowd_demo.sim.behaviours.steering import SCALAR_NS
from crowd_demo.sim.interaction.pairwise import CANDIDATES, REGISTERS
from crowd_demo.sim.interaction.rows import Blocks
from crowd_demo.sim.interaction.stage import PAIR_LANES_NS, PAIR_NS, Memory
from crowd_demo.sim.neighbours.candidates import Cells
from crowd_demo.sim.neighbours.grid import Grid
from crowd_demo.sim.neighbours.schedule import Turn, everybody_due, turn
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.stages import Index
from crowd_demo.sim.store.columns import Columns, MovingColumns
from crowd_demo.sim.terrain.ground import Ground, longer, slide
from crowd_demo.sim.world import LIGHT_NS, Sizes, World

SHIFT_PARTS = 1 / 3  # of a body: farthest that one pass moves anybody
RELAX = 0.2  # a pass divides the shift by 1 + RELAX for each further overlap: more would overshoot
MOST_PASSES = 4
CONTACT_LANES_NS, CONTACT_NS = 15.0, 60.0  # time of a pass for each agent
MANY = 400  # candidates of a register, on average: from here on smaller cells pay


# --- moving apart ----------------------------------------------------------------------------------------------------

@kernel
def shift_scalar(worker: int, workers: int, c: Columns, agents: int, shift_x: Floats, shift_y: Floats, ground: Ground,
                 farthest_sq: Floats) -> None:
    """Move this worker's agents by their shifts, sliding along walls; note the square of the longest move."""
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        x, y = c.x[slot], c.y[slot]
        c.x[slot], c.y[slot] = slide(ground, x, y, shift_x[slot], shift_y[slot])
        farthest_sq[worker, 0] = longer(farthest_sq[worker, 0], c.x[slot] - x, c.y[slot] - y)


@kernel
def shift_lanes(worker: int, workers: int, c: Columns, agents: int, shift_x: Floats, shift_y: Floats, ground: Ground,
                farthest_sq: Floats) -> None:
    """The same, sixteen agents at a time."""
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
        self.cells: Cells
        self.memory: Memory
        self.near: Near | None = None
        self.blocks: Blocks | None = None
        self.shifts: Shifts
        self._made_for: Sizes | None = None
        self._small: dict[float, Grid] = {}  # at most one, by the distance for which it is made
        self._crowded = False

    def wanted(self, world: World, passes: int = 1) -> bool:
        """Are there at least so many passes?"""
        return int(world.options.contact) >= passes and float(self.rules.reach) > 0

    def _fit(self, world: World) -> None:
        """Make memory anew when agents or workers have become more."""
        if self._made_for is not world.sizes:
            self._made_for, room = world.sizes, len(world.agents.columns.id)
            self._small = {}
            self.memory = Memory(world.workers, world.agents.capacity)
            self.shifts = Shifts(np.zeros(room, np.float32), np.zeros(room, np.float32), np.zeros(room, np.int32))

    def uses_small_cells(self, world: World) -> bool:
        return self._crowded and world.options.simd and world.options.neighbours != "none"

    def small_cells(self, world: World) -> Grid:
        """Return cells as wide as the distance after the move at which two people can still touch in one of the passes."""
        self._fit(world)
        distance = float(self.rules.reach) + 2 * (world.contact_shift - world.needs.shift)
        if distance not in self._small:
            grid = world.grid
            self._small = {distance: Grid(world.agents, grid.width, grid.height, distance, 0.0, grid.workers)}
        return self._small[distance]

    def see_whether_crowded(self, world: World) -> None:
        """Decide by what the first pass of this step counted whether the next step has small cells."""
        counted = self.memory.strips.counters.sum(axis=0)
        most = MANY * self._small_share(world) / 2 if self.uses_small_cells(world) else MANY
        self._crowded = counted[REGISTERS] > 0 and counted[CANDIDATES] > most * counted[REGISTERS]

    def _small_share(self, world: World) -> float:
        """Return the number of candidates with small cells as a share of that without."""
        wide = world.grid.cell * (2 * world.grid.reach_of(self._distance(world)) + 1)
        return (3 * self.small_cells(world).cell / wide) ** 2

    def _distance(self, world: World) -> float:
        """Return the distance, when they were indexed, at which two people can still touch in one of the passes."""
        return float(self.rules.reach) + 2 * world.max_step

    def find(self, world: World) -> None:
        """Find who may touch whom: each of the two has moved since they were indexed."""
        self._fit(world)
        self.blocks = None
        self.cells = (self.small_cells(world).view() if self.uses_small_cells(world) else
                      self.index.structure(world).rows_within(self._distance(world)))

    def apart(self, world: World) -> tuple[Call, ...]:
        """Return the kernels of a pass."""
        simd, agents = world.options.simd, world.agents
        ns = CONTACT_LANES_NS if simd else CONTACT_NS
        if world.options.neighbours == "none":
            ns = agents.count * (PAIR_LANES_NS if simd else PAIR_NS)
        seen = agents.columns
        view = MovingColumns(seen.id, seen.x, seen.y, seen.vx, seen.vy, *self.shifts)
        memory = self.memory.for_workers(world.workers_for(ns))
        touch = (self._row_calls(view, memory) if simd else
                 memory.calls(self.cells, view, agents.count, self.rules, everybody(world), simd))
        shift, ns = (shift_lanes, LIGHT_NS) if simd else (shift_scalar, SCALAR_NS)
        return (*touch, call(shift, world.workers_for(ns), seen, agents.count, self.shifts.x, self.shifts.y, world.ground,
                             world.farthest_sq))

    def _row_calls(self, view: MovingColumns, memory: Memory) -> tuple[Call, ...]:
        """The quicker way; who is in which row is the same in all passes of a step."""
        if self.blocks is None:
            self.blocks = memory.row_blocks(self.cells)
        strips = memory.begin()
        if self.near is None or self.near.listed.shape != (len(strips.floats), strips.floats.shape[2]):
            self.near = near_of(strips)
        return (call(touch_rows, memory.workers, self.cells, view, self.rules, self.blocks, strips, self.near),)


class SmallCells(Stage):
    """Where people are crowded: sort them into cells for the passes of contact alone."""

    name = "contact"

    def __init__(self, contact: Contact) -> None:
        self.contact = contact

    def wanted(self, world: World) -> bool:
        return self.contact.wanted(world) and self.contact.uses_small_cells(world)

    def calls(self, world: World) -> tuple[Call, ...]:
        return self.contact.small_cells(world).calls()

    def commit(self, world: World) -> None:
        self.contact.small_cells(world).built()


class ContactPass(Stage):
    """One pass of the technique *contact*."""

    name = "contact"

    def __init__(self, contact: Contact, number: int) -> None:
        self.contact, self.number = contact, number

    def wanted(self, world: World) -> bool:
        return self.contact.wanted(world, self.number + 1)

    def calls(self, world: World) -> tuple[Call, ...]:
        world.farthest_sq[:] = 0
        if self.number == 0:
            self.contact.find(world)
        return self.contact.apart(world)

    def commit(self, world: World) -> None:
        world.drift.pushed(world.farthest_sq)
        if self.number == 0:
            self.contact.see_whether_crowded(world)


def contact_passes(index: Index, body: float) -> Sequence[Stage]:
    """Return the stages of all passes that there may be."""
    contact = Contact(index, body)
    return [SmallCells(contact), *(ContactPass(contact, number) for number in range(MOST_PASSES))]


def contact_rules(body: float) -> ContactRules:
    reach = np.float32(2 * body)
    return ContactRules(reach, reach * reach, np.float32(RELAX), np.float32(SHIFT_PARTS * body))


def everybody(world: World) -> Turn:
    """Return a schedule by which all are due."""
    walls = world.terrain.walls
    return everybody_due(turn(world.tick, 1, "id", float(walls.width), float(walls.height), world.needs.band))
