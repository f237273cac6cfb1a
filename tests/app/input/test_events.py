"""From events to commands."""

from __future__ import annotations

import pygame
import pytest

from crowd_demo.app.input.commands import Close, Command, Do, Hover, Leave, Pan, Point, Press, Zoom
from crowd_demo.app.input.events import PAN_PX_PER_S, REPEAT_AFTER_S, REPEAT_EVERY_S, Input
from crowd_demo.config.keys import bindings
from crowd_demo.config.model import Config

pytestmark = pytest.mark.quick


@pytest.fixture
def reader(screen: pygame.Surface) -> Input:
    return Input(bindings(Config.model_validate({}).keys), (640, 360))


def key(name: str, mod: int = 0, kind: int = pygame.KEYDOWN) -> pygame.Event:
    return pygame.Event(kind, key=pygame.key.key_code(name), mod=mod)


def mouse(kind: int, pos: tuple[int, int], **values: int) -> pygame.Event:
    return pygame.Event(kind, {"pos": pos, **values})


def read(reader: Input, *events: pygame.Event) -> list[Command]:
    return [command for event in events for command in reader.read(event)]


def test_a_key_is_the_action_that_it_is_bound_to(reader: Input) -> None:
    assert read(reader, key("space"), key("1")) == [Do("pause"), Do("neighbours")]


def test_shift_steps_backwards(reader: Input) -> None:
    assert read(reader, key("1", pygame.KMOD_LSHIFT)) == [Do("neighbours", backwards=True)]


def test_rebound_keys_are_obeyed_and_unbound_ones_ignored(screen: pygame.Surface) -> None:
    reader = Input({"p": "pause"}, (640, 360))
    assert read(reader, key("space"), key("p")) == [Do("pause")]


@pytest.mark.parametrize("mod", [pygame.KMOD_LCTRL, pygame.KMOD_LALT, pygame.KMOD_LMETA])
def test_shortcuts_of_the_system_are_not_ours(reader: Input, mod: int) -> None:
    assert read(reader, key("x", mod)) == []


def test_a_held_key_pans_until_it_is_released(reader: Input) -> None:
    read(reader, key("d"), key("up"))
    assert list(reader.held(0.1)) == [Pan(PAN_PX_PER_S / 10, -PAN_PX_PER_S / 10)]
    read(reader, key("d", kind=pygame.KEYUP))
    assert list(reader.held(0.1)) == [Pan(0, -PAN_PX_PER_S / 10)]
    read(reader, key("up", kind=pygame.KEYUP))
    assert list(reader.held(0.1)) == []


def test_opposite_keys_cancel(reader: Input) -> None:
    read(reader, key("a"), key("d"))
    assert list(reader.held(0.1)) == []


def test_a_held_number_key_goes_on_after_a_while_and_once_a_frame(reader: Input) -> None:
    assert read(reader, key("]")) == [Do("higher")]
    assert list(reader.held(9.0)) == []  # a slow frame in which it went down
    assert list(reader.held(REPEAT_AFTER_S * 0.9)) == []
    assert list(reader.held(REPEAT_AFTER_S * 0.2)) == [Do("higher")]
    assert list(reader.held(REPEAT_EVERY_S["higher"] * 0.9)) == []
    assert list(reader.held(9.0)) == [Do("higher")]
    read(reader, key("]", kind=pygame.KEYUP))
    assert list(reader.held(9.0)) == []


def test_a_slow_frame_does_not_repeat_a_key_that_was_released_in_it(reader: Input) -> None:
    read(reader, key("["))
    list(reader.held(0.01))
    read(reader, key("[", kind=pygame.KEYUP))
    assert list(reader.held(9.0)) == []


def test_no_other_key_repeats(reader: Input) -> None:
    read(reader, key("4"), key("tab"), key("space"))
    assert list(reader.held(0.0)) == list(reader.held(9.0)) == []


@pytest.mark.parametrize(("name", "action"), [("=", "more"), (",", "slower"), (".", "step"), ("page up", "higher")])
def test_agents_speed_steps_and_numbers_repeat(reader: Input, name: str, action: str) -> None:
    read(reader, key(name))
    list(reader.held(0.0))
    assert list(reader.held(9.0)) == [Do(action)]


def test_a_key_that_types_something_else_when_it_goes_up_is_released(reader: Input) -> None:
    slash = {"scancode": pygame.KSCAN_7, "key": pygame.K_7}
    assert read(reader, pygame.Event(pygame.KEYDOWN, slash, mod=pygame.KMOD_LSHIFT, unicode="/")) == [Do("faster")]
    read(reader, pygame.Event(pygame.KEYUP, slash, mod=0, unicode="/"))
    assert list(reader.held(0.0)) == list(reader.held(9.0)) == []


def test_an_open_dialog_gets_every_key_with_what_it_would_do(reader: Input) -> None:
    reader.dialog_open = True
    menu = Do("menu")
    assert read(reader, key("return"), key("enter"), key("z"), key("[8]"), key("1", pygame.KMOD_LSHIFT), key("up")) == [
        Press("return", action=menu), Press("return", action=menu), Press("z"), Press("8", action=Do("depth")),
        Press("1", True, Do("neighbours", backwards=True)), Press("up")]
    assert read(reader, key("left alt"), key("a", pygame.KMOD_LALT), key("right shift", pygame.KMOD_RSHIFT)) == []


def test_chords_go_past_a_dialog(reader: Input) -> None:
    reader.dialog_open = True
    assert read(reader, key("=", pygame.KMOD_LCTRL)) == [Do("larger")]


def test_in_a_dialog_arrows_and_page_keys_repeat_and_nothing_pans(reader: Input) -> None:
    reader.dialog_open = True
    read(reader, key("down"), key("page up"), key("="), key("a"))
    list(reader.held(0.0))
    assert list(reader.held(9.0)) == [Press("down"), Press("page up", action=Do("higher"))]


@pytest.mark.parametrize("opens", [True, False])
def test_keys_held_when_a_dialog_opens_or_closes_have_no_further_effect(reader: Input, opens: bool) -> None:
    reader.dialog_open = not opens
    read(reader, key("down"), key("]"), key("d"))
    reader.dialog_open = opens
    assert list(reader.held(0.0)) == list(reader.held(9.0)) == []


def test_that_no_dialog_is_open_may_be_said_every_frame(reader: Input) -> None:
    read(reader, key("d"))
    reader.dialog_open = False
    assert list(reader.held(0.1)) == [Pan(PAN_PX_PER_S / 10, 0)]


def test_losing_the_focus_releases_keys_and_buttons(reader: Input) -> None:
    read(reader, key("d"), key("]"), mouse(pygame.MOUSEBUTTONDOWN, (10, 10), button=3), pygame.Event(pygame.WINDOWFOCUSLOST))
    assert list(reader.held(0.1)) == list(reader.held(9.0)) == []
    assert read(reader, mouse(pygame.MOUSEMOTION, (20, 20))) == [Hover(20, 20)]


def test_the_wheel_zooms_at_the_cursor(reader: Input) -> None:
    read(reader, mouse(pygame.MOUSEMOTION, (100, 50)))
    (zoom,) = read(reader, pygame.Event(pygame.MOUSEWHEEL, x=0, y=1))
    assert isinstance(zoom, Zoom) and (zoom.x, zoom.y) == (100, 50) and zoom.factor > 1
    (back,) = read(reader, pygame.Event(pygame.MOUSEWHEEL, x=0, y=-1))
    assert isinstance(back, Zoom) and back.factor == pytest.approx(1 / zoom.factor)


@pytest.mark.parametrize("button", [2, 3])
def test_dragging_pulls_the_picture_along(reader: Input, button: int) -> None:
    commands = read(reader, mouse(pygame.MOUSEBUTTONDOWN, (100, 100), button=button),
                    mouse(pygame.MOUSEMOTION, (130, 90)), mouse(pygame.MOUSEMOTION, (131, 90)),
                    mouse(pygame.MOUSEBUTTONUP, (131, 90), button=button))
    assert commands == [Pan(-30, 10), Pan(-1, 0)]


def test_the_left_button_points_from_press_to_release(reader: Input) -> None:
    commands = read(reader, mouse(pygame.MOUSEBUTTONDOWN, (100, 100), button=1), mouse(pygame.MOUSEMOTION, (130, 90)),
                    mouse(pygame.MOUSEBUTTONUP, (130, 90), button=1))
    assert commands == [Point(100, 100, "press"), Point(130, 90, "drag", 30, -10), Point(130, 90, "release")]


def test_losing_the_focus_ends_a_drag(reader: Input) -> None:
    read(reader, mouse(pygame.MOUSEBUTTONDOWN, (100, 100), button=1))
    assert read(reader, pygame.Event(pygame.WINDOWFOCUSLOST)) == [Point(100, 100, "release")]
    assert not reader.pointing


def test_a_cursor_without_buttons_hovers_until_it_leaves(reader: Input) -> None:
    assert read(reader, mouse(pygame.MOUSEMOTION, (7, 8)), pygame.Event(pygame.WINDOWLEAVE)) == [Hover(7, 8), Leave()]


def test_closing_the_window_quits(reader: Input) -> None:
    assert read(reader, pygame.Event(pygame.QUIT)) == [Close()]
    assert reader.quits(pygame.Event(pygame.QUIT)) and reader.quits(key("escape"))
    assert not reader.quits(key("space")) and not reader.quits(key("escape", kind=pygame.KEYUP))
