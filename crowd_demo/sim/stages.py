"""The stages that need the world alone: compact, index, reorder, query, and the grid for culling."""

from __future__ import annotations

from collections.abc import Mapping

from crowd_demo.compute.jit import Call
from crowd_demo.registry.entries import load
from crowd_demo.registry.techniques import STRUCTURES
from crowd_demo.sim.neighbours.structure import Structure
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.reorder import reorder_calls, reorder_due
from crowd_demo.sim.world import Sizes, World


class Compact(Stage):
    """Close the gaps of removed agents, where removal is deferred."""

    name = "compact"

    def wanted(self, world: World) -> bool:
        return world.agents.handles.gaps > 0

    def calls(self, world: World) -> tuple[Call, ...]:
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
        is_present = self._made_for[0] == world.options.neighbours and self._made_for[1] is world.sizes
        return self._structure if is_present and self._structure.fresh else None

    def calls(self, world: World) -> tuple[Call, ...]:
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
        return (structure.REORDERS and not structure.in_order
                and reorder_due(world.options.reorder, world.tick, world.drift, world.grid.cell))

    def calls(self, world: World) -> tuple[Call, ...]:
        structure = self.index.structure(world)
        along = structure.along(world.options.curve)
        return (*along, *reorder_calls(world.agents, structure.order, world.workers))

    def commit(self, world: World) -> None:
        world.agents.swap()
        self.index.structure(world).reordered()
        world.drift.reset()


class SharedGrid(Stage):
    """Where the structure is not the grid: build it if *see*, contact or culling searches it, else mark it as outdated."""

    name = "index"

    def __init__(self, index: Index) -> None:
        self.index = index

    def wanted(self, world: World) -> bool:
        return not self.index.structure(world).USES_GRID

    def calls(self, world: World) -> tuple[Call, ...]:
        return world.grid.calls() if self._needed(world) else ()

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
        return bool(world.options.cull == "grid" and not world.grid.fresh)

    def calls(self, world: World) -> tuple[Call, ...]:
        return world.grid.calls()

    def commit(self, world: World) -> None:
        world.grid.built()


class Query(Stage):
    """Find the candidates of each group of the structure."""

    name = "query"

    def __init__(self, index: Index) -> None:
        self.index = index

    def wanted(self, world: World) -> bool:
        return self.index.structure(world).has_query

    def calls(self, world: World) -> tuple[Call, ...]:
        return self.index.structure(world).query(world.options.simd, world.rules, world.turn)
