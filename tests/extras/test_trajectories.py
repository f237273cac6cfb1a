"""The measures on trajectories whose answers are known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import straight, walked

from crowd_demo.config.section import UNITS_A_METRE
from crowd_demo.extras.trajectories import (
    Rectangle,
    TrajectoryRecorder,
    crossings,
    density,
    flow,
    lane_order,
    middle,
    nearest,
    speeds,
)
from crowd_demo.extras.walking import free_density, is_jammed, surroundings
from crowd_demo.sim.fundamental_diagram import Line
from crowd_demo.sim.terrain.tiles import Walls

pytestmark = pytest.mark.quick


def test_the_speed_of_a_straight_walk_and_along_an_axis() -> None:
    walk = walked({3: straight((1.2, 0.5), 30), 1: straight((0, -2), 30)})
    ids, frames, found = speeds(walk, 5)
    assert np.unique(ids).tolist() == [1, 3] and frames.min() == 5 and frames.max() == 24
    assert np.allclose(found[ids == 3], 1.3) and np.allclose(found[ids == 1], 2)
    assert np.allclose(speeds(walk, 5, (1.0, 0.0))[2], np.where(ids == 3, 1.2, 0))


def test_who_is_seen_for_too_short_a_time_has_no_speed() -> None:
    ids, _, _ = speeds(walked({0: straight((1, 0), 10), 1: straight((1, 0), 11)}), 5)
    assert ids.tolist() == [1]


def test_density_counts_who_is_inside_and_not_on_the_border() -> None:
    walk = walked({0: [(0.5, 0.5), (0.5, 0.5), (3, 3)], 1: [(1.5, 0.5), (2, 0.5), (0.5, 0.5)]})
    assert density(walk, Rectangle(0, 0, 2, 1)).tolist() == [1, 0.5, 0.5]


def test_everybody_crosses_a_line_once_and_only_where_it_is() -> None:
    line = Line(2, 0, 2, 2)
    there_and_back = [*straight((1, 0), 31, (0, 1)), *straight((-1, 0), 31, (3, 1)), *straight((1, 0), 31, (0, 1))]
    walk = walked({7: there_and_back, 1: straight((1, 0), 40, (-1.55, 1)), 2: straight((1, 0), 40, (0, 2.5))})
    ids, times = crossings(walk, line)
    assert ids.tolist() == [7, 1] and times == pytest.approx([2.1, 3.6])


def test_a_step_that_ends_on_the_line_crosses_with_the_next_one() -> None:
    ids, times = crossings(walked({0: [(0, 0), (1, 0), (2, 0)], 1: [(0, 0), (1, 0), (0, 0)]}), Line(1, -1, 1, 1))
    assert (ids.tolist(), times.tolist()) == ([0, 1], [0.2, 0.2])


def test_flow_and_the_middle() -> None:
    times = np.array([0, 1, 2, 3, 4, 5, 6, 9, 9.5, 10.0])
    assert middle(times).tolist() == [2, 3, 4, 5, 6, 9]
    assert flow(times) == 0.9
    assert np.isnan(flow(times[:1]))


def test_lanes_are_order_1_and_a_mixture_is_near_0() -> None:
    across = np.array([0.0, 0.1, 0.2, 3.0, 3.1, 3.2])
    assert lane_order(across, across < 1, 0.5) == 1
    assert lane_order(across, np.array([True, False] * 3), 0.5) == pytest.approx(1 / 9)
    assert lane_order(np.zeros(100), np.arange(100) % 2 == 0, 0.5) == 0


def test_how_near_the_nearest_other_is() -> None:
    found = nearest(walked({0: straight((1, 0), 21), 1: straight((-1, 0), 21, (2, 0.3)), 2: straight((0, 0), 1, (0, 1))}))
    assert found.min() == pytest.approx(0.3) and found[:3] == pytest.approx([1, np.hypot(2, 0.3), 1])
    assert nearest(walked({0: straight((1, 0), 5)})).tolist() == [np.inf] * 5


def test_a_recorder_sorts_by_id_and_may_be_empty() -> None:
    recorder = TrajectoryRecorder(10)
    assert len(recorder.trajectories().id) == 0
    recorder.add([5, 2], [1, 2], [3, 4])
    assert recorder.trajectories().id.tolist() == [2, 5] and recorder.trajectories().x.tolist() == [2, 1]


def test_parts_of_trajectories() -> None:
    part = walked({0: straight((1, 0), 21), 1: straight((1, 0), 11)}).between(0.5, 1.5)
    assert (part.frame.min(), part.frame.max(), part.end_s) == (5, 15, 1.5)
    assert [(frame, len(rows.id)) for frame, rows in part.frames()][4:8] == [(9, 2), (10, 2), (11, 1), (12, 1)]


# --- people in world units -------------------------------------------------------------------------------------------



def hall(wall: float) -> Walls:
    """10 x 8 squares of 32 units, of which walls take the left columns."""
    blocked = np.zeros((16, 20), np.uint8)
    blocked[:, :round(wall * 2)] = 1
    return Walls(blocked, np.float32(16), np.float32(1 / 16), np.float32(320), np.float32(256))


@given(people=st.integers(0, 40), wall=st.sampled_from([0, 1, 1.5, 4]), seed=st.integers(0, 99))
def test_people_and_their_speeds_are_counted_on_the_free_ground_around_each(people: int, wall: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = (rng.uniform(low, high, people).astype(np.float32) for low, high in ((wall * 32, 320), (0, 256)))
    speed = rng.uniform(0, 60, people)
    found = surroundings(hall(wall), x, y, speed)
    for me in range(people):
        column, row = int(x[me] // 32), int(y[me] // 32)
        near = [k for k in range(people) if abs(x[k] // 32 - column) <= 1 and abs(y[k] // 32 - row) <= 1]
        metres = [max(min(most, (at + 2) * 32) - max(least, (at - 1) * 32), 0) / UNITS_A_METRE
                  for at, least, most in ((column, wall * 32, 320), (row, 0, 256))]
        ground = max(math.prod(metres), (32 / UNITS_A_METRE) ** 2)
        assert found.density[me] == pytest.approx(len(near) / ground)
        assert found.flow[me] == pytest.approx(sum(speed[near]) / UNITS_A_METRE / ground)


def test_who_stands_where_others_could_walk_is_jammed_and_a_dense_crowd_that_moves_is_not() -> None:
    usual = 1.34 * UNITS_A_METRE
    speed = np.array([0.3, 0.4, 0.3, 0.02, 0.0, 0.3, 0.4]) * UNITS_A_METRE
    density = np.array([0.1, 0.1, 1.75, 4.9, 6.0, 0.1, 0.1])
    preferred = np.array([1, 1, 1, 1, 1, 0.5, 1.5]) * usual
    assert is_jammed(speed, preferred, density).tolist() == [True, False, False, False, False, False, True]


def test_the_density_of_the_whole_ground_is_that_without_walls() -> None:
    assert free_density(hall(5), 100) == pytest.approx(100 / (160 * 256 / UNITS_A_METRE**2))
