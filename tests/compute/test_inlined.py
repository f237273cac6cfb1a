"""Functions that are compiled for other compiled functions alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crowd_demo.compute.arrays import Doubles
from crowd_demo.compute.jit import call, device, kernel

PRINTING = """
import numpy as np
from crowd_demo.compute.jit import call, device, kernel

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
call(double_all, 1, x).run()
print(x)
"""


SCALING = """
import numpy as np
from crowd_demo.compute.jit import call, device, kernel

@device
def scaled(number, by):
    return number * by

@kernel
def scale_all(worker, workers, numbers, by):
    for k in range(worker, len(numbers), workers):
        numbers[k] = scaled(numbers[k], 2) + scaled(numbers[k], 3) + scaled(numbers[k], by)

numbers = np.arange(4)
call(scale_all, 1, numbers, 10).run()
print(numbers.tolist(), len(scaled.overloads))
"""


COUNTING = """
import numba
import numpy as np
from crowd_demo.compute.jit import call, kernel

@kernel
def count(worker, workers, counts):
    counts[worker] += workers

counts = np.zeros(7, np.int64)
call(count, 7, counts).run()
print(numba.threading_layer(), counts.tolist())
"""


def compiled_anew(script: str, folder: Path, **environment: str) -> str:
    """What it prints where nothing has been compiled before."""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True, timeout=100,
                          env={**os.environ, "CROWD_DEMO_CACHE": str(folder), **environment}).stdout


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


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_each_element_is_some_workers_share(workers: int) -> None:
    x = np.arange(50.0)
    call(four_times_all, workers, x).run()
    np.testing.assert_array_equal(x, np.arange(50.0) * 4)


def test_no_share_is_left_out_by_threads_that_take_several(tmp_path: Path) -> None:
    printed = compiled_anew(COUNTING, tmp_path, NUMBA_THREADING_LAYER="workqueue", NUMBA_NUM_THREADS="2")
    assert printed == "workqueue [7, 7, 7, 7, 7, 7, 7]\n"


def test_python_may_call_it_too_before_and_after_a_kernel_has() -> None:
    x = np.arange(3.0)
    assert four_times(x, 1) == 4
    call(four_times_all, 1, x).run()
    assert twice(x, 2) == 16 and call(twice, x, 2).run() == 16


def test_kernels_count_no_references(tmp_path: Path) -> None:
    """Counting took half the time of a loop whose body reads arrays out of a record."""
    code = compiled_anew(PRINTING + "print(*call(double_all, 1, x).compiled.inspect_llvm().values())", tmp_path)
    assert "double_all" in code and "NRT_incref" not in code


def test_a_number_in_the_source_is_like_any_number(tmp_path: Path) -> None:
    """A function is not compiled once more for each of them."""
    assert compiled_anew(SCALING, tmp_path) == "[0, 15, 30, 45] 1\n"


@pytest.mark.parametrize("typed", [False, True], ids=["in a file", "typed into a prompt"])
def test_a_kernel_and_what_it_inlines_may_print_compiled_or_loaded(typed: bool, tmp_path: Path) -> None:
    script = tmp_path / "printing.py"
    script.write_text(PRINTING, "utf-8")
    for _ in ("compiled", "loaded from the cache"):
        done = subprocess.run([sys.executable, *(["-c", PRINTING] if typed else [script])], capture_output=True,
                              encoding="utf-8", timeout=100)
        assert done.stdout.splitlines() == ["worker 0", "double 0 0.0", "double 1 1.0", "[0. 2.]"], done.stderr
