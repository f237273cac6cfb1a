"""Numbering: a number below 256 for each agent of a list, that of its look or of its colour in a mode; sixteen at a time.

A mode is a record that holds the columns it reads; its type chooses the formula. After a sort most slots of a list follow
each other, so their columns are read as they lie in memory; others are gathered. O(listed).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crowd_demo.compute.arrays import Bytes, Int, Ints, Register
from crowd_demo.compute.dispatch import generic
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.compute.simd import LANES, count_set, lane_numbers, select, splat
from crowd_demo.compute.simd_memory import load, store_bytes, take

Mode = Any  # what the columns are read from: the type of the record decides how agents are numbered


@generic
def number_of(mode: Mode, slots: Int, register: Register) -> Register:
    """Return the numbers of the sixteen agents in `register`; `slots` is for `take`: the same, or the first of a run."""


@device
def sixteen(slots: Ints, at: int) -> Register:
    """Sixteen entries of the list from there on; after its end the last one is repeated."""
    last = slots.shape[0] - 1
    if at + LANES - 1 <= last:
        return load(slots, at)
    lanes = lane_numbers() + at
    return take(slots, select(lanes < last, lanes, splat(np.int32(last), lanes)))


@device
def is_run(register: Register, first: Int) -> bool:
    """Do the slots follow each other?"""
    return count_set(register == lane_numbers() + first) == LANES


@device
def registers(listed: int, worker: int, workers: int) -> tuple[int, int]:
    """The first entry of a worker's share and the one after its last: whole registers of the list."""
    count = (listed + LANES - 1) // LANES
    return count * worker // workers * LANES, count * (worker + 1) // workers * LANES


@kernel
def number_agents(worker: int, workers: int, slots: Ints, mode: Mode, number: Bytes) -> None:
    """Write number[k], uint8, for this worker's share of the list."""
    listed = slots.shape[0]
    first, last = registers(listed, worker, workers)
    for at in range(first, last, LANES):
        register = sixteen(slots, at)
        if is_run(register, slots[at]):
            store_bytes(number, at, number_of(mode, np.intp(slots[at]), register), listed - at)
        else:
            store_bytes(number, at, number_of(mode, register, register), listed - at)


def numbering(workers: int, slots: Ints, mode: Mode, number: Bytes) -> Call:
    """The kernel after which `number[k]` is the number of the agent in `slots[k]`."""
    return call(number_agents, workers, slots, mode, number)
