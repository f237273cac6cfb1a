"""Random numbers as a hash of (seed, id, tick, purpose): the same for any order, any thread, any machine.

A `key` is made once a step from (seed, tick, purpose); a kernel hashes it with the id (`lanes.scramble`). The functions here
are the same hash in NumPy, for spawning and for tests.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WANDER, SPEED, GOAL, WIGGLE, SPAWN, BIRTH, DEATH = range(7)


def scramble(value: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """`lowbias32`, elementwise: uint32 -> uint32."""
    h = value.astype(np.uint32)
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x7FEB352D)
    h ^= h >> np.uint32(15)
    h *= np.uint32(0x846CA68B)
    h ^= h >> np.uint32(16)
    return h


def key(seed: int, tick: int, purpose: int) -> np.int32:
    """The int32 that stands for (seed, tick, purpose) in a kernel."""
    h = np.zeros(1, np.uint32)
    for word in (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF, tick & 0xFFFFFFFF, purpose + 1):
        h = scramble(h ^ np.uint32(word))
    return h.view(np.int32)[0]


def next_key(key: np.int32) -> np.int32:
    """Another key, for a second draw."""
    return scramble(np.array([key]).view(np.uint32)).view(np.int32)[0]


def unit(ids: NDArray[np.int32], key: np.int32) -> NDArray[np.float32]:
    """Uniform float32 in [0, 1), one an id, a multiple of 2**-24."""
    bits = scramble(ids.astype(np.uint32) ^ np.uint32(int(key) & 0xFFFFFFFF))
    return ((bits >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)).astype(np.float32)
