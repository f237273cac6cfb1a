"""Tools for the mouse, by real events in a program that runs."""

from typing import Any

import numpy as np
import pygame
import pytest
from driven import Driven

from crowd_demo.app.screen import screen
from crowd_demo.config.maps import FLOOR, WALL
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.render.hud.status import BrushView
from crowd_demo.sim.edits import BringIn, PaintWalls, PutForce, TakeOut
from crowd_demo.sim.simulation import Simulation

CTRL = pygame.KMOD_LCTRL
SMALL = ("world.width=640", "world.height=360", "camera.zoom=1", "window.hud=off")


@pytest.fixture
def hands() -> Driven:
    return Driven(*SMALL, "map=doorway")


def take(driven: Driven, action: str) -> None:
    driven.press(PROGRAM[action].keys[0].removeprefix("ctrl+"), CTRL)


def stroke(driven: Driven, *way: tuple[float, float]) -> None:
    driven.drag(*way, frames=3)


def wheel(driven: Driven, notches: int) -> None:
    """Turn the wheel with Ctrl held."""
    pygame.key.set_mods(CTRL)
    driven.wheel(notches)
    pygame.key.set_mods(0)


def undo(driven: Driven, redo: bool = False) -> None:
    driven.press("z", CTRL | redo * pygame.KMOD_LSHIFT, frames=3)


def brush(driven: Driven, at: tuple[float, float]) -> BrushView:
    """What is shown at a pixel once the mouse is there."""
    driven.move(at)
    found = driven.status().brush
    assert found
    return found


def replayed(sim: Simulation) -> Simulation:
    """Return another simulation with the same actions at the same ticks."""
    again, history = Simulation(sim.config), list(sim.history)
    for tick in range(sim.tick + 1):
        for _, done in [each for each in history if each[0] == tick]:
            again.apply(done)
        if tick < sim.tick:
            again.step()
    return again


def kinds(driven: Driven) -> Any:
    return driven.program.sim.terrain.kinds


def under(driven: Driven, at: tuple[float, float]) -> tuple[int, int]:
    """Row and column of the tile at a pixel."""
    x, y = driven.program.camera.screen_to_world(*at)
    tile = float(driven.program.sim.terrain.walls.tile)
    return int(y / tile), int(x / tile)


def actions(driven: Driven, kind: type) -> list[tuple[int, Any]]:
    return [(tick, action) for tick, action in driven.program.sim.history if isinstance(action, kind)]


def test_a_fast_stroke_of_the_wall_has_no_gaps_and_undo_gives_back_the_map(hands: Driven) -> None:
    before = kinds(hands).copy()
    take(hands, "tool_wall")
    stroke(hands, (150, 60), (460, 60), (460, 300))
    for at in [(x, 60) for x in range(150, 461, 2)] + [(460, y) for y in range(60, 301, 2)]:
        assert kinds(hands)[under(hands, at)] == WALL
    undo(hands)
    assert kinds(hands).tobytes() == before.tobytes()
    assert any(notice.startswith("undone: wall. Undo reverts") for notice in hands.status().notices)
    assert any("The timeline rewinds time" in notice for notice in hands.status().notices)
    undo(hands, redo=True)
    assert kinds(hands)[under(hands, (300, 60))] == WALL and "done again: wall" in hands.status().notices
    take(hands, "tool_erase")
    stroke(hands, (150, 60), (460, 60))
    assert kinds(hands)[under(hands, (300, 60))] == FLOOR


def test_in_a_stroke_there_is_at_most_one_action_a_tick(hands: Driven) -> None:
    take(hands, "tool_wall")
    for down, up in ((40, 45), (60, 62)):
        hands.drag((150, down), release=False)
        for x in range(150, 400, 9):
            pygame.event.post(pygame.Event(pygame.MOUSEMOTION, pos=(x, up), rel=(0, 0), buttons=(1, 0, 0)))
            hands.program.crowd.unpaced, hands.program.crowd.speed = False, 0.01  # many frames a tick
            hands.frames()
        hands.post(pygame.MOUSEBUTTONUP, pos=(400, up), button=1)
        hands.program.crowd.unpaced = True
        hands.frames(2)
    ticks = [tick for tick, _ in actions(hands, PaintWalls)]
    assert len(ticks) == len(set(ticks)) >= 2
    assert kinds(hands)[under(hands, (390, 45))] == WALL


def test_people_come_in_as_many_as_the_cursor_says_and_go_out_again(hands: Driven) -> None:
    program = hands.program
    before = program.sim.agents.count
    take(hands, "tool_in")
    program.tools.set_size(6)
    shown = brush(hands, (320, 180))
    assert shown.text == "28 people in, 6.0 m" and shown.radius == 78
    stroke(hands, (320, 180))
    assert program.sim.agents.count == before + 28 == program.crowd.agents_asked
    assert [action.count for _, action in actions(hands, BringIn)] == [28]
    take(hands, "tool_out")
    program.tools.set_size(100)
    stroke(hands, (320, 180))
    assert len(actions(hands, TakeOut)) == 1 and program.sim.agents.count < 28
    undo(hands)
    undo(hands)
    assert program.sim.agents.count == before


def test_painting_while_paused_is_seen_at_once(hands: Driven) -> None:
    hands.press("space", frames=3)
    take(hands, "tool_wall")
    before = pygame.surfarray.array2d(screen()).copy()
    hands.drag((300, 100), (340, 100), release=False)
    assert kinds(hands)[under(hands, (320, 100))] == WALL
    hands.post(pygame.MOUSEBUTTONUP, pos=(340, 100), button=1)
    hands.press("escape")
    hands.program.notices.shown.clear()
    hands.frames()
    after = pygame.surfarray.array2d(screen())
    assert (before[310:330, 95:105] != after[310:330, 95:105]).any() and hands.program.sim.tick == 0


def test_escape_takes_the_hand_with_which_a_click_inspects_and_a_drag_pans(hands: Driven) -> None:
    take(hands, "tool_wall")
    hands.press("escape")
    assert hands.program.tools.is_hand and not hands.program.dialogs.top
    x = hands.program.camera.x
    stroke(hands, (300, 180), (320, 180))
    assert hands.program.camera.x != x and not actions(hands, PaintWalls)


def test_with_a_tool_other_buttons_pan_and_the_wheel_with_ctrl_resizes_those_of_its_kind(hands: Driven) -> None:
    program, tools = hands.program, hands.program.tools
    take(hands, "tool_erase")
    x, zoom, size = program.camera.x, program.camera.zoom, tools.size_m
    hands.drag((300, 180), (310, 180), button=3)
    assert program.camera.x == pytest.approx(x - 10)
    wheel(hands, 2)
    assert tools.size_m == pytest.approx(size * 1.15**2) and program.camera.zoom == zoom
    take(hands, "tool_repel")
    assert tools.size_m == 20
    wheel(hands, 100)
    assert tools.size_m == 100
    wheel(hands, -100)
    assert tools.size_m == 0.5
    take(hands, "tool_wall")
    assert tools.size_m == pytest.approx(size * 1.15**2)
    take(hands, "tool_pointer")
    wheel(hands, 2)
    assert program.camera.zoom > zoom


def test_the_bar_takes_tools_and_its_slider_sets_the_size() -> None:
    driven = Driven(*SMALL[:-1], "map=doorway", "window.width=1280", "window.height=720")
    take(driven, "tools")
    driven.frames()
    stroke(driven, driven.find("tool", "tool_wall"))
    assert driven.program.tools.held.name == "wall"
    x, y = driven.find("brush")
    for end, size in ((y - 500, 100), (y + 500, 0.5)):
        stroke(driven, (x, y), (x, end))
        assert driven.program.tools.size_m == size
    assert not driven.program.sim.history
    take(driven, "tools")
    assert driven.status().tools is None


def test_a_click_adds_a_goal_a_drag_moves_it_onto_a_wall_takes_it_away_and_undo_takes_all_back(hands: Driven) -> None:
    sim, press, drop = hands.program.sim, (200.0, 200.0), (120.0, 120.0)
    assert not sim.terrain.blocked[under(hands, press)] and not sim.terrain.blocked[under(hands, drop)]
    count, kinds_before = len(sim.terrain.destinations), kinds(hands).copy()
    take(hands, "tool_goal")
    shown = brush(hands, press)
    assert f"a new destination, {count + 1} of 64" in shown.text and len(shown.lines) == 4 * count
    at_press, at_drop = (row * sim.terrain.columns + column for row, column in (under(hands, press), under(hands, drop)))
    stroke(hands, press, (160.0, 170.0), drop)
    assert sim.terrain.goals == {count: at_drop} and len(sim.terrain.destinations) == count + 1
    stroke(hands, drop, press)
    assert sim.terrain.goals == {count: at_press}
    assert brush(hands, press).text.startswith(f"destination {count}: drag moves it")
    wall = np.argwhere(sim.terrain.blocked)[0] + 0.5
    stroke(hands, press, hands.program.camera.world_to_screen(*(wall[::-1] * float(sim.terrain.walls.tile))))
    assert sim.terrain.goals == {count: -1}
    for tile in (at_press, at_drop, -1):
        undo(hands)
        assert sim.terrain.goals == {count: tile}
    assert np.array_equal(kinds(hands), kinds_before) and replayed(sim).state_hash() == sim.state_hash()


def test_a_click_makes_a_destination_an_exit_and_another_none(hands: Driven) -> None:
    sim = hands.program.sim
    at = hands.program.camera.world_to_screen(*sim.terrain.destinations[0][:2])
    is_exit, ways = 0 in sim.ways.exits, sim.ways  # type: ignore[union-attr]
    take(hands, "tool_exit")
    for expected in (not is_exit, is_exit):
        stroke(hands, at)
        assert ways and (0 in ways.exits) == expected
        assert ("makes it no exit" if expected else "makes it an exit") in brush(hands, at).text
    undo(hands)
    assert ways and (0 in ways.exits) != is_exit


def forces(driven: Driven) -> list[tuple[str, Any, float]]:
    """Kind, place in pixels and radius in pixels of those that stand."""
    camera = driven.program.camera
    return [(force.kind, pytest.approx(camera.world_to_screen(force.x, force.y)), force.radius * camera.zoom)
            for force in driven.program.sim.forces.present]


def test_a_press_puts_a_force_a_drag_leads_it_and_a_press_on_it_removes_it(hands: Driven) -> None:
    program, world = hands.program, hands.program.sim
    take(hands, "tool_attract")
    program.tools.set_size(8)
    shown = brush(hands, (200, 100))
    assert shown.text == "attract, 8.0 m" and shown.radius == 104
    stroke(hands, (200, 100), (260, 140), (320, 180))
    assert forces(hands) == [("attract", (320, 180), 104)]
    (at, radius, icon), = hands.status().rings
    assert at == pytest.approx((320, 180)) and radius == 104 and icon == "attract"
    ticks = [tick for tick, _ in actions(hands, PutForce)]
    assert len(ticks) == len(set(ticks)) >= 2
    take(hands, "tool_repel")
    stroke(hands, (320, 180))
    assert [kind for kind, *_ in forces(hands)] == ["attract", "repel"]
    take(hands, "tool_attract")
    assert brush(hands, (330, 185)).text == "remove: attract, 8.0 m"
    stroke(hands, (330, 185), (400, 200))
    assert forces(hands) == [("repel", (320, 180), 104)]
    for expected in (["attract", "repel"], ["attract"], []):
        undo(hands)
        assert [force.kind for force in world.forces.present] == expected
    for count in (1, 2, 1):
        undo(hands, redo=True)
        assert len(world.forces.present) == count
    assert forces(hands) == [("repel", (320, 180), 104)]


def test_a_scare_follows_the_mouse_and_ends_some_seconds_after_the_release(hands: Driven) -> None:
    program = hands.program
    take(hands, "tool_scare")
    hands.drag((200, 100), release=False)
    hands.frames(3)
    hands.move((260, 100), button=1)
    hands.frames(3)
    first = program.sim.forces.present[0]
    assert forces(hands) == [("scare", (260, 100), 260)] and 230 < first.until - program.sim.tick <= 240
    while program.sim.tick < first.until + 9:  # a rest of some seconds
        hands.frames(9)
    assert len(forces(hands)) == 1 and 4 <= len(actions(hands, PutForce)) < 12
    hands.post(pygame.MOUSEBUTTONUP, pos=(260, 100), button=1)
    hands.frames(2)
    until = program.sim.forces.present[0].until
    while program.sim.tick < until:
        assert hands.status().rings
        hands.frames(3)
    assert not hands.status().rings and not program.tools.strokes
