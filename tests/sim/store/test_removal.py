"""Agents that are born and die while others hold on to them, by each way of removal."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import reference
from crowds import open_world, run_through, shuffle, simulation
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_storage import ListedIds

from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.sim.interaction.interaction_stage import imbalance
from crowd_demo.sim.neighbours.z_grid import CURVES, cell_place
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.sparse_set import MODES, SparseSet
from crowd_demo.sim.store.state import MovingColumns


def birds(count: int) -> Agents:
    agents = Agents(MovingColumns)
    agents.spawn(id=np.arange(count), x=np.arange(count) * 10, vy=np.arange(count) * 2)
    return agents


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
@pytest.mark.parametrize("ids", [[7, 2], [7, 7], [8, 7, 9, 7]], ids=str)
def test_two_agents_cannot_bear_one_id(ids: list[int]) -> None:
    agents = birds(5)
    with pytest.raises(ValueError, match="one id"):
        agents.spawn(id=np.array(ids))
    assert agents.count == 5 and agents.handles.slots_of(np.array([7])).tolist() == [-1]


# --- columns ---------------------------------------------------------------------------------------------------------


# --- when agents are sorted: by the clock, or once somebody may have moved far enough --------------------------------

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


@pytest.mark.parametrize("settings, sorts", [({"when": "off"}, 0), ({"every": 1}, 30), ({"every": 7}, 5)])
def test_sorts_are_counted(settings: dict[str, Any], sorts: int) -> None:
    sim = simulation(**{f"optimizations__reorder__{key}": value for key, value in settings.items()}, **WIDE, steps=30)
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


def test_imbalance_is_the_largest_share_of_the_work_over_the_mean() -> None:
    assert imbalance([30, 10, 20]) == 1.5
    assert imbalance([7]) == imbalance([0, 0]) == 1
    assert 1 <= simulation(optimizations__threads=3, **WIDE, steps=1).profile.counters["imbalance"] <= 3


# --- the sparse set against a plain list, its handles, and its memory against the formula ----------------------------

ids = st.lists(st.integers(0, 40), max_size=25)


@pytest.mark.quick
@settings(max_examples=100, deadline=None)
@example(steps=[("add", [3, 1, 4, 5, 9, 2]), ("swap_back", [3, 1])])
@given(steps=st.lists(st.tuples(st.sampled_from(["add", *MODES, "compact"]), ids), max_size=12))
def test_a_set_and_its_data_follow_a_plain_list(steps: list[tuple[str, list[int]]]) -> None:
    got, wanted = SparseSet(8), ListedIds()
    data = np.zeros(50, int)
    for what, some in steps:
        if what == "add":
            for identity in some:
                wanted.add(identity)
            new = got.add_many(np.array(some, int))
            data[got.slots_of(new)] = new * 10
            moves = None
        elif what == "compact":
            wanted.compact()
            moves = got.compact()
        else:
            wanted.discard_many(some, what)
            moves = got.discard_many(np.array(some, int), what)
        if moves:
            data[moves.target] = data[moves.source]
        members = [identity for identity in wanted.slots if identity is not None]
        assert got.ids.tolist() == [-1 if identity is None else identity for identity in wanted.slots]
        assert len(got) == len(members) and np.flatnonzero(got.has(np.arange(50))).tolist() == sorted(members)
        slots = got.slots_of(members)
        assert slots.tolist() == [wanted.slots.index(identity) for identity in members]
        assert data[slots].tolist() == [identity * 10 for identity in members]
    assert got.generations[:8].tolist() == [wanted.removed.get(identity, 0) for identity in range(8)]


@pytest.mark.quick
def test_gaps_of_several_deferred_removals_are_closed_together() -> None:
    some = SparseSet()
    some.add_many(np.arange(10))
    for gone in (2, 5, 7):
        some.discard_many(np.array([gone]), "deferred")
    assert some.ids.tolist() == [0, 1, -1, 3, 4, -1, 6, -1, 8, 9]
    some.compact()
    assert some.ids.tolist() == [0, 1, 3, 4, 6, 8, 9]


@pytest.mark.quick
def test_unknown_ids_are_harmless() -> None:
    some = SparseSet()
    assert some.slots_of([0, -1, 10**12]).tolist() == [-1, -1, -1]
    some.add_many(np.array([3, 5, 3]))
    some.add_many(np.array([3]))
    assert some.slots_of(np.array([-1, 3, 4, 5, 10**9])).tolist() == [-1, 0, -1, 1, -1]
    for mode in MODES:
        some.discard_many(np.array([-7, 4, 99, 10**9]), mode)
    assert some.ids.tolist() == [3, 5] and not some.generations.any()
    with pytest.raises(ValueError, match="0, 1, 2"):
        some.add_many([-1])
    with pytest.raises(ValueError, match="swap_back, shift, deferred"):
        some.discard_many([3], "erase")


@pytest.mark.quick
def test_free_ids_are_the_lowest() -> None:
    some = SparseSet(4)
    some.add_many(np.array([0, 2, 3, 5]))
    assert some.free_ids(4).tolist() == [1, 4, 6, 7]
    some.discard_many([2], "deferred")
    assert some.free_ids(2).tolist() == [1, 2]
