"""What a card proves, in a program that runs: same crowd, same picture, same answers, or not."""

from __future__ import annotations

import pytest
from driven import Driven
from watched import Watched

from crowd_demo.app import cards as module
from crowd_demo.registry.entries import APPROXIMATE
from crowd_demo.sim.actions import Switch
from crowd_demo.sim.simulation import Simulation


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
