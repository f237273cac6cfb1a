"""The interface of a behaviour, and how one is made by its name.

A behaviour is a settings class (config), a class like `Behaviour` with its rules and stages (here), and figures (render);
one entry of the registry names all three.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from crowd_demo.config.model import Config
from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.registry.entries import load
from crowd_demo.sim.behaviours.steering import Glide
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.world import AgentModel, World


class Behaviour(AgentModel, Protocol):
    """One object for each simulation. The type of its rules chooses the bodies of the interaction and of *move* (dispatch.py).

    A class that inherits from this one has to set `needs` and define `rules`; the defaults serve for the rest.
    """

    observed: tuple[str, ...] = ("x", "y")  # columns that other agents read
    techniques: frozenset[str] = frozenset()  # paths of those that have an effect in this behaviour but not in all

    def __init__(self, config: Config) -> None: ...

    def stages(self, world: World) -> Sequence[Stage]:
        """Return its stages, in order; called once, after the world is made."""
        return (Glide(),)

    def place(self, world: World) -> None:
        """Put everybody where they are at this tick, before the first step; for behaviours that know it."""


def same_kernels(one: AgentModel, other: AgentModel, world: World) -> bool:
    """Return whether steps run the same kernels for both, so that one can take the other's place while the crowd runs."""
    def kinds(rules: object) -> object:
        return (type(rules), *map(kinds, rules)) if isinstance(rules, tuple) else type(rules)

    def parts(behaviour: AgentModel) -> object:
        needs = behaviour.needs
        return kinds(behaviour.rules(world)), needs.columns, needs.paths, needs.detour > 0, needs.shift > 0, needs.nearest > 0

    return parts(one) == parts(other)


def make_behaviour(config: Config) -> Behaviour:
    kind: type[Behaviour] = load(BEHAVIOURS[config.behaviour].code)
    return kind(config)
