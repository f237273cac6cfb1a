"""What neighbours ask of an agent: scalar, lanes and brute force give the same bits, and the right ones."""

from typing import Any
from unittest import mock

import numpy as np
import pytest
import reference
import reference_flock
from crowds import F, neighbours_met, open_world, refresh_rules, run_through, shuffle, simulation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowd_demo.grid.cells import Cells
from crowd_demo.registry.techniques import STRUCTURES
from crowd_demo.sim.interaction.runs import HEAVY, LEAST_PART, blocks_of
from crowd_demo.sim.interaction.strips import BLOCK

ROOM = open_world(640, 400)
crowding = st.sampled_from(["loose", "dense", "one spot", "lattice"])
examples = settings(max_examples=16, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def scatter(sim: Any, kind: str, seed: int) -> None:
    """Place and speed agents at random."""
    n, rng, c = sim.agents.count, np.random.default_rng(seed), sim.agents.columns
    width, height = {"loose": (640, 400), "dense": (90, 60), "one spot": (0, 0), "lattice": (640, 400)}[kind]
    c.x[:n], c.y[:n] = rng.uniform(0, 1, n) * width, rng.uniform(0, 1, n) * height
    if kind == "lattice":  # many exact ties, also at the radius
        c.x[:n], c.y[:n] = np.round(c.x[:n] / 12) * 12, np.round(c.y[:n] / 12) * 12
    np.minimum(c.x[:n], np.nextafter(F(640), F(0)), out=c.x[:n])
    np.minimum(c.y[:n], np.nextafter(F(400), F(0)), out=c.y[:n])
    c.vx[:n], c.vy[:n] = rng.uniform(-120, 120, (2, n))
    if sim.config.behaviour == "crowd":
        angle = rng.uniform(0, 7, n)
        c.state[:n], c.heading_x[:n], c.heading_y[:n] = rng.integers(0, 3, n), np.cos(angle), np.sin(angle)
        c.vx[:n:3], c.vy[:n:3] = 0, 0  # some stand still


def pushes(sim: Any) -> tuple[Any, Any]:
    """Run a step as far as the stage interaction; what everybody was asked for, in id order."""
    run_through(sim, "interaction")
    columns = sim.agents.by_id()
    return columns.avoidance_x.copy(), columns.avoidance_y.copy()


def expected(sim: Any) -> tuple[Any, Any, Any]:
    columns: Any = sim.agents.by_id()
    rules = refresh_rules(sim)
    if sim.config.behaviour == "flock":
        return reference_flock.flock_push(columns.x, columns.y, columns.vx, columns.vy, rules)
    if sim.config.behaviour == "crates":
        return reference.crate_push(columns.x, columns.y, columns.half, rules)
    return reference.people_push(columns, rules)


@pytest.mark.parametrize("behaviour, avoidance", [("flock", "push"), ("crowd", "push"), ("crowd", "anticipate"),
                                                  ("crowd", "slow_down"), ("crates", "push")])
@pytest.mark.parametrize("simd", ["true", "false"])
@examples
@given(n=st.integers(0, 120), kind=crowding, seed=st.integers(0, 99),
       neighbours=st.sampled_from([name for name in STRUCTURES if name != "field"]),
       cell=st.sampled_from(["auto", "9", "17", "64", "500"]))
def test_every_path_equals_brute_force(behaviour: str, avoidance: str, simd: str, n: int, kind: str, seed: int,
                                       neighbours: str, cell: str) -> None:
    sim = simulation(agents=n, behaviour=behaviour, optimizations__avoidance=avoidance, optimizations__simd=simd,
                     optimizations__neighbours=neighbours,
                     optimizations__cell_size=cell, optimizations__stagger__avoidance=1, crowd__pass_by=seed % 3 / 2, **ROOM)
    scatter(sim, kind, seed)
    shuffle(sim, seed)
    want_x, want_y, neighbours_of = expected(sim)
    got_x, got_y = pushes(sim)
    assert np.array_equal(got_x, want_x)
    assert np.array_equal(got_y, want_y)
    assert neighbours_met(sim) == neighbours_of.sum()


FLOCKS: dict[str, dict[str, Any]] = {
    "as ever": {"separate_by": "offset", "blind": 0}, "all around": {"blind": 0}, "half blind": {"blind": 180},
    "offset": {"separate_by": "offset"}, "nearest": {"follow": "nearest"},
    "nearest by offset": {"follow": "nearest", "follow_nearest": 3, "separate_by": "offset", "blind": 0}}


@pytest.mark.parametrize("flock", [
    pytest.param(name, marks=pytest.mark.slow) if name in ("as ever", "all around", "offset") else name for name in FLOCKS])
@settings(examples, max_examples=12)
@given(n=st.integers(0, 120), kind=crowding, seed=st.integers(0, 99), simd=st.sampled_from(["true", "false"]),
       neighbours=st.sampled_from(["none", "sorted", "linked", "kd_tree"]))
def test_every_kind_of_flock_equals_brute_force(flock: str, n: int, kind: str, seed: int, simd: str, neighbours: str) -> None:
    sim = simulation(agents=n, behaviour="flock", optimizations__simd=simd, optimizations__neighbours=neighbours,
                     optimizations__stagger__avoidance=1, **ROOM, **{f"flock__{key}": value
                                                                     for key, value in FLOCKS[flock].items()})
    scatter(sim, kind, seed)
    shuffle(sim, seed)
    c: Any = sim.agents.by_id()
    seen = c.x, c.y, c.vx, c.vy, refresh_rules(sim)
    nearest = sim.config.flock.follow_nearest if sim.config.flock.follow == "nearest" else 0
    want_x, want_y, neighbours_of = (reference_flock.nearest_push(*seen, nearest) if nearest else
                                     reference_flock.flock_push(*seen))
    got_x, got_y = pushes(sim)
    assert np.array_equal(got_x, want_x)
    assert np.array_equal(got_y, want_y)
    assert neighbours_met(sim) == neighbours_of.sum()


@pytest.mark.parametrize("behaviour, flock", [("hunt", "as ever"), *(
    pytest.param("flock", kind, marks=pytest.mark.slow) for kind in ("offset", "half blind"))])
@settings(examples, max_examples=12)
@given(n=st.integers(0, 120), kind=crowding, seed=st.integers(0, 99), space=st.integers(1, 40),
       neighbours=st.sampled_from(["none", "sorted", "linked", "kd_tree", "field"]))
def test_sums_that_are_settled_often_are_the_same(behaviour: str, flock: str, n: int, kind: str, seed: int, space: int,
                                                  neighbours: str) -> None:
    """As where more stand together than a register can count; one agent alone never settles."""
    found = []
    for simd in ("true", "false"):
        with mock.patch("crowd_demo.sim.behaviours.flock.sum_capacity", lambda most: space):
            sim = simulation(agents=n, behaviour=behaviour, optimizations__simd=simd, optimizations__neighbours=neighbours,
                             optimizations__stagger__avoidance=1, **ROOM,
                             **{f"flock__{key}": value for key, value in FLOCKS[flock].items()})
            scatter(sim, kind, seed)
            found.append((*pushes(sim), neighbours_met(sim)))
    assert all(np.array_equal(in_lanes, alone) for in_lanes, alone in zip(*found, strict=True))


@pytest.mark.parametrize("behaviour, neighbours", [("flock", "sorted"), ("hunt", "linked")])
def test_more_birds_in_two_spots_than_a_lane_can_count(behaviour: str, neighbours: str) -> None:
    found = []
    for simd in ("true", "false"):
        sim = simulation(agents=1100, behaviour=behaviour, optimizations__neighbours=neighbours, optimizations__simd=simd,
                         optimizations__stagger__avoidance=1, flock__separate_by="offset", flock__blind=0, **ROOM)
        scatter(sim, "one spot", 1)
        sim.agents.columns.x[:550], sim.agents.columns.y[:550] = 20, 3
        found.append(pushes(sim))
    assert all(np.array_equal(in_lanes, alone) for in_lanes, alone in zip(*found, strict=True))
    assert np.abs(found[0][0]).min() > 0


@pytest.mark.parametrize("behaviour", ["flock", "crowd", "crates"])
@examples
@given(n=st.integers(1, 60), kind=st.sampled_from(["loose", "dense", "lattice"]), seed=st.integers(0, 99))
def test_rounding_stays_within_its_proven_bound(behaviour: str, n: int, kind: str, seed: int) -> None:
    """Against the rules in float64: each neighbour may round by one step of fixed point, float32 by its own precision."""
    sim = simulation(agents=n, behaviour=behaviour, optimizations__stagger__avoidance=1, optimizations__avoidance="push",
                     **ROOM)
    scatter(sim, kind, seed)
    c: Any = sim.agents.by_id()
    rules = refresh_rules(sim)
    if behaviour == "flock":
        ideal = reference_flock.flock_push_ideal(c.x, c.y, c.vx, c.vy, rules)
        rough = 0.0018 * float(rules.apart.reach) / 256 * n * float(rules.separate)  # of the inverse root
        step = 2 / 256 * (float(rules.align) + float(rules.cohere) + n * float(rules.separate)) + rough
        largest = 240 * float(rules.align) + 1000 * float(rules.cohere) + 10 * n * float(rules.separate)
    elif behaviour == "crates":
        ideal = reference.crate_push_ideal(c.x, c.y, c.half, rules)
        step, largest = n / 256, 101.0 * n
    else:
        ideal = reference.crowd_push_ideal(c.x, c.y, rules)
        step, largest = n / 4096, float(n)
    bound = step + largest * 1e-5
    for got, want in zip(pushes(sim), ideal, strict=True):
        assert np.abs(got - want).max() <= bound


@pytest.mark.quick
@settings(deadline=None)
@given(rows=st.lists(st.integers(0, 30) | st.integers(500, 900), min_size=1, max_size=60), workers=st.integers(1, 5))
def test_blocks_hold_everybody_once_and_less_where_many_stand(rows: list[int], workers: int) -> None:
    start = np.concatenate(([0], np.cumsum(rows))).astype(np.int32)
    blocks = blocks_of(Cells(np.arange(start[-1]), start, 1, len(rows), 1), workers)
    assert blocks.start[0] == 0 and blocks.start[-1] == start[-1]
    for begin, end, first, last in zip(blocks.start, blocks.start[1:], blocks.first, blocks.last, strict=False):
        assert 1 <= last - first <= BLOCK
        assert start[first] <= begin <= end <= start[last]
        assert workers == 1 or (end - begin) * HEAVY * workers <= start[-1] or end - begin <= LEAST_PART
        assert last - first == 1 or (begin == start[first] and end == start[last])
    if workers == 1:
        assert np.array_equal(blocks.first, range(0, len(rows), BLOCK))


def test_blocks_are_right_for_very_many_workers() -> None:
    """Millions of agents times hundreds of workers are more than 32 bits hold."""
    start = np.array([0, 4_000_000, 4_000_000], np.int32)
    blocks = blocks_of(Cells(np.zeros(0, np.int32), start, 1, 2, 1), 200)
    assert np.diff(blocks.start).max() <= 4_000_000 // 200
