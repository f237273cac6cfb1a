"""The meters: what is measured about a crowd in addition to the counters of its steps.

A meter runs between two steps, leaves the crowd as it is, and lists the kernels that it will call, so that these are compiled
with those of the step. A meter that does not apply at present has no value, and a value belongs to the settings under which it
was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from crowd_demo.compute.arrays import Longs
from crowd_demo.compute.jit import Launch
from crowd_demo.registry.entries import EXACT, Value
from crowd_demo.registry.techniques import TECHNIQUES, kind_of
from crowd_demo.sim.metrics import locality as near
from crowd_demo.sim.metrics.avoidance_error import (
    AvoidanceError,
    Bias,
    ages,
    bias,
    bias_launch,
    exact_error,
    stagger_error,
)
from crowd_demo.sim.metrics.locality import Locality
from crowd_demo.sim.simulation import Simulation

Reading = AvoidanceError | Longs | Bias | Locality | None
Settings = tuple[tuple[str, Value], ...]  # paths of techniques and their values
MEMORY_ORDER = tuple(technique.path for technique in TECHNIQUES if technique.moves_memory)
MAX_IN_LISTS = 50_000  # agents whose lists are written out for a reading: 0.8 ms


class Readings(NamedTuple):
    """The last value of each meter, None where it does not apply or has not been read yet."""

    stagger: AvoidanceError | None = None
    ages: Longs | None = None
    neighbour_limit: AvoidanceError | None = None
    bias: Bias | None = None
    field: AvoidanceError | None = None
    locality: Locality | None = None


class Meter(NamedTuple):
    """`launches` are the kernels that `measure` runs and a step does not."""

    applies: Callable[[Simulation], bool]
    measure: Callable[[Simulation], Reading]
    launches: Callable[[Simulation], Iterable[Launch]]
    settings: Callable[[Simulation], Settings]  # those that a reading belongs to


def is_staggered(sim: Simulation) -> bool:
    return bool(sim.optimizations.stagger.avoidance > 1)


def is_limited(sim: Simulation) -> bool:
    return bool(sim.neighbour_limit != "none")


def has_field(sim: Simulation) -> bool:
    """Only some behaviours have a field, and a limit replaces it by pairs."""
    return bool(sim.optimizations.neighbours == "field" and "field" in sim.behaviour.structures and not is_limited(sim))


MAY_APPROXIMATE = tuple(one for one in TECHNIQUES if one.kind is not EXACT or one.approximate_if)


def approximations(sim: Simulation) -> Settings:
    get = sim.optimizations.get
    return tuple((one.path, get(one.path)) for one in MAY_APPROXIMATE if kind_of(one, get(one.path), get) is not EXACT)


def memory_order(sim: Simulation) -> Settings:
    """Return the techniques that decide where agents lie in memory and how their candidates are read."""
    return tuple((path, sim.optimizations.get(path)) for path in MEMORY_ORDER)


def cheap_locality(sim: Simulation) -> Locality | None:
    """Return the locality where it is cheap: no index to build, no long lists to write out."""
    short = sim.optimizations.neighbours != "linked" or sim.agents.count <= MAX_IN_LISTS
    return near.locality(sim) if short and sim.structure.fresh and not sim.on_gpu else None


def _exactly(sim: Simulation) -> Iterable[Launch]:
    """The launches of `exact_error` that a step does not make: all neighbours, by the behaviour's own rules."""
    return sim.interaction.all_launches(sim, exact=True)


METERS = {
    "stagger": Meter(is_staggered, stagger_error, lambda sim: (), approximations),
    "ages": Meter(is_staggered, ages, lambda sim: (), approximations),
    "neighbour_limit": Meter(is_limited, exact_error, _exactly, approximations),
    "bias": Meter(is_limited, bias, lambda sim: (bias_launch(sim, 1)[0],), approximations),
    "field": Meter(has_field, exact_error, _exactly, approximations),
    "locality": Meter(lambda sim: True, cheap_locality, near.launches_to_compile, memory_order),
}


def launches_to_compile(sim: Simulation) -> Iterator[Launch]:
    """Yield the kernels of the meters that apply to the present techniques."""
    for meter in METERS.values():
        if meter.applies(sim):
            yield from meter.launches(sim)
