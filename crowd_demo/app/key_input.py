"""Keys: what they are called on any layout, and the actions that they are bound to.

Digits and W A S D are positions: they are called as on a US keyboard. All other names are characters, or what is
printed on the key ("page up"). A key may have several names; of those that are bound the first counts:

1. the sign that Shift or AltGr makes it type: on a German keyboard Shift+7 is `/`, and AltGr+8 is `[`;
2. its position, if that is a digit's or one of W A S D: on a French keyboard Z pans up, and the key of 6 and - is technique 6;
3. the character that it types, unless that names another position;
4. if it does, the character that the key at that position types: the two are exchanged, as A and Q on a French keyboard;
5. if it types no Latin letter, the one at its position on a US keyboard: Russian is used like US;
6. what a key of the keypad is called elsewhere on the keyboard.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from typing import cast

import pygame

from crowd_demo.config.keys import ACTIONS, CHORD, Keys, key_text, keys_of

POSITIONS = frozenset("0123456789wasd")
US = dict(enumerate(string.ascii_lowercase + "1234567890", start=pygame.KSCAN_A))  # scancode -> its letter or digit
SCANCODES = {character: scancode for scancode, character in US.items()}
TYPING = (*range(pygame.KSCAN_A, pygame.KSCAN_SLASH + 1), pygame.KSCAN_NONUSBACKSLASH)  # scancodes of keys that type
SCANCODE_COUNT = 512
LAST_CHARACTER = 0x2FFF  # no layout types what comes after it without a program that composes it
MODIFIERS = (*(f"{side} {key}" for side in ("left", "right") for key in ("shift", "ctrl", "alt", "meta")), "alt gr",
             "caps lock", "numlock", "scroll lock")
KEYPAD = {**{f"[{sign}]": sign for sign in "0123456789.+-*/"}, "enter": "return", "equals": "="}
ALTGR = pygame.KMOD_RALT | pygame.KMOD_MODE
OTHER_MODIFIERS = pygame.KMOD_ALT | pygame.KMOD_META  # shortcuts of the system use these


class Keymap:
    """The key bindings of a configuration on the present layout.

    bindings    names of keys -> actions
    types       what each key types without modifiers, by its scancode
    shown       each action's keys by what is printed on them, if possible only those that need neither Shift nor AltGr
    """

    def __init__(self, keys: Keys, types: Mapping[int, str] | None = None) -> None:
        """Read the present layout unless it is given."""
        self.bindings, self._keys = {key: action for action, key in keys.pairs()}, keys
        self.shown: dict[str, tuple[str, ...]] = {}
        self.follow_layout(types)

    def follow_layout(self, types: Mapping[int, str] | None = None) -> None:
        """Read the present layout again, unless it is given; `shown` stays the same object."""
        self.types = present_layout() if types is None else types
        self._labels = dict[str, str]()  # what is printed on the keys whose bound names need neither Shift nor AltGr
        for scancode, character in self.types.items():
            for chord in ("", CHORD):
                names = (chord + name for name in self._plain_names(scancode, character))
                if name := next((name for name in names if name in self.bindings), ""):
                    self._labels[name] = name if name[-1].isdigit() else chord + character
        self.shown.update({action: self._shown(keys_of(self._keys, action)) for action in ACTIONS})

    # --- what a key does ---------------------------------------------------------------------------------------------

    def names(self, event: pygame.Event) -> Iterator[tuple[str, bool]]:
        """Return the names of a pressed key and whether Shift is held too, the most specific first.

        With Ctrl the names begin with `ctrl+`; with Alt, or what else the system's shortcuts use, there are none.
        """
        modifiers, plain, typed = getattr(event, "mod", 0), _plain(event), getattr(event, "unicode", "")
        chord = CHORD if modifiers & pygame.KMOD_CTRL else ""
        shift = bool(modifiers & pygame.KMOD_SHIFT)
        if modifiers & ALTGR and _is_sign(typed) and typed != plain:  # Windows reports Ctrl, too
            yield typed, False
        elif not modifiers & OTHER_MODIFIERS:
            if (shift or chord) and _is_sign(typed):  # comes first: on some keyboards the keys of digits type signs
                yield chord + typed, False
            for name in self._plain_names(getattr(event, "scancode", 0), plain):
                yield chord + name, shift
            if _is_sign(typed):
                yield chord + typed, shift

    def action(self, event: pygame.Event) -> tuple[str, bool]:
        """The action that a key is bound to, "" if to none; and whether to do it as with Shift."""
        bound = ((self.bindings[name], shift) for name, shift in self.names(event) if name in self.bindings)
        return next(bound, ("", False))

    def dialog_name(self, event: pygame.Event) -> str:
        """The name for a dialog: letters are characters, digits positions, keypad keys like others; Shift is left out."""
        if self.action(event)[0] == "quit":
            return "escape"
        name = next((name for name, _ in self.names(event) if name not in MODIFIERS), "")
        if name.isalpha():
            name = _plain(event)
        return KEYPAD.get(name, name)

    def quits(self, event: pygame.Event) -> bool:
        """Return whether this event ends the program, or begins to."""
        return event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and self.action(event) == ("quit", False))

    # --- what is shown -----------------------------------------------------------------------------------------------

    def key(self, action: str) -> str:
        """The first key that is shown for an action, such as Ctrl+S; empty if it has none."""
        return key_text(self.name(action))

    def name(self, action: str) -> str:
        return next(iter(self.shown[action]), "")

    def all_keys(self, action: str) -> tuple[str, ...]:
        """An action's keys by what is printed on them; what is typed with Shift or AltGr comes last."""
        printed = (self._labels.get(name, name) for name in keys_of(self._keys, action))
        return tuple(dict.fromkeys((*self.shown[action], *printed)))

    def _shown(self, names: tuple[str, ...]) -> tuple[str, ...]:
        labels = self._labels
        found = tuple(labels.get(name, name) for name in names if name in labels or len(name.removeprefix(CHORD)) > 1)
        return found or names

    def _plain_names(self, scancode: int, plain: str) -> Iterator[str]:
        """Yield the names of the key at a position without modifiers, if it types `plain` then."""
        position = US.get(scancode, "") if scancode else plain
        if position in POSITIONS:
            yield position
        displaced = plain  # by a position of that name: the character of the key there, which may name another one
        for _ in POSITIONS:
            if displaced in POSITIONS:
                displaced = self.types.get(SCANCODES[displaced], displaced)
        yield displaced
        if position.isalpha() and not plain.isascii():
            yield position
        if plain in KEYPAD:
            yield KEYPAD[plain]


def present_layout() -> dict[int, str]:
    """Return the character of each key without modifiers; empty without a window. SDL only lists it by key state."""
    if not pygame.display.get_init():
        return {}
    scancode_of = pygame.key.ScancodeWrapper(cast("Iterator[bool]", range(SCANCODE_COUNT)))
    found = {int(scancode_of[code]): chr(code) for code in range(ord("!"), LAST_CHARACTER)}
    return {scancode: found[scancode] for scancode in TYPING if scancode in found}


def _plain(event: pygame.Event) -> str:
    """The character that a key types without modifiers, or what is printed on it; "" if neither is known."""
    if event.key <= LAST_CHARACTER and chr(event.key).isprintable() and not chr(event.key).isspace():
        return chr(event.key)
    return pygame.key.name(event.key)


def _is_sign(typed: str) -> bool:
    return len(typed) == 1 and typed.isprintable() and not typed.isalnum() and not typed.isspace()
