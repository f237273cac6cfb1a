"""The values of the techniques: those that the crowd has, and those that were asked for and are compiled meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from crowd_demo.app.crowd.crowd import Change, Crowd
from crowd_demo.app.crowd.switching import Switcher, next_choice, next_number
from crowd_demo.app.input.key_input import KeyAction, KeyActions
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, hud_word, inactive
from crowd_demo.render.hud.status import Tick
from crowd_demo.sim.actions import Switch

MAX_TICKS = 20  # kept for the graph
TOUCHED_FIRST = "stagger.avoidance"  # the number keys change this until the user has chosen a technique


class Techniques:
    """What is asked of techniques, and what has taken effect.

    touched    the path of the one that was changed last, empty before that
    previous   by path: the value before the last switch
    beginning  is True until a first start has compiled what is not needed at once: all that overlays draw with
    ticks      where techniques were switched, in the graph
    """

    def __init__(self, crowd: Crowd, switcher: Switcher, notices: Notices) -> None:
        self.switcher = switcher
        self.touched = ""
        self.previous: dict[str, Value] = {}
        self.beginning = False
        self.ticks: list[Tick] = []
        self._crowd, self._notices = crowd, notices

    @property
    def actions(self) -> KeyActions:
        switch = self.switch
        return {**{each.path: KeyAction(partial(switch, each), partial(switch, each, shift=True), changes=True)
                   for each in TECHNIQUES},
                "lower": KeyAction(partial(self.change_number, -1), changes=True),
                "higher": KeyAction(partial(self.change_number, 1), changes=True)}

    def asked(self) -> Optimizations:
        """The values of all techniques, as they will be soon."""
        return self.switcher.coming(self._crowd.sim.optimizations)

    def value(self, path: str) -> Value:
        """The value that a technique has, or will have soon."""
        request = self.switcher.requests.get(path)
        return request.value if request and request.is_coming else self._crowd.sim.optimizations.get(path)

    @property
    def deferred(self) -> frozenset[str]:
        """The techniques whose configured values take effect once compiled, until a user changes them."""
        return frozenset(request.path for request in self.switcher.requests.values() if request.follows)

    # --- asking ------------------------------------------------------------------------------------------------------

    def switch(self, technique: Technique, shift: bool = False) -> None:
        """Do what its key does; the value that is still being compiled counts, if somebody has asked for that."""
        path, off = technique.path, technique.baseline
        value = self._crowd.sim.optimizations.get(path) if path in self.deferred else self.value(path)
        if shift or not technique.has_off:
            value = next_choice(technique, value, backwards=shift and not technique.has_off)
        else:
            value = self._on_value(technique) if value == off else off
        self._touch(path, value)
        self.switcher.request(path, value)

    def choose(self, technique: Technique, value: Value) -> None:
        if self._crowd.takes_changes():
            self._touch(technique.path, value)
            self.switcher.request(technique.path, value)

    def follow(self, values: Mapping[str, Value]) -> None:
        """Ask for the configured values that were left out at first, because their kernels take long to compile."""
        self.beginning = bool(values)
        for path, value in values.items():
            self.switcher.request(path, value, follows=True)

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
            self._touch(path, value)
            self.switcher.request(path, value)
            self._notices.add(f"{name}: {hud_word(value)}{no_effect}", path)

    def drag_number(self, path: str, steps: int) -> None:
        """Change a number by so many steps; in a replay do nothing."""
        if self._crowd.player:
            return
        self.touched = path
        for _ in range(abs(steps)):
            self.change_number(1 if steps > 0 else -1)

    def _touch(self, path: str, value: Value) -> None:
        """Note that a technique is about to have another value."""
        self.touched = path
        self._notices.drop(path)
        if (before := self.value(path)) != value:
            self.previous[path] = before

    def _on_value(self, technique: Technique) -> Value:
        """The value it had before it was off; or else the configured one, the default, or the first that is not off."""
        configured, off = self._crowd.config.optimizations.get(technique.path), technique.baseline
        values = self.previous.get(technique.path, configured), configured, technique.default, next_choice(technique, off)
        return next(value for value in values if value != off)

    # --- taking effect -----------------------------------------------------------------------------------------------

    def switch_to_compiled(self) -> None:
        """Switch to the values whose kernels are compiled by now. Call in every frame."""
        pending = self.switcher.pending
        if pending and self.deferred.issuperset(pending) and self._crowd.in_past:  # nobody waits for those
            return
        ready = [request for request in self.switcher.ready(self._crowd.sim.optimizations) if not request.beside]
        for request in ready:
            self._crowd.apply(Switch(request.path, request.value))
        if ready and all(request.follows for request in ready) and not self.switcher.pending:
            self._crowd.apply(self._crowd.begin_past)  # which had other values that nobody chose

    def crowd_changed(self, change: Change) -> None:
        """Call after each switch, whatever made it."""
        if change.path:
            self.beginning = False
            if change.old != change.new:
                self.previous[change.path] = change.old
            if (request := self.switcher.requests.get(change.path)) and request.value == change.new:
                request.state = "in effect"
            tick = Tick(self._crowd.sim.profile.frames, f"{BY_PATH[change.path].label.strip()} {hud_word(change.new)}")
            self.ticks = [*self.ticks[-MAX_TICKS:], tick]
