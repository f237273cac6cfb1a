"""Acting on what was seen: all behaviours against their oracle, and the walls that nobody enters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
import reference_flock
import reference_people
from crowds import FORCES, F, open_world, put, refresh_rules, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.compute.jit import device, run
from crowd_demo.sim.terrain.ground import slide

examples = settings(max_examples=20, deadline=None)


@device
def slide_once(ground: Any, x: Any, y: Any, dx: Any, dy: Any) -> Any:
    return slide(ground, x, y, dx, dy)


def walled(behaviour: str, agents: int, seed: int, **more: Any) -> Any:
    """A small world with walls strewn over it, and agents in any state."""
    sim = simulation("1k", behaviour=behaviour, agents=agents, seed=seed, **open_world(640, 640), **more)
    rng = np.random.default_rng(seed)
    for column, row in rng.integers(0, 10, (20, 2)):
        sim.set_walls((int(column), int(row), int(column) + 1, int(row) + 1), True)
    c: Any = sim.agents.columns
    n = sim.agents.count
    c.vx[:n], c.vy[:n] = rng.uniform(-150, 150, (2, n))
    c.avoidance_x[:n], c.avoidance_y[:n] = rng.uniform(-3, 3, (2, n))
    if behaviour == "crowd":
        c.state[:n], c.goal_visible[:n] = rng.integers(0, 4, n), rng.integers(0, 2, n)
        c.timer[:n] = rng.uniform(0, 3, n)
        near = c.x[:n] + rng.uniform(-99, 99, n), c.y[:n] + rng.uniform(-99, 99, n)
        c.goal_x[:n], c.goal_y[:n] = np.clip(near, 0, 640)
        places, outside = sim.terrain.destinations, rng.uniform(0, 1, n) < 0.7
        points = np.array([(place.x, place.y) for place in places])[rng.integers(0, len(places), n)]
        c.goal[:n] = [np.flatnonzero([(place.x, place.y) == tuple(point) for place in places])[0] for point in points]
        c.goal_x[:n], c.goal_y[:n] = np.where(outside, points.T, (c.goal_x[:n], c.goal_y[:n]))
        angle = rng.uniform(0, 7, n)
        c.heading_x[:n], c.heading_y[:n] = np.cos(angle), np.sin(angle)
    return sim


def places_of(sim: Any) -> Any:
    return next(stage.areas for stage in sim.stages if stage.name == "admit")


def act(sim: Any) -> dict[str, Any]:
    """The stage *move* by its kernel, and *admit* before it; the agents before them, in id order."""
    refresh_rules(sim)
    before = {name: column.copy() for name, column in sim.agents.by_id()._asdict().items()}
    for stage in sim.stages:
        if stage.name in ("admit", "move") and stage.wanted(sim):
            run(stage.launches(sim))
    return before


@pytest.mark.parametrize("behaviour", ["flock", "crowd", "crates"])
@pytest.mark.parametrize("simd", ["true", "false"])
@examples
@given(agents=st.integers(0, 70), seed=st.integers(0, 999), forces=FORCES)
def test_every_agent_moves_as_the_oracle_says(behaviour: str, simd: str, agents: int, seed: int, forces: Any) -> None:
    roost = seed % 2 * 0.5
    people = {"crowd__destinations": 1 + seed % 4, "crowd__room": seed % 3 * 4000,
              "crowd__area_per_person": 20_000 + seed * 20}
    sim = walled(behaviour, agents, seed, optimizations__simd=simd, flock__roost=roost, flock__roost_radius=150, **people)
    put(sim, forces)
    want = act(sim)
    rules = sim.behaviour.rules(sim)
    if behaviour == "flock":
        reference_flock.flock_move(want, rules, sim.ground, sim.forces.present)
    elif behaviour == "crates":
        reference.crate_move(want, rules, sim.ground, sim.forces.present)
    else:
        reference_people.crowd_move(want, rules, places_of(sim).columns, sim.ground, sim.terrain.walls,
                                    sim.forces.present)
    for name, column in sim.agents.by_id()._asdict().items():
        assert np.array_equal(column, want[name]), name


@examples
@given(seed=st.integers(0, 9999), dx=st.floats(-80, 80, width=32), dy=st.floats(-80, 80, width=32))
def test_slide_equals_the_oracle_and_never_enters_a_wall(seed: int, dx: float, dy: float) -> None:
    sim = walled("crowd", 12, seed % 50)
    ground = sim.ground
    for x, y in zip(sim.agents.columns.x[:12], sim.agents.columns.y[:12], strict=True):
        got = slide_once(ground, x, y, F(dx), F(dy))
        assert got == reference.slide(ground, x, y, F(dx), F(dy))
        assert not ground.solid[reference.tile_under(ground, F(got[0]), F(got[1]))]


def test_people_reach_their_goals_and_set_out_again() -> None:
    sim = simulation("1k", agents=60, **open_world(600, 600))
    people: Any = sim.agents
    goals = people.by_id().goal
    arrived = np.zeros(60, bool)
    for _ in range(1500):
        sim.step()
        arrived |= people.by_id().goal != goals
    assert arrived.mean() > 0.9


@pytest.mark.quick
def test_a_flock_aligns_and_stays_loose() -> None:
    """Order grows, and cohesion that fades with crowding keeps the neighbourhoods from collapsing."""
    sim = simulation("20k-flock", agents=1500, world__width=1200, world__height=900)
    sim.step(50)
    early = sim.profile.counters["neighbours_per_agent"]
    sim.step(1500)
    c, n = sim.agents.columns, sim.agents.count
    speed = np.hypot(c.vx[:n], c.vy[:n])
    assert (speed >= sim.config.flock.speed_min * 0.999).all() and (speed <= sim.config.flock.speed_max * 1.001).all()
    assert sim.profile.counters["neighbours_per_agent"] < 4 * early
