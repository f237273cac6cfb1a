"""A graphics card that the processor plays: the kernels of the GPU with a few workers, and arrays of NumPy's.

It shows that kernels and stages are right, and nothing about speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crowd_demo.compute.cuda import GraphicsProcessor
from crowd_demo.compute.jit import Launch


class EmulatedGpu(GraphicsProcessor):
    """All that `GraphicsProcessor` does, with NumPy's arrays instead of the GPU's."""

    name = "emulated"

    def __init__(self, threads: int = 37) -> None:
        self.threads = threads

    def array(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return np.zeros(shape, dtype)

    def row(self, matrix: Any, number: int, dtype: Any) -> Any:
        return matrix[number].view(dtype)

    def upload(self, source: Any, target: Any) -> None:
        target[...] = source

    def download(self, source: Any, target: Any) -> None:
        target[...] = source

    def threads_for(self, items: int) -> int:
        return max(min(items, self.threads), 1)

    def launch(self, kernel: Any, workers: int, *args: object) -> Launch:
        return Launch(kernel, (workers, *args))

    def finish(self) -> None:
        pass
