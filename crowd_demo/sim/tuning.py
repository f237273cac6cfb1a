"""Settings that change while the crowd runs: actions, and the part of the state with the changed ones (docs/model_actions.md).

A changed number holds from the next step on, or for who is born from now on, as its field says (config/section.py). What
agents were born with lasts, so bounds that kernels rely on follow the widest settings so far, not the present ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, cast
from weakref import proxy

from pydantic import Field

from crowd_demo.config.model import Config, Number, value_of, with_numbers
from crowd_demo.sim.actions import Action, action
from crowd_demo.sim.behaviours.base import make_behaviour, same_kernels
from crowd_demo.sim.store.state import PartState
from crowd_demo.sim.world import World

Path = Annotated[str, Field(max_length=100)]


@action("tune", "a number was changed")
@dataclass(frozen=True)
class Tune(Action):
    """Give a number of the behaviour or of links a value. Raises ValueError for one that it cannot have now."""

    path: Path
    value: float

    def apply(self, world: World) -> None:
        tuned(world).set({**tuned(world).values, self.path: self.value})

    def inverse(self, world: World) -> tuple[Action, ...]:
        before = value_of(world.settings, self.path)
        return () if before == self.value else (Tune(self.path, before),)


@action("set_numbers", "numbers were changed")
@dataclass(frozen=True)
class SetNumbers(Action):
    """Give numbers these values, and all others those of the configuration. Raises ValueError as `Tune` does."""

    values: tuple[tuple[Path, float], ...] = ()

    def apply(self, world: World) -> None:
        tuned(world).set(dict(self.values))

    def inverse(self, world: World) -> tuple[Action, ...]:
        before = tuned(world).values
        return () if before == dict(self.values) else (SetNumbers(tuple(before.items())),)


def numbers_by_hand(history: Iterable[tuple[int, Action]], config: Config) -> dict[str, Number]:
    """Return the numbers that the actions of a history gave, by path, where they differ from the configuration's.

    What events have changed is not among them.
    """
    values: dict[str, Number] = {}
    for _, done in history:
        if isinstance(done, Tune):
            values[done.path] = done.value
        elif isinstance(done, SetNumbers):
            values = dict(done.values)
    return {path: value for path, value in values.items() if value != value_of(config, path)}


def tuned(world: World) -> TunedNumbers:
    return cast(TunedNumbers, world.part(TunedNumbers))


class TunedNumbers:
    """The numbers that differ from the configuration's, as a part of the state.

    values    by path, those that differ
    born      by path: the least and the greatest value so far, of numbers drawn at birth that were changed
    fastest   the greatest top speed before the present numbers, units/s; 0 if that was no greater than the present one
    """

    name = "settings"

    def __init__(self, world: World) -> None:
        self.config = world.config
        self._world: World = proxy(world)  # a cycle of references would outlive the crowd
        self.values: Mapping[str, Number] = {}
        self.born: Mapping[str, tuple[float, float]] = {}
        self.fastest = 0.0
        self.present = world.config

    @property
    def widest(self) -> Config:
        """The settings that anybody alive may have been born with: the least `_min`, and the greatest of all others."""
        return self._widest(self.present, self.born)

    def set(self, values: Mapping[str, Number]) -> None:
        """Give numbers of the behaviour and of links these values, by path, and all others those of the configuration.

        They hold from the next step on. Raises ValueError, in one line, for values that cannot be, or not while it runs.
        """
        present, before, world = with_numbers(self.config, values), self.present, self._world
        if present.behaviour_settings == before.behaviour_settings and present.links == before.links:
            return
        if not same_kernels(make_behaviour(present), world.behaviour, world):
            switched = next(number.path for number in self.config.numbers
                            if (value_of(present, number.path) == 0) != (value_of(before, number.path) == 0))
            raise ValueError(f"{switched} cannot change between 0 and another number while the crowd runs: 0 turns it off")
        born = dict(self.born)
        for number in self.config.numbers:
            old, new = value_of(before, number.path), value_of(present, number.path)
            if number.live == "birth" and old != new:
                low, high = born.get(number.path, (old, old))
                born[number.path] = min(low, new), max(high, new)
        self._become(present, born, world.needs.top_speed)

    def nobody_was_born(self) -> None:
        """Forget the numbers before the present ones: nobody has been born with them."""
        if self.born or self.fastest:
            self._become(self.present, {}, 0.0)

    def _become(self, present: Config, born: Mapping[str, tuple[float, float]], fastest: float) -> None:
        """Have the world go on with these numbers; bounds are those of the widest."""
        values = {number.path: value_of(present, number.path) for number in self.config.numbers}
        self.values = {path: value for path, value in values.items() if value != value_of(self.config, path)}
        self.present, self.born = present, born
        behaviour = make_behaviour(present)
        widest = make_behaviour(self.widest) if born else behaviour
        self.fastest = fastest if fastest > widest.needs.top_speed else 0.0
        needs = widest.needs._replace(top_speed=max(widest.needs.top_speed, self.fastest))
        self._world.use(present, behaviour, widest, needs)
        self._world.begin()

    # --- as a part of the state --------------------------------------------------------------------------------------

    def state(self) -> PartState:
        kept = {"numbers": dict(self.values), "born": {path: list(ends) for path, ends in self.born.items()},
                "fastest": self.fastest}
        return PartState({name: value for name, value in kept.items() if value})

    def restore(self, state: PartState) -> None:
        if state != self.state():
            self._become(*self._read(state))

    def check(self, state: PartState) -> None:
        self._read(state)

    def widest_of(self, state: PartState) -> Config:
        """Return what `widest` will be once that state is restored. Raises ValueError for a state that cannot be."""
        present, born, _ = self._read(state)
        return self._widest(present, born)

    def _widest(self, present: Config, born: Mapping[str, tuple[float, float]]) -> Config:
        return with_numbers(present, {path: ends[0 if path.endswith("_min") else 1] for path, ends in born.items()})

    def _read(self, state: PartState) -> tuple[Config, dict[str, tuple[float, float]], float]:
        """Return (settings, born, fastest) of a state. Raises ValueError, in one line, for what this one cannot be."""
        numbers, born = (state.values.get(name, {}) for name in ("numbers", "born"))
        fastest = state.values.get("fastest", 0.0)
        if not (isinstance(numbers, Mapping) and isinstance(born, Mapping) and _is_number(fastest)) or state.arrays:
            raise ValueError("must be numbers by path")
        present = with_numbers(self.config, numbers)
        births = {number.path for number in self.config.numbers if number.live == "birth"}
        read = {path: _ends(path, ends) for path, ends in born.items()}
        for path, (low, high) in read.items():
            if path not in births or not low <= value_of(present, path) <= high:
                raise ValueError(f"{path[:60]}: no agent can have been born with that")
        self._widest(present, read)
        return present, read, float(fastest)  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _ends(path: str, ends: object) -> tuple[float, float]:
    if not isinstance(ends, list | tuple) or len(ends) != 2 or not all(map(_is_number, ends)):
        raise ValueError(f"{path[:60]}: must be a least and a greatest number")
    return ends[0], ends[1]
