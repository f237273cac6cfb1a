"""What can be measured about a crowd beside the counters of its steps: each meter once, for whoever shows or schedules them.

A meter runs between two steps, leaves the crowd as it is, and says beforehand which kernels it will call, so that these are
compiled with those of the step. One that does not apply at present has nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from crowd_demo.compute.jit import Call
from crowd_demo.sim.behaviours.flock_field import field_error
from crowd_demo.sim.interaction.capped import Bias, bias, bias_call, cap_error
from crowd_demo.sim.metrics import locality as near
from crowd_demo.sim.metrics.locality import Locality
from crowd_demo.sim.metrics.push_error import PushError
from crowd_demo.sim.neighbours.schedule import ages, stagger_error

if TYPE_CHECKING:
    from crowd_demo.sim.simulation import Simulation

MOST_IN_LISTS = 50_000  # agents whose lists are written out for a score: 0.8 ms


class Readings(NamedTuple):
    """The last value of each meter, None where it does not apply or has not been read yet."""

    stagger: PushError | None = None
    ages: NDArray[Any] | None = None
    cap: PushError | None = None
    bias: Bias | None = None
    field: PushError | None = None
    locality: Locality | None = None


class Meter(NamedTuple):
    """`calls` are those that `measure` will make and a step does not."""

    applies: Callable[[Simulation], bool]
    measure: Callable[[Simulation], Any]
    calls: Callable[[Simulation], Iterable[Call]]


def exact_calls(sim: Simulation) -> tuple[Call, ...]:
    """Everybody meets all neighbours by the behaviour's own rules."""
    return sim.see_calls(sim.behaviour.rules(sim), exact=True)


def is_staggered(sim: Simulation) -> bool:
    return bool(sim.optimizations.stagger.avoidance > 1)


def is_capped(sim: Simulation) -> bool:
    return bool(sim.optimizations.cap != "none")


def has_field(sim: Simulation) -> bool:
    """Only birds follow the field, and capped ones meet each other in pairs."""
    return sim.optimizations.neighbours == "field" and sim.config.behaviour == "flock" and not is_capped(sim)


def cheap_locality(sim: Simulation) -> Locality | None:
    """Where nothing has to be indexed or written out at length for it."""
    cheap = sim.structure.fresh and (sim.optimizations.neighbours != "linked" or sim.agents.count <= MOST_IN_LISTS)
    return near.locality(sim) if cheap else None


METERS = {
    "stagger": Meter(is_staggered, stagger_error, lambda sim: ()),
    "ages": Meter(is_staggered, ages, lambda sim: ()),
    "cap": Meter(is_capped, cap_error, exact_calls),
    "bias": Meter(is_capped, bias, lambda sim: (bias_call(sim, 1)[0],)),
    "field": Meter(has_field, field_error, exact_calls),
    "locality": Meter(lambda sim: True, cheap_locality, near.calls_ahead),
}


def calls_ahead(sim: Simulation) -> Iterator[Call]:
    """What the meters that apply to the present techniques will call."""
    for meter in METERS.values():
        if meter.applies(sim):
            yield from meter.calls(sim)
