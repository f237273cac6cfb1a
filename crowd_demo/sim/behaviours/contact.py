"""Contact: after the move, people whose bodies overlap are moved apart (docs/model.md, "Contact").

    overlap     j != i with d = |p_i - p_j| < 2 * body
    shift       sum over overlaps of half of each, (2 * body - d) / 2 along (p_i - p_j) / d, each term cut to 1/4096;
                times `relax` for each further one, at most SHIFT_PARTS of a body
    p'          p + shift, sliding along walls; velocities stay as they are (docs/findings.md)

A pass is a Jacobi iteration: everybody reads the positions of the pass before, and only their own are written. It is one more
interaction, so its scalar kernel can do it, with rules and arrays of its own; lanes have a quicker kernel
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

from crowd_demo.compute.arrays import Float, Floats, Int, Ints
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Launch, launch
from crowd_demo.compute.simd_memory import pick
from crowd_demo.sim.behaviours.contact_rules import ROUNDING, STEPS, ContactRules, NearAgents, near_of, touch_rows
from crowd_demo.sim.behaviours.steering import advance, move_launch
from crowd_demo.sim.interaction.interaction_stage import PAIR_LANES_NS, PAIR_NS, InteractionMemory
from crowd_demo.sim.interaction.rows import Blocks
from crowd_demo.sim.interaction.strips import CANDIDATES, REGISTERS, InteractionInput
from crowd_demo.sim.neighbours.candidates import Cells
from crowd_demo.sim.neighbours.grid import Grid
from crowd_demo.sim.neighbours.schedule import everybody_due, update_schedule
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.state import Columns, MovingColumns
from crowd_demo.sim.terrain.ground import Ground, slide
from crowd_demo.sim.world import Sizes, World

SHIFT_PARTS = 1 / 3  # of a body: farthest that one pass moves anybody
RELAX = 0.2  # a pass divides the shift by 1 + RELAX for each further overlap: more would overshoot
MAX_PASSES = 4
CONTACT_LANES_NS, CONTACT_NS = 15.0, 60.0  # time of a pass for each agent
MANY = 400  # candidates of a register, on average: from here on smaller cells pay


class Shifts(NamedTuple):
    """By slot: how far to move an agent, and when it is due (always), in the interaction's columns for these."""

    x: Floats
    y: Floats
    next_update: Ints


@implements(advance, Shifts)
def move_apart(shifts: Shifts, ground: Ground, columns: Columns, at: Int, x: Float, y: Float, agents: int) -> tuple[Float,
               Float]:
    return slide(ground, x, y, pick(shifts.x, at, x), pick(shifts.y, at, x))


def rules_of_contact(body: float) -> ContactRules:
    reach = np.float32(2 * body)
    near = float(reach) * STEPS + ROUNDING
    return ContactRules(reach, reach * reach, np.float32(RELAX), np.float32(SHIFT_PARTS * body), np.int32(near * near + 1))


class Contact:
    """Rules, working memory and candidates, which the passes of a step share."""

    def __init__(self, body: float) -> None:
        self.rules = rules_of_contact(body)
        self.cells: Cells
        self.memory: InteractionMemory
        self.near: NearAgents | None = None
        self.blocks: Blocks | None = None
        self.shifts: Shifts
        self._made_for: Sizes | None = None
        self._small: dict[float, Grid] = {}  # at most one, by the distance for which it is made
        self._crowded = False

    def wanted(self, world: World, passes: int = 1) -> bool:
        """Return whether there are at least so many passes."""
        return int(world.options.overlap_passes) >= passes and float(self.rules.reach) > 0

    def _fit(self, world: World) -> None:
        """Make memory anew when agents or workers have become more."""
        if self._made_for is not world.sizes:
            self._made_for, room = world.sizes, world.agents.back.shape[1]
            self._small = {}
            self.memory = InteractionMemory(world.workers, world.agents.capacity)
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

    def note_crowding(self, world: World) -> None:
        """Decide by what the first pass of this step counted whether the next step has small cells."""
        counted, most = self.memory.strips.counters.sum(axis=0), float(MANY)
        if self.uses_small_cells(world):  # these have fewer candidates
            wide = world.grid.cell * (2 * world.grid.reach_of(self._distance(world)) + 1)
            most *= (3 * self.small_cells(world).cell / wide) ** 2 / 2
        self._crowded = counted[REGISTERS] > 0 and counted[CANDIDATES] > most * counted[REGISTERS]

    def _distance(self, world: World) -> float:
        """Return the distance, when they were indexed, at which two people can still touch in one of the passes."""
        return float(self.rules.reach) + 2 * world.max_step

    def find(self, world: World) -> None:
        """Find who may touch whom: each of the two has moved since they were indexed."""
        self._fit(world)
        self.blocks = None
        self.cells = (self.small_cells(world).view() if self.uses_small_cells(world) else
                      world.structure.rows_within(self._distance(world)))

    def apart(self, world: World) -> tuple[Launch, ...]:
        """Return the kernels of a pass."""
        simd, agents, walls = world.options.simd, world.agents, world.terrain.walls
        ns = CONTACT_LANES_NS if simd else CONTACT_NS
        if world.options.neighbours == "none":
            ns = agents.count * (PAIR_LANES_NS if simd else PAIR_NS)
        columns = agents.columns
        view = MovingColumns(columns.id, columns.x, columns.y, columns.vx, columns.vy, *self.shifts)
        memory = self.memory.for_workers(world.workers_for(ns))
        if simd:
            return self._row_launch(view, memory), move_launch(world, self.shifts)
        everybody = everybody_due(update_schedule(world.tick, 1, "id", float(walls.width), float(walls.height),
                                                  world.needs.band))
        given = InteractionInput(view, self.rules, everybody)
        return (*memory.launches(self.cells, given, agents.count, simd), move_launch(world, self.shifts))

    def _row_launch(self, view: MovingColumns, memory: InteractionMemory) -> Launch:
        """Return the launch of the quicker kernel; who is in which row is the same in all passes of a step."""
        self.blocks = self.blocks or memory.row_blocks(self.cells)
        strips = memory.begin()
        if self.near is None or self.near.listed.shape != (len(strips.rows), strips.rows.shape[2]):
            self.near = near_of(strips)
        return launch(touch_rows, memory.workers, self.cells, view, self.rules, self.blocks, strips, self.near)


class SmallCells(Stage):
    """Sort people into small cells, for contact alone, where many stand in a cell of the shared grid."""

    name = "contact"

    def __init__(self, contact: Contact) -> None:
        self.contact = contact

    def wanted(self, world: World) -> bool:
        return self.contact.wanted(world) and self.contact.uses_small_cells(world)

    def retune(self, world: World) -> None:
        """Take the radius of a body, for all passes."""
        self.contact.rules = rules_of_contact(world.needs.body)

    def launches(self, world: World) -> tuple[Launch, ...]:
        return self.contact.small_cells(world).launches()

    def commit(self, world: World) -> None:
        self.contact.small_cells(world).built()


class ContactPass(Stage):
    """One pass of the technique *contact*."""

    name = "contact"

    def __init__(self, contact: Contact, number: int) -> None:
        self.contact, self.number = contact, number

    def wanted(self, world: World) -> bool:
        return self.contact.wanted(world, self.number + 1)

    def launches(self, world: World) -> tuple[Launch, ...]:
        world.farthest_sq[:] = 0
        if self.number == 0:
            self.contact.find(world)
        return self.contact.apart(world)

    def commit(self, world: World) -> None:
        world.drift.pushed(world.farthest_sq)
        if self.number == 0:
            self.contact.note_crowding(world)


def contact_passes(body: float) -> Sequence[Stage]:
    """Return the stages of all passes that there may be."""
    contact = Contact(body)
    return [SmallCells(contact), *(ContactPass(contact, number) for number in range(MAX_PASSES))]
