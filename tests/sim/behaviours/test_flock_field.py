"""The field: the formula of its docstring, bird by bird, and how far it is from the exact rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference
import reference_flock
from crowds import open_world, refresh_rules, shuffle, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.sim.metrics.avoidance_error import exact_error


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
    _, _, distance_sq = reference.offsets(c.x, c.y)
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
@settings(max_examples=12, deadline=None)
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
    sim = simulation(agents=200, optimizations__neighbours="field", **open_world(300, 300))
    sim.step(5)
    assert exact_error(sim) == (0, 0)


def test_birds_without_separation_meet_nobody() -> None:
    sim = simulation("20k-flock", agents=50, flock__separation=0, optimizations__neighbours="field",
                     optimizations__stagger__avoidance=1, **open_world(200, 200))
    sim.step()
    assert sim.profile.counters["neighbours_per_agent"] == 0
