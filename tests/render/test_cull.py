""""""

import numpy as np
import pytest
import reference_render as reference
import render_crowds as crowds
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.render import depth
from crowd_demo.render.camera import Rect
from crowd_demo.render.cull import Cull, bounds_of, span
from crowd_demo.render.drawing import Bounds

rects = st.builds(lambda x, y, w, h: Bounds(*map(np.float32, (x, y, x + w, y + h))),
                  *(st.floats(-100, 500) for _ in range(2)), *(st.floats(0, 500) for _ in range(2)))
aheads = st.sampled_from([0.0, 1 / 120, 1 / 60]).map(np.float32)


def found(cull, how, workers, count, agents, ahead, bounds, grid):
    slack = crowds.MAX_STEP + 180 * float(ahead) + 0.001
    launches = cull.launches(how, workers, count, agents, ahead, bounds, grid, slack)
    return cull.run(launches, workers, count)


@given(crowds.seeds, crowds.counts, crowds.workers, rects, aheads)
def test_testing_each_agent_finds_what_the_reference_finds(seed, count, workers, bounds, ahead):
    agents = crowds.crowd(seed, count)
    cull = Cull()
    slots = found(cull, "agents", workers, count, agents, ahead, bounds, None)
    assert slots.tolist() == reference.visible(count, agents, ahead, bounds)
    assert cull.counters == {"tested": count, "cells_visited": 0}


@given(crowds.seeds, crowds.counts, crowds.workers, rects, aheads, st.sampled_from([1.0, 0.1, 0.0]))
def test_cells_find_the_same_set_and_test_no_more(seed, count, workers, bounds, ahead, spread):
    agents = crowds.crowd(seed, count, spread)
    grid = crowds.grid(agents, count, seed)
    cull = Cull()
    slots = found(cull, "grid", workers, count, agents, ahead, bounds, grid)
    assert sorted(slots.tolist()) == reference.visible(count, agents, ahead, bounds)
    assert cull.counters["tested"] <= count
    assert cull.counters["cells_visited"] <= grid.columns * grid.rows
    alone = found(Cull(), "grid", 1, count, agents, ahead, bounds, grid)
    assert slots.tolist() == alone.tolist(), "the order is that of the cells for any number of workers"


@pytest.mark.quick
@given(low=st.integers(-50, 450), length=st.integers(0, 400), slack=st.integers(0, 40))
def test_cells_in_view_are_those_whose_agents_may_be_there_and_inner_ones_those_whose_agents_all_are(low, length, slack):
    side, high = 32, low + length
    lowest, highest = ([(k + end) * side + sign * slack for k in range(13)] for end, sign in ((0, -1), (1, 1)))
    first, last, inner_first, inner_last = span(low, high, slack, side, 13)
    assert [*range(first, last)] == [k for k in range(13) if lowest[k] <= high and highest[k] > low]
    assert [*range(inner_first, inner_last)] == [k for k in range(13) if lowest[k] >= low and highest[k] <= high]


def test_only_the_cells_in_view_are_visited_and_only_those_on_its_border_are_tested():
    agents = crowds.crowd(1, 200)
    grid = crowds.grid(agents, 200)
    cull = Cull()
    bounds = Bounds(*map(np.float32, (96, 96, 224, 224)))
    found(cull, "grid", 2, 200, agents, np.float32(0), bounds, grid)
    inhabitants = np.diff(grid.start).reshape(grid.rows, grid.columns)
    inside = inhabitants[4:6, 4:6].sum()  # with a slack of 3 units the cells of 96 to 128 and 192 to 224 are border
    assert cull.counters == {"tested": inhabitants[2:8, 2:8].sum() - inside, "cells_visited": 36}


def test_off_takes_everybody_in_slot_order():
    assert found(Cull(), "off", 1, 5, crowds.crowd(0, 5), np.float32(0), None, None).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.quick
def test_bounds_grow_by_what_a_sprite_reaches_beyond_its_place():
    sprite = Rect(12, 28, 10, 4)  # reaches to the left, up, to the right, down
    assert list(bounds_of(Rect(0, 0, 100, 100), sprite)) == [-10, -4, 112, 128]


# --- depth -----------------------------------------------------------------------------------------------------------

zooms = st.sampled_from([0.05, 1.0, 8.0, 1e4])


def by_bands(depths, workers, slots, agents, ahead, zoom):
    for launch in depths.launches(workers, slots, agents, ahead, depth.scale(0.0, crowds.HEIGHT, zoom)):
        launch.run()
    return depths.ordered(len(slots))


@given(crowds.seeds, crowds.counts, crowds.workers, zooms, st.sampled_from([0.0, 1 / 60]).map(np.float32),
       st.sampled_from([1.0, 0.01, 0.0]))
def test_bands_and_the_full_sort_give_the_order_of_the_reference(seed, count, workers, zoom, ahead, spread):
    agents = crowds.crowd(seed, count, spread)
    slots = np.random.default_rng(seed).permutation(count)[: count - count // 3].astype(np.int32)
    expected = reference.back_to_front(slots.tolist(), agents, ahead)
    assert depth.full(slots, agents, ahead).tolist() == expected
    assert by_bands(depth.Depth(), workers, slots, agents, ahead, zoom).tolist() == expected


heights = st.floats(-2.0**90, 2.0**90, width=32) | st.sampled_from([0.0, -0.0, 150.0])


@given(st.lists(heights, max_size=100), crowds.workers)
def test_any_height_and_many_equal_ones_sort_by_id(heights, workers):
    count = len(heights)
    agents = crowds.crowd(3, count)
    agents.y[:count] = heights
    slots, still = np.arange(count, dtype=np.int32), np.float32(0)
    assert np.array_equal(by_bands(depth.Depth(), workers, slots, agents, still, 1.0), depth.full(slots, agents, still))


@pytest.mark.parametrize("spread", [0.001, 1e-7, 0.0], ids=["many buckets", "one bucket", "one row"])
def test_a_crowd_in_one_band_is_sorted_however_it_fills_the_buckets(spread):
    agents = crowds.crowd(5, 5000, spread)
    agents.y[0] += 3  # an outlier of the same band: the others share few buckets
    slots, still = np.arange(5000, dtype=np.int32), np.float32(0)
    assert np.array_equal(by_bands(depth.Depth(), 2, slots, agents, still, 1.0), depth.full(slots, agents, still))
