"""Meters leave the crowd as it is, cost little in any crowd, and name the kernels that they call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, CRATES, CROWD, FLOCK, ROPE, Settings, simulation
from numba.core.dispatcher import Dispatcher

from crowd_demo.compute.jit import compile_launches
from crowd_demo.config.loader import load_config
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.registry.techniques import STRUCTURES
from crowd_demo.sim.metrics.avoidance_error import EXACT, FEW, KEPT, MEETS, SAMPLE, affordable, avoidance_error, spread
from crowd_demo.sim.metrics.readings import METERS, Readings, launches_to_compile
from crowd_demo.sim.simulation import Simulation

LIFE = {**FLOCK, **BIRTHS_AND_DEATHS}


def measured(sim: Simulation) -> dict[str, Any]:
    return {name: meter.measure(sim) for name, meter in METERS.items() if meter.applies(sim)}


def test_every_meter_has_its_reading() -> None:
    assert tuple(METERS) == Readings._fields


@pytest.mark.parametrize("config", [CROWD, FLOCK, CRATES, ROPE, LIFE],
                         ids=["crowd", "flock", "crates", "rope", "life"])
@pytest.mark.parametrize("switches", [
    {}, {"neighbour_limit": "first"}, {"neighbour_limit": "nearest", "neighbours": "kd_tree"}, {"neighbours": "field"},
    {"neighbours": "linked"}, {"neighbours": "aabb_tree", "rebuild": 5},
    {"neighbours": "z_grid", "simd": "false"}, {"curve": "morton", "reorder__every": 3},
    {"removal": "deferred", "neighbour_limit": "first"},
], ids=str)
def test_measuring_changes_nothing_now_or_later(config: Settings, switches: dict[str, Any]) -> None:
    sims = [simulation(**config, **{f"optimizations__{path}": value for path, value in switches.items()}) for _ in range(2)]
    for _ in range(6):
        for sim in sims:
            sim.step(2)
        counters = dict(sims[0].profile.counters)
        assert measured(sims[0])
        assert sims[0].state_hash() == sims[1].state_hash()
        assert sims[0].profile.counters == counters
    assert sims[0].profile.counters["candidates_per_agent"] == sims[1].profile.counters["candidates_per_agent"]


@pytest.mark.parametrize(("switches", "names"), [
    ({}, {"stagger", "ages", "locality"}),
    ({"stagger__avoidance": 1}, {"locality"}),
    ({"stagger__avoidance": 1, "neighbour_limit": "first"}, {"neighbour_limit", "bias", "locality"}),
    ({"stagger__avoidance": 1, "neighbours": "field"}, {"field", "locality"}),
    ({"stagger__avoidance": 1, "neighbours": "field", "neighbour_limit": "first"}, {"neighbour_limit", "bias", "locality"}),
])
def test_meters_apply_where_a_technique_is_approximate(switches: dict[str, Any], names: set[str]) -> None:
    sim = simulation(**FLOCK, **{f"optimizations__{path}": value for path, value in switches.items()})
    assert {name for name, meter in METERS.items() if meter.applies(sim)} == names


@pytest.mark.parametrize("limit", ["none", "first"])
@pytest.mark.parametrize("neighbours", STRUCTURES)
def test_no_meter_compiles_what_was_not_compiled_ahead(neighbours: str, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = load_config("20k-flock",
                         ["agents=300", f"optimizations.neighbours={neighbours}", f"optimizations.neighbour_limit={limit}"])
    compile_launches(KernelFinder(config).missing(config.optimizations))
    sim = Simulation(config)
    assert list(launches_to_compile(sim))
    sim.step()
    monkeypatch.setattr(Dispatcher, "compile", lambda kernel, signature: pytest.fail(f"{kernel} is compiled"))
    measured(sim)


@pytest.mark.parametrize("settings", [
    {}, {"optimizations__neighbour_limit": "first"}, {"optimizations__neighbours": "none"},
    {"optimizations__neighbours": "aabb_tree"}])
def test_a_crowd_on_one_point_is_sampled_sparsely(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowd_demo.sim.metrics.avoidance_error.MEETS", 20_000)
    sim = simulation("1k", agents=1000, map="null", spawn__pattern="point", **settings)
    avoidance_error(sim, KEPT, EXACT)
    assert 10_000 <= sim.interaction.candidates_met(sim) <= 20_000


@pytest.mark.parametrize(("met", "agents"), [(0, SAMPLE), (FEW, SAMPLE), (MEETS, FEW), (10 * MEETS * FEW, 1)])
def test_so_many_agents_are_asked_as_may_meet_others(met: int, agents: int) -> None:
    assert affordable(lambda few: met) == agents


def test_samples_are_spread_evenly_and_are_everybody_in_a_small_crowd() -> None:
    assert spread(5, 9).tolist() == [0, 1, 2, 3, 4] and spread(0, 9).tolist() == []
    assert spread(100, 4).tolist() == [0, 25, 50, 75]
    for period in range(2, 17):  # of turns by id
        shares = np.bincount(spread(1 << 20, SAMPLE) % period) / SAMPLE
        assert abs(shares * period - 1).max() < 0.1
