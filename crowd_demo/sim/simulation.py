"""The simulation: a world, and the list of stages that a step runs.

    life -> compact (-> exits) (-> count) -> index -> reorder -> index -> query -> interaction -> links (-> sight -> paths
    -> admit) -> move (-> contact) (-> pins) (-> count)

*Interaction* reads other agents and writes only an agent's own avoidance; *move* reads and writes only an agent's own
state. So a step is a function of (state, actions, configuration), and no result depends on the order of agents in memory,
on the number of workers or on the width of a register. `Simulation` has no global state: several can live side by side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Self
from weakref import proxy

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Floats, Ints, Tally
from crowd_demo.compute.jit import Launch, run
from crowd_demo.config.memory import check_agents, room_for
from crowd_demo.config.model import Config
from crowd_demo.config.numbers import Number, numbers_of, value_of, with_numbers
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.config.section import require, whole
from crowd_demo.profile import Profile
from crowd_demo.registry.built_in import GPU, GPU_STEP
from crowd_demo.registry.entries import Situation, load
from crowd_demo.registry.plugins import owner_of
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.actions import Action, Place, Populate, SetWalls, checked
from crowd_demo.sim.behaviours.base import make_behaviour, same_kernels
from crowd_demo.sim.counts import CountCrossings, Counts, Remember
from crowd_demo.sim.events import Event, Events
from crowd_demo.sim.interaction.interaction_stage import Interaction
from crowd_demo.sim.neighbours.structure import Structure
from crowd_demo.sim.population.births_deaths import BirthsDeaths
from crowd_demo.sim.population.spawn import spawn_positions
from crowd_demo.sim.population.springs import FindLinkEnds, HoldPins, Springs
from crowd_demo.sim.snapshot import Shared, Snapshot, check_columns, differences, state_hash
from crowd_demo.sim.stage import (
    Compact,
    CullingGrid,
    DeviceCrowd,
    Index,
    Query,
    Reorder,
    SharedGrid,
    Stage,
    run_stages,
    with_plugin_stages,
)
from crowd_demo.sim.state_part import EMPTY
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.columns import Columns, dtypes_of
from crowd_demo.sim.terrain.tiles import NEAR_TILES, Rectangle, Run, Terrain
from crowd_demo.sim.tuning import TunedNumbers
from crowd_demo.sim.ways import NO_AREAS, NO_EXITS
from crowd_demo.sim.world import World

GPU_OBEYS = frozenset({"cell_size", "reorder.when"})  # the techniques of a structure that its grid obeys
WORTH_A_GPU = 20_000  # agents; of fewer a step takes no longer here than the launches there


class Simulation:
    """A crowd and its world, made from a `Config`; `optimizations` may be changed between steps."""

    def __init__(self, config: Config, edits: Iterable[Action] = ()) -> None:
        """`edits` are applied before anybody is born, and begin the history. Raises ValueError if one is impossible."""
        require("config", config, Config)
        self._build(config)
        if edits := tuple(edits):
            self._begin()
            for edit in edits:
                self.apply(edit)
            if self.world.ways:
                self.world.ways.settle()
            self.numbers.nobody_was_born()
        self.populate(config.agents)
        self.behaviour.place(self.world)
        self._begin()

    def _build(self, config: Config, like: World | None = None) -> None:
        """Make a world without agents, and its stages; `like` shares its walls."""
        room = like.agents.capacity if like else room_for(config)
        if not like:
            check_agents(room, config)
        self.behaviour = make_behaviour(config)
        self.world = world = World(config, self.behaviour.needs, room, like)
        me = proxy(self)  # a cycle of references would keep the crowd until Python looks for cycles
        self.life = BirthsDeaths(config, lambda ids, seed: me.add_agents(ids, seed))
        self.links = Springs(config, world.agents)
        if self.links.active:
            world.measured_speed = self.links.top_speed
        self.index = Index(self.behaviour.structures)
        self.interaction = Interaction(self.index)
        self.events, self.counts = Events(config), Counts(config)
        world.parts += self.events, self.counts
        before, after = ((Remember(self.counts),), (CountCrossings(self.counts),)) if config.events else ((), ())
        own = self.behaviour.stages(world, self.index)
        first = [stage for stage in own if stage.before_index]
        then = [stage for stage in own if not stage.before_index]
        self._own_stages = [self.life, Compact(), *first, *before], [self.links, *then, HoldPins(self.links), *after]
        owner = owner_of(type(self.behaviour).__module__)
        self._whose = f"plugin {owner}: " if owner else ""
        self._checked_writes = -math.inf  # `Agents.writes` when the columns were known to be right
        self._check = lambda whose: me.check_columns(whose)
        self._stages: Sequence[Stage] = with_plugin_stages([
            *self._own_stages[0], self.index, Reorder(self.index), SharedGrid(self.index), Query(self.index), self.interaction,
            *self._own_stages[1]], self._check)
        self._gpu_stages: Sequence[Stage] = ()  # these two are made when the GPU is first used
        self._gpu_crowd: DeviceCrowd | None = None
        self.prepare_stages: Sequence[Stage] = (CullingGrid(), FindLinkEnds(self.links))
        self.numbers = TunedNumbers(config, lambda: me._take_numbers())
        world.parts.append(self.numbers)
        self.history: list[tuple[int, Action]] = []
        self._shared, self._tally = Shared(), Tally()
        self._own_counters: dict[str, float] = {}  # those that only the present structure or neighbour limit has

    # --- the step ----------------------------------------------------------------------------------------------------

    @property
    def stages(self) -> Sequence[Stage]:
        """The stages of a step, by whatever makes it."""
        if not self.on_gpu:
            return self._stages
        if not self._gpu_stages:
            self._gpu_crowd, stages = load(GPU_STEP)(*self._own_stages, self.interaction.kept_only)
            self._gpu_stages = with_plugin_stages(stages, self._check)
        return self._gpu_stages

    @property
    def gpu_crowd(self) -> DeviceCrowd | None:
        """The crowd on the graphics card, if that has made the last step and nobody has written to a column since."""
        crowd = self._gpu_crowd
        return crowd if crowd and self.on_gpu and crowd.is_newest(self.world) else None

    @property
    def on_gpu(self) -> bool:
        """Does the graphics card make the steps?"""
        device = self.optimizations.device
        enough = device == "cuda" or self.agents.count >= WORTH_A_GPU
        return device != "cpu" and enough and not self.needs_processor

    @property
    def needs_processor(self) -> str:
        """Why the GPU cannot make the steps of this crowd, in two words; empty if it can."""
        options = self.optimizations
        if not self.behaviour.on_gpu or self.links.active:
            return "no kernels"
        if options.neighbours == "field" and "field" in self.behaviour.structures and options.neighbour_limit == "none":
            return "no field"
        return str(import_module(GPU).missing())

    def step(self, n: int = 1) -> None:
        """Advance by `n` steps of `dt` seconds. Raises ValueError for a negative number, TypeError for no whole number."""
        for _ in range(_steps(n)):
            self.profile.begin_step()
            self._begin()
            run_stages(self.stages, self.world)
            self._end()
            self.profile.end_step()

    def play(self, n: int = 1) -> int:
        """Make steps in which the events of the configuration happen; return how many, fewer than `n` once one ended the run.

        Raises ValueError for a negative number, TypeError for no whole number.
        """
        for made in range(n := _steps(n)):
            self.let_events_happen()
            if self.events.end_tick is not None:
                return made
            self.step()
        self.let_events_happen()
        return n

    def let_events_happen(self) -> list[int]:
        """Apply an action for each event that is due at this tick; return their numbers. Call before each new step."""
        due = self.events.due(self)
        for number in due:
            self.apply(Event(number))
        return due

    def step_in_parts(self) -> Iterator[None]:
        """Make a step, untimed, and yield after each of its kernels; nobody may touch the simulation before the end."""
        self._begin()
        for stage in self.stages:
            if stage.wanted(self.world):
                for launch in stage.launches(self.world):
                    launch.run()
                    yield
                stage.commit(self.world)
        self._end()

    def prepare_picture(self) -> None:
        """Bring up to date what a picture reads. Call before each picture, also when paused."""
        self.check_columns(self._whose)
        self.world.fit()
        self.world.on_gpu = self.on_gpu
        run_stages(self.prepare_stages, self.world)

    def launches_to_compile(self) -> list[Launch]:
        """Return the kernels of a step and of `prepare_picture` without running any; call it on a copy of the simulation."""
        self.world.sizes = None  # forces memory to be made for the present options
        self._checked_writes = math.inf  # nothing runs, so nothing is in the columns
        self._begin()
        launches: list[Launch] = []
        stages = [*self.stages, *self.prepare_stages]
        run_stages(stages, self.world, run=launches.extend)
        for stage in stages:
            if not stage.wanted(self.world):
                launches += stage.later(self.world)
        return launches

    def _begin(self) -> None:
        """Make what the stages of the next step read; whoever looks at a crowd that has made none reads it too."""
        self.check_columns(self._whose)
        self.world.fit()
        self.world.on_gpu = self.on_gpu
        self.world.rules = self.behaviour.rules(self.world)

    def _end(self) -> None:
        self._count()
        self.life.record(self.agents.count)
        self.world.tick += 1
        if self.world.forces.present:
            self.world.forces.expire(self.tick)
        self._checked_writes = -math.inf if self._whose else self.agents.writes

    def check_columns(self, whose: str = "") -> None:
        """Check the columns if other code than the stages of a step may have written to them.

        Raises ValueError, which begins with `whose`, for a value that kernels cannot use, such as a position outside.
        """
        agents = self.agents
        if self._checked_writes < agents.writes:
            bounds = {"id": (0, agents.handles.limit - 1), **self.column_bounds}
            check_columns(agents.matrix[:, :agents.count], dtypes_of(agents.kind), bounds, whose)
            self._checked_writes = agents.writes

    # --- what changes the crowd from outside -------------------------------------------------------------------------

    def apply(self, action: Action) -> None:
        """Apply an action before the next step, and record it with its tick. Raises ValueError if it is impossible."""
        action.apply(self)
        self.history.append((self.tick, action))

    def set_numbers(self, values: Mapping[str, Number]) -> None:
        """Give numbers of the behaviour and of links these values, by path, and all others those of the configuration.

        They hold from the next step on. Raises ValueError, in one line, for values that cannot be, or not while it runs.
        """
        present, world = with_numbers(self.config, values), self.world
        if present.behaviour_settings == self.settings.behaviour_settings and present.links == self.settings.links:
            return
        if not same_kernels(make_behaviour(present), self.behaviour, world):
            switched = next(number.path for number in numbers_of(self.config)
                            if (value_of(present, number.path) == 0) != (value_of(self.settings, number.path) == 0))
            raise ValueError(f"{switched} cannot change between 0 and another number while the crowd runs: 0 turns it off")
        self.numbers.change(present, world.needs.top_speed)

    def _take_numbers(self) -> None:
        """Go on with the numbers of `self.numbers`, which have changed; bounds are those of the widest."""
        numbers, world = self.numbers, self.world
        self.behaviour = make_behaviour(numbers.present)
        widest = make_behaviour(numbers.widest).needs if numbers.born else self.behaviour.needs
        numbers.fastest = numbers.fastest if numbers.fastest > widest.top_speed else 0.0
        world.use(numbers.present, widest._replace(top_speed=max(widest.top_speed, numbers.fastest)))
        for stage in {*self._stages, *self._gpu_stages}:
            stage.retune(world)
        self._begin()

    def populate(self, count: int) -> None:
        """Add or remove agents until there are `count`: newcomers take the lowest free ids, the highest ids leave.

        Raises ValueError for what is no whole number, too many agents, or more than fit into memory.
        """
        count = checked(Populate(count)).count
        self.check_room(count)
        missing = count - self.agents.count
        if missing > 0:
            self.add_agents(self.agents.handles.free_ids(missing), self.config.seed)
        elif missing < 0:
            ids = self.agents.columns.id[:self.agents.count]
            self.remove_agents(np.sort(ids)[count:])

    def check_room(self, count: int) -> None:
        """Raise ValueError, in one line, for more agents than a crowd may have, or than fit into memory."""
        check_agents(count, self.config, self.agents.capacity)

    def add_agents(self, ids: Ints, seed: int) -> None:
        """Add agents with these free ids, int32[n]; position and columns are a function of (seed, id).

        Nobody is added while all tiles are blocked.
        """
        if self.terrain.blocked.all():
            return
        self.add_agents_at(ids, *spawn_positions(ids, self.config, self.terrain, seed), seed)

    def add_agents_at(self, ids: Ints, x: Floats, y: Floats, seed: int) -> None:
        """Add agents with these free ids at places, float32[n]; the other columns are a function of (seed, id)."""
        self.agents.spawn(id=ids, x=x, y=y, **self.behaviour.spawn_columns(ids, x, y, seed, self.terrain))
        self.links.tie_newcomers(ids)

    def return_agents(self, columns: Mapping[str, ArrayLike]) -> None:
        """Add agents with all their columns, by name, under free ids; who would be in a wall is moved out of it."""
        before = self.agents.count
        self.agents.spawn(**columns)
        self.terrain.step_out(self.agents.columns.x[before:self.agents.count], self.agents.columns.y[before:self.agents.count])
        self.world.grid.outdated()

    def remove_agents(self, ids: Ints) -> None:
        """Remove agents; ids that nobody has are ignored."""
        self.agents.remove(ids, self.optimizations.removal, self.world.workers)
        self.agents.close_gaps(self.world.workers)

    def set_walls(self, rectangle: Rectangle, wall: bool) -> None:
        """Build or tear down walls on tiles [left, top, right, bottom); agents in a new wall step out, or are removed."""
        asked = checked(SetWalls(rectangle, wall))
        self.world.set_walls(asked.rectangle, asked.wall)
        self._step_out()

    def paint_walls(self, runs: Iterable[Run], wall: bool) -> None:
        """The same on the tiles of runs."""
        self.world.paint_walls(runs, wall)
        self._step_out()

    def _step_out(self) -> None:
        """Move everybody out of walls, and remove those for whom no free tile is near."""
        columns, count = self.agents.columns, self.agents.count
        self.remove_agents(np.sort(columns.id[self.terrain.step_out(columns.x[:count], columns.y[:count], NEAR_TILES)]))

    def set_goal(self, number: int, tile: int) -> None:
        """Put a destination onto a tile; AT_FIRST: where it was; GONE: take it away. Raises ValueError if that cannot be."""
        if self.world.ways is None:
            raise ValueError(NO_AREAS)
        self.world.ways.move_goal(number, tile)
        self.behaviour.send_on(self.world, number)

    def set_exit(self, number: int, is_exit: bool) -> None:
        """Make a destination an exit, or an ordinary one. Raises ValueError if that cannot be."""
        if self.world.ways is None:
            raise ValueError(NO_EXITS)
        self.world.ways.set_exit(number, is_exit)

    def place(self, identity: int, x: float, y: float) -> None:
        """Put the agent with an id at a place, out of walls and into the world. Raises ValueError if nobody has that id."""
        asked = checked(Place(identity, x, y))
        slot = int(self.agents.handles.slots_of(np.array([asked.id]))[0])
        if slot < 0:
            raise ValueError(f"there is no agent {identity}")
        columns, ground = self.agents.columns, self.world.ground
        columns.x[slot] = min(float(ground.limit_x), max(0.0, asked.x))
        columns.y[slot] = min(float(ground.limit_y), max(0.0, asked.y))
        self.terrain.step_out(columns.x[slot:slot + 1], columns.y[slot:slot + 1])
        self.world.grid.outdated()

    def happen(self, event: int) -> None:
        """Let an event of the configuration happen. Raises ValueError if there is none, or if it has happened."""
        self.events.happen(event, self)

    # --- the state, for reading --------------------------------------------------------------------------------------

    @property
    def config(self) -> Config:
        return self.world.config

    @property
    def settings(self) -> Config:
        """The configuration with the numbers that were changed since."""
        return self.world.settings

    @property
    def tuned(self) -> Mapping[str, Number]:
        """The numbers that differ from the configuration's, by path."""
        return self.numbers.values

    @property
    def optimizations(self) -> Optimizations:
        """The techniques; each may be changed between steps."""
        return self.world.options

    @optimizations.setter
    def optimizations(self, options: Optimizations) -> None:
        if not isinstance(options, Optimizations):
            raise ValueError(f"optimizations: must be the techniques of a configuration or a simulation, not {options!r}")
        self.world.options = options

    @property
    def agents(self) -> Agents[Columns]:
        return self.world.agents

    @property
    def terrain(self) -> Terrain:
        return self.world.terrain

    @property
    def tick(self) -> int:
        """Number of steps made."""
        return self.world.tick

    @property
    def dt(self) -> float:
        """Simulated seconds in a step."""
        return self.world.dt

    @property
    def profile(self) -> Profile:
        return self.world.profile

    @profile.setter
    def profile(self, profile: Profile) -> None:
        self.world.profile = profile

    @property
    def structure(self) -> Structure:
        """The neighbour structure that the options ask for."""
        return self.index.structure(self.world)

    @property
    def situation(self) -> Situation:
        """What decides which techniques are inactive; makes no structure."""
        obeys = GPU_OBEYS if self.on_gpu else self.index.kind(self.optimizations.neighbours).OBEYS
        return Situation(self.optimizations.get, obeys, self.behaviour.techniques, self.life.active,
                         self.world.needs.nearest > 0, self.links.active, "field" in self.behaviour.structures,
                         self.on_gpu, self.needs_processor)

    def state_hash(self) -> str:
        """Hash of tick and all columns in id order: 32 hex digits that no exact technique can change."""
        return state_hash(self.tick, self.agents.count, self.agents.rows_by_id())

    @property
    def population(self) -> Ints:
        """int32[k]: number of agents after each of the last k steps, oldest first."""
        return self.life.population().copy()

    @property
    def column_bounds(self) -> Mapping[str, tuple[float, float]]:
        """The least and the greatest value of each column that kernels rely on, by name."""
        return self.bounds_with(self.numbers.widest)

    def bounds_with(self, widest: Config) -> Mapping[str, tuple[float, float]]:
        """Return the same for the widest settings that there have been."""
        walls = self.terrain.walls
        last_x, last_y = (float(np.nextafter(side, np.float32(0))) for side in (walls.width, walls.height))
        return {"x": (0.0, last_x), "y": (0.0, last_y), **make_behaviour(widest).bounds(self.terrain)}

    def states(self) -> dict[str, int]:
        """Return the number of agents in each state, by its name; empty where agents have no states."""
        if not self.behaviour.states:
            return {}
        number, crowd = self.agents.names.index("state"), self.gpu_crowd
        state = crowd.column(number) if crowd else self.agents.matrix[number]
        counts = self._tally.count(state[:self.agents.count], len(self.behaviour.states))
        return dict(zip(self.behaviour.states, counts.tolist(), strict=True))

    def reindex(self) -> None:
        """Index the agents at their present positions, as the next step will. Call before reading candidates between steps."""
        for _ in self.reindex_in_parts():
            pass

    def reindex_in_parts(self) -> Iterator[None]:
        """Do the same, and yield after each of its kernels but those of a limit."""
        self._begin()
        for launch in self.index.launches(self.world):
            launch.run()
            yield
        self.index.commit(self.world)
        if self.world.searches_grid and not self.structure.USES_GRID:
            self.refresh_grid()

    def refresh_grid(self) -> None:
        """Build the grid for the present positions. Call before reading cells between steps."""
        self._begin()
        run(self.world.grid.launches())
        self.world.grid.built()

    def _count(self) -> None:
        """Write the counters of this step to the profile."""
        counters = self.profile.counters
        on_gpu = self._gpu_crowd if self.world.on_gpu else None  # births may have changed which would make the next step
        counters.update(on_gpu.work() if on_gpu else self.interaction.counters(self.world))
        counters.update(self.world.drift.counters())
        for name in self._own_counters:
            del counters[name]
        self._own_counters = {} if on_gpu else self.interaction.structure_counters(self.world)
        counters.update(self._own_counters)

    # --- snapshots, pickles and copies -------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return all that the next step depends on; a copy, but for arrays that did not change since the last snapshot.

        Costs little more than copying the columns. Gaps of removed agents are closed first.
        """
        state = self.state()
        return state._replace(columns=state.columns.copy())

    def state(self) -> Snapshot:
        """Return the same without a copy of the columns: it holds until the next step or change."""
        world, agents, drift = self.world, self.agents, self.world.drift
        agents.close_gaps(world.workers)
        self._shared = shared = self._shared.refreshed(agents, self.terrain)
        return Snapshot(
            config=self.config, techniques={path: self.optimizations.get(path) for path in BY_PATH}, tick=self.tick,
            names=agents.names, columns=agents.matrix[:, :agents.count], generations=shared.generations,
            kinds=shared.kinds, map_digest=self.terrain.map_digest, crowding=self.world.crowding.state,
            link_ends=self.links.ends, link_generations=self.links.generations, sorts=drift.sorts,
            steps_since_sort=drift.steps, drift=drift.units,
            population=self.population, history=tuple(self.history),
            parts={part.name: state for part in world.parts if not (state := part.state()).is_empty})

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot, of this simulation or of another one of the same configuration; techniques come along.

        Nothing that did not change is made again. The profile goes on. Raises ValueError for another configuration.
        """
        require("snapshot", snapshot, Snapshot)
        if other := differences(self.config, snapshot.config):
            raise ValueError(f"the snapshot is of another crowd: {', '.join(other)} differ")
        if snapshot.map_digest != self.terrain.map_digest:
            raise ValueError("the snapshot is of another map")
        self.check_room(snapshot.agents)
        world, drift = self.world, self.world.drift
        for path, value in snapshot.techniques.items():
            self.optimizations.set(path, value)
        world.tick = snapshot.tick
        drift.sorts, drift.steps, drift.units = snapshot.sorts, snapshot.steps_since_sort, snapshot.drift
        version = self.terrain.version
        self.terrain.set_kinds(snapshot.kinds)
        if self.terrain.version != version:
            world.read_terrain()
        world.restore_crowding(snapshot.crowding)
        for part in world.parts:
            part.restore(snapshot.parts.get(part.name, EMPTY))
        self.agents.restore(snapshot.columns, snapshot.generations)
        self._shared = Shared(snapshot.generations, self.agents.handles.removed, snapshot.kinds, self.terrain.version)
        if self.links.ends is not snapshot.link_ends:
            self.links.restore(snapshot.link_ends, snapshot.link_generations)
        self.life.restore(snapshot.population)
        self.history = list(snapshot.history)
        self._checked_writes = self.agents.writes
        self._begin()

    def replica(self) -> Simulation:
        """Return another simulation, without agents, that shares the walls; so it takes a millisecond.

        `replica.restore(sim.state())` copies the state. It is good until the walls change.
        """
        replica = Simulation.__new__(Simulation)
        replica._build(self.config, self.world)
        return replica

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> Self:
        """Return a new simulation in that state; its profile starts empty."""
        require("snapshot", snapshot, Snapshot)
        sim = cls.__new__(cls)
        sim.__setstate__(snapshot)
        return sim

    def __getstate__(self) -> Snapshot:
        return self.snapshot()

    def __setstate__(self, snapshot: Snapshot) -> None:
        self._build(snapshot.config)
        self.restore(snapshot)


def _steps(n: int) -> int:
    if (steps := n if type(n) is int else whole("n", n)) < 0:
        raise ValueError(f"cannot make {steps} steps")
    return steps
