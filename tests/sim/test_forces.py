"""Forces in the world: what they do to a crowd; they are actions, a part of the state, and nothing where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from crowds import CRATES, CROWD, FLOCK, FORCES, SOME_FORCES, Settings, open_world, put, simulation
from hypothesis import given, settings

from crowd_demo.sim.actions import as_data, from_data
from crowd_demo.sim.edits import PutForce, RemoveForce
from crowd_demo.sim.save_format import SaveError, check, decode, encoded
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.state import EMPTY
from crowd_demo.sim.terrain.forces import MAX_FORCES, Force

pytestmark = pytest.mark.quick
HUNT: Settings = {"behaviour": "hunt", "agents": 500, **open_world(500, 400)}
BEHAVIOURS = {"crowd": CROWD, "flock": FLOCK, "crates": CRATES, "hunt": HUNT}
WIDE = {**CROWD, "agents": 200, **open_world(1200, 1200)}


def distances(sim: Simulation, x: float, y: float, radius: float = 1e9) -> Any:
    """Of everybody within a radius."""
    at = sim.agents.by_id()
    found = np.hypot(at.x - x, at.y - y)
    return found[found < radius]


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_agents_come_to_what_attracts_and_leave_what_repels(behaviour: str) -> None:
    plain, attracted, repelled = (simulation(**BEHAVIOURS[behaviour]) for _ in range(3))
    attracted.apply(PutForce(0, "attract", 250, 200, 220, 3))
    repelled.apply(PutForce(0, "repel", 250, 200, 220, 3))
    for sim in (plain, attracted, repelled):
        sim.step(180)
    near, usual, far = (len(distances(sim, 250, 200, 110)) for sim in (attracted, plain, repelled))
    assert far < 0.7 * usual and near > 1.15 * usual, (far, usual, near)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_nobody_in_no_force_and_nobody_at_all_is_moved_otherwise(behaviour: str) -> None:
    """A force beside everybody, one that is removed before a step, and one that has ended are as none."""
    plain, sim = simulation(**BEHAVIOURS[behaviour]), simulation(**BEHAVIOURS[behaviour])
    sim.apply(PutForce(0, "attract", -500, -500, 100, 3))
    sim.apply(PutForce(1, "scare", 250, 200, 100, 3))
    sim.apply(RemoveForce(1))
    sim.step(20)
    plain.step(20)
    assert sim.state_hash() == plain.state_hash()
    sim.apply(PutForce(2, "scare", 250, 200, 100, 3, 3))
    sim.step(2)
    assert sim.forces.of_number(2)
    sim.step()
    assert not sim.forces.of_number(2) and sim.forces.of_number(0)
    plain.step(3)
    assert sim.state_hash() != plain.state_hash()
    held = sim.snapshot()
    sim.apply(RemoveForce(0))
    plain.restore(held._replace(parts={}))
    sim.step(20)
    plain.step(20)
    assert sim.state_hash() == plain.state_hash()


def test_a_force_acts_in_the_next_step() -> None:
    plain, sim = simulation(**WIDE), simulation(**WIDE)
    for each in (plain, sim):
        each.step(50)
    sim.apply(PutForce(0, "scare", 600, 600, 300, 2, 1))
    plain.step(), sim.step()
    before, after = plain.agents.by_id(), sim.agents.by_id()
    moved = (before.vx != after.vx) | (before.vy != after.vy)
    assert moved.any() and (np.hypot(after.x - 600, after.y - 600)[moved] < 301).all()
    assert not sim.forces.present


def test_people_run_from_a_scare_and_then_go_on_to_their_goals() -> None:
    sim = simulation(**WIDE)
    sim.step(120)
    people: Any = sim.agents
    goals = people.by_id().goal
    near = np.flatnonzero(np.hypot(sim.agents.by_id().x - 600, sim.agents.by_id().y - 600) < 250)
    assert len(near) > 5
    sim.apply(PutForce(0, "scare", 600, 600, 400, 3, 120))
    sim.step(100)
    at = people.by_id()
    assert distances(sim, 600, 600).min() > 100
    away = ((at.x - 600) * at.vx + (at.y - 600) * at.vy)[near]
    speed = np.hypot(at.vx, at.vy)
    assert (away > 0).mean() > 0.9
    assert np.median(speed[near]) > 1.3 * np.median(at.speed[near])
    assert speed.max() <= sim.top_speed * 1.0001
    assert (at.goal[near] == goals[near]).mean() > 0.8
    sim.step(300)
    after = people.by_id()
    assert np.median(np.hypot(after.vx, after.vy)) < 1.2 * np.median(after.speed)
    assert np.hypot(after.x - 600, after.y - 600).min() < 100


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_nobody_enters_a_wall_or_is_faster_than_the_bound(behaviour: str) -> None:
    sim = simulation(**{**BEHAVIOURS[behaviour], "agents": 300})
    rng = np.random.default_rng(5)
    for column, row in rng.integers(0, sim.terrain.columns, (8, 2)):
        sim.set_walls((int(column), int(row), int(column) + 1, int(row) + 1), True)
    for tick in range(60):
        if tick % 7 == 0:
            kind = ("attract", "repel", "scare")[tick // 7 % 3]
            x, y, radius = rng.uniform(0, 500, 3)
            sim.apply(from_data({"name": "put_force", "number": sim.forces.next_number, "kind": kind, "x": x, "y": y,
                                 "radius": radius + 1, "strength": 100.0, "ticks": 30}))
        before = sim.agents.by_id()
        shift = sim.max_step
        sim.step()
        at = sim.agents.by_id()
        assert (np.hypot(at.vx, at.vy) <= sim.top_speed * 1.0001).all()
        assert max(np.abs(at.x - before.x).max(), np.abs(at.y - before.y).max()) <= shift * 1.0001
        tile = float(sim.terrain.walls.tile)
        assert not sim.terrain.blocked[(at.y / tile).astype(int), (at.x / tile).astype(int)].any()


# --- actions, and a part of the state --------------------------------------------------------------------------------

@settings(max_examples=15, deadline=None)
@given(FORCES)
def test_a_run_with_forces_replays_and_a_save_in_its_middle_goes_on(forces: Any) -> None:
    sim = simulation(agents=60, **open_world(640, 640))
    for force in forces:
        put(sim, [force])
        sim.step(3)
    read = decode(b"".join(encoded(sim.snapshot(), "test")))
    sim.step(25)
    again, other = Simulation(sim.config), Simulation(sim.config)
    for tick in range(sim.tick):
        for _, action in (each for each in sim.history if each[0] == tick):
            again.apply(from_data(as_data(action)))
        again.step()
    check(read, other)
    other.restore(read)
    other.step(25)
    assert again.state_hash() == other.state_hash() == sim.state_hash()
    assert again.forces.state() == other.forces.state() == sim.forces.state()


def test_going_back_takes_forces_back() -> None:
    sim = simulation(**CROWD)
    begin = sim.snapshot()
    assert not begin.parts
    put(sim, SOME_FORCES)
    held, before = sim.snapshot(), sim.forces.present
    sim.step(20)
    then = sim.state_hash()
    sim.restore(begin)
    assert not sim.forces.present and sim.ground.forces.total == 0 and sim.forces.state() == EMPTY
    sim.restore(held)
    assert sim.forces.present == before and sim.ground.forces.total == len(before) == 6
    sim.step(20)
    assert sim.state_hash() == then


def test_inverses_take_back_what_was_put_moved_and_removed() -> None:
    sim = simulation(agents=5, **open_world(640, 640))
    steps: list[PutForce | RemoveForce] = [
        PutForce(0, "attract", 10, 20, 30, 2), PutForce(0, "attract", 50, 20, 30, 2), PutForce(1, "scare", 1, 2, 3, 4, 90),
        RemoveForce(0), RemoveForce(1)]
    states, undo = [], []
    for step in steps:
        states.append(sim.forces.present)
        undo.append(step.inverse(sim))
        sim.apply(step)
        assert sim.forces.present != states[-1] and step.inverse(sim) == ()
    for state, inverse in zip(reversed(states), reversed(undo), strict=True):
        for action in inverse:
            sim.apply(action)
        assert sim.forces.present == state
    sim.apply(PutForce(2, "scare", 1, 2, 3, 4, 90))
    sim.step(40)
    assert RemoveForce(2).inverse(sim) == (PutForce(2, "scare", 1, 2, 3, 4, 50),)
    sim.step(50)
    assert RemoveForce(2).inverse(sim) == ()


def test_there_are_at_most_so_many_and_numbers_are_given_in_order() -> None:
    sim = simulation(agents=5, **open_world(640, 640))
    for number in range(MAX_FORCES):
        sim.apply(PutForce(number, "repel", 10, 20, 30, 2))
    before = sim.forces.state()
    for number, why in ((MAX_FORCES, "32 forces already"), (MAX_FORCES + 1, "32 forces already")):
        with pytest.raises(ValueError, match=why):
            sim.apply(PutForce(number, "repel", 10, 20, 30, 2))
    sim.apply(RemoveForce(3))
    with pytest.raises(ValueError, match="the next new one is 32"):
        sim.apply(PutForce(99, "repel", 10, 20, 30, 2))
    sim.apply(PutForce(3, "repel", 10, 20, 30, 2))
    assert sim.forces.state() == before


@pytest.mark.parametrize("wrong", [
    {"kind": "love"}, {"radius": 0.0}, {"radius": 1e9}, {"strength": -1.0}, {"strength": float("nan")}, {"x": 1e30},
    {"ticks": -1}, {"number": -1}, {"number": 2**31}])
def test_an_action_of_a_file_has_its_bounds(wrong: dict[str, Any]) -> None:
    good = as_data(PutForce(0, "attract", 10.0, 20.0, 30.0, 2.0, 5))
    assert from_data(good)
    with pytest.raises(ValueError, match=f"action put_force: {next(iter(wrong))}"):
        from_data({**good, **wrong})


GOOD = [0, "attract", 1.0, 2.0, 3.0, 4.0, 0]


@pytest.mark.parametrize("values", [
    {"next": 1, "forces": [GOOD[:-2]]}, {"next": 1, "forces": [[0, "love", *GOOD[2:]]]}, {"next": 1, "forces": 7},
    {"next": 0, "forces": [GOOD]}, {"next": 5, "forces": [GOOD, GOOD]}, {"next": -3},
    {"next": 99, "forces": [[number, *GOOD[1:]] for number in range(MAX_FORCES + 1)]},
    {"next": 1, "forces": [[0, "repel", float("nan"), *GOOD[3:]]]},
    {"next": 1, "forces": [[0, "repel", 1.0, 2.0, 0.0, 4.0, 0]]}])
def test_a_file_with_other_forces_is_refused_in_a_line(values: dict[str, Any]) -> None:
    sim = simulation(agents=5, **open_world(640, 640))
    sim.apply(PutForce(*Force(0, "attract", 1.0, 2.0, 3.0, 4.0)[:-1]))
    snapshot = sim.snapshot()
    check(decode(b"".join(encoded(snapshot, "test"))), sim)
    part = snapshot.parts["forces"]
    with pytest.raises(SaveError) as caught:
        check(snapshot._replace(parts={"forces": part._replace(values=values)}), sim)
    assert "forces" in str(caught.value) and "\n" not in str(caught.value)
