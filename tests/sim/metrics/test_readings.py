"""What meters read, and the fundamental diagram."""

from typing import Any

import numpy as np
import pytest
import reference_locality as reference
from crowds import BIRTHS_AND_DEATHS, CRATES, CROWD, FLOCK, ROPE, Settings, open_world, simulation
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.dispatcher import Dispatcher

from crowd_demo.compute.jit import compile_launches
from crowd_demo.config.loader import load_config
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.registry.techniques import STRUCTURES
from crowd_demo.sim.fundamental_diagram import SQUARE, around, free_ground, ground_around, weidmann
from crowd_demo.sim.metrics.avoidance_error import FEW, MEETS, SAMPLE, affordable, spread
from crowd_demo.sim.metrics.locality import MAX, Locality, locality, touch
from crowd_demo.sim.metrics.readings import METERS, Readings, launches_to_compile
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import Walls


def measured(sim: Simulation) -> dict[str, Any]:
    return {name: meter.measure(sim) for name, meter in METERS.items() if meter.applies(sim)}


def test_every_meter_has_its_reading() -> None:
    assert tuple(METERS) == Readings._fields


@pytest.mark.parametrize("config", [CROWD, FLOCK, CRATES, ROPE, {**FLOCK, **BIRTHS_AND_DEATHS}],
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


@pytest.mark.parametrize(("met", "agents"), [(0, SAMPLE), (FEW, SAMPLE), (MEETS, FEW), (10 * MEETS * FEW, 1)])
def test_so_many_agents_are_asked_as_may_meet_others(met: int, agents: int) -> None:
    assert affordable(lambda few: met) == agents


def test_samples_are_spread_evenly_and_are_everybody_in_a_small_crowd() -> None:
    assert spread(5, 9).tolist() == [0, 1, 2, 3, 4] and spread(0, 9).tolist() == []
    assert spread(100, 4).tolist() == [0, 25, 50, 75]
    for period in range(2, 17):  # of turns by id
        assert abs(np.bincount(spread(1 << 20, SAMPLE) % period) / SAMPLE * period - 1).max() < 0.1


# --- the locality score: the right counts, and it tells good order in memory from bad --------------------------------

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
                     optimizations__neighbours=neighbours, cache__size_kb=1, cache__ways=2, steps=3)
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
                     optimizations__neighbours=neighbours, optimizations__leaf_size=8, cache__size_kb=1, cache__ways=2,
                     steps=3)
    got = locality(sim, sample=250)
    runs: Any = sim.structure.candidates()
    reads = [int(slot) for group in range(runs.groups[0]) for _ in range(runs.start[group], runs.start[group + 1])
             for run in range(runs.count[group]) for slot in runs.order[runs.first[group, run]:runs.last[group, run]]]
    assert (got.same_or_next_line, got.reads) == (reference.same_or_next_line(reads, 16), len(reads))


def test_a_sample_is_a_part_of_all_reads_wherever_agents_are() -> None:
    sim = simulation(**BIRDS, steps=1)
    every, some = locality(sim, 3000), locality(sim, 256)
    assert some.reads == pytest.approx(every.reads * 256 / 3000, rel=0.5)
    assert abs(some.same_or_next_line - every.same_or_next_line) < 0.05
    assert locality(sim, 256) == some


def test_a_crowd_on_one_point_does_not_hold_up_the_frame() -> None:
    assert locality(simulation(agents=2000, spawn__pattern="point", map="null")).reads == MAX


@pytest.mark.parametrize("neighbours", ["z_grid", "kd_tree", "aabb_tree"])
def test_the_score_does_not_depend_on_whose_turn_it_is(neighbours: str) -> None:
    sim = simulation(**BIRDS, optimizations__neighbours=neighbours, optimizations__stagger__avoidance=8, steps=20)
    reads = locality(sim, 10**6).reads
    sim.optimizations.stagger.avoidance = 1
    assert reads == locality(sim, 10**6).reads > 20 * sim.agents.count


# --- Weidmann's curve, and the ground that people have around them, against slow loops -------------------------------

def walls_of(blocked: np.ndarray, tile: float, width: float, height: float) -> Walls:
    return Walls(blocked.astype(np.uint8), np.float32(tile), np.float32(1 / tile), np.float32(width), np.float32(height))


@pytest.mark.quick
def test_weidmanns_curve() -> None:
    """Numbers of his table: 1.06 m/s at one person per m², 0.61 at two, none at 5.4; and the greatest flow."""
    assert weidmann([0, 1, 2, 5.4, 6]).round(2).tolist() == [1.34, 1.06, 0.61, 0, 0]
    density = np.arange(0.1, 5.4, 0.01)
    flow = weidmann(density) * density
    assert flow.max() == pytest.approx(1.22, abs=0.01) and density[flow.argmax()] == pytest.approx(1.75, abs=0.02)


@given(rows=st.integers(1, 6), columns=st.integers(1, 6), seed=st.integers(0, 99), tile=st.sampled_from([16.0, 40.5, 64.0]),
       cut=st.floats(0, 0.9))
@pytest.mark.quick
def test_free_ground_is_what_tiles_without_walls_have_in_common_with_a_square(rows: int, columns: int, seed: int, tile: float,
                                                                              cut: float) -> None:
    """The last tiles of a world without a map reach beyond its edge; so do squares."""
    rng = np.random.default_rng(seed)
    blocked, width, height = rng.random((rows, columns)) < 0.4, (columns - cut) * tile, (rows - cut) * tile
    across, down = (np.sort(rng.uniform(-20, size + 20, 5)) for size in (width, height))
    found = free_ground(walls_of(blocked, tile, width, height), across, down)

    def common(low: float, high: float, number: int, size: float) -> float:
        return max(min(high, (number + 1) * tile, size) - max(low, number * tile), 0)

    expected = [[sum(common(down[i], down[i + 1], row, height) * common(across[k], across[k + 1], column, width)
                     for row, column in np.argwhere(~blocked)) for k in range(4)] for i in range(4)]
    assert np.allclose(found, expected, rtol=1e-5, atol=0.1)


@given(rows=st.integers(1, 5), columns=st.integers(1, 5), seed=st.integers(0, 99))
@pytest.mark.quick
def test_around_a_square_are_nine_or_as_many_as_there_are(rows: int, columns: int, seed: int) -> None:
    amounts = np.random.default_rng(seed).integers(0, 9, (rows, columns))
    expected = [[amounts[max(i - 1, 0):i + 2, max(k - 1, 0):k + 2].sum() for k in range(columns)] for i in range(rows)]
    assert around(amounts).tolist() == expected


@pytest.mark.quick
def test_ground_is_at_least_that_of_one_square() -> None:
    edges = np.linspace(0, 5 * SQUARE, 6)
    shut, opened = (walls_of(np.full((10, 10), blocked), 16, 160, 160) for blocked in (1, 0))
    assert (ground_around(shut, SQUARE, edges, edges) == SQUARE**2).all()
    assert ground_around(opened, SQUARE, edges, edges)[[0, 0, 2], [0, 2, 2]].tolist() == [
        4 * SQUARE**2, 6 * SQUARE**2, 9 * SQUARE**2]
