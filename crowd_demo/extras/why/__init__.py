"""Why a stage takes its time: work, hot loop, bytes, cache lines, what the processor counted, and what limits it.

Each figure has a source: the simulation's counters, machine code, formulas, simulated caches, the processor's counters
or the clock. A figure that is not known says so. The command `why` and the card of the window show the same ones.

Bytes follow from formulas: a kernel reads and writes each element of the agents' columns, of their order, of the index
and of completed flow fields once. Working memory (strips, histograms), cells and walls do not count, nor boxes of nodes
and runs while they are searched: a lower bound. Each pass over the agents of a node counts as a kernel. With staggering
the columns of all agents count as read.

Instructions per pair follow from the steps of a loop in memory: how many elements a pass takes. Counters show how many
agents of a register test a candidate.

Cache lines are those of `sim/metrics/locality.py`, for three caches with this machine's sizes. Each sees all reads of
columns and nothing else.
"""

from __future__ import annotations

import math
import mmap
import os
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import cache
from inspect import signature
from itertools import zip_longest
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.cache import folder
from crowd_demo.compute.jit import Launch, machine_code, max_threads
from crowd_demo.extras.why.processor import (
    ALIKE,
    CLOCK,
    DISABLE,
    ENABLE,
    EVENTS,
    ONE_NUMBER,
    PAGES,
    PER_S,
    MachineLoop,
    Place,
    counted,
    hot_loop,
    opened_for_threads,
    places_in,
    stepping_loops,
    switch,
)
from crowd_demo.host.files import write_file
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import Value
from crowd_demo.registry.stages import text_of
from crowd_demo.render.hud.card import CardRow
from crowd_demo.sim.behaviours.people_rules import WAITING
from crowd_demo.sim.interaction.strips import CANDIDATES, DUE, NEIGHBOURS, TESTS, TOGETHER
from crowd_demo.sim.metrics.locality import BESIDE, TYPICAL, WORD, Read, machine_caches, missed_lines
from crowd_demo.sim.neighbours.schedule import IdSchedule
from crowd_demo.sim.neighbours.trees import GROWN, JOINED, SHRUNK
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.flow_fields import UNREACHABLE

# --- memory -----------------------------------------------------------------------------------------------------------

COPY_BYTES, COPY_S = 1 << 25, 0.2  # of a thread's array, beyond its caches; the time for measuring
MAX_COPIED = 1 << 29  # bytes of all arrays of a kind
AT, TOWARDS = ("x", "y"), ("goal_x", "goal_y")
WALKER = *AT, "vx", "vy", "state", "heading_x", "heading_y"
OBSERVED = {  # columns that agents read of their candidates, by the type of rules
    **dict.fromkeys(("FlockRules", "NearestRules"), (*AT, "vx", "vy")),
    **dict.fromkeys(("HuntRules", "NearestHuntRules"), (*AT, "vx", "vy", "kind")),
    "PushRules": AT, "AnticipateRules": WALKER, "SlowDownRules": (*WALKER, "speed"), "CrateRules": (*AT, "half"),
    "ContactRules": (*AT, "state", "heading_x", "heading_y", "id")}
MOVED = {"FlockRules": 4, "NearestRules": 4, "WalkRules": 6, "Shifts": 2}  # columns that a move writes, by the same
NOT_MOVED = "next_update", "goal_visible"  # columns that a move does not read
BOX = 4  # numbers of a node


class Work(NamedTuple):
    """The work of a kernel in a step; nan where there is no formula."""

    read: float  # bytes
    written: float
    due: float  # agents
    tested: float  # pairs of these
    kept: float
    tests: float = 0  # of a candidate by a register
    together: float = 0  # pairs in these


NO_WORK = Work(*5 * (math.nan,))


Traffic = tuple[list[Read], float, float]  # columns that are read, elements read beside these, and written ones


def _sorted_within_cells(of: SimpleNamespace) -> Traffic:
    """Cells begin with their slots in ascending order; one that is first and stays there is not written."""
    start = of.space.start[:of.buckets + 1]
    cells = [of.space.order[start[cell]:start[cell + 1]] for cell in np.flatnonzero(np.diff(start) > 1)]
    agents = sum(map(len, cells))
    return [], 2 * agents, agents - sum(each[0] == each.min() for each in cells)


def _cut(of: SimpleNamespace) -> Traffic:
    """Each pass over agents of a node reads their keys, and reads and writes all of those that it swaps."""
    nodes, passed, swapped = of.tree.cut.sum(axis=0).tolist()
    own = nodes // max((1 << of.depth - of.top) - 1, 1)  # the boxes of others were written by the same kernel
    return [], BOX * own + passed + 2 * swapped, 2 * BOX * nodes + 3 * swapped


def _bounded(of: SimpleNamespace) -> Traffic:
    leaves, columns = 1 << of.depth, (*AT * (of.fit == SHRUNK), *["half"] * bool(len(of.half)))
    below = leaves * (of.fit == GROWN or (of.fit == JOINED and of.top < of.depth))  # boxes, or regions
    return ([(of.order[:of.agents], columns, of.agents)] * (of.fit != JOINED),
            BOX * below + of.agents * (of.fit != JOINED), BOX * (leaves * (1 + (of.fit != JOINED)) - (1 << of.top)))


def _filled(of: SimpleNamespace) -> Traffic:
    """With `tiles` it completes no field."""
    fields = of.fields.direction[
        (of.made == 0) & (of.chosen == of.grid.number) & (of.asked.max(axis=0) > 0) & (of.tiles == 0)]
    read = len(fields) * of.grid.targets.nbytes + 2 * int((fields != UNREACHABLE).sum())
    return [], read / WORD, fields.nbytes / WORD


def _interacted(of: SimpleNamespace) -> Traffic:
    """Where not all agents are due, some of those that count as read may not be."""
    schedule, in_lanes = of.given.schedule, of.name.endswith("lanes")
    identities = of.count * (schedule.by_id and (schedule.period > 1 or not in_lanes) and "id" not in of.observed)
    return ([(getattr(of, "cells", None), of.observed, of.acting)], 2 * of.count + identities,
            3 * of.acting if of.rules in OBSERVED else math.nan)


def _overlapping(of: SimpleNamespace) -> Ints:
    slots: Ints = of.touched.slots[:int(of.touched.taken[0])]
    return slots[slots >= 0]


def _touched(of: SimpleNamespace) -> Traffic:
    """The first pass reads where all agents are, others only those in pairs; more is read of those that overlap."""
    first, overlapping = of.number == 0, _overlapping(of)
    listed = np.unique(np.concatenate([slots[worker, :size] for worker, size in enumerate(of.pairs.sizes[:-1])
                                       for slots in of.pairs[:2]]))
    whose, count = (of.cells, of.count) if first else (listed, len(listed))
    return [(whose, AT, count), (overlapping, of.observed[len(AT):], len(overlapping))], first * of.count, 0


TRAFFIC: Mapping[str, Callable[[SimpleNamespace], Traffic]] = {  # by kernel, of its arguments and what `work_of` adds
    **dict.fromkeys(("find_cells", "find_z_cells"), lambda of: ([(of.every_slot, AT, of.count)], 0, of.count)),
    "link_cells": lambda of: ([(of.every_slot, AT, of.count)], 0, of.count + len(of.lists.head)),
    "sort_items": lambda of: ([], of.count, of.count + of.space.share[-1] + 1),
    "sort_buckets": _sorted_within_cells,
    "load_agents": lambda of: ([(of.every_slot, AT, of.count)], 0, 3 * of.count),
    "cut_subtrees": _cut, "bound_nodes": _bounded,
    **dict.fromkeys(("find_leaves", "find_z_runs"), lambda of: (
        [(of.order[:of.count], ("next_update",), of.count)], of.count,
        2 * int(of.runs.groups[0]) + 1 + 2 * int(of.runs.count[:of.runs.groups[0]].sum()))),
    "count_squares": lambda of: ([], 0, 0),
    "move_rows": lambda of: ([], (1 + len(of.source)) * of.count, len(of.source) * of.count),
    **dict.fromkeys(("move_lanes", "move_scalar"), lambda of: (
        [(of.every_slot, (*AT, *BESIDE) if of.rules == "Shifts" else of.moved, of.count)], 0,
        MOVED.get(of.rules, math.nan) * of.count)),
    "touch_rows": _touched,
    "move_touched": lambda of: (
        [(_overlapping(of), AT, len(_overlapping(of)))], 0, len(AT) * len(_overlapping(of))),
    "take_snapshot": lambda of: ([(of.order[:of.count], of.observed, of.count)], of.count, 0),
    "interact_runs_lanes": lambda of: (
        [(of.runs.order[:of.count], ("next_update",), of.count)],
        of.count * (1 + (of.given.schedule.by_id and of.given.schedule.period > 1)), 3 * of.acting),
    **dict.fromkeys(("interact_lanes", "interact_scalar", "interact_lists_lanes", "interact_lists_scalar",
                     "interact_runs_scalar", "interact_limited"), _interacted),
    "check_sight": lambda of: ([*of.ids, (of.slots, (*AT, *TOWARDS, "state"), of.acting), (
        of.slots[of.waits & of.ground.any_solid], ("goal_visible",), of.acting)], 0, of.acting - of.waits.sum()),
    "ask_for_fields": lambda of: ([*of.ids, (of.slots, ("goal_visible",), of.acting), (  # or looks at nobody
        of.slots[of.columns.goal_visible[of.slots] == 0], ("goal",), of.acting)] * bool(of.agents), 0, 0),
    "fill_flow_fields": _filled,
    "take_headings": lambda of: ([*of.ids, (of.slots, (*AT, *TOWARDS, "goal", "goal_visible", "heading_x", "heading_y"),
                                            of.acting)], 0, 2 * of.acting),
    "set_prices": lambda of: ([(of.every_slot, AT, of.count)] * of.due, 0, of.due * of.tiles[1].size / WORD)}


def work_of(launch: Launch, sim: Simulation) -> tuple[Work, Sequence[Read] | None]:
    """Return what a kernel does that has just run, and the columns that it reads; None where that is not known."""
    if launch.name not in TRAFFIC:
        return NO_WORK, None
    names = [name for name in signature(getattr(launch.kernel, "share", launch.kernel)).parameters if name != "worker"]
    of = SimpleNamespace(**{
        **dict(zip(names, launch.args, strict=True)), "name": launch.name, "count": sim.agents.count, "ids": [],
        "every_slot": np.arange(sim.agents.count, dtype=np.int32),
        "moved": [name for name in sim.agents.names if name not in NOT_MOVED]})
    of.rules = type(of.given.rules if hasattr(of, "given") else getattr(of, "rules", None)).__name__
    of.observed = OBSERVED.get(of.rules, sim.behaviour.observed)
    sums = of.strips.counters.sum(axis=0) if hasattr(of, "strips") else np.zeros(8, np.int64)
    of.acting, tested, kept, tests, together = sums[[DUE, CANDIDATES, NEIGHBOURS, TESTS, TOGETHER]].tolist()
    if isinstance(schedule := getattr(of, "schedule", None), IdSchedule):
        of.ids = [(of.every_slot, ("id",), of.count)]
        of.slots = of.every_slot[of.columns.id[:of.count] % schedule.period == schedule.phase]
        of.acting, of.waits = len(of.slots), of.columns.state[of.slots] == WAITING
    reads, more, written = TRAFFIC[launch.name](of)
    if launch.name == "check_sight":
        tested, kept = written, int(of.columns.goal_visible[of.slots[~of.waits]].sum())
    read = more + sum(len(columns) * (len(whose) if isinstance(whose, np.ndarray) else of.count)
                      for whose, columns, _ in reads)
    return Work(WORD * read, WORD * written, of.acting, tested, kept, tests, together), (
        reads if launch.name != "move_rows" else None)


@cache
def copy_bandwidth() -> float:
    """Return the bytes per second that all threads read and write while they copy; measured once and kept."""
    file = (folder() or Path(os.devnull)) / f"copy_bandwidth_{max_threads()}"
    with suppress(OSError, ValueError):
        return float(file.read_text("utf-8"))
    found = measured_bandwidth()
    with suppress(OSError):
        write_file(file, f"{found:.0f}\n".encode())
    return found


def measured_bandwidth(seconds: float = COPY_S, size: int = COPY_BYTES) -> float:
    """Return the best rate within so many seconds; other load only makes it lower."""
    threads = max_threads()
    size = min(size, MAX_COPIED // threads)
    arrays = [(np.ones(size, np.uint8), np.ones(size, np.uint8)) for _ in range(threads)]  # in memory
    best, end = 0.0, time.perf_counter() + seconds
    with ThreadPoolExecutor(threads) as pool:
        while (begun := time.perf_counter()) < end or not best:
            list(pool.map(lambda pair: np.copyto(*pair), arrays))
            best = max(best, 2 * size * threads / (time.perf_counter() - begun))
    return best


# --- a stage ----------------------------------------------------------------------------------------------------------

SETTLE = 20  # steps in which samples are taken, before the first that is timed
STEPS, FEW_STEPS, LARGE = 60, 20, 200_000  # that are timed; the fewer where there are more agents
NOT_RUN, UNKNOWN = "does not run", "not known"
MOST_MEMORY, LITTLE_MEMORY = 0.5, 0.2  # shares of the copy bandwidth from which a stage is memory bound, or is not
LEAST_MS = 0.05  # a shorter stage is bound by starting its kernels


class Figure(NamedTuple):
    name: str
    value: str
    source: str  # how it was obtained
    detail: str = ""  # lines of assembly


class StageWatch(Profile):
    """A profile that knows which stage runs."""

    running = ""

    def started(self, name: str) -> int:
        self.running = name
        return super().started(name)


def why(sims: Mapping[str, Simulation], stage: str, steps: int = STEPS) -> dict[str, list[Figure]]:
    """Explain a stage in the next steps of each simulation. Raises ValueError for a stage without kernels."""
    found = {title: [figure for figure in figures(sim, stage, steps) if figure] for title, sim in sims.items()}
    if all(rows[0].value == NOT_RUN for rows in found.values()):
        stages = ", ".join(dict.fromkeys(each.name for sim in sims.values() for each in sim.stages if each.wanted(sim)))
        raise ValueError(f"no kernel of this crowd runs in stage {stage!r}; stages: {stages}")
    return found


def explained(sim: Simulation, old: Mapping[str, Value], new: Mapping[str, Value],
              stage: str) -> Iterator[Sequence[CardRow] | None]:
    """Explain a stage in copies of a crowd with old and new values of techniques; yield the rows so far.

    Where a technique of *reorder* was switched, both begin as if they had never been sorted.
    """
    from crowd_demo.config.optimizations import with_values
    from crowd_demo.measure.ablation import REORDER, unsorted

    if sim.on_gpu or text_of(stage).part != "step":
        about = "steps on a GPU" if sim.on_gpu else f"{stage}, which is a part of drawing"
        yield [CardRow(stage, *2 * ("not explained",), f"Why explains the stages of a step on the CPU, not {about}.")]
        return
    copies, state = (sim.replica(), sim.replica()), sim.snapshot()
    never_sorted = any(path.startswith(REORDER) for path in new)
    for copy, values in zip(copies, (old, new), strict=True):
        copy.restore(unsorted(state)._replace(tick=0, drift=math.inf) if never_sorted else state)  # one sorts at once
        copy.optimizations = with_values(copy.optimizations, values)
        yield None
    yield from compared(copies, stage, STEPS if sim.agents.count <= LARGE else FEW_STEPS)


def compared(sims: Sequence[Simulation], stage: str, steps: int) -> Iterator[Sequence[CardRow]]:
    """Explain a stage in the next steps of two simulations; yield the rows so far."""
    rows = list[CardRow]()
    for one, other in zip(*(figures(sim, stage, steps) for sim in sims), strict=True):
        if one and other:
            rows.append(CardRow(one.name, one.value, other.value, one.source,
                                (*one.detail.splitlines(), *other.detail.splitlines())))
        yield rows


def figures(sim: Simulation, stage: str, steps: int = STEPS) -> Iterator[Figure | None]:
    """Yield the figures of a stage, always the same ones, with None after each part of the work in between."""
    ms, kernels, works, places = yield from measured(sim, stage, steps)
    agents, copied, caches = max(sim.agents.count, 1), copy_bandwidth(), sorted(machine_caches().items())[:3]
    yield Figure("time", f"{ms:.2f} ms, {ms * 1e6 / agents:,.0f} ns each" if kernels else NOT_RUN,
                 "Median by the clock, per step and per agent.")
    read, written = np.sum(works or [NO_WORK], axis=0)[:2] / steps
    due, tested, kept, tests, together = np.sum([each for each in works if each.tested] or [NO_WORK], axis=0)[2:]
    is_staggered = stage == "interaction" and sim.schedule.period > 1
    yield Figure("pairs", f"{tested / due:,.1f} tested, {kept / due:,.1f} kept" if due > 0 else known("none", written),
                 "Per agent that is due, in the first pass of contact. In sight a pair is a person and a goal.")
    code, name = (machine_code(kernels[0][0]), kernels[0][0].name) if kernels else (None, "its kernel")
    loop, samples, about = None, 0, "no loop" if code else "code not kept" if kernels else NOT_RUN
    try:
        loop, samples = hot_loop(code, places) if code else (None, 0)
    except ImportError:
        about = "pip install capstone shows it"
    source = f"In machine code of {name}: " + (
        f"the smallest loop with a third of {samples:,} samples of where threads were." if samples
        else "its innermost loop that is nested deepest.")
    yield Figure("instructions", *per_item(name, loop, samples, together / tests if tests else 1) or (
        f"{len(loop.instructions)} in a loop", source), "\n".join(loop.arithmetic[:5])) if loop else Figure(
            "instructions", about, source)
    wide = UNKNOWN if not loop else "no" if not loop.bits else (
        f"{loop.vector_share:.0%}, {loop.bits} bits wide, {loop.lanes} lane{'s' * (loop.lanes > 1)}")
    yield Figure("vector work", wide, f"Share that uses vector registers, of samples or of instructions. {source}")
    yield Figure("bytes", known("up to " * is_staggered + f"{read / agents:.1f} read, {written / agents:.1f} written",
                                read + written), "Per agent and step, by formulas: each element of columns, order and"
                 " index once." + " Agents far from all that are due may not be read." * is_staggered)
    rate = (read + written) / ms * 1e3 if ms else math.nan
    yield Figure("bandwidth", known(f"{rate / 1e9:.1f} GB/s, {rate / copied:.0%} of a copy", rate),
                 f"These bytes by the time. Copying with all threads moves {copied / 1e9:.1f} GB/s here.")
    missed, reads = list[float](), [each for _, _, found in kernels for each in found or ()]
    followed = kernels and all(found is not None for _, _, found in kernels)
    some = max((work.due for _, work, _ in kernels), default=0) or agents
    for level, (size, ways) in caches:
        cache = sim.config.cache.model_copy(update={"size_kb": size, "ways": ways} if level > 1 else {})
        missed.append(missed_lines(sim, cache, reads, tested / due) / some if followed else math.nan)
        yield None
    assumed = ", ".join(f"L{level}" for level, found in caches if found is TYPICAL.get(level))
    yield Figure("lines missed", known(", ".join(f"{lines:,.2f}" for lines in missed), sum(missed)) + (
        f" ({assumed}: typical size)" * bool(assumed)), "Per agent that is due, in caches of "
        f"{', '.join(f'{size:,}' for _, (size, _) in caches)} kB, simulated with LRU: agents read their own columns in the"
        " order of memory, and those of their candidates in cell order.")
    counts = counted(lambda: sim.step(steps))
    yield Figure("processor", counts if isinstance(counts, str) else ", ".join([
        f"{counts['instructions'] / max(counts['cycles'], 1):.2f} instructions per cycle", *(
            f"{counts[name] / agents / steps:.2f} {name} each" for name in EVENTS if name.endswith("misses"))]),
        "Counted by the processor in whole steps, with perf_event_open.")
    used = sum(work.read + work.written for _, work, _ in kernels) if sim.workers == max_threads() else math.nan
    beyond = missed[1] * some * sim.config.cache.line_bytes / max(used, 1)  # a copy is one by all threads
    tiles = sim.terrain.blocked.size * (WORD + len(sim.terrain.destinations))
    if stage in ("sight", "paths") and tiles > 512 * caches[1][1][0]:
        beyond = math.nan  # the map, which is not simulated, takes more than half of L2
    yield Figure("bottleneck", bottleneck(ms, loop, rate / copied, beyond), "From bandwidth, vector work and the bytes"
                 " of lines missed in L2. Not known where these do not decide.")


def known(text: str, by: float) -> str:
    """Return the text, unless what it rests on is not known."""
    return UNKNOWN if math.isnan(by) else text


def measured(sim: Simulation, stage: str, steps: int) -> Generator[None, None, tuple[
        float, list[tuple[Launch, Work, Sequence[Read] | None]], list[Work], list[Place]]]:
    """Make steps; return a stage's ms per step, and its kernels, the longest first, with their work when they ran last.

    Then follow the work of all steps, and where threads were at samples, which are taken before the steps that are
    timed.
    """
    watch = StageWatch()
    watch.counters.update(sim.profile.counters)  # a step removes those of the last structure
    sim.profile = watch
    took, works, places = defaultdict[str, list[float]](list), list[Work](), list[Place]()
    last = dict[str, tuple[Launch, Work, Sequence[Read] | None]]()
    sim.step()  # compiles
    yield
    with ExitStack() as files:
        rings, opened = list[mmap.mmap](), list[int]()
        with suppress(OSError):
            opened = opened_for_threads(files, (CLOCK,), PER_S)
            rings = [files.enter_context(mmap.mmap(file, (1 + PAGES) * mmap.PAGESIZE)) for file in opened]
        for _ in range(min(SETTLE, 2 * steps)):
            for launch in sim.launches():
                switch(opened, ENABLE if watch.running == stage else DISABLE)
                launch.run()
            switch(opened, DISABLE)
            yield
        with suppress(OSError), Path("/proc/self/mem").open("rb", 0) as memory:
            places = [(at, memory.read(ALIKE)) for ring in rings for at in places_in(ring) if memory.seek(at)]
    for _ in range(steps):
        for launch in sim.launches():
            begun = time.perf_counter()
            launch.run()
            if watch.running == stage:
                took[launch.name].append(time.perf_counter() - begun)
                work, reads = (NO_WORK, None) if sim.on_gpu else work_of(launch, sim)
                last[launch.name] = launch, work, reads
                works.append(work)
        yield
    cost = {name: median(times) * len(times) / steps * 1e3 for name, times in took.items()}
    return sum(cost.values()), [last[name] for name in sorted(cost, key=lambda name: -cost[name])], works, places


def per_item(kernel: str, loop: MachineLoop, samples: int, lanes: float) -> tuple[str, str] | None:
    """Return the instructions per pair or agent in the loop over these with most samples, and the source.

    `loop` is the hot one of the kernel. `lanes` is how many agents of a register test a candidate, on average.
    """
    code, hot = {each.address: each for each in loop.code}, {each.address for each in loop.instructions}
    pairs, wide = kernel.startswith(("interact", "touch")), kernel.endswith(("lanes", "touch_rows"))
    found = list[tuple[int, float, float, int]]()
    for addresses, fewest, most, elements, is_single in (
            stepping_loops(loop.code) if pairs or kernel.startswith("move_") else ()):
        body = [code[at] for at in addresses]
        packed = sum(one.bits > 0 for one in body) > sum(bool(ONE_NUMBER.match(one.text.split()[0])) for one in body)
        if (packed if wide else any("mul" in one.text for one in body)) and (
                pairs > wide or is_single == (pairs == wide)):
            weight = sum(loop.weights.get(at, 0) for at in addresses if samples or at in hot)
            found.append((
                weight if pairs else len(body), fewest,
                math.inf if pairs and not hot & set(addresses) else most,  # another adds up
                elements))
    if not found:
        return None
    _, fewest, most, elements = max(found)
    least, largest = (count / elements / (lanes if pairs and wide else 1) for count in (fewest, most))
    rate = (f"{least:.1f}" if fewest == most else f"{least:.1f} to {largest:.1f}" if most < math.inf
            else f"at least {least:.1f}")
    what = "candidate" if pairs else "agent"
    return f"{rate} per {'pair' if pairs else what}", (
        f"In machine code of {kernel}: its loop over {what}s" + " with most samples" * bool(samples) +
        f". A pass of {fewest}{' or more' * (most > fewest)} instructions takes {elements} {what}" + "s" * (elements > 1) +
        f" for {lanes:.1f} agents on average" * (pairs and wide) + ", by addresses in the code and exact counters.")


def bottleneck(ms: float, loop: MachineLoop | None, share: float, beyond: float) -> str:
    """Return what limits a stage, if the figures support an answer.

    `share` is that of the copy bandwidth, `beyond` the bytes of lines missed in L2 relative to the bytes that are used.
    """
    busy, where = (share, "") if math.isnan(beyond) else (share * beyond, " beyond L2")
    if busy >= MOST_MEMORY:
        return f"memory bound: {busy:.0%} of copy bandwidth{where}"
    if not (busy <= LITTLE_MEMORY and beyond <= 1 and loop and ms >= LEAST_MS):
        return UNKNOWN
    work = f"{loop.vector_share:.0%} {loop.lanes}-lane work" if loop.bits else "no vector work"
    return f"compute bound: {work}, {busy:.0%} of copy bandwidth{where}"


def as_table(found: Mapping[str, list[Figure]]) -> str:
    """Return the figures as text: a paragraph per figure, with one line for each of the compared simulations."""
    wide, rows, paragraphs = max(map(len, found)), list(zip(*found.values(), strict=True)), list[str]()
    for row in rows:
        lines = [zip_longest([title], [figure.value, *figure.detail.splitlines()], fillvalue="")
                 for title, figure in zip(found, row, strict=True)]
        paragraphs += row[0].name, *(f"  {title:{wide}}  {line}" for each in lines for title, line in each)
    sources = dict.fromkeys(f"{figure.name}: {figure.source}" for row in rows for figure in row)
    return "\n".join([*paragraphs, "", "sources", *(f"  {source}" for source in sources)])
