"""Staggering: nobody waits longer than the period, ages are known, and the error against period 1 is a number."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import open_world, shuffle, simulation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowd_demo.sim.metrics.avoidance_error import ages, stagger_error

FAST_BIRDS = {"behaviour": "flock", "agents": 200, "flock__speed_max": 2000, "optimizations__reorder__every": 3,
              **open_world(700, 600)}
ways = st.tuples(st.sampled_from(["place", "tile", "id"]), st.integers(1, 16), st.booleans(), st.integers(1, 20))


@pytest.mark.parametrize("simd", [True, False])
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(script=st.lists(ways, min_size=1, max_size=6))
def test_nobody_waits_longer_than_the_period_and_ages_tell(simd: bool, script: list[tuple[str, int, bool, int]]) -> None:
    """Fast birds cross bands and tiles, are re-sorted and shuffled, while rule and period change."""
    sim = simulation(**FAST_BIRDS)
    sim.optimizations.simd = simd
    looked_at = np.full(200, -1)
    deadline = np.zeros(200, int)
    for by, period, mixed, steps in script:
        sim.optimizations.stagger.by, sim.optimizations.stagger.avoidance = by, period
        if mixed:
            shuffle(sim, steps)
        for _ in range(steps):
            before = sim.agents.by_id()
            sim.step()
            now, after = sim.tick - 1, sim.agents.by_id()
            looked = after.next_update != before.next_update
            assert np.array_equal(after.avoidance_x[~looked], before.avoidance_x[~looked]), "the answer is kept between"
            assert looked[deadline <= now].all()
            looked_at[looked] = now
            deadline = np.where(looked, now + period, np.minimum(deadline, now + period))
            assert looked.sum() == sim.profile.counters["due"]
            assert np.array_equal(ages(sim), np.bincount(np.minimum(now - looked_at, 15), minlength=16))


@pytest.mark.parametrize("by", ["place", "tile", "id"])
def test_the_work_is_shared_among_the_steps(by: str) -> None:
    sim = simulation(agents=3000, behaviour="flock", map="null", optimizations__stagger__by=by,
                     optimizations__stagger__avoidance=4)
    sim.step(8)
    due = []
    for _ in range(8):
        sim.step()
        due.append(sim.profile.counters["due"])
    assert 0.8 * 3000 / 4 < np.mean(due) < 1.25 * 3000 / 4
    assert max(due) < 3000 / 2
    assert (ages(sim)[:4] > 300).all() and ages(sim)[4:].sum() == 0


def test_by_id_the_same_agents_look_every_period() -> None:
    sim = simulation(agents=100, map="null", optimizations__stagger__by="id", optimizations__stagger__avoidance=5)
    sim.step(5)
    for _ in range(10):
        tick, before = sim.tick, sim.agents.by_id().next_update
        sim.step()
        looked = np.flatnonzero(sim.agents.by_id().next_update != before)
        assert looked.tolist() == [identity for identity in range(100) if (tick + identity) % 5 == 0]


@pytest.mark.parametrize("by", ["place", "tile", "id"])
@pytest.mark.parametrize("neighbours", ["none", "sorted"])
def test_error_is_nothing_at_period_1_and_grows_with_the_period(by: str, neighbours: str) -> None:
    errors = []
    for period in (1, 2, 12):
        sim = simulation(agents=800, behaviour="flock", **open_world(800, 600),
                         optimizations__stagger__by=by, optimizations__stagger__avoidance=period,
                         optimizations__neighbours=neighbours)
        sim.step(32)
        before = sim.state_hash()
        errors.append(stagger_error(sim).mean)
        assert sim.state_hash() == before
    assert errors[0] == 0 < errors[1] < errors[2]


def test_the_error_is_what_the_next_step_shows() -> None:
    """Against two replicas of which one looks at period 1 in the next step."""
    sims = [simulation(agents=400, **open_world(500, 500)) for _ in range(2)]
    for sim in sims:
        sim.step(50)
    error = stagger_error(sims[0]).mean
    sims[1].agents.columns.next_update[:] = 0
    pushes = []
    for sim in sims:
        sim.step()
        columns = sim.agents.by_id()
        pushes.append([columns.avoidance_x.astype(float), columns.avoidance_y.astype(float)])
    kept, fresh = pushes
    off = np.hypot(kept[0] - fresh[0], kept[1] - fresh[1])
    assert error == pytest.approx(off.mean() / np.hypot(*fresh).mean(), rel=1e-6)


def test_nobody_has_no_error() -> None:
    sim = simulation(agents=0, map="null")
    sim.step()
    assert stagger_error(sim) == (0, 0)
    assert ages(sim).tolist() == [0] * 16
