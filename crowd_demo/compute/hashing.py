"""Random numbers as a hash of (seed, id, tick, purpose): the same for any order, any thread, any machine.

A `key` is made once per step from (seed, tick, purpose); a kernel hashes it with the id (`simd.scramble`). The functions here
are the same hash in NumPy, for spawning and for tests.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints, Words

T = TypeVar("T")

# Purposes of random numbers; different within one behaviour.
WANDER, SPEED, GOAL, WIGGLE, SPAWN, BIRTH, DEATH, ENTRY, RECONSIDER = range(9)
HEADING = GOAL  # of birds, which have no goals
SIZE = SPEED  # of crates, which have no speed of their own
PLACES, DESTINATIONS = 64, 65  # of the terrain
MASK = 0xFFFFFFFF
ROUNDS = (16, 0x7FEB352D), (15, 0x846CA68B)  # shift and factor


def lowbias32(value: T, xor: Callable[[T, T], T], shift_right: Callable[[T, int], T], times: Callable[[T, int], T]) -> T:
    """The integer hash of Wellons, "Prospecting for hash functions": 32 bits -> 32 bits.

    The caller supplies the operations, modulo 2**32: on arrays, on numbers or on LLVM registers.
    """
    for shift, factor in ROUNDS:
        value = times(xor(value, shift_right(value, shift)), factor)
    return xor(value, shift_right(value, 16))


def scramble(value: Words) -> Words:
    """`lowbias32`, elementwise: uint32 -> uint32."""
    return lowbias32(value, np.bitwise_xor, lambda h, n: h >> np.uint32(n), lambda h, n: h * np.uint32(n))


def _scramble_word(value: int) -> int:
    """The same for one number, without arrays: a step makes several keys, and each would cost 40 us."""
    return lowbias32(value, operator.xor, operator.rshift, lambda h, n: h * n & MASK)


def _as_int32(h: int) -> np.int32:
    return np.int32(h - (1 << 32) if h >> 31 else h)


@lru_cache(maxsize=64)  # some keys hold for many steps
def key(seed: int, tick: int, purpose: int) -> np.int32:
    """Return an int32 hash of (seed, tick, purpose), for kernels."""
    return _as_int32(_scramble_word(_scramble_word(_hash_of(seed) ^ tick & MASK) ^ purpose + 1))


@lru_cache(maxsize=8)
def _hash_of(seed: int) -> int:
    return _scramble_word(_scramble_word(seed & MASK) ^ seed >> 32 & MASK)


def next_key(key: np.int32) -> np.int32:
    """Return another key, for a second draw."""
    return _as_int32(_scramble_word(int(key) & MASK))


def unit(ids: Ints, key: np.int32) -> Floats:
    """Return uniform float32 in [0, 1), one for each id, multiples of 2**-24."""
    bits = scramble(ids.astype(np.uint32) ^ np.uint32(int(key) & MASK))
    return ((bits >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)).astype(np.float32)
