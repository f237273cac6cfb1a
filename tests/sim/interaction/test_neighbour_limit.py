"""The neighbour limit keeps the agents that it should, in any order in memory, and the bias meter shows what that costs."""

from typing import Any

import numpy as np
import pytest
import reference_limits as reference
from crowds import open_world, refresh_rules, shuffle, simulation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowd_demo.compute.jit import run
from crowd_demo.sim.metrics.avoidance_error import EXACT, FRESH, bias, pushes

ROOM = open_world(300, 220)
examples = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def limited(behaviour: str, limit: str, agents: int, **more: Any) -> Any:
    return simulation(agents=agents, behaviour=behaviour, optimizations__neighbour_limit=limit, **ROOM, **more)


def distances(sim: Any) -> tuple[Any, Any]:
    return np.float32(sim.behaviour.needs.radius), np.float32(sim.behaviour.needs.contact)


def kept_by(sim: Any, columns: Any) -> list[list[int]]:
    limits, agents = sim.interaction.limits(sim), range(len(columns.x))
    if limits.nearest:
        return [reference.nearest_kept(columns, i, limits.neighbours, *distances(sim)) for i in agents]
    return [reference.first_kept(columns, sim.grid, i, limits.scanned, limits.neighbours, *distances(sim))
            for i in agents]


@pytest.mark.parametrize("behaviour, avoidance", [("flock", "push"), ("crowd", "push"), ("crowd", "anticipate"),
                                                  ("crowd", "slow_down"), ("crates", "push")])
@pytest.mark.parametrize("limit", ["first", "nearest"])
@examples
@given(n=st.integers(0, 90), scanned=st.integers(0, 30), neighbours=st.integers(0, 12), seed=st.integers(0, 99),
       lattice=st.booleans())
def test_an_agent_meets_whom_the_limit_leaves_it(behaviour: str, avoidance: str, limit: str, n: int, scanned: int,
                                               neighbours: int, seed: int, lattice: bool) -> None:
    sim = limited(behaviour, limit, n, optimizations__stagger__avoidance=1, optimizations__avoidance=avoidance,
                 **{f"{behaviour}__limit_scanned": scanned, f"{behaviour}__limit_kept": neighbours})
    c = sim.agents.columns
    c.x[:n], c.y[:n] = np.random.default_rng(seed).uniform(0, 120, (2, n))
    if lattice:  # many equally near
        c.x[:n], c.y[:n] = np.round(c.x[:n] / 12) * 12, np.round(c.y[:n] / 12) * 12
    if behaviour == "crowd":
        rng = np.random.default_rng(seed)
        c.state[:n], (c.vx[:n], c.vy[:n]), c.heading_x[:n] = rng.integers(0, 3, n), rng.uniform(-60, 60, (2, n)), 1
    shuffle(sim, seed)
    before, rules = sim.agents.by_id(), refresh_rules(sim)
    run(sim.reindexing())
    got, every = pushes(sim, sim.agents.slots(), FRESH, EXACT)
    kept = kept_by(sim, before)
    for i in range(n):
        assert (got[0, i], got[1, i]) == reference.push_of(before, i, kept[i], rules, behaviour)
        all_of_them = reference.nearest_kept(before, i, n, *distances(sim))
        assert (every[0, i], every[1, i]) == reference.push_of(before, i, all_of_them, rules, behaviour)


@pytest.mark.parametrize("limit", ["first", "nearest"])
@pytest.mark.parametrize("behaviour", ["flock", "crowd", "crates"])
def test_order_in_memory_workers_structure_and_lanes_change_nothing(behaviour: str, limit: str) -> None:
    hashes = set()
    for switches in ({}, {"reorder__when": "off"}, {"reorder__every": 3, "threads": 3}, {"simd": "false"},
                     {"neighbours": "none", "cull": "off"}, {"neighbours": "kd_tree"}):
        sim = limited(behaviour, limit, 400, **{f"optimizations__{key}": value for key, value in switches.items()})
        sim.step(15)
        shuffle(sim, 1)
        sim.step(15)
        hashes.add(sim.state_hash())
    assert len(hashes) == 1


def test_hits_and_counts() -> None:
    sim = limited("flock", "first", 200, spawn__pattern="point", optimizations__stagger__avoidance=1)
    sim.step()
    counters = dict(sim.profile.counters)
    assert counters["limit_hits"] == 200
    assert counters["scanned_max"] == counters["candidates_per_agent"] == 10
    assert counters["found_max"] == counters["found_mean"] == counters["neighbours_per_agent"] == 10
    sim.optimizations.neighbour_limit = "nearest"
    sim.step()
    assert sim.profile.counters["found_max"] > sim.profile.counters["neighbours_per_agent"]
    sim.optimizations.neighbour_limit = "none"
    sim.step()
    assert "limit_hits" not in sim.profile.counters


@pytest.mark.parametrize("limit", ["none", "first", "nearest"])
def test_bias_is_the_mean_direction_to_the_kept_and_to_all(limit: str) -> None:
    sim = limited("flock", limit, 150, flock__limit_kept=3)
    got = bias(sim)
    columns = sim.agents.by_id()
    every = [reference.nearest_kept(columns, i, 150, *distances(sim)) for i in range(150)]
    kept = every if limit == "none" else kept_by(sim, columns)
    some = [i for i in range(150) if every[i]]
    assert got.agents == len(some) > 0
    assert got.all == pytest.approx(np.mean([reference.mean_direction(columns, i, every[i]) for i in some], axis=0))
    assert got.kept == pytest.approx(np.mean([reference.mean_direction(columns, i, kept[i]) for i in some], axis=0))
