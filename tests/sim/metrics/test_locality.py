"""The locality score: the right counts, and it tells good order in memory from bad."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_locality as reference
from crowds import open_world, shuffle, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.config.loader import load_config
from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.sim.metrics.locality import MAX, Locality, empty_cache, locality, machine_cache_kb, touch

CACHE = {"cache__size_kb": 4, "cache__ways": 4, "cache__line_bytes": 64}
BIRDS = {"behaviour": "flock", "agents": 3000, **open_world(1200, 900), **CACHE}


@settings(max_examples=50, deadline=None)
@given(lines=st.lists(st.integers(0, 40), max_size=200), sets=st.integers(1, 5), ways=st.integers(1, 5))
def test_the_cache_forgets_the_least_recently_used_line_of_a_set(lines: list[int], sets: int, ways: int) -> None:
    tags = np.full((sets, ways), -1)
    assert sum(touch(tags, line) for line in lines) == reference.misses(lines, sets, ways)


@pytest.mark.parametrize("neighbours", ["none", "buckets", "sorted"])
@pytest.mark.parametrize("behaviour", list(BEHAVIOURS))
def test_the_whole_crowd_is_counted_as_it_reads(behaviour: str, neighbours: str) -> None:
    sim = simulation(behaviour=behaviour, agents=250, **open_world(300, 260),
                     optimizations__neighbours=neighbours, cache__size_kb=1, cache__ways=2)
    sim.step(3)
    got = locality(sim, sample=250)
    reads = reference.reads_of(sim.structure.candidates())
    names = {"crowd": ("x", "y"), "flock": ("x", "y", "vx", "vy"), "crates": ("x", "y", "half"),
             "hunt": ("x", "y", "vx", "vy", "kind")}.get(behaviour, sim.behaviour.observed)
    rows = [sim.agents.names.index(name) * sim.agents.front.shape[1] for name in names]
    lines = [(row + slot) // 16 for slot in reads for row in rows]
    assert got == Locality(reference.same_or_next_line(reads, 16), reference.misses(lines, 8, 2) / len(lines), len(reads))


@pytest.mark.parametrize("neighbours", ["z_grid", "kd_tree", "aabb_tree"])
def test_reads_of_runs_are_counted_as_they_come(neighbours: str) -> None:
    sim = simulation(agents=250, behaviour="flock", **open_world(300, 260),
                     optimizations__neighbours=neighbours, optimizations__leaf_size=8, cache__size_kb=1, cache__ways=2)
    sim.step(3)
    got = locality(sim, sample=250)
    runs: Any = sim.structure.candidates()
    reads = [int(slot) for group in range(runs.groups[0]) for _ in range(runs.start[group], runs.start[group + 1])
             for run in range(runs.count[group]) for slot in runs.order[runs.first[group, run]:runs.last[group, run]]]
    assert (got.same_or_next_line, got.reads) == (reference.same_or_next_line(reads, 16), len(reads))


def test_lists_are_read_as_buckets_are() -> None:
    scores = []
    for neighbours in ("linked", "buckets"):
        sim = simulation(optimizations__neighbours=neighbours, **BIRDS)
        sim.step(2)
        shuffle(sim, 1)
        scores.append(locality(sim, 3000))
    assert scores[0] == scores[1]


def test_a_sample_is_a_part_of_all_reads_wherever_agents_are() -> None:
    sim = simulation(**BIRDS)
    sim.step()
    every, some = locality(sim, 3000), locality(sim, 256)
    assert some.reads == pytest.approx(every.reads * 256 / 3000, rel=0.5)
    assert abs(some.same_or_next_line - every.same_or_next_line) < 0.05
    assert locality(sim, 256) == some


def test_a_crowd_on_one_point_does_not_hold_up_the_frame() -> None:
    sim = simulation(agents=2000, spawn__pattern="point", map="null")
    assert locality(sim).reads == MAX


@pytest.mark.parametrize("agents", [0, 1, 5])
def test_hardly_anybody_scores_too(agents: int) -> None:
    sim = simulation(agents=agents, **open_world(60, 60))
    got = locality(sim)
    assert got.reads == agents * agents
    assert 0 <= got.same_or_next_line < 1
    assert got.miss_rate <= 1


def test_the_cache_has_the_size_that_was_asked_for() -> None:
    def shape(**cache: Any) -> tuple[int, ...]:
        return empty_cache(load_config("1k", [f"cache.{key}={value}" for key, value in cache.items()]).cache).shape

    assert shape(size_kb=32) == (64, 8)
    assert shape(size_kb=48, ways=12, line_bytes=128) == (32, 12)
    assert shape(size_kb=1, ways=64, line_bytes=256) == (1, 64)
    assert machine_cache_kb() >= 1
    assert shape() == (machine_cache_kb() * 1024 // 512, 8)


@pytest.mark.parametrize("neighbours", ["z_grid", "kd_tree", "aabb_tree"])
def test_the_score_does_not_depend_on_whose_turn_it_is(neighbours: str) -> None:
    sim = simulation(**BIRDS, optimizations__neighbours=neighbours, optimizations__stagger__avoidance=8)
    sim.step(20)
    reads = locality(sim, 10**6).reads
    sim.optimizations.stagger.avoidance = 1
    assert reads == locality(sim, 10**6).reads > 20 * sim.agents.count
