"""What presses, drags and a resting cursor mean, by what is drawn where they happen."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from crowd_demo.app.input import pointer
from crowd_demo.app.input.commands import (
    Click,
    Command,
    Do,
    DragNumber,
    Hover,
    Leave,
    LookAt,
    Pan,
    Point,
    PointerCommand,
    Rest,
    Scrub,
)
from crowd_demo.app.input.pointer import Pointer
from crowd_demo.render.hud.canvas import Target

pytestmark = pytest.mark.quick
ROW, NUMBER, TIMELINE = Target("technique", "simd"), Target("number", "reorder.every"), Target("timeline")
MINIMAP = Target("minimap")


def find(x: float, y: float) -> Target | None:
    """Columns of 100 pixels: the ground, a technique, a number, the timeline, the minimap."""
    return (None, ROW, NUMBER, TIMELINE, MINIMAP)[int(x // 100)]


def mapped(x: float, y: float) -> tuple[float, float]:
    return 10 * x, 10 * y


def meant(commands: Iterable[Command]) -> list[PointerCommand]:
    reader = Pointer(find, mapped)
    return [each for command in commands for each in reader.read(command)]


def drag(start: float, *moves: float) -> list[Command]:
    x, commands = start, [Point(start, 5, "press")]
    for dx in moves:
        x += dx
        commands.append(Point(x, 5, "drag", dx, 0))
    return [*commands, Point(x, 5, "release")]


def test_a_press_that_does_not_move_is_a_click_on_what_is_there() -> None:
    assert meant(drag(150)) == [Click(ROW, (150, 5))]
    assert meant(drag(250, 2, -1)) == [Click(NUMBER, (251, 5))]
    assert meant(drag(50)) == [Click(None, (50, 5))]


def test_dragging_the_ground_pulls_it_along() -> None:
    assert meant(drag(50, 10, -4)) == [Pan(-10, 0), Pan(4, 0)]


def test_dragging_a_panel_does_nothing() -> None:
    assert meant(drag(150, 30)) == []


def test_dragging_a_number_changes_it_step_by_step_wherever_the_cursor_gets() -> None:
    notch = pointer.NOTCH_PX
    assert meant(drag(250, notch, notch / 2, notch / 2, -300 * notch)) == [
        DragNumber("reorder.every", 1), DragNumber("reorder.every", 1), DragNumber("reorder.every", -300)]


def test_the_timeline_is_followed_until_the_button_is_released() -> None:
    assert meant(drag(350, -200, 10)) == [Scrub(350), Scrub(150), Scrub(160)]


def test_the_minimap_is_followed_while_it_is_pressed() -> None:
    assert meant(drag(450, -30, 10)) == [LookAt(4500, 50), LookAt(4200, 50), LookAt(4300, 50)]


def test_the_cursor_rests_on_a_target_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    reader = Pointer(find, mapped)
    assert list(reader.read(Hover(150, 5))) == [Rest(ROW)] and reader.resting_on is None
    now[0] += pointer.REST_S + 0.01
    assert reader.resting_on and reader.resting_on.target == ROW
    assert list(reader.read(Hover(160, 5))) == [] and reader.resting_on.at == (150, 5)
    for away in (Leave(), Hover(50, 5), Point(150, 5, "press")):
        list(reader.read(Hover(150, 5)))
        now[0] += pointer.REST_S + 0.01
        list(reader.read(away))
        assert reader.resting_on is None


def test_other_commands_pass() -> None:
    assert meant([Do("pause"), Pan(1, 2)]) == [Do("pause"), Pan(1, 2)]
