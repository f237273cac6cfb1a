"""From keys to actions."""

from __future__ import annotations

import pygame
import pytest

from crowd_demo.app.input.key_input import PAN_PX_PER_S, REPEAT_AFTER_S, REPEAT_EVERY_S, Keys, quits
from crowd_demo.config.keys import bindings
from crowd_demo.config.model import Config

pytestmark = pytest.mark.quick


class Reader(Keys):
    """`done` are the actions that were done, "<" before their names with Shift; `offered` the keys that nobody took."""

    def __init__(self, bound: dict[str, str]) -> None:
        self.done: list[str] = []
        self.offered: list[str] = []
        super().__init__(bound, lambda action, backwards: self.done.append("<" * backwards + action), self._refuse)

    def _refuse(self, name: str, shift: bool) -> bool:
        self.offered.append("<" * shift + name)
        return False

    def press(self, *names: str, mod: int = 0) -> list[str]:
        """Press keys; return all that was done so far."""
        for name in names:
            self.down(key(name, mod))
        return self.done

    def after(self, elapsed_s: float) -> list[str]:
        """What is done by keys that are held for so long."""
        self.done = []
        self.hold(elapsed_s)
        return self.done


@pytest.fixture
def reader(screen: pygame.Surface) -> Reader:
    return Reader(bindings(Config.model_validate({}).keys))


def key(name: str, mod: int = 0, kind: int = pygame.KEYDOWN) -> pygame.Event:
    return pygame.Event(kind, key=pygame.key.key_code(name), mod=mod)


def test_a_key_is_the_action_that_it_is_bound_to(reader: Reader) -> None:
    assert reader.press("space", "1") == ["pause", "neighbours"]


def test_shift_steps_backwards(reader: Reader) -> None:
    assert reader.press("1", mod=pygame.KMOD_LSHIFT) == ["<neighbours"]


def test_rebound_keys_are_obeyed_and_unbound_ones_ignored(screen: pygame.Surface) -> None:
    assert Reader({"p": "pause"}).press("space", "p") == ["pause"]


@pytest.mark.parametrize("mod", [pygame.KMOD_LCTRL, pygame.KMOD_LALT, pygame.KMOD_LMETA])
def test_shortcuts_of_the_system_are_not_ours(reader: Reader, mod: int) -> None:
    assert reader.press("u", mod=mod) == []


def test_a_held_key_pans_until_it_is_released(reader: Reader) -> None:
    reader.press("d", "up")
    assert reader.hold(0.1) == (PAN_PX_PER_S / 10, -PAN_PX_PER_S / 10)
    reader.up(key("d", kind=pygame.KEYUP))
    assert reader.hold(0.1) == (0, -PAN_PX_PER_S / 10)
    reader.up(key("up", kind=pygame.KEYUP))
    assert reader.hold(0.1) == (0, 0)


def test_opposite_keys_cancel(reader: Reader) -> None:
    reader.press("a", "d")
    assert reader.hold(0.1) == (0, 0)


def test_a_held_number_key_goes_on_after_a_while_and_once_a_frame(reader: Reader) -> None:
    assert reader.press("]") == ["higher"]
    assert reader.after(9.0) == []  # a slow frame in which it went down
    assert reader.after(REPEAT_AFTER_S * 0.9) == []
    assert reader.after(REPEAT_AFTER_S * 0.2) == ["higher"]
    assert reader.after(REPEAT_EVERY_S["higher"] * 0.9) == []
    assert reader.after(9.0) == ["higher"]
    reader.up(key("]", kind=pygame.KEYUP))
    assert reader.after(9.0) == []


def test_a_slow_frame_does_not_repeat_a_key_that_was_released_in_it(reader: Reader) -> None:
    reader.press("[")
    reader.hold(0.01)
    reader.up(key("[", kind=pygame.KEYUP))
    assert reader.after(9.0) == []


def test_no_other_key_repeats(reader: Reader) -> None:
    reader.press("4", "tab", "space")
    assert reader.after(0.0) == reader.after(9.0) == []


@pytest.mark.parametrize(("name", "action"), [("=", "more"), (",", "slower"), (".", "step"), ("page up", "higher")])
def test_agents_speed_steps_and_numbers_repeat(reader: Reader, name: str, action: str) -> None:
    reader.press(name)
    reader.hold(0.0)
    assert reader.after(9.0) == [action]


def test_a_key_that_types_something_else_when_it_goes_up_is_released(reader: Reader) -> None:
    slash = {"scancode": pygame.KSCAN_7, "key": pygame.K_7}
    reader.down(pygame.Event(pygame.KEYDOWN, slash, mod=pygame.KMOD_LSHIFT, unicode="/"))
    assert reader.done == ["faster"]
    reader.up(pygame.Event(pygame.KEYUP, slash, mod=0, unicode="/"))
    assert reader.after(0.0) == reader.after(9.0) == []


def test_an_open_dialog_gets_every_key_and_what_it_refuses_is_done(reader: Reader) -> None:
    reader.listen(True, set())
    reader.press("return", "enter", "`", "[8]", "up")
    reader.press("1", mod=pygame.KMOD_LSHIFT)
    assert reader.offered == ["return", "return", "`", "8", "up", "<1"]
    assert reader.done == ["menu", "menu", "depth", "<neighbours"], "but for keys that pan"
    reader.press("left alt")
    reader.press("a", mod=pygame.KMOD_LALT)
    reader.press("right shift", mod=pygame.KMOD_RSHIFT)
    assert len(reader.offered) == 6


def test_a_key_that_is_wanted_without_a_dialog_is_offered_and_others_are_not(reader: Reader) -> None:
    reader.listen(False, {"return"})
    assert reader.press("return", "1") == ["menu", "neighbours"] and reader.offered == ["return"]


def test_chords_go_past_a_dialog(reader: Reader) -> None:
    reader.listen(True, set())
    assert reader.press("=", mod=pygame.KMOD_LCTRL) == ["larger"] and not reader.offered


def test_in_a_dialog_arrows_and_page_keys_repeat_and_nothing_pans(reader: Reader) -> None:
    reader.listen(True, set())
    reader.press("down", "page up", "=", "a")
    reader.hold(0.0)
    reader.offered = []
    assert reader.after(9.0) == ["higher"] and reader.offered == ["down", "page up"] and reader.hold(0.1) == (0, 0)


@pytest.mark.parametrize("opens", [True, False])
def test_keys_held_when_a_dialog_opens_or_closes_have_no_further_effect(reader: Reader, opens: bool) -> None:
    reader.listen(not opens, set())
    reader.press("down", "]", "d")
    reader.listen(opens, set())
    assert reader.after(0.0) == reader.after(9.0) == [] and reader.hold(0.1) == (0, 0)


def test_that_no_dialog_is_open_may_be_said_every_frame(reader: Reader) -> None:
    reader.press("d")
    reader.listen(False, set())
    assert reader.hold(0.1) == (PAN_PX_PER_S / 10, 0)


def test_escape_and_closing_the_window_quit(reader: Reader) -> None:
    def ends(event: pygame.Event) -> bool:
        return quits(event, reader.keyboard, reader.bindings)

    assert ends(pygame.Event(pygame.QUIT)) and ends(key("escape"))
    assert not ends(key("space")) and not ends(key("escape", kind=pygame.KEYUP))
