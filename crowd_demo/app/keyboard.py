"""What a key is called, on whatever layout.

Digits and W A S D are places on the keyboard: `BY_POSITION` are their names on a US keyboard. All other names are characters,
or printed on the key ("page up"). A key may have several names; of those that are bound the first counts:

1. the sign that Shift or AltGr makes it type: Shift+7 is `/` on a German keyboard, AltGr+8 is `[`;
2. its position, if that is a digit's or one of W A S D: on a French keyboard Z pans up, and `-` is technique 6;
3. the character that it types, unless that names another position: a French A key is not the key that pans left;
4. its position, if it has a letter's but types none of the characters that letters are bound to: the French A key is `q`,
   since the Q key is `a`, and a Russian keyboard is used like a US one;
5. what a key of the keypad is called elsewhere.
"""

from __future__ import annotations

import string
from collections.abc import Iterator

import pygame

BY_POSITION = frozenset("0123456789wasd")
US = dict(enumerate(string.ascii_lowercase + "1234567890", start=pygame.KSCAN_A))  # scancode -> its letter or digit
KEYPAD = {**{f"[{sign}]": sign for sign in "0123456789.+-*/"}, "enter": "return", "equals": "="}
ALTGR = pygame.KMOD_RALT | pygame.KMOD_MODE
OTHER_MODIFIERS = pygame.KMOD_ALT | pygame.KMOD_META  # shortcuts of the system use these


def name_of(event: pygame.Event) -> str:
    """What the key is called without Shift: the character it types, or what is printed on it; "" if that is unknown."""
    return _printed(event.key) or pygame.key.name(event.key)


def names_of(event: pygame.Event) -> Iterator[tuple[str, bool]]:
    """What a key that goes down is called, the name that counts most first, and whether Shift is held besides.

    With Ctrl the names begin with `ctrl+`; with other modifiers there are none.
    """
    modifiers, plain, typed = getattr(event, "mod", 0), name_of(event), getattr(event, "unicode", "")
    if modifiers & ALTGR and _is_sign(typed) and typed != plain:
        yield typed, False
    elif not modifiers & OTHER_MODIFIERS:
        chord = "ctrl+" if modifiers & pygame.KMOD_CTRL else ""
        shift = bool(modifiers & pygame.KMOD_SHIFT)
        if shift and _is_sign(typed):
            yield chord + typed, False
        for name in plain_names(getattr(event, "scancode", 0), plain):
            yield chord + name, shift
        if _is_sign(typed):
            yield chord + typed, shift


def dialog_name(event: pygame.Event) -> str:
    """What a dialog is told: letters are characters, digits positions, and the keypad's keys are like the others."""
    names = [name for name, _ in names_of(event)]
    name = names[0] if names else ""
    if name.isalpha():
        name = name_of(event)
    return KEYPAD.get(name, name)


def plain_names(scancode: int, plain: str) -> Iterator[str]:
    """What the key at that position is called without modifiers, if it types `plain` then."""
    position = US.get(scancode, plain)
    if position in BY_POSITION:
        yield position
    if plain not in BY_POSITION:
        yield plain
    if position.isalpha() and (plain in BY_POSITION or not plain.isascii()):
        yield position
    if plain in KEYPAD:
        yield KEYPAD[plain]


def _is_sign(typed: str) -> bool:
    return len(typed) == 1 and typed.isprintable() and not typed.isalnum() and not typed.isspace()


def _printed(key: int) -> str:
    """The character that a key types, if the key has the code of one."""
    return chr(key) if key <= 0x10FFFF and chr(key).isprintable() and not chr(key).isspace() else ""
