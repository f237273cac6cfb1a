"""Which key does what: the default bindings, and `keys:` of the YAML, which changes them.

An action is a technique (its path), one of the program's (`HEADINGS`) or an overlay; it may have several keys, or none. Two
actions on one key are an error that names both. Keys have pygame's names, but pygame is not imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, create_model, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError
from typing_extensions import TypeAliasType

from crowd_demo.config.section import Section
from crowd_demo.registry.overlays import OVERLAYS
from crowd_demo.registry.techniques import TECHNIQUES


class Action(NamedTuple):
    """What an action is called with, what it does, and under which heading it is listed."""

    keys: tuple[str, ...]  # by default
    what: str
    heading: str


OVERLAY_HEADING = "Look inside"
HEADINGS: dict[str, dict[str, tuple[tuple[str, ...], str]]] = {  # of what one wants to do: name, keys and what it does
    "Time": {
        "pause": (("space",), "pause or continue"),
        "step": ((".",), "one step, then pause"),
        "step_back": (("backspace",), "one step back, then pause"),
        "restart": (("r",), "start again with the same seed"),
        "slower": ((",", "<"), "slower motion"),
        "faster": (("/", ">"), "faster motion"),
        "timeline": (("f7",), "show or hide the timeline"),
    },
    "Change the crowd": {
        "lower": (("[", "page down"), "a smaller number for the technique touched last"),
        "higher": (("]", "page up"), "a larger number for it"),
        "fewer": (("-", "delete"), "fewer agents"),
        "more": (("=", "+", "insert"), "more agents"),
        "hawk": (("ctrl+h",), "the hawk follows the pointer, or hunts by itself"),
    },
    OVERLAY_HEADING: {
        "colours": (("q",), "what the colours of agents tell"),
        "overlays": (("f10",), "overlays: see the machine at work"),
        "inspect": (("f6",), "inspect who is in the middle; with Shift: count all in view"),
        "inspect_next": ((";",), "inspect the next; with Shift the one before"),
    },
    "Move the camera": {
        "pan_left": (("a", "left"), "move the camera left"),
        "pan_right": (("d", "right"), "move the camera right"),
        "pan_up": (("w", "up"), "move the camera up"),
        "pan_down": (("s", "down"), "move the camera down"),
        "zoom_in": (("ctrl+up",), "zoom in"),
        "zoom_out": (("ctrl+down",), "zoom out"),
        "fit": (("home",), "fit the whole world into the window"),
        "bookmark_1": (("ctrl+1",), "kept views: Ctrl 1 to 9; Shift keeps"),
        **{f"bookmark_{n}": ((f"ctrl+{n}",), f"show bookmark {n}; with Shift keep this view") for n in range(2, 10)},
        "minimap": (("end",), "show or hide the minimap"),
    },
    "Measure and prove": {
        "card": (("i",), "what the last switch gave, again"),
        "measure": (("m",), "measure the technique touched last"),
        "ablate": (("n",), "what each technique buys: off in turn"),
        "largest": (("p",), "the largest crowd at 60 FPS here"),
        "split": (("\\",), "two values of a technique side by side"),
        "split_value": (("ctrl+\\",), "the next value there; Shift: backwards"),
        "slow_frames": (("f4",), "save the last second's times as CSV"),
    },
    "Scenarios, tours and files": {
        "scenarios": (("f2",), "scenarios: another crowd in this window"),
        "tour": (("f3",), "tours through the ideas; leave the tour"),
        "save": (("f5",), "save the crowd"),
        "load": (("f9",), "load the crowd saved last"),
        "record": (("f8",), "begin or end a recording"),
        "screenshot": (("f12",), "save a picture"),
        "copy_command": (("y",), "copy as command; with Shift as YAML"),
    },
    "Panels and window": {
        "help": (("f1", "?"), "show or hide all keys"),
        "menu": (("return",), "menu of everything"),
        "hud": (("tab",), "HUD: full, compact, off"),
        "fit_graph": (("g",), "fit the graph's scale"),
        "theme": ((), "dark or light panels"),
        "units": ((), "frames a second or milliseconds first"),
        "larger": (("ctrl+=", "ctrl++"), "larger text and panels"),
        "smaller": (("ctrl+-",), "smaller text and panels"),
        "normal_size": (("ctrl+0",), "text and panels in normal size"),
        "fullscreen": (("f11",), "full screen or window"),
        "quit": (("escape",), "close what is open, then quit"),
    },
}
PROGRAM = {name: Action(keys, what, heading) for heading, listed in HEADINGS.items() for name, (keys, what) in listed.items()}

TOLD_BY_OTHERS = tuple(f"bookmark_{number}" for number in range(2, 10))  # actions that need no line in help and menu

CHORD = "ctrl+"  # before a key's name: the key while Ctrl is held
KEY_NAMES: tuple[str, ...] = (
    *"abcdefghijklmnopqrstuvwxyz0123456789",
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`",
    "space", "tab", "return", "escape", "backspace", "delete", "insert", "home", "end", "page up", "page down",
    "left", "right", "up", "down", *(f"f{number}" for number in range(1, 16)),
    *(f"[{key}]" for key in "0123456789.+-*/"), "enter", "equals", "clear", "menu", "print screen", "break", "help",
    "left shift", "right shift", "left ctrl", "right ctrl", "left alt", "right alt", "left meta", "right meta",
    "caps lock", "scroll lock", "numlock", "alt gr", "sys req", "power", "euro",
)
"""What `pygame.key.name` calls the keys."""
NAMES = (*KEY_NAMES, *(CHORD + name for name in KEY_NAMES))


ON_KEYS = {"return": "Enter", "escape": "Esc", "page up": "PgUp", "page down": "PgDn", "delete": "Del", "insert": "Ins"}


def key_text(name: str) -> str:
    """A key's name as it is shown: Q, Enter, Ctrl+H."""
    if len(name) > len(CHORD) and name.startswith(CHORD):
        return f"Ctrl+{key_text(name.removeprefix(CHORD))}"
    return ON_KEYS.get(name, name.upper() if len(name) == 1 else name.capitalize())


def _actions() -> dict[str, Action]:
    """Techniques, `PROGRAM` and overlays; a plugin's default key that is taken, or that no keyboard has, is left out."""
    found: dict[str, Action] = {}
    taken = {key for action in PROGRAM.values() for key in action.keys}

    def add(action: str, key: str, why: str, heading: str) -> None:
        if key and (key in taken or key not in NAMES):
            print(f"crowd-demo: {action} has no key: {key!r} is {'taken' if key in taken else 'not the name of a key'}",
                  file=sys.stderr)
            key = ""
        taken.add(key)
        found[action] = Action((key,) if key else (), why, heading)

    for technique in TECHNIQUES:
        add(technique.path, technique.key, technique.why, f"Techniques: {technique.group}")
    found.update(PROGRAM)
    for overlay in OVERLAYS.values():
        if overlay.name in found:
            print(f"crowd-demo: overlay {overlay.name!r} is left out of the keys: an action has that name", file=sys.stderr)
        else:
            add(overlay.name, overlay.key, overlay.why, OVERLAY_HEADING)
    return found


ACTIONS = _actions()
"""By name: techniques in the order of the registry, the program's under their headings, overlays."""


def by_heading() -> dict[str, list[str]]:
    """The names of all actions under the headings by which help and lists show them."""
    found: dict[str, list[str]] = {}
    for name, action in ACTIONS.items():
        found.setdefault(action.heading, []).append(name)
    return found


def _as_names(value: object) -> object:
    """A tuple of one key, of a list of keys, or of none for null; a digit may be written without quotes."""
    if value is None:
        return ()
    values = value if isinstance(value, list | tuple) else (value,)
    return tuple(str(key) if type(key) is int and 0 <= key <= 9 else key for key in values)


def _as_written(names: tuple[str, ...]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


_ONE = {"anyOf": [{"enum": list(NAMES)}, {"type": "integer", "minimum": 0, "maximum": 9}]}
Names = TypeAliasType("Names", Annotated[
    tuple[Literal[NAMES], ...],  # type: ignore[valid-type]
    BeforeValidator(_as_names), PlainSerializer(_as_written),
    WithJsonSchema({"description": "a key, a list of keys, or null for none",
                    "anyOf": [*_ONE["anyOf"], {"type": "array", "items": _ONE}, {"type": "null"}]})])


class _Bindings(Section):
    """Which key does what: action -> a key, or a list of keys."""

    @model_validator(mode="after")
    def _one_action_a_key(self) -> Self:
        problems = []
        owner: dict[str, str] = {}
        for action, key in self.pairs():
            if owner.setdefault(key, action) == action:
                continue
            blamed = action if action in self.model_fields_set else owner[key]
            problem = PydanticCustomError("key_conflict", "key '{key}' is bound to both {first} and {second}",
                                          {"key": key, "first": owner[key], "second": action})
            problems.append(InitErrorDetails(type=problem, loc=(blamed,), input=key))
        if problems:
            raise ValidationError.from_exception_data("Keys", problems)
        return self

    def pairs(self) -> Iterator[tuple[str, str]]:
        """(action, key), in the order of `ACTIONS`."""
        for action in ACTIONS:
            for key in getattr(self, action):
                yield action, key


if TYPE_CHECKING:
    Keys = _Bindings
else:
    Keys = create_model("Keys", __base__=_Bindings, __module__=__name__, **{
        name: (Names, Field(action.keys, description=action.what)) for name, action in ACTIONS.items()})
    Keys.__doc__ = _Bindings.__doc__


def keys_of(keys: Keys, action: str) -> tuple[str, ...]:
    names: tuple[str, ...] = getattr(keys, action)
    return names


def bindings(keys: Keys) -> dict[str, str]:
    """Key name -> action."""
    return {key: action for action, key in keys.pairs()}
