"""From keys to actions: pressed, held, repeated, and offered to a dialog first."""

from __future__ import annotations

import pygame
import pytest

from crowd_demo.app.key_input import PAN_PX_PER_S, REPEAT_AFTER_S, KeyInput, Keymap
from crowd_demo.config.keys import Keys
from crowd_demo.registry.actions import OFTEN_S

pytestmark = pytest.mark.quick
LONG_S = 9.0  # a slow frame


class Reader(KeyInput):
    """`done` are the actions that were done, "<" before their names with Shift; `offered` the keys that no dialog took."""

    def __init__(self, **keys: object) -> None:
        self.done: list[str] = []
        self.offered: list[str] = []
        self.keymap = Keymap(Keys.model_validate(keys))
        super().__init__(self.keymap, lambda action, shifted: self.done.append("<" * shifted + action), self._refuse)

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
    return Reader()


def key(name: str, mod: int = 0, kind: int = pygame.KEYDOWN) -> pygame.Event:
    return pygame.Event(kind, key=pygame.key.key_code(name), mod=mod)


def test_a_key_is_the_action_that_it_is_bound_to_and_shift_goes_backwards(reader: Reader) -> None:
    assert reader.press("space", "1") == ["pause", "neighbours"]
    assert reader.press("1", mod=pygame.KMOD_LSHIFT)[2:] == ["<neighbours"]
    for mod in (pygame.KMOD_LCTRL, pygame.KMOD_LALT, pygame.KMOD_LMETA):  # shortcuts of the system
        reader.press("u", mod=mod)
    assert Reader(pause="p", largest=None).press("space", "p") == ["pause"] and len(reader.done) == 3


def test_held_keys_pan_until_they_are_released_and_opposite_ones_cancel(reader: Reader) -> None:
    reader.press("d", "up")
    assert reader.hold(0.1) == (PAN_PX_PER_S / 10, -PAN_PX_PER_S / 10)
    reader.up(key("d", kind=pygame.KEYUP))
    assert reader.hold(0.1) == (0, -PAN_PX_PER_S / 10)
    reader.up(key("up", kind=pygame.KEYUP))
    reader.press("a", "d")
    assert reader.hold(0.1) == (0, 0)


def test_a_held_number_key_goes_on_after_a_while_and_once_a_frame(reader: Reader) -> None:
    assert reader.press("]") == ["higher"]
    assert reader.after(LONG_S) == []  # the frame in which it went down
    assert reader.after(REPEAT_AFTER_S * 0.9) == []
    assert reader.after(REPEAT_AFTER_S * 0.2) == ["higher"]
    assert reader.after(OFTEN_S * 0.9) == []
    assert reader.after(LONG_S) == ["higher"]
    reader.up(key("]", kind=pygame.KEYUP))
    assert reader.after(LONG_S) == []


@pytest.mark.parametrize(("name", "repeated"), [
    ("=", ["more"]), (",", ["slower"]), (".", ["step"]), ("page up", ["higher"]), ("4", []), ("tab", []), ("space", [])])
def test_agents_speed_steps_and_numbers_repeat(reader: Reader, name: str, repeated: list[str]) -> None:
    reader.press(name)
    reader.hold(0.0)
    assert reader.after(LONG_S) == repeated
    reader.up(key(name, kind=pygame.KEYUP))
    assert reader.after(LONG_S) == []


def test_a_key_that_types_something_else_when_it_goes_up_is_released(reader: Reader) -> None:
    slash = {"scancode": pygame.KSCAN_7, "key": pygame.K_7}
    reader.down(pygame.Event(pygame.KEYDOWN, slash, mod=pygame.KMOD_LSHIFT, unicode="/"))
    assert reader.done == ["faster"]
    reader.up(pygame.Event(pygame.KEYUP, slash, mod=0, unicode="/"))
    assert reader.after(0.0) == reader.after(LONG_S) == []


def test_an_open_dialog_gets_every_key_and_only_what_concerns_the_window_is_done_besides(reader: Reader) -> None:
    reader.listen(True, set())
    reader.press("return", "enter", "`", "[8]", "up", "f1", "f12")
    reader.press("1", mod=pygame.KMOD_LSHIFT)
    assert reader.offered == ["return", "return", "`", "8", "up", "f1", "f12", "<1"] and reader.done == ["help", "screenshot"]
    reader.press("left alt")
    reader.press("a", mod=pygame.KMOD_LALT)
    reader.press("right shift", mod=pygame.KMOD_RSHIFT)
    assert len(reader.offered) == 8
    assert reader.press("=", mod=pygame.KMOD_LCTRL)[2:] == ["larger"] and len(reader.offered) == 8, "chords go past it"


def test_a_key_that_is_wanted_without_a_dialog_is_offered_and_others_are_not(reader: Reader) -> None:
    reader.listen(False, {"return"})
    assert reader.press("return", "1") == ["menu", "neighbours"] and reader.offered == ["return"]


def test_in_a_dialog_arrows_and_page_keys_repeat_and_nothing_pans(reader: Reader) -> None:
    reader.listen(True, set())
    reader.press("down", "page up", "=", "a")
    reader.hold(0.0)
    reader.offered = []
    assert reader.after(LONG_S) == [] and reader.offered == ["down", "page up"] and reader.hold(0.1) == (0, 0)


@pytest.mark.parametrize("opens", [True, False])
def test_keys_held_when_a_dialog_opens_or_closes_have_no_further_effect(reader: Reader, opens: bool) -> None:
    reader.listen(not opens, set())
    reader.press("down", "]", "d")
    reader.listen(not opens, set())  # is said before each event
    assert any(reader.hold(0.1)) == opens
    reader.listen(opens, set())
    assert reader.after(0.0) == reader.after(LONG_S) == [] and reader.hold(0.1) == (0, 0)


def test_escape_and_closing_the_window_quit(reader: Reader) -> None:
    quits = reader.keymap.quits
    assert quits(pygame.Event(pygame.QUIT)) and quits(key("escape"))
    assert not quits(key("space")) and not quits(key("escape", kind=pygame.KEYUP))
