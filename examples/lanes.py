"""Lanes outside of a crowd: one formula, for one number or for sixteen at once, and a kernel that all threads share.

    python examples/lanes.py

For the same in a program of your own, the files of `crowd_demo/compute` suffice (docs/design/lanes.md).
"""

import numpy as np

from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import kernel, max_threads
from crowd_demo.compute.simd import LANES, root, select
from crowd_demo.compute.simd_memory import load, store

AGENTS = 4096  # a multiple of sixteen; else arrays need room for the last register
LIMIT = np.float32(60)


@formula
def limited(vx, vy, limit):
    """A velocity, cut to a length. The types decide whether it is that of one agent or of sixteen."""
    length = root(vx * vx + vy * vy)
    scale = select(length > limit, limit / length, 1)
    return vx * scale, vy * scale


@kernel
def limit_one_by_one(worker, workers, vx, vy, limit):
    """Each worker takes an equal share."""
    for at in range(len(vx) * worker // workers, len(vx) * (worker + 1) // workers):
        vx[at], vy[at] = limited(vx[at], vy[at], limit)


@kernel
def limit_lanes(worker, workers, vx, vy, limit):
    """The same, sixteen agents at a time."""
    registers = len(vx) // LANES
    for register in range(registers * worker // workers, registers * (worker + 1) // workers):
        at = register * LANES
        x, y = limited(load(vx, at), load(vy, at), limit)
        store(vx, at, x)
        store(vy, at, y)


def main() -> None:
    velocities = np.random.default_rng(1).normal(0, 100, (2, AGENTS)).astype(np.float32)
    one, lanes = velocities.copy(), velocities.copy()
    limit_one_by_one(max_threads(), *one, LIMIT)
    limit_lanes(max_threads(), *lanes, LIMIT)
    assert np.array_equal(one, lanes), "the same operations, so the same bits"
    print(f"fastest before {np.hypot(*velocities).max():.0f}, after {np.hypot(*lanes).max():.0f}; one by one and in lanes"
          f" the same to the last bit")


if __name__ == "__main__":
    main()
