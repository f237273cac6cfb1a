"""Births and deaths: as many as the clock says, drawn by the seed, the same whatever the order in memory."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, simulation
from crowds import FLOCK as FIVE_HUNDRED

from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.model import Spawn
from crowd_demo.sim.edits import PaintWalls
from crowd_demo.sim.population.births_deaths import who_dies
from crowd_demo.sim.simulation import Simulation

STEPS = 30
FLOCK = {**FIVE_HUNDRED, **BIRTHS_AND_DEATHS, "agents": 300}


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


# --- where agents begin ----------------------------------------------------------------------------------------------

def test_an_area_holds_all_births_also_when_its_wall_is_gone() -> None:
    area = {"measure__areas__hall": "[26, 26, 468, 494]", "spawn__inside": "hall"}
    closed = simulation("doorway", **area)
    sim = Simulation(closed.config, (PaintWalls(tuple((row, 36, 38) for row in range(10, 30)), False),))
    x, y = sim.agents.by_id().x, sim.agents.by_id().y
    assert (x > 26).all() and (x < 468).all() and (y > 26).all() and (y < 494).all()
    config = closed.config.model_copy(update={"spawn": Spawn.model_validate({})})
    everywhere = Simulation(config, [action for _, action in sim.history])
    assert (everywhere.agents.by_id().x > 494).mean() > 0.2
    walls = PaintWalls(tuple((row, 0, 64) for row in range(2, 38)), True)  # the hall is full: anywhere else
    assert (Simulation(closed.config, (walls,)).agents.by_id().y < 26).any()


def test_an_area_that_there_is_not_is_one_line() -> None:
    with pytest.raises(ConfigError, match=r"spawn\.inside: measure\.areas has no 'hal' \(did you mean hall\?\)"):
        load_config("doorway", ["spawn.inside=hal"])
