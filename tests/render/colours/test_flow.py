"""Colours by flow: they are what `crowd-demo lab motion` measures by velocities, walls and the world's edge included."""

import numpy as np
import pytest
from crowds import CROWDS, open_world, simulation

from crowd_demo.compute.jit import run
from crowd_demo.extras.walking import surroundings
from crowd_demo.render.colours import squares
from crowd_demo.render.inks import RGB
from crowd_demo.sim.simulation import Simulation


def numbers(sim: Simulation, slots: np.ndarray) -> np.ndarray:
    found = np.full(len(slots), 255, np.uint8)
    run(squares.FlowColours().launches(sim, slots, found))
    return found


def everybody(sim: Simulation) -> np.ndarray:
    return np.arange(sim.agents.count, dtype=np.int32)


@pytest.mark.parametrize("walls", [False, True])
def test_people_have_the_colour_of_the_flow_around_them(walls: bool) -> None:
    """Speeds are rounded to a quarter of a unit/s, so a flow within a hundredth of a level may be told as either."""
    sim = simulation("1k", **({} if walls else open_world(1400, 1010)), steps=40)
    if walls:
        sim.terrain.set_walls((10, 10, 40, 13), True)
        assert sim.terrain.walls.blocked.any()
    c, count = sim.agents.columns, sim.agents.count
    speed = np.hypot(c.vx[:count].astype(float), c.vy[:count])
    around = surroundings(sim.terrain.walls, c.x[:count], c.y[:count], speed).flow
    low, high = (np.searchsorted(squares.FLOWS, around * share) for share in (0.99, 1.01))
    found = numbers(sim, everybody(sim))
    assert ((low <= found) & (found <= high)).all() and len(set(found.tolist())) > 2


def test_walls_that_are_built_leave_less_ground_and_more_flow() -> None:
    sim = simulation("1k", **open_world(640, 640), steps=30)
    mode, before, after = squares.FlowColours(), *np.zeros((2, sim.agents.count), np.uint8)
    run(mode.launches(sim, everybody(sim), before))
    sim.terrain.set_walls((0, 0, 10, 1), True)
    run(mode.launches(sim, everybody(sim), after))
    assert (after >= before).all() and (after > before).any()


def test_who_stands_has_no_flow_and_levels_are_shares_of_what_a_way_carries() -> None:
    sim = simulation("1k", **open_world(600, 410))
    c = sim.agents.columns
    c.vx[:], c.vy[:] = 0, 0
    assert not numbers(sim, everybody(sim)).any()
    per_step = 26 / (9 * 32**2 * squares.STEPS)  # people/(m s), of one step
    shades = squares.shades_of_flow(32.0)
    for number, people_a_second in enumerate((0.3, 0.5, 0.8, 1.2, 1.4, 2.0)):
        assert shades[round(people_a_second / per_step)] == number
    assert squares.NAMES == ("free", "0.33", "0.65", "0.98", "1.3 too full", "2")


def test_the_legend_says_what_the_numbers_are() -> None:
    people, birds = (squares.FlowColours().legend(simulation(**CROWDS[name])) for name in ("crowd", "flock"))
    colours: tuple[RGB, ...] = people.colours
    assert len(colours) == len(people.texts) == len(squares.FLOWS) + 1 and birds.is_ramp and "times" in birds.texts[-1]
