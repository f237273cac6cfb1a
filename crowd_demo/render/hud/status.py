"""What the program tells the HUD beside what the simulation knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crowd_demo.registry.entries import Value
from crowd_demo.sim.metrics.readings import Readings


class Status(NamedTuple):
    """The state of the program in one frame."""

    paused: bool = False
    speed: float = 1.0
    pending: Mapping[str, Value] = {}  # values whose kernels are still being compiled, by path
    notices: Sequence[str] = ()
    readings: Readings = Readings()
    touched: str = ""  # path of the technique that was changed last; the number keys change its value
