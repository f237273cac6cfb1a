"""Which key does what: the default bindings, and `keys:` of the YAML, which changes them.

An action is a technique (its path), one of the program's (registry/actions.py) or an overlay; it may have several keys,
or none. Two actions on one key are an error that names both. Keys have pygame's names, but pygame is not imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, create_model
from typing_extensions import TypeAliasType

from crowd_demo.config.section import Problem, Section
from crowd_demo.registry.actions import OVERLAY_HEADING, PROGRAM, ActionEntry
from crowd_demo.registry.built_in import OVERLAYS
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.registry.texts import say

CHORD = "ctrl+"  # before a key's name: the key while Ctrl is held
KEY_NAMES: tuple[str, ...] = (  # what `pygame.key.name` calls the keys
    *"abcdefghijklmnopqrstuvwxyz0123456789",
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`",
    "space", "tab", "return", "escape", "backspace", "delete", "insert", "home", "end", "page up", "page down",
    "left", "right", "up", "down", *(f"f{number}" for number in range(1, 16)),
    *(f"[{key}]" for key in "0123456789.+-*/"), "enter", "equals", "clear", "menu", "print screen", "break", "help",
    "left shift", "right shift", "left ctrl", "right ctrl", "left alt", "right alt", "left meta", "right meta",
    "caps lock", "scroll lock", "numlock", "alt gr", "sys req", "power", "euro",
)
NAMES = (*KEY_NAMES, *(CHORD + name for name in KEY_NAMES))


ON_KEYS = {"return": "Enter", "escape": "Esc", "page up": "PgUp", "page down": "PgDn", "delete": "Del", "insert": "Ins"}


def key_text(name: str) -> str:
    """A key's name as it is shown: Q, Enter, Ctrl+H."""
    if len(name) > len(CHORD) and name.startswith(CHORD):
        return f"Ctrl+{key_text(name.removeprefix(CHORD))}"
    return ON_KEYS.get(name, name.upper() if len(name) == 1 else name.capitalize())


def _actions() -> dict[str, ActionEntry]:
    """Techniques, `PROGRAM` and overlays; a plugin's default key that is taken, or that no keyboard has, is left out."""
    found: dict[str, ActionEntry] = {}
    taken = {key for action in PROGRAM.values() for key in action.keys}

    def add(name: str, key: str, action: ActionEntry) -> None:
        if key and (key in taken or key not in NAMES):
            say(f"{name} has no key: {key!r} is {'taken' if key in taken else 'not the name of a key'}")
            key = ""
        taken.add(key)
        found[name] = action._replace(keys=(key,) if key else ())

    for technique in TECHNIQUES:
        switch = "techniques.switch", technique.path
        add(technique.path, technique.key, ActionEntry((), technique.why, switch, (*switch, True),
                                                       f"Techniques: {technique.group}", changes=True))
    found.update(PROGRAM)
    for overlay in OVERLAYS.values():
        toggle = "overlays.toggle", overlay.name
        add(overlay.name, overlay.key, ActionEntry((), overlay.why, toggle, heading=OVERLAY_HEADING))
    return found


ACTIONS = _actions()  # by name: techniques in the order of the registry, the program's under their headings, overlays


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


_ONE = {"anyOf": [{"enum": list(NAMES)}, {"type": "integer", "minimum": 0, "maximum": 9}]}
Names = TypeAliasType("Names", Annotated[
    tuple[Literal[NAMES], ...],  # type: ignore[valid-type]
    BeforeValidator(_as_names), PlainSerializer(lambda names: names[0] if len(names) == 1 else list(names)),
    WithJsonSchema({"description": "a key, a list of keys, or null for none",
                    "anyOf": [*_ONE["anyOf"], {"type": "array", "items": _ONE}, {"type": "null"}]})])


class _Bindings(Section):
    """Which key does what: action -> a key, or a list of keys."""

    def _problems(self) -> Iterator[Problem]:
        """Each key has one action; of two it blames the one that the user gave."""
        owner: dict[str, str] = {}
        for action, key in self.pairs():
            if owner.setdefault(key, action) != action:
                blamed = action if action in self.model_fields_set else owner[key]
                yield Problem((blamed,), key, f"key '{key}' is bound to both {owner[key]} and {action}")

    def pairs(self) -> Iterator[tuple[str, str]]:
        """(action, key), in the order of `ACTIONS`."""
        for action in ACTIONS:
            for key in getattr(self, action):
                yield action, key


if TYPE_CHECKING:
    Keys = _Bindings
else:
    Keys = create_model("Keys", __base__=_Bindings, __module__=__name__, __doc__=_Bindings.__doc__, **{
        name: (Names, Field(action.keys, description=action.what)) for name, action in ACTIONS.items()})


def keys_of(keys: Keys, action: str) -> tuple[str, ...]:
    names: tuple[str, ...] = getattr(keys, action)
    return names
