"""Icons of people: who has one, how strong it is, and that nothing but the crowd and the view decides."""

import numpy as np
import pytest
import reference_render as reference
import render_crowds as crowds
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.render.figures.icons import SPOT, one_a_spot, strengths
from crowd_demo.render.projection import Bounds

pytestmark = pytest.mark.quick
SETTINGS = PeopleSettings(wait_s=10, stuck_s=2)


def strength(state, *timers):
    return strengths(np.full(len(timers), state, np.int32), np.array(timers, np.float32), SETTINGS).tolist()


def test_icons_of_those_who_wait_come_and_go_within_half_a_second():
    assert strength(1, 10, 9.75, 9.5, 5, 0.5, 0.25, 0) == [0, 127, 255, 255, 255, 127, 0]


def test_icons_of_those_who_are_stuck_grow_from_nothing_and_are_gone_before_they_walk():
    assert strength(2, 0, 1, 2, 2.5, 3, 4) == [0, 0, 0, 127, 255, 255]


@pytest.mark.parametrize("wait_s, stuck_s", [(0, 0), (0.1, 0.1)])
def test_short_times_are_no_division_by_nothing(wait_s, stuck_s):
    settings = PeopleSettings(wait_s=wait_s, stuck_s=stuck_s)
    found = strengths(np.array([1, 2], np.int32), np.array([0, 2 * stuck_s], np.float32), settings)
    assert found.tolist() == [0, 255 if stuck_s else 0]


@given(crowds.seeds, crowds.counts, st.floats(-60, 300), st.floats(-60, 200), st.floats(0, 500), st.floats(0, 400))
def test_a_spot_has_the_icon_of_its_strongest_then_least_id(seed, count, left, top, width, height):
    agents = crowds.crowd(seed, count)
    rng = np.random.default_rng(seed)
    slots = rng.permutation(count)
    power = rng.choice([1, 200, 255, 255, 255], count).astype(np.int32)
    bounds = Bounds(*map(np.float32, (left, top, left + width, top + height)))
    found = slots[one_a_spot(agents.x[slots], agents.y[slots], agents.id[slots], power[slots], bounds)]
    assert found.tolist() == reference.icons(range(count), agents.x, agents.y, agents.id, power, bounds, SPOT)


def test_beyond_the_edges_of_the_world_are_spots_too():
    x = np.array([-1, 1], np.float32)
    bounds = Bounds(*map(np.float32, (-SPOT, -SPOT, SPOT, SPOT)))
    assert one_a_spot(x, x, np.array([7, 3], np.int32), np.array([9, 9], np.int32), bounds).tolist() == [0, 1]
