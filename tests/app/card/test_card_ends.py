"""What ends a card or what it measures: time, other crowds, the view, another switch."""

from __future__ import annotations

import re
import weakref

import pytest
from watched import Watched, turns_of

from crowd_demo.app.card import trial
from crowd_demo.measure import proof
from crowd_demo.measure.interleaved import InterleavedTiming
from crowd_demo.sim.actions import Populate, SetWalls
from crowd_demo.sim.simulation import Simulation

ZOOM = 320, 180, 1.3


def test_a_card_is_shown_for_ten_seconds_and_then_on_demand(watched: Watched) -> None:
    watched.press("i")
    told = "no card yet: press the key of a technique while panels are shown"
    assert watched.status().notices == [told] and not watched.has_card
    watched.switch("simd", False)
    assert watched.has_card and watched.card.left == 1
    watched.last()
    assert not watched.has_card
    watched.press("i")
    assert watched.card.left == 0 and watched.card.proof.kind == "same"
    watched.keys("i", "i")
    assert not watched.has_card
    watched.press("i")
    watched.switch("simd", True)
    assert watched.card.change == "off -> on" and watched.card.left == 1
    watched.keys("i", "i")
    assert not watched.has_card


@pytest.mark.parametrize(("action", "why"), [(Populate(150), "the number of agents changed"),
                                             (SetWalls((1, 1, 2, 2), True), "the walls changed")])
def test_what_changes_the_crowd_ends_the_measurement(watched: Watched, action, why: str) -> None:
    watched.switch("simd", False, 100)
    watched.apply(action)
    card = watched.card
    assert card.state.endswith(f", until {why}") and card.proof.kind == "same"
    watched.frames(100)
    assert watched.card._replace(left=card.left) == card, "nothing is measured any more"
    watched.switch("simd", True, 100)
    assert watched.card.change == "off -> on" and watched.card.proof.kind == "same"
    watched.switch("simd", False)
    watched.apply(action)
    assert watched.card.proof == ("running", f"not compared: {why}"), "an early end is no proof"


@pytest.mark.parametrize(("key", "why"), [("r", "another crowd began"), ("backspace", "it went to another time")])
def test_another_crowd_or_time_ends_it(watched: Watched, key: str, why: str) -> None:
    watched.switch("simd", False, 60)
    watched.press(key)
    assert watched.card.state.endswith(f", until {why}")


@pytest.mark.parametrize(("path", "value"), [("simd", False), ("cull", "off")])
def test_copies_show_the_view_of_the_switch_when_somebody_moves_it(watched: Watched, path: str, value) -> None:
    watched.switch(path, value, 100)
    watched.program.seeing.zoom(*ZOOM)
    watched.frames()
    turns = turns_of(watched.card)
    watched.frames(60)
    assert turns_of(watched.card) > turns and "until" not in watched.card.state


def test_a_moving_view_ends_what_drawing_is_compared_in_where_the_crowd_is_too_large_for_copies(
        watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "MAX_BYTES", 0)
    watched.switch("cull", "off", 100)
    watched.program.seeing.zoom(*ZOOM)
    watched.frames()
    assert watched.card.state.endswith(", until the view changed")


@pytest.mark.parametrize("is_joined", [False, True])
def test_pictures_of_before_do_not_count_if_the_view_changed_with_the_switch_or_between_two_that_count_as_one(
        is_joined: bool, watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "MAX_BYTES", 0)
    watched.frames(100)
    if is_joined:
        watched.switch("cull", "agents")
    watched.program.seeing.zoom(*ZOOM)
    watched.frames(5 * is_joined)
    watched.switch("cull", "off", 100)
    assert watched.card.change == "grid -> off" and watched.card.spans == () and watched.card.note == trial.NO_TIMES_NOTE
    assert re.fullmatch(r"\d+ after.*", watched.card.state)


@pytest.mark.parametrize(("path", "value"), [("simd", False), ("cull", "off")])
def test_copies_with_long_frames_are_not_timed(watched: Watched, monkeypatch: pytest.MonkeyPatch, path: str, value) -> None:
    monkeypatch.setattr(InterleavedTiming, "frame_ms", 1e7)
    monkeypatch.setattr(proof, "MAX_FRAME_MS", 1e6)
    watched.switch(path, value, 100)
    assert watched.card.note == trial.LONG_NOTE and watched.card.proof.kind == "same"
    assert not any(span.known for span in watched.card.spans), "times before and after have no interval"


def test_a_first_block_slow_by_chance_does_not_end_the_turns(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InterleavedTiming, "frame_ms", property(lambda turns: 1.0 if turns.turns else 1e7))
    monkeypatch.setattr(proof, "MAX_FRAME_MS", 1e6)
    watched.switch("simd", False, 100)
    assert turns_of(watched.card) >= 1 and not watched.card.note


def test_a_pause_stops_the_clock_of_a_step_and_not_that_of_drawing(watched: Watched) -> None:
    watched.press("space")
    watched.frames(60)
    watched.switch("simd", False, 60)
    assert watched.card.left == 1 and watched.card.state == "waits until the crowd moves again"
    watched.press("space")
    watched.frames(100)
    assert watched.card.left < 1 and watched.card.proof.kind == "same"
    watched.press("space")
    watched.frames(60)
    watched.switch("blitter", "pygame", 100)
    assert watched.card.left < 1 and watched.card.spans[0].name == "frame"
    assert watched.card.spans[0].before_ms > 0 < watched.card.spans[0].after_ms


def test_a_second_switch_begins_a_new_card(watched: Watched) -> None:
    watched.switch("simd", False, 100)
    watched.switch("reorder.when", "off")
    assert (watched.card.title, watched.card.change, watched.card.left) == ("reorder", "every -> off", 1)
    watched.frames(100)
    assert watched.card.proof.kind == "same" and watched.card.note.startswith("Memory keeps its order")


def test_two_quick_switches_are_one(watched: Watched) -> None:
    """One who steps through choices wants to compare the last with the first."""
    watched.switch("neighbours", "z_grid")
    watched.switch("neighbours", "kd_tree")
    assert watched.card.change == "sorted -> kd_tree"
    watched.switch("simd", False)
    assert (watched.card.title, watched.card.change) == (
        "2 techniques", "neighbours sorted -> kd_tree, SIMD lanes on -> off")
    watched.frames(60)
    assert turns_of(watched.card) and watched.card.proof.kind == "same"
    watched.switch("simd", True)
    watched.switch("cull", "off", 60)
    assert watched.card.change == "SIMD lanes off -> on, culling grid -> off" and watched.card.proof.kind == "same"
    assert watched.card.spans[0].name == "step" and watched.card.spans[-1].name == "frame"
    watched.frames(60)
    watched.switch("simd", False)
    watched.switch("simd", True)
    assert not watched.has_card, "nothing was switched after all"
    watched.switch("simd", True)
    assert not watched.has_card, "a value that stays is no switch"


def test_the_copies_are_freed_when_the_card_is_over(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    replicas = []
    make = Simulation.replica

    def replica(sim: Simulation) -> Simulation:
        made = make(sim)
        replicas.append(weakref.ref(made))
        return made
    monkeypatch.setattr(Simulation, "replica", replica)
    watched.switch("simd", False, 100)
    assert len(replicas) == 2 and all(replica() for replica in replicas)
    watched.apply(Populate(150))
    assert not any(replica() for replica in replicas)


def test_no_card_while_the_hud_is_off(watched: Watched) -> None:
    watched.switch("simd", False)
    watched.press("tab")
    assert watched.has_card
    watched.keys("tab", "tab")
    watched.switch("simd", True)
    assert watched.card.change == "on -> off" and watched.card.state.endswith("until the HUD was hidden")
    assert "proof" not in watched.program.sim.profile.records(1)[0].notes
