"""Why a stage takes the time that it takes: its work, the hot loop of its kernel, and what the processor counted.

Each figure has a source: the counters of the simulation, machine code, the processor's counters, or the clock. A figure
that is not known says why.

The processor's own counters are those of Linux's `perf_event_open`, summed over the threads of this process. Most
virtual machines have none, and many systems forbid them (`kernel.perf_event_paranoid` above 2): then the reason is
returned. Counters run in user space only. Where the processor has too few, Linux takes turns, and counts are scaled up.

Object code is disassembled by Capstone (the extra `why`), for x86-64 (SSE2, AVX2, AVX-512) and ARM (NEON). A loop is a
jump back and all instructions from its target on. Kernels are inlined as a whole, so the hot loop is the innermost one
that is nested deepest, and of several the one with most arithmetic: in the interaction the loop over candidates.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice, pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from llvmlite import binding

from crowd_demo.compute.jit import Launch, machine_code
from crowd_demo.sim.simulation import Simulation

# --- counters of the processor -----------------------------------------------------------------------------------------

SYSCALL = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
ENABLE, DISABLE = 0x2400, 0x2401  # ioctl
HARDWARE, CACHE = 0, 3  # types
LEVEL_1_READ_MISS = 0 | 0 << 8 | 1 << 16
EVENTS = {"cycles": (HARDWARE, 0), "instructions": (HARDWARE, 1), "last-level misses": (HARDWARE, 3),
          "branch misses": (HARDWARE, 5), "L1 misses": (CACHE, LEVEL_1_READ_MISS)}
SIZE = 112  # of perf_event_attr
FLAGS, TIMES = 1 | 1 << 5 | 1 << 6, 3  # disabled, without kernel and hypervisor; read the enabled and the running time too
ABSENT, FORBIDDEN = "most virtual machines have no counters", "kernel.perf_event_paranoid must be 2 or less"
WHY_NOT = {errno.EPERM: FORBIDDEN, errno.EACCES: FORBIDDEN}
WHY_NOT |= dict.fromkeys((errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP), ABSENT)


def counted(run: Callable[[], object]) -> Mapping[str, int] | str:
    """Run a function; return each event's count over all threads, or why there are none. Threads must exist before."""
    if sys.platform != "linux" or SYSCALL is None:
        run()
        return "only Linux on x86-64 and ARM provides them"
    import fcntl

    with ExitStack() as files:
        opened = []
        for thread in sorted(int(path.name) for path in Path("/proc/self/task").iterdir()):
            for name, (kind, config) in EVENTS.items():
                file = _open(kind, config, thread)
                if file < 0:
                    run()
                    return f"not available: {WHY_NOT.get(ctypes.get_errno(), os.strerror(ctypes.get_errno()))}"
                files.callback(os.close, file)
                opened.append((name, file))
        for _, file in opened:
            fcntl.ioctl(file, ENABLE, 0)
        run()
        for _, file in opened:
            fcntl.ioctl(file, DISABLE, 0)
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


# --- a stage -----------------------------------------------------------------------------------------------------------

LINES = 5  # of assembly
COUNTED = "the processor, in whole steps"
SETTLE = 10  # steps before the first that is timed


class Figure(NamedTuple):
    name: str
    value: str
    source: str  # how it was obtained


class Work(NamedTuple):
    """A stage in some steps of a running simulation."""

    ms: float  # median of the steps
    kernel: Launch  # the one that took longest
    agents: int
    counters: Mapping[str, float]  # of the last step


def why(sim: Simulation, stage: str, steps: int = 60) -> list[Figure]:
    """Explain a stage in the next steps, which are made. Raises ValueError for a stage that has no kernel in them."""
    work = measured(sim, stage, steps)
    return [*work_figures(work), *loop_figures(work.kernel), *counter_figures(sim, work, steps)]


def measured(sim: Simulation, stage: str, steps: int) -> Work:
    """Make steps, and time a stage and each of its kernels."""
    sim.step(SETTLE)
    copy = Simulation.from_snapshot(sim.snapshot())  # which runs nothing: its stages only say which kernels they would run
    copy.launches_to_compile()
    kernels = {launch.name: launch for each in copy.stages if each.name == stage and each.wanted(copy)
               for launch in each.launches(copy)}
    if not kernels:
        stages = ", ".join(dict.fromkeys(each.name for each in copy.stages if each.wanted(copy)))
        raise ValueError(f"no kernel of this crowd runs in stage {stage!r}; stages: {stages}")
    took, of_steps = dict.fromkeys(kernels, 0.0), list[float]()
    for _ in range(steps):
        before = sum(took.values())
        for launch in sim.launches():
            begun = time.perf_counter()
            launch.run()
            if launch.name in took:
                took[launch.name] += time.perf_counter() - begun
        of_steps.append(sum(took.values()) - before)
    longest = max(took, key=lambda name: took[name])
    return Work(median(of_steps) * 1e3, kernels[longest], sim.agents.count, dict(sim.profile.counters))


def work_figures(work: Work) -> Iterator[Figure]:
    each_ns = work.ms * 1e6 / max(work.agents, 1)
    yield Figure("time", f"{work.ms:.2f} ms per step, {each_ns:.0f} ns per agent", "median by the clock")
    tested, kept = (work.counters.get(f"{name}_per_agent") for name in ("candidates", "neighbours"))
    if tested is not None and kept is not None:
        yield Figure("pairs", f"{tested:.1f} tested per agent, {kept:.1f} kept", "counted in the last step, for agents due")


def loop_figures(kernel: Launch) -> Iterator[Figure]:
    """The hot loop of a kernel."""
    source = f"machine code of {kernel.name}: its innermost loop that is nested deepest"
    loop, missing = loop_of(kernel)
    if loop is None:
        yield Figure("hot loop", missing, source)
        return
    kinds = ", ".join(f"{loop.count(kind)} {kind}" for kind in ("arithmetic", "load", "store", "branch") if loop.count(kind))
    wide = f"{loop.lanes} agents wide" if loop.lanes > 1 else "one agent"
    yield Figure("hot loop", f"{len(loop.instructions)} instructions per iteration, {wide}: {kinds}", source)
    vector = f"{loop.vector_share:.0%} of the instructions, {loop.bits} bits wide"
    yield Figure("vectorised", vector if loop.bits else "no", source)
    middle = [each.text for each in loop.instructions if each.kind == "arithmetic"]
    yield Figure("assembly", "\n".join(islice(middle, LINES)), source)


def loop_of(kernel: Launch) -> tuple[InnerLoop | None, str]:
    """Return the hot loop, and else why there is none."""
    code = machine_code(kernel)
    if code is None:
        return None, "the machine code of this kernel was not kept"
    try:
        return hot_loop(code), "no loop"
    except ImportError:
        return None, 'pip install "crowd-demo[why]" shows it'


def counter_figures(sim: Simulation, work: Work, steps: int) -> Iterator[Figure]:
    """What the processor counted in whole steps."""
    counts = counted(lambda: sim.step(steps))
    if isinstance(counts, str):
        yield Figure("processor", counts, "perf_event_open")
        return
    agents = max(work.agents * steps, 1)
    yield Figure("instructions per cycle", f"{counts['instructions'] / max(counts['cycles'], 1):.2f}", COUNTED)
    for name in ("L1 misses", "last-level misses", "branch misses"):
        yield Figure(name, f"{counts[name] / agents:.2f} per agent", COUNTED)


def as_table(found: Mapping[str, list[Figure]]) -> str:
    """Return the figures as text, a paragraph for each, with a line for each simulation."""
    wide = max(map(len, found))
    paragraphs = []
    for name in dict.fromkeys(figure.name for figures in found.values() for figure in figures):
        values = {title: next((each.value for each in figures if each.name == name), "-") for title, figures in found.items()}
        lines = [(title if number == 0 else "", line) for title, value in values.items()
                 for number, line in enumerate(value.splitlines())]
        paragraphs.append("\n".join([name, *(f"  {title:{wide}}  {line}" for title, line in lines)]))
    sources = dict.fromkeys(f"{figure.name}: {figure.source}" for figures in found.values() for figure in figures)
    return "\n".join([*paragraphs, "", "sources", *(f"  {source}" for source in sources)])
