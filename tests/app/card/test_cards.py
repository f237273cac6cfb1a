"""The card of the last switch, in a program that runs: what begins it, what ends it, what it says."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator

import pytest
from driven import Driven

from crowd_demo.app.card import proving
from crowd_demo.app.card.cards import Cards
from crowd_demo.app.card.trial import LASTS_S
from crowd_demo.app.input.commands import Zoom
from crowd_demo.app.screen.window import close_window
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.card import Card
from crowd_demo.sim.actions import Populate, SetWalls, Switch
from crowd_demo.sim.neighbours.linked import Linked
from crowd_demo.sim.neighbours.structures import STRUCTURES
from crowd_demo.sim.simulation import Simulation

LOOK_S = 1e-4
ZOOM = Zoom(320, 180, 1.3)


class Clock:
    """A frame takes a 60th of a second, and every look at the clock a tenth of a millisecond."""

    def __init__(self) -> None:
        self.now_s, self.looks = 0.0, 0

    def __call__(self) -> float:
        self.now_s, self.looks = self.now_s + LOOK_S, self.looks + 1
        return self.now_s


class Watched(Driven):
    """A program whose cards are on."""

    def __init__(self, *settings: str) -> None:
        super().__init__(*settings)
        self.clock = Clock()
        self.program.cards = Cards(self.program.measured, self.clock)
        self.program.cards.on = True

    def frames(self, count: int = 1) -> None:
        for _ in range(count):
            self.clock.now_s += 1 / 60
            super().frames()

    def switch(self, path: str, value) -> None:
        """With no compiler in between."""
        self.program.crowd.apply(Switch(path, value))
        self.frames()

    @property
    def card(self) -> Card:
        card = self.program.cards.card()
        assert card
        return card

    @property
    def has_card(self) -> bool:
        return self.program.cards.card() is not None

    def last(self) -> None:
        """Until the card's time is over."""
        self.frames(round(LASTS_S * 60) + 10)


@pytest.fixture(autouse=True)
def fast_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No step is longer than a frame."""
    monkeypatch.setattr(proving, "FRAME_MS", math.inf)


@pytest.fixture
def watched() -> Iterator[Watched]:
    driven = Watched()
    driven.frames(130)
    yield driven
    close_window()


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong structure, which forgets all cells but an agent's own."""
    class Forgetful(Linked):
        def candidates(self):
            return super().candidates()._replace(reach=0)
    monkeypatch.setitem(STRUCTURES, "linked", Forgetful)


def test_a_switch_has_a_card_with_times_and_a_proof_that_grows(watched: Watched) -> None:
    assert not watched.has_card
    watched.press("2")
    watched.settle()
    watched.frames(30)
    early = watched.card
    watched.frames(300)
    late = watched.card
    assert (late.title, late.change, late.exact) == ("SIMD lanes", "on -> off", True)
    assert [span.name for span in late.spans] == ["see", "step", "frame"]
    assert all(span.before_ms > 0 and span.after_ms > 0 and span.outcome != "unknown" for span in late.spans)
    assert early.proof.kind == late.proof.kind == "same"
    assert 0 < steps_of(early) < steps_of(late)
    assert late.state.endswith(" after") and 0 < late.left < early.left <= 1


def steps_of(card: Card) -> int:
    text = card.proof.text
    assert text.startswith("same crowd: ")
    return int(text.split()[-2].replace(",", ""))


def test_the_running_crowd_is_what_it_is_without_cards(watched: Watched) -> None:
    plain = Driven()
    for driven, frames in ((watched, 0), (plain, 130)):
        driven.frames(frames)
        for path, value in (("simd", False), ("stagger.avoidance", 1), ("cull", "off")):
            driven.program.crowd.apply(Switch(path, value))
            driven.frames(100)
    assert watched.has_card and not plain.program.cards.card()
    assert watched.program.sim.tick == plain.program.sim.tick
    assert watched.program.sim.state_hash() == plain.program.sim.state_hash()


def test_a_card_is_shown_for_ten_seconds_and_then_on_demand(watched: Watched) -> None:
    watched.press("i")
    assert watched.program.status().notices == ["no technique was switched yet"] and not watched.has_card
    watched.switch("simd", False)
    assert watched.has_card and watched.card.left == 1
    watched.last()
    assert not watched.has_card
    watched.press("i")
    assert watched.card.left == 0 and watched.card.proof.kind == "same"
    watched.press("i")
    assert not watched.has_card
    watched.press("i")
    watched.switch("simd", True)
    assert watched.card.change == "off -> on" and watched.card.left == 1
    watched.press("i")
    assert not watched.has_card


def test_what_it_gave_is_kept_for_the_tooltip(watched: Watched) -> None:
    watched.switch("simd", False)
    watched.last()
    told = watched.program.measured["simd"]
    assert told.startswith("on -> off: see ") and " step " in told and "same crowd: " in told


@pytest.mark.parametrize(("action", "why"), [(Populate(150), "the number of agents changed"),
                                             (SetWalls((1, 1, 2, 2), True), "the walls changed")])
def test_what_changes_the_crowd_ends_the_measurement(watched: Watched, action, why: str) -> None:
    watched.switch("simd", False)
    watched.frames(200)
    watched.program.crowd.apply(action)
    watched.frames()
    card = watched.card
    assert card.state.endswith(f", until {why}") and card.proof.kind == "same"
    watched.frames(100)
    assert watched.card._replace(left=card.left) == card, "nothing is measured any more"
    watched.switch("simd", True)
    watched.frames(200)
    assert 90 <= int(watched.card.state.split()[0]) <= 102, "what was before the change is not compared"


@pytest.mark.parametrize(("keys", "why"), [(("r",), "another crowd began"), (("backspace",), "it went to another time")])
def test_another_crowd_or_time_ends_it(watched: Watched, keys: tuple[str, ...], why: str) -> None:
    watched.switch("simd", False)
    watched.frames(60)
    for key in keys:
        watched.press(key)
    assert watched.card.state.endswith(f", until {why}")


def test_an_early_end_is_no_proof(watched: Watched) -> None:
    watched.switch("simd", False)
    watched.program.crowd.apply(Populate(150))
    watched.frames()
    assert watched.card.proof == ("running", "not compared: the number of agents changed")


def test_a_moving_view_ends_the_frames_and_not_the_steps(watched: Watched) -> None:
    watched.switch("simd", False)
    watched.frames(100)
    watched.program.perform(ZOOM)
    watched.frames(40)
    step, frame = watched.card.spans[1:]
    watched.frames(100)
    later = watched.card.spans
    assert later[2] == frame and later[1] != step


def test_a_moving_view_ends_what_drawing_is_compared_in(watched: Watched) -> None:
    watched.switch("cull", "off")
    watched.frames(100)
    watched.program.perform(ZOOM)
    watched.frames()
    assert watched.card.state.endswith(", until the view changed")


def test_drawing_is_proved_by_pictures(watched: Watched) -> None:
    watched.switch("cull", "off")
    watched.frames(150)
    card = watched.card
    assert card.proof.kind == "same" and card.proof.text.startswith("same picture: ")
    assert [span.name for span in card.spans] == ["draw", "step", "frame"]
    assert "cells visited by culling" in [count.name for count in card.counts]


def test_a_pause_stops_the_clock_of_a_step_and_not_that_of_drawing(watched: Watched) -> None:
    watched.press("space")
    watched.frames(130)
    watched.switch("simd", False)
    watched.frames(60)
    assert watched.card.left == 1 and watched.card.state == "waits until the crowd moves again"
    watched.press("space")
    watched.frames(100)
    assert watched.card.left < 1 and watched.card.proof.kind == "same"
    watched.press("space")
    watched.frames(130)
    watched.switch("blitter", "pygame")
    watched.frames(100)
    assert watched.card.left < 1 and watched.card.spans[0].name == "draw"
    assert watched.card.spans[0].before_ms > 0 < watched.card.spans[0].after_ms


def test_a_second_switch_begins_a_new_card(watched: Watched) -> None:
    watched.switch("simd", False)
    watched.frames(100)
    watched.switch("reorder.when", "off")
    assert (watched.card.title, watched.card.change, watched.card.left) == ("reorder", "every -> off", 1)
    watched.frames(100)
    assert 40 <= int(watched.card.state.split()[0]) <= 100


def test_two_quick_switches_are_one(watched: Watched) -> None:
    """One who steps through choices wants to compare the last with the first."""
    watched.switch("neighbours", "z_grid")
    watched.switch("neighbours", "kd_tree")
    assert watched.card.change == "sorted -> kd_tree"
    watched.switch("simd", False)
    assert (watched.card.title, watched.card.change) == ("neighbours, SIMD lanes", "sorted -> kd_tree, on -> off")
    watched.frames(60)
    assert int(watched.card.state.split()[0]) > 100 and watched.card.proof.kind == "same"
    watched.switch("simd", True)
    watched.switch("cull", "off")
    watched.frames(60)
    assert watched.card.title == "SIMD lanes, culling" and watched.card.proof.kind == "same"
    assert [span.name for span in watched.card.spans] == ["see", "step", "frame"], "what changes steps is the larger claim"
    watched.frames(60)
    watched.switch("simd", False)
    watched.switch("simd", True)
    assert not watched.has_card, "nothing was switched after all"


def test_a_value_that_stays_is_no_switch(watched: Watched) -> None:
    watched.switch("simd", True)
    assert not watched.has_card


def test_a_wrong_kernel_is_caught(watched: Watched, forgetful: None) -> None:
    watched.switch("neighbours", "linked")
    watched.frames(200)
    assert watched.card.proof.kind == "differs" and watched.card.proof.text.startswith("THE CROWDS DIFFER at step ")


def test_the_copies_are_freed_when_the_card_is_over(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    twins = []
    make = Simulation.twin

    def twin(sim: Simulation) -> Simulation:
        made = make(sim)
        twins.append(weakref.ref(made))
        return made
    monkeypatch.setattr(Simulation, "twin", twin)
    watched.switch("simd", False)
    watched.frames(100)
    assert len(twins) == 2 and all(twin() for twin in twins)
    watched.program.crowd.apply(Populate(150))
    watched.frames()
    assert not any(twin() for twin in twins)


def test_too_little_memory_for_copies_is_said(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(sim: Simulation) -> Simulation:
        raise MemoryError
    monkeypatch.setattr(Simulation, "twin", full)
    watched.switch("simd", False)
    watched.frames(200)
    assert watched.card.proof == ("running", "not compared: there is no memory for copies of the crowd")
    assert watched.card.spans[0].outcome != "unknown"


def test_an_approximate_technique_says_how_far_the_crowds_are_apart(watched: Watched) -> None:
    watched.switch("stagger.avoidance", 8)
    watched.frames(300)
    assert not watched.card.exact and watched.card.proof.kind == "apart"


@pytest.mark.parametrize("bound", ["FRAME_MS", "MOST_BYTES"])
def test_where_steps_are_long_or_crowds_large_a_sample_is_asked(
        watched: Watched, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(proving, bound, 0)
    watched.switch("neighbours", "none")
    watched.frames(200)
    assert watched.card.proof == ("sample", "same answers: sample of 200")


def test_no_card_while_the_hud_is_off(watched: Watched) -> None:
    watched.switch("simd", False)
    watched.press("tab")
    assert watched.has_card
    watched.press("tab")
    watched.switch("simd", True)
    assert watched.card.change == "on -> off" and watched.card.state.endswith("until the HUD was hidden")
    assert "proof" not in watched.program.sim.profile.records(1)[0].notes


def test_what_changes_nothing_at_present_is_said_to(watched: Watched) -> None:
    watched.switch("leaf_size", 64)
    watched.frames(60)
    assert watched.card.state.startswith("changes nothing at present, ")


def test_the_times_before_the_compiler_began_are_taken(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames beside the compiler are not ordinary, and there may be more of them than are kept."""
    monkeypatch.setattr(type(watched.program.techniques.switcher), "busy", True)
    watched.frames(1100)
    monkeypatch.setattr(type(watched.program.techniques.switcher), "busy", False)
    watched.switch("simd", False)
    watched.frames(60)
    assert 100 < int(watched.card.state.split()[0]) <= 130


def test_without_a_switch_nothing_is_measured_and_headless_nothing_at_all(watched: Watched) -> None:
    assert "proof" not in watched.program.sim.profile.stages
    plain = Driven()
    assert not plain.program.cards.on
    plain.program.crowd.apply(Switch("simd", False))
    plain.frames(20)
    assert plain.program.cards.card() is None and "proof" not in plain.program.sim.profile.stages


def test_it_takes_a_twentieth_of_the_time(watched: Watched) -> None:
    """All that takes time on this clock is a look at it."""
    watched.switch("simd", False)
    start_s, looks = watched.clock.now_s, watched.clock.looks
    watched.frames(500)
    looks = watched.clock.looks - looks - 500  # one a frame tells how long that was
    assert 0.03 < looks * LOOK_S / (watched.clock.now_s - start_s) < 0.055


def test_every_technique_of_a_frame_has_a_stage_that_is_drawn() -> None:
    drawn = {path for path, technique in BY_PATH.items() if proving.is_drawn(technique)}
    assert drawn == {"cull", "depth", "blitter"}
