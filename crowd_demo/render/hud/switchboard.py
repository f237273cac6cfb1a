"""The HUD's right panel: every technique of the registry with its key and its value.

An inactive technique, whose value changes nothing at present, is dimmed. The one that was changed last is highlighted; its
value, if it is a number, stands between the keys that change it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pygame

from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import TECHNIQUES, is_approximate
from crowd_demo.render.hud.status import Status
from crowd_demo.render.hud.theme import (
    ACCENT,
    DIM,
    EDGE,
    FAINT,
    INACTIVE,
    NORMAL,
    PAD,
    SMALL,
    TEXT,
    TOUCHED,
    WARM,
    Colour,
    Pen,
    draw_key,
    key_width,
    panel,
)
from crowd_demo.sim.inactive import inactive, partly_inactive
from crowd_demo.sim.simulation import Simulation

WIDTH, ROW, LEAST_ROW = 254, 17, 13
MARK = "~"
NUMBER_KEYS = ("lower", "higher")

Keys = Mapping[str, Sequence[str]]


def shown(value: Value) -> str:
    """A technique's value as the HUD writes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def is_baseline(technique: Technique, value: Value) -> bool:
    """Is it the technique's first choice, which the others improve upon?"""
    return value == technique.choices[0]


def draw_switchboard(height: int, sim: Simulation, status: Status, keys: Keys, pen: Pen) -> pygame.Surface:
    """The panel, at most that high; techniques that do not fit are left out, from the end of the registry."""
    room = height - 2 * PAD - 2 * ROW
    row = min(ROW, max(LEAST_ROW, room // len(TECHNIQUES)))
    listed = TECHNIQUES[:max(room // row, 0)]
    sheet, unused, partly = panel((WIDTH, 2 * PAD + len(listed) * row + 22)), inactive(sim), partly_inactive(sim)
    for number, technique in enumerate(listed):
        path, value = technique.path, sim.optimizations.get(technique.path)
        approximate = is_approximate(technique, value, sim.optimizations.get)
        Row(sheet, pen, keys, PAD + row // 2 + number * row, row).draw(
            technique, value, status, path in unused, partly.get(path, ""), approximate)
    _draw_foot(sheet, keys, pen)
    return sheet


def _draw_foot(on: pygame.Surface, keys: Keys, pen: Pen) -> None:
    middle = on.get_height() - 17
    pygame.draw.line(on, EDGE, (PAD, middle - 13), (WIDTH - PAD, middle - 13))
    end = pen.left(on, MARK, PAD, middle, SMALL, WARM)
    pen.left(on, " approximate", end, middle, SMALL, FAINT)
    hints = "   ".join(f"{keys[action][0].upper()} {action}" for action in ("help", "hud") if keys.get(action))
    pen.right(on, hints, WIDTH - PAD, middle, SMALL, FAINT)


class Row:
    """The line of one technique."""

    def __init__(self, on: pygame.Surface, pen: Pen, keys: Keys, middle: int, height: int) -> None:
        self.on, self.pen, self.keys, self.middle, self.height = on, pen, keys, middle, height

    def draw(self, technique: Technique, value: Value, status: Status, is_inactive: bool, partly: str,
             approximate: bool) -> None:
        """`partly`: what the technique still does if the rest of it is inactive. `approximate`: it changes the crowd."""
        waits, touched, off = technique.path in status.pending, technique.path == status.touched, is_baseline(technique, value)
        if touched:
            box = 4, self.middle - self.height // 2, WIDTH - 8, self.height
            pygame.draw.rect(self.on, TOUCHED, box, border_radius=5)
        for key in list(self.keys.get(technique.path, ()))[:1]:
            self._key(key, PAD)
        colour = INACTIVE if is_inactive else DIM if off else TEXT
        self.pen.left(self.on, technique.label, PAD + 26, self.middle, NORMAL, colour)
        text = f"{shown(status.pending[technique.path])} …" if waits else shown(value)
        text = f"{text}, {partly}" if partly else text
        colour = WARM if waits else INACTIVE if is_inactive else FAINT if off else ACCENT
        start = self._value(text, colour, touched and technique.numbers is not None)
        if approximate:
            self.pen.right(self.on, MARK, start - 4, self.middle, NORMAL, INACTIVE if is_inactive else FAINT if off else WARM)

    def _value(self, text: str, colour: Colour, between_keys: bool) -> int:
        """Draw the value; return where it begins. Keys with long names are left out: there is no room for them."""
        lower, higher = (next(iter(self.keys.get(action, ())), "") for action in NUMBER_KEYS)
        if not (between_keys and len(lower) == len(higher) == 1):
            return self.pen.right(self.on, text, WIDTH - PAD, self.middle, NORMAL, colour)
        end = WIDTH - PAD - key_width(self.pen, higher)
        self._key(higher, end)
        start = self.pen.right(self.on, text, end - 5, self.middle, NORMAL, colour) - 5 - key_width(self.pen, lower)
        self._key(lower, start)
        return start

    def _key(self, key: str, left: int) -> None:
        draw_key(self.on, self.pen, key, left, self.middle, self.height - 3)
