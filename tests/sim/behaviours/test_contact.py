"""Contact: bodies that overlap are moved apart, as the oracle says, by every structure, and never into a wall."""

from typing import Any

import numpy as np
import pytest
import reference
from crowds import Settings, open_world, refresh_rules, shuffle, simulation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowd_demo.compute.jit import run
from crowd_demo.extras.walking import nearest
from crowd_demo.registry.techniques import STRUCTURES
from crowd_demo.sim.behaviours.contact import STEPS, ContactPass, SmallCells

ROOM = open_world(640, 400)
examples = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def settle(sim: Any) -> None:
    """Index the crowd, then run the passes of contact alone."""
    refresh_rules(sim)
    run(sim.reindexing())
    sim.grid.rebuild()
    for stage in sim.stages:
        if isinstance(stage, SmallCells | ContactPass) and stage.wanted(sim):
            run(stage.launches(sim))
            stage.commit(sim)


def crowded(side: float, agents: int, seed: int, **more: Any) -> Any:
    sim = simulation(agents=agents, **ROOM, **more)
    rng = np.random.default_rng(seed)
    c: Any = sim.agents.columns
    angle = rng.uniform(0, 7, agents)
    c.heading_x[:agents], c.heading_y[:agents], c.state[:agents] = np.cos(angle), np.sin(angle), rng.integers(0, 5, agents)
    c.x[:agents], c.y[:agents] = np.minimum(rng.uniform(200, 200 + side, (2, agents)).round(1), 399)
    shuffle(sim, seed)
    return sim


@pytest.mark.parametrize("simd", ["true", "false"])
@examples
@given(agents=st.integers(0, 90), side=st.sampled_from([0.0, 20.0, 90.0]), seed=st.integers(0, 99),
       neighbours=st.sampled_from(list(STRUCTURES)), cell=st.sampled_from(["auto", "9", "64"]), passes=st.integers(1, 4))
def test_every_structure_moves_people_apart_as_the_oracle_says(simd: str, agents: int, side: float, seed: int, neighbours: str,
                                                               cell: str, passes: int) -> None:
    shoulders = seed % 3 * 0.17
    sim = crowded(side, agents, seed, optimizations__simd=simd, optimizations__neighbours=neighbours,
                  optimizations__cell_size=cell, optimizations__overlap_passes=passes, crowd__shoulders=shoulders)
    if seed % 2:
        sim.set_walls((3, 3, 4, 5), True)
    before: Any = sim.agents.by_id()
    x, y = before.x.copy(), before.y.copy()
    for _ in range(passes):
        shift_x, shift_y = reference.contact_shift(before, x, y, sim.config.crowd.body, shoulders)
        for i in range(agents):
            x[i], y[i] = reference.slide(sim.ground, x[i], y[i], shift_x[i], shift_y[i])
    settle(sim)
    after: Any = sim.agents.by_id()
    assert np.array_equal(after.x, x) and np.array_equal(after.y, y)


def test_those_who_came_near_since_the_index_are_met_too() -> None:
    """The grid is asked for all who may have come into touch: everybody moves as far as a step goes."""
    for neighbours in STRUCTURES:
        sim = crowded(300, 80, 1, optimizations__overlap_passes=1, optimizations__neighbours=neighbours,
                      optimizations__cell_size=5)
        run(sim.reindexing())
        sim.grid.rebuild()
        rng, c = np.random.default_rng(2), sim.agents.columns
        most = sim.max_step - sim.contact_shift
        c.x[:80] += rng.choice([-most, most], 80)
        before: Any = sim.agents.by_id()
        shift_x, _ = reference.contact_shift(before, before.x, before.y, sim.config.crowd.body)
        run(next(stage for stage in sim.stages if isinstance(stage, ContactPass)).launches(sim))
        after: Any = sim.agents.by_id()
        assert np.array_equal(after.x, before.x + shift_x), neighbours


@pytest.mark.parametrize("simd", [True, False])
def test_no_structure_needs_kernels_of_its_own_for_contact(simd: bool) -> None:
    kernels = set()
    for neighbours in STRUCTURES:
        sim = crowded(300, 80, 1, optimizations__neighbours=neighbours, optimizations__simd=simd)
        settle(sim)
        first = next(stage for stage in sim.stages if isinstance(stage, ContactPass))
        kernels.add(tuple((each.name, each.signature()) for each in first.launches(sim)))
    assert len(kernels) == 1


def test_nobody_lies_upon_another_in_a_walking_crowd() -> None:
    sim = simulation(agents=300, optimizations__overlap_passes=2, optimizations__avoidance="anticipate",
                     **open_world(500, 400), steps=300)
    c: Any = sim.agents.by_id()
    assert (nearest(c.x, c.y) < 6).mean() <= 0.01


@pytest.mark.quick
def test_without_bodies_or_passes_there_is_no_contact() -> None:
    bodiless: Settings = {"crowd__body": 0, "optimizations__overlap_passes": 4}
    for more in (bodiless, {"optimizations__overlap_passes": 0}):
        sim = simulation(agents=5, **ROOM, **more)
        assert not any(stage.wanted(sim) for stage in sim.stages if isinstance(stage, ContactPass))


@pytest.mark.parametrize("neighbours", ["sorted", "none"])
def test_who_is_a_whole_turn_of_the_quick_test_away_touches_nobody(neighbours):
    """Lanes first test places of 16 bits, which are the same every 8,192 units."""
    turn = 2**16 / STEPS
    rng, sims = np.random.default_rng(5), []
    x = (rng.uniform(50, 150, 300) + turn * rng.integers(0, 3, 300)).astype(np.float32)
    y = (rng.uniform(50, 150, 300) + turn * rng.integers(0, 2, 300)).astype(np.float32)
    for simd in (True, False):
        sim = simulation(agents=300, **open_world(2 * turn + 200, turn + 200), optimizations__neighbours=neighbours,
                         optimizations__simd=simd, optimizations__overlap_passes=2)
        sim.agents.columns.x[:300], sim.agents.columns.y[:300] = x, y
        settle(sim)
        sims.append(sim.agents.columns)
    lanes, one_by_one = sims
    assert (lanes.x[:300] != x).any()
    assert np.array_equal(lanes.x[:300], one_by_one.x[:300]) and np.array_equal(lanes.y[:300], one_by_one.y[:300])
