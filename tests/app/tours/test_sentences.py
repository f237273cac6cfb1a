"""Every sentence of the shipped tours against its numbers, the card, and a clock that says what a step takes."""

from __future__ import annotations

import math
import re
import time
from functools import partial
from typing import Any

import pytest
from driven import Driven

from crowd_demo.app import loop
from crowd_demo.app.cards import Cards, Trial
from crowd_demo.app.live_numbers import ALIKE, COMPARED, NOT_TOLD, ON_CARD, TO_COME, number_text
from crowd_demo.app.loop import Loop
from crowd_demo.app.tour import TourPlayer
from crowd_demo.config.loader import load_config
from crowd_demo.config.resources import list_tours
from crowd_demo.config.tour import BEFORE, PLACEHOLDER, load_tour
from crowd_demo.render.cull import Cull
from crowd_demo.render.hud.status import BetView
from crowd_demo.sim.interaction.interaction_stage import Interaction
from crowd_demo.sim.simulation import Simulation

AGENTS = 600  # at most
DRAWN_MS = {"off": 6.0, "scan": 2.0, "grid": 1.5}


def step_ms(sim: Simulation) -> float:
    """What a step takes on this clock."""
    get, agents = sim.optimizations.get, sim.agents.count
    pairs = agents * (agents if get("neighbours") == "none" else 40 if get("neighbours") == "buckets" else 30)
    slower = (0.3 if get("simd") else 1.0) * (1.0 if get("reorder.when") != "off" else 1.6)
    return 1e-4 * pairs * slower / float(get("stagger.avoidance")) + 0.1


class Clock:
    """Moves on only where something is said to take time: a step, a picture, and what else there is in a frame."""

    def __init__(self) -> None:
        self.ns = 0
        self.slower = 1.0  # so many times as long everything takes

    def s(self) -> float:
        return self.ns / 1e9

    def spend(self, ms: float) -> None:
        self.ns += round(ms * self.slower * 1e6)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock.s)
    monkeypatch.setattr(time, "perf_counter_ns", lambda: clock.ns)
    monkeypatch.setattr("crowd_demo.extras.why.measured_bandwidth", lambda: 1e10)
    monkeypatch.setattr("crowd_demo.app.program.Cards", partial(Cards, clock=clock.s))

    def taking(owner: Any, name: str, spend: Any) -> None:
        original = getattr(owner, name)

        def slower(self: Any, *given: Any) -> Any:
            spend(self, *given)
            return original(self, *given)
        monkeypatch.setattr(owner, name, slower)

    taking(Interaction, "launches", lambda stage, world: clock.spend(step_ms(world)))
    taking(Cull, "run", lambda cull, launches, workers, count: clock.spend(DRAWN_MS["off" if cull._takes_all else "grid"]))
    taking(Loop, "frame", lambda loop: clock.spend(1000 / 60))

    def load(name: str) -> Any:
        config = load_config(name)
        return config.model_copy(update={"agents": min(config.agents, AGENTS)})
    monkeypatch.setattr(loop, "load_config", load)
    return clock


def values(template: str, text: str) -> dict[str, str]:
    """What stands in a text for each placeholder of its template."""
    names = PLACEHOLDER.findall(template)
    pattern = "(.+?)".join(map(re.escape, PLACEHOLDER.split(template)[::2]))
    found = re.fullmatch(pattern, text)
    assert found, (template, text)
    return dict(zip(names, found.groups(), strict=True))


def limits(shown: str) -> tuple[float, float]:
    """Between what a rounded number lies."""
    number, decimals = float(shown.replace(",", "")), len(shown.partition(".")[2])
    return number - 0.51 * 10**-decimals, number + 0.51 * 10**-decimals


def factor_in(words: str) -> tuple[float, float]:
    """Between what a factor in words lies."""
    if words == "about as fast":
        return 1 - ALIKE, 1 + ALIKE
    if words == NOT_TOLD:
        return 0, math.inf
    low, high = limits(words.split()[0])
    return (1 / high, 1 / low) if words.endswith("slower") else (low, high)


def assert_agrees(bet: BetView | None, of: str, shown: dict[str, str]) -> None:
    """Hold what a bet of 3 came to against the numbers in the sentence beside it."""
    assert bet and bet.guess == "3" and bet.outcome
    measured = limits(bet.outcome.measured.split()[0])
    told = factor_in(shown[of.replace("factor", "faster")]) if of.endswith("factor") else limits(shown[of])
    assert measured[0] <= told[1] and told[0] <= measured[1], (bet, shown)
    assert bet.outcome.is_right or ("too low" in bet.outcome.verdict) == (measured[0] > 3), bet


def played(driven: Driven) -> None:
    """Go on until the page has all of its numbers, those of its card too."""
    def done() -> bool:
        driven.frames()
        if driven.loop.opened:
            driven.follow()
        driven.program.cards.on = True
        if (few := min(driven.program.crowd.agents_asked, AGENTS)) != driven.program.crowd.agents_asked:
            driven.program.controls.populate(few)
        tour, trial = driven.program.guide.tour, driven.program.cards.trial
        assert tour
        return not (tour.view().doing or driven.program.crowd.changes) and (trial is None or trial.is_settled)
    driven.until(done)


def tour_of(driven: Driven) -> TourPlayer:
    """The tour, once the page has all of its numbers."""
    played(driven)
    tour = driven.program.guide.tour
    assert tour
    return tour


def own_trial(driven: Driven) -> Trial | None:
    """The trial of what the page has switched."""
    tour = driven.program.guide.tour
    return tour._card if tour else None


@pytest.mark.parametrize("name", list(list_tours()))
def test_every_sentence_agrees_with_its_numbers_the_card_and_the_clock(driven: Driven, clock: Clock, name: str) -> None:
    driven.program.guide.begin(name, driven.program)
    compared = bets = 0
    for page in load_tour(name).pages:
        tour = tour_of(driven)
        shown = values(page.text, tour.text)
        assert not any(missing in tour.text + tour.question for missing in (TO_COME, "Not measured"))
        if page.kind == "bet":
            driven.press("3")
        elif page.kind == "step" and page.bet:
            bets += 1
            assert_agrees(tour.view().bet, page.bet.of, shown)
        assert shown.get("step_ms", number_text("step_ms", step_ms(driven.program.sim))) == number_text(
            "step_ms", step_ms(driven.program.sim)), tour.text
        for placeholder in shown.keys() & page.numbers:
            mark, _, number = placeholder.rpartition(".")
            if number not in COMPARED:
                continue
            before, now = shown[f"{mark or BEFORE}.{COMPARED[number]}"], shown[COMPARED[number]]
            low, high = factor_in(shown[placeholder])
            (least, most), (fewest, largest) = limits(before), limits(now)
            assert least / largest <= high and low <= most / fewest, tour.text
            compared += 1
            trial = driven.program.cards.trial
            ended = trial and ", until " in trial.card().state  # it is about an earlier page
            for span in trial.spans if trial and not (mark or ended) else ():
                if f"{span.name}_ms" == COMPARED[number]:
                    assert low * 0.99 <= span.factor <= high * 1.01, (tour.text, trial)
        trial = driven.program.cards.trial
        for counter, (number, unit) in ON_CARD.items():
            if trial and trial is own_trial(driven) and counter in trial.told and number in shown:
                assert shown[number] == number_text(number, unit * trial.told[counter][1]), (tour.text, trial.told)
        driven.press("return")
    assert bets == {"first-steps": 3, "lesson": 3, "why": 5}.get(name, 0)
    assert compared >= (0 if name == "hands" else 4) and driven.program.guide.tour is None


@pytest.mark.slow
def test_what_was_told_before_is_what_the_factor_is_of_on_a_machine_that_becomes_slower(driven: Driven, clock: Clock) -> None:
    driven.program.guide.begin("lesson", driven.program)
    told: dict[str, str] = {}
    repeated = on_card = 0
    for page in load_tour("lesson").pages:
        tour = tour_of(driven)
        shown = values(page.text, tour.text) | values(page.question, tour.question)
        for number in {"step_ms", "draw_ms"} & {placeholder.removeprefix("before.") for placeholder in shown}:
            if f"before.{number}" in shown:
                repeated += 1
                assert shown[f"before.{number}"] == told[number], tour.text
                for span in trial.spans if (trial := own_trial(driven)) else ():
                    if f"{span.name}_ms" == number:
                        on_card += 1
                        assert number_text(number, span.before_ms) == told[number], (tour.text, span)
            told[number] = shown.get(number, told.get(number, ""))
        driven.frames(5)
        clock.slower *= 1.2
        driven.frames(30)
        driven.press("return")
    assert repeated >= 4 and on_card >= 2
