"""The invariant: one configuration and one seed give one state hash, whatever exact technique is switched on.

Not the full product of all techniques, but a covering array (covering.py): in some row every value of each meets every value
of each other. Each kind of crowd runs through all rows, some kinds daily, all with `-m slow`. It is compared with the slow
way after each of them.
"""

import itertools
import json
from typing import Any

import numpy as np
import pins
import pytest
from covering import covering_rows
from crowds import BIRTHS_AND_DEATHS, CROWD, CROWDS, FLOCK, ROPE, SOME_FORCES, Settings, open_world, put, shuffle, simulation

from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.registry.entries import EXACT as EXACT_KIND
from crowd_demo.registry.techniques import STRUCTURES, TECHNIQUES
from crowd_demo.sim.simulation import Simulation

STEPS = 40
STEPS_A_ROW = 3  # so that everybody looks once: the period of staggering
SLOW: Settings = {"optimizations__neighbours": "none", "optimizations__simd": "false", "optimizations__threads": 1}

EXACT: dict[str, tuple[Any, ...]] = {
    technique.path: tuple(choice for choice in technique.choices if choice not in technique.approximate_values)
    for technique in TECHNIQUES if technique.kind is EXACT_KIND}
MORE = {"threads": (3, 5), "rebuild": (3, 1000), "cell_size": (7, 33, 4096), "reorder.every": (2, 5, 7),
        "reorder.drift": (0.01, 0.05)}
VALUES = {path: (*choices, *MORE.get(path, ())) for path, choices in EXACT.items() if path != "neighbour_limit"}

# A technique that only matters with one value of another one is a part of that value: else few rows would have both.
PARTS = {"neighbours": {"sorted": ("curve",)}, "reorder.when": {"every": ("reorder.every",), "drift": ("reorder.drift",)}}


def switches_of(path: str) -> list[Settings]:
    """The values of a technique, each with those of its parts: what is switched together."""
    found: list[Settings] = []
    for value in VALUES[path]:
        parts = PARTS.get(path, {}).get(value, ())
        found += [{path: value, part: choice} for part in parts for choice in VALUES[part]] or [{path: value}]
    return found


def rows() -> list[Settings]:
    """Rows with a value of each exact technique, but for parts that do not matter in it."""
    parts = {part for values in PARTS.values() for paths in values.values() for part in paths}
    array = covering_rows({path: switches_of(path) for path in VALUES if path not in parts})
    return [{path: value for switches in row.values() for path, value in switches.items()} for row in array]


ROWS = rows()

LIVING: Settings = {**BIRTHS_AND_DEATHS, "life__deaths_per_s": 500}
CHANGES: dict[str, Settings] = {
    "plain": {}, "births and deaths": LIVING, "limited to the nearest": {"optimizations__neighbour_limit": "nearest"},
    "ropes": {"links__pattern": "rope", "links__length": 7, "links__wind": 50}, "forces": {}}
DYING: Settings = {"life__deaths_per_s": 120, "life__births_per_s": 120}
PEOPLE: Settings = {**CROWD, "agents": 300}
KINDS: dict[str, Settings] = {
    **{f"{name}, {change}": {**crowd, "agents": 200, **settings}
       for name, crowd in CROWDS.items() for change, settings in CHANGES.items()
       if change != "limited to the nearest" or "nearest" not in name},  # who gathers the nearest has a limit of its own
    **{f"{pattern}, dying": {**ROPE, **DYING, "name": pattern} for pattern in ("rope", "cloth", "column")},
    "push with contact": {**PEOPLE, "optimizations__avoidance": "push", "optimizations__overlap_passes": 2},
    "anticipate without contact": {**PEOPLE, "optimizations__avoidance": "anticipate", "optimizations__overlap_passes": 0},
    "slow down": {**PEOPLE, "optimizations__avoidance": "slow_down"},
    "queues": {**PEOPLE, "optimizations__avoidance": "anticipate", "optimizations__overlap_passes": 3,
               "crowd__area_per_person": 9000},
    "exits": {"name": "1k", "agents": 300, **open_world(900, 700), "crowd__destinations": 4, "crowd__exits": 2,
              "optimizations__overlap_passes": 2, "crowd__speed_min": 150, "crowd__speed_max": 300},
    "around crowds": {"name": "1k", "agents": 500, "map": "maze", "crowd__detour": 9, "crowd__detour_s": 0.1}}


def run(crowd: Settings, steps: int = STEPS, **switches: Any) -> Simulation:
    options = {f"optimizations__{key}": value for key, value in switches.items()}
    return simulation(**{**crowd, **options}, steps=steps)


EVERY_DAY = {f"{name}, {change}" for number, name in enumerate(CROWDS) for change in ("plain", [*CHANGES][1 + number % 4])}


@pytest.mark.parametrize("kind", [
    pytest.param(kind, marks=pytest.mark.slow) if kind.partition(", ")[0] in CROWDS and kind not in EVERY_DAY else kind
    for kind in KINDS])
def test_every_pair_of_values_gives_one_crowd(kind: str) -> None:
    """Hash by hash: all techniques are switched every few steps, beside brute force one agent at a time."""
    slow, sim = (simulation(**{**KINDS[kind], **changes}) for changes in (SLOW, {}))
    if kind.endswith("forces"):
        put(slow, SOME_FORCES)
        put(sim, SOME_FORCES)
    for row in ROWS:
        for path, value in row.items():
            sim.optimizations.set(path, value)
        for _ in range(STEPS_A_ROW):
            slow.step()
            sim.step()
        assert sim.state_hash() == slow.state_hash(), row


@pytest.mark.quick
def test_the_rows_have_every_pair_of_values_of_two_exact_techniques() -> None:
    for one, other in itertools.combinations(VALUES, 2):
        found = {(row[one], row[other]) for row in ROWS if one in row and other in row}
        assert found == possible_pairs(one, other), (one, other)


def possible_pairs(one: str, other: str) -> set[tuple[Any, Any]]:
    """All, but for those in which a part does not matter."""
    whole = {part: (path, value) for path, values in PARTS.items() for value, parts in values.items() for part in parts}
    owner, when = whole.get(one, (one, None))
    other_owner, other_when = whole.get(other, (other, None))
    if owner != other_owner:
        return set(itertools.product(VALUES[one], VALUES[other]))
    if other == owner:
        return {(value, when) for value in VALUES[one]}
    return {(other_when, value) for value in VALUES[other]} if one == owner else set()


@pytest.fixture(scope="module")
def plain(crowd: Settings) -> str:
    """The hash of the slow way: brute force, one agent at a time, one worker."""
    return run({**crowd, **SLOW}).state_hash()


@pytest.mark.parametrize("switches", [
    {"reorder__when": "off", "neighbours": "buckets"}, {"reorder__every": 1, "simd": "false"},
    {"reorder__every": 7, "curve": "morton"}, {"curve": "hilbert", "threads": 3}, {"reorder__when": "drift", "threads": 5},
    {"neighbours": "aabb_tree", "rebuild": 1000}, {"cell_size": 4000, "neighbours": "linked"}])
def test_memory_grows_old_or_is_sorted_often(crowd: Settings, plain: str, switches: dict[str, Any]) -> None:
    """Nothing is switched, so order in memory and boxes become as bad as they can."""
    assert run(crowd, **switches).state_hash() == plain


def test_any_order_in_memory(crowd: Settings, plain: str) -> None:
    sim = run(crowd, steps=STEPS // 2)
    shuffle(sim, 3)
    sim.step(STEPS - STEPS // 2)
    assert sim.state_hash() == plain


def test_field_is_one_crowd_too(crowd: Settings, plain: str) -> None:
    """Approximate for a flock, but the same approximation whatever the exact techniques do; for walkers it is exact."""
    flock = crowd is FLOCK
    ways: list[Settings] = [{"simd": "false", "threads": 1}, {"simd": "true", "threads": 3}, {"reorder__when": "off"},
                            {"reorder__every": 1}]
    hashes = {run(crowd, neighbours="field", **way).state_hash() for way in ways}
    assert len(hashes) == 1 and (hashes == {plain}) != flock


@pytest.mark.parametrize("behaviour", ["crowd", "flock"])
def test_workers_that_share_a_crowded_cell(behaviour: str) -> None:
    pile: Settings = {"name": "1k", "behaviour": behaviour, "agents": 500, **open_world(900, 700), "spawn__pattern": "point"}
    ways: list[Settings] = [{"neighbours": "none", "simd": "false", "threads": 1},
                            *({"simd": simd, "threads": threads, "reorder__every": 3} for simd in ("true", "false")
                              for threads in (1, 2, 3))]
    assert len({run(pile, steps=10, **way).state_hash() for way in ways}) == 1


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


@pytest.mark.parametrize("case", covering_rows({
    "behaviour": list(BEHAVIOURS), "agents": [0, 1, 2, 333], "spawn__pattern": ["uniform", "clump", "point"],
    "optimizations__neighbours": list(STRUCTURES), "optimizations__simd": ["false", "true"]}),
    ids=lambda case: "-".join(map(str, case.values())))
def test_degenerate_crowds_stay_sound(case: Settings) -> None:
    assert_sound(simulation("1k", **case, **open_world(300, 200), steps=30))


EVERYBODY = tuple(BEHAVIOURS)


@pytest.mark.parametrize(("behaviour", "settings"), [
    pytest.param(behaviour, settings, id=f"{name}-{behaviour}") for name, behaviours, settings in (
        ("tiny", EVERYBODY, {"world__width": 3, "world__height": 2}),
        ("thin", EVERYBODY, {"world__width": 0.5, "world__height": 60000}),
        ("no radius", ("crowd", "flock"), {"crowd__radius": 0, "flock__sight": 0, "flock__separation": 0, "flock__roost": 1,
                                           "flock__roost_radius": 0}),
        ("no fear", ("hunt",), {"hunt__sight": 0, "hunt__separation": 0, "hunt__fear": 0, "hunt__predator_sight": 0}),
        ("no speed", ("crowd", "flock"), {"crowd__speed_min": 0, "crowd__speed_max": 0, "flock__speed_min": 0,
                                          "flock__speed_max": 0}),
        ("fast", ("crowd", "flock", "crates"), {"crowd__speed_max": 10000, "crowd__max_speed_factor": 10,
                                                "flock__speed_max": 10000, "crates__speed_max": 10000}),
        ("strong", EVERYBODY, {"crowd__avoid_weight": 100, "flock__separate": 10000, "flock__border": 100000,
                               "crates__repulsion": 1000, "hunt__flee": 10000}),
        ("huge", ("crates",), {"crates__half_min": 1024, "crates__half_max": 1024, "crates__gap": 1024}),
        ("minute", ("crates",), {"crates__half_min": 0.1, "crates__half_max": 0.1, "crates__gap": 0, "crates__rarity": 0}))
    for behaviour in behaviours])
def test_degenerate_worlds_and_rules_stay_sound(behaviour: str, settings: Settings) -> None:
    sim = simulation("1k", **{"behaviour": behaviour, "agents": 200, **open_world(300, 200), **settings}, steps=30)
    assert_sound(sim)


def assert_sound(sim: Simulation) -> None:
    columns = sim.agents.by_id()
    assert np.array_equal(columns.id, np.arange(sim.config.agents))
    for column in columns:
        assert np.isfinite(column).all()
    assert ((columns.x >= 0) & (columns.x < sim.terrain.walls.width)).all()
    assert ((columns.y >= 0) & (columns.y < sim.terrain.walls.height)).all()


# --- no change changes the crowd, or the work that a step does, unnoticed: tests/pins.json holds both ----------------

PINNED = json.loads(pins.FILE.read_text("utf-8"))
named = [pytest.param(name, marks=pytest.mark.slow if pins.is_large(name) else pytest.mark.quick) for name in pins.cases()]


@pytest.mark.parametrize("name", named)
def test_hash_and_counters_are_those_that_were_pinned(name: str) -> None:
    assert pins.measure(name) == PINNED[name]


@pytest.mark.quick
def test_nothing_else_is_pinned() -> None:
    assert set(PINNED) == set(pins.cases())
