"""Covering arrays: all pairs are in them, they are small, and they are the same each time."""

from __future__ import annotations

import itertools

import pytest
from covering import covering_rows
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.quick


@given(sizes=st.lists(st.integers(1, 6), min_size=2, max_size=8))
def test_each_pair_of_values_is_in_some_row(sizes: list[int]) -> None:
    choices = {str(number): range(size) for number, size in enumerate(sizes)}
    rows = covering_rows(choices)
    assert rows == covering_rows(choices)
    for one, other in itertools.combinations(choices, 2):
        assert {(row[one], row[other]) for row in rows} == set(itertools.product(choices[one], choices[other]))
    most, second = sorted(sizes)[:-3:-1]
    assert most * second <= len(rows) <= 3 * most * second + len(sizes)  # eight parameters of four values: 46


def test_a_row_has_a_value_of_each_parameter_by_its_name() -> None:
    assert covering_rows({"side": ["left", "right"], "lit": [False, True]}) == [
        {"side": side, "lit": lit} for side in ("left", "right") for lit in (False, True)]
