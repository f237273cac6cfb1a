"""A cell's size is a wish: who is within the radius is never more than `reach` cells away, nor is one cell too many asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowd_demo.compute.jit import run
from crowd_demo.grid.cells import fitted
from crowd_demo.grid.counting_sort import count_share, sort_launches, sort_space
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.neighbours.grid import AgentGrid
from crowd_demo.sim.store.agents import Agents

F = np.float32
ULPS = 8  # as far from the line between two cells as rounding can matter
pytestmark = pytest.mark.quick


def at_the_radius(side: float, cell: float, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """float32[k]: places just before a line between cells, and others barely within the radius of them."""
    before = [(np.arange(1, int((side - radius) / cell) + 1) * cell).astype(F)]
    for _ in range(ULPS):
        before.append(np.nextafter(before[-1], F(0)))
    after = [(np.concatenate(before) + F(radius)).astype(F)]
    for _ in range(ULPS):
        after.append(np.nextafter(after[-1], F(0)))
    x, others = np.tile(np.concatenate(before), len(after)), np.concatenate(after)
    gap = others - x
    near = gap * gap < F(radius) * F(radius)
    return x[near], others[near]


@settings(max_examples=200, deadline=None)
@given(radius=st.floats(5, 100), part=st.integers(1, 6), side=st.sampled_from([500.0, 4000.0, 65_536.0]))
@example(radius=21.687283957243107, part=1, side=4000.0)
@example(radius=70.12648852566599, part=1, side=4000.0)
def test_who_is_within_the_radius_is_within_reach(radius: float, part: int, side: float) -> None:
    cell, reach = fitted(side, side / 4, radius, radius / part)
    x, others = at_the_radius(side, cell, radius)
    cells = [(place * F(1 / cell)).astype(np.int64) for place in (x, others)]
    assert (cells[1] - cells[0]).max(initial=0) <= reach


@pytest.mark.parametrize(("cell", "reach"), [(0, 1), (24, 1), (12, 2), (8, 3), (6, 4), (16, 2), (23.9, 2), (64, 1), (4096, 1)])
def test_a_whole_part_of_the_radius_is_not_looked_beyond(cell: float, reach: int) -> None:
    """And the side is what was asked for, but for a thousandth."""
    side, looked_at = fitted(4000, 2250, 24, cell)
    assert looked_at == reach and (cell or 24) <= side < (cell or 24) * 1.001


def test_cells_are_never_smaller_than_memory_allows() -> None:
    assert fitted(4000, 4000, 0, 0) == (4000 / 2048, 1)
    assert fitted(4000, 4000, 0, 0.5, smallest=2) == (2, 1)
    assert fitted(1, 1, 0, 0)[0] >= 1e-3


@settings(max_examples=30, deadline=None)
@given(n=st.integers(0, 120), cell=st.sampled_from([0, 7.5, 33, 1000]), seed=st.integers(0, 99), workers=st.integers(1, 3))
def test_grid_lists_the_agents_of_each_cell(n: int, cell: float, seed: int, workers: int) -> None:
    rng = np.random.default_rng(seed)
    agents: Agents[Any] = Agents(PeopleColumns)
    agents.spawn(id=np.arange(n), x=rng.uniform(0, 300, n), y=rng.uniform(0, 200, n))
    grid = AgentGrid(agents, 300, 200, 25, cell, workers)
    run(grid.launches())
    grid.built()
    got = [grid.order[a:b].tolist() for a, b in zip(grid.start, grid.start[1:], strict=False)]
    c = agents.columns
    assert got == reference.cell_lists(c.x[:n], c.y[:n], grid.cell, grid.columns, grid.rows)


# --- its counting sort -----------------------------------------------------------------------------------------------

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
