"""The card of the last switch: what it gave, and whether the crowd is the same.

`Cards` is told what was done to the crowd, so there is a card whatever made the switch: a key, a click, a tour, a
replay. It is told as well what makes times incomparable: more agents, another crowd, a jump in time. Another view it
sees by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import reduce

from crowd_demo.app.card.effect import NO_TIMES, ReadingsMean, TimingWindow, before_now, extent
from crowd_demo.app.card.trial import Moment, Switched, Trial
from crowd_demo.app.crowd.crowd import Change
from crowd_demo.registry.techniques import inactive
from crowd_demo.render.hud.card import Card
from crowd_demo.sim.metrics.readings import Readings


class Cards:
    """`on` is True where cards are shown. `readings` are the last ones of the meters, `view_key` is that of the last frame."""

    def __init__(self, measured: dict[str, str], clock: Callable[[], float] = time.perf_counter,
                 on: bool = False) -> None:
        """Keep in `measured`, by path, what each switch gave."""
        self.on = on
        self.readings = Readings()
        self._read = ReadingsMean(self.readings)
        self._measured = measured
        self._clock, self._now_s = clock, clock()
        self._changes: list[Change] = []  # since the end of the last frame
        self.view_key: object = None
        self._crowd_since = self._view_since = 0  # the first frames whose times can be compared with the present ones
        self._before_compiling = TimingWindow()
        self._compiling = False
        self.trial: Trial | None = None
        self._asked: bool | None = None  # shown or hidden by the user; None: shown until its time is over
        self.row: str | None = None  # the row of Why that is pointed out, or none (""); None while Why is closed

    def crowd_changed(self, change: Change) -> None:
        """Call between two calls of `work`, from the same thread."""
        if self.on:
            self._changes.append(change)

    def work(self, at: Moment) -> None:
        """Call at the end of each frame's computation, from the thread that makes the steps."""
        now_s = self._clock()
        spent_s, self._now_s = now_s - self._now_s, now_s
        if at.compiling and not self._compiling:
            self._before_compiling = before_now(at.sim.profile, self._crowd_since, self._view_since)
        self._compiling = at.compiling
        self._read.add(self.readings)
        changes, self._changes, trial = self._changes, [], self.trial
        why = next((change.what for change in changes if not change.path), "")
        each = (Switched({change.path: change.old}, {change.path: change.new}) for change in changes if not why)
        switched = reduce(Switched.then, each, Switched({}, {}))
        view = at.view_key != (self.view_key or at.view_key)
        self.view_key = at.view_key
        if switched.new or why or view:
            next_frame = at.sim.profile.frames + 1
            if inactive(at.sim.situation).issuperset(switched.new):  # then there is nothing to measure
                switched = Switched({}, {})
            if self.trial and (why or at.hidden):
                self.trial.end(why or "the HUD was hidden")
            if switched.new and not (at.hidden or at.deferred.issuperset(switched.new)):
                self._begin(switched, view, at)
            elif self.trial and switched.new:
                self.trial.end("other techniques were switched")
            elif self.trial and view:
                self.trial.view_changed(at.sim.profile)
            if switched.new or why:
                self._crowd_since, self._before_compiling, self._read = next_frame, TimingWindow(), ReadingsMean(self.readings)
            if view:
                self._view_since, self._before_compiling = next_frame, self._before_compiling._replace(frames=NO_TIMES)
        if self.trial:
            was_over = self.trial.over
            self.trial.work(at, self._read, spent_s if self.trial is trial else 0.0)
            if not was_over:
                self._measured.update(self.trial.summary)
            if self.row is not None and self._is_shown and not (at.hidden or why):
                self.trial.explain(at)

    def put_away(self, why: str) -> None:
        self._asked = False
        if self.trial:
            self.trial.end(why)

    def card(self) -> Card | None:
        card = self.trial.card() if self.trial and self._is_shown else None
        return card and card._replace(row=self.row)

    def toggle(self) -> bool:
        """Show the last card, then why, then its times again until they end; return whether there is a card."""
        shown, is_open = self._is_shown, self.row is not None
        self._asked, self.row = None if shown and is_open else True, "" if shown and not is_open else None
        return self.trial is not None

    def point_out(self, row: str) -> None:
        self._asked, self.row = True, row

    @property
    def _is_shown(self) -> bool:
        lasts = self.trial is not None and self.trial.left_s > 0
        return lasts if self._asked is None else self._asked

    def _begin(self, switched: Switched, view: bool, at: Moment) -> None:
        """Begin a new card. A card without results is merged into it: two quick keys are one switch.

        Pictures and counters of before do not count if the view has changed since.
        """
        last, self.trial, self._asked, self.row = self.trial, None, None, None
        now = before_now(at.sim.profile, self._crowd_since, self._view_since)
        before = max(now, self._before_compiling, key=extent)
        readings: Mapping[str, float] = self._read.means()
        if last and not last.over and last.is_young:
            switched, before, readings = last.switched.then(switched), last.before, last.readings
            view |= self._view_since > last.frame
        if view:
            before = before._replace(frames=NO_TIMES, counters=())
        if last:
            last.end("")
        if switched.new:
            self.trial = Trial(switched, at, before, readings, self._clock)
