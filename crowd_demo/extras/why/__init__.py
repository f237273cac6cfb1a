"""Why a stage takes its time: work, hot loop, bytes, cache lines, what the processor counted, and what limits it.

Each figure has a source: the simulation's counters, machine code, formulas, simulated caches, the processor's counters
or the clock. A figure that is not known says so. The command `why` and the card of the window show the same ones.

The processor's own counters are those of Linux's `perf_event_open`, summed over the threads of this process. Most
virtual machines have none, and many systems forbid them (`kernel.perf_event_paranoid` above 2): then the reason is
returned. Counters run in user space only. Where the processor has too few, Linux takes turns, and counts are scaled up.

Bytes follow from formulas: a kernel reads and writes each element of the agents' columns, of their order and of the
index once. Working memory of a worker (strips, histograms), cells and the map do not count, so it is a lower bound.

Cache lines are those of `sim/metrics/locality.py`, for caches of this machine's three sizes, which all see every read.

Object code is disassembled by Capstone (the extra `why`), for x86-64 (SSE2, AVX2, AVX-512) and ARM (NEON). A loop is a
jump back and all instructions from its target on. Kernels are inlined as a whole, so the hot loop is the innermost one
that is nested deepest, and of several the one with most arithmetic: in the interaction the loop over candidates.
"""

from __future__ import annotations

import ctypes
import errno
import math
import os
import platform
import re
import struct
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import cache
from itertools import pairwise, zip_longest
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from llvmlite import binding

from crowd_demo.compute.cache import folder
from crowd_demo.compute.jit import Launch, machine_code, max_threads
from crowd_demo.host.files import write_file
from crowd_demo.profile import Profile, Timing
from crowd_demo.registry.entries import Value
from crowd_demo.registry.stages import text_of
from crowd_demo.sim.metrics.locality import machine_caches, misses_per_agent
from crowd_demo.sim.simulation import Simulation

if TYPE_CHECKING:
    from crowd_demo.render.hud.card import CardRow

# --- counters of the processor ----------------------------------------------------------------------------------------

SYSCALL = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
ENABLE = 0x2400  # ioctl
HARDWARE, CACHE = 0, 3  # types
LEVEL_1_READ_MISS = 0 | 0 << 8 | 1 << 16
EVENTS = {"cycles": (HARDWARE, 0), "instructions": (HARDWARE, 1), "last-level misses": (HARDWARE, 3),
          "branch misses": (HARDWARE, 5), "L1 misses": (CACHE, LEVEL_1_READ_MISS)}
SIZE = 112  # of perf_event_attr
FLAGS, TIMES = 1 | 1 << 5 | 1 << 6, 3  # disabled, without kernel and hypervisor; read the enabled and the running time too
ABSENT = "this machine has none. Physical ones, and virtual ones with a PMU, have counters"
FORBIDDEN = "sudo sysctl kernel.perf_event_paranoid=2 enables them, except in a container that forbids them"
WHY_NOT = {errno.EPERM: FORBIDDEN, errno.EACCES: FORBIDDEN}
WHY_NOT |= dict.fromkeys((errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP), ABSENT)


def counted(run: Callable[[], object]) -> Mapping[str, int] | str:
    """Run a function and return each event's count over all threads, or return why not. Threads must exist before."""
    if sys.platform != "linux" or SYSCALL is None:
        return "only Linux on x86-64 and ARM provides them"
    import fcntl

    with ExitStack() as files:
        opened = []
        for thread in sorted(int(path.name) for path in Path("/proc/self/task").iterdir()):
            for name, (kind, config) in EVENTS.items():
                file = _open(kind, config, thread)
                if file < 0:
                    return f"not available: {WHY_NOT.get(ctypes.get_errno(), os.strerror(ctypes.get_errno()))}"
                files.callback(os.close, file)
                opened.append((name, file))
        for _, file in opened:
            fcntl.ioctl(file, ENABLE, 0)
        run()
        counts = dict.fromkeys(EVENTS, 0)
        for name, file in opened:
            value, enabled, running = struct.unpack("3Q", os.read(file, 24))
            counts[name] += value * enabled // max(running, 1)
        return counts


def _open(kind: int, config: int, thread: int) -> int:
    """Return the file of a counter of one thread, or -1."""
    attributes = struct.pack("IIQQQQQ", kind, SIZE, config, 0, 0, TIMES, FLAGS).ljust(SIZE, b"\0")
    library = ctypes.CDLL(None, use_errno=True)
    return int(library.syscall(SYSCALL, attributes, thread, -1, -1, 0))


# --- machine code -----------------------------------------------------------------------------------------------------

FLOAT_BITS = 32
ELF_MACHINE, ELF_ARM = slice(18, 20), b"\xb7\x00"  # where an object file names its processor
VECTOR, NEON = {"zmm": 512, "ymm": 256, "xmm": 128}, 128
KINDS = {  # of instructions by their mnemonics; the first that matches counts, and others are moves within registers
    "branch": re.compile(r"j|b$|b\.|cbn?z|tbn?z|ret|call"),
    "arithmetic": re.compile(r"v?p?(add|sub|mul|div|sqrt|rcp|rsqrt|max|min|fn?m(add|sub)|dot|abs|neg)"
                             r"|f(add|sub|mul|div|mla|mls|madd|sqrt)|inc|dec|imul|madd"),
    "compare": re.compile(r"v?p?(u?comis|cmp|test)|fcm|cm[a-z]|tst|kortest"),
    "logic": re.compile(r"v?p?(and|or|xor|sh|sa|ro|ternlog|blend|cmov|set|bsl|eor|orr|lsl|lsr|asr)|k|csel"),
}
ONE_NUMBER = re.compile(  # of a vector register
    r"v?(mov|add|sub|mul|div|sqrt|min|max|u?comi|cmp\w*|fn?m\w+|cvt\w+|rcp\w*|rsqrt\w*|round|and|xor)s[sd]$"
    r"|v?mov[dq]$|v?p(ins|ext)r|v?cvt\w*2si$|v?cvtsi2\w+$")


class Instruction(NamedTuple):
    address: int
    text: str
    kind: str  # one of KINDS, "load", "store" or "move"
    bits: int  # of its vector registers; 0: it has none, or uses one number of them
    target: int | None = None  # of a jump


class InnerLoop(NamedTuple):
    """An innermost loop."""

    instructions: Sequence[Instruction]
    depth: int  # loops around it and itself

    def count(self, kind: str) -> int:
        return sum(each.kind == kind for each in self.instructions)

    @property
    def vector_share(self) -> float:
        return sum(each.bits > 0 for each in self.instructions) / len(self.instructions)

    @property
    def bits(self) -> int:
        """The width of its widest vector instructions; 0 without any."""
        return max(each.bits for each in self.instructions)

    @property
    def lanes(self) -> int:
        """How many float32 numbers its widest instructions take."""
        return max(self.bits // FLOAT_BITS, 1)


def hot_loop(code: bytes) -> InnerLoop | None:
    """Return the hot loop of a kernel's object file; None if it has no loop. Raises ImportError without Capstone."""
    loops = innermost_loops(list(disassembled(code)))
    return max(loops, key=lambda loop: (loop.depth, loop.count("arithmetic"), loop.bits), default=None)


def innermost_loops(code: Sequence[Instruction]) -> list[InnerLoop]:
    """Return the loops without another loop in them, in the order of their addresses."""
    spans = sorted({(each.target, each.address) for each in code if each.target is not None and each.target <= each.address})
    ends: dict[int, int] = {}
    for begin, end in spans:  # several jumps back to one place are one loop
        ends[begin] = max(end, ends.get(begin, 0))
    spans = sorted(ends.items())
    innermost = [span for span, following in pairwise([*spans, (1 << 62, 0)]) if following[0] > span[1]]
    return [InnerLoop([each for each in code if begin <= each.address <= end], sum(a <= begin and end <= b for a, b in spans))
            for begin, end in innermost]


def disassembled(code: bytes) -> Iterator[Instruction]:
    """Yield the instructions of an object file."""
    import capstone

    is_arm = code[ELF_MACHINE] == ELF_ARM if code.startswith(b"\x7fELF") else platform.machine().lower() == "arm64"
    reader = (capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM) if is_arm
              else capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64))
    sections = binding.ObjectFileRef.from_data(code).sections()
    text = next(section.data() for section in sections if section.is_text() and section.size())
    for address, _, name, operands in reader.disasm_lite(text, 0):
        yield instruction(address, name, operands)


def instruction(address: int, name: str, operands: str) -> Instruction:
    """Classify one instruction by its mnemonic and operands."""
    kind = next((kind for kind, pattern in KINDS.items() if pattern.match(name)), "move")
    if kind == "move" and ("[" in operands or name.startswith(("ld", "st"))):
        stores = name.startswith("st") or (not name.startswith("ld") and "[" in operands.partition(", ")[0])
        kind = "store" if stores else "load"
    bits = 0 if ONE_NUMBER.match(name) else next((bits for register, bits in VECTOR.items() if register in operands), 0)
    bits = bits or (NEON if re.search(r"v\d+\.(4s|2d|8h|16b)", operands) else 0)
    jump = re.search(r"#?\b(0x[0-9a-f]+|[0-9])$", operands) if kind == "branch" and name not in ("call", "bl", "ret") else None
    return Instruction(address, f"{name} {operands}".strip(), kind, bits, int(jump[1], 0) if jump else None)


# --- memory -----------------------------------------------------------------------------------------------------------

WORD = 4  # bytes of an element
COPY_BYTES, COPY_S = 1 << 25, 0.2  # of a thread's array, beyond its caches; the time for measuring
MAX_COPIED = 1 << 29  # bytes of all arrays of a kind
OBSERVED = {"FlockRules": 4, "NearestRules": 4, "HuntRules": 5, "PushRules": 2, "AnticipateRules": 7, "SlowDownRules": 8,
            "CrateRules": 3}  # columns that the interaction reads, by the type of its rules
MOVED = {"FlockRules": (7, 4), "NearestRules": (7, 4), "WalkRules": (15, 6)}  # columns that a move reads and writes


def bytes_of(kernels: Sequence[Launch], columns: int, agents: int, cells: int, due: float) -> tuple[float, float]:
    """Return the bytes that kernels read and write in a step with so many agents due; nan where one has no formula."""
    read = written = 0.0
    for kernel in kernels:
        rules = next((name for each in kernel.args for found in (getattr(each, "rules", None), each)
                      if (name := type(found).__name__).endswith("Rules")), "")
        seen, (taken, left) = OBSERVED.get(rules, math.nan), MOVED.get(rules, (math.nan, math.nan))
        elements = {
            "find_cells": (2 * agents, agents),  # x and y; the cell of each agent
            "place_buckets": (0, cells + 1),  # where each cell begins
            "place_items": (agents, agents),  # the cell of each agent; the order
            "move_rows": ((1 + columns) * agents, columns * agents),  # the order, and all columns
            **dict.fromkeys(("interact_lanes", "interact_scalar", "interact_lists_scalar", "interact_lists_lanes"),
                            ((2 + seen) * agents, 3 * due)),  # order, when due; push, when due again
            **dict.fromkeys(("move_lanes", "move_scalar"), (taken * agents, left * agents))}
        taken, left = elements.get(kernel.name, (math.nan, math.nan))
        read, written = read + WORD * taken, written + WORD * left
    return read, written


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
    parts = zip(*(figures(sim, stage, steps) for sim in sims.values()), strict=True)
    rows = [row for row in parts if all(row)]
    if all(figure.value == NOT_RUN for figure in rows[0]):
        stages = ", ".join(dict.fromkeys(each.name for sim in sims.values() for each in sim.stages if each.wanted(sim)))
        raise ValueError(f"no kernel of this crowd runs in stage {stage!r}; stages: {stages}")
    return {title: [row[number] for row in rows] for number, title in enumerate(sims)}


def explained(sim: Simulation, old: Mapping[str, Value], new: Mapping[str, Value],
              stage: str) -> Iterator[Sequence[CardRow] | None]:
    """Explain a stage in copies of a crowd with old and new values of techniques; yield the rows so far.

    Where a technique of *reorder* was switched, both begin as if they had never been sorted.
    """
    from crowd_demo.measure.ablation import REORDER, unsorted
    from crowd_demo.measure.proof import set_values
    from crowd_demo.render.hud.card import CardRow

    if sim.on_gpu or text_of(stage).part != "step":
        about = "steps on a GPU" if sim.on_gpu else f"{stage}, which is a part of drawing"
        yield [CardRow(stage, *2 * ("not explained",), f"Why explains the stages of a step on the CPU, not {about}.")]
        return
    rows, copies, state = list[CardRow](), (sim.replica(), sim.replica()), sim.snapshot()
    never_sorted = any(path.startswith(REORDER) for path in new)
    for copy, values in zip(copies, (old, new), strict=True):
        copy.restore(unsorted(state)._replace(tick=0, drift=math.inf) if never_sorted else state)  # one sorts at once
        set_values(copy.optimizations, values)
        yield None
    for one, other in zip(*(figures(copy, stage, STEPS if sim.agents.count <= LARGE else FEW_STEPS) for copy in copies),
                          strict=True):
        if one and other:
            rows.append(CardRow(one.name, one.value, other.value, one.source,
                                (*one.detail.splitlines(), *other.detail.splitlines())))
        yield rows


def figures(sim: Simulation, stage: str, steps: int = STEPS) -> Iterator[Figure | None]:
    """Yield the figures of a stage, always the same ones, with None after each part of the work in between."""
    ms, kernels, each_step = yield from measured(sim, stage, steps)
    agents, counters, copied = max(sim.agents.count, 1), dict(sim.profile.counters), copy_bandwidth()
    yield Figure("time", f"{ms:.2f} ms, {ms * 1e6 / agents:,.0f} ns each" if kernels else NOT_RUN,
                 "Median by the clock, per step and per agent.")
    due, tested, kept = (counters.get(name, 0.0) for name in ("due", "candidates_per_agent", "neighbours_per_agent"))
    yield Figure("pairs", f"{tested:,.1f} tested, {kept:.1f} kept" if stage == "interaction" else UNKNOWN,
                 "Per agent that is due, counted in the last step. Known for the interaction only.")
    loop, about, source = loop_of(kernels)
    arithmetic = [each.text for each in loop.instructions if each.kind == "arithmetic"] if loop else []
    yield Figure("instructions", about, source, "\n".join(arithmetic[:5]))
    wide = f"{loop.vector_share:.0%}, {loop.bits} bits wide" if loop and loop.bits else "no" if loop else UNKNOWN
    yield Figure("vector work", wide, f"Share of these instructions that use vector registers. {source}")
    read, written = bytes_of(kernels, len(sim.agents.names), sim.agents.count, sim.grid.cells, due)
    rate = (read + written) / ms * 1e3 if ms and each_step else math.nan
    yield Figure("bytes", known(f"{read / agents:.1f} read, {written / agents:.1f} written"), "Per agent, by formulas:"
                 " each element of columns, order and index once. There is none for sight, paths and trees.")
    yield Figure("bandwidth", known(f"{rate / 1e9:.1f} GB/s, {rate / copied:.0%} of a copy"),
                 f"These bytes by the time. Copying with all threads moves {copied / 1e9:.1f} GB/s here.")
    missed, reads = list[float](), stage == "interaction" and sim.structure.fresh
    for level, (size, ways) in sorted(machine_caches().items())[:3 * reads]:
        cache = sim.config.cache.model_copy(update={"size_kb": size, "ways": ways} if level > 1 else {})
        missed.append(misses_per_agent(sim, cache, tested))
        yield None
    yield Figure("lines missed", ", ".join(f"{lines:,.2f}" for lines in missed) or UNKNOWN,
                 "Per agent that is due, in L1, L2 and L3. Simulated with LRU: agents read the columns of their candidates"
                 " in cell order. Known for the interaction only.")
    counts = counted(lambda: sim.step(steps))
    yield Figure("processor", counts if isinstance(counts, str) else ", ".join([
        f"{counts['instructions'] / max(counts['cycles'], 1):.2f} instructions per cycle", *(
            f"{counts[name] / agents / steps:.2f} {name} each" for name in EVENTS if name.endswith("misses"))]),
        "Counted by the processor in whole steps, with perf_event_open.")
    supported = missed and sim.workers == max_threads()  # a copy is one by all threads
    fetched = missed[1] * due * sim.config.cache.line_bytes / max(read + written, 1) if supported else math.nan
    yield Figure("bottleneck", bottleneck(ms, loop, rate / copied, fetched), "From bandwidth, vector work and lines missed"
                 " in L2, which hold more than these bytes where memory is read in disorder. Else not known.")


def known(text: str) -> str:
    return UNKNOWN if "nan" in text else text


def measured(sim: Simulation, stage: str, steps: int) -> Generator[None, None, tuple[float, list[Launch], bool]]:
    """Make steps; return a stage's ms per step, its kernels, the longest first, and whether each runs in all steps."""
    sim.profile = watch = StageWatch()
    took, kernels = defaultdict[str, list[float]](list), dict[str, Launch]()
    for number in range(SETTLE + steps):
        for launch in sim.launches():
            begun = time.perf_counter()
            launch.run()
            if watch.running == stage and number >= SETTLE:
                kernels[launch.name] = launch
                took[launch.name].append(time.perf_counter() - begun)
        yield
    cost = {name: median(times) * len(times) / steps * 1e3 for name, times in took.items()}
    each_step = all(len(times) == steps for times in took.values())
    return sum(cost.values()), [kernels[name] for name in sorted(cost, key=lambda name: -cost[name])], each_step


def loop_of(kernels: Sequence[Launch]) -> tuple[InnerLoop | None, str, str]:
    """Return the hot loop of the longest kernel if it is known, a text about it, and its source."""
    code = machine_code(kernels[0]) if kernels else None
    name, why_not = kernels[0].name if kernels else "it", "no loop" if code else "code not kept" if kernels else NOT_RUN
    source = f"In machine code of {name}: its innermost loop that is nested deepest."
    try:
        loop = hot_loop(code) if code else None
    except ImportError:
        loop, why_not = None, 'pip install "crowd-demo[why]" shows it'
    return loop, f"{len(loop.instructions)} for {loop.lanes} lane{'s' * (loop.lanes > 1)}" if loop else why_not, source


def bottleneck(ms: float, loop: InnerLoop | None, share: float, fetched: float) -> str:
    """Return what limits a stage, if the figures support an answer.

    `share` is that of the copy bandwidth, `fetched` the bytes of lines missed in L2 relative to the bytes that are used.
    """
    if share >= MOST_MEMORY:
        return f"memory bound: {share:.0%} of copy bandwidth"
    if not (share <= LITTLE_MEMORY and fetched <= 1 and loop and ms >= LEAST_MS):
        return UNKNOWN
    work = f"{loop.vector_share:.0%} {loop.lanes}-lane work" if loop.bits else "no vector work"
    return f"compute bound: {work}, {share:.0%} of copy bandwidth"


def as_table(found: Mapping[str, list[Figure]]) -> str:
    """Return the figures as text: a paragraph per figure, with one line for each of the compared simulations."""
    wide, rows, paragraphs = max(map(len, found)), list(zip(*found.values(), strict=True)), list[str]()
    for row in rows:
        lines = [zip_longest([title], [figure.value, *figure.detail.splitlines()], fillvalue="")
                 for title, figure in zip(found, row, strict=True)]
        paragraphs += row[0].name, *(f"  {title:{wide}}  {line}" for each in lines for title, line in each)
    sources = dict.fromkeys(f"{figure.name}: {figure.source}" for row in rows for figure in row)
    return "\n".join([*paragraphs, "", "sources", *(f"  {source}" for source in sources)])
