"""Forces: discs in the world that attract, repel or scare agents in them for a while (docs/model_actions.md, "Forces").

They are a part of the state, not columns; none of them is as if there were no such thing. Every behaviour asks `pull` for the
sum at a place, and says what it makes of that; one of a plugin can do so as well: `pull(ground.forces, 0, ground.forces.total,
x, y)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, NamedTuple, get_args

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from crowd_demo.compute.arrays import Float, Floats
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.simd import inverse_root, select
from crowd_demo.sim.store.state import EMPTY, PartState

MAX_FORCES = 32
UNTIL_REMOVED = 0  # in the place of a tick, or of a number of ticks
ForceKind = Literal["attract", "repel", "scare"]
FORCE_KINDS: tuple[ForceKind, ...] = get_args(ForceKind)
ForceNumber = Annotated[int, Field(ge=0, le=2**31 - 1)]
Place = Annotated[float, Field(ge=-2**31, le=2**31)]
Reach = Annotated[float, Field(ge=0.01, le=65_536)]
Strength = Annotated[float, Field(ge=0.01, le=100)]
Ticks = Annotated[int, Field(ge=0, le=2**62)]


class Force(NamedTuple):
    """A disc in which a force acts, until the step of tick `until`; its number is never given to another one."""

    number: ForceNumber
    kind: ForceKind
    x: Place
    y: Place
    radius: Reach
    strength: Strength
    until: Ticks = UNTIL_REMOVED


class ForceArrays(NamedTuple):
    """Forces for kernels, float32[MAX_FORCES] each: first those that attract and repel, then those that scare."""

    total: int  # how many there are
    lasting: int  # how many attract or repel
    x: Floats
    y: Floats
    radius_sq: Floats
    inv_radius: Floats
    along: Floats  # of the offset itself
    away: Floats  # of its direction


def arrays_of(forces: tuple[Force, ...]) -> ForceArrays:
    columns = np.zeros((6, MAX_FORCES), np.float32)
    for at, (_, kind, x, y, radius, strength, _) in enumerate(forces):
        along, away = (4 * strength / radius, 0.0) if kind == "attract" else (0.0, -strength)
        columns[:, at] = x, y, radius, 1 / radius, along, away
    columns[2] *= columns[2]
    return ForceArrays(len(forces), sum(force.kind != "scare" for force in forces), *columns)


NO_FORCES = arrays_of(())


class Forces:
    """The forces of a world, as a part of the state; `arrays` are those of `present`, and made anew when it changes."""

    name = "forces"

    def __init__(self) -> None:
        self.next_number = 0
        self.present: tuple[Force, ...] = ()  # in the order of the arrays
        self.arrays = NO_FORCES

    def of_number(self, number: int) -> Force | None:
        return next((force for force in self.present if force.number == number), None)

    def put(self, force: Force) -> None:
        """Add a force, or replace the one of its number. Raises ValueError for too many, or a number beyond the next one."""
        others = [other for other in self.present if other.number != force.number]
        if len(others) == MAX_FORCES:
            raise ValueError(f"there are {MAX_FORCES} forces already")
        if force.number > self.next_number:
            raise ValueError(f"force {force.number}: the next new one is {self.next_number}")
        self._become(max(self.next_number, force.number + 1), (*others, force))

    def remove(self, number: int) -> None:
        """Remove a force; a number that none has is ignored."""
        if self.of_number(number):
            self._become(self.next_number, (force for force in self.present if force.number != number))

    def expire(self, tick: int) -> None:
        """Remove those that do not act in the step of a tick. Call after each step."""
        if any(UNTIL_REMOVED < force.until <= tick for force in self.present):
            self._become(self.next_number, (force for force in self.present if not UNTIL_REMOVED < force.until <= tick))

    def _become(self, next_number: int, forces: Iterable[Force]) -> None:
        self.next_number = next_number
        self.present = tuple(sorted(forces, key=lambda force: (force.kind == "scare", force.number)))
        self.arrays = arrays_of(self.present)

    # --- a part of the state -----------------------------------------------------------------------------------------

    def state(self) -> PartState:
        return PartState({"next": self.next_number, "forces": [list(force) for force in self.present]}
                         ) if self.next_number else EMPTY

    def restore(self, state: PartState) -> None:
        if state != self.state():
            self._become(*_read(state))

    def check(self, state: PartState) -> None:
        next_number, forces = _read(state)
        numbers = {force.number for force in forces}
        if state.arrays or len(forces) > MAX_FORCES or len(numbers) < len(forces) or max(numbers, default=-1) >= next_number:
            raise ValueError("too many, or two of one number")


_STATE = TypeAdapter(tuple[ForceNumber, tuple[Force, ...]])


def _read(state: PartState) -> tuple[int, tuple[Force, ...]]:
    """Return (next number, forces) of a state. Raises ValueError, in one line, for what is none."""
    try:
        return _STATE.validate_python((state.values.get("next", 0), state.values.get("forces", ())))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']}") from None


@formula
def pull(forces: ForceArrays, first: int, end: int, x: Float, y: Float) -> tuple[Float, Float]:
    """Return the sum of the forces from `first` to before `end` at a place, or at each of sixteen.

    One of strength 1 is at most 1: one that attracts half-way to its edge, and not at all in the middle; others in the middle.
    """
    way_x, way_y = 0, 0
    for force in range(first, end):
        dx, dy = forces.x[force] - x, forces.y[force] - y
        distance_sq = dx * dx + dy * dy
        inverse = inverse_root(distance_sq)
        inside = 1 - distance_sq * inverse * forces.inv_radius[force]
        weight = inside * (forces.along[force] + forces.away[force] * inverse)
        near = distance_sq < forces.radius_sq[force]
        way_x, way_y = way_x + select(near, weight * dx, 0), way_y + select(near, weight * dy, 0)
    return way_x, way_y
