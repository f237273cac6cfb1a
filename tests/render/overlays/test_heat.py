"""The scales of heat maps: they follow what there is, and do not flicker."""

from __future__ import annotations

import numpy as np
import pytest

from crowd_demo.render.camera import Camera
from crowd_demo.render.overlays.sketch import LASTING, Heat, Scales, Sketch, draw_heat, round_up

pytestmark = pytest.mark.quick


def test_ends_are_whole_numbers_in_three_equal_steps_and_never_far_above() -> None:
    assert [round_up(most) for most in (0, 1, 4, 5, 11, 14, 20, 72)] == [4, 4, 4, 7, 13, 19, 25, 73]
    for most in range(1, 3000):
        end = round_up(most)
        assert most <= end <= 1.5 * most + 3 and (end - 1) % 3 == 0


def test_a_scale_rises_at_once_and_comes_down_once_no_picture_has_needed_it_for_long() -> None:
    scales = Scales()
    assert [scales.end_of("agents", most) for most in (11, 20, 11)] == [13, 25, 25]
    ends = [scales.end_of("agents", 11) for _ in range(2 * LASTING)]
    assert ends == [25] * (LASTING - 2) + [13] * (LASTING + 2)


def test_a_scale_that_is_needed_now_and_then_stays() -> None:
    scales = Scales()
    ends = [scales.end_of("agents", 20 if picture % 100 == 0 else 11) for picture in range(5 * LASTING)]
    assert set(ends) == {25}


def test_each_heat_map_has_a_scale_of_its_own() -> None:
    scales = Scales()
    assert [scales.end_of("candidates", 90), scales.end_of("agents", 5), scales.end_of("candidates", 60)] == [97, 7, 97]


def test_the_legend_begins_at_one_and_has_a_colour_for_each_third() -> None:
    for most, texts in ((1, "1 2 3 4"), (4, "1 2 3 4"), (5, "1 3 5 7"), (20, "1 9 17 25")):
        sketch, edge = Sketch(Camera((400.0, 300.0), (200, 150))), np.zeros(1)
        sketch.name = "heat"
        draw_heat(sketch, Heat(edge, edge, edge + 10, edge + 10, np.array([most], np.float64)), "agents", Scales())
        assert [key.what for key in sketch.legend_items[0].keys] == texts.split()
