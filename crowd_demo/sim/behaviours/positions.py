"""Four of a behaviour's eight functions, for agents that see only positions: put `@sees_positions` above the rules."""

from __future__ import annotations

from typing import TypeVar

from crowd_demo.compute.arrays import Float, Int, Rules
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.simd_memory import load, store, take
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Strip
from crowd_demo.sim.store.columns import Columns

Kind = TypeVar("Kind", bound=type)


def sees_positions(kind: Kind) -> Kind:
    """For a behaviour of these rules `me` and `other` are (x, y), each float32 or sixteen of them."""

    @implements(pairwise.copy_to_strip, kind)
    def copy_to_strip(rules: Rules, columns: Columns, slots: Int, strip: Strip, at: Int) -> None:
        floats, _ = strip
        store(floats[0], at, take(columns.x, slots))
        store(floats[1], at, take(columns.y, slots))

    @implements(pairwise.read_columns, kind)
    def read_columns(rules: Rules, columns: Columns, slot: Int) -> tuple[Float, Float]:
        return columns.x[slot], columns.y[slot]

    @implements(pairwise.read_strip, kind)
    def read_strip(rules: Rules, strip: Strip, at: Int) -> tuple[Float, Float]:
        floats, _ = strip
        return floats[0, at], floats[1, at]

    @implements(pairwise.load_register, kind)
    def load_register(rules: Rules, strip: Strip, at: Int) -> tuple[Float, Float]:
        floats, _ = strip
        return load(floats[0], at), load(floats[1], at)

    return kind
