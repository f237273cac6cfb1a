"""Structures by themselves: what an index holds, and that candidates hold every neighbour."""

from typing import Any

import numpy as np
import pytest
import reference
from crowds import open_world, run_through, shuffle, simulation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowd_demo.sim.neighbours.trees import depth_of, select_nth

examples = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ORDERED = ["z_grid", "kd_tree", "aabb_tree"]


def crowd(neighbours: str, n: int, seed: int, spread: float = 1.0, behaviour: str = "flock", **more: Any) -> Any:
    """A flock, or crates of all sizes, over a part of its world, in no order."""
    sim = simulation(agents=n, behaviour=behaviour, crates__rarity=8, optimizations__neighbours=neighbours,
                     optimizations__reorder__when="off", **open_world(600, 300),
                     **{f"optimizations__{name}": value for name, value in more.items()})
    place = np.random.default_rng(seed).uniform(0, 0.999 * spread, (2, n)).astype(np.float32)
    sim.agents.columns.x[:n], sim.agents.columns.y[:n] = place[0] * 600, place[1] * 300
    shuffle(sim, seed)
    return sim


def build(sim: Any) -> Any:
    """Run a step as far as the candidates are known."""
    run_through(sim, "query")
    return sim.structure


def are_neighbours(sim: Any) -> Any:
    """bool[n, n], by slot."""
    c, n = sim.agents.columns, sim.agents.count
    if sim.config.behaviour == "flock":
        return reference.offsets(c.x[:n], c.y[:n])[2] < np.float32(sim.behaviour.needs.radius) ** 2
    dx, dy, _ = reference.offsets(c.x[:n], c.y[:n])
    return np.maximum(abs(dx), abs(dy)) < c.half[:n, None] + (c.half[:n] + np.float32(sim.behaviour.needs.contact))[None, :]


@pytest.mark.quick
@examples
@given(keys=st.lists(st.integers(0, 9), min_size=1, max_size=60), data=st.data())
def test_select_puts_the_nth_in_its_place(keys: list[int], data: Any) -> None:
    first = data.draw(st.integers(0, len(keys) - 1))
    last = data.draw(st.integers(first + 1, len(keys)))
    nth = data.draw(st.integers(first, last - 1))
    key = np.array(keys, np.float32)
    order = np.arange(len(keys), dtype=np.int32)
    select_nth(key, key * 2, order, first, last, nth, np.zeros(3, np.int64))
    assert sorted(order) == list(range(len(keys))) and np.array_equal(key, np.array(keys, np.float32)[order])
    assert np.array_equal(order[:first], np.arange(first)) and np.array_equal(order[last:], np.arange(last, len(keys)))
    assert key[nth] == sorted(keys[first:last])[nth - first]
    assert (key[first:nth] <= key[nth]).all() and (key[nth:last] >= key[nth]).all()


@pytest.mark.quick
@pytest.mark.parametrize(("agents", "leaf", "depth"), [(0, 4, 0), (1, 4, 0), (4, 4, 0), (5, 4, 1), (8, 4, 1), (9, 4, 2),
                                                       (100_000, 32, 12), (1024, 256, 2)])
def test_a_tree_is_as_deep_as_its_leaves_ask_for(agents: int, leaf: int, depth: int) -> None:
    assert depth_of(agents, leaf) == depth


@pytest.mark.parametrize("neighbours", ORDERED)
@pytest.mark.parametrize("behaviour", ["flock", "crates"])
@examples
@given(n=st.integers(0, 300), seed=st.integers(0, 99), leaf=st.sampled_from([4, 7, 32, 256]),
       spread=st.sampled_from([1, 0.05, 0]), simd=st.sampled_from(["true", "false"]),
       cell=st.sampled_from(["auto", "3", "20", "70"]))
def test_candidates_hold_every_neighbour(behaviour: str, neighbours: str, n: int, seed: int, leaf: int, spread: float,
                                         simd: str, cell: str) -> None:
    sim = crowd(neighbours, n, seed, spread, behaviour, leaf_size=leaf, simd=simd, cell_size=cell, stagger__avoidance=1)
    runs = build(sim).candidates()
    groups = int(runs.groups[0])
    assert sorted(runs.order[:n]) == list(range(n))
    assert runs.start[0] == 0 and runs.start[groups] == n if groups else n == 0
    near = are_neighbours(sim)
    for group in range(groups):
        first, last = (bound[group, :runs.count[group]] for bound in (runs.first, runs.last))
        assert (first < last).all() and (last[:-1] < first[1:]).all()
        assert first.min(initial=0) >= 0 and last.max(initial=0) <= n
        met = np.zeros(n, bool)
        for a, b in zip(first, last, strict=True):
            met[runs.order[a:b]] = True
        members = runs.order[runs.start[group]:runs.start[group + 1]]
        assert met[near[members].any(axis=0)].all()


@pytest.mark.parametrize("neighbours", ["kd_tree", "aabb_tree"])
@pytest.mark.parametrize("behaviour", ["flock", "crates"])
@examples
@given(n=st.integers(1, 500), seed=st.integers(0, 99), leaf=st.integers(4, 40), spread=st.sampled_from([1, 0.01, 0]))
def test_leaves_share_the_agents_and_boxes_hold_them(behaviour: str, neighbours: str, n: int, seed: int, leaf: int,
                                                     spread: float) -> None:
    sim = crowd(neighbours, n, seed, spread, behaviour, leaf_size=leaf)
    structure = build(sim)
    c, box, leaves = sim.agents.columns, structure.box, 1 << structure.depth
    runs = structure.candidates()
    assert np.diff(runs.start[:leaves + 1]).max() <= leaf
    for i in range(leaves):
        members = runs.order[runs.start[i]:runs.start[i + 1]]
        half = c.half[members] if behaviour == "crates" else np.float32(0)
        bounds = np.array([(c.x[members] - half).min(), (c.y[members] - half).min(),
                           (c.x[members] + half).max(), (c.y[members] + half).max()])
        assert (box[leaves + i, :2] <= bounds[:2]).all() and (box[leaves + i, 2:] >= bounds[2:]).all()
        if neighbours == "aabb_tree":
            assert np.array_equal(box[leaves + i], bounds)
    for node in range(1, leaves):
        for child in (box[2 * node], box[2 * node + 1]):
            assert (box[node, :2] <= child[:2]).all() and (box[node, 2:] >= child[2:]).all()


@pytest.mark.quick
def test_lists_hold_the_agents_of_each_cell_in_slot_order() -> None:
    sim = crowd("linked", 300, 1)
    lists, c = build(sim).candidates(), sim.agents.columns
    want = reference.cell_lists(c.x[:300], c.y[:300], sim.grid.cell, lists.columns, lists.rows)
    for cell, slots in enumerate(want):
        slot = lists.head[cell]
        for other in slots:
            assert slot == other
            slot = lists.next[slot]
        assert slot == -1


def test_leaves_are_built_every_few_steps_and_boxes_are_fitted_in_each() -> None:
    sim = crowd("aabb_tree", 600, 3, leaf_size=8, rebuild=4)
    orders = []
    for sim.tick in range(9):
        structure = build(sim)
        orders.append(structure.order[:600].tolist())
        c, box = sim.agents.columns, structure.box
        assert (box[1] == [c.x[:600].min(), c.y[:600].min(), c.x[:600].max(), c.y[:600].max()]).all()
        c.x[:600] = (c.x[:600] + np.linspace(0, 40, 600, dtype=np.float32)) % np.float32(599)
    assert orders[0] == orders[3] != orders[4] == orders[7] != orders[8]
    shuffle(sim, 4)  # whoever lies elsewhere in memory is looked for anew
    order = build(sim).order[:600].tolist()
    assert build(sim).begun_at == 8 and order != orders[8]


@pytest.mark.parametrize("neighbours", ORDERED)
def test_only_groups_where_somebody_is_due_are_asked_for(neighbours: str) -> None:
    sim = crowd(neighbours, 800, 2, stagger__avoidance=4, leaf_size=8)
    sim.step(3)
    runs, turn = build(sim).candidates(), sim.schedule
    next_update = sim.agents.columns.next_update
    due = (next_update < turn.due_below) | (next_update > turn.due_above)
    groups = int(runs.groups[0])
    waiting = [due[runs.order[runs.start[g]:runs.start[g + 1]]].any() for g in range(groups)]
    assert [bool(runs.count[g]) for g in range(groups)] == waiting and 0 < sum(waiting) < groups


@pytest.mark.parametrize("neighbours", ["kd_tree", "aabb_tree", "z_grid", "sorted"])
def test_crates_that_barely_touch_far_from_the_origin_are_found(neighbours: str) -> None:
    """There float32 misplaces an edge by more than a thousandth of a small crate."""
    sim = simulation("crates", agents=8, world__width=65536, world__height=65536, crates__half_min=102.499 / 256,
                     crates__half_max=102.499 / 256, crates__gap=25.01 / 256, optimizations__neighbours=neighbours,
                     optimizations__leaf_size=4, optimizations__stagger__avoidance=1)
    c = sim.agents.columns
    c.x[:8], c.y[:8] = [60000] * 4 + [60000 + 230 / 256] * 4, 60000
    near = are_neighbours(sim)
    sim.step()
    assert sim.profile.counters["neighbours_per_agent"] == (near.sum() - 8) / 8 == 7
