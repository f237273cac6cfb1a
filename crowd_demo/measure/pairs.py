"""How long a step of brute force takes, about, so that nobody has to wait for one to know: it may be minutes."""

from __future__ import annotations

from collections.abc import Callable

from crowd_demo.registry.entries import Value

PAIR_NS = {True: 0.1, False: 1.0}  # with lanes and without: 36 and 390 ms for 20k birds on two threads


def all_pairs_s(agents: int, get: Callable[[str], Value]) -> float:
    """Seconds in which a step tests all pairs with these techniques; 0 with any neighbour structure."""
    if get("neighbours") != "none":
        return 0.0
    return agents**2 / float(get("stagger.avoidance")) * PAIR_NS[bool(get("simd"))] * 1e-9
