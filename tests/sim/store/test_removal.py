"""Agents that are born and die while others hold on to them, by each way of removal."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest
from crowds import shuffle, simulation

from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.sparse_set import MODES
from crowd_demo.sim.store.state import MovingColumns


def birds(count: int) -> Agents:
    agents = Agents(MovingColumns)
    agents.spawn(id=np.arange(count), x=np.arange(count) * 10, vy=np.arange(count) * 2)
    return agents


@pytest.mark.quick
@pytest.mark.parametrize("mode", MODES)
def test_columns_move_with_their_ids(mode: str) -> None:
    agents = birds(20)
    agents.remove(np.array([0, 3, 4, 18, 99]), mode)
    agents.remove(np.array([7, 19]), mode)
    agents.close_gaps(2)
    stays = [i for i in range(20) if i not in (0, 3, 4, 18, 7, 19)]
    ids = agents.columns.id[:agents.count]
    assert sorted(ids.tolist()) == stays
    assert (ids.tolist() == stays) is (mode != "swap_back")
    assert np.array_equal(agents.columns.x[:agents.count], ids * 10)
    assert np.array_equal(agents.columns.vy[:agents.count], ids * 2)
    assert np.array_equal(agents.handles.slots_of(ids), np.arange(agents.count))


@pytest.mark.quick
@pytest.mark.parametrize(("mode", "rows"), [("swap_back", 18), ("shift", 18), ("deferred", 20)])
def test_only_a_deferred_removal_leaves_gaps(mode: str, rows: int) -> None:
    agents = birds(20)
    agents.remove(np.array([3, 5]), mode)
    assert agents.count == rows and len(agents.handles) == 18


@pytest.mark.parametrize("mode", MODES)
def test_a_held_agent_is_found_again_after_sorts_births_and_deaths(mode: str) -> None:
    sim = simulation("20k-flock", agents=300, world__width=500, world__height=400, optimizations__reorder__every=2,
                     optimizations__removal=mode)
    handles = sim.agents.handles
    for count in (280, 310, 200, 250):
        sim.step(3)
        shuffle(sim, count)
        sim.populate(count)
        assert sim.agents.columns.id[handles.slots_of([42])[0]] == 42 and handles.generations[42] == 0
        assert handles.generations[299] > 0
    sim.populate(300)
    assert sim.agents.columns.id[handles.slots_of([299])[0]] == 299


@pytest.mark.quick
def test_a_removal_that_hits_nobody_leaves_the_layout_alone() -> None:
    agents = birds(5)
    before = agents.layout
    agents.remove(np.array([7, -1]))
    agents.close_gaps(2)
    assert agents.layout == before
    agents.remove(np.array([4]))
    assert agents.layout > before


@pytest.mark.quick
@pytest.mark.parametrize("ids", [[7, 2], [7, 7], [8, 7, 9, 7]], ids=str)
def test_two_agents_cannot_bear_one_id(ids: list[int]) -> None:
    agents = birds(5)
    with pytest.raises(ValueError, match="one id"):
        agents.spawn(id=np.array(ids))
    assert agents.count == 5 and agents.handles.slots_of(np.array([7])).tolist() == [-1]


# --- columns ---------------------------------------------------------------------------------------------------------

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
