"""The state that every stage reads, and the memory that stages share. It holds no stage logic.

Stages (stage.py) read the world and change parts of it: agents, grid, drift, counters. The world imports no behaviour:
`Needs` says what one requires, and `AgentModel` what a world asks of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from importlib import import_module
from operator import attrgetter
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Floats, Ints, Tally
from crowd_demo.compute.jit import WORTH_NS, max_threads
from crowd_demo.compute.simd import LANES
from crowd_demo.config.maps import Metres, read_map
from crowd_demo.config.memory import check_agents
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.config.resources import find_map
from crowd_demo.profile import HISTORY, Profile, Ring
from crowd_demo.registry.built_in import GPU
from crowd_demo.registry.entries import Value, load
from crowd_demo.registry.plugins import owner_of
from crowd_demo.registry.techniques import BY_PATH, STRUCTURES
from crowd_demo.sim.neighbours.schedule import UpdateSchedule, update_schedule
from crowd_demo.sim.neighbours.structure import AgentGrid, Domain, Structure
from crowd_demo.sim.newcomers import AgentLinks, spawn_positions
from crowd_demo.sim.store.agents import Agents, Drift
from crowd_demo.sim.store.state import Columns, StatePart, check_columns, dtypes_of
from crowd_demo.sim.terrain.crowding import Crowding
from crowd_demo.sim.terrain.flow_fields import FlowFields
from crowd_demo.sim.terrain.forces import Forces
from crowd_demo.sim.terrain.ground import Ground, WallField, ground_of
from crowd_demo.sim.terrain.tiles import NEAR_TILES, Rectangle, Run, Terrain
from crowd_demo.sim.ways import MAX_GOALS, NO_AREAS, Ways

LIGHT_NS = 2.0  # time of indexing, moving in lanes or culling, for each agent
WORTH_A_GPU = 20_000  # agents; of fewer a step takes no longer here than the launches there
MOVES = 5  # of an agent in a step: *move*, and passes of contact
Part = TypeVar("Part", bound=StatePart)


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


class AgentModel(Protocol):
    """What a world asks of its behaviour (behaviours/base.py)."""

    needs: Needs
    states: tuple[str, ...] = ()  # names of what column `state` counts
    structures: Mapping[str, type[Structure]] = {}  # its own, which replace those of the same name
    on_gpu: bool = False  # can a graphics card make its steps (extras/gpu/)?

    def spawn_columns(self, ids: Ints, x: Floats, y: Floats, seed: int, terrain: Terrain) -> dict[str, ArrayLike]:
        """Return columns of newcomers other than id, x and y; those left out start at zero."""
        return {}

    def send_on(self, world: World, number: int) -> None:
        """Change who is on the way to a destination that was moved or taken away; called between two steps."""

    def bounds(self, terrain: Terrain) -> Mapping[str, tuple[float, float]]:
        """Return the least and greatest value of columns that kernels rely on, such as an index: save files are checked."""
        return {}

    def rules(self, world: World) -> object:
        """Return the constants of a step: a NamedTuple of typed numbers, which the kernels get."""


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


class World:
    """A crowd and its surroundings. `options` may be changed between steps.

    `rules` are those of the last step; of the next one, if the simulation was just made or restored.
    """

    def __init__(self, config: Config, behaviour: AgentModel, room: int, like: World | None = None) -> None:
        """`room` is the number of agents to allocate memory for at first; the walls are shared with `like`."""
        self.config = config
        self.settings = config  # with the numbers that were changed since (tuning.py)
        self.behaviour = self.widest = behaviour  # with the present numbers; with the widest that anybody was born with
        self.needs = needs = behaviour.needs
        self.options: Optimizations = config.optimizations.model_copy(deep=True)
        self.on_gpu = False  # a graphics card makes the steps
        self.tick = 0  # number of steps made
        self.profile = Profile()
        self.drift = Drift()
        self.rules: object = None
        data = read_map(find_map(config.map), Metres(*config.map_scale)) if config.map and not like else None
        self.terrain: Terrain = like.terrain if like else Terrain(data, config.world.width, config.world.height,
                                                                  needs.destinations, config.seed)
        shares = like is not None and like.needs.margin == needs.margin
        self.wall_field: WallField = like.wall_field if like and shares else wall_field_of(self.terrain, needs)
        self.crowding = Crowding(self.terrain, needs.detour, round(needs.detour_s * config.time.step_hz))
        self.flow_fields = FlowFields(self.terrain, max_threads(), self.crowding.active)
        self.agents: Agents[Columns] = Agents(needs.columns, room)
        self.links = AgentLinks(config, self.agents)
        self.sizes: Sizes | None = None
        self.forces = Forces()
        self.parts: list[StatePart] = [self.forces]  # in the order in which they are restored
        self.ways: Ways | None = None  # of people
        self.leaving = np.zeros(MAX_GOALS, np.int64)  # how many leave for good in this step, by destination
        self.lived = Ring(np.int32)  # how many agents there were after each of the last steps
        self.ground: Ground  # with the present walls and forces
        self.read_terrain()
        self._structure: Structure
        self._structure_of: tuple[str, Sizes | None] = "", None
        self._tally = Tally()
        owner = owner_of(type(behaviour).__module__)
        self.whose = f"plugin {owner}: " if owner else ""  # who may have written what is wrong in a column
        self.checked_writes = -math.inf  # `Agents.writes` when the columns were known to be right

    def part(self, kind: type[Part]) -> Part | None:
        """Return the part of the state of that class, if there is one."""
        return next((part for part in self.parts if isinstance(part, kind)), None)

    def begin(self) -> None:
        """Make what the stages of the next step read; whoever looks at a crowd that has made none reads it too."""
        self.fit()
        self.on_gpu = self.wants_gpu
        self.rules = self.behaviour.rules(self)

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
        stagger, walls = self.options.stagger, self.terrain.walls
        return update_schedule(self.tick, stagger.avoidance, stagger.by, float(walls.width), float(walls.height),
                               self.needs.band)

    @property
    def top_speed(self) -> float:
        """Upper bound of all speeds, units/s; with springs, which have no bound, the present maximum."""
        return max(self.needs.top_speed, self.links.top_speed() if self.links.active else 0.0)

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

    # --- neighbours, and the processor ---------------------------------------------------------------------------------

    def structure_of(self, name: str) -> type[Structure]:
        return self.behaviour.structures.get(name) or load(STRUCTURES[name])

    @property
    def structure(self) -> Structure:
        """The only structure, which the options name; made again when these or the sizes of memory have changed."""
        wanted = self.options.neighbours, self.sizes
        if self._structure_of[0] != wanted[0] or self._structure_of[1] is not wanted[1]:
            self._structure_of = wanted
            self._structure = self.structure_of(wanted[0])(self.domain)
        return self._structure

    @property
    def built_structure(self) -> Structure | None:
        """The structure as the last step left it, without making one; None if its slots are not the present ones."""
        name, sizes = self._structure_of
        is_present = not self.on_gpu and name == self.options.neighbours and sizes is self.sizes
        return self._structure if is_present and self._structure.fresh else None

    @property
    def needs_processor(self) -> str:
        """Why the GPU cannot make the steps of this crowd, in two words; empty if it can."""
        options = self.options
        if not self.behaviour.on_gpu or self.links.active:
            return "no kernels"
        if options.neighbours == "field" and "field" in self.behaviour.structures and options.neighbour_limit == "none":
            return "no field"
        return str(import_module(GPU).missing())

    @property
    def wants_gpu(self) -> bool:
        """Return whether a graphics card makes the next step."""
        device = self.options.device
        enough = device == "cuda" or self.agents.count >= WORTH_A_GPU
        return device != "cpu" and enough and not self.needs_processor

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
            self.grid = AgentGrid(self.agents, width, height, radius, cell, self.light_workers)
            self.domain = Domain(self.agents, self.grid, width, height, radius, self.needs.contact, cell,
                                 options.leaf_size, options.rebuild, self.workers)
            self.farthest_sq = np.zeros((MOVES, self.workers, LANES), np.float32)
        self.grid.by_id = self.neighbour_limit == "first"
        if self.ground.forces is not self.forces.arrays:
            self.ground = self.ground._replace(forces=self.forces.arrays)

    def use(self, settings: Config, behaviour: AgentModel, widest: AgentModel, needs: Needs) -> None:
        """Go on with other numbers; `fit` then makes the memory anew that depends on them."""
        self.settings, self.behaviour, self.widest = settings, behaviour, widest
        before, self.needs = self.needs, needs
        self.crowding.set_detour(needs.detour)
        if needs.margin != before.margin:
            self.wall_field = wall_field_of(self.terrain, needs)
        if (needs.margin, needs.body) != (before.margin, before.body):
            self.read_terrain()

    # --- who is in it ------------------------------------------------------------------------------------------------

    def check_room(self, count: int) -> None:
        """Raise ValueError, in one line, for more agents than a crowd may have, or than fit into memory."""
        check_agents(count, self.config, self.agents.capacity)

    def populate(self, count: int) -> None:
        """Add or remove agents until there are `count`: newcomers take the lowest free ids, the highest ids leave.

        Raises ValueError for too many agents, or more than fit into memory.
        """
        self.check_room(count)
        missing = count - self.agents.count
        if missing > 0:
            self.add_agents(self.agents.handles.free_ids(missing), self.config.seed)
        elif missing < 0:
            self.remove_agents(np.sort(self.agents.columns.id[:self.agents.count])[count:])

    def add_agents(self, ids: Ints, seed: int) -> None:
        """Add agents with these free ids, int32[n]; position and columns are a function of (seed, id).

        Nobody is added while all tiles are blocked.
        """
        if not self.terrain.blocked.all():
            self.add_agents_at(ids, *spawn_positions(ids, self.config, self.terrain, seed), seed)

    def add_agents_at(self, ids: Ints, x: Floats, y: Floats, seed: int) -> None:
        """Add agents with these free ids at places, float32[n]; the other columns are a function of (seed, id)."""
        self.agents.spawn(id=ids, x=x, y=y, **self.behaviour.spawn_columns(ids, x, y, seed, self.terrain))
        self.links.tie_newcomers(ids)

    def remove_agents(self, ids: Ints) -> None:
        """Remove agents; ids that nobody has are ignored."""
        self.agents.remove(ids, self.options.removal, self.workers)
        self.agents.close_gaps(self.workers)

    @property
    def population(self) -> Ints:
        """int32[k]: number of agents after each of the last k steps, oldest first."""
        return self.lived.last(min(self.lived.count, HISTORY)).copy()

    def states(self) -> dict[str, int]:
        """Return the number of agents in each state, by its name; empty where agents have no states."""
        names = self.behaviour.states
        counts = self._tally.count(self.agents.row("state"), len(names)).tolist() if names else ()
        return {name: sum(count for other, count in zip(names, counts, strict=True) if other == name) for name in names}

    def bounds_of(self, behaviour: AgentModel) -> Mapping[str, tuple[float, float]]:
        """Return the least and the greatest value of each column that kernels rely on, by name."""
        walls = self.terrain.walls
        last_x, last_y = (float(np.nextafter(side, np.float32(0))) for side in (walls.width, walls.height))
        return {"x": (0.0, last_x), "y": (0.0, last_y), **behaviour.bounds(self.terrain)}

    def check_columns(self, whose: str = "") -> None:
        """Check the columns if other code than the stages of a step may have written to them.

        Raises ValueError, which begins with `whose`, for a value that kernels cannot use, such as a position outside.
        """
        agents = self.agents
        if self.checked_writes < agents.writes:
            bounds = {"id": (0, agents.handles.limit - 1), **self.bounds_of(self.widest)}
            check_columns(agents.matrix[:, :agents.count], dtypes_of(agents.kind), bounds, whose or self.whose)
            self.checked_writes = agents.writes

    # --- walls and destinations --------------------------------------------------------------------------------------

    def set_walls(self, rectangle: Rectangle, wall: bool) -> None:
        """Build or tear down walls on tiles [left, top, right, bottom); agents in a new wall step out, or are removed."""
        self.terrain.set_walls(rectangle, wall)
        self._follow_walls()

    def paint_walls(self, runs: Iterable[Run], wall: bool) -> None:
        self.terrain.paint(self.terrain.mask_of(runs), wall)
        self._follow_walls()

    def _follow_walls(self) -> None:
        """Derive what kernels need, move everybody out of walls, and remove those for whom no free tile is near."""
        self.read_terrain()
        self.grid.outdated()
        columns, count = self.agents.columns, self.agents.count
        self.remove_agents(np.sort(columns.id[self.terrain.step_out(columns.x[:count], columns.y[:count], NEAR_TILES)]))

    def read_terrain(self) -> None:
        """Derive what the kernels need from the walls."""
        if self.needs.margin > 0:
            self.wall_field.rebuild(self.terrain)
        self.ground = ground_of(self.terrain, self.needs.body, self.wall_field, self.forces.arrays)

    def set_goal(self, number: int, tile: int) -> None:
        """Put a destination onto a tile; AT_FIRST: where it was; GONE: take it away. Raises ValueError if that cannot be."""
        if self.ways is None:
            raise ValueError(NO_AREAS)
        self.ways.move_goal(number, tile)
        self.behaviour.send_on(self, number)
