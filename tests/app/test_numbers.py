"""Keys that lower and raise the number of the technique touched last."""

from __future__ import annotations

import re

import pygame
import pytest
from driven import Driven

from crowd_demo.app.crowd.technique_controls import TOUCHED_FIRST
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.registry.techniques import BY_PATH, no_effect
from crowd_demo.sim.actions import Switch


@pytest.mark.parametrize(("key", "path", "lower", "higher"), [
    ("e", "reorder.every", 280, 320), ("v", "reorder.drift", 0.95, 1.1), ("4", "stagger.avoidance", 3, 5),
    ("l", "leaf_size", 60, 70),
])
def test_numbers_go_down_and_up_from_the_choice_that_was_touched_last(
        driven: Driven, key: str, path: str, lower: float, higher: float) -> None:
    driven.press(key)
    driven.press("[")
    driven.settle()
    assert driven.program.sim.optimizations.get(path) == lower
    driven.keys("]", "]")
    driven.settle()
    assert driven.program.sim.optimizations.get(path) == higher
    assert driven.status().touched == path
    assert any(f": {higher}" in notice for notice in driven.status().notices)


def test_auto_starts_from_what_it_stands_for(driven: Driven) -> None:
    sim = driven.program.sim
    for path, before in ("threads", sim.workers), ("cell_size", sim.grid.cell):
        driven.program.techniques.touched = path
        driven.press("]")
        driven.settle()
        after = sim.optimizations.get(path)
        assert isinstance(after, int | float) and before < after <= before * 1.1 + 1


def test_numbers_end_where_their_range_does_and_words_have_none(driven: Driven) -> None:
    driven.program.sim.optimizations.stagger.avoidance = 16
    driven.press("]")
    assert driven.status().notices == ["stagger avoidance: 16, the most"]
    assert not driven.program.sim.history
    driven.press("7")
    driven.settle()
    driven.press("[")
    assert driven.status().notices[-1] == "culling has no number to change"
    assert [action for _, action in driven.program.sim.history] == [Switch("cull", "off")]
    driven.program.techniques.touched = "leaf_size"
    driven.press("]")
    assert driven.status().notices[-1] == "leaf size: 34. No effect now: needs neighbours kd_tree or aabb_tree."


def test_several_presses_within_a_frame_all_count_also_before_a_technique_was_touched(driven: Driven) -> None:
    for name in "]]]uu":
        pygame.event.post(pygame.Event(pygame.KEYDOWN, key=pygame.key.key_code(name), mod=0))
    driven.release("]")
    driven.frames()
    driven.settle()
    assert driven.program.sim.optimizations.get(TOUCHED_FIRST) == 6
    assert (BY_PATH["rebuild"].default, driven.program.sim.optimizations.rebuild) == (8, 1)


def test_what_is_asked_for_within_a_frame_is_compiled_together(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of two switches may need no kernel alone, and both together one."""
    asked = []
    monkeypatch.setattr(KernelFinder, "missing",
                        lambda ahead, options: asked.append((options.cull, options.blitter)) or [])
    driven.program.act("cull")
    driven.program.act("blitter")
    driven.frames()
    assert asked[-1] == ("off", "pygame")


def test_a_held_key_goes_through_the_numbers(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowd_demo.app.key_input.REPEAT_AFTER_S", 0.0)
    driven.press("]", hold=True)
    driven.frames()
    driven.release("]")
    driven.frames(3)
    driven.settle()
    assert driven.program.sim.optimizations.stagger.avoidance == 5


@pytest.mark.parametrize(("key", "why"), [
    ("l", "needs neighbours kd_tree or aabb_tree"), ("v", "needs reorder drift"), ("x", "no agent is born or dies here"),
    ("z", "install it with pip|there is no NVIDIA GPU|this behaviour has no kernels|old")])
def test_the_key_of_a_technique_without_effect_says_why_and_begins_no_card(driven: Driven, key: str, why: str) -> None:
    driven.program.cards.on = True
    driven.press(key)
    driven.settle()
    driven.frames(3)
    assert re.search(rf": .+\. No effect now: ({why})", driven.status().notices[-1])
    assert driven.program.sim.history and driven.program.cards.trial is None
    assert re.search(why, no_effect(driven.program.techniques.touched, driven.program.sim.situation))
