"""Registers against NumPy: what writes under a mask, and remainders by a product."""

import sys

import numba
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.compute import hashing, packed
from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import device
from crowd_demo.compute.packed import counted, halves, nothing_counted, settled, squares_apart, sum_capacity
from crowd_demo.compute.simd import LANES, count_set, lane_numbers, modulo, splat, total, wrap32
from crowd_demo.compute.simd_memory import gather, load, onward, put, store

pytestmark = pytest.mark.quick


@device
def write(target: Ints, slots: Ints, first: int, wanted: int, as_run: bool) -> int:
    """Write 100, 101, ... in those of the first lanes that are wanted; return how many."""
    lanes = lane_numbers() < wanted
    if as_run:
        put(target, first, lanes, lane_numbers() + np.int32(100))
    else:
        put(target, load(slots, 0), lanes, lane_numbers() + np.int32(100))
    return count_set(lanes)


@device
def remainders(ids: Ints, divisor: int, inverse: int, found: Ints) -> int:
    """Write the remainders of sixteen, and return that of the first one by itself."""
    put(found, 0, lane_numbers() < LANES, modulo(load(ids, 0), divisor, inverse))
    return modulo(ids[0], divisor, inverse)


@device
def total_of(values: Ints, slots: Ints) -> int:
    return total(gather(values, onward(slots, 1)))


@pytest.mark.parametrize("as_run", [True, False])
@pytest.mark.parametrize("wanted", [0, 1, 7, 16])
def test_put_writes_the_lanes_that_are_wanted_and_nothing_else(as_run: bool, wanted: int) -> None:
    target, slots = np.zeros(64, np.int32), np.random.default_rng(1).permutation(64)[:LANES].astype(np.int32)
    assert write(target, slots, 5, wanted, as_run) == wanted
    expected = np.zeros(64, np.int32)
    expected[np.arange(5, 21)[:wanted] if as_run else slots[:wanted]] = np.arange(100, 100 + wanted)
    assert np.array_equal(target, expected)


@pytest.mark.parametrize("divisor", range(1, 17))
def test_remainders_by_a_product_are_exact(divisor: int) -> None:
    ids = np.array([0, 1, 2, 3, divisor, 2**24 - 1, 2**24, 2**28 - 1, 2**28 - divisor, 2**28 - divisor - 1, 999_983, 15, 16,
                    17, 123_456_789, 2**27 + 1], np.int32)
    for shift in range(LANES):
        rolled, found = np.roll(ids, shift), np.zeros(LANES, np.int32)
        alone = remainders(rolled, divisor, -(-(1 << 32) // divisor), found)
        assert np.array_equal(found, rolled % divisor) and alone == rolled[0] % divisor


def test_a_gather_through_an_array_takes_the_elements_of_its_indices() -> None:
    values, slots = np.arange(100, dtype=np.int32)**2, np.random.default_rng(2).integers(0, 100, LANES + 1).astype(np.int32)
    assert total_of(values, slots) == values[slots[1:]].sum()


def test_a_part_of_an_array_counts_as_a_reference_where_numba_counts_them() -> None:
    @numba.njit
    def without_two(values: Ints) -> Ints:
        return onward(values, 2)

    values = np.arange(5, dtype=np.int32)
    references = sys.getrefcount(values)
    part = without_two(values)
    assert part[0] == 2 and sys.getrefcount(values) == references + 1
    del part
    assert sys.getrefcount(values) == references


# --- sums that count, in lanes and alone -----------------------------------------------------------------------------

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


# --- randomness: one hash for host and kernels, and draws that are uniform -------------------------------------------

@given(st.integers(0, 2**32 - 1))
def test_numpy_and_kernel_share_one_hash(value: int) -> None:
    assert int(hashing.scramble(np.array([value], np.uint32)).view(np.int32)[0]) == reference.scramble(value)
