"""From a thousand agents to millions, on one thread to all; beside what this machine can copy and compute (a roofline)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.compute.jit import kernel, launch
from crowd_demo.extras.lab.claims.cases import Arm, CallArm, TimedCase, Values, crowds
from crowd_demo.extras.lab.claims.claim import OWN, Answer, Case, Claim, Found, LabScale
from crowd_demo.extras.lab.claims.judging import blocks_of, faster, pairs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COPIED = 64 << 20  # bytes: more than caches hold, read and written
FLOPS = 1 << 22  # multiplications and additions, half each
CHAINS = 64  # of them that do not wait for each other
STEP_BYTES = 160  # an agent and step, at least: columns and strips, read and written once
PAIR_OPERATIONS = 14  # of floats, for a candidate that is tested and added


@kernel
def multiply_and_add(worker: int, workers: int, values: np.ndarray, rounds: int) -> None:
    for _ in range(rounds):
        for k in range(values.shape[0]):
            values[k] = values[k] * np.float32(0.999) + np.float32(0.001)


def threads() -> list[int]:
    """1, 2, 4, ... and all."""
    cores = os.cpu_count() or 1
    return sorted({cores, *(1 << power for power in range(cores.bit_length()))} & set(range(1, cores + 1)))


def arms(agents: int) -> dict[str, Callable[[], Arm]]:
    chosen: dict[str, Values] = {f"{number} thread{'s' * (number > 1)}": {"threads": number} for number in threads()}
    return crowds("20k-flock", agents, chosen)


def limits_of_machine() -> dict[str, Callable[[], Arm]]:
    """A copy, and float32 arithmetic without memory; figures say how much a call does."""
    source, values = np.ones(COPIED // 2, np.uint8), np.ones(CHAINS * 16, np.float32)
    target, rounds = np.empty_like(source), FLOPS // values.size
    arithmetic = launch(multiply_and_add, 1, values, rounds)
    return {"copy": lambda: CallArm(lambda _: np.copyto(target, source), figures={"bytes": COPIED}),
            "arithmetic": lambda: CallArm(lambda _: arithmetic.run(), figures={"operations": 2 * FLOPS})}


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase("this machine, one core", 1, limits_of_machine(), steps=3, seconds=2, same=(), workers=1),
            *(TimedCase(f"{size:,} birds", size, arms(size), steps=4, seconds=2 + size * 3e-5)
              for size in scale.sizes(1_000, 10_000, 100_000, 1_000_000, 4_000_000))]


def decide(found: Found) -> Answer:
    if "copy" in found.blocks_ms:
        return "yes"
    *_, most = found.arms
    return faster(found, most, "1 thread", times=1.3) if most != "1 thread" else "unclear"


def draw_roofline(axes: Axes, found: Sequence[Found]) -> None:
    """Operations a nanosecond against operations a byte (Williams, Waterman and Patterson 2009): what one core can copy and
    compute bounds what it reaches; so many threads so many times."""
    machine, *crowds = found
    if "copy" not in machine.blocks_ms:
        return
    bandwidth, peak = (machine.figures[arm][what] / ns(machine, arm) for arm, what in (("copy", "bytes"),
                                                                                     ("arithmetic", "operations")))
    intensity = np.geomspace(peak / bandwidth / 100, peak / bandwidth * 100)
    for number in threads():
        axes.plot(intensity, number * np.minimum(bandwidth * intensity, peak), "-", color="0.6", linewidth=1)
        axes.annotate(f"{number} thread{'s' * (number > 1)}", (intensity[-1], number * peak), ha="right", va="bottom",
                      fontsize="x-small", color="0.4")
    for case in crowds:
        points = [(pairs(case, arm) * PAIR_OPERATIONS / (case.size * STEP_BYTES), pairs(case, arm) * PAIR_OPERATIONS
                   / ns(case, arm)) for arm in case.arms]
        axes.plot(*zip(*points, strict=True), ".-", label=case.case)
    axes.set(xscale="log", yscale="log", xlabel="operations a byte of memory, at least", ylabel="operations a ns")
    axes.set_title(f"Roofline: one core copies {bandwidth:.1f} bytes and computes {peak:.1f} operations a ns", loc="left",
                   fontsize="small")
    axes.legend(fontsize="x-small", frameon=False)


def ns(found: Found, arm: str) -> float:
    return float(np.median(blocks_of(found, arm))) * 1e6


CLAIM = Claim(
    "scaling", "How does the time of a step grow with agents and threads?", "more threads, shorter steps", OWN,
    "all cores are at least 1.3 times as fast as one; the first case is what one core copies and computes", cases, decide,
    draw=draw_roofline)
