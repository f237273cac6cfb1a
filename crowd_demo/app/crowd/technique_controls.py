"""The values of the techniques: those that the crowd has, and those that were asked for and are compiled meanwhile."""

from __future__ import annotations

from collections.abc import Mapping

from crowd_demo.app.crowd.crowd import Change, Crowd
from crowd_demo.app.crowd.switching import Switcher, next_choice, next_number
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.optimizations import Optimizations, with_values
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, hud_word, inactive
from crowd_demo.render.hud.status import Tick
from crowd_demo.sim.actions import Switch

MAX_TICKS = 20  # kept for the graph
TOUCHED_FIRST = "stagger.avoidance"  # the number keys change this until the user has chosen a technique


class Techniques:
    """What is asked of techniques, and what has taken effect.

    touched    the path of the one that was changed last, empty before that
    previous   by path: the value before the last switch
    deferred   techniques whose configured values take effect once compiled, until a user changes them
    beginning  is True until a first start has compiled what is not needed at once: all that overlays draw with
    ticks      where techniques were switched, in the graph
    """

    def __init__(self, crowd: Crowd, switcher: Switcher, notices: Notices) -> None:
        self.switcher = switcher
        self.touched = ""
        self.previous: dict[str, Value] = {}
        self.deferred: frozenset[str] = frozenset()
        self.beginning = False
        self.ticks: list[Tick] = []
        self._on: dict[str, Value] = {}  # by path: the last value that was not off, once somebody has asked for another
        self._crowd, self._notices = crowd, notices

    def asked(self) -> Optimizations:
        """The values of all techniques, as they will be soon."""
        return with_values(self._crowd.sim.optimizations, {**self._coming(), **self.switcher.pending})

    def value(self, path: str) -> Value:
        """The value that a technique has, or will have soon."""
        return self.switcher.pending.get(path, self._coming_value(path))

    # --- asking ------------------------------------------------------------------------------------------------------

    def switch(self, path: str, shift: bool = False) -> None:
        """Do what a technique's key does; a value that is still being compiled counts, if the user has chosen it."""
        technique = BY_PATH[path]
        value = self._coming_value(path) if path in self.deferred else self.value(path)
        if shift or not technique.has_off:
            value = next_choice(technique, value, backwards=shift and not technique.has_off)
        else:
            value = self._on_value(technique) if value == technique.baseline else technique.baseline
        self._touch(technique)
        self.switcher.request(path, value)

    def choose(self, technique: Technique, value: Value) -> None:
        if self._crowd.takes_changes():
            self._touch(technique)
            self.switcher.request(technique.path, value)

    def follow(self, values: Mapping[str, Value]) -> None:
        """Ask for the configured values that were left out at first, because their kernels take long to compile."""
        self.deferred, self.beginning = frozenset(values), bool(values)
        for path, value in values.items():
            self.switcher.request(path, value)

    def change_number(self, direction: int) -> None:
        """Change the number of the technique that was touched last, up or down; `auto` starts at the number it stands for."""
        technique, sim = BY_PATH[self.touched or TOUCHED_FIRST], self._crowd.sim
        name, path, numbers = technique.label.strip(), technique.path, technique.numbers
        if not numbers:
            self._notices.add(f"{name} has no number to change", path)
            return
        asked = self.value(path)
        before = sim.world.resolve_auto(path) if asked == "auto" else asked
        if isinstance(before, str):
            before = numbers.low
        value = next_number(numbers, float(before), direction)
        if value == before:
            self._notices.add(f"{name}: {hud_word(value)}, the {'most' if direction > 0 else 'least'}", path)
        else:
            no_effect = " (changes nothing at present)" * (path in inactive(sim.situation))
            self._touch(technique)
            self._notices.add(f"{name}: {hud_word(value)}{no_effect}", path)
            self.switcher.request(path, value)

    def drag_number(self, path: str, steps: int) -> None:
        """Change a number by so many steps; in a replay do nothing."""
        if self._crowd.player:
            return
        self.touched = path
        for _ in range(abs(steps)):
            self.change_number(1 if steps > 0 else -1)

    def _touch(self, technique: Technique) -> None:
        """Note that it is about to have another value."""
        path = self.touched = technique.path
        self._notices.drop(path)
        self.deferred -= {path}
        if (before := self.value(path)) != technique.baseline:
            self._on[path] = before

    def _on_value(self, technique: Technique) -> Value:
        """The value it had before it was off; or else the configured one, the default, or the first that is not off."""
        configured, off = self._crowd.config.optimizations.get(technique.path), technique.baseline
        values = self._on.get(technique.path, configured), technique.default, next_choice(technique, off)
        return next(value for value in values if value != off)

    # --- taking effect -----------------------------------------------------------------------------------------------

    def switch_to_compiled(self) -> None:
        """Switch to the values whose kernels are compiled by now. Call in every frame."""
        pending = self.switcher.pending
        if not pending or (self.deferred.issuperset(pending) and self._crowd.in_past):  # nobody waits for those
            return
        ready = self.switcher.ready(with_values(self._crowd.sim.optimizations, self._coming()))
        for path, value in ready.items():
            self._crowd.apply(Switch(path, value))
        if self.deferred.issuperset(ready) and ready and not pending:
            self._crowd.apply(self._crowd.begin_past)  # which had other values that nobody chose

    def crowd_changed(self, change: Change) -> None:
        """Call after each switch, whatever made it."""
        if change.path:
            self.beginning = False
            self.previous[change.path] = change.old
            tick = Tick(self._crowd.sim.profile.frames, f"{BY_PATH[change.path].label.strip()} {hud_word(change.new)}")
            self.ticks = [*self.ticks[-MAX_TICKS:], tick]

    def _coming(self) -> dict[str, Value]:
        """By path: values that are compiled and take effect with the crowd's next changes."""
        return {change.path: change.value for change in self._crowd.changes if isinstance(change, Switch)}

    def _coming_value(self, path: str) -> Value:
        return self._coming().get(path, self._crowd.sim.optimizations.get(path))
