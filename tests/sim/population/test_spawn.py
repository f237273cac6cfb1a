"""Where agents begin."""

from __future__ import annotations

from typing import Any

from crowds import simulation


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
