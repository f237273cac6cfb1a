"""Structures by themselves: what an index holds, and that candidates hold every neighbour."""

import itertools
from typing import Any

import numpy as np
import pytest
import reference
from crowds import open_world, run_through, shuffle, simulation
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crowd_demo.compute.jit import run
from crowd_demo.grid.cells import fitted, share_buckets, sort_items, sort_space
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.metrics.avoidance_error import ages, stagger_error
from crowd_demo.sim.neighbours.structure import AgentGrid
from crowd_demo.sim.neighbours.trees import depth_of, select_nth
from crowd_demo.sim.neighbours.z_grid import CURVES, HILBERT, MORTON, cell_place, hilbert_place, morton, morton_place
from crowd_demo.sim.store.agents import Agents

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
        assert met[near[runs.order[runs.start[group]:runs.start[group + 1]]].any(axis=0)].all()


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


# --- The grid --------------------------------------------------------------------------------------------------------

F = np.float32
ULPS = 8  # as far from the line between two cells as rounding can matter


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


@pytest.mark.quick
@settings(max_examples=200, deadline=None)
@given(radius=st.floats(5, 100), part=st.integers(1, 6), side=st.sampled_from([500.0, 4000.0, 65_536.0]))
@example(radius=21.687283957243107, part=1, side=4000.0)
@example(radius=70.12648852566599, part=1, side=4000.0)
def test_who_is_within_the_radius_is_within_reach(radius: float, part: int, side: float) -> None:
    cell, reach = fitted(side, side / 4, radius, radius / part)
    x, others = at_the_radius(side, cell, radius)
    cells = [(place * F(1 / cell)).astype(np.int64) for place in (x, others)]
    assert (cells[1] - cells[0]).max(initial=0) <= reach


@pytest.mark.quick
@pytest.mark.parametrize(("cell", "reach"), [(0, 1), (24, 1), (12, 2), (8, 3), (6, 4), (16, 2), (23.9, 2), (64, 1), (4096, 1)])
def test_a_whole_part_of_the_radius_is_not_looked_beyond(cell: float, reach: int) -> None:
    """And the side is what was asked for, but for a thousandth."""
    side, looked_at = fitted(4000, 2250, 24, cell)
    assert looked_at == reach and (cell or 24) <= side < (cell or 24) * 1.001


@pytest.mark.quick
def test_cells_are_never_smaller_than_memory_allows() -> None:
    assert fitted(4000, 4000, 0, 0) == (4000 / 2048, 1)
    assert fitted(4000, 4000, 0, 0.5, smallest=2) == (2, 1)
    assert fitted(1, 1, 0, 0)[0] >= 1e-3


@pytest.mark.quick
@settings(max_examples=30, deadline=None)
@given(n=st.integers(0, 120), cell=st.sampled_from([0, 7.5, 33, 1000]), seed=st.integers(0, 99), workers=st.integers(1, 16))
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

@pytest.mark.quick
@settings(max_examples=60, deadline=None)
@given(rounds=st.lists(st.lists(st.integers(0, 12), max_size=200), min_size=2, max_size=3), workers=st.integers(1, 16))
@example(rounds=[[12] * 3000, [*range(13)] * 300, []], workers=5)
@example(rounds=[[], [6], [0] * 2000], workers=16)
def test_counting_sort_is_stable_for_any_number_of_workers(rounds: list[list[int]], workers: int) -> None:
    """Shares follow the sort before: none has more than its part and one bucket."""
    space = sort_space(3900, 13, workers)
    for keys in rounds:
        before = np.diff(space.start[:14]) + 1
        space.key[:len(keys)] = keys
        share_buckets(workers, space, 13)
        assert space.share[0] == 0 and space.share[-1] == 13
        shares = itertools.pairwise(space.share.tolist())
        assert all(before[first:end].sum() <= before.sum() / workers + before.max() for first, end in shares)
        sort_items(workers, space, len(keys))
        assert np.array_equal(space.order[:len(keys)], np.argsort(keys, kind="stable"))
        assert np.array_equal(space.start[:14], np.searchsorted(np.sort(keys), np.arange(14)))


# --- curves: each cell once, and what makes each curve what it is ----------------------------------------------------

@pytest.mark.quick
@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@pytest.mark.parametrize("bits", [0, 1, 2, 5])
def test_each_cell_has_one_number(curve: int, bits: int) -> None:
    side = 1 << bits
    places = [cell_place(curve, number, bits) for number in range(side * side)]
    assert sorted(places) == [(column, row) for column in range(side) for row in range(side)]


@pytest.mark.quick
@given(st.integers(0, 2**15 - 1), st.integers(0, 2**15 - 1))
def test_the_largest_square_works(column: int, row: int) -> None:
    number = morton(column, row)
    assert number < 2**30 and morton_place(number) == (column, row)
    (x, y), (next_x, next_y) = hilbert_place(number, 15), hilbert_place(number ^ 1, 15)
    assert 0 <= min(x, y) <= max(x, y) < 2**15 and abs(x - next_x) + abs(y - next_y) == 1


@pytest.mark.quick
@given(st.integers(0, 2**15 - 1), st.integers(0, 2**15 - 1))
def test_morton_interleaves_bits(column: int, row: int) -> None:
    bits = "".join(down + right for down, right in zip(f"{row:015b}", f"{column:015b}", strict=True))
    assert morton(column, row) == int(bits, 2)


@pytest.mark.quick
def test_hilbert_never_jumps() -> None:
    places = [hilbert_place(number, 6) for number in range(4**6)]
    assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in itertools.pairwise(places))


@pytest.mark.quick
@pytest.mark.parametrize("curve", [MORTON, HILBERT])
def test_an_aligned_square_is_an_aligned_run(curve: int) -> None:
    for level in range(5):
        for first in range(0, 4**4, 4**level):
            squares = {tuple(part >> level for part in cell_place(curve, number, 4))
                       for number in range(first, first + 4**level)}
            assert len(squares) == 1


# --- staggering ------------------------------------------------------------------------------------------------------

FAST_BIRDS = {"behaviour": "flock", "agents": 200, "flock__speed_max": 2000, "optimizations__reorder__every": 3,
              **open_world(700, 600)}
ways = st.tuples(st.sampled_from(["place", "tile", "id"]), st.integers(1, 16), st.booleans(), st.integers(1, 20))


@pytest.mark.parametrize("simd", [True, False])
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(script=st.lists(ways, min_size=1, max_size=6))
def test_nobody_waits_longer_than_the_period_and_ages_tell(simd: bool, script: list[tuple[str, int, bool, int]]) -> None:
    """Fast birds cross bands and tiles, are re-sorted and shuffled, while rule and period change."""
    sim = simulation(**FAST_BIRDS)
    sim.optimizations.simd = simd
    looked_at = np.full(200, -1)
    deadline = np.zeros(200, int)
    for by, period, mixed, steps in script:
        sim.optimizations.stagger.by, sim.optimizations.stagger.avoidance = by, period
        if mixed:
            shuffle(sim, steps)
        for _ in range(steps):
            before = sim.agents.by_id()
            sim.step()
            now, after = sim.tick - 1, sim.agents.by_id()
            looked = after.next_update != before.next_update
            assert np.array_equal(after.avoidance_x[~looked], before.avoidance_x[~looked]), "the answer is kept between"
            assert looked[deadline <= now].all()
            looked_at[looked] = now
            deadline = np.where(looked, now + period, np.minimum(deadline, now + period))
            assert looked.sum() == sim.profile.counters["due"]
            assert np.array_equal(ages(sim), np.bincount(np.minimum(now - looked_at, 15), minlength=16))


@pytest.mark.parametrize("by", ["place", "tile", "id"])
def test_the_work_is_shared_among_the_steps(by: str) -> None:
    sim = simulation(agents=3000, behaviour="flock", map="null", optimizations__stagger__by=by,
                     optimizations__stagger__avoidance=4, steps=8)
    due = []
    for _ in range(8):
        sim.step()
        due.append(sim.profile.counters["due"])
    assert 0.8 * 3000 / 4 < np.mean(due) < 1.25 * 3000 / 4
    assert max(due) < 3000 / 2
    assert (ages(sim)[:4] > 300).all() and ages(sim)[4:].sum() == 0


def test_the_error_is_what_the_next_step_shows() -> None:
    """Against two replicas of which one looks at period 1 in the next step."""
    sims = [simulation(agents=400, **open_world(500, 500)) for _ in range(2)]
    for sim in sims:
        sim.step(50)
    error = stagger_error(sims[0]).mean
    sims[1].agents.columns.next_update[:] = 0
    pushes = []
    for sim in sims:
        sim.step()
        columns = sim.agents.by_id()
        pushes.append([columns.avoidance_x.astype(float), columns.avoidance_y.astype(float)])
    kept, fresh = pushes
    off = np.hypot(kept[0] - fresh[0], kept[1] - fresh[1])
    assert error == pytest.approx(off.mean() / np.hypot(*fresh).mean(), rel=1e-6)
