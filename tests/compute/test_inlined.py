"""Functions that are compiled for other compiled functions alone."""

from __future__ import annotations

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


def test_python_may_call_it_too_before_and_after_a_kernel_has() -> None:
    x = np.arange(3.0)
    assert four_times(x, 1) == 4
    call(four_times_all, 1, x).run()
    assert twice(x, 2) == 16 and call(twice, x, 2).run() == 16


def test_kernels_count_no_references() -> None:
    """Counting took half the time of a loop whose body reads arrays out of a record."""
    call(four_times_all, 1, np.arange(3.0)).run()
    (code,) = call(four_times_all, 1, np.arange(3.0)).compiled.inspect_llvm().values()  # type: ignore[attr-defined]
    assert "four_times_all" in code and "NRT_incref" not in code


@pytest.mark.parametrize("typed", [False, True], ids=["in a file", "typed into a prompt"])
def test_a_kernel_and_what_it_inlines_may_print_compiled_or_loaded(typed: bool, tmp_path: Path) -> None:
    script = tmp_path / "printing.py"
    script.write_text(PRINTING)
    for _ in ("compiled", "loaded from the cache"):
        done = subprocess.run([sys.executable, *(["-c", PRINTING] if typed else [script])], capture_output=True, text=True,
                              timeout=100)
        assert done.stdout.splitlines() == ["worker 0", "double 0 0.0", "double 1 1.0", "[0. 2.]"], done.stderr
