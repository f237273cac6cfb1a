"""Prefix-sum grid as an index only: agents stay where they are in memory, and each candidate is fetched through `order`."""

from __future__ import annotations

from typing import Any

from crowd_demo.compute.jit import Call
from crowd_demo.sim.neighbours.grid import Cells
from crowd_demo.sim.neighbours.structure import Structure


class Buckets(Structure):
    """The place's grid."""

    USES_GRID = True

    @property
    def order(self) -> Any:
        return self.place.grid.order

    def index(self, tick: int) -> tuple[Call, ...]:
        return self.place.grid.calls()

    def built(self) -> None:
        super().built()
        self.place.grid.built()

    def candidates(self) -> Cells:
        return self.place.grid.view()
