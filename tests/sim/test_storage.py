"""Columns, counting sort, grid and randomness."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from crowds import shuffle, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.compute import hashing
from crowd_demo.compute.counting_sort import count_share, sort_calls, sort_space
from crowd_demo.sim.actions import Populate, SetWalls, Switch
from crowd_demo.sim.neighbours.grid import Grid
from crowd_demo.sim.store.agents import Agents, CrowdColumns

examples = settings(max_examples=30, deadline=None)
pytestmark = pytest.mark.quick


@examples
@given(keys=st.lists(st.integers(0, 12), max_size=200), workers=st.integers(1, 5))
def test_counting_sort_is_stable_for_any_number_of_workers(keys: list[int], workers: int) -> None:
    space = sort_space(len(keys), 13, workers)
    space.key[:len(keys)] = keys
    for worker in range(workers):
        count_share(worker, workers, space, len(keys), 13)
    for call in sort_calls(workers, space, len(keys), 13):
        call.run()
    assert np.array_equal(space.order[:len(keys)], np.argsort(keys, kind="stable"))
    assert np.array_equal(space.start, np.searchsorted(np.sort(keys), np.arange(14)))


@examples
@given(n=st.integers(0, 120), cell=st.sampled_from([0, 7.5, 33, 1000]), seed=st.integers(0, 99), workers=st.integers(1, 3))
def test_grid_lists_the_agents_of_each_cell(n: int, cell: float, seed: int, workers: int) -> None:
    rng = np.random.default_rng(seed)
    agents = Agents(CrowdColumns)
    agents.spawn(id=np.arange(n), x=rng.uniform(0, 300, n), y=rng.uniform(0, 200, n))
    grid = Grid(agents, 300, 200, 25, cell, workers)
    for call in grid.calls():
        call.run()
    grid.built()
    got = [grid.order[a:b].tolist() for a, b in zip(grid.start, grid.start[1:], strict=False)]
    c = agents.columns
    assert got == reference.cell_lists(c.x[:n], c.y[:n], grid.cell, grid.columns, grid.rows)


def test_reorder_moves_every_column_in_lockstep() -> None:
    sim = simulation(agents=300, map="null")
    sim.step(5)
    sim.optimizations.reorder.every = 1
    before = [column.copy() for column in sim.agents.by_id()]
    shuffle(sim, 1)
    for name, calls in sim.stages():
        if name == "see":
            break
        for call in calls:
            call.run()
    for column, was in zip(sim.agents.by_id(), before, strict=True):
        assert np.array_equal(column, was)
    cells = (sim.agents.columns.y[:300] * sim.grid.floor.inv_cell).astype(int) * sim.grid.columns + (
        sim.agents.columns.x[:300] * sim.grid.floor.inv_cell).astype(int)
    assert (np.diff(cells) >= 0).all()


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


def test_actions_replay_a_run() -> None:
    script = {3: Populate(260), 8: Switch("stagger.avoidance", 1), 12: SetWalls((1, 1, 4, 3), True), 20: Populate(90)}
    runs = [simulation(agents=200, map="null", world__width=600, world__height=600) for _ in range(2)]
    for tick in range(30):
        if tick in script:
            runs[0].apply(script[tick])
        runs[0].step()
    history = dict(runs[0].history)
    for tick in range(30):
        if tick in history:
            runs[1].apply(history[tick])
        runs[1].step()
    assert runs[0].state_hash() == runs[1].state_hash()


@given(st.integers(0, 2**32 - 1))
def test_numpy_and_kernel_share_one_hash(value: int) -> None:
    assert int(hashing.scramble(np.array([value], np.uint32)).view(np.int32)[0]) == reference.scramble(value)


def test_unit_draws_are_uniform_and_depend_on_all_they_should() -> None:
    ids = np.arange(20_000, dtype=np.int32)
    draws = hashing.unit(ids, hashing.key(1, 2, 3))
    assert draws.min() >= 0 and draws.max() < 1
    assert (np.abs(np.histogram(draws, 10, (0, 1))[0] - 2000) < 250).all()
    assert len({int(hashing.key(seed, tick, purpose)) for seed in (1, 2, 2**40) for tick in (0, 1) for purpose in (0, 1)}) == 12
