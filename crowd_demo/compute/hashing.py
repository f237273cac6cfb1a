"""Random numbers as a hash of (seed, id, tick, purpose): the same for any order, any thread, any machine.

A `key` is made once a step from (seed, tick, purpose); a kernel hashes it with the id (`lanes.scramble`). The functions here
are the same hash in NumPy, for spawning and for tests.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# What a random number is for: no two purposes that meet in one run have the same number.
WANDER, SPEED, GOAL, WIGGLE, SPAWN, BIRTH, DEATH = range(7)
HEADING = GOAL  # birds have no goals
SIZE = SPEED  # crates drift with the water
PLACES, DESTINATIONS = 64, 65  # of the terrain
MASK = 0xFFFFFFFF


def scramble(value: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """`lowbias32`, elementwise: uint32 -> uint32."""
    h = value.astype(np.uint32)
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x7FEB352D)
    h ^= h >> np.uint32(15)
    h *= np.uint32(0x846CA68B)
    h ^= h >> np.uint32(16)
    return h


def _scramble_word(h: int) -> int:
    """The same for one number, without arrays: a step makes several keys, and each would cost 40 us."""
    h ^= h >> 16
    h = h * 0x7FEB352D & MASK
    h ^= h >> 15
    h = h * 0x846CA68B & MASK
    return h ^ h >> 16


def _as_int32(h: int) -> np.int32:
    return np.int32(h - (1 << 32) if h >> 31 else h)


def key(seed: int, tick: int, purpose: int) -> np.int32:
    """The int32 that stands for (seed, tick, purpose) in a kernel."""
    h = 0
    for word in (seed & MASK, seed >> 32 & MASK, tick & MASK, purpose + 1):
        h = _scramble_word(h ^ word)
    return _as_int32(h)


def next_key(key: np.int32) -> np.int32:
    """Another key, for a second draw."""
    return _as_int32(_scramble_word(int(key) & MASK))


def unit(ids: NDArray[np.int32], key: np.int32) -> NDArray[np.float32]:
    """Uniform float32 in [0, 1), one an id, a multiple of 2**-24."""
    bits = scramble(ids.astype(np.uint32) ^ np.uint32(int(key) & MASK))
    return ((bits >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)).astype(np.float32)
