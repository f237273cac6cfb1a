"""Springs: the forces of links (sim/newcomers.py).

    pull   sum over an agent's links of (stiffness * (d - rest) + damping * approach) along the link, d its length
    v'     v + dt * (pull + gravity + wind * gust - drag * v)

Each agent adds up its own pulls, as integers (1/256), so the result does not depend on order or threads; a second kernel
writes the velocities, when no kernel reads them any more. O(links) a step, and as much again for each sort.

No link pulls on a pinned agent. It moves by its behaviour's rules like the others, and at the end of the step `HoldPins` puts
it back to where it stood, at rest. So only a wall that is built on it moves it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, kernel, launch
from crowd_demo.compute.simd import root, to_float, to_int, wrap32
from crowd_demo.sim.newcomers import Web
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.state import Columns
from crowd_demo.sim.world import World

FIXED = 256  # steps of 1 unit/s^2 in the sums
STRONGEST = 1 << 15  # units/s^2: largest pull of one link
GUST_UNITS, GUST_S = 900.0, 4.0  # width of a gust, and the time in which it passes a point


class LinkRules(NamedTuple):
    rest: np.float32
    stiffness: np.float32
    damping: np.float32
    gravity: np.float32
    wind: np.float32
    drag: np.float32
    dt: np.float32
    inv_gust: np.float32
    phase: np.float32  # of the gusts, 1 .. 2


@formula
def _strength(rules: LinkRules, length: Float, apart: Float) -> Float:
    """Return the pull of a link per unit of its length, in fixed point; `apart` is its length times how fast that grows."""
    force = rules.stiffness * (length - rules.rest) + rules.damping * (apart / length)
    return min(max(force, -STRONGEST), STRONGEST) / length * FIXED


@formula
def _from_fixed(total: int) -> Float:
    return to_float(wrap32(total)) * (1 / FIXED)


@kernel
def pull(worker: int, workers: int, columns: Columns, web: Web, rules: LinkRules) -> None:
    """Add up the pulls on each agent; writes only the web."""
    nodes = web.node.shape[0]
    for k in range(nodes * worker // workers, nodes * (worker + 1) // workers):
        me = np.uintp(web.node[k])
        sum_x, sum_y = 0, 0
        for link in range(web.first[k], web.first[k + 1]):
            other = np.uintp(web.other[link])
            dx, dy = columns.x[other] - columns.x[me], columns.y[other] - columns.y[me]
            length = root(dx * dx + dy * dy)
            if length > 0:  # at the same position there is no direction
                apart = (columns.vx[other] - columns.vx[me]) * dx + (columns.vy[other] - columns.vy[me]) * dy
                scale = _strength(rules, length, apart)
                sum_x += to_int(scale * dx)
                sum_y += to_int(scale * dy)
        web.pull_x[k], web.pull_y[k] = _from_fixed(sum_x), _from_fixed(sum_y)


@formula
def gust(rules: LinkRules, x: Float, y: Float) -> Float:
    """Return a number in -1 .. 1: waves that travel across the world."""
    turns = (x + y * 0.5) * rules.inv_gust + rules.phase
    ramp = abs((turns - to_float(to_int(turns))) * 2 - 1)
    return ramp * ramp * (3 - ramp * 2) * 2 - 1


@kernel
def apply_pull(worker: int, workers: int, columns: Columns, web: Web, rules: LinkRules) -> None:
    nodes = web.node.shape[0]
    for k in range(nodes * worker // workers, nodes * (worker + 1) // workers):
        me = np.uintp(web.node[k])
        x, y, vx, vy = columns.x[me], columns.y[me], columns.vx[me], columns.vy[me]
        ax = web.pull_x[k] + rules.wind * gust(rules, x, y) - rules.drag * vx
        ay = web.pull_y[k] + rules.gravity - rules.drag * vy
        columns.vx[me], columns.vy[me] = vx + rules.dt * ax, vy + rules.dt * ay


class Springs(Stage):
    """Pull at the ends of all links."""

    name = "links"

    def wanted(self, world: World) -> bool:
        return world.links.active

    def launches(self, world: World) -> tuple[Launch, ...]:
        world.links.refresh()
        rules, columns, web = rules_of_links(world), world.agents.columns, world.links.web
        return launch(pull, world.workers, columns, web, rules), launch(apply_pull, world.workers, columns, web, rules)

    def commit(self, world: World) -> None:
        """Remember where pinned agents stand, before *move*."""
        columns, links = world.agents.columns, world.links
        links.stood = columns.x[links.pins], columns.y[links.pins]


def rules_of_links(world: World) -> LinkRules:
    links, f = world.settings.links, np.float32
    return LinkRules(rest=f(links.rest), stiffness=f(links.stiffness), damping=f(links.damping), gravity=f(links.gravity),
                     wind=f(links.wind), drag=f(links.drag), dt=f(world.dt), inv_gust=f(1 / GUST_UNITS),
                     phase=f(2 - world.tick * world.dt / GUST_S % 1))


class HoldPins(Stage):
    """After *move*: put the pinned agents back to where they stood, at rest."""

    name = "pins"

    def wanted(self, world: World) -> bool:
        return len(world.links.pins) > 0

    def commit(self, world: World) -> None:
        columns, pins = world.agents.columns, world.links.pins
        columns.x[pins], columns.y[pins] = world.links.stood
        columns.vx[pins] = columns.vy[pins] = 0


class FindLinkEnds(Stage):
    """Before a picture: look up the slots of the ends of links."""

    name = "links"

    def wanted(self, world: World) -> bool:
        return world.links.active and not world.links.fresh

    def commit(self, world: World) -> None:
        world.links.refresh()
