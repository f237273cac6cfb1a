"""Springs: links between agents that stay valid through sorts and removals, and their forces.

    pull   sum over an agent's links of (stiffness * (d - rest) + damping * approach) along the link, d its length
    v'     v + dt * (pull + gravity + wind * gust - drag * v)

A link is two ids and their generations at the time of linking. Kernels need slots: these are looked up again when agents have
moved in memory (after a sort or a removal), and links to agents that died are dropped. Each agent adds up its own pulls, as
integers (1/256), so the result does not depend on order or threads; a second kernel writes the velocities, when no kernel
reads them any more. O(links) a step, and as much again for each sort.

No link pulls on a pinned agent. It moves by its behaviour's rules like the others, and at the end of the step `HoldPins` puts
it back to where it stood, at rest. So only a wall that is built on it moves it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Ints, Whole
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, kernel, launch
from crowd_demo.compute.simd import root, to_float, to_int, wrap32
from crowd_demo.config.model import Config
from crowd_demo.sim.population.spawn import pinned, reaches, tied
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.columns import Columns
from crowd_demo.sim.world import World

FIXED = 256  # steps of 1 unit/s^2 in the sums
STRONGEST = 1 << 15  # units/s^2: largest pull of one link
GUST_UNITS, GUST_S = 900.0, 4.0  # width of a gust, and the time in which it passes a point


class Web(NamedTuple):
    """The links as kernels see them: node k's are first[k]:first[k + 1]."""

    node: Ints  # [n]: slots of the agents that links act on
    first: Ints  # [n + 1]
    other: Ints  # [m]: slots of the agents at the other ends
    pull_x: Floats  # [n], written: units/s^2
    pull_y: Floats


class LinkRules(NamedTuple):
    """Constants of one step."""

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
    """Write the velocities of the agents that links act on."""
    nodes = web.node.shape[0]
    for k in range(nodes * worker // workers, nodes * (worker + 1) // workers):
        me = np.uintp(web.node[k])
        x, y, vx, vy = columns.x[me], columns.y[me], columns.vx[me], columns.vy[me]
        ax = web.pull_x[k] + rules.wind * gust(rules, x, y) - rules.drag * vx
        ay = web.pull_y[k] + rules.gravity - rules.drag * vy
        columns.vx[me], columns.vy[me] = vx + rules.dt * ax, vy + rules.dt * ay


class Springs(Stage):
    """The links of a crowd; `ends` and `generations` are int32[links, 2], the lower id first."""

    name = "links"

    def __init__(self, config: Config, agents: Agents[Columns]) -> None:
        self._config = config
        self._agents = agents
        self.active = config.links.pattern != "none"
        self.ends: Ints = np.zeros((0, 2), np.int32)
        self.generations: Ints = np.zeros((0, 2), np.int32)
        self.pins: Ints = np.zeros(0, np.int32)  # slots of the pinned agents, as of the last call of `refresh`
        self.stood: tuple[Floats, Floats] = np.zeros(0, np.float32), np.zeros(0, np.float32)  # (x, y) of each
        self._deaths = self._layout = -1
        self._sort_links()

    def wanted(self, world: World) -> bool:
        return self.active

    def launches(self, world: World) -> tuple[Launch, ...]:
        self.refresh()
        rules, columns = self.rules(world), world.agents.columns
        return (launch(pull, world.workers, columns, self.web, rules),
                launch(apply_pull, world.workers, columns, self.web, rules))

    def commit(self, world: World) -> None:
        """Remember where pinned agents stand, before *move*."""
        columns = world.agents.columns
        self.stood = columns.x[self.pins], columns.y[self.pins]

    def tie(self, ends: Ints) -> None:
        """Link agents, int32[n, 2] ids. Raises ValueError when an id is not in use."""
        if not self._agents.handles.has(ends.reshape(-1)).all():
            raise ValueError("only the living can be tied")
        self.ends = np.concatenate((self.ends, ends.astype(np.int32)))
        self.generations = np.concatenate((self.generations, self._agents.handles.generations[ends]))
        self._sort_links()

    def tie_newcomers(self, ids: Ints) -> None:
        """Link newcomers to their neighbours in the pattern, where these are alive."""
        if self.active:
            pairs = [self._pairs_of(ids, reach) for reach in reaches(self._config)]
            self.tie(np.concatenate(pairs))

    def restore(self, ends: Ints, generations: Ints) -> None:
        """Have the links of a snapshot; those of dead agents are dropped by the next step, as they would have been."""
        self.ends, self.generations = ends, generations
        self._deaths = -1
        self._sort_links()

    def cut_dead(self) -> None:
        """Drop the links whose agents died, even if their ids are in use again."""
        handles = self._agents.handles
        if self._deaths != handles.removed:
            stays = (handles.has(self.ends.reshape(-1)).reshape(-1, 2)
                     & (handles.generations[self.ends] == self.generations)).all(axis=1)
            self.ends, self.generations = self.ends[stays], self.generations[stays]
            self._deaths = handles.removed
            self._sort_links()

    def refresh(self) -> None:
        """Drop the links of dead agents, and look up the slots again if agents moved in memory. Call before `pairs`."""
        self.cut_dead()
        if self._layout != self._agents.layout:
            self._find_slots()

    def pairs(self) -> tuple[Ints, Ints]:
        """Return the slots of both ends of each link, int32[m] each, as of the last call of `refresh`."""
        return self._ends[0], self._ends[1]

    @property
    def fresh(self) -> bool:
        """True while the slots are right."""
        return self._layout == self._agents.layout and self._deaths == self._agents.handles.removed

    def top_speed(self) -> float:
        """Return the present maximum of all speeds, units/s; springs have no bound."""
        columns, n = self._agents.view, self._agents.count
        return float(np.hypot(columns.vx[:n], columns.vy[:n]).max(initial=0))

    def rules(self, world: World) -> LinkRules:
        links, f = world.settings.links, np.float32
        return LinkRules(rest=f(links.rest), stiffness=f(links.stiffness), damping=f(links.damping), gravity=f(links.gravity),
                         wind=f(links.wind), drag=f(links.drag), dt=f(world.dt), inv_gust=f(1 / GUST_UNITS),
                         phase=f(2 - world.tick * world.dt / GUST_S % 1))

    # --- from ids to slots -------------------------------------------------------------------------------------------

    def _pairs_of(self, ids: Ints, reach: int) -> Ints:
        """Return the pairs (id - reach, id) that include a newcomer, both alive."""
        later = np.union1d(ids, ids + reach)
        later = later[tied(later, reach, self._config)]
        pairs = np.stack((later - reach, later), axis=1)
        alive = self._agents.handles.has(pairs.reshape(-1)).reshape(-1, 2).all(axis=1)
        return pairs[alive & np.isin(pairs, ids).any(axis=1)]

    def _sort_links(self) -> None:
        """Sort the links by the agent that they act on: both ends, but only the follower in a column, and nobody pinned."""
        lower, upper = self.ends[:, 0], self.ends[:, 1]
        both = self._config.links.pattern != "column"
        pulled, puller = (np.concatenate((upper, lower)), np.concatenate((lower, upper))) if both else (upper, lower)
        free = ~pinned(pulled, self._config)
        pulled, puller = pulled[free], puller[free]
        by_node = np.argsort(pulled, kind="stable")
        self._nodes, self._others = np.unique(pulled), puller[by_node]
        count = len(self._nodes)
        self.web = Web(np.zeros(count, np.int32),
                       np.searchsorted(pulled[by_node], np.append(self._nodes, 2**31 - 1)).astype(np.int32),
                       np.zeros(len(self._others), np.int32), np.zeros(count, np.float32), np.zeros(count, np.float32))
        self._layout = -1  # slots have to be looked up
        self._ends: tuple[Ints, Ints] = np.zeros(0, np.int32), np.zeros(0, np.int32)

    def _living_pins(self) -> Whole:
        ids = np.arange(self._agents.handles.limit)
        ids = ids[pinned(ids, self._config)]
        return ids[self._agents.handles.has(ids)]

    def _find_slots(self) -> None:
        """Look up the present slots of all linked agents, and of the pinned ones: an undo brings these back without a link."""
        slots_of = self._agents.handles.slots_of
        self.web.node[:] = slots_of(self._nodes)
        self.web.other[:] = slots_of(self._others)
        self.pins = slots_of(self._living_pins())
        lower, upper = slots_of(self.ends.reshape(-1)).reshape(-1, 2).T
        self._ends = np.ascontiguousarray(lower), np.ascontiguousarray(upper)
        self._layout = self._agents.layout


class HoldPins(Stage):
    """After *move*: put the pinned agents back to where they stood, at rest."""

    name = "pins"

    def __init__(self, springs: Springs) -> None:
        self.springs = springs

    def wanted(self, world: World) -> bool:
        return len(self.springs.pins) > 0

    def commit(self, world: World) -> None:
        columns, pins = world.agents.columns, self.springs.pins
        columns.x[pins], columns.y[pins] = self.springs.stood
        columns.vx[pins] = columns.vy[pins] = 0


class FindLinkEnds(Stage):
    """Before a picture: look up the slots of the ends of links."""

    name = "links"

    def __init__(self, springs: Springs) -> None:
        self.springs = springs

    def wanted(self, world: World) -> bool:
        return self.springs.active and not self.springs.fresh

    def commit(self, world: World) -> None:
        self.springs.refresh()
