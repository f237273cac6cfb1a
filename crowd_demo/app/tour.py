"""Tours in the window: beginning one, what it does to the program, what it measures, and what its panel shows.

A page is entered in three turns: what its step does is requested (a scenario may have to be opened, kernels to be
compiled); when all of that holds, frames are counted; when enough were measured, the numbers of its texts are filled
in. A request to go on before that takes effect once the numbers are there, for later pages may name them.

Where the page itself has switched techniques, its times before and after are those of the card, as long as that is
shown, and so is what the card tells of counters and readings: both are of the same steps. The card in its turn begins
with the time that the tour has told before. What was told holds until something is changed: a page that changes nothing
repeats it.

The page of a bet comes before that of its step, and does nothing: what the step does begins with the next page.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Protocol

from crowd_demo.app.cards import Cards, Trial
from crowd_demo.app.controls import CrowdControls
from crowd_demo.app.crowd import Crowd
from crowd_demo.app.live_numbers import (
    DIGITS,
    OF_VIEW,
    Guess,
    Numbers,
    PageNumbers,
    Since,
    filled,
    measured,
    measured_for,
    named,
    of_card,
)
from crowd_demo.app.screen import Notices
from crowd_demo.app.technique_controls import Techniques
from crowd_demo.app.view_controls import FREEZE, Overlays
from crowd_demo.config.loader import ConfigError
from crowd_demo.config.model import CameraSettings, Config
from crowd_demo.config.tour import BEFORE, Page, Settings, Step, Tour, load_tour, technique_of
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.status import BetView, TourView

KEYS = {"return": "next", "right": "next", "left": "back", "backspace": "back", "escape": "leave"}  # before the program's own
WINDOW = 1280, 720  # for which a tour's zoom is meant: another window shows the same, larger or smaller
LEAST_FRAMES = 3  # with fewer no number is shown
LONG_S = 4.0  # after this time `LEAST_FRAMES` are enough
CARD_S = 15.0  # the same where a card is about to have the numbers
COUNTED_BY = 10  # frames between two updates of the count, each of which redraws the panel


class Guided(Protocol):
    """The part of a program that a tour reads and changes."""

    config: Config
    config_name: str | None
    crowd: Crowd
    controls: CrowdControls
    techniques: Techniques
    notices: Notices
    overlays: Overlays
    cards: Cards

    def show(self, settings: CameraSettings, window: tuple[int, int] | None = None) -> None: ...

    def open_scenario(self, name: str) -> None: ...


class TourPlayer:
    """Plays a tour in a program, or in several, one after another, where it opens other scenarios."""

    def __init__(self, name: str, tour: Tour, program: Guided) -> None:
        self.name, self.tour, self.program = name, tour, program
        self.over = False
        self.opening = ""  # the scenario that the tour waits for
        self._number = 0  # of the page
        self._numbers: dict[int, PageNumbers] = {0: PageNumbers({})}
        self._marks: dict[str, Numbers] = {}
        self._guesses: dict[int, Guess] = {}  # by step
        self._restart_due = False
        self._hurried = False  # whether to go on as soon as the numbers are there
        self._since = Since(0, 0)
        self._since_s = time.monotonic()
        self._state: object = None  # what the measured frames have in common
        self._told_state: object = None  # the crowd when the numbers of this page were measured
        self._told_view: object = None  # the view at that time
        self._values: Mapping[str, Value] = {}  # of the techniques of this step, before it
        self._requested_at = 0  # the frame in which the page requested its settings

    @property
    def page(self) -> Page:
        return self.tour.pages[self._number]

    @property
    def step(self) -> Step:
        return self.tour.steps[self.page.step]

    # --- going through it --------------------------------------------------------------------------------------------

    def arrived(self, program: Guided) -> None:
        """Go on in the program of the scenario that was opened. If the tour did not ask for that one, it is over."""
        self.program = program
        if program.config_name == self.opening:
            self.set_up()
        else:
            self.end()

    def end(self) -> None:
        self.over = True
        self.program.notices.add("the tour is over", "tour")

    def set_up(self) -> None:
        """Ask for all that the tour has set up by now in a scenario that was just opened."""
        self.opening = ""
        self._ask_for(self._settings())

    def show_view(self) -> None:
        """Show again what the tour shows at present, in a window that has got another size."""
        if not self.opening:
            self._ask_for({"camera": self._settings()["camera"]})

    def _settings(self) -> Settings:
        return {"camera": self.program.config.camera, **self.tour.settings_at(self.page.settled)}

    def act(self, name: str) -> None:
        """Do what a key or a part of the panel stands for: next, back or leave."""
        if name == "leave":
            self.end()
        elif self.opening:
            return
        elif name == "back":
            self.back()
        elif self._is_complete:
            self.next()
        else:
            self._hurried = True

    def next(self) -> None:
        """Go on to the next page; after the last one the tour is over."""
        self._hurried = False
        latest, is_told = self._measured(), self._is_measured
        self._keep_numbers(latest)
        self._keep(self._known(self._number))
        if self._number + 1 == len(self.tour.pages):
            self.end()
            return
        last, told = self._numbers[self._number], self._told() if is_told else frozenset()
        before = latest or last.now or ({} if self._acts else last.before)
        self._number += 1
        before = {**before, **named(told, last.now or {})}
        repeats = told and not self._acts and measured_for(self.page.numbers) <= told
        self._keep(PageNumbers(before, last.now if repeats else None, told))
        if self.page.kind == "step":
            options = self.program.crowd.sim.optimizations
            self._values = {path: options.get(path) for path in self.step.do.techniques}
            self._restart_due = self.step.do.restart
            if self.step.do.scenario:
                self.open(self.step.do.scenario)
            else:
                self._ask_for(self.step.do.settings)

    @property
    def _acts(self) -> bool:
        return self.page.kind == "step" and bool(self.step.do.model_fields_set)

    def _told(self) -> frozenset[str]:
        """The names of the numbers that this page or earlier ones have told, unless something was changed since."""
        if self.program.techniques.switcher.pending or self.program.crowd.changes or self._told_state != self._crowd_state:
            return frozenset()
        told = measured_for(self.page.numbers) | (frozenset() if self._acts else self._numbers[self._number].told)
        return told if self._told_view == self.program.cards.view_key else told - OF_VIEW

    @property
    def _crowd_state(self) -> object:
        """Return the simulation and its number of actions, which stay equal while the crowd is unchanged."""
        sim = self.program.crowd.sim
        return sim, len(sim.history)

    def back(self) -> None:
        self._hurried = False
        if self._number == 0:
            return
        left, had_done = self.page.step, self.page.kind == "step"
        self._number -= 1
        self._told_state = None
        if not had_done:
            return
        if self.tour.steps[left].do.scenario:
            self.open(self.tour.scenario_at(left - 1)[1])
        else:
            self._ask_for(self.tour.settings_back(left, self.program.config))

    def open(self, name: str) -> None:
        self._told_state = None
        self._wait()
        self.opening = name
        self.program.open_scenario(name)

    def _ask_for(self, settings: Settings) -> None:
        """Ask for settings, the camera last: it is the view of the moment before that may be frozen."""
        self._requested_at = self.program.crowd.sim.profile.frames
        if settings:
            self._wait()
        for name, value in sorted(settings.items(), key=lambda setting: setting[0] == "camera"):
            match name, value:
                case "agents", int():
                    self.program.controls.populate(value)
                case "speed", float() | int():
                    self.program.controls.set_speed(value)
                case "pause", bool() if value != self.program.crowd.paused:
                    self.program.controls.pause()
                case "freeze", bool() if value != (self.program.overlays.frozen is not None):
                    self.program.overlays.toggle(FREEZE)
                case "camera", CameraSettings():
                    self.program.show(value, WINDOW)
                case _, str() | int() | float() if path := technique_of(name):
                    self.program.techniques.choose(BY_PATH[path], value)

    # --- measuring ---------------------------------------------------------------------------------------------------

    def measure_frame(self) -> None:
        """Call in every frame: measure, when everything is as it was requested."""
        if self.opening:
            return
        if self._acts and (card := self._card):  # one about this switch alone begins with the time that was told
            before, _, told = self._numbers[self._number]
            old, new = card.switched
            of_page = self.step.do.model_fields_set == {"set"} and all(
                (old[path], new[path]) == (self._values.get(path), self.step.do.techniques.get(path)) for path in new)
            name = "draw_ms" if card.drawn else "step_ms"
            card.known_ms = before.get(name, math.nan) if of_page and name in told else math.nan
        if self._is_measured:
            return
        if self.program.techniques.switcher.pending or self.program.crowd.changes:
            self._wait()
        elif self._restart_due:
            self._restart_due = False
            self._wait()
            self.program.crowd.apply(self.program.controls.restart)
        elif self._is_enough():
            self._keep_numbers(self._measured())
            if self._hurried:
                self.next()

    @property
    def _is_measured(self) -> bool:
        return self._numbers[self._number].now is not None

    @property
    def _is_complete(self) -> bool:
        return self._is_measured or not (self.page.numbers or (self.step.mark and self.page.kind != "bet"))

    def _wait(self) -> None:
        self._state = None

    def _counted(self) -> int:
        """Frames since the one in which anything that matters was changed, by the tour or by the user."""
        sim, state = self.program.crowd.sim, self._crowd_state
        if state != self._state:
            self._state, self._since, self._since_s = state, Since(sim.profile.frames, sim.profile.steps), time.monotonic()
        return sim.profile.frames - self._since.frames

    def _is_enough(self) -> bool:
        """Return whether enough frames were measured, and all numbers that the page needs, or a while has passed."""
        counted = self._counted()
        waits_for_card = (card := self._card) is not None and not card.is_settled
        if counted >= LEAST_FRAMES and time.monotonic() - self._since_s > (CARD_S if waits_for_card else LONG_S):
            return True
        now = self._measured() if counted >= self.step.wait and not waits_for_card else None
        return now is not None and not any(math.isnan(now.get(number, 0.0)) for number in self.page.numbers)

    def _measured(self) -> Numbers | None:
        """The numbers of the last frames, if there are enough to say something."""
        if self.opening or self._counted() < LEAST_FRAMES:
            return None
        sim = self.program.crowd.sim
        return measured(sim.profile, self.program.crowd.meters.readings(sim), self._since, self.step.wait)

    def _keep_numbers(self, now: Numbers | None) -> None:
        """Keep numbers as those of this page, if it has none yet."""
        if now is None or self._is_measured:
            return
        numbers = self._numbers[self._number]
        if not self._acts and self._told_state == self._crowd_state:
            now = {**now, **named(numbers.told, numbers.before)}
        self._keep(numbers._replace(now=now))

    def _keep(self, numbers: PageNumbers) -> None:
        if numbers.now is not None and self._numbers.get(self._number, numbers).now is None:
            self._told_state, self._told_view = self._crowd_state, self.program.cards.view_key
            if self.step.why and self.page.kind == "step":
                self.program.cards.point_out(self.step.why)
        self._numbers[self._number] = numbers
        if self.step.mark and self.page.kind == "step" and numbers.now is not None:
            self._marks[self.step.mark] = numbers.now

    def _known(self, page: int) -> PageNumbers:
        """The numbers of a page; those that the card has are the card's, if the page has switched what that is about."""
        before, now, told = self._numbers[page]
        if page == self._number and (card := self._card):
            of_before, of_now = of_card(card.spans, card.told)
            return PageNumbers({**before, **of_before}, None if now is None else {**now, **of_now}, told)
        return self._numbers[page]

    @property
    def _card(self) -> Trial | None:
        """The trial of what the present page has switched."""
        own = self.tour.steps[self.page.settled].do.techniques if self.page.settled >= 0 else {}
        trial = self.program.cards.trial
        return trial if trial and trial.frame >= self._requested_at and own.keys() >= trial.switched.new.keys() else None

    def go_alone(self) -> None:
        """Play without keys and without guesses: print the page once its numbers are there, and go on."""
        if self.page.kind == "bet" and not self.opening:
            self.next()
        elif self._is_measured:
            said = [self.question, self.text] if self.page.is_answer else [self.text, self.question]
            print(f"{self.page.step + 1:2}/{len(self.tour.steps)}", "\n      ".join(filter(None, said)), flush=True)
            self.next()

    # --- bets --------------------------------------------------------------------------------------------------------

    @property
    def _open_bet(self) -> Guess | None:
        if self.page.kind != "bet" or not self.page.bet:
            return None
        return self._guesses.setdefault(self.page.step, Guess(self.page.bet))

    def type(self, key: str) -> bool:
        """Offer a key to the bet that is open; return whether it was taken. Who types is in no hurry."""
        if not (guess := self._open_bet) or not guess.type(key):
            return False
        self._hurried = False
        return True

    def guess_at(self, share: float) -> None:
        """Guess what is so far along the scale of the bet that is open, from 0 to 1."""
        if guess := self._open_bet:
            guess.place(share)
            self._hurried = False

    def _bet(self) -> BetView | None:
        """What is shown of the page's bet: nothing after it without a guess."""
        if guess := self._open_bet:
            return guess.view(is_open=True)
        guess = self._guesses.get(self.page.step)
        if self.page.is_answer or not (guess and guess.value is not None):
            return None
        before, now, _ = self._known(self._number)
        mark = guess.bet.of.rpartition(".")[0]
        earlier = self._marks.get(mark, {}) if mark not in ("", BEFORE) else before
        return guess.view(is_open=False, outcome=None if now is None else guess.outcome(guess.value, earlier, now))

    # --- what is shown -----------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        return self._filled(self.page.text, self._number)

    @property
    def question(self) -> str:
        return self._filled(self.page.question, self._number - self.page.is_answer)

    def _filled(self, text: str, page: int) -> str:
        known = self._known(page)
        return filled(text, known.now, {**self._marks, BEFORE: known.before})

    def view(self) -> TourView:
        return TourView(self.name, self.page.step + 1, len(self.tour.steps), self.text, self.question, self.page.is_answer,
                        self._doing(), self._bet(), self.step.panels and self.page.kind != "bet")

    def _doing(self) -> str:
        if self.opening:
            return f"opening {self.opening} ..."
        switcher = self.program.techniques.switcher
        if switcher.pending:
            return f"{switcher.job.text} ..."
        if self._is_complete:
            return ""
        counted = self.program.crowd.sim.profile.frames - self._since.frames if self._state else 0
        counted = min(counted // COUNTED_BY * COUNTED_BY, self.step.wait)
        return f"measuring ... {counted} of {self.step.wait}" + ", then on" * self._hurried


class Guide:
    """Begins and ends tours. It goes over to the program of the scenario that is opened."""

    def __init__(self) -> None:
        self.latest: TourPlayer | None = None

    @property
    def tour(self) -> TourPlayer | None:
        return self.latest if self.latest and not self.latest.over else None

    def begin(self, name: str, program: Guided, opened: bool = False) -> None:
        """Begin a tour, a shipped name or a path; unless its configuration is `opened` already, open that first."""
        try:
            self.latest = TourPlayer(Path(name).stem, load_tour(name), program)
        except ConfigError as error:
            program.notices.add(error.lines[0], "tour")
            return
        if opened:
            self.latest.set_up()
        else:
            self.latest.open(self.latest.tour.config)

    @property
    def wanted(self) -> Set[str]:
        """The keys that a tour takes; digits where it asks for a guess."""
        bets = DIGITS if self.tour and self.tour.page.kind == "bet" else set()
        return KEYS.keys() | bets if self.tour else set()

    def press(self, key: str) -> bool:
        """A key went down; return whether the tour has taken it."""
        tour = self.tour
        if not tour or tour.type(key):
            return tour is not None
        if key in KEYS:
            tour.act(KEYS[key])
        return key in KEYS
