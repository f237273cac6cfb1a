"""The values of the techniques: those that the crowd has, and those that were asked for and are compiled meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from crowd_demo.app.compiling.switching import Switcher, next_choice, next_number
from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.input.commands import KeyAction, KeyActions
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.optimizations import Optimizations, with_values
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, hud_word, inactive
from crowd_demo.render.hud.status import Tick
from crowd_demo.sim.actions import Switch

MOST_TICKS = 20  # kept for the graph
TOUCHED_FIRST = "stagger.avoidance"  # the number keys change this until the user has chosen a technique


class Techniques:
    """`touched` is the path of the one that was changed last, empty before that; `previous` what a technique had before."""

    def __init__(self, crowd: Crowd, switcher: Switcher, notices: Notices) -> None:
        self.switcher = switcher
        self.touched = ""
        self.previous: dict[str, Value] = {}
        self.followed: frozenset[str] = frozenset()  # those whose configured values came later, until somebody changes them
        self.beginning = False  # until a first start has compiled what is not needed at once: all that overlays draw with
        self.ticks: list[Tick] = []  # where techniques were switched, in the graph
        self._crowd, self._notices = crowd, notices
        self._unapplied: dict[str, Value] = {}  # values among the crowd's changes that have not taken effect yet, by path

    @property
    def actions(self) -> KeyActions:
        return {**{technique.path: KeyAction(partial(self.switch, technique), partial(self.switch, technique, backwards=True),
                                             changes=True) for technique in TECHNIQUES},
                "lower": KeyAction(partial(self.change_number, -1), changes=True),
                "higher": KeyAction(partial(self.change_number, 1), changes=True)}

    def value(self, path: str) -> Value:
        """The value that a technique has, or will have soon."""
        return self.switcher.pending.get(path, self._coming(path))

    def asked(self) -> Optimizations:
        """The values of all techniques, as they will be soon."""
        return with_values(self._all_coming(), self.switcher.pending)

    # --- asking ------------------------------------------------------------------------------------------------------

    def switch(self, technique: Technique, backwards: bool = False) -> None:
        """Ask for the next choice, after the one that is still being compiled if somebody has asked for that."""
        path = self.touched = technique.path
        value = self._coming(path) if path in self.followed else self.value(path)
        self._ask_for(technique, next_choice(technique, value, backwards))

    def choose(self, technique: Technique, value: Value) -> None:
        """Ask for a value of a technique."""
        if self._crowd.takes_changes():
            self.touched = technique.path
            self._ask_for(technique, value)

    def follow(self, values: Mapping[str, Value]) -> None:
        """Ask for the configured values that were left out at first, because their kernels take long to compile."""
        self.followed, self.beginning = frozenset(values), bool(values)
        for path, value in values.items():
            self.switcher.request(self._all_coming(), path, value)

    def change_number(self, direction: int) -> None:
        """Change the number of the technique that was touched last, up or down; `auto` starts at the number it stands for."""
        technique, sim = BY_PATH[self.touched or TOUCHED_FIRST], self._crowd.sim
        name, path, numbers = technique.label.strip(), technique.path, technique.numbers
        if not numbers:
            self._notices.add(f"{name} has no number to change", path)
            return
        asked = self.value(path)
        before = sim.world.stands_for(path) if asked == "auto" else asked
        if isinstance(before, str):
            before = numbers.low
        value = next_number(numbers, float(before), direction)
        if value == before:
            self._notices.add(f"{name}: {hud_word(value)}, the {'most' if direction > 0 else 'least'}", path)
        else:
            in_vain = " (changes nothing at present)" * (path in inactive(sim.situation))
            self._notices.add(f"{name}: {hud_word(value)}{in_vain}", path)
            self._ask_for(technique, value)

    def drag_number(self, path: str, steps: int) -> None:
        """Change a number by so many steps; in a replay do nothing."""
        if self._crowd.player:
            return
        self.touched = path
        for _ in range(abs(steps)):
            self.change_number(1 if steps > 0 else -1)

    def _ask_for(self, technique: Technique, value: Value) -> None:
        self.followed -= {technique.path}
        self.switcher.request(self._all_coming(), technique.path, value)
        self.take_switched()

    # --- taking effect -----------------------------------------------------------------------------------------------

    def take_switched(self) -> None:
        """Apply the values whose kernels are compiled by now."""
        nobody_waits = self.followed.issuperset(self.switcher.pending)
        if not self.switcher.pending or (nobody_waits and self._crowd.rewind.in_past):
            return
        changed = self.switcher.ready(self._all_coming())
        for path, value in changed.items():
            self.beginning = False
            self.previous[path] = self._coming(path)
            self._unapplied[path] = value
            self._crowd.apply(Switch(path, value))
            tick = Tick(self._crowd.sim.profile.frames, f"{BY_PATH[path].label.strip()} {hud_word(value)}")
            self.ticks = [*self.ticks[-MOST_TICKS:], tick]
        if self.followed.issuperset(changed) and changed and not self.switcher.pending:
            self._crowd.forget_past()  # which had other values that nobody chose

    def took_effect(self) -> None:
        """The crowd's changes were carried out."""
        self._unapplied.clear()

    def _coming(self, path: str) -> Value:
        """The value of a technique once the crowd's changes are carried out."""
        return self._unapplied.get(path, self._crowd.sim.optimizations.get(path))

    def _all_coming(self) -> Optimizations:
        return with_values(self._crowd.sim.optimizations, self._unapplied)
