"""How far a crowd grows: what fits into a frame, and how the time of a step grows with agents and threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.jit import kernel, launch
from crowd_demo.config.loader import load_config
from crowd_demo.config.optimizations import with_values
from crowd_demo.extras.lab.claims.claim import (
    GRIDS,
    OWN,
    Answer,
    Arm,
    Axes,
    CallArm,
    Case,
    Claim,
    Found,
    LabScale,
    TimedCase,
    Values,
    all_of,
    blocks_of,
    crowds,
    faster,
    is_true,
    pairs,
)
from crowd_demo.host.compiling.ahead import KernelFinder, compile_missing
from crowd_demo.measure.experiment import Slice
from crowd_demo.measure.largest import Largest, Rung
from crowd_demo.registry.entries import Value

# --- the largest crowd at 60 frames a second, from all pairs to all techniques ---------------------------------------

NAIVE, GRID, SORTED, LANES, THREADS, STAGGER = "naive", "+ grid", "+ sorted memory", "+ lanes", "+ threads", "+ stagger 3"
STEPS: dict[str, dict[str, Value]] = {  # what each rung adds
    NAIVE: {"neighbours": "none", "reorder.when": "off", "simd": False, "threads": 1, "stagger.avoidance": 1},
    GRID: {"neighbours": "linked"}, SORTED: {"neighbours": "sorted", "reorder.when": "every"}, LANES: {"simd": True},
    THREADS: {"threads": "auto"}, STAGGER: {"stagger.avoidance": 3}}
WANTED = {NAIVE: 400, GRID: 5_000, LANES: 10_000}  # of one core


def rungs() -> Iterator[Rung]:
    options = load_config("20k-flock").optimizations
    for name, values in STEPS.items():
        options = with_values(options, values)
        yield Rung(name, options, adds=name != NAIVE)


class LadderCase(NamedTuple):
    """A search on each rung, at one density; pictures are drawn by the fastest way on all of them."""

    name: str
    most: int
    seconds: float = 40.0

    def run(self, blocks: int) -> Generator[Slice, None, Found]:
        config = load_config("20k-flock")
        compile_for = partial(compile_missing, KernelFinder(config, render=True))
        search = Largest(config, list(rungs()), compile_for, self.most)
        yield from search.run()
        figures = {answer.rung.name: {"agents": answer.measured.agents, "frame_ms": round(answer.measured.frame.value, 3)}
                   for answer in search.answers if answer.measured}
        return Found(self.name, self.most, 1, 0, figures=figures)


def decide_ladder(found: Found) -> Answer:
    return all_of(is_true(found.figures.get(rung, {}).get("agents", 0) >= least) for rung, least in WANTED.items())


LADDER = Claim(
    "ladder", "How many agents are possible at 60 FPS on each rung?",
    "on one core 400 with all pairs, 5,000 to 6,000 with a grid, 10,000 to 20,000 with lanes", GRIDS,
    "at least 400, 5,000 and 10,000 birds whose step and picture take 16.7 ms, on one core",
    lambda scale: [LadderCase("birds at the density of 20k-flock", scale.most, 40.0 if scale.most <= 250_000 else 120.0)],
    decide_ladder, by_size=False)


# --- one thread to all; beside what this machine can copy and compute (a roofline) -----------------------------------

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


def scaling_arms(agents: int) -> dict[str, Callable[[], Arm]]:
    chosen: dict[str, Values] = {f"{number} thread{'s' * (number > 1)}": {"threads": number} for number in threads()}
    return crowds("20k-flock", agents, chosen)


def limits_of_machine() -> dict[str, Callable[[], Arm]]:
    """A copy, and float32 arithmetic without memory; figures say how much a call does."""
    source, values = np.ones(COPIED // 2, np.uint8), np.ones(CHAINS * 16, np.float32)
    target, rounds = np.empty_like(source), FLOPS // values.size
    arithmetic = launch(multiply_and_add, 1, values, rounds)
    return {"copy": lambda: CallArm(lambda _: np.copyto(target, source), figures={"bytes": COPIED}),
            "arithmetic": lambda: CallArm(lambda _: arithmetic.run(), figures={"operations": 2 * FLOPS})}


def scaling_cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase("this machine, one core", 1, limits_of_machine(), steps=3, seconds=2, same=(), workers=1),
            *(TimedCase(f"{size:,} birds", size, scaling_arms(size), steps=4, seconds=2 + size * 3e-5)
              for size in scale.sizes(1_000, 10_000, 100_000, 1_000_000, 4_000_000))]


def decide_scaling(found: Found) -> Answer:
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


SCALING = Claim(
    "scaling", "How does the time of a step grow with agents and threads?", "more threads, shorter steps", OWN,
    "all cores are at least 1.3 times as fast as one; the first case is what one core copies and computes", scaling_cases,
    decide_scaling, draw=draw_roofline)
