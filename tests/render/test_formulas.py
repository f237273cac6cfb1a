"""Agents are numbered sixteen at a time, in any order of slots, as they would be one by one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.compute.arrays import Bytes, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.hashing import scramble
from crowd_demo.compute.jit import kernel, launch
from crowd_demo.compute.simd import LANES, quotient
from crowd_demo.compute.simd_memory import gather, load, store
from crowd_demo.render.drawing import appearance_of_id, number_of, numbering


class Looks(NamedTuple):
    id: Ints
    looks: int


@implements(number_of, Looks)
def number_looks(mode: Looks, slots: Int, register: Register) -> Register:
    return appearance_of_id(gather(mode.id, slots), mode.looks)


@kernel
def divide(worker: int, workers: int, values: Ints, by: int, found: Ints) -> None:
    for at in range(0, values.shape[0], LANES):
        store(found, at, quotient(load(values, at), by))


def lists(count: int, seed: int) -> dict[str, Ints]:
    rng, slots = np.random.default_rng(seed), np.arange(count, dtype=np.int32)
    nearly = slots.copy()
    nearly[2:12] = nearly[2:12][::-1]  # between a first and a last slot that look like those of a run
    return {"sorted": slots, "any": rng.permutation(slots), "nearly": nearly, "gaps": slots[rng.random(count) < 0.9].copy()}


@given(count=st.integers(1, 90), seed=st.integers(0, 99), workers=st.integers(1, 3), looks=st.sampled_from([1, 3, 8, 256]))
def test_every_entry_has_the_number_of_its_agent_and_nothing_else_is_written(count: int, seed: int, workers: int,
                                                                             looks: int) -> None:
    ids = np.random.default_rng(seed).integers(0, 1 << 31, count + LANES).astype(np.int32)
    expected = scramble(ids.astype(np.uint32)) % looks
    for slots in lists(count, seed).values():
        found: Bytes = np.full(len(slots) + 3, 77, np.uint8)
        numbering(workers, slots, Looks(ids, looks), found).run()
        assert np.array_equal(found[:len(slots)], expected[slots]) and (found[len(slots):] == 77).all()


@pytest.mark.quick
@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=40), st.sampled_from([512, 1000, 3_999_999, 1 << 30]))
def test_quotients_of_whole_numbers_are_exact(values: list[int], by: int) -> None:
    edges = [value // by * by + side for value in values for side in (0, 1, -1)]
    padded = np.zeros(-(-len(edges) // LANES) * LANES, np.int32)
    padded[:len(edges)] = np.clip(edges, 0, 2**31 - 1)
    found = np.zeros_like(padded)
    launch(divide, 1, padded, by, found).run()
    assert np.array_equal(found, padded // by)
