"""Pairs of 16 bits: the sum of the squares of their differences, by the CPU's instruction and by plain ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.compute import halves as module
from crowd_demo.compute.halves import halves, squares_apart
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES
from crowd_demo.compute.simd_memory import load, store

pytestmark = pytest.mark.quick


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
    """The plain way is compiled while no instruction is known."""
    known, module.SUMS_OF_PRODUCTS = module.SUMS_OF_PRODUCTS, ()
    measured([0] * LANES, [0] * LANES, np.int32(0), plainly)
    module.SUMS_OF_PRODUCTS = known


@given(st.lists(steps, min_size=LANES, max_size=LANES), st.lists(steps, min_size=LANES, max_size=LANES), steps, steps)
def test_differences_are_those_of_the_lower_sixteen_bits(low, high, other_low, other_high):
    other = np.int32(np.uint32((other_high & 0xFFFF) << 16 | other_low & 0xFFFF).view(np.int32))
    found = measured(low, high, other, by_instruction)
    assert np.array_equal(found, measured(low, high, other, plainly))
    across, down = (((np.array(mine) - one + 2**15) % 2**16 - 2**15) for mine, one in ((low, other_low), (high, other_high)))
    assert found[:LANES].tolist() == (across**2 + down**2).astype(np.uint32).view(np.int32).tolist()
    assert (found[LANES:] & 0xFFFF).tolist() == (np.array(low) & 0xFFFF).tolist()
