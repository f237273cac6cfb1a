"""What the simulation asks of a behaviour, and how one is found by its name.

A behaviour is a settings class (config), a class like `Behaviour` with its rules and stages (here), and figures (render);
one entry of the registry names all three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.config.model import Config
from crowd_demo.registry.behaviours import BEHAVIOURS
from crowd_demo.registry.entries import load
from crowd_demo.sim.behaviours.steering import Glide
from crowd_demo.sim.neighbours.structure import Structure
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.world import Needs, World


class Behaviour(Protocol):
    """Made once for a simulation. The type of its rules chooses its part of *see* and *move* (compute/dispatch.py).

    A class that inherits from this one has to set `needs` and define `rules`; what stands here serves for the rest.
    """

    needs: Needs
    seen: tuple[str, ...] = ("x", "y")  # columns that others read
    states: tuple[str, ...] = ()  # names of what column `state` counts
    techniques: frozenset[str] = frozenset()  # that this behaviour obeys and others do not, by their paths
    structures: Mapping[str, type[Structure]] = {}  # of its own, in place of those of the same name

    def __init__(self, config: Config) -> None: ...

    def stages(self, world: World) -> Sequence[Stage]:
        """Its part of a step, after everybody has looked around; asked for once, when the world stands."""
        return (Glide(),)

    def spawn_columns(self, ids: Ints, x: Floats, y: Floats, seed: int, terrain: Terrain) -> dict[str, ArrayLike]:
        """Columns of newcomers beside id and place; the others start at zero."""
        return {}

    def rules(self, world: World) -> object:
        """The constants of a step: a NamedTuple of typed numbers, which the kernels get."""


def make_behaviour(config: Config) -> Behaviour:
    """The one that the configuration names."""
    kind: type[Behaviour] = load(BEHAVIOURS[config.behaviour].code)
    return kind(config)
