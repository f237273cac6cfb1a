"""The state that every stage reads, and the memory that stages share. It holds no stage logic.

Stages (stage.py) read the world and change parts of it: agents, grid, drift, counters. The world imports neither behaviours
nor structures: `Needs` says what a behaviour requires.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes
from crowd_demo.compute.jit import max_threads
from crowd_demo.compute.simd import LANES
from crowd_demo.config.maps import Metres, read_map
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.config.resources import find_map
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.neighbours.grid import Grid
from crowd_demo.sim.neighbours.schedule import UpdateSchedule, update_schedule
from crowd_demo.sim.neighbours.structure import Domain
from crowd_demo.sim.state_part import StatePart
from crowd_demo.sim.store.agents import Agents, Drift
from crowd_demo.sim.store.columns import Columns
from crowd_demo.sim.terrain.crowding import Crowding
from crowd_demo.sim.terrain.flow_fields import FlowFields
from crowd_demo.sim.terrain.forces import Forces
from crowd_demo.sim.terrain.ground import Ground, WallField, ground_of
from crowd_demo.sim.terrain.tiles import Rectangle, Run, Terrain
from crowd_demo.sim.ways import MAX_GOALS, Ways

WORTH_NS = 65_536  # of work that a worker should have: starting one takes 10 to 85 us (docs/design/threads.md)
LIGHT_NS = 2.0  # time of indexing, moving in lanes or culling, for each agent


class Needs(NamedTuple):
    """What a behaviour requires of its world; lengths in world units."""

    columns: type[Columns]
    radius: float  # of perception: all neighbours are nearer
    contact: float  # the same beyond the extents of both; the radius, where agents have none
    band: float  # usual height of a band of staggering
    top_speed: float  # units/s; springs alone can make an agent faster
    body: float = 0.0  # distance kept clear of walls
    shift: float = 0.0  # farthest that a pass of contact moves an agent
    margin: float = 0.0  # distance from walls at which turning away begins
    destinations: int = 0  # how many to draw at random where the map marks none
    paths: bool = False  # flow fields to them
    detour: float = 0.0  # how much farther these lead around crowds
    detour_s: float = 1.0  # after so many seconds crowds are looked for again
    nearest: int = 0  # gather so many neighbours and solve (interaction/nearest.py); 0: add up over all


class Sizes(NamedTuple):
    """What the memory of stages depends on: it is made again when one of these changes."""

    workers: int
    cell_size: float | str
    leaf_size: int
    rebuild: int
    capacity: int
    radius: float
    contact: float


def wall_field_of(terrain: Terrain, needs: Needs) -> WallField:
    return WallField(terrain, max(needs.margin, 1.0))


def _terrain_of(config: Config, needs: Needs) -> Terrain:
    data = read_map(find_map(config.map), Metres(*config.map_scale)) if config.map else None
    return Terrain(data, config.world.width, config.world.height, needs.destinations, config.seed)


class World:
    """A crowd and its surroundings. `options` may be changed between steps.

    `rules` are those of the last step; of the next one, if the simulation was just made or restored.
    """

    def __init__(self, config: Config, needs: Needs, room: int, like: World | None = None) -> None:
        """`room` is the number of agents to allocate memory for at first; the walls are shared with `like`."""
        self.config = config
        self.settings = config  # with the numbers that were changed since (tuning.py)
        self.needs = needs
        self.options: Optimizations = config.optimizations.model_copy(deep=True)
        self.on_gpu = False  # a graphics card makes the steps
        self.tick = 0
        self.profile = Profile()
        self.drift = Drift()
        self.rules: object = None
        self.measured_speed: Callable[[], float] | None = None  # set by springs, which have no bound of the speed
        self.terrain: Terrain = like.terrain if like else _terrain_of(config, needs)
        shares = like is not None and like.needs.margin == needs.margin
        self.wall_field: WallField = like.wall_field if like and shares else wall_field_of(self.terrain, needs)
        self.crowding = Crowding(self.terrain, needs.detour, round(needs.detour_s * config.time.step_hz))
        self.flow_fields = FlowFields(self.terrain, max_threads(), self.crowding.active)
        self.agents: Agents[Columns] = Agents(needs.columns, room)
        self.sizes: Sizes | None = None
        self.forces = Forces()
        self.parts: list[StatePart] = [self.forces]  # in the order in which they are restored
        self.ways: Ways | None = None  # of people
        self.leaving = np.zeros(MAX_GOALS, np.int64)  # how many leave for good in this step, by destination
        self.ground: Ground  # with the present walls and forces
        self.read_terrain()

    # --- derived -----------------------------------------------------------------------------------------------------

    @property
    def dt(self) -> float:
        """Simulated seconds in a step."""
        return 1 / self.config.time.step_hz

    @property
    def neighbour_limit(self) -> str:
        """The technique *neighbour_limit*; none where the behaviour itself says how many it gathers."""
        return "none" if self.needs.nearest else str(self.options.neighbour_limit)

    @property
    def searches_grid(self) -> bool:
        """Does *interaction* search the grid, whatever the structure is?"""
        return self.needs.nearest > 0 or self.neighbour_limit != "none"

    @property
    def workers(self) -> int:
        """Return the number of threads that share the work, at most."""
        threads = self.options.threads
        return max_threads() if threads == "auto" else int(threads)

    def workers_for(self, ns: float) -> int:
        """Return the workers of a stage that takes about `ns` nanoseconds an agent; with `threads: auto` no more than pay."""
        few = max(1, int(self.agents.capacity * ns / WORTH_NS))
        return min(self.workers, few) if self.options.threads == "auto" else self.workers

    @property
    def light_workers(self) -> int:
        return self.workers_for(LIGHT_NS)

    @property
    def schedule(self) -> UpdateSchedule:
        """Which agents are due in this step."""
        stagger, walls = self.options.stagger, self.terrain.walls
        return update_schedule(self.tick, stagger.avoidance, stagger.by, float(walls.width), float(walls.height),
                               self.needs.band)

    @property
    def top_speed(self) -> float:
        """Upper bound of all speeds, units/s; with springs, which have no bound, the present maximum."""
        return max(self.needs.top_speed, self.measured_speed() if self.measured_speed else 0.0)

    @property
    def max_step(self) -> float:
        """Farthest that an agent moves along an axis in one step, world units."""
        return min(self.top_speed * self.dt, float(self.ground.longest)) + self.contact_shift

    @property
    def contact_shift(self) -> float:
        """Farthest that all passes of contact move an agent in one step."""
        return self.needs.shift * int(self.options.overlap_passes) if self.needs.shift > 0 else 0.0

    def resolve_auto(self, path: str) -> Value:
        """Return a technique's value, or the number that its `auto` stands for."""
        value, auto = self.options.get(path), BY_PATH[path].auto
        return attrgetter(auto)(self) if value == "auto" and auto else value

    # --- memory ------------------------------------------------------------------------------------------------------

    def fit(self) -> None:
        """Make the memory that stages share again if the options or the capacity have changed; take the present forces."""
        options = self.options
        wanted = Sizes(self.workers, options.cell_size, options.leaf_size, options.rebuild, self.agents.capacity,
                       self.needs.radius, self.needs.contact)
        if wanted != self.sizes:
            self.sizes = wanted
            walls, radius = self.terrain.walls, self.needs.radius
            width, height = float(walls.width), float(walls.height)
            cell = 0.0 if options.cell_size == "auto" else float(options.cell_size)
            self.grid = Grid(self.agents, width, height, radius, cell, self.light_workers)
            self.domain = Domain(self.agents, self.grid, width, height, radius, self.needs.contact, cell,
                                 options.leaf_size, options.rebuild, self.workers)
            self.farthest_sq = np.zeros((self.workers, LANES), np.float32)
        self.grid.by_id = self.neighbour_limit == "first"
        if self.ground.forces is not self.forces.arrays:
            self.ground = self.ground._replace(forces=self.forces.arrays)

    def use(self, settings: Config, needs: Needs) -> None:
        """Go on with other numbers; `fit` then makes the memory anew that depends on them."""
        before, self.settings, self.needs = self.needs, settings, needs
        self.crowding.set_detour(needs.detour)
        if needs.margin != before.margin:
            self.wall_field = wall_field_of(self.terrain, needs)
        if (needs.margin, needs.body) != (before.margin, before.body):
            self.read_terrain()

    # --- walls -------------------------------------------------------------------------------------------------------

    def set_walls(self, rectangle: Rectangle, wall: bool) -> None:
        """Build or tear down walls on tiles [left, top, right, bottom)."""
        self.terrain.set_walls(rectangle, wall)
        self.read_terrain()
        self.grid.outdated()

    def paint_walls(self, runs: Iterable[Run], wall: bool) -> None:
        """The same on the tiles of runs."""
        self.terrain.paint(self.terrain.mask_of(runs), wall)
        self.read_terrain()
        self.grid.outdated()

    def read_terrain(self) -> None:
        """Derive what the kernels need from the walls."""
        if self.needs.margin > 0:
            self.wall_field.rebuild(self.terrain)
        self.ground = ground_of(self.terrain, self.needs.body, self.wall_field, self.forces.arrays)

    def follow(self, ways: Ways) -> None:
        """Have what people find their ways by follow the walls."""
        self.ways = ways
        self.parts.append(ways)

    def restore_crowding(self, state: Bytes) -> None:
        """Restore the crowding of a snapshot; fields may have been made for another one."""
        self.crowding.state = state
        if self.crowding.active:
            self.flow_fields.made[:] = 0
