"""A graphics card that the processor plays: the kernels of the GPU with a few workers, and arrays of NumPy's.

It shows that kernels and stages are right, and nothing about speed. With CROWD_DEMO_REAL_GPU=1 the same tests run on this
machine's own GPU.
"""

import os
from typing import Any

import numpy as np
import pytest

from crowd_demo.compute.jit import Launch
from crowd_demo.extras.gpu import cuda
from crowd_demo.extras.gpu.cuda import GraphicsProcessor


class EmulatedGpu(GraphicsProcessor):
    """All that `GraphicsProcessor` does, with NumPy's arrays instead of the GPU's."""

    name = "emulated"

    def __init__(self) -> None:
        pass  # nothing is asked of a driver

    def array(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return np.zeros(shape, dtype)

    def row(self, matrix: Any, number: int, dtype: Any) -> Any:
        return matrix[number].view(dtype)

    def upload(self, source: Any, target: Any) -> None:
        assert source.nbytes == target.nbytes and source.flags.c_contiguous
        target[...] = source

    def download(self, source: Any, target: Any) -> None:
        assert source.nbytes == target.nbytes and target.flags.c_contiguous
        target[...] = source

    def launch(self, kernel: Any, workers: int, *args: object) -> Launch:
        return Launch(kernel, (workers, *args))

    def finish(self) -> None:
        pass


def install_gpu(monkeypatch: pytest.MonkeyPatch, threads: int) -> GraphicsProcessor:
    """Make this the GPU that the program finds during a test, with at most so many threads, and return it."""
    gpu = cuda.gpu() if os.environ.get("CROWD_DEMO_REAL_GPU") else EmulatedGpu()
    monkeypatch.setattr(gpu, "threads_for", lambda items: max(min(items, threads), 1))
    monkeypatch.setattr(cuda, "gpu", lambda: gpu)
    monkeypatch.setattr(cuda, "missing", lambda: "")
    return gpu
