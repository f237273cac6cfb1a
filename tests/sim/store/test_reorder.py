"""When agents are sorted: by the clock, or once somebody may have moved far enough."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import reference
from crowds import open_world, run_through, shuffle, simulation

from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.sim.interaction.interaction_stage import imbalance
from crowd_demo.sim.neighbours.z_grid import CURVES, cell_place

WIDE = {"agents": 300, **open_world(900, 700)}


@pytest.mark.parametrize("behaviour", list(BEHAVIOURS))
@pytest.mark.parametrize("simd", ["true", "false"])
def test_the_drift_meter_adds_the_longest_move_of_each_step(behaviour: str, simd: str) -> None:
    sim = simulation(behaviour=behaviour, optimizations__simd=simd, optimizations__reorder__when="off",
                     optimizations__overlap_passes=0, **WIDE)
    sim.populate(250)  # the last register holds some who have left
    units = 0.0
    start = sim.agents.by_id()
    for steps in range(1, 41):
        before = sim.agents.by_id()
        sim.step()
        after = sim.agents.by_id()
        dx, dy = after.x - before.x, after.y - before.y
        units += float(np.sqrt(float((dx * dx + dy * dy).max())))
        assert sim.profile.counters["drift"] == units
        assert sim.profile.counters["steps_since_sort"] == steps
    assert np.hypot(after.x - start.x, after.y - start.y).max() <= units
    assert sim.profile.counters["sorts"] == 0


def test_the_drift_meter_adds_what_contact_moves() -> None:
    sim = simulation(behaviour="crowd", optimizations__reorder__when="off", optimizations__overlap_passes=2, **WIDE)
    start = sim.agents.by_id()
    sim.step(40)
    now = sim.agents.by_id()
    assert np.hypot(now.x - start.x, now.y - start.y).max() <= sim.profile.counters["drift"]


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_drift_sorts_as_soon_as_somebody_may_have_moved_that_share_of_a_cell(share: float) -> None:
    sim = simulation(behaviour="flock", optimizations__reorder__when="drift", optimizations__reorder__drift=share, **WIDE)
    sorts, before = 0, 0.0
    for _ in range(80):
        due = sim.tick == 0 or before > share * sim.grid.cell
        sim.step()
        counters = sim.profile.counters
        sorts += due
        assert counters["sorts"] == sorts
        assert (counters["steps_since_sort"] == 1) == due
        before = counters["drift"]
    assert 3 < sorts < 80


def test_nobody_moves_and_nothing_is_sorted_again() -> None:
    sim = simulation(behaviour="flock", flock__speed_min=0, flock__speed_max=0, optimizations__reorder__when="drift", **WIDE)
    sim.step(30)
    assert sim.profile.counters["sorts"] == 1
    assert sim.profile.counters["drift"] == 0


@pytest.mark.parametrize("settings, sorts", [({"when": "off"}, 0), ({"every": 1}, 30), ({"every": 7}, 5)])
def test_sorts_are_counted(settings: dict[str, Any], sorts: int) -> None:
    sim = simulation(**{f"optimizations__reorder__{key}": value for key, value in settings.items()}, **WIDE)
    sim.step(30)
    assert sim.profile.counters["sorts"] == sorts


@pytest.mark.parametrize("curve", ["row", "morton", "hilbert"])
@pytest.mark.parametrize("threads", [1, 3])
def test_agents_lie_along_the_curve_and_every_cell_still_knows_its_own(curve: str, threads: int) -> None:
    """The grid is wider than high and no power of two; some cells are empty."""
    sim = simulation(optimizations__curve=curve, optimizations__threads=threads, optimizations__reorder__every=1, **WIDE)
    shuffle(sim, 1)
    run_through(sim, "reorder")
    grid, columns = sim.grid, sim.agents.columns
    x, y = ((column[:300] * grid.floor.inv_cell).astype(int) for column in (columns.x, columns.y))
    bits = (max(grid.columns, grid.rows) - 1).bit_length()
    number_of = {cell_place(CURVES[curve], number, bits): number for number in range(4**bits)}
    numbers = [number_of[int(a), int(b)] for a, b in zip(x, y, strict=True)]
    assert numbers == sorted(numbers)
    lists = [sorted(grid.order[a:b].tolist()) for a, b in pairwise(grid.start)]
    assert lists == reference.cell_lists(columns.x[:300], columns.y[:300], grid.cell, grid.columns, grid.rows)


@pytest.mark.quick
def test_reorder_moves_every_column_in_lockstep() -> None:
    sim = simulation(agents=300, map="null")
    sim.step(5)
    sim.optimizations.reorder.every = 1
    before = [column.copy() for column in sim.agents.by_id()]
    shuffle(sim, 1)
    run_through(sim, "query")
    for column, was in zip(sim.agents.by_id(), before, strict=True):
        assert np.array_equal(column, was)
    columns, grid = sim.agents.columns, sim.grid
    cells = ((columns.y[:300] * grid.floor.inv_cell).astype(int) * grid.columns
             + (columns.x[:300] * grid.floor.inv_cell).astype(int))
    assert (np.diff(cells) >= 0).all()


def test_imbalance_is_the_largest_share_of_the_work_over_the_mean() -> None:
    assert imbalance([30, 10, 20]) == 1.5
    assert imbalance([7]) == imbalance([0, 0]) == 1
    sim = simulation(optimizations__threads=3, **WIDE)
    sim.step()
    assert 1 <= sim.profile.counters["imbalance"] <= 3
