"""Registers against NumPy: what writes under a mask, and remainders by a product."""

from __future__ import annotations

import sys

import numba
import numpy as np
import pytest

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES, count_set, lane_numbers, modulo, total
from crowd_demo.compute.simd_memory import gather, load, onward, put

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
