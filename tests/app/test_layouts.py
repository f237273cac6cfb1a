"""Keys of several layouts: what they do, and what they are shown as."""

from __future__ import annotations

import pygame
import pytest
from driven import Driven
from layouts import PLACES, PLAIN, keymap, press, types

from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen.window import close_window
from crowd_demo.cli import main
from crowd_demo.config.keys import ACTIONS, Keys

quick = pytest.mark.quick
SHIFT, ALTGR, CTRL = pygame.KMOD_LSHIFT, pygame.KMOD_RALT, pygame.KMOD_LCTRL


def done(layout: str, place: str, mod: int = 0, bound: dict[str, str] | None = None) -> tuple[str, bool]:
    """What the key at that place of a US keyboard does, and whether as with Shift."""
    here = keymap(layout)
    here.bindings = bound or here.bindings
    return here.action(press(layout, place, mod))


@quick
@pytest.mark.parametrize("layout", PLAIN)
def test_digits_and_wasd_are_places_and_each_letter_and_digit_has_one_key_without_shift(layout: str) -> None:
    assert [done(layout, digit) for digit in "79"] == [("cull", False), ("blitter", False)]
    assert [done(layout, place)[0] for place in "wasd"] == ["pan_up", "pan_left", "pan_down", "pan_right"]
    bound = {key: key for key in "abcdefghijklmnopqrstuvwxyz0123456789"}
    pressed = [done(layout, place, bound=bound) for place in PLACES]
    assert sorted(action for action, _ in pressed if action) == sorted(bound)


@quick
@pytest.mark.parametrize(("layout", "place", "mod", "action"), [
    ("us", "/", SHIFT, "help"), ("de", "-", SHIFT, "help"), ("fr", "m", SHIFT, "help"), ("es", "-", SHIFT, "help"),
    ("us", "/", 0, "faster"), ("de", "7", SHIFT, "faster"), ("fr", ".", SHIFT, "faster"), ("es", "7", SHIFT, "faster"),
    ("us", "[", 0, "lower"), ("de", "8", ALTGR, "lower"), ("fr", "5", ALTGR, "lower"), ("es", "[", ALTGR, "lower"),
    ("us", "-", 0, "fewer"), ("de", "/", 0, "fewer"), ("fr", "6", 0, "stagger.paths"), ("es", "/", 0, "fewer"),
    ("us", "=", 0, "more"), ("de", "0", SHIFT, "more"), ("de", "]", 0, "more"), ("fr", "=", 0, "more"), ("es", "]", 0, "more"),
    ("us", ".", 0, "step"), ("de", ".", 0, "step"), ("fr", ",", SHIFT, "step"), ("es", ".", 0, "step"),
    ("us", ",", 0, "slower"), ("de", ",", 0, "slower"), ("fr", "m", 0, "slower"), ("es", ",", 0, "slower"),
    ("us", "=", CTRL, "larger"), ("us", "=", CTRL | SHIFT, "larger"), ("de", "]", CTRL, "larger"), ("fr", "=", CTRL, "larger"),
    ("us", "-", CTRL, "smaller"), ("de", "/", CTRL, "smaller"), ("fr", "6", CTRL, "smaller"),
    ("us", "0", CTRL, "normal_size"), ("de", "0", CTRL, "normal_size"), ("fr", "0", CTRL, "normal_size"),
])
def test_signs_are_what_is_typed(layout: str, place: str, mod: int, action: str) -> None:
    assert done(layout, place, mod) == (action, False)


@quick
@pytest.mark.parametrize("layout", ["us", "de", "fr", "es"])
def test_shift_steps_backwards_unless_it_types_a_bound_sign(layout: str) -> None:
    assert done(layout, "8", SHIFT) == ("depth", True)
    assert done(layout, "e", SHIFT) == ("reorder.every", True)
    bound = {"8": "depth", "(": "pause", "*": "pause"}
    assert done(layout, "8", SHIFT, bound) == (("depth", True) if layout == "fr" else ("pause", False))


@quick
def test_alt_alone_is_the_systems_but_altgr_types_and_a_place_that_is_not_bound_is_a_character() -> None:
    assert done("us", "8", ALTGR) == done("de", "q", ALTGR) == done("de", "7", pygame.KMOD_LALT) == ("", False)
    assert done("de", "8", ALTGR | CTRL) == ("lower", False)  # as Windows reports it
    assert done("fr", "a", bound={"q": "pause"}) == done("fr", "6", bound={"-": "pause"}) == ("pause", False)


@quick
def test_the_keypad_counts_as_the_other_keys_unless_it_is_bound_itself(screen: pygame.Surface) -> None:
    here = Keymap(Keys.model_validate({"pause": "[5]"}))
    for name, mod, action in (
            ("[+]", 0, "more"), ("[+]", CTRL, "larger"), ("[4]", 0, "stagger.avoidance"), ("[5]", 0, "pause")):
        assert here.action(pygame.Event(pygame.KEYDOWN, key=pygame.key.key_code(name), mod=mod)) == (action, False)


@quick
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
    shown = keymap(layout).shown
    assert {action: shown[action] for action in labels} == labels


@quick
@pytest.mark.parametrize("layout", PLAIN)
def test_a_shown_key_does_what_it_is_shown_for(layout: str) -> None:
    typed = dict(zip(PLAIN[layout], PLACES, strict=True))
    for action, names in keymap(layout).shown.items():
        for name in names:
            if len(name) == 1 and name in typed:
                assert done(layout, typed[name]) == (action, False), name


@quick
@pytest.mark.parametrize(("layout", "keys"), [
    ("us", {"faster": ("/", ">"), "more": ("=", "insert", "+"), "help": ("f1", "?"), "pan_up": ("w", "up")}),
    ("de", {"lower": ("page down", "["), "more": ("+", "insert", "="), "larger": ("ctrl++", "ctrl+="), "pan_up": ("w", "up")}),
    ("fr", {"pan_left": ("q", "left"), "colours": ("a",)}),
])
def test_all_keys_of_an_action_are_those_with_shift_too(layout: str, keys: dict[str, tuple[str, ...]]) -> None:
    here = keymap(layout)
    assert {action: here.all_keys(action) for action in keys} == keys


@quick
def test_without_a_known_layout_keys_are_shown_by_their_names_and_an_action_without_one_shows_none() -> None:
    shown = Keymap(Keys(), {}).shown
    assert set(shown) == set(ACTIONS) and (shown["pan_up"], shown["cull"]) == (("up",), ("7",))
    assert keymap("de", Keys.model_validate({"cull": None})).key("cull") == ""


def test_another_layout_changes_what_keys_are_called_and_how_they_are_shown(
        driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    here = driven.program.keymap
    assert {here.types[code] for code in (pygame.KSCAN_W, pygame.KSCAN_LEFTBRACKET)} == {"w", "["}
    assert here.shown["pan_up"] == ("w", "up")
    monkeypatch.setattr("crowd_demo.app.key_input.present_layout", lambda: types("fr"))
    driven.post(pygame.KEYMAPCHANGED)
    assert here.shown["pan_up"] == driven.program.hud.keys["pan_up"] == ("z", "up") and here.types == types("fr")
    driven.press("f1")
    view = driven.status().view
    assert view and ("move the camera up", "Z  Up") in [(row.text, row.detail) for row in view.rows]


def test_nothing_needs_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = [f"keys.{action}=null" for action in ACTIONS]
    driven = Driven(*nothing)
    driven.program.menus.open_keys()
    driven.program.menus.open_main()
    for _ in range(2):
        driven.frames()
        driven.program.act("hud")
    assert not any(driven.program.keymap.shown.values())
    close_window()
    assert main(["--list-keys", *(word for each in nothing for word in ("--set", each))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if line.startswith(" ")} == {"-"}
