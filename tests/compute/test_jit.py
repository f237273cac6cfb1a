"""Kernels and the functions that they call: every argument arrives, every share is done, and they may print."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from crowd_demo.compute.arrays import Bools, Doubles, Floats, Ints, Longs
from crowd_demo.compute.jit import device, kernel, launch


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


@pytest.mark.quick
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("wanted", [False, True])
def test_every_kind_of_argument_arrives_in_records_of_records(workers: int, wanted: bool) -> None:
    found = np.zeros((workers, 14))
    record = Outer(wanted, inner_of(10), np.array([False, True]), inner_of(50), -(2**40))
    pair = np.array([1.5], np.float32), np.array([-7], np.int32)
    launch(read_all, workers, 0.1, record, np.array([2**50]), pair, found).run()
    for worker in range(workers):
        arrived = [worker, workers, 0.1, -(2.0**40), 10.25, 50.25, 12, 52, 19, 4, 2 + wanted, 2.0**50, 1.5, -7]
        assert found[worker].tolist() == arrived


@device
def twice(x: Doubles, k: int) -> float:
    return x[k] * 2


@device
def four_times(x: Doubles, k: int) -> float:
    return twice(x, k) + twice(x, k)


@kernel
def four_times_all(worker: int, workers: int, x: Doubles) -> None:
    for k in range(len(x) * worker // workers, len(x) * (worker + 1) // workers):
        x[k] = four_times(x, k)


@pytest.mark.quick
@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_each_element_is_some_workers_share(workers: int) -> None:
    x = np.arange(50.0)
    launch(four_times_all, workers, x).run()
    np.testing.assert_array_equal(x, np.arange(50.0) * 4)


@pytest.mark.quick
def test_python_may_call_a_device_function_too_before_and_after_a_kernel_has() -> None:
    x = np.arange(3.0)
    assert four_times(x, 1) == 4
    launch(four_times_all, 1, x).run()
    assert twice(x, 2) == 16 and launch(twice, x, 2).run() == 16


# --- in processes of their own ---------------------------------------------------------------------------------------

COUNTING = """
import numba
import numpy as np
from crowd_demo.compute.jit import launch, kernel

@kernel
def count(worker, workers, counts):
    counts[worker] += workers

counts = np.zeros(7, np.int64)
launch(count, 7, counts).run()
print(numba.threading_layer(), counts.tolist())
"""
PRINTING = """
import numpy as np
from crowd_demo.compute.jit import launch, device, kernel

@device
def double(x, k):
    print("double", k, x[k])
    return x[k] * 2

@kernel
def double_all(worker, workers, x):
    print("worker", worker)
    for k in range(len(x) * worker // workers, len(x) * (worker + 1) // workers):
        x[k] = double(x, k)

x = np.arange(2.0)
launch(double_all, 1, x).run()
print(x)
"""
PRINTED = ["worker 0", "double 0 0.0", "double 1 1.0", "[0. 2.]"]


def test_no_share_is_left_out_by_threads_that_take_several(run) -> None:
    printed = run(COUNTING, NUMBA_THREADING_LAYER="workqueue", NUMBA_NUM_THREADS="2").stdout
    assert printed == "workqueue [7, 7, 7, 7, 7, 7, 7]\n"


def test_a_kernel_and_what_it_inlines_may_print_compiled_or_loaded(run) -> None:
    assert [run(PRINTING).stdout.splitlines() for _ in ("compiled", "loaded")] == [PRINTED] * 2


def test_kernels_may_be_typed_into_a_prompt() -> None:
    done = subprocess.run([sys.executable, "-c", PRINTING], capture_output=True, encoding="utf-8", timeout=100)
    assert done.stdout.splitlines() == PRINTED, done.stderr


@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_a_kernel_with_few_workers_leaves_the_pool_as_large_as_it_was(run, layer: str) -> None:
    """OpenMP's, and TBB's, which is not always there, remember how many threads a kernel had, as the most that there are."""
    printed = run(COUNTING.replace("7, counts)", "2, counts)") + "print(numba.get_num_threads())\n",
                  NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="4").stdout.split()
    assert printed[-1] == "4" and printed[1:3] == ["[2,", "2,"]
