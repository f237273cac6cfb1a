"""Four of a behaviour's eight functions, for agents of whom others see only the place: `@sees_places` above the rules."""

from __future__ import annotations

from typing import Any, TypeVar

from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.simd import load, store, take
from crowd_demo.sim.interaction import pairwise

Rules = TypeVar("Rules", bound=type)


def sees_places(rules: Rules) -> Rules:
    """For a behaviour of these rules `me` and `other` are (x, y), each float32 or sixteen of them."""

    @implements(pairwise.copy_to_strip, rules)
    def copy_to_strip(rules: Any, columns: Any, slots: Any, strip: Any, at: Any) -> None:
        floats, _ = strip
        store(floats[0], at, take(columns.x, slots))
        store(floats[1], at, take(columns.y, slots))

    @implements(pairwise.read_columns, rules)
    def read_columns(rules: Any, columns: Any, slot: Any) -> Any:
        return columns.x[slot], columns.y[slot]

    @implements(pairwise.read_strip, rules)
    def read_strip(rules: Any, strip: Any, at: Any) -> Any:
        floats, _ = strip
        return floats[0, at], floats[1, at]

    @implements(pairwise.load_register, rules)
    def load_register(rules: Any, strip: Any, at: Any) -> Any:
        floats, _ = strip
        return load(floats[0], at), load(floats[1], at)

    return rules
