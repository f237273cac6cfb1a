"""The invariant: one configuration and one seed give one state hash, whatever exact technique is switched on."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from crowds import CROWD, FLOCK, Settings, open_world, shuffle, simulation

from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.registry.entries import EXACT as EXACT_KIND
from crowd_demo.registry.techniques import BY_PATH, STRUCTURES, TECHNIQUES, kind_of
from crowd_demo.sim.simulation import Simulation

STEPS = 40
EXACT = [name for name in STRUCTURES if kind_of(BY_PATH["neighbours"], name) is EXACT_KIND]


def run(crowd: Settings, steps: int = STEPS, **switches: Any) -> Simulation:
    options = {f"optimizations__{key}": value for key, value in switches.items()}
    sim = simulation(**crowd, **options)
    sim.step(steps)
    return sim


@pytest.fixture(scope="module")
def plain(crowd: Settings) -> str:
    """The hash of the slow way: brute force, one agent at a time, one worker."""
    return run(crowd, neighbours="none", simd="false", threads=1).state_hash()


@pytest.mark.parametrize("neighbours, simd, threads", [
    *itertools.product(EXACT, ["true", "false"], [1, 2, 5])])
def test_structure_lanes_and_workers(crowd: Settings, plain: str, neighbours: str, simd: str, threads: int) -> None:
    assert run(crowd, neighbours=neighbours, simd=simd, threads=threads).state_hash() == plain


@pytest.mark.parametrize("switches", [{"reorder__when": "off"}, {"reorder__every": 1}, {"reorder__every": 7},
                                      {"curve": "morton", "reorder__every": 7}, {"curve": "hilbert", "threads": 3},
                                      {"reorder__when": "drift"}, {"reorder__when": "drift", "reorder__drift": 0.05},
                                      {"neighbours": "aabb_tree", "rebuild": 7}, {"neighbours": "aabb_tree", "rebuild": 1000},
                                      {"cell_size": 10}, {"cell_size": 64}, {"cell_size": 4000}, {"cull": "off"}])
def test_cadence_and_cells(crowd: Settings, plain: str, switches: dict[str, Any]) -> None:
    assert run(crowd, **switches).state_hash() == plain


def test_any_order_in_memory(crowd: Settings, plain: str) -> None:
    sim = run(crowd, steps=STEPS // 2)
    shuffle(sim, 3)
    sim.step(STEPS - STEPS // 2)
    assert sim.state_hash() == plain


SWITCHES: dict[str, tuple[Any, ...]] = {
    technique.path: tuple(choice for choice in technique.choices if choice not in technique.approximate_values)
    for technique in TECHNIQUES if technique.kind is EXACT_KIND}
MORE = {"threads": (3,), "rebuild": (3, 1000), "cell_size": (7, 33, 4096), "reorder.every": (2, 5), "reorder.drift": (0.01,)}


@pytest.mark.parametrize("path", SWITCHES)
def test_every_choice_of_every_exact_technique(crowd: Settings, plain: str, path: str) -> None:
    """Of the registry, whatever it holds: another choice in each step."""
    sim, choices = simulation(**crowd), SWITCHES[path]
    for step in range(STEPS):
        sim.optimizations.set(path, choices[step % len(choices)])
        sim.step()
    assert sim.state_hash() == plain


@pytest.mark.parametrize("more", [{}, {"life__births_per_s": 900, "life__deaths_per_s": 800, "life__causes": 2},
                                  {"links__pattern": "rope", "links__length": 7, "links__wind": 50},
                                  {"neighbour_limit": "nearest"}],
                         ids=["plain", "births and deaths", "ropes", "capped"])
def test_switching_anything_while_it_runs(crowd: Settings, more: dict[str, Any]) -> None:
    """Hash by hash: every switch at random, several a step, against brute force one agent at a time."""
    more = {f"optimizations__{name}" if name == "neighbour_limit" else name: value for name, value in more.items()}
    variants: tuple[Settings, ...] = (
        {"optimizations__neighbours": "none", "optimizations__simd": "false", "optimizations__threads": 1}, {})
    slow, sim = (simulation(**{**crowd, "agents": 200, **more, **changes}) for changes in variants)
    chance = np.random.default_rng(5)
    for _ in range(STEPS):
        for path, choices in SWITCHES.items():
            values = choices + MORE.get(path, ())
            if path != "neighbour_limit" and chance.random() < 0.3:
                sim.optimizations.set(path, values[chance.integers(len(values))])
        slow.step()
        sim.step()
        assert sim.state_hash() == slow.state_hash(), sim.optimizations


def test_field_is_one_crowd_too(crowd: Settings, plain: str) -> None:
    """Approximate for a flock, but the same approximation whatever the exact techniques do; for walkers it is exact."""
    flock = crowd is FLOCK
    ways: list[Settings] = [{"simd": "false", "threads": 1}, {"simd": "true", "threads": 3}, {"reorder__when": "off"},
                            {"reorder__every": 1}]
    hashes = {run(crowd, neighbours="field", **way).state_hash() for way in ways}
    assert len(hashes) == 1 and (hashes == {plain}) != flock


@pytest.mark.parametrize("behaviour", [{"name": "1k", "optimizations__contact": 2}, {"name": "1k", "behaviour": "flock"}],
                         ids=["people", "birds"])
def test_workers_that_share_a_crowded_cell(behaviour: dict[str, Any]) -> None:
    pile: Settings = {"agents": 500, **open_world(900, 700), **behaviour, "spawn__pattern": "point"}
    ways: list[Settings] = [{"neighbours": "none", "simd": "false", "threads": 1},
                            *({"simd": simd, "threads": threads, "reorder__every": 3} for simd in ("true", "false")
                              for threads in (1, 2, 3))]
    assert len({run(pile, steps=10, **way).state_hash() for way in ways}) == 1


@pytest.mark.parametrize("avoidance, contact, place", [("push", 2, 400), ("anticipate", 0, 400), ("anticipate", 3, 9000)])
def test_every_model_of_people_is_one_crowd(avoidance: str, contact: int, place: float) -> None:
    """All other tests have the default, a push without contact; with large places there are queues."""
    model: Settings = {**CROWD, "optimizations__avoidance": avoidance, "optimizations__contact": contact,
                       "crowd__place": place}
    ways: list[Settings] = [
        {"neighbours": "none", "simd": "false", "threads": 1}, *({"neighbours": name, "threads": 2} for name in EXACT),
        {"neighbours": "kd_tree", "simd": "false"}, {"neighbours": "linked", "simd": "false"}, {"reorder__every": 3}]
    assert len({run(model, **way).state_hash() for way in ways}) == 1


def test_a_crowd_with_exits_is_one_crowd() -> None:
    """Who leaves and comes in jumps across the world: no index, and no pass of contact, may miss them."""
    model: Settings = {"name": "1k", "agents": 300, **open_world(900, 700), "crowd__destinations": 4, "crowd__exits": 2,
                       "optimizations__contact": 2, "crowd__speed_min": 150, "crowd__speed_max": 300,
                       "optimizations__reorder__when": "drift"}
    ways: list[Settings] = [
        {"neighbours": "none", "simd": "false", "threads": 1}, *({"neighbours": name, "threads": 2} for name in EXACT),
        {"neighbours": "kd_tree", "simd": "false"}, {"neighbours": "linked", "simd": "false", "reorder__every": 3},
        {"neighbours": "aabb_tree", "rebuild": 1000}]
    assert len({run(model, steps=240, **way).state_hash() for way in ways}) == 1


def test_a_crowd_that_goes_around_crowds_is_one_crowd() -> None:
    """Counts of people by tiles are no matter of order, and fields none of who makes them."""
    model: Settings = {"name": "1k", "agents": 2000, "map": "maze", "crowd__detour": 9, "crowd__detour_s": 0.1}
    ways: list[Settings] = [
        {"neighbours": "kd_tree", "simd": "false", "threads": 1}, *({"neighbours": name, "threads": 2} for name in EXACT[1:]),
        {"threads": 5, "reorder__every": 3}, {"reorder__when": "off"}]
    assert len({run(model, **way).state_hash() for way in ways}) == 1 and EXACT[0] == "none"


def test_two_simulations_do_not_touch_each_other(crowd: Settings, plain: str) -> None:
    one, other = simulation(**crowd), simulation(**{**crowd, "seed": 9})
    for _ in range(STEPS):
        one.step()
        other.step()
    assert one.state_hash() == plain != other.state_hash()


def test_hash_sees_every_column(crowd: Settings) -> None:
    sim = simulation(**crowd)
    before = sim.state_hash()
    for name, column in zip(sim.agents.names, sim.agents.columns, strict=True):
        kept = column[7]
        column[7] = column[7] + 1 if name != "id" else 10**6
        assert sim.state_hash() != before, name
        column[7] = kept
    assert sim.state_hash() == before


@pytest.mark.parametrize("neighbours", STRUCTURES)
@pytest.mark.parametrize("pattern", ["uniform", "clump", "point"])
@pytest.mark.parametrize("agents", [0, 1, 2, 333])
@pytest.mark.parametrize("behaviour", list(BEHAVIOURS))
def test_degenerate_crowds_stay_sound(behaviour: str, agents: int, pattern: str, neighbours: str) -> None:
    sim = simulation("1k", behaviour=behaviour, agents=agents, spawn__pattern=pattern, optimizations__neighbours=neighbours,
                     map="null", world__width=300, world__height=200)
    sim.step(30)
    assert_sound(sim)


@pytest.mark.parametrize("behaviour", list(BEHAVIOURS))
@pytest.mark.parametrize("settings", [
    {"world__width": 3, "world__height": 2}, {"world__width": 0.5, "world__height": 60000},
    {"crowd__radius": 0, "flock__sight": 0, "flock__separation": 0, "flock__roost": 1, "flock__roost_radius": 0},
    {"hunt__sight": 0, "hunt__separation": 0, "hunt__fear": 0, "hunt__predator_sight": 0},
    {"crowd__speed_min": 0, "crowd__speed_max": 0, "flock__speed_min": 0, "flock__speed_max": 0},
    {"crowd__speed_max": 10000, "crowd__cap": 10, "flock__speed_max": 10000, "crates__speed_max": 10000},
    {"crowd__push": 100, "flock__separate": 10000, "flock__border": 100000, "crates__push": 1000, "hunt__flee": 10000},
    {"crates__half_min": 1024, "crates__half_max": 1024, "crates__gap": 1024},
    {"crates__half_min": 0.1, "crates__half_max": 0.1, "crates__gap": 0, "crates__rarity": 0},
], ids=["tiny", "thin", "no radius", "no fear", "no speed", "fast", "strong", "huge", "minute"])
def test_degenerate_worlds_and_rules_stay_sound(behaviour: str, settings: dict[str, Any]) -> None:
    sim = simulation("1k", **{"behaviour": behaviour, "agents": 200, "map": "null", "world__width": 300,
                              "world__height": 200, **settings})
    sim.step(30)
    assert_sound(sim)


def assert_sound(sim: Simulation) -> None:
    columns = sim.agents.by_id()
    assert np.array_equal(columns.id, np.arange(sim.config.agents))
    for column in columns:
        assert np.isfinite(column).all()
    assert ((columns.x >= 0) & (columns.x < sim.terrain.walls.width)).all()
    assert ((columns.y >= 0) & (columns.y < sim.terrain.walls.height)).all()
