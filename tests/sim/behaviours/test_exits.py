"""Exits: people leave there and others come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_people
from crowds import F, follow_walls, open_world, refresh_rules, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.compute.jit import run
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.extras.ensemble.measures import Whereabouts, densest
from crowd_demo.sim.behaviours.destinations import ExchangePeople
from crowd_demo.sim.behaviours.people_rules import WAITING, WALKING
from crowd_demo.sim.simulation import Simulation


def small(**more: Any) -> Simulation:
    return simulation(**{"agents": 200, **open_world(900, 700), "crowd__destinations": 4, "crowd__exits": 2,
                         "crowd__wait_s": 2, **more})


def arrived() -> Simulation:
    """A crowd in which all have just arrived, half of them at an exit."""
    sim = small()
    sim.step(1)
    c: Any = sim.agents.columns
    c.state[:200], c.timer[:200], c.goal[:200] = WAITING, 1, np.arange(200) % 4
    return sim


def stage_of(sim: Simulation) -> Any:
    return next(stage for stage in sim.stages if isinstance(stage, ExchangePeople))


def columns_of(sim: Simulation) -> dict[str, Any]:
    return dict(zip(sim.agents.names, (column.copy() for column in sim.agents.by_id()), strict=True))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 9999), agents=st.integers(0, 60), exits=st.integers(1, 5), destinations=st.integers(1, 5))
def test_who_comes_in_is_whom_the_oracle_says(seed: int, agents: int, exits: int, destinations: int) -> None:
    sim = small(agents=agents, seed=seed, crowd__exits=exits, crowd__destinations=destinations,
                crowd__speed_draws=1 + seed % 5)
    rng = np.random.default_rng(seed)
    c: Any = sim.agents.columns
    for column, row in rng.integers(0, 14, (25, 2)):
        sim.set_walls((int(column), int(row), int(column) + 1, int(row) + 1), True)
    c.state[:agents], c.timer[:agents] = rng.integers(0, 4, agents), rng.integers(0, 2, agents)
    for values in (c.vx, c.vy, c.avoidance_x, c.avoidance_y, c.heading_x, c.heading_y):
        values[:agents] = rng.uniform(-3, 3, agents)
    sim.tick = int(rng.integers(1, 99))
    if seed % 3:  # else walls stand in areas, as in the steps after an edit
        follow_walls(sim)
    refresh_rules(sim)
    want, stage = columns_of(sim), stage_of(sim)
    run(stage.launches(sim))
    places = stage.areas.columns
    reference_people.people_exchanged(want, stage.rules(sim.tick), places, sim.ground, sim.terrain.walls)
    for name, column in columns_of(sim).items():
        assert np.array_equal(column, want[name]), name


def test_people_leave_and_others_come_and_the_crowd_stays_as_it_is() -> None:
    sim = small()
    born, changed = columns_of(sim), np.zeros(200, bool)
    for _ in range(3000):
        before: Any = sim.agents.by_id()
        sim.step()
        now: Any = sim.agents.by_id()
        new = now.speed != before.speed
        changed |= new
        assert (before.goal[new] < 2).all() and (before.state[new] == WAITING).all() and (now.state[new] == WALKING).all()
    assert np.array_equal(now.id, born["id"]) and changed.mean() > 0.5
    low, high = sim.config.crowd.speed_min, sim.config.crowd.speed_max
    assert ((now.speed >= F(low)) & (now.speed <= F(high))).all()
    assert abs(now.speed.mean() - born["speed"].mean()) < 2 and abs(now.speed.std() - born["speed"].std()) < 1.5


def test_the_scenario_of_a_station_has_people_going_out_and_coming_in() -> None:
    sim = simulation("station")
    sim.step(600)
    before: Any = sim.agents.by_id()
    sim.step(900)
    after: Any = sim.agents.by_id()
    assert (before.speed != after.speed).mean() > 0.05
    assert densest(sim) <= 16  # nobody is piled up where people come in


@pytest.mark.quick
def test_who_comes_in_is_no_agent_who_has_gone_so_far() -> None:
    """For measures, such as how many cross a line."""
    sim = arrived()
    before = Whereabouts(sim)
    sim.step()
    then, now = Whereabouts(sim).same_since(before)
    assert len(then) == len(now) == 100 and (before.columns.goal[then] >= 2).all()  # type: ignore[attr-defined]


@pytest.mark.quick
def test_without_exits_or_without_their_areas_nobody_leaves() -> None:
    assert not stage_of(small(crowd__exits=0)).wanted(small())
    sim = small()
    sim.step(1)
    c: Any = sim.agents.columns
    c.state[:200], c.timer[:200], c.goal[:200] = WAITING, 1, 0
    runs = sim.terrain.runs_of(stage_of(sim).areas.ways.owner >= 0)
    sim.paint_walls(runs, True)
    follow_walls(sim)
    refresh_rules(sim)
    kept = columns_of(sim)
    assert len(kept["id"]) > 100
    run(stage_of(sim).launches(sim))
    assert all(np.array_equal(column, kept[name]) for name, column in columns_of(sim).items())


@pytest.mark.quick
@pytest.mark.parametrize("other", ["room", "wait_s"])
def test_exits_need_areas_and_a_pause(other: str) -> None:
    with pytest.raises(ConfigError, match=f"exits need a {other} above 0"):
        load_config("1k", ["crowd.exits=1", f"crowd.{other}=0"])
