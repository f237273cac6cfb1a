"""The tool that is held, how large its brush is, its strokes, and undo.

A stroke goes from press to release. The main thread notes where the mouse was; the thread that makes the steps turns
that into actions, at most one a tick (while time stands still: one a frame), and joins the points, so a fast stroke has
no gaps.

Each stroke of a tool can be undone, and so can what a key, a slider or a dialog changes: techniques, numbers, how many
agents there are, and manual events. An entry is taken back by actions of its own while the crowd goes on. A restart, a
load and an event that sends people away have no such actions: an undo brings back the crowd before them. Entries are
known for every tick: after going back in time, undo and redo have the entries of that tick again. Agents who come back
have new handles: entries that name their former ones are translated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from crowd_demo.app.crowd import Crowd, Entries, Entry, Timeline
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen import Notices, Pointer
from crowd_demo.app.tools import (
    HAND,
    TOOLS,
    Motion,
    Patch,
    Point,
    Sweep,
    Tool,
    goals_of,
    points_along,
    tiles_passed,
    who,
)
from crowd_demo.config.maps import WALL
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.camera import Camera
from crowd_demo.render.hud.status import BrushView, FlowView, Ring, ToolBarView, ToolButton
from crowd_demo.sim.actions import Action, Edit, Populate, Switch
from crowd_demo.sim.edits import PaintWalls, PlaceLine, PutBack, PutForce, Remove, RemoveForce, SetGoal
from crowd_demo.sim.events import Event, Send, actions_of
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.tuning import Tune

LEAST_M, MAX_M = 0.5, 100.0  # of a brush: its diameter in metres
USUAL_M = {"brush": 3.0, "force": 20.0}  # tools of one kind of size share it
NOTCH = 1.15  # the brush grows so much with each step of the wheel
DIAMOND_PX = 9  # half as wide is the mark of a destination
FLOW_S = 5  # the flow across the counting line is the mean of so many seconds
MAX_OUTLINE = 4_000  # edges of tiles that the cursor shows
NewHandles = Mapping[tuple[int, int], tuple[int, int]]
DIFFERENCE = "Undo reverts an edit while the crowd goes on. The timeline rewinds time."


@dataclass(eq=False)
class Stroke:
    """`waiting` are the points that no action has reached yet, `last` is the one that the last action ended at."""

    tool: Tool
    radius: float  # world units
    at: Point  # where the mouse is
    timeline: Timeline  # of the crowd that it is on: another one gets nothing of it
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
        """Return whether there is anything that no action has reached yet."""
        return self.last != self.at if self.tool.motion is Motion.HOLD else bool(self.waiting)

    def next_part(self) -> Sweep | None:
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
    """The tool that is held. `shown`: whether the bar is unfolded.

    `strokes` are those that are not carried out to their ends yet.
    """

    def __init__(self, crowd: Crowd, camera: Camera, pointer: Pointer, undo: Undo, keymap: Keymap,
                 notices: Notices) -> None:
        self.held, self.shown = HAND, False
        self.sizes_m = dict(USUAL_M)
        self._crowd, self._camera, self._pointer, self._undo = crowd, camera, pointer, undo
        self._keymap, self._notices = keymap, notices
        self.strokes: list[Stroke] = []
        self._present: Stroke | None = None

    # --- what is held ------------------------------------------------------------------------------------------------

    def toggle_bar(self) -> None:
        self.shown = not self.shown

    def take(self, name: str) -> None:
        tool = TOOLS[name]
        if not tool.is_usable(self._crowd.config):
            self._notices.add(f"nothing to do here: {tool.label}", "tool")
            return
        self.end()
        self.held = tool
        rest = "" if tool is HAND else " (Ctrl+wheel: size, Esc: pointer)"
        self._notices.add(f"{tool.label}{rest}", "tool", holds=lambda: self.held is tool)

    @property
    def is_hand(self) -> bool:
        return self.held is HAND

    def resize(self, notches: float) -> None:
        self.set_size(self.size_m * NOTCH**notches)

    @property
    def size_m(self) -> float:
        """Of the brush of the tool that is held: its diameter."""
        return self.sizes_m[self.held.size]

    def set_size(self, metres: float) -> None:
        self.sizes_m[self.held.size] = min(max(metres, LEAST_M), MAX_M)

    def set_share(self, share: float) -> None:
        """Set the size to where the slider is, 0 to 1."""
        self.set_size(LEAST_M * (MAX_M / LEAST_M) ** min(max(share, 0.0), 1.0))

    @property
    def radius(self) -> float:
        return self.size_m / 2 * self._crowd.config.measure.metre

    # --- strokes: the main thread ------------------------------------------------------------------------------------

    def begin(self, x: float, y: float) -> bool:
        """Begin a stroke at a pixel; return whether a tool is held that does anything."""
        if self.is_hand or not self._crowd.takes_changes():
            return False
        at = self._camera.screen_to_world(x, y)
        waiting = [] if self.held.motion is Motion.HOLD else [at]
        self._present = Stroke(self.held, self.radius, at, self._crowd.timeline, waiting)
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
        self.strokes = [stroke for stroke in self.strokes if stroke.timeline is self._crowd.timeline]
        for stroke in self.strokes[:]:
            is_still = self._crowd.paused and stroke.has_moved
            if at_once or is_still or stroke.acted_at != self._crowd.sim.tick:  # once a tick, or while paused
                self._act(stroke)
            while at_once and stroke.waiting:
                self._act(stroke)
            if not (stroke.is_pressed or stroke.has_moved) and stroke in self.strokes:
                self.strokes.remove(stroke)

    def _act(self, stroke: Stroke) -> None:
        sim, part = self._crowd.sim, stroke.next_part()
        action = stroke.tool.edit(sim, part) if part else None
        if action and part:
            stroke.acted_at, stroke.last, before = sim.tick, part.path[-1], sim.agents.count
            self._undo.carry_out(action, stroke.tool.label.partition(":")[0], stroke)
            if stroke.tool.paints and sim.agents.count < before:
                stroke.walled_in += before - sim.agents.count
                self._notices.add(f"{who(sim, stroke.walled_in)} removed: no free ground near (undo restores them)",
                                  "walled in")

    def undo(self) -> None:
        """Undo the last stroke, of which the rest is carried out first."""
        self.end()
        self.work(at_once=True)
        self._undo.undo()

    # --- what is shown -----------------------------------------------------------------------------------------------

    def brush(self) -> BrushView | None:
        """What the cursor shows: how large the brush is, and what a press will do."""
        sim, at = self._crowd.sim, self._pointer.at
        if self.is_hand or self._crowd.player:
            return None
        sweep = Sweep((self._camera.screen_to_world(*at),), self.radius)
        lines = list[tuple[Point, Point]]()
        if self.held.paints is not None:
            patch = tiles_passed(sim.terrain, sweep)
            changes = (sim.terrain.kinds[patch.part] == WALL) != self.held.paints
            lines = self._outline(patch._replace(mask=patch.mask & changes), float(sim.terrain.walls.tile))
        for number in goals_of(sim) if self.held.shows_goals else ():  # a diamond, with a cross for an exit
            (x, y), half = self._camera.world_to_screen(*sim.terrain.destinations[number][:2]), DIAMOND_PX
            corners = [(x + half, y), (x, y + half), (x - half, y), (x, y - half)]
            lines += zip(corners, corners[1:] + corners[:1], strict=True)
            is_exit = sim.ways and number in sim.ways.exits
            lines += [(corners[0], corners[2]), (corners[1], corners[3])] if is_exit else []
        size = "" if self.held.motion is Motion.DRAG else f", {size_text(self.size_m)}"
        return BrushView(at, self.radius * self._camera.zoom, tuple(lines), f"{self.held.tells(sim, sweep)}{size}")

    def rings(self) -> list[Ring]:
        return [(self._camera.world_to_screen(force.x, force.y), force.radius * self._camera.zoom, force.kind)
                for force in self._crowd.sim.forces.present]

    def flow(self) -> FlowView:
        counts = self._crowd.sim.counts
        start, end = (self._camera.world_to_screen(*end) for end in (counts.line[:2], counts.line[2:]))
        flows = counts.flows(FLOW_S, of_placed=True)
        left, right = flows[-1].tolist() if len(flows) else (0.0, 0.0)
        return FlowView(start, end, flows, tuple(f"{flow:.1f}/s, {count:,} so far" for flow, count in zip(
            (left, right), counts.both.tolist(), strict=True)))

    def bar(self) -> ToolBarView:
        key = self._keymap.key
        buttons = [ToolButton(f"tool_{tool.name}", tool.name, tool.label, key(f"tool_{tool.name}"), tool is self.held)
                   for tool in TOOLS.values() if tool.is_usable(self._crowd.config)]
        buttons += [ToolButton(name, name, PROGRAM[name].what, key(name), False) for name in ("undo", "redo")]
        share = math.log(self.size_m / LEAST_M) / math.log(MAX_M / LEAST_M)
        return ToolBarView(tuple(buttons), size_text(self.size_m), share)

    def _outline(self, patch: Patch, tile: float) -> list[tuple[Point, Point]]:
        """The edges between tiles that will change and others, as lines in pixels; none where there are too many."""
        mask = np.pad(patch.mask, 1).view(np.int8)
        rows, columns = np.nonzero(np.diff(mask, axis=0)[:, 1:-1])  # between the row above and this one
        across = [((column, row), (column + 1, row)) for row, column in zip(rows.tolist(), columns.tolist(), strict=True)]
        rows, columns = np.nonzero(np.diff(mask, axis=1)[1:-1])
        down = [((column, row), (column, row + 1)) for row, column in zip(rows.tolist(), columns.tolist(), strict=True)]
        if len(across) + len(down) > MAX_OUTLINE:
            return []
        to_px = self._camera.world_to_screen
        return [(to_px((x0 + patch.column) * tile, (y0 + patch.row) * tile),
                 to_px((x1 + patch.column) * tile, (y1 + patch.row) * tile)) for (x0, y0), (x1, y1) in across + down]


def size_text(metres: float) -> str:
    """3 m, 0.5 m."""
    return f"{metres:.1f} m" if metres < 9.95 else f"{metres:.0f} m"


# --- undo: call from the thread that makes the steps, between two of them --------------------------------------------

class Undo:
    def __init__(self, crowd: Crowd, notices: Notices) -> None:
        self._crowd, self._notices = crowd, notices
        crowd.by_hand = self.by_hand
        self._gesture = 0  # the present press of a key or of the mouse
        self._said = False  # what the difference to the timeline is

    @property
    def present(self) -> Entries:
        return self._crowd.timeline.entries_at(self._crowd.sim.tick)

    def begin_gesture(self) -> None:
        """Call at each press: what a drag changes is one entry."""
        self._gesture += 1

    def by_hand(self, action: Action) -> None:
        """Carry out what a key, a slider or a dialog has asked for."""
        path = getattr(action, "path", "")
        what = BY_PATH[path].label.strip() if path in BY_PATH else path or action.about
        if isinstance(action, Event):
            event = self._crowd.config.events[action.number]
            what = event.text
            if event.do.send and event.do.send.leave and (left := self._crowd.left_behind(what)):
                if self._crowd.carry_out(action):
                    self._set(*left)
                return
        self._do(action, inverse_of(action, self._crowd.sim), what, (self._gesture, type(action), path))

    def carry_out(self, action: Action, what: str, stroke: object) -> None:
        """Carry out an action of a stroke, unless it would change nothing."""
        inverses = inverse_of(action, self._crowd.sim)
        if inverses or not isinstance(action, Edit):
            self._do(action, inverses, what, stroke)

    def _do(self, action: Action, inverses: tuple[Action, ...], what: str, stroke: object) -> None:
        if self._crowd.carry_out(action) and inverses:
            done = self.present.done
            if done and done[-1].stroke == stroke:
                *done_before, last = done
                entry = last._replace(inverses=joined(inverses, last.inverses))
            else:
                done_before, entry = list(done), Entry(what, inverses, stroke)
            self._set((*done_before, entry), ())

    def undo(self) -> None:
        done, undone = self.present
        if not done:
            self._notices.add("nothing to undo: " + (
                "all of it is undone" if undone else "nothing was changed since the start"), "undo")
            return
        self._crowd.begin_new_future()
        self._set(done[:-1], undone)
        back = self._take_back(done[-1])
        self._set(self.present.done, (*self.present.undone, back))
        more = len(self.present.done)
        said = f"undone: {back.what}" + (f" ({more} more)" if more else "")
        self._notices.add(said if self._said or back.crowd else f"{said}. {DIFFERENCE}", "undo")
        self._said = self._said or not back.crowd

    def redo(self) -> None:
        done, undone = self.present
        if not undone:
            self._notices.add("nothing to redo", "undo")
            return
        self._crowd.begin_new_future()
        self._set(done, undone[:-1])
        again = self._take_back(undone[-1])
        self._set((*self.present.done, again), self.present.undone)
        self._notices.add(f"done again: {again.what}", "undo")

    def _take_back(self, entry: Entry) -> Entry:
        if entry.crowd:
            present = self._crowd.sim.snapshot()
            self._crowd.bring_back(entry.crowd, partial(Simulation.restore, snapshot=entry.crowd), self.present)
            return entry._replace(crowd=present)
        left, back = list(entry.inverses), list[Action]()
        while left:
            action, sim = left.pop(0), self._crowd.sim
            again = inverse_of(action, sim)
            new = action.new_handles(sim) if isinstance(action, PutBack) else {}
            if (again or not isinstance(action, Edit)) and self._crowd.carry_out(action):
                back[:0] = again
                if isinstance(action, Populate):
                    self._crowd.agents_asked = action.count
                if new:
                    left, back = list(translated(left, new)), list(translated(back, new))
                    self._set(*(with_handles(entries, new) for entries in self.present))
        return Entry(entry.what, tuple(back))

    def _set(self, done: tuple[Entry, ...], undone: tuple[Entry, ...]) -> None:
        self._crowd.timeline.remember(self._crowd.sim.tick, Entries(done, undone))


def inverse_of(action: Action, sim: Simulation) -> tuple[Action, ...]:
    """Return the actions that take one back that is not applied yet; none if that is impossible.

    People whom an event has sent do not get their own destinations back: each goes to the nearest one that
    any of them had.
    """
    match action:
        case Event(number):
            deeds = actions_of(sim.config.events[number].do, sim)
            return tuple(back for deed in deeds for back in inverse_of(deed, sim))
        case Send() if sim.agents.count:
            return (Send(tuple(np.unique(sim.agents.row("goal")).tolist())),)
        case Edit():
            return action.inverse(sim)
    return ()


def joined(first: tuple[Action, ...], then: tuple[Action, ...]) -> tuple[Action, ...]:
    """The actions one behind the other; walls painted alike become one, before all others, as do moves of a force or goal.

    Of values of one thing the last counts.
    """
    match (*first[:1], *then[:1]):
        case (Tune(), Tune()) | (Switch(), Switch()) | (Populate(), Populate()) | (PlaceLine(), PlaceLine()):
            return then
        case (PaintWalls(runs, wall), PaintWalls(more, also)) if wall == also:
            return (PaintWalls(runs + more, wall), *first[1:], *then[1:])
        case (PutForce(number), PutForce(other) | RemoveForce(other)) | (SetGoal(number), SetGoal(other)) if number == other:
            return (*then[:1], *first[1:], *then[1:])
    return first + then


def with_handles(entries: tuple[Entry, ...], new: NewHandles) -> tuple[Entry, ...]:
    """The same entries; those about the present crowd name agents by their new handles."""
    first = max((number for number, entry in enumerate(entries) if entry.crowd), default=0)
    return entries[:first] + tuple(
        entry._replace(inverses=translated(entry.inverses, new)) for entry in entries[first:])


def translated(actions: Iterable[Action], new: NewHandles) -> tuple[Action, ...]:
    """The same actions on agents of whom some have new handles."""
    return tuple(action.with_handles(new) if isinstance(action, Remove) else action for action in actions)
