"""What Python calls of a kernel: all kinds of arguments arrive as they are, in records and in records of records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from crowd_demo.compute.arrays import Bools, Doubles, Floats, Ints, Longs
from crowd_demo.compute.jit import call, kernel


class Inner(NamedTuple):
    small: Ints
    table: Floats  # [rows, columns]
    speed: np.float32


class Outer(NamedTuple):
    wanted: bool
    first: Inner
    marks: Bools
    second: Inner
    number: int


def inner_of(start: int) -> Inner:
    """With a table whose rows are apart in memory."""
    return Inner(np.arange(start, start + 3, dtype=np.int32),
                 np.ascontiguousarray(np.arange(start, start + 12, dtype=np.float32).reshape(3, 4)), np.float32(start + 0.25))


@kernel
def read_all(worker: int, workers: int, scale: float, record: Outer, longs: Longs, pair: tuple[Floats, Ints],
             found: Doubles) -> None:
    mine = found[worker]
    mine[0], mine[1], mine[2], mine[3] = worker, workers, scale, record.number
    mine[4], mine[5] = record.first.speed, record.second.speed
    mine[6], mine[7] = record.first.small[2], record.second.small[2]
    mine[8], mine[9] = record.first.table[2, 1], record.second.table.shape[1]
    mine[10], mine[11] = (1 if record.wanted else 0) + (2 if record.marks[1] else 0), longs[0]
    mine[12], mine[13] = pair[0][0], pair[1][0]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("wanted", [False, True])
def test_every_kind_of_argument_arrives(workers: int, wanted: bool) -> None:
    found = np.zeros((workers, 14))
    record = Outer(wanted, inner_of(10), np.array([False, True]), inner_of(50), -(2**40))
    pair = np.array([1.5], np.float32), np.array([-7], np.int32)
    call(read_all, workers, 0.1, record, np.array([2**50]), pair, found).run()
    for worker in range(workers):
        arrived = [worker, workers, 0.1, -(2.0**40), 10.25, 50.25, 12, 52, 19, 4, 2 + wanted, 2.0**50, 1.5, -7]
        assert found[worker].tolist() == arrived
