import numpy as np
import pytest
import reference_render as reference
import render_crowds as crowds
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.render import depth

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


def test_bands_are_32_pixels_high_and_at_most_4096():
    assert depth.scale(0, 3200, 1.0).bands == 101
    assert depth.scale(0, 3200, 1e5).bands == 4096
    assert depth.scale(10, 10, 1.0).bands == 1
