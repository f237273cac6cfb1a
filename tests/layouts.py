"""Keyboard layouts: what each key types, row by row, in the order of `PLACES`; a space where it types nothing by itself."""

import string

import pygame

from crowd_demo.app.key_input import SCANCODES, Keymap
from crowd_demo.config.keys import Keys

PLACES = "1234567890-=" "qwertyuiop[]" "asdfghjkl;'" "zxcvbnm,./"
PLAIN = {
    "us": PLACES,
    "de": "1234567890ß " "qwertzuiopü+" "asdfghjklöä" "yxcvbnm,.-",
    "fr": "1234567890)=" "azertyuiop $" "qsdfghjklmù" "wxcvbn,;:!",
    "es": "1234567890'¡" "qwertyuiop +" "asdfghjklñ " "zxcvbnm,.-",
    "dvorak": "1234567890[]" "',.pyfgcrl/=" "aoeuidhtns-" ";qjkxbmwvz",
    "colemak": "1234567890-=" "qwfpgjluy;[]" "arstdhneio'" "zxcvbkm,./",
    "ru": "1234567890-=" "йцукенгшщзхъ" "фывапролджэ" "ячсмитьбю.",
}
WITH_SHIFT = {
    "us": "!@#$%^&*()_+" "QWERTYUIOP{}" "ASDFGHJKL:\"" "ZXCVBNM<>?",
    "de": "!\"§$%&/()=?`" "QWERTZUIOPÜ*" "ASDFGHJKLÖÄ" "YXCVBNM;:_",
    "fr": "1234567890°+" "AZERTYUIOP £" "QSDFGHJKLM%" "WXCVBN?./§",
    "es": "!\"·$%&/()=?¿" "QWERTYUIOP *" "ASDFGHJKLÑ " "ZXCVBNM;:_",
}
TYPED = {"fr": {"1": "&", "2": "é", "3": '"', "4": "'", "5": "(", "6": "-", "7": "è", "8": "_", "9": "ç", "0": "à"}}
"""Without Shift, where SDL calls the key by the digit."""
WITH_ALTGR = {"de": {"8": "[", "9": "]", "q": "@"}, "fr": {"5": "[", "-": "]"}, "es": {"[": "[", "]": "]"}}
SIGNS = dict(zip("-=[]\\#;'`,./", range(pygame.KSCAN_MINUS, pygame.KSCAN_SLASH + 1), strict=True))


def scancode(place: str) -> int:
    """Of the key that a US keyboard has there."""
    return SCANCODES.get(place) or SIGNS[place]


def types(layout: str) -> dict[int, str]:
    """What each key types without modifiers, by its scancode."""
    return {scancode(place): plain for place, plain in zip(PLACES, PLAIN[layout], strict=True) if plain != " "}


def keymap(layout: str, keys: Keys | None = None) -> Keymap:
    return Keymap(keys or Keys(), types(layout))


def ways(layout: str, character: str) -> tuple[str, str]:
    """The place of the key that types a character, and what is held for that: "", "shift" or "altgr"."""
    for held, typed in (("", PLAIN), ("shift", WITH_SHIFT)):
        if (at := typed[layout].find(character)) >= 0:
            return PLACES[at], held
    return next(place for place, typed in WITH_ALTGR[layout].items() if typed == character), "altgr"


def press(layout: str, place: str, mod: int = 0) -> pygame.Event:
    """The key at that place goes down."""
    plain = PLAIN[layout][PLACES.index(place)]
    typed = TYPED.get(layout, {}).get(place, plain)
    if mod & pygame.KMOD_SHIFT:
        typed = WITH_SHIFT[layout][PLACES.index(place)]
    elif mod & pygame.KMOD_RALT:
        typed = WITH_ALTGR.get(layout, {}).get(place, plain)
    elif mod & pygame.KMOD_CTRL and typed in string.ascii_letters:
        typed = chr(ord(typed) & 31)
    return pygame.Event(pygame.KEYDOWN, key=ord(plain) if plain != " " else 1 << 30, scancode=scancode(place), mod=mod,
                        unicode=typed.strip())
