"""Why a stage takes its time: work, hot loop, bytes, cache lines, what the processor counted, and what limits it.

Each figure has a source: the simulation's counters, machine code, formulas, simulated caches, the processor's counters
or the clock. A figure that is not known says so. The command `why` and the card of the window show the same ones.

Bytes follow from formulas: a kernel reads and writes each element of the agents' columns, of their order, of the index
and of completed flow fields once. Working memory (strips, histograms), cells and walls do not count: a lower bound.

Cache lines are those of `sim/metrics/locality.py`, for three caches with this machine's sizes. Each sees all reads of
columns and nothing else.
"""

from __future__ import annotations

import math
import mmap
import os
import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import cache
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, cast

import numpy as np

from crowd_demo.compute.cache import folder
from crowd_demo.compute.jit import Launch, machine_code, max_threads
from crowd_demo.extras.why.processor import (
    ALIKE,
    CLOCK,
    DISABLE,
    ENABLE,
    EVENTS,
    PAGES,
    PER_S,
    MachineLoop,
    Place,
    counted,
    hot_loop,
    opened_for_threads,
    places_in,
    switch,
)
from crowd_demo.grid.cells import Cells
from crowd_demo.host.files import write_file
from crowd_demo.profile import Profile, Timing
from crowd_demo.registry.entries import Value
from crowd_demo.registry.stages import text_of
from crowd_demo.render.hud.card import CardRow
from crowd_demo.sim.behaviours.people_rules import WAITING
from crowd_demo.sim.interaction.strips import CANDIDATES, DUE, NEIGHBOURS, Strips
from crowd_demo.sim.metrics.locality import BESIDE, TYPICAL, WORD, Read, machine_caches, missed_lines
from crowd_demo.sim.neighbours.schedule import IdSchedule
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.flow_fields import UNREACHABLE

# --- memory -----------------------------------------------------------------------------------------------------------

COPY_BYTES, COPY_S = 1 << 25, 0.2  # of a thread's array, beyond its caches; the time for measuring
MAX_COPIED = 1 << 29  # bytes of all arrays of a kind
AT, TOWARDS = ("x", "y"), ("goal_x", "goal_y")
WALKER = *AT, "vx", "vy", "state", "heading_x", "heading_y"
OBSERVED = {  # columns that agents read of their candidates, by the type of rules
    "FlockRules": (*AT, "vx", "vy"), "NearestRules": (*AT, "vx", "vy"), "HuntRules": (*AT, "vx", "vy", "kind"),
    "PushRules": AT, "AnticipateRules": WALKER, "SlowDownRules": (*WALKER, "speed"), "CrateRules": (*AT, "half"),
    "ContactRules": (*AT, "state", "heading_x", "heading_y", "id")}
MOVED = {"FlockRules": 4, "NearestRules": 4, "WalkRules": 6, "Shifts": 2}  # columns that a move writes, by the same
NOT_MOVED = "next_update", "goal_visible"  # columns that a move does not read


class Work(NamedTuple):
    """The work of a kernel in a step; nan where there is no formula."""

    read: float  # bytes
    written: float
    due: float  # agents
    tested: float  # pairs of these
    kept: float


NO_WORK = Work(*5 * (math.nan,))

def work_of(launch: Launch, sim: Simulation) -> tuple[Work, Sequence[Read] | None]:
    """Return what a kernel does that has just run, and the columns that it reads; None where that is not known."""
    args, count, names = cast("tuple[Any, ...]", launch.args), sim.agents.count, sim.agents.names
    everybody = np.arange(count, dtype=np.int32)
    rules = next((kind for each in args for found in (getattr(each, "rules", None), each)
                  if (kind := type(found).__name__).endswith(("Rules", "Shifts"))), "")
    sums = next((each.counters.sum(axis=0) for each in args if isinstance(each, Strips)), np.zeros(8, np.int64))
    due, tested, kept = sums[[DUE, CANDIDATES, NEIGHBOURS]].tolist()
    slots = everybody[:0]  # of agents that are due by id
    if ids := next((each for each in args if isinstance(each, IdSchedule)), None):
        slots = everybody[args[1].id[:count] % ids.period == ids.phase]
        due = len(slots)
    reads, followed = list[Read]([(everybody, ("id",), count)] if ids else []), True
    more, written = 0.0, math.nan  # elements that are read beside those of columns, and written
    match launch.name:
        case "find_cells":
            reads, written = [(everybody, AT, count)], count
        case "place_buckets":
            written = args[2] + 1
        case "place_items":
            more, written = count, count
        case "move_rows":
            followed, more, written = False, (1 + len(names)) * count, len(names) * count
        case "move_lanes" | "move_scalar":
            moved = (*AT, *BESIDE) if rules == "Shifts" else [name for name in names if name not in NOT_MOVED]
            reads, written = [(everybody, moved, count)], MOVED.get(rules, math.nan) * count
        case "touch_rows":
            reads, more, written = [(args[1], OBSERVED[rules], count)], count, 2 * count
        case name if sums.any():
            reads = [(args[1] if isinstance(args[1], Cells) else None, OBSERVED.get(rules, sim.behaviour.observed), due)]
            known = rules in OBSERVED and not name.startswith(("interact_runs", "interact_limited"))
            more, written = 2 * count, 3 * due if known else math.nan
        case "check_sight":
            waits = args[1].state[slots] == WAITING
            reads += [(slots, (*AT, *TOWARDS, "state"), due), (slots[waits & args[4].any_solid], ("goal_visible",), due)]
            written = tested = int((~waits).sum())
            kept = int(args[1].goal_visible[slots[~waits]].sum())
        case "take_headings":
            reads.append((slots, (*AT, *TOWARDS, "goal", "goal_visible", "heading_x", "heading_y"), due))
            written = 2 * due
        case "ask_for_fields":
            wanted = [(slots, ("goal_visible",), due), (slots[args[1].goal_visible[slots] == 0], ("goal",), due)]
            reads, written = [*reads, *wanted] if args[2] else [], 0  # with all fields asked for it looks at nobody
        case "take_snapshot":
            pass  # what it reads counts in the next kernel
        case "set_prices":
            reads, written = [(everybody, AT, count)] * args[0], args[0] * args[-1][1].size / WORD
        case "fill_flow_fields":
            _, asked, made, chosen, plan, _, fields, _, tiles = args  # with `tiles` it completes no field
            directions = fields.direction[
                (made == 0) & (chosen == plan.number) & (asked.max(axis=0) > 0) & (tiles == 0)]
            more = (len(directions) * plan.targets.nbytes + 2 * int((directions != UNREACHABLE).sum())) / WORD
            written = directions.nbytes / WORD
        case _:
            followed = False
    read = more + sum(len(columns) * (len(of) if isinstance(of, np.ndarray) else count) for of, columns, _ in reads)
    return Work(WORD * read, WORD * written, due, tested, kept), reads if followed else None


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

SETTLE = 10  # steps before the first that is timed
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

    def stage(self, name: str) -> Timing:
        self.running = name
        return super().stage(name)


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
    from crowd_demo.measure.ablation import REORDER, unsorted
    from crowd_demo.measure.proof import set_values

    if sim.on_gpu or text_of(stage).part != "step":
        about = "steps on a GPU" if sim.on_gpu else f"{stage}, which is a part of drawing"
        yield [CardRow(stage, *2 * ("not explained",), f"Why explains the stages of a step on the CPU, not {about}.")]
        return
    copies, state = (sim.replica(), sim.replica()), sim.snapshot()
    never_sorted = any(path.startswith(REORDER) for path in new)
    for copy, values in zip(copies, (old, new), strict=True):
        copy.restore(unsorted(state)._replace(tick=0, drift=math.inf) if never_sorted else state)  # one sorts at once
        set_values(copy.optimizations, values)
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
    due, tested, kept = np.sum([each for each in works if each.tested] or [NO_WORK], axis=0)[2:]
    yield Figure("pairs", f"{tested / due:,.1f} tested, {kept / due:,.1f} kept" if due > 0 else known("none", written),
                 "Per agent that is due, and per pass of contact. In sight a pair is a person and a goal.")
    loop, about, source = loop_of([launch for launch, _, _ in kernels], places)
    yield Figure("instructions", about, source, "\n".join(loop.arithmetic[:5]) if loop else "")
    wide = f"{loop.vector_share:.0%}, {loop.bits} bits wide" if loop and loop.bits else "no" if loop else UNKNOWN
    yield Figure("vector work", wide, f"Share that uses vector registers, of samples or of instructions. {source}")
    yield Figure("bytes", known(f"{read / agents:.1f} read, {written / agents:.1f} written", read + written),
                 "Per agent and step, by formulas: each element of columns, order and index once."
                 " Not for trees, runs of cells and limits.")
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

    Then follow the work of all steps, and where threads were at samples, which are taken before the steps that are timed.
    """
    watch = StageWatch()
    watch.counters.update(sim.profile.counters)  # a step removes those of the last structure
    sim.profile = watch
    took, works, places = defaultdict[str, list[float]](list), list[Work](), list[Place]()
    last = dict[str, tuple[Launch, Work, Sequence[Read] | None]]()
    for _ in range(min(SETTLE, steps)):
        sim.step()
        yield
    with ExitStack() as files:
        rings, opened = list[mmap.mmap](), list[int]()
        with suppress(OSError):
            opened = opened_for_threads(files, (CLOCK,), PER_S)
            rings = [files.enter_context(mmap.mmap(file, (1 + PAGES) * mmap.PAGESIZE)) for file in opened]
        for _ in range(min(SETTLE, steps)):
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


def loop_of(kernels: Sequence[Launch], places: Sequence[Place]) -> tuple[MachineLoop | None, str, str]:
    """Return the hot loop of the longest kernel if it is known, a text about it, and its source."""
    code = machine_code(kernels[0]) if kernels else None
    name, why_not = kernels[0].name if kernels else "it", "no loop" if code else "code not kept" if kernels else NOT_RUN
    samples = 0
    try:
        loop, samples = hot_loop(code, places) if code else (None, 0)
    except ImportError:
        loop, why_not = None, "pip install capstone shows it"
    source = f"In machine code of {name}: " + (
        f"the smallest loop with a third of {samples:,} samples of where threads were." if samples
        else "its innermost loop that is nested deepest.")
    return loop, f"{len(loop.instructions)} in a loop, {loop.lanes} lane{'s' * (loop.lanes > 1)}" if loop else why_not, source


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
