"""Gains of single techniques, by size, speed, density and kind of a crowd. Limits of growth: the largest crowd,
and how the time of a step grows with agents and threads.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial

import numpy as np

from crowd_demo.compute.jit import kernel, launch
from crowd_demo.config.loader import load_config
from crowd_demo.config.model import with_values
from crowd_demo.extras.lab.claims.claim import (
    GRIDS,
    NOTES,
    OWN,
    SORTING,
    TAY,
    Answer,
    Arm,
    Axes,
    CallArm,
    Case,
    Claim,
    CountedCase,
    CrowdArm,
    Figures,
    Found,
    LabScale,
    TimedCase,
    Values,
    all_of,
    below,
    blocks_of,
    by_size,
    configured,
    crowds,
    faster,
    is_faster,
    is_true,
    memory_order,
    pairs,
    speed_up,
)
from crowd_demo.extras.lab.claims.memory import allocated_bytes
from crowd_demo.extras.walking import nearest, people
from crowd_demo.host.compiling.ahead import KernelFinder, compile_missing
from crowd_demo.measure.experiment import Slice
from crowd_demo.measure.largest import Largest, Rung
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.metrics.avoidance_error import ages, bias, exact_error, stagger_error
from crowd_demo.sim.neighbours.schedule import LONGEST
from crowd_demo.sim.simulation import Simulation

# --- how often agents are sorted; slow and fast birds ----------------------------------------------------------------

EVERY = (1, 3, 10, 30, 100)
INTERVALS: dict[str, Values] = {
    "every 1": {"reorder.when": "every", "reorder.every": 1},
    **{f"every {steps}": {"reorder.when": "every", "reorder.every": steps} for steps in EVERY[1:]},
    "by drift": {"reorder.when": "drift"}, "never": {"reorder.when": "off"}}
SPEEDS = {"slow": (15, 30), "fast": (240, 480)}  # units a second; a cell is 24 wide

SORT_INTERVAL = Claim(
    "sort-interval", "How often does it pay to sort agents in memory?",
    "100 steps of 10,000 take 0.85 s sorted every step, 0.62 s every 10, 0.75 s every 100, 1.20 s never", SORTING,
    "a step sorted every 10 steps is faster than one sorted every step, and than one of a crowd that is never sorted; all"
    " begin in random order",
    by_size(10_000, 100_000, 1_000_000, of_size=lambda size: [
        TimedCase(f"{size:,} {name} birds", size, crowds("20k-flock", size, INTERVALS, measure=memory_order,
                                                         flock__speed_min=least, flock__speed_max=most),
                  steps=20, seconds=6 + size * 8e-5) for name, (least, most) in SPEEDS.items()]),
    is_faster("every 10", "every 1", "never"))


# --- the curve through the cells along which agents lie in memory ----------------------------------------------------

CURVE_ARMS: dict[str, Values] = {"row": {"curve": "row"}, "morton": {"curve": "morton"}, "hilbert": {"curve": "hilbert"},
                                 "never sorted": {"reorder.when": "off"}}

CURVES = Claim(
    "curves", "Does a curve through the cells keep memory in better order than rows of cells?",
    "Z-order outperforms simple packing by 10-30%; Hilbert keeps locality even better, but costs more", SORTING,
    "a whole step, sorts included, is 1.1 times as fast along Morton's curve as along rows",
    by_size(10_000, 100_000, 250_000, 1_000_000, of_size=lambda size: [
        TimedCase(f"{size:,} birds", size, crowds("20k-flock", size, CURVE_ARMS, measure=memory_order), steps=20,
                  seconds=4 + size * 6e-5)]),
    is_faster("morton", "row", times=1.1))


# --- neighbour structures: birds all over and in a clump, and crates of all sizes ------------------------------------

TREES: dict[str, Values] = {f"{tree} {leaf}": {"neighbours": tree, "leaf_size": leaf}
                            for tree in ("kd_tree", "aabb_tree") for leaf in (8, 32, 128)}
CELLS: dict[str, Values] = {"sorted": {"neighbours": "sorted"},
                            "sorted, half cells": {"neighbours": "sorted", "cell_size": 12},
                            "sorted, double cells": {"neighbours": "sorted", "cell_size": 48},
                            **{name: {"neighbours": name} for name in ("buckets", "linked", "z_grid")}}
ALL_PAIRS: dict[str, Values] = {"all pairs": {"neighbours": "none"}}
WIDE: dict[str, Values] = {name: values for name, values in CELLS.items() if "cell_size" not in values}


def structure_cases(scale: LabScale) -> Sequence[Case]:
    small, *_ = scale.sizes(10_000)
    found: list[Case] = [TimedCase(f"{small:,} birds of radius 24", small,
                                   crowds("20k-flock", small, {**CELLS, **TREES, **ALL_PAIRS}), steps=5, seconds=8),
                         TimedCase(f"{small:,} birds of radius 50", small,
                                   crowds("20k-flock", small, {**WIDE, **TREES, **ALL_PAIRS}, flock__sight=50), steps=5,
                                   seconds=8),
                         TimedCase(f"{small:,} birds in a clump", small,
                                   crowds("clump", small, {**CELLS, **TREES}), steps=5, seconds=5)]
    for size in scale.sizes(100_000):
        found += [TimedCase(f"{size:,} birds", size, crowds("20k-flock", size, {**CELLS, **TREES}), steps=3, seconds=15),
                  TimedCase(f"{size:,} crates of 2 to 100 units", size, crowds("crates", size, {**WIDE, **TREES}), steps=3,
                            seconds=25)]
    return found


def decide_structures(found: Found) -> Answer:
    """The grid against the kd-tree, and all pairs where they were tried; of crates the tree of boxes against the grid."""
    if "crates" in found.case:
        return faster(found, "aabb_tree 8", "sorted", times=1.1)
    pairs = [faster(found, "sorted", "all pairs", times=10)] if "all pairs" in found.blocks_ms else []
    return all_of([faster(found, "sorted", "kd_tree 32", times=1.1), *pairs])


STRUCTURES = Claim(
    "structures", "Which structure finds neighbours fastest, and with which cells and leaves?",
    "10,000 agents of radius 50 on 8 threads: all pairs 231.7 ms, kd-tree 9.08, grid 6.25; in a clump 256.8, 58.9, 36.0",
    TAY,
    "the sorted grid is 1.1 times as fast as the kd-tree with leaves of 32, and 10 times as fast as all pairs; of agents of"
    " very different sizes the tree of boxes with leaves of 8 is 1.1 times as fast as the grid; build (index), query and"
    " interaction stand apart", structure_cases, decide_structures, by_size=False)


# --- neighbours every n steps only: time against error, and the longest wait -----------------------------------------

ALWAYS, CLAIMED = "every step", "every 3"
FEW, PERIODS = (2, 3, 4, 8, LONGEST), range(2, LONGEST + 1)  # of a large crowd and of a small one
RULES = [str(rule) for rule in BY_PATH["stagger.by"].choices]


def stagger_price(crowd: CrowdArm) -> Figures:
    """The error of the avoidance that was kept, of a mean one; and the most steps that anybody has waited."""
    waited = ages(crowd.sim)
    return {"longest_wait": float(np.flatnonzero(waited).max(initial=0)), "error": stagger_error(crowd.sim).mean}


def draw_price(axes: Axes, found: Sequence[Found]) -> None:
    """One curve for each case: the error of each period over its time of the interaction, relative to that of period 1."""
    for case in found:
        shares = [float(np.median(blocks_of(case, arm, "interaction") / blocks_of(case, ALWAYS, "interaction")))
                  for arm in case.arms]
        axes.plot(shares, [case.figures[arm]["error"] for arm in case.arms], ".-", label=case.case, linewidth=0.8)
    axes.set(xscale="log", xlabel="time of the interaction, of that of every step", ylabel="error, of a mean push")
    axes.set_title(f"Periods 1 (right) to {LONGEST} (left)", loc="left", fontsize="small")
    axes.legend(fontsize="x-small", frameon=False)


STAGGER = Claim(
    "stagger", "How much does a query every N steps save, and what does it cost?",
    "a period of 3 saves about 67% of the avoidance", NOTES,
    "the stage interaction is at least 2.5 times as fast at period 3 (60% saved); periods 1 to 16, by place, tile and id,"
    " stand beside it with their error and the longest wait in steps",
    by_size(20_000, 100_000, of_size=lambda size: [
        TimedCase(f"{size:,} {who} by {rule}", size,
                  crowds(name, size, {ALWAYS: {"stagger.avoidance": 1}, **{
                      f"every {period}": {"stagger.avoidance": period, "stagger.by": rule}
                      for period in (PERIODS if size <= 20_000 else FEW)}}, measure=stagger_price),
                  steps=LONGEST, same=(), seconds=1.5 + size * 5e-5)
        for name, who in (("20k", "people"), ("20k-flock", "birds")) for rule in RULES]),
    is_faster(CLAIMED, ALWAYS, times=2.5, stage="interaction"), by_size=False, draw=draw_price)


# --- limits of candidates and neighbours, and a smoothed field instead: time, bias and error -------------------------

LIMIT_ARMS: dict[str, Values] = {
    "all, lanes": {}, "all, no lanes": {"simd": False}, "first 10 of 48": {"neighbour_limit": "first"},
    "nearest 10": {"neighbour_limit": "nearest"}, "field": {"neighbours": "field"}}


def limit_price(crowd: CrowdArm) -> Figures:
    """How far the neighbours that are kept lie on one side, where all would lie around; and the error of a mean push."""
    is_field = crowd.sim.optimizations.get("neighbours") == "field"
    return {"error": exact_error(crowd.sim).mean, **({} if is_field else {"bias": math.hypot(*bias(crowd.sim).kept)})}


LIMITS = Claim(
    "limits", "Does it pay to stop after some candidates and neighbours, and what does that do to the crowd?",
    "at most 48 candidates are scanned and 10 neighbours heeded", NOTES,
    "a step with both limits is faster than one with all neighbours, one agent at a time; lanes, the nearest ten and a"
    " smoothed field stand beside it, with bias and error",
    by_size(20_000, 100_000, of_size=lambda size: [
        TimedCase(f"{size:,} {who}", size, crowds(name, size, LIMIT_ARMS, measure=limit_price), steps=5,
                  same=("all, lanes", "all, no lanes"), seconds=5 + size * 3e-4)
        for name, who in (("push-20k", "people"), ("20k-flock", "birds"))]),
    is_faster("first 10 of 48", "all, no lanes"), by_size=False)


# --- how people keep apart: time against how near they come ----------------------------------------------------------

CONTACT_ARMS: dict[str, Values] = {
    f"{avoidance}, {passes} passes": {"avoidance": avoidance, "overlap_passes": passes}
    for avoidance, passes in (("push", 0), ("push", 2), ("anticipate", 0), ("anticipate", 2),
                              ("slow_down", 0), ("slow_down", 1), ("slow_down", 2), ("slow_down", 4))}
WITHOUT, WITH_TWO = "slow_down, 0 passes", "slow_down, 2 passes"
BODY = 10.5  # units: bodies are 12 wide
LONGER = 1.5  # times as long as without
FEWER = 0.5  # of the overlaps without


def overlaps(crowd: CrowdArm) -> Figures:
    """The share of people whose nearest neighbour is nearer than a body is wide."""
    c = people(crowd.sim)
    return {"overlap": float(np.mean(nearest(c.x, c.y) < BODY))}


def decide_contact(found: Found) -> Answer:
    without, with_two = (found.figures.get(arm, {}).get("overlap", 0.0) for arm in (WITHOUT, WITH_TWO))
    return all_of((below(LONGER, speed_up(found, WITHOUT, WITH_TWO)), is_true(with_two <= FEWER * without)))


CONTACT = Claim(
    "contact", "What does it cost to keep bodies apart?", "two passes against overlap are enough, and cheap", OWN,
    f"with two passes at most half as many people overlap, and a step takes at most {LONGER} times as long",
    by_size(20_000, of_size=lambda size: [
        TimedCase(f"{size:,} people", size, crowds("20k", size, CONTACT_ARMS, measure=overlaps), steps=20, same=(),
                  seconds=15 + size * 2e-4)]),
    decide_contact, by_size=False)


# --- the time of a pair and the memory of an agent, from one agent in a cell to 64 -----------------------------------

SHARING = (1, 2, 4, 8, 16, 32, 64)  # agents in a cell, on the mean
SPARSELY = 1_000_000  # agents beyond which only every third density is tried: each is a crowd in memory
CELL = 24  # units: what a bird of 20k-flock perceives
SPARSE, DENSE = (f"{number} a cell" for number in (SHARING[0], SHARING[-1]))
PAIR_LONGER = 1.5  # times as long as a pair of a sparse crowd


def density_arm(agents: int, sharing: int) -> Arm:
    side = CELL * math.sqrt(20_000 / sharing)  # of the configuration, whose world grows with the crowd
    return CrowdArm(configured("20k-flock", agents, world__width=side, world__height=side), measure=bytes_of)


def bytes_of(crowd: CrowdArm) -> Figures:
    """Bytes an agent of all that a simulation holds after a step: columns in both buffers, index, schedule."""
    def stepped() -> Simulation:
        sim = Simulation(crowd.sim.config)
        sim.step()
        return sim

    held = min(allocated_bytes(stepped) for _ in range(2))  # the first remembers more
    return {"bytes_an_agent": held / max(crowd.sim.config.agents, 1)}


def decide_density(found: Found) -> Answer:
    """By the interaction: how many times as long it takes in the dense crowd, for as many pairs."""
    more = pairs(found, DENSE) / max(pairs(found, SPARSE), 1)
    return below(PAIR_LONGER * more, speed_up(found, DENSE, SPARSE, "interaction").inverse)


DENSITY = Claim(
    "density", "What does a pair cost, and how much memory an agent, from one agent in a cell to 64?",
    "a step costs what its pairs cost, however many share a cell", OWN,
    f"a pair (an agent and a candidate that it is tested with) takes less than {PAIR_LONGER} times as long with 64 agents in a"
    " cell as with one",
    by_size(1_000, 10_000, 100_000, 250_000, 1_000_000, 4_000_000, of_size=lambda size: [
        TimedCase(f"{size:,} birds", size,
                  {f"{sharing} a cell": partial(density_arm, size, sharing)
                   for sharing in SHARING[::3 if size > SPARSELY else 1]},
                  steps=3, same=(), seconds=1 + size * 1.5e-5)]),
    decide_density)


# --- the largest crowd at 60 frames per second, from all pairs to all techniques -------------------------------------

NAIVE, GRID, SORTED, LANES, THREADS, STAGGERED = "naive", "+ grid", "+ sorted memory", "+ lanes", "+ threads", "+ stagger 3"
STEPS: dict[str, dict[str, Value]] = {  # what each rung adds
    NAIVE: {"neighbours": "none", "reorder.when": "off", "simd": False, "threads": 1, "stagger.avoidance": 1},
    GRID: {"neighbours": "linked"}, SORTED: {"neighbours": "sorted", "reorder.when": "every"}, LANES: {"simd": True},
    THREADS: {"threads": "auto"}, STAGGERED: {"stagger.avoidance": 3}}
WANTED = {NAIVE: 400, GRID: 5_000, LANES: 10_000}  # of one core


def ladder(most: int) -> Generator[Slice, None, Mapping[str, Figures]]:
    """Search on each rung, at one density; pictures are drawn by the fastest way on all of them."""
    config, rungs = load_config("20k-flock"), list[Rung]()
    options = config.optimizations
    for name, values in STEPS.items():
        options = with_values(options, values)
        rungs.append(Rung(name, options, adds=name != NAIVE))
    search = Largest(config, rungs, partial(compile_missing, KernelFinder(config, render=True)), most)
    yield from search.run()
    return {answer.rung.name: {"agents": answer.measured.agents, "frame_ms": round(answer.measured.frame.value, 3)}
            for answer in search.answers if answer.measured}


LADDER = Claim(
    "ladder", "How many agents are possible at 60 FPS on each rung?",
    "on one core 400 with all pairs, 5,000 to 6,000 with a grid, 10,000 to 20,000 with lanes", GRIDS,
    "at least 400, 5,000 and 10,000 birds whose step and picture take 16.7 ms, on one core",
    lambda scale: [CountedCase("birds at the density of 20k-flock", scale.most, partial(ladder, scale.most),
                               40.0 if scale.most <= 250_000 else 120.0)],
    lambda found: all_of(is_true(found.figures.get(rung, {}).get("agents", 0) >= least) for rung, least in WANTED.items()),
    by_size=False)


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
    return [*(1 << power for power in range((cores - 1).bit_length())), cores]


def limits_of_machine() -> dict[str, Callable[[], Arm]]:
    """A copy, and float32 arithmetic without memory; figures say how much a call does."""
    source, values = np.ones(COPIED // 2, np.uint8), np.ones(CHAINS * 16, np.float32)
    target, rounds = np.empty_like(source), FLOPS // values.size
    arithmetic = launch(multiply_and_add, 1, values, rounds)
    return {"copy": lambda: CallArm(lambda _: np.copyto(target, source), figures={"bytes": COPIED}),
            "arithmetic": lambda: CallArm(lambda _: arithmetic.run(), figures={"operations": 2 * FLOPS})}


def scaling_cases(scale: LabScale) -> Sequence[Case]:
    arms: dict[str, Values] = {f"{number} thread{'s' * (number > 1)}": {"threads": number} for number in threads()}
    return [TimedCase("this machine, one core", 1, limits_of_machine(), steps=3, seconds=2, same=(), workers=1),
            *(TimedCase(f"{size:,} birds", size, crowds("20k-flock", size, arms), steps=4, seconds=2 + size * 3e-5)
              for size in scale.sizes(1_000, 10_000, 100_000, 1_000_000, 4_000_000))]


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
    lambda found: ("yes" if "copy" in found.blocks_ms else "unclear" if len(found.arms) < 2 else
                   faster(found, found.arms[-1], "1 thread", times=1.3)), draw=draw_roofline)
