"""The simulation: a world, and the list of stages that a step runs.

    life -> compact (-> paths -> exits) (-> count) -> index -> reorder -> index -> query -> interaction -> links
    (-> sight -> paths -> admit) (-> hunt) -> move (-> contact) (-> pins) (-> count)

*Interaction* reads other agents and writes only an agent's own avoidance; *move* reads and writes only an agent's own
state. So a step is a function of (state, actions, configuration), and no result depends on the order of agents in memory,
on the number of workers or on the width of a register. `Simulation` has no global state: several can live side by side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from crowd_demo.compute.jit import Launch, run
from crowd_demo.config.memory import check_agents, room_for
from crowd_demo.config.model import Config, Optimizations
from crowd_demo.config.section import require, whole
from crowd_demo.registry.built_in import GPU_STEP
from crowd_demo.registry.entries import Situation, load
from crowd_demo.sim.actions import Action
from crowd_demo.sim.behaviours.base import Behaviour, make_behaviour
from crowd_demo.sim.counts import CountCrossings, Counts, Remember
from crowd_demo.sim.events import Event, Events
from crowd_demo.sim.interaction.interaction_stage import Interaction
from crowd_demo.sim.population.births_deaths import BirthsDeaths
from crowd_demo.sim.population.springs import FindLinkEnds, HoldPins, Springs
from crowd_demo.sim.snapshot import Snapshot, Snapshots, state_hash
from crowd_demo.sim.stage import (
    Compact,
    CullingGrid,
    Index,
    Query,
    Reorder,
    SharedGrid,
    Stage,
    launches_of,
    with_plugin_stages,
)
from crowd_demo.sim.store.agents import DeviceCrowd
from crowd_demo.sim.tuning import TunedNumbers
from crowd_demo.sim.world import World

GPU_OBEYS = frozenset({"cell_size", "reorder.when"})  # the techniques of a structure that its grid obeys


class Simulation(World):
    """A world made from a `Config`, and the stages that make its steps; `optimizations` may be changed between steps."""

    behaviour: Behaviour

    def __init__(self, config: Config, edits: Iterable[Action] = ()) -> None:
        """`edits` are applied before anybody is born, and begin the history. Raises ValueError if one is impossible."""
        require("config", config, Config)
        self._build(config)
        if edits := tuple(edits):
            self.begin()
            for edit in edits:
                self.apply(edit)
            if self.ways:
                self.ways.settle()
            self.numbers.nobody_was_born()
        self.populate(config.agents)
        self.behaviour.place(self)
        self.begin()

    def _build(self, config: Config, like: World | None = None) -> None:
        """Make a world without agents, and its stages; `like` shares its walls."""
        room = like.agents.capacity if like else room_for(config)
        if not like:
            check_agents(room, config)
        super().__init__(config, make_behaviour(config), room, like)
        self.history: list[tuple[int, Action]] = []
        self.life, self.interaction = BirthsDeaths(config), Interaction()
        self.events, self.counts = Events(config), Counts(config)
        self.parts += self.events, self.counts
        own = self.behaviour.stages(self)
        self.numbers = TunedNumbers(self)
        self.parts.append(self.numbers)
        self._own_stages: tuple[Sequence[Stage], Sequence[Stage]] = (
            [self.life, Compact(), *(stage for stage in own if stage.before_index), Remember(self.counts)],
            [Springs(), *(stage for stage in own if not stage.before_index), HoldPins(),
             CountCrossings(self.counts)])
        self._stages = with_plugin_stages([
            *self._own_stages[0], Index(), Reorder(), SharedGrid(), Query(), self.interaction, *self._own_stages[1]])
        self._gpu_stages: Sequence[Stage] = ()  # these two are made when the GPU is first used
        self._gpu_crowd: DeviceCrowd | None = None
        self._picture_stages: Sequence[Stage] = CullingGrid(), FindLinkEnds()
        self._tuned_for = config  # the settings that the stages have
        self._snapshots = Snapshots()
        self._own_counters: dict[str, float] = {}  # those that only the present structure or neighbour limit has

    # --- the step ----------------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Advance by `n` steps of `dt` seconds. Raises ValueError for a negative number."""
        for _ in range(_steps(n)):
            self.profile.begin_step()
            run(self.launches())
            self.profile.end_step()

    def launches(self) -> Iterator[Launch]:
        """Make a step: yield its kernels, each to run before the next; nobody may touch the crowd before the end."""
        self.begin()
        self.farthest_sq[:] = 0
        yield from launches_of(self.stages, self)
        self.drift.moved(self.farthest_sq)
        self._count()
        self.lived.put(self.agents.count)
        self.tick += 1
        if self.forces.present:
            self.forces.expire(self.tick)
        self.checked_writes = -math.inf if self.whose else self.agents.writes

    @property
    def stages(self) -> Sequence[Stage]:
        """The stages of a step, by whatever makes it."""
        if not self.wants_gpu:
            return self._stages
        if not self._gpu_stages:
            self._gpu_crowd, stages = load(GPU_STEP)(*self._own_stages, self.interaction.kept_only)
            self._gpu_stages = with_plugin_stages(stages)
        return self._gpu_stages

    def begin(self) -> None:
        """Make what the stages of the next step read. Raises ValueError where a plugin left a column that it cannot have."""
        self.check_columns()
        if self._tuned_for is not self.settings:
            self._tuned_for = self.settings
            for stage in {*self._stages, *self._gpu_stages}:
                stage.retune(self)
        super().begin()

    def _count(self) -> None:
        """Write the counters of this step to the profile."""
        counters = self.profile.counters
        on_gpu = self._gpu_crowd if self.on_gpu else None
        counters.update(on_gpu.work() if on_gpu else self.interaction.counters(self))
        counters.update(self.drift.counters())
        for name in self._own_counters:
            del counters[name]
        self._own_counters = {} if on_gpu else self.interaction.structure_counters(self)
        counters.update(self._own_counters)

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

    def apply(self, action: Action) -> None:
        """Apply an action before the next step, and record it with its tick. Raises ValueError if it is impossible."""
        action.apply(self)
        self.history.append((self.tick, action))

    # --- between steps -----------------------------------------------------------------------------------------------

    def prepare_picture(self) -> None:
        """Bring up to date what a picture reads. Call before each picture, also when paused."""
        self.check_columns()
        self.fit()
        self.on_gpu = self.wants_gpu
        run(launches_of(self._picture_stages, self))

    def reindexing(self) -> Iterator[Launch]:
        """Index the agents at their present positions, as the next step will: yield each kernel, to run before the next."""
        self.begin()
        yield from self.structure.index(self.tick)
        self.structure.built()
        if self.searches_grid and not self.structure.USES_GRID:
            yield from self.grid.launches()
            self.grid.built()

    def launches_to_compile(self) -> list[Launch]:
        """Return the kernels of a step and of `prepare_picture` without running any; call it on a copy of the simulation."""
        self.sizes = None  # forces memory to be made for the present options
        self.checked_writes = math.inf  # nothing runs, so nothing is in the columns
        self.begin()
        stages = [*self.stages, *self._picture_stages]
        launches = list(launches_of(stages, self))
        for stage in stages:
            if not stage.wanted(self):
                launches += stage.later(self)
        return launches

    @property
    def optimizations(self) -> Optimizations:
        """The techniques; each may be changed between steps."""
        return self.options

    @optimizations.setter
    def optimizations(self, options: Optimizations) -> None:
        if not isinstance(options, Optimizations):
            raise ValueError(f"optimizations: must be the techniques of a configuration or a simulation, not {options!r}")
        self.options = options

    @property
    def situation(self) -> Situation:
        """What decides which techniques are inactive; makes no structure."""
        obeys = GPU_OBEYS if self.wants_gpu else self.structure_of(self.options.neighbours).OBEYS
        return Situation(self.options.get, obeys, self.behaviour.techniques, self.life.active, self.needs.nearest > 0,
                         self.links.active, "field" in self.behaviour.structures, self.wants_gpu, self.needs_processor)

    @property
    def gpu_crowd(self) -> DeviceCrowd | None:
        """The crowd on the graphics card, if that has made the last step and nobody has written to a column since."""
        crowd = self._gpu_crowd
        return crowd if crowd and self.wants_gpu and crowd.is_newest(self.agents) else None

    # --- snapshots, pickles and copies -------------------------------------------------------------------------------

    def state_hash(self) -> str:
        """Hash of tick and all columns in id order: 32 hex digits that no exact technique can change."""
        return state_hash(self.tick, self.agents.count, self.agents.rows_by_id())

    def snapshot(self) -> Snapshot:
        """Return a copy of all that the next step depends on; unchanged arrays are shared with the last snapshot.

        Gaps of removed agents are closed first.
        """
        state = self.state()
        return state._replace(columns=state.columns.copy())

    def state(self) -> Snapshot:
        """Return the same without a copy of the columns: it holds until the next step or change."""
        return self._snapshots.of(self, tuple(self.history))

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot of this configuration, with its techniques. The profile continues.

        Only what differs is rebuilt. Raises ValueError for another configuration.
        """
        require("snapshot", snapshot, Snapshot)
        self._snapshots.restore(self, snapshot)
        self.history = list(snapshot.history)
        self.begin()

    def replica(self) -> Simulation:
        """Return another simulation, without agents, that shares the walls; so it takes a millisecond.

        `replica.restore(sim.state())` copies the state. It is good until the walls change.
        """
        replica = Simulation.__new__(Simulation)
        replica._build(self.config, self)
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
