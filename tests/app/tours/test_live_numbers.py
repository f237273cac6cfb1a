"""What a tour's texts say of the times that were measured."""

import math
import re
import time
from functools import partial
from typing import Any

import pytest
from driven import Driven

from crowd_demo.app import loop
from crowd_demo.app.cards import Cards, Trial
from crowd_demo.app.live_numbers import (
    ALIKE,
    COMPARED,
    NOT_TOLD,
    ON_CARD,
    SENTENCE_END,
    TO_COME,
    Since,
    compared,
    filled,
    measured,
    number_text,
    of_card,
)
from crowd_demo.app.loop import Loop
from crowd_demo.app.tour import TourPlayer
from crowd_demo.config.loader import load_config
from crowd_demo.config.resources import list_tours
from crowd_demo.config.tour import BEFORE, NUMBERS, PLACEHOLDER, load_tour
from crowd_demo.profile import Profile
from crowd_demo.render.cull import Cull
from crowd_demo.render.hud.card import Span, outcome_text
from crowd_demo.render.hud.status import BetView
from crowd_demo.sim.interaction.interaction_stage import Interaction
from crowd_demo.sim.metrics.readings import Readings
from crowd_demo.sim.simulation import Simulation


def profile(frames: int, steps_a_frame: int = 1, interaction_ms: float = 2.0) -> Profile:
    """Frames of 10 ms in which `blit` takes 3 and `cull` 1; of a step `interaction` takes that long, and `move` 1."""
    made = Profile()
    made.counters |= {"total": 500, "drawn": 120, "due": 100, "candidates_per_agent": 64.25, "neighbours_per_agent": 8.5}
    for _ in range(frames):
        for _ in range(steps_a_frame):
            made.begin_step()
            made.add("interaction", interaction_ms)
            made.add("move", 1.0)
            made.end_step()
        made.add("cull", 1.0)
        made.add("blit", 3.0)
        made.end_frame(10.0)
    return made


@pytest.mark.quick
def test_steps_are_told_apart_from_frames_and_drawing() -> None:
    now = measured(profile(30, steps_a_frame=2), Readings(), Since(0, 0), 60)
    assert [now[name] for name in ("step_ms", "interaction_ms", "draw_ms")] == pytest.approx([3, 2, 4])
    assert (now["frame_ms"], now["fps"], now["agents"], now["drawn"], now["candidates"]) == (7, 100, 500, 120, 64.25)
    assert math.isnan(now["near_reads"])
    assert math.isnan(measured(profile(20, steps_a_frame=0), Readings(), Since(0, 0), 60)["step_ms"])
    assert {name for name in now if "." not in name} | {"factor", "faster", "draw_factor", "draw_faster"} == NUMBERS.keys()


@pytest.mark.quick
def test_only_frames_since_the_moment_count_and_only_the_last_of_them() -> None:
    made = profile(20)
    since = Since(made.frames, made.steps)
    for ms in (8.0, 8.0, 1.0, 1.0, 1.0):
        made.begin_step()
        made.add("interaction", ms)
        made.end_step()
        made.end_frame(ms)
    assert measured(made, Readings(), since, 60)["fps"] == 1000
    assert measured(made, Readings(), since, 3)["interaction_ms"] == 1
    assert measured(made, Readings(), Since(0, 0), 60)["fps"] == 100


@pytest.mark.quick
def test_a_step_in_which_nobody_looks_around_does_not_count() -> None:
    made = profile(2)
    made.counters |= {"due": 300, "candidates_per_agent": 40.25, "neighbours_per_agent": 4.5}
    made.end_frame(10.0)
    made.counters |= {"due": 0, "candidates_per_agent": 0.0, "neighbours_per_agent": 0.0}
    made.end_frame(10.0)
    now = measured(made, Readings(), Since(1, 1), 60)
    assert (now["candidates"], now["neighbours"]) == ((64.25 + 3 * 40.25) / 4, (8.5 + 3 * 4.5) / 4)
    assert math.isnan(measured(made, Readings(), Since(3, 2), 60)["candidates"])


@pytest.mark.quick
def test_of_what_a_card_tells_a_tour_says_the_same() -> None:
    span = Span("step", 8.0, 2.0, 4.0, 3.5, 4.5, "faster")
    before, now = of_card([span], {"near reads": (0.12, 0.66), "candidates_per_agent": (600.0, 12.4), "registers": (0, 7)})
    assert (before["step_ms"], now["step_ms"]) == (8.0, 2.0)
    assert [number_text(name, now[name]) for name in ("near_reads", "candidates")] == ["66", "12"]
    assert (before["near_reads"], before["candidates"]) == (12.0, 600.0) and "registers" not in now and "drawn" not in now


@pytest.mark.quick
@pytest.mark.parametrize(("span", "card", "tour"), [
    (Span("step", 8.0, 2.0, 4.0, 3.5, 4.5, "faster"), "4.0x faster", "4.0 times as fast"),
    (Span("step", 2.0, 8.0, 0.25, 0.2, 0.3, "slower"), "4.0x slower", "4.0 times slower"),
    (Span("step", 2.0, 2.06, 0.97, 0.9, 1.1, "no difference"), "no difference", "about as fast"),
    (Span("step", 8.48, 10.1, 0.84, 0.55, 1.2, "no difference"), "too noisy to tell", NOT_TOLD),
    (Span("step", 2.0, 2.04, 0.98, 0.6, 1.6, "no difference"), "too noisy to tell", NOT_TOLD),
    (Span("step", 8.6, 3.4, 2.53, 2.3, 5.7, "faster"), "2.5x faster", "2.5 times as fast"),
    (Span.about("step", 4.8, 11.5, True), "no factor", "2.4 times slower"),
    (Span.about("step", 1.5, 1433.0, True), "about 955x slower", "955 times slower")])
def test_a_tour_says_in_words_what_the_card_says(span: Span, card: str, tour: str) -> None:
    assert (outcome_text(span), compared("faster", *of_card([span], {}))) == (card, tour)


@pytest.mark.quick
@pytest.mark.parametrize(("before", "now", "factor", "words"), [
    (30.0, 10.0, "3.0", "3.0 times as fast"), (10.0, 10.4, "0.96", "about as fast"), (10.0, 20.0, "0.50", "2.0 times slower"),
    (4000.0, 1.0, "4,000", "4,000 times as fast"), (10.6, 10.0, "1.06", "1.06 times as fast"),
    (math.nan, 10.0, "", ""), (10.0, math.nan, "", ""),
])
def test_times_are_compared_in_numbers_and_in_words(before: float, now: float, factor: str, words: str) -> None:
    assert compared("factor", {"step_ms": before}, {"step_ms": now}) == factor
    assert compared("faster", {"step_ms": before}, {"step_ms": now}) == words
    assert compared("draw_faster", {"draw_ms": before}, {"draw_ms": now}) == words


@pytest.mark.quick
@pytest.mark.parametrize(("name", "value", "text"), [
    ("step_ms", 0.3149, "0.31"), ("step_ms", 3.14, "3.1"), ("step_ms", 31.4, "31.4"), ("step_ms", 3141.5, "3,142"),
    ("candidates", 64.25, "64"), ("candidates", 6.42, "6.4"), ("agents", 20_000.0, "20,000"), ("fps", 7.0, "7"),
    ("drawn", math.nan, "")])
def test_numbers_have_as_many_digits_as_can_be_read(name: str, value: float, text: str) -> None:
    assert number_text(name, value) == text


@pytest.mark.quick
def test_a_factor_that_is_within_the_noise_is_none_in_words() -> None:
    wide, narrow = ({"step_ms.low": 1 - part, "step_ms.high": 1 + part} for part in (0.6, 0.1))
    assert compared("faster", {"step_ms": 6.0, **wide}, {"step_ms": 4.0, **wide}) == NOT_TOLD
    assert compared("faster", {"step_ms": 6.0, **narrow}, {"step_ms": 4.0, **narrow}) == "1.5 times as fast"
    assert compared("faster", {"step_ms": 4.1, **wide}, {"step_ms": 4.0, **wide}) == NOT_TOLD
    small = {"step_ms.low": 0.98, "step_ms.high": 1.02}
    assert compared("faster", {"step_ms": 4.05, **small}, {"step_ms": 4.0, **small}) == "about as fast"


@pytest.mark.quick
def test_a_text_is_filled_with_what_is_known_by_now() -> None:
    text = "{before.step_ms} to {step_ms} ms, {faster}, {brute.factor}x, {brute.candidates} others"
    marks = {BEFORE: {"step_ms": 6.0}, "brute": {"step_ms": 300.0, "candidates": 5000.0}}
    assert filled(text, None, marks) == "6 to … ms, …, …x, 5,000 others"
    assert filled(text, {"step_ms": 3.0}, marks) == "6 to 3 ms, 2.0 times as fast, 100x, 5,000 others"
    missing = ", ".join(NUMBERS[name] for name in ("step_ms", "faster", "factor", "candidates"))
    assert filled(f"Hi. {text}", {"step_ms": 3.0}, {}) == f"Hi. Not measured: {missing}."


@pytest.mark.quick
@pytest.mark.parametrize("name", list(list_tours()))
def test_no_sentence_of_a_tour_has_a_missing_number(name: str) -> None:
    """Whichever readings are missing: a sentence that needs one is left out, all others stay, and each is named."""
    marks = {BEFORE, *(step.mark for step in load_tour(name).steps if step.mark)}
    for page in load_tour(name).pages:
        for text in filter(None, (page.text, page.question)):
            named = {placeholder.rpartition(".")[2] for placeholder in PLACEHOLDER.findall(text)}
            for gone in (set[str](), *({number} for number in NUMBERS.keys() - COMPARED), set(NUMBERS)):
                known = {number: 7.0 for number in NUMBERS if number not in gone}
                told = filled(text, known, dict.fromkeys(marks, known))
                lost = {number for number in named if COMPARED.get(number, number) in gone}
                sentences = [PLACEHOLDER.sub("7", one) for one in SENTENCE_END.split(text)
                             if not any(f"{{{number}}}" in one or f".{number}}}" in one for number in lost)]
                assert (" ".join(sentences) in told.replace("about as fast", "7").replace("1.00", "7")
                        and ("Not measured: " in told) == bool(lost)), (text, gone, told)
                assert all(NUMBERS[number] in told for number in lost)
                assert not re.search(r"nan|None|\{|  | ,| ms per step ms", told), told


@pytest.mark.quick
@pytest.mark.parametrize("name", list(list_tours()))
def test_words_about_speed_end_their_clause(name: str) -> None:
    """They may be "about as fast" or "1.4 times slower", so nothing such as "as without" can follow."""
    for page in load_tour(name).pages:
        for follows in re.findall(r"faster\}(.?)", page.text + page.question):
            assert follows in ("", ".", ","), page.text


# --- Every sentence of the shipped tours against its numbers, the card and a clock -----------------------------------

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
    found = re.fullmatch("(.+?)".join(map(re.escape, PLACEHOLDER.split(template)[::2])), text)
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
