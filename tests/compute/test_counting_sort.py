"""The counting sort against NumPy's stable one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.compute.counting_sort import count_share, sort_launches, sort_space
from crowd_demo.compute.jit import run

pytestmark = pytest.mark.quick


@settings(max_examples=30, deadline=None)
@given(keys=st.lists(st.integers(0, 12), max_size=200), workers=st.integers(1, 5))
def test_counting_sort_is_stable_for_any_number_of_workers(keys: list[int], workers: int) -> None:
    space = sort_space(len(keys), 13, workers)
    space.key[:len(keys)] = keys
    for worker in range(workers):
        count_share(worker, workers, space, len(keys), 13)
    run(sort_launches(workers, space, len(keys), 13))
    assert np.array_equal(space.order[:len(keys)], np.argsort(keys, kind="stable"))
    assert np.array_equal(space.start[:14], np.searchsorted(np.sort(keys), np.arange(14)))
