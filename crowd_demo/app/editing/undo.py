"""Undo and redo: each stroke of a tool is an entry, and so is what a key, a slider or a dialog changes: techniques,
numbers, and how many agents there are. An entry is taken back by actions of its own while the crowd goes on.

Entries are known for every tick: after going back in time, undo and redo have the entries of that tick again. Agents who
come back have new handles: entries that name their former ones are translated. Call from the thread that makes the steps,
between two of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crowd_demo.app.crowd.crowd import Crowd, Entries, Entry
from crowd_demo.app.screen.notices import Notices
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.actions import Action, Edit, Populate, Switch
from crowd_demo.sim.edits import PaintWalls, PlaceLine, PutBack, PutForce, Remove, RemoveForce, SetGoal
from crowd_demo.sim.tuning import Tune

MAX = 200  # entries
MAX_TIMES = 5_000  # of which the entries are remembered; beyond, those before the past that is kept are forgotten
NewHandles = Mapping[tuple[int, int], tuple[int, int]]
DIFFERENCE = "Undo reverts an edit while the crowd goes on. The timeline rewinds time."


class Undo:
    def __init__(self, crowd: Crowd, notices: Notices) -> None:
        self._crowd, self._notices = crowd, notices
        crowd.by_hand = self.by_hand
        self._gesture = 0  # the present press of a key or of the mouse
        self._said = False  # what the difference to the timeline is

    def ask_redo(self) -> None:
        self._crowd.apply(self.redo)

    @property
    def present(self) -> Entries:
        """Those of the present tick."""
        tick, known = self._crowd.sim.tick, self._crowd.timeline.entries
        return next(entries for at, entries in reversed(known.items()) if at <= tick)

    def begin_gesture(self) -> None:
        """Call at each press: what a drag changes is one entry."""
        self._gesture += 1

    def by_hand(self, action: Action) -> None:
        """Carry out what a key, a slider or a dialog has asked for."""
        path = getattr(action, "path", "")
        what = BY_PATH[path].label.strip() if path in BY_PATH else path or action.about
        self._crowd.begin_new_future()
        self._do(action, action.inverse(self._crowd.sim) if isinstance(action, Edit) else (), what,
                 (self._gesture, type(action), path))

    def carry_out(self, action: Action, what: str, stroke: object) -> bool:
        """Carry out an action of a stroke, unless it would change nothing; return whether it was done."""
        self._crowd.begin_new_future()
        inverses: tuple[Action, ...] = ()
        if isinstance(action, Edit) and not (inverses := action.inverse(self._crowd.sim)):
            return False
        return self._do(action, inverses, what, stroke)

    def _do(self, action: Action, inverses: tuple[Action, ...], what: str, stroke: object) -> bool:
        if not self._crowd.carry_out(action):
            return False
        if inverses:
            done = self.present.done
            if done and done[-1].stroke == stroke:
                *done_before, last = done
                entry = last._replace(inverses=joined(inverses, last.inverses))
            else:
                done_before, entry = list(done), Entry(what, inverses, stroke)
            self._set((*done_before, entry), ())
        return True

    def undo(self) -> None:
        if not (done := self.present.done):
            why = "all of it is undone" if self.present.undone else "nothing was changed since the start"
            self._notices.add(f"nothing to undo: {why}", "undo")
            return
        self._crowd.begin_new_future()
        entry = done[-1]
        self._set(done[:-1], self.present.undone)
        back = self._take_back(entry)
        self._set(self.present.done, (*self.present.undone, back))
        more = len(self.present.done)
        self._notices.add(f"undone: {entry.what}" + (f" ({more} more)" if more else ""), "undo")
        if not self._said:
            self._said = True
            self._notices.add(DIFFERENCE, "undo hint")

    def redo(self) -> None:
        if not (undone := self.present.undone):
            self._notices.add("nothing to redo", "undo")
            return
        self._crowd.begin_new_future()
        entry = undone[-1]
        self._set(self.present.done, undone[:-1])
        again = self._take_back(entry)
        self._set((*self.present.done, again), self.present.undone)
        self._notices.add(f"done again: {entry.what}", "undo")

    def _take_back(self, entry: Entry) -> Entry:
        """Apply the actions of an entry; return the one that takes them back."""
        left, back = list(entry.inverses), list[Action]()
        while left:
            action, sim = left.pop(0), self._crowd.sim
            again = action.inverse(sim) if isinstance(action, Edit) else ()
            new = action.new_handles(sim) if isinstance(action, PutBack) else {}
            if (again or not isinstance(action, Edit)) and self._crowd.carry_out(action):
                back[:0] = again
                if isinstance(action, Populate):
                    self._crowd.agents_asked = action.count
                if new:
                    left, back = list(translated(left, new)), list(translated(back, new))
                    present = self.present
                    self._set(*(tuple(one._replace(inverses=translated(one.inverses, new)) for one in entries)
                                for entries in (present.done, present.undone)))
        return Entry(entry.what, tuple(back))

    def _set(self, done: tuple[Entry, ...], undone: tuple[Entry, ...]) -> None:
        """Remember the entries from the present tick on."""
        timeline = self._crowd.timeline
        timeline.entries[self._crowd.sim.tick] = Entries(done[-MAX:], undone[-MAX:])
        if len(timeline.entries) > MAX_TIMES:
            first = max((at for at in timeline.entries if at <= timeline.oldest), default=0)
            timeline.entries = {at: entries for at, entries in timeline.entries.items() if at >= first}


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


def translated(actions: Iterable[Action], new: NewHandles) -> tuple[Action, ...]:
    """The same actions on agents of whom some have new handles."""
    return tuple(action.with_handles(new) if isinstance(action, Remove) else action for action in actions)
