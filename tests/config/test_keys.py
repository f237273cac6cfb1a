"""Key bindings: defaults without a conflict, changes, and conflicts that name both actions."""

import pytest
from pydantic import ValidationError

from crowd_demo.config.keys import ACTIONS, KEY_NAMES
from crowd_demo.config.model import Config
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.registry.built_in import OVERLAYS
from crowd_demo.registry.techniques import TECHNIQUES

pytestmark = pytest.mark.quick


def bound(keys):
    return {key: action for action, key in Config.model_validate({"keys": keys}).keys.pairs()}


def test_every_technique_and_action_has_its_key():
    keys = bound({})
    without = {action for action, told in PROGRAM.items() if not told.keys}
    assert without == {"theme", "units", "reset_numbers", "shipped_numbers"}, "the menu has them"
    without |= {overlay.name for overlay in OVERLAYS.values() if not overlay.key}  # which are in a list
    assert set(keys.values()) | without == set(ACTIONS) == {t.path for t in TECHNIQUES} | set(PROGRAM) | set(OVERLAYS)
    assert {t.key: keys[t.key] for t in TECHNIQUES} == {t.key: t.path for t in TECHNIQUES}


def test_the_keys_of_the_program_are_those_that_are_documented():
    keys = bound({})
    documented = {
        "space": "pause", ".": "step", "r": "restart", "-": "fewer", "=": "more", ",": "slower", "/": "faster",
        "[": "lower", "]": "higher", "page down": "lower", "page up": "higher", "delete": "fewer", "insert": "more",
        "+": "more", "<": "slower", ">": "faster", "?": "help",
        "ctrl+=": "larger", "ctrl++": "larger", "ctrl+-": "smaller", "ctrl+0": "normal_size",
        "f11": "fullscreen", "f12": "screenshot", "f1": "help", "tab": "hud", "home": "fit", "f": "freeze",
        "a": "pan_left", "left": "pan_left", "d": "pan_right", "right": "pan_right", "w": "pan_up", "up": "pan_up",
        "s": "pan_down", "down": "pan_down", "escape": "quit"}
    assert {key: keys.get(key) for key in documented} == documented


def test_a_changed_key_frees_the_old_one():
    keys = bound({"pause": "f14", "stagger.sight": 0, "pan_left": ["[4]", "left"]})
    assert (keys["f14"], keys["0"], keys["[4]"], keys["left"]) == ("pause", "stagger.sight", "pan_left", "pan_left")
    assert not {"space", "5", "a"} & set(keys)


def test_a_key_with_ctrl_is_another_key():
    keys = bound({"faster": "f14", "cull": None, "pause": ["f13", "ctrl+f14"], "step": "ctrl+f15"})
    assert (keys["f14"], keys["f13"], keys["ctrl+f14"], keys["ctrl+f15"]) == ("faster", "pause", "pause", "step")
    assert not {"7", "/", "space"} & set(keys)


def test_two_actions_may_swap_their_keys():
    keys = bound({"freeze": "r", "restart": "f"})
    assert (keys["r"], keys["f"]) == ("freeze", "restart")


@pytest.mark.parametrize("nothing", [None, []])
def test_an_action_may_have_no_key(nothing):
    assert "quit" not in bound({"quit": nothing}).values()


@pytest.mark.parametrize(("keys", "action", "both"), [
    ({"restart": "f"}, "restart", "restart and freeze"),
    ({"freeze": "r"}, "freeze", "restart and freeze"),
    ({"pause": "f14", "step": "f14"}, "step", "pause and step"),
    ({"pause": "3"}, "pause", "reorder.when and pause"),
    ({"pan_left": ["a", "up"]}, "pan_left", "pan_left and pan_up"),
    ({"pause": "ctrl+="}, "pause", "pause and larger"),
])
def test_a_conflict_names_both_actions_and_blames_what_was_changed(keys, action, both):
    with pytest.raises(ValidationError) as caught:
        bound(keys)
    (problem,) = caught.value.errors()
    assert (problem["loc"], both in problem["msg"]) == (("keys", action), True)


@pytest.mark.parametrize("keys", [{"pause": "spacebar"}, {"pause": 10}, {"pause": True}, {"pause": ["p", 1.5]},
                                  {"pause": ""}, {"pause": "ctrl+"}, {"pause": "ctrl+spacebar"},
                                  {"paus": "p"}, {"pause": {"p": 1}}])
def test_what_is_no_key_or_no_action_is_refused(keys):
    with pytest.raises(ValidationError):
        bound(keys)


def test_keys_are_named_as_pygame_names_them():
    pygame = pytest.importorskip("pygame")
    codes = [value for name, value in vars(pygame).items() if name.startswith("K_")]
    assert set(KEY_NAMES) <= {pygame.key.name(code) for code in codes}
