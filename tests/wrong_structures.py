"""Structures that do not find all neighbours, for tests of what has to notice it."""

from typing import Any

from crowd_demo.sim.neighbours.cell_structures import Linked, Sorted


class Forgetful(Linked):
    """It forgets all cells but an agent's own."""

    def candidates(self) -> Any:
        return super().candidates()._replace(reach=0)


class WrongRegisters(Sorted):
    """It forgets neighbours where registers work, and only there."""

    def query(self, simd: bool, rules: Any, turn: Any) -> Any:
        self.reach = 0 if simd else self.domain.grid.reach
        return super().query(simd, rules, turn)

    def candidates(self) -> Any:
        return super().candidates()._replace(reach=self.reach)
