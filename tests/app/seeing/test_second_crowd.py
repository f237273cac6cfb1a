"""The second crowd: the same steps with another setting, and the first one does not notice."""

from __future__ import annotations

import pytest
from crowds import CROWDS, simulation

from crowd_demo.app.seeing.side_by_side import SecondCrowd
from crowd_demo.sim.actions import Populate
from crowd_demo.sim.simulation import Simulation


def test_it_takes_the_steps_that_a_crowd_with_that_setting_would_and_leaves_the_first_one_alone() -> None:
    sim, alone = simulation(**CROWDS["crowd"]), simulation(**CROWDS["crowd"])
    sim.step(5)
    snapshot = sim.snapshot()
    second = SecondCrowd("stagger.avoidance", 8)
    second.keep_up(sim)
    for _ in range(6):
        sim.step(2)
        second.keep_up(sim)
    other = Simulation.from_snapshot(snapshot)
    other.optimizations.set("stagger.avoidance", 8)
    other.step(12)
    alone.step(17)
    assert second.sim and second.begun_at == 5
    assert second.sim.state_hash() == other.state_hash() != sim.state_hash() == alone.state_hash()


def test_it_begins_again_after_an_action() -> None:
    sim, second = simulation(**CROWDS["crowd"]), SecondCrowd("neighbour_limit", "nearest")
    second.keep_up(sim)
    sim.step(3)
    sim.apply(Populate(100))
    second.sim = None
    second.keep_up(sim)
    assert second.sim and second.sim.agents.count == 100 and second.begun_at == 3


def test_a_jump_that_would_take_too_long_to_follow_is_a_new_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    sim, second = simulation(**CROWDS["crowd"]), SecondCrowd("stagger.avoidance", 8)
    second.keep_up(sim)
    sim.step(9)
    second.keep_up(sim)
    assert second.sim and second.begun_at == 0 and second.sim.state_hash() != sim.state_hash()
    replica = second.sim
    monkeypatch.setattr("crowd_demo.app.seeing.side_by_side.CATCH_UP_S", 0.0)
    sim.step(9)
    second.keep_up(sim)
    assert second.sim is replica and second.begun_at == sim.tick == 18 and replica.state_hash() == sim.state_hash()
    assert replica.optimizations.get("stagger.avoidance") == 8
