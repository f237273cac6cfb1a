"""The card of the last switch: what it gave, and whether the crowd is the same.

`Cards` looks at the program at the end of each frame, so it notices a switch whatever made it: a key, a click, a tour. It also
notices what makes times incomparable: more agents, another crowd, a jump in time, another view.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from crowd_demo.app.card.effect import Stretch, before_now, extent
from crowd_demo.app.card.proving import Switched
from crowd_demo.app.card.trial import Moment, Trial
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.card import Card
from crowd_demo.sim.actions import Place, Populate, SetWalls, Switch
from crowd_demo.sim.metrics.readings import Readings
from crowd_demo.sim.simulation import Simulation

CHANGED = {Populate: "the number of agents changed", SetWalls: "the walls changed", Place: "an agent was put elsewhere"}


class Detected(NamedTuple):
    """What was done since the frame before."""

    switched: Switched | None = None  # techniques have other values, and nothing else was done to the crowd
    changed: str = ""  # what else was
    view: bool = False  # is the view another one?


class ChangeDetector:
    """Compares the program with what it was in the frame before. Costs a microsecond while nothing is done."""

    def __init__(self, at: Moment) -> None:
        self._sim, self._view_key = at.sim, at.view_key
        self._actions = self._tick = self._steps = 0
        self._values: dict[str, Value] = {}
        self._remember(at.sim)

    def detect(self, at: Moment) -> Detected:
        """Call at the end of each frame's computation."""
        sim, view = at.sim, at.view_key != self._view_key
        self._view_key = at.view_key
        made = sim.profile.steps - self._steps
        if sim is self._sim and len(sim.history) == self._actions and sim.tick == self._tick + made:
            self._tick, self._steps = sim.tick, sim.profile.steps
            return Detected(view=view)
        changed = self._changed(sim, made)
        switched = None if changed else self._switched(sim.optimizations)
        self._sim = sim
        self._remember(sim)
        return Detected(switched, changed, view)

    def _changed(self, sim: Simulation, made: int) -> str:
        if sim is not self._sim:
            return "another crowd began"
        if sim.tick != self._tick + made:
            return "it went to another time"
        others = [action for _, action in sim.history[self._actions:] if not isinstance(action, Switch)]
        return CHANGED.get(type(others[0]), "the crowd was changed") if others else ""

    def _switched(self, options: Optimizations) -> Switched | None:
        now = values_of(options)
        paths = [path for path, value in now.items() if value != self._values[path]]
        if not paths:
            return None
        return Switched({path: self._values[path] for path in paths}, {path: now[path] for path in paths})

    def _remember(self, sim: Simulation) -> None:
        self._actions, self._tick, self._steps = len(sim.history), sim.tick, sim.profile.steps
        self._values = values_of(sim.optimizations)


class Cards:
    """`on` only where somebody looks. `readings` are the last ones of the meters."""

    def __init__(self, measured: dict[str, str], clock: Callable[[], float] = time.perf_counter) -> None:
        """What a switch gave is kept in `measured`, by path."""
        self.on = False
        self.readings = Readings()
        self._measured = measured
        self._clock, self._now_s = clock, clock()
        self._detector: ChangeDetector | None = None
        self._crowd_since = self._view_since = 0  # the first frames whose times can be compared with the present ones
        self._before_compiling = Stretch()
        self._compiling = False
        self._trial: Trial | None = None
        self._asked: bool | None = None  # to be shown, or hidden

    def work(self, at: Moment) -> None:
        """Call at the end of each frame's computation, from the thread that makes the steps."""
        now_s = self._clock()
        spent_s, self._now_s = now_s - self._now_s, now_s
        self._detector = self._detector or ChangeDetector(at)
        detected = self._detector.detect(at)
        if at.compiling and not self._compiling:
            self._before_compiling = self._before_now(at.sim.profile)
        self._compiling = at.compiling
        if any(detected):
            self._react(detected, at)
        if self._trial:
            was_over = self._trial.over
            self._trial.work(at, self.readings, spent_s)
            if not was_over:
                self._measured.update(self._trial.summary)

    def put_away(self, why: str) -> None:
        """End the present card, and hide it until somebody asks for it."""
        self._asked = False
        if self._trial:
            self._trial.end(why)

    def card(self) -> Card | None:
        """The card, as long as it is to be seen."""
        return self._trial.card() if self._trial and self._is_shown else None

    def toggle(self) -> bool:
        """Show the last card again, or hide it; return whether there is one."""
        self._asked = not self._is_shown
        return self._trial is not None

    @property
    def _is_shown(self) -> bool:
        lasts = self._trial is not None and self._trial.left_s > 0
        return lasts if self._asked is None else self._asked

    def _react(self, detected: Detected, at: Moment) -> None:
        switched, changed, view = detected
        next_frame = at.sim.profile.frames + 1
        if self._trial and (changed or at.hidden):
            self._trial.end(changed or "the HUD was hidden")
        if switched and not (at.hidden or at.followed.issuperset(switched.new)):
            self._begin(switched, at)
        elif self._trial and switched:
            self._trial.end("other techniques were switched")
        elif self._trial and view:
            self._trial.view_changed(at.sim.profile)
        if switched or changed:
            self._crowd_since, self._before_compiling = next_frame, Stretch()
        if view:
            self._view_since, self._before_compiling = next_frame, self._before_compiling._replace(frames={})

    def _begin(self, switched: Switched, at: Moment) -> None:
        """Begin a new card. One that could not say anything yet is taken up: two quick keys are one switch."""
        last, self._trial, self._asked = self._trial, None, None
        before, readings = max(self._before_now(at.sim.profile), self._before_compiling, key=extent), self.readings
        if last and not last.over and last.is_young:
            switched, before, readings = last.switched.then(switched), last.before, last.readings
        if last:
            last.end("")
        if switched.new:
            self._trial = Trial(switched, at, before, readings, self._clock)

    def _before_now(self, profile: Profile) -> Stretch:
        return before_now(profile, self._crowd_since, self._view_since)


def values_of(options: Optimizations) -> dict[str, Value]:
    return {path: options.get(path) for path in BY_PATH}
