"""The HUD's right panel: every technique of the registry with its key and its value, a section a group.

An inactive technique, whose value changes nothing at present, is dimmed. The one that was changed last is highlighted; its
value, if it is a number, stands between the keys that change it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from crowd_demo.config.keys import key_text
from crowd_demo.registry.entries import Technique
from crowd_demo.registry.kinds import MARKED, kind_of
from crowd_demo.registry.techniques import TECHNIQUES, hud_word
from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.sections import ALWAYS, Section
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
)
from crowd_demo.sim.inactive import inactive, partly_inactive
from crowd_demo.sim.simulation import Simulation

WIDTH, ROW, HEAD, FOOT = 262.0, 17.0, 14.0, 38.0
NUMBER_KEYS = ("lower", "higher")
FOOT_ACTIONS = ("help", "menu", "hud", "tour")

Keys = Mapping[str, Sequence[str]]


def switchboard_sections(sim: Simulation, status: Status, keys: Keys) -> list[Section]:
    """A section for each group of techniques, and one that explains marks and keys."""
    board = Switchboard(sim, status, keys)
    groups: dict[str, list[Technique]] = {}
    for technique in TECHNIQUES:
        groups.setdefault(technique.group, []).append(technique)
    return [
        *(Section(name, HEAD + ROW * len(group), 2 + number, partial(board.draw_group, name=name, group=group))
          for number, (name, group) in enumerate(groups.items())),
        Section("foot", FOOT, ALWAYS, board.draw_foot),
    ]


class Switchboard:
    """Draws the rows for the present state of the program."""

    def __init__(self, sim: Simulation, status: Status, keys: Keys) -> None:
        self.options, self.status, self.keys = sim.optimizations, status, keys
        self._inactive, self._partly = inactive(sim), partly_inactive(sim)

    def draw_group(self, on: Canvas, top: float, name: str, group: Sequence[Technique]) -> None:
        on.left(name, PAD, top + HEAD / 2 + 1, SMALL, FAINT)
        for number, technique in enumerate(group):
            self._row(on, top + HEAD + ROW * (number + 0.5), technique)

    def draw_foot(self, on: Canvas, top: float) -> None:
        """Explain the marks, and tell the keys of what tells more."""
        on.line(EDGE, (PAD, top + 5), (WIDTH - PAD, top + 5))
        left: float = PAD
        for kind in MARKED:
            end = on.left(kind.mark, left, top + 16, SMALL, WARM)
            end = on.left(f" {kind.name}", end, top + 16, SMALL, FAINT)
            on.target((left, top + 8, end - left, 15), "fact", kind.name)
            left = end + 16
        left = PAD
        for action in FOOT_ACTIONS:
            if names := self.keys.get(action):
                end = on.left(f"{key_text(names[0])} {action}", left, top + 31, SMALL, FAINT)
                on.target((left, top + 23, end - left, 16), "action", action)
                left = end + 12

    def _row(self, on: Canvas, middle: float, technique: Technique) -> None:
        path, value, status = technique.path, self.options.get(technique.path), self.status
        waits, touched, off = path in status.pending, path == status.touched, value == technique.baseline
        is_inactive, partly = path in self._inactive, self._partly.get(path, "")
        if touched:
            on.rect(TOUCHED, (4, middle - ROW / 2, WIDTH - 8, ROW), radius=4)
        on.target((4, middle - ROW / 2, WIDTH - 8, ROW), "technique", path)
        for key in list(self.keys.get(path, ()))[:1]:
            on.key(key, PAD, middle, ROW - 3)
        label = f"{'  ' * technique.detail}{technique.label}"
        on.left(label, PAD + 26, middle, NORMAL, INACTIVE if is_inactive else DIM if off else TEXT)
        text = f"{hud_word(status.pending[path])} …" if waits else hud_word(value)
        text = f"{text}, {partly}" if partly else text
        colour = WARM if waits else INACTIVE if is_inactive else FAINT if off else ACCENT
        start = self._value(on, middle, text, colour, touched and technique.numbers is not None)
        on.target((start - 4, middle - ROW / 2, WIDTH - start, ROW), "number" if technique.numbers else "technique", path)
        if mark := kind_of(technique, value, self.options.get).mark:
            on.right(mark, start - 4, middle, NORMAL, INACTIVE if is_inactive else FAINT if off else WARM)

    def _value(self, on: Canvas, middle: float, text: str, colour: str, between_keys: bool) -> float:
        """Draw the value; return where it begins. Keys with long names are left out: there is no room for them."""
        lower, higher = (next(iter(self.keys.get(action, ())), "") for action in NUMBER_KEYS)
        if not (between_keys and len(lower) == len(higher) == 1):
            return on.right(text, WIDTH - PAD, middle, NORMAL, colour)
        end = WIDTH - PAD - on.key_width(higher)
        on.key(higher, end, middle, ROW - 3)
        start = on.right(text, end - 5, middle, NORMAL, colour) - 5 - on.key_width(lower)
        on.key(lower, start, middle, ROW - 3)
        return start
