"""What can happen to a file, and what is none."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest


def damages(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Flipped bits, cut ends, stretches of garbage, and stretches that are left out, doubled or zeroed."""
    chance = np.random.default_rng(seed)
    for number in range(count):
        first, last = sorted(chance.integers(len(data) + 1, size=2).tolist())
        last = min(last, first + 200)
        if number % 5 == 0:
            yield data[:first]
        elif number % 5 == 1:
            yield data[:first] + chance.bytes(last - first) + data[last:]
        elif number % 5 == 2:
            yield data[:first] + data[last:] if number % 2 else data[:last] + data[first:]
        else:
            flipped = bytearray(data)
            for place in chance.integers(len(data), size=chance.integers(1, 4)):
                flipped[place] ^= 1 << int(chance.integers(8))
            yield bytes(flipped)


def make_fifo(path: Path) -> None:
    """Make a named pipe; skip the test on a system without them."""
    if sys.platform == "win32":
        pytest.skip("there are no named pipes")
    else:
        os.mkfifo(path)
