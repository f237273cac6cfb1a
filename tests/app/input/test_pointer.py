"""What presses, drags and a resting cursor mean, by what is drawn where they happen."""

from __future__ import annotations

import pygame
import pytest

from crowd_demo.app.input import pointer
from crowd_demo.app.input.pointer import (
    Click,
    DragNumber,
    LookAt,
    Pan,
    Pointer,
    PointerCommand,
    Rest,
    Scrub,
    SelectBox,
    Zoom,
)
from crowd_demo.render.hud.canvas import Target

pytestmark = pytest.mark.quick
ROW, NUMBER, TIMELINE = Target("technique", "simd"), Target("number", "reorder.every"), Target("timeline")
MINIMAP = Target("minimap")


def find(x: float, y: float) -> Target | None:
    """Columns of 100 pixels: the ground, a technique, a number, the timeline, the minimap."""
    return (None, ROW, NUMBER, TIMELINE, MINIMAP)[int(x // 100)]


def mapped(x: float, y: float) -> tuple[float, float]:
    return 10 * x, 10 * y


@pytest.fixture
def reader(screen: pygame.Surface) -> Pointer:
    return Pointer((640, 360), find, mapped)


def mouse(kind: int, pos: tuple[float, float], **values: int) -> pygame.Event:
    return pygame.Event(kind, {"pos": pos, **values})


def read(reader: Pointer, *events: pygame.Event) -> list[PointerCommand]:
    return [command for event in events for command in reader.read(event)]


def drag(start: float, *moves: float) -> list[pygame.Event]:
    """Press the left button there, move it so many pixels each, and release it."""
    x, events = start, [mouse(pygame.MOUSEBUTTONDOWN, (start, 5), button=1)]
    for dx in moves:
        x += dx
        events.append(mouse(pygame.MOUSEMOTION, (x, 5)))
    return [*events, mouse(pygame.MOUSEBUTTONUP, (x, 5), button=1)]


def test_a_press_that_does_not_move_is_a_click_on_what_is_there(reader: Pointer) -> None:
    assert read(reader, *drag(150)) == [Click(ROW, (150, 5))]
    assert read(reader, *drag(250, 2, -1)) == [Click(NUMBER, (251, 5))]
    assert read(reader, *drag(50)) == [Click(None, (50, 5))]


def test_dragging_the_ground_pulls_it_along(reader: Pointer) -> None:
    assert read(reader, *drag(50, 10, -4)) == [Pan(-10, 0), Pan(4, 0)]


@pytest.mark.parametrize("button", [2, 3])
def test_other_buttons_pull_the_ground_wherever_they_are_pressed(reader: Pointer, button: int) -> None:
    events = (mouse(pygame.MOUSEBUTTONDOWN, (150, 100), button=button), mouse(pygame.MOUSEMOTION, (180, 90)),
              mouse(pygame.MOUSEMOTION, (181, 90)), mouse(pygame.MOUSEBUTTONUP, (181, 90), button=button))
    assert read(reader, *events) == [Pan(-30, 10), Pan(-1, 0)]


def test_with_shift_a_drag_of_the_ground_selects_a_box(reader: Pointer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pygame.key, "get_mods", lambda: pygame.KMOD_LSHIFT)
    assert read(reader, *drag(20, 3, 40)) == [SelectBox((20, 5), (63, 5))]


def test_dragging_a_panel_does_nothing(reader: Pointer) -> None:
    assert read(reader, *drag(150, 30)) == []


def test_dragging_a_number_changes_it_step_by_step_wherever_the_cursor_gets(reader: Pointer) -> None:
    notch = pointer.NOTCH_PX
    assert read(reader, *drag(250, notch, notch / 2, notch / 2, -300 * notch)) == [
        DragNumber("reorder.every", 1), DragNumber("reorder.every", 1), DragNumber("reorder.every", -300)]


def test_the_timeline_is_followed_until_the_button_is_released(reader: Pointer) -> None:
    assert read(reader, *drag(350, -200, 10)) == [Scrub(350), Scrub(150), Scrub(160)]


def test_the_minimap_is_followed_while_it_is_pressed(reader: Pointer) -> None:
    assert read(reader, *drag(450, -30, 10)) == [LookAt(4500, 50), LookAt(4200, 50), LookAt(4300, 50)]


def test_the_cursor_rests_on_a_target_after_a_while(reader: Pointer, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    assert read(reader, mouse(pygame.MOUSEMOTION, (150, 5))) == [Rest(ROW)] and reader.resting_on is None
    now[0] += pointer.REST_S + 0.01
    assert reader.resting_on and reader.resting_on.target == ROW
    assert read(reader, mouse(pygame.MOUSEMOTION, (160, 5))) == [] and reader.resting_on.at == (150, 5)
    for leaving in (pygame.Event(pygame.WINDOWLEAVE), mouse(pygame.MOUSEMOTION, (50, 5)),
                    mouse(pygame.MOUSEBUTTONDOWN, (150, 5), button=1)):
        read(reader, mouse(pygame.MOUSEMOTION, (150, 5)))
        now[0] += pointer.REST_S + 0.01
        read(reader, leaving)
        assert reader.resting_on is None


def test_the_wheel_zooms_at_the_cursor(reader: Pointer) -> None:
    read(reader, mouse(pygame.MOUSEMOTION, (100, 50)))
    (zoom,) = read(reader, pygame.Event(pygame.MOUSEWHEEL, x=0, y=1))
    assert isinstance(zoom, Zoom) and (zoom.x, zoom.y) == (100, 50) and zoom.factor > 1
    (back,) = read(reader, pygame.Event(pygame.MOUSEWHEEL, x=0, y=-1))
    assert isinstance(back, Zoom) and back.factor == pytest.approx(1 / zoom.factor)


def test_losing_the_focus_releases_all_buttons(reader: Pointer) -> None:
    lost = pygame.Event(pygame.WINDOWFOCUSLOST)
    assert read(reader, mouse(pygame.MOUSEBUTTONDOWN, (150, 100), button=1), lost) == [Click(ROW, (150, 100))]
    read(reader, mouse(pygame.MOUSEBUTTONDOWN, (10, 10), button=3), lost)
    assert read(reader, mouse(pygame.MOUSEMOTION, (20, 20))) == []
