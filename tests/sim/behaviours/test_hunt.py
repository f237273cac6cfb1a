"""Predators and prey: each stage against its oracle, and what comes of it."""

import math
from typing import Any

import numpy as np
import pytest
import reference_flock
import reference_hunt as reference
from crowds import FORCES, neighbours_met, open_world, put, refresh_rules, run_through, shuffle, simulation
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import offsets

from crowd_demo.sim.actions import Place
from crowd_demo.sim.metrics.avoidance_error import exact_error

WIDTH, HEIGHT = 500, 340
examples = settings(max_examples=15, deadline=None)
agents = st.integers(0, 90)
seeds = st.integers(0, 99)


def hunt(n: int, seed: int, **more: Any) -> Any:
    """A small crowd of five predators and their prey in any place; many on a lattice, so that squares hold equally many."""
    sim = simulation("1k", behaviour="hunt", agents=n, seed=seed, optimizations__stagger__avoidance=1, hunt__predators=5,
                     hunt__predator_sight=200, hunt__square=60, **open_world(WIDTH, HEIGHT), **more)
    c, rng = sim.agents.columns, np.random.default_rng(seed)
    if seed % 3 == 0:
        c.x[:n], c.y[:n] = np.round(c.x[:n] / 20) * 20, np.round(c.y[:n] / 20) * 20
    c.vx[:n], c.vy[:n] = rng.uniform(-120, 120, (2, n))
    shuffle(sim, seed)
    return sim


@pytest.mark.parametrize("simd", ["true", "false"])
@pytest.mark.parametrize("follow", ["radius", "nearest"])
@examples
@given(n=agents, seed=seeds, neighbours=st.sampled_from(["none", "sorted", "linked", "aabb_tree"]))
def test_each_kind_flocks_by_itself(simd: str, follow: str, n: int, seed: int, neighbours: str) -> None:
    sim = hunt(n, seed, hunt__follow=follow, optimizations__simd=simd, optimizations__neighbours=neighbours)
    c: Any = sim.agents.by_id()
    most = sim.config.hunt.follow_nearest if follow == "nearest" else 0
    want_x, want_y, met = reference.hunt_push(c, refresh_rules(sim), most)
    run_through(sim, "interaction")
    after = sim.agents.by_id()
    assert np.array_equal(after.avoidance_x, want_x)
    assert np.array_equal(after.avoidance_y, want_y)
    assert neighbours_met(sim) == met.sum()


@examples
@given(n=agents, seed=seeds, threads=st.integers(1, 5))
def test_predators_chase_the_densest_square_that_they_see(n: int, seed: int, threads: int) -> None:
    sim = hunt(n, seed, optimizations__threads=threads)
    before: Any = sim.agents.by_id()
    run_through(sim, "hunt")
    after = sim.agents.by_id()
    for i in np.flatnonzero(before.kind == 1).tolist():
        want = reference.chase(before, i, sim.config.hunt, WIDTH, HEIGHT)
        assert (after.avoidance_x[i], after.avoidance_y[i]) == want


@pytest.mark.parametrize("simd", ["true", "false"])
@examples
@given(n=agents, seed=seeds, forces=FORCES)
def test_everybody_moves_as_the_oracle_says(simd: str, n: int, seed: int, forces: Any) -> None:
    sim = hunt(n, seed, optimizations__simd=simd, hunt__roost=0.5, hunt__roost_radius=100)
    put(sim, forces)
    run_through(sim, "hunt")
    want = {name: column.copy() for name, column in sim.agents.by_id()._asdict().items()}
    rules = sim.rules
    run_through(sim, "move")
    reference.hunt_move(want, rules, sim.ground, sim.forces.present)
    after = sim.agents.by_id()
    for name in ("x", "y", "vx", "vy", "kind"):
        assert np.array_equal(getattr(after, name), want[name]), name


def kinds(sim: Any) -> list[int]:
    return list(sim.agents.by_id().kind)


@pytest.mark.quick
def test_those_with_the_lowest_ids_are_the_predators() -> None:
    sim = simulation("1k", behaviour="hunt", agents=20, hunt__predators=3)
    assert kinds(sim) == [1] * 3 + [0] * 17
    sim.populate(2)
    sim.populate(20)
    assert kinds(sim) == [1] * 3 + [0] * 17


def test_turning_runs_from_bird_to_bird_beyond_those_who_see_the_hawk() -> None:
    """Two crowds from one state: in the middle of one hangs the hawk. Who turns and was never near it has it from others."""
    crowds = [simulation("murmuration", agents=6001, **open_world(2260, 1270)) for _ in range(2)]
    feared, met, corner = crowds[0].config.hunt.fear, np.zeros(6000, bool), (2259, 1269)
    for step in range(450):
        birds: Any = crowds[0].agents.by_id()
        if step <= 300:
            middle = float(np.median(birds.x)), float(np.median(birds.y))
        else:
            met |= np.hypot(birds.x[1:] - middle[0], birds.y[1:] - middle[1]) < feared
        for sim, hawk in zip(crowds, (middle if step >= 300 else corner, corner), strict=True):
            Place(0, *hawk).apply(sim)
            sim.step()
    one, other = (sim.agents.by_id() for sim in crowds)
    turned = np.arctan2(one.vx * other.vy - one.vy * other.vx, one.vx * other.vx + one.vy * other.vy)[1:]
    assert (abs(turned[~met]) > np.radians(20)).sum() > 50


# --- the field: the formula of its docstring, bird by bird, and how far it is from the exact rules -------------------

def flock(n: int, seed: int, **more: Any) -> Any:
    sim = simulation(agents=n, behaviour="flock", seed=seed, optimizations__neighbours="field",
                     optimizations__stagger__avoidance=1, **open_world(300, 200), **more)
    shuffle(sim, seed)
    return sim


def ideal(sim: Any) -> tuple[Any, Any]:
    """The pushes in float64, one bird at a time, straight from the formula; arrays in id order."""
    c, rules, grid = sim.agents.by_id(), refresh_rules(sim), sim.grid
    place, speed = np.stack((c.x, c.y), 1).astype(float), np.stack((c.vx, c.vy), 1).astype(float)
    cell = (place / grid.cell).astype(int)
    _, _, distance_sq = offsets(c.x, c.y)
    push = np.zeros((len(c.x), 2))
    for i in range(len(c.x)):
        low, high = np.maximum(cell[i] - grid.reach, 0), np.minimum(cell[i] + grid.reach + 1, (grid.columns, grid.rows))
        others = ((cell >= low) & (cell < high)).all(1) & (np.arange(len(c.x)) != i)
        side = (high - low) * grid.cell
        if others.any():
            crowd = others.sum() * math.pi * float(rules.sight_sq) / side.prod()
            lean = 3 * float(rules.sight_sq) / side**2
            push[i] = (float(rules.align) * (speed[others].mean(0) - speed[i])
                       + float(rules.cohere) * max(1 - crowd * float(rules.inv_crowding), -1) * lean
                       * (place[others].mean(0) - (low + high) / 2 * grid.cell))
        near = (distance_sq[i] < rules.separation_sq) & (np.arange(len(c.x)) != i)
        push[i] += float(rules.separate) * reference_flock.apart_ideal(place[i], place[near], rules)
    return push[:, 0], push[:, 1]


@pytest.mark.parametrize("simd", ["true", "false"])
@settings(max_examples=20, deadline=None)
@example(n=12, seed=1, cell="auto")
@example(n=12, seed=2, cell="90")
@given(n=st.integers(0, 120), seed=st.integers(0, 99), cell=st.sampled_from(["auto", "11", "90"]))
def test_field_is_what_its_formula_says(simd: str, n: int, seed: int, cell: str) -> None:
    sim = flock(n, seed, optimizations__simd=simd, optimizations__cell_size=cell)
    want = ideal(sim)
    sim.step()
    columns = sim.agents.by_id()
    rules = sim.behaviour.rules(sim)
    # Each term may be cut by a step of fixed point; float32 adds its own precision.
    rough = 0.0018 * float(rules.apart.reach) / 256 * n * float(rules.separate)  # of the inverse root
    bound = 3 / 256 * (float(rules.align) + float(rules.cohere) + n * float(rules.separate)) + 0.01 + rough
    for got, expected in zip((columns.avoidance_x, columns.avoidance_y), want, strict=True):
        assert np.abs(got - expected).max(initial=0) <= bound


def test_the_error_of_the_field_is_what_a_flock_of_pairs_would_have_done_instead() -> None:
    sims = [flock(600, 4), flock(600, 4)]
    sims[1].optimizations.neighbours = "sorted"
    error = exact_error(sims[0])
    found, true = (pushes_of_a_step(sim) for sim in sims)
    away = np.hypot(*(found - true)) / np.hypot(*true).mean()
    assert error == pytest.approx((away.mean(), away.max())) and 0 < error.mean < error.most
    assert exact_error(flock(0, 1)) == (0, 0)


def pushes_of_a_step(sim: Any) -> Any:
    sim.step()
    columns = sim.agents.by_id()
    return np.stack((columns.avoidance_x, columns.avoidance_y)).astype(float)


def test_walkers_know_no_field() -> None:
    sim = simulation(agents=200, optimizations__neighbours="field", **open_world(300, 300), steps=5)
    assert exact_error(sim) == (0, 0)


def test_birds_without_separation_meet_nobody() -> None:
    sim = simulation("20k-flock", agents=50, flock__separation=0, optimizations__neighbours="field",
                     optimizations__stagger__avoidance=1, **open_world(200, 200), steps=1)
    assert sim.profile.counters["neighbours_per_agent"] == 0
