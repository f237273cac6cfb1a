"""The card of the last switch, in a program that runs: what it says, what it proves, what it costs, and what ends it."""

import weakref

import pytest
from driven import Driven
from watched import LOOK_S, Watched, rounds_of

from crowd_demo.app import cards as module
from crowd_demo.app.effect import extent
from crowd_demo.app.technique_controls import Switcher
from crowd_demo.registry.entries import APPROXIMATE, EXACT
from crowd_demo.registry.stages import STAGES, text_of
from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.card import Card
from crowd_demo.render.hud.text_panels import tip_of
from crowd_demo.sim.actions import Populate, SetWalls, Switch
from crowd_demo.sim.simulation import Simulation


def test_a_switch_has_a_card_with_times_and_a_proof_that_grows(watched: Watched) -> None:
    assert not watched.has_card
    watched.settled("2")
    watched.frames(30)
    early = watched.card
    watched.frames(120)
    late = watched.card
    assert (late.title, late.change, late.kind) == ("SIMD lanes", "on -> off", EXACT)
    step, stage, frame = late.spans
    assert (step.name, frame.name) == ("step", "frame") and text_of(stage.name).part == "step"
    assert all(span.before_ms > 0 and span.after_ms > 0 and span.outcome != "unknown" for span in late.spans)
    assert early.proof.kind == late.proof.kind == "same"
    assert 0 < steps_of(early) < steps_of(late)
    assert rounds_of(early) < rounds_of(late) and 0 < late.left < early.left <= 1


def steps_of(card: Card) -> int:
    text = card.proof.text
    assert text.startswith("same crowd: ")
    return int(text.split()[-2].replace(",", ""))


def test_what_it_gave_is_kept_for_the_tooltip(watched: Watched) -> None:
    watched.switch("leaf_size", 64, 30)
    assert not watched.has_card, "there is nothing to measure"
    watched.switch("simd", False)
    watched.last()
    line = watched.program.measured["simd"]
    assert line.startswith("on -> off: ") and " step " in line and " frame " in line and "same crowd: " in line


def test_the_times_before_the_compiler_began_are_taken(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames beside the compiler are not ordinary, and there may be more of them than are kept."""
    monkeypatch.setattr(Switcher, "busy", True)
    watched.frames(1100)
    monkeypatch.setattr(Switcher, "busy", False)
    watched.switch("simd", False, 30)
    trial = watched.program.cards.trial
    assert trial and 20 < extent(trial.before)[0] <= 30


@pytest.mark.parametrize(("path", "value"), [("simd", False), ("cull", "off")])
def test_without_a_step_before_and_without_copies_there_is_a_proof_and_no_times(
        path: str, value: str | bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 0)
    driven = Watched()
    driven.program.crowd.paused = True
    monkeypatch.setattr(Switcher, "busy", True)
    driven.frames(20)
    monkeypatch.undo()
    monkeypatch.setattr(module, "MAX_BYTES", 0)
    driven.switch(path, value)
    driven.program.crowd.paused = False
    driven.frames(40)
    card = driven.card
    assert card.spans == () and card.note == module.NO_TIMES_NOTE and "before" not in card.state
    assert card.proof.kind == "same" or "sample" in card.proof.text


def test_without_a_switch_nothing_is_measured_and_headless_nothing_at_all(watched: Watched) -> None:
    assert "proof" not in watched.program.sim.profile.stages
    plain = Driven()
    assert not plain.program.cards.on
    plain.program.crowd.apply(Switch("simd", False))
    plain.frames(20)
    assert plain.program.cards.card() is None and "proof" not in plain.program.sim.profile.stages


def test_it_takes_a_quarter_of_the_time(watched: Watched) -> None:
    """All that takes time on this clock is a look at it."""
    watched.switch("simd", False)
    start_s, looks = watched.clock.now_s, watched.clock.looks
    watched.frames(200)
    looks = watched.clock.looks - looks - 200  # one a frame tells how long that was
    assert 0.15 < looks * LOOK_S / (watched.clock.now_s - start_s) < 0.26


def test_what_nobody_switched_has_no_card_and_ends_that_of_another_switch(watched: Watched) -> None:
    options = watched.program.sim.optimizations
    watched.program.techniques.follow({path: options.get(path) for path in ("simd", "blitter")})
    watched.frames()
    watched.switch("simd", False, 30)
    assert not watched.has_card
    watched.switch("reorder.when", "off", 90)
    assert watched.card.title == "reorder"
    watched.switch("blitter", "pygame", 30)
    assert watched.card.title == "reorder" and "other techniques were switched" in watched.card.state


# --- why ---------------------------------------------------------------------------------------------------------------

def test_the_key_shows_why_and_the_times_again_and_the_crowd_stays_the_same(watched: Watched) -> None:
    watched.switch("simd", False, 30)
    assert watched.card.row is None
    watched.press("i")
    watched.until(lambda: watched.card.why and watched.card.why[-1].name == "bottleneck")
    card = watched.card
    assert card.stage in STAGES and card.why
    rows = {row.name: row for row in card.why}
    assert rows["pairs"].before != rows["pairs"].after and rows["processor"].before not in ("", "0")
    watched.program.panels.now = watched.program.panels.now._replace(hud="compact")
    watched.frames()
    watched.move(watched.find("why", "bytes"))
    tip = tip_of(Target("why", "bytes"), watched.program.sim, watched.status())
    assert tip and "Per agent" in tip[1].text
    alone = Simulation.from_snapshot(watched.program.sim.snapshot())
    watched.press("i")
    assert watched.card.row is None, "its times again"
    watched.drag(watched.find("card"))
    assert watched.card.why == card.why, "it is not found out again"
    alone.step(watched.program.sim.tick - alone.tick)
    assert alone.state_hash() == watched.program.sim.state_hash()


# --- What ends a card or what it measures: time, other crowds, the view, another switch ------------------------------

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
    assert watched.card.row is None and watched.card.left > 0


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
    watched.switch("simd", False, 30)
    watched.press(key)
    assert watched.card.state.endswith(f", until {why}")


def test_a_moving_view_ends_what_drawing_is_compared_in_where_the_crowd_is_too_large_for_copies(
        watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 0)
    watched.switch("cull", "off", 40)
    watched.program.seeing.zoom(*ZOOM)
    watched.frames()
    assert watched.card.state.endswith(", until the view changed")


def test_a_pause_stops_the_clock_of_a_step_and_not_that_of_drawing(watched: Watched) -> None:
    watched.press("space", frames=31)
    watched.switch("simd", False, 30)
    assert watched.card.left == 1 and watched.card.state == "waits until the crowd moves again"
    watched.press("space", frames=41)
    assert watched.card.left < 1 and watched.card.proof.kind == "same"
    watched.press("space", frames=31)
    watched.switch("blitter", "pygame", 40)
    assert watched.card.left < 1 and watched.card.spans[0].name == "frame"
    assert watched.card.spans[0].before_ms > 0 < watched.card.spans[0].after_ms


def test_two_quick_switches_are_one(watched: Watched) -> None:
    """One who steps through choices wants to compare the last with the first."""
    watched.switch("neighbours", "z_grid")
    watched.switch("neighbours", "kd_tree")
    assert watched.card.change == "sorted -> kd_tree"
    watched.switch("simd", False)
    assert (watched.card.title, watched.card.change) == (
        "2 techniques", "neighbours sorted -> kd_tree, SIMD lanes on -> off")
    watched.frames(60)
    assert rounds_of(watched.card) and watched.card.proof.kind == "same"
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
    watched.switch("simd", False, 40)
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


# --- What a card proves: same crowd, same picture, same answers, or not ----------------------------------------------

def test_the_running_crowd_is_what_it_is_without_cards(watched: Watched) -> None:
    plain = Driven()
    for driven, frames in ((watched, 0), (plain, 30)):
        driven.frames(frames)
        for path, value in (("simd", False), ("stagger.avoidance", 1), ("cull", "off")):
            driven.program.crowd.apply(Switch(path, value))
            driven.frames(40)
    assert watched.has_card and not plain.program.cards.card()
    assert watched.program.sim.tick == plain.program.sim.tick
    assert watched.program.sim.state_hash() == plain.program.sim.state_hash()


def test_drawing_is_proved_by_pictures(watched: Watched) -> None:
    watched.program.camera.look_at(300.0, 300.0, 2.0)  # where cells are left out
    watched.frames(60)
    watched.switch("cull", "off", 150)
    card = watched.card
    assert card.proof.kind == "same" and card.proof.text.startswith("same picture: ")
    assert [span.name for span in card.spans[:2]] == ["frame", "draw"]
    assert "cells visited by culling" in [count.name for count in card.counts]


def test_too_little_memory_for_copies_is_said(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(sim: Simulation) -> Simulation:
        raise MemoryError
    monkeypatch.setattr(Simulation, "replica", full)
    watched.switch("simd", False, 100)
    assert watched.card.proof == ("running", "not compared: there is no memory for copies of the crowd")
    assert watched.card.spans[0].outcome != "unknown"


def test_an_approximate_technique_says_how_far_the_crowds_are_apart(watched: Watched) -> None:
    watched.switch("stagger.avoidance", 8, 30)
    assert watched.card.kind is APPROXIMATE and watched.card.proof.kind == "apart"


@pytest.mark.parametrize("bound", ["MAX_FRAME_MS", "MAX_BYTES"])
def test_where_steps_are_long_or_crowds_large_a_sample_is_asked(
        watched: Watched, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(module, bound, 0)
    watched.switch("neighbours", "none", 40)
    assert watched.card.proof == ("sample", "same answers: sample of 200")
