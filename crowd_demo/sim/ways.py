"""Ways: areas and flow fields follow an edit at a fixed number of tiles a step (docs/model_people.md, "Ways").

A *round* takes walls and destinations as they are in its first step. In each step TILES_A_STEP tiles of work are done: first
the areas are claimed, row by row; once that is done they hold, and then one field after the other goes by the new walls.
Until its turn a field stays as it was. What is edited meanwhile waits for the next round. So what a field goes by follows
from what there was before the round, what the round took and its age: all that a snapshot needs.

A tile belongs to the destination that the map marks on it; else to that of the nearest point, of those that see its
middle and are nearer than a radius (of equals the first). O(tiles * destinations).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from crowd_demo.compute.arrays import Bytes, Floats, Ints, Marks
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, launch, run
from crowd_demo.sim.store.state import EMPTY, PartState
from crowd_demo.sim.terrain.crowding import Crowding, Prices
from crowd_demo.sim.terrain.flow_fields import FlowFields, allow_steps
from crowd_demo.sim.terrain.ground import in_sight
from crowd_demo.sim.terrain.tiles import AT_FIRST, GONE, Goals, Terrain, Walls

TILES_A_STEP = 65_536  # a tile of a field takes about 30 ns, so this is 2 ms; and whole small maps follow in one step
CLAIMED = 4  # to test this many destinations for a tile takes as long as a tile of a field
MAX_GOALS = 64
NO_AREAS = "a goal: this crowd has no destinations with areas"
NO_EXITS = "an exit: there is no destination with an area at which people wait"


class WaysValues(BaseModel):
    """What a snapshot has beside the walls; goals as [number, tile]."""

    model_config = ConfigDict(strict=True, extra="forbid")

    goals: list[list[int]] = []
    exits: list[int] | None = None  # None: those of the configuration
    age: int = -1  # of the round; 0: it has not begun; -1: nothing waits
    old_goals: list[list[int]] = []
    new_goals: list[list[int]] = []


class Ways:
    """A part of the state: what areas and fields go by. `new` takes the place of `old`; mostly they are one.

    `exits` are the numbers of the destinations that are exits.
    """

    name = "ways"

    def __init__(self, terrain: Terrain, fields: FlowFields, crowding: Crowding, reach_sq: Callable[[Goals], Floats],
                 exits: int) -> None:
        """`reach_sq` says how far each area may reach, squared; the first `exits` destinations are exits."""
        self.fields, self.first_exits = fields, frozenset(range(exits))
        self._terrain, self._crowding, self._reach_sq = terrain, crowding, reach_sq
        self.exits: Collection[int] = self.first_exits
        self.has_areas = self.has_exits = False  # can destinations be elsewhere, and exits?
        self.old = self.new = self._begun = self._layout(terrain.blocked, terrain.goals).finished()
        self.age = 0  # steps of the round so far
        self._seen = terrain.version  # whose walls were those of `new`

    def set_goals(self, goals: Goals) -> None:
        """Have destinations elsewhere than at first, or more of them."""
        self._terrain.set_goals(goals)
        self._crowding.resize(len(self._terrain.destinations))
        self.fields.resize(self._terrain)

    def move_goal(self, number: int, tile: int) -> None:
        """Put a destination onto a tile; AT_FIRST: where it was; GONE: take it away. Raises ValueError if that cannot be."""
        terrain = self._terrain
        if not self.has_areas:
            raise ValueError(NO_AREAS)
        if not 0 <= number <= len(terrain.destinations) or number >= MAX_GOALS:
            raise ValueError(f"a goal: there can be no destination {number}, of at most {MAX_GOALS}")
        if tile >= terrain.blocked.size or (tile >= 0 and not (
                terrain.blocked.flat[tile] == 0 and terrain.marks.flat[tile] in (-1, number))):
            raise ValueError("a goal: there is a wall, or another destination")
        goals = {**terrain.goals, number: tile}
        if tile == AT_FIRST:
            del goals[number]
            if number >= len(terrain.first_destinations):
                goals[number] = GONE
        self.set_goals(goals)

    def set_exit(self, number: int, is_exit: bool) -> None:
        """Make a destination an exit, or an ordinary one. Raises ValueError if that cannot be."""
        if not self.has_exits or number >= len(self._terrain.destinations):
            raise ValueError(NO_EXITS)
        self.exits = frozenset({*self.exits, number} if is_exit else {*self.exits} - {number})

    def settle(self) -> None:
        """Go by the present walls and destinations at once, as at the start."""
        self.old = self.new = self._begun = self.at_present()
        self.age, self._seen = 0, self._terrain.version
        self.fields.made[:] = self.fields.chosen[:] = 0

    # --- the rule ----------------------------------------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """Return whether anything does not follow the current walls and destinations yet."""
        terrain = self._terrain
        if self.new is self.old and self._seen != terrain.version and self.new.is_of(terrain.blocked, terrain.goals):
            self._seen = terrain.version
        return self.new is not self.old or self._seen != terrain.version

    @property
    def owner(self) -> Marks:
        """int16[H, W]: the destination whose area a tile is in, -1: none; of the areas that hold."""
        return (self.new if self.new is not self.old and self._areas_hold else self.old).targets

    @property
    def _areas_hold(self) -> bool:
        return self._rows(self.age) == self._terrain.rows

    @property
    def following(self) -> int:
        """How many fields go by the walls of the round."""
        work = self.age * TILES_A_STEP - self._terrain.rows * self._row_work
        return min(max(work, 0) // self._terrain.blocked.size, self._begun.count)

    @property
    def _row_work(self) -> int:
        return _row_work(self._terrain.columns, self._begun.count)

    @property
    def steps(self) -> int:
        """How many the round takes, or the last one took."""
        return self._steps_of(self._begun.count)

    def _steps_of(self, count: int) -> int:
        rows, columns = self._terrain.blocked.shape
        return -(-(rows * _row_work(columns, count) + count * rows * columns) // TILES_A_STEP)

    def _rows(self, age: int) -> int:
        """How many rows of the round's areas are claimed."""
        return min(age * TILES_A_STEP // self._row_work, self._terrain.rows)

    def at_present(self) -> Layout:
        """Return the areas and steps of the present walls and destinations, whatever the fields go by; O(tiles)."""
        return self._known(self._terrain.blocked, self._terrain.goals, (self.old, self.new))

    # --- a step ------------------------------------------------------------------------------------------------------

    def launches(self) -> tuple[Launch, ...]:
        """Return what does the work of a step, if something waits; then call `advance`."""
        terrain = self._terrain
        self._begun = self._layout(terrain.blocked, terrain.goals) if self.new is self.old else self.new
        return self._begun.launches(self._rows(self.age), self._rows(self.age + 1))

    def advance(self) -> None:
        """Call after it has run."""
        if self.new is self.old:
            self._seen = self._terrain.version
        self.new, self.age = self._begun, self.age + 1
        self.new.claimed = max(self.new.claimed, self._rows(self.age))
        self._turn_fields()
        if self.age >= self.steps:
            self.old, self.age = self.new, 0
            self.fields.chosen[:] = 0

    def launches_of_fields(self, prices: Prices, workers: int) -> tuple[Launch, ...]:
        """Return the kernels that make the fields that are asked for; without a round one."""
        layouts = (self.old,) if self.new is self.old else (self.old, self.new)
        return self.fields.launches([(layout.targets, layout.steps) for layout in layouts], prices, workers)

    def launches_ahead(self, tick: int) -> tuple[Launch, ...]:
        """Return the kernel that begins the next field with new prices; none while walls or areas change."""
        crowding = self._crowding
        goal = crowding.next_outdated(tick)
        if goal is None or self.new is not self.old:
            return ()
        tiles = -(-self._terrain.blocked.size * len(self.fields.made) // crowding.every)
        return self.fields.make_ahead(goal, (self.old.targets, self.old.steps), crowding.prices(tick), tiles)

    def _turn_fields(self) -> None:
        """Have the first fields go by the new walls, and those of moved destinations once their areas hold.

        Those that change are made again when they are asked for.
        """
        turned = np.arange(len(self.fields.chosen)) < self.following
        if self._areas_hold:
            for goal in self.old.goals.keys() | self.new.goals.keys():
                turned[goal:goal + 1] |= self.old.goals.get(goal) != self.new.goals.get(goal)
        self.fields.made[turned != self.fields.chosen] = 0
        self.fields.chosen[:] = turned

    # --- a part of the state -----------------------------------------------------------------------------------------

    def state(self) -> PartState:
        values: dict[str, object] = {"goals": _listed(self._terrain.goals)} if self._terrain.goals else {}
        if self.exits != self.first_exits:
            values["exits"] = sorted(self.exits)
        if not self.waits:
            return PartState(values) if values else EMPTY
        values |= {"age": self.age, "old_goals": _listed(self.old.goals)}
        if self.age:
            values["new_goals"] = _listed(self.new.goals)
        return PartState(values, {"old": self.old.bits} | ({"new": self.new.bits} if self.age else {}))

    def restore(self, state: PartState) -> None:
        values, terrain, layouts = self._read(state), self._terrain, (self.old, self.new)
        self.set_goals(_goals(values.goals))
        self.exits = self.first_exits if values.exits is None else frozenset(values.exits)
        walls = {name: np.unpackbits(bits.view(np.uint8), count=terrain.blocked.size).reshape(terrain.blocked.shape)
                 for name, bits in state.arrays.items()}
        old = (self._known(walls["old"], _goals(values.old_goals), layouts) if walls
               else self._known(terrain.blocked, terrain.goals, layouts))
        new = self._known(walls["new"], _goals(values.new_goals), layouts) if "new" in walls else old
        if new is not self.new:
            self.fields.made[:] = 0
        elif old is not self.old:
            self.fields.made[self.fields.chosen == 0] = 0
        self.old, self.new, self._begun, self.age = old, new, new, max(values.age, 0)
        self._seen = -1 if walls else terrain.version
        self._turn_fields()

    def check(self, state: PartState) -> None:
        self._read(state)

    def count_in(self, state: PartState) -> int:
        return self._count(_goals(self._read(state).goals))

    def _read(self, state: PartState) -> WaysValues:
        """Raises ValueError for a state that cannot be."""
        try:
            values = WaysValues.model_validate(dict(state.values))
        except ValidationError:
            raise ValueError("not those of this map") from None
        tiles = self._terrain.blocked.size
        names = ["old", "new"][:min(values.age, 1) + 1]
        right = list(state.arrays) == names and all(
            array.dtype == np.uint8 and array.shape == (-(-tiles // 8),) for array in state.arrays.values())
        for listed in (values.goals, values.old_goals, values.new_goals):
            right = right and all(len(pair) == 2 and 0 <= pair[0] < MAX_GOALS and GONE <= pair[1] < tiles
                                  for pair in listed)
            goals = _goals(listed) if right else {}
            right = right and goals.keys() >= set(range(len(self._terrain.first_destinations), self._count(goals)))
        exits = set(values.exits or ())
        if not (right and exits <= set(range(self._count(_goals(values.goals))))
                and -1 <= values.age < self._steps_of(self._count(_goals(values.new_goals)))):
            raise ValueError("not those of this map")
        return values

    def _count(self, goals: Goals) -> int:
        return max(len(self._terrain.first_destinations), max(goals, default=-1) + 1)

    def _known(self, blocked: Bytes, goals: Goals, kept: Sequence[Layout]) -> Layout:
        """A layout of these walls and destinations, one of those at hand if possible."""
        found = next((layout for layout in kept if layout.is_of(blocked, goals)), None)
        return (found or self._layout(blocked, goals)).finished()

    def _layout(self, blocked: Bytes, goals: Goals) -> Layout:
        return Layout(self._terrain, blocked, goals, self._reach_sq(goals))


def _row_work(columns: int, count: int) -> int:
    """The work of claiming a row of the areas of so many destinations, in tiles of a field."""
    return max(columns * count // CLAIMED, 1)


def _listed(goals: Goals) -> list[list[int]]:
    return [list(item) for item in sorted(goals.items())]


def _goals(listed: list[list[int]]) -> Goals:
    return {pair[0]: pair[1] for pair in listed}


# --- which free tiles belong to which destination --------------------------------------------------------------------

class Areas(NamedTuple):
    tiles: Ints  # their numbers, one area after the other and in reading order
    first: Ints  # [D + 1]: where each area begins in `tiles`


def areas_of(owner: Marks, count: int) -> Areas:
    """Return the areas of `count` destinations; `owner` int16[H, W] is the one that a tile belongs to, -1: none."""
    flat = owner.reshape(-1)
    owned = np.flatnonzero(flat >= 0)
    by_owner = owned[np.argsort(flat[owned], kind="stable")]
    first = np.searchsorted(flat[by_owner], np.arange(count + 1))
    return Areas(by_owner.astype(np.int32), first.astype(np.int32))


class Layout:
    """Walls and destinations, and what follows: whose area a tile is in (`targets`), and the steps of fields."""

    def __init__(self, terrain: Terrain, blocked: Bytes, goals: Goals, radius_sq: Floats) -> None:
        """`blocked` is copied; nothing is claimed yet. `radius_sq` as in `claim_tiles`."""
        self.walls, self.goals = terrain.walls._replace(blocked=blocked.copy()), dict(goals)
        self._marks, destinations = terrain.with_goals(goals)
        self.count = len(destinations)
        self.targets, self.steps = np.empty_like(terrain.marks), np.empty_like(blocked)
        self._points = np.array([(one.x, one.y) for one in destinations], np.float32).reshape(-1, 2)
        self._radius_sq = radius_sq
        self.claimed = 0  # rows
        self._bits: Bytes | None = None

    def is_of(self, blocked: Bytes, goals: Goals) -> bool:
        """Return whether the walls and the destinations are these."""
        return self.goals == goals and np.array_equal(self.walls.blocked, blocked)

    def launches(self, first: int, last: int) -> tuple[Launch, ...]:
        return (launch(claim_tiles, self.walls, self._marks, self._points, self._radius_sq, self.targets, first, last),
                launch(allow_steps, self.walls.blocked, self.steps, first, last))

    def finished(self) -> Layout:
        if self.claimed < len(self.targets):
            run(self.launches(self.claimed, len(self.targets)))
            self.claimed = len(self.targets)
        return self

    @property
    def bits(self) -> Bytes:
        if self._bits is None:
            self._bits = np.packbits(self.walls.blocked)
        return self._bits


@device
def claim_tiles(walls: Walls, marks: Marks, points: Floats, radius_sq: Floats, owner: Marks, first: int, last: int) -> None:
    """Fill rows [first, last) of `owner`; points float32[D, 2], radius_sq float32[D]: how far areas reach, squared."""
    for row in range(first, last):
        for column in range(marks.shape[1]):
            owner[row, column] = -1
            if walls.blocked[row, column]:
                continue
            owner[row, column] = marks[row, column]
            x, y = _middle(column, walls.tile, walls.width), _middle(row, walls.tile, walls.height)
            nearest_sq = 0.0 if marks[row, column] >= 0 else np.inf
            for number in range(points.shape[0]):
                dx, dy = points[number, 0] - x, points[number, 1] - y
                far_sq = dx * dx + dy * dy
                if far_sq < min(nearest_sq, radius_sq[number]) and in_sight(walls, points[number, 0], points[number, 1], x,
                                                                            y):
                    owner[row, column], nearest_sq = np.int16(number), far_sq


@formula
def _middle(number: int, tile: np.float32, end: np.float32) -> np.float32:
    """Along an axis, of a tile that is cut at the end of the world."""
    start = np.float32(number) * tile
    return (start + min(start + tile, end)) * 0.5
