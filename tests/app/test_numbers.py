"""Keys that lower and raise the number of the technique touched last."""

from __future__ import annotations

import re

import pytest
from driven import Driven

from crowd_demo.registry.techniques import no_effect
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
