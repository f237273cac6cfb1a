"""Births and deaths: as many as the clock says, drawn by the seed, the same whatever the order in memory."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, Settings, shuffle, simulation
from crowds import FLOCK as FIVE_HUNDRED

from crowd_demo.sim.population.births_deaths import who_dies
from crowd_demo.sim.store.sparse_set import MODES

STEPS = 30
FLOCK = {**FIVE_HUNDRED, **BIRTHS_AND_DEATHS, "agents": 300}


@pytest.fixture(scope="module")
def living(crowd: Settings) -> Settings:
    return {**crowd, **BIRTHS_AND_DEATHS, "agents": 300}


@pytest.fixture(scope="module")
def plain(living: Settings) -> str:
    sim = simulation(**living, optimizations__neighbours="none", optimizations__simd="false", optimizations__threads=1)
    sim.step(STEPS)
    return sim.state_hash()


def test_one_hash_however_gaps_are_filled_and_wherever_agents_lie(living: Settings, plain: str) -> None:
    """Another way to remove in each step, and before it another order in memory."""
    sim = simulation(**living)
    for step in range(STEPS):
        sim.optimizations.removal = MODES[step % len(MODES)]
        shuffle(sim, step)
        sim.step()
        ids = sim.agents.columns.id[:sim.agents.count]
        assert len(np.unique(ids)) == len(ids) == sim.agents.count == sim.population[-1]
    assert sim.state_hash() == plain


@pytest.mark.quick
def test_rates_are_kept_to_the_agent() -> None:
    sim = simulation(**{**FLOCK, "life__births_per_s": 100.5, "life__deaths_per_s": 40, "agents": 10})
    sim.step(120)
    assert sim.agents.count == 10 + 201 - 80
    assert len(sim.population) == 120 and sim.population[-1] == 131


@pytest.mark.quick
def test_births_stop_at_the_limit_and_deaths_with_the_last() -> None:
    grown = simulation(**{**FLOCK, "life__deaths_per_s": 0, "life__most": 350})
    grown.step(STEPS)
    assert grown.agents.count == 350
    died_out = simulation(**{**FLOCK, "life__births_per_s": 0, "life__deaths_per_s": 30_000})
    died_out.step(STEPS)
    assert died_out.agents.count == 0 and died_out.population[0] == 0


@pytest.mark.quick
def test_the_population_swings_with_the_season() -> None:
    sim = simulation(**{**FLOCK, "life__births_per_s": 240, "life__deaths_per_s": 240, "life__season_s": 1})
    sim.step(120)
    swing = sim.population - 300
    assert swing[29] == 120 and swing[59] == 0 and swing[89] == 120 and swing[119] == 0
    assert swing.max() == 120 and swing.min() >= -2  # both counts are rounded down


@pytest.mark.quick
def test_the_dead_are_drawn_by_lot_without_favour() -> None:
    sim = simulation(**{**FLOCK, "agents": 400})
    drawn = np.zeros(400, int)
    for sim.tick in range(400):
        dead = who_dies(sim, 40)
        assert len(np.unique(dead)) == 40
        drawn[dead] += 1
    assert drawn.sum() == 16_000 and drawn.min() >= 15 and drawn.max() <= 70  # 40 each, give or take four deviations
    assert sorted(who_dies(sim, 1000).tolist()) == list(range(400))


@pytest.mark.quick
def test_a_recycled_id_leads_another_life() -> None:
    sim = simulation(**{**FLOCK, "life__births_per_s": 0, "life__deaths_per_s": 0, "agents": 50})
    before = sim.agents.by_id()
    sim.agents.remove(np.arange(50))
    sim.add_agents(np.arange(50, dtype=np.int32), seed=77)
    after = sim.agents.by_id()
    assert np.array_equal(after.id, before.id) and not (after.x == before.x).any()
    assert (sim.agents.handles.generations[:50] == 1).all()
