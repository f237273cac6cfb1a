"""Randomness: one hash for host and kernels, and draws that are uniform."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.compute import hashing

pytestmark = pytest.mark.quick


@given(st.integers(0, 2**32 - 1))
def test_numpy_and_kernel_share_one_hash(value: int) -> None:
    assert int(hashing.scramble(np.array([value], np.uint32)).view(np.int32)[0]) == reference.scramble(value)


def test_unit_draws_are_uniform_and_depend_on_all_they_should() -> None:
    ids = np.arange(20_000, dtype=np.int32)
    draws = hashing.unit(ids, hashing.key(1, 2, 3))
    assert draws.min() >= 0 and draws.max() < 1
    assert (np.abs(np.histogram(draws, 10, (0, 1))[0] - 2000) < 250).all()
    keys = {int(hashing.key(seed, tick, purpose)) for seed in (1, 2, 2**40) for tick in (0, 1) for purpose in (0, 1)}
    assert len(keys) == 12
