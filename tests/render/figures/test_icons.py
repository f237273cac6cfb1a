"""Icons of people: who has one, how strong it is, and that nothing but the crowd and the view decides."""

from types import SimpleNamespace

import numpy as np
import pytest
import reference_render as reference
import render_crowds as crowds
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.render.drawing import Bounds, moving
from crowd_demo.render.figures.people import FADE_S, SPOT, STRONGEST, SpotIcons, choose_icons, fading, spots_in, strength

pytestmark = pytest.mark.quick
SETTINGS = PeopleSettings(wait_s=10, stuck_s=2)


def strengths(state, *timers, settings=SETTINGS):
    return [strength(np.int32(state), np.float32(timer), fading(settings)) for timer in timers]


def chosen(agents, slots, power, bounds):
    """Slots of those who have an icon when they wait, and for so long that it is as strong as `power` says."""
    timer = ((np.asarray(power) + 0.5) / STRONGEST * FADE_S).astype(np.float32)
    timer[np.asarray(power) == STRONGEST] = 1
    spots = spots_in(bounds)
    count = spots.cells
    found = SpotIcons(np.empty(count, np.int64), np.empty(count, np.int32))
    choose_icons(slots, agents, np.ones(len(timer), np.int32), timer, np.float32(0), fading(SETTINGS), spots, found)
    return found.slot[found.key < 1 << 62].tolist()


def test_icons_of_those_who_wait_come_and_go_within_half_a_second():
    assert strengths(1, 10, 9.75, 9.5, 5, 0.5, 0.25, 0) == [0, 127, 255, 255, 255, 127, 0]


def test_icons_of_those_who_are_stuck_grow_from_nothing_and_are_gone_before_they_walk():
    assert strengths(2, 0, 1, 2, 2.5, 3, 4) == [0, 0, 0, 127, 255, 255]


@pytest.mark.parametrize("wait_s, stuck_s", [(0, 0), (0.1, 0.1)])
def test_short_times_are_no_division_by_nothing(wait_s, stuck_s):
    settings = PeopleSettings(wait_s=wait_s, stuck_s=stuck_s)
    assert strengths(1, 0, settings=settings) == [0]
    assert strengths(2, 2 * stuck_s, settings=settings) == [255 if stuck_s else 0]


@given(crowds.seeds, crowds.counts, st.floats(-60, 300), st.floats(-60, 200), st.floats(0, 500), st.floats(0, 400))
def test_a_spot_has_the_icon_of_its_strongest_then_least_id(seed, count, left, top, width, height):
    agents = crowds.crowd(seed, count)
    rng = np.random.default_rng(seed)
    slots = rng.permutation(count).astype(np.int32)
    power = rng.choice([1, 200, 255, 255, 255], count).astype(np.int32)
    bounds = Bounds(*map(np.float32, (left, top, left + width, top + height)))
    found = chosen(moving(agents), slots, power, bounds)
    assert found == reference.icons(range(count), agents.x, agents.y, agents.id, power, bounds, SPOT)


def test_beyond_the_edges_of_the_world_are_spots_too():
    x, still = np.array([-1, 1], np.float32), np.zeros(2, np.float32)
    agents = moving(SimpleNamespace(id=np.array([7, 3], np.int32), x=x, y=x, vx=still, vy=still))
    bounds = Bounds(*map(np.float32, (-SPOT, -SPOT, SPOT, SPOT)))
    assert chosen(agents, np.array([0, 1], np.int32), [9, 9], bounds) == [0, 1]
