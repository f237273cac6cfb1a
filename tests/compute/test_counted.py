"""Sums that count: in lanes and alone they find how many numbers were added, and how far these lay from one's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.compute.counted import counted, nothing_counted, settled, sum_capacity
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES, lane_numbers, splat, wrap32
from crowd_demo.compute.simd_memory import store

pytestmark = pytest.mark.quick
FAR = 2**31 - 1 - 2**20  # numbers are cut above, and their differences are not


@device
def in_lanes(numbers, own, space, found):
    """Each lane's own number is larger by one than the last lane's; settle whenever `space` is used up."""
    mine = counted(splat(np.int32(own), lane_numbers()) + lane_numbers())
    total, count, offset = nothing_counted(mine)
    left = space
    for number in numbers:
        if left == 0:
            (total, count, offset), left = settled((total, count, offset), mine), space
        total, left = total + counted(splat(number, mine)), left - 1
    _, count, offset = settled((total, count, offset), mine)
    store(found, 0, count)
    store(found, LANES, offset)


@device
def alone(numbers, own):
    mine = counted(np.int32(own))
    total, count, offset = nothing_counted(np.int32(own))
    for number in numbers:
        total += counted(number)
    _, count, offset = settled((total, count, offset), mine)
    return wrap32(count), wrap32(offset)


def expected(numbers, own):
    wanted = int(np.sum(numbers.astype(np.int64) - own))
    return len(numbers), (wanted + 2**31) % 2**32 - 2**31


@given(own=st.integers(-FAR, FAR), most=st.integers(0, 2**20), seed=st.integers(0, 99), count=st.integers(0, 1300),
       one_sided=st.booleans())
def test_what_is_added_is_counted_and_its_offsets_are_added_up(own, most, seed, count, one_sided):
    away = np.random.default_rng(seed).integers(0 if one_sided else -most, most + 1, count)
    numbers = (own + (np.full(count, most) if one_sided else away)).astype(np.int32)
    found = np.zeros(2 * LANES, np.int32)
    in_lanes(numbers, np.int32(own), sum_capacity(most + LANES), found)
    for lane in range(LANES):
        assert (found[lane], found[LANES + lane]) == expected(numbers, own + lane)
    assert alone(numbers, np.int32(own)) == expected(numbers, own)


@pytest.mark.parametrize("most", [0, 1, 6_151, 8_207, 8_208, 60_000, 2**20, 2**21])
def test_there_is_room_for_as_many_as_fit_and_no_more(most):
    """One more, all of them that far off to one side, and either the count or what lies above it overflows."""
    found, fits = np.zeros(2 * LANES, np.int32), sum_capacity(most)
    for count, right in ((fits, True), (fits + 1, False)):
        in_lanes(np.full(count, most, np.int32), np.int32(0), count + 1, found)
        assert ((found[0], found[LANES]) == expected(np.full(count, most), 0)) == right
