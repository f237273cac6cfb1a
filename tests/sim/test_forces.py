"""Forces in the world: what they do to a crowd; they are actions, a part of the state, and nothing where there is none."""

from typing import Any

import numpy as np
import pytest
from crowds import CRATES, CROWD, FLOCK, Settings, open_world, simulation

from crowd_demo.sim.actions import as_data, from_data
from crowd_demo.sim.edits import PutForce, RemoveForce
from crowd_demo.sim.simulation import Simulation

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


@pytest.mark.parametrize("wrong", [
    {"kind": "love"}, {"radius": 0.0}, {"radius": 1e9}, {"strength": -1.0}, {"strength": float("nan")}, {"x": 1e30},
    {"ticks": -1}, {"number": -1}, {"number": 2**31}])
def test_an_action_of_a_file_has_its_bounds(wrong: dict[str, Any]) -> None:
    good = as_data(PutForce(0, "attract", 10.0, 20.0, 30.0, 2.0, 5))
    assert from_data(good)
    with pytest.raises(ValueError, match=f"action put_force: {next(iter(wrong))}"):
        from_data({**good, **wrong})
