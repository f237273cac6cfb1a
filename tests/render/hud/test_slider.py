"""Sliders: a place stands for a number and back, the ends for the ends, and near the usual number for that one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.config.loader import load_config
from crowd_demo.config.model import value_of
from crowd_demo.render.hud.panel_layout import PanelSection
from crowd_demo.render.hud.sections import NEAR, RowsInView, SliderScale

pytestmark = pytest.mark.quick
CONFIGS = [load_config(name, [f"behaviour={behaviour}"]) for name, behaviour in (
    ("20k", "crowd"), ("20k-flock", "flock"), ("predators", "hunt"), ("crates", "crates"), ("cloth", "flock"))]
SCALES = [SliderScale.of(number.low, number.high, value_of(config, number.path), number.is_whole)
          for config in CONFIGS for number in config.numbers]
scales = st.sampled_from(SCALES)


@given(scales, st.floats(0, 1))
def test_a_place_stands_for_a_number_of_the_range(scale: SliderScale, position: float) -> None:
    value = scale.value_at(position)
    assert scale.low <= value <= scale.high and (not scale.is_whole or value == int(value))
    if value != scale.usual and not scale.is_whole and position > 0.06:
        assert scale.position(value) == pytest.approx(position, abs=0.01)


@given(scales, st.floats(0, 1), st.floats(0, 1))
def test_farther_right_is_no_less(scale: SliderScale, one: float, other: float) -> None:
    left, right = sorted((one, other))
    assert scale.value_at(left) <= scale.value_at(right)


@pytest.mark.parametrize("scale", SCALES)
def test_ends_and_the_usual_value(scale: SliderScale) -> None:
    assert scale.value_at(0) == scale.low or scale.position(scale.usual) < NEAR
    assert scale.value_at(1) == scale.high or scale.position(scale.usual) > 1 - NEAR
    usual = scale.position(scale.usual)
    assert 0 <= usual <= 1 and scale.value_at(usual) == scale.usual


def test_decades_are_as_wide_as_each_other() -> None:
    scale = SliderScale.of(0, 1000, 2, False)
    places = [scale.position(value) for value in (0.1, 1, 10, 100)]
    steps = [after - before for before, after in pairwise(places)]
    assert steps == pytest.approx([steps[0]] * 3) and scale.position(0) == 0
    assert SliderScale.of(0, 1, 0.3, False).position(0.5) == 0.5


@given(st.integers(0, 60), st.integers(-5, 99), st.floats(50, 900))
def test_what_is_in_view_is_there(total: int, first: int, room: float) -> None:
    view = RowsInView.of(total, first, room, [PanelSection("header", 80, lambda on, top: None, None)])
    assert 0 <= view.first <= view.first + view.shown <= total and (view.shown or not total)
