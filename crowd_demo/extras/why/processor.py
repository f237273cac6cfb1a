"""What the processor did while a stage ran: its counters, samples of where it was, and the hot loop of a kernel.

The counters are those of Linux's `perf_event_open`, summed over the threads of this process. Most virtual machines have
none, and many systems forbid them (`kernel.perf_event_paranoid` above 2): then the reason is returned. Counters run in
user space only. Where the processor has too few, Linux takes turns, and counts are scaled up.

Capstone (the extra `why`) disassembles object code for x86-64 (SSE2, AVX2, AVX-512) and ARM (NEON). A loop is a jump back
and all instructions from its target on. Kernels are inlined as a whole, so nesting does not show which loop is hot: rare
branches have loops, too. Samples do, which Linux takes by its clock where counters of the processor are absent.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import re
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import cycle, product
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from llvmlite import binding

# --- counters and samples ---------------------------------------------------------------------------------------------

SYSCALL = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
ENABLE, DISABLE = 0x2400, 0x2401  # ioctl
HARDWARE, SOFTWARE, CACHE, LEVEL_1_READ_MISS = 0, 1, 3, 1 << 16  # types, and what of a cache
EVENTS = {"cycles": (HARDWARE, 0), "instructions": (HARDWARE, 1), "last-level misses": (HARDWARE, 3),
          "branch misses": (HARDWARE, 5), "L1 misses": (CACHE, LEVEL_1_READ_MISS)}
CLOCK = SOFTWARE, 0
SIZE = 112  # of perf_event_attr
FLAGS, TIMES = 1 | 1 << 5 | 1 << 6, 3  # disabled, without kernel and hypervisor; read enabled and running times, too
FREQUENT, PER_S, PLACE = 1 << 10, 25_000, 1  # samples per second of a thread's time, each with the place in memory
PAGES, SAMPLE, ANY_MODE = 16, np.uint64(9 | 16 << 48), np.uint64(0xFFFF << 32)  # of samples; the head of one, its mode
WHY_NOT = {
    **dict.fromkeys((errno.EPERM, errno.EACCES),
                    "sudo sysctl kernel.perf_event_paranoid=2 enables them, except in a container that forbids them"),
    **dict.fromkeys((errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP),
                    "this machine has none. Physical ones, and virtual ones with a PMU, have counters")}


def counted(run: Callable[[], object]) -> Mapping[str, int] | str:
    """Run a function and return each event's count over all threads, or return why not. Threads must exist before."""
    with ExitStack() as files:
        try:
            opened = opened_for_threads(files, EVENTS.values())
        except OSError as error:
            return f"no counters: {WHY_NOT.get(error.errno or 0, error.strerror)}"
        switch(opened, ENABLE)
        run()
        counts = dict.fromkeys(EVENTS, 0)
        for name, file in zip(cycle(EVENTS), opened):
            value, enabled, running = struct.unpack("3Q", os.read(file, 24))
            counts[name] += value * enabled // max(running, 1)
        return counts


def opened_for_threads(files: ExitStack, events: Iterable[tuple[int, int]], per_s: int = 0) -> list[int]:
    """Return the files of counters, or of samples, of each thread, which are off. Raises OSError if there are none."""
    if sys.platform != "linux" or SYSCALL is None:
        raise OSError(0, "only Linux on x86-64 and ARM provides them")
    opened, library = list[int](), ctypes.CDLL(None, use_errno=True)
    for thread, (kind, config) in product(Path("/proc/self/task").iterdir(), events):
        attributes = struct.pack("IIQQQQQ", kind, SIZE, config, per_s, PLACE, TIMES, FLAGS | FREQUENT * bool(per_s))
        if (file := library.syscall(SYSCALL, attributes.ljust(SIZE, b"\0"), int(thread.name), -1, -1, 0)) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        files.callback(os.close, file)
        opened.append(file)
    return opened


def switch(opened: Iterable[int], on: int) -> None:
    if sys.platform != "win32":
        import fcntl

        for file in opened:
            fcntl.ioctl(file, on, 0)


def places_in(samples: mmap.mmap) -> list[int]:
    """Return where a thread was at each of its samples: what follows their heads."""
    words = np.frombuffer(samples, np.uint64)
    return cast("list[int]", words[1:][words[:-1] & ~ANY_MODE == SAMPLE].tolist())


# --- machine code -----------------------------------------------------------------------------------------------------

LONG = "q", "pd"  # how instructions end that take numbers of 64 bits
ENOUGH, ALIKE = 30, 16  # samples in a kernel; bytes by which its code is found in memory
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


Place = tuple[int, bytes]
"""Where a thread was in memory, and the code there."""


class Instruction(NamedTuple):
    address: int
    text: str
    kind: str  # one of KINDS, "load", "store" or "move"
    bits: int  # of its vector registers; 0: it has none, or uses one number of them
    target: int | None = None  # of a jump


class MachineLoop(NamedTuple):
    """A jump back and all instructions from its target on. `weights` are samples, or else 1, by address."""

    instructions: Sequence[Instruction]
    weights: Mapping[int, int]
    depth: int = 1  # loops around it and itself

    @property
    def weight(self) -> int:
        return sum(self.weights.get(each.address, 0) for each in self.instructions)

    @property
    def vector_share(self) -> float:
        return sum(self.weights.get(each.address, 0) for each in self.instructions if each.bits) / self.weight

    @property
    def bits(self) -> int:
        """The width of its widest vector instructions; 0 without any."""
        return max(each.bits for each in self.instructions if each.address in self.weights)

    @property
    def arithmetic(self) -> list[str]:
        """The texts of these instructions, those with most samples first."""
        found = sorted(self.instructions, key=lambda each: -self.weights.get(each.address, 0))
        return [each.text for each in found if each.kind == "arithmetic"]

    @property
    def lanes(self) -> int:
        """How many numbers an instruction takes at most that calculates with vectors; of 64 bits where all do."""
        return max((each.bits // (64 if each.text.split()[0].endswith(LONG) else 32) for each in self.instructions
                    if each.kind == "arithmetic" and each.address in self.weights), default=0) or 1


def hot_loop(code: bytes, places: Sequence[Place] = ()) -> tuple[MachineLoop | None, int]:
    """Return the hot loop of a kernel's object file, if it has one, and how many samples in the kernel show that.

    It is the smallest loop with a third of these, if they are enough. Else it is the innermost one that is nested deepest,
    and of several the one with most arithmetic. Raises ImportError without Capstone.
    """
    text, instructions = text_in(code), list(disassembled(code))
    starts = Counter(place - text.find(there) for place, there in {*places} if text.count(there) == 1)
    start = max(starts, key=lambda each: starts[each], default=0)
    seen = Counter(place - start for place, _ in places if start <= place < start + len(text))
    if (samples := seen.total()) >= ENOUGH:
        hot = [loop for loop in loops_in(instructions, seen) if 3 * loop.weight >= samples]
        return min(hot, key=lambda loop: len(loop.instructions), default=None), samples
    loops = loops_in(instructions, Counter(each.address for each in instructions))
    begins = [*(loop.instructions[0].address for loop in loops[1:]), 1 << 62][:len(loops)]
    inner = [loop for loop, begin in zip(loops, begins, strict=True) if begin > loop.instructions[-1].address]
    return max(inner, key=lambda loop: (loop.depth, len(loop.arithmetic), loop.bits), default=None), 0


def loops_in(code: Sequence[Instruction], weights: Mapping[int, int]) -> list[MachineLoop]:
    spans = sorted({(each.target, each.address) for each in code if each.target is not None and each.target <= each.address})
    ends = dict(spans)  # several jumps back to one place are one loop
    return [MachineLoop([each for each in code if begin <= each.address <= end], weights,
                 sum(a <= begin and end <= b for a, b in ends.items())) for begin, end in ends.items()]


def text_in(code: bytes) -> bytes:
    """Return the machine code in an object file."""
    sections = binding.ObjectFileRef.from_data(code).sections()
    return next(section.data() for section in sections if section.is_text() and section.size())


def disassembled(code: bytes) -> Iterator[Instruction]:
    """Yield the instructions of an object file."""
    import capstone

    is_arm = code[ELF_MACHINE] == ELF_ARM if code.startswith(b"\x7fELF") else platform.machine().lower() == "arm64"
    reader = (capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM) if is_arm
              else capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64))
    for address, _, name, operands in reader.disasm_lite(text_in(code), 0):
        yield instruction(address, name, operands)


def instruction(address: int, name: str, operands: str) -> Instruction:
    kind = next((kind for kind, pattern in KINDS.items() if pattern.match(name)), "move")
    if kind == "move" and ("[" in operands or name.startswith(("ld", "st"))):
        stores = name.startswith("st") or (not name.startswith("ld") and "[" in operands.partition(", ")[0])
        kind = "store" if stores else "load"
    bits = 0 if ONE_NUMBER.match(name) else next((bits for register, bits in VECTOR.items() if register in operands), 0)
    bits = bits or (NEON if re.search(r"v\d+\.(4s|2d|8h|16b)", operands) else 0)
    jump = re.search(r"#?\b(0x[0-9a-f]+|[0-9])$", operands) if kind == "branch" and name not in ("call", "bl", "ret") else None
    return Instruction(address, f"{name} {operands}".strip(), kind, bits, int(jump[1], 0) if jump else None)
