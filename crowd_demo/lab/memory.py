"""What storage costs: components by entity id against a sparse set, measured and by formula.

    crowd-demo memory [entities]

There are N possible entities, and a share U of them has the component, of C bytes. Both ways can tell which ones have it:

    linear   C*N + N/8         an array by id, and a bit for each id
    sparse   8*N + C*N*U       two int32 for each id (id -> slot, slot -> id), and the components without gaps

The sparse set here adds 4*N for generations, which make handles to a dead agent invalid. Bytes are what `tracemalloc` saw
allocated, arrays and the objects around them. Sparse is smaller below U = 1 - 11.875 / C.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Longs
from crowd_demo.sim.store.sparse_set import SparseSet

COMPONENTS = (8, 32, 68)  # bytes: a position; a bird; a person
SHARES = (0.1, 0.5, 1.0)


class Storage(NamedTuple):
    """A way to store components, and the bytes that the formula gives it."""

    make: Callable[[int, int, float], object]  # (entities, component, used) -> what holds the memory
    formula: Callable[[int, int, float], float]


def make_linear(entities: int, component: int, used: float) -> tuple[Bytes, Bytes]:
    present = np.zeros(-(-entities // 8), np.uint8)
    return np.zeros((entities, component), np.uint8), present


def make_sparse(entities: int, component: int, used: float) -> tuple[SparseSet, Bytes]:
    members = SparseSet(entities)
    members.add_many(members_of(entities, used))
    return members, np.zeros((len(members), component), np.uint8)


STORAGES = {
    "linear": Storage(make_linear, lambda entities, component, used: component * entities + -(-entities // 8)),
    "sparse": Storage(make_sparse, lambda entities, component, used: 8 * entities + component * round(entities * used)),
}


def members_of(entities: int, used: float) -> Longs:
    """Ids spread evenly over all, int64[round(entities * used)]."""
    count = round(entities * used)
    return np.arange(count) * entities // max(count, 1)


def measured_bytes(storage: Storage, entities: int, component: int, used: float) -> int:
    """Bytes that are still allocated once it has been made."""
    tracemalloc.start()
    try:
        kept = storage.make(entities, component, used)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del kept
    return size


def main(most: int = 1_000_000) -> None:
    row = "{:>9} {:>5} {:>4} {:>12} {:>12} {:>12} {:>12} {:>12}".format
    print(row("entities", "bytes", "used", "linear", "formula", "sparse", "formula", "+ gen."))
    for entities in (*(count for count in (1_000, 100_000) if count < most), most):
        for component in COMPONENTS:
            for used in SHARES:
                case = entities, component, used
                linear, sparse = (measured_bytes(storage, *case) for storage in STORAGES.values())
                wanted, hoped = (round(storage.formula(*case)) for storage in STORAGES.values())
                numbers = (f"{size:,}" for size in (linear, wanted, sparse, hoped, hoped + 4 * entities))
                print(row(entities, component, used, *numbers), "linear" if linear < sparse else "sparse", "is smaller")
