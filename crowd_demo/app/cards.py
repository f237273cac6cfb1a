"""The card of the last switch: what it gave, and whether the crowd is the same; measured beside the running crowd's
frames.

`Cards` is told what was done to the crowd, so there is a card whatever made the switch: a key, a click, a tour, a
replay. It is told as well what makes times incomparable: more agents, another crowd, a jump in time. Another view it
sees by itself.

A trial lasts ten seconds, in which a pause of the crowd does not count, unless drawing was switched. All its work is
done in parts at the end of some frames, by the thread that makes the steps, and takes a quarter of the time. Frames of
which it was a part are not measured.

Two copies of the crowd, with the old values and with the new ones, take the same steps. These prove that the crowd is
the same, and the card shows their times. Where a step is too long for that, it shows the times of the running crowd
before the switch and after it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from typing import NamedTuple

import numpy as np

from crowd_demo.app.crowd import Change
from crowd_demo.app.effect import (
    NO_TIMES,
    PROOF,
    Counted,
    ReadingsMean,
    SwitchTimes,
    TimingWindow,
    before_now,
    counted,
    explaining,
    extent,
    telling,
)
from crowd_demo.compute.arrays import Floats
from crowd_demo.measure.ablation import REORDER
from crowd_demo.measure.comparison import DRAW, FRAME, STEP
from crowd_demo.measure.proof import MAX_FRAME_MS, Answers, DrawnView, Finding, Pictures, ProofInParts, Replicas, Values
from crowd_demo.measure.statistics import STUDENT_T, Times
from crowd_demo.profile import OTHER, Profile
from crowd_demo.registry.entries import EXACT, load
from crowd_demo.registry.stages import STAGES
from crowd_demo.registry.techniques import BY_PATH, hud_word, inactive, is_drawn, kind_of_all, strongest
from crowd_demo.render.hud.card import LEAST_MS, Card, CardRow, ProofLine, Span, outcome_text
from crowd_demo.sim.metrics.readings import Readings
from crowd_demo.sim.simulation import Simulation

WHY = "crowd_demo.extras.why:explained"
EXPLAIN_S = 0.02  # per frame
LASTS_S = 10.0
LONGEST_S = 1.0  # a frame counts as no longer: ten frames at least are seen
SHARE = 0.25  # of the time, for all of a trial's work
REST = 3  # frames at least between two of which it is a part
EVALUATE_EVERY_S = 0.75
YOUNG_S = 1.0  # another switch before that goes on from the same times before
PIECES = 20  # in which the time left is shown
SLOW_NOTE = "Memory keeps its order for minutes after a switch. M measures what sorting gives: it begins unsorted."
LONG_NOTE = "Interleaved copies were not possible here: these are the times before and after. M interleaves."
NO_TIMES_NOTE = "No times were measured before the switch. M measures both values."
MAX_BYTES = 32_000_000  # nor with larger columns of a crowd
FEW_STEPS, ENOUGH_MS = 3, 500.0  # how long a step takes now is known after so many, or when they have taken so long
NOTHING_YET = Span("", math.nan, math.nan, math.nan, -math.inf, math.inf, "unknown")
STOPPED: Iterator[bool] = iter(())


class Moment(NamedTuple):
    """The program at the end of a frame's computation."""

    sim: Simulation
    view: DrawnView | None = None
    view_key: object = None  # differs from the one of the frame before if the view, and so the times of a picture, changed
    paused: bool = False
    hidden: bool = False  # does nobody see cards?
    compiling: bool = False
    deferred: frozenset[str] = frozenset()  # techniques whose configured values take effect once compiled


class Switched(NamedTuple):
    """Techniques that took effect together, and their values before and since, by path."""

    old: Values
    new: Values

    def then(self, later: Switched) -> Switched:
        """Join two switches; leave out techniques that are back at their old value."""
        old, new = {**later.old, **self.old}, {**self.new, **later.new}
        changed = [path for path in new if new[path] != old[path]]
        return Switched({path: old[path] for path in changed}, {path: new[path] for path in changed})


class Trial:
    """Made in the frame in which the techniques are switched; `before` and `readings` are from before that.

    Its card is shown for another `left_s` seconds. `frame` is the number of that frame, `told` is what the rows of
    counters tell. `known_ms` is how long a step (or a picture, where drawing was switched) took before, if somebody was
    told so already: then the rows of times begin with it. `drawn` says whether drawing was switched, and nothing else.
    """

    def __init__(self, switched: Switched, at: Moment, before: TimingWindow, readings: Mapping[str, float],
                 clock: Callable[[], float] = time.perf_counter) -> None:
        self.switched, self.before, self.readings = switched, before, readings
        self.age_s = 0.0
        self.over = False
        self._at = at
        self.frame, self._steps_before = at.sim.profile.frames, at.sim.profile.steps - at.sim.profile.steps_in_frame
        self.drawn = all(is_drawn(BY_PATH[path]) for path in switched.new)  # what changes steps is the larger claim
        self._kind = strongest(kind_of_all(values, at.sim.situation) for values in switched)
        self._long = False  # is a step too long, or the crowd too large, for copies that make steps?
        self._until = ""  # why it was over before its time
        self._paused = False
        self._clock = clock
        self.left_s, self._evaluate_at_s, self._credit_s, self._rest = LASTS_S, LASTS_S, 0.0, 0
        self._slow = all(path.startswith(REORDER) for path in switched.new)
        self._times = SwitchTimes(at.sim.profile, before, self.drawn)
        self._copies: Replicas | None = None  # whose steps are timed
        self._evaluation: Iterator[None] = iter(())
        self._finding, self._proving = Finding("running", "comparing begins with the next steps"), self._prove()
        self._counted = counted(before, readings)  # before
        self.known_ms = math.nan
        self._spans: tuple[Span, ...] = (NOTHING_YET._replace(name=FRAME if self.drawn else STEP),)
        self.told: Counted = {}
        self.reasons: tuple[CardRow, ...] = ()
        self._explained = ""  # the stage that they are about
        self._explaining: Iterator[Sequence[CardRow] | None] | None = None  # None before it has begun
        self.summary: dict[str, str] = {}  # what a technique gave, in a line, by its path; nothing where there were several

    # --- its work ----------------------------------------------------------------------------------------------------

    def work(self, at: Moment, read: ReadingsMean, spent_s: float) -> None:
        """Call at the end of each frame's computation, with the seconds since the last call."""
        self._at = at
        self.age_s += spent_s
        spent_s = min(spent_s, LONGEST_S)
        self._paused = at.paused and not self.drawn and not self.over
        if self._paused:
            return
        self.left_s -= spent_s
        if self.left_s <= 0:
            self.end("")
        if self.over:
            return
        self._credit_s += SHARE * spent_s
        self._rest -= 1
        if self._credit_s <= 0 or self._rest >= 0:
            return
        start_s, spent_s, parts, profile = self._clock(), 0.0, 0, at.sim.profile
        with profile.stage(PROOF):
            while spent_s < self._credit_s and self._advance(profile, read):
                spent_s, parts = self._clock() - start_s, parts + 1
        if parts:
            self._credit_s, self._rest = self._credit_s - spent_s, REST
            profile.note(PROOF)

    def _advance(self, profile: Profile, read: ReadingsMean) -> bool:
        """Do the next part of the work; return False if there was none."""
        if self.left_s <= self._evaluate_at_s:
            self._evaluate_at_s -= EVALUATE_EVERY_S
            self._evaluation = self._evaluate(profile, read)
        for _ in self._evaluation:
            return True
        try:
            return next(self._proving, False)
        except MemoryError:
            self._long = True
            self._stop_proving("there is no memory for copies of the crowd")
            return False

    def _evaluate(self, profile: Profile, read: ReadingsMean) -> Iterator[None]:
        """Compare what was measured so far, a row of the card at a time."""
        self._times.collect(profile)
        spans = []
        for span in self._interleaved() if self._takes_turns else self._times.spans():
            spans.append(span)
            yield
        self._spans = tuple(spans) or self._spans
        self.told = telling(self._counted, counted(self._times.after, read.means()), self.switched.new,
                            self._kind is EXACT)
        known = [span for span in self.spans if span.outcome not in ("unknown", "no factor")]
        self.summary = {}
        if len(self.switched.new) == 1 and known:
            (path,), ((_, change),) = self.switched.new, self._changes()
            rows = ", ".join(f"{span.name} {outcome_text(span)}" for span in known)
            self.summary = {path: f"{change}: {rows}, {self._finding.text}"}

    def _interleaved(self) -> Iterator[Span]:
        """The main time comes first, as in `SwitchTimes.spans`. A stage alone would mislead: culling costs time.

        There is no factor of what takes no time, or hardly ever runs.
        """
        if not (self._copies and (turns := self._copies.turns) and turns.turns):
            return
        stage = turns.changed_most(DRAW if self.drawn else STEP)
        for name in (FRAME, DRAW, stage) if self.drawn else (STEP, stage, FRAME):
            if name:
                found = turns.effect(name)
                seldom = found.verdict == "unknown" and turns.turns >= min(STUDENT_T)
                none = seldom or min(found.a.value, found.b.value) < LEAST_MS
                yield Span(name, found.a.value, found.b.value, *found.ratio.inverse,
                           "no factor" if none else found.verdict)

    @property
    def _takes_turns(self) -> bool:
        """Return whether copies are timed, or will be as far as is known."""
        return not self._long and not (self._copies and self._copies.untimed)

    @property
    def _has_times(self) -> bool:
        """Return whether there are times to compare, or will be: those of copies, or those from before the switch."""
        return not self._slow and (self._takes_turns or extent(self.before)[self.drawn] > 0)

    def view_changed(self, profile: Profile) -> None:
        """Copies show the former view. Of the running crowd measure steps alone from now on, or nothing of drawing."""
        self._times.view_changed(profile)
        if self.drawn and not self._takes_turns:
            self.end("the view changed")

    def end(self, why: str) -> None:
        self._explaining = None if why else self._explaining  # copies are good until the walls change
        if not self.over:
            self.over, self._until = True, why
            self._stop_proving(why or "no time was left")

    def explain(self, at: Moment) -> None:
        """Go on finding out why, in copies of the crowd, of the stage that has changed most by now."""
        if not self._explaining:
            self._explained = self._stage
            self._explaining = load(WHY)(at.sim, *self.switched, self._stage)
        begun_s = self._clock()
        with at.sim.profile.stage(PROOF), suppress(MemoryError):
            for reasons in self._explaining:
                self.reasons = tuple(reasons or self.reasons)
                at.sim.profile.note(PROOF)
                if self._clock() - begun_s > EXPLAIN_S:
                    break

    # --- the proof ---------------------------------------------------------------------------------------------------

    def _prove(self) -> Iterator[bool]:
        """Compare the crowds or pictures, a part at a time; yield False while the kind of proof is not known."""
        while not (proof := self._proof()):
            yield False
        for _ in proof.parts():
            self._finding = proof.finding
            yield True
        self._finding = proof.finding
        yield True
        if self.drawn and not self._long:
            (old, new), at = self.switched, self._at
            self._copies = Replicas(at.sim, old, new, False, at.view)
            for _ in self._copies.parts():
                if self._copies.untimed:
                    return
                yield True

    def _stop_proving(self, why: str) -> None:
        if self._finding.kind == "running" and self._proving is not STOPPED:
            self._finding = Finding("running", f"not compared: {why}")
        self._proving = STOPPED
        if self._copies and self._copies.turns:
            self._copies.turns.release()

    def _proof(self) -> ProofInParts | None:
        """The kind of proof that fits; None until the time of a step is known."""
        (old, new), sim, view = self.switched, self._at.sim, self._at.view
        large = sim.agents.count * 4 * len(sim.agents.names) > MAX_BYTES
        if self.drawn:
            self._long = large
            return Pictures(sim, view, old, new) if view else None
        made = sim.profile.steps - self._steps_before  # the first ones also make memory, or a whole tree
        steps_ms = whole(sim.profile.steps_ms(made)) if made else np.zeros(0)
        if not steps_ms.min(initial=np.inf) or (len(steps_ms) < FEW_STEPS and steps_ms.sum() <= ENOUGH_MS):
            return None
        before = whole(self.before.steps)
        if not len(before):  # kernels were compiled beside all steps since the start
            before = whole(sim.profile.steps_ms())[:self._steps_before - sim.profile.steps]
        before_ms = float(np.median(before)) if len(before) else np.inf
        self._long = large or max(float(steps_ms.min()), before_ms) > MAX_FRAME_MS
        if self._long:
            return Answers(sim, old, new, self._kind is EXACT)
        self._copies = Replicas(sim, old, new, self._kind is EXACT, None if self._slow else view)
        return self._copies

    # --- what it shows -----------------------------------------------------------------------------------------------

    @property
    def _stage(self) -> str:
        """The stage whose time changed most; before times are known, the stage of the technique."""
        return next((span.name for span in self._spans if span.name in STAGES and span.name != OTHER),
                    BY_PATH[next(iter(self.switched.new))].stage)

    @property
    def is_young(self) -> bool:
        """Return whether it has too few measurements for a result."""
        turns = self._copies.turns if self._copies else None
        return self.age_s < YOUNG_S or not (turns.turns if turns else self._times.extents[1])

    @property
    def is_settled(self) -> bool:
        """Return whether the card has its result, or will never have one."""
        return self.over or all(span.outcome != "unknown" for span in self.spans)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The rows of times, which begin with `known_ms`.

        Where copies took turns, all times are scaled by that, and factors stay. Elsewhere only the times before are
        scaled.
        """
        if not self._has_times:
            return ()
        found = {span.name: span.before_ms for span in self._spans}
        scale = self.known_ms / (found.get(DRAW if self.drawn else STEP) or math.nan)
        if not 0 < scale < math.inf:
            return self._spans
        if self._takes_turns:
            return tuple(span.scaled(scale) for span in self._spans)
        return tuple(self._times.span(span.name, scale * span.before_ms, span.after_ms) for span in self._spans)

    def card(self) -> Card:
        (title, change), *more = changes = list(self._changes())
        if more:
            title, change = f"{len(changes)} techniques", ", ".join(map(" ".join, changes))
        left = math.ceil(max(self.left_s, 0.0) / LASTS_S * PIECES) / PIECES
        return Card(title, change, self._kind, self.spans, explaining(self.told), ProofLine(*self._finding),
                    self._state(), left, self.frame, SLOW_NOTE if self._slow else "" if self._takes_turns else
                    LONG_NOTE if self._has_times else NO_TIMES_NOTE, self.reasons, self._explained or self._stage)

    def _changes(self) -> Iterator[tuple[str, str]]:
        old, new = self.switched
        return ((BY_PATH[path].label.strip(), f"{hud_word(old[path])} -> {hud_word(value)}") for path, value in new.items())

    def _state(self) -> str:
        """The last line: how much was measured, and why it stopped or waits."""
        if self._paused:
            return "waits until the crowd moves again"
        until = f", until {self._until}" * bool(self._until)
        if self._slow or not self._takes_turns:
            return f"{self._times.text}{until}"
        if not (turns := self._copies.turns if self._copies else None):
            return f"copies are being made{until}"
        several = "s" * (turns.turns != 1)
        return f"{turns.turns} round{several} of two copies, {turns.timed} frames{until}"


def whole(times: Times) -> Floats:
    return np.sum(list(times.values()), axis=0, dtype=np.float32) if times else np.zeros(0, np.float32)


# --- all cards -------------------------------------------------------------------------------------------------------

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
                self._crowd_since, self._before_compiling = next_frame, TimingWindow()
                self._read = ReadingsMean(self.readings)
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
