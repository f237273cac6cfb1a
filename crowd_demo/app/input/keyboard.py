"""What a key is called, on whatever layout.

Digits and W A S D are positions: they are called as on a US keyboard. All other names are characters, or what is printed on
the key ("page up"). A key may have several names; of those that are bound the first counts:

1. the sign that Shift or AltGr makes it type: on a German keyboard Shift+7 is `/`, and AltGr+8 is `[`;
2. its position, if that is a digit's or one of W A S D: on a French keyboard Z pans up, and the key of 6 and - is technique 6;
3. the character that it types, unless that names another position;
4. if it does, the character that the key at that position types: the two are exchanged, as A and Q on a French keyboard;
5. if it types no Latin letter, the one at its position on a US keyboard: Russian is used like US;
6. what a key of the keypad is called elsewhere on the keyboard.
"""

from __future__ import annotations

import string
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import cast

import pygame

from crowd_demo.config.keys import ACTIONS, CHORD, Keys, bindings, keys_of

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


class Keyboard:
    """A layout: `types` is what each key types without modifiers, by its scancode."""

    def __init__(self, types: Mapping[int, str] | None = None) -> None:
        self.types = present_layout() if types is None else types

    def names(self, event: pygame.Event) -> Iterator[tuple[str, bool]]:
        """What a key that goes down is called, and whether Shift is held besides; what counts most comes first.

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

    def action(self, event: pygame.Event, bindings: Mapping[str, str]) -> tuple[str, bool]:
        """The action that a key is bound to, "" if to none; and whether to do it as with Shift."""
        for name, shift in self.names(event):
            if name in bindings:
                return bindings[name], shift
        return "", False

    def dialog_name(self, event: pygame.Event) -> str:
        """The name for a dialog: letters are characters, digits positions, keypad keys like others; Shift is left out."""
        name = next((name for name, _ in self.names(event) if name not in MODIFIERS), "")
        if name.isalpha():
            name = _plain(event)
        return KEYPAD.get(name, name)

    def labels(self, bound: Container[str]) -> dict[str, str]:
        """What is printed on the keys of those names that are bound and need neither Shift nor AltGr."""
        found: dict[str, str] = {}
        for scancode, character in self.types.items():
            for chord in ("", CHORD):
                names = (chord + name for name in self._plain_names(scancode, character))
                name = next((name for name in names if name in bound), "")
                if name:
                    found[name] = name if name[-1].isdigit() else chord + character
        return found

    def _plain_names(self, scancode: int, plain: str) -> Iterator[str]:
        """What the key there is called without modifiers, if it types `plain` then."""
        position = US.get(scancode, "") if scancode else plain
        if position in POSITIONS:
            yield position
        yield self._displaced_by(plain) if plain in POSITIONS else plain
        if position.isalpha() and not plain.isascii():
            yield position
        if plain in KEYPAD:
            yield KEYPAD[plain]

    def _displaced_by(self, name: str) -> str:
        """What the key at that position types; if that names a position again, what the key there types, and so on."""
        for _ in POSITIONS:
            name = self.types.get(SCANCODES[name], name)
            if name not in POSITIONS:
                break
        return name


def shown_keys(keys: Keys, keyboard: Keyboard) -> dict[str, tuple[str, ...]]:
    """Each action's keys as they are shown: by what is printed on them, and if possible only those that need no Shift."""
    labels = keyboard.labels(bindings(keys))
    return {action: _shown(keys_of(keys, action), labels) for action in ACTIONS}


def all_keys(keys: Keys, keyboard: Keyboard) -> dict[str, tuple[str, ...]]:
    """Each action's keys by what is printed on them; what is typed with Shift or AltGr comes last."""
    labels = keyboard.labels(bindings(keys))
    return {action: tuple(dict.fromkeys((*shown, *(labels.get(name, name) for name in keys_of(keys, action)))))
            for action, shown in shown_keys(keys, keyboard).items()}


def _shown(names: Sequence[str], labels: Mapping[str, str]) -> tuple[str, ...]:
    found = tuple(labels.get(name, name) for name in names if name in labels or len(name.removeprefix(CHORD)) > 1)
    return found or tuple(names)


def present_layout() -> dict[int, str]:
    """What each key types without modifiers. SDL gives it only by the keys whose state it is asked for."""
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
