"""Movement: one pair of kernels moves all agents, which slide along walls; `advance` says where to, by the type of the rules.

Agents without states move freely: their behaviour implements `steer`, the next velocity, and has the stage `Glide`. Nothing
reads or writes but an agent's own state. A formula is written once, for one agent and for sixteen.
"""

# Generic functions have no body of their own.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from crowd_demo.compute.arrays import Float, Floats, Int, Rules
from crowd_demo.compute.dispatch import generic, implements
from crowd_demo.compute.jit import Launch, kernel, launch
from crowd_demo.compute.simd import LANES, lane_numbers, select, share_of_registers
from crowd_demo.compute.simd_memory import load, pick, store
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.state import Columns
from crowd_demo.sim.terrain.ground import Ground, longer, slide
from crowd_demo.sim.world import LIGHT_NS, World

SCALAR_NS = 30.0  # what moving takes an agent without lanes


@generic
def steer(rules: Rules, ground: Ground, columns: Columns, at: Int, x: Float, y: Float, vx: Float, vy: Float) -> tuple[Float,
          Float]:
    """Return the next velocity of the agent in slot `at`, or of sixteen from there on; `pick` reads their other columns."""


@generic
def advance(rules: Rules, ground: Ground, columns: Columns, at: Int, x: Float, y: Float, agents: int) -> tuple[Float, Float]:
    """Return the next position of the agent in slot `at`, or of sixteen from there on; write what else it changes of them.

    Of sixteen those from slot `agents` on do not live.
    """


@implements(advance, object)
def glide(rules: Rules, ground: Ground, columns: Columns, at: Int, x: Float, y: Float, agents: int) -> tuple[Float, Float]:
    vx, vy = steer(rules, ground, columns, at, x, y, pick(columns.vx, at, x), pick(columns.vy, at, x))
    store(columns.vx, at, vx)
    store(columns.vy, at, vy)
    return slide(ground, x, y, rules.dt * vx, rules.dt * vy)


@kernel
def move_scalar(worker: int, workers: int, columns: Columns, agents: int, rules: Rules, ground: Ground,
                farthest_sq: Floats) -> None:
    """Move this worker's agents, one at a time; note the square of the longest move."""
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        x, y = columns.x[slot], columns.y[slot]
        columns.x[slot], columns.y[slot] = advance(rules, ground, columns, slot, x, y, agents)
        farthest_sq[worker, 0] = longer(farthest_sq[worker, 0], columns.x[slot] - x, columns.y[slot] - y)


@kernel
def move_lanes(worker: int, workers: int, columns: Columns, agents: int, rules: Rules, ground: Ground,
               farthest_sq: Floats) -> None:
    """The same, sixteen agents at a time."""
    far_sq = load(farthest_sq[worker], 0)
    first, last = share_of_registers(agents, worker, workers)
    for slot in range(first, last, LANES):
        x, y = load(columns.x, slot), load(columns.y, slot)
        to_x, to_y = advance(rules, ground, columns, slot, x, y, agents)
        further_sq = longer(far_sq, to_x - x, to_y - y)
        far_sq = select(lane_numbers() < agents - slot, further_sq, far_sq)  # the last register may extend beyond the agents
        store(columns.x, slot, to_x)
        store(columns.y, slot, to_y)
    store(farthest_sq[worker], 0, far_sq)


def move_launch(world: World, rules: object, number: int = 0) -> Launch:
    move, ns = (move_lanes, LIGHT_NS) if world.options.simd else (move_scalar, SCALAR_NS)
    return launch(move, world.workers_for(ns), world.agents.columns, world.agents.count, rules, world.ground,
                  world.farthest_sq[number])


class Move(Stage):
    """Base of the stage *move*: it also measures the longest move, which `Drift` adds up."""

    name = "move"
    ahead = True

    def launches(self, world: World) -> tuple[Launch, ...]:
        return (self.move(world),)

    def move(self, world: World) -> Launch:
        raise NotImplementedError


class Glide(Move):
    """The stage *move* of a behaviour that implements `steer`."""

    def move(self, world: World) -> Launch:
        return move_launch(world, world.rules)
