"""Show on a real graphics card that its crowd is the processor's, bit for bit.

    python benchmarks/gpu.py [--quick] [--only operations|hashes]

*operations*  every elementary operation of the formulas gives the same bits: those of one operand for all 2^32 of them, those
              of two for 2^28 pairs of any bits, and for as many whose exponents are near each other
*hashes*      crowds of every kind step on the GPU, on the processor, and with a switch in the middle, in all combinations

Exit 1 where a bit differs. NaNs count as equal whatever their bits are: the processors' differ already. How long steps take on
either device is what `crowd-demo sweep device` measures.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from crowd_demo.compute.arrays import Longs
from crowd_demo.compute.jit import device, kernel, max_threads
from crowd_demo.compute.simd import chance, floor, inverse_root, root, scramble, select, to_float, to_int
from crowd_demo.config.loader import load_config
from crowd_demo.extras.gpu.cuda import gpu, missing
from crowd_demo.sim.simulation import Simulation

# --- operations ------------------------------------------------------------------------------------------------------

ONE = "root", "floor", "to_int", "to_float", "inverse_root", "chance"
TWO = "sum", "difference", "product", "quotient", "sum of products", "least", "greatest", "least, chosen"
BLOCK = 1 << 14  # operands whose results make one checksum


@device
def _digest(value: np.float32, at: np.int32) -> np.int64:
    bits = np.float32(select(value == value, value, np.float32(np.nan))).view(np.int32)
    return np.int64(scramble(bits ^ scramble(at)))


@kernel
def digest_one(worker: int, workers: int, first: int, blocks: int, sums: Longs) -> None:
    """Write a checksum of the results of each operation for each block of operands, whose bits are counted off."""
    for block in range(worker, blocks, workers):
        for k in range(len(ONE)):
            sums[k, block] = 0
        for k in range(BLOCK):
            bits = np.int32(first + block * BLOCK + k)
            value = np.int32(bits).view(np.float32)
            small = abs(value) < np.float32(2.0**31)
            sums[0, block] += _digest(root(value), bits)
            sums[1, block] += _digest(floor(value), bits)
            sums[2, block] += np.int64(scramble(to_int(select(small, value, np.float32(0))) ^ scramble(bits)))
            sums[3, block] += _digest(to_float(bits), bits)
            sums[4, block] += _digest(inverse_root(value), bits)
            sums[5, block] += _digest(chance(bits, np.int32(77)), bits)


@device
def _near_one(bits: np.int32) -> np.int32:
    """The bits of a number with another exponent, from -3 to 4."""
    exponent = np.int32(124) + (bits >> np.int32(24) & np.int32(7))
    return (bits & np.int32(-2139095041)) + exponent * np.int32(1 << 23)


@kernel
def digest_two(worker: int, workers: int, seed: int, near: bool, blocks: int, sums: Longs) -> None:
    """The same for pairs of operands with random bits; `near`: with exponents from -3 to 4."""
    for block in range(worker, blocks, workers):
        for k in range(len(TWO)):
            sums[k, block] = 0
        for k in range(BLOCK):
            at = np.int32(block * BLOCK + k)
            one, other = scramble(at ^ np.int32(seed)), scramble(at ^ np.int32(seed + 1))
            if near:
                one, other = _near_one(one), _near_one(other)
            a, b = np.int32(one).view(np.float32), np.int32(other).view(np.float32)
            sums[0, block] += _digest(a + b, at)
            sums[1, block] += _digest(a - b, at)
            sums[2, block] += _digest(a * b, at)
            sums[3, block] += _digest(a / b, at)
            sums[4, block] += _digest(a * a + b * b, at)
            sums[5, block] += _digest(min(a, b), at)
            sums[6, block] += _digest(max(a, b), at)
            sums[7, block] += _digest(select(a < b, a, b), at)


def compared(digest: Callable[..., None], names: tuple[str, ...], blocks: int, *args: object) -> Iterator[str]:
    """Yield the operations whose checksums differ between the GPU and this processor."""
    here, there = np.zeros((len(names), blocks), np.int64), np.zeros((len(names), blocks), np.int64)
    on_gpu = gpu().array(here.shape, np.int64)
    gpu().launch(digest, blocks, *args, blocks, on_gpu).run()
    digest(max_threads() * 8, *args, blocks, here)
    gpu().download(on_gpu, there)
    for name, one, other in zip(names, here, there, strict=True):
        if different := int((one != other).sum()):
            yield f"{name}: {different:,} of {blocks:,} blocks of {BLOCK} differ"


def operations(quick: bool) -> list[str]:
    """Return what differs."""
    found: list[str] = []
    blocks = 1 << 14
    ranges = range(-(1 << 31), 1 << 31, blocks * BLOCK)
    for first in list(ranges)[::4 if quick else 1]:
        found += compared(digest_one, ONE, blocks, first)
    for near in (False, True):
        found += compared(digest_two, TWO, blocks, 1234, near)
    return found


# --- hashes ----------------------------------------------------------------------------------------------------------

Values = dict[str, object]
MILLION: Values = {"agents": 1_000_000, "world.width": 41_000, "world.height": 41_000}  # as dense as 100k
CROWDED: Values = {"world.width": 2000, "world.height": 2000, "optimizations.overlap_passes": 4}  # six a square metre
CROWDS: dict[str, tuple[str, Values]] = {
    "20k birds": ("20k-flock", {}),
    "20k people": ("20k", {}),
    "all due": ("20k-flock", {"optimizations.stagger.avoidance": 1}),
    "by id, drift": ("20k-flock", {"optimizations.stagger.by": "id", "optimizations.reorder.when": "drift"}),
    "by offset": ("20k-flock", {"flock.separate_by": "offset"}),
    "all around": ("20k-flock", {"flock.blind": 0}),
    "one cell size": ("20k-flock", {"optimizations.cell_size": 24}),
    "1m birds": ("1m-flock", {}),
    "16m birds": ("1m-flock", {"agents": 16_000_000, "world.width": 60_000, "world.height": 36_000}),
    "push": ("20k", {"optimizations.avoidance": "push"}),
    "anticipate": ("20k", {"optimizations.avoidance": "anticipate"}),
    "slow down": ("20k", {"optimizations.avoidance": "slow_down"}),
    "crowded": ("crush", CROWDED),
    "exits": ("station", {}),
    "ways out": ("evacuation", {}),
    "maze": ("maze", {}),
    "100k people": ("100k", {}),
    "1m people": ("100k", MILLION),
}
BIRDS = {"20k-flock", "1m-flock"}  # the configurations


def hashes(quick: bool) -> list[str]:
    """Return which crowds differ."""
    found = []
    for name, (config, values) in list(CROWDS.items())[:2 if quick else None]:
        sims = [Simulation(load_config(config, values)) for _ in range(3)]
        steps = {0: 100 if config in BIRDS else 300, 1: 20}.get(sims[0].agents.count // 1_000_000, 8)
        for number, sim in enumerate(sims):  # on the processor, on the GPU, and a bit here, a bit there
            for tick in range(steps):
                sim.optimizations.device = ("cpu", "cuda", "cuda" if tick // 7 % 2 else "cpu")[number]
                sim.play()
        here, *there = [sim.state_hash() for sim in sims]
        ways = [way for way, state_hash in zip(("on the GPU", "switched"), there, strict=True) if state_hash != here]
        print(f"  {name:20} {sims[0].agents.count:>10,} agents, {steps} steps: {here} {' and '.join(ways)}")
        found += [f"{name}: {way}" for way in ways]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("operations", "hashes"))
    asked = parser.parse_args()
    if why := missing():
        print(f"no GPU: {why}", file=sys.stderr)
        return 2
    print(gpu().name)
    different: list[str] = []
    for name, test in (("operations", operations), ("hashes", hashes)):
        if asked.only in (None, name):
            begun = time.perf_counter()
            different += (found := test(asked.quick))
            print(f"{name}: {'; '.join(found) or 'no bit differs'} ({time.perf_counter() - begun:.0f} s)", flush=True)
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
