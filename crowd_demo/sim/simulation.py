"""The simulation: a step is a flat list of named, timed stages.

    (life -> compact ->) index -> reorder -> query -> see -> (links ->) sight, paths -> move

*See* reads what others have and writes only what an agent keeps for itself; *move* reads and writes own state alone. So a
step is a function of (state, actions, configuration), and no result depends on the order of agents in memory, on the
number of workers or on the width of a register. `Simulation` has no global state: several can live side by side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from crowd_demo.compute.jit import Call, max_threads, run
from crowd_demo.compute.simd import LANES
from crowd_demo.config.maps import read_map
from crowd_demo.config.model import Config
from crowd_demo.config.resources import find_map
from crowd_demo.profile import Profile
from crowd_demo.sim.actions import Action
from crowd_demo.sim.behaviours.crates import Crates
from crowd_demo.sim.behaviours.flock import Flock
from crowd_demo.sim.behaviours.people import Crowd, places_of
from crowd_demo.sim.interaction.capped import cap_counters, caps_of
from crowd_demo.sim.interaction.pairwise import CANDIDATES, COPIES, DUE, NEIGHBOURS, REGISTERS, RUNS
from crowd_demo.sim.interaction.stage import SeeStage
from crowd_demo.sim.neighbours import STRUCTURES, Place, Structure
from crowd_demo.sim.neighbours.grid import Grid
from crowd_demo.sim.neighbours.schedule import Turn, turn
from crowd_demo.sim.population.births_deaths import Life
from crowd_demo.sim.population.spawn import places_to_be_born
from crowd_demo.sim.population.springs import Links
from crowd_demo.sim.store.agents import STUCK, WAITING, WALKING, Agents
from crowd_demo.sim.store.reorder import Drift, reorder_calls, reorder_due
from crowd_demo.sim.terrain.flow_fields import FlowFields
from crowd_demo.sim.terrain.ground import ground_of
from crowd_demo.sim.terrain.step_out import step_out
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.terrain.wall_field import PushField
from crowd_demo.techniques import Value

LIGHT = 32_768  # agents that a worker indexes, moves or culls in the time that it takes to wake another one
Stages = Iterator[tuple[str, tuple[Call, ...]]]
BEHAVIOURS: dict[str, type[Crowd] | type[Flock] | type[Crates]] = {"crowd": Crowd, "flock": Flock, "crates": Crates}


class Simulation:
    """A crowd and its world, made from a `Config`; `optimizations` may be changed between steps."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.optimizations = config.optimizations.model_copy(deep=True)
        self.profile = Profile()
        self.drift = Drift()
        self.tick = 0
        self.history: list[tuple[int, Action]] = []
        self._own_counters: dict[str, float] = {}  # those that only the present structure or cap has
        self.behaviour: Any = BEHAVIOURS[config.behaviour](config)
        data = read_map(find_map(config.map)) if config.map else None
        self.terrain = Terrain(data, config.world.width, config.world.height,
                               self.behaviour.destinations, config.seed)
        self.fields = FlowFields(self.terrain, max_threads())
        self.push = PushField(self.terrain, max(self.behaviour.margin, 1.0))
        self.places = places_of(self.terrain, config.crowd.destination_spread)
        self.life = Life(config)
        self.agents = Agents(self.behaviour.columns, self.life.room)
        self.links = Links(self)
        self._read_terrain()
        self.populate(config.agents)
        self._fit()

    # --- the step ----------------------------------------------------------------------------------------------------

    @property
    def dt(self) -> float:
        """Seconds of the crowd's time in a step."""
        return 1 / self.config.time.step_hz

    @property
    def workers(self) -> int:
        threads = self.optimizations.threads
        return max_threads() if threads == "auto" else int(threads)

    def stands_for(self, path: str) -> Value:
        """A technique's value, or the number that its `auto` stands for."""
        value = self.optimizations.get(path)
        return {"threads": self.workers, "cell_size": self.grid.cell}[path] if value == "auto" else value

    @property
    def light_workers(self) -> int:
        """Of stages that take a few nanoseconds an agent: left to itself, the program wakes no more of them than pay."""
        few = max(1, self.agents.capacity // LIGHT)
        return min(self.workers, few) if self.optimizations.threads == "auto" else self.workers

    @property
    def max_step(self) -> float:
        """Farthest that an agent moves along an axis in one step, world units."""
        return min(self.top_speed * self.dt, float(self.ground.longest))

    @property
    def top_speed(self) -> float:
        """Nobody is faster, units/s; springs know no limit, so where there are some it is looked up."""
        top = float(self.behaviour.top_speed)
        if not self.links.active:
            return top
        columns, n = self.agents.columns, self.agents.count
        return max(top, float(np.hypot(columns.vx[:n], columns.vy[:n]).max(initial=0)))

    @property
    def turn(self) -> Turn:
        """Whose turn it is to look around."""
        stagger, walls = self.optimizations.stagger, self.terrain.walls
        return turn(self.tick, stagger.avoidance, stagger.by, float(walls.width), float(walls.height), self.behaviour.band)

    def step(self, n: int = 1) -> None:
        """Advance by `n` steps of `dt` seconds."""
        for _ in range(n):
            if self.life.active:
                with self.profile.stage("life"):
                    self.life.pass_on(self)
            self._fit()
            for name, calls in self.stages():
                with self.profile.stage(name):
                    run(calls)
            self._count()
            self.life.record(self.agents.count)
            self.tick += 1

    def stages(self) -> Stages:
        """One step. What stands after a `yield` happens once the yielded calls have run."""
        structure, agents, options = self.structure, self.agents, self.optimizations
        if agents.handles.gaps:
            yield "compact", agents.closing(self.workers)
            agents.closed()
        capped = options.cap != "none"
        self.grid.by_id = options.cap == "first"
        yield "index", structure.index(self.tick)
        structure.built()
        due = reorder_due(options.reorder, self.tick, self.drift, self.grid.cell)
        if structure.REORDERS and due and not structure.in_order:
            along = structure.along(options.curve)
            yield "reorder", (*along, *reorder_calls(agents, structure.order, self.workers))
            agents.swap()
            structure.reordered()
            self.drift.sorted()
        if (capped or options.cull == "grid") and not structure.USES_GRID:
            yield "index", self.grid.calls()
            self.grid.built()
        elif not structure.USES_GRID:
            self.grid.outdated()
        rules = self.behaviour.rules(self)
        yield "query", structure.query(options.simd, rules, self.turn)
        yield "see", self.see_calls(rules)
        if self.links.active:
            yield "links", self.links.calls(self)
        self.farthest_sq[:] = 0
        yield from self.behaviour.act(self, rules)
        self.drift.moved(self.farthest_sq)

    def see_calls(self, rules: Any, exact: bool = False) -> tuple[Call, ...]:
        """Everybody who is due meets those whom the structure has found, or some of those around in the grid.

        `exact` leaves out what is approximate: the cap, and a structure's own rules.
        """
        structure, options = self.structure, self.optimizations
        if options.cap != "none" and not exact:
            return self.seeing.capped(self.grid.view(), self.agents, rules, self.turn, caps_of(self))
        rules = rules if exact else structure.rules(rules)
        return self.seeing.calls(structure.candidates(), self.agents, rules, self.turn, options.simd)

    # --- memory, made when a setting changes and never in a step -----------------------------------------------------

    def _fit(self) -> None:
        """Make the grid and the workers' memory as the settings want them."""
        options = self.optimizations
        wanted = self.workers, options.cell_size, options.leaf_size, options.rebuild, self.agents.capacity
        if getattr(self, "_fitted", None) != wanted:
            size, walls, radius = options.cell_size, self.terrain.walls, self.behaviour.radius
            width, height, cell = float(walls.width), float(walls.height), 0 if size == "auto" else float(size)
            self.grid = Grid(self.agents, width, height, radius, cell, self.light_workers)
            self.place = Place(self.agents, self.grid, width, height, radius, self.behaviour.contact, cell,
                               options.leaf_size, options.rebuild, self.workers)
            self.seeing = SeeStage(self.workers, self.agents.capacity)
            self._structure: tuple[str, Structure] | None = None
            self.farthest_sq = np.zeros((self.workers, LANES), np.float32)
            self._fitted = wanted
        self.grid.by_id = options.cap == "first"

    def renew(self) -> None:
        """Make all of that anew, as in a simulation that has not yet made a step."""
        del self._fitted
        self._fit()

    @property
    def structure(self) -> Structure:
        """The neighbour structure that the settings ask for; only one lives at a time."""
        name = self.optimizations.neighbours
        if not self._structure or self._structure[0] != name:
            self._structure = name, STRUCTURES[name](self.place)
        return self._structure[1]

    def _read_terrain(self) -> None:
        """Derive from the walls what the kernels need."""
        self.push.rebuild(self.terrain)
        self.ground = ground_of(self.terrain, self.behaviour.body, self.push.push)
        if self.behaviour.USES_PATHS:
            self.fields.rebuild(self.terrain)

    # --- what changes the crowd from outside -------------------------------------------------------------------------

    def apply(self, action: Action) -> None:
        """Do what somebody asked for, before the next step, and remember it with its tick."""
        self.history.append((self.tick, action))
        action.apply(self)

    def populate(self, count: int) -> None:
        """Be `count` agents: newcomers take the lowest free ids, those with the highest ids leave."""
        missing = count - self.agents.count
        if missing > 0:
            ids = self.agents.handles.free_ids(missing)
            self.bear(ids, self.config.seed)
        elif missing < 0:
            ids = self.agents.columns.id[:self.agents.count]
            self.agents.remove(np.sort(ids)[count:], self.optimizations.removal, self.workers)
            self.agents.close_gaps(self.workers)

    def bear(self, ids: Any, seed: int) -> None:
        """Agents with these free ids, int32[n]; place and columns are a function of (seed, id)."""
        x, y = places_to_be_born(ids, self.config, self.terrain, seed)
        self.agents.spawn(id=ids, x=x, y=y, **self.behaviour.born(ids, x, y, seed, self.terrain))
        self.links.tie_newcomers(ids)

    def set_walls(self, rectangle: tuple[int, int, int, int], wall: bool) -> None:
        """Build or tear down walls on tiles [left, top, right, bottom); whoever stands there steps out."""
        self.terrain.set_walls(rectangle, wall)
        self._read_terrain()
        self.grid.outdated()
        step_out(self.terrain, self.agents.columns.x[:self.agents.count], self.agents.columns.y[:self.agents.count])

    # --- what is known about it --------------------------------------------------------------------------------------

    def refresh_grid(self) -> None:
        """Build the grid for the agents as they stand now: for who wants to look at cells between two steps."""
        self._fit()
        run(self.grid.calls())
        self.grid.built()

    def reindex(self) -> None:
        """Find out who stands where now, as the next step will: for who wants to know whom agents would meet."""
        self._fit()
        run(self.structure.index(self.tick))
        self.structure.built()
        if self.optimizations.cap != "none" and not self.structure.USES_GRID:
            self.refresh_grid()

    def state_hash(self) -> str:
        """Hash of tick and all columns in id order: 32 hex digits that no exact technique can change."""
        digest = hashlib.blake2b(f"{self.tick} {self.agents.count}".encode(), digest_size=16)
        for column in self.agents.by_id():
            digest.update(np.ascontiguousarray(column).tobytes())
        return digest.hexdigest()

    @property
    def met(self) -> int:
        """Candidates that all together met when they looked around last."""
        return int(self.seeing.strip.counters[:, CANDIDATES].sum())

    @property
    def population(self) -> Any:
        """int32[k]: how many lived after each of the last k steps, oldest first."""
        return self.life.population()

    def _count(self) -> None:
        """Work counters of this step, a due agent: exact, whatever the machine does meanwhile."""
        counted = self.seeing.strip.counters.sum(axis=0)
        due = max(int(counted[DUE]), 1)
        counters = self.profile.counters
        counters["due"] = float(counted[DUE])
        counters["candidates_per_agent"] = float(counted[CANDIDATES]) / due
        counters["neighbours_per_agent"] = float(counted[NEIGHBOURS]) / due
        counters["registers"] = float(counted[REGISTERS])
        counters["contiguous_copies"] = float(counted[RUNS]) / max(float(counted[COPIES]), 1.0)
        counters["imbalance"] = imbalance(self.seeing.strip.counters[:, CANDIDATES])
        counters.update(self.drift.counters())
        for name in self._own_counters:
            del counters[name]
        self._own_counters = self.structure.counters()
        if self.optimizations.cap != "none":
            self._own_counters |= cap_counters(self.seeing.kept, due)
        counters.update(self._own_counters)

    def states(self) -> dict[str, int]:
        """How many walk, wait and are stuck; empty where agents have no states."""
        if not hasattr(self.agents.columns, "state"):
            return {}
        state = self.agents.columns.state[:self.agents.count]
        return {"walking": int((state == WALKING).sum()), "waiting": int((state == WAITING).sum()),
                "stuck": int((state == STUCK).sum())}


def imbalance(work: Any) -> float:
    """The largest share of the work over the mean one: 1 when the workers share it evenly, int64[workers]."""
    return float(work.max() / work.mean()) if work.any() else 1.0
