"""Edits: actions with which a user's hand changes a crowd and its walls. Each can be undone by other actions.

What an edit does follows from the action and the state at its tick alone, so it replays; `inverse` says, before it is applied,
which actions take it back. Tiles come in runs: (row, first column, end), of which the end is outside.
"""

from __future__ import annotations

import base64
import binascii
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated, cast

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Bytes, Ints
from crowd_demo.config.maps import MAX_SIDE, WALL, WATER
from crowd_demo.config.section import MAX_AGENTS
from crowd_demo.sim.actions import Action, Coordinate, SetWalls, Tile, action
from crowd_demo.sim.counts import Counts
from crowd_demo.sim.fundamental_diagram import Line
from crowd_demo.sim.store.state import check_columns, dtypes_of, views
from crowd_demo.sim.terrain.forces import UNTIL_REMOVED, Force, ForceKind, ForceNumber, Reach, Strength, Ticks
from crowd_demo.sim.terrain.tiles import AT_FIRST, GONE, NEAR_TILES, Terrain
from crowd_demo.sim.ways import MAX_GOALS, NO_EXITS
from crowd_demo.sim.world import World

Run = tuple[Tile, Tile, Tile]
Radius = Annotated[float, Field(ge=0, le=65_536)]
Identity = Annotated[int, Field(ge=0, le=2**31 - 1)]
Handles = tuple[tuple[Identity, Identity], ...]  # ids and generations
GoalNumber = Annotated[int, Field(ge=0, le=MAX_GOALS - 1)]
Count = Annotated[int, Field(ge=0, le=MAX_AGENTS)]


@action("paint_walls", "the walls changed", lasts=True)
@dataclass(frozen=True)
class PaintWalls(Action):
    """Build walls on tiles, or tear them down; tiles outside the map are ignored.

    People step out of new walls; those for whom no free tile is near are removed, and come back when it is undone.
    """

    runs: tuple[Run, ...]
    wall: bool

    def apply(self, world: World) -> None:
        world.paint_walls(self.runs, self.wall)

    def inverse(self, world: World) -> tuple[Action, ...]:
        terrain, columns, count = world.terrain, world.agents.columns, world.agents.count
        changed = terrain.changed_by(terrain.mask_of(self.runs), self.wall)
        if not changed.any():
            return ()
        back = PaintWalls(terrain.runs_of(changed), not self.wall)
        lost = terrain.walled_in(columns.x[:count], columns.y[:count], changed, NEAR_TILES) if self.wall else ()
        return (back, PutBack.of(world, np.sort(columns.id[lost]))) if len(lost) else (back,)


@action("set_goal", "a destination changed", lasts=True)
@dataclass(frozen=True)
class SetGoal(Action):
    """Put a destination onto a tile, back to where it was at the start (-2), or take it away (-1).

    The number is that of a destination, or the next one: then there is one more. Raises ValueError where that cannot be.
    """

    number: GoalNumber
    tile: Annotated[int, Field(ge=AT_FIRST, le=2**31 - 1)]

    def apply(self, world: World) -> None:
        world.set_goal(self.number, self.tile)

    def inverse(self, world: World) -> tuple[Action, ...]:
        terrain = world.terrain
        is_new = self.number >= len(terrain.destinations)
        before = GONE if is_new else terrain.goals.get(self.number, AT_FIRST)
        return (SetGoal(self.number, before),) if before != self.tile else ()


@action("add_goal", "a destination came", lasts=True)
@dataclass(frozen=True)
class AddGoal(Action):
    """Add a destination on the tile under a point. Raises ValueError outside of the map, for a wall or too many."""

    x: Coordinate
    y: Coordinate

    def apply(self, world: World) -> None:
        if (tile := world.terrain.tile_number(self.x, self.y)) is None:
            raise ValueError("a goal: it is outside of the map")
        world.set_goal(self._number(world), tile)

    def inverse(self, world: World) -> tuple[Action, ...]:
        return (SetGoal(self._number(world), GONE),)

    def _number(self, world: World) -> int:
        """That of one that is gone, or else the next one."""
        gone = (number for number, tile in world.terrain.goals.items() if tile == GONE)
        return min(gone, default=len(world.terrain.destinations))


@action("set_exit", "an exit changed", lasts=True)
@dataclass(frozen=True)
class SetExit(Action):
    """Make a destination an exit, at which people leave and others come in, or none. Raises ValueError if there is none."""

    number: GoalNumber
    is_exit: bool

    def apply(self, world: World) -> None:
        if world.ways is None:
            raise ValueError(NO_EXITS)
        world.ways.set_exit(self.number, self.is_exit)

    def inverse(self, world: World) -> tuple[Action, ...]:
        ways = world.ways
        return (SetExit(self.number, not self.is_exit),) if ways and (self.number in ways.exits) != self.is_exit else ()


@action("bring_in", "agents came in")
@dataclass(frozen=True)
class BringIn(Action):
    """Add agents at random places on free tiles near a point. Raises ValueError for too many, or where no tile is free."""

    count: Count
    x: Coordinate
    y: Coordinate
    radius: Radius

    def apply(self, world: World) -> None:
        tiles = np.flatnonzero(world.terrain.brush(self.x, self.y, self.radius) & (world.terrain.blocked == 0))
        if not len(tiles):
            raise ValueError("no room: all tiles there are blocked")
        world.check_room(world.agents.count + self.count)
        ids, seed = self._ids(world), int(hashing.key(world.config.seed, world.tick, hashing.BIRTH)) & 0x7FFFFFFF
        x, y = world.terrain.random_points(tiles, ids.astype(np.int64), seed)
        world.add_agents_at(ids, x, y, seed)

    def inverse(self, world: World) -> tuple[Action, ...]:
        return (Remove(handles_of(world, self._ids(world))),) if self.count else ()

    def _ids(self, world: World) -> Ints:
        return world.agents.handles.free_ids(self.count)


class _Removal(Action):
    """Base of actions that remove agents, which an undo puts back."""

    @abstractmethod
    def _ids(self, world: World) -> Ints:
        """Return the ids of those agents."""

    def apply(self, world: World) -> None:
        world.remove_agents(self._ids(world))

    def inverse(self, world: World) -> tuple[Action, ...]:
        ids = self._ids(world)
        return (PutBack.of(world, ids),) if len(ids) else ()


@action("take_out", "agents were taken out")
@dataclass(frozen=True)
class TakeOut(_Removal):
    """Remove all agents that are no farther from a point."""

    x: Coordinate
    y: Coordinate
    radius: Radius

    def _ids(self, world: World) -> Ints:
        columns, count = world.agents.columns, world.agents.count
        dx, dy = columns.x[:count] - np.float32(self.x), columns.y[:count] - np.float32(self.y)
        radius = np.float32(self.radius)
        return np.sort(columns.id[:count][dx * dx + dy * dy <= radius * radius])


@action("remove", "agents were taken out")
@dataclass(frozen=True)
class Remove(_Removal):
    """Remove agents by their ids and generations; whoever has left already is ignored."""

    handles: Handles

    def with_handles(self, new: Mapping[tuple[int, int], tuple[int, int]]) -> Remove:
        """The same agents, some of whom have new handles since they came back."""
        return Remove(tuple(new.get(handle, handle) for handle in self.handles))

    def _ids(self, world: World) -> Ints:
        ids, generations = np.array(self.handles, np.int64).reshape(-1, 2).T
        known = world.agents.handles.has(ids)
        ids, generations = ids[known], generations[known]
        return np.unique(ids[world.agents.handles.generations[ids] == generations]).astype(np.int32)


@action("put_back", "agents came back")
@dataclass(frozen=True)
class PutBack(Action):
    """Add agents that were there before, under the lowest free ids; who would be in a wall is moved out of it.

    `columns` are all of theirs but the ids, int32[names, n] in base64; `former` are the handles that they had.
    Raises ValueError for columns that this crowd cannot have.
    """

    count: Count
    columns: str
    former: Handles

    @classmethod
    def of(cls, world: World, ids: Ints) -> PutBack:
        """The action that would add those agents again."""
        rows = np.ascontiguousarray(world.agents.front[1:, world.agents.handles.slots_of(ids)], "<i4")
        return cls(len(ids), base64.b64encode(rows.tobytes()).decode(), handles_of(world, ids))

    def new_handles(self, world: World) -> dict[tuple[int, int], tuple[int, int]]:
        """Return, before it is applied, the handles that they will have, by their former ones."""
        return dict(zip(self.former, handles_of(world, world.agents.handles.free_ids(self.count)), strict=True))

    def apply(self, world: World) -> None:
        world.check_room(world.agents.count + self.count)
        names = world.agents.names
        try:
            data = base64.b64decode(self.columns, validate=True)
        except binascii.Error:
            raise ValueError("put_back: columns is not valid base64") from None
        if len(data) != 4 * self.count * (len(names) - 1):
            raise ValueError(f"put_back: columns has {len(data)} bytes, {self.count} agents have another number")
        ids = world.agents.handles.free_ids(self.count)
        rows = np.vstack((ids, np.frombuffer(data, "<i4").reshape(len(names) - 1, self.count))).astype(np.int32)
        check_columns(rows, dtypes_of(world.agents.kind), world.bounds_of(world.widest))
        columns: dict[str, ArrayLike] = dict(zip(names, views(world.agents.kind, rows), strict=True))
        if world.terrain.blocked.all():
            raise ValueError("no room: all tiles are blocked")
        before = world.agents.count
        world.agents.spawn(**columns)
        all_columns, new = world.agents.columns, slice(before, world.agents.count)
        world.terrain.step_out(all_columns.x[new], all_columns.y[new])
        world.grid.outdated()

    def inverse(self, world: World) -> tuple[Action, ...]:
        return (Remove(handles_of(world, world.agents.handles.free_ids(self.count))),) if self.count else ()


@action("put_force", "a force changed", lasts=True)
@dataclass(frozen=True)
class PutForce(Action):
    """Add a force, or put the one of that number there instead; it acts from the next step on, for so many ticks.

    With `UNTIL_REMOVED` it stays. Raises ValueError where there are too many, or for a number that leaves out others.
    """

    number: ForceNumber
    kind: ForceKind
    x: Coordinate
    y: Coordinate
    radius: Reach
    strength: Strength
    ticks: Ticks = UNTIL_REMOVED

    def apply(self, world: World) -> None:
        world.forces.put(self._force(world))

    def inverse(self, world: World) -> tuple[Action, ...]:
        before = world.forces.of_number(self.number)
        if before == self._force(world):
            return ()
        return (put_again(world, before) if before else RemoveForce(self.number),)

    def _force(self, world: World) -> Force:
        until = world.tick + self.ticks if self.ticks else UNTIL_REMOVED
        return Force(self.number, self.kind, self.x, self.y, self.radius, self.strength, until)


@action("remove_force", "a force was removed", lasts=True)
@dataclass(frozen=True)
class RemoveForce(Action):
    """Remove a force by its number; one that is there no more is ignored."""

    number: ForceNumber

    def apply(self, world: World) -> None:
        world.forces.remove(self.number)

    def inverse(self, world: World) -> tuple[Action, ...]:
        before = world.forces.of_number(self.number)
        return (put_again(world, before),) if before else ()


@action("place_line", "the counting line changed", lasts=True)
@dataclass(frozen=True)
class PlaceLine(Action):
    """Place the counting line, which counts people who cross it in either direction; two equal points remove it."""

    ends: tuple[Coordinate, Coordinate, Coordinate, Coordinate]

    def apply(self, world: World) -> None:
        cast(Counts, world.part(Counts)).place(Line(*self.ends))

    def inverse(self, world: World) -> tuple[Action, ...]:
        before = cast(Counts, world.part(Counts)).line
        return (PlaceLine((before.x, before.y, before.to_x, before.to_y)),) if before != self.ends else ()


def put_again(world: World, force: Force) -> PutForce:
    """The action that would put a force where it is, for as long as it will last."""
    return PutForce(*force[:-1], ticks=force.until - world.tick if force.until else UNTIL_REMOVED)


def handles_of(world: World, ids: Ints) -> tuple[tuple[int, int], ...]:
    """Return (id, generation) of each id, also of those that nobody has yet."""
    generations = world.agents.handles.generations
    known = np.zeros(len(ids), np.int32)
    inside = ids < len(generations)
    known[inside] = generations[ids[inside]]
    return tuple(zip(ids.tolist(), known.tolist(), strict=True))


def lasting_edits(history: Iterable[tuple[int, Action]], terrain: Terrain,
                  first_exits: Collection[int] = ()) -> tuple[Action, ...]:
    """Return actions that do to a fresh world what hands have built in a history, which is not what events did.

    Of all walls that were painted one after the other, destinations and forces only what is left of them; of destinations
    those that are not in a wall. `first_exits` are the destinations that were exits at first.
    """
    kinds, found = terrain.first_kinds.copy(), list[Action]()
    lasting = [action for _, action in history if action.lasts]
    others = (action for action in lasting if not isinstance(action, _COUNTED))
    for is_paint, actions in groupby(others, lambda action: isinstance(action, PaintWalls | SetWalls)):
        if is_paint:
            built, torn = terrain.net_paints(kinds, map(_painted, actions))
            found += [PaintWalls(runs, wall) for runs, wall in ((built, True), (torn, False)) if runs]
        else:
            found += actions
    last = {change.number: change for change in lasting if isinstance(change, SetExit)}
    exits = (change for number, change in sorted(last.items()) if change.is_exit != (number in first_exits))
    found += [change for change in lasting if isinstance(change, PlaceLine)][-1:]
    found += (*_standing_goals(lasting, terrain, kinds), *exits, *_standing_forces(lasting))
    return tuple(found)


def _standing_goals(actions: Iterable[Action], terrain: Terrain, kinds: Bytes) -> list[SetGoal]:
    """Return the actions that put destinations where hands have put them, where there is no wall in the end."""
    first, goals = len(terrain.first_destinations), dict[int, int]()
    for change in actions:
        if isinstance(change, SetGoal):
            goals[change.number] = change.tile
        elif isinstance(change, AddGoal) and (tile := terrain.tile_number(change.x, change.y)) is not None:
            gone = (number for number, at in goals.items() if at == GONE)
            goals[min(gone, default=max(first, max(goals, default=-1) + 1))] = tile
    solid = np.isin(kinds, (WALL, WATER)).reshape(-1)
    goals = {number: GONE if tile >= 0 and solid[tile] else tile for number, tile in sorted(goals.items())}
    goals = {number: tile for number, tile in goals.items() if tile != AT_FIRST}
    while (last := max(goals, default=-1)) >= first and goals[last] == GONE:
        del goals[last]
    moved = [SetGoal(number, GONE) for number in goals if number < first]  # so that no two are ever on one tile
    return moved + [SetGoal(number, tile) for number, tile in goals.items() if number >= first or tile != GONE]


def _standing_forces(actions: Iterable[Action]) -> Iterator[PutForce]:
    standing: dict[int, PutForce] = {}
    for change in actions:
        if isinstance(change, PutForce) and change.ticks == UNTIL_REMOVED:
            standing[change.number] = change
        elif isinstance(change, PutForce | RemoveForce):
            standing.pop(change.number, None)
    for number, (_, put) in enumerate(sorted(standing.items())):
        yield replace(put, number=number)


_COUNTED = SetGoal | AddGoal | SetExit | PutForce | RemoveForce | PlaceLine  # of which only the outcome lasts


def _painted(action: Action) -> tuple[tuple[Run, ...], bool]:
    """The runs of tiles on which an action builds walls, or tears them down."""
    if isinstance(action, SetWalls):
        left, top, right, bottom = action.rectangle
        return tuple((row, left, right) for row in range(max(top, 0), min(bottom, MAX_SIDE))), action.wall
    assert isinstance(action, PaintWalls)
    return action.runs, action.wall
