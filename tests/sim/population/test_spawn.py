"""Where agents begin."""

from __future__ import annotations

from typing import Any

import pytest
from crowds import simulation

from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.model import Spawn
from crowd_demo.sim.edits import PaintWalls
from crowd_demo.sim.simulation import Simulation


def in_the_box(sim: Any, units: float) -> float:
    """Share of the agents who are at most so far outside the box in the middle of the world."""
    columns, walls, box = sim.agents.by_id(), sim.terrain.walls, sim.config.spawn.box
    inside = (abs(columns.x - walls.width / 2) < box * walls.width / 2 + units)
    inside &= abs(columns.y - walls.height / 2) < box * walls.height / 2 + units
    return float(inside.mean())


def test_a_fifth_is_born_in_the_box_of_the_clump_and_stays_there() -> None:
    """Fractions of 20,000 draws, and whoever else happens to be there."""
    sim = simulation("clump")
    assert 0.19 < in_the_box(sim, 0) < 0.22
    sim.step(600)
    assert 0.19 < in_the_box(sim, 24) < 0.22
    assert in_the_box(simulation("clump", spawn__pattern="uniform"), 0) < 0.01


def test_an_area_holds_all_births_also_when_its_wall_is_gone() -> None:
    area = {"measure__areas__hall": "[26, 26, 468, 494]", "spawn__inside": "hall"}
    closed = simulation("doorway", **area)
    sim = Simulation(closed.config, (PaintWalls(tuple((row, 36, 38) for row in range(10, 30)), False),))
    x, y = sim.agents.by_id().x, sim.agents.by_id().y
    assert (x > 26).all() and (x < 468).all() and (y > 26).all() and (y < 494).all()
    config = closed.config.model_copy(update={"spawn": Spawn.model_validate({})})
    everywhere = Simulation(config, [action for _, action in sim.history])
    assert (everywhere.agents.by_id().x > 494).mean() > 0.2
    walls = PaintWalls(tuple((row, 0, 64) for row in range(2, 38)), True)  # the hall is full: anywhere else
    assert (Simulation(closed.config, (walls,)).agents.by_id().y < 26).any()


def test_an_area_that_there_is_not_is_one_line() -> None:
    with pytest.raises(ConfigError, match=r"spawn\.inside: measure\.areas has no 'hal' \(did you mean hall\?\)"):
        load_config("doorway", ["spawn.inside=hal"])
