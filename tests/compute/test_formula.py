"""Numbers in formulas take the type of what they are combined with, for one number and for sixteen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES, select, to_int
from crowd_demo.compute.simd_memory import load, store

STEPS, QUARTER = 4096, 0.25
pytestmark = pytest.mark.quick
F = np.float32


@formula
def terms(x: Float, n: Int, pair: tuple[Float, Float]) -> tuple[Float, Float, Int]:
    within = (x > 0) & (n != 3)
    near = 1 - x * 0.1 + (-1 / STEPS) * x
    turned = 0
    for k in range(2):
        turned = turned + near / 3 * pair[k]
    return (max(0, near - QUARTER) + select(within, near, 0) + select(within, 0.3, 0), turned + min(near * near, 1.5),
            (n - 1) * 2 + select(within, 1, 0) + to_int(x * STEPS) + (0 - n))


@formula
def early(x: Float, leave: Mask) -> tuple[Float, Float]:
    if leave:
        return 0, 1
    return x, x * 0.1


@device
def by_both_widths(x: Floats, n: Ints, floats: Floats, ints: Ints) -> None:
    """Write the terms of sixteen, one by one to the first rows and as a register to the others."""
    for k in range(LANES):
        floats[0, k], floats[1, k], ints[0, k] = terms(x[k], n[k], (x[k], x[k]))
    first, second, third = terms(load(x, 0), load(n, 0), (load(x, 0), load(x, 0)))
    store(floats[2], 0, first)
    store(floats[3], 0, second)
    store(ints[1], 0, third)


@device
def left_early(x: Floats, found: Floats, leave: bool) -> None:
    found[0, 0], found[1, 0] = early(x[0], leave)
    first, second = early(load(x, 0), leave)
    store(found[2], 0, first)
    store(found[3], 0, second)


def test_both_widths_have_the_bits_of_float32() -> None:
    x, n = np.random.default_rng(1).normal(0, 5, LANES).astype(F), np.arange(LANES, dtype=np.int32)
    floats, ints = np.zeros((4, LANES), F), np.zeros((2, LANES), np.int32)
    by_both_widths(x, n, floats, ints)
    near, within = F(1) - x * F(0.1) + F(-1 / 4096) * x, (x > 0) & (n != 3)
    third: Any = near / F(3) * x
    wanted = [np.maximum(near - F(0.25), F(0)) + np.where(within, near, F(0)) + np.where(within, F(0.3), F(0)),
              third + third + np.minimum(near * near, F(1.5))]
    assert floats.tolist() == [*np.array(wanted).tolist()] * 2
    assert ints.tolist() == [((n - 1) * 2 + within + (x * F(4096)).astype(np.int32) - n).tolist()] * 2


@pytest.mark.parametrize("leave", [False, True])
def test_a_result_may_be_a_number_here_and_a_register_there(leave: bool) -> None:
    x, found = np.arange(LANES, dtype=F) + F(0.7), np.zeros((4, LANES), F)
    left_early(x, found, leave)
    wanted = [np.zeros(LANES), np.ones(LANES)] if leave else [x, x * F(0.1)]
    assert found[2:].tolist() == np.array(wanted, F).tolist()
    assert found[:2, 0].tolist() == found[2:, 0].tolist()
