"""Prefix-sum grid as an index only: agents stay where they are in memory, and each candidate is fetched through `order`."""

from __future__ import annotations

from crowd_demo.compute.jit import Launch
from crowd_demo.sim.neighbours.candidates import Cells
from crowd_demo.sim.neighbours.structure import Structure


class Buckets(Structure):
    """The domain's grid, without moving agents."""

    USES_GRID = True
    OBEYS = frozenset({"cell_size"})

    def index(self, tick: int) -> tuple[Launch, ...]:
        return self.domain.grid.launches()

    def built(self) -> None:
        super().built()
        self.domain.grid.built()
        self.order = self.domain.grid.order

    def candidates(self) -> Cells:
        return self.domain.grid.view()
