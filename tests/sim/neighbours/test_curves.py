"""Curves: each cell once, and what makes each curve what it is."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.sim.neighbours.z_grid import CURVES, HILBERT, MORTON, cell_place, hilbert_place, morton, morton_place

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@pytest.mark.parametrize("bits", [0, 1, 2, 5])
def test_each_cell_has_one_number(curve: int, bits: int) -> None:
    side = 1 << bits
    places = [cell_place(curve, number, bits) for number in range(side * side)]
    assert sorted(places) == [(column, row) for column in range(side) for row in range(side)]


@given(st.integers(0, 2**15 - 1), st.integers(0, 2**15 - 1))
def test_the_largest_square_works(column: int, row: int) -> None:
    number = morton(column, row)
    assert number < 2**30 and morton_place(number) == (column, row)
    (x, y), (next_x, next_y) = hilbert_place(number, 15), hilbert_place(number ^ 1, 15)
    assert 0 <= min(x, y) <= max(x, y) < 2**15 and abs(x - next_x) + abs(y - next_y) == 1


@given(st.integers(0, 2**15 - 1), st.integers(0, 2**15 - 1))
def test_morton_interleaves_bits(column: int, row: int) -> None:
    bits = "".join(down + right for down, right in zip(f"{row:015b}", f"{column:015b}", strict=True))
    assert morton(column, row) == int(bits, 2)


def test_hilbert_never_jumps() -> None:
    places = [hilbert_place(number, 6) for number in range(4**6)]
    assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in itertools.pairwise(places))


@pytest.mark.parametrize("curve", [MORTON, HILBERT])
def test_an_aligned_square_is_an_aligned_run(curve: int) -> None:
    for level in range(5):
        for first in range(0, 4**4, 4**level):
            squares = {tuple(part >> level for part in cell_place(curve, number, 4))
                       for number in range(first, first + 4**level)}
            assert len(squares) == 1
