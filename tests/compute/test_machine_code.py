"""What is kept of a compiled kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import numpy as np
from crowd_demo.compute.jit import device, kernel

@device
def bounded(number):
    return min(max(number, 2), 5)

@kernel
def bound(worker, workers, numbers):
    for k in range(worker, len(numbers), workers):
        numbers[k] = bounded(numbers[k])

numbers = np.arange(8)
bound(2, numbers)
print(numbers.tolist(), "compiled" if "numba.np.linalg" in sys.modules else "loaded")
"""
INTERMEDIATE_CODE = b"BC\xc0\xde"  # how LLVM's begins


def test_a_kernel_is_loaded_without_what_only_compiling_needs(tmp_path: Path) -> None:
    program, kernels = tmp_path / "program.py", tmp_path / "kernels"
    program.write_text(PROGRAM, "utf-8")
    env = {**os.environ, "CROWD_DEMO_CACHE": str(kernels),
           "PYTHONPATH": os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(program)]
    said = [subprocess.run(command, env=env, capture_output=True, encoding="utf-8", check=True).stdout.strip()
            for _ in range(2)]
    assert said == ["[2, 2, 2, 3, 4, 5, 5, 5] compiled", "[2, 2, 2, 3, 4, 5, 5, 5] loaded"]
    kept = {path.name.split("-")[0].split(".")[-1]: path.read_bytes() for path in kernels.rglob("*.nbc")}
    of_numba = {"impl"}  # its `min` and `max`, compiled for the kernel as any function that kernels call
    assert kept.keys() == {"bound", "bounded"} | of_numba and INTERMEDIATE_CODE not in kept["bound"]
