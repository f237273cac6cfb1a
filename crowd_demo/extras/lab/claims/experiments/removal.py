"""Removing entities from columns without gaps: fill each gap from the end, shift what is behind, or close all gaps at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import device, kernel, launch
from crowd_demo.extras.lab.claims.cases import Arm, CallArm, TimedCase
from crowd_demo.extras.lab.claims.claim import COMPACTING, Answer, Case, Claim, Found, LabScale, all_of
from crowd_demo.extras.lab.claims.judging import faster

COLUMNS = 8  # of four bytes, beside the id
REMOVED = 1000
ORDERS = ("reverse", "forward", "random")


class Store(NamedTuple):
    """Columns int32[1 + COLUMNS, entities], ids first; where each id is, int32[entities]; and how many there are, int32[1]."""

    rows: Ints
    slot: Ints
    size: Ints


@device
def _move(store: Store, source: int, target: int) -> None:
    for row in range(store.rows.shape[0]):
        store.rows[row, target] = store.rows[row, source]
    store.slot[store.rows[0, target]] = target


@kernel
def swap_back(worker: int, workers: int, store: Store, ids: Ints) -> None:
    for k in range(ids.shape[0]):
        store.size[0] -= 1
        _move(store, store.size[0], store.slot[ids[k]])


@kernel
def shift(worker: int, workers: int, store: Store, ids: Ints) -> None:
    for k in range(ids.shape[0]):
        store.size[0] -= 1
        first = store.slot[ids[k]]
        for row in range(store.rows.shape[0]):
            for at in range(first, store.size[0]):
                store.rows[row, at] = store.rows[row, at + 1]
        for at in range(first, store.size[0]):
            store.slot[store.rows[0, at]] = at


@kernel
def deferred(worker: int, workers: int, store: Store, ids: Ints) -> None:
    """Mark all that go, then close the gaps in one pass."""
    for k in range(ids.shape[0]):
        store.slot[ids[k]] = -1
    kept = 0
    for at in range(store.size[0]):
        if store.slot[store.rows[0, at]] >= 0:
            _move(store, at, kept)
            kept += 1
    store.size[0] = kept


def numpy_delete(store: Store, ids: Ints) -> Store:
    rows = np.delete(store.rows, store.slot[ids], axis=1)
    store.slot[rows[0]] = np.arange(rows.shape[1], dtype=np.int32)
    return Store(rows, store.slot, np.array([rows.shape[1]], np.int32))


def full_store(entities: int) -> Store:
    ids = np.arange(entities, dtype=np.int32)
    return Store(np.tile(ids, (1 + COLUMNS, 1)), ids.copy(), np.array([entities], np.int32))


def ids_to_remove(entities: int, order: str) -> Ints:
    count = min(REMOVED, entities // 2)
    if order == "random":
        return np.random.default_rng(0).permutation(entities)[:count].astype(np.int32)
    first = np.arange(count, dtype=np.int32)
    return first if order == "forward" else entities - 1 - first


def who_is_left(store: Store) -> Ints:
    """Sorted ids, and with each its last column: the same for every way to remove."""
    count = int(store.size[0])
    order = np.argsort(store.rows[0, :count])
    return store.rows[[0, COLUMNS]][:, :count][:, order]


def arms(entities: int, order: str) -> dict[str, Callable[[], Arm]]:
    ids, full = ids_to_remove(entities, order), full_store(entities)

    def copied() -> Store:
        return Store(*(column.copy() for column in full))

    def compiled(function: object) -> Callable[[], Arm]:
        def run(store: Store) -> Store:
            launch(function, 1, store, ids).run()  # type: ignore[arg-type]  # one of the kernels above
            return store
        return lambda: CallArm(run, copied, who_is_left)

    return {"shift": compiled(shift), "swap-back": compiled(swap_back), "deferred": compiled(deferred),
            "numpy.delete": lambda: CallArm(lambda store: numpy_delete(store, ids), copied, who_is_left)}


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} entities, {order}", size, arms(size, order), steps=2, seconds=1 + size * 2e-5, workers=1,
                      warm_up=1, bytes_each=100)
            for size in scale.sizes(10_000, 100_000, 250_000) for order in ORDERS]


def decide(found: Found) -> Answer:
    return all_of(faster(found, "swap-back", other) for other in ("shift", "deferred", "numpy.delete"))


CLAIM = Claim(
    "removal", "How should the gap of a removed entity be closed?",
    "all of 250,000 removed one by one: swap-back 0.69 to 1.07 ms; shifting 1.06 ms in reverse, 17.9 s at random, 37 s"
    " forward", COMPACTING,
    f"{REMOVED:,} entities of nine columns are removed: swap-back is faster than each other way, in every order", cases,
    decide, by_size=False)
