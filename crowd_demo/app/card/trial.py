"""A trial: what one switch gave, measured and proved beside the frames of the running crowd.

It lasts ten seconds, in which a pause of the crowd does not count, unless drawing was switched. All its work is done in parts
at the end of some frames, by the thread that makes the steps, and takes a twentieth of the time. Frames of which it was a part
are not measured.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crowd_demo.app.card.effect import PROOF, Stretch, SwitchTimes, counted, explaining
from crowd_demo.app.card.proving import Proving, Switched, is_drawn
from crowd_demo.measure.proof import DrawnView
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import EXACT
from crowd_demo.registry.techniques import BY_PATH, hud_word, inactive
from crowd_demo.render.hud.card import Card, Count, ProofLine, Span, factor_text
from crowd_demo.sim.metrics.readings import Readings
from crowd_demo.sim.simulation import Simulation

LASTS_S = 10.0
LONGEST_S = 1.0  # a frame counts as no longer: ten frames at least are seen
SHARE = 0.05  # of the time, for all of a trial's work
REST = 3  # frames at least between two of which it is a part
EVALUATE_EVERY_S = 0.5
YOUNG_S = 1.0  # another switch before that goes on from the same times before
PIECES = 20  # in which the time left is shown
SLOW_PATHS = ("reorder.when", "reorder.every", "reorder.drift")  # techniques whose effect comes much later
LOSES_ORDER = "Memory keeps its order for minutes after a switch: measured properly, it begins unsorted."


class Moment(NamedTuple):
    """The program at the end of a frame's computation."""

    sim: Simulation
    view: DrawnView | None = None
    view_key: object = None  # differs from the one of the frame before if the view, and so the times of a picture, changed
    paused: bool = False
    hidden: bool = False  # does nobody see cards?
    compiling: bool = False
    followed: frozenset[str] = frozenset()  # techniques that nobody switched: their configured values follow when compiled


class Trial:
    """Made in the frame in which the switched techniques take effect; `before` and `readings` are from before that.

    `left_s` says for how many seconds its card is shown.
    """

    def __init__(self, switched: Switched, at: Moment, before: Stretch, readings: Readings,
                 clock: Callable[[], float] = time.perf_counter) -> None:
        self.switched, self.before, self.readings = switched, before, readings
        self.age_s = 0.0
        self.over = False
        self._frame = at.sim.profile.frames
        self._drawn = all(is_drawn(BY_PATH[path]) for path in switched.new)  # what changes steps is the larger claim
        self._kind = switched.kind(at.sim.optimizations)
        self._note = "changes nothing at present, " * (set(switched.new) <= inactive(at.sim.situation))
        self._until = ""  # why it was over before its time
        self._paused = False
        self._clock = clock
        self.left_s, self._evaluate_at_s, self._credit_s, self._rest = LASTS_S, LASTS_S, 0.0, 0
        self._times = SwitchTimes(at.sim.profile, before, self._drawn)
        self._proving = Proving(switched, at.sim, self._drawn, before.steps)
        self._evaluation: Iterator[None] = iter(())
        self._counted: dict[str, float] = {}  # before
        self._spans: tuple[Span, ...] = ()
        self._counts: tuple[Count, ...] = ()
        self.summary: dict[str, str] = {}  # what a technique gave, in a line, by its path; nothing where there were several

    # --- its work ----------------------------------------------------------------------------------------------------

    def work(self, at: Moment, readings: Readings, spent_s: float) -> None:
        """Go on; call at the end of each frame's computation, with the seconds since the last call."""
        self.age_s += spent_s
        self._paused = at.paused and not self._drawn and not self.over
        if self._paused:
            return
        self.left_s -= min(spent_s, LONGEST_S)
        if self.left_s <= 0:
            self.end("")
        if self.over:
            return
        self._credit_s += SHARE * spent_s
        self._rest -= 1
        if self._credit_s > 0 and self._rest < 0:
            self._work_a_while(at, readings)

    def _work_a_while(self, at: Moment, readings: Readings) -> None:
        profile, start_s = at.sim.profile, self._clock()
        spent_s, parts = 0.0, 0
        with profile.stage(PROOF):
            while spent_s < self._credit_s and self._advance(at, readings):
                spent_s, parts = self._clock() - start_s, parts + 1
        if parts:
            self._credit_s, self._rest = self._credit_s - spent_s, REST
            profile.note(PROOF)

    def _advance(self, at: Moment, readings: Readings) -> bool:
        """Do the next part, and return whether there was one."""
        if self.left_s <= self._evaluate_at_s:
            self._evaluate_at_s -= EVALUATE_EVERY_S
            self._evaluation = self._evaluate(at.sim.profile, readings)
        for _ in self._evaluation:
            return True
        return self._proving.advance(at.sim, at.view)

    def _evaluate(self, profile: Profile, readings: Readings) -> Iterator[None]:
        """Compare what was measured so far, a row of the card at a time."""
        self._times.collect(profile)
        spans = []
        for span in self._times.spans():
            spans.append(span)
            yield
        self._spans = tuple(spans)
        self._counted = self._counted or counted(self.before, self.readings)
        self._counts = explaining(self._counted, counted(self._times.after, readings), self.switched.new,
                                  self._kind is EXACT)
        self.summary = self._summary()

    def view_changed(self, profile: Profile) -> None:
        """Measure steps alone from now on; there is nothing left to measure if drawing was switched."""
        self._times.view_changed(profile)
        if self._drawn:
            self.end("the view changed")

    def end(self, why: str) -> None:
        """Be over, and free the copies of the crowd."""
        if not self.over:
            self.over, self._until = True, why
            self._proving.close(why or "no time was left")

    # --- what it shows -----------------------------------------------------------------------------------------------

    @property
    def is_young(self) -> bool:
        """Has it seen too little to say anything?"""
        return self.age_s < YOUNG_S or not self._times.measured

    def card(self) -> Card:
        title = ", ".join(BY_PATH[path].label.strip() for path in self.switched.new)
        left = math.ceil(max(self.left_s, 0.0) / LASTS_S * PIECES) / PIECES
        return Card(title, self._change(), self._kind, self._spans, self._counts, ProofLine(*self._proving.finding),
                    self._state(), left, self._frame, LOSES_ORDER * any(path in SLOW_PATHS for path in self.switched.new))

    def _summary(self) -> dict[str, str]:
        known = [span for span in self._spans if span.outcome != "unknown"]
        if len(self.switched.new) > 1 or not known:
            return {}
        (path,) = self.switched.new
        return {path: f"{self._change()}: {', '.join(map(in_words, known))}; {self._proving.finding.text}"}

    def _change(self) -> str:
        old, new = self.switched
        return ", ".join(f"{hud_word(old[path])} -> {hud_word(value)}" for path, value in new.items())

    def _state(self) -> str:
        """What was measured, and what keeps it from going on."""
        if self._paused:
            return "waits until the crowd moves again"
        return f"{self._note}{self._times.extent}" + f", until {self._until}" * bool(self._until)


def in_words(span: Span) -> str:
    """interaction 3.1x faster"""
    if span.outcome == "no difference":
        return f"{span.name} no difference"
    return f"{span.name} {factor_text(span)} {span.outcome}"
