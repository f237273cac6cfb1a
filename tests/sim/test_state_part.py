"""A part of the state goes through snapshots, save files and replicas."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import open_world, simulation
from numpy.typing import NDArray

from crowd_demo.sim.save_format import SaveError, check, decode, encoded
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.state import EMPTY, PartState

pytestmark = pytest.mark.quick


class Noted:
    """A number and an array."""

    name = "noted"

    def __init__(self) -> None:
        self.number = 0
        self.array: NDArray[np.generic] = np.zeros(0, np.int16)

    def state(self) -> PartState:
        return PartState({"number": self.number}, {"array": self.array}) if self.number else EMPTY

    def restore(self, state: PartState) -> None:
        self.number, self.array = int(str(state.values.get("number", 0))), state.arrays.get("array", np.zeros(0, np.int16))

    def check(self, state: PartState) -> None:
        if state.values.get("number", 0) == 13:
            raise ValueError("13 is no number")


def with_part() -> tuple[Simulation, Noted]:
    sim, part = simulation(agents=5, **open_world(640, 640)), Noted()
    sim.parts.append(part)
    return sim, part


def test_a_part_is_saved_and_restored_and_costs_nothing_while_it_is_empty() -> None:
    sim, part = with_part()
    begin = sim.snapshot()
    assert not begin.parts
    part.number, part.array = 7, np.arange(6, dtype=np.int16).reshape(2, 3)
    held = sim.snapshot()
    data = b"".join(encoded(held, "test"))
    assert held.nbytes == begin.nbytes + 12
    sim.restore(begin)
    assert part.number == 0 and not part.array.size
    read = decode(data)
    check(read, sim)
    sim.restore(read)
    assert part.number == 7 and np.array_equal(part.array, [[0, 1, 2], [3, 4, 5]])


def test_a_file_with_a_part_that_is_wrong_or_unknown_is_refused_in_a_line() -> None:
    sim, part = with_part()
    part.number = 13
    read = decode(b"".join(encoded(sim.snapshot(), "test")))
    with pytest.raises(SaveError, match=r"^noted: 13 is no number$"):
        check(read, sim)
    with pytest.raises(SaveError, match=r"^noted: this crowd has no such state$"):
        check(read, simulation(agents=5, **open_world(640, 640)))
