"""Columns keep everybody's values while agents come and go."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest
from crowds import shuffle, simulation


@pytest.mark.quick
def test_removal_and_growth_keep_everybody_else() -> None:
    sim = simulation(agents=200, map="null")
    sim.step(10)
    shuffle(sim, 2)
    before = sim.agents.by_id()
    kept = [column[:150].copy() for column in before]
    sim.populate(150)
    sim.populate(500)
    after = sim.agents.by_id()
    assert np.array_equal(after.id, np.arange(500))
    for column, was in zip(after, kept, strict=True):
        assert np.array_equal(column[:150], was)
    sim.step(10)
    sim.agents.remove(np.array([3, 77, 10**6]))
    assert 3 not in sim.agents.columns.id[:sim.agents.count] and sim.agents.count == 498
    assert sim.agents.handles.free_ids(3).tolist() == [3, 77, 500]


@pytest.mark.quick
def test_columns_that_could_not_be_fetched_are_fetched_by_the_next_reader() -> None:
    agents = simulation(agents=3, map="null").agents

    gpu = Mock()
    gpu.fetch.side_effect = RuntimeError("the GPU failed")
    agents.elsewhere = gpu
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the GPU failed"):
            agents.view.x[0]
    gpu.fetch.side_effect = lambda matrix: matrix.fill(0)
    assert not agents.view.x[:3].any()
