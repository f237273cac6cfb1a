"""Stages, the named parts of a step or of preparing a picture: what one is, how a list of them is run, and those that need the
world alone (compact, index, reorder, query, and the grid for culling).

A step is a loop over a list of stages. Compiling ahead loops over the same list for a small copy of the crowd and only skips
running, so it compiles exactly the kernels that the step will call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Launch, run
from crowd_demo.registry.entries import load
from crowd_demo.registry.plugins import installed, owner_of
from crowd_demo.registry.stages import STAGES
from crowd_demo.registry.techniques import STRUCTURES
from crowd_demo.registry.texts import say_once
from crowd_demo.sim.neighbours.structure import Structure
from crowd_demo.sim.store.agents import reorder_due
from crowd_demo.sim.store.columns import Columns
from crowd_demo.sim.world import Sizes, World


class Stage(Protocol):
    """The profile adds up the times of stages that have the same `name`.

    A behaviour's stages follow the interaction, but for those that put agents anywhere: these come `before_index`.
    """

    name: str
    before_index: bool = False

    def wanted(self, world: World) -> bool:
        """Return whether there is work in this step."""
        return True

    def launches(self, world: World) -> tuple[Launch, ...]:
        """Return the kernels to run, in order. Change nothing that outlives the step except the kernels' own memory."""
        return ()

    def later(self, world: World) -> tuple[Launch, ...]:
        """Return kernels to compile ahead though the stage is not wanted, because an action may change that."""
        return ()

    def commit(self, world: World) -> None:
        """Swap buffers, mark an index as valid: called after the kernels have run, or were only kept, to be compiled ahead."""
        return

    def retune(self, world: World) -> None:
        """Take the numbers of `world.settings`, which have changed, if it keeps any beside `world.rules`."""
        return


class DeviceCrowd(Protocol):
    """The copy of a crowd on another processor whose stages make the steps."""

    columns: Columns

    def is_newest(self, world: World) -> bool:
        """Return whether its columns are the current ones."""

    def column(self, number: int) -> Ints:
        """Return a copy of one column, as int32[agents]."""

    def work(self) -> Mapping[str, float]:
        """Return the counters of the work in the last step."""


def run_stages(stages: Iterable[Stage], world: World, run: Callable[[Iterable[Launch]], object] = run) -> None:
    """Run all stages that are wanted, in their order, each with its time in the profile.

    Compiling ahead gives another `run`, which keeps the launches of a small copy of the world instead of running them.
    """
    for stage in stages:
        if stage.wanted(world):
            with world.profile.stage(stage.name):
                run(stage.launches(world))
                stage.commit(world)


# --- those that need the world alone ---------------------------------------------------------------------------------

class Compact(Stage):
    """Close the gaps of removed agents, where removal is deferred."""

    name = "compact"

    def wanted(self, world: World) -> bool:
        return world.agents.handles.gaps > 0

    def launches(self, world: World) -> tuple[Launch, ...]:
        return world.agents.closing(world.workers)

    def commit(self, world: World) -> None:
        world.agents.closed()


class Index(Stage):
    """Build the index of the neighbour structure that the options name; only one structure exists at a time."""

    name = "index"

    def __init__(self, own: Mapping[str, type[Structure]]) -> None:
        """`own` are those of the behaviour, which replace others of the same name."""
        self._own = own
        self._made_for: tuple[str, Sizes | None] = "", None
        self._structure: Structure

    def kind(self, name: str) -> type[Structure]:
        """Return the structure of that name."""
        return self._own.get(name) or load(STRUCTURES[name])

    def structure(self, world: World) -> Structure:
        """Return that structure; make it again when the options or the sizes of memory have changed."""
        name, sizes = world.options.neighbours, world.sizes
        if self._made_for[0] != name or self._made_for[1] is not sizes:
            self._made_for = name, sizes
            self._structure = self.kind(name)(world.domain)
        return self._structure

    def built(self, world: World) -> Structure | None:
        """Return that structure as the last step left it, without making one; None if its slots are not the present ones."""
        is_present = not world.on_gpu and self._made_for[0] == world.options.neighbours and self._made_for[1] is world.sizes
        return self._structure if is_present and self._structure.fresh else None

    def launches(self, world: World) -> tuple[Launch, ...]:
        return self.structure(world).index(world.tick)

    def commit(self, world: World) -> None:
        self.structure(world).built()


class Reorder(Stage):
    """Move agents into the order of the structure, so that neighbours in space are neighbours in memory."""

    name = "reorder"

    def __init__(self, index: Index) -> None:
        self.index = index

    def wanted(self, world: World) -> bool:
        structure = self.index.structure(world)
        reorder = world.options.reorder
        return (structure.REORDERS and not structure.in_order and reorder_due(
            reorder.when, reorder.every, reorder.drift, world.tick, world.drift, world.grid.cell))

    def launches(self, world: World) -> tuple[Launch, ...]:
        structure = self.index.structure(world)
        along = structure.along(world.options.curve)
        return (*along, *world.agents.reordering(structure.order, world.workers))

    def commit(self, world: World) -> None:
        world.agents.swap()
        self.index.structure(world).reordered()
        world.drift.reset()


class SharedGrid(Stage):
    """Where the structure is not the grid: build it if *interaction*, contact or culling searches it, else outdate it."""

    name = "index"

    def __init__(self, index: Index) -> None:
        self.index = index

    def wanted(self, world: World) -> bool:
        return not self.index.structure(world).USES_GRID

    def launches(self, world: World) -> tuple[Launch, ...]:
        return world.grid.launches() if self._needed(world) else ()

    def commit(self, world: World) -> None:
        if self._needed(world):
            world.grid.built()
        else:
            world.grid.outdated()

    def _needed(self, world: World) -> bool:
        return bool(world.searches_grid or world.contact_shift or world.options.cull == "grid")


class CullingGrid(Stage):
    """Before a picture that is culled by cells: build the grid for the present positions, unless it is fresh."""

    name = "culling grid"

    def wanted(self, world: World) -> bool:
        return bool(world.options.cull == "grid" and not world.grid.fresh and not world.on_gpu)

    def launches(self, world: World) -> tuple[Launch, ...]:
        return world.grid.launches()

    def commit(self, world: World) -> None:
        world.grid.built()


class Query(Stage):
    """Find the candidates of each group of the structure."""

    name = "query"

    def __init__(self, index: Index) -> None:
        self.index = index

    def wanted(self, world: World) -> bool:
        return self.index.structure(world).has_query

    def launches(self, world: World) -> tuple[Launch, ...]:
        return self.index.structure(world).query(world.options.simd, world.rules, world.schedule)


# --- stages of plugins -----------------------------------------------------------------------------------------------

def with_plugin_stages(stages: Sequence[Stage], check: Callable[[str], None]) -> Sequence[Stage]:
    """Return the stages with those of plugins, each after the last stage of the name that it follows, if there is one.

    After each stage of a plugin or of its behaviour `check` is called, with words for the beginning of its error: it raises
    ValueError for columns that kernels cannot use.
    """
    listed = list(stages)
    for plugin in installed():
        for entry in plugin.plugin.stages:
            found = [number for number, stage in enumerate(listed) if stage.name == entry.after]
            if found:
                listed.insert(found[-1] + 1, load(entry.code)())
            elif entry.after not in STAGES:  # else it is one of another behaviour
                say_once(f"plugin {plugin.name}: stage {entry.code} is left out: there is no stage {entry.after!r} to follow")
    owners = [owner_of(type(stage).__module__) for stage in listed]
    return tuple(Checked(stage, owner, check) if owner else stage for stage, owner in zip(listed, owners, strict=True))


class Checked(Stage):
    """A stage of a plugin; columns are checked after it, for kernels find memory by them."""

    def __init__(self, stage: Stage, plugin: str, check: Callable[[str], None]) -> None:
        self.stage, self._plugin, self._check = stage, plugin, check
        self.name, self.before_index = stage.name, stage.before_index
        self.wanted, self.launches = stage.wanted, stage.launches  # type: ignore[method-assign]
        self.retune, self.later = stage.retune, stage.later  # type: ignore[method-assign]

    def commit(self, world: World) -> None:
        """Raises ValueError for an agent that is not in the world, or for another value that no agent may have."""
        self.stage.commit(world)
        self._check(f"plugin {self._plugin}: stage {self.name}: ")
