"""What is kept of a function that kernels call, for kernels that are compiled later."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SHARED = """
from crowd_demo.compute.jit import device, kernel
from numba.core import event

def adding(number):
    @device
    def add(x):
        return x + number
    return add

add_one, add_ten = adding(1.0), adding(10.0)

@device
def up(x):
    print("up", x)
    return add_one(x)

@device
def same(x):
    return x

def tell(kernel):
    with event.install_recorder("numba:compile") as recorder:
        kernel(1, x := np.arange(2.0))
    print(x.tolist(), *(each.data["dispatcher"].py_func.__name__ for _, each in recorder.buffer if each.is_start))
"""
FIRST = """
from shared import *

@kernel
def once(worker, workers, x):
    for k in range(len(x)):
        x[k] = up(x[k])

tell(once)
"""
SECOND = """
from shared import *

@kernel
def then(worker, workers, x):
    for k in range(len(x)):
        x[k] = add_ten(same(up(x[k])))

tell(then)
"""


@pytest.fixture
def tell(tmp_path: Path) -> Callable[[str], list[str]]:
    """What a program prints that shares functions and a cache with others."""
    (tmp_path / "shared.py").write_text("import numpy as np\n" + SHARED, "utf-8")
    env = {**os.environ, "CROWD_DEMO_CACHE": str(tmp_path / "kernels"),
           "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path.cwd()), os.environ.get("PYTHONPATH", "")])}

    def told(program: str) -> list[str]:
        (tmp_path / "program.py").write_text(program, "utf-8")
        done = subprocess.run([sys.executable, str(tmp_path / "program.py")], env=env, capture_output=True, encoding="utf-8")
        assert not done.returncode, done.stderr
        return done.stdout.splitlines()
    return told


def test_another_kernel_calls_what_was_compiled_for_the_first(tell: Callable[[str], list[str]]) -> None:
    """Also in another process: `add` has a code of its own for each number, although both have the same name."""
    *printed, last = tell(FIRST)
    assert printed == ["up 0.0", "up 1.0"] and last == "[1.0, 2.0] once once up add"
    *printed, last = tell(SECOND)
    assert printed == ["up 0.0", "up 1.0"] and last == "[11.0, 12.0] then then same add"


def test_what_is_damaged_is_compiled_again(tell: Callable[[str], list[str]], tmp_path: Path) -> None:
    tell(FIRST)
    (kept,) = (tmp_path / "kernels").rglob("shared.up-*.nbc")
    kept.write_bytes(kept.read_bytes()[:-1])
    assert tell(SECOND)[-1] == "[11.0, 12.0] then then up add same add"
