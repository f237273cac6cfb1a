"""Keys of several layouts: what they do, and what they are shown as."""

from __future__ import annotations

import pygame
import pytest
from layouts import PLACES, PLAIN, keyboard, press

from crowd_demo.app.input.keyboard import Keyboard, all_keys, shown_keys
from crowd_demo.config.keys import ACTIONS, bindings
from crowd_demo.config.model import Config

pytestmark = pytest.mark.quick

DEFAULTS = Config.model_validate({}).keys
LETTERS = [key for key in bindings(DEFAULTS) if len(key) == 1 and key.isalnum()]
SHIFT, ALTGR, CTRL = pygame.KMOD_LSHIFT, pygame.KMOD_RALT, pygame.KMOD_LCTRL


def done(layout: str, place: str, mod: int = 0, bound: dict[str, str] | None = None) -> tuple[str, bool]:
    """What the key at that place of a US keyboard does, and whether as with Shift."""
    return keyboard(layout).action(press(layout, place, mod), bound or bindings(DEFAULTS))


@pytest.mark.parametrize("layout", PLAIN)
def test_digits_are_places(layout: str) -> None:
    assert [done(layout, digit) for digit in "79"] == [("cull", False), ("blitter", False)]


@pytest.mark.parametrize("layout", PLAIN)
def test_the_camera_moves_where_wasd_is_on_a_us_keyboard(layout: str) -> None:
    assert [done(layout, place)[0] for place in "wasd"] == ["pan_up", "pan_left", "pan_down", "pan_right"]


@pytest.mark.parametrize("layout", PLAIN)
def test_every_letter_and_digit_has_one_key_without_shift(layout: str) -> None:
    bound = {key: key for key in "abcdefghijklmnopqrstuvwxyz0123456789"}
    pressed = [done(layout, place, bound=bound) for place in PLACES]
    assert sorted(action for action, _ in pressed if action) == sorted(bound)


@pytest.mark.parametrize(("layout", "place", "mod", "action"), [
    ("us", "/", SHIFT, "help"), ("de", "-", SHIFT, "help"), ("fr", "m", SHIFT, "help"), ("es", "-", SHIFT, "help"),
    ("us", "/", 0, "faster"), ("de", "7", SHIFT, "faster"), ("fr", ".", SHIFT, "faster"), ("es", "7", SHIFT, "faster"),
    ("us", "[", 0, "lower"), ("de", "8", ALTGR, "lower"), ("fr", "5", ALTGR, "lower"), ("es", "[", ALTGR, "lower"),
    ("us", "-", 0, "fewer"), ("de", "/", 0, "fewer"), ("fr", "6", 0, "stagger.paths"), ("es", "/", 0, "fewer"),
    ("us", "=", 0, "more"), ("de", "0", SHIFT, "more"), ("de", "]", 0, "more"), ("fr", "=", 0, "more"), ("es", "]", 0, "more"),
    ("us", ".", 0, "step"), ("de", ".", 0, "step"), ("fr", ",", SHIFT, "step"), ("es", ".", 0, "step"),
    ("us", ",", 0, "slower"), ("de", ",", 0, "slower"), ("fr", "m", 0, "slower"), ("es", ",", 0, "slower"),
])
def test_signs_are_what_is_typed(layout: str, place: str, mod: int, action: str) -> None:
    assert done(layout, place, mod) == (action, False)


@pytest.mark.parametrize(("layout", "place", "mod", "action"), [
    ("us", "=", CTRL, "larger"), ("us", "=", CTRL | SHIFT, "larger"), ("de", "]", CTRL, "larger"), ("fr", "=", CTRL, "larger"),
    ("us", "-", CTRL, "smaller"), ("de", "/", CTRL, "smaller"), ("fr", "6", CTRL, "smaller"),
    ("us", "0", CTRL, "normal_size"), ("de", "0", CTRL, "normal_size"), ("fr", "0", CTRL, "normal_size"),
])
def test_ctrl_with_plus_minus_and_0_changes_the_size(layout: str, place: str, mod: int, action: str) -> None:
    assert done(layout, place, mod)[0] == action


@pytest.mark.parametrize("layout", ["us", "de", "fr", "es"])
def test_shift_steps_backwards_unless_it_types_a_bound_sign(layout: str) -> None:
    assert done(layout, "8", SHIFT) == ("depth", True)
    assert done(layout, "e", SHIFT) == ("reorder.every", True)
    bound = {"8": "depth", "(": "pause", "*": "pause"}
    assert done(layout, "8", SHIFT, bound) == (("depth", True) if layout == "fr" else ("pause", False))


def test_alt_alone_is_the_systems_but_altgr_types() -> None:
    assert done("us", "8", ALTGR) == done("de", "q", ALTGR) == done("de", "7", pygame.KMOD_LALT) == ("", False)
    assert done("de", "8", ALTGR | CTRL) == ("lower", False)  # as Windows tells it


def test_a_place_that_is_not_bound_is_a_character() -> None:
    assert done("fr", "a", bound={"q": "pause"}) == done("fr", "6", bound={"-": "pause"}) == ("pause", False)


def key(name: str, mod: int = 0) -> pygame.Event:
    return pygame.Event(pygame.KEYDOWN, key=pygame.key.key_code(name), mod=mod)


def test_the_keypad_counts_as_the_other_keys_unless_it_is_bound_itself(screen: pygame.Surface) -> None:
    bound = {**bindings(DEFAULTS), "[5]": "pause"}

    def of_keypad(name: str, mod: int = 0) -> tuple[str, bool]:
        return Keyboard().action(key(name, mod), bound)

    assert of_keypad("[+]") == ("more", False)
    assert of_keypad("[+]", CTRL) == ("larger", False)
    assert of_keypad("[4]") == ("stagger.avoidance", False)
    assert of_keypad("[5]") == ("pause", False)


@pytest.mark.parametrize(("layout", "labels"), [
    ("us", {"pan_up": ("w", "up"), "lower": ("[", "page down"), "faster": ("/",), "more": ("=", "insert"), "help": ("f1",),
            "larger": ("ctrl+=",), "cull": ("7",)}),
    ("de", {"pan_up": ("w", "up"), "lower": ("page down",), "faster": ("/", ">"), "more": ("+", "insert"), "help": ("f1",),
            "larger": ("ctrl++",), "cull": ("7",)}),
    ("fr", {"pan_up": ("z", "up"), "pan_left": ("q", "left"), "fewer": ("delete",), "more": ("=", "insert"), "cull": ("7",)}),
    ("ru", {"pan_up": ("ц", "up"), "stagger.sight": ("5",), "restart": ("к",)}),
    ("colemak", {"restart": ("d",)}),
])
def test_keys_are_shown_by_what_is_printed_on_them(layout: str, labels: dict[str, tuple[str, ...]]) -> None:
    shown = shown_keys(DEFAULTS, keyboard(layout))
    assert {action: shown[action] for action in labels} == labels


@pytest.mark.parametrize("layout", PLAIN)
def test_a_shown_key_does_what_it_is_shown_for(layout: str) -> None:
    typed = dict(zip(PLAIN[layout], PLACES, strict=True))
    for action, names in shown_keys(DEFAULTS, keyboard(layout)).items():
        for name in names:
            if len(name) == 1 and name in typed:
                assert done(layout, typed[name]) == (action, False), name


@pytest.mark.parametrize(("layout", "keys"), [
    ("us", {"faster": ("/", ">"), "more": ("=", "insert", "+"), "help": ("f1", "?"), "pan_up": ("w", "up")}),
    ("de", {"lower": ("page down", "["), "more": ("+", "insert", "="), "larger": ("ctrl++", "ctrl+="), "pan_up": ("w", "up")}),
    ("fr", {"pan_left": ("q", "left"), "colours": ("a",)}),
])
def test_all_keys_of_an_action_are_those_with_shift_too(layout: str, keys: dict[str, tuple[str, ...]]) -> None:
    every = all_keys(DEFAULTS, keyboard(layout))
    assert {action: every[action] for action in keys} == keys


def test_without_a_known_layout_keys_are_shown_by_their_names() -> None:
    shown = shown_keys(DEFAULTS, Keyboard({}))
    assert set(shown) == set(ACTIONS) and (shown["pan_up"], shown["cull"]) == (("up",), ("7",))


def test_an_action_without_a_key_shows_none() -> None:
    assert shown_keys(Config.model_validate({"keys": {"cull": None}}).keys, keyboard("de"))["cull"] == ()


def test_the_present_layout_is_read(screen: pygame.Surface) -> None:
    keyboard_here = Keyboard()
    assert {keyboard_here.types[code] for code in (pygame.KSCAN_W, pygame.KSCAN_LEFTBRACKET)} == {"w", "["}
