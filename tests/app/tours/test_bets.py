"""Bets in a tour: placed by digits or with the mouse, skipped, and held against what was measured."""

from pathlib import Path

import pytest
from driven import Driven
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.app.live_numbers import Guess
from crowd_demo.config.tour import Bet
from crowd_demo.render.hud.status import BetOutcome, BetView
from crowd_demo.render.hud.text_panels import BET

TOUR = """
config: small
steps:
  - say: A step takes {step_ms} ms.
    wait: 8
  - say: Everybody tests {candidates}.
    do: {set: {neighbours: none, simd: false}, agents: 120}
    bet: {ask: "Of {agents}, how many will be tested?", of: candidates, low: 0, high: 300}
    wait: 8
    mark: brute
    ask: Why?
    answer: Because nobody knows better.
  - say: The step is {brute.faster}.
    do: {set: {neighbours: sorted}}
    bet: {ask: "How many times as fast?", of: brute.factor, low: 1, high: 100}
    wait: 8
  - say: Another crowd.
    do: {scenario: other}
    bet: {ask: "How many are there?", of: agents, low: 1, high: 100}
    wait: 8
"""
COUNT = Bet(ask="How many?", of="candidates", low=0, high=300)
FACTOR = Bet(ask="How much?", of="factor", low=1, high=100)


@pytest.fixture
def touring(driven: Driven, tmp_path: Path) -> Driven:
    """A program at the first bet of a tour."""
    small = "agents: 150\nbehaviour: flock\nworld: {width: 600, height: 400}\n"
    (tmp_path / "small.yaml").write_text(small, "utf-8")
    (tmp_path / "other.yaml").write_text(small.replace("150", "90"), "utf-8")
    (tmp_path / "mine.yaml").write_text(TOUR, "utf-8")
    driven.program.guide.begin("mine.yaml", driven.program)
    driven.until_told()
    driven.turn_page("right")
    return driven


def bet_of(driven: Driven) -> BetView:
    bet = driven.tour().bet
    assert bet
    return bet


def decided(driven: Driven) -> BetOutcome:
    """What the bet of the page came to, once that is measured."""
    driven.until_told()
    outcome = bet_of(driven).outcome
    assert outcome
    return outcome


def test_digits_are_the_guess_before_its_step_does_anything_and_switch_no_techniques(touring: Driven) -> None:
    assert (touring.tour().text, touring.tour().step) == ("Of 150, how many will be tested?", 2)
    assert bet_of(touring) == BetView(("0", "300"), "", "candidates", None, is_open=True)
    assert touring.program.sim.optimizations.neighbours == "sorted" and touring.program.sim.agents.count == 150
    touring.keys(*"12.5", "backspace", "backspace", "0")
    assert (bet_of(touring).guess, bet_of(touring).share) == ("120", 0.4)
    assert touring.program.sim.history == [] and touring.tour().step == 2
    touring.press("return")
    outcome = decided(touring)
    assert (outcome.measured, outcome.is_right) == ("120 candidates", True)
    assert outcome.verdict == "Your guess of 120 lies within what was measured."
    touring.settled("2")
    assert touring.program.sim.optimizations.simd, "digits are keys again"


def test_who_has_no_guess_goes_on_and_is_shown_none(touring: Driven) -> None:
    touring.turn_page("return")
    assert touring.tour().text == "Everybody tests 120." and touring.tour().bet is None
    assert touring.tour().question == "Why?"


def test_a_wrong_guess_is_told_by_how_much_and_going_back_undoes_the_step_and_keeps_it(touring: Driven) -> None:
    touring.keys("9", "right")
    outcome = decided(touring)
    assert (outcome.verdict, outcome.is_right) == ("Your guess of 9 is too low by 111.", False)
    touring.settled("left")
    assert touring.program.sim.optimizations.neighbours == "sorted" and touring.program.sim.agents.count == 150
    assert (bet_of(touring).guess, bet_of(touring).is_open) == ("9", True)


def test_a_bet_of_a_mark_is_decided_by_the_factor_since_then(touring: Driven) -> None:
    for _ in range(3):
        touring.turn_page("right")
    assert touring.tour().text == "How many times as fast?"
    touring.keys(*"500", "return")
    outcome = decided(touring)
    assert outcome.verdict.startswith("Your guess of 500 is too high by "), outcome
    assert " times as fast" in outcome.measured and bet_of(touring).share == 1


def test_a_bet_before_another_scenario_is_asked_for_in_the_present_one(touring: Driven) -> None:
    for _ in range(5):
        touring.turn_page("right")
    assert touring.tour().text == "How many are there?" and touring.program.config_name == "small"
    touring.keys(*"90", "right")
    outcome = decided(touring)
    assert touring.program.config_name == "other" and outcome.is_right
    touring.turn_page("left")
    assert touring.program.config_name == "small" and bet_of(touring).is_open
    assert touring.program.sim.optimizations.neighbours == "sorted" and not touring.program.sim.optimizations.simd


def test_a_click_and_a_drag_on_the_scale_are_guesses(touring: Driven) -> None:
    touring.frames()
    hud, (width, height) = touring.program.hud, touring.program.camera.size
    on_scale = [(x, y) for y in range(0, height, 3) for x in range(0, width, 3) if hud.target_at(x, y) == BET]
    left, right, y = min(on_scale)[0], max(on_scale)[0], on_scale[0][1]
    camera = touring.program.camera.x
    middle = (left + right) // 2, y
    touring.drag(middle)
    assert float(bet_of(touring).guess) == pytest.approx(150, abs=8)
    touring.drag(middle, (width - 1, 0))
    touring.move((left, y))
    assert bet_of(touring).guess == "300" and touring.program.camera.x == camera


# --- guesses and numbers ---------------------------------------------------------------------------------------------

@pytest.mark.quick
@given(st.floats(0, 1))
def test_a_place_on_the_scale_is_its_value_with_two_digits(share: float) -> None:
    for bet in (COUNT, FACTOR):
        guess = Guess(bet)
        guess.place(share)
        assert guess.value is not None and bet.low <= guess.value <= bet.high
        assert bet.share_of(guess.value) == pytest.approx(share, abs=0.02)


@pytest.mark.quick
@given(st.floats(0.2, 200), st.floats(1.0, 1.5), st.integers(0, 100_000).map(lambda hundredths: hundredths / 100))
def test_the_verdict_agrees_with_the_numbers_beside_it(factor: float, spread: float, guess: float) -> None:
    before = {"step_ms": factor, "step_ms.low": 1 / spread, "step_ms.high": spread}
    outcome = Guess(FACTOR).outcome(guess, before, {"step_ms": 1.0})
    measured, _, rest = outcome.measured.partition(" times as fast")
    ends = rest.strip(" ()").split(" to ") if rest else [measured, measured]
    low, high = (float(end) for end in ends)
    if outcome.is_right:
        least, most = (0.51 * 10 ** -len(end.partition(".")[2]) for end in ends)
        assert low - least <= guess <= high + most
    else:
        sign = 1 if "too high" in outcome.verdict else -1
        distance = float(outcome.verdict.rstrip(".").rpartition(" ")[2].replace(",", ""))
        assert distance > 0 and guess - sign * distance == pytest.approx(float(measured), abs=0.0051)


@pytest.mark.quick
def test_a_number_that_is_not_known_decides_nothing() -> None:
    outcome = Guess(FACTOR).outcome(3, {}, {"step_ms": 1.0})
    assert (outcome.measured, outcome.between, outcome.is_right) == ("not known here", None, False)
