"""Tools for the mouse: which there are, which is held, how large its brush is, and what its strokes do to the crowd.

A stroke goes from press to release. The main thread notes where the mouse was; the thread that makes the steps turns that into
actions, at most one a tick (while time stands still: one a frame), and joins the points, so a fast stroke has no gaps.

Another tool is an entry of `TOOLS`, a name in registry/actions.py and an icon in render/hud/tool_bar.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import NamedTuple

import numpy as np

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.crowd.hawk import HAWK, has_hawk
from crowd_demo.app.editing.brush import Patch, Point, Sweep, is_passed, points_along, tiles_passed
from crowd_demo.app.editing.undo import Undo
from crowd_demo.app.input.key_input import KeyAction, KeyActions
from crowd_demo.app.screen.notices import Notices
from crowd_demo.compute.arrays import Ints
from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.config.keys import key_text
from crowd_demo.config.maps import WALL
from crowd_demo.config.model import Config
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.render.camera import Camera
from crowd_demo.render.hud.status import BrushView, RingView, ToolBarView, ToolButton
from crowd_demo.sim.actions import Action, Place
from crowd_demo.sim.edits import (
    AddGoal,
    BringIn,
    PaintWalls,
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
from crowd_demo.sim.terrain.tiles import GONE
from crowd_demo.sim.ways import MOST_GOALS, Ways

LEAST_M, MOST_M = 0.5, 100.0  # of a brush: its diameter in metres
USUAL_M = {"brush": 3.0, "force": 20.0}  # tools of one kind of size share it
STRENGTH = 2.0  # of a force
SCARE_S = 4.0  # how long a scare lasts
HANDLE = 0.25  # a press so near the middle of a force, as part of its radius, removes it
NOTCH = 1.15  # the brush grows so much with each step of the wheel
MOST_IN = 5_000  # agents that one touch brings in
MOST_COUNTED = 200_000  # agents: in a larger crowd the cursor does not say how many it is over
DIAMOND_PX = 9  # half as wide is the mark of a destination
MOST_OUTLINE = 4_000  # edges of tiles that the cursor shows
BIRDS = ("flock", "hunt")  # behaviours


class Motion(Enum):
    """When a stroke acts."""

    SWEEP = "on all that the brush passes"
    DABS = "at the press, and each time the mouse has gone on by the width of the brush"
    HOLD = "at the press, and at the cursor in every tick until the release"
    DRAG = "at the press, then from where it last acted to the cursor"


class Tool(NamedTuple):
    """`edit` makes the action of a part of a stroke, or None; `tells` says beside the cursor what a press will do."""

    action: str  # of the registry, whose keys take the tool
    label: str
    icon: str
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
    """How many come in at a touch: one a square metre."""
    area_sq_m = math.pi * (sweep.radius / sim.config.measure.metre) ** 2
    return min(max(round(area_sq_m), 1), MOST_IN)


def _bring_in(sim: Simulation, sweep: Sweep) -> Action:
    return BringIn(count_in(sim, sweep), *sweep.path[-1], sweep.radius)


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
    return next((force for force in reversed(sim.world.forces.present)
                 if force.kind == kind and math.dist(at, (force.x, force.y)) <= part * force.radius), None)


def _put_force(kind: ForceKind, sim: Simulation, sweep: Sweep) -> Action | None:
    """A press puts a force or removes the one that is there; until the release it follows the mouse."""
    if len(sweep.path) > 1:
        return replace(put_again(sim, led), x=sweep.path[-1][0], y=sweep.path[-1][1]) if (
            led := _force_at(sim, kind, sweep.path[0], 0)) else None
    if there := _force_at(sim, kind, sweep.path[0], HANDLE):
        return RemoveForce(there.number)
    return PutForce(sim.world.forces.next_number, kind, *sweep.path[0], sweep.radius, STRENGTH)


def _tells_force(kind: ForceKind, sim: Simulation, sweep: Sweep) -> str:
    return f"remove: {kind}" if _force_at(sim, kind, sweep.path[-1], HANDLE) else kind


def _scare(sim: Simulation, sweep: Sweep) -> Action | None:
    """Lead the hawk; where there is none, scare who is around the cursor, for some seconds after the release."""
    if has_hawk(sim.config):
        return Place(HAWK, *sweep.path[-1])
    led = _force_at(sim, "scare", sweep.path[0], 0) if len(sweep.path) > 1 else None
    if led and sweep.path[0] == sweep.path[-1] and led.until - sim.tick > SCARE_S * sim.config.time.step_hz / 2:
        return None
    number = led.number if led else sim.world.forces.next_number
    return PutForce(number, "scare", *sweep.path[-1], sweep.radius, STRENGTH, round(SCARE_S * sim.config.time.step_hz))


def who(sim: Simulation, count: int) -> str:
    """So many agents, in words."""
    one, many = ("bird", "birds") if sim.config.behaviour in BIRDS else ("agent", "agents") if (
        sim.config.behaviour == "crates") else ("person", "people")
    return f"{count:,} {one if count == 1 else many}"


def _tells_out(sim: Simulation, sweep: Sweep) -> str:
    return f"{who(sim, len(_ids_under(sim, sweep)))} out" if sim.agents.count <= MOST_COUNTED else "out"


def has_goals(config: Config) -> bool:
    """Do people go to destinations with areas?"""
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
    return AddGoal(*to) if is_free and len(goals_of(sim)) < MOST_GOALS else None


def _tells_goal(sim: Simulation, sweep: Sweep) -> str:
    number, tile = goal_at(sim, sweep.path[-1], sweep.radius), sim.terrain.tile_number(*sweep.path[-1])
    if number is not None:
        return f"destination {number}: drag moves it, onto a wall takes it away"
    if tile is None or sim.terrain.blocked.flat[tile]:
        return "no destination in a wall"
    count = len(goals_of(sim))
    return f"a new destination, {count + 1} of {MOST_GOALS} at most" if count < MOST_GOALS else f"{MOST_GOALS} are all"


def _flip_exit(sim: Simulation, sweep: Sweep) -> Action | None:
    number, ways = goal_at(sim, sweep.path[-1], sweep.radius), sim.world.ways
    return SetExit(number, number not in ways.exits) if ways and number is not None else None


def _tells_exit(sim: Simulation, sweep: Sweep) -> str:
    flips = _flip_exit(sim, sweep)
    if not isinstance(flips, SetExit):
        return "no destination here"
    return f"destination {flips.number}: a click makes it {'an exit' if flips.is_exit else 'no exit'}"


HAND = Tool("tool_hand", "hand: click inspects, drag pans", "hand", Motion.HOLD, lambda sim, sweep: None,
            lambda sim, sweep: "")
TOOLS: tuple[Tool, ...] = (
    HAND,
    Tool("tool_wall", "wall: drag builds", "wall", Motion.SWEEP, partial(_paint, True), lambda sim, sweep: "wall",
         paints=True),
    Tool("tool_erase", "erase: drag tears walls down", "erase", Motion.SWEEP, partial(_paint, False),
         lambda sim, sweep: "erase", paints=False),
    Tool("tool_in", "in: press or drag adds agents", "in", Motion.DABS, _bring_in,
         lambda sim, sweep: f"{who(sim, count_in(sim, sweep))} in"),
    Tool("tool_out", "out: press or drag takes agents out", "out", Motion.SWEEP, _take_out, _tells_out),
    *(Tool(f"tool_{kind}", f"{kind}: press or drag puts one; a press on its middle removes it", kind, Motion.HOLD,
           partial(_put_force, kind), partial(_tells_force, kind), size="force")
      for kind in FORCE_KINDS if kind != "scare"),
    Tool("tool_goal", "goal: click adds a destination, drag moves one", "goal", Motion.DRAG, _set_goal, _tells_goal,
         is_usable=has_goals, shows_goals=True),
    Tool("tool_exit", "exit: a click lets people leave at a destination, or not", "exit", Motion.DABS, _flip_exit, _tells_exit,
         is_usable=lambda config: has_goals(config) and config.crowd.wait_s > 0, shows_goals=True),
    Tool("tool_scare", "scare: who is near flees; a hawk follows the pointer", "scare", Motion.HOLD, _scare,
         lambda sim, sweep: "the hawk" if has_hawk(sim.config) else "scare", size="force"),
)
BY_ACTION: Mapping[str, Tool] = {tool.action: tool for tool in TOOLS}


# --- strokes ------------------------------------------------------------------------------------------------------------

@dataclass(eq=False)
class Stroke:
    """`waiting` are the points that no action has reached yet, `last` is the one that the last action ended at."""

    tool: Tool
    radius: float  # world units
    at: Point  # where the mouse is
    waiting: list[Point] = field(default_factory=list)
    last: Point | None = None
    is_pressed: bool = True
    acted_at: int = -1  # tick
    walled_in: int = 0  # agents who had nowhere to step out to

    def move(self, to: Point) -> None:
        if self.tool.motion in (Motion.SWEEP, Motion.DRAG):
            self.waiting.append(to)
        elif self.tool.motion is Motion.DABS:
            self.waiting += (points := points_along(self.at, to, 2 * self.radius))
            if not points:
                return  # the next dab is counted from the last one
            to = points[-1]
        self.at = to

    @property
    def has_moved(self) -> bool:
        """Is there anything that no action has reached yet?"""
        return self.last != self.at if self.tool.motion is Motion.HOLD else bool(self.waiting)

    @property
    def is_over(self) -> bool:
        return not self.is_pressed and not self.has_moved

    def next_part(self) -> Sweep | None:
        """What to act on next."""
        before = (self.last,) if self.last else ()
        match self.tool.motion:
            case Motion.HOLD:
                path: tuple[Point, ...] = (*before, self.at)
            case Motion.DABS:
                path = (self.waiting.pop(0),) if self.waiting else ()
            case Motion.DRAG:  # `last` is where it was dropped
                path, self.waiting = (self.last or self.waiting[0], self.waiting[-1]) if self.waiting else (), []
                return Sweep(path, self.radius) if path else None
            case Motion.SWEEP:
                path, self.waiting = (*before, *self.waiting) if self.waiting else (), []
        if not path:
            return None
        self.last = path[-1]
        return Sweep(path, self.radius)


class Tools:
    """The tool that is held. `shown`: is the bar unfolded? `cursor`: where the mouse is over the picture, in pixels.

    `strokes` are those that are not carried out to their ends yet.
    """

    def __init__(self, crowd: Crowd, camera: Camera, undo: Undo, notices: Notices) -> None:
        self.held, self.shown = HAND, False
        self.sizes_m = dict(USUAL_M)
        self.cursor: Point | None = None
        self.keys: Mapping[str, Sequence[str]] = {}
        self._crowd, self._camera, self._undo, self._notices = crowd, camera, undo, notices
        self.strokes: list[Stroke] = []
        self._present: Stroke | None = None
        crowd.forgetting.append(self._forget)

    @property
    def actions(self) -> KeyActions:
        return {"tools": KeyAction(self.toggle_bar, at_once=True),
                **{tool.action: KeyAction(partial(self.take, tool), at_once=True) for tool in TOOLS},
                "brush_larger": KeyAction(partial(self.resize, 1), at_once=True),
                "brush_smaller": KeyAction(partial(self.resize, -1), at_once=True),
                **self._undo.actions, "undo": KeyAction(self._ask_undo, self._undo.ask_redo, changes=True)}

    # --- what is held ------------------------------------------------------------------------------------------------

    def toggle_bar(self) -> None:
        self.shown = not self.shown

    def take(self, tool: Tool) -> None:
        """Take a tool into the hand."""
        if not tool.is_usable(self._crowd.config):
            self._notices.add(f"nothing to do here: {tool.label}", "tool")
            return
        self.end()
        self.held = tool
        rest = "" if tool is HAND else "; the wheel with Ctrl changes the size; Esc takes the hand"
        self._notices.add(f"{tool.label}{rest}", "tool", holds=lambda: self.held is tool)

    @property
    def is_hand(self) -> bool:
        return self.held is HAND

    def resize(self, notches: float) -> None:
        """Make the brush larger, or smaller."""
        self.set_size(self.size_m * NOTCH**notches)

    @property
    def size_m(self) -> float:
        """Of the brush of the tool that is held: its diameter."""
        return self.sizes_m[self.held.size]

    def set_size(self, metres: float) -> None:
        self.sizes_m[self.held.size] = min(max(metres, LEAST_M), MOST_M)

    def set_share(self, share: float) -> None:
        """Set the size to where the slider is, 0 to 1."""
        self.set_size(LEAST_M * (MOST_M / LEAST_M) ** min(max(share, 0.0), 1.0))

    @property
    def radius(self) -> float:
        """Of the brush, world units."""
        return self.size_m / 2 * self._crowd.config.measure.metre

    # --- strokes: the main thread ------------------------------------------------------------------------------------

    def begin(self, x: float, y: float) -> bool:
        """Begin a stroke at a pixel; return whether a tool is held that does anything."""
        if self.is_hand or not self._crowd.takes_changes():
            return False
        at = self._camera.screen_to_world(x, y)
        self._present = Stroke(self.held, self.radius, at, [] if self.held.motion is Motion.HOLD else [at])
        self.strokes.append(self._present)
        return True

    def move(self, x: float, y: float) -> None:
        if self._present:
            self._present.move(self._camera.screen_to_world(x, y))

    def end(self) -> None:
        if self._present:
            self._present.is_pressed = False
        self._present = None

    # --- strokes: the thread that makes the steps --------------------------------------------------------------------

    def work(self, at_once: bool = False) -> None:
        """Carry out what is due of the strokes before the next step; with `at_once` all of it."""
        for stroke in self.strokes[:]:
            if at_once or self._is_due(stroke):
                self._act(stroke)
            while at_once and stroke.waiting:
                self._act(stroke)
            if stroke.is_over and stroke in self.strokes:
                self.strokes.remove(stroke)

    def _is_due(self, stroke: Stroke) -> bool:
        """At most once a tick; while time stands still, whenever the mouse has moved."""
        if stroke.acted_at != self._crowd.sim.tick:
            return True
        return self._crowd.paused and stroke.has_moved

    def _act(self, stroke: Stroke) -> None:
        sim, part = self._crowd.sim, stroke.next_part()
        action = stroke.tool.edit(sim, part) if part else None
        if action and part:
            stroke.acted_at, stroke.last, before = sim.tick, part.path[-1], sim.agents.count
            self._undo.carry_out(action, stroke.tool.label.partition(":")[0], stroke)
            if stroke.tool.paints and sim.agents.count < before:
                stroke.walled_in += before - sim.agents.count
                self._notices.add(f"{who(sim, stroke.walled_in)} out: no free ground was near; undo brings them back",
                                  "walled in")

    def tell_ways(self, ways: Ways) -> None:
        """Say how far ways have followed the walls. Call as long as they have not."""
        if ways.steps > 1:
            self._notices.add(f"ways follow the new walls: {ways.following} of {len(ways.fields.made)}", "ways",
                              holds=lambda: ways.waits)

    def _ask_undo(self) -> None:
        """Undo the last stroke, of which the rest is carried out first."""
        self.end()
        self._crowd.apply(partial(self.work, at_once=True))
        self._undo.ask_undo()

    def _forget(self, tick: int) -> None:
        """Another crowd gets none of the strokes on the present one."""
        if tick < 0:
            self.strokes, self._present = [], None

    # --- what is shown -----------------------------------------------------------------------------------------------

    def brush(self) -> BrushView | None:
        """What the cursor shows: how large the brush is, and what a press will do."""
        sim, at = self._crowd.sim, self.cursor
        if self.is_hand or at is None or self._crowd.player:
            return None
        sweep = Sweep((self._camera.screen_to_world(*at),), self.radius)
        lines: tuple[tuple[Point, Point], ...] = ()
        if self.held.paints is not None:
            patch = tiles_passed(sim.terrain, sweep)
            changes = (sim.terrain.kinds[patch.part] == WALL) != self.held.paints
            lines = self._outline(patch._replace(mask=patch.mask & changes), float(sim.terrain.walls.tile))
        if self.held.shows_goals:
            lines = self._goals(sim)
        return BrushView(at, self.radius * self._camera.zoom, lines,
                         f"{self.held.tells(sim, sweep)}, {size_text(self.size_m)}")

    def rings(self) -> list[RingView]:
        """The forces that stand, as the picture shows them."""
        camera = self._camera
        return [RingView(camera.world_to_screen(force.x, force.y), force.radius * camera.zoom, force.kind)
                for force in self._crowd.sim.world.forces.present]

    def bar(self) -> ToolBarView | None:
        """What the bar shows; None while it is folded."""
        if not self.shown:
            return None
        buttons = [ToolButton(tool.action, tool.icon, tool.label, self._key(tool.action), tool is self.held)
                   for tool in TOOLS if tool.is_usable(self._crowd.config)]
        for action in ("undo", "redo"):
            buttons.append(ToolButton(action, action, PROGRAM[action].what, self._key(action), False))
        share = math.log(self.size_m / LEAST_M) / math.log(MOST_M / LEAST_M)
        return ToolBarView(tuple(buttons), size_text(self.size_m), share)

    def _key(self, action: str) -> str:
        return " ".join(key_text(name) for name in self.keys.get(action, ())[:1])

    def _goals(self, sim: Simulation) -> tuple[tuple[Point, Point], ...]:
        """A diamond for each destination, with a cross for an exit, as lines in pixels."""
        lines, exits = list[tuple[Point, Point]](), sim.world.ways.exits if sim.world.ways else ()
        for number in goals_of(sim):
            (x, y), half = self._camera.world_to_screen(*sim.terrain.destinations[number][:2]), DIAMOND_PX
            corners = [(x + half, y), (x, y + half), (x - half, y), (x, y - half)]
            lines += zip(corners, corners[1:] + corners[:1], strict=True)
            lines += [(corners[0], corners[2]), (corners[1], corners[3])] if number in exits else []
        return tuple(lines)

    def _outline(self, patch: Patch, tile: float) -> tuple[tuple[Point, Point], ...]:
        """The edges between tiles that will change and others, as lines in pixels; none where there are too many."""
        mask = np.pad(patch.mask, 1).view(np.int8)
        rows, columns = np.nonzero(np.diff(mask, axis=0)[:, 1:-1])  # between the row above and this one
        across = [((column, row), (column + 1, row)) for row, column in zip(rows.tolist(), columns.tolist(), strict=True)]
        rows, columns = np.nonzero(np.diff(mask, axis=1)[1:-1])
        down = [((column, row), (column, row + 1)) for row, column in zip(rows.tolist(), columns.tolist(), strict=True)]
        if len(across) + len(down) > MOST_OUTLINE:
            return ()
        to_px = self._camera.world_to_screen
        return tuple((to_px((x0 + patch.column) * tile, (y0 + patch.row) * tile),
                      to_px((x1 + patch.column) * tile, (y1 + patch.row) * tile)) for (x0, y0), (x1, y1) in across + down)


def size_text(metres: float) -> str:
    """3 m, 0.5 m."""
    return f"{metres:.1f} m" if metres < 9.95 else f"{metres:.0f} m"
