"""Stages, the named parts of a step or of preparing a picture: what one is, and those that belong to all behaviours (compact,
index, reorder, query, and the grid for culling).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from crowd_demo.compute.jit import Launch
from crowd_demo.registry.entries import load
from crowd_demo.registry.plugins import installed, owner_of
from crowd_demo.registry.stages import STAGES
from crowd_demo.registry.texts import say_once
from crowd_demo.sim.neighbours.structure import Structure
from crowd_demo.sim.store.agents import reorder_due
from crowd_demo.sim.world import World


class Stage(Protocol):
    """The profile adds up the times of stages that have the same `name`.

    A behaviour's stages follow the interaction, but for those that put agents anywhere: these come `before_index`.
    The methods of a stage that is `ahead` read nothing that kernels of this step write after the index. Such stages are
    prepared together before their kernels run, so Python leaves the caches less often.
    """

    name: str
    before_index: bool = False
    ahead: bool = False

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
        """Swap buffers, mark an index as valid: called after the kernels have run, or while they wait."""
        return

    def retune(self, world: World) -> None:
        """Take the numbers of `world.settings`, which have changed, if it keeps any beside `world.rules`."""
        return


def launches_of(stages: Iterable[Stage], world: World) -> Iterator[Launch]:
    """Yield the kernels of all stages that are wanted, in their order, each to run before the next; and time the stages.

    Compiling ahead keeps those of a small copy of the crowd instead of running them, so it compiles exactly the kernels that
    a step calls.
    """
    prepared: list[tuple[str, Sequence[Launch]]] = []
    for stage in stages:
        if not stage.wanted(world):
            continue
        if not stage.ahead:
            yield from _timed(prepared, world)
        start_ns = world.profile.started(stage.name)
        if stage.ahead:
            prepared.append((stage.name, stage.launches(world)))
        else:
            yield from stage.launches(world)
        stage.commit(world)
        world.profile.ran(stage.name, start_ns, time.perf_counter_ns())
    yield from _timed(prepared, world)


def _timed(prepared: list[tuple[str, Sequence[Launch]]], world: World) -> Iterator[Launch]:
    """Yield the kernels of stages that are prepared, and forget them."""
    for name, launches in prepared:
        start_ns = world.profile.started(name)
        yield from launches
        world.profile.ran(name, start_ns, time.perf_counter_ns())
    prepared.clear()


# --- of all behaviours -----------------------------------------------------------------------------------------------

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
    """Build the index of the neighbour structure that the options name."""

    name = "index"

    def launches(self, world: World) -> tuple[Launch, ...]:
        return world.structure.index(world.tick)

    def commit(self, world: World) -> None:
        world.structure.built()


class Reorder(Stage):
    """Move agents into the order of the structure, so that neighbours in space are neighbours in memory."""

    name = "reorder"

    def wanted(self, world: World) -> bool:
        structure, reorder = world.structure, world.options.reorder
        return (structure.REORDERS and not structure.in_order and reorder_due(
            reorder.when, reorder.every, reorder.drift, world.tick, world.drift, world.grid.cell))

    def launches(self, world: World) -> tuple[Launch, ...]:
        along = world.structure.along(world.options.curve)
        return (*along, *world.agents.reordering(world.structure.order, world.workers))

    def commit(self, world: World) -> None:
        world.agents.swap()
        world.structure.reordered()
        world.drift.reset()


class SharedGrid(Stage):
    """Where the structure is not the grid: build it if *interaction*, contact or culling searches it, else outdate it."""

    name = "index"

    def wanted(self, world: World) -> bool:
        return not world.structure.USES_GRID

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
    name = "query"

    def wanted(self, world: World) -> bool:
        return type(world.structure).query is not Structure.query

    def launches(self, world: World) -> tuple[Launch, ...]:
        return world.structure.query(world.options.simd, world.rules, world.schedule)


# --- stages of plugins -----------------------------------------------------------------------------------------------

def with_plugin_stages(stages: Sequence[Stage]) -> Sequence[Stage]:
    """Return the stages with those of plugins, each after the last stage of the name that it follows, if there is one.

    Columns are checked after each stage of a plugin or of its behaviour.
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
    return tuple(Checked(stage, owner) if owner else stage for stage, owner in zip(listed, owners, strict=True))


class Checked(Stage):
    """A stage of a plugin; columns are checked after it, for kernels find memory by them."""

    def __init__(self, stage: Stage, plugin: str) -> None:
        self.stage, self._plugin = stage, plugin
        self.name, self.before_index = stage.name, stage.before_index
        self.wanted, self.launches = stage.wanted, stage.launches  # type: ignore[method-assign]
        self.retune, self.later = stage.retune, stage.later  # type: ignore[method-assign]

    def commit(self, world: World) -> None:
        """Raises ValueError for an agent that is not in the world, or for another value that no agent may have."""
        self.stage.commit(world)
        world.check_columns(f"plugin {self._plugin}: stage {self.name}: ")
