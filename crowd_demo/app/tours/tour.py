"""A tour that is under way: what it does to the program, what it measures, and what its panel shows.

A page is entered in three turns: what its step does is asked for (a scenario may have to be opened, kernels to be compiled);
when all of that holds, frames are counted; when enough were measured, the numbers of its texts are filled in. Who wants to go
on before that goes on as soon as they are there, or at once if asked again.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple, Protocol

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.crowd.technique_controls import Techniques
from crowd_demo.app.screen.notices import Notices
from crowd_demo.app.seeing.overlay_controls import Overlays
from crowd_demo.app.tours.live_numbers import Counts, Numbers, filled, measured
from crowd_demo.config.model import CameraSettings, Config
from crowd_demo.config.tour import BEFORE, Page, Settings, Step, Tour, technique_of
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.status import TourView

LEAST_FRAMES = 3  # with fewer nothing is said
LONG_S = 4.0  # after this time `LEAST_FRAMES` are enough
COUNTED_BY = 10  # so many frames more are told: the panel is drawn anew then


class Guided(Protocol):
    """What a tour sees of a program, and what it does to it."""

    config: Config
    config_name: str | None
    scenario_asked: str | None
    crowd: Crowd
    techniques: Techniques
    notices: Notices
    overlays: Overlays

    def show(self, settings: CameraSettings) -> None: ...


class Seen(NamedTuple):
    """The numbers of a page: just before its step did what it does, and afterwards, if they have been measured."""

    before: Numbers
    now: Numbers | None = None


class TourPlayer:
    """Plays a tour in a program, or in several, one after another, where it opens other scenarios."""

    def __init__(self, name: str, tour: Tour) -> None:
        self.name, self.tour = name, tour
        self.over = False
        self.opening = ""  # the scenario that the tour waits for
        self._number = 0  # of the page
        self._seen: dict[int, Seen] = {0: Seen({})}
        self._marks: dict[str, Numbers] = {}
        self._restart_due = False
        self._hurried = False  # does somebody want to go on as soon as the numbers are there?
        self._since = Counts(0, 0)
        self._since_s = time.monotonic()
        self._state: object = None  # what the measured frames have in common
        self._count = 0  # of them

    @property
    def page(self) -> Page:
        return self.tour.pages[self._number]

    @property
    def step(self) -> Step:
        return self.tour.steps[self.page.step]

    # --- going through it --------------------------------------------------------------------------------------------

    def begin(self, program: Guided) -> None:
        """Open the configuration with which the tour begins."""
        self._open(self.tour.config, program)

    def arrived(self, program: Guided) -> None:
        """Go on in the program of the scenario that was opened. If the tour did not ask for that one, it is over."""
        self.over = program.config_name != self.opening
        if not self.over:
            self.set_up(program)

    def set_up(self, program: Guided) -> None:
        """Ask for all that the tour has set up by now in a scenario that was just opened."""
        self.opening = ""
        self._ask_for(self.tour.settings_at(self.page.step), program)

    def act(self, name: str, program: Guided) -> None:
        """Do what a key or a part of the panel stands for: next, back or leave."""
        if name == "leave":
            self.over = True
        elif self.opening:
            return
        elif name == "back":
            self.back(program)
        elif self._is_complete or self._hurried:
            self.next(program)
        else:
            self._hurried = True

    def next(self, program: Guided) -> None:
        """Go on to the next page; after the last one the tour is over."""
        self._hurried = False
        seen, now = self._seen[self._number], self._measured(program)
        self._keep(now)
        if self._number + 1 == len(self.tour.pages):
            self.over = True
            return
        self._number += 1
        self._seen[self._number] = Seen(now or seen.now or seen.before)
        if not self.page.is_answer:
            self._restart_due = self.step.do.restart
            if self.step.do.scenario:
                self._open(self.step.do.scenario, program)
            else:
                self._ask_for(self.step.do.settings, program)

    def back(self, program: Guided) -> None:
        """Return to the page before, and to what was set up there."""
        self._hurried = False
        if self._number == 0:
            return
        left, was_answer = self.page.step, self.page.is_answer
        self._number -= 1
        if was_answer:
            return
        if self.tour.steps[left].do.scenario:
            self._open(self.tour.scenario_at(left - 1)[1], program)
        else:
            self._ask_for(self.tour.settings_back(left, program.config), program)

    def _open(self, name: str, program: Guided) -> None:
        self._wait()
        self.opening = program.scenario_asked = name

    def _ask_for(self, settings: Settings, program: Guided) -> None:
        """Ask for settings, the camera last: it is the view of the moment before that may be frozen."""
        if settings:
            self._wait()
        for name, value in sorted(settings.items(), key=lambda setting: setting[0] == "camera"):
            match name, value:
                case "agents", int():
                    program.crowd.populate(value)
                case "speed", float() | int():
                    program.crowd.set_speed(value)
                case "pause", bool() if value != program.crowd.paused:
                    program.crowd.pause()
                case "freeze", bool() if value != (program.overlays.frozen is not None):
                    program.overlays.freeze()
                case "camera", CameraSettings():
                    program.show(value)
                case _, str() | int() | float() if path := technique_of(name):
                    program.techniques.choose(BY_PATH[path], value)

    # --- measuring ---------------------------------------------------------------------------------------------------

    def look(self, program: Guided) -> None:
        """Call in every frame: measure, when everything is as it was asked for."""
        if self.opening or self._is_measured:
            return
        if program.techniques.switcher.pending or program.crowd.changes:
            self._wait()
        elif self._restart_due:
            self._restart_due = False
            self._wait()
            program.crowd.restart()
        elif self._is_enough(program):
            self._keep(self._measured(program))
            if self._hurried:
                self.next(program)

    @property
    def _is_measured(self) -> bool:
        return self._seen[self._number].now is not None

    @property
    def _is_complete(self) -> bool:
        """Has the page all of its numbers?"""
        return self._is_measured or not (self.page.numbers or self.step.mark)

    def _wait(self) -> None:
        """Count frames afresh."""
        self._state, self._count = None, 0

    def _counted(self, program: Guided) -> int:
        """Frames since the one in which anything that matters was changed, by the tour or by somebody else."""
        sim = program.crowd.sim
        state = sim, len(sim.history)
        if state != self._state:
            self._state, self._since, self._since_s = state, Counts.of(sim.profile), time.monotonic()
        self._count = sim.profile.frames - self._since.frames
        return self._count

    def _is_enough(self, program: Guided) -> bool:
        """Were enough frames measured, and all numbers that the page needs? What is still unknown after a while stays so."""
        counted = self._counted(program)
        if counted >= LEAST_FRAMES and time.monotonic() - self._since_s > LONG_S:
            return True
        now = self._measured(program) if counted >= self.step.wait else None
        return now is not None and not any(math.isnan(now.get(number, 0.0)) for number in self.page.numbers)

    def _measured(self, program: Guided) -> Numbers | None:
        """The numbers of the last frames, if there are enough to say something."""
        if self.opening or self._counted(program) < LEAST_FRAMES:
            return None
        sim = program.crowd.sim
        return measured(sim.profile, program.crowd.meters.readings(sim), self._since, self.step.wait)

    def _keep(self, now: Numbers | None) -> None:
        """Keep numbers as those of this page, if it has none yet."""
        if now is None or self._is_measured:
            return
        self._seen[self._number] = self._seen[self._number]._replace(now=now)
        if self.step.mark and not self.page.is_answer:
            self._marks[self.step.mark] = now

    def go_alone(self, program: Guided) -> None:
        """Without anybody to press a key: print the page once its numbers are there, and go on."""
        if self._is_measured:
            said = [self.question, self.text] if self.page.is_answer else [self.text, self.question]
            print(f"{self.page.step + 1:2}/{len(self.tour.steps)}", "\n      ".join(filter(None, said)), flush=True)
            self.next(program)

    # --- what is shown -----------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        return self._filled(self.page.text, self._number)

    @property
    def question(self) -> str:
        """The question, as it was asked."""
        return self._filled(self.page.question, self._number - self.page.is_answer)

    def _filled(self, text: str, page: int) -> str:
        seen = self._seen[page]
        return filled(text, seen.now, {**self._marks, BEFORE: seen.before})

    def view(self, program: Guided) -> TourView:
        return TourView(self.name, self.page.step + 1, len(self.tour.steps), self.text, self.question, self.page.is_answer,
                        self._doing(program))

    def _doing(self, program: Guided) -> str:
        if self.opening:
            return f"opening {self.opening} ..."
        switcher = program.techniques.switcher
        if switcher.pending:
            return f"{switcher.text or 'compiling'} ..."
        if self._is_complete:
            return ""
        counted = self._count // COUNTED_BY * COUNTED_BY
        return f"measuring ... {min(counted, self.step.wait)} of {self.step.wait}" + ", then on" * self._hurried
