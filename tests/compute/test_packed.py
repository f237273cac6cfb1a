"""Sums that count, in lanes and alone; and pairs of 16 bits, by the processor's instruction and by plain ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.compute import packed
from crowd_demo.compute.jit import device
from crowd_demo.compute.packed import counted, halves, nothing_counted, settled, squares_apart, sum_capacity
from crowd_demo.compute.simd import LANES, lane_numbers, splat, wrap32
from crowd_demo.compute.simd_memory import load, store

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


# --- pairs -----------------------------------------------------------------------------------------------------------

def _measure(low, high, other, out):
    pairs = halves(load(low, 0), load(high, 0))
    store(out, LANES, pairs)
    store(out, 0, squares_apart(pairs, other))


by_instruction, plainly = device(_measure), device(_measure)
steps = st.integers(-2**20, 2**20)


def measured(low, high, other, measure):
    out = np.zeros(2 * LANES, np.int32)
    measure(np.array(low, np.int32), np.array(high, np.int32), other, out)
    return out


@pytest.fixture(autouse=True, scope="module")
def compiled():
    """Compile `plainly` while no instruction is known."""
    known, packed.SUMS_OF_PRODUCTS = packed.SUMS_OF_PRODUCTS, ()
    measured([0] * LANES, [0] * LANES, np.int32(0), plainly)
    packed.SUMS_OF_PRODUCTS = known


@given(st.lists(steps, min_size=LANES, max_size=LANES), st.lists(steps, min_size=LANES, max_size=LANES), steps, steps)
def test_differences_are_those_of_the_lower_sixteen_bits(low, high, other_low, other_high):
    other = np.int32(np.uint32((other_high & 0xFFFF) << 16 | other_low & 0xFFFF).view(np.int32))
    found = measured(low, high, other, by_instruction)
    assert np.array_equal(found, measured(low, high, other, plainly))
    across, down = (((np.array(mine) - one + 2**15) % 2**16 - 2**15) for mine, one in ((low, other_low), (high, other_high)))
    assert found[:LANES].tolist() == (across**2 + down**2).astype(np.uint32).view(np.int32).tolist()
    assert (found[LANES:] & 0xFFFF).tolist() == (np.array(low) & 0xFFFF).tolist()
