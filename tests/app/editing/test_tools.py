"""Tools for the mouse, by real events in a program that runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pygame
import pytest
from driven import Driven

from crowd_demo.app.screen.window import screen
from crowd_demo.config.maps import FLOOR, WALL
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.sim.actions import Place
from crowd_demo.sim.edits import BringIn, PaintWalls, PutForce, Remove, TakeOut
from crowd_demo.sim.simulation import Simulation

CTRL = pygame.KMOD_LCTRL
SMALL = ("world.width=640", "world.height=360", "camera.zoom=1", "window.hud=off")


@pytest.fixture
def hands() -> Driven:
    return Driven(*SMALL, "map=doorway")


def take(driven: Driven, action: str) -> None:
    driven.press(PROGRAM[action].keys[0].removeprefix("ctrl+"), CTRL)


def mouse(driven: Driven, kind: int, at: tuple[float, float], **values: Any) -> None:
    values = {"button": 1} if kind != pygame.MOUSEMOTION else {"rel": (0, 0), "buttons": (0, 0, 0)}
    driven.post(kind, pos=at, **values)


def stroke(driven: Driven, *way: tuple[float, float]) -> None:
    mouse(driven, pygame.MOUSEBUTTONDOWN, way[0])
    for at in way[1:]:
        mouse(driven, pygame.MOUSEMOTION, at)
    mouse(driven, pygame.MOUSEBUTTONUP, way[-1])
    driven.frames(2)


def wheel(driven: Driven, notches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(pygame.key, "get_mods", lambda: CTRL)
        driven.post(pygame.MOUSEWHEEL, x=0, y=notches, precise_y=float(notches))


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
    hands.press("z", CTRL)
    assert kinds(hands).tobytes() == before.tobytes() and "undone: wall" in hands.status().notices
    assert any("the timeline goes back in time" in notice for notice in hands.status().notices)
    hands.press("z", CTRL | pygame.KMOD_LSHIFT)
    assert kinds(hands)[under(hands, (300, 60))] == WALL and "done again: wall" in hands.status().notices


def test_erase_tears_down_what_wall_built(hands: Driven) -> None:
    free = np.argwhere(kinds(hands) == FLOOR)
    tile = float(hands.program.sim.terrain.walls.tile)
    row, column = free[len(free) // 2]
    x, y = hands.program.camera.world_to_screen((column + 0.5) * tile, (row + 0.5) * tile)
    take(hands, "tool_wall")
    stroke(hands, (x, y))
    assert kinds(hands)[row, column] == WALL
    take(hands, "tool_erase")
    stroke(hands, (x, y))
    assert kinds(hands)[row, column] == FLOOR and [action.wall for _, action in actions(hands, PaintWalls)] == [True, False]


def test_in_a_stroke_there_is_at_most_one_action_a_tick(hands: Driven) -> None:
    take(hands, "tool_wall")
    for down, up in ((40, 45), (60, 62)):
        mouse(hands, pygame.MOUSEBUTTONDOWN, (150, down))
        for x in range(150, 400, 9):
            pygame.event.post(pygame.Event(pygame.MOUSEMOTION, pos=(x, up), rel=(0, 0), buttons=(1, 0, 0)))
            hands.program.crowd.unpaced, hands.program.crowd.speed = False, 0.01  # many frames a tick
            hands.frames()
        mouse(hands, pygame.MOUSEBUTTONUP, (400, up))
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
    mouse(hands, pygame.MOUSEMOTION, (320, 180))
    shown = hands.status().brush
    assert shown and shown.text == "28 people in, 6.0 m" and shown.radius == 78
    stroke(hands, (320, 180))
    assert program.sim.agents.count == before + 28 == program.crowd.agents_asked
    assert [action.count for _, action in actions(hands, BringIn)] == [28]
    take(hands, "tool_out")
    program.tools.set_size(100)
    stroke(hands, (320, 180))
    assert len(actions(hands, TakeOut)) == 1 and program.sim.agents.count < 28
    hands.press("z", CTRL)
    hands.press("z", CTRL)
    assert program.sim.agents.count == before


def test_a_drag_brings_people_in_along_the_way_and_takes_them_out_along_it(hands: Driven) -> None:
    program = hands.program
    program.tools.set_size(1)
    take(hands, "tool_in")
    stroke(hands, (100, 105), (100 + 26 * 4 + 5, 105))
    hands.frames(6)
    assert len(actions(hands, BringIn)) == 5
    hands.press("space")
    program.tools.set_size(3)
    take(hands, "tool_out")
    stroke(hands, (0, 170), (640, 170), (640, 190), (0, 190))
    assert actions(hands, Remove)
    y = hands.program.camera.world_to_screen(0, 0)[1] + program.sim.agents.columns.y[:program.sim.agents.count]
    assert not ((y > 172) & (y < 188)).any()


def test_painting_while_paused_is_seen_at_once(hands: Driven) -> None:
    hands.press("space")
    hands.frames(2)
    take(hands, "tool_wall")
    hands.program.tools.cursor = None
    before = pygame.surfarray.array2d(screen()).copy()
    mouse(hands, pygame.MOUSEBUTTONDOWN, (300, 100))
    mouse(hands, pygame.MOUSEMOTION, (340, 100))
    assert kinds(hands)[under(hands, (320, 100))] == WALL
    mouse(hands, pygame.MOUSEBUTTONUP, (340, 100))
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


def test_with_a_tool_other_buttons_pan_and_the_wheel_zooms_or_with_ctrl_resizes(
        hands: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    program = hands.program
    take(hands, "tool_erase")
    x, zoom, size = program.camera.x, program.camera.zoom, program.tools.size_m
    hands.post(pygame.MOUSEBUTTONDOWN, pos=(300, 180), button=3)
    mouse(hands, pygame.MOUSEMOTION, (310, 180))
    hands.post(pygame.MOUSEBUTTONUP, pos=(310, 180), button=3)
    assert program.camera.x == pytest.approx(x - 10)
    wheel(hands, 2, monkeypatch)
    assert program.tools.size_m == pytest.approx(size * 1.15**2) and program.camera.zoom == zoom
    take(hands, "tool_hand")
    wheel(hands, 2, monkeypatch)
    assert program.camera.zoom > zoom


def test_the_size_is_kept_within_its_range(hands: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    take(hands, "tool_wall")
    wheel(hands, 100, monkeypatch)
    assert hands.program.tools.size_m == 100
    wheel(hands, -100, monkeypatch)
    assert hands.program.tools.size_m == 0.5


def test_the_bar_takes_tools_and_its_slider_sets_the_size() -> None:
    driven = Driven(*SMALL[:-1], "map=doorway", "window.width=1280", "window.height=720")
    take(driven, "tools")
    driven.frames()
    hud = driven.program.hud
    placed = next(each for each in hud._placed if any(region.target.kind == "brush" for region in each.canvas.targets))
    for region in placed.canvas.targets:
        at = region.rect.move(placed.at).center
        if region.target.name == "tool_wall":
            stroke(driven, at)
            assert driven.program.tools.held.name == "wall"
        if region.target.kind == "brush":
            stroke(driven, at, (at[0], at[1] - 500))
            assert driven.program.tools.size_m == 100
            stroke(driven, at, (at[0], at[1] + 500))
            assert driven.program.tools.size_m == 0.5
    assert not driven.program.sim.history
    take(driven, "tools")
    assert driven.status().tools is None


def test_a_click_adds_a_goal_a_drag_moves_it_onto_a_wall_takes_it_away_and_undo_takes_all_back(hands: Driven) -> None:
    sim, press, drop = hands.program.sim, (200.0, 200.0), (120.0, 120.0)
    assert not sim.terrain.blocked[under(hands, press)] and not sim.terrain.blocked[under(hands, drop)]
    count, kinds_before = len(sim.terrain.destinations), kinds(hands).copy()
    take(hands, "tool_goal")
    mouse(hands, pygame.MOUSEMOTION, press)
    brush = hands.program.tools.brush()
    assert brush and f"a new destination, {count + 1} of 64" in brush.text and len(brush.lines) == 4 * count
    stroke(hands, press, (160.0, 170.0), drop)
    row, column = under(hands, drop)
    assert sim.terrain.goals == {count: row * sim.terrain.columns + column} and len(sim.terrain.destinations) == count + 1
    stroke(hands, drop, press)
    row, column = under(hands, press)
    assert sim.terrain.goals == {count: row * sim.terrain.columns + column}
    mouse(hands, pygame.MOUSEMOTION, press)
    brush = hands.program.tools.brush()
    assert brush and brush.text.startswith(f"destination {count}: drag moves it")
    wall = np.argwhere(sim.terrain.blocked)[0] + 0.5
    stroke(hands, press, hands.program.camera.world_to_screen(*(wall[::-1] * float(sim.terrain.walls.tile))))
    assert sim.terrain.goals == {count: -1}
    places = [row * sim.terrain.columns + column for row, column in (under(hands, press), under(hands, drop))]
    for tile in (*places, -1):
        take(hands, "undo")
        hands.frames(2)
        assert sim.terrain.goals == {count: tile}
    assert np.array_equal(kinds(hands), kinds_before)
    again = Simulation(sim.config)
    for tick in range(sim.tick):
        for at, action in sim.history:
            if at == tick:
                again.apply(action)
        again.step()
    assert again.state_hash() == sim.state_hash()


def test_a_click_makes_a_destination_an_exit_and_another_none(hands: Driven) -> None:
    sim = hands.program.sim
    at = hands.program.camera.world_to_screen(*sim.terrain.destinations[0][:2])
    is_exit, ways = 0 in sim.world.ways.exits, sim.world.ways  # type: ignore[union-attr]
    take(hands, "tool_exit")
    for expected in (not is_exit, is_exit):
        stroke(hands, at)
        assert ways and (0 in ways.exits) == expected
        mouse(hands, pygame.MOUSEMOTION, at)
        brush = hands.program.tools.brush()
        assert brush and ("makes it no exit" if expected else "makes it an exit") in brush.text
    take(hands, "undo")
    hands.frames(2)
    assert ways and (0 in ways.exits) != is_exit


def test_the_window_says_how_far_ways_have_followed(hands: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowd_demo.sim.ways.TILES_A_STEP", 400)
    take(hands, "tool_wall")
    stroke(hands, (300, 100), (300, 140))
    count = len(hands.program.sim.terrain.destinations)
    assert any(text.startswith("ways follow the new walls: ") and text.endswith(f" of {count}")
               for text in hands.program.notices.present())
    while hands.program.sim.world.ways.waits:  # type: ignore[union-attr]
        hands.frames(1)
    assert not any("ways follow" in text for text in hands.program.notices.present())


def test_who_is_walled_in_is_counted_and_undo_brings_them_back(hands: Driven) -> None:
    sim, tools = hands.program.sim, hands.program.tools
    count = sim.agents.count
    hands.press("space")
    tools.set_size(100)
    take(hands, "tool_wall")
    stroke(hands, (320, 180))
    out = count - sim.agents.count
    assert out > 0 and any(f"{out:,}" in text and "no free ground was near" in text
                           for text in hands.program.notices.present())
    take(hands, "undo")
    hands.frames(2)
    assert sim.agents.count == count


def test_the_hawk_is_where_the_mouse_is_pressed() -> None:
    driven = Driven(*SMALL, "behaviour=hunt", "hunt.predators=1", "hunt.predator_speed_max=100")
    take(driven, "tool_scare")
    mouse(driven, pygame.MOUSEBUTTONDOWN, (200, 100))
    driven.frames(3)
    agents: Any = driven.program.sim.agents.by_id()
    assert (agents.x[0], agents.y[0]) == pytest.approx(driven.program.camera.screen_to_world(200, 100), abs=3)
    ticks = [tick for tick, _ in actions(driven, Place)]
    assert len(ticks) == len(set(ticks)) >= 3
    mouse(driven, pygame.MOUSEBUTTONUP, (200, 100))
    driven.frames(5)
    assert len(actions(driven, Place)) <= len(ticks) + 1


def forces(driven: Driven) -> list[tuple[str, Any, float]]:
    """Kind, place in pixels and radius in pixels of those that stand."""
    camera = driven.program.camera
    return [(force.kind, pytest.approx(camera.world_to_screen(force.x, force.y)), force.radius * camera.zoom)
            for force in driven.program.sim.world.forces.present]


def test_a_press_puts_a_force_a_drag_leads_it_and_a_press_on_it_removes_it(hands: Driven) -> None:
    program, world = hands.program, hands.program.sim.world
    take(hands, "tool_attract")
    program.tools.set_size(8)
    mouse(hands, pygame.MOUSEMOTION, (200, 100))
    brush = hands.status().brush
    assert brush and brush.text == "attract, 8.0 m" and brush.radius == 104
    stroke(hands, (200, 100), (260, 140), (320, 180))
    assert forces(hands) == [("attract", (320, 180), 104)]
    ring, = hands.status().rings
    assert ring.at == pytest.approx((320, 180)) and ring.radius == 104 and ring.icon == "attract"
    ticks = [tick for tick, _ in actions(hands, PutForce)]
    assert len(ticks) == len(set(ticks)) >= 2
    take(hands, "tool_repel")
    stroke(hands, (320, 180))
    assert [kind for kind, *_ in forces(hands)] == ["attract", "repel"]
    take(hands, "tool_attract")
    mouse(hands, pygame.MOUSEMOTION, (330, 185))
    brush = hands.status().brush
    assert brush and brush.text == "remove: attract, 8.0 m"
    stroke(hands, (330, 185), (400, 200))
    assert forces(hands) == [("repel", (320, 180), 104)]
    for expected in (["attract", "repel"], ["attract"], []):
        hands.press("z", CTRL)
        assert [force.kind for force in world.forces.present] == expected
    for count in (1, 2, 1):
        hands.press("z", CTRL | pygame.KMOD_LSHIFT)
        assert len(world.forces.present) == count
    assert forces(hands) == [("repel", (320, 180), 104)]


def test_a_scare_follows_the_mouse_and_ends_some_seconds_after_the_release(hands: Driven) -> None:
    program = hands.program
    take(hands, "tool_scare")
    mouse(hands, pygame.MOUSEBUTTONDOWN, (200, 100))
    hands.frames(3)
    mouse(hands, pygame.MOUSEMOTION, (260, 100))
    hands.frames(3)
    first = program.sim.world.forces.present[0]
    assert forces(hands) == [("scare", (260, 100), 260)] and 230 < first.until - program.sim.tick <= 240
    while program.sim.tick < first.until + 9:  # a rest of some seconds
        hands.frames(9)
    assert len(forces(hands)) == 1 and 4 <= len(actions(hands, PutForce)) < 12
    mouse(hands, pygame.MOUSEBUTTONUP, (260, 100))
    hands.frames(2)
    until = program.sim.world.forces.present[0].until
    while program.sim.tick < until:
        assert hands.status().rings
        hands.frames(3)
    assert not hands.status().rings and not program.tools.strokes


def test_each_kind_of_tool_has_a_size_of_its_own(hands: Driven) -> None:
    take(hands, "tool_wall")
    hands.program.tools.set_size(5)
    take(hands, "tool_repel")
    assert hands.program.tools.size_m == 20
    hands.program.tools.set_size(30)
    take(hands, "tool_erase")
    assert hands.program.tools.size_m == 5


def test_what_was_done_by_hand_replays_to_the_same_state(hands: Driven) -> None:
    program = hands.program
    for action, way in (("tool_wall", ((200, 60), (400, 200))), ("tool_in", ((300, 250),)),
                        ("tool_out", ((300, 240), (250, 200))), ("tool_erase", ((240, 80), (300, 200))),
                        ("tool_attract", ((200, 200), (300, 200))), ("tool_scare", ((100, 200), (120, 200)))):
        take(hands, action)
        stroke(hands, *way)
    hands.press("z", CTRL)
    hands.press("z", CTRL)
    hands.press("z", CTRL | pygame.KMOD_LSHIFT)
    again = Simulation(program.sim.config)
    history = list(program.sim.history)
    for tick in range(program.sim.tick + 1):
        for _, done in [each for each in history if each[0] == tick]:
            again.apply(done)
        if tick < program.sim.tick:
            again.step()
    assert again.state_hash() == program.sim.state_hash()
