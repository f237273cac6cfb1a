"""What presses, drags and a resting cursor do, by what is drawn where they happen."""

from __future__ import annotations

from unittest.mock import MagicMock, call

import pygame
import pytest

from crowd_demo.app import window_events
from crowd_demo.app.screen.window import Pointer
from crowd_demo.app.window_events import Mouse
from crowd_demo.render.hud.canvas import Target

pytestmark = pytest.mark.quick
ROW, NUMBER, TIMELINE = Target("action", "pause"), Target("number", "reorder.every"), Target("timeline")
MINIMAP = Target("minimap")


def target_at(x: float, y: float) -> Target | None:
    """Columns of 100 pixels: the ground, an action, a number, the timeline, the minimap, the agents."""
    return (None, ROW, NUMBER, TIMELINE, MINIMAP, Target("number", "agents"))[int(x // 100)]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Remembers what is asked of it."""
    monkeypatch.setattr(window_events, "tick_at", lambda past, x, bar: x)
    program = MagicMock()
    program.dialogs.top, program.pointer = None, Pointer((320, 180))
    program.hud.target_at = target_at
    program.hud.minimap.world_at = lambda x, y: (10 * x, 10 * y)
    program.split.target_at.return_value = None
    program.tools.begin.return_value = False  # the hand is held
    program.camera.size, program.panels.now.scale = (640, 360), 1.0
    return program


@pytest.fixture
def mouse(program: MagicMock, screen: pygame.Surface) -> Mouse:
    return Mouse(program)


def event(kind: int, pos: tuple[float, float], **values: int) -> pygame.Event:
    return pygame.Event(kind, {"pos": pos, **values})


def read(mouse: Mouse, *events: pygame.Event) -> None:
    for each in events:
        mouse.read(each)


def drag(mouse: Mouse, start: float, *moves: float) -> None:
    """Press the left button there, move it so many pixels each, and release it."""
    x = start
    read(mouse, event(pygame.MOUSEBUTTONDOWN, (start, 5), button=1))
    for dx in moves:
        x += dx
        read(mouse, event(pygame.MOUSEMOTION, (x, 5)))
    read(mouse, event(pygame.MOUSEBUTTONUP, (x, 5), button=1))


def test_a_press_that_does_not_move_is_a_click_on_what_is_there(mouse: Mouse, program: MagicMock) -> None:
    drag(mouse, 150)
    assert program.act.mock_calls == [call("pause")]
    drag(mouse, 250, 2, -1)
    assert program.techniques.touched == "reorder.every"
    drag(mouse, 50)
    assert program.inspector.mock_calls == [call.click(50, 5)]


def test_the_number_of_agents_is_dragged_and_a_click_lets_one_type_it(mouse: Mouse, program: MagicMock) -> None:
    drag(mouse, 550, 30, -12)
    assert program.controls.drag_agents.mock_calls == [call(3), call(-1)] and not program.act.mock_calls
    drag(mouse, 550)
    assert program.act.mock_calls == [call("agents")] and not program.techniques.drag_number.mock_calls


def test_dragging_the_ground_pulls_it_along(mouse: Mouse, program: MagicMock) -> None:
    drag(mouse, 150, 30)  # a panel stays
    drag(mouse, 50, 10, -4)
    assert program.camera.mock_calls == [call.pan(-10, 0), call.pan(4, 0)] and not program.inspector.mock_calls
    assert not program.act.mock_calls


@pytest.mark.parametrize("button", [2, 3])
def test_other_buttons_pull_the_ground_wherever_they_are_pressed(mouse: Mouse, program: MagicMock, button: int) -> None:
    read(mouse, event(pygame.MOUSEBUTTONDOWN, (150, 100), button=button), event(pygame.MOUSEMOTION, (180, 90)),
         event(pygame.MOUSEMOTION, (181, 90)), event(pygame.MOUSEBUTTONUP, (181, 90), button=button))
    assert program.camera.mock_calls == [call.pan(-30, 10), call.pan(-1, 0)] and not program.act.mock_calls


def test_with_shift_a_drag_of_the_ground_selects_a_box(
        mouse: Mouse, program: MagicMock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pygame.key, "get_mods", lambda: pygame.KMOD_LSHIFT)
    drag(mouse, 20, 3, 40)
    assert program.inspector.mock_calls == [call.select((20, 5), (63, 5))]


def test_dragging_a_number_changes_it_step_by_step_wherever_the_cursor_gets(mouse: Mouse, program: MagicMock) -> None:
    notch = window_events.NOTCH_PX
    drag(mouse, 250, notch, notch / 2, notch / 2, -300 * notch)
    assert program.techniques.drag_number.mock_calls == [call("reorder.every", steps) for steps in (1, 1, -300)]


def test_the_timeline_and_the_minimap_are_followed_until_the_button_is_released(mouse: Mouse, program: MagicMock) -> None:
    drag(mouse, 350, -200, 10)
    assert program.controls.seek.mock_calls == [call(350), call(150), call(160)] and not program.act.mock_calls
    drag(mouse, 450, -30, 10)
    assert program.seeing.mock_calls == [call.look_at(4500, 50), call.look_at(4200, 50), call.look_at(4300, 50)]


def test_the_cursor_rests_on_a_target_after_a_while(
        mouse: Mouse, program: MagicMock, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    program.dialogs.top = dialog = MagicMock()
    read(mouse, event(pygame.MOUSEMOTION, (150, 5)))
    assert dialog.hover.mock_calls == [call(ROW)] and mouse.resting_on is None
    now[0] += window_events.REST_S + 0.01
    assert mouse.resting_on and mouse.resting_on.target == ROW
    read(mouse, event(pygame.MOUSEMOTION, (160, 5)))
    assert len(dialog.hover.mock_calls) == 1 and mouse.resting_on.at == (150, 5)
    for leaving in (pygame.Event(pygame.WINDOWLEAVE), event(pygame.MOUSEMOTION, (50, 5)),
                    event(pygame.MOUSEBUTTONDOWN, (150, 5), button=1)):
        read(mouse, event(pygame.MOUSEMOTION, (150, 5)))
        now[0] += window_events.REST_S + 0.01
        read(mouse, leaving)
        assert mouse.resting_on is None


def test_the_wheel_zooms_at_the_cursor(mouse: Mouse, program: MagicMock) -> None:
    wheel = [pygame.Event(pygame.MOUSEWHEEL, x=0, y=y) for y in (1, -1)]
    read(mouse, event(pygame.MOUSEMOTION, (100, 50)), *wheel)
    (nearer, farther) = (each.args for each in program.seeing.zoom.mock_calls)
    assert nearer[:2] == farther[:2] == (100, 50) and nearer[2] == pytest.approx(1 / farther[2]) and nearer[2] > 1
    program.dialogs.top = MagicMock()
    read(mouse, *wheel)
    assert program.dialogs.press.mock_calls == [call("up", False), call("down", False)]


def test_losing_the_focus_releases_all_buttons(mouse: Mouse, program: MagicMock) -> None:
    read(mouse, event(pygame.MOUSEBUTTONDOWN, (150, 100), button=1))
    mouse.release_all()
    assert program.act.mock_calls == [call("pause")]
    read(mouse, event(pygame.MOUSEBUTTONDOWN, (10, 10), button=3))
    mouse.release_all()
    read(mouse, event(pygame.MOUSEMOTION, (20, 20)))
    assert not program.camera.mock_calls
