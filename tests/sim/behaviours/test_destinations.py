"""Destinations: whose tiles are whose, how many have room, who queues and who is let in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_people
from crowds import F, open_world, refresh_rules, simulation
from hypothesis import given, settings
from hypothesis import strategies as st
from terrains import layout_of, terrain_of

from crowd_demo.compute.jit import run
from crowd_demo.extras.ensemble.measures import densest
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, WALKING
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.ways import areas_of


def places_of(sim: Simulation) -> Any:
    return next(stage for stage in sim.stages if stage.name == "admit").areas  # type: ignore[attr-defined]


def admit(sim: Simulation) -> Any:
    """Run the stage; return the destinations with what it has decided."""
    refresh_rules(sim)
    run(next(stage for stage in sim.stages if stage.name == "admit").launches(sim))
    return places_of(sim).columns


def held(sim: Simulation) -> list[int]:
    """How many have a place at each destination."""
    c: Any = sim.agents.by_id()
    d = places_of(sim).columns
    inside = (c.state == WAITING) | (c.goal_x != d.x[c.goal]) | (c.goal_y != d.y[c.goal])
    return np.bincount(c.goal[inside & (c.state != QUEUING)], minlength=len(d.capacity)).tolist()


def small(**more: Any) -> Simulation:
    """People with few places to go to."""
    return simulation(agents=150, **open_world(800, 600), crowd__destinations=3, crowd__area_per_person=8000,
                      crowd__wait_s=4, **more)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 9999), count=st.integers(1, 5), radius=st.integers(0, 400))
def test_areas_are_those_of_the_oracle(seed: int, count: int, radius: int) -> None:
    rng = np.random.default_rng(seed)
    terrain = terrain_of(rng.uniform(0, 1, (rng.integers(2, 9), rng.integers(2, 9))) < 0.25, tile=50, count=count, seed=seed)
    terrain.set_walls((1, 1, 2, 4), True)  # after they were drawn, perhaps on one
    terrain.marks[0] = terrain.marks[1]  # wide ones
    radius_sq = np.full(max(len(terrain.destinations), 1), F(radius) * F(radius))
    targets, owner = layout_of(terrain, radius_sq).targets, reference_people.claimed_tiles(terrain, radius_sq)
    areas = areas_of(targets, len(terrain.destinations))
    assert np.array_equal(targets, owner)
    for goal in range(len(terrain.destinations)):
        own = areas.tiles[areas.first[goal]:areas.first[goal + 1]]
        assert np.array_equal(own, np.flatnonzero(owner.reshape(-1) == goal))


def test_no_more_places_are_held_than_there_are_and_people_queue_and_leave() -> None:
    sim = small()
    places, came, queued = places_of(sim).columns, np.zeros(150, bool), 0
    sim.step(1)  # all are born waiting, wherever they are
    for _ in range(2400):
        sim.step()
        c: Any = sim.agents.by_id()
        assert all(np.array(held(sim)) <= places.capacity)
        came, queued = came | (c.state == WAITING), max(queued, int((c.state == QUEUING).sum()))
    assert queued > 20 and came.mean() > 0.4


@pytest.mark.quick
def test_the_nearest_in_the_queue_is_let_in_first_and_of_equals_the_lowest_id() -> None:
    sim = small()
    sim.step(1)
    c: Any = sim.agents.columns
    d, n = places_of(sim).columns, sim.agents.count
    c.state[:n], c.goal[:n] = WALKING, 1
    c.goal_x[:n], c.goal_y[:n] = d.x[1], d.y[1]
    taken = int(d.capacity[1]) - 1
    c.state[:taken], c.timer[:taken] = WAITING, 9
    c.state[taken:taken + 6], c.x[taken:taken + 6], c.y[taken:taken + 6] = QUEUING, d.x[1], d.y[1] + F(40)
    c.y[taken:taken + 2] += F(10)
    near = sorted(c.id[taken + 2:taken + 6].tolist())
    assert admit(sim).opens[1] == near[0]
    c.y[np.flatnonzero(c.id[:n] == near[-1])[0]] -= F(3)
    assert admit(sim).opens[1] == near[-1]
    c.state[0] = WALKING
    c.goal_x[0] = d.x[1]
    for free, opens in ((2, near[-1]), (taken + 1, -2)):
        c.state[:max(taken + 1 - free, 0)] = WAITING
        c.state[max(taken + 1 - free, 0):taken] = WALKING
        assert admit(sim).opens[1] == opens
    c.state[:taken + 1] = WAITING
    assert admit(sim).opens[1] == -1


@pytest.mark.quick
def test_the_queue_reaches_farther_the_more_there_are() -> None:
    sim = small()
    sim.step(1)
    c: Any = sim.agents.columns
    before = admit(sim).reach_sq.copy()
    c.state[:sim.agents.count], c.goal[:sim.agents.count] = QUEUING, 0
    after = admit(sim).reach_sq
    assert after[0] > before[0] * 2 and after[1] == before[1]


def test_without_room_to_be_had_people_go_on_as_before() -> None:
    """Walled up while they queue: they leave the queue instead of standing there for ever."""
    sim = small()
    sim.step(1500)
    assert (sim.agents.by_id().state == QUEUING).any()  # type: ignore[attr-defined]
    sim.paint_walls(sim.terrain.runs_of(places_of(sim).ways.owner >= 0), True)
    sim.step(2)
    left: Any = sim.agents.by_id()
    assert not places_of(sim).columns.capacity.any() and len(left.id) > 100 and not (left.state == QUEUING).any()


def test_the_scenario_of_queues_has_some_and_they_move() -> None:
    sim = simulation("queues")
    sim.step(1800)
    before: Any = sim.agents.by_id()
    sim.step(900)
    after: Any = sim.agents.by_id()
    queued = before.state == QUEUING
    let_in = (after.state == WAITING) | (after.goal != before.goal) | (after.goal_x != before.goal_x)
    assert queued.mean() > 0.1 and (queued & let_in).sum() > 20
    assert densest(sim) <= 16  # as many as stand comfortably in 48 x 48 units
