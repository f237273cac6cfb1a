"""The interface of a behaviour, and how one is made by its name.

A behaviour is a settings class (config), a class like `Behaviour` with its rules and stages (here), and figures (render);
one entry of the registry names all three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.config.model import Config
from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.registry.entries import load
from crowd_demo.sim.behaviours.steering import Glide
from crowd_demo.sim.neighbours.structure import Structure
from crowd_demo.sim.stage import Index, Stage
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.world import Needs, World


class Behaviour(Protocol):
    """One object for each simulation. The type of its rules chooses the bodies of the interaction and of *move* (dispatch.py).

    A class that inherits from this one has to set `needs` and define `rules`; the defaults here serve for the rest.
    """

    needs: Needs
    observed: tuple[str, ...] = ("x", "y")  # columns that other agents read
    states: tuple[str, ...] = ()  # names of what column `state` counts
    techniques: frozenset[str] = frozenset()  # paths of those that have an effect in this behaviour but not in all
    structures: Mapping[str, type[Structure]] = {}  # its own, which replace those of the same name
    on_gpu: bool = False  # can a graphics card make its steps (extras/gpu/)?

    def __init__(self, config: Config) -> None: ...

    def stages(self, world: World, index: Index) -> Sequence[Stage]:
        """Return its stages, in order; called once, after the world is made.

        `index` has the neighbour structure of the step, for stages that ask who is near once more.
        """
        return (Glide(),)

    def spawn_columns(self, ids: Ints, x: Floats, y: Floats, seed: int, terrain: Terrain) -> dict[str, ArrayLike]:
        """Return columns of newcomers other than id, x and y; those left out start at zero."""
        return {}

    def place(self, world: World) -> None:
        """Put everybody where they are at this tick, before the first step; for behaviours that know it."""

    def send_on(self, world: World, number: int) -> None:
        """Change who is on the way to a destination that was moved or taken away; called between two steps."""

    def bounds(self, terrain: Terrain) -> Mapping[str, tuple[float, float]]:
        """Return the least and greatest value of columns that kernels rely on, such as an index: save files are checked."""
        return {}

    def rules(self, world: World) -> object:
        """Return the constants of a step: a NamedTuple of typed numbers, which the kernels get."""


def same_kernels(one: Behaviour, other: Behaviour, world: World) -> bool:
    """Return whether steps run the same kernels for both, so that one can take the other's place while the crowd runs."""
    def kinds(rules: object) -> object:
        return (type(rules), *map(kinds, rules)) if isinstance(rules, tuple) else type(rules)

    def parts(behaviour: Behaviour) -> object:
        needs = behaviour.needs
        return kinds(behaviour.rules(world)), needs.columns, needs.paths, needs.detour > 0, needs.shift > 0, needs.nearest > 0

    return parts(one) == parts(other)


def make_behaviour(config: Config) -> Behaviour:
    """Make the behaviour that the configuration names."""
    kind: type[Behaviour] = load(BEHAVIOURS[config.behaviour].code)
    return kind(config)
