"""A crowd that nobody refers to is freed at once, without a search for cycles."""

from __future__ import annotations

import gc
import weakref

import pytest
from crowds import BIRTHS_AND_DEATHS, CROWDS, FLOCK, ROPE, simulation

EACH = {**CROWDS, "rope": ROPE, "births and deaths": {**FLOCK, **BIRTHS_AND_DEATHS}}


@pytest.mark.parametrize("name", EACH)
def test_a_crowd_goes_with_its_last_reference(name: str) -> None:
    sim = simulation(**EACH[name])
    sim.step()
    sim.prepare_picture()
    gc.disable()
    try:
        left = [weakref.ref(each) for each in (sim, sim, sim.agents, sim.agents.front)]
        del sim
        assert [each() for each in left] == [None] * len(left)
    finally:
        gc.enable()
