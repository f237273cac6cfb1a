"""The tools for the mouse: what each does to the crowd under it, and what the cursor says of it.

Another tool is an entry of `TOOLS`, an action in registry/actions.py and an icon in render/hud/navigation.py. Which tiles
a round brush passes on its way is pure geometry, in world units, with memory for those near the way alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from crowd_demo.app.controls import HAWK, has_hawk
from crowd_demo.compute.arrays import Bools, Doubles, Ints
from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.config.model import Config
from crowd_demo.sim.actions import Action, Place
from crowd_demo.sim.edits import (
    AddGoal,
    BringIn,
    PaintWalls,
    PlaceLine,
    PutForce,
    Remove,
    RemoveForce,
    SetExit,
    SetGoal,
    TakeOut,
    handles_of,
    put_again,
)
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.forces import FORCE_KINDS, Force, ForceKind
from crowd_demo.sim.terrain.tiles import GONE, Run, Terrain
from crowd_demo.sim.ways import MAX_GOALS

STRENGTH = 2.0  # of a force
SCARE_S = 4.0  # how long a scare lasts
HANDLE = 0.25  # a press so near the middle of a force, as part of its radius, removes it
MAX_IN = 5_000  # agents that one touch brings in
MAX_COUNTED = 200_000  # agents: in a larger crowd the cursor does not say how many it is over
BIRDS = ("flock", "hunt")  # behaviours
Point = tuple[float, float]


class Motion(Enum):
    SWEEP = "on all that the brush passes"
    DABS = "at the press, and each time the mouse has gone on by the width of the brush"
    HOLD = "at the press, and at the cursor in every tick until the release"
    DRAG = "at the press, then from where it last acted to the cursor"


class Tool(NamedTuple):
    """`edit` makes the action of a part of a stroke, or None; `tells` says beside the cursor what a press will do."""

    name: str  # after `tool_` in registry/actions.py, and of its icon
    label: str
    motion: Motion
    edit: Callable[[Simulation, Sweep], Action | None]
    tells: Callable[[Simulation, Sweep], str]
    paints: bool | None = None  # True builds walls on tiles, False tears them down
    size: str = "brush"
    is_usable: Callable[[Config], bool] = lambda config: True
    shows_goals: bool = False


# --- what the tools do --------------------------------------------------------------------------------------------------

def _paint(wall: bool, sim: Simulation, sweep: Sweep) -> Action | None:
    runs = tiles_passed(sim.terrain, sweep).runs
    return PaintWalls(runs, wall) if runs else None


def count_in(sim: Simulation, sweep: Sweep) -> int:
    """How many come in at a touch: one per square metre."""
    area_sq_m = math.pi * (sweep.radius / sim.config.measure.metre) ** 2
    return min(max(round(area_sq_m), 1), MAX_IN)


def _ids_under(sim: Simulation, sweep: Sweep) -> Ints:
    columns, count = sim.agents.columns, sim.agents.count
    x, y = (along[:count].astype(np.float64) for along in (columns.x, columns.y))
    return np.sort(columns.id[:count][is_passed(x, y, sweep)])


def _take_out(sim: Simulation, sweep: Sweep) -> Action | None:
    if len(sweep.path) == 1:
        return TakeOut(*sweep.path[0], sweep.radius)
    ids = _ids_under(sim, sweep)
    return Remove(handles_of(sim, ids)) if len(ids) else None


def _force_at(sim: Simulation, kind: ForceKind, at: Point, part: float) -> Force | None:
    """The force of a kind whose middle is no farther from a point than a part of its radius, the last of several."""
    return next((force for force in reversed(sim.forces.present)
                 if force.kind == kind and math.dist(at, (force.x, force.y)) <= part * force.radius), None)


def _put_force(kind: ForceKind, sim: Simulation, sweep: Sweep) -> Action | None:
    """A press puts a force or removes the one that is there; until the release it follows the mouse."""
    if len(sweep.path) > 1:
        return replace(put_again(sim, led), x=sweep.path[-1][0], y=sweep.path[-1][1]) if (
            led := _force_at(sim, kind, sweep.path[0], 0)) else None
    if there := _force_at(sim, kind, sweep.path[0], HANDLE):
        return RemoveForce(there.number)
    return PutForce(sim.forces.next_number, kind, *sweep.path[0], sweep.radius, STRENGTH)


def _tells_force(kind: ForceKind, sim: Simulation, sweep: Sweep) -> str:
    return f"remove: {kind}" if _force_at(sim, kind, sweep.path[-1], HANDLE) else kind


def _scare(sim: Simulation, sweep: Sweep) -> Action | None:
    """Lead the hawk; where there is none, scare who is around the cursor, for some seconds after the release."""
    if has_hawk(sim.config):
        return Place(HAWK, *sweep.path[-1])
    led = _force_at(sim, "scare", sweep.path[0], 0) if len(sweep.path) > 1 else None
    if led and sweep.path[0] == sweep.path[-1] and led.until - sim.tick > SCARE_S * sim.config.time.step_hz / 2:
        return None
    number = led.number if led else sim.forces.next_number
    return PutForce(number, "scare", *sweep.path[-1], sweep.radius, STRENGTH, round(SCARE_S * sim.config.time.step_hz))


def who(sim: Simulation, count: int) -> str:
    one, many = ("bird", "birds") if sim.config.behaviour in BIRDS else ("agent", "agents") if (
        sim.config.behaviour == "crates") else ("person", "people")
    return f"{count:,} {one if count == 1 else many}"


def _place_line(sim: Simulation, sweep: Sweep) -> Action:
    """A press begins a line, and so removes the present one; until the release its end follows the mouse."""
    begin, line = sweep.path[0], sim.counts.line
    return PlaceLine((*(line[:2] if line[2:] == begin else begin), *sweep.path[-1]))


def has_goals(config: Config) -> bool:
    """Return whether people go to destinations with areas."""
    settings = config.behaviour_settings
    return isinstance(settings, PeopleSettings) and settings.room > 0


def goals_of(sim: Simulation) -> list[int]:
    return [number for number in range(len(sim.terrain.destinations)) if sim.terrain.goals.get(number) != GONE]


def goal_at(sim: Simulation, at: Point, radius: float) -> int | None:
    """The nearest destination that is no farther than that, or than a tile."""
    places = sim.terrain.destinations
    far, number = min(((math.dist(at, places[number][:2]), number) for number in goals_of(sim)), default=(math.inf, 0))
    return number if far <= max(radius, float(sim.terrain.walls.tile)) else None


def _set_goal(sim: Simulation, sweep: Sweep) -> Action | None:
    """Move the destination at the start to the end; onto a wall takes it away. Add one where there is none."""
    terrain, number, to = sim.terrain, goal_at(sim, sweep.path[0], sweep.radius), sweep.path[-1]
    tile = terrain.tile_number(*to)
    is_free = tile is not None and terrain.blocked.flat[tile] == 0
    if number is not None:
        return SetGoal(number, tile if is_free and tile is not None else GONE)
    return AddGoal(*to) if is_free and len(goals_of(sim)) < MAX_GOALS else None


def _tells_goal(sim: Simulation, sweep: Sweep) -> str:
    number, tile = goal_at(sim, sweep.path[-1], sweep.radius), sim.terrain.tile_number(*sweep.path[-1])
    if number is not None:
        return f"destination {number}: drag moves it, onto a wall takes it away"
    if tile is None or sim.terrain.blocked.flat[tile]:
        return "no destination in a wall"
    count = len(goals_of(sim))
    return f"a new destination, {count + 1} of {MAX_GOALS} at most" if count < MAX_GOALS else f"{MAX_GOALS} are all"


def _flip_exit(sim: Simulation, sweep: Sweep) -> Action | None:
    number, ways = goal_at(sim, sweep.path[-1], sweep.radius), sim.ways
    return SetExit(number, number not in ways.exits) if ways and number is not None else None


def _tells_exit(sim: Simulation, sweep: Sweep) -> str:
    flips = _flip_exit(sim, sweep)
    if not isinstance(flips, SetExit):
        return "no destination here"
    return f"destination {flips.number}: a click makes it {'an exit' if flips.is_exit else 'no exit'}"


HAND = Tool("pointer", "pointer: click inspects, drag pans", Motion.HOLD, lambda sim, sweep: None, lambda sim, sweep: "")
TOOLS: dict[str, Tool] = {tool.name: tool for tool in (
    HAND,
    Tool("wall", "wall: drag builds", Motion.SWEEP, partial(_paint, True), lambda sim, sweep: "wall",
         paints=True),
    Tool("erase", "erase: drag tears walls down", Motion.SWEEP, partial(_paint, False),
         lambda sim, sweep: "erase", paints=False),
    Tool("in", "in: press or drag adds agents", Motion.DABS,
         lambda sim, sweep: BringIn(count_in(sim, sweep), *sweep.path[-1], sweep.radius),
         lambda sim, sweep: f"{who(sim, count_in(sim, sweep))} in"),
    Tool("out", "out: press or drag takes agents out", Motion.SWEEP, _take_out, lambda sim, sweep: (
        f"{who(sim, len(_ids_under(sim, sweep)))} out" if sim.agents.count <= MAX_COUNTED else "out")),
    *(Tool(kind, f"{kind}: press or drag adds one, a press on its middle removes it", Motion.HOLD,
           partial(_put_force, kind), partial(_tells_force, kind), size="force")
      for kind in FORCE_KINDS if kind != "scare"),
    Tool("goal", "goal: click adds a destination, drag moves one", Motion.DRAG, _set_goal, _tells_goal,
         is_usable=has_goals, shows_goals=True),
    Tool("exit", "exit: a click lets people leave at a destination, or not", Motion.DABS, _flip_exit, _tells_exit,
         is_usable=lambda config: has_goals(config) and config.crowd.wait_s > 0, shows_goals=True),
    Tool("line", "line: drag counts agents crossing it, a click removes it", Motion.DRAG, _place_line,
         lambda sim, sweep: "counting line"),
    Tool("scare", "scare: agents near the pointer flee, a hawk follows it", Motion.HOLD, _scare,
         lambda sim, sweep: "the hawk" if has_hawk(sim.config) else "scare", size="force"),
)}


# --- the brush -------------------------------------------------------------------------------------------------------

class Sweep(NamedTuple):
    """The way of a round brush: at least one point, which are joined by straight lines."""

    path: tuple[Point, ...]
    radius: float


class Patch(NamedTuple):
    """Tiles of a part of the map, bool[h, w], whose upper left tile is (row, column)."""

    row: int
    column: int
    mask: Bools

    @property
    def runs(self) -> tuple[Run, ...]:
        """The stretches of tiles in reading order."""
        ends = np.diff(self.mask.view(np.int8), axis=1, prepend=np.int8(0), append=np.int8(0))
        (rows, first), (_, end) = np.nonzero(ends == 1), np.nonzero(ends == -1)
        first, end = first + self.column, end + self.column
        return tuple(zip((rows + self.row).tolist(), first.tolist(), end.tolist(), strict=True))

    @property
    def part(self) -> tuple[slice, slice]:
        """Where it lies in an array of all tiles."""
        rows, columns = self.mask.shape
        return np.s_[self.row:self.row + rows, self.column:self.column + columns]


def tiles_passed(terrain: Terrain, sweep: Sweep) -> Patch:
    """Return the tiles whose middle is no farther from the way than the radius, and those that lie under the way itself."""
    tile, (x, y) = float(terrain.walls.tile), np.array(sweep.path, np.float64).T
    (row, row_end), (column, column_end) = (
        _within(along.min() - sweep.radius, along.max() + sweep.radius, tile, count)
        for along, count in ((y, terrain.rows), (x, terrain.columns)))
    centre_x: Doubles = (np.arange(column, column_end, dtype=np.float64) + 0.5) * tile
    centre_y: Doubles = (np.arange(row, row_end, dtype=np.float64)[:, None] + 0.5) * tile
    mask = np.zeros((row_end - row, column_end - column), np.bool_)
    for start, end in _segments(sweep.path):
        mask |= distance_sq(centre_x, centre_y, start, end) <= sweep.radius**2
        # and those under points that are half a tile apart, so that the line has no gaps
        count = math.ceil(2 * max(abs(end[0] - start[0]), abs(end[1] - start[1])) / tile) + 1
        columns, rows = (np.floor(np.linspace(first, last, count) / tile).astype(np.int64) - before
                         for first, last, before in ((start[0], end[0], column), (start[1], end[1], row)))
        inside = (rows >= 0) & (rows < mask.shape[0]) & (columns >= 0) & (columns < mask.shape[1])
        mask[rows[inside], columns[inside]] = True
    return Patch(row, column, mask)


def is_passed(x: Doubles, y: Doubles, sweep: Sweep) -> Bools:
    """Return bool[n]: which of the points float64[n] are no farther from the way than the radius."""
    return np.logical_or.reduce([distance_sq(x, y, *way) <= sweep.radius**2 for way in _segments(sweep.path)])


def distance_sq(x: Doubles, y: Doubles, start: Point, end: Point) -> Doubles:
    """Return the squared distance of points from a line between two others; the arrays are broadcast."""
    way_x, way_y = end[0] - start[0], end[1] - start[1]
    length_sq = way_x * way_x + way_y * way_y
    share = np.clip(((x - start[0]) * way_x + (y - start[1]) * way_y) / length_sq, 0, 1) if length_sq else 0.0
    found: Doubles = (x - start[0] - share * way_x) ** 2 + (y - start[1] - share * way_y) ** 2
    return found


def points_along(start: Point, end: Point, spacing: float) -> list[Point]:
    """Return the points of a line at each multiple of a distance from its start, without the start itself."""
    length = math.dist(start, end)
    shares = [spacing * number / length for number in range(1, int(length / spacing) + 1)] if length else []
    return [(start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])) for share in shares]


def _within(low: float, high: float, tile: float, count: int) -> tuple[int, int]:
    """The first tile on the map that touches a stretch, and the one after the last."""
    first = min(max(math.floor(low / tile), 0), count)
    return first, max(min(math.floor(high / tile) + 1, count), first)


def _segments(path: Sequence[Point]) -> list[tuple[Point, Point]]:
    return list(pairwise(path)) or [(path[0], path[0])]
