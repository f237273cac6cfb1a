"""The counting line: drawn by the mouse, it counts people in both directions, and is recorded, undone and saved."""

import numpy as np
import pygame
from crowds import saved
from driven import Driven

from crowd_demo.config.loader import load_config
from crowd_demo.sim.counts import across
from crowd_demo.sim.edits import PlaceLine
from crowd_demo.sim.fundamental_diagram import Line
from crowd_demo.sim.simulation import Simulation

CTRL = pygame.KMOD_LCTRL


def test_a_wall_a_door_and_its_flow_take_four_actions(driven: Driven) -> None:
    """Build a wall, tear a door into it, draw the line, and read. The line counts as steps show."""
    driven.program.crowd.unpaced = True
    driven.frames(2)
    for key, way in (("w", ((320, 0), (320, 360))), ("d", ((320, 170), (320, 210))), ("j", ((320, 150), (320, 230)))):
        driven.press(key, CTRL)
        driven.drag(*way, frames=4)
    sim, expected = driven.program.sim, np.zeros(2, np.int64)
    assert sim.counts.has_line and driven.status().flow
    start = sim.counts.both.copy()
    for _ in range(900):
        columns, order = sim.agents.columns, np.argsort(sim.agents.columns.id[:sim.agents.count])
        before = columns.x[order].copy(), columns.y[order].copy()
        driven.frames()
        columns, order = sim.agents.columns, np.argsort(sim.agents.columns.id[:sim.agents.count])
        expected += across(*before, columns.x[order], columns.y[order], sim.counts.line)
    assert (sim.counts.both - start == expected).all() and expected.sum() > 0
    flow = driven.status().flow
    assert flow and len(flow.flows) >= 3 and flow.texts[0].endswith(f"/s, {sim.counts.both[0]:,} so far")


def test_it_is_one_change_for_undo_and_a_click_removes_it(driven: Driven) -> None:
    driven.press("j", CTRL)
    driven.drag((330, 100), (340, 120), (350, 160), frames=4)
    line = driven.program.sim.counts.line
    assert driven.program.sim.counts.has_line
    driven.drag((340, 200), frames=4)
    assert not driven.program.sim.counts.has_line and driven.status().flow is None
    driven.press("z", CTRL, frames=3)
    assert driven.program.sim.counts.line == line
    driven.press("z", CTRL, frames=3)
    assert not driven.program.sim.counts.has_line and not driven.program.undo.present.done
    driven.press("y", CTRL, frames=3)
    assert driven.program.sim.counts.line == line
    driven.press("r", frames=3)
    assert driven.program.sim.counts.line == line, "a restart keeps it"


def test_it_is_a_part_of_the_state_and_of_a_configuration() -> None:
    config = load_config("1k", ["agents=200", "map=null", "measure.line=[200, 0, 200, 400]"])
    sim, placed = Simulation(config), Simulation(load_config("1k", ["agents=200", "map=null"]))
    placed.apply(PlaceLine((200, 0, 200, 400)))
    for each in (sim, placed):
        each.step(150)
    assert (sim.counts.both == placed.counts.both).all() and sim.counts.both.sum() > 0
    assert sim.state_hash() == placed.state_hash(), "counting changes nothing"
    again = Simulation.from_snapshot(saved(placed))
    assert again.counts.line == Line(200, 0, 200, 400) and (again.counts.both_samples == placed.counts.both_samples).all()
    for each in (again, placed):
        each.step(60)
    assert (again.counts.both == placed.counts.both).all() and len(again.counts.both_samples) == 3
    placed.apply(PlaceLine((0, 0, 0, 0)))
    assert not placed.counts.has_line and "counts" not in placed.snapshot().parts
